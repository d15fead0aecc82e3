//! Arithmetic: numbers, names, operators and expansions; all else is refused, for bash evaluates names as code.
//!
//! Called for `$((..))`, `((..))` and substrings. Text is not computed here.

use super::ast::{Arithmetic, Count, Part};
use super::cursor::{Parsed, Parser};
use super::is_identifier;
use super::quotes::Context;

/// What was read last.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Nothing,
    /// A number or an expansion.
    Operand,
    /// A name; the index of it in `names`.
    Name,
    Operator,
    /// `++` or `--`
    Step,
}

/// What ends an expression; it is not consumed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// `)`
    Paren,
    /// `:` or `}`
    Brace,
    /// `;`
    Semicolon,
}

impl Stop {
    fn is(self, byte: u8) -> bool {
        match self {
            Stop::Paren => byte == b')',
            Stop::Brace => byte == b':' || byte == b'}',
            Stop::Semicolon => byte == b';',
        }
    }
}

impl Parser<'_> {
    /// The expression up to `))`, which is consumed.
    pub(super) fn arithmetic_until_parens(&mut self) -> Parsed<Arithmetic> {
        let start = self.at;
        let outer = std::mem::replace(&mut self.budget.in_arithmetic, true);
        let expression = self.deeper(|p| p.arithmetic(Stop::Paren))?;
        self.budget.in_arithmetic = outer;
        if !is_balanced(&self.text[start..self.at]) {
            return self.refuse_from("odd parenthesis inside arithmetic", start);
        }
        // The second parenthesis must follow at once: with a line continuation between, shells differ.
        if self.raw() == Some(b')') && self.byte(self.at + 1) == Some(b')') {
            self.at += 2;
            return Ok(expression);
        }
        self.refuse("unterminated arithmetic")
    }

    /// The expression up to `:` or `}`.
    pub(super) fn arithmetic_in_braces(&mut self) -> Parsed<Arithmetic> {
        self.deeper(|p| p.arithmetic(Stop::Brace))
    }

    /// `start; condition; step))` of a counting loop, after its parentheses; without substitutions.
    pub(super) fn arithmetic_clauses(&mut self) -> Parsed<[Arithmetic; 3]> {
        let start = self.at;
        let first = self.deeper(|p| p.arithmetic(Stop::Semicolon))?;
        self.bump();
        let condition = self.deeper(|p| p.arithmetic(Stop::Semicolon))?;
        self.bump();
        let clauses = [first, condition, self.arithmetic_until_parens()?];
        let substitutes = |part: &Part| !matches!(part, Part::Parameter(_));
        if clauses.iter().flat_map(|clause| &clause.parts).any(substitutes) {
            return self.refuse_from("substitution in a counting loop", start);
        }
        Ok(clauses)
    }

    fn arithmetic(&mut self, stop: Stop) -> Parsed<Arithmetic> {
        let start = self.at;
        let mut expression = Arithmetic::default();
        let mut open = 0_usize;
        let mut last = Last::Nothing;
        let mut touches = false;
        loop {
            let Some(byte) = self.peek() else {
                return self.refuse_from("unterminated arithmetic", start);
            };
            let touched = std::mem::replace(&mut touches, false);
            match byte {
                b' ' | b'\t' => self.bump(),
                b'\n' => {
                    self.check_inner_newline()?;
                    self.bump();
                }
                _ if open == 0 && stop.is(byte) => break,
                b'(' => {
                    open += 1;
                    self.bump();
                    last = Last::Operator;
                }
                b')' if open > 0 => {
                    open -= 1;
                    self.bump();
                    last = Last::Operand;
                }
                b'$' | b'`' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                    if touched {
                        return self.refuse("joined words in arithmetic");
                    }
                    last = self.arithmetic_operand(byte, last, &mut expression)?;
                    touches = true;
                }
                _ => last = self.arithmetic_operator(last, stop, &mut expression)?,
            }
        }
        expression.span = self.span_from(start);
        expression.count = count(&self.text[start..self.at]);
        Ok(expression)
    }

    fn arithmetic_operand(&mut self, byte: u8, last: Last, expression: &mut Arithmetic) -> Parsed<Last> {
        match byte {
            b'$' => {
                let start = self.at;
                let part = self.dollar(Context::Quoted)?.part;
                if matches!(part, Part::Quoted(_)) {
                    return self.refuse_from("unusual arithmetic", start);
                }
                expression.parts.push(part);
                Ok(Last::Operand)
            }
            b'`' => {
                expression.parts.push(self.backquoted(Context::Quoted)?);
                Ok(Last::Operand)
            }
            b'0'..=b'9' => self.number(),
            _ => {
                let Some((name, end)) = self.name_ahead() else {
                    return self.refuse("unusual arithmetic");
                };
                let start = self.at;
                self.at = end;
                if last == Last::Step {
                    self.check_assignable(&name, start)?;
                    expression.assigned.push(name.clone());
                }
                expression.names.push(name);
                Ok(Last::Name)
            }
        }
    }

    /// A decimal or hexadecimal number; a leading zero means octal to bash only.
    fn number(&mut self) -> Parsed<Last> {
        let start = self.at;
        let mut text = String::new();
        while let Some(byte) = self.peek().filter(u8::is_ascii_alphanumeric) {
            text.push(char::from(byte));
            self.bump();
        }
        let hexadecimal = text
            .strip_prefix("0x")
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_hexdigit()));
        let decimal = text == "0" || (!text.starts_with('0') && text.bytes().all(|b| b.is_ascii_digit()));
        if hexadecimal || decimal {
            return Ok(Last::Operand);
        }
        self.refuse_from("unusual number", start)
    }

    fn arithmetic_operator(&mut self, last: Last, stop: Stop, expression: &mut Arithmetic) -> Parsed<Last> {
        let start = self.at;
        let mut operator = String::new();
        while let Some(byte) = self.peek() {
            let joins = operator.is_empty() || OPERATORS.contains(&format!("{operator}{}", char::from(byte)).as_str());
            if !joins || !b"+-*/%<>=!&|^~?:,".contains(&byte) {
                break;
            }
            operator.push(char::from(byte));
            self.bump();
        }
        if operator.is_empty() || (stop == Stop::Brace && matches!(operator.as_str(), "?" | ":")) {
            return self.refuse("unusual arithmetic");
        }
        let step = operator == "++" || operator == "--";
        let assigns = operator.ends_with('=') && !matches!(operator.as_str(), "==" | "!=" | "<=" | ">=");
        if step || assigns {
            if last == Last::Name
                && let Some(name) = expression.names.last().cloned()
            {
                self.check_assignable(&name, start)?;
                expression.assigned.push(name);
            } else if assigns {
                return self.refuse_from("assignment to no name", start);
            }
        }
        Ok(if step { Last::Step } else { Last::Operator })
    }
}

