//! What goes with a directory of the project that is deleted: all files below it, as if each were named.

use std::path::Path;

use super::bash::Work;
use super::paths::shown;
use crate::effect::{Action, Effect, EffectSpec, Place, Subject, Undo};
use crate::facts::git::Tracked;
use crate::facts::{Facts, Kind};
use crate::place::{self, Purpose};

/// At most this many files are looked up.
const MAX_FILES: usize = 256;

/// What is lost with a directory.
pub struct Lost {
    pub undo: Undo,
    /// The files that nothing brings back, counted: "3 untracked files".
    pub what: Option<String>,
    /// The effects on what counts by a place of its own, one for each place.
    pub named: Vec<Effect>,
}

/// Whether it is a directory of the project, and no part of a repository or of what the person's tools obey.
pub fn is_looked_into(real: &Path, facts: &Facts) -> bool {
    matches!(
        place::of(real, facts, Purpose::Change),
        Place::Project | Place::Build | Place::BecomesCode
    ) && facts.in_project(real)
        && !facts.is_link(real)
        && facts.kind(real) == Kind::Directory
}

/// What is lost with the directory at a real path.
pub fn lost(directory: &Path, work: &mut Work<'_>) -> Lost {
    let facts = work.facts;
    let is_restored = |path: &Path| place::of(path, facts, Purpose::Change) == Place::Cache;
    let tree = facts.tree(directory, &is_restored);
    work.seen.walked(tree.files.len() + tree.links.len());
    let (restored, files): (Vec<_>, Vec<_>) = tree.files.into_iter().chain(tree.links).partition(|f| is_restored(f));
    if tree.cut || files.len() > MAX_FILES {
        return Lost {
            undo: Undo::Lost,
            what: Some(format!("more than {MAX_FILES} files")),
            named: Vec::new(),
        };
    }
    let states = facts.tracked(&files);
    let mut named = Vec::new();
    for (file, state) in files.iter().zip(&states) {
        name(file, *state == Tracked::Unchanged, &mut named, facts);
    }
    for path in tree.skipped.iter().chain(&restored) {
        name(path, true, &mut named, facts);
    }
    let what = counted(&states);
    Lost {
        undo: match what {
            Some(_) => Undo::Lost,
            None if states.is_empty() && named.is_empty() => Undo::Nothing,
            None => Undo::Kept,
        },
        what,
        named,
    }
}

/// Adds the effect on what is not just a file of the project. What is in a repository below counts as files only.
fn name(path: &Path, is_kept: bool, named: &mut Vec<Effect>, facts: &Facts) {
    let spec = EffectSpec {
        place: place::of(path, facts, Purpose::Change),
        undo: if is_kept { Undo::Kept } else { Undo::Lost },
        ..EffectSpec::of(Action::Delete)
    };
    let is_plain = spec.place == Place::Project || path.components().any(|c| c.as_os_str() == ".git");
    if !is_plain && named.iter().all(|effect| effect.spec != spec) {
        named.push(Effect {
            spec,
            target: shown(path, facts),
            subject: Subject::Path {
                named: path.to_owned(),
                real: path.to_owned(),
            },
        });
    }
}

/// How many files git does not hold as they are, in words; `None` where it holds all.
fn counted(states: &[Tracked]) -> Option<String> {
    let count = |kinds: &[Tracked]| states.iter().filter(|state| kinds.contains(state)).count();
    let lost = states.len() - count(&[Tracked::Unchanged]);
    let kind = match lost {
        0 => return None,
        _ if lost == count(&[Tracked::Untracked]) => "untracked",
        _ if lost == count(&[Tracked::Changed, Tracked::Staged]) => "changed",
        _ => "untracked or changed",
    };
    Some(format!("{lost} {kind} file{}", if lost == 1 { "" } else { "s" }))
}
