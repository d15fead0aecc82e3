//! The shell's builtins that change what later words mean: directory, variables, names, descriptors.
//!
//! The catalog knows their grammar; what they do to the state is here.

use std::path::PathBuf;

use super::bash::{Gathered, Later, Site, Work, changes_nothing};
use super::paths;
use crate::effect::Action;
use crate::facts::Kind;
use crate::place;
use crate::shell::state::State;
use crate::shell::{Arg, Value, is_identifier};

/// What a command of this name may change of the state that later commands are read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    Nothing,
    Directory,
    /// `$1` and so on.
    Positional,
    /// The variables that its words name.
    Names,
    Anything,
}

/// Builtins that run a command in this very shell, where it is no function.
pub fn runs_in_this_shell(entry: &str) -> bool {
    matches!(entry, "command" | "builtin")
}

/// What a command of this name may change, whatever its words are.
pub fn state_change(name: &str) -> StateChange {
    match name {
        "cd" | "pushd" | "popd" => StateChange::Directory,
        "shift" => StateChange::Positional,
        "read" | "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "printf" | "getopts"
        | "mapfile" | "readarray" | "let" => StateChange::Names,
        "eval" | "source" | "." | "exec" | "trap" | "set" | "command" | "builtin" => StateChange::Anything,
        name if REDEFINES.contains(&name) => StateChange::Anything,
        _ => StateChange::Nothing,
    }
}

/// Builtins that can give names a new meaning, in bash or in zsh.
const REDEFINES: &[&str] = &[
    "alias",
    "unalias",
    "enable",
    "disable",
    "hash",
    "unhash",
    "rehash",
    "shopt",
    "setopt",
    "unsetopt",
    "emulate",
    "bind",
    "bindkey",
    "complete",
    "compgen",
    "compopt",
    "compdef",
    "zmodload",
    "zle",
    "zstyle",
    "autoload",
    "functions",
    "function",
    "noglob",
    "nocorrect",
    "coproc",
    "fc",
    "history",
    "vared",
    "sched",
    "zcompile",
    "zformat",
    "zparseopts",
    "caller",
    "suspend",
    "logout",
    "integer",
    "float",
    "print",
    "pushln",
    "getln",
    "where",
    "whence",
    "ttyctl",
    "limit",
    "unlimit",
    "log",
    "dirs",
    "let",
    "mapfile",
    "readarray",
];

const BUILTINS: &[&str] = &[
    ":", ".", "[", "bg", "break", "builtin", "cd", "command", "continue", "declare", "disown", "echo", "eval", "exec",
    "exit", "export", "false", "fg", "getopts", "help", "jobs", "kill", "local", "popd", "printf", "pushd", "pwd",
    "read", "readonly", "return", "set", "shift", "source", "test", "times", "trap", "true", "type", "typeset",
    "ulimit", "umask", "unset", "wait",
];

/// Variables that builtins such as `read` and `getopts` assign without being given their names.
pub const ASSIGNED_UNNAMED: &[&str] = &["REPLY", "OPTARG", "OPTIND", "MAPFILE"];

/// Functions of these names are run by the shell itself, between the commands of a script.
pub fn is_called_unasked(name: &str) -> bool {
    const HOOKS: &[&str] = &[
        "chpwd",
        "periodic",
        "precmd",
        "preexec",
        "zshaddhistory",
        "zshexit",
        "command_not_found_handle",
        "command_not_found_handler",
    ];
    HOOKS.contains(&name) || name.starts_with("TRAP")
}

/// Whether the shell runs this name itself, whatever PATH holds.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name) || REDEFINES.contains(&name)
}

/// Reads the builtins whose words are code for this very shell; `false` where the name is none of them.
pub fn run(name: &str, args: &[Arg], state: &mut State, site: Site, work: &mut Work<'_>) -> bool {
    match name {
        "eval" => eval(&args[1..], state, site, work),
        "trap" => trap(&args[1..], state, site, work),
        _ => return false,
    }
    true
}

