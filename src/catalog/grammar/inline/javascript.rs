//! JavaScript for Node. Its own modules (`fs`) cannot be taken by a file of the project.

use super::{Harmless, Lexis, Token, opens_a_group, tokens};

const LEXIS: Lexis = Lexis {
    marks: "+-*%=<>!()[]{},:.;&|?",
    names: |byte| matches!(byte, b'_' | b'$'),
    is_python: false,
};

const KEYWORDS: &[&str] = &[
    "const",
    "let",
    "var",
    "if",
    "else",
    "return",
    "typeof",
    "true",
    "false",
    "null",
    "undefined",
];
/// Each by its whole name; those with `(` are called, the others are values.
const GLOBALS: &[&str] = &[
    "console.log(",
    "console.error(",
    "console.info(",
    "process.version",
    "process.versions",
    "process.platform",
    "process.arch",
    "process.argv",
    "process.execPath",
    "process.cwd(",
    "process.exit(",
    "JSON.stringify(",
    "JSON.parse(",
    "Object.keys(",
    "Object.values(",
    "Object.entries(",
    "Array.isArray(",
    "Array.from(",
    "Math.max(",
    "Math.min(",
    "Math.round(",
    "Math.floor(",
    "Math.ceil(",
    "Math.abs(",
    "Math.sqrt(",
    "Math.PI",
    "Number(",
    "String(",
    "Boolean(",
    "parseInt(",
    "parseFloat(",
];
const METHODS: &[&str] = &[
    "map",
    "filter",
    "forEach",
    "join",
    "split",
    "slice",
    "trim",
    "toUpperCase",
    "toLowerCase",
    "includes",
    "startsWith",
    "endsWith",
    "sort",
    "reverse",
    "flat",
    "flatMap",
    "find",
    "some",
    "every",
    "reduce",
    "concat",
    "indexOf",
    "toString",
    "padEnd",
    "padStart",
    "at",
    "toFixed",
];
/// Through these a value of data leads to code.
const LEADS_ON: &[&str] = &[
    "constructor",
    "prototype",
    "call",
    "apply",
    "bind",
    "caller",
    "callee",
    "arguments",
];

/// Reads a program or an expression; `None`: it is not in the set.
pub fn read(text: &str) -> Option<Harmless> {
    // Old comments that hide what follows.
    if text.contains("<!--") || text.contains("-->") {
        return None;
    }
    let tokens = tokens(text, &LEXIS)?;
    let bound = bound(&tokens)?;
    let mut harmless = Harmless::default();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        let next = tokens.get(at + 1);
        match token {
            Token::Mark('(') if !opens_a_group(before) => return None,
            Token::Mark('.') if before == Some(&Token::Mark('.')) => return None,
            Token::Mark('=') if !compares_or_declares(&tokens, at) => return None,
            // `x[0]` and `x['name']` are data; a name that is worked out may lead on.
            Token::Mark('[') if looks_into(&tokens[..at]) => match tokens.get(at + 1..at + 3)? {
                [Token::Number, Token::Mark(']')] => {}
                [Token::Text(Some(name)), Token::Mark(']')] if !leads_on(name) => {}
                _ => return None,
            },
            Token::Mark(_) | Token::Number | Token::Text(_) | Token::Line => {}
            Token::Name(name) if before == Some(&Token::Mark('.')) => {
                let called = next == Some(&Token::Mark('('));
                if leads_on(name) || called && !METHODS.contains(name) {
                    return None;
                }
            }
            Token::Name(name) if KEYWORDS.contains(name) => {}
            Token::Name("require") => at += required(&tokens[at + 1..], &mut harmless)?,
            Token::Name(name) if bound.contains(name) => {
                if next == Some(&Token::Mark('(')) {
                    return None;
                }
            }
            Token::Name(name) => {
                let is_key = next == Some(&Token::Mark(':')) && matches!(before, Some(Token::Mark('{' | ',')));
                if leads_on(name) {
                    return None;
                }
                if !is_key {
                    at += global(name, &tokens[at + 1..])?;
                }
            }
        }
        at += 1;
    }
    Some(harmless)
}

fn leads_on(name: &str) -> bool {
    name.starts_with("__") || LEADS_ON.contains(&name)
}

