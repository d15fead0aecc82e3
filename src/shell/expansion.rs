//! From a word of the tree to the words it becomes, computed as the shell does; what cannot be computed is unknown.
//!
//! The caller runs the substitutions that stand inside a word; here their output is unknown.

use super::ast::{Arithmetic, Parameter, ParameterOperation, Part, Script, Word};
use super::state::State;
use super::value::{Arg, Value};

/// At most this many texts are kept for one word.
const MAX_ALTERNATIVES: usize = 128;
/// At most this many words are made of one word by braces.
const MAX_BRACES: usize = 256;
/// At most this many bytes are put together to one text.
const MAX_TEXT: usize = 64 * 1024;

/// What expansion must ask of the machine.
pub trait Surroundings {
    /// The value of a variable that the script did not assign, where it is known.
    fn variable(&self, name: &str, state: &State) -> Option<String>;
    /// What a command substitution puts in its place, where it is known.
    fn output(&self, script: &Script, state: &State) -> Option<Value>;
    /// The home directory that `~` means.
    fn home(&self, state: &State) -> Option<String>;
    /// The words that a pattern becomes, sorted, each one of these names; the pattern itself where it matches none; `None`
    /// where that is not known.
    fn matches(&self, pattern: &[PatternPart], state: &State) -> Option<Vec<Vec<String>>>;
    /// Counts the bytes of what a word has become; `false` once a script has become more than is followed.
    fn keeps(&self, bytes: usize) -> bool;
}

/// A piece of a pattern for path names.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PatternPart {
    /// Text that stands for itself.
    Text(String),
    /// `*`, `?` or `[..]` as written.
    Glob(String),
}

#[derive(Clone, Debug)]
enum Piece {
    /// One of these texts.
    Text {
        texts: Vec<String>,
        quoted: bool,
    },
    Glob(String),
    Under {
        directory: String,
        names: Vec<String>,
    },
    /// Digits.
    Number,
    /// Hexadecimal digits, or nothing.
    Hash,
    /// `prefix` and then what is not known.
    Unknown {
        prefix: String,
        single: bool,
    },
}

/// The words that `word` becomes as an argument: none, one or several.
pub fn expand(word: &Word, state: &State, around: &dyn Surroundings) -> Vec<Arg> {
    let arg = |value| Arg { value, span: word.span };
    if let Some(words) = all_positional(&word.parts, state) {
        return words.into_iter().map(arg).collect();
    }
    let alternatives = if around.keeps(0) { braces(&word.parts) } else { None };
    let Some(alternatives) = alternatives else {
        return vec![arg(Value::UNKNOWN)];
    };
    let values: Vec<Value> = alternatives
        .iter()
        .flat_map(|parts| fields(&pieces(parts, state, around, false), state, around))
        .collect();
    match around.keeps(values.iter().map(size).sum()) {
        true => values.into_iter().map(arg).collect(),
        false => vec![arg(Value::UNKNOWN)],
    }
}

/// Its bytes, and a little for every text.
fn size(value: &Value) -> usize {
    let texts = match value {
        Value::Literal(text)
        | Value::Under { directory: text, .. }
        | Value::Numbered { before: text, .. }
        | Value::Unknown { prefix: text, .. } => std::slice::from_ref(text),
        Value::OneOf(texts) => texts,
    };
    texts.iter().map(|text| text.len() + 16).sum()
}

/// The one word that `word` becomes where the shell neither splits nor matches names: assignments, `case`, `[[`.
pub fn expand_single(word: &Word, state: &State, around: &dyn Surroundings) -> Value {
    if !around.keeps(0) {
        return Value::UNKNOWN;
    }
    let pieces: Vec<Piece> = pieces(&word.parts, state, around, true)
        .into_iter()
        .map(|piece| match piece {
            Piece::Glob(text) => Piece::Text {
                texts: vec![text],
                quoted: true,
            },
            Piece::Text { texts, .. } => Piece::Text { texts, quoted: true },
            Piece::Unknown { prefix, .. } => Piece::Unknown { prefix, single: true },
            Piece::Under { .. } | Piece::Hash => piece,
            // What a number in a name means is known only where the name is used.
            Piece::Number => Piece::Unknown {
                prefix: String::new(),
                single: true,
            },
        })
        .collect();
    let value = match pieces.as_slice() {
        [Piece::Hash] => Value::digits(true),
        pieces => joined(pieces).unwrap_or(Value::Literal(String::new())),
    };
    match around.keeps(size(&value)) {
        true => value,
        false => Value::UNKNOWN,
    }
}