/// What a command that was read by the catalog does to the state of the shell.
pub fn after(entry: &str, args: &[Arg], gathered: &mut Gathered, state: &mut State, work: &mut Work<'_>) {
    let words = &args[1..];
    match entry {
        "cd" | "pushd" | "popd" => move_to(entry, words, state, work),
        "export" | "declare" | "typeset" | "local" | "readonly" => declare(entry, words, gathered, state, work),
        "printf" if words.first().and_then(|arg| arg.value.literal()) != Some("-v") => {}
        "read" | "unset" | "getopts" | "mapfile" | "readarray" | "printf" => {
            let texts = words.iter().filter_map(|arg| arg.value.alternatives()).flatten();
            texts
                .map(String::as_str)
                .filter(|text| is_identifier(text))
                .chain(ASSIGNED_UNNAMED.iter().copied())
                .for_each(|name| state.forget(name));
        }
        "shift" => state.positional = None,
        "source" | "." => {
            let cwd = state.cwd.take().filter(|_| activates(entry, args));
            state.forget_all();
            state.cwd = cwd;
            state.relinked = true;
        }
        _ => {}
    }
    // What a builtin was told and is not understood may have changed what any later word means.
    if is_builtin(entry) && !gathered.doubts.is_empty() {
        state.forget_all();
    }
    const MAKES_NO_LINKS: &[&str] = &[
        "mkdir", "touch", "tee", "sed", "rm", "rmdir", "chmod", "mktemp", "curl", "sort", "dd", "zip",
    ];
    let changes = gathered.own_effects().iter().any(|effect| {
        matches!(
            effect.spec.action,
            Action::Write | Action::Execute | Action::Control | Action::Send
        )
    });
    state.relinked |= changes && !is_builtin(entry) && !MAKES_NO_LINKS.contains(&entry);
}

/// Whether a command is `source .venv/bin/activate`, which stays where it is. What it runs is judged where it is named.
pub fn activates(entry: &str, args: &[Arg]) -> bool {
    let [_, file] = args else { return false };
    let ends_so = |text: &str| text.ends_with("venv/bin/activate");
    matches!(entry, "source" | ".") && file.value.literal().is_some_and(ends_so)
}

/// What `cd`, `pushd` and `popd` do to the directory and to what they remember of directories.
fn move_to(name: &str, words: &[Arg], state: &mut State, work: &Work<'_>) {
    let before = state.cwd.clone();
    let pushed = state.pushed.take();
    state.cwd = match (name, words) {
        ("cd", [one]) if one.value.literal() == Some("-") => back(state.previous.clone(), state, work),
        ("popd", []) => pushed
            .as_ref()
            .and_then(|pushed| back(pushed.last().cloned(), state, work)),
        ("popd", _) => None,
        _ => destination(name, words, state, work),
    };
    state.pushed = match (name, pushed, &before, &state.cwd) {
        // zsh can be told to keep no directory twice, and where nothing moved it may have failed.
        ("pushd", pushed, Some(before), Some(now)) if before != now => {
            let mut pushed = pushed.unwrap_or_default();
            let is_there_twice = pushed.contains(now) || pushed.contains(before);
            pushed.push(before.clone());
            (!is_there_twice).then_some(pushed)
        }
        ("popd", Some(mut pushed), _, Some(_)) => pushed.pop().map(|_| pushed),
        // zsh can be told that `cd` pushes too.
        _ => None,
    };
    state.previous = before.filter(|before| state.cwd.as_ref().is_some_and(|now| now != before));
}

/// A directory that was left before, where it is still what it was.
fn back(directory: Option<PathBuf>, state: &State, work: &Work<'_>) -> Option<PathBuf> {
    let is_own = state.get("OLDPWD").is_none() && !state.opaque && !state.relinked && !state.wrote;
    directory.filter(|dir| is_own && work.facts.can_enter(dir))
}

/// The directory after `cd` or `pushd`, where it is known.
fn destination(name: &str, words: &[Arg], state: &State, work: &Work<'_>) -> Option<PathBuf> {
    let is_option = |arg: &&Arg| matches!(arg.value.literal(), Some("-P" | "-L" | "--"));
    let mut operands = words.iter().filter(|arg| !is_option(arg));
    let target = match (operands.next(), operands.next()) {
        (None, _) if name == "cd" && state.get("HOME").is_none() => work.facts.home.clone()?,
        (Some(one), None) => {
            let text = one
                .value
                .literal()
                .filter(|text| !text.starts_with(['-', '+']) && !text.is_empty())?;
            let searched = work.facts.environment.contains("CDPATH") || state.get("CDPATH").is_some() || state.opaque;
            let plain = text.starts_with('/') || text.starts_with("./") || text == ".." || text.starts_with("../");
            if searched && !plain {
                return None;
            }
            paths::absolute(text, state.cwd.as_deref())?
        }
        _ => return None,
    };
    match work.facts.kind(&target) {
        Kind::Directory if work.facts.can_enter(&target) => {
            // The shell goes by names, the kernel by links: only where both agree is the place known.
            let by_name = place::normalize(&target);
            let agree = || by_name == target || work.facts.real(&by_name) == work.facts.real(&target);
            (!state.relinked && agree()).then_some(by_name)
        }
        // It fails, and what follows runs where it was. Outside the project anybody may make the directory meanwhile.
        Kind::Missing | Kind::File if !state.wrote && work.facts.in_project(&place::normalize(&target)) => {
            state.cwd.clone()
        }
        Kind::Directory | Kind::Missing | Kind::File | Kind::Other => None,
    }
}

