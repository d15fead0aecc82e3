//! What is known of a word after expansion.

use super::Span;

/// The words that one word of a script becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    /// Exactly this one word.
    Literal(String),
    /// Exactly one word, one of these. Never empty.
    OneOf(Vec<String>),
    /// Exactly one word: the path of something at or below this directory, reached without `..`.
    Under {
        directory: String,
        /// Its last name fits one of these patterns, cases apart; empty: whatever it is.
        names: Vec<String>,
    },
    /// Exactly one word: these two texts, and between them a number of digits alone.
    Numbered {
        before: String,
        after: String,
        /// The digits are hexadecimal, and there may be none.
        hash: bool,
    },
    /// Not known.
    Unknown {
        /// What it starts with in any case; may be empty.
        prefix: String,
        /// It is exactly one word (it was quoted); otherwise it may be none or several.
        single: bool,
    },
}

impl Value {
    pub const UNKNOWN: Value = Value::Unknown {
        prefix: String::new(),
        single: false,
    };

    /// Digits alone, or a hash or nothing.
    pub fn digits(hash: bool) -> Value {
        Value::Numbered {
            before: String::new(),
            after: String::new(),
            hash,
        }
    }

    /// Whether it is nothing but digits, though it is not known which.
    pub fn is_digits(&self) -> bool {
        matches!(self, Value::Numbered { before, after, .. } if before.is_empty() && after.is_empty())
    }

    /// The text, where it is exactly known.
    pub fn literal(&self) -> Option<&str> {
        match self {
            Value::Literal(text) => Some(text),
            Value::OneOf(_) | Value::Under { .. } | Value::Numbered { .. } | Value::Unknown { .. } => None,
        }
    }

    /// Every text it can be, where that is known.
    pub fn alternatives(&self) -> Option<&[String]> {
        match self {
            Value::Literal(text) => Some(std::slice::from_ref(text)),
            Value::OneOf(texts) => Some(texts),
            Value::Under { .. } | Value::Numbered { .. } | Value::Unknown { .. } => None,
        }
    }

    /// Whether it can start with `-` and so be read as an option.
    pub fn may_be_option(&self) -> bool {
        match self {
            Value::Literal(text) => text.starts_with('-'),
            Value::OneOf(texts) => texts.iter().any(|t| t.starts_with('-')),
            Value::Under { directory, .. } => directory.starts_with('-'),
            Value::Numbered { before, after, hash } => {
                before.starts_with('-') || *hash && before.is_empty() && after.starts_with('-')
            }
            Value::Unknown { prefix, single } => !single || prefix.is_empty() || prefix.starts_with('-'),
        }
    }

    /// The same value without its first `count` bytes, for glued option values.
    pub fn without_prefix(&self, count: usize) -> Value {
        let cut = |text: &String| text.get(count..).unwrap_or_default().to_owned();
        match self {
            Value::Literal(text) => Value::Literal(cut(text)),
            Value::OneOf(texts) => Value::OneOf(texts.iter().map(cut).collect()),
            Value::Under { directory, .. } => Value::Unknown {
                prefix: cut(directory),
                single: true,
            },
            Value::Numbered { before, after, hash } if count <= before.len() => Value::Numbered {
                before: cut(before),
                after: after.clone(),
                hash: *hash,
            },
            Value::Numbered { .. } => Value::Unknown {
                prefix: String::new(),
                single: true,
            },
            Value::Unknown { prefix, single } => Value::Unknown {
                prefix: cut(prefix),
                single: *single,
            },
        }
    }
}

/// One word of a command, computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pub value: Value,
    pub span: Span,
}
