//! What find finds: its expression, asked of every path below its starting points.
//!
//! A test that only the file itself could answer may be true and may be false, so what is told is never too little.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use super::bash::Work;
use super::input::{Lines, MAX_FED, is_plain};
use super::{glob, paths};
use crate::catalog::grammar::find;
use crate::facts::Facts;
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// At most so many tests, and so deep in brackets, are followed.
const MAX_TESTS: usize = 48;
const MAX_DEPTH: usize = 8;

/// For which of its actions find's paths are asked.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    /// What it prints, where it does nothing else.
    Printed,
    /// What it runs commands on.
    Run,
}

/// The paths that a command of find prints or runs something on; `None` where they cannot be told.
pub fn paths(args: &[Arg], wanted: Wanted, state: &State, work: &Work<'_>) -> Option<Lines> {
    let is_inert = |arg: &&Arg| matches!(arg.value.literal(), Some("-P" | "-O0" | "-O1" | "-O2" | "-O3"));
    let args = &args[args.iter().take_while(is_inert).count()..];
    let begins = |arg: &Arg| matches!(arg.value.literal(), Some(text) if text.starts_with(['-', '(', ')', '!', ',']));
    let count = args.iter().take_while(|arg| !begins(arg)).count();
    let (starts, words) = args.split_at(count);
    let words: Option<Vec<&str>> = words.iter().map(|arg| arg.value.literal()).collect();
    let expression = words.and_then(|words| Expression::of(&words, wanted));
    let begin = args.get(count).and_then(|arg| arg.value.literal());
    // An option may begin it, behind which a starting point stands.
    let is_predicate = |word: &str| ["(", "!"].contains(&word) || find::arity(word, &["{}", "+"]).is_some();
    if expression.is_none() && (wanted == Wanted::Printed || !begin.is_none_or(is_predicate)) {
        return None;
    }
    let here = [Value::Literal(".".into())];
    let given: Vec<Value> = starts.iter().map(|arg| arg.value.clone()).collect();
    let starts: &[Value] = if starts.is_empty() { &here } else { &given };
    let mut found = Lines {
        each: Vec::new(),
        ended_by_nul: expression.as_ref().is_some_and(|expression| expression.ends_by_nul),
        plain: !state.wrote && expression.is_some(),
        one: false,
    };
    for start in starts {
        let names = expression.as_ref().map(Expression::names).unwrap_or_default();
        match start {
            Value::Literal(text) => {
                let listed = expression.as_ref().filter(|_| !state.wrote).and_then(|expression| {
                    let root = paths::absolute(text, state.cwd.as_deref())?;
                    expression.below(text, &root, work.facts)
                });
                found.plain &= is_plain(text) && listed.as_ref().is_some_and(|(_, plain)| *plain);
                found.each.push(match listed {
                    Some((listed, _)) if (1..=MAX_FED).contains(&listed.len()) => Value::OneOf(listed),
                    _ => under(text, names),
                });
            }
            Value::Under { directory, .. } => {
                found.plain = false;
                found.each.push(under(directory, names));
            }
            Value::OneOf(_) | Value::Numbered { .. } | Value::Unknown { .. } => return None,
        }
    }
    Some(found)
}

fn under(directory: &str, names: Vec<String>) -> Value {
    Value::Under {
        directory: directory.to_owned(),
        names,
    }
}

/// The words behind find's starting points.
struct Expression<'a> {
    root: Node<'a>,
    /// Nothing deeper is looked at.
    deepest: usize,
    /// Directories come after what is in them, so that none is left out.
    depth_first: bool,
    ends_by_nul: bool,
}

