//! What is answered to a call.

use serde_json::value::RawValue;

/// The answer to one call.
#[derive(Debug)]
pub enum Decision {
    Allow(Allow),
    Deny(Deny),
    /// No opinion, or no way to one: the question stays with the person.
    None,
}

#[derive(Debug, Default)]
pub struct Allow {
    /// The whole input that replaces the one received; `None` leaves it.
    pub input: Option<Box<RawValue>>,
    /// One of the offered suggestions, as received, to be remembered by the host.
    pub remember: Option<Box<RawValue>>,
}

#[derive(Debug)]
pub struct Deny {
    pub reason: Reason,
    /// What the model reads after the reason code. May be empty.
    pub message: String,
    /// Ends the turn; the host then drops the message.
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

impl Reason {
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
}
