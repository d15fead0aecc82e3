//! Python. Imports of `sys` and `json` only: whether these are the library's own, whoever knows the directory says.

use super::{Harmless, Lexis, Token, opens_a_group, tokens};

const LEXIS: Lexis = Lexis {
    marks: "+-*/%=<>!()[]{},:.;&|",
    names: |byte| byte == b'_',
    is_python: true,
};

const KEYWORDS: &[&str] = &[
    "for", "in", "if", "elif", "else", "and", "or", "not", "is", "None", "True", "False",
];
const FUNCTIONS: &[&str] = &[
    "print",
    "len",
    "sorted",
    "list",
    "str",
    "int",
    "float",
    "sum",
    "min",
    "max",
    "range",
    "enumerate",
    "zip",
    "set",
    "dict",
    "tuple",
    "bool",
    "abs",
    "round",
    "any",
    "all",
    "reversed",
    "repr",
];
const METHODS: &[&str] = &[
    "get",
    "keys",
    "values",
    "items",
    "strip",
    "lstrip",
    "rstrip",
    "split",
    "splitlines",
    "join",
    "lower",
    "upper",
    "title",
    "startswith",
    "endswith",
    "replace",
    "read",
    "readlines",
    "count",
    "index",
    "find",
];
/// What may be named in a call: `print(x, end='')`.
const KEYS: &[&str] = &[
    "indent",
    "sort_keys",
    "ensure_ascii",
    "separators",
    "sep",
    "end",
    "file",
    "reverse",
    "default",
];
const OF_SYS: &[&str] = &[
    "version",
    "version_info",
    "platform",
    "executable",
    "prefix",
    "maxsize",
    "byteorder",
    "argv",
    "stdin",
    "stdout",
    "stderr",
];

/// Reads a program; `None`: it is not in the set.
pub fn read(text: &str) -> Option<Harmless> {
    let (modules, tokens) = without_imports(tokens(text, &LEXIS)?)?;
    let bound = bound(&tokens)?;
    let mut harmless = Harmless::default();
    let mut depth = 0usize;
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        let before = at.checked_sub(1).map(|before| &tokens[before]);
        match token {
            Token::Mark('(') if !opens_a_group(before) => return None,
            Token::Mark('(' | '[' | '{') => depth += 1,
            Token::Mark(')' | ']' | '}') => depth = depth.checked_sub(1)?,
            // A power can take for ever, `**x` names arguments, `:=` assigns.
            Token::Mark('*') if before == Some(&Token::Mark('*')) => return None,
            Token::Mark('=') if before == Some(&Token::Mark(':')) => return None,
            Token::Mark(_) | Token::Number | Token::Text(_) | Token::Line => {}
            Token::Name(name) if before == Some(&Token::Mark('.')) => {
                if !METHODS.contains(name) || tokens.get(at + 1) != Some(&Token::Mark('(')) {
                    return None;
                }
            }
            Token::Name("open") => match tokens.get(at + 1..at + 4)? {
                [Token::Mark('('), Token::Text(Some(path)), Token::Mark(')')] => {
                    harmless.reads.push((*path).to_owned())
                }
                _ => return None,
            },
            Token::Name(module) if modules.contains(module) => {
                at += of_module(module, tokens.get(at + 1..)?)?;
                if is_assigned(&tokens, at) {
                    return None;
                }
            }
            Token::Name(name) if KEYWORDS.contains(name) => {}
            Token::Name(name) if tokens.get(at + 1) == Some(&Token::Mark('(')) => {
                if !FUNCTIONS.contains(name) || bound.contains(name) {
                    return None;
                }
            }
            Token::Name(name) if depth > 0 && is_assigned(&tokens, at) => {
                if !KEYS.contains(name) {
                    return None;
                }
            }
            Token::Name(name) => {
                if !bound.contains(name) {
                    return None;
                }
            }
        }
        at += 1;
    }
    Some(harmless)
}

/// `import sys, json` taken out, and the ends of lines; `None` where another module is imported.
fn without_imports(tokens: Vec<Token<'_>>) -> Option<(Vec<&str>, Vec<Token<'_>>)> {
    let mut modules = Vec::new();
    let mut rest = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Name("import") => loop {
                match tokens.next()? {
                    Token::Name(module @ ("sys" | "json")) => modules.push(module),
                    _ => return None,
                }
                match tokens.next() {
                    Some(Token::Mark(',')) => {}
                    Some(Token::Mark(';') | Token::Line) | None => break,
                    Some(_) => return None,
                }
            },
            Token::Line => {}
            other => rest.push(other),
        }
    }
    Some((modules, rest))
}

/// The names that the text gives to data; none of them may mean something else.
fn bound<'a>(tokens: &[Token<'a>]) -> Option<Vec<&'a str>> {
    let mut bound = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        match token {
            Token::Name("for") => {
                let targets = tokens[at + 1..].iter().take_while(|token| **token != Token::Name("in"));
                for target in targets {
                    match target {
                        Token::Name(name) => bound.push(*name),
                        Token::Mark(',' | '(' | ')') => {}
                        _ => return None,
                    }
                }
            }
            Token::Name(name) if is_assigned(tokens, at) && !KEYS.contains(name) => {
                let is_attribute = at > 0 && tokens[at - 1] == Token::Mark('.');
                if !is_attribute {
                    bound.push(name);
                }
            }
            _ => {}
        }
    }
    let is_free = |name: &&str| {
        !(KEYWORDS.contains(name) || FUNCTIONS.contains(name) || matches!(*name, "sys" | "json" | "open"))
    };
    bound.iter().all(is_free).then_some(bound)
}

/// Whether a single `=` follows.
fn is_assigned(tokens: &[Token<'_>], at: usize) -> bool {
    tokens.get(at + 1) == Some(&Token::Mark('=')) && tokens.get(at + 2) != Some(&Token::Mark('='))
}

/// How many tokens after the name of a module belong to what is used of it.
fn of_module(module: &str, after: &[Token<'_>]) -> Option<usize> {
    let called = after.get(2) == Some(&Token::Mark('('));
    match (module, after) {
        ("sys", [Token::Mark('.'), Token::Name(name), ..]) if OF_SYS.contains(name) && !called => Some(2),
        ("sys", [Token::Mark('.'), Token::Name("exit"), ..]) if called => Some(2),
        ("json", [Token::Mark('.'), Token::Name("load" | "loads" | "dumps"), ..]) if called => Some(2),
        _ => None,
    }
}
