//! Under which path this program is written into settings.

use std::path::PathBuf;

/// The path under which this executable should be written into settings.
///
/// A name the person calls it by outlives an upgrade where the file behind a link does not, so the spelling used
/// to start it comes first, then the one on PATH, then the file itself.
pub fn path() -> anyhow::Result<PathBuf> {
    let itself = std::env::current_exe()?;
    let real = itself.canonicalize()?;
    let called = std::env::args_os().next().map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join("countersign"));
    let same = |candidate: &PathBuf| candidate.is_absolute() && candidate.canonicalize().is_ok_and(|file| file == real);
    Ok(called.into_iter().chain(on_path).find(same).unwrap_or(itself))
}
