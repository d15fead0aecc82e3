//! What a relay knows of a request, and the words of the protocol for it.

use serde::{Deserialize, Serialize};

use crate::card::SignedCard;
use crate::verdict::SignedVerdict;

/// A request as the relay keeps it: always the whole of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Request {
    pub id: String,
    pub status: Status,
    /// Counts up with every change.
    pub revision: u64,
    pub card: SignedCard,
    /// There once it was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<SignedVerdict>,
    /// Why it was withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<Why>,
    /// What became of the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<Outcome>,
}

/// Where a request stands. It goes from `pending` to one of the others, and from `decided` to `consumed`; never back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Status {
    Pending,
    Decided,
    /// The machine that asked has taken the verdict; it is given again only for the key that it was taken with.
    Consumed,
    Withdrawn,
    Expired,
}

/// Why a request was withdrawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Why {
    AnsweredElsewhere,
    SessionEnded,
    Timeout,
    Superseded,
}

/// What became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Ran,
    Refused,
    Superseded,
    Unknown,
}

/// Everything that waits, for those who answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pending {
    /// Changes whenever a request does; of this run of the relay.
    pub revision: u64,
    /// Pending ones only, the oldest first.
    pub requests: Vec<Request>,
}

/// Who could answer now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Presence {
    /// How many devices the relay knows that may answer.
    pub paired: u32,
    /// How many of them have asked it for what waits in the last two minutes.
    pub online: u32,
}

/// The body that takes a request back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Withdrawal {
    pub why: Why,
}

/// The body that says what became of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Report {
    pub outcome: Outcome,
}

/// The body of every answer that refuses.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    pub error: Code,
    /// What happened and what it means, for a person.
    pub message: String,
}

/// Why a relay refuses, for programs. Each goes with one status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Code {
    /// No token, or none that the relay knows.
    Token,
    /// The token is another role's.
    Role,
    /// There is no such path, or no such request of this machine's.
    Unknown,
    /// The path does not take this method.
    Method,
    /// The key was used for another body, or the card's id with another key.
    IdempotencyConflict,
    /// Somebody has decided before.
    AlreadyDecided,
    /// The machine has taken the verdict before, with another key or with none.
    AlreadyConsumed,
    /// Nobody has decided yet.
    Undecided,
    /// The machine has taken the request back, or asks no more.
    Withdrawn,
    /// Its time has passed.
    Expired,
    /// The body is longer than the relay takes.
    TooLarge,
    /// There is no Idempotency-Key where one is needed, or one that is not 16 to 128 characters long.
    IdempotencyKey,
    /// The body or the query is not of the protocol's form.
    Form,
    /// The card is not sound, or this machine has not signed it.
    Card,
    /// The verdict does not fit the card, or this device has not signed it.
    Verdict,
    /// Another version of the protocol is spoken, or none is named.
    Version,
    /// Too many requests of this machine wait already.
    TooManyPending,
    /// Too many requests in a short time.
    Rate,
    /// The relay cannot keep anything at present, or has no room for one more connection.
    Unavailable,
}

impl Code {
    /// Every code, by its status.
    pub const ALL: [Code; 19] = [
        Code::Token,
        Code::Role,
        Code::Unknown,
        Code::Method,
        Code::IdempotencyConflict,
        Code::AlreadyDecided,
        Code::AlreadyConsumed,
        Code::Undecided,
        Code::Withdrawn,
        Code::Expired,
        Code::TooLarge,
        Code::IdempotencyKey,
        Code::Form,
        Code::Card,
        Code::Verdict,
        Code::Version,
        Code::TooManyPending,
        Code::Rate,
        Code::Unavailable,
    ];

    /// The HTTP status of the answer.
    pub fn status(self) -> u16 {
        match self {
            Code::Token => 401,
            Code::Role => 403,
            Code::Unknown => 404,
            Code::Method => 405,
            Code::IdempotencyConflict | Code::AlreadyDecided | Code::AlreadyConsumed | Code::Undecided => 409,
            Code::Withdrawn | Code::Expired => 410,
            Code::TooLarge => 413,
            Code::IdempotencyKey | Code::Form | Code::Card | Code::Verdict => 422,
            Code::Version => 426,
            Code::TooManyPending | Code::Rate => 429,
            Code::Unavailable => 503,
        }
    }
}
