//! What a person decided, signed by the device in their hand.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical::{self, NotCanonical};
use crate::card::{Card, Kind, MAX_TEXT, MAX_TIME, Question, Unsound, is_within};
use crate::keys::{Invalid, KeyPair, PublicKey, Signature};

/// What stands before a verdict's canonical bytes where they are signed.
pub const TAG: &str = "countersign-verdict-v1";

/// The longest note, in characters.
pub const MAX_NOTE: usize = 2048;
/// The longest edited input, in characters.
pub const MAX_INPUT: usize = 131_072;

/// One answer to one card.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Verdict {
    /// The version of this form: 1.
    pub v: u32,
    /// The card's id.
    pub id: String,
    /// [`Card::sha256`] of what was shown.
    pub card: String,
    pub answer: Answer,
    /// Words for the agent with a denial, which for a plan say what is to change: not blank, at most [`MAX_NOTE`]
    /// characters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// Which of the card's offers is remembered, from 0. With an allow of a call only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remember: Option<u32>,
    /// What is to run instead, as the text of a JSON object: each of its fields takes the place of the input's own, and the
    /// others stay. With an allow of a call only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<String>,
    /// With an allow of questions, an answer for each of them, in their order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<Answered>,
    /// The host's mode after a plan that is allowed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Then>,
    /// The denial ends the turn. Not beside a note, which the agent would not hear.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
    /// Milliseconds since 1970 by the device's clock; for showing only.
    pub decided_at: u64,
}

/// Whether the call may run, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    Allow,
    Deny,
}

/// The answer to one question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answered {
    /// Labels of the question's options: one, or several different ones where the question asks for several.
    Labels(Vec<String>),
    /// The person's own words, not blank.
    Text(String),
}

/// The host's mode after a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Then {
    AcceptEdits,
    Auto,
}

/// A verdict, and the signature of the device.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignedVerdict {
    pub verdict: Verdict,
    pub sig: Signature,
}

/// Why a card is not believed, or a verdict does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// No device that is known has signed it.
    UnknownDevice,
    Signature(Invalid),
    /// It answers another card than the one that is held.
    OtherCard,
    /// The card breaks a rule of its own form, whoever signed it.
    Unsound(Unsound),
    /// It says what the card did not ask for, or not what it asked; in words.
    Unfitting(&'static str),
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refused::UnknownDevice => f.write_str("no paired device has signed it"),
            Refused::Signature(invalid) => write!(f, "{invalid}"),
            Refused::OtherCard => f.write_str("it answers another question than the one that was asked"),
            Refused::Unsound(unsound) => write!(f, "{unsound}"),
            Refused::Unfitting(why) => write!(f, "it does not fit what was asked: {why}"),
        }
    }
}

impl std::error::Error for Refused {}

impl Verdict {
    /// An answer to this card with nothing beside it.
    ///
    /// # Errors
    /// A number in the card has no canonical form.
    pub fn new(card: &Card, answer: Answer, decided_at: u64) -> Result<Self, NotCanonical> {
        Ok(Verdict {
            v: 1,
            id: card.id.clone(),
            card: card.sha256()?,
            answer,
            note: None,
            remember: None,
            input: None,
            answers: Vec::new(),
            then: None,
            stop: false,
            decided_at,
        })
    }

    /// Signs the verdict with the device's key.
    ///
    /// # Errors
    /// One line for a person.
    pub fn sign(self, pair: &KeyPair) -> Result<SignedVerdict, String> {
        let bytes = canonical::tagged(TAG, &self).map_err(|error| error.to_string())?;
        let sig = pair.sign(&bytes)?;
        Ok(SignedVerdict { verdict: self, sig })
    }

