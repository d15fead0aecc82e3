//! Getting Countersign onto a person's machine and off it again, and saying what is wrong when it does not answer.
//!
//! `cli::{install, uninstall, doctor}` call this. A settings file is the person's: whatever is not an entry of ours
//! keeps its bytes, nothing is written that the host would refuse, and a file that cannot be read is not touched.

pub mod doctor;
pub mod file;
pub mod host;
pub mod json;
mod process;
pub mod program;
pub mod relay;
pub mod selftest;
pub mod wiring;
