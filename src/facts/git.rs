//! What a repository would make git run, and what it holds of a file. No git process, bounded reads only.
//!
//! Git is an engine for running code: its configuration and hooks name programs that a mere `git status` starts.
//! What the person's own global and system configuration names is the person's choice; what the repository's own
//! configuration holds must be on a positive list. Attributes only pick among drivers that configuration defines, so
//! configuration decides. `assess` asks; nothing here knows of commands or tiers.

mod config;
mod head;
mod index;
mod objects;
#[cfg(test)]
mod tests;
mod tracked;
mod worktrees;

use std::collections::HashMap;
use std::fs::{self, File, Metadata, OpenOptions};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::own_files::is_absent;
use config::{Setting, Weight};
pub use tracked::{Snapshot, Tracked};
pub use worktrees::others as worktrees;

/// The longest configuration, `.git` file or HEAD that is read, in bytes.
const MAX_TEXT: u64 = 256 * 1024;
/// The longest index that is read, in bytes.
const MAX_INDEX: u64 = 64 * 1024 * 1024;
/// How deep the person's own configuration may include other files.
const MAX_INCLUDES: usize = 8;
/// How deep submodules may nest, and how many of them are looked at.
const MAX_SUBMODULE_DEPTH: usize = 3;
const MAX_SUBMODULES: usize = 64;
/// How many files a hooks directory may hold.
const MAX_HOOKS: usize = 512;

/// What git would find from a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Discovery {
    /// No repository: git runs nothing of one.
    None,
    Repository(Repository),
    /// Git may find something that is not an ordinary repository with a working tree: nothing is vouched for.
    Suspicious(String),
}

/// A repository with a working tree, all paths absolute and without links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The working tree's top directory.
    pub worktree: PathBuf,
    /// `.git`, or what the `.git` file names: HEAD and the index are here.
    pub git_dir: PathBuf,
    /// Where configuration, hooks and objects are; shared by all linked worktrees, so equal for the same repository.
    pub common_dir: PathBuf,
}

/// What was found in each directory that was looked at.
pub type Found = HashMap<PathBuf, Discovery>;

/// Finds the repository as git does: upwards from `start` to the root. `start` has no links on its way; what was `found`
/// before is not looked at again.
///
/// Where git would pass over a broken `.git` and look further up, or take the directory itself for a bare repository, the answer is
/// [`Discovery::Suspicious`]. Environment variables that lead git elsewhere are [`trust`]'s to name.
pub fn discover(start: &Path, found: &mut Found, can_enter: impl Fn(&Path) -> bool) -> Discovery {
    if !found.contains_key(start) {
        let here = match at(start) {
            Discovery::None if !can_enter(start) => {
                Discovery::Suspicious(format!("{} cannot be entered", start.display()))
            }
            here => here,
        };
        found.insert(start.to_path_buf(), here);
    }
    for directory in start.ancestors() {
        let here = found.entry(directory.to_path_buf()).or_insert_with(|| at(directory));
        if *here != Discovery::None {
            return here.clone();
        }
    }
    Discovery::None
}

/// What is in this very directory.
fn at(directory: &Path) -> Discovery {
    let dot_git = directory.join(".git");
    match fs::symlink_metadata(&dot_git) {
        Ok(metadata) => match git_dir_behind(&dot_git, &metadata) {
            Ok((git_dir, common_dir)) => Discovery::Repository(Repository {
                worktree: directory.to_owned(),
                git_dir,
                common_dir,
            }),
            Err(why) => Discovery::Suspicious(format!("{}: {why}", dot_git.display())),
        },
        Err(error) if !is_absent(&error) => Discovery::Suspicious(format!("{} cannot be looked at", dot_git.display())),
        Err(_) if may_be_bare(directory) => {
            Discovery::Suspicious(format!("{} holds the files of a bare repository", directory.display()))
        }
        Err(_) => Discovery::None,
    }
}

