//! What the machine says: home, project, files, names on PATH. Every question is one bounded look; nothing is changed.
//!
//! Only `assess`, `place` and `policy` ask. An answer that cannot be had is the careful one.

pub mod git;
mod memory;
mod repositories;
mod roots;
pub mod snapshot;

use std::cell::OnceCell;
use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use memory::{Answer, Memory, once};
use roots::Roots;
use snapshot::ShellSnapshot;

/// At most this many names of one directory are looked at.
const MAX_NAMES: usize = 4096;
/// At most this many entries of a tree are looked at.
const MAX_TREE: usize = MAX_NAMES;
/// At most this many links that lead to nothing are followed one after another, as many as the kernel follows.
const MAX_LINKS: usize = 40;

/// No system opens a longer path, in bytes: the current directory and a word, each as long as may be.
pub const MAX_PATH: usize = 8192;
/// The longest user database that is read, in bytes.
const MAX_DATABASE: u64 = 1024 * 1024;
/// Where the host's managed settings are on this system.
#[cfg(target_os = "macos")]
pub const MANAGED: &str = "/Library/Application Support/ClaudeCode";
#[cfg(not(target_os = "macos"))]
pub const MANAGED: &str = "/etc/claude-code";
/// The longest file of the host's settings that is read, in bytes.
pub const MAX_SETTINGS: u64 = 4 * 1024 * 1024;
/// A file up to this size, in bytes, is read as text.
const MAX_TEXT: u64 = 64 * 1024;

/// What is known of the machine, the person and the project.
#[derive(Debug, Default)]
pub struct Facts {
    /// The person's home directory as HOME says it, absolute: what `~` means to a shell.
    pub home: Option<PathBuf>,
    /// The same as the user database says it. A project can set HOME for the session, but not this.
    pub own_home: Option<PathBuf>,
    /// The project's root directories, absolute, each as written and as its real path; the first is the session's own.
    pub project: Vec<PathBuf>,
    /// The directories that a bare name is looked for in, in order, as PATH gives them.
    pub path: Vec<PathBuf>,
    /// The names of the variables in the session's environment.
    pub environment: HashSet<String>,
    /// Where the person's tools look for configuration beside the home.
    pub xdg_config_home: Option<PathBuf>,
    /// The host's settings that only the person or the machine's administrator writes.
    pub settings: Vec<PathBuf>,
    /// Where the host writes down the names of the person's shell; `None` where that is not known.
    pub snapshots: Option<PathBuf>,
    /// What else counts as the project.
    pub roots: Roots,
    /// The host name, once somebody has asked for it.
    pub machine: OnceCell<String>,
    /// What was asked of the file system.
    pub memory: Memory,
}

/// What a path is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Missing,
    File,
    Directory,
    /// A device, a pipe, a socket, or not known.
    Other,
}

/// What a bare name on PATH is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    /// No directory of PATH has it: nothing would run.
    Nowhere,
    /// The file as found, and its real path.
    File { path: PathBuf, real: PathBuf },
    /// A directory of PATH is relative, so the answer depends on where it is asked.
    Relative,
}

/// What is below a directory, as far as a bounded look shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tree {
    /// Every file below.
    pub files: Vec<PathBuf>,
    /// Symbolic links below.
    pub links: Vec<PathBuf>,
    /// Directories below that were not entered.
    pub skipped: Vec<PathBuf>,
    /// There was more than could be looked at.
    pub cut: bool,
}

impl Facts {
    /// The name of this machine, as `uname -n` prints it.
    pub fn machine(&self) -> &str {
        self.machine
            .get_or_init(|| rustix::system::uname().nodename().to_string_lossy().into_owned())
    }

