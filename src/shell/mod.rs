//! The shell: a strict subset that bash and zsh read the same way, accepted whole or refused by name.
//!
//! Promises: what `parse` accepts, bash accepts; every command that bash would run stands in the tree. It never panics,
//! never recurses past a bound and takes linear time. It knows no policy, no files and no host.

mod arithmetic;
pub mod ast;
mod backquotes;
mod compound;
mod conditions;
mod cursor;
pub mod expansion;
mod here_documents;
mod parameters;
mod parser;
mod quotes;
mod redirects;
mod scan;
pub mod state;
mod value;
mod words;

pub use ast::Span;
pub use parser::{MAX_BYTES, Refusal, parse};
pub use scan::scan;
pub use value::{Arg, Value};

/// Whether a text is the plain name of a variable.
pub fn is_identifier(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
