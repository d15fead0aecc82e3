//! Reads a help text or manual as a person does: which options it speaks of, and whether it shows them with a value.

use std::collections::{BTreeMap, BTreeSet};

/// How a text shows an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Shown {
    /// Without a value.
    Bare,
    /// With a value that may be left out.
    Maybe,
    /// With a value.
    Valued,
}

/// What texts say of each option: where it is defined, or, weaker, where it is only spoken of.
#[derive(Debug, Default)]
pub struct Reading {
    defined: BTreeMap<String, BTreeSet<Shown>>,
    mentioned: BTreeMap<String, BTreeSet<Shown>>,
}

impl Reading {
    /// Adds what another text says.
    pub fn add(&mut self, text: &str) {
        for line in &whole_lines(text) {
            for (option, shown) in definition(line) {
                self.defined.entry(option).or_default().insert(shown);
            }
            for (option, shown) in mentions(line) {
                self.mentioned.entry(option).or_default().insert(shown);
            }
        }
    }

    /// Whether any option is defined at all.
    pub fn defines(&self) -> bool {
        !self.defined.is_empty()
    }

    /// How the option is shown: where it is defined if it is, else where it is spoken of; nothing if it is not.
    pub fn of(&self, option: &str) -> BTreeSet<Shown> {
        let found = self.defined.get(option).or_else(|| self.mentioned.get(option));
        found.cloned().unwrap_or_default()
    }
}

/// The lines of a text; one that ends with the type of a value goes with the definition before it, for yargs wraps its help.
fn whole_lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut defining: Option<usize> = None;
    for line in text.lines() {
        let is_definition = line.trim_start().starts_with('-');
        match defining {
            Some(at) if !is_definition && is_typed(line) => lines[at].push_str(line),
            _ if is_definition => defining = Some(lines.len()),
            _ if line.trim().is_empty() => defining = None,
            _ => {}
        }
        lines.push(line.to_owned());
    }
    lines
}

/// Some write the type of the value at the end.
fn is_typed(line: &str) -> bool {
    ["[string]", "[number]", "[array]"]
        .iter()
        .any(|kind| line.contains(kind))
}

/// The options that a line defines: those that it begins with, `-o, --output FILE   what it does`.
fn definition(line: &str) -> Vec<(String, Shown)> {
    let mut rest = line.trim_start_matches(|c: char| c.is_whitespace() || "·•*|│└├─`‘'\"[".contains(c));
    let mut found: Vec<(Vec<String>, Option<Shown>)> = Vec::new();
    let mut bracketed = false;
    while let Some((options, after)) = spelling(rest) {
        let after = after.strip_prefix(']').filter(|_| bracketed).unwrap_or(after);
        let (shown, after) = value(after, true);
        found.push((options, shown));
        // `-r [--revision] ARG`, `-p, [--port=PORT]`
        let next = after.trim_start_matches([',', ' ']);
        let long = next.strip_prefix('[').filter(|next| next.starts_with("--"));
        let closes: &[char] = if after.starts_with(',') { &[']', '='] } else { &[']'] };
        bracketed = long
            .and_then(spelling)
            .is_some_and(|(_, after)| after.starts_with(closes));
        if let Some(long) = long.filter(|_| bracketed) {
            rest = long;
            continue;
        }
        rest = match after.trim_start_matches([',', '|', '/', '`', '\'', '"', '’', '*', ']']) {
            next if next.starts_with(' ') && next.trim_start().starts_with(['-', '+']) => next.trim_start(),
            next if next.starts_with(['-', '+']) && next.len() < after.len() => next,
            next => match next.strip_prefix(" or ").or_else(|| next.strip_prefix(" | ")) {
                Some(next) if next.starts_with('-') => next,
                Some(_) | None => break,
            },
        };
    }
    // `-o, --output FILE` gives `-o` the value too; `--no-output, --output=FILE` does not.
    let shared = found.iter().rev().find_map(|(_, shown)| *shown);
    let shared = shared.or_else(|| is_typed(line).then_some(Shown::Valued));
    let each = found.into_iter().flat_map(|(options, shown)| {
        let negated = options[0].starts_with("--no-");
        let shown = shown.or(if negated { None } else { shared }).unwrap_or(Shown::Bare);
        options.into_iter().map(move |option| (option, shown))
    });
    each.collect()
}

