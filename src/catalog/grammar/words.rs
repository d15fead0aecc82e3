//! Options of the commands that are read wholly in Rust: exact spellings, clusters, glued and separate values.
//!
//! The first word that is no option ends them, as POSIX has it; `--` does too.

use super::{Reading, doubt};
use crate::shell::{Arg, Value};

/// The options a command is known to have, by exact spelling (`-n`, `--null`).
pub(super) struct Known {
    pub(super) program: &'static str,
    pub(super) flags: &'static [&'static str],
    pub(super) values: &'static [&'static str],
}

/// An option that was given, by its spelling, with its value.
pub(super) struct Given {
    pub(super) spelling: &'static str,
    pub(super) value: Option<Arg>,
}

impl Given {
    /// The value of an option that `Known::values` lists; an empty word for a flag.
    pub(super) fn into_value(self) -> Arg {
        self.value.unwrap_or(Arg {
            value: Value::Literal(String::new()),
            span: Default::default(),
        })
    }
}

/// Splits `args` (without the program's name) into options and the rest. `None`: a doubt was recorded.
pub(super) fn options<'a>(known: &Known, args: &'a [Arg], reading: &mut Reading) -> Option<(Vec<Given>, &'a [Arg])> {
    let mut given = Vec::new();
    let mut at = 0;
    while let Some(arg) = args.get(at) {
        if !arg.value.may_be_option() || arg.value.literal() == Some("-") {
            break;
        }
        at += 1;
        if arg.value.literal() == Some("--") {
            break;
        }
        match known.read(arg, args.get(at)) {
            Ok((mut more, took_next)) => {
                given.append(&mut more);
                at += usize::from(took_next);
            }
            Err(why) => {
                doubt(reading, arg.span, why);
                return None;
            }
        }
    }
    Some((given, &args[at..]))
}

impl Known {
    /// One word of options, and whether the next word was taken as a value.
    fn read(&self, arg: &Arg, next: Option<&Arg>) -> Result<(Vec<Given>, bool), String> {
        let text = match &arg.value {
            Value::Literal(text) => text,
            Value::Unknown { prefix, single: true } if prefix.starts_with("--") && prefix.contains('=') => prefix,
            Value::OneOf(_) | Value::Under { .. } | Value::Numbered { .. } | Value::Unknown { .. } => {
                return Err(format!("a word that is not known may be an option of {}", self.program));
            }
        };
        if text.starts_with("--") {
            self.long(text, arg, next)
        } else {
            self.cluster(text, arg, next)
        }
    }

    fn long(&self, text: &str, arg: &Arg, next: Option<&Arg>) -> Result<(Vec<Given>, bool), String> {
        let (name, glued) = match text.split_once('=') {
            Some((name, _)) => (name, Some(name.len() + 1)),
            None => (text, None),
        };
        if let (Some(spelling), None) = (find(self.flags, name), glued) {
            return Ok((vec![Given { spelling, value: None }], false));
        }
        let spelling = find(self.values, name).ok_or_else(|| self.unknown(name))?;
        let value = match glued {
            Some(count) => Arg {
                value: arg.value.without_prefix(count),
                span: arg.span,
            },
            None => self.separate(spelling, next)?,
        };
        let given = Given {
            spelling,
            value: Some(value),
        };
        Ok((vec![given], glued.is_none()))
    }

    fn cluster(&self, text: &str, arg: &Arg, next: Option<&Arg>) -> Result<(Vec<Given>, bool), String> {
        let mut given = Vec::new();
        for (at, letter) in text.char_indices().skip(1) {
            let name = format!("-{letter}");
            if let Some(spelling) = find(self.flags, &name) {
                given.push(Given { spelling, value: None });
                continue;
            }
            let spelling = find(self.values, &name).ok_or_else(|| self.unknown(&name))?;
            let end = at + letter.len_utf8();
            let glued = end < text.len();
            let value = if glued {
                Arg {
                    value: arg.value.without_prefix(end),
                    span: arg.span,
                }
            } else {
                self.separate(spelling, next)?
            };
            given.push(Given {
                spelling,
                value: Some(value),
            });
            return Ok((given, !glued));
        }
        Ok((given, false))
    }

    fn separate(&self, spelling: &str, next: Option<&Arg>) -> Result<Arg, String> {
        match next {
            Some(arg) if is_one_word(&arg.value) => Ok(arg.clone()),
            Some(_) => Err(format!(
                "the value of {spelling} of {} may be several words",
                self.program
            )),
            None => Err(format!("{spelling} of {} lacks its value", self.program)),
        }
    }

    fn unknown(&self, name: &str) -> String {
        format!("`{name}` is not an option that is known of {}", self.program)
    }
}

/// The known spelling equal to `name`.
fn find(spellings: &[&'static str], name: &str) -> Option<&'static str> {
    spellings.iter().find(|known| **known == name).copied()
}

/// Whether it is exactly one word, whatever its text.
pub(super) fn is_one_word(value: &Value) -> bool {
    match value {
        Value::Literal(_) | Value::OneOf(_) | Value::Under { .. } | Value::Numbered { .. } => true,
        Value::Unknown { single, .. } => *single,
    }
}
