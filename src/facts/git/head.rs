//! What the last commit holds of a path: HEAD, its commit, and down the trees. Formats: gitrepository-layout(5).

use std::collections::HashMap;
use std::fs;
use std::path::{Component, Path};
use std::rc::Rc;

use super::objects::{Format, Name, Store};
use super::{MAX_TEXT, Repository, bounded, bounded_text, contents, opened};

/// The longest list of packed refs that is read, in bytes.
const MAX_PACKED_REFS: u64 = 64 * 1024 * 1024;
/// How many refs may name one another.
const MAX_SYMBOLIC: usize = 5;

/// The last commit, whose trees are read as they are asked for.
#[derive(Debug)]
pub struct Head {
    store: Store,
    format: Format,
    /// The tree at the top; `None` before the first commit.
    root: Option<Name>,
    trees: HashMap<Name, Option<Rc<[u8]>>>,
}

/// A file, link, directory or submodule in a tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Committed {
    /// As the index writes it: 0o100644, 0o100755, 0o120000, 0o040000 or 0o160000.
    pub mode: u32,
    pub name: Name,
}

impl Head {
    /// `None` where HEAD or its commit cannot be read.
    pub fn of(repository: &Repository, format: Format) -> Option<Head> {
        let store = Store::new(repository.common_dir.join("objects"), format);
        let root = match commit(repository, format)? {
            Some(commit) => {
                let text = store.read("commit", &commit)?;
                let line = text.strip_prefix(b"tree ")?.split(|b| *b == b'\n').next()?;
                Some(format.parse(line)?)
            }
            None => None,
        };
        Some(Head {
            store,
            format,
            root,
            trees: HashMap::new(),
        })
    }

    /// What the commit holds at a path (relative to the top, with slashes); the outer `None` where that is not known.
    pub fn entry(&mut self, path: &[u8]) -> Option<Option<Committed>> {
        let Some(root) = self.root else {
            return Some(None);
        };
        let mut found = Committed {
            mode: super::index::DIRECTORY,
            name: root,
        };
        for name in path.split(|b| *b == b'/') {
            if found.mode != super::index::DIRECTORY {
                return Some(None);
            }
            let tree = self.tree(&found.name)?;
            match entry(&tree, name, self.format)? {
                Some(next) => found = next,
                None => return Some(None),
            }
        }
        Some(Some(found))
    }

    /// How long the object of this name is, in bytes; `None` where the repository does not have it.
    pub fn length(&self, name: &Name) -> Option<u64> {
        self.store.length(name)
    }

    fn tree(&mut self, name: &Name) -> Option<Rc<[u8]>> {
        let read = || self.store.read("tree", name).map(Rc::from);
        self.trees.entry(*name).or_insert_with(read).clone()
    }
}

/// The entry of a tree with this name; the outer `None` where the tree is damaged.
fn entry(mut tree: &[u8], wanted: &[u8], format: Format) -> Option<Option<Committed>> {
    while !tree.is_empty() {
        let blank = tree.iter().position(|b| *b == b' ')?;
        let end = tree.iter().position(|b| *b == 0)?;
        let name = tree.get(blank + 1..end)?;
        if name == wanted {
            let mode = u32::from_str_radix(std::str::from_utf8(&tree[..blank]).ok()?, 8).ok()?;
            return Some(Some(Committed {
                mode: as_in_the_index(mode),
                name: format.read(&tree[end + 1..])?,
            }));
        }
        tree = tree.get(end + 1 + format.length()..)?;
    }
    Some(None)
}

/// Old trees hold other permissions; only whether it may be run counts.
fn as_in_the_index(mode: u32) -> u32 {
    match mode & 0o170_000 {
        0o100_000 if mode & 0o100 != 0 => 0o100_755,
        0o100_000 => 0o100_644,
        kind => kind,
    }
}

/// The commit that HEAD names; `Some(None)` before the first commit, `None` where it cannot be told.
fn commit(repository: &Repository, format: Format) -> Option<Option<Name>> {
    let head = repository.git_dir.join("HEAD");
    let mut text = match opened(&head, libc::O_NOFOLLOW) {
        Ok(file) => String::from_utf8_lossy(&contents(file, &head, MAX_TEXT).ok()?.0).into_owned(),
        Err(_) => format!("ref: {}", fs::read_link(&head).ok()?.to_str()?),
    };
    for _ in 0..MAX_SYMBOLIC {
        let Some(name) = text.strip_prefix("ref:") else {
            return format.parse(text.trim_end().as_bytes()).map(Some);
        };
        let name = name.trim();
        // These belong to one working tree alone, and no branch is among them.
        let own = ["refs/bisect/", "refs/worktree/", "refs/rewritten/"];
        if !is_plain(name) || own.iter().any(|prefix| name.starts_with(prefix)) {
            return None;
        }
        let file = repository.common_dir.join(name);
        text = match bounded_text(&file) {
            Ok(Some(text)) => text,
            Ok(None) => return packed(repository, name, format),
            // It may have been left by longer names that began with this one.
            Err(_) if file.is_dir() => return packed(repository, name, format),
            Err(_) => return None,
        };
    }
    None
}

fn is_plain(name: &str) -> bool {
    name.starts_with("refs/") && Path::new(name).components().all(|c| matches!(c, Component::Normal(_)))
}

fn packed(repository: &Repository, wanted: &str, format: Format) -> Option<Option<Name>> {
    let Some((list, _)) = bounded(&repository.common_dir.join("packed-refs"), MAX_PACKED_REFS).ok()? else {
        return Some(None);
    };
    for line in list.split(|b| *b == b'\n') {
        let Some((name, refname)) = line.split_at_checked(format.length() * 2) else {
            continue;
        };
        if refname.strip_prefix(b" ") == Some(wanted.as_bytes()) {
            return format.parse(name).map(Some);
        }
    }
    Some(None)
}
