//! docs/protocol.vectors.json: cards and verdicts with their bytes, digests and signatures, for whoever writes the protocol
//! in another language.
//!
//! `COUNTERSIGN_DRAW=1 cargo test -p countersign-protocol` draws it anew.

use serde::Serialize;
use serde_json::{Value, json};

use crate::canonical::{self, hex, sha256, unhex};
use crate::card::tests::{card, choice};
use crate::card::{self, Card, Kind, Offer, Preview, Question, Scope, Tier};
use crate::keys::{Algorithm, KeyPair, PublicKey, Signature};
use crate::schema::{assert_drawn, docs};
use crate::verdict::{self, Answer, Answered, Refused, SignedVerdict, Then, Verdict};
use crate::{SignedCard, read};

const FILE: &str = "protocol.vectors.json";

/// RFC 8032, section 7.1, test 1, in PKCS #8.
const ED25519: [&str; 4] = [
    "3051020101300506032b657004220420",
    "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
    "812100",
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
];
/// RFC 6979, section A.2.5, in PKCS #8.
const P256: [&str; 4] = [
    "308187020100301306072a8648ce3d020106082a8648ce3d030107046d306b0201010420",
    "c9afa9d845ba75166b5c215767b1d6934e50c3db36e89b127b8a622b120f6721",
    "a144034200",
    "0460fed4ba255a9d31c961eb74c6356d68c049b8923b61fa6ce669622e60f29fb67903fe1008b8bc99a41ae9e95628bc64f2f1b20c2d7e9f5177a3c294d4462299",
];

fn pair(alg: Algorithm) -> KeyPair {
    let parts = match alg {
        Algorithm::Ed25519 => ED25519,
        Algorithm::P256 => P256,
    };
    KeyPair::from_pkcs8(alg, &unhex(&parts.concat()).expect("hexadecimal")).expect("a key")
}

/// What is signed, its bytes and its signatures. A P-256 signature is another each time: the file's is kept while it holds.
fn vector(says: &str, tag: &str, name: &str, value: &impl Serialize, kept: &Value) -> Value {
    let text = String::from_utf8(canonical::bytes(value).expect("canonical bytes")).expect("UTF-8");
    let signed = canonical::tagged(tag, value).expect("canonical bytes");
    let p256 = pair(Algorithm::P256);
    let kept: Option<Signature> = serde_json::from_value(kept["p256"].clone()).ok();
    let kept = kept.filter(|kept| p256.public().verify(&signed, kept).is_ok());
    json!({
        "says": says,
        name: value,
        "canonical": text,
        "sha256": sha256(&signed),
        "ed25519": pair(Algorithm::Ed25519).sign(&signed).expect("a signature"),
        "p256": kept.unwrap_or_else(|| p256.sign(&signed).expect("a signature")),
    })
}

fn cards() -> Vec<(&'static str, Card)> {
    let offered = Card {
        id: "0123456789abcdef0123456789abcdef".into(),
        agent: Some("reviewer".into()),
        reasons: vec!["git push leaves the machine".into()],
        summary: "pushes main to origin".into(),
        preview: Preview {
            head: "git push\n\u{1b}[2K \u{202e}\u{1f600} \"\\\u{7f}".into(),
            tail: String::new(),
            left_out: 0,
            masked: true,
        },
        offers: vec![Offer {
            words: "git push, in this session".into(),
            scope: Scope::Session,
        }],
        attended: true,
        ..card()
    };
    let cut = Card {
        id: "c".repeat(32),
        tier: Tier::Critical,
        understood: false,
        preview: Preview {
            head: "echo a".into(),
            tail: "; rm -rf ~".into(),
            left_out: 70_000,
            masked: false,
        },
        ..card()
    };
    let questions = Card {
        id: "a".repeat(32),
        kind: Kind::Questions,
        tool: "AskUserQuestion".into(),
        may_edit: false,
        questions: vec![
            Question {
                text: "Which database?".into(),
                header: "Database".into(),
                options: vec![choice("SQLite"), choice("PostgreSQL")],
                several: false,
            },
            Question {
                text: "Which platforms?".into(),
                header: "Platforms".into(),
                options: vec![choice("Linux"), choice("macOS")],
                several: true,
            },
        ],
        ..card()
    };
    let plan = Card {
        id: "b".repeat(32),
        kind: Kind::Plan,
        tool: "ExitPlanMode".into(),
        may_edit: false,
        ..card()
    };
    vec![
        ("a call, with nothing that may be left out", card()),
        (
            "a call of a subagent, with an offer and signs that must be escaped or must not be",
            offered,
        ),
        ("a call whose preview is cut", cut),
        ("questions", questions),
        ("a plan", plan),
    ]
}

