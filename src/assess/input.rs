//! What stands on a command's standard input, where the script itself tells: a here-document, what `echo` prints into
//! the pipe, or the paths that `find` prints.
//!
//! What is not known is `Input::Unknown`; it is never assumed to be empty.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::Work;
use super::{glob, names, paths};
use crate::catalog::{Feed, Inner, Reading, Role, Split, grammar};
use crate::facts::Facts;
use crate::facts::git::Discovery;
use crate::shell::ast::{Command, Part, Redirect, RedirectKind, Stage, Word};
use crate::shell::expansion::{expand, expand_single};
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// At most this many words of a text become words of a command.
const MAX_FED: usize = 128;

/// What a command reads when it reads its standard input from the start.
#[derive(Clone, Debug, Default)]
pub enum Input {
    #[default]
    Unknown,
    /// Exactly this.
    Text(Rc<str>),
    Paths(Rc<Paths>),
}

/// Paths of existing files, each ended by a newline or a NUL.
#[derive(Debug)]
pub struct Paths {
    /// Each path is one of these.
    each: Vec<Value>,
    ended_by_nul: bool,
    /// None of them holds a blank, a quote or a backslash.
    plain: bool,
}

/// The standard input of a command: its one redirection, or what the pipe before it brings (`None`: there is no pipe). Of
/// several, bash takes the last, and zsh (its option MULTIOS) reads all.
pub fn of(stage: &Stage, piped: Option<Input>, state: &State, work: &Work<'_>) -> Input {
    let redirects = stage.redirects.iter();
    let mut inputs = piped
        .into_iter()
        .chain(redirects.filter_map(|redirect| redirected(redirect, state, work)));
    match (inputs.next(), inputs.next()) {
        (Some(only), None) => only,
        _ => Input::Unknown,
    }
}

/// `None`: the redirection leaves standard input as it is.
fn redirected(redirect: &Redirect, state: &State, work: &Work<'_>) -> Option<Input> {
    if !matches!(redirect.descriptor, None | Some(0)) {
        return None;
    }
    match &redirect.kind {
        RedirectKind::HereDoc(word) => Some(text(expand_single(word, state, work), "")),
        RedirectKind::HereString(word) => Some(text(expand_single(word, state, work), "\n")),
        RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::Duplicate(_) | RedirectKind::Close => {
            Some(Input::Unknown)
        }
        RedirectKind::Write(_) | RedirectKind::WriteBoth(_) | RedirectKind::Append(_) | RedirectKind::AppendBoth(_) => {
            None
        }
    }
}

fn text(value: Value, end: &str) -> Input {
    value
        .literal()
        .map_or(Input::Unknown, |text| Input::Text(format!("{text}{end}").into()))
}

/// What a command of a pipeline prints for the `next`, where that is known; `piped` is what it gets itself.
///
/// The machine is only looked at for what makes words of paths.
pub fn printed(stage: &Stage, piped: Option<&Input>, next: &Stage, state: &State, work: &Work<'_>) -> Input {
    const PRINTERS: &[&str] = &["echo", "printf", "cat", "find", "git", "rg", "grep"];
    let Command::Simple { words, .. } = &stage.command else {
        return Input::Unknown;
    };
    let name = match words.first().and_then(Word::as_bare_literal) {
        Some(name) if PRINTERS.contains(&name) => name,
        _ => return Input::Unknown,
    };
    if PATH_PRINTERS.contains(&name) && !makes_words(next) {
        return Input::Unknown;
    }
    prints(name, stage, piped, state, work)
}

/// Programs whose lines are paths.
const PATH_PRINTERS: &[&str] = &["find", "git", "rg", "grep"];

/// The paths that a command prints, in whatever place.
pub fn printed_paths(stage: &Stage, state: &State, work: &Work<'_>) -> Input {
    let name = match &stage.command {
        Command::Simple { words, .. } => words.first().and_then(Word::as_bare_literal),
        _ => None,
    };
    match name.filter(|name| PATH_PRINTERS.contains(name)) {
        Some(name) => prints(name, stage, None, state, work),
        None => Input::Unknown,
    }
}

