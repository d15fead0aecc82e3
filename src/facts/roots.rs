//! What counts as the project besides its own root: other working trees of its repository, and the directories that
//! the person added in the host's settings. Looked up when first asked for.

use std::cell::OnceCell;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::{Facts, git};

/// The further roots, once they were looked up.
#[derive(Debug, Default)]
pub struct Roots {
    worktrees: OnceCell<Vec<PathBuf>>,
    added: OnceCell<Vec<PathBuf>>,
}

#[derive(Deserialize)]
struct Settings {
    permissions: Option<Permissions>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Permissions {
    additional_directories: Option<Vec<PathBuf>>,
}

impl Facts {
    /// The nearest root of the project at or above a path.
    pub fn root_of(&self, path: &Path) -> Option<&Path> {
        let worktrees = self.roots.worktrees.get_or_init(|| self.worktrees());
        let added = || self.roots.added.get_or_init(|| self.added());
        nearest(self.project.iter().chain(worktrees), path).or_else(|| {
            if of_system(path) {
                None
            } else {
                nearest(added().iter(), path)
            }
        })
    }

    /// Whether a path is in the project, by its components.
    pub fn in_project(&self, path: &Path) -> bool {
        self.project.iter().any(|root| path.starts_with(root)) || self.root_of(path).is_some()
    }

    fn worktrees(&self) -> Vec<PathBuf> {
        let others = self.project.first().map(|root| git::worktrees(root));
        let others = others.into_iter().flatten();
        others.filter(|root| !self.holds_a_home(root)).collect()
    }

    /// Each as written and as its real path. Without a project nothing is added to it.
    fn added(&self) -> Vec<PathBuf> {
        if self.project.is_empty() {
            return Vec::new();
        }
        let named = self.settings.iter().filter_map(|file| added_in(file, self)).flatten();
        let roots = named.filter_map(|dir| match dir.strip_prefix("~") {
            Ok(inside) => Some(self.home.as_ref()?.join(inside)),
            Err(_) => dir.is_absolute().then_some(dir),
        });
        let spellings = roots.map(|root| [crate::place::normalize(&root), self.real(&root)]);
        spellings
            .filter(|both| !both.iter().any(|root| self.holds_a_home(root)))
            .flatten()
            .collect()
    }
}

/// What the system keeps here is nobody's project, whatever was added.
fn of_system(path: &Path) -> bool {
    ["/usr", "/bin", "/sbin", "/lib", "/etc"]
        .iter()
        .any(|dir| path.starts_with(dir))
}

fn nearest<'a>(roots: impl Iterator<Item = &'a PathBuf>, path: &Path) -> Option<&'a Path> {
    roots
        .filter(|root| path.starts_with(root))
        .max_by_key(|root| root.components().count())
        .map(PathBuf::as_path)
}

/// The directories that a settings file adds; `None` where it cannot be read.
fn added_in(file: &Path, facts: &Facts) -> Option<Vec<PathBuf>> {
    let settings: Settings = serde_json::from_str(&facts.settings(file).ok()??).ok()?;
    settings.permissions?.additional_directories
}
