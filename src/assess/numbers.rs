//! Words with a number in them that a script counts: which files they may name.

use std::borrow::Cow;
use std::ffi::OsStr;

use super::bash::Work;
use super::paths;
use crate::catalog::{Role, Use};
use crate::facts::Kind;
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// At most this many files are taken for one word.
const MAX_FILES: usize = 64;

/// The files that a word may name, one that is not there among them. Where they cannot be told, the word is not known.
pub fn files(before: &str, after: &str, state: &State, work: &Work<'_>) -> Value {
    let unknown = Value::Unknown {
        prefix: before.to_owned(),
        single: true,
    };
    let (directory, name) = match before.rfind('/') {
        Some(slash) => before.split_at(slash + 1),
        None => ("", before),
    };
    let Some(dir) = paths::absolute(if directory.is_empty() { "." } else { directory }, state.cwd.as_deref()) else {
        return unknown;
    };
    if after.contains('/') {
        return unknown;
    }
    let listed = match work.facts.kind(&dir) {
        Kind::Missing => Vec::new(),
        _ => match work.facts.list(&dir) {
            Some(names) => names,
            None => return unknown,
        },
    };
    let is_numbered = |found: &&str| {
        let number = found.strip_prefix(name).and_then(|rest| rest.strip_suffix(after));
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
    };
    let there = listed.iter().filter_map(|name| OsStr::to_str(name)).filter(is_numbered);
    let mut texts: Vec<String> = there
        .take(MAX_FILES + 1)
        .map(|name| format!("{directory}{name}"))
        .collect();
    if texts.len() > MAX_FILES {
        return unknown;
    }
    texts.push(format!("{before}0{after}"));
    Value::OneOf(texts)
}

/// What a command was given, its words with a number as the files that they may name.
pub fn resolved<'a>(uses: &'a [Use], state: &State, work: &Work<'_>) -> Cow<'a, [Use]> {
    let is_numbered = |used: &Use| matches!(used.arg.value, Value::Numbered { .. });
    if !uses.iter().any(is_numbered) {
        return Cow::Borrowed(uses);
    }
    let resolve = |used: &Use| match &used.arg.value {
        Value::Numbered { before, after } if is_path(used.role) => Use {
            role: used.role,
            arg: Arg {
                value: files(before, after, state, work),
                span: used.arg.span,
            },
        },
        _ => used.clone(),
    };
    Cow::Owned(uses.iter().map(resolve).collect())
}

fn is_path(role: Role) -> bool {
    matches!(
        role,
        Role::PathRead
            | Role::TreeRead
            | Role::TreeVisible
            | Role::PathInspect
            | Role::Directory
            | Role::PathWrite
            | Role::PathDelete
            | Role::PathMode
            | Role::Config
            | Role::Program
    )
}
