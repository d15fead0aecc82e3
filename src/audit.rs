//! The record: one line for each call that was answered, in files of the person's that are only ever added to.
//!
//! The hook calls [`record`] after its answer has left, so nothing here can change an answer; what goes wrong is told on
//! standard error. [`Entry`] is what a line says, [`Masker`] keeps secrets out of it, [`append`](chain::append) chains
//! and writes it, [`verify`] checks the chain, [`files`] reads it for `countersign log`. Nothing is ever removed or cut.

pub mod chain;
pub mod entry;
pub mod files;
pub mod mask;
pub mod time;
pub mod verify;

use std::io;

pub use chain::append;
pub use entry::Entry;
pub use mask::Masker;

use crate::escape::visible_json;
use crate::own_files;

/// Adds one line to the record in the state directory.
///
/// # Errors
/// Those of [`append`], and no home.
pub fn record(entry: &Entry) -> io::Result<()> {
    let dir = own_files::state_dir().ok_or_else(|| io::Error::other("no home directory is known"))?;
    let body = serde_json::to_string(entry).map_err(io::Error::other)?;
    append(&dir, &visible_json(&body))
}
