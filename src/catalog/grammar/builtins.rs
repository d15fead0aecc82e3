//! Reads the shell builtins that set variables by name or look at processes.
//!
//! bash and zsh run code in a subscript (`read 'a[$(x)]'`), and zsh in a number it is given (`printf %d`, `read -t`),
//! so names are plain identifiers and numbers are digits. A variable that only this script knows is no effect; a name
//! that a program or the shell obeys is a doubt or an env-assign.

use super::env::is_assignment;
use super::words::{Known, is_one_word, options};
use super::{Reading, Role, discloses_environment, doubt, uses};
use crate::catalog::environment::{self, EnvRisk};
use crate::effect::{Action, EffectSpec, Undo};
use crate::shell::{Arg, Value, is_identifier};

/// Whether a script may set this variable without changing what anything else does.
fn is_own(name: &str) -> bool {
    is_identifier(name)
        && !environment::obeyed_by_shell(name)
        && !matches!(environment::assignment(name, &Value::UNKNOWN), EnvRisk::Hazard(_))
}

fn is_number(arg: &Arg) -> bool {
    let plain = |text: &String| {
        let digits = text.strip_prefix('-').unwrap_or(text);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit() || b == b'.')
    };
    arg.value.alternatives().is_some_and(|texts| texts.iter().all(plain))
}

fn sets(name: &Arg, reading: &mut Reading) {
    if !name
        .value
        .alternatives()
        .is_some_and(|names| names.iter().all(|name| is_own(name)))
    {
        doubt(
            reading,
            name.span,
            "a variable is set that the shell or a program may obey",
        );
    }
}

/// `printf [-v NAME] FORMAT WORDS`
pub(super) fn printf(args: &[Arg], reading: &mut Reading) {
    let mut words = &args[1.min(args.len())..];
    if let [option, name, rest @ ..] = words
        && option.value.literal() == Some("-v")
    {
        sets(name, reading);
        words = rest;
    }
    if let [dashes, rest @ ..] = words
        && dashes.value.literal() == Some("--")
    {
        words = rest;
    }
    let Some((format, values)) = words.split_first() else {
        return;
    };
    let Some(texts) = format.value.alternatives() else {
        return doubt(reading, format.span, "the format of printf is not known");
    };
    if format.value.may_be_option() {
        return doubt(reading, format.span, "the format of printf may be an option");
    }
    for text in texts {
        let Some(numeric) = conversions(text) else {
            return doubt(reading, format.span, "the format of printf is not understood");
        };
        if let Some(value) = evaluated(&numeric, values) {
            return doubt(
                reading,
                value.span,
                "zsh's printf evaluates a number that is not known as code",
            );
        }
    }
}

/// Whether each conversion of the format takes a number, in order. `None`: not understood (`*`, `$`, `(`).
fn conversions(format: &str) -> Option<Vec<bool>> {
    let mut numeric = Vec::new();
    let mut pieces = format.split('%').skip(1);
    while let Some(piece) = pieces.next() {
        if piece.is_empty() {
            // `%%`: the text after it is no conversion.
            pieces.next()?;
            continue;
        }
        let conversion = piece.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.'".contains(c));
        match conversion.chars().next()? {
            's' | 'b' | 'q' | 'c' => numeric.push(false),
            'd' | 'i' | 'o' | 'u' | 'x' | 'X' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => numeric.push(true),
            _ => return None,
        }
    }
    Some(numeric)
}

/// The value, if any, that a shell may evaluate as a number without its being one.
fn evaluated<'a>(numeric: &[bool], values: &'a [Arg]) -> Option<&'a Arg> {
    if !numeric.contains(&true) {
        return None;
    }
    let mut positions = numeric.iter().cycle();
    values.iter().find(|value| {
        let is_evaluated = positions.next() == Some(&true);
        !is_one_word(&value.value) || (is_evaluated && !is_number(value))
    })
}

