//! Where the parser stands in its text, and how much it may still spend.
//!
//! The only place that knows that backslash-newline vanishes, and how a text that was cut out of another (backquotes, the
//! body of a here-document) maps back to the bytes of the script. It knows no grammar.

use super::ast::Span;
use super::parser::Refusal;

/// How deep constructs may nest: each script, word operand, brace or condition inside another counts one.
pub(super) const MAX_DEPTH: usize = 24;
/// How many commands, compound ones included, a script may hold.
pub(super) const MAX_COMMANDS: usize = 500;
/// How many words the ranges of a script may become.
pub(super) const MAX_RANGED: usize = 2048;
/// How many terms one `[[ .. ]]` may hold: the tree nests once a term.
pub(super) const MAX_TERMS: usize = 32;

pub(super) type Parsed<T> = Result<T, Refusal>;

/// What nested parsers share.
#[derive(Clone, Copy, Default)]
pub(super) struct Budget {
    pub(super) depth: usize,
    pub(super) commands: usize,
    /// Words that ranges such as `{1..9}` became.
    pub(super) ranged: usize,
    /// Inside a substitution or a timed pipeline, where the shells disagree on `time`.
    pub(super) untimed: bool,
    /// Inside `$((..))`. bash counts parentheses to tell it from `$( (..) )`, so nothing in it may hold an odd one.
    pub(super) in_arithmetic: bool,
}

/// The rest of a line that holds a here-document operator.
#[derive(Clone, Copy)]
pub(super) struct HereLine {
    /// The newline that ends the line.
    pub(super) newline: usize,
    /// The first byte after the bodies read so far.
    pub(super) resume: usize,
}

/// A recursive-descent parser over one text. Its grammar is spread over the files of this folder.
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    /// For a text cut out of the script: the script's offset of each byte, and of the end.
    origin: Option<Vec<u32>>,
    pub(super) budget: Budget,
    pub(super) here: Option<HereLine>,
    /// Inside a substitution on a line whose here-document bodies are still to come: a newline would be ambiguous.
    pub(super) one_line: bool,
    /// A line continuation where zsh does not join what bash joins: inside an operator, or after a dollar sign.
    split: Option<usize>,
}

impl<'a> Parser<'a> {
    pub(super) fn new(text: &'a str, origin: Option<Vec<u32>>, budget: Budget) -> Self {
        Parser {
            text,
            at: 0,
            origin,
            budget,
            here: None,
            one_line: false,
            split: None,
        }
    }

    /// The byte at the cursor, line continuations not skipped.
    pub(super) fn raw(&self) -> Option<u8> {
        self.byte(self.at)
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    fn past_continuations(&self, mut at: usize) -> usize {
        while self.byte(at) == Some(b'\\') && self.byte(at + 1) == Some(b'\n') {
            at += 2;
        }
        at
    }

    /// The next byte; backslash-newline before it vanishes.
    pub(super) fn peek(&mut self) -> Option<u8> {
        let end = self.past_continuations(self.at);
        if end > self.at && self.splits(self.at, end) {
            self.split.get_or_insert(self.at);
        }
        self.at = end;
        self.raw()
    }

    fn splits(&self, start: usize, end: usize) -> bool {
        let before = start.checked_sub(1).and_then(|at| self.byte(at)).unwrap_or_default();
        let after = self.byte(end).unwrap_or_default();
        before == b'$'
            || (b"&|;<>".contains(&before) && b"&|;<>(".contains(&after))
            || (before.is_ascii_digit() && b"<>".contains(&after))
    }

    /// Checks, at the end of a text, that nothing in it was left open.
    pub(super) fn check_end(&mut self) -> Parsed<()> {
        if self.here.is_some() {
            return self.refuse("here-document without its body");
        }
        if let Some(at) = self.split {
            self.at = at;
            return self.refuse("line continuation inside an operator");
        }
        Ok(())
    }

    /// The byte after the next.
    pub(super) fn peek_second(&mut self) -> Option<u8> {
        self.peek()?;
        self.byte(self.past_continuations(self.at + 1))
    }

    /// Steps over one byte that was seen.
    pub(super) fn bump(&mut self) {
        self.at += 1;
    }

    /// Steps over `wanted` if it is next.
    pub(super) fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }

    /// Takes the whole character at the cursor.
    pub(super) fn take_char(&mut self) -> Option<char> {
        let found = self.text.get(self.at..)?.chars().next()?;
        self.at += found.len_utf8();
        Some(found)
    }

    /// Takes an unquoted character that is not ASCII or a control character, if it is harmless outside quotes.
    pub(super) fn take_unquoted_char(&mut self) -> Parsed<char> {
        let start = self.at;
        match self.take_char() {
            Some(c) if c.is_control() => self.refuse_from("control character", start),
            Some(c) if c.is_whitespace() || is_invisible(c) => self.refuse_from("unusual blank", start),
            Some(c) => Ok(c),
            None => self.refuse_from("unexpected end", start),
        }
    }