/// Every alternative that braces make, in order; `None` past the bound.
fn braces(parts: &[Part]) -> Option<Vec<Vec<Part>>> {
    let mut out: Vec<Vec<Part>> = vec![Vec::new()];
    for part in parts {
        let Part::Brace(alternatives) = part else {
            out.iter_mut().for_each(|head| head.push(part.clone()));
            continue;
        };
        let mut choices: Vec<Vec<Part>> = Vec::new();
        for alternative in alternatives {
            choices.extend(braces(alternative)?);
        }
        if out.len() * choices.len() > MAX_BRACES {
            return None;
        }
        out = out
            .iter()
            .flat_map(|head| choices.iter().map(move |tail| [head.as_slice(), tail].concat()))
            .collect();
    }
    Some(out)
}

fn pieces(parts: &[Part], state: &State, around: &dyn Surroundings, quoted: bool) -> Vec<Piece> {
    parts
        .iter()
        .flat_map(|part| piece(part, state, around, quoted))
        .collect()
}

fn piece(part: &Part, state: &State, around: &dyn Surroundings, quoted: bool) -> Vec<Piece> {
    match part {
        Part::Literal(text) => vec![Piece::Text {
            texts: vec![text.clone()],
            quoted: false,
        }],
        Part::Quoted(text) => vec![Piece::Text {
            texts: vec![text.clone()],
            quoted: true,
        }],
        Part::DoubleQuoted(inner) => {
            let mut out = vec![Piece::Text {
                texts: vec![String::new()],
                quoted: true,
            }];
            out.extend(pieces(inner, state, around, true));
            out
        }
        Part::Parameter(parameter) => vec![parameter_piece(parameter, state, around, quoted)],
        Part::CommandSubstitution(script) => match around.output(script, state) {
            Some(value) => vec![value_piece(value, quoted, state)],
            None => vec![Piece::Unknown {
                prefix: String::new(),
                single: quoted,
            }],
        },
        Part::Arithmetic(expression) if is_number(expression, state) => vec![Piece::Number],
        Part::Arithmetic(_) => vec![Piece::Unknown {
            prefix: String::new(),
            single: true,
        }],
        Part::ProcessSubstitution { .. } => {
            // A pipe's name: `/dev/fd/63` in bash, `/proc/self/fd/12` in zsh.
            vec![Piece::Text {
                texts: vec!["/dev/stdin".to_owned()],
                quoted: true,
            }]
        }
        Part::Glob(text) => vec![Piece::Glob(text.clone())],
        // Only where braces are not expanded: the text is as good as unknown.
        Part::Brace(_) => vec![Piece::Unknown {
            prefix: String::new(),
            single: quoted,
        }],
        Part::Tilde(None) => match around.home(state) {
            Some(home) => vec![Piece::Text {
                texts: vec![home],
                quoted: true,
            }],
            None => vec![Piece::Unknown {
                prefix: "/".to_owned(),
                single: true,
            }],
        },
        Part::Tilde(Some(_)) => vec![Piece::Unknown {
            prefix: "/".to_owned(),
            single: true,
        }],
    }
}

fn parameter_piece(parameter: &Parameter, state: &State, around: &dyn Surroundings, quoted: bool) -> Piece {
    let unknown = Piece::Unknown {
        prefix: String::new(),
        single: quoted && !is_list(parameter),
    };
    if parameter.index.is_some() {
        return unknown;
    }
    let is_counted = match parameter.operation {
        None => ["#", "?"].contains(&parameter.name.as_str()) || state.is_number(&parameter.name),
        Some(ParameterOperation::Length) => !["@", "*"].contains(&parameter.name.as_str()),
        Some(_) => false,
    };
    let value = match positional(&parameter.name, state)
        .as_ref()
        .or(state.get(&parameter.name))
    {
        Some(Value::Unknown { .. }) | None if is_counted => return Piece::Number,
        _ if is_counted && parameter.operation.is_some() => return Piece::Number,
        Some(value) => Some(value.clone()),
        None if state.opaque => None,
        None => around.variable(&parameter.name, state).map(Value::Literal),
    };
    match (&parameter.operation, value) {
        (None, Some(value)) => value_piece(value, quoted, state),
        (Some(ParameterOperation::Default(..) | ParameterOperation::Length), _)
        | (Some(ParameterOperation::Strip(..) | ParameterOperation::Replace(..)), _)
        | (Some(ParameterOperation::Case(..) | ParameterOperation::Substring(..)), _)
        | (None, None) => unknown,
    }
}

