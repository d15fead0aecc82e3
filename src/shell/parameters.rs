//! Parameters: `$name`, `${name}` and its operations. Called where a dollar sign was met.

use super::ast::{Parameter, ParameterOperation, Part, Word};
use super::cursor::{Parsed, Parser};
use super::quotes::Context;
use super::words::{push, push_literal};

/// What the operand of a parameter's operation is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operand {
    /// After `:-` and its like.
    Text,
    Pattern,
    /// The pattern of `/`, which a slash ends.
    Search,
    /// The second half of `/`.
    Replacement,
}

impl Operand {
    fn is_pattern(self) -> bool {
        matches!(self, Operand::Pattern | Operand::Search)
    }
}

impl Parser<'_> {
    /// `$name` after the sign; `None` if it is no parameter.
    pub(super) fn bare_parameter(&mut self, start: usize) -> Parsed<Option<Parameter>> {
        let name = if let Some((name, end)) = self.name_ahead() {
            self.at = end;
            name
        } else {
            match self.peek() {
                Some(byte) if byte.is_ascii_digit() || b"@*?$!-#".contains(&byte) => {
                    self.bump();
                    char::from(byte).into()
                }
                _ => return Ok(None),
            }
        };
        self.check_after_bare(&name, start)?;
        Ok(Some(Parameter {
            name,
            index: None,
            operation: None,
        }))
    }

    /// zsh reads a subscript or a modifier after `$name`, a longer number after `$1`, and a length in `$#name`.
    fn check_after_bare(&mut self, name: &str, start: usize) -> Parsed<()> {
        let second = self.peek_second();
        let next = self.peek();
        let modifier = next == Some(b':') && second.is_some_and(|b| b.is_ascii_alphabetic() || b == b'&' || b == b'#');
        let longer = next.is_some_and(|b| b.is_ascii_digit()) && name.starts_with(|c: char| c.is_ascii_digit());
        let length =
            name == "#" && next.is_some_and(|b| b.is_ascii_alphanumeric() || b"_-?!$*@#+^=~:({`'".contains(&b));
        if next == Some(b'[') {
            return self.refuse_from("subscript after a parameter", start);
        }
        if modifier || longer || length {
            return self.refuse_from("text that zsh takes for a part of the parameter", start);
        }
        Ok(())
    }

    /// `${..}` after the brace.
    pub(super) fn braced_parameter(&mut self, context: Context, start: usize) -> Parsed<Part> {
        let length = self.peek() == Some(b'#') && self.peek_second() != Some(b'}');
        if length {
            self.bump();
        }
        let name = self.parameter_name(start)?;
        let index = self.index(start)?;
        let operation = match self.peek() {
            Some(b'}') if length => Some(ParameterOperation::Length),
            Some(b'}') => None,
            _ if length || (name.len() == 1 && b"#?$!-".contains(&name.as_bytes()[0])) => {
                return self.refuse_from("unusual parameter", start);
            }
            _ => Some(self.operation(&name, context, start)?),
        };
        if !self.eat(b'}') {
            return self.refuse_from("unterminated parameter", start);
        }
        if length && name.len() == 1 && b"#?$!-".contains(&name.as_bytes()[0]) {
            return self.refuse_from("unusual parameter", start);
        }
        Ok(Part::Parameter(Parameter { name, index, operation }))
    }

    fn parameter_name(&mut self, start: usize) -> Parsed<String> {
        if let Some((name, end)) = self.name_ahead() {
            self.at = end;
            return Ok(name);
        }
        let mut name = String::new();
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            name.push(char::from(byte));
            self.bump();
        }
        if !name.is_empty() {
            return Ok(name);
        }
        match self.peek() {
            Some(b'!') if self.peek_second() != Some(b'}') => self.refuse_from("indirect parameter", start),
            Some(byte) if b"@*#?$!-".contains(&byte) => {
                self.bump();
                Ok(char::from(byte).into())
            }
            _ => self.refuse_from("unusual parameter", start),
        }
    }

    fn index(&mut self, start: usize) -> Parsed<Option<String>> {
        if !self.eat(b'[') {
            return Ok(None);
        }
        let mut index = String::new();
        while let Some(byte) = self.peek().filter(|b| b.is_ascii_digit() || b"@*".contains(b)) {
            index.push(char::from(byte));
            self.bump();
        }
        let plain = index == "@" || index == "*" || (!index.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
        if !plain || !self.eat(b']') {
            return self.refuse_from("computed subscript", start);
        }
        Ok(Some(index))
    }

    fn operation(&mut self, name: &str, context: Context, start: usize) -> Parsed<ParameterOperation> {
        match self.peek() {
            Some(b':') if matches!(self.peek_second(), Some(b'-' | b'=' | b'+' | b'?')) => {
                self.bump();
                self.default_operation(":", name, context, start)
            }
            Some(b':') => self.substring(start),
            Some(b'-' | b'=' | b'+' | b'?') => self.default_operation("", name, context, start),
            Some(byte @ (b'#' | b'%')) => {
                let operator = self.doubled(byte);
                Ok(ParameterOperation::Strip(
                    operator,
                    self.operand(Operand::Pattern, context, start)?,
                ))
            }
            Some(b'/') => self.replace(context, start),
            Some(byte @ (b'^' | b',')) => {
                let operator = self.doubled(byte);
                let pattern = self.operand(Operand::Pattern, context, start)?;
                Ok(ParameterOperation::Case(
                    operator,
                    (!pattern.parts.is_empty()).then_some(pattern),
                ))
            }
            Some(b'@') => self.refuse_from("parameter transformation", start),
            None => self.refuse_from("unterminated parameter", start),
            _ => self.refuse_from("unusual parameter", start),
        }
    }

    /// The operator `byte`, once or twice.
    fn doubled(&mut self, byte: u8) -> String {
        self.bump();
        let sign = char::from(byte);
        if self.eat(byte) {
            format!("{sign}{sign}")
        } else {
            sign.into()
        }
    }

    fn default_operation(
        &mut self,
        colon: &str,
        name: &str,
        context: Context,
        start: usize,
    ) -> Parsed<ParameterOperation> {
        let sign = char::from(self.peek().unwrap_or_default());
        self.bump();
        if sign == '=' {
            self.check_assignable(name, start)?;
        }
        let word = self.operand(Operand::Text, context, start)?;
        Ok(ParameterOperation::Default(format!("{colon}{sign}"), word))
    }

    fn substring(&mut self, start: usize) -> Parsed<ParameterOperation> {
        self.bump();
        // zsh has operators of its own after a colon, and modifiers that are letters.
        let plain = match self.peek() {
            Some(b':') => self.peek_second().is_some_and(|b| b.is_ascii_digit()),
            Some(byte) => byte.is_ascii_digit() || b" $(".contains(&byte),
            None => false,
        };
        if !plain {
            return self.refuse_from("unusual substring", start);
        }
        let offset = self.arithmetic_in_braces()?;
        let length = if self.eat(b':') {
            if !self
                .peek()
                .is_some_and(|byte| byte.is_ascii_digit() || b" $(-".contains(&byte))
            {
                return self.refuse_from("unusual substring", start);
            }
            Some(self.arithmetic_in_braces()?)
        } else {
            None
        };
        Ok(ParameterOperation::Substring(offset, length))
    }

    fn replace(&mut self, context: Context, start: usize) -> Parsed<ParameterOperation> {
        self.bump();
        let mut operator = String::from("/");
        if let Some(byte @ (b'/' | b'#' | b'%')) = self.peek() {
            operator.push(char::from(byte));
            self.bump();
        }
        let pattern = self.operand(Operand::Search, context, start)?;
        let replacement = if self.eat(b'/') {
            Some(self.operand(Operand::Replacement, context, start)?)
        } else {
            None
        };
        Ok(ParameterOperation::Replace(operator, pattern, replacement))
    }

    /// The word of an operation, up to the closing brace, or the slash after a pattern.
    fn operand(&mut self, kind: Operand, context: Context, start: usize) -> Parsed<Word> {
        self.peek();
        let from = self.at;
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None => return self.refuse_from("unterminated parameter", start),
                Some(b'}') => break,
                Some(b'/') if kind == Operand::Search => break,
                Some(byte) => self.operand_part(byte, kind, context, &mut parts)?,
            }
        }
        let span = self.span_from(from);
        Ok(Word { parts, span })
    }

    fn operand_part(&mut self, byte: u8, kind: Operand, context: Context, parts: &mut Vec<Part>) -> Parsed<()> {
        let quoted = context.is_quoted();
        match byte {
            b'\'' if !quoted => push(parts, self.single_quoted()?),
            b'"' if !quoted => parts.push(self.double_quoted()?),
            b'\\' => push(parts, self.operand_escape(kind, context)?),
            b'$' => {
                let expansion = self.dollar(context)?;
                push(parts, expansion.part);
            }
            b'`' => parts.push(self.backquoted(context)?),
            b'*' | b'?' if kind.is_pattern() || (kind == Operand::Text && !quoted) => {
                self.bump();
                parts.push(Part::Glob(char::from(byte).into()));
            }
            b'[' if kind.is_pattern() => parts.push(self.bracket()?),
            b' ' if quoted || kind.is_pattern() => {
                self.bump();
                push(parts, Part::Quoted(" ".into()));
            }
            b'=' if parts.is_empty() && !quoted => return self.refuse("word that starts with ="),
            _ if byte.is_ascii_alphanumeric() || b"_-.,/:@%+!]=".contains(&byte) => {
                self.bump();
                push(parts, context.text(char::from(byte)));
            }
            b'(' | b')' | b'*' | b'?' | b'<' | b'>' | b';' | b'|' | b'#' | b'^' | b'['
                if quoted && kind == Operand::Text =>
            {
                self.bump();
                push(parts, context.text(char::from(byte)));
            }
            _ if byte.is_ascii() => return self.refuse("unusual text in a parameter"),
            _ if quoted => {
                let c = self.take_char();
                push(parts, context.text(c.map(String::from).unwrap_or_default()));
            }
            _ => push_literal(parts, self.take_unquoted_char()?),
        }
        Ok(())
    }

    /// A backslash in an operand, where both shells drop it.
    fn operand_escape(&mut self, kind: Operand, context: Context) -> Parsed<Part> {
        let Some(byte) = self.byte(self.at + 1) else {
            return self.refuse("unterminated parameter");
        };
        let special = match (context, kind) {
            (Context::Bare, _) => byte.is_ascii_graphic(),
            (Context::Quoted, Operand::Pattern | Operand::Search) => byte.is_ascii_punctuation(),
            (Context::Quoted, Operand::Text | Operand::Replacement) => b"$`\"\\".contains(&byte),
            (Context::HereDoc, _) => false,
        };
        if !special {
            return self.refuse("unusual escape");
        }
        self.at += 2;
        Ok(Part::Quoted(char::from(byte).into()))
    }
}
