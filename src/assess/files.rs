//! The host's file tools: where the path is, and what a write would lose.

use super::bash::{Gathered, Work};
use super::roles::{self, Entered};
use crate::call::Access;
use crate::effect::Action;
use crate::facts::Facts;
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// What `Read`, `Edit`, `Write` and `NotebookEdit` do.
pub fn file(access: Access, path: &str, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let action = match access {
        Access::Read => Action::Read,
        Access::Write => Action::Write,
    };
    roles::path(action, &word(path, work.facts), state, work, gathered);
}

/// What `Glob` does: it shows names below where its pattern begins.
pub fn names(pattern: &str, path: Option<&str>, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    if let Some(path) = path {
        roles::path(Action::Inspect, &word(path, work.facts), state, work, gathered);
    }
    let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
    let rest = &pattern[literal.len()..];
    if ["..", "{/", ",/"].iter().any(|leaves| rest.contains(leaves)) {
        gathered.doubt("the pattern may leave the directory that it begins in", Span::default());
    }
    let directory = literal.rsplit_once('/').map_or("", |(directory, _)| directory);
    let start = match (directory, path) {
        ("", _) if literal.starts_with('/') => "/".to_owned(),
        ("", Some(_)) => return,
        ("", None) => ".".to_owned(),
        (directory, Some(path)) if !directory.starts_with(['/', '~']) => format!("{path}/{directory}"),
        (directory, _) => directory.to_owned(),
    };
    roles::path(Action::Inspect, &word(&start, work.facts), state, work, gathered);
}

/// What `Grep` does: it shows content of every file below.
pub fn content(path: Option<&str>, filter: Option<&str>, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    // The host splits the filter at blanks, and at commas outside of braces.
    let filters: Vec<String> = filter
        .into_iter()
        .flat_map(str::split_whitespace)
        .flat_map(|part| part.split(|c| c == ',' && !part.contains('{')))
        .filter(|part| !part.is_empty() && !part.starts_with('!'))
        .map(str::to_owned)
        .collect();
    let entered = Entered {
        hidden: true,
        names: &filters,
    };
    roles::tree(&word(path.unwrap_or("."), work.facts), state, entered, work, gathered);
}

/// The path as a word. A tool may read `~/` as the home, so it counts as that.
pub fn word(path: &str, facts: &Facts) -> Arg {
    let home = facts.home.as_deref().and_then(|home| home.to_str());
    let path = match (path.strip_prefix("~/"), home) {
        (Some(rest), Some(home)) => format!("{home}/{rest}"),
        // Here it is a file's name and no standard input.
        _ if path == "-" => "./-".to_owned(),
        _ => path.to_owned(),
    };
    Arg {
        value: Value::Literal(path),
        span: Span::default(),
    }
}
