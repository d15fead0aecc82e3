//! One spelling for one value: JSON as RFC 8785 orders and writes it.
//!
//! Only what the protocol uses is written: no fractions and no number beyond 2^53, which two languages could read as
//! different ones. Source: RFC 8785, and RFC 7493 for the bounds.

use std::fmt;

use ring::digest::{SHA256, digest};
use serde::Serialize;
use serde_json::{Number, Value};

/// The largest number that every language reads as itself.
pub const MAX_SAFE: u64 = (1 << 53) - 1;

/// Why a value has no canonical form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotCanonical {
    /// A fraction, or a number beyond 2^53.
    Number(String),
    /// It cannot be written as JSON at all.
    NoJson(String),
}

impl fmt::Display for NotCanonical {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotCanonical::Number(number) => write!(f, "the number {number} is not a whole one below 2^53"),
            NotCanonical::NoJson(why) => write!(f, "it cannot be written as JSON: {why}"),
        }
    }
}

impl std::error::Error for NotCanonical {}

/// The canonical bytes of a value.
///
/// # Errors
/// [`NotCanonical`]
pub fn bytes(value: &impl Serialize) -> Result<Vec<u8>, NotCanonical> {
    let value = serde_json::to_value(value).map_err(|error| NotCanonical::NoJson(error.to_string()))?;
    let mut out = String::new();
    write(&value, &mut out)?;
    Ok(out.into_bytes())
}

/// The canonical bytes after the name of what they are, with a zero byte between.
///
/// # Errors
/// [`NotCanonical`]
pub fn tagged(tag: &str, value: &impl Serialize) -> Result<Vec<u8>, NotCanonical> {
    let mut tagged = tag.as_bytes().to_vec();
    tagged.push(0);
    tagged.extend(bytes(value)?);
    Ok(tagged)
}

/// SHA-256 in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    hex(digest(&SHA256, bytes).as_ref())
}

/// Small hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits.map(|digit| char::from(DIGITS[usize::from(digit)])).collect()
}

/// The bytes that small hexadecimal digits name; `None` for anything else, for one value has one spelling.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let pairs = text.as_bytes().chunks(2);
    pairs
        .map(|pair| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        })
        .collect()
}

fn write(value: &Value, out: &mut String) -> Result<(), NotCanonical> {
    match value {
        Value::Null | Value::Bool(_) => out.push_str(&value.to_string()),
        Value::Number(number) => out.push_str(&whole(number)?),
        Value::String(text) => write_text(text, out),
        Value::Array(values) => {
            out.push('[');
            for (at, value) in values.iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write(value, out)?;
            }
            out.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            // By UTF-16 code units, as JavaScript compares.
            fields.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            out.push('{');
            for (at, (key, value)) in fields.into_iter().enumerate() {
                if at > 0 {
                    out.push(',');
                }
                write_text(key, out);
                out.push(':');
                write(value, out)?;
            }
            out.push('}');
        }
    }
    Ok(())
}

fn whole(number: &Number) -> Result<String, NotCanonical> {
    let size = number.as_u64().or_else(|| number.as_i64().map(i64::unsigned_abs));
    match size {
        Some(size) if size <= MAX_SAFE => Ok(number.to_string()),
        Some(_) | None => Err(NotCanonical::Number(number.to_string())),
    }
}

