//! Reading what somebody else wrote: one value has one spelling, and every other is refused.

use std::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

/// Why a text is not read.
#[derive(Debug)]
pub struct Unreadable(String);

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unreadable {}

/// An object of the protocol from JSON text. Beside unknown, missing and repeated fields it refuses what a reader could
/// take for the same and would write otherwise: an array in an object's place, `null` or a default where the field is left
/// out.
///
/// # Errors
/// [`Unreadable`]
pub fn read<T: DeserializeOwned + Serialize>(text: &[u8]) -> Result<T, Unreadable> {
    let unreadable = |error: serde_json::Error| Unreadable(error.to_string());
    let read: T = serde_json::from_slice(text).map_err(unreadable)?;
    let written: Value = serde_json::from_slice(text).map_err(unreadable)?;
    match serde_json::to_value(&read).map_err(unreadable)? == written {
        true => Ok(read),
        false => Err(Unreadable(
            "a field is written that is left out where it says nothing, or an array stands for an object".into(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::tests::card;
    use crate::keys::Algorithm;
    use crate::verdict::Answered;
    use crate::{Card, KeyPair, Refusal, SignedCard, Withdrawal};

    fn text() -> String {
        serde_json::to_string(&card()).expect("JSON")
    }

    #[test]
    fn what_was_written_is_read() {
        let signed = card()
            .sign(&KeyPair::generate(Algorithm::Ed25519).expect("a key"))
            .expect("signed");
        let read: SignedCard = read(&serde_json::to_vec_pretty(&signed).expect("JSON")).expect("a card");
        assert_eq!(read, signed);
    }

    #[test]
    fn a_field_that_is_unknown_missing_or_there_twice_is_refused_on_every_level() {
        let text = text();
        for (from, to) in [
            (r#""v":1"#, r#""v":1,"hidden":1"#),
            (r#""v":1"#, r#""v":1,"v":1"#),
            (r#""v":1,"#, ""),
            (r#""head":"#, r#""head":"ls","head":"#),
            (r#""head":"#, r#""bead":"#),
            (r#""left_out":0,"#, ""),
            (r#""tier":"high""#, r#""tier":"High""#),
            (r#""tier":"high""#, r#""tier":"none""#),
            (r#""left_out":0"#, r#""left_out":0.0"#),
            (r#""left_out":0"#, r#""left_out":-1"#),
            (r#""understood":true"#, r#""understood":"true""#),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert!(read::<Card>(changed.as_bytes()).is_err(), "{changed}");
        }
        for cut in 1..text.len() {
            assert!(read::<Card>(&text.as_bytes()[..cut]).is_err());
        }
        assert!(read::<Card>(format!("{text}{{}}").as_bytes()).is_err());
        assert!(read::<Card>(format!("\u{feff}{text}").as_bytes()).is_err());
    }

    #[test]
    fn a_value_has_one_spelling() {
        let text = text();
        for (from, to) in [
            (r#""v":1"#, r#""v":1,"edited":false"#),
            (r#""v":1"#, r#""v":1,"agent":null"#),
            (r#""v":1"#, r#""v":1,"offers":[]"#),
            (r#""tier":"high""#, r#""tier":{"high":null}"#),
            (
                r#"{"head":"rm notes.txt","left_out":0,"masked":false}"#,
                r#"["rm notes.txt","",0,false]"#,
            ),
        ] {
            let changed = text.replacen(from, to, 1);
            assert_ne!(changed, text, "{from}");
            assert!(read::<Card>(changed.as_bytes()).is_err(), "{changed}");
        }
        assert!(read::<Withdrawal>(br#"["timeout"]"#).is_err());
    }

    #[test]
    fn of_two_forms_exactly_one_is_given() {
        assert!(read::<Answered>(br#"{"text":"x"}"#).is_ok());
        for wrong in [
            r#"{}"#,
            r#""text""#,
            r#"{"text":"x","text":"y"}"#,
            r#"{"text":"x","labels":["y"]}"#,
            r#"{"labels":"x"}"#,
            r#"{"words":"x"}"#,
        ] {
            assert!(read::<Answered>(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_no_unicode_or_too_deep_is_refused() {
        assert!(read::<Refusal>(br#"{"error":"token","message":"\ud800"}"#).is_err());
        assert!(read::<Refusal>(b"{\"error\":\"token\",\"message\":\"\xff\"}").is_err());
        assert!(read::<Refusal>("[".repeat(100_000).as_bytes()).is_err());
    }
}
