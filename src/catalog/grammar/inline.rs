//! Reads Python and JavaScript that is given as a word or on standard input: a tiny set in which nothing can be reached
//! but data.
//!
//! It is a grammar of its own: a part of the language's, with what each name holds where it stands. A name counts as data
//! where the text has surely given it a value, a function is called only if it is listed or written out where it is called,
//! and no name that means something of its own is ever given another meaning. So every value is data, and what is not in
//! the grammar is code that nobody vouches for. A text that the language cannot read runs nothing.

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
    Number(&'a str),
    /// A string; its content where no backslash stands in it.
    Text(Option<&'a str>),
    /// What stands in a string that Python fills in: `f'{x}'`.
    Format(&'a str),
    Mark(char),
    /// Between two lines of Python, outside brackets: how far the second is indented, in characters.
    Line(usize),
}

/// How deep expressions and blocks may stand in each other.
const DEPTH: usize = 32;

/// How many names may hold data at once.
const NAMES: usize = 100;

/// A place in the tokens of a text.
struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
}

impl<'a> Cursor<'a> {
    fn new(tokens: Vec<Token<'a>>) -> Self {
        Self { tokens, at: 0 }
    }

    fn rest(&self) -> &[Token<'a>] {
        &self.tokens[self.at..]
    }

    fn peek(&self) -> Option<Token<'a>> {
        self.rest().first().copied()
    }

    fn next(&mut self) -> Option<Token<'a>> {
        let token = self.peek()?;
        self.at += 1;
        Some(token)
    }

    /// Takes these tokens, if they come next.
    fn eat(&mut self, tokens: &[Token<'_>]) -> bool {
        let comes = self.rest().starts_with(tokens);
        if comes {
            self.at += tokens.len();
        }
        comes
    }

    fn mark(&mut self, mark: char) -> bool {
        self.eat(&[Token::Mark(mark)])
    }

    fn need(&mut self, mark: char) -> Option<()> {
        self.mark(mark).then_some(())
    }

    /// The first of these operators that comes next, and how many tokens it is.
    fn operator(&self, operators: &str) -> Option<usize> {
        let comes = |operator: &&str| {
            let marks = operator.chars().map(Token::Mark);
            self.rest().iter().copied().take(operator.len()).eq(marks)
        };
        operators.split(' ').find(comes).map(str::len)
    }
}

/// Whether a word stands in a list of words.
fn lists(words: &str, word: &str) -> bool {
    words.split_ascii_whitespace().any(|it| it == word)
}

/// Whether a name is written as the languages write those of their classes: `EvalError`.
fn is_class(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase()) && name.contains(|c: char| c.is_ascii_lowercase())
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
    let mut brackets = 0usize;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        match byte {
            b' ' | b'\t' => at += 1,
            b'\n' => {
                at += 1;
                if lexis.is_python && brackets == 0 {
                    let indentation = &text[at..at + text[at..].bytes().take_while(|b| b" \t".contains(b)).count()];
                    if indentation.contains(' ') && indentation.contains('\t') {
                        return None;
                    }
                    if let Some(Token::Line(_)) = tokens.last() {
                        tokens.pop();
                    }
                    if !tokens.is_empty() {
                        tokens.push(Token::Line(indentation.len()));
                    }
                }
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
                tokens.push(Token::Number(&text[start..at]));
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
                    "f" | "F" if lexis.is_python && is_string => {
                        let (token, end) = string(text, at, true)?;
                        tokens.push(match token {
                            Token::Text(Some(content)) => Token::Format(content),
                            // Where its fields are is not worth the rules of escapes.
                            _ => return None,
                        });
                        at = end;
                    }
                    _ if is_string => return None,
                    _ => tokens.push(Token::Name(name)),
                }
            }
            _ if lexis.marks.as_bytes().contains(&byte) => {
                match byte {
                    b'(' | b'[' | b'{' => brackets += 1,
                    b')' | b']' | b'}' => brackets = brackets.checked_sub(1)?,
                    _ => {}
                }
                tokens.push(Token::Mark(char::from(byte)));
                at += 1;
            }
            _ => return None,
        }
    }
    if let Some(Token::Line(_)) = tokens.last() {
        tokens.pop();
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

#[cfg(test)]
mod tests;
