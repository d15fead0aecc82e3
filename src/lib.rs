//! Countersign works out what a coding agent's tool call would do, and answers for the person what is harmless.
//!
//! The way of the data: `wire` reads an event into a `call`, `judge` assesses it and decides, `wire::output` writes
//! the one answer. Nothing is let through that was not understood completely, and every error leaves the question
//! with the person.
//!
//! # As a library
//!
//! [`judge::judge`] is what the hook and every other face call. It needs a [`call::Call`], which [`wire::request::read`]
//! reads from a host's request, the [`facts::Facts`] of the machine, a [`policy::Policy`] and the
//! [`policy::Circumstances`] of the moment, and gives a [`judge::Judgement`]: the assessment of every step with its
//! effects, and the ruling with tier, decision and who decided. It runs nothing and asks nobody, and writes nothing but the
//! count of a rate limit: what is not decided is the embedder's to bring to a person. Before 1.0 the names may change
//! between minor versions.
//!
//! ```
#![doc = include_str!("../examples/judge.rs")]
//! ```

pub mod approver;
pub mod assess;
pub mod audit;
pub mod call;
pub mod catalog;
pub mod cli;
pub mod decision;
pub mod desk;
pub mod effect;
pub mod escape;
pub mod facts;
pub mod hold;
pub mod judge;
pub mod own_files;
pub mod pause;
pub mod place;
pub mod policy;
pub mod presence;
pub mod process;
pub mod questions;
pub mod report;
pub mod risk;
pub mod setup;
pub mod shell;
pub mod wire;
