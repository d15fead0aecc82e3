//! Quotes and the dollar sign. Called by words, operands of parameters and the bodies of here-documents.

use super::ast::{Part, Word};
use super::cursor::{Parsed, Parser};
use super::parser::End;
use super::words::push;

/// What surrounds an expansion.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Context {
    Bare,
    /// Inside `".."`.
    Quoted,
    /// In the body of a here-document.
    HereDoc,
}

impl Context {
    pub(super) fn is_quoted(self) -> bool {
        self != Context::Bare
    }

    /// Literal text in this context.
    pub(super) fn text(self, text: impl Into<String>) -> Part {
        match self {
            Context::Bare => Part::Literal(text.into()),
            Context::Quoted | Context::HereDoc => Part::Quoted(text.into()),
        }
    }
}

/// What a dollar sign turned out to be.
pub(super) struct Expansion {
    pub(super) part: Part,
    /// It has no closing sign: text put right after it would belong to it.
    pub(super) bare: bool,
}

impl Parser<'_> {
    /// `'..'`: nothing in it is special, backslash-newline neither.
    pub(super) fn single_quoted(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let rest = self.text.get(self.at..).unwrap_or_default();
        let Some(length) = rest.find('\'') else {
            return self.refuse_from("unterminated quote", start);
        };
        let text = &rest[..length];
        if text.contains('\n') {
            self.check_inner_newline()?;
        }
        self.at += length + 1;
        Ok(Part::Quoted(text.to_owned()))
    }

    /// `".."`
    pub(super) fn double_quoted(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let parts = self.quoted_parts(Context::Quoted)?;
        if !self.eat(b'"') {
            return self.refuse_from("unterminated quote", start);
        }
        Ok(Part::DoubleQuoted(parts))
    }

    /// The parts up to a closing double quote, or to the end of a here-document's body.
    pub(super) fn quoted_parts(&mut self, context: Context) -> Parsed<Vec<Part>> {
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            match byte {
                b'"' if context == Context::Quoted => break,
                b'\\' => push(&mut parts, self.quoted_backslash(context)),
                b'$' => {
                    let expansion = self.dollar(context)?;
                    push(&mut parts, expansion.part);
                }
                b'`' => parts.push(self.backquoted(context)?),
                _ => {
                    if byte == b'\n' {
                        self.check_inner_newline()?;
                    }
                    let start = self.at;
                    self.take_char();
                    push(&mut parts, context.text(&self.text[start..self.at]));
                }
            }
        }
        Ok(parts)
    }

    /// A backslash in double quotes protects only what is special there; else it stands for itself.
    fn quoted_backslash(&mut self, context: Context) -> Part {
        self.bump();
        match self.raw() {
            Some(byte @ (b'$' | b'`' | b'\\')) => {
                self.bump();
                context.text(char::from(byte))
            }
            Some(b'"') if context == Context::Quoted => {
                self.bump();
                context.text('"')
            }
            _ => context.text('\\'),
        }
    }

    /// What starts with `$`.
    pub(super) fn dollar(&mut self, context: Context) -> Parsed<Expansion> {
        let start = self.at;
        self.bump();
        let closed = |part| Expansion { part, bare: false };
        match self.peek() {
            Some(b'(') if self.peek_second() == Some(b'(') => {
                self.bump();
                self.peek();
                self.bump();
                Ok(closed(Part::Arithmetic(self.arithmetic_until_parens()?)))
            }
            Some(b'(') => {
                self.bump();
                let script = self.substitution(|p| p.script(End::Paren))?;
                self.bump();
                Ok(closed(Part::CommandSubstitution(script)))
            }
            Some(b'{') => {
                self.bump();
                Ok(closed(self.deeper(|p| p.braced_parameter(context, start))?))
            }
            Some(b'\'') if context == Context::Bare => Ok(closed(self.ansi_c_quoted()?)),
            Some(b'"') if context == Context::Bare => self.refuse_from("localised string", start),
            Some(b'[') => self.refuse_from("old arithmetic", start),
            _ => match self.bare_parameter(start)? {
                Some(parameter) => Ok(Expansion {
                    part: Part::Parameter(parameter),
                    bare: true,
                }),
                None => Ok(Expansion {
                    part: context.text(self.lone_dollar(start)?),
                    bare: true,
                }),
            },
        }
    }

    /// `$` before what neither shell takes for a parameter.
    fn lone_dollar(&mut self, start: usize) -> Parsed<char> {
        match self.peek() {
            None => Ok('$'),
            Some(byte) if b" \t\n;&|)<>\"'/.%,:]}\\".contains(&byte) => Ok('$'),
            Some(_) => self.refuse_from("unusual parameter", start),
        }
    }

    /// `$'..'`, its escapes resolved.
    fn ansi_c_quoted(&mut self) -> Parsed<Part> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.raw() {
                None => return self.refuse_from("unterminated quote", start),
                Some(b'\'') => {
                    self.bump();
                    return Ok(Part::Quoted(text));
                }
                Some(b'\\') => text.push(self.ansi_c_escape()?),
                Some(b'\n') => {
                    self.check_inner_newline()?;
                    self.bump();
                    text.push('\n');
                }
                Some(_) => text.extend(self.take_char()),
            }
        }
    }

    fn ansi_c_escape(&mut self) -> Parsed<char> {
        let start = self.at;
        self.bump();
        let Some(byte) = self.raw() else {
            return self.refuse_from("unterminated quote", start);
        };
        self.bump();
        let code = match byte {
            b'\\' | b'\'' | b'"' => u32::from(byte),
            b'a' => 7,
            b'b' => 8,
            b'e' | b'E' => 27,
            b'f' => 12,
            b'n' => 10,
            b'r' => 13,
            b't' => 9,
            b'v' => 11,
            b'x' => self.digits(16, 2),
            b'u' => self.digits(16, 4),
            b'U' => self.digits(16, 8),
            b'0'..=b'7' => {
                self.at -= 1;
                let code = self.digits(8, 3);
                // zsh may take a fourth digit after a leading zero.
                if byte == b'0' && self.raw().is_some_and(|b| b.is_ascii_digit()) {
                    return self.refuse_from("unusual escape", start);
                }
                code
            }
            _ => return self.refuse_from("unusual escape", start),
        };
        let is_byte = matches!(byte, b'x' | b'0'..=b'7') && code > 0x7f;
        match char::from_u32(code) {
            // A zero ends the string in bash; no digit at all also gives zero. A byte above ASCII need not be a character.
            Some(c) if code != 0 && !is_byte => Ok(c),
            _ => self.refuse_from("unusual escape", start),
        }
    }

    /// Up to `most` digits; none give zero.
    fn digits(&mut self, radix: u32, most: usize) -> u32 {
        let mut code = 0_u32;
        for _ in 0..most {
            let Some(digit) = self.raw().and_then(|byte| char::from(byte).to_digit(radix)) else {
                break;
            };
            code = code.saturating_mul(radix).saturating_add(digit);
            self.bump();
        }
        code
    }

    /// The pattern after `=~`, as far as both shells read it the same way.
    pub(super) fn regex(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        let start = self.at;
        let mut parts = Vec::new();
        let mut open = 0_usize;
        while let Some(byte) = self.peek() {
            match byte {
                b' ' | b'\t' | b'\n' if open == 0 => break,
                b'(' => open += 1,
                b')' if open == 0 => return self.refuse("unusual pattern"),
                b')' => open -= 1,
                b'|' if open == 0 => return self.refuse("unusual pattern"),
                _ => {}
            }
            match byte {
                b'\'' => push(&mut parts, self.single_quoted()?),
                b'"' => parts.push(self.double_quoted()?),
                b'$' => push(&mut parts, self.dollar(Context::Bare)?.part),
                b'\\' if self.byte(self.at + 1).is_some_and(|b| b.is_ascii_punctuation()) => {
                    push(
                        &mut parts,
                        Part::Quoted(char::from(self.byte(self.at + 1).unwrap_or_default()).into()),
                    );
                    self.at += 2;
                }
                _ if byte.is_ascii_alphanumeric() || b"_-.^*+?()[]|{},/:@%".contains(&byte) => {
                    self.bump();
                    push(&mut parts, Part::Literal(char::from(byte).into()));
                }
                _ => return self.refuse("unusual pattern"),
            }
        }
        if open > 0 || parts.is_empty() {
            return self.refuse_from("unusual pattern", start);
        }
        let span = self.span_from(start);
        Ok(Word { parts, span })
    }
}
