//! Reads `xargs`: its options, and the command it runs with words that come from data.
//!
//! Which words these are, whoever knows what stands on its input says.
//! Source: the GNU findutils 4.9 manual; options whose value BSD takes differently (`-i`, `-l`, `-e`) are not listed.

use super::words::{Known, options};
use super::{Inner, Reading, Role, doubt, find, uses};
use crate::catalog::{Feed, Split};
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
    let mut split = Split::Blanks;
    let mut in_parts = false;
    // Of the options that part the words, each is `-n 1`.
    let mut one = true;
    for option in given {
        match option.spelling {
            "-a" | "--arg-file" => {
                uses(reading, Role::PathRead, option.into_value());
                split = Split::Other;
            }
            "-0" | "--null" if split != Split::Other => split = Split::Nul,
            "-d" | "--delimiter" | "-E" => split = Split::Other,
            "-I" => placeholder = Some(option.into_value()),
            // GNU lets the last of -I, -L and -n win, others combine them.
            "-L" | "-n" | "--max-args" if placeholder.is_some() => {
                return doubt(
                    reading,
                    option.into_value().span,
                    "xargs is given `-I` and a count of words",
                );
            }
            "-L" | "-n" | "--max-args" | "-s" | "--max-chars" => {
                in_parts = true;
                let counts_words = matches!(option.spelling, "-n" | "--max-args");
                one &= counts_words && option.into_value().value.literal() == Some("1");
            }
            _ => {}
        }
    }
    let Some(program) = command.first() else {
        return;
    };
    let placeholder = match placeholder {
        None => None,
        Some(arg) => match arg.value.literal().filter(|text| !text.is_empty()) {
            Some(text) => Some(text.to_owned()),
            None => return doubt(reading, arg.span, "the placeholder of xargs is not known"),
        },
    };
    let named_by_data = |text: &String| find::replace(program, text, &Value::UNKNOWN) != *program;
    let is_known = matches!(program.value, Value::Literal(_));
    if placeholder
        .as_ref()
        .is_some_and(|text| !is_known || named_by_data(text))
    {
        return doubt(reading, program.span, "xargs runs a program that its input names");
    }
    reading.inner.push(Inner::Fed {
        args: command.to_vec(),
        feed: Feed {
            placeholder,
            split,
            in_parts,
            one: in_parts && one,
        },
    });
}
