//! Backquotes. Called where a word meets one: the text up to the next is unescaped, then parsed as a script of its own.

use super::ast::Part;
use super::cursor::{Parsed, Parser};
use super::parser::End;
use super::quotes::Context;

impl Parser<'_> {
    pub(super) fn backquoted(&mut self, context: Context) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        let mut offsets = Vec::new();
        loop {
            match self.raw() {
                None => return self.refuse_from("unterminated backquote", start),
                Some(b'`') => break,
                Some(b'\\') => self.backquoted_backslash(context)?,
                Some(b'\n') => self.check_inner_newline()?,
                Some(_) => {}
            }
            let from = self.at;
            text.extend(self.take_char());
            offsets.extend(from..self.at);
        }
        offsets.push(self.at);
        let script = self.inner_text(&text, offsets, |p| p.script(End::Text))?;
        self.bump();
        Ok(Part::CommandSubstitution(script))
    }

    /// Drops the backslash before what it protects; leaves it where it belongs to the inner script.
    fn backquoted_backslash(&mut self, context: Context) -> Parsed<()> {
        match self.byte(self.at + 1) {
            Some(b'$' | b'`' | b'\\') => self.bump(),
            Some(b'\n') => return self.refuse("line continuation in backquotes"),
            Some(b'"') if context.is_quoted() => return self.refuse("escaped quote in backquotes"),
            Some(_) | None => {}
        }
        Ok(())
    }
}
