//! What a shell evaluates inside a word, an arithmetic expression or a condition: the scripts in it, the variables that it
//! shows, and what it reads as arithmetic again.

use super::{Gathered, Work};
use crate::assess::roles;
use crate::assess::seen::Named;
use crate::catalog;
use crate::effect::{Action, EffectSpec, Place};
use crate::shell::ast::{Arithmetic, Condition, Parameter, ParameterOperation, Part, Word};
use crate::shell::expansion::expand_single;
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

impl Work<'_> {
    /// Runs the scripts inside a word and notes the variables that it shows.
    pub(super) fn substitutions(&mut self, word: &Word, state: &State, depth: usize, gathered: &mut Gathered) {
        for part in &word.parts {
            self.part(part, state, depth, word.span, gathered);
        }
    }

    fn part(&mut self, part: &Part, state: &State, depth: usize, span: Span, gathered: &mut Gathered) {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
            Part::DoubleQuoted(parts) => {
                for part in parts {
                    self.part(part, state, depth, span, gathered);
                }
            }
            Part::Brace(alternatives) => {
                for part in alternatives.iter().flatten() {
                    self.part(part, state, depth, span, gathered);
                }
            }
            Part::CommandSubstitution(script) | Part::ProcessSubstitution { script, .. } => {
                if !self.too_deep(depth + 1, span) {
                    let mut own = state.clone();
                    self.script(script, &mut own, depth + 1);
                    self.aside.wrote |= own.wrote;
                    self.aside.planted |= own.planted;
                    self.aside.relinked |= own.relinked;
                }
            }
            Part::Arithmetic(expression) => self.inner_arithmetic(expression, state, depth, gathered),
            Part::Parameter(parameter) => self.parameter(parameter, state, depth, span, gathered),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, state: &State, depth: usize, span: Span, gathered: &mut Gathered) {
        self.disclosure(&parameter.name, state, gathered);
        match &parameter.operation {
            None | Some(ParameterOperation::Length) => {}
            Some(ParameterOperation::Default(operator, word)) => {
                self.substitutions(word, state, depth, gathered);
                if operator.ends_with('=') {
                    // The assignment is not followed, so nothing may rest on the variable.
                    self.check_assignment(&parameter.name, &Value::UNKNOWN, state, span, gathered);
                    let counts = expand_single(word, state, self).literal().is_some_and(is_digits);
                    if state.get(&parameter.name).is_some() || !counts {
                        gathered.doubt(format!("`{}` may be assigned here", parameter.name), span);
                    }
                }
            }
            Some(ParameterOperation::Strip(_, word) | ParameterOperation::Case(_, Some(word))) => {
                self.substitutions(word, state, depth, gathered);
            }
            Some(ParameterOperation::Case(_, None)) => {}
            Some(ParameterOperation::Replace(_, pattern, replacement)) => {
                self.substitutions(pattern, state, depth, gathered);
                if let Some(word) = replacement {
                    self.substitutions(word, state, depth, gathered);
                }
            }
            Some(ParameterOperation::Substring(offset, length)) => {
                self.inner_arithmetic(offset, state, depth, gathered);
                if let Some(length) = length {
                    self.inner_arithmetic(length, state, depth, gathered);
                }
            }
        }
    }

    /// Showing a variable of the session's environment may show a secret.
    pub fn disclosure(&self, name: &str, state: &State, gathered: &mut Gathered) {
        // What the script may have assigned is its own, but a variable of the session only if it surely was replaced.
        let inherited = self.facts.environment.contains(name);
        let replaced = |value: &Value| !inherited || !matches!(value, Value::Unknown { .. });
        let Named { printable, secret } = self.seen.variable(name);
        if state.get(name).is_some_and(replaced) || printable {
            return;
        }
        let place = if secret {
            Place::Secret
        } else if inherited {
            Place::Nowhere
        } else {
            return;
        };
        gathered.effect(
            EffectSpec {
                place,
                ..EffectSpec::of(Action::Disclose)
            },
            format!("${name}"),
        );
    }

    /// Arithmetic inside a word. What it assigns is not followed, so nothing may rest on it.
    fn inner_arithmetic(&mut self, expression: &Arithmetic, state: &State, depth: usize, gathered: &mut Gathered) {
        self.arithmetic(expression, state, depth, gathered);
        for name in expression.assigned.iter().filter(|name| state.get(name).is_some()) {
            gathered.doubt(format!("`{name}` is assigned by arithmetic"), expression.span);
        }
    }

    /// bash evaluates the value of a name in arithmetic again, substitutions and all.
    pub(super) fn arithmetic(&mut self, expression: &Arithmetic, state: &State, depth: usize, gathered: &mut Gathered) {
        for part in &expression.parts {
            self.part(part, state, depth, expression.span, gathered);
            if !matches!(part, Part::Parameter(p) if self.is_number(&p.name, state) && p.operation.is_none()) {
                gathered.doubt(
                    "what is inserted here is evaluated again as arithmetic",
                    expression.span,
                );
            }
        }
        for name in &expression.names {
            if !self.is_number(name, state) {
                gathered.doubt(
                    format!("the value of `{name}` is evaluated again as arithmetic"),
                    expression.span,
                );
            }
        }
        for name in &expression.assigned {
            self.check_assignment(name, &Value::UNKNOWN, state, expression.span, gathered);
        }
    }

    fn is_number(&self, name: &str, state: &State) -> bool {
        match state.get(name) {
            Some(_) if state.is_number(name) => true,
            Some(value) => value
                .alternatives()
                .is_some_and(|texts| texts.iter().all(|text| is_digits(text))),
            None => {
                [
                    "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "BASHPID",
                ]
                .contains(&name)
                    // What nobody has set is zero; what the shell itself sets may hold any text of the script.
                    || !state.opaque
                        && !self.facts.environment.contains(name)
                        && !catalog::environment::set_by_shell(name)
                        && name.starts_with(|c: char| c.is_ascii_alphabetic())
            }
        }
    }

    pub(super) fn condition(&mut self, condition: &Condition, state: &State, depth: usize, gathered: &mut Gathered) {
        match condition {
            Condition::Not(inner) => self.condition(inner, state, depth, gathered),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left, state, depth, gathered);
                self.condition(right, state, depth, gathered);
            }
            Condition::Word(word) => self.substitutions(word, state, depth, gathered),
            Condition::Unary(operator, word) => {
                self.substitutions(word, state, depth, gathered);
                let value = expand_single(word, state, self);
                match operator.as_str() {
                    "-n" | "-z" | "-o" => {}
                    // A descriptor, which zsh reads as arithmetic.
                    "-t" => self.evaluated(operator, word, &value, state, gathered),
                    "-v" | "-R" => gathered.doubt(format!("`{operator}` evaluates the name it is given"), word.span),
                    _ => roles::path(Action::Inspect, &Arg { value, span: word.span }, state, self, gathered),
                }
            }
            Condition::Binary(left, operator, right) => {
                for word in [left, right] {
                    self.substitutions(word, state, depth, gathered);
                    let value = expand_single(word, state, self);
                    match operator.as_str() {
                        "==" | "=" | "!=" | "=~" | "<" | ">" => {}
                        "-nt" | "-ot" | "-ef" => {
                            roles::path(Action::Inspect, &Arg { value, span: word.span }, state, self, gathered);
                        }
                        _ => self.evaluated(operator, word, &value, state, gathered),
                    }
                }
            }
        }
    }

    /// A word of a condition that is evaluated as arithmetic, and so must be a number.
    fn evaluated(&self, operator: &str, word: &Word, value: &Value, state: &State, gathered: &mut Gathered) {
        let holds_number = matches!(word.parts.as_slice(), [Part::Parameter(p)] if p.operation.is_none() && p.index.is_none() && self.is_number(&p.name, state));
        let texts = value.alternatives();
        if !holds_number && !texts.is_some_and(|texts| texts.iter().all(|text| is_digits(text))) {
            gathered.doubt(format!("`{operator}` evaluates this word as arithmetic"), word.span);
        }
    }
}

pub(super) fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}