    /// Checks that it answers what the card asks, and nothing that it does not.
    ///
    /// # Errors
    /// The first rule that it breaks, in words.
    fn fits(&self, card: &Card) -> Result<(), &'static str> {
        let allow = self.answer == Answer::Allow;
        let asked = match allow {
            true => card.questions.as_slice(),
            false => &[],
        };
        let call = allow && card.kind == Kind::Call;
        let plan = allow && card.kind == Kind::Plan;
        let offered = |index: u32| usize::try_from(index).is_ok_and(|index| index < card.offers.len());
        let rules = [
            (self.v == 1, "its version is not 1"),
            (self.decided_at <= MAX_TIME, "it was decided after the year 9999"),
            // Nobody has seen the whole of it, on whatever screen.
            (
                !allow || card.preview.left_out == 0,
                "a card that does not hold the whole input can only be denied",
            ),
            (
                self.answers.len() == asked.len()
                    && self
                        .answers
                        .iter()
                        .zip(asked)
                        .all(|(answer, question)| answer.fits(question)),
                "its answers are not those that the questions ask for",
            ),
            (
                self.note
                    .as_deref()
                    .is_none_or(|note| !allow && is_said(note, MAX_NOTE)),
                "its note is blank or too long, or beside an allow, where nobody would hear it",
            ),
            (
                !self.stop || !allow && self.note.is_none(),
                "it ends the turn beside an allow, or beside a note that nobody would hear",
            ),
            (
                self.remember.is_none_or(|index| call && offered(index)),
                "it remembers what was not offered",
            ),
            (
                self.input
                    .as_deref()
                    .is_none_or(|input| call && card.may_edit && is_input(input)),
                "its input is no object, too long, or not to be edited",
            ),
            (self.then.is_none() || plan, "it sets the mode after what is no plan"),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, broken)) => Err(broken),
            None => Ok(()),
        }
    }
}

impl Answered {
    fn fits(&self, question: &Question) -> bool {
        match self {
            Answered::Text(text) => is_said(text, MAX_TEXT),
            Answered::Labels(labels) => {
                let offered = |label: &String| question.options.iter().any(|option| option.label == *label);
                let different: HashSet<&String> = labels.iter().collect();
                let number = labels.len() == 1 || question.several && !labels.is_empty();
                number && different.len() == labels.len() && labels.iter().all(offered)
            }
        }
    }
}

/// Words of a person: not blank, and not too many.
fn is_said(text: &str, most: usize) -> bool {
    !text.trim().is_empty() && is_within(text, most)
}

fn is_input(text: &str) -> bool {
    is_within(text, MAX_INPUT) && serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_ok()
}

impl SignedVerdict {
    /// The verdict, if one of these devices has signed it for this very card, and it answers what the card asks.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn verify(&self, devices: &[PublicKey], card: &Card) -> Result<&Verdict, Refused> {
        let device = devices
            .iter()
            .find(|device| device.id() == self.sig.kid)
            .ok_or(Refused::UnknownDevice)?;
        let bytes = canonical::tagged(TAG, &self.verdict).map_err(|_| Refused::Signature(Invalid::Forged))?;
        device.verify(&bytes, &self.sig).map_err(Refused::Signature)?;
        let held = card.sha256().map_err(|_| Refused::OtherCard)?;
        if self.verdict.id != card.id || self.verdict.card != held {
            return Err(Refused::OtherCard);
        }
        card.check().map_err(Refused::Unsound)?;
        self.verdict.fits(card).map_err(Refused::Unfitting)?;
        Ok(&self.verdict)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::card::tests::{card, question};
    use crate::card::{Offer, Scope, Tier};
    use crate::keys::Algorithm;
    use crate::{SignedCard, read};

    fn allow(card: &Card) -> Verdict {
        Verdict::new(card, Answer::Allow, 1_796_000_000_500).expect("a card")
    }

    fn device() -> KeyPair {
        KeyPair::generate(Algorithm::P256).expect("a key")
    }

    #[test]
    fn a_verdict_counts_for_the_card_that_was_shown_and_for_no_other() {
        let (device, shown) = (device(), card());
        let signed = allow(&shown).sign(&device).expect("signed");
        let keys = [device.public()];
        assert!(signed.verify(&keys, &shown).is_ok());
        let mut other = card();
        other.preview.head = "rm -rf ~".into();
        assert_eq!(signed.verify(&keys, &other), Err(Refused::OtherCard));
        let mut again = card();
        again.id = "f".repeat(32);
        assert_eq!(signed.verify(&keys, &again), Err(Refused::OtherCard), "asked again");
    }

    #[test]
    fn a_verdict_of_a_device_that_is_not_known_or_that_was_changed_counts_for_nothing() {
        let (own, strange, shown) = (device(), device(), card());
        let signed = allow(&shown).sign(&strange).expect("signed");
        assert_eq!(signed.verify(&[own.public()], &shown), Err(Refused::UnknownDevice));
        let mut denied = allow(&shown);
        denied.answer = Answer::Deny;
        let mut turned = denied.sign(&own).expect("signed");
        turned.verdict.answer = Answer::Allow;
        let forged = Err(Refused::Signature(Invalid::Forged));
        assert_eq!(turned.verify(&[own.public()], &shown), forged);
        let mut renamed = allow(&shown).sign(&strange).expect("signed");
        renamed.sig.kid = own.public().id();
        assert_eq!(renamed.verify(&[own.public()], &shown), forged);
    }

