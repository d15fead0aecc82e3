//! The person's rules: what an assessment means for the answer.
//!
//! `config` reads the person's file, `host_rules` the host's own rules that an allow must not override, [`decide`] joins
//! event, call and assessment into a decision. Nothing here parses shell or writes the host's JSON.

mod decide;

pub mod config;
pub mod host_rules;

pub use decide::{Guard, Wiring, decide};
