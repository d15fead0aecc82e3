//! The shell's builtins that change what later words mean: directory, variables, names, descriptors.
//!
//! The catalog knows their grammar where it is plain; what they do to the state is here.

use std::path::Path;

use super::bash::{Gathered, Site, Work};
use super::{paths, roles};
use crate::catalog::Reading;
use crate::effect::{Action, EffectSpec, Place};
use crate::facts::Kind;
use crate::place;
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// What a command of this name may change of the state that later commands are read in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StateChange {
    Nothing,
    Directory,
    /// The variables that its words name.
    Names,
    Anything,
}

pub fn state_change(name: &str) -> StateChange {
    match name {
        "cd" | "pushd" | "popd" => StateChange::Directory,
        "read" | "export" | "declare" | "typeset" | "local" | "readonly" | "unset" | "printf" | "getopts"
        | "mapfile" | "readarray" | "let" => StateChange::Names,
        "eval" | "source" | "." | "exec" | "trap" | "set" | "command" | "builtin" => StateChange::Anything,
        name if REDEFINES.contains(&name) => StateChange::Anything,
        _ => StateChange::Nothing,
    }
}

/// Builtins that give names a new meaning, in bash or in zsh. None is let through.
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

/// Whether the shell runs this name itself, whatever PATH holds.
pub fn is_builtin(name: &str) -> bool {
    BUILTINS.contains(&name) || REDEFINES.contains(&name)
}

