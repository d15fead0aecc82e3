//! Reads `ps`: it lists processes; with BSD's `e` it shows their environments.
//!
//! Source: the procps 4.0 manual. The command lines of processes are names, not content.

use super::{Reading, discloses_environment, doubt, words::is_one_word};
use crate::shell::{Arg, Value};

/// Options with a dash that take no value on procps and BSD alike.
const FLAGS: &str = "AadefFHjlLNTVwyMZ";
/// Options with a dash that take a list or a format.
const VALUES: &str = "CgGopstuU";
/// Options without a dash, other than `e`.
const BSD: &str = "aAfhHjlmnrsSTuvVwxXZcL";
const LONG: &[&str] = &[
    "--forest",
    "--headers",
    "--help",
    "--no-headers",
    "--no-heading",
    "--version",
];
const LONG_VALUES: &[&str] = &[
    "--format",
    "--pid",
    "--ppid",
    "--sort",
    "--user",
    "--width",
    "--cols",
    "--columns",
];

/// Reads the words of `ps`.
pub(super) fn read(args: &[Arg], reading: &mut Reading) {
    // procps reads dashed options again as BSD's when a value (a user, a group) turns out not to exist.
    let dashed = |letters: &[char]| {
        let mut texts = args.iter().skip(1).filter_map(|word| word.value.literal());
        texts.any(|text| text.starts_with('-') && !text.starts_with("--") && text.contains(letters))
    };
    if dashed(&['e']) && dashed(&['C', 'g', 'G', 's', 't', 'u', 'U']) {
        discloses_environment(reading);
    }
    let mut words = args.iter().skip(1);
    while let Some(word) = words.next() {
        // Processes by their numbers.
        if matches!(word.value, Value::Numbered { hash: false, .. }) && word.value.is_digits() {
            continue;
        }
        let Some(text) = word.value.literal() else {
            return doubt(
                reading,
                word.span,
                "a word of ps that is not known may show environments",
            );
        };
        let takes_value = match option(text, reading) {
            Ok(takes_value) => takes_value,
            Err(why) => return doubt(reading, word.span, why),
        };
        let value = takes_value.then(|| words.next());
        // `-o environ` is a column like any other, and a format may be glued to its option.
        let column = value.flatten().and_then(|value| value.value.literal());
        if [Some(text), column]
            .into_iter()
            .flatten()
            .any(|text| text.contains("environ"))
        {
            discloses_environment(reading);
        }
        if value.is_some_and(|value| !value.is_some_and(|value| is_one_word(&value.value))) {
            return doubt(
                reading,
                word.span,
                format!("the value of `{text}` of ps is not understood"),
            );
        }
    }
}

/// Reads one word; whether the next word is its value.
fn option(text: &str, reading: &mut Reading) -> Result<bool, String> {
    let unknown = || format!("`{text}` is not an option that is known of ps");
    let name = text.split_once('=').map_or(text, |(name, _)| name);
    if text.starts_with("--") {
        return match () {
            () if LONG.contains(&text) => Ok(false),
            () if LONG_VALUES.contains(&name) => Ok(name == text),
            () => Err(unknown()),
        };
    }
    if let Some(letters) = text.strip_prefix('-') {
        let known = letters.trim_start_matches(|c| FLAGS.contains(c));
        return match known.chars().next() {
            None if !letters.is_empty() => Ok(false),
            Some(letter) if VALUES.contains(letter) => Ok(known.len() == 1),
            Some(_) | None => Err(unknown()),
        };
    }
    if text.bytes().all(|b| b.is_ascii_digit() || b == b',') {
        return Ok(false);
    }
    let letters = text.trim_end_matches(['o', 'p', 'U', 't', 'k']);
    if !letters.chars().all(|c| BSD.contains(c) || c == 'e') || text.len() > letters.len() + 1 {
        return Err(unknown());
    }
    if letters.contains('e') {
        discloses_environment(reading);
    }
    Ok(text.len() > letters.len())
}
