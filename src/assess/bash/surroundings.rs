//! What the machine says to the words of a script: values of its variables, what patterns match, the output of a command
//! that only says where it is.

use super::{MAX_EXPANDED, Work};
use crate::assess::{glob, lines};
use crate::facts::git::Discovery;
use crate::shell::Value;
use crate::shell::ast::{Part, Script, Word};
use crate::shell::expansion::{PatternPart, Surroundings};
use crate::shell::state::State;

impl Surroundings for Work<'_> {
    fn variable(&self, name: &str, state: &State) -> Option<String> {
        match name {
            "HOME" => self.facts.home.as_ref()?.to_str().map(str::to_owned),
            "PWD" => state.cwd.as_ref()?.to_str().map(str::to_owned),
            "OLDPWD" => state.previous.as_ref()?.to_str().map(str::to_owned),
            _ => None,
        }
    }

    fn output(&self, script: &Script, state: &State) -> Option<Value> {
        let cwd = state.cwd.as_ref().filter(|_| !state.wrote && !state.opaque)?;
        let directory = match plain_words(script)?.as_slice() {
            ["pwd"] => cwd.clone(),
            ["git", "rev-parse", "--show-toplevel"] => match self.facts.repository_at(cwd) {
                Discovery::Repository(found) => found.worktree,
                Discovery::None | Discovery::Suspicious(_) => return None,
            },
            _ => return lines::number(script, state, self),
        };
        Some(Value::Literal(directory.to_str()?.to_owned()))
    }

    fn home(&self, state: &State) -> Option<String> {
        match state.get("HOME") {
            Some(value) => value.literal().map(str::to_owned),
            None => self.variable("HOME", state),
        }
    }

    fn matches(&self, pattern: &[PatternPart], state: &State) -> Option<Vec<Vec<String>>> {
        if state.wrote || !state.is_inner && self.facts.shell().matches_otherwise() {
            None
        } else {
            self.seen.matches(pattern, state.cwd.as_deref(), || {
                glob::matches(pattern, state.cwd.as_deref(), self.facts)
            })
        }
    }

    fn keeps(&self, bytes: usize) -> bool {
        self.expanded.set(self.expanded.get().saturating_add(bytes));
        self.expanded.get() <= MAX_EXPANDED
    }
}

/// The words of a script that is one plain command without redirections.
fn plain_words(script: &Script) -> Option<Vec<&str>> {
    script.lone_command()?.iter().map(plain_text).collect()
}

fn plain_text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text),
        _ => None,
    }
}
