//! docs/protocol.schema.json is drawn from the types, and agrees with what they take.
//!
//! After a change of the types, `COUNTERSIGN_DRAW=1 cargo test -p countersign-protocol` draws it anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::canonical::MAX_SAFE;
use crate::card::tests::card;
use crate::card::{
    Choice, DIGEST_DIGITS, ID_DIGITS, Kind, MAX_ITEMS, MAX_LIFE, MAX_NAME, MAX_PREVIEW, MAX_REASONS, MAX_TEXT,
    MAX_TIME, Offer, Question, Scope,
};
use crate::keys::Algorithm;
use crate::state::{Code, Pending, Presence, Refusal, Report};
use crate::verdict::{Answer, Answered, MAX_INPUT, MAX_NOTE, Then};
use crate::{
    Card, KeyPair, MAX_BODY, Outcome, PublicKey, Request, SignedCard, SignedVerdict, Status, Verdict, Why, Withdrawal,
    read,
};

const FILE: &str = "protocol.schema.json";

/// A file of the documentation.
pub fn docs(file: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "../../docs", file].iter().collect()
}

/// Asserts that the file of the documentation holds this value; draws it anew where that is asked for.
pub fn assert_drawn(file: &str, value: Value) {
    let now = format!("{:#}\n", sorted(value));
    if std::env::var_os("COUNTERSIGN_DRAW").is_some() {
        fs::write(docs(file), &now).expect("the file is written");
    }
    let drawn = fs::read_to_string(docs(file)).unwrap_or_default();
    assert!(
        drawn == now,
        "docs/{file} is stale; draw it anew with COUNTERSIGN_DRAW=1 cargo test -p countersign-protocol"
    );
}

/// What the types' form does not say: by type and field, or by type, field and `[]` for each item.
fn bounds() -> BTreeMap<&'static str, Value> {
    let hex = |digits: usize| json!({"pattern": format!("^[0-9a-f]{{{digits}}}$")});
    let least = |least: usize, most: usize| json!({"minLength": least, "maxLength": most});
    let most = |most: usize| json!({"maxLength": most});
    let items = |most: usize| json!({"maxItems": most});
    BTreeMap::from([
        ("Card.v", json!({"const": 1})),
        ("Card.id", hex(ID_DIGITS)),
        ("Card.host", most(MAX_NAME)),
        ("Card.project", most(MAX_NAME)),
        ("Card.cwd", most(MAX_TEXT)),
        ("Card.session", most(MAX_NAME)),
        ("Card.agent", most(MAX_NAME)),
        ("Card.tool", least(1, MAX_NAME)),
        ("Card.summary", most(MAX_TEXT)),
        ("Card.reasons", items(MAX_REASONS)),
        ("Card.reasons[]", most(MAX_TEXT)),
        ("Card.questions", items(MAX_ITEMS)),
        ("Card.offers", items(MAX_ITEMS)),
        ("Card.digest", hex(DIGEST_DIGITS)),
        ("Card.created_at", json!({"maximum": MAX_TIME})),
        ("Card.lives_for", json!({"minimum": 1, "maximum": MAX_LIFE})),
        ("Preview.head", most(MAX_PREVIEW)),
        ("Preview.tail", most(MAX_PREVIEW)),
        ("Preview.left_out", json!({"maximum": MAX_SAFE})),
        ("Question.text", most(MAX_TEXT)),
        ("Question.header", most(MAX_TEXT)),
        ("Question.options", items(MAX_ITEMS)),
        ("Choice.label", least(1, MAX_TEXT)),
        ("Choice.description", most(MAX_TEXT)),
        ("Choice.preview", most(MAX_PREVIEW)),
        ("Offer.words", least(1, MAX_TEXT)),
        ("PublicKey.key", json!({"pattern": "^([0-9a-f]{64}|04[0-9a-f]{128})$"})),
        ("Signature.kid", hex(ID_DIGITS)),
        ("Signature.value", hex(128)),
        ("Verdict.v", json!({"const": 1})),
        ("Verdict.id", hex(ID_DIGITS)),
        ("Verdict.card", hex(DIGEST_DIGITS)),
        ("Verdict.note", least(1, MAX_NOTE)),
        ("Verdict.remember", json!({"maximum": MAX_ITEMS - 1})),
        ("Verdict.input", least(2, MAX_INPUT)),
        ("Verdict.answers", items(MAX_ITEMS)),
        ("Verdict.decided_at", json!({"maximum": MAX_TIME})),
        (
            "Answered.labels",
            json!({"minItems": 1, "maxItems": MAX_ITEMS, "uniqueItems": true}),
        ),
        ("Answered.labels[]", least(1, MAX_TEXT)),
        ("Answered.text", least(1, MAX_TEXT)),
        ("Request.id", hex(ID_DIGITS)),
        ("Request.revision", json!({"maximum": MAX_SAFE})),
        ("Pending.revision", json!({"maximum": MAX_SAFE})),
        ("Presence.paired", json!({"maximum": u32::MAX})),
        ("Presence.online", json!({"maximum": u32::MAX})),
        ("Refusal.message", json!({})),
    ])
}

