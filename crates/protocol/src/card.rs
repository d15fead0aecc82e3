//! What a person is shown, whole, and signed by the machine that asks.

use std::collections::HashSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::canonical::{self, NotCanonical, sha256};
use crate::keys::{Invalid, KeyPair, PublicKey, Signature};
use crate::verdict::Refused;

/// What stands before a card's canonical bytes where they are signed.
pub const TAG: &str = "countersign-card-v1";

/// Hexadecimal digits of an id: 128 bits.
pub const ID_DIGITS: usize = 32;
/// Hexadecimal digits of a SHA-256.
pub const DIGEST_DIGITS: usize = 64;
// All lengths of texts are in Unicode characters, as JSON Schema counts them.
/// The longest name: of a computer, a project, a session, an agent, a tool.
pub const MAX_NAME: usize = 256;
/// The longest directory, summary, reason, or text of a question, a choice or an offer.
pub const MAX_TEXT: usize = 4096;
/// The longest head and the longest tail of a preview, and the longest preview of a choice.
pub const MAX_PREVIEW: usize = 65_536;
/// The most reasons.
pub const MAX_REASONS: usize = 64;
/// The most questions, the most choices of one, and the most offers.
pub const MAX_ITEMS: usize = 32;
/// The last millisecond of the year 9999, for the clocks of those who show it.
pub const MAX_TIME: u64 = 253_402_300_799_999;
/// The longest that an answer may count, in milliseconds: seven days.
pub const MAX_LIFE: u64 = 7 * 24 * 60 * 60 * 1000;

/// One call that waits for a person. Every field is shown, or decides how it is shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// The version of this form: 1.
    pub v: u32,
    /// 128 random bits in hexadecimal, new for every time that is asked: what an answer is good for, once.
    pub id: String,
    pub kind: Kind,
    /// The computer, as its person calls it.
    pub host: String,
    /// The project's directory, its last component.
    pub project: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    pub session: String,
    /// The subagent that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    pub tool: String,
    pub tier: Tier,
    /// Every command, option and operand was understood.
    pub understood: bool,
    /// What it would do, in one line.
    pub summary: String,
    /// Why it was not let through.
    pub reasons: Vec<String>,
    pub preview: Preview,
    /// What is asked by a card of [`Kind::Questions`], and of no other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// What the answer may have remembered: of a [`Kind::Call`] that is not critical.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub offers: Vec<Offer>,
    /// The answer may bring another input: to a [`Kind::Call`] only.
    pub may_edit: bool,
    /// The input is what an earlier answer made of it, put to the person again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited: bool,
    /// Somebody sits before the machine, where the host's own dialog waits for the same answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub attended: bool,
    /// SHA-256 of the tool's name, a zero byte and the whole input as the host sent it: what runs, however little of it
    /// the preview holds.
    pub digest: String,
    /// Milliseconds since 1970 by the machine's clock; for showing only.
    pub created_at: u64,
    /// For how many milliseconds an answer counts, by the clock of the machine that asks.
    pub lives_for: u64,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// May this call run?
    Call,
    /// Questions of the agent.
    Questions,
    /// A plan of the agent.
    Plan,
}

/// What a call could do at worst, the least first; docs/tiers.md has their sense.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    Safe,
    Low,
    Medium,
    High,
    Critical,
}

impl Tier {
    /// The word of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            Tier::Safe => "safe",
            Tier::Low => "low",
            Tier::Medium => "medium",
            Tier::High => "high",
            Tier::Critical => "critical",
        }
    }
}

impl fmt::Display for Tier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The input as text, secrets masked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Preview {
    /// Its first part, or all of it.
    pub head: String,
    /// Its last part, where the middle is left out.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tail: String,
    /// How many bytes of it are not in `head` and `tail`. Where any are, nobody has seen the whole, and no verdict on the
    /// card may allow it.
    pub left_out: u64,
    /// Something in it was masked.
    pub masked: bool,
}

/// One question, with what may be answered beside free text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Question {
    pub text: String,
    pub header: String,
    /// Their labels differ, for an answer names them.
    pub options: Vec<Choice>,
    /// More than one option may be chosen.
    pub several: bool,
}

/// One offered answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choice {
    pub label: String,
    pub description: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
}

