//! Reads Python and JavaScript that is given as a word or on standard input: a tiny set in which nothing can be reached
//! but data.
//!
//! It is read token by token, and the structure does not matter: every name must be one that is listed or bound by the
//! text itself, every call one of a listed function or method. So every value is data, and code that does not parse runs
//! nothing. What else a text does is not asked: one token outside the set, and all of it is code that nobody vouches for.

mod javascript;
mod python;

pub use javascript::read as javascript;
pub use python::read as python;

/// What a text of the set does besides printing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Harmless {
    /// Files whose content it reads.
    pub reads: Vec<String>,
    /// Files it reads as JSON because of their names, where these are files: `require('./package.json')`.
    pub requires: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Token<'a> {
    Name(&'a str),
    Number,
    /// A string; its content where no backslash stands in it.
    Text(Option<&'a str>),
    Mark(char),
    /// The end of a line, where that means something.
    Line,
}

/// What the two languages write differently.
struct Lexis {
    marks: &'static str,
    names: fn(u8) -> bool,
    /// Lines, comments (`#`), three quotes and the letters before a string are Python's.
    is_python: bool,
}

/// The tokens of a text, `None` where something in it is in neither set.
fn tokens<'a>(text: &'a str, lexis: &Lexis) -> Option<Vec<Token<'a>>> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b' ' | b'\t' => at += 1,
            b'\n' => {
                if lexis.is_python {
                    tokens.push(Token::Line);
                }
                at += 1;
            }
            b'#' if lexis.is_python => {
                let line = text[at..].lines().next()?;
                // It may say in which encoding the rest is read.
                if line.contains("coding") || line.contains('\r') {
                    return None;
                }
                at += line.len();
            }
            b'\'' | b'"' => {
                let (token, end) = string(text, at, lexis.is_python)?;
                tokens.push(token);
                at = end;
            }
            b'0'..=b'9' => {
                while bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_digit() || matches!(b, b'.' | b'_'))
                {
                    at += 1;
                }
                tokens.push(Token::Number);
            }
            _ if byte.is_ascii_alphabetic() || (lexis.names)(byte) => {
                while bytes
                    .get(at)
                    .is_some_and(|b| b.is_ascii_alphanumeric() || (lexis.names)(*b))
                {
                    at += 1;
                }
                let name = &text[start..at];
                let is_string = matches!(bytes.get(at), Some(b'\'' | b'"'));
                match name {
                    "r" | "R" | "b" | "B" if lexis.is_python && is_string => {}
                    _ if is_string => return None,
                    _ => tokens.push(Token::Name(name)),
                }
            }
            _ if lexis.marks.as_bytes().contains(&byte) => {
                tokens.push(Token::Mark(char::from(byte)));
                at += 1;
            }
            _ => return None,
        }
    }
    Some(tokens)
}

/// The string that begins at `at`, and where it ends.
fn string(text: &str, at: usize, is_python: bool) -> Option<(Token<'_>, usize)> {
    let quote = &text[at..=at];
    let triple = quote.repeat(3);
    let end = if is_python && text[at..].starts_with(&triple) {
        &triple
    } else {
        quote
    };
    let start = at + end.len();
    let mut escaped = false;
    let mut at = start;
    while !text.get(at..)?.starts_with(end) {
        let c = text[at..].chars().next()?;
        at += c.len_utf8();
        match c {
            '\n' if end.len() == 1 => return None,
            '\r' | '\0' => return None,
            '\\' => {
                escaped = true;
                let next = text.get(at..)?.chars().next()?;
                // `\N{..}` loads a module, and a line end in a string is not worth its rules.
                if matches!(next, 'N' | '\n' | '\r' | '\0') {
                    return None;
                }
                at += next.len_utf8();
            }
            _ => {}
        }
    }
    let content = (!escaped).then(|| &text[start..at]);
    Some((Token::Text(content), at + end.len()))
}

/// Whether what stands before a `(` cannot be called by it.
fn opens_a_group(before: Option<&Token<'_>>) -> bool {
    !matches!(
        before,
        Some(Token::Number | Token::Text(_) | Token::Mark(')' | ']' | '}' | '.'))
    )
}

#[cfg(test)]
mod tests;
