//! What the host's settings have to do with the relay: whether it is on, and the entries that go with that.

use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};

use super::file::{SettingsFile, check, read, unchanged};
use super::host::{PERMISSION_REQUEST, Places};
use super::json::Document;
use super::process;
use super::wiring::{self, Entries};
use crate::hold;

/// How long the relay's program may take for a word about it.
const PATIENCE: Duration = Duration::from_secs(8);

/// Whether this user's calls may wait for a person elsewhere.
pub fn is_on() -> bool {
    hold::relay_dir().is_some_and(|dir| dir.join(hold::MACHINE).is_file())
}

/// Whether there is anything of a relay: one was on once.
pub fn is_there() -> bool {
    hold::relay_dir().is_some_and(|dir| dir.is_dir())
}

/// How the relay's program is called.
pub const PROGRAM: &str = "countersign-relay";

/// The relay's program, which stands beside this one.
///
/// # Errors
/// This program cannot find its own file.
pub fn program() -> io::Result<PathBuf> {
    Ok(std::env::current_exe()?.canonicalize()?.with_file_name(PROGRAM))
}

/// What the relay's program says to a word.
///
/// # Errors
/// Says, lower case, why nothing is known of it.
pub fn say(words: &[&str]) -> Result<String, String> {
    let program = program().map_err(|error| error.to_string())?;
    let ran = process::run(Command::new(program).args(words), "", PATIENCE)?;
    match ran.status.success() {
        true => Ok(ran.printed),
        false => Err(format!("ends with {}", ran.status)),
    }
}

/// Makes the entries of ours fit the relay, in the person's settings and in those of the current directory's project;
/// which files were changed. Where there are none of ours, none are made.
///
/// # Errors
/// A file cannot be read or written, or the host would pass over it.
pub fn rewire() -> Result<Vec<PathBuf>> {
    let places = Places::find()?;
    let mut changed = Vec::new();
    for path in [places.user_settings(), places.local_settings()] {
        if rewire_file(&path)? {
            changed.push(path);
        }
    }
    Ok(changed)
}

fn rewire_file(path: &Path) -> Result<bool> {
    let file = SettingsFile::read(path)?;
    let before = file.text()?;
    if before.trim().is_empty() {
        return Ok(false);
    }
    let settings = read(path, before)?;
    let mut hooks = wiring::hooks(&settings).into_iter();
    let ours = hooks.find(|found| found.event == PERMISSION_REQUEST && wiring::is_ours(found.hook));
    let Some(binary) = ours.and_then(|found| found.command_line().into_iter().next()) else {
        return Ok(false);
    };
    let wanted = Entries {
        binary,
        wiring: wiring::present(&settings),
        relay: is_on(),
    };
    let mut after = wiring::wire(before, &wanted).with_context(|| unchanged(path))?;
    if after == before {
        return Ok(false);
    }
    check(path, &after)?;
    if !wanted.relay {
        // The bytes from before the relay, where they are kept.
        let value = Document::parse(&after)?.value()?;
        let kept = file
            .backups()
            .into_iter()
            .filter_map(|backup| std::fs::read_to_string(backup).ok());
        let same = |text: &String| {
            Document::parse(text)
                .and_then(|text| text.value())
                .is_ok_and(|earlier| earlier == value)
        };
        after = kept.into_iter().find(same).unwrap_or(after);
    }
    file.replace(&after)?;
    Ok(true)
}
