//! What a command prints, where its words and the machine tell: its very text, or lines of which it is known what each may
//! be. Filters of lines let some of these through.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::Work;
use super::found::{self, Wanted};
use super::input::{self, Input, Lines, MAX_FED, is_plain};
use super::{glob, names, numbers, paths, roles};
use crate::facts::git::Discovery;
use crate::facts::{Kind, Tree};
use crate::shell::ast::{Command, Part, Pipeline, Redirect, RedirectKind, Stage, Word};
use crate::shell::expansion::expand;
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// What a command of a pipeline prints for those `behind` it, where that is known; `piped` is what it gets itself.
///
/// The machine is only looked at for what makes words of paths.
pub fn printed(stage: &Stage, piped: Option<&Input>, behind: &[Stage], state: &State, work: &Work<'_>) -> Input {
    let is_plain = |name: &str| ["echo", "printf", "cat"].contains(&name);
    match name_of(stage) {
        Some(name) if is_plain(name) || behind.iter().any(makes_words) => prints(name, stage, piped, state, work),
        _ => Input::Unknown,
    }
}

/// What a pipeline prints.
pub fn printed_by(pipeline: &Pipeline, state: &State, work: &Work<'_>) -> Input {
    let mut piped = None;
    for stage in &pipeline.stages {
        let printed = name_of(stage).map(|name| prints(name, stage, piped.as_ref(), state, work));
        piped = Some(printed.unwrap_or_default());
    }
    piped.unwrap_or_default()
}

fn name_of(stage: &Stage) -> Option<&str> {
    match &stage.command {
        Command::Simple { words, .. } => words.first()?.as_bare_literal(),
        _ => None,
    }
}

fn prints(name: &str, stage: &Stage, piped: Option<&Input>, state: &State, work: &Work<'_>) -> Input {
    const PRINTERS: &[&str] = &[
        "cat", "docker", "echo", "find", "git", "grep", "head", "ls", "lsof", "pgrep", "printf", "rg", "seq", "sort",
        "tail", "uniq", "xargs",
    ];
    let Command::Simple { assignments, words } = &stage.command else {
        return Input::Unknown;
    };
    let is_elsewhere = |redirect: &Redirect| match redirect.kind {
        RedirectKind::HereDoc(_) | RedirectKind::HereString(_) | RedirectKind::Read(_) => true,
        RedirectKind::Write(_) | RedirectKind::Append(_) => redirect.descriptor == Some(2),
        _ => false,
    };
    if !PRINTERS.contains(&name)
        || !assignments.is_empty()
        || stage.pipes_stderr
        || state.function(name).is_some()
        || !stage.redirects.iter().all(is_elsewhere)
    {
        return Input::Unknown;
    }
    let Some(put_in) = names::put_in(name, state, work.facts) else {
        return Input::Unknown;
    };
    let put_in = put_in.into_iter().map(|text| Arg {
        value: Value::Literal(text),
        span: stage.span,
    });
    let written = words.iter().skip(1).flat_map(|word| expand(word, state, work));
    // Neither of them colours what no terminal shows.
    let colours = |arg: &Arg| ["grep", "ls"].contains(&name) && arg.value.literal() == Some("--color=auto");
    let args: Vec<Arg> = put_in.chain(written).filter(|arg| !colours(arg)).collect();
    let texts = args.iter().map(|arg| match arg.value.alternatives()? {
        [text] => Some(text.as_str()),
        _ => None,
    });
    let texts: Option<Vec<&str>> = texts.collect();
    let Some(texts) = texts else { return Input::Unknown };
    let lines = match piped {
        Some(Input::Lines(lines)) if stage.redirects.iter().all(|it| it.descriptor == Some(2)) => Some(lines.as_ref()),
        _ => None,
    };
    let paths = match (name, texts.as_slice()) {
        ("cat", []) => return input::of(stage, piped.cloned(), state, work),
        ("echo", words) => return echoed(words).unwrap_or_default(),
        ("printf", words) => return formatted(words).unwrap_or_default(),
        ("find", _) => found::paths(&args, Wanted::Printed, state, work),
        ("git", ["ls-files", words @ ..]) => listed(words, state, work),
        ("git", ["merge-base" | "rev-list" | "rev-parse", ..]) | ("docker" | "lsof" | "pgrep" | "seq", _) => {
            numbers::printed(name, &texts, state)
        }
        ("git", ["grep", words @ ..]) => searched_in_git(words, state, work),
        ("ls", words) => named(words, state, work),
        // It reads a pipe.
        ("rg", words) if piped.is_none() => searched(false, words, state, work),
        ("grep", words) if lines.is_none() => searched(true, words, state, work),
        (_, words) => lines
            .filter(|lines| lets_through(name, words, lines))
            .map(|lines| Lines {
                ended_by_nul: false,
                ..lines.clone()
            }),
    };
    paths.map_or(Input::Unknown, |lines| Input::Lines(Rc::new(lines)))
}

