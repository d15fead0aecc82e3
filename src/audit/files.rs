//! Which files make up the record, and what they say, for those who read it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::entry::Entry;
use crate::own_files::is_absent;

/// The file that is written to.
pub const LOG: &str = "log.jsonl";

/// Locked while a line is written; holds the last line's number and hash.
pub const HEAD: &str = "log.head";

const PREFIX: &str = "log-";
const SIBLING: &str = "log-sibling-";
const SUFFIX: &str = ".jsonl";

/// The files of the record in one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Files {
    /// The chain's files with their numbers, the oldest first.
    pub rotated: Vec<(u64, PathBuf)>,
    /// The file that is written to, if it is there.
    pub log: Option<PathBuf>,
    /// Those that were written beside the chain.
    pub siblings: Vec<PathBuf>,
}

impl Files {
    /// # Errors
    /// Those of reading the directory; one that is not there has no files.
    pub fn list(dir: &Path) -> io::Result<Self> {
        let mut files = Files::default();
        let entries = match fs::read_dir(dir) {
            Ok(entries) => entries,
            Err(error) if is_absent(&error) => return Ok(files),
            Err(error) => return Err(error),
        };
        for entry in entries {
            let name = entry?.file_name();
            let Some(name) = name.to_str() else { continue };
            if name == LOG {
                files.log = Some(dir.join(name));
            } else if name.starts_with(SIBLING) && name.ends_with(SUFFIX) {
                files.siblings.push(dir.join(name));
            } else if let Some(number) = rotated_number(name) {
                files.rotated.push((number, dir.join(name)));
            }
        }
        files.rotated.sort();
        files.siblings.sort();
        Ok(files)
    }

    /// The chain's files, the oldest first.
    pub fn chain(&self) -> impl DoubleEndedIterator<Item = &Path> {
        let rotated = self.rotated.iter().map(|(_, path)| path);
        rotated.chain(&self.log).map(PathBuf::as_path)
    }

    pub fn is_empty(&self) -> bool {
        self.rotated.is_empty() && self.log.is_none() && self.siblings.is_empty()
    }
}

fn rotated_number(name: &str) -> Option<u64> {
    let digits = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?;
    let plain = digits.len() >= 6 && digits.bytes().all(|byte| byte.is_ascii_digit());
    digits.parse().ok().filter(|_| plain)
}

/// What the log is to be called when it is full: a name that no file has.
///
/// # Errors
/// Those of reading the directory.
pub fn next_rotated(dir: &Path) -> io::Result<PathBuf> {
    let last = Files::list(dir)?.rotated.last().map_or(0, |(number, _)| *number);
    Ok(dir.join(format!("{PREFIX}{:06}{SUFFIX}", last.saturating_add(1))))
}

/// The file of a process that could not have the lock.
pub fn sibling(dir: &Path, process: u32, nanos: u128) -> PathBuf {
    dir.join(format!("{SIBLING}{nanos}-{process}{SUFFIX}"))
}

/// A line of the record, and what it says.
#[derive(Clone, Debug)]
pub struct Recorded {
    pub line: String,
    pub entry: Entry,
}

/// The whole lines of a file's text. What is none, `verify` speaks of.
pub fn lines(text: &[u8]) -> impl Iterator<Item = Recorded> {
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    lines.filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let entry = serde_json::from_str(line).ok()?;
        Some(Recorded {
            line: line.to_owned(),
            entry,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_told_apart_by_their_names_and_others_are_left_alone() {
        let dir = tempfile::tempdir().expect("a directory");
        let sibling = sibling(dir.path(), 7, 99);
        for name in [
            LOG,
            HEAD,
            "log-000002.jsonl",
            "log-1000000.jsonl",
            "log-000010.jsonl",
            "off",
            "log-2.jsonl",
            "log-x.jsonl",
        ] {
            fs::write(dir.path().join(name), "").expect("a file");
        }
        fs::write(&sibling, "").expect("a file");
        let files = Files::list(dir.path()).expect("names");
        let numbers: Vec<u64> = files.rotated.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 10, 1_000_000]);
        assert_eq!((files.siblings.as_slice(), files.chain().count()), (&[sibling][..], 4));
        assert!(next_rotated(dir.path()).expect("a name").ends_with("log-1000001.jsonl"));
    }

    #[test]
    fn a_directory_that_is_not_there_has_no_files() {
        let dir = tempfile::tempdir().expect("a directory");
        assert!(Files::list(&dir.path().join("none")).expect("nothing").is_empty());
    }
}
