//! `[[ .. ]]`. Called by the compound commands. Operators that zsh lacks, or that run code out of plain text, are refused.

use super::ast::{Condition, Part, Word};
use super::cursor::{MAX_TERMS, Parsed, Parser};
use super::is_identifier;
use super::words::{Place, ends_word_list};

/// How many terms were read: the tree nests once a term.
#[derive(Default)]
pub(super) struct Terms(usize);

const UNARY: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-h", "-k", "-n", "-p", "-r", "-s", "-t", "-u", "-w", "-x", "-z", "-L", "-O",
    "-G", "-S", "-N", "-v",
];
const BINARY: &[&str] = &["==", "=", "!=", "=~", "<", ">", "-nt", "-ot", "-ef"];
const ARITHMETIC: &[&str] = &["-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

type Reader<'a> = fn(&mut Parser<'a>, &mut Terms) -> Parsed<Condition>;

impl<'a> Parser<'a> {
    /// What stands up to `]]`, after `[[`.
    pub(super) fn condition(&mut self, terms: &mut Terms, read: Reader<'a>) -> Parsed<Condition> {
        if !matches!(self.peek(), Some(b' ' | b'\t')) {
            return self.refuse("malformed test");
        }
        let condition = self.deeper(|p| read(p, terms))?;
        self.expect_word("]]")?;
        Ok(condition)
    }

    pub(super) fn or_condition(&mut self, terms: &mut Terms) -> Parsed<Condition> {
        let mut left = self.and_condition(terms)?;
        while self.eat_twice(b'|')? {
            left = Condition::Or(Box::new(left), Box::new(self.and_condition(terms)?));
        }
        Ok(left)
    }

    fn and_condition(&mut self, terms: &mut Terms) -> Parsed<Condition> {
        let mut left = self.term(terms)?;
        while self.eat_twice(b'&')? {
            left = Condition::And(Box::new(left), Box::new(self.term(terms)?));
        }
        Ok(left)
    }

    fn eat_twice(&mut self, byte: u8) -> Parsed<bool> {
        self.skip_blanks();
        if self.peek() != Some(byte) {
            return Ok(false);
        }
        if self.peek_second() != Some(byte) {
            return self.refuse("malformed test");
        }
        self.bump();
        self.peek();
        self.bump();
        self.skip_newlines()?;
        Ok(true)
    }

    fn term(&mut self, terms: &mut Terms) -> Parsed<Condition> {
        terms.0 += 1;
        if terms.0 > MAX_TERMS {
            return self.refuse("test too long");
        }
        self.skip_blanks();
        if self.eat_word("!") {
            return self.deeper(|p| Ok(Condition::Not(Box::new(p.term(terms)?))));
        }
        if self.eat(b'(') {
            let inner = self.deeper(|p| p.or_condition(terms))?;
            self.skip_blanks();
            if !self.eat(b')') {
                return self.refuse("malformed test");
            }
            return Ok(inner);
        }
        self.primary()
    }

    fn primary(&mut self) -> Parsed<Condition> {
        let first = self.test_word()?;
        let operator = first
            .as_bare_literal()
            .filter(|text| text.starts_with('-'))
            .map(str::to_owned);
        if let Some(operator) = operator {
            if !UNARY.contains(&operator.as_str()) {
                return self.refuse("test operator");
            }
            let operand = self.test_word()?;
            if operator == "-v" && !operand.as_bare_literal().is_some_and(is_identifier) {
                return self.refuse("test -v of more than a name");
            }
            self.skip_blanks();
            return Ok(Condition::Unary(operator, operand));
        }
        self.skip_blanks();
        if ends_word_list(self.peek()) || self.bare_word_ahead().0 == "]]" {
            return Ok(Condition::Word(first));
        }
        self.binary(first)
    }

    fn binary(&mut self, left: Word) -> Parsed<Condition> {
        let operator = self.binary_operator()?;
        let arithmetic = ARITHMETIC.contains(&operator.as_str());
        if !arithmetic && !BINARY.contains(&operator.as_str()) {
            return self.refuse("test operator");
        }
        if !matches!(self.peek(), Some(b' ' | b'\t')) {
            return self.refuse("malformed test");
        }
        let right = if operator == "=~" {
            self.regex()?
        } else {
            self.test_word()?
        };
        if arithmetic && !(is_countable(&left) && is_countable(&right)) {
            return self.refuse("arithmetic on text");
        }
        self.skip_blanks();
        Ok(Condition::Binary(left, operator, right))
    }

    fn binary_operator(&mut self) -> Parsed<String> {
        let mut operator = String::new();
        while let Some(byte) = self.peek() {
            if operator.len() > 3 || !(byte.is_ascii_lowercase() || b"=!~<>-".contains(&byte)) {
                break;
            }
            operator.push(char::from(byte));
            self.bump();
        }
        Ok(operator)
    }

    fn test_word(&mut self) -> Parsed<Word> {
        self.skip_blanks();
        let (bare, _) = self.bare_word_ahead();
        let missing = ends_word_list(self.peek()) || matches!(self.peek(), Some(b'(' | b'<' | b'>'));
        if missing || matches!(bare.as_str(), "]]" | "!") {
            return self.refuse("malformed test");
        }
        self.word(Place::Test)
    }
}

/// Whether a word is a plain integer or one expansion: bash evaluates anything else as a formula.
fn is_countable(word: &Word) -> bool {
    let digits = |text: &str| {
        let text = text.strip_prefix('-').unwrap_or(text);
        !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let expansion = |part: &Part| {
        matches!(
            part,
            Part::Parameter(_) | Part::CommandSubstitution(_) | Part::Arithmetic(_)
        )
    };
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => digits(text),
        [Part::DoubleQuoted(inner)] => match inner.as_slice() {
            [Part::Quoted(text)] => digits(text),
            [part] => expansion(part),
            _ => false,
        },
        [part] => expansion(part),
        _ => false,
    }
}