/// The options that a line speaks of anywhere.
fn mentions(line: &str) -> Vec<(String, Shown)> {
    let mut found = Vec::new();
    // `-o|--output FILE`: the first is shown as the last of such a row.
    let mut row = Vec::new();
    let mut before = ' ';
    for (at, sign) in line.char_indices() {
        let begins = before.is_whitespace() || "[({|,/'\"`‘“=:;<".contains(before);
        before = sign;
        if !begins || !"-+".contains(sign) {
            continue;
        }
        let Some((options, after)) = spelling(&line[at..]) else {
            continue;
        };
        // `[-abc]` is three options.
        let cluster = options[0]
            .strip_prefix('-')
            .filter(|letters| line[..at].ends_with('[') && is_cluster(letters));
        row.extend(
            cluster
                .into_iter()
                .flat_map(str::chars)
                .map(|letter| format!("-{letter}")),
        );
        row.extend(options);
        let (shown, _) = value(after, false);
        if shown.is_some() || !after.starts_with("|-") {
            let shown = shown.unwrap_or(Shown::Bare);
            found.extend(row.drain(..).map(|option| (option, shown)));
        }
    }
    found
}

fn is_cluster(letters: &str) -> bool {
    letters.len() > 1 && letters.bytes().all(|b| b.is_ascii_alphanumeric())
}

/// The option that the text begins with, in its spellings (`--[no-]x` has two), and what follows it.
fn spelling(text: &str) -> Option<(Vec<String>, &str)> {
    for (prefix, bare) in [
        ("--[no-]", "--"),
        ("--(no-)", "--"),
        ("-[no-]", "-"),
        ("-[no]", "-"),
        ("--[no]", "--"),
    ] {
        if let Some(rest) = text.strip_prefix(prefix) {
            let (name, after) = name(rest)?;
            let no = prefix.trim_matches(|c| "-[(])".contains(c));
            let dash = if prefix.ends_with("-]") || prefix.ends_with("-)") {
                "-"
            } else {
                ""
            };
            return Some((vec![format!("{bare}{name}"), format!("{bare}{no}{dash}{name}")], after));
        }
    }
    let dashes = if text.starts_with("--") { 2 } else { 1 };
    let rest = text.strip_prefix("--").or_else(|| text.strip_prefix(['-', '+']))?;
    let (name, after) = match rest.chars().next()? {
        sign if sign.is_alphanumeric() => name(rest)?,
        sign if dashes == 1 && "?#@%!:.~^$*0".contains(sign) => rest.split_at(1),
        _ => return None,
    };
    // `--foo-[bar]` and the like stand for several words; the first is none of them.
    if let Some(short) = name.strip_suffix(|c: char| c.is_ascii_uppercase())
        && dashes == 1
        && short.len() >= 2
        && short[1..].bytes().all(|b| b.is_ascii_uppercase() || b == b'_')
        && !short.starts_with(|c: char| c.is_ascii_uppercase())
    {
        // `-oFILE`
        return Some((vec![format!("-{}", &name[..1])], &text[2..]));
    }
    Some((vec![format!("{}{name}", &text[..dashes])], after))
}

/// The longest run of signs that an option's name has.
fn name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || "-_.+".contains(c)))
        .unwrap_or(text.len());
    let name = text[..end].trim_end_matches(['.', '-']);
    (!name.is_empty()).then(|| text.split_at(name.len()))
}

/// Whether a value follows an option, and the text after it. In a definition even one word in small letters is a value,
/// if nothing but blanks and an explanation after them follows.
fn value(after: &str, defining: bool) -> (Option<Shown>, &str) {
    let closing = |open: char| match open {
        '[' => ']',
        '<' => '>',
        '{' => '}',
        _ => '\0',
    };
    let first = after.chars().next().unwrap_or('\n');
    if let Some(given) = after.strip_prefix('=') {
        // The default of a switch: `--all=false:`.
        let plain = given.starts_with("true") || given.starts_with("false");
        let end = end_of_value(given);
        let shown = if plain {
            Shown::Bare
        } else if given.starts_with('[') {
            Shown::Maybe
        } else {
            Shown::Valued
        };
        return (Some(shown), &given[end..]);
    }
    if first == '[' && !after.starts_with("[]") {
        let end = matching(after, '[', ']');
        let shown = if after[1..].starts_with(' ') && !defining {
            None
        } else {
            Some(Shown::Maybe)
        };
        return (shown, &after[end..]);
    }
    if matches!(first, '<' | '{') || (first.is_ascii_uppercase() && defining) {
        return (Some(Shown::Valued), &after[end_of_value(after)..]);
    }
    let Some(given) = after
        .strip_prefix(' ')
        .or_else(|| after.strip_prefix(": ").filter(|_| false))
    else {
        return (None, after);
    };
    let first = given.chars().next().unwrap_or(' ');
    if matches!(first, '<' | '{') {
        return (Some(Shown::Valued), &given[matching(given, first, closing(first))..]);
    }
    if first == '[' && defining && !given[1..].starts_with(['-', ' ']) {
        return (Some(Shown::Maybe), &given[matching(given, '[', ']')..]);
    }
    let end = end_of_value(given);
    let (word, rest) = given.split_at(end);
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '#');
    let capital = bare.len() > 1
        && bare
            .chars()
            .all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || "_-|/:.,=".contains(c));
    let placeholder = capital || (bare.len() == 1 && (bare == "#" || bare == "N" || bare == "n"));
    let ends =
        rest.trim_start().is_empty() || rest.starts_with("  ") || rest.starts_with(" \t") || rest.starts_with('\t');
    let another = rest.starts_with(',') || rest.starts_with(" |") || rest.starts_with("/-");
    let valued = if defining {
        !word.trim_start_matches('[').starts_with('-') && !bare.is_empty() && (placeholder || ends || another)
    } else {
        placeholder
            || (!word.is_empty()
                && !word.trim_start_matches('[').starts_with('-')
                && (rest.starts_with(']') || rest.starts_with("...]")))
    };
    if valued {
        (Some(Shown::Valued), rest)
    } else {
        (None, after)
    }
}

