//! Ways to run a command from inside something else.

use countersign::shell::ast::{Command, Part, Script};
use countersign::shell::parse;

/// What a command must be for a wrapping to run it as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Takes {
    /// Any script, of as many lines as there are.
    Script,
    /// A script whose last line does not end in a comment, a background `&` or a here-document.
    Line,
    /// One pipeline without a negation.
    Pipeline,
    /// One command with nothing before its name.
    Command,
    /// One program, which is no builtin and no word of the shell.
    Program,
    /// One program whose words are all written out, without quotes.
    Plain,
}

/// A wrapping, and the command in it where `@` stands for that, `@1` for the command in single quotes, `@2` in double
/// quotes, `@11` in single quotes twice.
pub type Wrapping = (Takes, &'static str);

/// Every one of these runs the command, or hands it to something that may run it.
pub const RUNS: &[Wrapping] = &[
    // Chains and conditions.
    (Takes::Script, "ls\n@"),
    (Takes::Script, "ls; @"),
    (Takes::Line, "@; ls"),
    (Takes::Line, "@ && ls"),
    (Takes::Line, "false || @"),
    (Takes::Line, "@ || ls"),
    (Takes::Line, "@ &"),
    (Takes::Line, "if ls; then @; fi"),
    (Takes::Line, "if ls; then ls; else @; fi"),
    (Takes::Line, "if @; then ls; fi"),
    (Takes::Line, "case a in a) @;; esac"),
    (Takes::Pipeline, "! @"),
    // Loops.
    (Takes::Line, "for i in 1 2; do @; done"),
    (Takes::Line, "while read -r line; do @; done < list.txt"),
    (Takes::Line, "until @; do ls; done"),
    (Takes::Line, "while @; do break; done"),
    // Shells in the shell.
    (Takes::Line, "( @ )"),
    (Takes::Line, "{ @; }"),
    (Takes::Line, "( ( @ ) | cat ) 2>/dev/null"),
    (Takes::Line, "echo \"$(@)\""),
    (Takes::Line, "x=$(@)"),
    (Takes::Line, "cat <(@)"),
    (Takes::Line, "ls > >(@)"),
    (Takes::Line, "cat <<E\n$(@)\nE"),
    (Takes::Line, "wrapped() { @; }; wrapped"),
    (Takes::Line, "cd src && cd .. && @"),
    (Takes::Line, "cd .; @"),
    // Pipes and redirections.
    (Takes::Pipeline, "ls | @"),
    (Takes::Pipeline, "@ | cat"),
    (Takes::Pipeline, "@ |& cat"),
    (Takes::Command, "@ >/dev/null 2>&1"),
    (Takes::Command, "2>/dev/null @"),
    (Takes::Command, "@ </dev/null"),
    // The command as text.
    (Takes::Script, "bash -c @1"),
    (Takes::Script, "bash -c @2"),
    (Takes::Script, "sh -c @1"),
    (Takes::Script, "bash -c @11"),
    (Takes::Script, "bash -lc @1"),
    (Takes::Script, "eval @1"),
    (Takes::Script, "eval @2"),
    (Takes::Script, "bash <<'WRAPPED'\n@\nWRAPPED"),
    (Takes::Script, "sh -s <<'WRAPPED'\n@\nWRAPPED"),
    (Takes::Script, "cat <<'WRAPPED' | bash\n@\nWRAPPED"),
    (Takes::Script, "bash <<< @1"),
    (Takes::Script, "echo @1 | bash"),
    (Takes::Script, "printf '%s' @1 | sh"),
    (Takes::Script, "trap @1 EXIT"),
    (Takes::Script, "alias wrapped=@1\nwrapped"),
    (Takes::Script, "x=@1; eval \"$x\""),
    (Takes::Script, "x=@1; bash -c \"$x\""),
    // Wrappers.
    (Takes::Command, "time @"),
    (Takes::Command, "command @"),
    (Takes::Command, "LC_ALL=C @"),
    (Takes::Program, "timeout 10 @"),
    (Takes::Program, "timeout -s KILL -k 1 10 nice -n 5 @"),
    (Takes::Program, "nice @"),
    (Takes::Program, "env @"),
    (Takes::Program, "env -i LC_ALL=C @"),
    (Takes::Program, "nohup @"),
    (Takes::Program, "stdbuf -oL @"),
    (Takes::Program, "setsid @"),
    (Takes::Program, "exec @"),
    (Takes::Program, "ls -R | xargs @"),
    (Takes::Program, "ls | xargs -I % @"),
    (Takes::Program, "find . -maxdepth 0 -exec @ \\;"),
    (Takes::Script, "timeout 10 bash -c @1"),
    (Takes::Script, "ls | xargs -I % sh -c @1"),
    (Takes::Script, "find src -name '*.rs' -exec sh -c @1 \\;"),
    // Words that are put together.
    (Takes::Plain, "x='@'; $x"),
    (Takes::Plain, "x=\"@\"; ${x}"),
    (Takes::Plain, "set -- @; \"$@\""),
    // Other languages and machines.
    (Takes::Script, "python3 -c 'import os; os.system('@2')'"),
    (Takes::Script, "node -e 'require(\"child_process\").execSync('@2')'"),
    (Takes::Script, "perl -e 'system('@2')'"),
    (Takes::Script, "ruby -e 'system('@2')'"),
    (Takes::Script, "awk 'BEGIN { system('@2') }'"),
    (Takes::Script, "ssh host @1"),
    (Takes::Script, "docker exec box sh -c @1"),
];

/// What may stand around a harmless command without making it any less harmless.
pub const HARMLESS: &[Wrapping] = &[
    (Takes::Command, "@ 2>/dev/null"),
    (Takes::Command, "@ 2>&1"),
    (Takes::Command, "@ </dev/null"),
    (Takes::Command, "@ >/dev/null 2>&1"),
    (Takes::Pipeline, "@ | head"),
    (Takes::Pipeline, "@ | head -20"),
    (Takes::Pipeline, "@ | wc -l"),
    (Takes::Pipeline, "@ | sort | uniq -c"),
    (Takes::Pipeline, "@ | grep -v x"),
    (Takes::Pipeline, "! @"),
    (Takes::Command, "@ 2>&1 | tail -5"),
    (Takes::Command, "LC_ALL=C @"),
    (Takes::Command, "NO_COLOR=1 @"),
    (Takes::Command, "time @"),
    (Takes::Command, "command @"),
    (Takes::Line, "cd . && @"),
    (Takes::Line, "cd src && @"),
    (Takes::Line, "cd src && cd .. && @"),
    (Takes::Line, "@ && echo done"),
    (Takes::Line, "@ || true"),
    (Takes::Line, "@; echo $?"),
    (Takes::Line, "ls && @"),
    (Takes::Line, "echo '== it'; @"),
    (Takes::Line, "( @ )"),
    (Takes::Line, "{ @; }"),
    (Takes::Line, "if @; then echo yes; fi"),
    (Takes::Line, "for i in 1 2; do @; done"),
    (Takes::Line, "echo \"$(@)\""),
    (Takes::Script, "# What it is\n@"),
    (Takes::Script, "bash -c @1"),
    (Takes::Program, "timeout 10 @"),
    (Takes::Program, "nice @"),
    (Takes::Program, "nice -n 10 timeout 5s @"),
    (Takes::Program, "env LC_ALL=C @"),
    (Takes::Program, "stdbuf -oL @"),
    (Takes::Program, "nohup @"),
];

/// The command in its wrapping; `None` where this wrapping would not run it as it stands.
pub fn wrapped((takes, form): Wrapping, command: &str) -> Option<String> {
    // The inner command's end, or a word that may be it, would be read as the outer one's.
    let ends_early = form.contains("-exec @ ") && (command.contains("-exec") || command.contains('$'));
    if !fits(takes, command) || ends_early || form.contains("WRAPPED") && command.contains("WRAPPED") {
        return None;
    }
    let mut text = String::new();
    let mut pieces = form.split('@');
    text.push_str(pieces.next()?);
    for piece in pieces {
        let (inner, rest) = if let Some(rest) = piece.strip_prefix("11") {
            (single(&format!("bash -c {}", single(command))), rest)
        } else if let Some(rest) = piece.strip_prefix('1') {
            (single(command), rest)
        } else if let Some(rest) = piece.strip_prefix('2') {
            (double(command), rest)
        } else if piece.starts_with('"') && form.contains("set --") {
            // The shell's own `$@`.
            ("@".to_owned(), piece)
        } else {
            (command.to_owned(), piece)
        };
        text.push_str(&inner);
        text.push_str(rest);
    }
    Some(text)
}

fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn double(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            quoted.push('\\');
        }
        quoted.push(c);
    }
    quoted.push('"');
    quoted
}