/// Whether every parenthesis has its partner, quoted ones included.
fn is_balanced(text: &str) -> bool {
    let mut open = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'(' => open += 1,
            b')' if open == 0 => return false,
            b')' => open -= 1,
            _ => {}
        }
    }
    open == 0
}

/// The operators of more than one character, and their beginnings.
const OPERATORS: &[&str] = &[
    "++", "--", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=",
    "<<=", ">>=",
];

/// The most digits of a number that is counted with.
const MAX_DIGITS: usize = 6;

/// Reads an expression that only counts up: at most one name, numbers, `+`, and one assignment around them.
fn count(text: &str) -> Option<Count> {
    let text: String = text.chars().filter(|c| !matches!(c, ' ' | '\t')).collect();
    let stepped = text.strip_suffix("++").or_else(|| text.strip_prefix("++"));
    if let Some(name) = stepped {
        return is_identifier(name).then(|| Count {
            of: Some(name.to_owned()),
        });
    }
    if let Some((name, number)) = text.split_once("+=") {
        return (is_identifier(name) && is_small(number)).then(|| Count {
            of: Some(name.to_owned()),
        });
    }
    let sum = match text.split_once('=') {
        Some((name, sum)) if is_identifier(name) => sum,
        Some(_) => return None,
        None => text.as_str(),
    };
    let mut of = None;
    for term in sum.split('+') {
        if is_small(term) {
            continue;
        }
        let name = term.strip_prefix('$').unwrap_or(term);
        let name = name.strip_prefix('{').and_then(|n| n.strip_suffix('}')).unwrap_or(name);
        if !is_identifier(name) || of.replace(name.to_owned()).is_some() {
            return None;
        }
    }
    Some(Count { of })
}

fn is_small(number: &str) -> bool {
    !number.is_empty() && number.len() <= MAX_DIGITS && number.bytes().all(|b| b.is_ascii_digit())
}
