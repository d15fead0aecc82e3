//! Reads `test` and `[`: they look at files and compare words, nothing more.
//!
//! Seen by running: neither bash nor zsh evaluates code in the words of `-eq` and its like, but bash does in the
//! subscript of `-v` and zsh in the descriptor of `-t`. A word that is not known may turn out to be one of these, so
//! two such words never stand side by side.

use super::{Reading, Role, doubt, uses, words::is_one_word};
use crate::shell::{Arg, is_identifier};

const OF_PATH: &[&str] = &[
    "-b", "-c", "-d", "-e", "-f", "-g", "-G", "-h", "-k", "-L", "-N", "-O", "-p", "-r", "-s", "-S", "-u", "-w", "-x",
];
const OF_TEXT: &[&str] = &["-n", "-z", "-t", "-v", "-R"];
const BETWEEN_TEXTS: &[&str] = &["=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];
const BETWEEN_PATHS: &[&str] = &["-nt", "-ot", "-ef"];

/// Reads the words of `test` or `[`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let Some((program, mut words)) = args.split_first() else {
        return;
    };
    if program.value.literal() == Some("[") {
        match words.split_last() {
            Some((last, rest)) if last.value.literal() == Some("]") => words = rest,
            _ => return doubt(reading, program.span, "`[` lacks its `]`"),
        }
    }
    if let Some((arg, why)) = may_evaluate(words) {
        return doubt(reading, arg.span, why);
    }
    let mut rest = words;
    while let Some(first) = rest.first() {
        match primary(rest, reading) {
            Some(after) => rest = after,
            None => return doubt(reading, first.span, "the words of this test are not understood"),
        }
    }
}

/// The word, if any, that some shell may evaluate as code.
fn may_evaluate(words: &[Arg]) -> Option<(&Arg, &'static str)> {
    if let Some(word) = words.iter().find(|word| !is_one_word(&word.value)) {
        return Some((word, "a word of this test may be several words"));
    }
    words.windows(2).find_map(|pair| {
        let operand = pair[1].value.literal();
        match pair[0].value.literal() {
            Some("-v" | "-R") if !operand.is_some_and(is_identifier) => {
                Some((&pair[1], "the name that this test looks for is not plain"))
            }
            Some("-t") if !operand.is_some_and(|text| text.bytes().all(|b| b.is_ascii_digit())) => {
                Some((&pair[1], "the descriptor that this test looks at is not a number"))
            }
            None if operand.is_none() => Some((&pair[1], "two words of this test are not known")),
            _ => None,
        }
    })
}

/// Reads `! ( TEST )` and the `-a` or `-o` that follows; what is left. `None`: it is not understood.
fn primary<'a>(words: &'a [Arg], reading: &mut Reading) -> Option<&'a [Arg]> {
    let is = |arg: &Arg, known: &[&str]| arg.value.literal().is_some_and(|text| known.contains(&text));
    let rest = match words {
        [left, operator, right, rest @ ..] if is(operator, BETWEEN_PATHS) => {
            uses(reading, Role::PathInspect, left.clone());
            uses(reading, Role::PathInspect, right.clone());
            rest
        }
        [_, operator, _, rest @ ..] if is(operator, BETWEEN_TEXTS) => rest,
        [opening, rest @ ..] if is(opening, &["!", "("]) && !rest.is_empty() => return Some(rest),
        [operator, operand, rest @ ..] if is(operator, OF_PATH) => {
            uses(reading, Role::PathInspect, operand.clone());
            rest
        }
        [operator, _, rest @ ..] if is(operator, OF_TEXT) => rest,
        [_, rest @ ..] => rest,
        [] => return None,
    };
    let closing = rest.iter().take_while(|word| is(word, &[")"])).count();
    match &rest[closing..] {
        [] => Some(&[]),
        [join, more @ ..] if is(join, &["-a", "-o"]) && !more.is_empty() => Some(more),
        _ => None,
    }
}
