//! A fault in a catalog file: where it stands, what it means, what to write instead.

use std::fmt;
use std::ops::Range;

/// One fault. Shown as `file:line: message`, the form that editors jump to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    pub message: String,
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.message)
    }
}

/// Collects the faults of one file.
pub(crate) struct Source<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) faults: Vec<Diagnostic>,
}

impl<'a> Source<'a> {
    pub(crate) fn new(file: &'a str, text: &'a str) -> Self {
        Source {
            file,
            text,
            faults: Vec::new(),
        }
    }

    /// The line of a byte, counted from 1.
    pub(crate) fn line(&self, at: usize) -> usize {
        1 + self.text.bytes().take(at).filter(|&b| b == b'\n').count()
    }

    pub(crate) fn fault(&mut self, span: &Range<usize>, message: impl Into<String>) {
        self.faults.push(Diagnostic {
            file: self.file.to_owned(),
            line: self.line(span.start),
            message: message.into(),
        });
    }

    /// Reads the text, or records why it is not what `T` expects.
    pub(crate) fn read<T: serde::de::DeserializeOwned>(&mut self) -> Option<T> {
        match toml::from_str(self.text) {
            Ok(value) => Some(value),
            Err(error) => {
                let span = error.span().unwrap_or(0..0);
                self.fault(&span, error.message());
                None
            }
        }
    }
}