/// Splits `NAME=VALUE`, whose value may not be known; a bare `NAME` has none.
pub fn assigned(arg: &Arg) -> Option<(String, Option<Value>)> {
    let text = match &arg.value {
        Value::Literal(text) => text,
        Value::Unknown { prefix, single: true } | Value::Numbered { before: prefix, .. } if prefix.contains('=') => {
            prefix
        }
        Value::OneOf(_) | Value::Under { .. } | Value::Numbered { .. } | Value::Unknown { .. } => return None,
    };
    let (name, value) = match text.split_once('=') {
        Some((name, _)) => (name, Some(arg.value.without_prefix(name.len() + 1))),
        None => (text.as_str(), None),
    };
    is_identifier(name).then(|| (name.to_owned(), value))
}

fn declare(entry: &str, words: &[Arg], gathered: &mut Gathered, state: &mut State, work: &Work<'_>) {
    let exports = entry == "export" || words.iter().any(|arg| arg.value.literal() == Some("-x"));
    let freezes = entry == "readonly" || words.iter().any(|arg| arg.value.literal() == Some("-r"));
    if entry == "local" && !state.in_function {
        // It fails, and the variables keep what they held.
        return words
            .iter()
            .filter_map(assigned)
            .for_each(|(name, _)| state.forget(&name));
    }
    for (arg, (name, value)) in words.iter().filter_map(|arg| Some((arg, assigned(arg)?))) {
        if let Some(value) = &value {
            work.check_assignment(&name, value, state, arg.span, gathered);
            if begins_a_list(value) {
                gathered.doubt(
                    "bash runs this value as the words of a list where the name is one already",
                    arg.span,
                );
            }
            state.assign(&name, value.clone());
        } else if exports {
            let value = state.get(&name).cloned().unwrap_or(Value::UNKNOWN);
            work.check_environment(&name, &value, arg.span, gathered);
        }
        if freezes {
            state.freeze(&name);
        }
        if exports {
            state.exported.insert(name);
        }
    }
}

fn begins_a_list(value: &Value) -> bool {
    match value {
        Value::Unknown { prefix, .. } => prefix.starts_with('('),
        value => value
            .alternatives()
            .is_some_and(|texts| texts.iter().any(|text| text.starts_with('('))),
    }
}

fn eval(words: &[Arg], state: &mut State, site: Site, work: &mut Work<'_>) {
    let texts: Option<Vec<&str>> = words.iter().map(|arg| arg.value.literal()).collect();
    let value = texts.map_or(Value::UNKNOWN, |texts| Value::Literal(texts.join(" ")));
    if !words.is_empty() {
        work.code(
            &Arg { value, span: site.span },
            state,
            Site {
                depth: site.depth + 1,
                ..site
            },
        );
    }
}

/// The code runs later, in whatever state the script then is.
fn trap(words: &[Arg], state: &mut State, site: Site, work: &mut Work<'_>) {
    let Some(code) = words.first() else { return };
    if matches!(code.value.literal(), Some("-" | "" | "-l")) {
        return;
    }
    let mut own = state.clone();
    own.forget_all();
    let start = own.clone();
    let site = Site {
        depth: site.depth + 1,
        ..site
    };
    work.code(code, &mut own, site);
    work.later(Later::Code(code.clone(), site), start);
    // Every other signal may come between the commands that follow.
    let at_the_end = |arg: &Arg| matches!(arg.value.literal(), Some("EXIT" | "0"));
    if !words[1..].iter().all(at_the_end) && !code.value.literal().is_some_and(changes_nothing) {
        state.forget_all();
    }
    state.after_child(&own);
}