/// As ECMAScript's `JSON.stringify` writes a text: only what must be escaped is.
fn write_text(text: &str, out: &mut String) {
    out.push('"');
    for character in text.chars() {
        match character {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\u{8}' => out.push_str("\\b"),
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\u{c}' => out.push_str("\\f"),
            '\r' => out.push_str("\\r"),
            '\0'..='\u{1f}' => out.push_str(&format!("\\u{:04x}", u32::from(character))),
            _ => out.push(character),
        }
    }
    out.push('"');
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn written(value: &Value) -> String {
        String::from_utf8(bytes(value).expect("a canonical value")).expect("UTF-8")
    }

    #[test]
    fn keys_are_ordered_by_their_utf_16_units() {
        // RFC 8785, section 3.2.3: the order of its example's keys.
        let value = json!({"\u{20ac}": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "\u{1f600}": 5, "\u{80}": 6, "\u{f6}": 7});
        let order: Vec<char> = written(&value).chars().filter(char::is_ascii_digit).collect();
        // `1` is a key and a value.
        assert_eq!(
            order.iter().collect::<String>(),
            "214".to_owned() + "6" + "7" + "1" + "5" + "3"
        );
    }

    #[test]
    fn a_text_is_escaped_only_where_it_must_be() {
        let value = json!("\u{20ac}$\u{f}\nA'B\"\\\\\"/\u{7f}");
        assert_eq!(written(&value), "\"\u{20ac}$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\"");
    }

    #[test]
    fn fractions_and_numbers_that_languages_disagree_on_have_no_form() {
        assert_eq!(
            written(&json!([0, -5, 9_007_199_254_740_991u64])),
            "[0,-5,9007199254740991]"
        );
        for number in [
            json!(1.5),
            json!(1e30),
            json!(9_007_199_254_740_992u64),
            json!(i64::MIN),
        ] {
            assert!(matches!(bytes(&number), Err(NotCanonical::Number(_))), "{number}");
        }
    }

    #[test]
    fn a_tag_ends_where_its_value_begins() {
        assert_eq!(tagged("a", &json!("b")).expect("bytes"), b"a\0\"b\"");
    }

    #[test]
    fn hexadecimal_has_one_spelling() {
        assert_eq!(unhex("00ff1a"), Some(vec![0, 255, 26]));
        for wrong in ["0", "0G", "FF", "zz", "0x"] {
            assert_eq!(unhex(wrong), None, "{wrong}");
        }
        assert_eq!(
            sha256(b"abc"),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-(1i64 << 53) + 1..1 << 53).prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::btree_map(any::<String>(), inner, 0..8)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    /// Reads canonical JSON and nothing else, by RFC 8785's own words and without the writer's code: what is left, or
    /// `None` where a byte could have been written otherwise.
    fn canonical(text: &str) -> Option<&str> {
        match text.chars().next()? {
            'n' => text.strip_prefix("null"),
            't' => text.strip_prefix("true"),
            'f' => text.strip_prefix("false"),
            '"' => canonical_text(text).map(|(_, rest)| rest),
            '[' => {
                let mut rest = &text[1..];
                if let Some(rest) = rest.strip_prefix(']') {
                    return Some(rest);
                }
                loop {
                    rest = canonical(rest)?;
                    match rest.split_at_checked(1)? {
                        (",", more) => rest = more,
                        ("]", more) => return Some(more),
                        _ => return None,
                    }
                }
            }
            '{' => {
                let mut rest = &text[1..];
                if let Some(rest) = rest.strip_prefix('}') {
                    return Some(rest);
                }
                let mut before: Option<Vec<u16>> = None;
                loop {
                    let (key, more) = canonical_text(rest)?;
                    if before.is_some_and(|before| before >= key) {
                        return None;
                    }
                    before = Some(key);
                    rest = canonical(more.strip_prefix(':')?)?;
                    match rest.split_at_checked(1)? {
                        (",", more) => rest = more,
                        ("}", more) => return Some(more),
                        _ => return None,
                    }
                }
            }
            _ => {
                let end = text
                    .find(|sign: char| !sign.is_ascii_digit() && sign != '-')
                    .unwrap_or(text.len());
                let number: i64 = text[..end].parse().ok()?;
                (number.to_string() == text[..end] && number.unsigned_abs() < 1 << 53).then(|| &text[end..])
            }
        }
    }

    /// A canonical text's UTF-16 units, and what comes after it.
    fn canonical_text(text: &str) -> Option<(Vec<u16>, &str)> {
        let mut rest = text.strip_prefix('"')?;
        let mut units = Vec::new();
        loop {
            let sign = rest.chars().next()?;
            rest = &rest[sign.len_utf8()..];
            match sign {
                '"' => return Some((units, rest)),
                '\\' => {
                    let escape = rest.chars().next()?;
                    rest = &rest[escape.len_utf8()..];
                    let short = [
                        ('b', 8),
                        ('t', 9),
                        ('n', 10),
                        ('f', 12),
                        ('r', 13),
                        ('"', 34),
                        ('\\', 92),
                    ];
                    match short.into_iter().find(|(name, _)| *name == escape) {
                        Some((_, unit)) => units.push(unit),
                        None if escape == 'u' => {
                            let unit = u16::from_str_radix(rest.get(..4)?, 16).ok()?;
                            let needed = unit < 32 && short.iter().all(|(_, short)| *short != unit);
                            if !needed || rest[..4] != format!("{unit:04x}") {
                                return None;
                            }
                            units.push(unit);
                            rest = &rest[4..];
                        }
                        None => return None,
                    }
                }
                '\0'..='\u{1f}' => return None,
                _ => units.extend_from_slice(sign.encode_utf16(&mut [0; 2])),
            }
        }
    }

    #[test]
    fn the_reader_of_canonical_json_takes_nothing_else() {
        for text in [r#"{"a":[1,-2,null],"b":"\u000f\n"}"#, "[]", "{}", "0"] {
            assert_eq!(canonical(text), Some(""), "{text}");
        }
        for text in [
            r#"{"b":1,"a":2}"#,
            r#"{"a":1,"a":2}"#,
            "[1, 2]",
            "[1,]",
            "01",
            "-0",
            "1.0",
            "9007199254740992",
            r#""\/""#,
            r#""\u000A""#,
            r#""\u000a""#,
            r#""\u0041""#,
            "\"\n\"",
        ] {
            assert_ne!(canonical(text), Some(""), "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_canonical_by_an_independent_reader(value in json_value()) {
            let text = written(&value);
            prop_assert_eq!(canonical(&text), Some(""), "{}", text);
        }

        #[test]
        fn the_canonical_bytes_are_the_same_value_and_their_own_canonical_form(value in json_value()) {
            let first = bytes(&value).expect("a canonical value");
            let read: Value = serde_json::from_slice(&first).expect("JSON");
            prop_assert_eq!(&read, &value);
            prop_assert_eq!(bytes(&read).expect("a canonical value"), first);
        }
    }
}
