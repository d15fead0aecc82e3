//! What the tests of the grammars share: words, readings, and what came of them.

use super::{embedded, whole};
use crate::catalog::{Inner, Reading, Role};
use crate::shell::{Arg, Value};

pub(super) fn word(text: &str) -> Arg {
    Arg {
        value: Value::Literal(text.into()),
        span: Default::default(),
    }
}

/// A word whose text starts with `prefix` and is otherwise not known.
pub(super) fn unknown(prefix: &str) -> Arg {
    Arg {
        value: Value::Unknown {
            prefix: prefix.into(),
            single: true,
        },
        span: Default::default(),
    }
}

/// Words that nothing is known of, not even how many they are.
pub(super) fn several() -> Arg {
    Arg {
        value: Value::UNKNOWN,
        span: Default::default(),
    }
}

/// Reads a command given as one line without quotes.
pub(super) fn line(text: &str) -> Reading {
    command(&text.split(' ').map(word).collect::<Vec<_>>())
}

pub(super) fn command(args: &[Arg]) -> Reading {
    let mut reading = Reading::default();
    let name = match args[0].value.literal() {
        Some("[") => "test",
        Some(name) => name,
        None => panic!("a test's command has no name"),
    };
    whole(name).unwrap_or_else(|| panic!("{name} has no reader"))(args, &mut reading);
    reading
}

pub(super) fn program(role: Role, code: &str) -> Reading {
    let mut reading = Reading::default();
    embedded(role, &word(code), &mut reading);
    reading
}

/// No doubt, no effect, no path that is written or removed, no inner command: it only computes and looks.
pub(super) fn is_harmless(reading: &Reading) -> bool {
    let looks = |role| {
        matches!(
            role,
            Role::PathRead | Role::PathInspect | Role::TreeRead | Role::TreeFilter | Role::Plain
        )
    };
    reading.doubts.is_empty()
        && reading.effects.is_empty()
        && reading.inner.is_empty()
        && reading.uses.iter().all(|it| looks(it.role))
}

/// Each use as `role text`, the text ending in `*` where only its start is known.
pub(super) fn uses(reading: &Reading) -> Vec<String> {
    reading
        .uses
        .iter()
        .map(|it| format!("{} {}", it.role, show(&it.arg)))
        .collect()
}

/// Each inner command as its words, `+` at the end where words from data follow.
pub(super) fn inner(reading: &Reading) -> Vec<String> {
    let words = |args: &[Arg]| args.iter().map(show).collect::<Vec<_>>().join(" ");
    let shown = reading.inner.iter().map(|inner| match inner {
        Inner::Command { args } | Inner::Elsewhere { args, .. } => words(args),
        Inner::Fed { args, feed } => match &feed.placeholder {
            None => words(args) + " +",
            Some(placeholder) => format!("{} for {placeholder}", words(args)),
        },
        Inner::Code { role, code, .. } => format!("{role} {}", show(code)),
    });
    shown.collect()
}

pub(super) fn doubts(reading: &Reading) -> Vec<&str> {
    reading.doubts.iter().map(|it| it.why.as_str()).collect()
}

fn show(arg: &Arg) -> String {
    match &arg.value {
        Value::Literal(text) => text.clone(),
        Value::OneOf(texts) => texts.join("/"),
        Value::Under { directory, .. } => format!("{directory}/**"),
        Value::Numbered { before, after, .. } => format!("{before}#{after}"),
        Value::Unknown { prefix, .. } => format!("{prefix}*"),
    }
}
