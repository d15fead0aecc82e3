//! Compound commands and functions. Called for every command, before it is taken for a simple one.

use super::ast::{CaseArm, Command, Item, Script, Stage, Word};
use super::conditions::Terms;
use super::cursor::{Parsed, Parser};
use super::parser::End;
use super::words::{Place, ends_word_list};

impl Parser<'_> {
    /// The compound command that starts here, if one does.
    pub(super) fn compound(&mut self) -> Parsed<Option<Command>> {
        if self.peek() == Some(b'(') {
            let arithmetic = self.peek_second() == Some(b'(');
            return if arithmetic {
                self.arithmetic_command()
            } else {
                self.subshell()
            }
            .map(Some);
        }
        let (word, end) = self.bare_word_ahead();
        let start = self.at;
        self.at = end;
        let command = match word.as_str() {
            "{" => self.deeper(|p| p.group(start))?,
            "if" => self.deeper(Self::if_command)?,
            "while" => self.deeper(|p| p.while_command(false))?,
            "until" => self.deeper(|p| p.while_command(true))?,
            "for" => self.deeper(Self::for_command)?,
            "case" => self.deeper(Self::case_command)?,
            "[[" => Command::Test(self.condition(&mut Terms::default(), Self::or_condition)?),
            "function" => self.deeper(Self::function_command)?,
            "coproc" | "select" | "repeat" | "foreach" => return self.refuse_from(&word, start),
            _ => {
                self.at = start;
                return Ok(None);
            }
        };
        Ok(Some(command))
    }

    fn arithmetic_command(&mut self) -> Parsed<Command> {
        self.bump();
        self.peek();
        self.bump();
        Ok(Command::Arithmetic(self.arithmetic_until_parens()?))
    }

    fn subshell(&mut self) -> Parsed<Command> {
        self.bump();
        let script = self.deeper(|p| p.full_script(End::Paren))?;
        self.bump();
        Ok(Command::Subshell(script))
    }

    fn group(&mut self, start: usize) -> Parsed<Command> {
        if !matches!(self.peek(), Some(b' ' | b'\t' | b'\n')) {
            return self.refuse_from("brace without a blank", start);
        }
        let script = self.full_script(End::Words(&["}"]))?;
        self.expect_word("}")?;
        Ok(Command::Group(script))
    }

    fn body(&mut self, open: &str, close: &'static [&'static str]) -> Parsed<Script> {
        self.expect_word(open)?;
        self.full_script(End::Words(close))
    }

    fn if_command(&mut self) -> Parsed<Command> {
        let mut branches = Vec::new();
        loop {
            let condition = self.full_script(End::Words(&["then"]))?;
            branches.push((condition, self.body("then", &["elif", "else", "fi"])?));
            if !self.eat_word("elif") {
                break;
            }
        }
        let otherwise = if self.bare_word_ahead().0 == "else" {
            Some(self.body("else", &["fi"])?)
        } else {
            None
        };
        self.expect_word("fi")?;
        Ok(Command::If { branches, otherwise })
    }

    fn while_command(&mut self, until: bool) -> Parsed<Command> {
        let condition = self.full_script(End::Words(&["do"]))?;
        let body = self.body("do", &["done"])?;
        self.expect_word("done")?;
        Ok(Command::While { until, condition, body })
    }

    fn for_command(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        let start = self.at;
        if self.peek() == Some(b'(') && self.peek_second() == Some(b'(') {
            return self.counting_for();
        }
        let Some((name, end)) = self.name_ahead() else {
            return self.refuse("for without a plain name");
        };
        self.at = end;
        if !matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b';')) || name == "in" || name == "do" {
            return self.refuse_from("for without a plain name", start);
        }
        self.check_assignable(&name, start)?;
        self.skip_blanks();
        let words = if self.eat(b';') {
            None
        } else {
            self.skip_newlines()?;
            if self.eat_word("in") {
                Some(self.for_words()?)
            } else {
                None
            }
        };
        self.skip_newlines()?;
        let body = self.body("do", &["done"])?;
        self.expect_word("done")?;
        Ok(Command::For { name, words, body })
    }

    /// `for ((start; condition; step))`, told as `{ ((start)); while ((condition)); do ..; ((step)); done; }`.
    fn counting_for(&mut self) -> Parsed<Command> {
        let start = self.at;
        self.bump();
        self.peek();
        self.bump();
        let [first, condition, step] = self.arithmetic_clauses()?;
        let head = self.span_from(start);
        self.skip_blanks();
        self.eat(b';');
        self.skip_newlines()?;
        let mut body = self.body("do", &["done"])?;
        self.expect_word("done")?;
        let item = |command| Item::of(command, head);
        body.items.push(item(Command::Arithmetic(step)));
        let condition = Script {
            items: vec![item(Command::Arithmetic(condition))],
        };
        let repeated = Command::While {
            until: false,
            condition,
            body,
        };
        let items = vec![item(Command::Arithmetic(first)), item(repeated)];
        Ok(Command::Group(Script { items }))
    }

    fn for_words(&mut self) -> Parsed<Vec<Word>> {
        let mut words = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek() {
                Some(b';') => {
                    self.bump();
                    return Ok(words);
                }
                Some(b'\n' | b'#') => return Ok(words),
                byte if ends_word_list(byte) => return self.refuse("unexpected text in for"),
                Some(b'(') => return self.refuse("unexpected text in for"),
                Some(b'<' | b'>') if self.peek_second() != Some(b'(') => return self.refuse("redirection in for"),
                _ => words.push(self.word(Place::Element)?),
            }
        }
    }

    fn case_command(&mut self) -> Parsed<Command> {
        if self.budget.in_arithmetic {
            return self.refuse("case inside arithmetic");
        }
        self.skip_blanks();
        if ends_word_list(self.peek()) {
            return self.refuse("case without a word");
        }
        let subject = self.word(Place::Pattern)?;
        self.skip_newlines()?;
        self.expect_word("in")?;
        if self.peek() == Some(b'(') {
            // zsh reads `in(x)` as one word.
            return self.refuse("case pattern");
        }
        let mut arms = Vec::new();
        loop {
            self.skip_newlines()?;
            if self.eat_word("esac") {
                return Ok(Command::Case { subject, arms });
            }
            let patterns = self.case_patterns()?;
            let body = self.script(End::Arm)?;
            arms.push(CaseArm { patterns, body });
            if self.eat(b';') {
                self.peek();
                self.bump();
                if matches!(self.peek(), Some(b'&' | b'|')) {
                    return self.refuse("case fall-through");
                }
            }
        }
    }

    fn case_patterns(&mut self) -> Parsed<Vec<Word>> {
        let opened = self.eat(b'(');
        let mut patterns = Vec::new();
        loop {
            self.skip_blanks();
            if ends_word_list(self.peek()) || self.bare_word_ahead().0 == "esac" {
                return self.refuse("case pattern");
            }
            patterns.push(self.word(Place::Pattern)?);
            self.skip_blanks();
            if self.eat(b')') {
                // zsh would read on in the pattern.
                if opened && !self.peek().is_none_or(|byte| b" \t\n;".contains(&byte)) {
                    return self.refuse("case pattern");
                }
                return Ok(patterns);
            }
            if !self.eat(b'|') {
                return self.refuse("case pattern");
            }
        }
    }

    /// `function name { .. }`, after the first word.
    fn function_command(&mut self) -> Parsed<Command> {
        self.skip_blanks();
        if ends_word_list(self.peek()) {
            return self.refuse("function without a name");
        }
        let name = self.word(Place::Command)?;
        let name = self.function_name(&name)?;
        self.skip_blanks();
        if self.peek() == Some(b'(') {
            self.empty_parens()?;
        }
        self.function_body(name)
    }

    /// `name () { .. }`, after the name.
    pub(super) fn function_after(&mut self, name: &Word, start: usize) -> Parsed<Stage> {
        let name = self.function_name(name)?;
        self.empty_parens()?;
        let command = self.deeper(|p| p.function_body(name))?;
        self.finish_compound(command, start)
    }

    fn function_name(&self, word: &Word) -> Parsed<String> {
        let plain = |name: &&str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && name.chars().all(|c| c.is_ascii_alphanumeric() || "_.:-".contains(c))
        };
        match word.as_bare_literal().filter(plain) {
            Some(name) => Ok(name.to_owned()),
            None => self.refuse("parenthesis after a word"),
        }
    }

    fn empty_parens(&mut self) -> Parsed<()> {
        self.bump();
        self.skip_blanks();
        if self.eat(b')') {
            return Ok(());
        }
        self.refuse("parenthesis after a word")
    }

    /// The redirections after the body belong to it: they are opened at each call.
    fn function_body(&mut self, name: String) -> Parsed<Command> {
        self.skip_newlines()?;
        let start = self.at;
        let braced = self.bare_word_ahead().0 == "{";
        let parenthesised = self.peek() == Some(b'(') && self.peek_second() != Some(b'(');
        if !braced && !parenthesised {
            return self.refuse("function body without braces");
        }
        let Some(command) = self.compound()? else {
            return self.refuse("function body without braces");
        };
        let body = Box::new(self.finish_compound(command, start)?);
        Ok(Command::Function { name, body })
    }
}
