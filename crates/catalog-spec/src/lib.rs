//! The words and the file format of the command catalog.
//!
//! `words` is linked into the program; everything else (feature `toml`) serves the build script and the tests.

mod words;

pub use words::{Action, EffectSpec, Place, Reach, Role, Tier, Undo};