    #[test]
    fn no_byte_of_a_signed_card_or_verdict_can_be_changed() {
        for alg in [Algorithm::Ed25519, Algorithm::P256] {
            let (pair, shown) = (KeyPair::generate(alg).expect("a key"), card());
            let keys = [pair.public()];
            let signed_card = serde_json::to_vec(&shown.clone().sign(&pair).expect("signed")).expect("JSON");
            let signed = serde_json::to_vec(&allow(&shown).sign(&pair).expect("signed")).expect("JSON");
            let card_holds = |text: &[u8]| read::<SignedCard>(text).is_ok_and(|card| card.verify(&keys[0]).is_ok());
            let counts = |text: &[u8]| read::<SignedVerdict>(text).is_ok_and(|one| one.verify(&keys, &shown).is_ok());
            for (text, holds) in [(signed_card, &card_holds as &dyn Fn(&[u8]) -> bool), (signed, &counts)] {
                assert!(holds(&text));
                for at in 0..text.len() {
                    // One bit, the case of a letter, the neighbour of a digit.
                    for bits in [1, 2, 0x20, 0x80] {
                        let mut changed = text.clone();
                        changed[at] ^= bits;
                        assert!(!holds(&changed), "{}", String::from_utf8_lossy(&changed));
                    }
                    assert!(!holds(&[&text[..at], &text[at + 1..]].concat()), "byte {at} is gone");
                }
            }
        }
    }

    #[test]
    fn a_card_signature_is_no_verdict() {
        let pair = device();
        let signed_card = card().sign(&pair).expect("signed");
        let as_verdict = SignedVerdict {
            verdict: allow(&card()),
            sig: signed_card.sig,
        };
        assert!(as_verdict.verify(&[pair.public()], &card()).is_err());
    }

    /// Why the verdict does not count, once it is changed.
    fn refused(shown: &Card, change: impl Fn(&mut Verdict)) -> Option<Refused> {
        let device = device();
        let mut verdict = allow(shown);
        change(&mut verdict);
        verdict
            .sign(&device)
            .expect("signed")
            .verify(&[device.public()], shown)
            .err()
    }

    fn unfitting(shown: &Card, change: impl Fn(&mut Verdict)) -> bool {
        matches!(refused(shown, change), Some(Refused::Unfitting(_)))
    }

    #[test]
    fn a_verdict_says_nothing_that_the_card_did_not_ask_for() {
        let mut shown = card();
        shown.may_edit = false;
        shown.offers = vec![Offer {
            words: "x".into(),
            scope: Scope::Session,
        }];
        assert_eq!(refused(&shown, |verdict| verdict.remember = Some(0)), None);
        for change in [
            (|verdict| verdict.v = 2) as fn(&mut Verdict),
            |verdict| verdict.remember = Some(1),
            |verdict| verdict.input = Some("{}".into()),
            |verdict| verdict.answers = vec![Answered::Text("x".into())],
            |verdict| verdict.then = Some(Then::AcceptEdits),
            |verdict| verdict.stop = true,
            |verdict| verdict.note = Some("unheard".into()),
            |verdict| verdict.decided_at = MAX_TIME + 1,
            |verdict| (verdict.answer, verdict.note) = (Answer::Deny, Some("x".repeat(MAX_NOTE + 1))),
            |verdict| (verdict.answer, verdict.note) = (Answer::Deny, Some(" ".into())),
            |verdict| (verdict.answer, verdict.remember) = (Answer::Deny, Some(0)),
            |verdict| (verdict.answer, verdict.input) = (Answer::Deny, Some("{}".into())),
        ] {
            assert!(unfitting(&shown, change));
        }
        let denied = |verdict: &mut Verdict| {
            (verdict.answer, verdict.note) = (Answer::Deny, Some("é".repeat(MAX_NOTE)));
        };
        assert_eq!(refused(&shown, denied), None);
        let ended = |verdict: &mut Verdict| (verdict.answer, verdict.stop) = (Answer::Deny, true);
        assert_eq!(refused(&shown, ended), None);
        let both = |verdict: &mut Verdict| {
            (verdict.answer, verdict.stop, verdict.note) = (Answer::Deny, true, Some("unheard".into()));
        };
        assert!(unfitting(&shown, both));
    }