/// Something that may be remembered with an allow, of which a person picks at most one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Offer {
    /// What is let through from then on, in words.
    pub words: String,
    pub scope: Scope,
}

/// How far an offer reaches, and who keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Claude Code keeps it until the session ends. Of two offers of the same words this is the one to preselect.
    Session,
    /// Claude Code keeps it for this person in this project.
    Local,
    /// Claude Code keeps it in the project, for everybody who has it.
    Project,
    /// Claude Code keeps it for this person in every project.
    User,
    /// Countersign keeps it as a rule of this person's.
    Countersign,
}

/// A card, and the signature of the machine that asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SignedCard {
    pub card: Card,
    pub sig: Signature,
}

/// A field of a card that is not as the protocol has it, in words. Nobody signs such a card, and nobody believes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unsound(pub &'static str);

impl fmt::Display for Unsound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the card is not sound: {}", self.0)
    }
}

impl std::error::Error for Unsound {}

impl Card {
    /// Checks what the form of the fields does not say: their bounds, and what goes with what.
    ///
    /// # Errors
    /// [`Unsound`]
    pub fn check(&self) -> Result<(), Unsound> {
        let name = |text: &str| is_within(text, MAX_NAME);
        let text = |text: &str| is_within(text, MAX_TEXT);
        let is_call = self.kind == Kind::Call;
        let preview = &self.preview;
        let rules = [
            (self.v == 1, "its version is not 1"),
            (is_hex(&self.id, ID_DIGITS), "its id is not 32 small hexadecimal digits"),
            (
                is_hex(&self.digest, DIGEST_DIGITS),
                "its digest is not 64 small hexadecimal digits",
            ),
            (name(&self.host), "its host is too long"),
            (name(&self.project), "its project is too long"),
            (self.cwd.as_deref().is_none_or(text), "its cwd is too long"),
            (name(&self.session), "its session is too long"),
            (self.agent.as_deref().is_none_or(name), "its agent is too long"),
            (
                name(&self.tool) && !self.tool.is_empty(),
                "its tool is empty or too long",
            ),
            (text(&self.summary), "its summary is too long"),
            (self.reasons.len() <= MAX_REASONS, "it has too many reasons"),
            (self.reasons.iter().all(|reason| text(reason)), "a reason is too long"),
            (
                is_within(&preview.head, MAX_PREVIEW) && is_within(&preview.tail, MAX_PREVIEW),
                "its preview is too long",
            ),
            (
                preview.left_out > 0 || preview.tail.is_empty(),
                "its preview has a tail, and nothing is left out",
            ),
            (
                preview.left_out <= canonical::MAX_SAFE,
                "its preview leaves out more than can be counted",
            ),
            (
                self.questions.is_empty() != (self.kind == Kind::Questions),
                "it has questions and is of another kind, or it is of that kind and has none",
            ),
            (self.questions.len() <= MAX_ITEMS, "it has too many questions"),
            (
                self.questions.iter().all(Question::is_sound),
                "a question has a text that is too long, too many options, or two of one label",
            ),
            (
                self.offers.is_empty() || is_call && self.tier != Tier::Critical,
                "it offers to remember what is critical, or no call",
            ),
            (self.offers.len() <= MAX_ITEMS, "it has too many offers"),
            (
                self.offers
                    .iter()
                    .all(|offer| text(&offer.words) && !offer.words.is_empty()),
                "an offer is empty or too long",
            ),
            (is_call || !self.may_edit, "it is no call, and its input may be edited"),
            (self.created_at <= MAX_TIME, "it was created after the year 9999"),
            (
                (1..=MAX_LIFE).contains(&self.lives_for),
                "it lives for no time, or for longer than seven days",
            ),
        ];
        match rules.into_iter().find(|(holds, _)| !holds) {
            Some((_, broken)) => Err(Unsound(broken)),
            None => Ok(()),
        }
    }

    /// What a verdict names: the SHA-256 of the card's signed bytes.
    ///
    /// # Errors
    /// A number in it has no canonical form.
    pub fn sha256(&self) -> Result<String, NotCanonical> {
        Ok(sha256(&canonical::tagged(TAG, self)?))
    }

