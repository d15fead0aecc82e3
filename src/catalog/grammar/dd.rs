//! Reads `dd`: what `if=` reads and `of=` overwrites. Source: the GNU coreutils 9.1 manual.

use super::{Reading, Role, doubt, uses};
use crate::shell::{Arg, Value};

const PLAIN: &[&str] = &[
    "bs", "cbs", "conv", "count", "ibs", "iflag", "iseek", "obs", "oflag", "oseek", "seek", "skip", "status",
];

/// Reads the words of `dd`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    for word in &args[1.min(args.len())..] {
        let text = match &word.value {
            Value::Literal(text) => text,
            Value::Unknown { prefix, single: true } => prefix,
            Value::Numbered { before, .. } => before,
            Value::OneOf(_) | Value::Under { .. } | Value::Unknown { .. } => "",
        };
        let (name, _) = text.split_once('=').unwrap_or((text, ""));
        let operand = || Arg {
            value: word.value.without_prefix(3),
            span: word.span,
        };
        match name {
            "--help" | "--version" => {}
            _ if !text.contains('=') => doubt(reading, word.span, "a word of dd is not known"),
            "if" => uses(reading, Role::PathRead, operand()),
            "of" => uses(reading, Role::PathWrite, operand()),
            _ if PLAIN.contains(&name) => {}
            _ => doubt(
                reading,
                word.span,
                format!("`{name}=` is not an operand that is known of dd"),
            ),
        }
    }
}
