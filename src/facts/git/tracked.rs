//! Whether a file is what the last commit holds: compared by what the file system says of it, as git does before it
//! reads content, and where that does not tell by its content.

use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use super::head::{Committed, Head};
use super::objects::Format;
use super::{MAX_INDEX, Repository, bounded, index, settings};

/// The longest file whose content is compared, in bytes.
const MAX_CONTENT: u64 = 1024 * 1024;
/// The most content that one snapshot compares, in bytes.
const MAX_CONTENTS: u64 = 16 * 1024 * 1024;

/// What git holds of a file in the working tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tracked {
    /// The last commit holds it as it is: nothing is lost with it.
    Unchanged,
    /// It was staged, added or taken out, since the last commit.
    Staged,
    /// It differs from what was staged, is gone, or is in conflict.
    Changed,
    /// Neither the index nor the last commit has it.
    Untracked,
    /// The repository or the file does not tell. A directory is always this.
    Unknown,
}

/// A repository's index and last commit as they were when it was made.
#[derive(Debug)]
pub struct Snapshot {
    worktree: PathBuf,
    format: Format,
    /// `None` where there is none, so that nothing is tracked.
    index: Option<(Vec<u8>, Metadata)>,
    head: Head,
    /// How much content may still be compared, in bytes.
    contents: u64,
}

impl Snapshot {
    /// `None` where the index or the last commit cannot be read.
    pub fn of(repository: &Repository) -> Option<Snapshot> {
        let format = format(repository)?;
        Some(Snapshot {
            worktree: repository.worktree.clone(),
            format,
            index: bounded(&repository.git_dir.join("index"), MAX_INDEX).ok()?,
            head: Head::of(repository, format)?,
            contents: MAX_CONTENTS,
        })
    }

    /// What git holds of each of these files, named by absolute paths.
    ///
    /// Stricter than git: where a filter stands between a file and its content, line ends included, a file counts as
    /// changed if that made it longer or shorter, or if its times do not tell.
    pub fn files(&mut self, paths: &[PathBuf]) -> Vec<Tracked> {
        let mut directories = HashMap::new();
        let names: Vec<Option<Vec<u8>>> = paths.iter().map(|path| self.relative(path, &mut directories)).collect();
        let mut staged: HashMap<&[u8], Option<index::Entry>> = names.iter().flatten().map(|n| (&n[..], None)).collect();
        if let Some((index, _)) = &self.index {
            let scanned = index::scan(index, self.format.length(), |name, entry| {
                if let Some(found) = staged.get_mut(name) {
                    found.get_or_insert(*entry);
                }
                true
            });
            if scanned.is_err() {
                return vec![Tracked::Unknown; paths.len()];
            }
        }
        let look_up = |(path, name): (&PathBuf, &Option<Vec<u8>>)| {
            let name = name.as_deref()?;
            let committed = self.head.entry(name)?;
            self.compare(path, staged.get(name).copied().flatten(), committed)
        };
        let states = paths.iter().zip(&names).map(look_up);
        states.map(|state| state.unwrap_or(Tracked::Unknown)).collect()
    }

    /// Calls `visit` with every path that git lists, none of which is empty; `None` where the list is not understood.
    pub fn each_name(&self, mut visit: impl FnMut(&[u8])) -> Option<()> {
        let Some((index, _)) = &self.index else { return Some(()) };
        let mut is_sound = true;
        let scanned = index::scan(index, self.format.length(), |name, _| {
            is_sound &= !name.is_empty();
            if is_sound {
                visit(name);
            }
            is_sound
        });
        (is_sound && scanned.is_ok()).then_some(())
    }

