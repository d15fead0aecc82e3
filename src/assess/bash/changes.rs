//! What a script may change of the state of the shell that runs it, read off its tree alone.

use std::collections::HashSet;

use super::evaluation::is_digits;
use crate::assess::builtins::{self, StateChange};
use crate::shell;
use crate::shell::ast::{AssignedValue, Assignment, Command, Part, Pipeline, Script, Word};
use crate::shell::state::State;

/// A number that a loop starts to count from is no longer.
const MAX_DIGITS: usize = 6;

/// Forgets what a loop's body may change, before it is read once for every turn.
pub(super) fn forget_assigned(script: &Script, state: &mut State) {
    let mut changes = Changes::default();
    changes.of_script(script);
    if changes.anything || state.has_functions() {
        state.forget_all();
    }
    if changes.positional {
        state.positional = None;
    }
    let counted = changes.counted(state);
    for name in changes.names {
        state.forget(&name);
    }
    for (name, _) in changes.counts {
        match counted.contains(&name) {
            true => state.count(&name),
            false => state.forget(&name),
        }
    }
    for name in changes.fixed {
        state.freeze(&name);
    }
    if changes.directory {
        state.forget_directory();
    }
}

/// Whether a loop with this body is read turn by turn: it moves the shell, and every turn runs to its end.
pub(super) fn goes_by_turns(body: &Script) -> bool {
    let mut changes = Changes::default();
    changes.of_script(body);
    changes.moves && !changes.jumps && !changes.anything
}

/// Whether code leaves the shell that runs it as it was: its directory, its variables, its names.
pub fn changes_nothing(code: &str) -> bool {
    let mut changes = Changes::default();
    if let Ok(script) = shell::parse(code) {
        changes.of_script(&script);
    } else {
        changes.anything = true;
    }
    let (moves, jumps) = (changes.moves, changes.jumps);
    let nothing = Changes {
        moves,
        jumps,
        ..Changes::default()
    };
    changes == nothing
}

/// What a script may change of the state, read off its tree alone.
#[derive(Default, PartialEq)]
struct Changes {
    names: HashSet<String>,
    /// Given a number that is made of another variable's, or of none.
    counts: Vec<(String, Option<String>)>,
    /// `$1` and so on.
    positional: bool,
    /// It changes the directory of the shell, or of one that it starts.
    moves: bool,
    /// It leaves a turn of a loop, or the loop.
    jumps: bool,
    /// Made read-only.
    fixed: HashSet<String>,
    directory: bool,
    anything: bool,
}

impl Changes {
    fn of_script(&mut self, script: &Script) {
        for item in &script.items {
            self.of_pipeline(&item.first);
            item.rest.iter().for_each(|(_, pipeline)| self.of_pipeline(pipeline));
        }
    }

    fn of_pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|stage| self.of_command(&stage.command));
    }

    fn of_command(&mut self, command: &Command) {
        match command {
            Command::Simple { assignments, words } => {
                assignments
                    .iter()
                    .for_each(|it| self.of_assignment(it, words.is_empty()));
                self.of_words(words);
            }
            Command::Group(inner) => self.of_script(inner),
            // It changes only its own copy.
            Command::Subshell(inner) => {
                let mut own = Changes::default();
                own.of_script(inner);
                self.moves |= own.moves;
            }
            Command::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.of_script(condition);
                    self.of_script(body);
                }
                otherwise.iter().for_each(|body| self.of_script(body));
            }
            Command::While { condition, body, .. } => {
                self.of_script(condition);
                self.of_script(body);
            }
            Command::For { name, body, .. } => {
                self.names.insert(name.clone());
                self.of_script(body);
            }
            Command::Case { arms, .. } => arms.iter().for_each(|arm| self.of_script(&arm.body)),
            Command::Arithmetic(expression) => match (&expression.count, expression.assigned.as_slice()) {
                (Some(count), [name]) => self.counts.push((name.clone(), count.of.clone())),
                (_, assigned) => self.names.extend(assigned.iter().cloned()),
            },
            Command::Test(_) => {}
            Command::Function { .. } => self.anything = true,
        }
    }

    fn of_assignment(&mut self, assignment: &Assignment, lasting: bool) {
        let of = match &assignment.value {
            AssignedValue::Scalar(word) if lasting && !assignment.append => counted_of(word),
            AssignedValue::Scalar(_) | AssignedValue::Array(_) => None,
        };
        match of {
            Some(of) => self.counts.push((assignment.name.clone(), of)),
            None => drop(self.names.insert(assignment.name.clone())),
        }
    }

    /// The variables that hold a number before the loop and after every turn of it.
    fn counted(&self, state: &State) -> HashSet<String> {
        let names = self.counts.iter().map(|(name, _)| name.clone());
        let mut counted: HashSet<String> = names
            .filter(|name| state.is_number(name) && !self.names.contains(name))
            .collect();
        loop {
            let is_number = |of: &String| counted.contains(of) || state.is_number(of) && !self.assigns(of);
            let broken = self
                .counts
                .iter()
                .find(|(name, of)| counted.contains(name) && !of.as_ref().is_none_or(is_number));
            match broken {
                Some((name, _)) => counted.remove(name),
                None => return counted,
            };
        }
    }

    fn assigns(&self, name: &str) -> bool {
        self.names.contains(name) || self.counts.iter().any(|(counted, _)| counted == name)
    }

    fn of_words(&mut self, words: &[Word]) {
        let name = match words.first().map(|word| word.parts.as_slice()) {
            None => return,
            Some([Part::Literal(name) | Part::Quoted(name)]) => name.as_str(),
            Some(_) => {
                self.anything = true;
                return;
            }
        };
        self.jumps |= ["break", "continue", "return"].contains(&name);
        match builtins::state_change(name) {
            StateChange::Nothing => {}
            StateChange::Directory => {
                self.directory = true;
                self.moves = true;
            }
            StateChange::Positional => self.positional = true,
            StateChange::Names => {
                let fixes = |word: &Word| name_in(word).is_some_and(|text| text.starts_with('-') && text.contains('r'));
                if name == "readonly" || name != "read" && words.iter().any(fixes) {
                    self.fixed.extend(words.iter().filter_map(name_in));
                }
                self.names.extend(words.iter().filter_map(name_in));
            }
            StateChange::Anything => self.anything = true,
        }
    }
}

/// Of which variable's number a word is made that only counts.
fn counted_of(word: &Word) -> Option<Option<String>> {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    match parts {
        [Part::Arithmetic(expression)] if expression.assigned.is_empty() => Some(expression.count.as_ref()?.of.clone()),
        [Part::Parameter(it)] if it.index.is_none() && it.operation.is_none() => Some(Some(it.name.clone())),
        [Part::Literal(text) | Part::Quoted(text)] if text.len() <= MAX_DIGITS && is_digits(text) => Some(None),
        _ => None,
    }
}

/// The name that a builtin such as `read` or `export` may assign by this word.
fn name_in(word: &Word) -> Option<String> {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => text.split(['=', '+']).next().map(str::to_owned),
        _ => None,
    }
}
