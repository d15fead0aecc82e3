//! That a process answers for one host: `mcp` and `run` say so, and the hook of the same host then leaves to them what
//! policy does not decide.
//!
//! In a headless run the host asks its `PermissionRequest` hook and its prompt tool at once, and takes the first answer.
//! The hook knows where the session stands, which the prompt tool is not told; so it hands that on, under the call's
//! digest. A directory of the runtime directory, named by the host's process, holds a file that stays locked as long as
//! the answering process lives: the kernel drops the lock however it ends. Nothing that is written here opens anything:
//! presence keeps a hook silent, and a directory that is handed on is judged like any other.

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::own_files::{self, is_absent, private_dir};
use crate::wire::once::diagnose;

/// The longest path that is taken, in bytes.
const MAX_PATH: u64 = 8192;
const LOCK: &str = "answering";

/// How a file begins whose call policy left open, or decided if the other process counts it; the directory follows.
const OPEN: u8 = b'o';
const COUNTED: u8 = b'c';

/// What a hook says of a call that it leaves to the process that answers for its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HandedOn {
    /// Where the session stands.
    pub cwd: PathBuf,
    /// Policy left the call open there, so that policy does not let it run here.
    pub is_open: bool,
}

/// This process answers for a host, until it is dropped.
#[derive(Debug)]
pub struct Presence {
    dir: PathBuf,
    _lock: File,
}