/// Variables that the shell itself obeys, in bash or in zsh, or that name things by being set.
pub fn is_special_variable(name: &str) -> bool {
    const PREFIXES: &[&str] = &[
        "BASH", "LD_", "DYLD_", "ZSH", "HIST", "COMP_", "PROMPT", "GIT_", "LC_", "PYTHON", "NODE_", "npm_",
    ];
    const NAMES: &[&str] = &[
        "PATH",
        "path",
        "fpath",
        "FPATH",
        "cdpath",
        "CDPATH",
        "manpath",
        "MANPATH",
        "mailpath",
        "MAILPATH",
        "module_path",
        "MODULE_PATH",
        "IFS",
        "ENV",
        "HOME",
        "PWD",
        "OLDPWD",
        "SHELL",
        "SHELLOPTS",
        "POSIXLY_CORRECT",
        "GLOBIGNORE",
        "EXECIGNORE",
        "FIGNORE",
        "FUNCNEST",
        "INPUTRC",
        "OPTIND",
        "OPTARG",
        "OPTERR",
        "PS0",
        "PS1",
        "PS2",
        "PS3",
        "PS4",
        "prompt",
        "psvar",
        "PSVAR",
        "TMOUT",
        "TIMEFORMAT",
        "TMPDIR",
        "TMPPREFIX",
        "UID",
        "EUID",
        "GID",
        "EGID",
        "USERNAME",
        "RANDOM",
        "SECONDS",
        "LINENO",
        "FUNCNAME",
        "DIRSTACK",
        "dirstack",
        "GROUPS",
        "PIPESTATUS",
        "pipestatus",
        "status",
        "argv",
        "ARGC",
        "signals",
        "commands",
        "functions",
        "aliases",
        "galiases",
        "saliases",
        "builtins",
        "options",
        "parameters",
        "modules",
        "dis_functions",
        "dis_aliases",
        "dis_builtins",
        "jobstates",
        "jobtexts",
        "jobdirs",
        "history",
        "historywords",
        "userdirs",
        "usergroups",
        "nameddirs",
        "funcstack",
        "funcfiletrace",
        "functrace",
        "watch",
        "WATCH",
        "WATCHFMT",
        "fignore",
        "READNULLCMD",
        "NULLCMD",
        "KEYTIMEOUT",
        "STTY",
        "TERM",
        "TERMINFO",
        "ZDOTDIR",
        "MAIL",
        "MAILCHECK",
        "_",
        "0",
        "mapfile",
        "MAPFILE",
        "READLINE_LINE",
        "REPLY_",
        "CHILD_MAX",
        "auto_resume",
        "histchars",
        "HOSTFILE",
        "LANG",
        "LANGUAGE",
        "EMACS",
        "PAGER",
        "EDITOR",
        "VISUAL",
        "LESS",
        "LESSOPEN",
        "MANPAGER",
        "precmd_functions",
        "preexec_functions",
        "chpwd_functions",
        "zshexit_functions",
        "periodic_functions",
        "zsh_directory_name_functions",
        "command_not_found_handle",
        "termcap",
        "terminfo",
        "keymaps",
        "widgets",
        "zle_highlight",
    ];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

/// Reads a builtin that the catalog does not describe; `false` where the name is none.
pub fn run(
    name: &str,
    args: &[Arg],
    gathered: &mut Gathered,
    state: &mut State,
    site: Site,
    work: &mut Work<'_>,
) -> bool {
    let words = &args[1..];
    match name {
        "cd" | "pushd" => change_directory(name, words, state, gathered, work),
        "popd" => state.cwd = None,
        "export" | "declare" | "typeset" | "local" | "readonly" => {
            declare(name, words, gathered, state, site.span, work)
        }
        "unset" => unset(words, gathered, state, site.span, work),
        "read" => read(words, gathered, state, site.span, work),
        "set" => set(words, gathered, state, site.span),
        "eval" => eval(words, state, site, work),
        "trap" => trap(words, gathered, state, site, work),
        "exec" => exec(words, gathered, state, site, work),
        "source" | "." => source(words, gathered, state, site.span, work),
        name if REDEFINES.contains(&name) => {
            gathered.doubt(format!("`{name}` changes what later words mean"), site.span);
            state.forget_all();
            state.wrote = true;
        }
        _ => return false,
    }
    true
}

/// What a catalogued command does to the state beside its effects.
pub fn after(
    entry: &str,
    args: &[Arg],
    _reading: &Reading,
    _own: &State,
    gathered: &mut Gathered,
    state: &mut State,
    work: &Work<'_>,
) {
    let names_variable = |arg: &Arg| arg.value.literal().is_none_or(|text| text.starts_with("-v"));
    if entry == "printf"
        && args
            .get(1)
            .is_some_and(|arg| arg.value.may_be_option() && names_variable(arg))
    {
        gathered.doubt("`printf -v` assigns a variable", args[1].span);
    }
    if entry == "getopts" {
        ["OPTARG", "OPTIND"].iter().for_each(|name| state.forget(name));
        for arg in args.iter().skip(2) {
            match arg.value.literal() {
                Some(name) if is_name(name) && !is_special_variable(name) => state.forget(name),
                _ => gathered.doubt("which variable is assigned is not known", arg.span),
            }
        }
    }
    const MAKES_NO_LINKS: &[&str] = &[
        "mkdir", "touch", "tee", "sed", "rm", "rmdir", "chmod", "mktemp", "echo", "cat", "printf",
    ];
    let changes = gathered.effects.iter().any(|effect| {
        matches!(
            effect.spec.action,
            Action::Write | Action::Execute | Action::Control | Action::Send
        )
    });
    state.relinked |= changes && !MAKES_NO_LINKS.contains(&entry);
    let _ = work;
}

fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_')
        && chars.all(|c| c.is_ascii_alphanumeric() || c == '_')
}

fn change_directory(name: &str, words: &[Arg], state: &mut State, gathered: &mut Gathered, work: &mut Work<'_>) {
    let operands: Vec<&Arg> = words
        .iter()
        .filter(|arg| !matches!(arg.value.literal(), Some("-P" | "-L" | "--")))
        .collect();
    let target = match operands.as_slice() {
        [] if name == "cd" => work.facts.home.clone().filter(|_| state.get("HOME").is_none()),
        [one] => match one.value.literal() {
            Some("-") => None,
            Some(text) if text.starts_with(['-', '+']) => {
                gathered.doubt(format!("`{text}` is not an option that is known of {name}"), one.span);
                None
            }
            Some(text) => {
                roles::path(Action::Inspect, one, state, work, gathered);
                let searched = work.facts.environment.contains("CDPATH") || state.get("CDPATH").is_some();
                let plain = text.starts_with('/') || text.starts_with("./") || text.starts_with("..");
                if searched && !plain {
                    None
                } else {
                    paths::absolute(text, state.cwd.as_deref())
                }
            }
            None => None,
        },
        _ => None,
    };
    state.cwd = match target {
        None => None,
        Some(target) => arrive(&target, state, work),
    };
}