    /// Skips blanks; not newlines.
    pub(super) fn skip_blanks(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t')) {
            self.bump();
        }
    }

    /// The name ahead (letters, digits, `_`; not starting with a digit) and where it ends.
    pub(super) fn name_ahead(&mut self) -> Option<(String, usize)> {
        let first = self.peek()?;
        if !(first.is_ascii_alphabetic() || first == b'_') {
            return None;
        }
        let mut name = String::new();
        let mut at = self.at;
        while let Some(byte) = self.byte(at) {
            if !(byte.is_ascii_alphanumeric() || byte == b'_') {
                break;
            }
            name.push(char::from(byte));
            at = self.past_continuations(at + 1);
        }
        Some((name, at))
    }

    /// The short unquoted word ahead that may be a reserved one, and where it ends; empty if it is none.
    pub(super) fn bare_word_ahead(&mut self) -> (String, usize) {
        self.peek();
        let mut word = String::new();
        let mut at = self.at;
        while let Some(byte) = self.byte(at) {
            if is_word_end(byte) {
                break;
            }
            if word.len() > 10 || !(byte.is_ascii_lowercase() || b"!{}[]-".contains(&byte)) {
                return (String::new(), self.at);
            }
            word.push(char::from(byte));
            at = self.past_continuations(at + 1);
        }
        (word, at)
    }

    /// Steps over the reserved word `wanted` if it is next.
    pub(super) fn eat_word(&mut self, wanted: &str) -> bool {
        let (word, end) = self.bare_word_ahead();
        let found = word == wanted;
        if found {
            self.at = end;
        }
        found
    }

    pub(super) fn expect_word(&mut self, wanted: &str) -> Parsed<()> {
        if self.eat_word(wanted) {
            return Ok(());
        }
        self.refuse(&format!("missing {wanted}"))
    }

    /// Checks a newline inside quotes or a substitution: it may not stand between a here-document operator and its body.
    pub(super) fn check_inner_newline(&self) -> Parsed<()> {
        if self.here.is_some() || self.one_line {
            return self.refuse("newline inside a word after a here-document operator");
        }
        Ok(())
    }

    /// Runs `inner` one level deeper.
    pub(super) fn deeper<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.budget.depth >= MAX_DEPTH {
            return self.refuse("nested too deeply");
        }
        self.budget.depth += 1;
        let result = inner(self);
        self.budget.depth -= 1;
        result
    }

    /// Runs `inner` for a substitution: here-documents of the line around it wait outside.
    pub(super) fn substitution<T>(&mut self, inner: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        let outer = self.here.take();
        let one_line = self.one_line;
        let untimed = std::mem::replace(&mut self.budget.untimed, true);
        self.one_line |= outer.is_some();
        let result = self.deeper(inner)?;
        self.budget.untimed = untimed;
        if self.here.is_some() {
            return self.refuse("here-document without its body");
        }
        self.here = outer;
        self.one_line = one_line;
        Ok(result)
    }

    /// Runs `inner` on a text cut out of this one; `offsets` maps its bytes and its end to bytes of this one.
    pub(super) fn inner_text<T>(
        &mut self,
        text: &str,
        offsets: Vec<usize>,
        inner: impl FnOnce(&mut Parser<'_>) -> Parsed<T>,
    ) -> Parsed<T> {
        let origin = offsets.into_iter().map(|at| self.origin_of(at)).collect();
        let mut parser = Parser::new(text, Some(origin), self.budget);
        parser.budget.untimed = true;
        let result = parser.deeper(inner)?;
        parser.check_end()?;
        self.budget.commands = parser.budget.commands;
        self.budget.ranged = parser.budget.ranged;
        Ok(result)
    }

    fn origin_of(&self, at: usize) -> u32 {
        match &self.origin {
            Some(offsets) => offsets.get(at).or(offsets.last()).copied().unwrap_or_default(),
            // `parse` admits 64 KiB at most.
            None => u32::try_from(at).unwrap_or(u32::MAX),
        }
    }

    /// The span of the script from `start` to the cursor.
    pub(super) fn span_from(&self, start: usize) -> Span {
        self.span_of(start, self.at.max(start))
    }

    pub(super) fn span_of(&self, start: usize, end: usize) -> Span {
        Span {
            start: self.origin_of(start),
            end: self.origin_of(end),
        }
    }

    /// Refuses what stands from `start` to the cursor.
    pub(super) fn refuse_from<T>(&self, what: &str, start: usize) -> Parsed<T> {
        Err(Refusal {
            what: what.to_owned(),
            span: self.span_from(start),
        })
    }

    /// Refuses what stands at the cursor.
    pub(super) fn refuse<T>(&self, what: &str) -> Parsed<T> {
        let width = self
            .text
            .get(self.at..)
            .and_then(|rest| rest.chars().next())
            .map_or(0, char::len_utf8);
        Err(Refusal {
            what: what.to_owned(),
            span: Span {
                start: self.origin_of(self.at),
                end: self.origin_of(self.at + width),
            },
        })
    }
}

/// Whether a word ends before `byte`, outside quotes.
pub(super) fn is_word_end(byte: u8) -> bool {
    b" \t\n;&|()<>".contains(&byte)
}

/// Format characters that a person does not see.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}
