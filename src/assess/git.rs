//! git runs what a repository's configuration, attributes and hooks name, so it counts as catalogued only in the
//! session's own repository, and only while nothing there runs on what it is asked to do.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::bash::{Gathered, Work};
use super::paths;
use crate::catalog::{Role, Use};
use crate::effect::{Action, EffectSpec, Place, Subject, Undo};
use crate::facts::Facts;
use crate::facts::git::{self, Discovery, Found, Repository, Snapshot, Surroundings, Tracked, Trust};
use crate::shell::Span;
use crate::shell::state::State;

/// What one assessment has learned of repositories.
#[derive(Default)]
pub struct Cache {
    found: Found,
    trusted: HashMap<PathBuf, Trust>,
    /// By the git directory.
    snapshots: HashMap<PathBuf, Option<Snapshot>>,
}

impl Cache {
    /// Whether the last commit holds the file at this path as it is now.
    pub fn holds(&mut self, real: &Path, facts: &Facts) -> bool {
        self.tracked(&[real.to_path_buf()], facts) == [Tracked::Unchanged]
    }

    /// What the session's repository holds of each of these files, which are all in the root of the project that the
    /// first one is in.
    pub fn tracked(&mut self, files: &[PathBuf], facts: &Facts) -> Vec<Tracked> {
        let unknown = || vec![Tracked::Unknown; files.len()];
        let Some(repository) = self.repository_of(files, facts) else {
            return unknown();
        };
        let snapshot = self.snapshot(&repository);
        snapshot.as_mut().map_or_else(unknown, |snapshot| snapshot.files(files))
    }

    /// The files that git lists in the working tree that a path is in, which is in the project; `None` where that is not
    /// known.
    pub fn names(&mut self, path: &Path, facts: &Facts) -> Option<Vec<PathBuf>> {
        let repository = self.repository_of(&[path.to_path_buf()], facts)?;
        let snapshot = self.snapshot(&repository);
        let mut names = Vec::new();
        let worktree = &repository.worktree;
        let mut keep = |name: &[u8]| names.push(worktree.join(OsStr::from_bytes(name)));
        snapshot.as_ref()?.each_name(&mut keep)?;
        Some(names)
    }

    /// The session's repository, in the working tree that these files are in.
    fn repository_of(&mut self, files: &[PathBuf], facts: &Facts) -> Option<Repository> {
        let own = own_repository(facts, &mut self.found)?;
        match self.discover(facts.root_of(files.first()?)?, facts) {
            Discovery::Repository(found) => (found.common_dir == own.common_dir).then_some(found),
            Discovery::None | Discovery::Suspicious(_) => None,
        }
    }

    fn snapshot(&mut self, repository: &Repository) -> &mut Option<Snapshot> {
        let key = repository.git_dir.clone();
        self.snapshots.entry(key).or_insert_with(|| Snapshot::of(repository))
    }

    fn discover(&mut self, start: &Path, facts: &Facts) -> Discovery {
        git::discover(&facts.real(start), &mut self.found)
    }

    fn trust(&mut self, repository: &Repository, facts: &Facts) -> &Trust {
        self.trusted.entry(repository.git_dir.clone()).or_insert_with(|| {
            let variables: Vec<String> = facts
                .environment
                .iter()
                .filter(|n| n.starts_with("GIT_"))
                .cloned()
                .collect();
            let surroundings = Surroundings {
                home: facts.home.as_deref(),
                xdg_config_home: facts.xdg_config_home.as_deref(),
                system_config: Some(Path::new("/etc/gitconfig")),
                variables: &variables,
            };
            let mut trust = git::trust(repository, &surroundings);
            let mut configured = facts.home.iter().chain(&facts.xdg_config_home);
            if configured.any(|dir| facts.in_project(&facts.real(dir))) {
                trust
                    .reads
                    .push("the person's own configuration is read from the project".into());
            }
            trust
        })
    }
}

/// The repository that the session's project is in.
fn own_repository(facts: &Facts, found: &mut Found) -> Option<Repository> {
    match git::discover(&facts.real(facts.project.first()?), found) {
        Discovery::Repository(repository) => Some(repository),
        Discovery::None | Discovery::Suspicious(_) => None,
    }
}

/// Two paths of which one lies outside are compared as `diff` does it: directories file by file, tracked or not.
pub fn widen(uses: &mut [Use], state: &State, facts: &Facts) {
    let outside = |used: &Use| {
        let texts = used.arg.value.alternatives();
        used.role == Role::PathRead
            && texts.is_none_or(|texts| {
                let path = |text: &String| paths::absolute(text, state.cwd.as_deref());
                texts
                    .iter()
                    .any(|text| path(text).is_none_or(|path| !facts.in_project(&facts.real(&path))))
            })
    };
    if uses.iter().any(outside) {
        for used in uses.iter_mut().filter(|used| used.role == Role::PathRead) {
            used.role = Role::TreeRead;
        }
    }
}

/// Adds what git may run in the directory it is started in.
pub fn check(state: &State, subcommand: &str, span: Span, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(cwd) = &state.cwd else {
        return refuse("which repository git works in is not known", span, gathered);
    };
    let own = own_repository(work.facts, &mut work.git.found);
    match work.git.discover(cwd, work.facts) {
        // No repository: git runs nothing of one, unless an earlier command makes one.
        Discovery::None if !state.wrote => {}
        Discovery::None => refuse("an earlier command may make a repository here", span, gathered),
        Discovery::Suspicious(why) => refuse(&why, span, gathered),
        Discovery::Repository(found) => {
            if own.is_none_or(|own| own.common_dir != found.common_dir) {
                return refuse(
                    "this is not the session's own repository, and its configuration may run programs",
                    span,
                    gathered,
                );
            }
            // What it throws away without a name is of this working tree.
            for effect in &mut gathered.effects {
                if effect.target.is_empty() && effect.spec.undo == Undo::Lost && effect.spec.place == Place::Project {
                    effect.subject = Subject::Path {
                        named: cwd.clone(),
                        real: found.worktree.clone(),
                    };
                }
            }
            let shows_addresses =
                ["remote", "config", "ls-remote"].contains(&subcommand.split(' ').next().unwrap_or_default());
            if shows_addresses && work.facts.holds_password(&found.common_dir.join("config")) {
                let spec = EffectSpec {
                    place: Place::Secret,
                    ..EffectSpec::of(Action::Disclose)
                };
                gathered.effect(spec, "a password in the address of a remote");
            }
            // A bare repository planted below the top directory would be found before the session's own.
            if state.wrote && *cwd != found.worktree {
                refuse("an earlier command may plant a repository here", span, gathered);
            }
            let trust = work.git.trust(&found, work.facts).clone();
            for why in &trust.reads {
                refuse(why, span, gathered);
            }
            let changes = gathered.effects.iter().any(|effect| {
                matches!(
                    effect.spec.action,
                    Action::Write | Action::Delete | Action::Mode | Action::Send | Action::Connect
                )
            });
            if changes && !trust.writes.is_empty() {
                gathered.effect(unvouched(), trust.writes.join(", "));
            }
        }
    }
}

fn refuse(why: &str, span: Span, gathered: &mut Gathered) {
    gathered.doubt(why, span);
    gathered.effect(unvouched(), "what git finds there");
}

fn unvouched() -> EffectSpec {
    EffectSpec {
        place: Place::Other,
        undo: Undo::Lost,
        ..EffectSpec::of(Action::Execute)
    }
}
