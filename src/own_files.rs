//! Where Countersign's own files live: configuration, state, and what lasts as long as the login.
//!
//! The XDG base directories where the system has them. macOS has neither a state nor a runtime directory: state then
//! lives in `~/Library/Application Support/countersign`, and so do the locks.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use directories::ProjectDirs;

/// `~/.config/countersign/config.toml`, by `XDG_CONFIG_HOME`. `None` where no home is known.
pub fn config_file() -> Option<PathBuf> {
    Some(dirs()?.config_dir().join("config.toml"))
}

/// `~/.local/state/countersign`, by `XDG_STATE_HOME`. It may not exist yet.
pub fn state_dir() -> Option<PathBuf> {
    let dirs = dirs()?;
    Some(dirs.state_dir().unwrap_or_else(|| dirs.data_local_dir()).to_owned())
}

/// `$XDG_RUNTIME_DIR/countersign`, or the state directory. It may not exist yet.
pub fn runtime_dir() -> Option<PathBuf> {
    match dirs()?.runtime_dir() {
        Some(dir) => Some(dir.to_owned()),
        None => state_dir(),
    }
}

/// The directories above, each once, the configuration's first; they may not exist yet.
pub fn all_dirs() -> Vec<PathBuf> {
    let config = config_file().and_then(|file| Some(file.parent()?.to_owned()));
    let mut dirs: Vec<PathBuf> = config.into_iter().chain(state_dir()).chain(runtime_dir()).collect();
    dirs.dedup();
    dirs
}

/// Creates `dir`, readable by nobody else, and checks that it is so.
///
/// # Errors
/// Besides those of the file system: `dir` belongs to another user, or others may write to it.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    let metadata = match fs::metadata(dir) {
        Ok(metadata) => metadata,
        Err(_) => {
            fs::DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
            fs::metadata(dir)?
        }
    };
    if !metadata.is_dir() || metadata.uid() != own_uid() || metadata.mode() & 0o022 != 0 {
        let what = format!("{} is not a directory that only you may write to", dir.display());
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, what));
    }
    Ok(())
}

/// Whether an error says that a file is not there, or cannot be.
pub fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// The user that this process acts as.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A relative HOME would make them depend on where a session stands, so it counts as none.
fn dirs() -> Option<ProjectDirs> {
    ProjectDirs::from("", "", "countersign").filter(|dirs| dirs.config_dir().is_absolute())
}
