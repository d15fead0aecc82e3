//! What stands on a command's standard input, where the script itself tells: a here-document, what `echo` prints into
//! the pipe, or lines of which it is known what each may be.
//!
//! What is not known is `Input::Unknown`; it is never assumed to be empty.

use std::rc::Rc;

use super::bash::Work;
use crate::catalog::{Feed, Inner, Reading, Role, Split, grammar};
use crate::shell::ast::{Redirect, RedirectKind, Stage};
use crate::shell::expansion::expand_single;
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

/// At most this many words of a text become words of a command.
pub const MAX_FED: usize = 128;

/// What a command reads when it reads its standard input from the start.
#[derive(Clone, Debug, Default)]
pub enum Input {
    #[default]
    Unknown,
    /// Exactly this.
    Text(Rc<str>),
    Lines(Rc<Lines>),
}

/// Any number of lines, each ended by a newline or a NUL.
#[derive(Clone, Debug)]
pub struct Lines {
    /// Each line is one of these.
    pub each: Vec<Value>,
    pub ended_by_nul: bool,
    /// None of them holds a blank, a quote or a backslash.
    pub plain: bool,
    /// There is one line or none.
    pub one: bool,
}

impl Lines {
    /// Each of them is one of these, and there are not too many.
    pub fn known(texts: Vec<String>) -> Option<Lines> {
        (1..=MAX_FED).contains(&texts.len()).then(|| Lines {
            plain: texts.iter().all(|text| is_plain(text)),
            each: vec![Value::OneOf(texts)],
            ended_by_nul: false,
            one: false,
        })
    }
}

/// The standard input of a command: its one redirection, or what the pipe before it brings (`None`: there is no pipe). Of
/// several, bash takes the last, and zsh (its option MULTIOS) reads all.
pub fn of(stage: &Stage, piped: Option<Input>, state: &State, work: &Work<'_>) -> Input {
    let redirects = stage.redirects.iter();
    let mut inputs = piped
        .into_iter()
        .chain(redirects.filter_map(|redirect| redirected(redirect, state, work)));
    match (inputs.next(), inputs.next()) {
        (Some(only), None) => only,
        _ => Input::Unknown,
    }
}

/// `None`: the redirection leaves standard input as it is.
fn redirected(redirect: &Redirect, state: &State, work: &Work<'_>) -> Option<Input> {
    if !matches!(redirect.descriptor, None | Some(0)) {
        return None;
    }
    match &redirect.kind {
        RedirectKind::HereDoc(word) => Some(text(expand_single(word, state, work), "")),
        RedirectKind::HereString(word) => Some(text(expand_single(word, state, work), "\n")),
        RedirectKind::Read(_) | RedirectKind::ReadWrite(_) | RedirectKind::Duplicate(_) | RedirectKind::Close => {
            Some(Input::Unknown)
        }
        RedirectKind::Write(_) | RedirectKind::WriteBoth(_) | RedirectKind::Append(_) | RedirectKind::AppendBoth(_) => {
            None
        }
    }
}

fn text(value: Value, end: &str) -> Input {
    value
        .literal()
        .map_or(Input::Unknown, |text| Input::Text(format!("{text}{end}").into()))
}

pub fn is_plain(text: &str) -> bool {
    !text.contains(|c: char| c.is_ascii_control() || [' ', '\'', '"', '\\'].contains(&c))
}

/// Takes a known input as the code that the command reads; `false` where nobody can vouch for it.
///
/// A shell reads its script line by line, and what its commands read of it is not run: only one line is surely all of it.
/// The clients of databases obey commands of their own at the begin of a line and, some, after a backslash.
pub fn as_code(role: Role, input: &Input, reading: &mut Reading, span: Span) -> bool {
    let Input::Text(text) = input else { return false };
    let code = Arg {
        value: Value::Literal(text.to_string()),
        span,
    };
    let lines = text.trim_end_matches('\n').lines().count();
    let obeys_lines = |text: &str| text.lines().any(|line| line.trim_start().starts_with(['.', '/', '#']));
    match role {
        Role::Shell | Role::Python | Role::JavaScript => {
            reading.inner.push(Inner::Code {
                role,
                code,
                words: None,
            });
            role != Role::Shell || lines <= 1
        }
        _ => {
            grammar::embedded(role, &code, reading);
            !(lines > 1 && obeys_lines(text) || text.contains('\\'))
        }
    }
}

/// Plain lines, each one word.
pub const LINES: Feed = Feed {
    placeholder: None,
    split: Split::Blanks,
    in_parts: false,
    one: false,
};

/// The words that data becomes; `None` where they are not known.
pub fn words(input: &Input, feed: &Feed) -> Option<Vec<Value>> {
    match input {
        Input::Unknown => None,
        Input::Text(text) if feed.split == Split::Blanks && !feed.in_parts && !text.contains(['\'', '"', '\\']) => {
            let words: Vec<Value> = match feed.placeholder {
                None => text
                    .split_ascii_whitespace()
                    .map(|word| Value::Literal(word.to_owned()))
                    .collect(),
                Some(_) => text
                    .lines()
                    .map(|line| Value::Literal(line.trim_start().to_owned()))
                    .collect(),
            };
            (words.len() <= MAX_FED).then_some(words)
        }
        Input::Text(_) => None,
        Input::Lines(paths) => match feed.split {
            Split::Found => Some(paths.each.clone()),
            Split::Nul if paths.ended_by_nul => Some(paths.each.clone()),
            Split::Blanks if !paths.ended_by_nul && paths.plain => Some(paths.each.clone()),
            Split::Blanks | Split::Nul | Split::Other => None,
        },
    }
}
