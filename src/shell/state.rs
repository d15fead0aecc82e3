//! What is known while a script runs: the directory, variables, functions. It knows no files.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::Value;

/// The state that one command hands to the next.
#[derive(Clone, Debug, Default)]
pub struct State {
    /// The current directory, where it is exactly known.
    pub cwd: Option<PathBuf>,
    /// Every variable that the script may have assigned. A value here is one word or not known.
    variables: HashMap<String, Value>,
    /// Functions that are certainly defined.
    pub functions: HashSet<String>,
    /// Variables may have been assigned whose names are not known.
    pub opaque: bool,
    /// Variables of the script that are part of the environment of what it runs.
    pub exported: HashSet<String>,
    /// An earlier command may have changed files.
    pub wrote: bool,
    /// An earlier command may have made symbolic links, so that a path's meaning is not what it is now.
    pub relinked: bool,
}

impl State {
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

    pub fn assign(&mut self, name: &str, value: Value) {
        self.variables.insert(name.to_owned(), value);
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
        self.cwd = None;
        self.opaque = true;
        for value in self.variables.values_mut() {
            *value = Value::UNKNOWN;
        }
    }

    /// What a shell that is started now inherits: the directory, no function, and of the variables nobody knows which.
    pub fn for_program(&self) -> State {
        let mut own = State {
            functions: HashSet::new(),
            ..self.clone()
        };
        own.variables.values_mut().for_each(|value| *value = Value::UNKNOWN);
        own
    }

    /// What holds whether or not the path to `other` was taken.
    pub fn merge(&mut self, other: State) {
        if self.cwd != other.cwd {
            self.cwd = None;
        }
        self.opaque |= other.opaque;
        self.wrote |= other.wrote;
        self.relinked |= other.relinked;
        self.exported.extend(other.exported);
        self.functions.retain(|name| other.functions.contains(name));
        for (name, value) in other.variables {
            let same = self.variables.get(&name) == Some(&value);
            if !same {
                self.variables.insert(name, Value::UNKNOWN);
            }
        }
    }
}
