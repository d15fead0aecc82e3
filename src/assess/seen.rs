//! What one assessment has learned of the machine, so that nothing is asked twice, and how much more it may ask.
//!
//! The machine does not change while a call is assessed: nothing is run. `bash` and `roles` ask through it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::Gathered;
use crate::catalog::environment;
use crate::effect::{Action, Effect};
use crate::shell::expansion::PatternPart;

/// At most this many different paths are looked at in one call.
const MAX_LOOKS: usize = 1200;
/// So many entries of a walk cost as much as one look.
const ENTRIES_PER_LOOK: usize = 16;

/// The words that a pattern becomes, each one of some names, where that is known.
type Matches = Option<Vec<Vec<String>>>;
/// A pattern, and the directory that it is matched in.
type Glob = (Vec<PatternPart>, Option<PathBuf>);

#[derive(Default)]
pub struct Seen {
    looks: usize,
    globs: RefCell<HashMap<Glob, Matches>>,
    variables: RefCell<HashMap<String, Named>>,
    effects: HashMap<(Action, PathBuf), Rc<[Effect]>>,
    walks: HashMap<Walk, Rc<Gathered>>,
}

/// What the name of a variable says.
#[derive(Clone, Copy)]
pub struct Named {
    /// Its value may be shown.
    pub printable: bool,
    /// It looks like a credential's.
    pub secret: bool,
}

/// A walk through a directory, and which of its files count.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Walk {
    pub root: PathBuf,
    /// Names that begin with a dot too.
    pub hidden: bool,
    /// Patterns for the names of files, one of which must fit; empty: every file.
    pub names: Vec<String>,
    /// An earlier command may have made links.
    pub relinked: bool,
}

impl Seen {
    /// The words that a pattern becomes, worked out by `matches` the first time.
    pub fn matches(&self, pattern: &[PatternPart], cwd: Option<&Path>, matches: impl FnOnce() -> Matches) -> Matches {
        let key = (pattern.to_vec(), cwd.map(Path::to_path_buf));
        self.globs.borrow_mut().entry(key).or_insert_with(matches).clone()
    }

    pub fn variable(&self, name: &str) -> Named {
        if let Some(named) = self.variables.borrow().get(name) {
            return *named;
        }
        let named = Named {
            printable: environment::printable(name),
            secret: environment::secret_name(name),
        };
        self.variables.borrow_mut().insert(name.to_owned(), named);
        named
    }

    /// The effects of an action on a path, if they were worked out before.
    pub fn effects(&self, action: Action, path: &Path) -> Option<Rc<[Effect]>> {
        self.effects.get(&(action, path.to_path_buf())).cloned()
    }

    pub fn keep_effects(&mut self, action: Action, path: &Path, effects: &Rc<[Effect]>) {
        self.effects.insert((action, path.to_path_buf()), Rc::clone(effects));
    }

    /// What a walk met, if it was made before.
    pub fn walk(&self, walk: &Walk) -> Option<Rc<Gathered>> {
        self.walks.get(walk).cloned()
    }

    pub fn keep_walk(&mut self, walk: Walk, below: &Rc<Gathered>) {
        self.walks.insert(walk, Rc::clone(below));
    }

    /// Counts the entries that a walk saw.
    pub fn walked(&mut self, entries: usize) {
        self.looks += entries / ENTRIES_PER_LOOK;
    }

    /// The same, for a second walk through the same call.
    pub fn counted_anew(self) -> Self {
        Seen { looks: 0, ..self }
    }

    /// Counts one more look at the machine; `false` once there were too many.
    pub fn look(&mut self) -> bool {
        self.looks += 1;
        self.looks <= MAX_LOOKS
    }
}