/// Where a shell is after it was told to go to `target`.
fn arrive(target: &Path, state: &State, work: &Work<'_>) -> Option<std::path::PathBuf> {
    match work.facts.kind(target) {
        Kind::Directory => {
            // The shell goes by names, the kernel by links: only where both agree is the place known.
            let by_name = place::normalize(target);
            (!state.relinked && work.facts.real(&by_name) == work.facts.real(target)).then_some(by_name)
        }
        // It fails, and what follows runs where it was.
        Kind::Missing | Kind::File if !state.wrote => state.cwd.clone(),
        Kind::Missing | Kind::File | Kind::Other => None,
    }
}

/// Splits `NAME=VALUE`, whose value may not be known.
fn split_assignment(arg: &Arg) -> Option<(String, Option<Value>)> {
    let text = match &arg.value {
        Value::Literal(text) => text,
        Value::Unknown { prefix, single: true } if prefix.contains('=') => prefix,
        Value::OneOf(_) | Value::Under(_) | Value::Unknown { .. } => return None,
    };
    let (name, value) = match text.split_once('=') {
        Some((name, _)) => (name, Some(arg.value.without_prefix(name.len() + 1))),
        None => (text.as_str(), None),
    };
    is_name(name).then(|| (name.to_owned(), value))
}

fn declare(name: &str, words: &[Arg], gathered: &mut Gathered, state: &mut State, span: Span, work: &mut Work<'_>) {
    let mut exports = name == "export";
    let mut assigned = false;
    for arg in words {
        match arg.value.literal() {
            Some("--" | "-r" | "-g" | "-a") => continue,
            Some("-x") => {
                exports = true;
                continue;
            }
            Some("-n") if name == "export" => continue,
            Some(text) if text.starts_with(['-', '+']) => {
                gathered.doubt(format!("`{text}` of {name} is not followed"), arg.span);
                continue;
            }
            _ => {}
        }
        let Some((variable, value)) = split_assignment(arg) else {
            gathered.doubt("which variable is assigned is not known", arg.span);
            continue;
        };
        assigned = true;
        if let Some(value) = &value {
            work.check_assignment(&variable, value, state, arg.span, gathered);
            state.assign(&variable, value.clone());
        }
        if exports {
            let value = value.or_else(|| state.get(&variable).cloned());
            if let Some(value) = value {
                exported(&variable, &value, gathered, arg.span, work);
            } else if !work.facts.environment.contains(&variable) {
                gathered.doubt(format!("`{variable}` becomes part of the environment"), arg.span);
            }
            state.exported.insert(variable);
        }
    }
    if !assigned {
        gathered.effect(
            EffectSpec {
                place: Place::Secret,
                ..EffectSpec::of(Action::Disclose)
            },
            "every variable",
        );
        let _ = span;
    }
}

/// A variable of the person's own naming is inert to programs that do not know it; which do is not known.
fn exported(name: &str, value: &Value, gathered: &mut Gathered, span: Span, work: &Work<'_>) {
    work.check_environment(name, value, span, gathered);
}

fn unset(words: &[Arg], gathered: &mut Gathered, state: &mut State, span: Span, work: &Work<'_>) {
    for arg in words {
        match arg.value.literal() {
            Some("-v" | "--") => {}
            Some("-f") => state.forget_all(),
            Some(name) if is_name(name) => {
                if is_special_variable(name) || work.facts.environment.contains(name) {
                    gathered.doubt(format!("what unsetting `{name}` changes is not known"), arg.span);
                }
                state.forget(name);
            }
            _ => gathered.doubt("which variable is unset is not known", span),
        }
    }
}

fn read(words: &[Arg], gathered: &mut Gathered, state: &mut State, span: Span, work: &Work<'_>) {
    let mut takes_value = false;
    let mut names = 0;
    for arg in words {
        if takes_value {
            takes_value = false;
            continue;
        }
        match arg.value.literal() {
            Some("-r" | "-s" | "--") => {}
            Some("-p" | "-n" | "-N" | "-d" | "-t" | "-u") => takes_value = true,
            Some("-d " | "-rd" | "-rp" | "-rn" | "-rsp" | "-sp") => takes_value = true,
            Some("-rs") => {}
            Some("-a" | "-ra") => {}
            Some(name) if is_name(name) => {
                names += 1;
                work.check_assignment(name, &Value::UNKNOWN, state, arg.span, gathered);
                state.forget(name);
            }
            _ => gathered.doubt("which variable is read is not known", arg.span),
        }
    }
    if names == 0 {
        state.forget("REPLY");
    }
    let _ = span;
}

