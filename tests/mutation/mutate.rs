//! Other spellings of a command: such as the shell reads as the same command, and such as may make it another one.

use crate::random::Random;

/// A mutant of one of the bases.
pub struct Mutant {
    pub text: String,
    /// The words of the command that it is made from.
    pub base: &'static [&'static str],
    /// It was only spelled otherwise: bash runs the same command.
    pub is_same: bool,
}

/// The mutant of this number: the same one in every run.
pub fn mutant(number: u64, bases: &[&'static [&'static str]]) -> Mutant {
    let mut random = Random::new(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    let base = bases[random.below(bases.len())];
    let is_same = random.chance(60);
    let mut words: Vec<String> = base.iter().map(|word| (*word).to_owned()).collect();
    let mut text = if is_same || random.chance(50) {
        if !is_same {
            change_words(&mut words, &mut random);
        }
        spelled(&words, &mut random)
    } else {
        words.join(" ")
    };
    if !is_same {
        for _ in 0..random.below(4) {
            change_text(&mut text, &mut random);
        }
    }
    // The drivers of the shells read NUL between scripts.
    text.retain(|c| c != '\0');
    Mutant { text, base, is_same }
}

/// The command in other quotes, blanks, redirections, variables and surroundings.
fn spelled(words: &[String], random: &mut Random) -> String {
    let mut assignments = String::new();
    let mut text = String::new();
    for (number, word) in words.iter().enumerate() {
        if number > 0 {
            text.push_str(random.pick(&[
                " ",
                " ",
                " ",
                " ",
                "  ",
                "\t",
                " \\\n",
                "\\\n ",
                " 2>/dev/null ",
                " </dev/null ",
                " 2>&1 ",
            ]));
        }
        match random.below(12) {
            0 if !word.starts_with('~') => {
                let name = random.pick(&["a", "b", "c_1"]);
                let name = format!("{name}{number}");
                assignments.push_str(&format!("{name}={}; ", quoted(word, random)));
                let plain = word.chars().all(is_plain);
                text.push_str(&match random.below(3) {
                    0 if plain => format!("${name}"),
                    1 => format!("\"${{{name}}}\""),
                    _ => format!("\"${name}\""),
                });
            }
            1 if word.chars().all(is_plain) => text.push_str(&format!("${{unset:-{word}}}")),
            2 if word.chars().all(is_plain) => text.push_str(&format!("$(printf %s {word})")),
            3 if word.chars().all(is_plain) && number > 0 && word.len() > 1 => {
                let (start, end) = word.split_at(1);
                let name = format!("h{number}");
                assignments.push_str(&format!("{name}={end}; "));
                text.push_str(&format!("{start}${name}"));
            }
            4 | 5 => text.push_str(word_or_quoted(word, random).as_str()),
            _ => text.push_str(&quoted(word, random)),
        }
    }
    if random.chance(4) && words.iter().all(|word| word.chars().all(|c| is_plain(c) && c != '=')) && words.len() > 1 {
        text = format!("{{{}}}", words.join(","));
        assignments.clear();
    }
    text = format!("{assignments}{text}");
    match random.below(16) {
        0 => text.push_str(" # and a remark"),
        1 => text.push_str("; ls"),
        2 => text.push_str(" || ls"),
        3 => text = format!("true && {text}"),
        4 => text = format!("# what it does\n\n  {text}\n"),
        5 => text = format!("( {text} )"),
        6 => text = format!("{{ {text}\n}}"),
        7 => text = format!("if true; then {text}; fi"),
        8 => text = format!("eval '{}'", text.replace('\'', "'\\''")),
        9 => text = format!("true; {text} | cat"),
        10 => text = format!("echo \"$({text})\""),
        11 => text = format!("for i in 1; do {text}; done"),
        _ => {}
    }
    text
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-_./:=@%+".contains(c)
}

fn word_or_quoted(word: &str, random: &mut Random) -> String {
    match word.chars().all(|c| is_plain(c) || c == '~') {
        true => word.to_owned(),
        false => quoted(word, random),
    }
}

/// A word in a mixture of all quotes. A `~` at its start stays bare, for it means the home.
fn quoted(word: &str, random: &mut Random) -> String {
    let (home, rest) = match word.split_once('/') {
        Some(("~", rest)) => ("~/", rest),
        _ if word == "~" => ("~", ""),
        _ => ("", word),
    };
    let mut text = home.to_owned();
    let chars: Vec<char> = rest.chars().collect();
    let mut at = 0;
    while at < chars.len() {
        let end = (at + 1 + random.below(5)).min(chars.len());
        let piece: String = chars[at..end].iter().collect();
        let plain = piece.chars().all(is_plain);
        match random.below(9) {
            0 => text.push_str(&format!("'{}'", piece.replace('\'', "'\\''"))),
            1 if !piece.contains(['"', '\\', '$', '`', '!']) => text.push_str(&format!("\"{piece}\"")),
            2 => piece.chars().for_each(|c| text.extend(['\\', c])),
            3 => text.push_str(&ansi(&piece, random)),
            4 if plain => text.push_str(&format!("''{piece}")),
            5 if plain => text.push_str(&format!("{piece}\"\"")),
            6 if plain => text.push_str(&format!("{piece}\\\n")),
            _ if plain => text.push_str(&piece),
            _ => text.push_str(&format!("'{}'", piece.replace('\'', "'\\''"))),
        }
        at = end;
    }
    text
}

fn ansi(piece: &str, random: &mut Random) -> String {
    let mut text = String::from("$'");
    for c in piece.chars() {
        let code = u32::from(c);
        match random.below(4) {
            0 if code < 128 => text.push_str(&format!("\\x{code:02x}")),
            1 if code < 128 => text.push_str(&format!("\\{code:03o}")),
            2 => text.push_str(&format!("\\u{code:04x}")),
            _ if matches!(c, '\'' | '\\') => text.extend(['\\', c]),
            _ => text.push(c),
        }
    }
    text.push('\'');
    text
}

/// Changes the words of a command, so that it may become another one.
fn change_words(words: &mut Vec<String>, random: &mut Random) {
    let at = random.below(words.len());
    let word = words[at].clone();
    match random.below(8) {
        0 => words[at] = word.to_uppercase(),
        1 if word.starts_with("--") && word.len() > 4 => {
            words[at].truncate(word.len() - 1 - random.below(word.len() - 4));
        }
        2 if word.starts_with('-') && !word.starts_with("--") => {
            let letters = word.chars().skip(1).map(|c| format!("-{c}"));
            words.splice(at..=at, letters);
        }
        3 if word.starts_with('-') && at + 1 < words.len() => {
            let value = words.remove(at + 1);
            words[at].push_str(&value);
        }
        4 if word.starts_with("--") && at + 1 < words.len() => {
            let value = words.remove(at + 1);
            words[at] = format!("{word}={value}");
        }
        5 => words.insert(
            at,
            random
                .pick(&["--", "-", "-v", "-n", "-x", "--help", "", "+x", "-f"])
                .to_owned(),
        ),
        6 => drop(words.remove(at)),
        _ => {
            let to = random.below(words.len());
            words.swap(at, to);
        }
    }
    words.retain(|word| word.is_ascii());
    if words.is_empty() {
        words.push("ls".into());
    }
}

/// What a mutation puts into a text.
const PIECES: &[&str] = &[
    ";",
    "&",
    "|",
    "&&",
    "||",
    "\n",
    " ",
    "\t",
    "(",
    ")",
    "{ ",
    "; }",
    "{a,",
    ",b}",
    "$(",
    "`",
    "'",
    "\"",
    "\\",
    "\\\n",
    "$",
    "${",
    "}",
    "$'",
    "$\"",
    "$v",
    "${v:-",
    "<<E\n",
    "\nE\n",
    "<<<",
    "<",
    ">",
    "> out",
    "2>&1",
    "<(",
    ">(",
    "#",
    " # ",
    "!",
    "time ",
    "if ",
    "; then ",
    "; fi",
    "while ",
    "; do ",
    "; done",
    "for i in ",
    "case d in ",
    ";; ",
    "esac",
    "[[ ",
    " ]]",
    "*",
    "?",
    "~",
    "~/",
    "../",
    "=",
    "x=",
    "=ls",
    "-",
    "--",
    "eval ",
    "command ",
    "exec ",
    "env ",
    "xargs ",
    "timeout 5 ",
    "bash -c ",
    "cd .. && ",
    "alias ls=",
    "f() { ",
    "ls() ",
    "rm -rf /usr",
    "; rm -rf ~",
    "$(rm -rf ~)",
    "`sudo id`",
    "\u{a0}",
    "é",
    "\r",
    "\u{202e}",
    "IFS=a ",
    "PATH=. ",
    "set -f;",
    "noglob ",
    "%1",
    "@",
    "^",
    "+",
    ":h",
    "[1]",
    "-exec ",
];

fn change_text(text: &mut String, random: &mut Random) {
    let mut chars: Vec<char> = text.chars().collect();
    let at = random.below(chars.len() + 1);
    let to = (at + random.below(6)).min(chars.len());
    match random.below(7) {
        0 => drop(chars.drain(at..to)),
        1 => {
            let copy: Vec<char> = chars[at..to].to_vec();
            let target = random.below(chars.len() + 1);
            chars.splice(target..target, copy);
        }
        2 if at < chars.len() => {
            let changed = if chars[at].is_lowercase() {
                chars[at].to_ascii_uppercase()
            } else {
                chars[at].to_ascii_lowercase()
            };
            chars[at] = changed;
        }
        3 if to < chars.len() => chars.swap(at, to),
        4 => {
            // Deep, long or both.
            let piece = random.pick(PIECES).repeat(1 + random.below(40));
            chars.splice(at..at, piece.chars());
        }
        _ => drop(chars.splice(at..at, random.pick(PIECES).chars())),
    }
    *text = chars.into_iter().collect();
}
