//! The words and the file format of the command catalog.
//!
//! `words` and `layout` are linked into the program; everything else (feature `toml`) serves the build script and the
//! tests: `load_dir` reads and checks the files, `compile` writes the bytes that the program carries.

pub mod layout;
mod words;

#[cfg(feature = "toml")]
mod compile;
#[cfg(feature = "toml")]
mod diagnostic;
#[cfg(feature = "toml")]
mod environment;
#[cfg(feature = "toml")]
mod format;
#[cfg(feature = "toml")]
mod settings;
#[cfg(feature = "toml")]
mod witness;

pub use words::{Action, EffectSpec, Place, Reach, Role, Style, Tier, Times, Undo, VariableRule};

#[cfg(feature = "toml")]
pub use compile::compile;
#[cfg(feature = "toml")]
pub use diagnostic::Diagnostic;
#[cfg(feature = "toml")]
pub use environment::{Environment, Variable, load_environment, parse_environment};
#[cfg(feature = "toml")]
pub use format::{Entry, Example, Opt, Slot, When, load_dir, parse_files};
#[cfg(feature = "toml")]
pub use settings::{Setting, load_settings};
#[cfg(feature = "toml")]
pub use witness::{Registry, Witness};
