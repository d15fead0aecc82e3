//! Reads `yq FILTER FILES`, in what the Go program and the Python one of that name understand alike.
//!
//! A filter that could be a file's name is taken as a path too: the Go program prints the file then.
//! Source: the manual of mikefarah/yq 4 and the README of kislyuk/yq 3.

use super::jq::{Dialect, read_dialect};
use super::{Reading, Role, doubt, uses};
use crate::shell::Arg;

const YQ: Dialect = Dialect {
    program: "yq",
    functions: &[
        "add",
        "all",
        "any",
        "contains",
        "del",
        "false",
        "first",
        "flatten",
        "group_by",
        "has",
        "join",
        "keys",
        "length",
        "map",
        "map_values",
        "not",
        "null",
        "path",
        "reverse",
        "select",
        "sort",
        "sort_by",
        "split",
        "test",
        "to_entries",
        "true",
        "type",
        "unique",
        "unique_by",
        "with_entries",
    ],
    loose_keys: true,
};

const FLAGS: &[&str] = &[
    "-r",
    "-e",
    "-C",
    "-M",
    "-N",
    "-P",
    "-o=json",
    "-o=yaml",
    "--version",
    "--help",
];

/// Reads the words of `yq`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let mut words = args.iter().skip(1).peekable();
    while let Some(word) = words.next_if(|word| word.value.literal().is_some_and(|text| FLAGS.contains(&text))) {
        if matches!(word.value.literal(), Some("--version" | "--help")) {
            return;
        }
    }
    if words
        .peek()
        .is_some_and(|word| matches!(word.value.literal(), Some("e" | "eval")))
    {
        words.next();
    }
    let Some(filter) = words.next() else {
        return;
    };
    let Some(text) = filter.value.literal().filter(|text| text.starts_with('.')) else {
        return doubt(reading, filter.span, "the filter of yq is not known");
    };
    if let Err(why) = read_dialect(&YQ, text, filter.span, reading) {
        return doubt(reading, filter.span, why);
    }
    if text.len() > 1 && !text.contains([' ', '[', '|', '(', '"']) {
        uses(reading, Role::PathRead, filter.clone());
    }
    for word in words {
        if word.value.may_be_option() {
            return doubt(reading, word.span, "a word of yq may be an option");
        }
        uses(reading, Role::PathRead, word.clone());
    }
}
