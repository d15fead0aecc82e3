//! Reads a person's settings file and puts another in its place, whole or not at all.
//!
//! The new text is written beside the file, synced and renamed over it. What was there before is kept as a backup.
//! A file that changed since it was read is left alone.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use super::host::{self, Weight};
use super::json::Document;

const BACKUP: &str = ".countersign-backup-";

/// A settings file as it was when it was read; it may not exist yet.
#[derive(Debug)]
pub struct SettingsFile {
    /// Where the bytes are: links are followed, so that a link stays one.
    path: PathBuf,
    before: Option<Before>,
}

#[derive(Debug)]
struct Before {
    bytes: Vec<u8>,
    metadata: fs::Metadata,
}

impl SettingsFile {
    /// # Errors
    /// When something is there that cannot be read as a file, or a link leads nowhere.
    pub fn read(path: &Path) -> Result<Self> {
        let shown = path.display();
        if fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
            return Ok(Self {
                path: std::path::absolute(path)?,
                before: None,
            });
        }
        let real = path
            .canonicalize()
            .with_context(|| format!("{shown} cannot be followed to a file"))?;
        let metadata = fs::metadata(&real).with_context(|| format!("{shown} cannot be looked at"))?;
        if !metadata.is_file() {
            bail!("{shown} is not a file");
        }
        let bytes = fs::read(&real).with_context(|| format!("{shown} cannot be read"))?;
        Ok(Self {
            path: real,
            before: Some(Before { bytes, metadata }),
        })
    }

    /// The text that was read; empty where there is no file.
    ///
    /// # Errors
    /// When the bytes are not UTF-8.
    pub fn text(&self) -> Result<&str> {
        let bytes = self.before.as_ref().map_or(&[][..], |before| &before.bytes);
        std::str::from_utf8(bytes).with_context(|| format!("{} is not UTF-8", self.path.display()))
    }

    pub fn exists(&self) -> bool {
        self.before.is_some()
    }

    /// Puts `text` in the file's place and says where the former bytes were kept, if there were any.
    ///
    /// # Errors
    /// When the file changed since it was read, or the disk refuses. The file then has its former bytes.
    pub fn replace(&self, text: &str) -> Result<Option<PathBuf>> {
        let dir = self.path.parent().context("a settings file is in a directory")?;
        fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .with_context(|| format!("{} cannot be made", dir.display()))?;
        let backup = self.before.as_ref().map(|before| self.keep(before)).transpose()?;
        let fresh = self.sibling(&format!(".countersign-new-{}", std::process::id()));
        let written = self.write_fresh(&fresh, text).and_then(|()| {
            self.check_unchanged()?;
            fs::rename(&fresh, &self.path)
                .with_context(|| format!("{} cannot be replaced, so it is as it was", self.path.display()))
        });
        if let Err(error) = written {
            let leftovers = std::iter::once(&fresh).chain(&backup);
            leftovers.for_each(|path| drop(fs::remove_file(path)));
            return Err(error);
        }
        // The rename holds without it; this only makes it outlast a power cut.
        File::open(dir).and_then(|dir| dir.sync_all()).ok();
        Ok(backup)
    }

    /// The backups beside the file, newest first.
    pub fn backups(&self) -> Vec<PathBuf> {
        let (Some(dir), Some(name)) = (self.path.parent(), self.path.file_name().and_then(|name| name.to_str())) else {
            return Vec::new();
        };
        let prefix = format!("{name}{BACKUP}");
        let entries = fs::read_dir(dir)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let named = |path: &PathBuf| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with(&prefix))
        };
        let mut backups: Vec<PathBuf> = entries.filter(named).collect();
        backups.sort();
        backups.reverse();
        backups
    }

    fn keep(&self, before: &Before) -> Result<PathBuf> {
        let stamp = utc_stamp(SystemTime::now());
        for attempt in 1..100 {
            let suffix = if attempt == 1 {
                stamp.clone()
            } else {
                format!("{stamp}-{attempt:02}")
            };
            let path = self.sibling(&format!("{BACKUP}{suffix}"));
            match write_new(&path, &before.bytes, before.metadata.mode() & 0o777) {
                Ok(_) => return Ok(path),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    fs::remove_file(&path).ok();
                    return Err(error).with_context(|| {
                        format!("no backup can be written to {}, so nothing was changed", path.display())
                    });
                }
            }
        }
        bail!(
            "there are a hundred backups of this second beside {}",
            self.path.display()
        )
    }

    fn write_fresh(&self, fresh: &Path, text: &str) -> Result<()> {
        let mode = self
            .before
            .as_ref()
            .map_or(0o600, |before| before.metadata.mode() & 0o777);
        let file = write_new(fresh, text.as_bytes(), mode)
            .with_context(|| format!("{} cannot be written, so nothing was changed", fresh.display()))?;
        if let Some(before) = &self.before {
            // Only root can give a file away; anyone else already owns it.
            std::os::unix::fs::fchown(&file, Some(before.metadata.uid()), Some(before.metadata.gid())).ok();
        }
        Ok(())
    }

    fn check_unchanged(&self) -> Result<()> {
        let now = match fs::read(&self.path) {
            Ok(bytes) => Some(bytes),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error).with_context(|| format!("{} cannot be read again", self.path.display())),
        };
        if now.as_ref() != self.before.as_ref().map(|before| &before.bytes) {
            bail!(
                "{} was changed by another program meanwhile, so it was left alone; run this again",
                self.path.display()
            );
        }
        Ok(())
    }

    fn sibling(&self, suffix: &str) -> PathBuf {
        let mut name = self.path.file_name().unwrap_or_default().to_owned();
        name.push(suffix);
        self.path.with_file_name(name)
    }
}