/// The directory itself looks like a git directory, even if only roughly.
fn may_be_bare(directory: &Path) -> bool {
    let has = |name: &str| fs::symlink_metadata(directory.join(name)).is_ok();
    has("HEAD") && (has("commondir") || (has("objects") && has("refs")))
}

/// The git directory and common directory that a `.git` leads to, which stands in a directory without links on its way.
fn git_dir_behind(dot_git: &Path, metadata: &Metadata) -> Result<(PathBuf, PathBuf), String> {
    let git_dir = if metadata.is_dir() {
        dot_git.to_owned()
    } else if dot_git.is_dir() {
        fs::canonicalize(dot_git).map_err(|_| "leads nowhere")?
    } else {
        let text = bounded_text(dot_git)?.ok_or("is gone")?;
        let target = text.strip_prefix("gitdir: ").ok_or("is not a git file")?;
        let target = beside(dot_git, target.trim_end_matches(['\n', '\r']));
        fs::canonicalize(target).map_err(|_| "leads nowhere")?
    };
    let common_dir = match bounded_text(&git_dir.join("commondir"))? {
        Some(text) => {
            let target = beside(&git_dir.join("commondir"), text.trim_end_matches(['\n', '\r']));
            fs::canonicalize(target).map_err(|_| "its common directory leads nowhere")?
        }
        None => git_dir.clone(),
    };
    if !head_is_valid(&git_dir)?
        || !is_searchable(&common_dir.join("objects"))
        || !is_searchable(&common_dir.join("refs"))
    {
        return Err("is not a complete git directory, so git may look further up".into());
    }
    Ok((git_dir, common_dir))
}

/// `target` as the file `file` means it.
fn beside(file: &Path, target: &str) -> PathBuf {
    file.parent().unwrap_or(Path::new("/")).join(target)
}

fn head_is_valid(git_dir: &Path) -> Result<bool, String> {
    let head = git_dir.join("HEAD");
    let file = match opened(&head, libc::O_NOFOLLOW) {
        Ok(file) => file,
        Err(error) if is_absent(&error) => return Ok(false),
        // It is a link, or cannot be read.
        Err(_) => return Ok(fs::read_link(&head).is_ok_and(|target| target.starts_with("refs"))),
    };
    let (bytes, _) = contents(file, &head, MAX_TEXT)?;
    let text = String::from_utf8_lossy(&bytes);
    if let Some(name) = text.strip_prefix("ref:") {
        return Ok(name.trim_start().starts_with("refs/"));
    }
    let hex = text.bytes().take_while(u8::is_ascii_hexdigit).count();
    Ok(hex == 40 || hex == 64)
}

/// A directory that may be entered: the trailing `.` asks just that.
fn is_searchable(directory: &Path) -> bool {
    fs::metadata(directory.join(".")).is_ok_and(|m| m.is_dir())
}

/// The text of a regular file; `None` if there is none.
fn bounded_text(path: &Path) -> Result<Option<String>, String> {
    Ok(bounded(path, MAX_TEXT)?.map(|(bytes, _)| String::from_utf8_lossy(&bytes).into_owned()))
}

/// The bytes of a regular file and what the system says of it; `None` if there is none.
pub(super) fn bounded(path: &Path, limit: u64) -> Result<Option<(Vec<u8>, Metadata)>, String> {
    match opened(path, 0) {
        Ok(file) => contents(file, path, limit).map(Some),
        // A link that leads nowhere is nothing to git either.
        Err(error) if is_absent(&error) => Ok(None),
        Err(_) => Err(unreadable(path)),
    }
}

fn unreadable(path: &Path) -> String {
    format!("{} cannot be read", path.display())
}

fn opened(path: &Path, flags: i32) -> std::io::Result<File> {
    // Opening a pipe would wait for a writer.
    OpenOptions::new()
        .read(true)
        .custom_flags(libc::O_NONBLOCK | flags)
        .open(path)
}