/// `read [-r] [-p PROMPT] .. NAMES`
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    const READ: Known = Known {
        program: "read",
        flags: &["-r", "-s"],
        values: &["-d", "-n", "-p", "-t", "-u"],
    };
    let Some((given, names)) = options(&READ, &args[1.min(args.len())..], reading) else {
        return;
    };
    for option in given {
        if matches!(option.spelling, "-n" | "-t" | "-u") {
            let value = option.into_value();
            if !is_number(&value) {
                doubt(reading, value.span, "a number that read is given is not known");
            }
        }
    }
    for name in names {
        sets(name, reading);
    }
}

/// `set -euo pipefail`; without words it shows every variable.
pub(super) fn set(args: &[Arg], reading: &mut Reading) {
    let Some((_, mut words)) = args.split_first() else {
        return;
    };
    if words.is_empty() {
        return discloses_environment(reading);
    }
    while let [word, rest @ ..] = words {
        words = rest;
        let letters = word.value.literal().and_then(|text| text.strip_prefix(['-', '+']));
        let Some(letters) = letters.filter(|text| text.bytes().all(|b| b"eux".contains(&b) || b == b'o')) else {
            return doubt(reading, word.span, "a word of `set` is not known");
        };
        let named = letters.matches('o').count();
        if letters.is_empty() || named > 1 || (named == 1 && !letters.ends_with('o')) {
            return doubt(reading, word.span, "a word of `set` is not known");
        }
        if named == 1 {
            let name = words.first().and_then(|name| name.value.literal());
            if !matches!(name, Some("pipefail" | "errexit" | "nounset" | "xtrace")) {
                return doubt(reading, word.span, "the option that `set -o` names is not known");
            }
            words = &words[1..];
        }
    }
}

/// `export NAME[=VALUE] ..`; without names it shows the environment.
pub(super) fn export(args: &[Arg], reading: &mut Reading) {
    const EXPORT: Known = Known {
        program: "export",
        flags: &["-p"],
        values: &[],
    };
    let Some((given, names)) = options(&EXPORT, &args[1.min(args.len())..], reading) else {
        return;
    };
    if names.is_empty() || !given.is_empty() {
        discloses_environment(reading);
    }
    for name in names {
        assigns(name, reading);
    }
}

/// `declare`, `local`, `readonly`, `typeset`: `[-rx] NAME[=VALUE] ..`; without names they show variables.
///
/// `-i` and `-n` evaluate what is assigned later and are not listed, neither is `-a` and its like.
pub(super) fn declare(args: &[Arg], reading: &mut Reading) {
    const DECLARE: Known = Known {
        program: "declare",
        flags: &["-p", "-r", "-x"],
        values: &[],
    };
    let Some((given, names)) = options(&DECLARE, &args[1.min(args.len())..], reading) else {
        return;
    };
    if names.is_empty() || given.iter().any(|option| option.spelling == "-p") {
        discloses_environment(reading);
    }
    let exported = given.iter().any(|option| option.spelling == "-x");
    for name in names {
        let text = name
            .value
            .literal()
            .map(|text| text.split_once('=').map_or(text, |(name, _)| name));
        if exported || !text.is_some_and(is_own) {
            assigns(name, reading);
        }
    }
}

/// `NAME=VALUE`, or `NAME` whose value is not known here.
fn assigns(word: &Arg, reading: &mut Reading) {
    if is_assignment(&word.value) {
        return uses(reading, Role::EnvAssign, word.clone());
    }
    match word.value.literal() {
        Some(name) if is_identifier(name) => {
            let value = Value::Unknown {
                prefix: format!("{name}="),
                single: true,
            };
            uses(reading, Role::EnvAssign, Arg { value, span: word.span });
        }
        _ => doubt(reading, word.span, "the variable that is set is not plain"),
    }
}

/// `kill -0 PID` and `kill -l` look; every other signal acts on a process.
pub(super) fn kill(args: &[Arg], reading: &mut Reading) {
    let words = &args[1.min(args.len())..];
    match words.first().and_then(|word| word.value.literal()) {
        Some("-l" | "-L") if words.iter().all(|word| is_one_word(&word.value)) => {}
        Some("-0") => {}
        _ => reading.effects.push(EffectSpec {
            undo: Undo::Lost,
            ..EffectSpec::of(Action::Control)
        }),
    }
}