/// Names that only the shell itself gives a meaning.
const OF_THE_SHELL: &[&str] = &[
    ".",
    "alias",
    "bg",
    "bind",
    "break",
    "builtin",
    "cd",
    "command",
    "compgen",
    "complete",
    "continue",
    "declare",
    "dirs",
    "disown",
    "enable",
    "eval",
    "exec",
    "exit",
    "export",
    "fc",
    "fg",
    "getopts",
    "hash",
    "history",
    "jobs",
    "let",
    "local",
    "mapfile",
    "popd",
    "pushd",
    "read",
    "readarray",
    "readonly",
    "return",
    "set",
    "shift",
    "shopt",
    "source",
    "suspend",
    "times",
    "trap",
    "type",
    "typeset",
    "ulimit",
    "umask",
    "unalias",
    "unset",
    "wait",
];

fn fits(takes: Takes, command: &str) -> bool {
    if takes == Takes::Script {
        return true;
    }
    // What is not understood alone is no less dangerous for standing in the wrong place.
    let Ok(script) = parse(command) else {
        return !command.contains(['\n', '#']) && takes == Takes::Line;
    };
    let is_line = !command.contains(['\n', '#']) && script.items.last().is_none_or(|item| !item.background);
    is_line
        && match takes {
            Takes::Script | Takes::Line => true,
            Takes::Pipeline => is_one_pipeline(&script) && !command.trim_start().starts_with('!'),
            Takes::Command => one_command(&script).is_some(),
            Takes::Program => one_command(&script).is_some_and(|name| !OF_THE_SHELL.contains(&name.as_str())),
            Takes::Plain => {
                one_command(&script).is_some_and(|name| !OF_THE_SHELL.contains(&name.as_str()))
                    && command
                        .chars()
                        .all(|c| c.is_ascii_alphanumeric() || " -_./:=,@%+".contains(c))
            }
        }
}

fn is_one_pipeline(script: &Script) -> bool {
    matches!(script.items.as_slice(), [item] if item.rest.is_empty())
}

/// The first word of a script that is one simple command.
fn one_command(script: &Script) -> Option<String> {
    let [item] = script.items.as_slice() else { return None };
    let [stage] = item.first.stages.as_slice() else {
        return None;
    };
    let Command::Simple { assignments, words } = &stage.command else {
        return None;
    };
    let name = words.first()?;
    let name = match name.parts.as_slice() {
        [Part::Literal(name)] => name.clone(),
        _ => return None,
    };
    (is_one_pipeline(script) && assignments.is_empty() && stage.redirects.is_empty()).then_some(name)
}
