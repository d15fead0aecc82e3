//! What Countersign's hook, relay and devices say to each other.
//!
//! A hook that must ask puts a [`Card`] to the relay: everything that a person is shown, signed by the machine that asks.
//! A device verifies the card, shows it, and signs a [`Verdict`] that names the SHA-256 of the card. The hook takes the
//! verdict once, and believes it only if a device that it knows has signed it for the very card that it holds itself. The
//! relay keeps and hands on; a relay that lies can refuse, and nothing else.
//!
//! Signatures are over [canonical bytes](canonical) with a name in front that says what is signed, so that nothing signed
//! for one purpose is good for another. docs/protocol.md has the whole of it.

pub mod canonical;
pub mod card;
pub mod keys;
mod read;
#[cfg(test)]
mod schema;
pub mod state;
#[cfg(test)]
mod vectors;
pub mod verdict;

pub use card::{Card, SignedCard};
pub use keys::{KeyPair, PublicKey, Signature};
pub use read::{Unreadable, read};
pub use state::{Code, Outcome, Refusal, Report, Request, Status, Why, Withdrawal};
pub use verdict::{SignedVerdict, Verdict};

/// The version of the protocol, which every request and every answer names in [`VERSION_HEADER`].
pub const VERSION: &str = "1";
/// The header that carries [`VERSION`].
pub const VERSION_HEADER: &str = "countersign-protocol";
/// The longest body of a request, in bytes.
pub const MAX_BODY: usize = 256 * 1024;
