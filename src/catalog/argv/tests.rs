use crate::catalog::{Reading, Role, read};
use crate::shell::{Arg, Span, Value};

fn literal(text: &str) -> Value {
    Value::Literal(text.to_owned())
}

fn unknown(prefix: &str, single: bool) -> Value {
    Value::Unknown {
        prefix: prefix.to_owned(),
        single,
    }
}

/// Reads values as words, each with its index as its span.
fn reading(values: Vec<Value>) -> Reading {
    let args: Vec<Arg> = values
        .into_iter()
        .zip(0..)
        .map(|(value, at)| Arg {
            value,
            span: Span { start: at, end: at + 1 },
        })
        .collect();
    read(&args).expect("the command has an entry")
}

/// Reads literal words; `$x` stands for one unknown word, `$@` for any number of them.
fn words(line: &str) -> Reading {
    let value = |word: &str| match word.split_once('$') {
        Some((prefix, "x")) => unknown(prefix, true),
        Some((prefix, "@")) => unknown(prefix, false),
        Some(_) | None => literal(word),
    };
    reading(line.split_whitespace().map(value).collect())
}

fn uses(reading: &Reading) -> Vec<(Role, &str)> {
    reading
        .uses
        .iter()
        .map(|u| (u.role, u.arg.value.literal().unwrap_or("?")))
        .collect()
}

#[track_caller]
fn understood(line: &str, expected: &[(Role, &str)]) {
    let reading = words(line);
    assert!(reading.doubts.is_empty(), "{line}: {:?}", reading.doubts);
    assert_eq!(uses(&reading), expected, "{line}");
}

#[track_caller]
fn doubted(line: &str, why: &str) {
    let reading = words(line);
    let whys: Vec<&str> = reading.doubts.iter().map(|d| d.why.as_str()).collect();
    assert!(whys.contains(&why), "{line}: {whys:?}");
}

#[test]
fn a_name_without_an_entry_is_not_read() {
    let arg = |value| Arg {
        value,
        span: Span::default(),
    };
    assert!(read(&[arg(literal("no-such-command"))]).is_none());
    assert!(read(&[arg(Value::UNKNOWN)]).is_none());
    assert!(read(&[]).is_none());
}

#[test]
fn exact_spellings_are_options_and_what_is_left_are_operands() {
    understood("wc -l --words a.txt", &[(Role::PathRead, "a.txt")]);
}

#[test]
fn an_abbreviation_is_not_an_option() {
    doubted("wc --line a.txt", "`--line` is not an option that is known of wc");
}

#[test]
fn an_unlisted_letter_in_a_cluster_is_named() {
    doubted("wc -lZ a.txt", "`-Z` is not an option that is known of wc");
}