    #[test]
    fn an_edited_input_is_one_object_where_the_card_lets_it_be_edited() {
        let shown = card();
        assert_eq!(
            refused(&shown, |verdict| verdict.input = Some(r#"{"command":"ls"}"#.into())),
            None
        );
        for wrong in ["", "ls", "[]", "null", "{", "{} {}"] {
            assert!(
                unfitting(&shown, |verdict| verdict.input = Some(wrong.into())),
                "{wrong}"
            );
        }
        let long = format!(r#"{{"command":"{}"}}"#, "x".repeat(MAX_INPUT));
        assert!(unfitting(&shown, |verdict| verdict.input = Some(long.clone())));
    }

    #[test]
    fn a_card_that_does_not_hold_the_whole_input_can_only_be_denied() {
        let mut shown = card();
        (shown.preview.left_out, shown.preview.tail) = (1, "; rm -rf ~".into());
        assert!(unfitting(&shown, |_| {}));
        assert_eq!(refused(&shown, |verdict| verdict.answer = Answer::Deny), None);
    }

    #[test]
    fn nothing_critical_is_remembered() {
        let mut shown = card();
        shown.offers = vec![Offer {
            words: "x".into(),
            scope: Scope::Session,
        }];
        shown.tier = Tier::Critical;
        let remember = |verdict: &mut Verdict| verdict.remember = Some(0);
        assert!(matches!(refused(&shown, remember), Some(Refused::Unsound(_))));
        shown.offers.clear();
        assert!(unfitting(&shown, remember));
    }

    #[test]
    fn each_question_is_answered_as_it_asks() {
        let question = |several| Question {
            several,
            ..question(&["a", "b"])
        };
        let mut shown = card();
        (shown.kind, shown.may_edit) = (Kind::Questions, false);
        shown.questions = vec![question(false), question(true)];
        let labels = |labels: &[&str]| Answered::Labels(labels.iter().map(|label| (*label).to_owned()).collect());
        let words = |text: &str| Answered::Text(text.into());
        let answered = |answers: Vec<Answered>| refused(&shown, |verdict| verdict.answers = answers.clone());
        for answers in [
            vec![labels(&["a"]), labels(&["b", "a"])],
            vec![labels(&["b"]), labels(&["a"])],
            vec![words("neither"), words("a")],
        ] {
            assert_eq!(answered(answers), None);
        }
        for answers in [
            vec![],
            vec![labels(&["a"])],
            vec![labels(&["a"]), labels(&["a"]), labels(&["a"])],
            vec![labels(&["a", "b"]), labels(&["a"])],
            vec![labels(&["a"]), labels(&["a", "a"])],
            vec![labels(&[]), labels(&["a"])],
            vec![labels(&["a"]), labels(&[])],
            vec![labels(&["c"]), labels(&["a"])],
            vec![words(" \n"), labels(&["a"])],
            vec![words(&"x".repeat(MAX_TEXT + 1)), labels(&["a"])],
        ] {
            let shown = format!("{answers:?}");
            assert!(matches!(answered(answers), Some(Refused::Unfitting(_))), "{shown}");
        }
        let denied = |verdict: &mut Verdict| verdict.answer = Answer::Deny;
        assert_eq!(refused(&shown, denied), None);
        for change in [
            (|verdict| verdict.remember = Some(0)) as fn(&mut Verdict),
            |verdict| verdict.input = Some("{}".into()),
            |verdict| verdict.then = Some(Then::Auto),
            |verdict| verdict.note = Some("unheard".into()),
            |verdict| (verdict.answer, verdict.note) = (Answer::Deny, None),
        ] {
            let answers = vec![labels(&["a"]), labels(&["b"])];
            let with_answers = |verdict: &mut Verdict| {
                verdict.answers = answers.clone();
                change(verdict);
            };
            assert!(unfitting(&shown, with_answers));
        }
    }

    #[test]
    fn a_plan_is_allowed_with_a_mode_or_sent_back_with_words() {
        let mut shown = card();
        (shown.kind, shown.may_edit) = (Kind::Plan, false);
        assert_eq!(refused(&shown, |_| {}), None);
        assert_eq!(refused(&shown, |verdict| verdict.then = Some(Then::AcceptEdits)), None);
        let back = |verdict: &mut Verdict| {
            (verdict.answer, verdict.note) = (Answer::Deny, Some("mind the tests".into()));
        };
        assert_eq!(refused(&shown, back), None);
        for change in [
            (|verdict| verdict.remember = Some(0)) as fn(&mut Verdict),
            |verdict| verdict.input = Some("{}".into()),
            |verdict| verdict.answers = vec![Answered::Text("x".into())],
            |verdict| verdict.note = Some("unheard".into()),
            |verdict| (verdict.answer, verdict.then) = (Answer::Deny, Some(Then::Auto)),
        ] {
            assert!(unfitting(&shown, change));
        }
    }
}