    /// The path below the working tree, as git writes it; where its directory really is may be known from another path.
    fn relative<'p>(&self, path: &'p Path, directories: &mut HashMap<&'p Path, Option<PathBuf>>) -> Option<Vec<u8>> {
        let directory = path.parent()?;
        let real = directories
            .entry(directory)
            .or_insert_with(|| fs::canonicalize(directory).ok());
        let path = real.as_ref()?.join(path.file_name()?);
        let relative = path.strip_prefix(&self.worktree).ok()?;
        let plain = relative.components().all(|c| matches!(c, Component::Normal(_)));
        plain.then(|| relative.as_os_str().as_bytes().to_vec())
    }

    fn compare(&mut self, path: &Path, staged: Option<index::Entry>, committed: Option<Committed>) -> Option<Tracked> {
        let file = match fs::symlink_metadata(path) {
            Ok(file) if file.is_dir() => return None,
            Ok(file) => Some(file),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
            Err(_) => return None,
        };
        let entry = match (staged, committed) {
            (None, None) => return Some(Tracked::Untracked),
            (Some(entry), _) if entry.stage != 0 => return Some(Tracked::Changed),
            (Some(entry), _) if entry.flagged => return None,
            (Some(entry), Some(committed)) if (entry.mode, entry.name) == (committed.mode, committed.name) => entry,
            _ => return Some(Tracked::Staged),
        };
        let Some(file) = file else {
            return Some(Tracked::Changed);
        };
        let executable = file.mode() & 0o100 != 0;
        let mode = match (file.is_file(), file.is_symlink()) {
            (true, _) if executable => 0o100_755,
            (true, _) => 0o100_644,
            (_, true) => 0o120_000,
            _ => return Some(Tracked::Changed),
        };
        if entry.mode != mode {
            return Some(Tracked::Changed);
        }
        // A filter that the file went through on its way in may have kept only a part of it.
        let is_whole = || file.is_symlink() || self.head.length(&entry.name) == Some(file.size());
        if self.is_settled(&entry, &file) {
            return Some(if is_whole() {
                Tracked::Unchanged
            } else {
                Tracked::Changed
            });
        }
        // Git writes size 0 for a file whose times it could not rely on.
        if entry.size != 0 && u64::from(entry.size) != file.size() {
            return Some(Tracked::Changed);
        }
        if file.size() > MAX_CONTENT {
            return None;
        }
        self.contents = self.contents.checked_sub(file.size())?;
        let content = match file.is_symlink() {
            true => fs::read_link(path).ok()?.as_os_str().as_bytes().to_vec(),
            false => bounded(path, MAX_CONTENT).ok()??.0,
        };
        let same = self.format.name_of("blob", &content) == entry.name;
        Some(if same { Tracked::Unchanged } else { Tracked::Changed })
    }

    /// What the file system says shows that the file was not touched since it was staged.
    fn is_settled(&self, entry: &index::Entry, file: &Metadata) -> bool {
        // The index holds the low 32 bits of every number.
        let stamp = |seconds: i64, nanoseconds: i64| (seconds as u32, nanoseconds as u32);
        let mtime = stamp(file.mtime(), file.mtime_nsec());
        let before_the_index = |(_, index): &(_, Metadata)| mtime < stamp(index.mtime(), index.mtime_nsec());
        entry.size != 0
            && u64::from(entry.size) == file.size()
            && entry.mtime == mtime
            && entry.ctime == stamp(file.ctime(), file.ctime_nsec())
            && entry.inode == file.ino() as u32
            && (entry.uid, entry.gid) == (file.uid(), file.gid())
            && self.index.as_ref().is_some_and(before_the_index)
    }
}

/// How the repository names objects; `None` where it is not known, or where refs are kept in tables.
fn format(repository: &Repository) -> Option<Format> {
    let settings = settings(&repository.common_dir.join("config")).ok()?;
    let last = |name: &str| {
        let setting = settings.iter().rfind(|s| s.name == name)?;
        Some(setting.value.as_deref().unwrap_or_default())
    };
    if last("extensions.refstorage").is_some_and(|storage| storage != "files") {
        return None;
    }
    match last("extensions.objectformat") {
        None | Some("sha1") => Some(Format::Sha1),
        Some("sha256") => Some(Format::Sha256),
        Some(_) => None,
    }
}
