//! Which names a pattern matches, asked of the machine within bounds.

use std::path::{Path, PathBuf};

use crate::facts::{Facts, Kind};
use crate::shell::expansion::PatternPart;

/// At most this many paths are matched; past it the answer is not known.
const MAX_MATCHES: usize = 1024;

/// Longer lists of choices in a pattern, in bytes, are not looked through.
const MAX_CHOICES: usize = 256;

/// So many words stand for any number of words that are each one of the same names: a command may treat its first and
/// its last word otherwise than those between.
const STAND_INS: usize = 3;

/// One step of a pattern for a single name.
enum Token {
    Char(char),
    Any,
    Many,
    Set { negated: bool, ranges: Vec<(char, char)> },
}

/// The words that a pattern becomes, sorted, each with the paths that it can be, as the shell writes them; the pattern
/// itself where it matches none.
///
/// `**` before a slash is any number of directories to zsh and one to bash. Where that makes a difference, each word is any
/// path that one of the two finds.
///
/// `None` where that is not known: too many, an unreadable directory, a construct outside the plain ones.
pub fn matches(pattern: &[PatternPart], cwd: Option<&Path>, facts: &Facts) -> Option<Vec<Vec<String>>> {
    let components = components(pattern)?;
    let as_written: String = pattern
        .iter()
        .map(|part| match part {
            PatternPart::Text(text) | PatternPart::Glob(text) => text.as_str(),
        })
        .collect();
    let in_bash = found(&components, &as_written, false, cwd, facts)?;
    let in_zsh = match components.iter().any(|component| is_deep(component)) {
        true => found(&components, &as_written, true, cwd, facts)?,
        false => Vec::new(),
    };
    if in_zsh.is_empty() || in_zsh == in_bash {
        return Some(in_bash.into_iter().map(|name| vec![name]).collect());
    }
    let mut either = [in_bash, in_zsh].concat();
    either.sort_unstable();
    either.dedup();
    let words = either.len().min(STAND_INS);
    Some(vec![either; words])
}

/// The paths that fit, sorted name by name, the pattern itself where none does. With `deep`, `**` goes through directories.
fn found(
    components: &[Vec<Token>],
    as_written: &str,
    deep: bool,
    cwd: Option<&Path>,
    facts: &Facts,
) -> Option<Vec<String>> {
    let absolute = as_written.starts_with('/');
    let base = if absolute {
        PathBuf::from("/")
    } else {
        cwd?.to_path_buf()
    };
    let mut found: Vec<(PathBuf, String)> = vec![(base, if absolute { "/".to_owned() } else { String::new() })];
    for (number, component) in components.iter().enumerate() {
        let is_followed = number + 1 < components.len() || as_written.ends_with('/');
        if deep && is_followed && is_deep(component) {
            found = with_below(found, facts)?;
            continue;
        }
        let mut next = Vec::new();
        for (dir, written) in &found {
            match plain(component) {
                Some(name) => {
                    let path = dir.join(&name);
                    if facts.exists(&path) || name == "." || name == ".." {
                        next.push((path, joined(written, &name)));
                    }
                }
                // Nothing is in what is no directory.
                None if matches!(facts.kind(dir), Kind::File | Kind::Missing) => {}
                None => {
                    for name in facts.list(dir)? {
                        let name = name.to_str()?;
                        if fits(component, name) {
                            next.push((dir.join(name), joined(written, name)));
                        }
                    }
                }
            }
            if next.len() > MAX_MATCHES {
                return None;
            }
        }
        found = next;
    }
    found.retain(|(_, written)| !written.is_empty());
    // Only directories match then, and a link that leads to one is that directory.
    if as_written.ends_with('/') {
        found.retain(|(path, _)| !matches!(facts.kind(path), Kind::File | Kind::Missing));
        for (_, written) in found.iter_mut().filter(|(_, written)| !written.ends_with('/')) {
            written.push('/');
        }
    }
    if found.is_empty() {
        return Some(vec![as_written.to_owned()]);
    }
    Some(found.into_iter().map(|(_, written)| written).collect())
}

fn joined(directory: &str, name: &str) -> String {
    let slash = if directory.is_empty() || directory.ends_with('/') {
        ""
    } else {
        "/"
    };
    format!("{directory}{slash}{name}")
}

/// These, and every directory below them that neither is hidden nor reached through a link.
fn with_below(mut found: Vec<(PathBuf, String)>, facts: &Facts) -> Option<Vec<(PathBuf, String)>> {
    let mut at = 0;
    while let Some((dir, written)) = found.get(at).cloned() {
        at += 1;
        if matches!(facts.kind(&dir), Kind::File | Kind::Missing) {
            continue;
        }
        for name in facts.list(&dir)? {
            let path = dir.join(&name);
            let is_entered = !name.as_encoded_bytes().starts_with(b".") && !facts.is_link(&path);
            if is_entered && !matches!(facts.kind(&path), Kind::File | Kind::Missing) {
                found.push((path, joined(&written, name.to_str()?)));
            }
        }
        if found.len() > MAX_MATCHES {
            return None;
        }
    }
    Some(found)
}