/// How far the word goes that stands for a value; brackets in it are closed.
fn end_of_value(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        match sign {
            '[' | '<' | '{' | '(' => depth += 1,
            ']' | '>' | '}' | ')' if depth == 0 => return at,
            ']' | '>' | '}' | ')' => depth -= 1,
            ',' | '|' if depth == 0 => return at,
            ' ' | '\t' if depth == 0 => return at,
            _ => {}
        }
    }
    text.len()
}

/// Where the bracket that the text begins with is closed, just after.
fn matching(text: &str, open: char, close: char) -> usize {
    let mut depth = 0_usize;
    for (at, sign) in text.char_indices() {
        if sign == open {
            depth += 1;
        } else if sign == close {
            depth -= 1;
            if depth == 0 {
                return at + sign.len_utf8();
            }
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str, option: &str) -> Vec<Shown> {
        let mut reading = Reading::default();
        reading.add(text);
        reading.of(option).into_iter().collect()
    }

    #[test]
    fn a_value_is_shown_in_many_ways() {
        for line in [
            "  -o FILE      writes there",
            "  -o, --output=FILE  writes there",
            "  -o, --output FILE  writes there",
            "  -o <file>, --output <file>",
            "  -o<file>",
            "       -o file, --output=file",
            "    -o, --output string   writes there",
            "    -o, --output='': writes there",
            "  -o {a,b}, --output {a,b}",
            "usage: x [-o file] [-v]",
            "usage: x [-o|--output <file>]... [-v]",
            "  -oFILE  writes there",
            "  -o, --output  writes there  [string] [default: \"out\"]",
            "  -o, --output  writes there,\n                wherever that is\n                [string]",
            "  -o, [--output=FILE]  # writes there",
            "  -o [--output] FILE  : writes there",
        ] {
            assert_eq!(shown(line, "-o"), [Shown::Valued], "{line}");
        }
    }

    #[test]
    fn a_flag_is_shown_without_and_what_may_be_left_out_in_brackets() {
        for line in [
            "  -v           says more",
            "  -v, --verbose  says more",
            "  -v | --verbose",
            "usage: x [-abv] FILE",
            "usage: x [-v] FILE",
            "    -v, --verbose=false: says more",
            "use -v to see more",
            "usage: x [-v [--filter=<name>]] FILE",
        ] {
            assert_eq!(shown(line, "-v"), [Shown::Bare], "{line}");
        }
        for line in [
            "  -c[WHEN], --color[=WHEN]",
            "  -c, --color[=WHEN]  colours",
            "  -c [WHEN]  colours",
        ] {
            assert_eq!(shown(line, "-c"), [Shown::Maybe], "{line}");
        }
    }

    #[test]
    fn a_negated_twin_is_an_option_too_and_has_no_value_of_the_other() {
        assert_eq!(shown("  --[no-]mailmap", "--no-mailmap"), [Shown::Bare]);
        assert_eq!(shown("  --no-color, --color[=WHEN]", "--no-color"), [Shown::Bare]);
        assert_eq!(shown("  --no-color, --color[=WHEN]", "--color"), [Shown::Maybe]);
    }

    #[test]
    fn an_option_is_a_whole_word() {
        assert_eq!(shown("well-known --outputs", "--output"), []);
        assert_eq!(shown("well-known --outputs", "-known"), []);
    }

    #[test]
    fn what_is_defined_outweighs_what_is_spoken_of() {
        assert_eq!(shown("  -n NUM  how many\nlike -n without", "-n"), [Shown::Valued]);
    }
}