fn contents(file: File, path: &Path, limit: u64) -> Result<(Vec<u8>, Metadata), String> {
    let metadata = file.metadata().map_err(|_| unreadable(path))?;
    if !metadata.is_file() {
        return Err(format!("{} is not a file", path.display()));
    }
    if metadata.len() > limit {
        return Err(format!("{} is too long", path.display()));
    }
    let mut bytes = Vec::with_capacity(metadata.len() as usize);
    // No further than that length, or the end of the file would be asked for once more.
    file.take(metadata.len())
        .read_to_end(&mut bytes)
        .map_err(|_| unreadable(path))?;
    Ok((bytes, metadata))
}

/// What surrounds a git process besides the repository.
#[derive(Clone, Copy, Debug, Default)]
pub struct Surroundings<'a> {
    pub home: Option<&'a Path>,
    pub xdg_config_home: Option<&'a Path>,
    /// Normally `/etc/gitconfig`.
    pub system_config: Option<&'a Path>,
    /// The names of the variables that git would inherit. Only `GIT_*` counts.
    pub variables: &'a [String],
}

/// Why git may run something that nobody vouched for. Each reason is for a person to read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trust {
    /// Reasons that hold for every command, `status`, `diff`, `log` and `show` included.
    pub reads: Vec<String>,
    /// Further reasons for commands that change the repository or the working tree, or reach another repository.
    pub writes: Vec<String>,
}

impl Trust {
    /// Commands that only look run no program of the repository's choosing.
    pub fn reads_are_inert(&self) -> bool {
        self.reads.is_empty()
    }

    /// Commands that change something run no program of the repository's choosing, hooks included.
    pub fn writes_are_inert(&self) -> bool {
        self.reads.is_empty() && self.writes.is_empty()
    }

    fn add(&mut self, weight: Weight, reason: impl FnOnce() -> String) {
        match weight {
            Weight::Inert => {}
            Weight::Writes => self.writes.push(reason()),
            Weight::Reads => self.reads.push(reason()),
        }
    }
}

/// Says what this repository may make git run.
///
/// Looked at: the repository's own configuration (an include in it is a reason and is not followed), hooks in every directory that
/// may be the hooks directory, the same for each submodule that is checked out (`status` and `diff` start git in them), and
/// inherited `GIT_*` variables. Replace refs and alternates run nothing and are no reason: they only say where objects are.
pub fn trust(repository: &Repository, surroundings: &Surroundings) -> Trust {
    let mut trust = Trust::default();
    for name in surroundings.variables {
        if name.starts_with("GIT_") && !is_inert_variable(name) {
            trust.reads.push(format!("the environment sets {name}"));
        }
    }
    let own = personal(surroundings, &repository.worktree);
    for (file, setting) in &own.from_project {
        trust.add(setting.weight(), || {
            format!(
                "{}, which your configuration includes, sets {}",
                file.display(),
                setting.name
            )
        });
    }
    judge(repository, &own.hooks, surroundings.home, 0, &mut trust);
    trust
}

/// Variables of the session's own environment that move no repository, name no configuration and run nothing that the
/// person did not choose. Editors, askers and ssh are the person's own.
fn is_inert_variable(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "GIT_ADVICE",
        "GIT_ASKPASS",
        "GIT_CEILING_DIRECTORIES",
        "GIT_DISCOVERY_ACROSS_FILESYSTEM",
        "GIT_EDITOR",
        "GIT_FLUSH",
        "GIT_LITERAL_PATHSPECS",
        "GIT_MERGE_AUTOEDIT",
        "GIT_OPTIONAL_LOCKS",
        "GIT_PAGER",
        "GIT_SEQUENCE_EDITOR",
        "GIT_SSH",
        "GIT_SSH_COMMAND",
        "GIT_SSH_VARIANT",
        "GIT_SSL_CAINFO",
        "GIT_SSL_CAPATH",
        "GIT_TERMINAL_PROMPT",
    ];
    const PREFIXES: &[&str] = &["GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_PS1_"];
    NAMES.contains(&name) || PREFIXES.iter().any(|p| name.starts_with(p))
}

