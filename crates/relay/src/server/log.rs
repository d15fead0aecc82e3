//! What the relay writes of its own running: one JSON object a line, of times, names and words of its own; never a
//! question, an answer, a token or a query.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use countersign::own_files;
use serde_json::{Value, json};

use crate::clock;

/// How long the file gets, in bytes, before it becomes the one before; two are kept.
const LONGEST: u64 = 4 * 1024 * 1024;

/// Where it is written.
#[derive(Debug)]
pub enum Log {
    StandardError,
    File(Mutex<Bounded>),
}

#[derive(Debug)]
pub struct Bounded {
    path: PathBuf,
    file: File,
    length: u64,
}

impl Log {
    /// Goes on with this file.
    ///
    /// # Errors
    /// It cannot be written to.
    pub fn to_file(path: &Path) -> Result<Self> {
        Ok(Log::File(Mutex::new(Bounded::open(path)?)))
    }

    /// One event, with what is known of it.
    pub fn write(&self, event: &str, mut more: Value) {
        let mut line = json!({"time": clock::now(), "event": event});
        if let (Some(line), Some(more)) = (line.as_object_mut(), more.as_object_mut()) {
            line.append(more);
        }
        let line = format!("{line}\n");
        // Nobody is left to be told that nothing can be told.
        let _ = match self {
            Log::StandardError => std::io::stderr().lock().write_all(line.as_bytes()).map_err(Into::into),
            Log::File(file) => file
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .append(line.as_bytes()),
        };
    }
}

impl Bounded {
    fn open(path: &Path) -> Result<Self> {
        let (file, length) = own_files::open_private(path, OpenOptions::new().append(true).create(true))?;
        Ok(Bounded {
            path: path.to_owned(),
            file,
            length,
        })
    }

    fn append(&mut self, line: &[u8]) -> Result<()> {
        if self.length + line.len() as u64 > LONGEST {
            fs::rename(&self.path, self.path.with_extension("log.before"))?;
            *self = Bounded::open(&self.path)?;
        }
        self.file.write_all(line)?;
        self.length += line.len() as u64;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_stays_bounded_and_holds_the_latest() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("relay.log");
        let log = Log::to_file(&path).expect("a log");
        let words = "x".repeat(1000);
        for number in 0..10_000 {
            log.write("test", json!({"number": number, "words": words}));
        }
        let length = |path: &Path| fs::metadata(path).expect("a file").len();
        assert!(length(&path) <= LONGEST && length(&path.with_extension("log.before")) <= LONGEST);
        let text = fs::read_to_string(&path).expect("the log");
        let last: Value = serde_json::from_str(text.lines().last().expect("a line")).expect("JSON");
        assert_eq!((&last["event"], &last["number"]), (&json!("test"), &json!(9999)));
        assert_eq!(fs::read_dir(dir.path()).expect("the directory").count(), 2);
    }
}