/// The schema as the file has it.
fn drawn() -> Value {
    let mut drawn = SchemaSettings::draft2020_12().into_generator();
    drawn.subschema_for::<PublicKey>();
    drawn.subschema_for::<Pending>();
    drawn.subschema_for::<Presence>();
    drawn.subschema_for::<Withdrawal>();
    drawn.subschema_for::<Report>();
    drawn.subschema_for::<Refusal>();
    let mut types = drawn.take_definitions(true);
    let mut bounds = bounds();
    for (name, schema) in &mut types {
        tidy(schema);
        for_each_property(schema, &mut |field, property| {
            if let Some(items) = property.get_mut("items").and_then(Value::as_object_mut) {
                bound(items, bounds.remove(format!("{name}.{field}[]").as_str()));
            }
            let more = bounds.remove(format!("{name}.{field}").as_str());
            let open = matches!(
                property.get("type").and_then(Value::as_str),
                Some("string" | "integer" | "array")
            );
            let listed = property.get("items").is_some_and(|items| items.get("$ref").is_some());
            assert!(more.is_some() || !open || listed, "{name}.{field} has no bounds");
            bound(property, more);
        });
    }
    assert!(bounds.is_empty(), "bounds of nothing: {bounds:?}");
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Countersign's relay protocol, version 1",
        "description": "The form of every object, under its name. Lengths are in Unicode characters. docs/protocol.md has \
            the rules that bind one field to another.",
        "$defs": types,
    })
}

fn bound(schema: &mut Map<String, Value>, more: Option<Value>) {
    if let Some(Value::Object(more)) = more {
        schema.extend(more);
    }
}

/// Calls with every named field of a type, of all of its forms.
fn for_each_property(schema: &mut Value, call: &mut impl FnMut(&str, &mut Map<String, Value>)) {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        for (field, property) in properties {
            call(field, property.as_object_mut().expect("a property"));
        }
    }
    for form in schema
        .get_mut("oneOf")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for_each_property(form, call);
    }
}

/// What the generator says of Rust is taken away, and what is left out where it says nothing is never there to say
/// nothing.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Array(schemas) => schemas.iter_mut().for_each(tidy),
        Value::Object(fields) => {
            fields.remove("format");
            let required = fields.get("required").cloned().unwrap_or_default();
            let is_required = |name: &String| {
                required
                    .as_array()
                    .is_some_and(|names| names.iter().any(|one| one == name))
            };
            if let Some(Value::Object(properties)) = fields.get_mut("properties") {
                for (_, property) in properties.iter_mut().filter(|(name, _)| !is_required(name)) {
                    let says_something = match property["type"].as_str() {
                        Some("boolean") => ("const", json!(true)),
                        Some("array") => ("minItems", json!(1)),
                        Some("string") => ("minLength", json!(1)),
                        _ => continue,
                    };
                    property[says_something.0] = says_something.1;
                }
            }
            if let Some(Value::String(text)) = fields.get_mut("description") {
                *text = text.replace('\n', " ").replace("[`", "`").replace("`]", "`");
            }
            if let Some(Value::Array(types)) = fields.get("type").cloned() {
                fields.insert("type".into(), types[0].clone());
            }
            if let Some(Value::Array(forms)) = fields.get("anyOf").cloned() {
                fields.remove("anyOf");
                fields.extend(forms[0].as_object().expect("a form").clone());
            }
            fields.values_mut().for_each(tidy);
        }
        _ => {}
    }
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Array(values) => values.into_iter().map(sorted).collect(),
        Value::Object(fields) => {
            let fields: BTreeMap<String, Value> = fields.into_iter().collect();
            fields.into_iter().map(|(key, value)| (key, sorted(value))).collect()
        }
        other => other,
    }
}

#[test]
fn the_schema_is_drawn_from_the_types() {
    assert_drawn(FILE, drawn());
}

/// Whether a value is of the form that the schema of this name gives: of JSON Schema only what is used here.
struct Schema(Value);

