//! Reads `find`: its starting points, its tests, and what it does with what it finds.
//!
//! find itself only looks at names and attributes, so a starting point is a path-inspect. What `-exec` runs is fed with
//! what find finds, which whoever knows the machine says. `-execdir` is refused: its words are read against directories
//! that are not known here.
//! Source: the GNU findutils 4.9 manual; what BSD reads differently is not listed.

use super::{Inner, Reading, Role, doubt, uses, words::is_one_word};
use crate::catalog::{Feed, Split};
use crate::shell::{Arg, Value};

const PLAIN: &[&str] = &[
    "-a",
    "-and",
    "-o",
    "-or",
    "-not",
    "!",
    "(",
    ")",
    ",",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-noignore_readdir_race",
    "-noleaf",
    "-nouser",
    "-nowarn",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-warn",
    "-writable",
    "-xdev",
    "-version",
    "--version",
    "-help",
    "--help",
];

const WITH_TEXT: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-context",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-inum",
    "-iregex",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-xtype",
];

/// Tests of names: what they look for may tell what is done with it.
const NAMES: &[&str] = &["-iname", "-ipath", "-iwholename", "-name", "-path", "-wholename"];

const WITH_PATH: &[&str] = &["-anewer", "-cnewer", "-newer", "-samefile"];

/// Reads the words of `find`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    let mut words = &args[1.min(args.len())..];
    while let [first, rest @ ..] = words
        && matches!(first.value.literal(), Some("-P" | "-O0" | "-O1" | "-O2" | "-O3"))
    {
        words = rest;
    }
    let count = words.iter().take_while(|word| !may_be_expression(&word.value)).count();
    let (starts, expression) = words.split_at(count);
    let here;
    let starts = if starts.is_empty() {
        here = [Arg {
            value: Value::Literal(".".into()),
            span: args.first().map(|arg| arg.span).unwrap_or_default(),
        }];
        &here[..]
    } else {
        starts
    };
    for start in starts {
        uses(reading, Role::PathInspect, start.clone());
    }
    let mut rest = expression;
    while let [word, after @ ..] = rest {
        match predicate(word, after, starts, reading) {
            Ok(taken) => rest = &after[taken..],
            Err(why) => return doubt(reading, word.span, why),
        }
    }
}

/// Whether find may read the word as the begin of its expression.
fn may_be_expression(value: &Value) -> bool {
    let begins = |text: &str| text.starts_with(['-', '(', ')', '!', ',']);
    value.may_be_option()
        || match value {
            Value::Literal(text) => begins(text),
            Value::OneOf(texts) => texts.iter().any(|text| begins(text)),
            Value::Under { directory: start, .. }
            | Value::Numbered { before: start, .. }
            | Value::Unknown { prefix: start, .. } => begins(start),
        }
}

/// Reads one predicate; how many words after it are its own.
fn predicate(word: &Arg, after: &[Arg], starts: &[Arg], reading: &mut Reading) -> Result<usize, String> {
    let Some(name) = word.value.literal() else {
        return Err("a word that is not known may be part of find's expression".into());
    };
    match name {
        _ if PLAIN.contains(&name) => Ok(0),
        _ if NAMES.contains(&name) => {
            uses(reading, Role::TreeFilter, operand(name, after)?.clone());
            Ok(1)
        }
        _ if WITH_TEXT.contains(&name) => operand(name, after).map(|_| 1),
        _ if WITH_PATH.contains(&name) => {
            uses(reading, Role::PathInspect, operand(name, after)?.clone());
            Ok(1)
        }
        "-delete" => {
            for start in starts {
                uses(reading, Role::PathDelete, start.clone());
            }
            Ok(0)
        }
        "-fprint" | "-fprint0" | "-fls" => {
            uses(reading, Role::PathWrite, operand(name, after)?.clone());
            Ok(1)
        }
        "-fprintf" => {
            uses(reading, Role::PathWrite, operand(name, after)?.clone());
            operand(name, &after[1..]).map(|_| 2)
        }
        "-exec" | "-ok" => exec(name, after, reading),
        "-execdir" | "-okdir" => Err(format!("`{name}` of find runs a command in each directory it finds")),
        _ if newer(name) == Some('t') => operand(name, after).map(|_| 1),
        _ if newer(name).is_some() => {
            uses(reading, Role::PathInspect, operand(name, after)?.clone());
            Ok(1)
        }
        _ => Err(format!("`{name}` is not a predicate of find that is known")),
    }
}

