//! What environment variables mean to programs: a positive list of harmless ones, and names for the dangerous.
//!
//! `environment.toml` holds the knowledge. What it does not list is unknown, and unknown is not harmless.

use catalog_spec::VariableRule;

use super::blob;
use crate::shell::Value;

/// What setting a variable may do to the programs that see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EnvRisk {
    /// No program is led astray by this value.
    Inert,
    /// The variable, or this value of it, is not listed.
    Unknown,
    /// Dangerous, and why: "loads native code into any program".
    Hazard(&'static str),
}

/// Judges `NAME=VALUE` for whatever runs with it.
pub fn assignment(name: &str, value: &Value) -> EnvRisk {
    let Some((rule, text)) = blob::variable(name) else {
        return EnvRisk::Unknown;
    };
    let harmless = match rule {
        VariableRule::Hazard => return EnvRisk::Hazard(text),
        VariableRule::Any => true,
        VariableRule::Word => every(value, is_word),
        VariableRule::Number => every(value, |v| v.bytes().all(|b| b.is_ascii_digit())),
        VariableRule::Zone => every(value, is_zone),
        VariableRule::Listed | VariableRule::Program => every(value, |v| text.split(' ').any(|listed| listed == v)),
    };
    if harmless { EnvRisk::Inert } else { EnvRisk::Unknown }
}

/// Whether the variable names a program that others run.
pub fn names_program(name: &str) -> bool {
    matches!(blob::variable(name), Some((VariableRule::Program, _)))
}

/// Variables that the shell itself obeys, in bash or in zsh, or that name things by being set.
pub fn obeyed_by_shell(name: &str) -> bool {
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
        // zsh reads their values as arithmetic, which runs the commands in it: when they are assigned, the last three later.
        "COLUMNS",
        "LINES",
        "SHLVL",
        "LISTMAX",
        "SAVEHIST",
        "ERRNO",
        "TRY_BLOCK_ERROR",
        "TRY_BLOCK_INTERRUPT",
        "ZLE_RPROMPT_INDENT",
        "DIRSTACKSIZE",
        "REPORTTIME",
        "REPORTMEMORY",
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

/// Whether the shell itself may give this variable a value, which is then not the script's.
pub fn set_by_shell(name: &str) -> bool {
    const NAMES: &[&str] = &[
        "REPLY", "reply", "match", "mbegin", "mend", "MATCH", "MBEGIN", "MEND", "COPROC",
    ];
    NAMES.contains(&name) || obeyed_by_shell(name)
}

/// Whether the value of this variable may be shown: it is no secret on any usual machine.
pub fn printable(name: &str) -> bool {
    blob::printable(name)
}

/// Whether the name looks like a credential's. A listed word of up to four letters must stand between underscores.
pub fn secret_name(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    blob::credential_words().any(|word| match word.len() {
        0..=4 => name.split('_').any(|part| part == word),
        _ => name.contains(word),
    })
}

fn every(value: &Value, harmless: impl Fn(&str) -> bool) -> bool {
    value.alternatives().is_some_and(|all| all.iter().all(|v| harmless(v)))
}

fn is_word(value: &str) -> bool {
    !value.starts_with(':')
        && value
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"_.,:@+-".contains(&b))
}

fn is_zone(value: &str) -> bool {
    let known = |b: u8| b.is_ascii_alphanumeric() || b"_+-/".contains(&b);
    !value.starts_with('/') && value.bytes().all(known)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(name: &str, value: &str) -> EnvRisk {
        assignment(name, &Value::Literal(value.to_owned()))
    }

    #[test]
    fn a_listed_variable_with_a_harmless_value_is_inert() {
        for (name, value) in [
            ("LANG", "C.UTF-8"),
            ("LC_ALL", "C"),
            ("TZ", "Europe/Berlin"),
            ("NO_COLOR", "1"),
            ("GIT_PAGER", "cat"),
            ("COLUMNS", "200"),
            ("GIT_OPTIONAL_LOCKS", "0"),
        ] {
            assert_eq!(set(name, value), EnvRisk::Inert, "{name}={value}");
        }
    }

    #[test]
    fn a_listed_variable_with_another_value_is_unknown() {
        for (name, value) in [
            ("TZ", ":/etc/shadow"),
            ("TZ", "/etc/shadow"),
            ("TZ", "../../etc/shadow"),
            ("LC_ALL", "../evil"),
            ("PAGER", "./cat"),
            ("PAGER", "less"),
            ("COLUMNS", "x"),
            ("TERM", "../x"),
        ] {
            assert_eq!(set(name, value), EnvRisk::Unknown, "{name}={value}");
        }
    }

    #[test]
    fn a_value_that_is_not_known_is_inert_only_where_any_value_is() {
        assert_eq!(assignment("NO_COLOR", &Value::UNKNOWN), EnvRisk::Inert);
        assert_eq!(assignment("LANG", &Value::UNKNOWN), EnvRisk::Unknown);
        let both = Value::OneOf(vec!["cat".into(), "./x".into()]);
        assert_eq!(assignment("PAGER", &both), EnvRisk::Unknown);
    }

    #[test]
    fn a_variable_that_loads_or_runs_code_is_a_hazard_whatever_its_value() {
        for name in [
            "LD_PRELOAD",
            "PATH",
            "BASH_ENV",
            "NODE_OPTIONS",
            "GIT_SSH_COMMAND",
            "BASH_FUNC_ls%%",
        ] {
            assert!(matches!(set(name, ""), EnvRisk::Hazard(_)), "{name}");
        }
    }

    #[test]
    fn a_variable_that_is_not_listed_is_unknown() {
        assert_eq!(set("SOME_TOOL_OPTIONS", "1"), EnvRisk::Unknown);
        assert_eq!(set("", ""), EnvRisk::Unknown);
    }

    #[test]
    fn what_may_be_shown_never_looks_like_a_credential() {
        for name in ["HOME", "PWD", "LC_TIME", "RANDOM", "PATH", "VIRTUAL_ENV"] {
            assert!(printable(name), "{name}");
            assert!(!secret_name(name), "{name}");
        }
        assert!(!printable("ANTHROPIC_API_KEY"));
    }

    #[test]
    fn names_of_credentials_are_known_by_their_words() {
        for name in [
            "GITHUB_TOKEN",
            "AWS_SECRET_ACCESS_KEY",
            "ANTHROPIC_API_KEY",
            "db_password",
            "GH_PAT",
            "PGPASSWORD",
        ] {
            assert!(secret_name(name), "{name}");
        }
        for name in ["KEYBOARD", "PATH", "MONKEY", "COMPASS", "OLDPWD"] {
            assert!(!secret_name(name), "{name}");
        }
    }
}