fn set(words: &[Arg], gathered: &mut Gathered, state: &mut State, span: Span) {
    const OPTIONS: &[&str] = &[
        "errexit",
        "nounset",
        "pipefail",
        "xtrace",
        "verbose",
        "noclobber",
        "noexec",
        "noglob",
        "errtrace",
        "functrace",
    ];
    if words.is_empty() {
        gathered.effect(
            EffectSpec {
                place: Place::Secret,
                ..EffectSpec::of(Action::Disclose)
            },
            "every variable",
        );
    }
    let mut words = words.iter();
    while let Some(arg) = words.next() {
        match arg.value.literal() {
            Some("--" | "-") => return,
            Some(text) if text.len() > 1 && text.starts_with(['-', '+']) => {
                let takes_name = text.ends_with('o');
                let letters = text[1..].trim_end_matches('o');
                // noglob and noclobber change what words mean or fail; the rest only stops or shows.
                if !letters.chars().all(|c| "euxvE".contains(c)) {
                    gathered.doubt(format!("`set {text}` changes what later words mean"), arg.span);
                    state.forget_all();
                }
                if takes_name {
                    match words.next().and_then(|arg| arg.value.literal()) {
                        Some(name) if OPTIONS.contains(&name) && !["noglob", "noexec"].contains(&name) => {}
                        _ => {
                            gathered.doubt(format!("`set {text}` changes what later words mean"), arg.span);
                            state.forget_all();
                        }
                    }
                }
            }
            Some(_) => return,
            None => {
                gathered.doubt("which options are set is not known", span);
                state.forget_all();
                return;
            }
        }
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

fn trap(words: &[Arg], gathered: &mut Gathered, state: &mut State, site: Site, work: &mut Work<'_>) {
    let Some(code) = words.first() else { return };
    match code.value.literal() {
        Some("-" | "" | "-l" | "-p") => {}
        Some("--") => gathered.doubt("this form of trap is not followed", site.span),
        Some(text) if text.starts_with('-') => gathered.doubt(format!("`trap {text}` is not known"), site.span),
        _ => {
            // It runs later, in whatever state the script then is.
            let mut own = state.clone();
            own.forget_all();
            work.code(
                code,
                &mut own,
                Site {
                    depth: site.depth + 1,
                    ..site
                },
            );
            let debug = words[1..]
                .iter()
                .any(|arg| !matches!(arg.value.literal(), Some("EXIT" | "INT" | "TERM" | "HUP" | "0" | "ERR")));
            if debug {
                state.forget_all();
            }
            state.wrote |= own.wrote;
        }
    }
}

fn exec(words: &[Arg], gathered: &mut Gathered, state: &mut State, site: Site, work: &mut Work<'_>) {
    match words.first() {
        None => {}
        Some(first) if first.value.may_be_option() => gathered.doubt("options of exec are not followed", first.span),
        Some(_) => {
            let site = Site {
                depth: site.depth + 1,
                written: false,
                ..site
            };
            work.command(words, Gathered::default(), state, site);
        }
    }
}

fn source(words: &[Arg], gathered: &mut Gathered, state: &mut State, span: Span, work: &mut Work<'_>) {
    match words.first().and_then(|arg| arg.value.literal()) {
        Some(text) => match paths::absolute(text, state.cwd.as_deref()) {
            Some(path) => {
                roles::path(Action::Read, &words[0], state, work, gathered);
                let effect = paths::execute(&path, work, state.wrote);
                gathered.effect(effect.spec, effect.target);
            }
            None => gathered.doubt("the directory it runs in is not known", span),
        },
        None => gathered.doubt("which file is run is not known", span),
    }
    gathered.doubt("what a sourced file changes is not followed", span);
    state.forget_all();
    state.wrote = true;
}
