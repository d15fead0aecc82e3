//! The host's file tools: where the path is, what a write would lose, and what it puts there.

use std::path::Path;

use memchr::memmem;

use super::bash::{Gathered, Work};
use super::roles::{self, Entered};
use super::{paths, secrets};
use crate::call::Quoted;
use crate::effect::{Action, EffectSpec, Place};
use crate::facts::Kind;
use crate::place;
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// Scripts of a `package.json` that installing the package, or packing it, runs by itself: npm's life cycle scripts.
const LIFE_CYCLE: &[&str] = &[
    "preinstall",
    "install",
    "postinstall",
    "preprepare",
    "prepare",
    "postprepare",
    "prepublish",
    "prepublishOnly",
    "prepack",
    "postpack",
];

/// What `Read` does.
pub fn read(path: &str, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let word = word(path, state, work, gathered);
    ordinary(&word, state, work, gathered);
    roles::path(Action::Read, &word, state, work, gathered);
}

/// What `Write`, `Edit` and `NotebookEdit` do, which put `texts` into the file.
pub fn write(path: &str, texts: &[Quoted], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let word = word(path, state, work, gathered);
    ordinary(&word, state, work, gathered);
    roles::path(Action::Write, &word, state, work, gathered);
    if let Some(kind) = texts.iter().find_map(secret) {
        secrets::shown(&format!("{kind} in what it writes"), gathered);
    }
    let name = Path::new(path.trim()).file_name().unwrap_or_default();
    if name.eq_ignore_ascii_case("package.json") && texts.iter().any(holds_life_cycle_script) {
        let spec = EffectSpec {
            place: Place::BecomesCode,
            ..EffectSpec::of(Action::Write)
        };
        gathered.effect(spec, "a script that installing the package runs");
    }
}

/// What a credential in a text is. An escape by number, which may stand for any letter, is rare.
fn secret(text: &Quoted) -> Option<&'static str> {
    let by_number = memmem::find(text.escaped().as_bytes(), b"\\u").is_some();
    match by_number.then(|| text.plain()).flatten() {
        Some(plain) => secrets::find(&plain),
        None => secrets::find(text.escaped()),
    }
}

fn holds_life_cycle_script(text: &Quoted) -> bool {
    let plain = text.plain().unwrap_or_default();
    let parts: Vec<&str> = plain.split('"').collect();
    parts
        .windows(2)
        .any(|pair| LIFE_CYCLE.contains(&pair[0]) && pair[1].trim_start().starts_with(':'))
}

/// A device or pipe may never end, and what is written to one goes nobody knows where.
fn ordinary(word: &Arg, state: &State, work: &Work<'_>, gathered: &mut Gathered) {
    let path = word
        .value
        .literal()
        .and_then(|text| paths::absolute(text, state.cwd.as_deref()));
    if path.is_some_and(|path| work.facts.kind(&path) == Kind::Other) {
        gathered.doubt("it is no ordinary file, or cannot be looked at", word.span);
    }
}

/// What `Glob` does: it shows names below where its pattern begins.
pub fn names(pattern: &str, path: Option<&str>, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    if let Some(path) = path {
        let word = word(path, state, work, gathered);
        roles::path(Action::Inspect, &word, state, work, gathered);
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
    let word = word(&start, state, work, gathered);
    roles::path(Action::Inspect, &word, state, work, gathered);
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
    let word = word(path.unwrap_or("."), state, work, gathered);
    roles::tree(&word, state, entered, work, gathered);
}

/// The path as a word, as the host takes it: `~` may be the home, blanks around it may be dropped, and `..` is taken
/// out by name before any link is followed.
pub fn word(path: &str, state: &State, work: &Work<'_>, gathered: &mut Gathered) -> Arg {
    let trimmed = path.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if trimmed != path {
        gathered.doubt("blanks around the path may be dropped", Span::default());
    }
    if trimmed.contains(composes) {
        gathered.doubt("letters of the path may be spelled otherwise", Span::default());
    }
    let home = work.facts.home.as_deref().and_then(|home| home.to_str());
    let below_home = trimmed
        .strip_prefix('~')
        .filter(|rest| rest.is_empty() || rest.starts_with('/'));
    let mut path = match (below_home, home) {
        (Some(rest), Some(home)) => format!("{home}{rest}"),
        // Here it is a file's name and no standard input.
        _ if trimmed == "-" => "./-".to_owned(),
        _ if trimmed.is_empty() => ".".to_owned(),
        _ => trimmed.to_owned(),
    };
    if path.split('/').any(|name| name == "..")
        && let Some(absolute) = paths::absolute(&path, state.cwd.as_deref())
        && let Some(plain) = place::normalize(&absolute).to_str()
    {
        path = plain.to_owned();
    }
    Arg {
        value: Value::Literal(path),
        span: Span::default(),
    }
}

/// Whether a letter joins the one before it, or is written otherwise, in the form (NFC) that the host gives a path.
fn composes(c: char) -> bool {
    matches!(c,
        '\u{300}'..='\u{36f}'
        | '\u{1100}'..='\u{11ff}'
        | '\u{1dc0}'..='\u{1dff}'
        | '\u{2000}'..='\u{2001}'
        | '\u{2126}'
        | '\u{212a}'..='\u{212b}'
        | '\u{3099}'..='\u{309a}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(text: &str) -> Quoted {
        serde_json::from_str(&serde_json::Value::from(text).to_string()).expect("a text")
    }

    #[test]
    fn a_script_that_runs_by_itself_is_found_by_its_key() {
        for text in [
            r#"{"scripts": {"postinstall": "node x.js"}}"#,
            "\"prepare\"\n : \"husky\"",
            r#"    "install":"x","#,
        ] {
            assert!(holds_life_cycle_script(&quoted(text)), "{text}");
        }
        for text in [
            "",
            r#"{"scripts": {"test": "install"}}"#,
            r#"{"name": "prepare", "x": 1}"#,
            r#"{"dependencies": {"preinstall-x": "1"}}"#,
            "postinstall: x",
        ] {
            assert!(!holds_life_cycle_script(&quoted(text)), "{text}");
        }
    }
}
