//! The agent's text, shown so that a person sees all of it.
//!
//! Everything that Countersign prints, on a terminal, a card or a diagnosis, passes through here when it came from
//! the agent or from a file. It knows nothing of JSON or HTML: those escape once more, in their own way.

use std::borrow::Cow;
use std::fmt::Write;

/// `text` with every character that a terminal obeys, hides or reorders written out.
///
/// Newline, carriage return and tab become `\n`, `\r` and `\t`; other control characters, line and paragraph
/// separators, bidirectional marks, zero-width and otherwise invisible characters become `\u{..}`. A backslash stays
/// as it is, so the result is for reading and cannot be turned back.
pub fn visible(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| (b' '..=b'~').contains(&byte)) || !text.chars().any(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => shown.push_str("\\n"),
            '\r' => shown.push_str("\\r"),
            '\t' => shown.push_str("\\t"),
            _ if is_hidden(character) => {
                let _ = write!(shown, "\\u{{{:x}}}", u32::from(character));
            }
            _ => shown.push(character),
        }
    }
    Cow::Owned(shown)
}

/// JSON text with every hidden character written as `\\uXXXX`: the same value to a program, and all of it seen by a person.
pub fn visible_json(json: &str) -> Cow<'_, str> {
    // Of hidden ASCII inside a string, JSON leaves DEL alone unescaped; outside of one it is layout.
    let is_hidden_here = |character: char| (!character.is_ascii() || character == '\u{7f}') && is_hidden(character);
    if !json.chars().any(is_hidden_here) {
        return Cow::Borrowed(json);
    }
    let mut shown = String::with_capacity(json.len() + 16);
    let mut units = [0; 2];
    for character in json.chars() {
        if !is_hidden_here(character) {
            shown.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    Cow::Owned(shown)
}

/// Not seen as itself on a terminal, or able to change how its neighbours are seen.
///
/// The ranges are Unicode 16's categories Cc, Cf, Zl and Zp, its Default_Ignorable_Code_Point property, the spaces
/// that are no U+0020, fillers that draw nothing, interlinear marks, private use and noncharacters.
fn is_hidden(character: char) -> bool {
    matches!(character,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{a0}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{600}'..='\u{605}'
        | '\u{61c}'
        | '\u{6dd}'
        | '\u{70f}'
        | '\u{890}'..='\u{891}'
        | '\u{8e2}'
        | '\u{115f}'..='\u{1160}'
        | '\u{1680}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{2000}'..='\u{200f}'
        | '\u{2028}'..='\u{202f}'
        | '\u{205f}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3000}'
        | '\u{3164}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{fdd0}'..='\u{fdef}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffc}'
        | '\u{fffe}'..='\u{ffff}'
        | '\u{110bd}'
        | '\u{110cd}'
        | '\u{13430}'..='\u{1343f}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d159}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{f0000}'..='\u{10ffff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_its_value_and_shows_no_hidden_character() {
        let value = serde_json::json!({ "a\u{202e}b": ["\u{200b}", "\u{e0001}", "é", "\n", "\u{7f}"] });
        let text = value.to_string();
        let shown = visible_json(&text);
        assert!(!shown.chars().any(is_hidden), "{shown}");
        assert!(
            shown.contains(r"\u202e") && shown.contains(r"\udb40\udc01") && shown.contains('é'),
            "{shown}"
        );
        assert_eq!(serde_json::from_str::<serde_json::Value>(&shown).expect("JSON"), value);
    }

    #[test]
    fn ordinary_text_is_not_changed_nor_copied() {
        for text in ["", "git log -5", "naïve café", "日本語", "a\\nb", "emoji 🦀"] {
            assert!(matches!(visible(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn line_breaks_and_tabs_have_their_short_names() {
        assert_eq!(visible("a\nb\r\tc"), "a\\nb\\r\\tc");
    }

    #[test]
    fn each_class_of_hidden_character_is_written_out() {
        for (class, character) in [
            ("nul", '\0'),
            ("escape", '\u{1b}'),
            ("delete", '\u{7f}'),
            ("c1 control sequence introducer", '\u{9b}'),
            ("no-break space", '\u{a0}'),
            ("soft hyphen", '\u{ad}'),
            ("combining grapheme joiner", '\u{34f}'),
            ("arabic letter mark", '\u{61c}'),
            ("hangul filler", '\u{3164}'),
            ("mongolian vowel separator", '\u{180e}'),
            ("en quad", '\u{2000}'),
            ("zero-width space", '\u{200b}'),
            ("zero-width joiner", '\u{200d}'),
            ("right-to-left mark", '\u{200f}'),
            ("line separator", '\u{2028}'),
            ("right-to-left override", '\u{202e}'),
            ("word joiner", '\u{2060}'),
            ("right-to-left isolate", '\u{2067}'),
            ("braille blank", '\u{2800}'),
            ("ideographic space", '\u{3000}'),
            ("private use", '\u{e000}'),
            ("variation selector", '\u{fe0f}'),
            ("byte order mark", '\u{feff}'),
            ("interlinear annotation", '\u{fff9}'),
            ("musical control", '\u{1d173}'),
            ("tag letter", '\u{e0041}'),
            ("supplementary variation selector", '\u{e0100}'),
            ("supplementary private use", '\u{f0000}'),
        ] {
            let shown = visible(&format!("a{character}b")).into_owned();
            assert_eq!(shown, format!("a\\u{{{:x}}}b", u32::from(character)), "{class}");
        }
    }

    #[test]
    fn nothing_that_std_calls_a_control_character_passes() {
        for character in ('\0'..=char::MAX).filter(|character| character.is_control()) {
            assert!(visible(&character.to_string()).is_ascii(), "{:x}", u32::from(character));
        }
    }
}