fn prints(name: &str, stage: &Stage, piped: Option<&Input>, state: &State, work: &Work<'_>) -> Input {
    let Command::Simple { assignments, words } = &stage.command else {
        return Input::Unknown;
    };
    let is_elsewhere = |redirect: &Redirect| match redirect.kind {
        RedirectKind::HereDoc(_) | RedirectKind::HereString(_) | RedirectKind::Read(_) => true,
        RedirectKind::Write(_) | RedirectKind::Append(_) => redirect.descriptor == Some(2),
        _ => false,
    };
    if !assignments.is_empty()
        || state.function(name).is_some()
        || names::renames(name, state, work.facts)
        || !stage.redirects.iter().all(is_elsewhere)
    {
        return Input::Unknown;
    }
    let args: Vec<Arg> = words.iter().flat_map(|word| expand(word, state, work)).collect();
    let texts: Option<Vec<&str>> = args.iter().skip(1).map(|arg| arg.value.literal()).collect();
    let Some(texts) = texts else { return Input::Unknown };
    let printed = match (name, texts.as_slice()) {
        ("cat", []) => Some(of(stage, piped.cloned(), state, work)),
        ("echo", words) => echoed(words),
        ("printf", words) => formatted(words),
        ("find", words) => found(words, state, work),
        ("git", ["ls-files", words @ ..]) => listed(words, state, work),
        ("rg", words) => searched(false, words, state, work),
        ("grep", words) => searched(true, words, state, work),
        _ => None,
    };
    printed.unwrap_or_default()
}

/// Whether a command is `xargs` or runs it, or is a loop that may read lines.
fn makes_words(stage: &Stage) -> bool {
    let is_xargs = |word: &Word| matches!(word.parts.as_slice(), [Part::Literal(name)] if name == "xargs");
    match &stage.command {
        Command::Simple { words, .. } => words.iter().any(is_xargs),
        command => matches!(command, Command::While { .. }),
    }
}

/// `echo WORDS`; some shells give backslashes a meaning.
fn echoed(words: &[&str]) -> Option<Input> {
    let is_option = words.first().is_some_and(|word| word.starts_with('-'));
    let line = words.join(" ");
    (!is_option && !line.contains('\\')).then(|| Input::Text(format!("{line}\n").into()))
}

/// `printf TEXT`, `printf '%s\n' WORDS`.
fn formatted(words: &[&str]) -> Option<Input> {
    let text = match words {
        [format] if !format.contains(['%', '\\']) && !format.starts_with('-') => (*format).to_owned(),
        ["%s\\n", words @ ..] => words.iter().map(|word| format!("{word}\n")).collect(),
        _ => return None,
    };
    Some(Input::Text(text.into()))
}

/// `find DIRECTORIES .. -print`: each path begins with the directory that it was found from.
fn found(words: &[&str], state: &State, work: &Work<'_>) -> Option<Input> {
    const OTHERWISE: &[&str] = &["-printf", "-ls", "-exec", "-execdir", "-ok", "-okdir", "-print"];
    let count = words
        .iter()
        .take_while(|word| !word.starts_with(['-', '(', ')', '!', ',']))
        .count();
    let (starts, tests) = words.split_at(count);
    let ended_by_nul = tests.contains(&"-print0");
    let follows = tests
        .first()
        .is_some_and(|word| matches!(*word, "-L" | "-H" | "-P" | "-D") || word.starts_with("-O"));
    if follows
        || tests
            .iter()
            .any(|word| OTHERWISE.contains(word) && (*word != "-print" || ended_by_nul))
    {
        return None;
    }
    let starts = if starts.is_empty() { &["."] } else { starts };
    let roots = starts
        .iter()
        .map(|start| Some((*start, paths::absolute(start, state.cwd.as_deref())?)));
    let roots: Vec<(&str, PathBuf)> = roots.collect::<Option<_>>()?;
    let names = sought(tests);
    let mut each = Vec::new();
    let mut plain = !ended_by_nul && !state.wrote;
    for (text, root) in &roots {
        let below = Below::of(root, &|_| false, work.facts).filter(|_| !state.wrote);
        plain &= is_plain(text)
            && below
                .as_ref()
                .is_some_and(|below| below.paths.iter().all(|path| is_plain(path)));
        each.push(match below.zip(names.as_ref()) {
            Some((below, names)) => below.fitting(text, names),
            None => Value::Under((*text).to_owned()),
        });
    }
    Some(Input::Paths(Rc::new(Paths {
        each,
        ended_by_nul,
        plain,
    })))
}