/// Whether a filter of lines prints some of its lines and nothing else.
fn lets_through(name: &str, words: &[&str], lines: &Lines) -> bool {
    let is_amount = |text: &str| text.trim_start_matches(['-', '+']).parse::<u32>().is_ok();
    // Of what it takes for no text, grep prints words of its own.
    let is_text = || {
        let of_ascii = |value: &Value| {
            value
                .alternatives()
                .is_some_and(|texts| texts.iter().all(|text| text.is_ascii()))
        };
        lines.each.iter().all(of_ascii)
    };
    match (name, words) {
        ("xargs", ["-0" | "--null", words @ ..]) if lines.ended_by_nul => lists_matches(words),
        ("xargs", words) if !lines.ended_by_nul => lines.plain && lists_matches(words),
        _ if lines.ended_by_nul => false,
        ("sort", words) => are_flags(words, "bdfghinrRuV"),
        ("uniq", words) => are_flags(words, "diu"),
        ("head" | "tail", []) => true,
        ("head" | "tail", ["-n", count]) => is_amount(count),
        ("head" | "tail", [word]) => word.starts_with('-') && is_amount(word[1..].trim_start_matches('n')),
        ("grep", [options @ .., "-e", _]) => are_flags(options, "EFGPaiqsvwx") && is_text(),
        ("grep", [options @ .., pattern]) => {
            are_flags(options, "EFGPaiqsvwx") && !pattern.starts_with('-') && is_text()
        }
        _ => false,
    }
}

/// `xargs grep -l PATTERN` behind the names of files.
fn lists_matches(words: &[&str]) -> bool {
    match words.strip_prefix(&["-r"]).unwrap_or(words) {
        ["grep", options @ .., pattern] => lists(options, "EFGPailswx") && !pattern.starts_with('-'),
        _ => false,
    }
}

/// Whether all of these words are options of one of these letters each, or of several in one word.
pub fn are_flags(words: &[&str], letters: &str) -> bool {
    let of_letters = |given: &str| !given.is_empty() && given.chars().all(|letter| letters.contains(letter));
    words.iter().all(|word| word.strip_prefix('-').is_some_and(of_letters))
}

