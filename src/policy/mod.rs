//! The person's rules: what an assessment means for the answer.
//!
//! `config` reads the person's file and the project's; `tiers`, `rules`, `windows` and `limits` are what they hold, and
//! `identity` whom those may ask for. `host_rules` reads the host's own rules that an allow must not override.
//! [`decide`] joins event, call, assessment and [`Circumstances`] into a [`Ruling`]. Nothing here parses shell or writes the
//! host's JSON.

mod circumstances;
mod decide;
mod pattern;
mod zone;

pub mod config;
pub mod host_rules;
pub mod identity;
pub mod limits;
pub mod remember;
pub mod rules;
pub mod tiers;
pub mod windows;

pub use circumstances::{Buckets, Circumstances};
pub use config::{Config, Policy};
pub use decide::{By, Guard, Ruling, Wiring, decide};
pub use rules::Origin;
