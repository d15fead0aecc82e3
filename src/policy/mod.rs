//! The person's rules: what an assessment means for the answer.
//!
//! `config` reads the person's file and the project's, `tiers` and `rules` are what they hold, `host_rules` reads the host's
//! own rules that an allow must not override, [`decide`] joins event, call and assessment into a ruling. Nothing here
//! parses shell or writes the host's JSON.

mod circumstances;
mod decide;
mod pattern;

pub mod config;
pub mod host_rules;
pub mod rules;
pub mod tiers;

pub use circumstances::Circumstances;
pub use config::{Config, Policy};
pub use decide::{By, Guard, Ruling, Wiring, decide};
pub use rules::Origin;
