//! Reads `xargs`: its options, and the command it runs with words that come from data.
//!
//! Without `-I` the inner command is marked `appended`: any number of unknown words follow its own. With `-I R` each
//! word that holds R is one unknown word with the literal text before R as its prefix.
//! Source: the GNU findutils 4.9 manual; options whose value BSD takes differently (`-i`, `-l`, `-e`) are not listed.

use super::words::{Known, options};
use super::{Inner, Reading, Role, doubt, find, uses};
use crate::shell::{Arg, Value};

const XARGS: Known = Known {
    program: "xargs",
    flags: &[
        "-0",
        "--null",
        "-r",
        "--no-run-if-empty",
        "-t",
        "--verbose",
        "-x",
        "--exit",
        "--help",
        "--version",
    ],
    values: &[
        "-a",
        "--arg-file",
        "-d",
        "--delimiter",
        "-E",
        "-I",
        "-L",
        "-n",
        "--max-args",
        "-P",
        "--max-procs",
        "-s",
        "--max-chars",
    ],
};

/// Reads the words of `xargs`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((given, command)) = options(&XARGS, &args[1.min(args.len())..], reading) else {
        return;
    };
    let mut placeholder = None;
    for option in given {
        match option.spelling {
            "-a" | "--arg-file" => uses(reading, Role::PathRead, option.into_value()),
            "-I" => placeholder = Some(option.into_value()),
            // GNU lets the last of -I, -L and -n win, others combine them.
            "-L" | "-n" | "--max-args" if placeholder.is_some() => {
                return doubt(
                    reading,
                    option.into_value().span,
                    "xargs is given `-I` and a count of words",
                );
            }
            _ => {}
        }
    }
    let Some(program) = command.first() else {
        return;
    };
    let Some(placeholder) = placeholder else {
        reading.inner.push(Inner::Command {
            args: command.to_vec(),
            appended: true,
        });
        return;
    };
    let Some(text) = placeholder.value.literal().filter(|text| !text.is_empty()) else {
        return doubt(reading, placeholder.span, "the placeholder of xargs is not known");
    };
    let data = Value::Unknown {
        prefix: String::new(),
        single: true,
    };
    let args: Vec<Arg> = command.iter().map(|arg| find::replace(arg, text, &data)).collect();
    if !matches!(program.value, Value::Literal(_)) || args[0] != *program {
        return doubt(reading, program.span, "xargs runs a program that its input names");
    }
    reading.inner.push(Inner::Command { args, appended: false });
}