fn judge(repository: &Repository, personal_hooks: &[String], home: Option<&Path>, depth: usize, trust: &mut Trust) {
    let mut hooks = vec![repository.common_dir.join("hooks")];
    let hooks_path = |value: &str| resolve_path(value, &repository.worktree, home);
    for value in personal_hooks {
        match hooks_path(value) {
            Some(path) => hooks.push(path),
            None => trust
                .reads
                .push(format!("the hooks directory {value} is not understood")),
        }
    }
    let mut hash = 20;
    for file in [
        repository.common_dir.join("config"),
        repository.git_dir.join("config.worktree"),
    ] {
        let settings = match settings(&file) {
            Ok(settings) => settings,
            Err(why) => {
                trust.reads.push(why);
                continue;
            }
        };
        for setting in settings {
            let value = setting.value.as_deref().unwrap_or_default();
            match setting.name.as_str() {
                "core.hookspath" => match hooks_path(value) {
                    Some(path) => hooks.push(path),
                    None => trust
                        .reads
                        .push(format!("the hooks directory {value} is not understood")),
                },
                "core.worktree" if leads_to(&repository.git_dir.join(value), &repository.worktree) => {}
                "extensions.objectformat" if value == "sha256" => hash = 32,
                name => trust.add(setting.weight(), || {
                    format!("the repository's configuration sets {name}")
                }),
            }
        }
    }
    for directory in hooks {
        judge_hooks(&directory, trust);
    }
    judge_submodules(repository, hash, personal_hooks, home, depth, trust);
}

fn leads_to(path: &Path, target: &Path) -> bool {
    fs::canonicalize(path).is_ok_and(|p| p == target)
}

/// A configured path: absolute, below the home directory, or relative to `base`. `%(prefix)` and `~user` are not understood.
fn resolve_path(value: &str, base: &Path, home: Option<&Path>) -> Option<PathBuf> {
    if value.is_empty() || value.starts_with("%(") || value.starts_with(":(") {
        return None;
    }
    if value == "~" {
        return home.map(Path::to_owned);
    }
    if let Some(rest) = value.strip_prefix("~/") {
        return home.map(|h| h.join(rest));
    }
    (!value.starts_with('~')).then(|| base.join(value))
}

fn settings(file: &Path) -> Result<Vec<Setting>, String> {
    match bounded(file, MAX_TEXT)? {
        Some((bytes, _)) => config::parse(&bytes).map_err(|why| format!("{}: {why}", file.display())),
        None => Ok(Vec::new()),
    }
}

/// What of the person's own configuration depends on the project. Conditional includes count as met.
#[derive(Default)]
struct Personal {
    /// Every value that it may give to `core.hooksPath`.
    hooks: Vec<String>,
    /// The settings of files in the working tree, whose content the person did not choose.
    from_project: Vec<(PathBuf, Setting)>,
}

fn personal(surroundings: &Surroundings, worktree: &Path) -> Personal {
    let home = surroundings.home;
    let xdg = match surroundings.xdg_config_home {
        Some(directory) => Some(directory.join("git/config")),
        None => home.map(|h| h.join(".config/git/config")),
    };
    let files = [
        surroundings.system_config.map(Path::to_owned),
        xdg,
        home.map(|h| h.join(".gitconfig")),
    ];
    let mut found = Personal::default();
    for file in files.into_iter().flatten() {
        collect(&file, home, worktree, MAX_INCLUDES, &mut found);
    }
    found
}

fn collect(file: &Path, home: Option<&Path>, worktree: &Path, depth: usize, found: &mut Personal) {
    // What cannot be read or is broken makes git itself stop before it runs anything.
    let Ok(settings) = settings(file) else { return };
    let real = fs::canonicalize(file);
    let is_of_project = depth < MAX_INCLUDES && real.is_ok_and(|real| real.starts_with(worktree));
    for setting in settings {
        let includes = setting.name == "include.path"
            || (setting.name.starts_with("includeif.") && setting.name.ends_with(".path"));
        let value = setting.value.as_deref();
        if setting.name == "core.hookspath" {
            found.hooks.extend(value.map(str::to_owned));
        } else if includes && depth > 0 {
            let base = file.parent().unwrap_or(Path::new("/"));
            if let Some(path) = value.and_then(|value| resolve_path(value, base, home)) {
                collect(&path, home, worktree, depth - 1, found);
            }
        } else if is_of_project {
            found.from_project.push((file.to_owned(), setting));
        }
    }
}

