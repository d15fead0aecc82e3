//! Redirections. Called between the words of a command and after compound commands.

use super::ast::{Redirect, RedirectKind, Word};
use super::cursor::{Parsed, Parser, is_word_end};
use super::words::Place;

impl Parser<'_> {
    /// The redirection that starts here, if one does.
    pub(super) fn redirect(&mut self) -> Parsed<Option<Redirect>> {
        let start = self.at;
        let descriptor = match self.peek() {
            Some(byte) if byte.is_ascii_digit() && matches!(self.peek_second(), Some(b'<' | b'>')) => {
                self.bump();
                Some(u32::from(byte - b'0'))
            }
            _ => None,
        };
        let substitutes = self.peek_second() == Some(b'(');
        let kind = match self.peek() {
            Some(b'<' | b'>') if substitutes && descriptor.is_some() => {
                return self.refuse_from("unusual descriptor", start);
            }
            Some(b'<') if !substitutes => self.input(start)?,
            Some(b'>') if !substitutes => self.output(descriptor, start)?,
            Some(b'&') if self.peek_second() == Some(b'>') => self.both(start)?,
            _ => return Ok(None),
        };
        let span = self.span_from(start);
        Ok(Some(Redirect { descriptor, kind, span }))
    }

    fn input(&mut self, start: usize) -> Parsed<RedirectKind> {
        self.bump();
        self.refuse_numeric_glob(start)?;
        match self.peek() {
            Some(b'<') => {
                self.bump();
                if self.eat(b'<') {
                    return Ok(RedirectKind::HereString(self.target(start)?));
                }
                Ok(RedirectKind::HereDoc(self.here_document(start)?))
            }
            Some(b'&') => self.duplicate(start),
            Some(b'>') => {
                self.bump();
                Ok(RedirectKind::ReadWrite(self.target(start)?))
            }
            _ => Ok(RedirectKind::Read(self.target(start)?)),
        }
    }

    /// `<1-5>` is a pattern for zsh.
    fn refuse_numeric_glob(&mut self, start: usize) -> Parsed<()> {
        let after = self.at;
        let mut dashes = 0;
        while let Some(byte) = self.peek().filter(|b| b.is_ascii_digit() || *b == b'-') {
            dashes += usize::from(byte == b'-');
            self.bump();
        }
        if dashes > 0 && self.peek() == Some(b'>') {
            return self.refuse_from("zsh numeric glob", start);
        }
        self.at = after;
        Ok(())
    }

    fn output(&mut self, descriptor: Option<u32>, start: usize) -> Parsed<RedirectKind> {
        self.bump();
        match self.peek() {
            Some(b'>') => Ok(RedirectKind::Append(self.appended(start)?)),
            Some(b'|') => {
                self.bump();
                Ok(RedirectKind::Write(self.target(start)?))
            }
            Some(b'&') if matches!(self.peek_second(), Some(b'0'..=b'9' | b'-')) => self.duplicate(start),
            Some(b'&') if descriptor.is_some() => self.refuse_from("duplicate of a computed descriptor", start),
            Some(b'&') => {
                self.bump();
                self.file_for_both(start).map(RedirectKind::WriteBoth)
            }
            _ => Ok(RedirectKind::Write(self.target(start)?)),
        }
    }

    /// `&2` or `&-`, after `<` or `>`.
    fn duplicate(&mut self, start: usize) -> Parsed<RedirectKind> {
        self.bump();
        let kind = match self.peek() {
            Some(b'-') => RedirectKind::Close,
            Some(byte) if byte.is_ascii_digit() => RedirectKind::Duplicate(u32::from(byte - b'0')),
            _ => return self.refuse_from("duplicate of a computed descriptor", start),
        };
        self.bump();
        let glued = self.peek() == Some(b'&') && self.peek_second() == Some(b'>');
        if glued
            || self
                .peek()
                .is_some_and(|byte| !is_word_end(byte) || b"<>(".contains(&byte))
        {
            return self.refuse_from("unusual descriptor", start);
        }
        Ok(kind)
    }

    /// The second `>` of an operator, and its target.
    fn appended(&mut self, start: usize) -> Parsed<Word> {
        self.bump();
        if self.eat(b'|') {
            return self.refuse_from("zsh clobber operator", start);
        }
        self.target(start)
    }

    /// `&>` and `&>>`
    fn both(&mut self, start: usize) -> Parsed<RedirectKind> {
        self.bump();
        self.peek();
        self.bump();
        match self.peek() {
            Some(b'>') => Ok(RedirectKind::AppendBoth(self.appended(start)?)),
            Some(b'|') => self.refuse_from("zsh clobber operator", start),
            Some(b'&') => self.refuse_from("unusual redirection", start),
            _ => self.file_for_both(start).map(RedirectKind::WriteBoth),
        }
    }

    /// A file's name that no shell takes for a descriptor.
    fn file_for_both(&mut self, start: usize) -> Parsed<super::ast::Word> {
        self.skip_blanks();
        if !self
            .peek()
            .is_some_and(|b| b.is_ascii_alphabetic() || b"/._~\"'".contains(&b))
        {
            return self.refuse_from("duplicate of a computed descriptor", start);
        }
        if matches!(
            (self.peek(), self.peek_second()),
            (Some(b'"'), Some(b'$' | b'0'..=b'9' | b'-')) | (Some(b'\''), Some(b'0'..=b'9' | b'-'))
        ) {
            return self.refuse_from("duplicate of a computed descriptor", start);
        }
        self.target(start)
    }

    fn target(&mut self, start: usize) -> Parsed<super::ast::Word> {
        if self.peek() == Some(b'!') {
            return self.refuse_from("zsh clobber operator", start);
        }
        self.skip_blanks();
        match self.peek() {
            None | Some(b'\n' | b';' | b'&' | b'|' | b')' | b'(' | b'#') => {
                self.refuse_from("redirection without a target", start)
            }
            Some(b'<' | b'>') if self.peek_second() != Some(b'(') => {
                self.refuse_from("redirection without a target", start)
            }
            Some(_) => self.word(Place::Target),
        }
    }
}
