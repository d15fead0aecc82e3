//! What is answered to a call.
//!
//! Policy and approvers make decisions; `wire::output` alone turns one into the host's words. Nothing here knows JSON
//! of the host beyond carrying an input that a person edited.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::questions::Answers;

/// The answer to one call.
#[derive(Clone, Debug)]
pub enum Decision {
    Allow(Allow),
    Deny(Deny),
    /// The person is to be asked, for this reason. An event that stands for asking already takes it as no decision.
    Ask(String),
    /// A person must be asked, for this reason and so long: no policy may allow it. A face that reaches a person puts it to
    /// them; to an event of the host it is as [`Decision::Ask`].
    Hold(Hold),
    /// No way to an opinion: the question stays with the person.
    None,
    /// This process steps aside: it is switched off, or another one answers the same event.
    Aside,
}

/// How a call is allowed. What does not fit the call is no decision.
#[derive(Clone, Debug)]
pub enum Allow {
    Run(Run),
    /// Approves a plan as it was received; the host then leaves plan mode.
    Plan {
        /// The mode after it; `None` leaves that to the host.
        then: Option<NextMode>,
    },
    Answers(Answers),
}

/// An ordinary call runs.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The whole input that replaces the one received; `None` leaves it.
    pub input: Option<Box<RawValue>>,
    /// Which of the offered suggestions the host is to remember, counted from 0.
    pub remember: Option<usize>,
    /// Why, for the faces that show it: "reads files of the project". May be empty.
    pub why: String,
}

/// The mode that the host takes after an approved plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextMode {
    AcceptEdits,
    Auto,
}

/// A call that only a person may let through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hold {
    /// What the person is shown.
    pub reason: String,
    /// From asking the person to their answer; when it has passed, nobody has answered. `None`: as long as the face waits
    /// for any other call.
    pub timeout: Option<Duration>,
}

#[derive(Clone, Debug)]
pub struct Deny {
    pub reason: Reason,
    /// What the model reads after the reason code. May be empty.
    pub message: String,
    /// Ends the turn, where there is no message: the host would drop it.
    pub interrupt: bool,
}

/// Why a call was denied. One spelling, in every face and in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    Policy,
    DeniedByPerson,
    Timeout,
    RelayUnreachable,
    Frozen,
    RateLimited,
    OutsideHours,
    Identity,
    Malformed,
    UndoneByHost,
}

impl Deny {
    /// While the person has frozen everything. It ends the turn, so it carries no words.
    pub const fn frozen() -> Self {
        Deny {
            reason: Reason::Frozen,
            message: String::new(),
            interrupt: true,
        }
    }
}

impl Reason {
    pub const ALL: [Reason; 10] = [
        Reason::Policy,
        Reason::DeniedByPerson,
        Reason::Timeout,
        Reason::RelayUnreachable,
        Reason::Frozen,
        Reason::RateLimited,
        Reason::OutsideHours,
        Reason::Identity,
        Reason::Malformed,
        Reason::UndoneByHost,
    ];

    pub const fn as_str(self) -> &'static str {
        match self {
            Reason::Policy => "policy",
            Reason::DeniedByPerson => "denied_by_person",
            Reason::Timeout => "timeout",
            Reason::RelayUnreachable => "relay_unreachable",
            Reason::Frozen => "frozen",
            Reason::RateLimited => "rate_limited",
            Reason::OutsideHours => "outside_hours",
            Reason::Identity => "identity",
            Reason::Malformed => "malformed",
            Reason::UndoneByHost => "undone_by_host",
        }
    }

    /// What the model reads where a denial carries no words of its own.
    pub const fn sentence(self) -> &'static str {
        match self {
            Reason::Policy => "The person's rules do not allow this call.",
            Reason::DeniedByPerson => "The person refused this call.",
            Reason::Timeout => "Nobody answered in time.",
            Reason::RelayUnreachable => "The person who decides could not be reached.",
            Reason::Frozen => "The person has frozen this session: no call is allowed for now.",
            Reason::RateLimited => "Too many calls were asked for in a short time.",
            Reason::OutsideHours => "The person's rules allow no call at this hour.",
            Reason::Identity => "The person's rules do not let this call through from this agent or on this machine.",
            Reason::Malformed => "The call could not be read.",
            Reason::UndoneByHost => "The host has withdrawn this call.",
        }
    }
}
