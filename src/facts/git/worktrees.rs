//! The other working trees of a repository, as `git worktree list` knows them.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::{Discovery, at, beside, bounded_text};

/// How many linked working trees are looked at.
const MAX_WORKTREES: usize = 64;

/// The other working trees of the repository at the top of which `root` is, each as the repository writes it and as
/// its real path. Only one that the repository names and that names the repository back: neither side alone can add one.
pub fn others(root: &Path) -> Vec<PathBuf> {
    let dot_git = root.join(".git");
    // Most repositories have none, and that costs one look. A linked one has a file in the place of the directory.
    let linked = fs::read_dir(dot_git.join("worktrees"));
    if linked.is_err_and(|error| error.kind() != ErrorKind::NotADirectory) {
        return Vec::new();
    }
    let Ok(Discovery::Repository(own)) = fs::canonicalize(root).map(|root| at(&root)) else {
        return Vec::new();
    };
    let leads_to = |worktree: &Path, git_dir: &Path| {
        let found = fs::canonicalize(worktree).map(|worktree| at(&worktree));
        match found {
            Ok(Discovery::Repository(it)) if it.git_dir == git_dir && it.common_dir == own.common_dir => {
                (it.worktree != own.worktree).then_some(it.worktree)
            }
            _ => None,
        }
    };
    let mut found = Vec::new();
    if own.common_dir.ends_with(".git")
        && let Some(main) = own.common_dir.parent()
    {
        found.extend(leads_to(main, &own.common_dir));
    }
    let Ok(entries) = fs::read_dir(own.common_dir.join("worktrees")) else {
        return found;
    };
    for entry in entries.flatten().take(MAX_WORKTREES) {
        let git_dir = entry.path();
        let Ok(Some(text)) = bounded_text(&git_dir.join("gitdir")) else {
            continue;
        };
        let dot_git = beside(&git_dir.join("gitdir"), text.trim_end_matches(['\n', '\r']));
        let Some(written) = dot_git.parent().filter(|_| dot_git.ends_with(".git")) else {
            continue;
        };
        if let Some(real) = leads_to(written, &git_dir) {
            let written = crate::place::normalize(written);
            found.extend((written != real).then_some(written));
            found.push(real);
        }
    }
    found
}