/// How many of the words after a predicate are its own; `None` where it is not known or is refused.
pub fn arity(name: &str, after: &[&str]) -> Option<usize> {
    match name {
        "-exec" | "-ok" => {
            let ends = |at: &usize| after[*at] == ";" || after[*at] == "+" && *at > 0 && after[*at - 1] == "{}";
            (0..after.len()).find(ends).map(|end| end + 1)
        }
        "-fprintf" => Some(2),
        "-fprint" | "-fprint0" | "-fls" => Some(1),
        "-delete" => Some(0),
        _ if PLAIN.contains(&name) => Some(0),
        _ if [NAMES, WITH_TEXT, WITH_PATH].concat().contains(&name) || newer(name).is_some() => Some(1),
        _ => None,
    }
}

fn operand<'a>(name: &str, after: &'a [Arg]) -> Result<&'a Arg, String> {
    match after.first() {
        Some(arg) if is_one_word(&arg.value) => Ok(arg),
        Some(_) => Err(format!("what follows `{name}` of find may be several words")),
        None => Err(format!("`{name}` of find lacks its operand")),
    }
}

/// The second letter of `-newerXY`: `t` compares with a time, the others with a file.
fn newer(name: &str) -> Option<char> {
    let mut letters = name.strip_prefix("-newer")?.chars();
    let (first, second) = (letters.next()?, letters.next()?);
    let known = "aBcm".contains(first) && "aBcmt".contains(second) && letters.next().is_none();
    known.then_some(second)
}

/// `-exec WORDS ;` and `-exec WORDS {} +`; how many words it takes.
fn exec(name: &str, after: &[Arg], reading: &mut Reading) -> Result<usize, String> {
    let mut end = None;
    for (at, arg) in after.iter().enumerate() {
        match arg.value.literal() {
            Some(";") => end = Some(at),
            Some("+") if at > 0 && after[at - 1].value.literal() == Some("{}") => end = Some(at),
            Some(_) => {}
            None if may_end(&arg.value) => {
                return Err(format!("a word that is not known may end the command of `{name}`"));
            }
            None => {}
        }
        if end.is_some() {
            break;
        }
    }
    let end = end.ok_or_else(|| format!("the command of `{name}` has no end"))?;
    let command = &after[..end];
    match command.first().map(|program| holds_placeholder(&program.value)) {
        Some(false) => {}
        Some(true) => return Err(format!("`{name}` runs what it finds")),
        None => return Err(format!("`{name}` has no command")),
    }
    let together = after[end].value.literal() == Some("+");
    reading.inner.push(Inner::Fed {
        args: command[..end - usize::from(together)].to_vec(),
        feed: Feed {
            placeholder: (!together).then(|| "{}".to_owned()),
            split: Split::Found,
            in_parts: false,
            one: false,
        },
    });
    Ok(end + 1)
}

fn may_end(value: &Value) -> bool {
    let ends = |text: &str| matches!(text, ";" | "+");
    match value {
        Value::Literal(text) => ends(text),
        Value::OneOf(texts) => texts.iter().any(|text| ends(text)),
        Value::Under { .. } | Value::Numbered { .. } => false,
        Value::Unknown { prefix, single } => !single || prefix.is_empty() || ends(prefix),
    }
}

fn unknown(prefix: String) -> Value {
    Value::Unknown { prefix, single: true }
}

fn holds_placeholder(value: &Value) -> bool {
    match value {
        Value::Literal(text) | Value::Under { directory: text, .. } => text.contains("{}"),
        Value::OneOf(texts) => texts.iter().any(|text| text.contains("{}")),
        Value::Numbered { .. } | Value::Unknown { .. } => true,
    }
}

/// The word with `placeholder` replaced by `data`; where not all of it can be told, only what it starts with is.
pub fn replace(arg: &Arg, placeholder: &str, data: &Value) -> Arg {
    let start = match data {
        Value::Literal(text) | Value::Under { directory: text, .. } | Value::Unknown { prefix: text, .. } => {
            text.as_str()
        }
        Value::Numbered { before, .. } => before.as_str(),
        Value::OneOf(_) => "",
    };
    let value = match &arg.value {
        Value::Literal(text) if text == placeholder => data.clone(),
        Value::Literal(text) | Value::Under { directory: text, .. } | Value::Unknown { prefix: text, .. } => {
            match (text.split_once(placeholder), &arg.value, data.alternatives()) {
                (Some((before, after)), Value::Literal(_), Some(texts)) if !after.contains(placeholder) => {
                    Value::OneOf(texts.iter().map(|text| format!("{before}{text}{after}")).collect())
                }
                (Some(_), Value::Unknown { single: false, .. }, _) => Value::UNKNOWN,
                (Some((before, _)), _, _) => unknown(format!("{before}{start}")),
                (None, value, _) => value.clone(),
            }
        }
        Value::OneOf(texts) if texts.iter().any(|text| text.contains(placeholder)) => unknown(String::new()),
        Value::Numbered { before, after, .. } if [before, after].iter().any(|text| text.contains(placeholder)) => {
            unknown(String::new())
        }
        Value::OneOf(_) | Value::Numbered { .. } => arg.value.clone(),
    };
    Arg { value, span: arg.span }
}
