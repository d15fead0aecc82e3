//! What is known while a script runs: the directory, variables, functions. It knows no files.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::rc::Rc;

use super::Value;
use super::ast::Stage;

/// At most this many variables are remembered.
const MAX_VARIABLES: usize = 256;
/// From a number of so many digits a script cannot count so far that it overflows.
const MAX_DIGITS: usize = 15;

/// `$0`, `$1` and so on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Positional {
    pub words: Rc<[Value]>,
    /// Each word is exactly one. Otherwise they stand for any number of such words, and which is `$1` is not known.
    pub counted: bool,
}

/// The state that one command hands to the next.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The current directory, where it is exactly known.
    pub cwd: Option<PathBuf>,
    /// The directory before the last `cd`, where it is exactly known: what `cd -` goes back to.
    pub previous: Option<PathBuf>,
    /// The directories that `popd` goes back to, the nearest last, where all are known.
    pub pushed: Option<Vec<PathBuf>>,
    /// A shell that a command of the session's starts: the aliases and functions of the person's are not in it.
    pub is_inner: bool,
    /// Every variable that the script may have assigned. A value here is one word or not known.
    variables: HashMap<String, Value>,
    /// Variables that hold digits alone, though it is not known which.
    numbers: HashSet<String>,
    /// `$0`, `$1` and so on, where they are known.
    pub positional: Option<Positional>,
    /// Functions that may be defined, and their bodies where they certainly are.
    functions: HashMap<String, Option<Rc<Stage>>>,
    /// Variables that refuse every later assignment.
    frozen: HashSet<String>,
    /// The body of a function is read, where `local` works.
    pub in_function: bool,
    /// Variables may have been assigned whose names are not known.
    pub opaque: bool,
    /// More variables were assigned than are remembered.
    pub crowded: bool,
    /// Variables of the script that are part of the environment of what it runs.
    pub exported: HashSet<String>,
    /// An earlier command may have changed files.
    pub wrote: bool,
    /// It may have changed what the project's own code is and does, and was not that code itself.
    pub planted: bool,
    /// An earlier command may have made symbolic links, so that a path's meaning is not what it is now.
    pub relinked: bool,
}

impl State {
    /// The state of a shell that starts here; `None`: where is not known.
    pub fn in_directory(cwd: Option<PathBuf>) -> Self {
        State {
            cwd,
            ..State::default()
        }
    }

