//! Words with a number in them that a script counts or that a command prints: which files they may name.

use std::borrow::Cow;
use std::ffi::OsStr;

use super::bash::Work;
use super::input::{Lines, MAX_FED};
use super::paths;
use super::printed::are_flags;
use crate::catalog::{Role, Use};
use crate::facts::Kind;
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// At most this many files are taken for one word.
const MAX_FILES: usize = 64;
/// The greatest number that `seq` is asked for.
const MAX_COUNT: u32 = 99_999;

/// The files that a word may name, one that is not there among them. Where they cannot be told, the word is not known.
pub fn files(value: &Value, state: &State, work: &Work<'_>) -> Value {
    let Value::Numbered { before, after, hash } = value else {
        return value.clone();
    };
    let unknown = Value::Unknown {
        prefix: before.clone(),
        single: true,
    };
    let (directory, name) = match before.rfind('/') {
        Some(slash) => before.split_at(slash + 1),
        None => ("", before.as_str()),
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
        number.is_some_and(|number| match hash {
            true => number.bytes().all(|b| b.is_ascii_hexdigit()) || is_head(number),
            false => !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()),
        })
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
    // An empty word names no file.
    texts.extend(Some(format!("{before}{after}")).filter(|text| *hash && !text.is_empty()));
    Value::OneOf(texts)
}

/// What a command was given, its words with a number as the files that they may name.
pub fn resolved<'a>(uses: &'a [Use], state: &State, work: &Work<'_>) -> Cow<'a, [Use]> {
    let is_numbered = |used: &Use| matches!(used.arg.value, Value::Numbered { .. });
    if !uses.iter().any(is_numbered) {
        return Cow::Borrowed(uses);
    }
    let resolve = |used: &Use| match &used.arg.value {
        Value::Numbered { .. } if is_path(used.role) => Use {
            role: used.role,
            arg: Arg {
                value: files(&used.arg.value, state, work),
                span: used.arg.span,
            },
        },
        _ => used.clone(),
    };
    Cow::Owned(uses.iter().map(resolve).collect())
}

/// The numbers that a command prints: of processes, of containers, of commits, or counted.
pub fn printed(name: &str, words: &[&str], state: &State) -> Option<Lines> {
    let lines = |hash, one| Lines {
        each: vec![Value::digits(hash)],
        ended_by_nul: false,
        plain: true,
        one,
    };
    match (name, words) {
        ("seq", words) => counted(words),
        ("pgrep", [options @ .., pattern]) => {
            // Turned round, some print all but the one.
            let has = |letter: char| options.iter().any(|word| word.contains(letter));
            let one = (has('n') || has('o')) && !has('v');
            (are_flags(options, "finovx") && !pattern.starts_with('-')).then(|| lines(false, one))
        }
        // Behind an `i` stands an address; what begins with `+` is an option too.
        ("lsof", [first, rest @ ..]) => {
            let is_address = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "@:.,".contains(c));
            let is_file = |word: &str| !word.starts_with(['-', '+']);
            let is_known = |word: &str| {
                word == "-sTCP:LISTEN" || word.strip_prefix("-i").map_or_else(|| is_file(word), is_address)
            };
            let lists = *first == "-t" || first.strip_prefix("-ti").is_some_and(is_address);
            (lists && rest.iter().all(|word| is_known(word))).then(|| lines(false, false))
        }
        ("docker", ["ps", words @ ..]) => {
            let given = words.concat();
            (are_flags(words, "alq") && given.contains('q')).then(|| lines(true, given.contains('l')))
        }
        ("git", ["merge-base", revisions @ ..]) => revisions
            .iter()
            .all(|word| !word.starts_with('-'))
            .then(|| lines(true, true)),
        ("git", ["rev-parse", options @ .., revision]) => {
            let is_known = |word: &&str| ["--verify", "--short"].contains(word);
            let is_text = |c: char| c.is_ascii_alphanumeric() || "._/@{}~^-".contains(c);
            let is_one = revision.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@')
                && revision.chars().all(is_text)
                && !["..", "^@", "^-"].iter().any(|several| revision.contains(several));
            // What it does not find, it prints as it is where nothing else is asked.
            let is_hash = !options.is_empty() || is_head(revision);
            (options.iter().all(is_known) && is_one && is_hash && !state.wrote).then(|| lines(true, true))
        }
        ("git", ["rev-list", words @ ..]) => {
            let count = |rest: &str| {
                let count = rest.trim_start_matches("-max-count=").trim_start_matches('n');
                count.parse::<u32>().ok()
            };
            let is_known = |word: &&str| match word.strip_prefix('-') {
                None | Some("-all" | "-count" | "-first-parent" | "-merges" | "-no-merges" | "-reverse") => true,
                Some(rest) => {
                    let starts = ["-author=", "-grep=", "-since=", "-until="];
                    starts.iter().any(|start| rest.starts_with(start)) || count(rest).is_some()
                }
            };
            // Of several counts, the last one holds.
            let last = words.iter().rev().find_map(|word| count(word.strip_prefix('-')?));
            let one = last == Some(1);
            words.iter().all(is_known).then(|| lines(true, one))
        }
        _ => None,
    }
}

/// A revision that starts from HEAD, and whose text is of no other meaning.
fn is_head(text: &str) -> bool {
    let begin = text.get(..4).filter(|begin| begin.eq_ignore_ascii_case("HEAD"));
    let rest = &text[begin.map_or(0, str::len)..];
    let behind = rest.strip_prefix('@').or(begin.map(|_| rest));
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "~^{}-".contains(c);
    behind.is_some_and(|behind| {
        (behind.is_empty() || behind.starts_with(['~', '^', '{'])) && behind.chars().all(is_plain)
    })
}

/// `seq [FIRST] LAST`, both numbers without a sign.
fn counted(words: &[&str]) -> Option<Lines> {
    let number = |word: &str| word.parse::<u32>().ok();
    let (first, last) = match words {
        [last] => (1, number(last)?),
        [first, last] => (number(first)?, number(last)?),
        _ => return None,
    };
    // Some write longer ones in another way.
    let texts = (first..=last.min(MAX_COUNT + 1)).take(MAX_FED + 1);
    Lines::known(texts.map(|number| number.to_string()).collect()).filter(|_| last <= MAX_COUNT)
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