/// Hooks that git runs only when it does more than look.
const WRITE_HOOKS: &[&str] = &[
    "applypatch-msg",
    "pre-applypatch",
    "post-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "prepare-commit-msg",
    "commit-msg",
    "post-commit",
    "pre-rebase",
    "post-checkout",
    "post-merge",
    "pre-push",
    "pre-receive",
    "update",
    "proc-receive",
    "post-receive",
    "post-update",
    "reference-transaction",
    "push-to-checkout",
    "pre-auto-gc",
    "post-rewrite",
    "sendemail-validate",
    "p4-changelist",
    "p4-prepare-changelist",
    "p4-post-changelist",
    "p4-pre-submit",
];

fn judge_hooks(directory: &Path, trust: &mut Trust) {
    let entries = match fs::read_dir(directory) {
        Ok(entries) => entries,
        Err(error)
            if matches!(
                error.kind(),
                std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory
            ) =>
        {
            return;
        }
        Err(_) => {
            trust.reads.push(format!("{} cannot be read", directory.display()));
            return;
        }
    };
    for (seen, entry) in entries.enumerate() {
        let Ok(entry) = entry else { continue };
        if seen >= MAX_HOOKS {
            trust
                .reads
                .push(format!("{} holds too many files", directory.display()));
            return;
        }
        let name = entry.file_name();
        // Every hook's name is of lower case letters, digits and `-`: samples and libraries beside the hooks are none.
        let Some(name) = name.to_str().filter(|n| n.bytes().all(is_hook_byte)) else {
            continue;
        };
        let runs = fs::metadata(entry.path()).is_ok_and(|m| m.is_file() && m.permissions().mode() & 0o111 != 0);
        if runs {
            let weight = if WRITE_HOOKS.contains(&name) {
                Weight::Writes
            } else {
                Weight::Reads
            };
            trust.add(weight, || format!("the hook {} runs", directory.join(name).display()));
        }
    }
}

fn is_hook_byte(byte: u8) -> bool {
    byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'
}

/// Git starts itself inside every submodule that is checked out, which then obeys the submodule's own configuration.
fn judge_submodules(
    repository: &Repository,
    hash: usize,
    personal_hooks: &[String],
    home: Option<&Path>,
    depth: usize,
    trust: &mut Trust,
) {
    let index = match bounded(&repository.git_dir.join("index"), MAX_INDEX) {
        Ok(Some((index, _))) => index,
        Ok(None) => return,
        Err(why) => {
            trust.reads.push(why);
            return;
        }
    };
    let mut paths = Vec::new();
    let scanned = index::scan(&index, hash, |path, entry| {
        if entry.mode == index::GITLINK {
            paths.push(path.to_owned());
        }
        paths.len() <= MAX_SUBMODULES
    });
    if let Err(why) = scanned {
        trust.reads.push(why.to_owned());
    }
    if paths.len() > MAX_SUBMODULES || (depth >= MAX_SUBMODULE_DEPTH && !paths.is_empty()) {
        trust.reads.push("there are too many submodules to look at".into());
        return;
    }
    for path in paths {
        let path = repository.worktree.join(std::ffi::OsStr::from_bytes(&path));
        match at(&path) {
            Discovery::None => {}
            Discovery::Repository(submodule) => {
                // Its paths are spelled through links that were not followed.
                let worktree = fs::canonicalize(&submodule.worktree).unwrap_or(submodule.worktree);
                let submodule = Repository { worktree, ..submodule };
                judge(&submodule, personal_hooks, home, depth + 1, trust);
            }
            Discovery::Suspicious(why) => trust.reads.push(why),
        }
    }
}
