//! Countersign works out what a coding agent's tool call would do, and answers for the person what is harmless.
//!
//! The way of the data: `wire` reads an event into a `call`, `judge` assesses it and decides, `wire::output` writes
//! the one answer. Nothing is let through that was not understood completely, and every error leaves the question
//! with the person.

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
pub mod judge;
pub mod own_files;
pub mod pause;
pub mod place;
pub mod policy;
pub mod presence;
pub mod questions;
pub mod report;
pub mod risk;
pub mod setup;
pub mod shell;
pub mod wire;
