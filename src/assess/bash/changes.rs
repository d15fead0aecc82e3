//! What a script may change of the state of the shell that runs it, read off its tree alone.

use std::collections::HashSet;

use crate::assess::builtins::{self, StateChange};
use crate::shell;
use crate::shell::ast::{Command, Part, Pipeline, Script, Word};
use crate::shell::state::State;

/// Forgets what a loop's body may change, before it is read once for every turn.
pub(super) fn forget_assigned(script: &Script, state: &mut State) {
    let mut changes = Changes::default();
    changes.of_script(script);
    if changes.anything || state.has_functions() {
        state.forget_all();
    }
    for name in changes.names {
        state.forget(&name);
    }
    for name in changes.fixed {
        state.freeze(&name);
    }
    if changes.directory {
        state.forget_directory();
    }
}

/// Whether code leaves the shell that runs it as it was: its directory, its variables, its names.
pub fn changes_nothing(code: &str) -> bool {
    let mut changes = Changes::default();
    if let Ok(script) = shell::parse(code) {
        changes.of_script(&script);
    } else {
        changes.anything = true;
    }
    changes == Changes::default()
}

/// What a script may change of the state, read off its tree alone.
#[derive(Default, PartialEq)]
struct Changes {
    names: HashSet<String>,
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
                self.names
                    .extend(assignments.iter().map(|assignment| assignment.name.clone()));
                self.of_words(words);
            }
            Command::Group(inner) => self.of_script(inner),
            // It changes only its own copy.
            Command::Subshell(_) => {}
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
            Command::Arithmetic(expression) => self.names.extend(expression.assigned.iter().cloned()),
            Command::Test(_) => {}
            Command::Function { .. } => self.anything = true,
        }
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
        match builtins::state_change(name) {
            StateChange::Nothing => {}
            StateChange::Directory => self.directory = true,
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

/// The name that a builtin such as `read` or `export` may assign by this word.
fn name_in(word: &Word) -> Option<String> {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => text.split(['=', '+']).next().map(str::to_owned),
        _ => None,
    }
}
