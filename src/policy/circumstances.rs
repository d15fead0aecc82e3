//! What a decision depends on besides the call, its assessment and the policy.

use std::env;
use std::time::SystemTime;

use crate::pause::{Freeze, Pause};

/// The state of things when a call is decided. A face that lives long asks for it anew for every call.
#[derive(Clone, Debug)]
pub struct Circumstances {
    pub now: SystemTime,
    /// The person has frozen everything: every call is denied.
    pub freeze: Option<Freeze>,
    /// Somebody sits at the session and is asked what policy does not answer.
    pub attended: bool,
}

impl Circumstances {
    /// Those of this process just now, with a pause that was read for this call. A session counts as attended unless the
    /// host says otherwise (`CLAUDE_CODE_SESSION_ATTENDED=0`); a headless face sets `attended` to false.
    pub fn live(pause: Pause) -> Self {
        Circumstances {
            now: SystemTime::now(),
            freeze: match pause {
                Pause::Frozen(freeze) => Some(freeze),
                Pause::On | Pause::Off { .. } | Pause::Unreadable(_) => None,
            },
            attended: env::var_os("CLAUDE_CODE_SESSION_ATTENDED").is_none_or(|attended| attended != "0"),
        }
    }
}
