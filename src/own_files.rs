//! Where Countersign's own files live: configuration, state, and what lasts as long as the login.
//!
//! The XDG base directories where the system has them. macOS has neither a state nor a runtime directory: state then
//! lives in `~/Library/Application Support/countersign`, and so do the locks.

use std::fs::{self, File, Metadata, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use directories::ProjectDirs;
use rustix::fs::OFlags;

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

/// Opens a file of ours: a regular one of this user, and no link to another.
///
/// # Errors
/// Those of the file system, with the file's name; it is none of that.
pub fn open(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    Ok(opened(path, options)?.0)
}

fn opened(path: &Path, options: &mut OpenOptions) -> io::Result<(File, Metadata)> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let options = options.read(true).custom_flags(flags.bits().cast_signed());
    let file = options.open(path).map_err(|error| match error.raw_os_error() {
        Some(code) if code == rustix::io::Errno::LOOP.raw_os_error() => refused(path, "is a symbolic link"),
        _ => named(path)(error),
    })?;
    let metadata = file.metadata().map_err(named(path))?;
    if !metadata.is_file() {
        return Err(refused(path, "is no regular file"));
    }
    if metadata.uid() != own_uid() {
        return Err(refused(path, "belongs to another user"));
    }
    Ok((file, metadata))
}

/// Opens such a file to write to, sees to it that nobody else reads it, and tells how long it is, in bytes.
///
/// # Errors
/// As [`open`].
pub fn open_private(path: &Path, options: &mut OpenOptions) -> io::Result<(File, u64)> {
    let (file, metadata) = opened(path, options.mode(0o600))?;
    if metadata.mode() & 0o077 != 0 {
        let private = fs::Permissions::from_mode(0o600);
        file.set_permissions(private).map_err(named(path))?;
    }
    Ok((file, metadata.len()))
}

/// Checks that nobody else reads an open file of ours.
///
/// # Errors
/// Others may, which says what to do about it.
pub fn only_own(path: &Path, file: &File) -> io::Result<()> {
    match file.metadata()?.mode() & 0o077 {
        0 => Ok(()),
        _ => Err(refused(
            path,
            "holds a secret and can be read by others: run `chmod 600` on it",
        )),
    }
}

fn refused(path: &Path, why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::PermissionDenied, format!("{} {why}", path.display()))
}

/// Puts the file's name before an error.
pub fn named(path: &Path) -> impl Fn(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Waits for the lock, at most so long. The kernel drops it when the file is closed, however its holder ends.
///
/// # Errors
/// Those of the file system.
pub fn has_lock(file: &File, wait: Duration) -> io::Result<bool> {
    const BETWEEN_TRIES: Duration = Duration::from_micros(500);
    let start = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(true),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if start.elapsed() >= wait => return Ok(false),
            Err(TryLockError::WouldBlock) => thread::sleep(BETWEEN_TRIES),
        }
    }
}

/// The user that this process acts as.
pub fn own_uid() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// A relative HOME would make them depend on where a session stands, so it counts as none.
fn dirs() -> Option<&'static ProjectDirs> {
    static DIRS: OnceLock<Option<ProjectDirs>> = OnceLock::new();
    let found = || ProjectDirs::from("", "", "countersign").filter(|dirs| dirs.config_dir().is_absolute());
    DIRS.get_or_init(found).as_ref()
}