/// Whether a pattern as `--include` and `-g` take it fits a file's name; `None` where the pattern is not a plain one.
///
/// Of a pattern for a path only its last part counts. A leading dot is a character like any other here.
pub fn name_fits(pattern: &str, name: &str) -> Option<bool> {
    let pattern = pattern.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    if let Some((before, rest)) = pattern.split_once('{') {
        let (choices, after) = rest.split_once('}')?;
        if choices.len() > MAX_CHOICES {
            return None;
        }
        let mut fits = false;
        for choice in choices.split(',') {
            fits |=
                !after.contains('{') && !choice.contains('{') && name_fits(&format!("{before}{choice}{after}"), name)?;
        }
        return (!after.contains('{') && !choices.contains('{')).then_some(fits);
    }
    text_fits(pattern, name)
}

/// Whether a pattern without choices fits a text, in which a slash is a character like any other; `None` where the pattern
/// is not a plain one.
pub fn text_fits(pattern: &str, text: &str) -> Option<bool> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let token = match c {
            '*' => Token::Many,
            '?' => Token::Any,
            '[' => set_token(&rest[..=rest.find(']')?])?,
            '\\' | '{' | '}' | '!' => return None,
            c => Token::Char(c),
        };
        rest = if c == '[' {
            &rest[rest.find(']')? + 1..]
        } else {
            &rest[c.len_utf8()..]
        };
        tokens.push(token);
    }
    Some(fits_plainly(&tokens, text))
}

/// `**` alone, which zsh takes for any number of directories if a slash follows.
fn is_deep(component: &[Token]) -> bool {
    matches!(component, [Token::Many, Token::Many])
}

fn plain(component: &[Token]) -> Option<String> {
    component
        .iter()
        .map(|token| if let Token::Char(c) = token { Some(*c) } else { None })
        .collect()
}

/// The pattern, name by name.
fn components(pattern: &[PatternPart]) -> Option<Vec<Vec<Token>>> {
    let mut out = vec![Vec::new()];
    for part in pattern {
        match part {
            PatternPart::Text(text) => {
                for c in text.chars() {
                    if c == '/' {
                        out.push(Vec::new());
                    } else {
                        out.last_mut()?.push(Token::Char(c));
                    }
                }
            }
            PatternPart::Glob(text) => {
                let last = out.last_mut()?;
                let token = match text.as_str() {
                    "*" => Token::Many,
                    "?" => Token::Any,
                    set => set_token(set)?,
                };
                // `***/` follows links in zsh.
                if matches!((last.as_slice(), &token), ([.., Token::Many, Token::Many], Token::Many)) {
                    return None;
                }
                last.push(token);
            }
        }
    }
    out.retain(|component| !component.is_empty());
    Some(out)
}

fn set_token(text: &str) -> Option<Token> {
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let (negated, inner) = match inner.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, inner),
    };
    if inner.is_empty() || !inner.chars().all(|c| c.is_ascii_alphanumeric() || "-_.".contains(c)) {
        return None;
    }
    let chars: Vec<char> = inner.chars().collect();
    let mut ranges = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let end = if chars.get(i + 1) == Some(&'-') {
            chars.get(i + 2).copied()
        } else {
            None
        };
        ranges.push((chars[i], end.unwrap_or(chars[i])));
        i += if end.is_some() { 3 } else { 1 };
    }
    Some(Token::Set { negated, ranges })
}

fn fits(pattern: &[Token], name: &str) -> bool {
    if name.starts_with('.') && !matches!(pattern.first(), Some(Token::Char('.'))) {
        return false;
    }
    fits_plainly(pattern, name)
}

fn fits_plainly(pattern: &[Token], name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    // Backtracking to the last `*` only: linear in practice, quadratic at worst on names of at most 255 bytes.
    let (mut p, mut n) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while n < name.len() {
        if matches!(pattern.get(p), Some(Token::Many)) {
            star = Some((p, n));
            p += 1;
        } else if pattern.get(p).is_some_and(|token| fits_char(token, name[n])) {
            p += 1;
            n += 1;
        } else if let Some((at, from)) = star {
            star = Some((at, from + 1));
            p = at + 1;
            n = from + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|token| matches!(token, Token::Many))
}

fn fits_char(token: &Token, c: char) -> bool {
    match token {
        Token::Char(own) => *own == c,
        Token::Any => true,
        Token::Many => false,
        // Ranges follow the locale in a shell, so a letter of the other case counts as well.
        Token::Set { negated, ranges } => {
            let inside = |c: char| ranges.iter().any(|(from, to)| (*from..=*to).contains(&c));
            if *negated {
                !inside(c)
            } else {
                inside(c) || inside(c.to_ascii_lowercase()) || inside(c.to_ascii_uppercase())
            }
        }
    }
}

#[cfg(test)]
mod tests;