/// Whether a `[` after these tokens looks into what they are, and does not begin a list.
fn looks_into(before: &[Token<'_>]) -> bool {
    match before {
        [.., Token::Mark('.'), Token::Name(_)] => true,
        [.., Token::Name("true" | "false" | "null" | "undefined")] => true,
        [.., Token::Name(name)] => !KEYWORDS.contains(name),
        _ => !opens_a_group(before.last()),
    }
}

/// The names that the text gives to data or to functions of its own; none of them may mean something else.
fn bound<'a>(tokens: &[Token<'a>]) -> Option<Vec<&'a str>> {
    let mut bound = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name("const" | "let" | "var") => match tokens.get(at + 1)? {
                Token::Name(name) => bound.push(*name),
                Token::Mark('[') => bound.extend(names_until(&tokens[at + 2..], ']')?),
                _ => return None,
            },
            Token::Mark('=') if tokens.get(at + 1) == Some(&Token::Mark('>')) => {
                match tokens.get(at.checked_sub(1)?)? {
                    Token::Name(name) => bound.push(*name),
                    Token::Mark(')') => {
                        let open = tokens[..at].iter().rposition(|token| *token == Token::Mark('('))?;
                        bound.extend(names_until(&tokens[open + 1..], ')')?);
                    }
                    _ => return None,
                }
            }
            _ => {}
        }
    }
    let is_root = |name: &str| {
        GLOBALS
            .iter()
            .any(|global| global.split(['.', '(']).next() == Some(name))
    };
    let is_free = |name: &&str| *name != "require" && !KEYWORDS.contains(name) && !leads_on(name) && !is_root(name);
    bound.iter().all(is_free).then_some(bound)
}

/// Names and commas, brackets around some of them, up to `end`.
fn names_until<'a>(tokens: &[Token<'a>], end: char) -> Option<Vec<&'a str>> {
    let mut names = Vec::new();
    for token in tokens {
        match token {
            Token::Name(name) => names.push(*name),
            Token::Mark(mark) if *mark == end => return Some(names),
            Token::Mark(',' | '[' | ']') => {}
            _ => return None,
        }
    }
    None
}

/// A `=` of `==`, `!=`, `<=`, `>=` or `=>`, or that of `const x =`.
fn compares_or_declares(tokens: &[Token<'_>], at: usize) -> bool {
    let mark = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(Token::Mark(mark)) => Some(*mark),
        _ => None,
    };
    let (before, after) = (mark(at.checked_sub(1)), mark(Some(at + 1)));
    let declares = at >= 2
        && matches!(tokens[at - 1], Token::Name(_))
        && matches!(tokens[at - 2], Token::Name("const" | "let" | "var"));
    let shifts = matches!(before, Some('<' | '>')) && before == mark(at.checked_sub(2));
    matches!(before, Some('=' | '!' | '<' | '>')) && !shifts || matches!(after, Some('=' | '>')) || declares
}

/// How many tokens after a name belong to what is listed of it.
fn global(name: &str, after: &[Token<'_>]) -> Option<usize> {
    let (whole, count) = match after {
        [Token::Mark('.'), Token::Name(part), ..] => (format!("{name}.{part}"), 2),
        _ => (name.to_owned(), 0),
    };
    let called = after.get(count) == Some(&Token::Mark('('));
    let whole = if called { whole + "(" } else { whole };
    GLOBALS.contains(&whole.as_str()).then_some(count)
}

/// What follows `require`: a file of JSON, or a read of a file.
fn required(after: &[Token<'_>], harmless: &mut Harmless) -> Option<usize> {
    let [Token::Mark('('), Token::Text(Some(name)), Token::Mark(')'), rest @ ..] = after else {
        return None;
    };
    if matches!(*name, "fs" | "node:fs") {
        let [
            Token::Mark('.'),
            Token::Name("readFileSync"),
            Token::Mark('('),
            file,
            rest @ ..,
        ] = rest
        else {
            return None;
        };
        match file {
            // Standard input.
            Token::Number => {}
            Token::Text(Some(path)) => harmless.reads.push((*path).to_owned()),
            _ => return None,
        }
        return match rest {
            [Token::Mark(')'), ..] => Some(8),
            [Token::Mark(','), Token::Text(_), Token::Mark(')'), ..] => Some(10),
            _ => None,
        };
    }
    let is_path = ["./", "../", "/"].iter().any(|start| name.starts_with(start));
    if !is_path || !name.ends_with(".json") {
        return None;
    }
    harmless.requires.push((*name).to_owned());
    Some(3)
}
