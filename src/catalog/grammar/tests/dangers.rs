//! Dangerous programs and commands never come out harmless, whatever is put between their pieces.
//!
//! A filler may quote the danger away or make the tool refuse the program. So what comes out harmless is run: it must
//! not act then either.

use super::*;
use proptest::prelude::*;
use std::process::{Command, Output};

/// Programs that run, write or name something else, as pieces between which blanks and comments may stand.
const SED: &[&[&str]] = &[
    &["1", "e", " touch out"],
    &["s/a.*/touch out/", "e"],
    &["s/a/b/g", "w", " out"],
    &["/x/", "{", "w out\n", "}"],
    &["2", "!", "e touch out"],
    &["1", ",", "5", "W", " out"],
];
const AWK: &[&[&str]] = &[
    &["BEGIN", "{", "system(", "\"touch out\"", ")", "}"],
    &["{", "print", " $0", "|", "\"sh >out\"", "}"],
    &["{", "print", " a", ",", "b", ">", "\"out\"", "}"],
    &["{", "printf(", "\"%s\"", ",", "b", ")", ">>", "\"ou\"\"t\"", "}"],
    &[
        "BEGIN",
        "{",
        "while",
        "(",
        "(",
        "\"touch out\"",
        "|",
        "getline",
        " x",
        ")",
        ">",
        "0",
        ")",
        "print",
        " x",
        "}",
    ],
    &[
        "{", "if", "(", "/a/", ")", "print", " $1/2", ">", "$2", ";", "else", " x", "=", "1", "}",
    ],
    &[
        "function ",
        "f(",
        "a",
        ")",
        "{",
        "system(",
        "a",
        ")",
        "}",
        "{",
        "f(",
        "\"touch out\"",
        ")",
        "}",
    ],
];
const JQ: &[&[&str]] = &[
    &["{", "a", ":", "env", "}"],
    &["[", "1", ",", "$ENV", "]"],
    &["\"\\(", "env", ")\""],
    &[".a", "|", "input_filename"],
    &["{", "a", ",", "b", ":", "[", "env", ",", "1", "]", "}"],
    &["import ", "\"a\"", "as ", "b", ";", "."],
];

/// Words of commands that execute, write or remove.
const LINES: &[&[&str]] = &[
    &["find", ".", "-exec", "rm", "{}", ";"],
    &["find", "src", "-delete"],
    &["find", ".", "-fprint", "out"],
    &["find", ".", "-name", "x", "-fprintf", "out", "%p"],
    &["find", ".", "-execdir", "sh", "-c", "id", ";"],
    &["xargs", "sh", "-c"],
    &["xargs", "-I", "%", "sh", "-c", "%"],
    &["xargs", "-0", "rm"],
    &["env", "A=1", "rm", "x"],
];

fn one_of(values: &'static [&'static [&'static str]]) -> impl Strategy<Value = &'static [&'static str]> {
    prop::sample::select(values)
}

/// The pieces with one filler between each two.
fn mixed(pieces: &[&str], fillers: &[&str]) -> String {
    let mut fillers = fillers.iter().cycle();
    pieces
        .iter()
        .flat_map(|piece| [*piece, fillers.next().copied().unwrap_or_default()])
        .collect()
}

fn fillers(values: Vec<&'static str>) -> impl Strategy<Value = Vec<&'static str>> {
    prop::collection::vec(prop::sample::select(values), 1..16)
}

proptest! {
    #[test]
    fn a_dangerous_sed_script_never_comes_out_harmless(
        pieces in one_of(SED),
        fill in fillers(vec!["", "", "", " ", "\t", "\n", ";", "{", "}", "#x\n", "\\\n", "p;", "é"]),
    ) {
        let code = mixed(pieces, &fill);
        prop_assert!(!is_harmless(&program(Role::Sed, &code)) || !makes_a_file("sed", &code), "{code:?}");
    }

    #[test]
    fn a_dangerous_awk_program_never_comes_out_harmless(
        pieces in one_of(AWK),
        fill in fillers(vec!["", "", "", " ", "\t", "\\\n", "\n", ";", "#x\n", "(", ")", "1 ", "/", "\""]),
    ) {
        let code = mixed(pieces, &fill);
        prop_assert!(!is_harmless(&program(Role::Awk, &code)) || !makes_a_file("awk", &code), "{code:?}");
    }

    #[test]
    fn a_dangerous_jq_filter_never_comes_out_harmless(
        pieces in one_of(JQ),
        fill in fillers(vec!["", "", "", " ", "\t", "\n", "#x\n", "(", ")", "[", "]"]),
    ) {
        let code = mixed(pieces, &fill);
        prop_assert!(!is_harmless(&program(Role::Jq, &code)) || !shows_the_environment(&code), "{code:?}");
    }

    #[test]
    fn a_dangerous_command_never_comes_out_harmless(
        words in one_of(LINES),
        more in prop::collection::vec((0usize..8, prop::sample::select(vec!["-print", "-o", "!", "(", ")", "-0", "--", "-t", "{}", ""])), 0..3),
    ) {
        let mut words = words.to_vec();
        for (at, word) in more {
            // Words after a program are its own.
            words.insert(1 + at % (words.len() - 1), word);
        }
        let args: Vec<_> = words.iter().map(|text| word(text)).collect();
        prop_assert!(!is_harmless(&command(&args)), "{words:?}");
    }
}

/// Runs a tool on one line of input in a directory of its own; also whether the file `out` is there then. A program that
/// was mixed together may go round for ever, and is then ended.
fn run(tool: &str, words: &[&str]) -> (Output, bool) {
    let directory = tempfile::tempdir().expect("a temporary directory");
    std::fs::write(directory.path().join("input"), "a out x\n").expect("the input is written");
    let output = Command::new("timeout")
        .args(["5", tool])
        .args(words)
        .current_dir(directory.path())
        .env("COUNTERSIGN_MARK", "shown")
        .output()
        .unwrap_or_else(|error| panic!("this test needs timeout and {tool}: {error}"));
    (output, directory.path().join("out").exists())
}

fn makes_a_file(tool: &str, code: &str) -> bool {
    run(tool, &[code, "input"]).1
}

fn shows_the_environment(filter: &str) -> bool {
    let (output, _) = run("jq", &["-n", filter]);
    String::from_utf8_lossy(&output.stdout).contains("COUNTERSIGN_MARK")
}

#[test]
fn the_dangerous_programs_do_act_where_nothing_is_put_between() {
    for pieces in SED {
        assert!(makes_a_file("sed", &pieces.concat()), "{pieces:?}");
    }
    for pieces in AWK {
        assert!(makes_a_file("awk", &pieces.concat()), "{pieces:?}");
    }
    assert!(shows_the_environment("env") && shows_the_environment(&JQ[0].concat()));
}
