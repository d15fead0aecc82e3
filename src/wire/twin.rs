//! Two of our hooks in one host, wired by the settings and by a plugin, find each other: one answers, the other has no
//! opinion.
//!
//! The host starts both with the same bytes. Each takes the lock of one of 64 files, chosen by a hash of the host's
//! process and those bytes; the kernel drops it when the process ends, however it ends. Who finds it taken for the
//! same hash is the twin. Two different calls with equal bytes at the same time look like twins too: then one keeps
//! its prompt. The lock decides nothing but that, so whoever holds it can only bring prompts back.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::own_files::private_dir;

const SLOTS: u128 = 64;

/// How often, and how far apart, a taken slot is read: its holder may have locked it but not written yet.
const READS: usize = 5;
const BETWEEN_READS: Duration = Duration::from_millis(1);

/// What the lock says.
#[derive(Debug)]
pub enum Standing {
    /// No twin is here. The file, if there is one, holds the lock for as long as it lives.
    Alone(Option<File>),
    /// Another process answers this very event.
    Twin,
}

impl Standing {
    /// Lets the lock outlive this program, in the one that takes its process over.
    pub fn keep(&self) {
        if let Standing::Alone(Some(file)) = self {
            // Without it a twin would ask too, which is no danger.
            let _ = rustix::io::fcntl_setfd(file, rustix::io::FdFlags::empty());
        }
    }
}

/// What one event is recognised by: `parts` in this order, each with its length.
pub fn identity(parts: &[&[u8]]) -> u128 {
    parts.iter().fold(FNV_OFFSET, |hash, part| {
        let hash = mixed(hash, part.len() as u128);
        part.chunks(16).fold(hash, |hash, chunk| {
            let mut word = [0; 16];
            word[..chunk.len()].copy_from_slice(chunk);
            mixed(hash, u128::from_le_bytes(word))
        })
    })
}

/// As in the 128-bit FNV-1a hash, but sixteen bytes at a time, for an event may be long; turned, so that every bit comes
/// to count for the slot. Short, and the same in every build. Nobody gains by a collision here.
const FNV_OFFSET: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
const FNV_PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;

fn mixed(hash: u128, word: u128) -> u128 {
    (hash ^ word).wrapping_mul(FNV_PRIME).rotate_left(64)
}

/// Takes the slot of `identity` in `dir`, which is created if need be.
///
/// # Errors
/// Those of the file system. The caller goes on without a lock.
pub fn stand(dir: &Path, identity: u128) -> io::Result<Standing> {
    private_dir(dir)?;
    let file = OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .mode(0o600)
        .open(dir.join(format!("slot-{:02}", identity % SLOTS)))?;
    match file.try_lock() {
        Ok(()) => {
            file.write_all_at(&identity.to_le_bytes(), 0)?;
            Ok(Standing::Alone(Some(file)))
        }
        Err(TryLockError::WouldBlock) if is_held_for(&file, identity) => Ok(Standing::Twin),
        Err(TryLockError::WouldBlock) => Ok(Standing::Alone(None)),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

fn is_held_for(file: &File, identity: u128) -> bool {
    (0..READS).any(|read| {
        if read > 0 {
            thread::sleep(BETWEEN_READS);
        }
        let mut held = [0; 16];
        file.read_exact_at(&mut held, 0).is_ok() && u128::from_le_bytes(held) == identity
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn the_second_with_the_same_identity_is_the_twin_until_the_first_ends() {
        let dir = tempfile::tempdir().expect("a directory");
        let locks = dir.path().join("countersign");
        let first = stand(&locks, 7).expect("a slot");
        assert!(matches!(first, Standing::Alone(Some(_))));
        assert!(matches!(stand(&locks, 7).expect("a slot"), Standing::Twin));
        drop(first);
        assert!(matches!(stand(&locks, 7).expect("a slot"), Standing::Alone(Some(_))));
    }

    #[test]
    fn another_identity_goes_on_even_in_the_same_slot() {
        let dir = tempfile::tempdir().expect("a directory");
        let _first = stand(dir.path(), 7).expect("a slot");
        assert!(matches!(
            stand(dir.path(), 7 + SLOTS).expect("a slot"),
            Standing::Alone(None)
        ));
        assert!(matches!(
            stand(dir.path(), 8).expect("a slot"),
            Standing::Alone(Some(_))
        ));
    }

    #[test]
    fn the_locks_are_private_and_a_directory_that_others_may_write_to_is_refused() {
        let dir = tempfile::tempdir().expect("a directory");
        let locks = dir.path().join("countersign");
        stand(&locks, 7).expect("a slot");
        let mode = |path: &Path| fs::metadata(path).expect("metadata").permissions().mode() & 0o777;
        assert_eq!((mode(&locks), mode(&locks.join("slot-07"))), (0o700, 0o600));
        fs::set_permissions(&locks, fs::Permissions::from_mode(0o777)).expect("chmod");
        assert!(stand(&locks, 7).is_err());
    }

    #[test]
    fn the_identity_depends_on_every_part_and_where_it_ends() {
        assert_eq!(identity(&[b"ab", b"c"]), identity(&[b"ab", b"c"]));
        assert_ne!(identity(&[b"ab", b"c"]), identity(&[b"a", b"bc"]));
        assert_ne!(identity(&[b"ab", b"c"]), identity(&[b"ab"]));
    }
}
