//! Reads sed scripts: which files they name, and that they run nothing.
//!
//! Sources: the GNU sed 4.9 manual and its `compile.c`; POSIX for where others may differ. Several `-e` pieces are
//! read one by one, so a piece that leaves something open (a block, a text that goes on) is refused.

use super::cursor::Cursor;
use super::{DEPTH, Reading, Role, executes, names, regex};
use crate::shell::Span;

/// Reads one script or one `-e` piece.
///
/// # Errors
/// Names what was not understood.
pub(super) fn read(code: &str, span: Span, reading: &mut Reading) -> Result<(), String> {
    let mut script = Script {
        cursor: Cursor::new(code),
        blocks: 0,
        label_shares_line: false,
        spans_lines: false,
        span,
        reading,
    };
    script.commands()
}

struct Script<'a> {
    cursor: Cursor<'a>,
    blocks: usize,
    /// A label is followed by `;` or `}`, which BSD reads as part of the label up to the end of the line.
    label_shares_line: bool,
    /// A command goes on over the end of its line.
    spans_lines: bool,
    span: Span,
    reading: &'a mut Reading,
}

impl Script<'_> {
    fn commands(&mut self) -> Result<(), String> {
        loop {
            self.cursor.skip(|b| b == b';' || b.is_ascii_whitespace());
            if self.cursor.peek().is_none() {
                break;
            }
            self.command()?;
        }
        if self.blocks > 0 {
            return Err("a `{` of the sed script is not closed".into());
        }
        if self.label_shares_line && self.spans_lines {
            return Err("sed implementations disagree where the label ends".into());
        }
        Ok(())
    }

    fn command(&mut self) -> Result<(), String> {
        let addressed = self.address()?;
        if addressed {
            self.blanks();
            if self.cursor.eat(b',') {
                self.blanks();
                self.second_address()?;
            }
        }
        self.blanks();
        if self.cursor.eat(b'!') {
            self.blanks();
        }
        match self.cursor.next() {
            Some(b'{') => {
                self.blocks += 1;
                if self.blocks > DEPTH {
                    return Err("the sed script nests too deep".into());
                }
                Ok(())
            }
            Some(b'}') => {
                self.blocks = self
                    .blocks
                    .checked_sub(1)
                    .ok_or("a `}` of the sed script closes nothing")?;
                self.end()
            }
            Some(b'#') if !addressed => {
                self.cursor.skip(|b| b != b'\n');
                Ok(())
            }
            Some(b':') if !addressed => {
                self.blanks();
                self.label(true)
            }
            Some(b'b' | b't' | b'T') => {
                self.blanks();
                self.label(false)
            }
            Some(b'=' | b'd' | b'D' | b'g' | b'G' | b'h' | b'H' | b'n' | b'N' | b'p' | b'P' | b'x' | b'z' | b'F') => {
                self.end()
            }
            Some(b'l' | b'q' | b'Q') => {
                self.blanks();
                self.cursor.skip(|b| b.is_ascii_digit());
                self.end()
            }
            Some(b's') => self.substitute(),
            Some(b'y') => self.transliterate(),
            Some(b'a' | b'i' | b'c') => self.inserted_text(),
            Some(b'r' | b'R') => self.file(Role::PathRead),
            Some(b'w' | b'W') => self.file(Role::PathWrite),
            Some(b'e') => {
                executes(self.reading);
                Err("the sed command `e` runs a shell command".into())
            }
            Some(_) => {
                self.cursor.at -= 1;
                Err(format!("`{}` is not a sed command that is known", self.letter()))
            }
            None => Err("a sed command is missing after its address".into()),
        }
    }

    /// `5`, `0~4`, `$`, `/re/I`, `\cREc`. `false`: there is none.
    fn address(&mut self) -> Result<bool, String> {
        match self.cursor.peek() {
            Some(b'0'..=b'9') => {
                self.cursor.skip(|b| b.is_ascii_digit());
                self.blanks();
                if self.cursor.eat(b'~') {
                    self.blanks();
                    self.number()?;
                }
            }
            Some(b'$') => self.cursor.at += 1,
            Some(b'/') => {
                self.cursor.at += 1;
                self.regex(b'/')?;
                self.cursor.skip(|b| matches!(b, b'I' | b'M'));
            }
            Some(b'\\') => {
                self.cursor.at += 1;
                let delimiter = self.delimiter()?;
                self.regex(delimiter)?;
                self.cursor.skip(|b| matches!(b, b'I' | b'M'));
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    fn second_address(&mut self) -> Result<(), String> {
        if self.cursor.eat(b'+') || self.cursor.eat(b'~') {
            return self.number();
        }
        match self.address()? {
            true => Ok(()),
            false => Err("the second address of a sed command is not understood".into()),
        }
    }

    fn number(&mut self) -> Result<(), String> {
        let start = self.cursor.at;
        self.cursor.skip(|b| b.is_ascii_digit());
        if self.cursor.at == start {
            return Err("a number is missing in a sed address".into());
        }
        Ok(())
    }

    fn label(&mut self, needed: bool) -> Result<(), String> {
        let start = self.cursor.at;
        self.cursor.skip(|b| b.is_ascii_alphanumeric() || b == b'_');
        if needed && self.cursor.at == start {
            return Err("a label of the sed script is not understood".into());
        }
        self.blanks();
        self.label_shares_line |= matches!(self.cursor.peek(), Some(b';' | b'}' | b'#'));
        self.end()
    }

    fn substitute(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.delimited(delimiter)?;
        loop {
            match self.cursor.peek() {
                Some(b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') => self.cursor.at += 1,
                Some(b'w') => {
                    self.cursor.at += 1;
                    return self.file(Role::PathWrite);
                }
                Some(b'e') => {
                    executes(self.reading);
                    return Err("the sed flag `e` runs the result as a shell command".into());
                }
                _ => return self.end(),
            }
        }
    }

    fn transliterate(&mut self) -> Result<(), String> {
        let delimiter = self.delimiter()?;
        self.regex(delimiter)?;
        self.regex(delimiter)?;
        self.end()
    }

    /// A regular expression up to its delimiter, in which a line may end after a backslash only.
    fn regex(&mut self, delimiter: u8) -> Result<(), String> {
        let rest = &self.cursor.text[self.cursor.at..];
        let Some(end) = regex::end(rest, delimiter) else {
            return Err("where a regular expression of the sed script ends is not clear".into());
        };
        let stop = self.cursor.at + end;
        self.spans_lines |= rest[..end].contains('\n');
        if rest[..end].replace("\\\\", "").replace("\\\n", "").contains('\n') {
            return Err("a line ends inside a sed command".into());
        }
        self.cursor.at = stop + 1;
        Ok(())
    }

    fn delimiter(&mut self) -> Result<u8, String> {
        match self.cursor.next() {
            Some(b) if b.is_ascii_punctuation() && !matches!(b, b'\\' | b'[' | b']' | b'{' | b'}') => Ok(b),
            _ => Err("the delimiter of a sed command is not understood".into()),
        }
    }

    /// The text up to the next delimiter that no backslash quotes.
    fn delimited(&mut self, delimiter: u8) -> Result<(), String> {
        loop {
            match self.cursor.next() {
                Some(b) if b == delimiter => return Ok(()),
                Some(b'\\') => match self.cursor.next() {
                    Some(b'\n') => self.spans_lines = true,
                    Some(_) => {}
                    None => return Err("the sed script ends inside a command".into()),
                },
                Some(b'\n') => return Err("a line ends inside a sed command".into()),
                Some(_) => {}
                None => return Err("the sed script ends inside a command".into()),
            }
        }
    }

    /// The text of `a`, `i` and `c`: `a\` and then lines, or GNU's `a text`.
    fn inserted_text(&mut self) -> Result<(), String> {
        self.blanks();
        if self.cursor.eat(b'\\') {
            if self.cursor.eat(b'\n') {
                self.spans_lines = true;
            } else {
                self.blanks();
                if matches!(self.cursor.peek(), Some(b'\\' | b'\n')) {
                    return Err("the text of a sed command is not understood".into());
                }
            }
        }
        let start = self.cursor.at;
        loop {
            match self.cursor.next() {
                Some(b'\\') => match self.cursor.next() {
                    Some(b'\n') => self.spans_lines = true,
                    Some(b'\\') if self.cursor.peek() == Some(b'\n') => {
                        return Err("sed implementations disagree where a text ends".into());
                    }
                    Some(_) => {}
                    None => return Err("the text of a sed command goes on after the script's end".into()),
                },
                Some(b'\n') | None => break,
                Some(_) => {}
            }
        }
        if self.cursor.text[start..self.cursor.at].trim().is_empty() {
            return Err("the text of a sed command is missing".into());
        }
        Ok(())
    }

    /// A file's name, up to the end of the line.
    fn file(&mut self, role: Role) -> Result<(), String> {
        self.blanks();
        let start = self.cursor.at;
        self.cursor.skip(|b| b != b'\n');
        let name = &self.cursor.text[start..self.cursor.at];
        if name.is_empty() || name.contains([';', '}', '#', '\\']) || name != name.trim() {
            return Err("the file that a sed command names is not understood".into());
        }
        names(self.reading, role, name, self.span);
        Ok(())
    }

    /// What may follow a command: the line's end, `;`, `}` or a comment.
    fn end(&mut self) -> Result<(), String> {
        self.blanks();
        match self.cursor.peek() {
            None | Some(b';' | b'\n' | b'}' | b'#') => Ok(()),
            Some(_) => Err(format!("`{}` after a sed command is not understood", self.letter())),
        }
    }

    /// The character at hand, for a person to read.
    fn letter(&self) -> char {
        self.cursor
            .text
            .get(self.cursor.at..)
            .and_then(|rest| rest.chars().next())
            .unwrap_or_default()
    }

    fn blanks(&mut self) {
        self.cursor.skip(|b| matches!(b, b' ' | b'\t'));
    }
}