    /// Reads the person's surroundings from the environment of this process.
    ///
    /// The project is CLAUDE_PROJECT_DIR, else the nearest directory at or above `cwd` that holds `.git`, else `cwd`;
    /// never `/`, a home or what is above one.
    pub fn live(cwd: Option<&Path>) -> Self {
        let home = std::env::var_os("HOME")
            .map(PathBuf::from)
            .filter(|home| home.is_absolute());
        let path = std::env::var_os("PATH")
            .map(|path| each_once(std::env::split_paths(&path)))
            .unwrap_or_default();
        let environment = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let xdg_config_home = std::env::var_os("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute());
        let own_home = home_in_database();
        // Of HOME, as the host reads them: where a project sets HOME, `judge` lets nothing through.
        let settings = home
            .as_ref()
            .map(|home| home.join(".claude/settings.json"))
            .into_iter()
            .chain([Path::new(MANAGED).join("managed-settings.json")])
            .collect();
        let snapshots = std::env::var_os("CLAUDE_CONFIG_DIR")
            .filter(|dir| !dir.is_empty())
            .map(PathBuf::from)
            .or_else(|| Some(home.as_ref()?.join(".claude")))
            .map(|dir| dir.join("shell-snapshots"));
        let mut facts = Facts {
            home,
            own_home,
            project: Vec::new(),
            path,
            environment,
            xdg_config_home,
            settings,
            snapshots,
            roots: Roots::default(),
            machine: OnceCell::new(),
            memory: Memory::default(),
        };
        let named = std::env::var_os("CLAUDE_PROJECT_DIR")
            .map(PathBuf::from)
            .filter(|dir| dir.is_absolute());
        if let Some(root) = named.or_else(|| cwd.map(top_level)) {
            facts.set_project(&root);
        }
        facts
    }

    /// Makes `root` the project, unless it is `/`, a home or above one.
    pub fn set_project(&mut self, root: &Path) {
        let real = self.real(root);
        if self.holds_a_home(root) || self.holds_a_home(&real) {
            return;
        }
        self.project = vec![root.to_path_buf()];
        if real != root {
            self.project.push(real);
        }
    }

    fn holds_a_home(&self, root: &Path) -> bool {
        let homes = [Path::new("/root"), Path::new("/home"), Path::new("/Users")];
        root.parent().is_none()
            || homes
                .iter()
                .any(|home| home.starts_with(root) || root.parent() == Some(home) && *home != homes[0])
            || self.homes().any(|home| home.starts_with(root))
    }

    /// The person's home directories: one, where HOME tells the truth.
    pub fn homes(&self) -> impl Iterator<Item = &Path> {
        let own = self.own_home.as_ref().filter(|own| self.home.as_ref() != Some(own));
        self.home.iter().chain(own).map(PathBuf::as_path)
    }

    /// Whether a path is in a directory of PATH.
    pub fn on_path(&self, path: &Path) -> bool {
        self.path
            .iter()
            .any(|dir| dir.is_absolute() && dir.parent().is_some() && path.starts_with(dir))
    }

    /// Whether a change of one of these paths may change what a directory of PATH holds: it lies in it, above it or behind it.
    pub fn moves_path(&self, paths: [&Path; 2]) -> bool {
        let meets = |dir: &Path| paths.iter().any(|path| path.starts_with(dir) || dir.starts_with(path));
        self.path
            .iter()
            .filter(|dir| dir.is_absolute() && dir.parent().is_some())
            .any(|dir| meets(dir) || meets(&self.real(dir)))
    }

    /// Whether something has this name, a link that leads to nothing included.
    pub fn exists(&self, path: &Path) -> bool {
        matches!(self.memory.itself(path), Answer::Is { .. } | Answer::Link(_))
    }

    /// What a path is, symbolic links followed.
    pub fn kind(&self, path: &Path) -> Kind {
        match self.memory.behind(path) {
            Answer::Is { kind, .. } if kind.is_file() => Kind::File,
            Answer::Is { kind, .. } if kind.is_dir() => Kind::Directory,
            Answer::Missing if !self.exists(path) => Kind::Missing,
            Answer::Is { .. } | Answer::Link(_) | Answer::Missing | Answer::Failed => Kind::Other,
        }
    }

    /// Whether this is a symbolic link, whatever it leads to.
    pub fn is_link(&self, path: &Path) -> bool {
        matches!(self.memory.itself(path), Answer::Link(_))
    }

    /// Whether a shell may make this directory its own.
    pub fn can_enter(&self, dir: &Path) -> bool {
        // Finding `.` in it needs the same right.
        matches!(self.memory.behind(&dir.join(".")), Answer::Is { .. })
    }

    /// The text of a small file; `None` where there is none, or it is none.
    pub fn text(&self, path: &Path) -> Option<Rc<str>> {
        once(&self.memory.texts, path.as_os_str(), || {
            match self.memory.behind(path) {
                Answer::Is { kind, length, .. } if kind.is_file() && length <= MAX_TEXT => {
                    fs::read_to_string(path).ok().map(Rc::from)
                }
                Answer::Is { .. } | Answer::Link(_) | Answer::Missing | Answer::Failed => None,
            }
        })
    }

    /// Whether a configuration of git holds an address with a password or a token before its host, or a key or a value that
    /// is one. It is looked at as git reads it: without quotes and escapes, lines that go on put together.
    pub fn holds_password(&self, path: &Path) -> bool {
        const KEYS: &[&str] = &["header", "pass", "secret", "token"];
        const VALUES: &[&str] = &["authorization", "bearer ", "passwd", "password="];
        let with_user = |word: &str| {
            let (scheme, rest) = word.split_once("://").unwrap_or(("", word));
            let host = rest.split('/').next().unwrap_or_default();
            host.rsplit_once('@')
                .is_some_and(|(user, _)| user.contains(':') || scheme.starts_with("http"))
        };
        let holds = |line: &str| {
            let section = line.trim_start().starts_with('[');
            let setting = if section {
                line.split_once(']').unwrap_or_default().1
            } else {
                line
            };
            let (key, value) = setting.split_once('=').unwrap_or((setting, ""));
            KEYS.iter().any(|word| key.contains(word))
                || VALUES.iter().any(|word| value.contains(word))
                || line.split([' ', '\t', '=']).any(with_user)
        };
        self.text(path).is_some_and(|text| {
            let text = text.replace("\\\n", "").replace(['"', '\\'], "").to_ascii_lowercase();
            text.lines().any(holds)
        })
    }

    /// Whether everybody may read it; a path that is not there hides nothing.
    pub fn world_readable(&self, path: &Path) -> bool {
        match self.memory.behind(path) {
            Answer::Is { mode, .. } => mode & 0o004 != 0,
            Answer::Missing => true,
            Answer::Link(_) | Answer::Failed => false,
        }
    }

    /// Follows every link as the kernel does, one name after another, and goes on by names alone where nothing is yet.
    ///
    /// The links of `/proc/PID` lead where that process stands, and `/proc/self` is another one for the command: their names
    /// stay as they are.
    pub fn real(&self, path: &Path) -> PathBuf {
        once(&self.memory.reals, path.as_os_str(), || self.followed(path))
    }

    fn followed(&self, path: &Path) -> PathBuf {
        if path.as_os_str().len() > MAX_PATH {
            return crate::place::normalize(path);
        }
        // It has no /proc, and its own answer gives every name the case that the file system keeps.
        if cfg!(target_os = "macos")
            && let Ok(real) = fs::canonicalize(path)
        {
            return real;
        }
        let mut real = PathBuf::from("/");
        let mut left = reversed(path);
        let mut links = MAX_LINKS;
        let mut is_there = true;
        while let Some(name) = left.pop() {
            if name == ".." {
                real.pop();
                is_there = true;
                continue;
            }
            real.push(name);
            if !is_there {
                continue;
            }
            match self.memory.itself(&real) {
                Answer::Link(_) if links == 0 || is_of_process(&real) => is_there = false,
                Answer::Link(target) => {
                    links -= 1;
                    real.pop();
                    if target.is_absolute() {
                        real = PathBuf::from("/");
                    }
                    left.extend(reversed(&target));
                }
                Answer::Is { .. } => {}
                Answer::Missing | Answer::Failed => is_there = false,
            }
        }
        real
    }

    /// Where a bare name is found.
    pub fn find(&self, name: &str) -> Found {
        once(&self.memory.programs, name, || self.sought(name))
    }

    fn sought(&self, name: &str) -> Found {
        for dir in &self.path {
            if !dir.is_absolute() {
                return Found::Relative;
            }
            let path = dir.join(name);
            if matches!(self.memory.behind(&path), Answer::Is { kind, mode, .. } if kind.is_file() && mode & 0o111 != 0)
            {
                let real = self.real(&path);
                return Found::File { path, real };
            }
        }
        Found::Nowhere
    }

    /// The text of a file of the host's settings, `None` where there is none; or why it cannot be had.
    pub fn settings(&self, file: &Path) -> Result<Option<Rc<str>>, Rc<str>> {
        once(&self.memory.settings, file.as_os_str(), || {
            let Some((bytes, _)) = git::bounded(file, MAX_SETTINGS)? else {
                return Ok(None);
            };
            match String::from_utf8(bytes) {
                Ok(text) => Ok(Some(text.trim_start_matches('\u{feff}').trim().into())),
                Err(error) => Err(format!("{}: {error}", file.display()).into()),
            }
        })
    }

    /// The names of the session's shell.
    pub fn shell(&self) -> &ShellSnapshot {
        let newest = || self.snapshots.as_deref().map(ShellSnapshot::newest).unwrap_or_default();
        self.memory.shell.get_or_init(newest)
    }

    /// Forgets what the file system has said: it may be otherwise for another call.
    pub fn forget(&mut self) {
        self.memory = Memory::default();
    }

    /// The names in a directory, sorted; `None` where it cannot be read or has too many.
    pub fn list(&self, dir: &Path) -> Option<Vec<OsString>> {
        let entries = self.memory.entries(dir)?;
        let names = entries.iter().map(|entry| Some(entry.as_ref()?.0.clone()));
        let mut names: Vec<OsString> = names.collect::<Option<_>>()?;
        names.sort();
        (names.len() <= MAX_NAMES).then_some(names)
    }

    /// What is below a directory, breadth first; `skip` says which directories are not entered.
    pub fn tree(&self, dir: &Path, skip: &dyn Fn(&Path) -> bool) -> Tree {
        let mut tree = Tree::default();
        let mut seen = 0;
        let mut queue = std::collections::VecDeque::from([dir.to_path_buf()]);
        while let Some(next) = queue.pop_front() {
            let Some(entries) = self.memory.entries(&next) else {
                continue;
            };
            for entry in entries.iter() {
                seen += 1;
                let Some((name, kind)) = entry else { continue };
                if seen > MAX_TREE {
                    tree.cut = true;
                    return tree;
                }
                let path = next.join(name);
                match kind {
                    Some(kind) if kind.is_dir() && skip(&path) => tree.skipped.push(path),
                    Some(kind) if kind.is_dir() => queue.push_back(path),
                    Some(kind) if kind.is_symlink() => tree.links.push(path),
                    Some(_) => tree.files.push(path),
                    None => tree.cut = true,
                }
            }
        }
        tree
    }
}

/// Each of these directories where it first comes.
fn each_once(dirs: impl Iterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut once = Vec::new();
    for dir in dirs {
        if !once.contains(&dir) {
            once.push(dir);
        }
    }
    once
}

/// The home directory of this process's user in `/etc/passwd`. A person whom only a directory service knows has none
/// there; macOS is so, and all its homes are in `/Users`.
fn home_in_database() -> Option<PathBuf> {
    let file = fs::File::open("/etc/passwd").ok()?;
    let length = file.metadata().ok()?.len().min(MAX_DATABASE);
    let mut text = Vec::with_capacity(length as usize);
    file.take(length).read_to_end(&mut text).ok()?;
    home_of(crate::own_files::own_uid(), &text)
}

/// A line holds name, password, user, group, comment, home and shell.
fn home_of(user: u32, database: &[u8]) -> Option<PathBuf> {
    let user = user.to_string();
    database.split(|b| *b == b'\n').find_map(|line| {
        let mut fields = line.split(|b| *b == b':');
        (fields.nth(2)? == user.as_bytes()).then_some(())?;
        let home = PathBuf::from(OsStr::from_bytes(fields.nth(2)?));
        home.is_absolute().then_some(home)
    })
}

/// The nearest directory at or above that holds `.git`, else the directory itself.
fn top_level(cwd: &Path) -> PathBuf {
    cwd.ancestors()
        .find(|dir| dir.join(".git").exists())
        .unwrap_or(cwd)
        .to_path_buf()
}

/// The names of a path, `..` among them, the last first.
fn reversed(path: &Path) -> Vec<OsString> {
    let names = path.components().rev().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::CurDir | Component::RootDir | Component::Prefix(_) => None,
    });
    names.collect()
}

fn is_of_process(link: &Path) -> bool {
    let mut names = link.components().skip(1).map(|c| c.as_os_str().as_encoded_bytes());
    names.next() == Some(b"proc")
        && names.next().is_some_and(|name| name.iter().all(u8::is_ascii_digit))
        && names.next().is_some()
}

#[cfg(test)]
mod tests;
