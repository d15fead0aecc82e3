//! Parsers for languages that stand inside words.

use super::{Misread, Reading, Role};
use crate::shell::Arg;

/// Reads code that stands in one word.
pub fn embedded(role: Role, code: &Arg, reading: &mut Reading) {
    reading.doubts.push(Misread {
        why: format!("{role} is not read yet"),
        span: code.span,
    });
}

/// The parser of this name that reads all words of a command.
pub fn whole(name: &str) -> Option<fn(&[Arg], &mut Reading)> {
    let _ = name;
    None
}