impl Presence {
    /// Says in `runtime`, the runtime directory, that this process answers for the host with the process id `host`.
    ///
    /// # Errors
    /// Those of the file system; that another process answers for the same host already.
    pub fn announce(runtime: &Path, host: u32) -> io::Result<Self> {
        private_dir(runtime)?;
        sweep(runtime);
        let dir = place(runtime, host);
        private_dir(&dir)?;
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(dir.join(LOCK))?;
        match lock.try_lock() {
            Ok(()) => Ok(Presence { dir, _lock: lock }),
            Err(TryLockError::WouldBlock) => Err(io::Error::new(
                io::ErrorKind::AlreadyExists,
                "another process answers for this host already",
            )),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// The same for a face that goes on without it: why it could not be said is told on standard error.
    pub fn announced(host: u32) -> Option<Self> {
        let told = Self::announce(&own_files::runtime_dir()?, host);
        told.map_err(|error| {
            diagnose(&format!(
                "the hook of this session cannot be told that this process answers: {error}"
            ));
        })
        .ok()
    }

    /// What a hook of the same host handed on for the call of this digest; it is handed on once. What was written
    /// before `since` is of an earlier call, whose hook was late.
    pub fn take(&self, digest: &str, since: SystemTime) -> Option<HandedOn> {
        let path = self.dir.join(digest);
        let file = File::open(&path).ok()?;
        let written = file.metadata().and_then(|metadata| metadata.modified()).ok()?;
        let mut bytes = Vec::new();
        file.take(MAX_PATH + 1).read_to_end(&mut bytes).ok()?;
        fs::remove_file(&path).ok()?;
        let is_whole = written >= since && bytes.len() as u64 <= MAX_PATH;
        let (left, path) = bytes.split_first().filter(|_| is_whole)?;
        let cwd = PathBuf::from(OsStr::from_bytes(path));
        cwd.is_absolute().then_some(HandedOn {
            cwd,
            is_open: *left != COUNTED,
        })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        // What is left is swept by the next one.
        let _ = fs::remove_dir_all(&self.dir);
    }
}

/// A process that answers for the same host as this hook.
#[derive(Debug)]
pub struct Other {
    dir: PathBuf,
}

impl Other {
    /// The process that answers for one of these hosts, if one does.
    pub fn find(runtime: &Path, hosts: &[u32]) -> Option<Self> {
        let mut dirs = hosts.iter().map(|host| place(runtime, *host));
        dirs.find(|dir| is_held(&dir.join(LOCK))).map(|dir| Other { dir })
    }

    /// Hands on what is known of the call of this digest.
    ///
    /// # Errors
    /// Those of the file system; the other process then does without.
    pub fn hand_on(&self, digest: &str, HandedOn { cwd, is_open }: &HandedOn) -> io::Result<()> {
        let draft = self.dir.join(format!("{digest}.{}", std::process::id()));
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&draft)?;
        file.write_all(&[if *is_open { OPEN } else { COUNTED }])?;
        file.write_all(cwd.as_os_str().as_bytes())?;
        fs::rename(draft, self.dir.join(digest))
    }
}

fn place(runtime: &Path, host: u32) -> PathBuf {
    runtime.join(format!("answers-{host}"))
}

fn is_held(lock: &Path) -> bool {
    match File::open(lock).map(|file| file.try_lock_shared()) {
        Ok(Err(TryLockError::WouldBlock)) => true,
        // One that cannot be looked at may be held: silence only brings prompts back.
        Ok(Err(TryLockError::Error(_))) => true,
        Ok(Ok(())) => false,
        Err(error) => !is_absent(&error),
    }
}

/// Removes what ended processes left.
fn sweep(runtime: &Path) {
    let names = fs::read_dir(runtime).into_iter().flatten().flatten();
    for dir in names.map(|entry| entry.path()) {
        let named = dir
            .file_name()
            .is_some_and(|name| name.as_bytes().starts_with(b"answers-"));
        if named && dir.join(LOCK).exists() && !is_held(&dir.join(LOCK)) {
            let _ = fs::remove_dir_all(dir);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_host_is_answered_for_as_long_as_the_process_says_so() {
        let runtime = tempfile::tempdir().expect("a directory");
        assert!(Other::find(runtime.path(), &[7]).is_none());
        let presence = Presence::announce(runtime.path(), 7).expect("presence");
        assert!(Other::find(runtime.path(), &[3, 7]).is_some());
        assert!(Other::find(runtime.path(), &[8]).is_none(), "another host");
        assert!(Presence::announce(runtime.path(), 7).is_err(), "twice for one host");
        drop(presence);
        assert!(Other::find(runtime.path(), &[7]).is_none());
        assert_eq!(fs::read_dir(runtime.path()).expect("a directory").count(), 0);
    }

    #[test]
    fn where_a_session_stands_is_handed_on_once_and_per_call() {
        let runtime = tempfile::tempdir().expect("a directory");
        let presence = Presence::announce(runtime.path(), 7).expect("presence");
        let hook = Other::find(runtime.path(), &[7]).expect("the other");
        let sub = |is_open| HandedOn {
            cwd: "/p/sub".into(),
            is_open,
        };
        let begun = SystemTime::now() - Duration::from_secs(1);
        for is_open in [true, false] {
            hook.hand_on("d1", &sub(is_open)).expect("handed on");
            assert_eq!(presence.take("d2", begun), None);
            assert_eq!(presence.take("d1", begun), Some(sub(is_open)));
            assert_eq!(presence.take("d1", begun), None, "once");
        }
        let relative = HandedOn {
            cwd: "relative".into(),
            is_open: false,
        };
        hook.hand_on("d3", &relative).expect("handed on");
        assert_eq!(presence.take("d3", begun), None, "only where it is absolute");
        hook.hand_on("d4", &sub(false)).expect("handed on");
        let later = SystemTime::now() + Duration::from_secs(1);
        assert_eq!(presence.take("d4", later), None, "of an earlier call");
        assert_eq!(presence.take("d4", begun), None, "and then it is gone");
    }

    #[test]
    fn what_an_ended_process_left_keeps_no_hook_silent_and_is_swept() {
        let runtime = tempfile::tempdir().expect("a directory");
        let left = place(runtime.path(), 9);
        fs::create_dir(&left).expect("a directory");
        fs::write(left.join(LOCK), "").expect("a file");
        assert!(Other::find(runtime.path(), &[9]).is_none());
        let _presence = Presence::announce(runtime.path(), 7).expect("presence");
        assert!(!left.exists());
    }
}