impl Schema {
    fn takes(&self, name: &str, value: &Value) -> bool {
        self.fits(&json!({"$ref": format!("#/$defs/{name}")}), value)
    }

    fn fits(&self, schema: &Value, value: &Value) -> bool {
        let schema = schema.as_object().expect("a schema");
        schema
            .iter()
            .all(|(keyword, says)| self.holds(schema, keyword, says, value))
    }

    fn holds(&self, schema: &Map<String, Value>, keyword: &str, says: &Value, value: &Value) -> bool {
        let size = || says.as_u64().expect("a size");
        let length = |text: &str| text.chars().count() as u64;
        match keyword {
            "description" | "title" => true,
            "$ref" => {
                let name = says
                    .as_str()
                    .and_then(|name| name.strip_prefix("#/$defs/"))
                    .expect("a name");
                self.fits(&self.0["$defs"][name], value)
            }
            "type" => match says.as_str().expect("a type") {
                "string" => value.is_string(),
                "integer" => value.is_i64() || value.is_u64(),
                "boolean" => value.is_boolean(),
                "array" => value.is_array(),
                "object" => value.is_object(),
                other => panic!("no rule for the type {other}"),
            },
            "const" => value == says,
            "enum" => says.as_array().expect("values").contains(value),
            "oneOf" => {
                says.as_array()
                    .expect("forms")
                    .iter()
                    .filter(|form| self.fits(form, value))
                    .count()
                    == 1
            }
            "required" => {
                let mut names = says.as_array().expect("names").iter().filter_map(Value::as_str);
                value
                    .as_object()
                    .is_none_or(|fields| names.all(|name| fields.contains_key(name)))
            }
            "properties" => says.as_object().expect("fields").iter().all(|(name, schema)| {
                value
                    .as_object()
                    .and_then(|fields| fields.get(name))
                    .is_none_or(|value| self.fits(schema, value))
            }),
            "additionalProperties" => {
                assert_eq!(says, false);
                let known = |name: &String| schema["properties"].get(name).is_some();
                value.as_object().is_none_or(|fields| fields.keys().all(known))
            }
            "items" => value
                .as_array()
                .is_none_or(|items| items.iter().all(|item| self.fits(says, item))),
            "minItems" => value.as_array().is_none_or(|items| items.len() as u64 >= size()),
            "maxItems" => value.as_array().is_none_or(|items| items.len() as u64 <= size()),
            "uniqueItems" => {
                let different = |items: &Vec<Value>| (1..items.len()).all(|at| !items[..at].contains(&items[at]));
                value.as_array().is_none_or(different)
            }
            "minLength" => value.as_str().is_none_or(|text| length(text) >= size()),
            "maxLength" => value.as_str().is_none_or(|text| length(text) <= size()),
            // No number of the protocol is negative.
            "minimum" => !value.is_number() || value.as_u64().is_some_and(|number| number >= size()),
            "maximum" => value.as_u64().is_none_or(|number| number <= size()),
            "pattern" => value
                .as_str()
                .is_none_or(|text| matches(says.as_str().expect("a pattern"), text)),
            other => panic!("no rule for the keyword {other}"),
        }
    }
}

fn matches(pattern: &str, text: &str) -> bool {
    let is_hex = |digits: usize| {
        text.len() == digits
            && text
                .bytes()
                .all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
    };
    match pattern {
        "^[0-9a-f]{32}$" => is_hex(32),
        "^[0-9a-f]{64}$" => is_hex(64),
        "^[0-9a-f]{128}$" => is_hex(128),
        "^([0-9a-f]{64}|04[0-9a-f]{128})$" => is_hex(64) || is_hex(130) && text.starts_with("04"),
        other => panic!("no rule for the pattern {other}"),
    }
}

/// Whether the types take a value of this name, and whether they find it sound.
fn taken(name: &str, value: &Value) -> (bool, bool) {
    let text = value.to_string();
    let form = |read: bool| (read, read);
    match name {
        "Card" => {
            let card = read::<Card>(text.as_bytes());
            (card.is_ok(), card.is_ok_and(|card| card.check().is_ok()))
        }
        "SignedCard" => form(read::<SignedCard>(text.as_bytes()).is_ok()),
        "Verdict" => form(read::<Verdict>(text.as_bytes()).is_ok()),
        "SignedVerdict" => form(read::<SignedVerdict>(text.as_bytes()).is_ok()),
        "Answered" => form(read::<Answered>(text.as_bytes()).is_ok()),
        "PublicKey" => form(read::<PublicKey>(text.as_bytes()).is_ok()),
        "Request" => form(read::<Request>(text.as_bytes()).is_ok()),
        "Pending" => form(read::<Pending>(text.as_bytes()).is_ok()),
        "Presence" => form(read::<Presence>(text.as_bytes()).is_ok()),
        "Withdrawal" => form(read::<Withdrawal>(text.as_bytes()).is_ok()),
        "Report" => form(read::<Report>(text.as_bytes()).is_ok()),
        "Refusal" => form(read::<Refusal>(text.as_bytes()).is_ok()),
        other => panic!("no type is called {other}"),
    }
}