/// `$0`, `$1` and so on, where they are known; those that are not given are empty.
fn positional(name: &str, state: &State) -> Option<Value> {
    let number: usize = name.parse().ok()?;
    let it = state
        .positional
        .as_ref()
        .filter(|it| it.counted && (number > 0 || !it.words.is_empty()))?;
    Some(it.words.get(number).cloned().unwrap_or(Value::Literal(String::new())))
}

/// The words that `"$@"` becomes, where they are known.
fn all_positional(parts: &[Part], state: &State) -> Option<Vec<Value>> {
    let inner = match parts {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        _ => return None,
    };
    match inner {
        [Part::Parameter(it)] if it.name == "@" && it.index.is_none() && it.operation.is_none() => {
            Some(state.positional.as_ref()?.words.iter().skip(1).cloned().collect())
        }
        _ => None,
    }
}

/// Whether what a word has become stands for any number of words: a pattern that may go through directories, or the words
/// that a function was called with.
pub fn is_uncounted(word: &Word, values: &[Arg], state: &State) -> bool {
    fn matches_names(part: &Part) -> bool {
        match part {
            Part::Glob(_) => true,
            Part::Brace(alternatives) => alternatives.iter().flatten().any(matches_names),
            _ => false,
        }
    }
    let is_any_of = |arg: &Arg| arg.value.alternatives().is_none_or(|texts| texts.len() > 1);
    let is_open = state.positional.as_ref().is_some_and(|it| !it.counted);
    is_open && all_positional(&word.parts, state).is_some()
        || word.parts.iter().any(matches_names) && values.iter().any(is_any_of)
}

/// Whether an expression that assigns nothing is worth digits alone.
fn is_number(expression: &Arithmetic, state: &State) -> bool {
    let counts = expression.count.as_ref().filter(|_| expression.assigned.is_empty());
    counts.is_some_and(|count| count.of.as_ref().is_none_or(|name| state.is_number(name)))
}

/// Whether this one word of an assignment is digits alone, though it may not be known which.
pub fn counts(word: &Word, state: &State) -> bool {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    match parts {
        [Part::Arithmetic(expression)] => is_number(expression, state),
        [Part::Parameter(it)] => it.index.is_none() && it.operation.is_none() && state.is_number(&it.name),
        _ => false,
    }
}

/// `$@`, `$*` and `${a[@]}` may be any number of words even inside quotes.
fn is_list(parameter: &Parameter) -> bool {
    parameter.name == "@" || parameter.index.as_deref() == Some("@")
}

fn value_piece(value: Value, quoted: bool, state: &State) -> Piece {
    let splits = |text: &String| text.is_empty() || text.contains([' ', '\t', '\n', '*', '?', '[', '\\', '~', '=']);
    match value {
        Value::Literal(text) => value_piece(Value::OneOf(vec![text]), quoted, state),
        Value::OneOf(texts) if !quoted && texts.iter().any(splits) => Piece::Unknown {
            prefix: String::new(),
            single: false,
        },
        Value::OneOf(texts) => Piece::Text { texts, quoted: true },
        Value::Under { directory, names } if quoted => Piece::Under { directory, names },
        // Digits may be what words are split at.
        Value::Numbered { hash, .. }
            if value.is_digits() && (quoted || state.get("IFS").is_none() && !state.opaque) =>
        {
            match hash {
                true => Piece::Hash,
                false => Piece::Number,
            }
        }
        Value::Numbered { before, .. } if quoted => Piece::Unknown {
            prefix: before,
            single: true,
        },
        Value::Under { .. } | Value::Numbered { .. } => Piece::Unknown {
            prefix: String::new(),
            single: false,
        },
        // Whatever a variable holds, inside quotes it is one word.
        Value::Unknown { prefix, single: _ } => Piece::Unknown {
            prefix: if quoted { prefix } else { String::new() },
            single: quoted,
        },
    }
}

