//! What a decision depends on besides the call, its assessment and the policy.

use std::env;
use std::io;
use std::path::PathBuf;
use std::time::SystemTime;

use super::limits::{self, Limit, Refusal, Token};
use crate::own_files;
use crate::pause::{Freeze, Pause};

/// The state of things when a call is decided. A face that lives long asks for it anew for every call.
#[derive(Clone, Debug)]
pub struct Circumstances {
    pub now: SystemTime,
    /// The person has frozen everything: every call is denied.
    pub freeze: Option<Freeze>,
    /// Somebody sits at the session and is asked what policy does not answer.
    pub attended: bool,
    /// Where the tokens of rate limits are, and whether a decision takes them.
    pub buckets: Buckets,
}

/// Where the tokens of rate limits are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Buckets {
    /// In this person's state directory.
    Own,
    /// There too, but none is taken: nothing will run.
    Shown,
    In(PathBuf),
}

impl Buckets {
    /// The directory with the buckets.
    ///
    /// # Errors
    /// No home is known.
    pub fn dir(&self) -> io::Result<PathBuf> {
        match self {
            Buckets::Own | Buckets::Shown => {
                own_files::state_dir().ok_or_else(|| io::Error::other("no home directory is known"))
            }
            Buckets::In(dir) => Ok(dir.clone()),
        }
    }
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
            buckets: Buckets::Own,
        }
    }

    /// Takes a token of each limit; `None` where they are only looked at.
    ///
    /// # Errors
    /// [`Refusal`]: there is none, or the buckets cannot be read or written.
    pub fn tokens(&self, limits: &[&Limit]) -> Result<Option<Token>, Refusal> {
        let dir = self.buckets.dir()?;
        match self.buckets {
            Buckets::Shown => limits::look(&dir, limits, self.now).map(|()| None),
            Buckets::Own | Buckets::In(_) => limits::take(&dir, limits, self.now).map(Some),
        }
    }
}