enum Node<'a> {
    Not(Box<Node<'a>>),
    And(Box<Node<'a>>, Box<Node<'a>>),
    Or(Box<Node<'a>>, Box<Node<'a>>),
    Name(&'a str, Cases),
    Path(&'a str, Cases),
    Kind(&'a str),
    Prune,
    /// The paths are told that come here.
    Act,
    /// May be true and may be false.
    Other,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cases {
    Alike,
    Apart,
}

/// What a node may say of a path.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Answer {
    yes: bool,
    no: bool,
}

const YES: Answer = Answer { yes: true, no: false };
const NO: Answer = Answer { yes: false, no: true };
const EITHER: Answer = Answer { yes: true, no: true };

/// Something that find comes to.
struct Met<'a> {
    /// As find writes it; of all that is below a directory: that directory's, a slash behind it.
    path: &'a str,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    File,
    Link,
    Directory,
    /// A starting point.
    Start,
    /// All that is below a directory.
    Below,
}

/// What an expression does with a path.
#[derive(Default)]
struct Done {
    acts: bool,
    prunes: bool,
}

impl<'a> Expression<'a> {
    fn of(words: &[&'a str], wanted: Wanted) -> Option<Self> {
        let mut parser = Parser {
            words,
            at: 0,
            tests: 0,
            wanted,
            ends: Vec::new(),
            deepest: usize::MAX,
            depth_first: false,
        };
        let root = match words {
            [] => Node::Other,
            _ => parser.either(0)?,
        };
        if parser.at < words.len() {
            return None;
        }
        let root = match parser.ends.as_slice() {
            [] if wanted == Wanted::Run => return None,
            [] => Node::And(Box::new(root), Box::new(Node::Act)),
            [first, rest @ ..] if rest.iter().all(|end| end == first) => root,
            _ => return None,
        };
        Some(Expression {
            root,
            deepest: parser.deepest,
            depth_first: parser.depth_first,
            ends_by_nul: parser.ends.contains(&"-print0"),
        })
    }

    /// The paths at and below a starting point that may be told, and whether no path there holds a blank or a quote.
    /// `None` where there is more than is looked at.
    fn below(&self, start: &str, root: &Path, facts: &Facts) -> Option<(Vec<String>, bool)> {
        let slash = if start.ends_with('/') { "" } else { "/" };
        let written = |path: &Path| Some(format!("{start}{slash}{}", path.strip_prefix(root).ok()?.to_str()?));
        let depth = |path: &Path| path.strip_prefix(root).map_or(0, |below| below.components().count());
        let directories: RefCell<Vec<PathBuf>> = RefCell::default();
        let tree = facts.tree(root, &|dir| {
            directories.borrow_mut().push(dir.to_path_buf());
            let Some(path) = written(dir) else { return false };
            depth(dir) >= self.deepest
                || self.done(&path, Kind::Directory).prunes && !self.depth_first
                || !self.done(&format!("{path}/"), Kind::Below).acts
        });
        if tree.cut {
            return None;
        }
        let mut told = Vec::new();
        let mut plain = true;
        if self.done(start, Kind::Start).acts {
            told.push(start.to_owned());
        }
        let directories = directories.into_inner();
        let all = directories.iter().map(|path| (path, Kind::Directory));
        let all = all.chain(tree.files.iter().map(|path| (path, Kind::File)));
        for (path, kind) in all.chain(tree.links.iter().map(|path| (path, Kind::Link))) {
            let text = written(path)?;
            plain &= is_plain(&text);
            if told.len() <= MAX_FED && depth(path) <= self.deepest && self.done(&text, kind).acts {
                told.push(text);
            }
        }
        Some((told, plain))
    }

    fn done(&self, path: &str, kind: Kind) -> Done {
        let mut done = Done::default();
        self.root.ask(&Met { path, kind }, true, &mut done);
        done
    }

    /// Patterns one of which every name fits that is told; empty: any.
    fn names(&self) -> Vec<String> {
        self.root.names_where_it_acts().unwrap_or_default()
    }
}

impl Node<'_> {
    /// What it says of a path that comes here: surely, or perhaps.
    fn ask(&self, met: &Met<'_>, surely: bool, done: &mut Done) -> Answer {
        match self {
            Node::Not(node) => {
                let Answer { yes, no } = node.ask(met, surely, done);
                Answer { yes: no, no: yes }
            }
            Node::And(left, right) => {
                let is_overtaken = surely && left.may_be_overtaken_by(right) && right.ask(met, false, done).no;
                let first = left.ask(met, surely && !is_overtaken, done);
                if !first.yes {
                    return NO;
                }
                let second = right.ask(met, surely && !first.no, done);
                Answer {
                    yes: second.yes,
                    no: first.no || second.no,
                }
            }
            Node::Or(left, right) => {
                let is_overtaken = surely && left.may_be_overtaken_by(right) && right.ask(met, false, done).yes;
                let first = left.ask(met, surely && !is_overtaken, done);
                if !first.no {
                    return YES;
                }
                let second = right.ask(met, surely && !first.yes, done);
                Answer {
                    yes: first.yes || second.yes,
                    no: second.no,
                }
            }
            Node::Name(..) if met.kind == Kind::Below => EITHER,
            Node::Name(pattern, cases) => {
                let name = met.path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                match name.is_empty() || pattern.contains('/') {
                    true => EITHER,
                    false => fits(pattern, name, *cases),
                }
            }
            // What a last `*` takes in goes on as it likes.
            Node::Path(pattern, cases) if met.kind == Kind::Below => {
                match pattern.ends_with('*') && fits(pattern, met.path, *cases) == YES {
                    true => YES,
                    false => EITHER,
                }
            }
            Node::Path(pattern, cases) => fits(pattern, met.path, *cases),
            Node::Kind(letter) => match (met.kind, *letter) {
                (Kind::Directory, "d") | (Kind::Link, "l") => YES,
                (Kind::Directory | Kind::Link, "f" | "d" | "l") | (Kind::File, "d" | "l") => NO,
                _ => EITHER,
            },
            Node::Prune => {
                done.prunes |= surely;
                YES
            }
            Node::Act => {
                done.acts = true;
                EITHER
            }
            Node::Other => EITHER,
        }
    }

    /// Whether GNU find may ask what stands behind this first: it moves tests ahead, over a `-prune` in brackets too.
    fn may_be_overtaken_by(&self, behind: &Node<'_>) -> bool {
        !self.is_test() && behind.is_test()
    }

    /// Whether it only tells whether, and neither tells paths nor leaves any out.
    fn is_test(&self) -> bool {
        match self {
            Node::Not(node) => node.is_test(),
            Node::And(left, right) | Node::Or(left, right) => left.is_test() && right.is_test(),
            Node::Name(..) | Node::Path(..) | Node::Kind(_) | Node::Other => true,
            Node::Prune | Node::Act => false,
        }
    }

    /// Patterns that cover the names of all paths for which it may be true; `None`: any name.
    fn names(&self) -> Option<Vec<String>> {
        match self {
            Node::Name(pattern, _) if covers(pattern) => Some(vec![(*pattern).to_owned()]),
            Node::And(left, right) => left.names().or_else(|| right.names()),
            Node::Or(left, right) => Some([left.names()?, right.names()?].concat()),
            Node::Not(_) | Node::Name(..) | Node::Path(..) | Node::Kind(_) | Node::Prune | Node::Act | Node::Other => {
                None
            }
        }
    }

    /// Patterns that cover the names of all paths that may be told; `None`: any name.
    fn names_where_it_acts(&self) -> Option<Vec<String>> {
        match self {
            Node::Act => None,
            Node::Not(node) => node.names_where_it_acts(),
            Node::And(left, right) => {
                let behind = right.names_where_it_acts().or_else(|| left.names())?;
                Some([left.names_where_it_acts()?, behind].concat())
            }
            Node::Or(left, right) => Some([left.names_where_it_acts()?, right.names_where_it_acts()?].concat()),
            Node::Name(..) | Node::Path(..) | Node::Kind(_) | Node::Prune | Node::Other => Some(Vec::new()),
        }
    }
}

/// Whether what a pattern means is the same in every locale, and to those who look for names below a directory.
fn covers(pattern: &str) -> bool {
    !pattern.is_empty() && !pattern.contains(['/', '?', '{', '\\']) && !has_ranges(pattern)
}

/// What is in a range, and what is in none, depends on the locale.
fn has_ranges(pattern: &str) -> bool {
    pattern.contains('[') && pattern.contains(['-', '!', '^'])
}

/// Whether a pattern fits a text, the slashes in it like any other character.
fn fits(pattern: &str, text: &str, cases: Cases) -> Answer {
    if !pattern.is_ascii() || !text.is_ascii() || has_ranges(pattern) {
        return EITHER;
    }
    let fits = match cases {
        Cases::Apart => glob::text_fits(&pattern.to_ascii_lowercase(), &text.to_ascii_lowercase()),
        Cases::Alike => glob::text_fits(pattern, text),
    };
    match fits {
        Some(false) => NO,
        Some(true) if !pattern.contains('[') => YES,
        Some(true) | None => EITHER,
    }
}

struct Parser<'a, 'w> {
    words: &'w [&'a str],
    at: usize,
    tests: usize,
    wanted: Wanted,
    /// The actions that are asked for.
    ends: Vec<&'a str>,
    deepest: usize,
    depth_first: bool,
}

impl<'a> Parser<'a, '_> {
    fn eat(&mut self, spellings: &[&str]) -> bool {
        let is_next = self.words.get(self.at).is_some_and(|word| spellings.contains(word));
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut node = self.all(depth)?;
        while self.eat(&["-o", "-or"]) {
            node = Node::Or(Box::new(node), Box::new(self.all(depth)?));
        }
        Some(node)
    }

    fn all(&mut self, depth: usize) -> Option<Node<'a>> {
        let mut node = self.one(depth)?;
        loop {
            let joined = self.eat(&["-a", "-and"]);
            match self.words.get(self.at) {
                None | Some(&("-o" | "-or" | ")")) if !joined => return Some(node),
                _ => node = Node::And(Box::new(node), Box::new(self.one(depth)?)),
            }
        }
    }

    fn one(&mut self, depth: usize) -> Option<Node<'a>> {
        self.tests += 1;
        if self.tests > MAX_TESTS {
            return None;
        }
        if self.eat(&["!", "-not"]) {
            return Some(Node::Not(Box::new(self.one(depth)?)));
        }
        if self.eat(&["("]) {
            let node = (depth < MAX_DEPTH).then(|| self.either(depth + 1))??;
            return self.eat(&[")"]).then_some(node);
        }
        self.test()
    }

    fn test(&mut self) -> Option<Node<'a>> {
        const JOINS: &[&str] = &["-a", "-and", "-o", "-or", ",", ")"];
        let name = self.words.get(self.at).filter(|word| !JOINS.contains(word))?;
        let operand = self.words.get(self.at + 1).copied();
        self.at += 1 + find::arity(name, &self.words[self.at + 1..])?;
        if self.at > self.words.len() {
            return None;
        }
        let prints = self.wanted == Wanted::Printed;
        Some(match *name {
            "-name" => Node::Name(operand?, Cases::Alike),
            "-iname" => Node::Name(operand?, Cases::Apart),
            "-path" | "-wholename" => Node::Path(operand?, Cases::Alike),
            "-ipath" | "-iwholename" => Node::Path(operand?, Cases::Apart),
            "-type" => Node::Kind(operand?),
            "-prune" => Node::Prune,
            "-print" | "-print0" if prints => self.act(name),
            "-exec" | "-ok" if !prints => self.act("-exec"),
            "-exec" | "-ok" | "-printf" | "-ls" if prints => return None,
            "-depth" | "-delete" => {
                self.depth_first = true;
                Node::Other
            }
            "-maxdepth" => {
                let deepest: usize = operand?.parse().ok()?;
                // Of several, which one counts is not the same everywhere.
                (self.deepest == usize::MAX).then_some(())?;
                self.deepest = deepest;
                Node::Other
            }
            _ => Node::Other,
        })
    }

    fn act(&mut self, name: &'a str) -> Node<'a> {
        self.ends.push(name);
        Node::Act
    }
}