/// One of each, with every field that may be left out and without.
fn examples() -> Vec<(&'static str, Value)> {
    let pair = KeyPair::generate(Algorithm::Ed25519).expect("a key");
    let plain = card();
    let mut full = card();
    full.agent = Some("a1".into());
    full.reasons = vec!["it loses work".into()];
    (full.preview.tail, full.preview.left_out) = ("end".into(), 9);
    full.offers = vec![Offer {
        words: "rm notes.txt".into(),
        scope: Scope::Countersign,
    }];
    (full.edited, full.attended) = (true, true);
    let mut asks = card();
    (asks.kind, asks.may_edit, asks.cwd) = (Kind::Questions, false, None);
    let choice = |label: &str, preview: Option<&str>| Choice {
        label: label.into(),
        description: "that one".into(),
        preview: preview.map(str::to_owned),
    };
    asks.questions = vec![Question {
        text: "Which?".into(),
        header: "Choice".into(),
        options: vec![choice("a", None), choice("b", Some("<b>"))],
        several: true,
    }];
    let verdict = |card: &Card| Verdict::new(card, Answer::Allow, 1_796_000_000_500).expect("a card");
    let said = Verdict {
        note: Some("no".into()),
        remember: Some(0),
        input: Some("{}".into()),
        answers: vec![Answered::Labels(vec!["a".into()]), Answered::Text("neither".into())],
        then: Some(Then::AcceptEdits),
        stop: true,
        ..verdict(&full)
    };
    let signed = plain.clone().sign(&pair).expect("signed");
    let decided = verdict(&plain).sign(&pair).expect("signed");
    let request = Request {
        id: plain.id.clone(),
        status: Status::Pending,
        revision: 1,
        card: signed.clone(),
        verdict: None,
        why: None,
        outcome: None,
    };
    let ended = Request {
        status: Status::Consumed,
        verdict: Some(decided.clone()),
        why: Some(Why::Timeout),
        outcome: Some(Outcome::Ran),
        ..request.clone()
    };
    let pending = Pending {
        revision: 7,
        requests: vec![request.clone()],
    };
    let presence = Presence { paired: 2, online: 1 };
    let withdrawal = Withdrawal { why: Why::SessionEnded };
    let report = Report {
        outcome: Outcome::Refused,
    };
    let refusal = |error: &Code| Refusal {
        error: *error,
        message: "why".into(),
    };
    let json = |value: serde_json::Result<Value>| value.expect("JSON");
    let mut examples = vec![
        ("Card", json(serde_json::to_value(&plain))),
        ("Card", json(serde_json::to_value(&full))),
        ("Card", json(serde_json::to_value(&asks))),
        ("SignedCard", json(serde_json::to_value(&signed))),
        ("Verdict", json(serde_json::to_value(verdict(&plain)))),
        ("Verdict", json(serde_json::to_value(&said))),
        ("SignedVerdict", json(serde_json::to_value(&decided))),
        ("Answered", json!({"labels": ["a"]})),
        ("Answered", json!({"text": "x"})),
        ("PublicKey", json(serde_json::to_value(pair.public()))),
        ("Request", json(serde_json::to_value(&request))),
        ("Request", json(serde_json::to_value(&ended))),
        ("Pending", json(serde_json::to_value(&pending))),
        ("Presence", json(serde_json::to_value(&presence))),
        ("Withdrawal", json(serde_json::to_value(withdrawal))),
        ("Report", json(serde_json::to_value(report))),
    ];
    examples.extend(
        Code::ALL
            .iter()
            .map(|code| ("Refusal", json(serde_json::to_value(refusal(code))))),
    );
    examples
}

#[test]
fn the_schema_takes_what_the_types_write() {
    let schema = Schema(drawn());
    for (name, example) in examples() {
        assert!(schema.takes(name, &example), "{name}: {example}");
        assert!(taken(name, &example).0, "{name}: {example}");
    }
}