/// The patterns that all names fit which `find` prints; `None` where its tests are more than one after another.
fn sought<'a>(tests: &[&'a str]) -> Option<Vec<&'a str>> {
    const JOINED: &[&str] = &["-o", "-or", "!", "-not", "(", ")", ","];
    if tests.iter().any(|word| JOINED.contains(word)) {
        return None;
    }
    let pairs = tests.windows(2).filter(|pair| pair[0] == "-name");
    Some(pairs.map(|pair| pair[1]).collect())
}

/// `git ls-files [-z] [PATHS]`: paths below the current directory, as the index has them.
fn listed(words: &[&str], state: &State, work: &Work<'_>) -> Option<Input> {
    let mut ended_by_nul = false;
    for word in words {
        match *word {
            "-z" => ended_by_nul = true,
            "--" | "-c" | "--cached" => {}
            path if path.starts_with(['-', ':', '/', '~']) || path.split('/').any(|part| part == "..") => return None,
            _ => {}
        }
    }
    let cwd = state.cwd.as_deref().filter(|_| !state.wrote)?;
    let Discovery::Repository(repository) = work.facts.repository_at(cwd) else {
        return None;
    };
    let mut plain = true;
    let mut begins_well = true;
    let is_root = repository.worktree == work.facts.real(cwd);
    let mut listed = Vec::new();
    let each = |name: &[u8]| {
        if is_root && listed.len() <= MAX_FED {
            listed.push(String::from_utf8_lossy(name).into_owned());
        }
        plain &= is_plain(&String::from_utf8_lossy(name)) && name.is_ascii();
        // A name that begins with `-`, seen from any directory.
        begins_well &= name[0] != b'-' && !name.windows(2).any(|pair| pair == b"/-");
    };
    work.facts
        .with_snapshot(&repository, |snapshot| snapshot.each_name(each))??;
    let each = vec![one_of(".", listed)];
    let paths = Paths {
        each,
        ended_by_nul,
        plain,
    };
    (begins_well && (plain || ended_by_nul)).then(|| Input::Paths(Rc::new(paths)))
}

/// `rg -l PATTERN [DIRECTORY]`, `rg --files [DIRECTORY]`, `grep -rl PATTERN [DIRECTORY]`.
fn searched(is_grep: bool, words: &[&str], state: &State, work: &Work<'_>) -> Option<Input> {
    let (letters, ends_with_nul) = if is_grep {
        ("EFHZilnrsw", 'Z')
    } else {
        ("0FSilnsw", '0')
    };
    let mut given = String::new();
    let mut operands = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--files" if !is_grep => {
                given.push('l');
                operands.push("");
            }
            "--hidden" => {}
            include if is_grep && include.starts_with("--include=") => {}
            "-t" | "-g" | "--type" | "--glob" if !is_grep => drop(rest.next()?),
            cluster if cluster.starts_with('-') => {
                let flags = cluster[1..].chars();
                if cluster.len() < 2 || !flags.clone().all(|letter| letters.contains(letter)) {
                    return None;
                }
                given.extend(flags);
            }
            operand => operands.push(operand),
        }
    }
    if !given.contains('l') || is_grep && !given.contains('r') || state.wrote {
        return None;
    }
    let ended_by_nul = given.contains(ends_with_nul);
    let start = match operands.as_slice() {
        [_] => None,
        [_, start] => Some(*start),
        _ => return None,
    };
    let root = paths::absolute(start.unwrap_or("."), state.cwd.as_deref())?;
    let begins_well = |name: &OsString| !name.to_string_lossy().starts_with('-');
    if start.is_none() && !work.facts.list(&root)?.iter().all(begins_well) {
        return None;
    }
    let is_left_out = |dir: &Path| !is_grep && dir.file_name().is_some_and(|name| name == ".git");
    let all_plain = || {
        let below = Below::of(&root, &is_left_out, work.facts);
        below.is_some_and(|below| below.paths.iter().all(|path| is_plain(path)))
    };
    let plain = !ended_by_nul && start.is_none_or(is_plain) && all_plain();
    Some(below(start.unwrap_or("."), ended_by_nul, plain))
}

/// Paths below a directory, none of which begins with `-`.
fn below(directory: &str, ended_by_nul: bool, plain: bool) -> Input {
    Input::Paths(Rc::new(Paths {
        each: vec![Value::Under(directory.to_owned())],
        ended_by_nul,
        plain,
    }))
}

