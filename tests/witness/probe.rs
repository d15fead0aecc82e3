//! Tries an option where no text settles it: alone, before a word that no program knows, and with a glued value. What
//! the program complains of tells whether it knows the option and whether it takes a value.

use std::collections::BTreeSet;

use crate::image::Answer;
use crate::reading::Shown;

/// An option that no program has.
const NONE: &str = "--countersign-none";

const WANTS_VALUE: &[&str] = &[
    "requires an argument",
    "requires argument",
    "requires a value",
    "requires a parameter",
    "requires at least",
    "requires a ",
    "requires an ",
    "requires parameter",
    "expected one argument",
    "expected at least one argument",
    "expected 1 argument",
    "expected 2 arguments",
    "expects one argument",
    "expects an argument",
    "expects a value",
    "expects a ",
    "expected a value",
    "expected parameter",
    "argument expected",
    "needs an argument",
    "needs argument",
    "needs a value",
    "needs a parameter",
    "needs a ",
    "argument missing",
    "missing argument",
    "missing an argument",
    "missing parameter",
    "missing value",
    "missing required",
    "value is required",
    "value required",
    "argument required",
    "argument is required",
    "argument to",
    "must have a value",
    "must have an argument",
    "must be followed by",
    "not enough arguments",
    "without an argument",
    "without argument",
    "takes one argument",
    "takes an argument",
    "option needs",
    "no value specified",
    "no argument specified",
    "empty string",
];
const UNKNOWN: &[&str] = &[
    "unrecognized",
    "unrecognised",
    "unknown",
    "unexpected",
    "unsupported",
    "undefined",
    "invalid",
    "illegal",
    "bad option",
    "bad argument",
    "no such option",
    "no option",
    "not a valid",
    "not recognized",
    "not recognised",
    "not defined",
    "not supported",
    "not understood",
    "wasn't expected",
    "don't know",
    "could not find",
    "cannot open",
    "can't open",
    "no such file",
];
const WANTS_NONE: &[&str] = &[
    "doesn't allow an argument",
    "does not allow an argument",
    "does not take",
    "doesn't take",
    "does not accept",
    "doesn't accept",
    "takes no ",
    "ignored explicit argument",
    "unexpected value",
    "must not have",
    "no argument allowed",
    "unexpected argument",
];

/// What trying tells of an option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The program does not have it.
    Unknown,
    /// It has, and shows this of the value.
    Known(BTreeSet<Shown>),
    /// It has: it refuses what it does not know, and does not refuse this, nor what stands after it.
    Accepted,
    /// The program's answer tells nothing.
    Unclear,
}

/// How many commands `tries` makes.
pub const TRIES: usize = 3;

/// The command with an option that no program has: whether it complains of one at all.
pub fn control(command: &[String]) -> Vec<String> {
    [command, &[NONE.to_owned()]].concat()
}

/// The commands to run for `verdict`, in its order.
pub fn tries(command: &[String], option: &str) -> Vec<Vec<String>> {
    let with = |words: &[&str]| [command, &words.iter().map(|&w| w.to_owned()).collect::<Vec<_>>()].concat();
    vec![with(&[option]), with(&[option, NONE]), with(&[&glued(option)])]
}

/// The option with a value in the same word.
fn glued(option: &str) -> String {
    if option.starts_with("--") {
        format!("{option}=x")
    } else {
        format!("{option}1")
    }
}

/// What the answers to the command itself, to `control` and to `tries` tell.
pub fn verdict(bare: &Answer, control: &Answer, answers: &[Answer], option: &str) -> Verdict {
    let [alone, before, together] = answers else {
        panic!("`tries` makes {TRIES} commands")
    };
    // What it misses without the option too is no value of the option.
    let own = alone
        .text
        .lines()
        .filter(|line| !bare.text.lines().any(|other| other == *line));
    if own.into_iter().any(|line| says(line, WANTS_VALUE)) && !refuses(alone, option) {
        return Verdict::Known([Shown::Valued].into());
    }
    if refuses(alone, option) {
        return Verdict::Unknown;
    }
    if says(&together.text, WANTS_NONE) {
        return Verdict::Known([Shown::Bare].into());
    }
    if !refuses(control, NONE) {
        return Verdict::Unclear;
    }
    if refuses(before, NONE) {
        let refused = [option, &glued(option), "-1"]
            .iter()
            .any(|word| refuses(together, word));
        return Verdict::Known(if refused {
            [Shown::Bare].into()
        } else {
            [Shown::Bare, Shown::Maybe].into()
        });
    }
    Verdict::Accepted
}

fn says(text: &str, phrases: &[&str]) -> bool {
    let text = text.to_lowercase();
    phrases.iter().any(|phrase| text.contains(phrase))
}

/// Whether the answer complains that it does not know this word.
pub fn refuses(answer: &Answer, word: &str) -> bool {
    let name = word.trim_start_matches(['-', '+']);
    let named = |line: &str| {
        if word == NONE {
            // A program with short options only refuses the second dash.
            return line.contains(name) || line.contains("'-'") || line.ends_with("-- -") || line.contains("\"-\"");
        }
        match name.chars().count() {
            1 => [
                format!("'{name}'"),
                format!("-{name}"),
                format!("-- {name}"),
                format!("\"{name}\""),
            ]
            .iter()
            .any(|quoted| line.contains(quoted)),
            _ => line.contains(name),
        }
    };
    answer.status != 0
        && answer
            .text
            .lines()
            .take(6)
            .any(|line| says(line, UNKNOWN) && named(line))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(option: &str, texts: [&str; 4]) -> Verdict {
        let answer = |text: &&str| Answer {
            status: i32::from(!text.is_empty()),
            text: (*text).to_owned(),
        };
        let answers: Vec<Answer> = texts.iter().map(answer).collect();
        verdict(&Answer::default(), &answers[0], &answers[1..], option)
    }

    #[test]
    fn complaints_tell_of_an_option() {
        let none = "x: unrecognized option '--countersign-none'";
        let valued = Verdict::Known([Shown::Valued].into());
        let bare = Verdict::Known([Shown::Bare].into());
        assert_eq!(
            judged("-o", [none, "x: option requires an argument -- 'o'", "", ""]),
            valued
        );
        assert_eq!(
            judged("--out", [none, "error: argument --out: expected one argument", "", ""]),
            valued
        );
        assert_eq!(
            judged("--all", [none, "", none, "x: option '--all' doesn't allow an argument"]),
            bare
        );
        assert_eq!(
            judged("-a", [none, "missing operand", none, "x: invalid option -- '1'"]),
            bare
        );
        let missing = |text: &str| Answer {
            status: 1,
            text: text.to_owned(),
        };
        let bare = missing("Error: Missing argument 'APP'.");
        let answers = ["Error: Option '--level' requires an argument.", "", ""].map(missing);
        assert_eq!(verdict(&bare, &missing(none), &answers, "--level"), valued);
        let answers = [bare.clone(), bare.clone(), bare.clone()];
        assert_eq!(verdict(&bare, &missing(none), &answers, "--level"), Verdict::Accepted);
        assert_eq!(
            judged("-q", [none, "x: invalid option -- 'q'", "", ""]),
            Verdict::Unknown
        );
        assert_eq!(
            judged("--quux", [none, "unknown flag: --quux", "", ""]),
            Verdict::Unknown
        );
        assert_eq!(
            judged("--out", [none, "no input", "no input", "no input"]),
            Verdict::Accepted
        );
        assert_eq!(
            judged("--out", ["no input", "no input", "no input", "no input"]),
            Verdict::Unclear
        );
    }
}
