//! `countersign uninstall`: takes our entries out of the host's settings.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use serde_json::Value;

use super::install::{Target, diff};
use crate::own_files;
use crate::setup::file::{SettingsFile, not_json};
use crate::setup::{program, relay, wiring};

#[derive(Debug, clap::Args)]
pub struct Args {
    #[command(flatten)]
    target: Target,

    /// Also remove Countersign's own configuration and state
    #[arg(long)]
    purge: bool,
}

pub fn run(args: Args) -> Result<ExitCode> {
    let path = args.target.path()?;
    let file = SettingsFile::read(&path)?;
    if file.exists() {
        take_out(&path, &file, args.target.dry_run)?;
    } else {
        say!("There is no {}; nothing to remove.", path.display());
    }
    let mut own = own_files::all_dirs();
    own.retain(|dir| dir.exists());
    if args.purge {
        if relay::is_there() && !args.target.dry_run {
            for words in [&["off"][..], &["service", "uninstall"]] {
                let failed = |why| anyhow::anyhow!("the relay cannot be turned off: countersign-relay {why}");
                relay::say(words).map_err(failed)?;
            }
        }
        purge(&own, args.target.dry_run)?;
    }
    if !args.target.dry_run {
        remains(if args.purge { &[] } else { &own }, &file.backups());
    }
    Ok(ExitCode::SUCCESS)
}

fn take_out(path: &Path, file: &SettingsFile, dry_run: bool) -> Result<()> {
    let before = file.text()?;
    let after = without_ours(file, before).with_context(|| not_json(path))?;
    if after == before {
        say!("Countersign is not in {}; nothing to remove.", path.display());
    } else if dry_run {
        say!("{}", diff(path, before, &after).trim_end());
    } else {
        let backup = file.replace(&after)?;
        say!("Removed from {}.", path.display());
        if let Some(backup) = backup {
            say!("The file as it was: {}", backup.display());
        }
    }
    Ok(())
}

/// The text without our entries: the bytes from before the installation where a backup shows them, else without
/// whatever got empty.
fn without_ours(file: &SettingsFile, before: &str) -> Result<String> {
    let bare = wiring::unwire(before, &Value::Null)?;
    if before.trim().is_empty() || bare == before {
        return Ok(before.to_owned());
    }
    for backup in file.backups() {
        let Ok(text) = fs::read_to_string(backup) else { continue };
        let earlier = serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap_or_default();
        let was_blank = text.is_empty() && bare.trim() == "{}";
        if was_blank || wiring::unwire(before, &earlier)? == text {
            return Ok(text);
        }
    }
    Ok(bare)
}

fn purge(own: &[PathBuf], dry_run: bool) -> Result<()> {
    for dir in own {
        if dry_run {
            say!("Would remove {}", dir.display());
        } else {
            fs::remove_dir_all(dir).with_context(|| format!("{} cannot be removed", dir.display()))?;
            say!("Removed {}.", dir.display());
        }
    }
    Ok(())
}

fn remains(own: &[PathBuf], backups: &[PathBuf]) {
    say!("What remains:");
    for dir in own {
        say!("  {} (remove with `countersign uninstall --purge`)", dir.display());
    }
    if relay::is_on() {
        say!("  the relay, which is on (end it with `countersign relay off`, and `--forget` to remove what it keeps)");
    }
    let relay = relay::program().into_iter().filter(|program| program.exists());
    for binary in program::path().into_iter().chain(relay) {
        say!("  {} (remove with `rm`)", binary.display());
    }
    if !backups.is_empty() {
        say!("  backups beside the settings file, named *.countersign-backup-* (remove with `rm`)");
    }
}
