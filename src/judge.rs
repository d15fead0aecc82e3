//! The one place that joins assessment and policy. Every face calls it.

use crate::call::{Call, Input};
use crate::decision::Decision;
use crate::effect::{Assessment, Doubt, Tier};
use crate::policy::{self, Wiring};
use crate::shell::Span;
use crate::wire::EventKind;

/// Works out what a call would do, and what is answered to it.
pub fn judge(event: EventKind, call: &Call, wiring: Wiring) -> Decision {
    policy::decide(event, call, &assess(call), wiring)
}

/// Until the shell is read: `true` does nothing, and everything else is not understood.
fn assess(call: &Call) -> Assessment {
    let does_nothing = matches!(&call.input, Input::Shell { command, .. } if command == "true");
    let doubt = Doubt {
        why: "commands are not read yet".into(),
        span: Span::default(),
    };
    Assessment {
        steps: Vec::new(),
        doubts: if does_nothing { Vec::new() } else { vec![doubt] },
        tier: if does_nothing { Tier::Safe } else { Tier::High },
        parsed: None,
    }
}
