//! What the file system has said. It does not change while a call is judged, so nothing is asked twice.

use std::cell::{OnceCell, RefCell};
use std::ffi::OsString;
use std::fs::{self, FileType, Metadata};
use std::hash::Hash;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use rustc_hash::FxHashMap;

use super::git::{self, Snapshot, Tracked, Trust};
use super::snapshot::ShellSnapshot;
use super::{Found, MAX_NAMES};
use crate::effect::Place;
use crate::place::Purpose;

/// By the text of a path: `a` and `a/.` are two questions. A text could be made in which they meet in one place, and then
/// as many of them are compared as fit into one call.
type ByPath<T> = RefCell<FxHashMap<OsString, T>>;

/// All that was asked for one call. Only [`Facts`](super::Facts) asks.
#[derive(Debug, Default)]
pub struct Memory {
    /// What has a name, and where a link leads.
    names: ByPath<Answer>,
    /// What is behind a link.
    targets: ByPath<Answer>,
    pub(super) reals: ByPath<PathBuf>,
    looked_at: ByPath<Place>,
    changed: ByPath<Place>,
    pub(super) texts: ByPath<Option<Rc<str>>>,
    pub(super) settings: ByPath<Result<Option<Rc<str>>, Rc<str>>>,
    directories: ByPath<Option<Rc<[Entry]>>>,
    pub(super) programs: RefCell<FxHashMap<String, Found>>,
    pub(super) shell: OnceCell<ShellSnapshot>,
    pub(super) repositories: RefCell<git::Found>,
    /// By the git directory, as the next.
    pub(super) trusts: ByPath<Rc<Trust>>,
    pub(super) snapshots: ByPath<Option<Snapshot>>,
    pub(super) tracked: ByPath<Tracked>,
}

/// What the file system says of a name.
#[derive(Clone, Debug)]
pub(super) enum Answer {
    Is { kind: FileType, mode: u32, length: u64 },
    Link(Rc<Path>),
    Missing,
    Failed,
}

impl Answer {
    fn of(answer: io::Result<Metadata>) -> Self {
        match answer {
            Ok(metadata) => Answer::Is {
                kind: metadata.file_type(),
                mode: metadata.permissions().mode(),
                length: metadata.len(),
            },
            Err(error) if error.kind() == io::ErrorKind::NotFound => Answer::Missing,
            Err(_) => Answer::Failed,
        }
    }
}

/// One name in a directory; `None` where it cannot be told.
pub(super) type Entry = Option<(OsString, Option<FileType>)>;

impl Memory {
    /// What has this name, which may be a link.
    pub(super) fn itself(&self, path: &Path) -> Answer {
        self.known(&self.names, path, || match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                fs::read_link(path).map_or(Answer::Failed, |target| Answer::Link(target.into()))
            }
            answer => Answer::of(answer),
        })
    }

    /// What is behind this name, links followed; never a link.
    pub(super) fn behind(&self, path: &Path) -> Answer {
        match self.itself(path) {
            Answer::Link(_) => self.known(&self.targets, path, || Answer::of(fs::metadata(path))),
            answer => answer,
        }
    }

    /// Nothing is below a name that is not there.
    fn known(&self, answers: &ByPath<Answer>, path: &Path, ask: impl FnOnce() -> Answer) -> Answer {
        let is_missing = |above: &Path| {
            let names = self.names.borrow();
            matches!(names.get(above.as_os_str()), Some(Answer::Missing))
        };
        once(answers, path.as_os_str(), || match path.parent() {
            Some(above) if is_missing(above) => Answer::Missing,
            _ => ask(),
        })
    }

    /// The place of a path, worked out by `found` the first time.
    pub fn place(&self, path: &Path, purpose: Purpose, found: impl FnOnce() -> Place) -> Place {
        let places = match purpose {
            Purpose::Look => &self.looked_at,
            Purpose::Change => &self.changed,
        };
        once(places, path.as_os_str(), found)
    }

    /// The names in a directory as the system lists them, one more than are looked at; `None` where it cannot be read.
    pub(super) fn entries(&self, directory: &Path) -> Option<Rc<[Entry]>> {
        once(&self.directories, directory.as_os_str(), || {
            let entries = fs::read_dir(directory).ok()?.take(MAX_NAMES + 1);
            let named = |entry: io::Result<fs::DirEntry>| {
                let entry = entry.ok()?;
                Some((entry.file_name(), entry.file_type().ok()))
            };
            Some(entries.map(named).collect())
        })
    }
}

/// The answer that is known to a question, or the one that is had now.
pub(super) fn once<K, Q, T>(answers: &RefCell<FxHashMap<K, T>>, question: &Q, ask: impl FnOnce() -> T) -> T
where
    K: Eq + Hash + std::borrow::Borrow<Q>,
    Q: Eq + Hash + ToOwned<Owned = K> + ?Sized,
    T: Clone,
{
    if let Some(answer) = answers.borrow().get(question) {
        return answer.clone();
    }
    let answer = ask();
    answers.borrow_mut().insert(question.to_owned(), answer.clone());
    answer
}