/// What lies below a directory: directories, files and links, each by its path from there.
struct Below {
    paths: Vec<String>,
}

impl Below {
    /// `None` where there is more than is looked at.
    fn of(root: &Path, skip: &dyn Fn(&Path) -> bool, facts: &Facts) -> Option<Below> {
        let relative = |path: &Path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned());
        let directories = RefCell::new(Vec::new());
        let tree = facts.tree(root, &|dir| {
            directories.borrow_mut().push(relative(dir));
            skip(dir)
        });
        let files = tree.files.iter().chain(&tree.links).map(|path| relative(path));
        let paths = directories.into_inner().into_iter().chain(files);
        (!tree.cut)
            .then(|| paths.collect::<Option<_>>())
            .flatten()
            .map(|paths| Below { paths })
    }

    /// One of those whose names fit all of these patterns, as they are printed from the starting point `start`.
    fn fitting(&self, start: &str, names: &[&str]) -> Value {
        let name_of = |path: &str| path.rsplit('/').next().unwrap_or_default().to_owned();
        // Braces are a character like any other to find.
        let fits_one =
            |name: &str, path: &str| name.contains('{') || glob::name_fits(name, &name_of(path)).unwrap_or(true);
        let fits = |path: &str| names.iter().all(|name| fits_one(name, path));
        let slash = if start.ends_with('/') { "" } else { "/" };
        let below = self
            .paths
            .iter()
            .filter(|path| fits(path))
            .map(|path| format!("{start}{slash}{path}"));
        let own = Some(start.to_owned()).filter(|start| names.is_empty() || fits(start.trim_end_matches('/')));
        one_of(start, own.into_iter().chain(below).take(MAX_FED + 1).collect())
    }
}

/// One of these paths; where they are too many to list, something below `start`.
fn one_of(start: &str, paths: Vec<String>) -> Value {
    match paths.len() {
        1..=MAX_FED => Value::OneOf(paths),
        _ => Value::Under(start.to_owned()),
    }
}

fn is_plain(text: &str) -> bool {
    !text.contains([' ', '\t', '\n', '\r', '\'', '"', '\\', '\u{b}', '\u{c}'])
}

/// Takes a known input as the code that the command reads; `false` where nobody can vouch for it.
///
/// A shell reads its script line by line, and what its commands read of it is not run: only one line is surely all of it.
/// The clients of databases obey commands of their own at the begin of a line and, some, after a backslash.
pub fn as_code(role: Role, input: &Input, reading: &mut Reading, span: Span) -> bool {
    let Input::Text(text) = input else { return false };
    let code = Arg {
        value: Value::Literal(text.to_string()),
        span,
    };
    let lines = text.trim_end_matches('\n').lines().count();
    let obeys_lines = |text: &str| text.lines().any(|line| line.trim_start().starts_with(['.', '/', '#']));
    match role {
        Role::Shell | Role::Python | Role::JavaScript => {
            reading.inner.push(Inner::Code {
                role,
                code,
                words: None,
            });
            role != Role::Shell || lines <= 1
        }
        _ => {
            grammar::embedded(role, &code, reading);
            !(lines > 1 && obeys_lines(text) || text.contains('\\'))
        }
    }
}

/// Plain lines, each one word.
pub const LINES: Feed = Feed {
    placeholder: None,
    split: Split::Blanks,
    in_parts: false,
};

/// The words that data becomes; `None` where they are not known.
pub fn words(input: &Input, feed: &Feed) -> Option<Vec<Value>> {
    match input {
        Input::Unknown => None,
        Input::Text(text) if feed.split == Split::Blanks && !feed.in_parts && !text.contains(['\'', '"', '\\']) => {
            let words: Vec<Value> = match feed.placeholder {
                None => text
                    .split_ascii_whitespace()
                    .map(|word| Value::Literal(word.to_owned()))
                    .collect(),
                Some(_) => text
                    .lines()
                    .map(|line| Value::Literal(line.trim_start().to_owned()))
                    .collect(),
            };
            (words.len() <= MAX_FED).then_some(words)
        }
        Input::Text(_) => None,
        Input::Paths(paths) => match feed.split {
            Split::Nul if paths.ended_by_nul => Some(paths.each.clone()),
            Split::Blanks if !paths.ended_by_nul && paths.plain => Some(paths.each.clone()),
            Split::Blanks | Split::Nul | Split::Other => None,
        },
    }
}