/// Writes and syncs a file that must not exist yet.
/// The settings as they are, if the host takes them.
///
/// # Errors
/// When they are not JSON, or the host would pass over the whole file; it then says what to mend.
pub fn read(path: &Path, text: &str) -> Result<Value> {
    let document = Document::parse(text).with_context(|| not_json(path))?;
    let settings = document.value()?;
    let faults = host::faults(&settings);
    for fault in faults.iter().filter(|fault| fault.weight == Weight::Entry) {
        eprintln!(
            "countersign: note: in {} {fault}; Claude Code passes over it",
            path.display()
        );
    }
    if let Some(fault) = faults.iter().find(|fault| fault.weight == Weight::Void) {
        bail!(
            "in {} {fault}. Claude Code passes over the whole file because of that, hooks and permission rules included. \
             It was left as it is; mend this and run again",
            path.display()
        );
    }
    Ok(settings)
}

/// Said of a settings file that cannot be parsed; where and why follow.
pub fn not_json(path: &Path) -> String {
    format!(
        "{} is not the JSON that Claude Code reads, so it was left as it is; mend it (no comments, no trailing commas) \
         and run this again",
        path.display()
    )
}

/// Nothing that the host would refuse is ever written.
pub fn check(path: &Path, after: &str) -> Result<()> {
    let faults = host::faults(&Document::parse(after)?.value()?);
    match faults.into_iter().find(|fault| fault.weight == Weight::Void) {
        Some(fault) => bail!(
            "the change would make a file that Claude Code refuses ({fault}). {}",
            unchanged(path)
        ),
        None => Ok(()),
    }
}

/// Said of a settings file that was left alone.
pub fn unchanged(path: &Path) -> String {
    format!("{} was left as it is", path.display())
}

fn write_new(path: &Path, bytes: &[u8], mode: u32) -> io::Result<File> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    // The umask may have taken bits that the file before had.
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()?;
    Ok(file)
}

/// `20261129T223900Z`
fn utc_stamp(time: SystemTime) -> String {
    let seconds = time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let (year, month, day) = civil_date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}Z")
}

/// The date of a day counted from 1970-01-01.
fn civil_date(mut days: u64) -> (u64, u64, u64) {
    let leap = |year: u64| (year.is_multiple_of(4) && !year.is_multiple_of(100)) || year.is_multiple_of(400);
    let mut year = 1970;
    while days >= 365 + u64::from(leap(year)) {
        days -= 365 + u64::from(leap(year));
        year += 1;
    }
    let february = 28 + u64::from(leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if days < length {
            break;
        }
        days -= length;
        month += 1;
    }
    (year, month, days + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_stamp_is_the_date_and_time_in_utc() {
        let at = |seconds| utc_stamp(UNIX_EPOCH + Duration::from_secs(seconds));
        assert_eq!(at(0), "19700101T000000Z");
        assert_eq!(at(951_827_696), "20000229T123456Z");
        assert_eq!(at(1_798_761_599), "20261231T235959Z");
    }

    #[test]
    fn a_file_that_changed_since_it_was_read_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "{}").unwrap();
        let file = SettingsFile::read(&path).unwrap();
        fs::write(&path, "{\"theirs\": 1}").unwrap();
        let error = file.replace("{\"ours\": 1}").unwrap_err().to_string();
        assert!(error.contains("changed by another program"), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
        assert_eq!(
            fs::read_dir(dir.path()).unwrap().count(),
            1,
            "nothing is left beside it"
        );
    }

    #[test]
    fn a_file_that_appeared_since_is_left_alone() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        let file = SettingsFile::read(&path).unwrap();
        fs::write(&path, "{\"theirs\": 1}").unwrap();
        assert!(file.replace("{}").is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
    }

    #[test]
    fn a_backup_never_takes_the_place_of_another() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("settings.json");
        fs::write(&path, "0").unwrap();
        for text in ["1", "2", "3"] {
            SettingsFile::read(&path).unwrap().replace(text).unwrap();
        }
        let backups = SettingsFile::read(&path).unwrap().backups();
        let kept: Vec<_> = backups.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
        assert_eq!(kept, ["2", "1", "0"]);
    }
}
