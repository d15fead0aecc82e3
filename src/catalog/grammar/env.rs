//! Reads `env`: what it sets, where it runs, and the command it runs.
//!
//! Without a command it shows the environment. `-S` and `-P` are not listed: they make a command of a text.
//! Source: the GNU coreutils 9.1 manual.

use super::words::{Known, options};
use super::{Inner, Reading, Role, discloses_environment, doubt, uses};
use crate::shell::{Arg, Value, is_identifier};

const ENV: Known = Known {
    program: "env",
    flags: &["-i", "--ignore-environment", "-0", "--null", "--help", "--version"],
    values: &["-u", "--unset", "-C", "--chdir"],
};

/// Reads the words of `env`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((given, rest)) = options(&ENV, &args[1.min(args.len())..], reading) else {
        return;
    };
    let mut emptied = false;
    let mut asks_for_text = false;
    for option in given {
        match option.spelling {
            "-i" | "--ignore-environment" => emptied = true,
            "-C" | "--chdir" => reading.directory = Some(option.into_value()),
            "-u" | "--unset" => unset(&option.into_value(), reading),
            "--help" | "--version" => asks_for_text = true,
            _ => {}
        }
    }
    let count = rest.iter().take_while(|word| is_assignment(&word.value)).count();
    let (assignments, command) = rest.split_at(count);
    for assignment in assignments {
        uses(reading, Role::EnvAssign, assignment.clone());
    }
    match command.first().map(|program| &program.value) {
        None if asks_for_text || emptied => {}
        None => discloses_environment(reading),
        // GNU takes every word with a `=` for an assignment, whatever stands before it.
        Some(Value::Literal(text)) if text != "-" && !text.contains('=') => {
            reading.inner.push(Inner::Command { args: command.to_vec() })
        }
        Some(_) => doubt(reading, command[0].span, "the program that env runs is not known"),
    }
}

/// Whether it is `NAME=..` in any case.
pub(super) fn is_assignment(value: &Value) -> bool {
    let named = |text: &str| text.split_once('=').is_some_and(|(name, _)| is_identifier(name));
    match value {
        Value::Literal(text) => named(text),
        Value::OneOf(texts) => texts.iter().all(|text| named(text)),
        Value::Under { .. } => false,
        Value::Numbered { before, .. } => named(before),
        Value::Unknown { prefix, single } => *single && named(prefix),
    }
}

fn unset(name: &Arg, reading: &mut Reading) {
    match name.value.literal() {
        Some("HOME" | "PATH") | None => doubt(reading, name.span, "what env unsets decides what later words mean"),
        Some(text) if is_identifier(text) => {}
        Some(_) => doubt(reading, name.span, "the name that env unsets is not plain"),
    }
}
