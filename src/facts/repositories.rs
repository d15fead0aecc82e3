//! What git would find, run and hold, for the session's own repository.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::Facts;
use super::git::{self, Discovery, Repository, Snapshot, Surroundings, Tracked, Trust};
use super::memory::once;

impl Facts {
    /// The repository that git finds from a directory.
    pub fn repository_at(&self, start: &Path) -> Discovery {
        let found = &mut self.memory.repositories.borrow_mut();
        git::discover(&self.real(start), found, |dir| self.can_enter(dir))
    }

    /// The repository that the session's project is in.
    pub fn own_repository(&self) -> Option<Repository> {
        match self.repository_at(self.project.first()?) {
            Discovery::Repository(repository) => Some(repository),
            Discovery::None | Discovery::Suspicious(_) => None,
        }
    }

    /// What a repository may make git run.
    pub fn trust(&self, repository: &Repository) -> Rc<Trust> {
        once(&self.memory.trusts, repository.git_dir.as_os_str(), || {
            let names = self.environment.iter().filter(|name| name.starts_with("GIT_"));
            let variables: Vec<String> = names.cloned().collect();
            let surroundings = Surroundings {
                home: self.home.as_deref(),
                xdg_config_home: self.xdg_config_home.as_deref(),
                system_config: Some(Path::new("/etc/gitconfig")),
                variables: &variables,
            };
            let mut trust = git::trust(repository, &surroundings);
            let mut configured = self.home.iter().chain(&self.xdg_config_home);
            if configured.any(|dir| self.in_project(&self.real(dir))) {
                trust
                    .reads
                    .push("the person's own configuration is read from the project".into());
            }
            Rc::new(trust)
        })
    }

    /// Whether the last commit holds the file at this path as it is now.
    pub fn git_holds(&self, real: &Path) -> bool {
        once(&self.memory.tracked, real.as_os_str(), || {
            self.tracked(&[real.to_path_buf()]).pop().unwrap_or(Tracked::Unknown)
        }) == Tracked::Unchanged
    }

    /// What the session's repository holds of each of these files, which are all in the root of the project that the
    /// first one is in.
    pub fn tracked(&self, files: &[PathBuf]) -> Vec<Tracked> {
        let unknown = || vec![Tracked::Unknown; files.len()];
        let Some(repository) = self.repository_of(files) else {
            return unknown();
        };
        self.with_snapshot(&repository, |snapshot| snapshot.files(files))
            .unwrap_or_else(unknown)
    }

    /// The files that git lists in the working tree that a path is in, which is in the project; `None` where that is not
    /// known.
    pub fn listed(&self, path: &Path) -> Option<Vec<PathBuf>> {
        let repository = self.repository_of(&[path.to_path_buf()])?;
        let mut names = Vec::new();
        let keep = |name: &[u8]| names.push(repository.worktree.join(OsStr::from_bytes(name)));
        self.with_snapshot(&repository, |snapshot| snapshot.each_name(keep))??;
        Some(names)
    }

    /// Looks at a repository's index and last commit; `None` where these cannot be read.
    pub fn with_snapshot<T>(&self, repository: &Repository, look: impl FnOnce(&mut Snapshot) -> T) -> Option<T> {
        let mut snapshots = self.memory.snapshots.borrow_mut();
        let snapshot = snapshots
            .entry(repository.git_dir.clone().into_os_string())
            .or_insert_with(|| Snapshot::of(repository));
        snapshot.as_mut().map(look)
    }

    /// The session's repository, in the working tree that these files are in.
    fn repository_of(&self, files: &[PathBuf]) -> Option<Repository> {
        let own = self.own_repository()?;
        match self.repository_at(self.root_of(files.first()?)?) {
            Discovery::Repository(found) => (found.common_dir == own.common_dir).then_some(found),
            Discovery::None | Discovery::Suspicious(_) => None,
        }
    }
}
