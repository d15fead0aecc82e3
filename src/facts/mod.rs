//! What the machine says: home, project, files, git, PATH.

pub mod git;

use std::path::PathBuf;

/// Where questions about the machine go.
#[derive(Debug)]
pub struct Facts {
    pub home: Option<PathBuf>,
    /// The project's root directories; the first is the session's own.
    pub project: Vec<PathBuf>,
}