fn answer(card: &Card, answer: Answer) -> Verdict {
    Verdict::new(card, answer, 1_796_000_000_500).expect("a card")
}

/// Verdicts that count, by the index of their card.
fn verdicts(cards: &[Card]) -> Vec<(&'static str, usize, Verdict)> {
    let allow = |index: usize| answer(&cards[index], Answer::Allow);
    let deny = |index: usize| answer(&cards[index], Answer::Deny);
    let edited = Verdict {
        input: Some(r#"{"command":"rm -i notes.txt"}"#.into()),
        ..allow(0)
    };
    let remembered = Verdict {
        remember: Some(0),
        ..allow(1)
    };
    let words = Verdict {
        note: Some("Not before the release — ask me then.".into()),
        ..deny(2)
    };
    let answered = Verdict {
        answers: vec![
            Answered::Text("DuckDB".into()),
            Answered::Labels(vec!["Linux".into(), "macOS".into()]),
        ],
        ..allow(3)
    };
    let planned = Verdict {
        then: Some(Then::AcceptEdits),
        ..allow(4)
    };
    vec![
        ("allow, once", 0, allow(0)),
        ("deny, and end the turn", 0, Verdict { stop: true, ..deny(0) }),
        ("allow another input", 0, edited),
        ("allow, and remember the offer", 1, remembered),
        ("deny a cut card, with words", 2, words),
        ("answers", 3, answered),
        ("allow the plan, and accept edits from then on", 4, planned),
    ]
}

/// Verdicts whose signature holds and that do not count.
fn unfitting(cards: &[Card]) -> Vec<(&'static str, usize, Verdict)> {
    let allow = |index: usize| answer(&cards[index], Answer::Allow);
    vec![
        ("the verdict on another card", 0, allow(1)),
        (
            "the other card's id, this card's digest",
            0,
            Verdict {
                id: cards[1].id.clone(),
                ..allow(0)
            },
        ),
        ("allow a cut card", 2, allow(2)),
        (
            "remember what is not offered",
            1,
            Verdict {
                remember: Some(1),
                ..allow(1)
            },
        ),
        (
            "deny, and remember",
            1,
            Verdict {
                remember: Some(0),
                ..answer(&cards[1], Answer::Deny)
            },
        ),
        ("no answers to questions", 3, allow(3)),
        (
            "edit a plan",
            4,
            Verdict {
                input: Some("{}".into()),
                ..allow(4)
            },
        ),
        (
            "a mode after a call",
            0,
            Verdict {
                then: Some(Then::Auto),
                ..allow(0)
            },
        ),
    ]
}

fn drawn() -> Value {
    let kept = std::fs::read_to_string(docs(FILE)).unwrap_or_default();
    let kept: Value = serde_json::from_str(&kept).unwrap_or_default();
    let key = |alg, parts: [&str; 4]| {
        let public = pair(alg).public();
        json!({"secret": parts[1], "pkcs8": parts.concat(), "id": public.id(), "public": public})
    };
    let (says, cards): (Vec<_>, Vec<_>) = cards().into_iter().unzip();
    let of_card = |(index, card): (usize, &Card)| vector(says[index], card::TAG, "card", card, &kept["cards"][index]);
    let of_verdicts = |list: &str, verdicts: Vec<(&str, usize, Verdict)>| -> Vec<Value> {
        let verdicts = verdicts.into_iter().enumerate();
        verdicts
            .map(|(at, (says, card, verdict))| {
                let mut vector = vector(says, verdict::TAG, "verdict", &verdict, &kept[list][at]);
                vector["of_card"] = json!(card);
                vector
            })
            .collect()
    };
    json!({
        "says": "Keys that everybody knows: RFC 8032 section 7.1 test 1, RFC 6979 section A.2.5. Signed is the tag, a zero \
            byte and the canonical text; sha256 is of the same bytes.",
        "keys": {"ed25519": key(Algorithm::Ed25519, ED25519), "p256": key(Algorithm::P256, P256)},
        "tags": {"card": card::TAG, "verdict": verdict::TAG},
        "cards": cards.iter().enumerate().map(of_card).collect::<Vec<_>>(),
        "verdicts": of_verdicts("verdicts", verdicts(&cards)),
        "unfitting": of_verdicts("unfitting", unfitting(&cards)),
    })
}

#[test]
fn the_vectors_are_what_the_code_writes() {
    assert_drawn(FILE, drawn());
}

#[test]
fn every_vector_verifies_as_it_says() {
    let text = std::fs::read_to_string(docs(FILE)).expect("the vectors");
    let vectors: Value = serde_json::from_str(&text).expect("JSON");
    let bytes = |value: &Value| value.to_string().into_bytes();
    let keys: Vec<PublicKey> = ["ed25519", "p256"]
        .map(|name| read(&bytes(&vectors["keys"][name]["public"])).expect("a key"))
        .to_vec();
    let signed = |vector: &Value, name: &str, alg: &str| bytes(&json!({name: vector[name], "sig": vector[alg]}));
    let list = |name: &str| vectors[name].as_array().expect("a list").clone();
    let mut cards = Vec::new();
    for vector in list("cards") {
        for (alg, key) in ["ed25519", "p256"].iter().zip(&keys) {
            let card: SignedCard = read(&signed(&vector, "card", alg)).expect("a signed card");
            assert_eq!(card.verify(key).err(), None, "{vector}");
            assert_eq!(card.card.sha256().ok().as_deref(), vector["sha256"].as_str());
            cards.push(card.card);
        }
    }
    for (name, count) in [("verdicts", true), ("unfitting", false)] {
        for vector in list(name) {
            let card = &cards[2 * vector["of_card"].as_u64().expect("an index") as usize];
            for alg in ["ed25519", "p256"] {
                let verdict: SignedVerdict = read(&signed(&vector, "verdict", alg)).expect("a signed verdict");
                let verified = verdict.verify(&keys, card);
                assert_eq!(verified.is_ok(), count, "{vector}");
                assert!(
                    !matches!(verified, Err(Refused::Signature(_) | Refused::UnknownDevice)),
                    "{vector}"
                );
            }
        }
    }
}

#[test]
fn the_bytes_of_a_vector_are_its_tag_a_zero_byte_and_its_text() {
    for vector in drawn()["cards"].as_array().expect("a list") {
        let text = vector["canonical"].as_str().expect("a text");
        let signed = [card::TAG.as_bytes(), b"\0", text.as_bytes()].concat();
        assert_eq!(sha256(&signed), vector["sha256"], "{}", hex(&signed));
    }
}

#[test]
fn the_page_works_the_first_card_and_its_first_verdict_out() {
    let (page, vectors) = (std::fs::read_to_string(docs("protocol.md")).expect("the page"), drawn());
    let (card, verdict) = (&vectors["cards"][0], &vectors["verdicts"][0]);
    for said in [
        &card["canonical"],
        &card["sha256"],
        &card["ed25519"]["value"],
        &verdict["p256"]["value"],
    ] {
        let said = said.as_str().expect("a text");
        assert!(page.contains(said), "docs/protocol.md does not say {said}");
    }
}