    /// Signs the card with the machine's key.
    ///
    /// # Errors
    /// One line for a person: the card is not sound, or the system has no random numbers to give.
    pub fn sign(self, pair: &KeyPair) -> Result<SignedCard, String> {
        self.check().map_err(|unsound| unsound.to_string())?;
        let bytes = canonical::tagged(TAG, &self).map_err(|error| error.to_string())?;
        let sig = pair.sign(&bytes)?;
        Ok(SignedCard { card: self, sig })
    }
}

impl SignedCard {
    /// The card, if this machine has signed it and it is sound.
    ///
    /// # Errors
    /// [`Refused`]
    pub fn verify(&self, machine: &PublicKey) -> Result<&Card, Refused> {
        let bytes = canonical::tagged(TAG, &self.card).map_err(|_| Refused::Signature(Invalid::Forged))?;
        machine.verify(&bytes, &self.sig).map_err(Refused::Signature)?;
        self.card.check().map_err(Refused::Unsound)?;
        Ok(&self.card)
    }
}

impl Question {
    fn is_sound(&self) -> bool {
        let labels: HashSet<&str> = self.options.iter().map(|option| option.label.as_str()).collect();
        let text = |text: &str| is_within(text, MAX_TEXT);
        let choice = |choice: &Choice| {
            let preview = choice.preview.as_deref();
            !choice.label.is_empty()
                && text(&choice.label)
                && text(&choice.description)
                && preview.is_none_or(|preview| is_within(preview, MAX_PREVIEW))
        };
        text(&self.text)
            && text(&self.header)
            && self.options.len() <= MAX_ITEMS
            && labels.len() == self.options.len()
            && self.options.iter().all(choice)
    }
}

/// Whether a text has at most so many characters.
pub(crate) fn is_within(text: &str, most: usize) -> bool {
    text.len() <= most || text.chars().count() <= most
}