/// Puts the pieces of one word together; matches names where it holds a pattern.
fn fields(pieces: &[Piece], state: &State, around: &dyn Surroundings) -> Vec<Value> {
    if !pieces.iter().any(|piece| matches!(piece, Piece::Glob(_))) {
        return joined(pieces).into_iter().collect();
    }
    let mut pattern = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text { texts, .. } if texts.len() == 1 => pattern.push(PatternPart::Text(texts[0].clone())),
            Piece::Glob(text) => pattern.push(PatternPart::Glob(text.clone())),
            Piece::Text { .. } | Piece::Under { .. } | Piece::Number | Piece::Hash | Piece::Unknown { .. } => {
                return vec![Value::Unknown {
                    prefix: literal_start(pieces),
                    single: false,
                }];
            }
        }
    }
    match around.matches(&pattern, state) {
        // `OneOf` and not `Literal`: the names are the machine's, not the script's.
        Some(words) => words.into_iter().map(Value::OneOf).collect(),
        None => vec![Value::Unknown {
            prefix: literal_start(pieces),
            single: false,
        }],
    }
}

/// One word, or none where nothing quoted is left of it.
fn joined(pieces: &[Piece]) -> Option<Value> {
    if let [Piece::Under { directory, names }] | [Piece::Text { .. }, Piece::Under { directory, names }] = pieces
        && literal_start(pieces).is_empty()
    {
        return Some(Value::Under {
            directory: directory.clone(),
            names: names.clone(),
        });
    }
    // Without quotes nothing is no word.
    if let [Piece::Hash] = pieces {
        return Some(Value::UNKNOWN);
    }
    if let Some(numbered) = numbered(pieces) {
        return Some(numbered);
    }
    let mut texts = vec![String::new()];
    let mut quoted = false;
    for piece in pieces {
        match piece {
            Piece::Text { texts: next, quoted: q }
                if texts.len() * next.len() <= MAX_ALTERNATIVES && longest(&texts) + longest(next) <= MAX_TEXT =>
            {
                quoted |= q;
                if let [tail] = next.as_slice() {
                    texts.iter_mut().for_each(|head| head.push_str(tail));
                } else {
                    texts = texts
                        .iter()
                        .flat_map(|head| next.iter().map(move |tail| format!("{head}{tail}")))
                        .collect();
                }
            }
            Piece::Text { .. } => {
                return Some(Value::Unknown {
                    prefix: literal_start(pieces),
                    single: singles(pieces),
                });
            }
            Piece::Unknown { .. } | Piece::Under { .. } | Piece::Number | Piece::Hash | Piece::Glob(_) => {
                return Some(Value::Unknown {
                    prefix: literal_start(pieces),
                    single: singles(pieces),
                });
            }
        }
    }
    match texts.len() {
        1 => texts
            .pop()
            .filter(|text| quoted || !text.is_empty())
            .map(Value::Literal),
        _ => Some(Value::OneOf(texts)),
    }
}

/// One number, and known texts around it.
fn numbered(pieces: &[Piece]) -> Option<Value> {
    let at = pieces
        .iter()
        .position(|piece| matches!(piece, Piece::Number | Piece::Hash))?;
    let text = |pieces: &[Piece]| {
        let known = |piece: &Piece| match piece {
            Piece::Text { texts, .. } if texts.len() == 1 => Some(texts[0].clone()),
            _ => None,
        };
        let text = pieces.iter().map(known).collect::<Option<String>>()?;
        (text.len() <= MAX_TEXT).then_some(text)
    };
    Some(Value::Numbered {
        before: text(&pieces[..at])?,
        after: text(&pieces[at + 1..])?,
        hash: matches!(pieces[at], Piece::Hash),
    })
}

fn longest(texts: &[String]) -> usize {
    texts.iter().map(String::len).max().unwrap_or_default()
}

fn singles(pieces: &[Piece]) -> bool {
    pieces
        .iter()
        .all(|piece| !matches!(piece, Piece::Unknown { single: false, .. } | Piece::Glob(_)))
}

/// What the word starts with in any case.
fn literal_start(pieces: &[Piece]) -> String {
    let mut out = String::new();
    for piece in pieces {
        match piece {
            Piece::Text { texts, .. } if texts.len() == 1 && out.len() + texts[0].len() <= MAX_TEXT => {
                out.push_str(&texts[0]);
            }
            Piece::Unknown { prefix, .. } => {
                out.push_str(prefix);
                break;
            }
            Piece::Text { .. } | Piece::Glob(_) | Piece::Under { .. } | Piece::Number | Piece::Hash => break,
        }
    }
    out
}

#[cfg(test)]
mod tests;