    /// The value that the script gave a variable; `None` where it gave none.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.variables.get(name)
    }

    /// What a variable is worth after an assignment; a read-only one refuses it, so its value is not known then.
    pub fn assign(&mut self, name: &str, value: Value) {
        let value = if self.frozen.contains(name) {
            Value::UNKNOWN
        } else {
            value
        };
        self.numbers.remove(name);
        if self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name) {
            self.variables.insert(name.to_owned(), value);
        } else {
            self.crowded = true;
            self.opaque = true;
        }
    }

    /// Assigns digits that are not known.
    pub fn count(&mut self, name: &str) {
        self.assign(name, Value::UNKNOWN);
        if !self.frozen.contains(name) && self.variables.contains_key(name) {
            self.numbers.insert(name.to_owned());
        }
    }

    /// Whether the script gave a variable digits alone, few enough to go on counting from.
    pub fn is_number(&self, name: &str) -> bool {
        let is_short =
            |text: &String| !text.is_empty() && text.len() <= MAX_DIGITS && text.bytes().all(|b| b.is_ascii_digit());
        let known = || self.get(name)?.alternatives();
        self.numbers.contains(name) || known().is_some_and(|texts| texts.iter().all(is_short))
    }

    /// Makes a variable read-only.
    pub fn freeze(&mut self, name: &str) {
        self.frozen.insert(name.to_owned());
    }

    /// Defines a function.
    pub fn define(&mut self, name: &str, body: Rc<Stage>) {
        self.functions.insert(name.to_owned(), Some(body));
    }

    /// Whether a name is a function: certainly, perhaps (`Some(false)`), or not as far as is known.
    pub fn function(&self, name: &str) -> Option<bool> {
        self.functions.get(name).map(Option::is_some)
    }

    /// The body of a function that is certainly defined.
    pub fn body(&self, name: &str) -> Option<Rc<Stage>> {
        self.functions.get(name).cloned().flatten()
    }

    /// The bodies of all functions that may be defined; `None`: which it is is not known.
    pub fn bodies(&self) -> impl Iterator<Item = Option<&Stage>> {
        self.functions.values().map(Option::as_deref)
    }

    /// Whether a name may be a function.
    pub fn has_functions(&self) -> bool {
        !self.functions.is_empty()
    }

    /// The state that a shell starts in which a command of this one starts: the directory is handed on and what was
    /// done to files, but no function, and which variables is not followed.
    pub fn child(&self) -> State {
        let mut child = self.clone();
        child.functions.clear();
        child.frozen.clear();
        child.in_function = false;
        child.previous = None;
        child.pushed = None;
        child.is_inner = true;
        child.variables.values_mut().for_each(|value| *value = Value::UNKNOWN);
        child.numbers.clear();
        child.positional = None;
        child
    }

    /// Takes over what outlives a process of its own: what it did to files.
    pub fn after_child(&mut self, child: &State) {
        self.add(child.files());
    }

    /// What may have been done to files: `wrote`, `planted`, `relinked`.
    pub fn files(&self) -> [bool; 3] {
        [self.wrote, self.planted, self.relinked]
    }

    /// This was done to files too.
    pub fn add(&mut self, [wrote, planted, relinked]: [bool; 3]) {
        self.wrote |= wrote;
        self.planted |= planted;
        self.relinked |= relinked;
    }

    /// Anything may have been done to files.
    pub fn plant(&mut self) {
        self.wrote = true;
        self.planted = true;
    }

    /// Forgets what is known of a variable.
    pub fn forget(&mut self, name: &str) {
        self.assign(
            name,
            Value::Unknown {
                prefix: String::new(),
                single: false,
            },
        );
    }

    /// Forgets everything that unknown code may have changed.
    pub fn forget_all(&mut self) {
        self.forget_directory();
        self.forget_variables();
        self.positional = None;
    }

    /// Forgets what is known of every variable.
    pub fn forget_variables(&mut self) {
        self.opaque = true;
        self.numbers.clear();
        for value in self.variables.values_mut() {
            *value = Value::UNKNOWN;
        }
    }

    /// Forgets where the shell is and where it was.
    pub fn forget_directory(&mut self) {
        self.cwd = None;
        self.previous = None;
        self.pushed = None;
    }

    /// What holds whether or not the path to `other` was taken.
    pub fn merge(&mut self, other: State) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        if self.previous != other.previous {
            self.previous = None;
        }
        if self.pushed != other.pushed {
            self.pushed = None;
        }
        self.is_inner &= other.is_inner;
        self.opaque |= other.opaque;
        self.crowded |= other.crowded;
        self.after_child(&other);
        if self.positional != other.positional {
            self.positional = None;
        }
        let counted = self
            .variables
            .keys()
            .filter(|name| self.is_number(name) && other.is_number(name));
        self.numbers = counted.cloned().collect();
        self.exported.extend(other.exported);
        self.frozen.extend(other.frozen);
        for (name, body) in &mut self.functions {
            let others = other.functions.get(name).and_then(Option::as_ref);
            body.take_if(|body| !others.is_some_and(|other| Rc::ptr_eq(body, other)));
        }
        for name in other.functions.into_keys() {
            self.functions.entry(name).or_insert(None);
        }
        for (name, value) in &mut self.variables {
            if other.variables.get(name) != Some(value) {
                *value = Value::UNKNOWN;
            }
        }
        for name in other.variables.into_keys() {
            self.variables.entry(name).or_insert(Value::UNKNOWN);
        }
    }
}

#[cfg(test)]
mod tests;