/// The same, `-l` among them.
fn lists(words: &[&str], letters: &str) -> bool {
    are_flags(words, letters) && words.iter().any(|word| word.contains('l'))
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

/// `ls [FILES]`: the names as they are given, or those in the one directory.
fn named(words: &[&str], state: &State, work: &Work<'_>) -> Option<Lines> {
    // Only a person's own settings make ls write names in another way.
    const OTHERWISE: &[&str] = &["QUOTING_STYLE", "CLICOLOR_FORCE"];
    let mut operands = Vec::new();
    let mut itself = false;
    for &word in words {
        match word.strip_prefix('-') {
            Some(letters) => {
                itself |= letters.contains('d');
                letters.chars().all(|letter| "1drtSUv".contains(letter)).then_some(())?;
            }
            None => operands.push(word),
        }
    }
    if state.wrote || OTHERWISE.iter().any(|name| work.facts.environment.contains(*name)) {
        return None;
    }
    let path = |text: &str| paths::absolute(text, state.cwd.as_deref());
    let kinds = operands.iter().map(|text| Some(work.facts.kind(&path(text)?)));
    let kinds: Vec<Kind> = kinds.collect::<Option<_>>()?;
    let is_one_directory = !itself && matches!(kinds.as_slice(), [] | [Kind::Directory]);
    let texts: Vec<String> = if is_one_directory {
        let names = work.facts.list(&path(operands.first().copied().unwrap_or("."))?)?;
        let names: Vec<String> = names
            .into_iter()
            .map(|name| name.into_string().ok())
            .collect::<Option<_>>()?;
        names.into_iter().filter(|name| !name.starts_with('.')).collect()
    } else {
        let is_shown = |kind: &Kind| itself || !matches!(kind, Kind::Directory);
        kinds.iter().all(is_shown).then_some(())?;
        operands.into_iter().map(str::to_owned).collect()
    };
    Lines::known(texts)
}

/// `git ls-files [-z] [PATHS]`: paths below the current directory, as the index has them.
fn listed(words: &[&str], state: &State, work: &Work<'_>) -> Option<Lines> {
    let mut ended_by_nul = false;
    let mut wanted = Vec::new();
    for word in words {
        match *word {
            "-z" => ended_by_nul = true,
            "--" | "-c" | "--cached" | "-m" | "--modified" => {}
            path => wanted.push(pathspec(path)?),
        }
    }
    let cwd = state.cwd.as_deref().filter(|_| !state.wrote)?;
    let Discovery::Repository(repository) = work.facts.repository_at(cwd) else {
        return None;
    };
    let real = work.facts.real(cwd);
    let here = real.strip_prefix(&repository.worktree).ok()?.to_str()?;
    let mut plain = true;
    let mut begins_well = true;
    let mut names = Vec::new();
    let each = |name: &[u8]| {
        let name = String::from_utf8_lossy(name);
        plain &= is_plain(&name) && name.is_ascii();
        // A name that begins with `-`, seen from any directory.
        begins_well &= !name.starts_with('-') && !name.contains("/-");
        let below = match here {
            "" => Some(name.as_ref()),
            here => name.strip_prefix(here).and_then(|rest| rest.strip_prefix('/')),
        };
        if let Some(name) = below
            && names.len() <= MAX_FED
            && (wanted.is_empty() || wanted.iter().any(|path| is_wanted(name, path)))
        {
            names.push(name.to_owned());
        }
    };
    work.facts
        .with_snapshot(&repository, |snapshot| snapshot.each_name(each))??;
    (begins_well && (plain || ended_by_nul)).then(|| Lines {
        each: vec![one_of(".", names)],
        ended_by_nul,
        plain,
        one: false,
    })
}

/// A word that names paths to git, as git compares it: without `.` and empty names. `None` where it reaches above, or may
/// mean more than its text.
fn pathspec(word: &str) -> Option<String> {
    let is_plain = word.is_ascii() && !word.is_empty() && !word.starts_with(['-', ':', '/', '~']);
    let parts: Vec<&str> = word.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    (is_plain && !parts.contains(&"..")).then(|| parts.join("/"))
}

/// Whether git may take this path for one that a pathspec names, which is empty for all; a `*` takes in slashes too.
fn is_wanted(name: &str, pathspec: &str) -> bool {
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    // To git, a `?` is one byte.
    let is_of_bytes = || pathspec.contains(['?', '[']) && !name.is_ascii();
    pathspec.is_empty()
        || name.strip_prefix(pathspec).is_some_and(below)
        || is_of_bytes()
        || glob::text_fits(pathspec, name).unwrap_or(true)
}

/// `git grep -l PATTERN [-- PATHS]`: tracked files that are no submodule's.
fn searched_in_git(words: &[&str], state: &State, work: &Work<'_>) -> Option<Lines> {
    let (before, paths) = match words.iter().position(|word| *word == "--") {
        Some(at) => (&words[..at], &words[at..]),
        None => (words, &[][..]),
    };
    let [options @ .., pattern] = before else { return None };
    let cwd = state.cwd.as_deref()?;
    let Discovery::Repository(repository) = work.facts.repository_at(cwd) else {
        return None;
    };
    let is_top = work.facts.real(cwd) == repository.worktree && !work.facts.exists(&cwd.join(".gitmodules"));
    // A person may have it write names in colour; none of these is there.
    let is_coloured = |name: &OsString| name.to_string_lossy().starts_with('\u{1b}');
    let none_is_coloured = !work.facts.list(cwd)?.iter().any(is_coloured);
    let is_known = lists(options, "EFGIPailnw") && !pattern.starts_with('-');
    (is_known && is_top && none_is_coloured).then(|| listed(paths, state, work))?
}

/// `rg -l PATTERN [DIRECTORY]`, `rg --files [DIRECTORY]`, `grep -rl PATTERN [DIRECTORY]`.
fn searched(is_grep: bool, words: &[&str], state: &State, work: &Work<'_>) -> Option<Lines> {
    let (letters, ends_with_nul) = if is_grep {
        ("EFHZilnrsw", 'Z')
    } else {
        ("0FSilnsw", '0')
    };
    let mut given = String::new();
    let mut takes_pattern = true;
    let mut operands = Vec::new();
    let mut names = Vec::new();
    let mut hidden = is_grep;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        match *word {
            "--files" if !is_grep => {
                given.push('l');
                takes_pattern = false;
            }
            "--hidden" => hidden = true,
            include if is_grep && include.starts_with("--include=") => {
                names.push(include["--include=".len()..].to_owned())
            }
            "-t" | "--type" if !is_grep => drop(rest.next()?),
            "-g" | "--glob" if !is_grep => {
                let glob = *rest.next()?;
                // What it names is taken though it is hidden.
                hidden |= !glob.starts_with('!');
                names.extend((!glob.starts_with('!')).then(|| glob.to_owned()));
            }
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
    if !given.contains('l') || state.wrote {
        return None;
    }
    if is_grep && !given.contains('r') {
        let files: Vec<String> = operands.iter().skip(1).map(|file| (*file).to_owned()).collect();
        let ended_by_nul = given.contains(ends_with_nul);
        return Lines::known(files).map(|lines| Lines { ended_by_nul, ..lines });
    }
    let starts = operands.get(usize::from(takes_pattern)..)?;
    let here = [""];
    let mut found = Lines {
        each: Vec::new(),
        ended_by_nul: given.contains(ends_with_nul),
        plain: true,
        one: false,
    };
    for start in if starts.is_empty() { &here } else { starts } {
        let root = paths::absolute(if start.is_empty() { "." } else { start }, state.cwd.as_deref())?;
        let begins_well = |name: &OsString| !name.to_string_lossy().starts_with('-');
        if start.is_empty() && !work.facts.list(&root)?.iter().all(begins_well) {
            return None;
        }
        let (tree, hidden) = match is_grep {
            true => (work.facts.tree(&root, &|_| false), true),
            false => not_passed_by(&root, hidden, work),
        };
        let slash = if start.is_empty() || start.ends_with('/') {
            ""
        } else {
            "/"
        };
        let written = |path: &PathBuf| Some(format!("{start}{slash}{}", path.strip_prefix(&root).ok()?.to_str()?));
        let texts: Option<Vec<String>> = tree.files.iter().map(written).collect();
        let mut texts = texts.filter(|_| !tree.cut);
        found.plain &= is_plain(start)
            && texts
                .as_ref()
                .is_some_and(|texts| texts.iter().all(|text| is_plain(text)));
        let is_sought = |path: &String| {
            let name = path.rsplit('/').next().unwrap_or_default().to_lowercase();
            let fits = |pattern: &String| glob::name_fits(&pattern.to_lowercase(), &name).unwrap_or(true);
            (hidden || !name.starts_with('.')) && (names.is_empty() || names.iter().any(fits))
        };
        if let Some(texts) = &mut texts {
            texts.retain(is_sought);
        }
        let start = if start.is_empty() { "." } else { start };
        found.each.push(one_of(start, texts.unwrap_or_default()));
    }
    Some(found)
}

/// What rg goes through below a directory: nothing hidden or ignored, unless something takes it back. Whether it takes
/// hidden files is told too.
fn not_passed_by(root: &Path, hidden: bool, work: &Work<'_>) -> (Tree, bool) {
    let facts = work.facts;
    let all = || (facts.tree(root, &|_| false), true);
    if facts.environment.contains("RIPGREP_CONFIG_PATH") {
        return all();
    }
    let top = match facts.repository_at(root) {
        Discovery::Repository(repository) => Some(repository.worktree),
        Discovery::None | Discovery::Suspicious(_) => None,
    };
    let ignored = top.as_ref().and_then(|top| facts.text(&top.join(".gitignore")));
    let is_ignored = |dir: &Path| {
        let (Some(name), Some(parent), Some(text)) = (dir.file_name().and_then(OsStr::to_str), dir.parent(), &ignored)
        else {
            return false;
        };
        let is_it = |line: &str| line.trim_end().trim_end_matches('/') == name;
        // Another repository below has rules of its own.
        let above = facts.real(parent);
        let mut between = above.ancestors().take_while(|dir| Some(*dir) != top.as_deref());
        text.lines().any(is_it) && !between.any(|dir| facts.exists(&dir.join(".git")) || dir.parent().is_none())
    };
    let is_hidden = |dir: &Path| {
        dir.file_name()
            .is_some_and(|name| name.as_encoded_bytes().starts_with(b"."))
    };
    let tree = facts.tree(root, &|dir| !hidden && is_hidden(dir) || is_ignored(dir));
    match roles::taken_back(root, &tree, facts).is_empty() {
        true => (tree, hidden),
        false => all(),
    }
}

/// One of these paths; where they are too many to list or none, something below `start`.
fn one_of(start: &str, paths: Vec<String>) -> Value {
    match paths.len() {
        1..=MAX_FED => Value::OneOf(paths),
        _ => Value::Under {
            directory: start.to_owned(),
            names: Vec::new(),
        },
    }
}