/// Every place in a value, as a JSON pointer.
fn places(value: &Value, at: &str, found: &mut Vec<String>) {
    found.push(at.to_owned());
    match value {
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                places(item, &format!("{at}/{index}"), found);
            }
        }
        Value::Object(fields) => {
            for (name, field) in fields {
                places(field, &format!("{at}/{name}"), found);
            }
        }
        _ => {}
    }
}

#[test]
fn the_schema_and_the_types_agree_on_every_place_that_is_changed() {
    let schema = Schema(drawn());
    let others = [
        Value::Null,
        json!(true),
        json!(false),
        json!(0),
        json!(1),
        json!(2),
        json!(-1),
        json!(1.5),
        json!(MAX_LIFE),
        json!(MAX_LIFE + 1),
        json!(MAX_TIME),
        json!(MAX_TIME + 1),
        json!(MAX_SAFE),
        json!(MAX_SAFE + 1),
        json!(u64::MAX),
        json!(""),
        json!("x"),
        json!("0".repeat(ID_DIGITS)),
        json!("0".repeat(DIGEST_DIGITS)),
        json!("A".repeat(ID_DIGITS)),
        json!([]),
        json!([""]),
        json!(vec!["x"; MAX_REASONS + 1]),
        json!(["x".repeat(MAX_TEXT + 1)]),
        json!({}),
    ];
    let sizes = [MAX_NAME, MAX_TEXT, MAX_PREVIEW];
    let long = sizes
        .map(|size| [json!("é".repeat(size)), json!("é".repeat(size + 1))])
        .concat();
    let mut wrong = Vec::new();
    for (name, example) in examples() {
        let mut all = Vec::new();
        places(&example, "", &mut all);
        let mut tried = |what: &str, value: &Value| {
            let schema = schema.takes(name, value);
            let (read, sound) = taken(name, value);
            // The schema knows no rule that binds two fields; the bounds of what is no card are checked elsewhere.
            if schema && !read || name == "Card" && sound && !schema {
                wrong.push(format!(
                    "{name} {what}: the schema says {schema}, the types {read} and {sound}"
                ));
            }
        };
        for place in all {
            let is_bounded = name == "Card" && example.pointer(&place).is_some_and(Value::is_string);
            let long = long.iter().filter(|_| is_bounded);
            for other in others.iter().chain(long) {
                let mut value = example.clone();
                *value.pointer_mut(&place).expect("a place") = other.clone();
                tried(&format!("{place} = {:.40}", other.to_string()), &value);
            }
            let mut value = example.clone();
            if let Some(Value::Object(fields)) = value.pointer_mut(&place) {
                fields.insert("hidden".into(), json!(1));
                tried(&format!("{place} has one more"), &value);
            }
            if let Some((object, field)) = place.rsplit_once('/') {
                let mut value = example.clone();
                if let Some(Value::Object(fields)) = value.pointer_mut(object) {
                    fields.remove(field);
                    tried(&format!("{place} is gone"), &value);
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_example_of_the_page_is_of_the_protocol() {
    let schema = Schema(drawn());
    let page = fs::read_to_string(docs("protocol.md")).expect("docs/protocol.md");
    let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
    for block in page.split("```json ").skip(1) {
        let (name, rest) = block.split_once('\n').expect("a block");
        let (text, _) = rest.split_once("```").expect("its end");
        let value: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{name}: {error}\n{text}"));
        assert!(
            schema.takes(name, &value),
            "the schema does not take this {name}:\n{text}"
        );
        assert!(taken(name, &value).1, "the types do not take this {name}:\n{text}");
        *shown.entry(name).or_default() += 1;
    }
    for name in [
        "SignedCard",
        "SignedVerdict",
        "Request",
        "Presence",
        "Withdrawal",
        "Report",
        "Refusal",
    ] {
        assert!(shown.contains_key(name), "docs/protocol.md shows no {name}");
    }
}

#[test]
fn the_page_names_every_code_with_its_status_and_every_bound() {
    let page = fs::read_to_string(docs("protocol.md")).expect("docs/protocol.md");
    for code in Code::ALL {
        let word = serde_json::to_value(code).expect("a word");
        let row = format!("| {} | `{}` |", code.status(), word.as_str().expect("a word"));
        assert!(page.contains(&row), "docs/protocol.md has no row `{row}`");
    }
    for bound in [
        MAX_NAME,
        MAX_TEXT,
        MAX_PREVIEW,
        MAX_NOTE,
        MAX_INPUT,
        MAX_REASONS,
        MAX_ITEMS,
        MAX_TIME as usize,
        MAX_LIFE as usize,
        MAX_BODY,
    ] {
        assert!(
            page.contains(&format!("| {bound} |")),
            "docs/protocol.md does not name {bound}"
        );
    }
}