fn is_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::keys::Algorithm;

    pub fn card() -> Card {
        Card {
            v: 1,
            id: "00112233445566778899aabbccddeeff".into(),
            kind: Kind::Call,
            host: "laptop".into(),
            project: "shop".into(),
            cwd: Some("/home/dev/shop".into()),
            session: "s1".into(),
            agent: None,
            tool: "Bash".into(),
            tier: Tier::High,
            understood: true,
            summary: "deletes notes.txt, which loses work".into(),
            reasons: Vec::new(),
            preview: Preview {
                head: "rm notes.txt".into(),
                tail: String::new(),
                left_out: 0,
                masked: false,
            },
            questions: Vec::new(),
            offers: Vec::new(),
            may_edit: true,
            edited: false,
            attended: false,
            digest: "d".repeat(64),
            created_at: 1_796_000_000_000,
            lives_for: 60_000,
        }
    }

    #[test]
    fn a_card_holds_as_it_was_signed_and_not_with_one_field_changed() {
        let pair = KeyPair::generate(Algorithm::Ed25519).expect("a key");
        let signed = card().sign(&pair).expect("a signed card");
        assert_eq!(signed.verify(&pair.public()), Ok(&card()));
        let fields = serde_json::to_value(&signed.card).expect("JSON");
        for (key, value) in fields.as_object().expect("an object") {
            let mut other = serde_json::to_value(&signed).expect("JSON");
            other["card"][key] = match value {
                serde_json::Value::String(_) if key == "kind" => "plan".into(),
                serde_json::Value::String(_) if key == "tier" => "safe".into(),
                serde_json::Value::String(text) => format!("{text}x").into(),
                serde_json::Value::Bool(flag) => (!flag).into(),
                serde_json::Value::Number(number) => (number.as_u64().expect("whole") + 1).into(),
                serde_json::Value::Array(_) if key == "reasons" => serde_json::json!(["x"]),
                serde_json::Value::Object(_) => {
                    serde_json::json!({"head": "ls", "tail": "", "left_out": 0, "masked": false})
                }
                other => panic!("{key}: {other}"),
            };
            let changed: SignedCard = serde_json::from_value(other).expect(key);
            let forged = Err(Refused::Signature(Invalid::Forged));
            assert_eq!(changed.verify(&pair.public()), forged, "{key}");
        }
    }

    pub fn choice(label: &str) -> Choice {
        Choice {
            label: label.into(),
            description: String::new(),
            preview: None,
        }
    }

    pub fn question(labels: &[&str]) -> Question {
        Question {
            text: "Which?".into(),
            header: "Choice".into(),
            options: labels.iter().map(|label| choice(label)).collect(),
            several: false,
        }
    }

    fn asks(card: &mut Card, questions: Vec<Question>) {
        (card.kind, card.may_edit, card.questions) = (Kind::Questions, false, questions);
    }

    fn offer(words: &str) -> Offer {
        Offer {
            words: words.into(),
            scope: Scope::Session,
        }
    }

    #[test]
    fn a_card_that_breaks_its_bounds_is_neither_signed_nor_believed() {
        let pair = KeyPair::generate(Algorithm::Ed25519).expect("a key");
        let broken = [
            (|card| card.v = 2) as fn(&mut Card),
            |card| card.id = "0".repeat(31),
            |card| card.id = "A".repeat(32),
            |card| card.id = "\u{660}".repeat(16),
            |card| card.digest = "d".repeat(65),
            |card| card.digest = "g".repeat(64),
            |card| card.host = "x".repeat(MAX_NAME + 1),
            |card| card.project = "x".repeat(MAX_NAME + 1),
            |card| card.cwd = Some("x".repeat(MAX_TEXT + 1)),
            |card| card.session = "x".repeat(MAX_NAME + 1),
            |card| card.agent = Some("x".repeat(MAX_NAME + 1)),
            |card| card.tool = String::new(),
            |card| card.tool = "x".repeat(MAX_NAME + 1),
            |card| card.summary = "x".repeat(MAX_TEXT + 1),
            |card| card.reasons = vec!["x".into(); MAX_REASONS + 1],
            |card| card.reasons = vec!["x".repeat(MAX_TEXT + 1)],
            |card| card.preview.head = "x".repeat(MAX_PREVIEW + 1),
            |card| (card.preview.tail, card.preview.left_out) = ("x".repeat(MAX_PREVIEW + 1), 1),
            |card| card.preview.tail = "x".into(),
            |card| card.created_at = MAX_TIME + 1,
            |card| card.lives_for = 0,
            |card| card.lives_for = MAX_LIFE + 1,
            |card| card.questions = vec![question(&["a"])],
            |card| asks(card, Vec::new()),
            |card| asks(card, vec![question(&["a", "a"])]),
            |card| asks(card, vec![question(&[""])]),
            |card| asks(card, vec![question(&["x"; MAX_ITEMS + 1])]),
            |card| asks(card, vec![question(&[]); MAX_ITEMS + 1]),
            |card| card.kind = Kind::Plan,
            |card| (card.kind, card.may_edit, card.offers) = (Kind::Plan, false, vec![offer("x")]),
            |card| (card.tier, card.offers) = (Tier::Critical, vec![offer("x")]),
            |card| card.offers = vec![offer("x"); MAX_ITEMS + 1],
            |card| card.offers = vec![offer("")],
        ];
        for (at, change) in broken.iter().enumerate() {
            let mut card = card();
            change(&mut card);
            assert!(card.clone().sign(&pair).is_err(), "{at}");
            let bytes = canonical::tagged(TAG, &card).expect("bytes");
            let sig = pair.sign(&bytes).expect("a signature");
            let signed = SignedCard { card, sig };
            assert!(
                matches!(signed.verify(&pair.public()), Err(Refused::Unsound(_))),
                "{at}"
            );
        }
    }

    #[test]
    fn a_number_that_has_no_form_is_not_signed() {
        let pair = KeyPair::generate(Algorithm::Ed25519).expect("a key");
        let mut card = card();
        card.preview.left_out = canonical::MAX_SAFE + 1;
        assert!(card.sign(&pair).is_err());
    }

    #[test]
    fn a_card_at_its_bounds_is_believed() {
        let mut card = card();
        card.host = "\u{1f600}".repeat(MAX_NAME);
        card.cwd = Some("x".repeat(MAX_TEXT));
        card.reasons = vec!["x".repeat(MAX_TEXT); MAX_REASONS];
        card.preview.head = "x".repeat(MAX_PREVIEW);
        card.preview.tail = "x".repeat(MAX_PREVIEW);
        card.preview.left_out = canonical::MAX_SAFE;
        (card.created_at, card.lives_for) = (MAX_TIME, MAX_LIFE);
        assert_eq!(card.check(), Ok(()));
    }
}
