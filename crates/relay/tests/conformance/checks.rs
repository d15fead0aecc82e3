//! The checks, each by what it promises.

use std::thread;
use std::time::{Duration, Instant};

use countersign_protocol::card::{self, Card, Choice, Kind, MAX_NAME, MAX_PREVIEW, Offer, Question, Scope, Tier};
use countersign_protocol::keys::{Algorithm, KeyPair};
use countersign_protocol::verdict::{Answer, Answered, MAX_NOTE, SignedVerdict, Then, Verdict};
use countersign_protocol::{Code, MAX_BODY, Outcome, SignedCard, Status, VERSION, Why, canonical};
use serde_json::json;

use crate::client::{Call, Client, Reply};

type Check = fn(&Client);
type Named = (&'static str, Check);

pub const ALL: &[Named] = &[
    ("a request is created once, and put again it is the same", created_once),
    (
        "of one request put many times at once, one is created",
        created_once_at_once,
    ),
    ("a key is good for one body, and an id for one key", one_body_a_key),
    (
        "a key has 16 to 128 characters, and is its machine's own",
        keys_of_requests,
    ),
    ("a card that its machine has not signed is refused", only_signed_cards),
    (
        "a card that breaks a rule is refused, whoever signed it",
        only_sound_cards,
    ),
    ("a body of another form is refused and changes nothing", broken_bodies),
    ("a body that is too long is refused", long_bodies),
    ("whoever has no token that is known is refused", only_with_tokens),
    ("a token is good for its own role", only_in_ones_role),
    (
        "another version of the protocol is refused before anything else",
        only_this_version,
    ),
    (
        "whoever is refused while still sending hears why, and may go on",
        heard_while_sending,
    ),
    ("what is no path, or no method of one, is refused", unknown_paths),
    (
        "what does not exist is told apart from what has ended",
        unknown_requests,
    ),
    ("a machine sees and changes its own requests only", own_requests),
    (
        "a poll is held until the request is decided, and gives the whole of it",
        held_until_decided,
    ),
    ("a poll is held until the request is withdrawn", held_until_withdrawn),
    ("a poll is held until the request has expired", held_until_expired),
    (
        "a poll ends in time where nobody decides, and at once where it does not wait",
        ends_in_time,
    ),
    ("a poll of what has ended is not held", not_held_for_the_ended),
    ("a query of another form is refused", broken_queries),
    ("either kind of device decides, for itself alone", either_device),
    ("a verdict is for the very card that was shown", only_for_the_card),
    (
        "a verdict of which one byte was changed is refused",
        no_changed_verdicts,
    ),
    ("a card's signature is no verdict's", no_other_signature),
    (
        "a verdict says nothing that its card did not ask for",
        only_fitting_verdicts,
    ),
    (
        "a card that does not hold the whole input can only be denied",
        cut_cards,
    ),
    ("questions are answered each as it asks", questions),
    ("a plan is allowed with a mode, or sent back with words", plans),
    (
        "a verdict of another form is refused and changes nothing",
        broken_verdicts,
    ),
    ("a verdict is taken once", taken_once),
    (
        "a verdict that was taken is given again with the same key, and with no other",
        given_again,
    ),
    (
        "a verdict that is taken without a key is not given again",
        taken_without_a_key,
    ),
    (
        "what takes a verdict has a key of 16 to 128 characters, if any",
        keys_of_takings,
    ),
    ("what was decided is not decided again, not even the same", decided_once),
    ("of many verdicts at once one wins, and one of many takes it", one_wins),
    (
        "a verdict and a withdrawal at once leave one of them",
        verdict_or_withdrawal,
    ),
    (
        "what was taken back cannot be decided, and can be taken back again",
        taken_back,
    ),
    (
        "what was decided can be taken back until its verdict is",
        taken_back_decided,
    ),
    (
        "what has expired cannot be decided, nor its verdict taken or given again",
        expires,
    ),
    ("every change counts the revision up", revisions),
    (
        "what waits is listed for devices, the oldest first, until it does not",
        listed,
    ),
    ("a device's poll is held until something changes", held_list),
    ("a device counts as online when it has asked", presence),
    ("an outcome is noted once", outcome_once),
    ("a word that is not known is refused", unknown_words),
    ("whether the relay can keep requests is told to anybody", health),
];

/// What takes minutes.
pub const SLOW: &[Named] = &[
    (
        "what its machine asks for no more is withdrawn, and takes no verdict",
        orphaned,
    ),
    (
        "a device that has asked for nothing for two minutes is not online",
        gone_offline,
    ),
];

/// What leaves a client with nothing more to ask for a while.
pub const LAST: &[Named] = &[
    ("the pending requests of one machine are bounded", too_many_pending),
    (
        "who asks too often is told when to come again, and the others are served",
        too_often,
    ),
];

fn created_once(client: &Client) {
    let card = client.card();
    let signed = client.signed(&card);
    let machine = &client.parties.machine;
    let first = client.post(machine, &signed, &card.id);
    let request = first.request();
    assert_eq!((first.status, request.status), (201, Status::Pending));
    assert_eq!((&request.id, &request.card), (&card.id, &signed));
    assert_eq!((request.verdict, request.why, request.outcome), (None, None, None));
    let again = client.post(machine, &signed, &card.id);
    assert_eq!((again.status, &again.body), (200, &first.body));
    client.allow(&card);
    let later = client.post(machine, &signed, &card.id);
    assert_eq!(
        (later.status, later.request().status),
        (200, Status::Decided),
        "as it stands"
    );
}

fn created_once_at_once(client: &Client) {
    let card = client.card();
    let signed = client.signed(&card);
    let put = || client.post(&client.parties.machine, &signed, &card.id).status;
    let mut statuses = at_once(8, |_| put());
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 200, 200, 200, 200, 200, 200, 201]);
}

fn one_body_a_key(client: &Client) {
    let card = client.put_one();
    let machine = &client.parties.machine;
    let other = client.signed(&client.card());
    client
        .post(machine, &other, &card.id)
        .refuses(Code::IdempotencyConflict);
    client
        .post(machine, &client.signed(&card), &"k".repeat(32))
        .refuses(Code::IdempotencyConflict);
    let mut changed = card.clone();
    changed.summary = "something else".into();
    client
        .post(machine, &client.signed(&changed), &card.id)
        .refuses(Code::IdempotencyConflict);
    let otherwise_written = serde_json::to_vec_pretty(&client.signed(&card)).expect("JSON");
    client
        .post_text(machine, &otherwise_written, &card.id)
        .refuses(Code::IdempotencyConflict);
    assert_eq!(client.get(&card, "").request().card.card, card);
    client.get(&other.card, "").refuses(Code::Unknown);
}

fn keys_of_requests(client: &Client) {
    let machine = &client.parties.machine;
    let card = client.card();
    let body = serde_json::to_vec(&client.signed(&card)).expect("JSON");
    let put = |key: Option<&str>| {
        client.send(&Call {
            key,
            body: &body,
            ..Call::new("POST", "/v1/requests", machine)
        })
    };
    for key in [None, Some(""), Some("0123456789abcde"), Some("k".repeat(129).as_str())] {
        put(key).refuses(Code::IdempotencyKey);
    }
    client.get(&card, "").refuses(Code::Unknown);
    assert_eq!(put(Some(&format!("{:128}", card.id).replace(' ', "k"))).status, 201);
    let other_machine = &client.parties.other_machine;
    let short = &card.id[..16];
    client.post(machine, &client.signed(&client.card()), short).request();
    let others = client.card().sign(&other_machine.pair()).expect("a signed card");
    let theirs = client.post(other_machine, &others, short);
    assert_eq!(
        (theirs.status, theirs.request().card),
        (201, others),
        "the same key of another machine"
    );
}

fn only_signed_cards(client: &Client) {
    let strange = KeyPair::generate(Algorithm::Ed25519).expect("a key");
    let machine = &client.parties.machine;
    let card = client.card();
    let forged = card.clone().sign(&strange).expect("a card");
    let others = card.clone().sign(&client.parties.other_machine.pair()).expect("a card");
    let devices = card.clone().sign(&client.parties.other_device.pair()).expect("a card");
    let mut renamed = forged.clone();
    renamed.sig.kid = machine.public().id();
    let mut changed = client.signed(&card);
    changed.card.tier = Tier::Safe;
    let mut short = client.signed(&card);
    short.sig.value.truncate(126);
    for wrong in [forged, others, devices, renamed, changed, short] {
        client.post(machine, &wrong, &card.id).refuses(Code::Card);
    }
    client.get(&card, "").refuses(Code::Unknown);
}

/// Signs a card that nobody should.
fn signed_regardless(card: Card, pair: &KeyPair) -> SignedCard {
    let bytes = canonical::tagged(card::TAG, &card).expect("bytes");
    let sig = pair.sign(&bytes).expect("a signature");
    SignedCard { card, sig }
}

fn offer() -> Offer {
    Offer {
        words: "rm notes.txt, in this session".into(),
        scope: Scope::Session,
    }
}

fn only_sound_cards(client: &Client) {
    let pair = client.parties.machine.pair();
    for change in [
        (|card| card.v = 2) as fn(&mut Card),
        |card| card.id = card.id.to_uppercase().replace('0', "A"),
        |card| card.id = "short".into(),
        |card| card.digest = "d".repeat(63),
        |card| card.session = "s".repeat(MAX_NAME + 1),
        |card| card.preview.head = "x".repeat(MAX_PREVIEW + 1),
        |card| card.preview.tail = "x".into(),
        |card| card.lives_for = 0,
        |card| card.lives_for = card::MAX_LIFE + 1,
        |card| card.created_at = card::MAX_TIME + 1,
        |card| (card.tier, card.offers) = (Tier::Critical, vec![offer()]),
        |card| (card.kind, card.may_edit) = (Kind::Plan, true),
        |card| card.kind = Kind::Questions,
    ] {
        let mut card = client.card();
        change(&mut card);
        let signed = signed_regardless(card, &pair);
        client
            .post(&client.parties.machine, &signed, &"k".repeat(40))
            .refuses(Code::Card);
    }
}

/// JSON text with one part replaced, which must be there.
#[track_caller]
fn replaced(text: &str, from: &str, to: &str) -> String {
    let changed = text.replacen(from, to, 1);
    assert_ne!(changed, text, "{from}");
    changed
}

fn broken_bodies(client: &Client) {
    let machine = &client.parties.machine;
    let card = client.card();
    let whole = serde_json::to_string(&client.signed(&card)).expect("JSON");
    let mut bodies: Vec<Vec<u8>> = ["", "{", "[]", "{}", "null", "\u{0}", "\"card\"", "\u{feff}{}"]
        .map(|body| body.as_bytes().to_vec())
        .to_vec();
    for (from, to) in [
        (r#""v":1"#, r#""v":1,"hidden":1"#),
        (r#""v":1"#, r#""v":1,"v":1"#),
        (r#""v":1"#, r#""v":"1""#),
        (r#""v":1"#, r#""v":1,"agent":null"#),
        (r#""v":1"#, r#""v":1,"edited":false"#),
        (r#""tool":"Bash","#, ""),
        (r#""tier":"high""#, r#""tier":"mild""#),
        (r#""kind":"call""#, r#""kind":"Call""#),
        (r#""left_out":0"#, r#""left_out":-1"#),
        (r#""left_out":0"#, r#""left_out":0.5"#),
        (r#""sig":{"#, r#""sig":{"alg":"none","#),
        (r#"{"card":"#, r#"{"also":{},"card":"#),
        ("rm notes.txt", r"\ud800"),
    ] {
        bodies.push(replaced(&whole, from, to).into_bytes());
    }
    bodies.push(whole.as_bytes()[..whole.len() - 1].to_vec());
    bodies.push(format!("{whole}{whole}").into_bytes());
    bodies.push(whole.replacen("rm notes", "rm \u{1} notes", 1).into_bytes());
    let mut no_text = whole.clone().into_bytes();
    let at = whole.find("rm notes").expect("the command");
    no_text[at] = 0xff;
    bodies.push(no_text);
    bodies.push("[".repeat(50_000).into_bytes());
    for body in bodies {
        let reply = client.post_text(machine, &body, &card.id);
        assert_eq!(
            reply.error(),
            Some(Code::Form),
            "{}: {reply:?}",
            String::from_utf8_lossy(&body)
        );
    }
    client.get(&card, "").refuses(Code::Unknown);
}

fn long_bodies(client: &Client) {
    let machine = &client.parties.machine;
    for length in [MAX_BODY + 1, 4 * MAX_BODY] {
        client
            .post_text(machine, &b"x".repeat(length), &"k".repeat(32))
            .refuses(Code::TooLarge);
    }
    let card = client.put_one();
    let device = &client.parties.device;
    client
        .hand_in_text(&card, &b" ".repeat(MAX_BODY + 1), device)
        .refuses(Code::TooLarge);
    assert_eq!(client.get(&card, "").request().status, Status::Pending);
    let mut long = client.card();
    long.preview.head = "x".repeat(MAX_PREVIEW);
    client.put(&long);
    assert_eq!(client.get(&long, "").request().card.card, long, "a card at its bound");
}

/// Everything that a machine, and everything that a device may ask about this card.
fn calls<'a>(client: &'a Client, paths: &'a [String; 4], bodies: &'a [String; 4]) -> Vec<Call<'a>> {
    let [request, consume, outcome, decision] = paths;
    let [card, withdrawal, report, verdict] = bodies;
    let (machine, device) = (&client.parties.machine, &client.parties.device);
    let with = |call: Call<'a>, body: &'a String| Call {
        body: body.as_bytes(),
        ..call
    };
    let put = Call {
        key: Some("0123456789abcdef"),
        ..Call::new("POST", "/v1/requests", machine)
    };
    vec![
        with(put, card),
        Call::new("GET", request, machine),
        with(Call::new("DELETE", request, machine), withdrawal),
        Call::new("POST", consume, machine),
        with(Call::new("POST", outcome, machine), report),
        Call::new("GET", "/v1/presence", machine),
        Call::new("GET", "/v1/pending", device),
        with(Call::new("POST", decision, device), verdict),
    ]
}

/// Sends every call of the protocol changed by `change`, and expects this refusal and that nothing has happened.
fn every_call_is_refused(client: &Client, code: Code, change: impl for<'a> Fn(&'a Client, &mut Call<'a>)) {
    let card = client.put_one();
    let id = &card.id;
    let paths = [
        format!("/v1/requests/{id}"),
        format!("/v1/requests/{id}/consume"),
        format!("/v1/requests/{id}/outcome"),
        format!("/v1/requests/{id}/decision"),
    ];
    let new = client.card();
    let verdict = client
        .verdict(&card, Answer::Allow)
        .sign(&client.parties.device.pair())
        .expect("signed");
    let bodies = [
        serde_json::to_string(&client.signed(&new)).expect("JSON"),
        json!({"why": "timeout"}).to_string(),
        json!({"outcome": "ran"}).to_string(),
        serde_json::to_string(&verdict).expect("JSON"),
    ];
    for mut call in calls(client, &paths, &bodies) {
        change(client, &mut call);
        let reply = client.send(&call);
        assert_eq!(reply.error(), Some(code), "{} {}: {reply:?}", call.method, call.path);
    }
    let stands = client.get(&card, "").request();
    assert_eq!(
        (stands.status, stands.revision, stands.outcome),
        (Status::Pending, 1, None)
    );
    client.get(&new, "").refuses(Code::Unknown);
}

fn only_with_tokens(client: &Client) {
    every_call_is_refused(client, Code::Token, |_, call| call.token = None);
    every_call_is_refused(client, Code::Token, |_, call| call.token = Some("x"));
    every_call_is_refused(client, Code::Token, |_, call| {
        call.token = call.token.map(|token| &token[1..])
    });
}

fn only_in_ones_role(client: &Client) {
    every_call_is_refused(client, Code::Role, |client, call| {
        let (machine, device) = (&client.parties.machine.token, &client.parties.device.token);
        call.token = Some(if call.token == Some(machine) { device } else { machine });
    });
}

fn only_this_version(client: &Client) {
    assert_eq!(VERSION, "1");
    for version in [None, Some(""), Some("0"), Some("2"), Some("1.0"), Some("one")] {
        every_call_is_refused(client, Code::Version, |_, call| {
            call.version = version;
            call.token = None;
        });
    }
}

fn heard_while_sending(client: &Client) {
    let body = b" ".repeat(MAX_BODY);
    let long = Call {
        body: &body,
        ..Call::new("POST", "/v1/requests", &client.parties.machine)
    };
    for _ in 0..10 {
        client.send(&Call { version: None, ..long }).refuses(Code::Version);
        client.send(&Call { token: None, ..long }).refuses(Code::Token);
        let device = Some(client.parties.device.token.as_str());
        client.send(&Call { token: device, ..long }).refuses(Code::Role);
        client.send(&long).refuses(Code::Form);
        client
            .send(&Call {
                path: "/v1/none",
                ..long
            })
            .refuses(Code::Unknown);
    }
}

fn unknown_paths(client: &Client) {
    let machine = &client.parties.machine;
    for path in [
        "/v1/",
        "/v1/nothing",
        "/v1/requests/x/y",
        "/v2/requests",
        "/v1/requests/",
    ] {
        client.send(&Call::new("GET", path, machine)).refuses(Code::Unknown);
    }
    for (method, path) in [
        ("GET", "/v1/requests"),
        ("PUT", "/v1/pending"),
        ("POST", "/v1/presence"),
    ] {
        client.send(&Call::new(method, path, machine)).refuses(Code::Method);
    }
}

fn unknown_requests(client: &Client) {
    let card = client.card();
    let mut strange = client.card();
    strange.id = "..%2f..%2fpending".into();
    for card in [card, strange] {
        client.get(&card, "").refuses(Code::Unknown);
        client.get(&card, "?wait=20").refuses(Code::Unknown);
        client.consume(&card).refuses(Code::Unknown);
        client.allow(&card).refuses(Code::Unknown);
        client.withdraw(&card, "timeout").refuses(Code::Unknown);
        client.report(&card, "ran").refuses(Code::Unknown);
    }
}

fn own_requests(client: &Client) {
    let card = client.put_one();
    let mut other = client.clone();
    other.parties.machine = client.parties.other_machine.clone();
    other.get(&card, "").refuses(Code::Unknown);
    other.withdraw(&card, "timeout").refuses(Code::Unknown);
    other.report(&card, "ran").refuses(Code::Unknown);
    client.allow(&card).request();
    other.consume(&card).refuses(Code::Unknown);
    let same_id = card.clone().sign(&other.parties.machine.pair()).expect("signed");
    other
        .post(&other.parties.machine, &same_id, &card.id)
        .refuses(Code::IdempotencyConflict);
    client.consume(&card).request();
}

/// Polls with 20 seconds to wait, lets `change` happen meanwhile, and gives the answer, which comes soon after.
#[track_caller]
fn held(client: &Client, card: &Card, change: impl FnOnce()) -> countersign_protocol::Request {
    thread::scope(|scope| {
        let poll = scope.spawn(|| client.get(card, "?wait=20"));
        thread::sleep(Duration::from_millis(300));
        assert!(!poll.is_finished(), "nothing has changed yet");
        change();
        let changed = Instant::now();
        let answer = poll.join().expect("a poll").request();
        assert!(changed.elapsed() < Duration::from_secs(5), "{:?}", changed.elapsed());
        answer
    })
}

fn held_until_decided(client: &Client) {
    let card = client.put_one();
    let answer = held(client, &card, || assert_eq!(client.allow(&card).status, 200));
    assert_eq!((answer.status, &answer.card.card), (Status::Decided, &card));
    let verdict = answer.verdict.expect("a verdict");
    let believed = verdict.verify(&[client.parties.device.public()], &card);
    assert_eq!(believed.map(|verdict| verdict.answer), Ok(Answer::Allow));
}

fn held_until_withdrawn(client: &Client) {
    let card = client.put_one();
    let answer = held(client, &card, || {
        assert_eq!(client.withdraw(&card, "timeout").status, 200)
    });
    assert_eq!((answer.status, answer.why), (Status::Withdrawn, Some(Why::Timeout)));
}

fn held_until_expired(client: &Client) {
    let mut card = client.card();
    card.lives_for = 1_000;
    client.put(&card);
    let answer = held(client, &card, || ());
    assert_eq!(answer.status, Status::Expired);
}

fn ends_in_time(client: &Client) {
    let card = client.put_one();
    for (query, at_least, at_most) in [("?wait=1", 900, 6_000), ("?wait=0", 0, 900), ("", 0, 900)] {
        let begun = Instant::now();
        let answer = client.get(&card, query).request();
        let took = begun.elapsed().as_millis();
        assert_eq!(answer.status, Status::Pending);
        assert!((at_least..at_most).contains(&took), "{query} took {took} ms");
    }
}

fn not_held_for_the_ended(client: &Client) {
    let (decided, consumed, back) = (client.put_one(), client.put_one(), client.put_one());
    client.deny(&decided);
    client.allow(&consumed);
    client.consume(&consumed);
    client.withdraw(&back, "superseded");
    let begun = Instant::now();
    for (card, status) in [
        (decided, Status::Decided),
        (consumed, Status::Consumed),
        (back, Status::Withdrawn),
    ] {
        assert_eq!(client.get(&card, "?wait=20").request().status, status);
    }
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
}

fn broken_queries(client: &Client) {
    let card = client.put_one();
    for query in ["?wait=long", "?wait=-1", "?wait=1.5", "?wait="] {
        client.get(&card, query).refuses(Code::Form);
    }
    client
        .send(&Call::new("GET", "/v1/pending?revision=x", &client.parties.device))
        .refuses(Code::Form);
}

fn either_device(client: &Client) {
    for device in [&client.parties.device, &client.parties.other_device] {
        let card = client.put_one();
        let signed = client
            .verdict(&card, Answer::Allow)
            .sign(&device.pair())
            .expect("signed");
        let decided = client.hand_in(&card, &signed, device).request();
        assert_eq!(decided.verdict.as_ref(), Some(&signed));
        let taken = client.consume(&card).request();
        let verdict = taken.verdict.expect("a verdict");
        assert_eq!(verdict.verify(&[device.public()], &card).err(), None);
    }
    let card = client.put_one();
    let others = client
        .verdict(&card, Answer::Allow)
        .sign(&client.parties.other_device.pair())
        .expect("signed");
    client
        .hand_in(&card, &others, &client.parties.device)
        .refuses(Code::Verdict);
    let machines = client
        .verdict(&card, Answer::Allow)
        .sign(&client.parties.machine.pair())
        .expect("signed");
    client
        .hand_in(&card, &machines, &client.parties.device)
        .refuses(Code::Verdict);
    assert_eq!(client.get(&card, "").request().status, Status::Pending);
}

fn only_for_the_card(client: &Client) {
    let (card, other) = (client.put_one(), client.put_one());
    client
        .decide(&card, client.verdict(&other, Answer::Allow))
        .refuses(Code::Verdict);
    let renamed = Verdict {
        id: card.id.clone(),
        ..client.verdict(&other, Answer::Allow)
    };
    client.decide(&card, renamed).refuses(Code::Verdict);
    let mut shown = card.clone();
    shown.preview.head = "ls".into();
    client
        .decide(&card, client.verdict(&shown, Answer::Allow))
        .refuses(Code::Verdict);
    let signed = client
        .verdict(&card, Answer::Allow)
        .sign(&client.parties.device.pair())
        .expect("signed");
    client.hand_in(&card, &signed, &client.parties.device).request();
    client
        .hand_in(&other, &signed, &client.parties.device)
        .refuses(Code::Verdict);
    assert_eq!(
        client.get(&other, "").request().status,
        Status::Pending,
        "what was given before counts for no other"
    );
}

fn no_changed_verdicts(client: &Client) {
    let card = client.put_one();
    let device = &client.parties.device;
    let signed = client
        .verdict(&card, Answer::Deny)
        .sign(&device.pair())
        .expect("signed");
    let mut turned = signed.clone();
    turned.verdict.answer = Answer::Allow;
    let mut later = signed.clone();
    later.verdict.decided_at += 1;
    let mut noted = signed.clone();
    noted.verdict.note = Some("and more".into());
    let mut stranger = signed.clone();
    stranger.sig.kid = "0".repeat(32);
    let mut short = signed.clone();
    short.sig.value.truncate(126);
    let mut empty = signed.clone();
    empty.sig.value.clear();
    let mut zero = signed.clone();
    zero.sig.value = "0".repeat(128);
    let mut flipped = signed.clone();
    let last = if flipped.sig.value.ends_with('0') { "1" } else { "0" };
    flipped.sig.value.replace_range(127.., last);
    for wrong in [turned, later, noted, stranger, short, empty, zero, flipped] {
        client.hand_in(&card, &wrong, device).refuses(Code::Verdict);
    }
    assert_eq!(client.get(&card, "").request().status, Status::Pending);
}

fn no_other_signature(client: &Client) {
    let card = client.put_one();
    let pair = client.parties.device.pair();
    let verdict = client.verdict(&card, Answer::Allow);
    let untagged = canonical::bytes(&verdict).expect("bytes");
    let as_card = canonical::tagged(card::TAG, &verdict).expect("bytes");
    for bytes in [untagged, as_card] {
        let wrong = SignedVerdict {
            verdict: verdict.clone(),
            sig: pair.sign(&bytes).expect("a signature"),
        };
        client
            .hand_in(&card, &wrong, &client.parties.device)
            .refuses(Code::Verdict);
    }
}

/// Puts the card, expects the changed verdicts on it to be refused, and the last one to be taken.
fn fitting(client: &Client, card: &Card, wrong: &[fn(&mut Verdict)], right: fn(&mut Verdict)) {
    client.put(card);
    for change in wrong {
        let mut verdict = client.verdict(card, Answer::Allow);
        change(&mut verdict);
        let shown = format!("{verdict:?}");
        let reply = client.decide(card, verdict);
        assert_eq!(reply.error(), Some(Code::Verdict), "{shown}: {reply:?}");
    }
    assert_eq!(client.get(card, "").request().status, Status::Pending);
    let mut verdict = client.verdict(card, Answer::Allow);
    right(&mut verdict);
    assert_eq!(client.decide(card, verdict).request().status, Status::Decided);
}

fn only_fitting_verdicts(client: &Client) {
    let mut card = client.card();
    card.offers = vec![offer()];
    let wrong: &[fn(&mut Verdict)] = &[
        |verdict| verdict.v = 2,
        |verdict| verdict.remember = Some(1),
        |verdict| verdict.input = Some("{}".into()),
        |verdict| verdict.answers = vec![Answered::Text("x".into())],
        |verdict| verdict.then = Some(Then::Auto),
        |verdict| verdict.stop = true,
        |verdict| verdict.note = Some("unheard".into()),
        |verdict| verdict.decided_at = card::MAX_TIME + 1,
        |verdict| (verdict.answer, verdict.remember) = (Answer::Deny, Some(0)),
        |verdict| (verdict.answer, verdict.note) = (Answer::Deny, Some(" ".into())),
        |verdict| (verdict.answer, verdict.note) = (Answer::Deny, Some("x".repeat(MAX_NOTE + 1))),
        |verdict| (verdict.answer, verdict.note, verdict.stop) = (Answer::Deny, Some("x".into()), true),
    ];
    fitting(client, &card, wrong, |verdict| verdict.remember = Some(0));
    let mut edited = client.card();
    edited.may_edit = true;
    let wrong: &[fn(&mut Verdict)] = &[
        |verdict| verdict.input = Some("ls".into()),
        |verdict| verdict.input = Some("[]".into()),
        |verdict| (verdict.answer, verdict.input) = (Answer::Deny, Some("{}".into())),
    ];
    fitting(client, &edited, wrong, |verdict| {
        verdict.input = Some(r#"{"command":"ls"}"#.into())
    });
    let mut critical = client.card();
    critical.tier = Tier::Critical;
    fitting(client, &critical, &[|verdict| verdict.remember = Some(0)], |_| ());
}

fn cut_cards(client: &Client) {
    let mut card = client.card();
    (card.preview.left_out, card.preview.tail) = (4096, "; rm -rf ~".into());
    let deny: fn(&mut Verdict) = |verdict| (verdict.answer, verdict.note) = (Answer::Deny, Some("too long".into()));
    fitting(client, &card, &[|_| ()], deny);
}

fn questions(client: &Client) {
    let choice = |label: &str| Choice {
        label: label.into(),
        description: String::new(),
        preview: None,
    };
    let question = |several| Question {
        text: "Which?".into(),
        header: "Choice".into(),
        options: vec![choice("a"), choice("b")],
        several,
    };
    let mut card = client.card();
    (card.kind, card.questions) = (Kind::Questions, vec![question(false), question(true)]);
    fn labels(labels: &[&str]) -> Answered {
        Answered::Labels(labels.iter().map(|label| (*label).to_owned()).collect())
    }
    let wrong: &[fn(&mut Verdict)] = &[
        |_| (),
        |verdict| verdict.answers = vec![labels(&["a"])],
        |verdict| verdict.answers = vec![labels(&["a", "b"]), labels(&["a"])],
        |verdict| verdict.answers = vec![labels(&["c"]), labels(&["a"])],
        |verdict| verdict.answers = vec![labels(&["a"]), labels(&[])],
        |verdict| verdict.answers = vec![labels(&["a"]), labels(&["b", "b"])],
        |verdict| verdict.answers = vec![labels(&["a"]), Answered::Text("\n".into())],
        |verdict| (verdict.answer, verdict.answers) = (Answer::Deny, vec![labels(&["a"]), labels(&["a"])]),
    ];
    let right: fn(&mut Verdict) = |verdict| verdict.answers = vec![Answered::Text("none".into()), labels(&["b", "a"])];
    fitting(client, &card, wrong, right);
}

fn plans(client: &Client) {
    let mut card = client.card();
    card.kind = Kind::Plan;
    let wrong: &[fn(&mut Verdict)] = &[
        |verdict| verdict.input = Some("{}".into()),
        |verdict| verdict.remember = Some(0),
        |verdict| (verdict.answer, verdict.then) = (Answer::Deny, Some(Then::AcceptEdits)),
    ];
    fitting(client, &card, wrong, |verdict| verdict.then = Some(Then::AcceptEdits));
    card.id = client.card().id;
    fitting(client, &card, &[], |verdict| {
        (verdict.answer, verdict.note) = (Answer::Deny, Some("test first".into()))
    });
}

fn broken_verdicts(client: &Client) {
    let card = client.put_one();
    let device = &client.parties.device;
    let signed = client
        .verdict(&card, Answer::Allow)
        .sign(&device.pair())
        .expect("signed");
    let whole = serde_json::to_string(&signed).expect("JSON");
    let mut bodies = ["", "[]", "{}", "null", r#"{"answer":"allow"}"#]
        .map(str::to_owned)
        .to_vec();
    for (from, to) in [
        (r#""answer":"allow""#, r#""answer":"maybe""#),
        (r#""answer":"allow""#, r#""answer":true"#),
        (r#""answer":"allow""#, r#""answer":"deny","answer":"allow""#),
        (r#""answer":"allow""#, r#""answer":{"allow":null}"#),
        (r#""v":1"#, r#""v":1,"forever":true"#),
        (r#""v":1"#, r#""v":1,"note":null"#),
        (r#""v":1"#, r#""v":1,"stop":false"#),
        (r#""sig":"#, r#""sign":"#),
    ] {
        bodies.push(replaced(&whole, from, to));
    }
    for body in bodies {
        let reply = client.hand_in_text(&card, body.as_bytes(), device);
        assert_eq!(reply.error(), Some(Code::Form), "{body}: {reply:?}");
    }
    assert_eq!(client.get(&card, "").request().status, Status::Pending);
}

fn taken_once(client: &Client) {
    let card = client.put_one();
    client.consume(&card).refuses(Code::Undecided);
    client.allow(&card).request();
    let taken = client.consume(&card).request();
    assert_eq!(taken.status, Status::Consumed);
    assert!(taken.verdict.is_some());
    client.consume(&card).refuses(Code::AlreadyConsumed);
    client.allow(&card).refuses(Code::AlreadyDecided);
}

fn given_again(client: &Client) {
    let (card, key) = (client.put_one(), "k".repeat(64));
    client.consume_with(&card, Some(&key)).refuses(Code::Undecided);
    client.allow(&card).request();
    let replies = at_once(8, |_| client.consume_with(&card, Some(&key)));
    let taken = replies[0].request();
    assert_eq!(taken.status, Status::Consumed);
    assert!(taken.verdict.is_some());
    for again in &replies {
        assert_eq!(again.request(), taken, "nothing has changed");
    }
    for other in [None, Some("k".repeat(63)), Some("K".repeat(64))] {
        client
            .consume_with(&card, other.as_deref())
            .refuses(Code::AlreadyConsumed);
    }
    let mut other_machine = client.clone();
    other_machine.parties.machine = client.parties.other_machine.clone();
    other_machine.consume_with(&card, Some(&key)).refuses(Code::Unknown);
    let other = client.put_one();
    client.allow(&other);
    client.consume(&other).request();
    client.consume_with(&other, Some(&key)).refuses(Code::AlreadyConsumed);
    client.report(&card, "ran");
    let later = client.consume_with(&card, Some(&key)).request();
    assert_eq!((later.verdict, later.outcome), (taken.verdict, Some(Outcome::Ran)));
}

fn taken_without_a_key(client: &Client) {
    let card = client.put_one();
    client.allow(&card);
    client.consume_with(&card, None).request();
    client.consume_with(&card, None).refuses(Code::AlreadyConsumed);
    client.consume(&card).refuses(Code::AlreadyConsumed);
}

fn keys_of_takings(client: &Client) {
    for length in [16, 128] {
        let card = client.put_one();
        client.allow(&card);
        for length in [0, 15, 129] {
            client
                .consume_with(&card, Some(&"k".repeat(length)))
                .refuses(Code::IdempotencyKey);
        }
        assert_eq!(client.get(&card, "").request().status, Status::Decided);
        let key = "k".repeat(length);
        for _ in 0..2 {
            client.consume_with(&card, Some(&key)).request();
        }
    }
}

fn decided_once(client: &Client) {
    let card = client.put_one();
    let device = &client.parties.device;
    let denied = client
        .verdict(&card, Answer::Deny)
        .sign(&device.pair())
        .expect("signed");
    client.hand_in(&card, &denied, device).request();
    client.allow(&card).refuses(Code::AlreadyDecided);
    client.hand_in(&card, &denied, device).refuses(Code::AlreadyDecided);
    assert_eq!(client.get(&card, "").request().verdict, Some(denied));
}

/// What each of so many gives that begin together.
fn at_once<T: Send>(number: usize, each: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let each = &each;
    thread::scope(|scope| {
        let begun: Vec<_> = (0..number).map(|number| scope.spawn(move || each(number))).collect();
        begun.into_iter().map(|one| one.join().expect("one of many")).collect()
    })
}

/// Exactly one is served, and every other is refused with this word.
#[track_caller]
fn one_is_served(replies: &[Reply], code: Code) {
    let served = replies.iter().filter(|reply| reply.status == 200).count();
    let refused = replies.iter().filter(|reply| reply.error() == Some(code)).count();
    assert_eq!((served, refused), (1, replies.len() - 1), "{replies:?}");
}

fn one_wins(client: &Client) {
    for _ in 0..5 {
        let card = client.put_one();
        let answer = |number: usize| [Answer::Allow, Answer::Deny][number % 2];
        let replies = at_once(8, |number| client.decide(&card, client.verdict(&card, answer(number))));
        one_is_served(&replies, Code::AlreadyDecided);
        let won = replies.iter().position(|reply| reply.status == 200).expect("one");
        let stands = client.get(&card, "").request().verdict.expect("a verdict");
        assert_eq!(stands.verdict.answer, answer(won));
        one_is_served(&at_once(8, |_| client.consume(&card)), Code::AlreadyConsumed);
    }
}

fn verdict_or_withdrawal(client: &Client) {
    for _ in 0..5 {
        let card = client.put_one();
        at_once(2, |number| match number {
            0 => client.allow(&card).status,
            _ => client.withdraw(&card, "answered_elsewhere").status,
        });
        // A decided request can be withdrawn, so it is in the end, whichever came first.
        assert_eq!(client.get(&card, "").request().status, Status::Withdrawn);
        let card = client.put_one();
        client.allow(&card);
        let statuses = at_once(2, |number| match number {
            0 => client.consume(&card).status,
            _ => client.withdraw(&card, "answered_elsewhere").status,
        });
        let stands = client.get(&card, "").request().status;
        let expected = if statuses[0] == 200 {
            Status::Consumed
        } else {
            Status::Withdrawn
        };
        assert_eq!(stands, expected, "{statuses:?}");
    }
}

fn taken_back(client: &Client) {
    let card = client.put_one();
    let back = client.withdraw(&card, "answered_elsewhere").request();
    assert_eq!(
        (back.status, back.why),
        (Status::Withdrawn, Some(Why::AnsweredElsewhere))
    );
    let again = client.withdraw(&card, "timeout").request();
    assert_eq!(again, back, "the first word stands");
    client.allow(&card).refuses(Code::Withdrawn);
    client.consume(&card).refuses(Code::Withdrawn);
}

fn taken_back_decided(client: &Client) {
    let decided = client.put_one();
    client.allow(&decided);
    assert_eq!(
        client.withdraw(&decided, "session_ended").request().status,
        Status::Withdrawn
    );
    client.consume(&decided).refuses(Code::Withdrawn);
    let taken = client.put_one();
    client.allow(&taken);
    client.consume(&taken);
    let late = client.withdraw(&taken, "timeout").request();
    assert_eq!((late.status, late.why), (Status::Consumed, None), "too late");
}

fn expires(client: &Client) {
    let short = |lives_for| {
        let mut card = client.card();
        card.lives_for = lives_for;
        client.put(&card);
        card
    };
    let (waiting, decided, taken) = (short(400), short(1_500), short(1_500));
    client.allow(&decided).request();
    client.allow(&taken).request();
    let key = "k".repeat(64);
    client.consume_with(&taken, Some(&key)).request();
    thread::sleep(Duration::from_millis(500));
    client.allow(&waiting).refuses(Code::Expired);
    client.consume(&waiting).refuses(Code::Expired);
    assert_eq!(client.get(&waiting, "").request().status, Status::Expired);
    assert!(!listed_ids(client).contains(&waiting.id));
    thread::sleep(Duration::from_millis(1_200));
    client.consume(&decided).refuses(Code::Expired);
    client.consume_with(&taken, Some(&key)).refuses(Code::AlreadyConsumed);
}

fn revisions(client: &Client) {
    let card = client.put_one();
    let mut known = client.get(&card, "").request().revision;
    assert_eq!(known, 1);
    let mut counts_up = |reply: Reply| {
        let revision = reply.request().revision;
        assert!(revision > known, "{revision} after {known}");
        known = revision;
    };
    counts_up(client.allow(&card));
    counts_up(client.consume(&card));
    counts_up(client.report(&card, "ran"));
}

fn listed_ids(client: &Client) -> Vec<String> {
    client
        .pending("")
        .requests
        .into_iter()
        .map(|request| request.id)
        .collect()
}

fn listed(client: &Client) {
    let first = client.put_one();
    thread::sleep(Duration::from_millis(20));
    let (others, machine) = (client.card(), &client.parties.other_machine);
    let signed = others.clone().sign(&machine.pair()).expect("signed");
    client.post(machine, &signed, &others.id).request();
    let ids = listed_ids(client);
    let at = |card: &Card| ids.iter().position(|id| *id == card.id);
    assert!(at(&first).is_some() && at(&first) < at(&others), "{ids:?}");
    let listed = client.pending("").requests;
    assert!(
        listed
            .iter()
            .all(|request| request.status == Status::Pending && request.verdict.is_none())
    );
    let other_device = client.send(&Call::new("GET", "/v1/pending", &client.parties.other_device));
    assert!(other_device.body["requests"].as_array().expect("a list").len() >= 2);
    client.deny(&first);
    client.deny(&others);
    let ids = listed_ids(client);
    assert!(!ids.contains(&first.id) && !ids.contains(&others.id));
}

fn held_list(client: &Client) {
    let card = client.put_one();
    let known = client.pending("").revision;
    let begun = Instant::now();
    let strange = client.pending(&format!("?wait=20&revision={}", known + 1_000_000));
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "who knows another revision is answered at once"
    );
    // What else changes at the relay answers the poll as well.
    let after = |revision: u64, wait: u64| client.pending(&format!("?wait={wait}&revision={revision}"));
    thread::scope(|scope| {
        let gone = scope.spawn(|| {
            let (mut revision, mut answers) = (strange.revision, 0);
            loop {
                let list = after(revision, 20);
                (revision, answers) = (list.revision, answers + 1);
                if list.requests.iter().all(|request| request.id != card.id) {
                    return answers;
                }
            }
        });
        thread::sleep(Duration::from_millis(300));
        client.withdraw(&card, "timeout").request();
        let changed = Instant::now();
        let answers = gone.join().expect("a list");
        assert!(changed.elapsed() < Duration::from_secs(5), "{:?}", changed.elapsed());
        assert!(answers <= 20, "{answers} answers to polls that should be held");
    });
    let is_held = |_| {
        let revision = client.pending("").revision;
        let begun = Instant::now();
        let same = after(revision, 1).revision == revision;
        same && (900..6_000).contains(&begun.elapsed().as_millis())
    };
    assert!((0..10).any(is_held), "no poll is held for the second that it asks for");
}

fn presence(client: &Client) {
    client.pending("");
    let presence = client.presence();
    assert!(
        presence.online >= 1 && presence.paired >= 2 && presence.online <= presence.paired,
        "{presence:?}"
    );
    client.send(&Call::new("GET", "/v1/pending", &client.parties.other_device));
    assert!(client.presence().online >= 2);
}

fn outcome_once(client: &Client) {
    for outcome in ["ran", "refused", "superseded", "unknown"] {
        let card = client.put_one();
        client.allow(&card);
        client.consume(&card);
        let noted = client.report(&card, outcome).request();
        assert_eq!(serde_json::to_value(noted.outcome).expect("a word"), outcome);
        let other = if outcome == "ran" { "refused" } else { "ran" };
        assert_eq!(
            client.report(&card, other).request().outcome,
            noted.outcome,
            "the first word stands"
        );
    }
    let back = client.put_one();
    client.withdraw(&back, "timeout");
    assert_eq!(
        client.report(&back, "refused").request().outcome,
        Some(Outcome::Refused)
    );
}

fn unknown_words(client: &Client) {
    let card = client.put_one();
    for word in ["because", "", "Timeout", "decided"] {
        client.withdraw(&card, word).refuses(Code::Form);
        client.report(&card, word).refuses(Code::Form);
    }
    let path = format!("/v1/requests/{}", card.id);
    for body in [
        "",
        "{}",
        "[\"timeout\"]",
        r#"{"why":"timeout","also":1}"#,
        r#"{"why":"timeout","why":"timeout"}"#,
    ] {
        let withdrawal = Call {
            body: body.as_bytes(),
            ..Call::new("DELETE", &path, &client.parties.machine)
        };
        client.send(&withdrawal).refuses(Code::Form);
    }
    assert_eq!(client.get(&card, "").request().status, Status::Pending);
}

fn health(client: &Client) {
    let reply = client.send(&Call {
        token: None,
        version: None,
        ..Call::new("GET", "/health", &client.parties.machine)
    });
    assert_eq!(reply.status, 200, "{reply:?}");
}

fn orphaned(client: &Client) {
    let mut card = client.card();
    card.lives_for = 600_000;
    client.put(&card);
    let mut kept = client.card();
    kept.lives_for = 600_000;
    client.put(&kept);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(75) {
        assert_eq!(client.get(&kept, "?wait=5").request().status, Status::Pending);
    }
    client.allow(&card).refuses(Code::Withdrawn);
    assert!(!listed_ids(client).contains(&card.id));
    let stands = client.get(&card, "").request();
    assert_eq!(
        (stands.status, stands.why),
        (Status::Withdrawn, Some(Why::SessionEnded))
    );
    client.allow(&kept).request();
}

fn gone_offline(client: &Client) {
    client.pending("");
    client.send(&Call::new("GET", "/v1/pending", &client.parties.other_device));
    let before = client.presence().online;
    let begun = Instant::now();
    while client.presence().online >= before {
        assert!(
            begun.elapsed() < Duration::from_secs(140),
            "still online after {:?}",
            begun.elapsed()
        );
        thread::sleep(Duration::from_secs(2));
    }
    assert!(
        begun.elapsed() > Duration::from_secs(100),
        "offline after {:?}",
        begun.elapsed()
    );
}

fn too_many_pending(client: &Client) {
    let machine = &client.parties.other_machine;
    let new = || client.card().sign(&machine.pair()).expect("signed");
    let put = |signed: &SignedCard| client.post(machine, signed, &signed.card.id);
    let mut waiting = Vec::new();
    let refused = loop {
        let signed = new();
        let reply = put(&signed);
        if reply.status != 201 {
            break reply;
        }
        waiting.push(signed);
        assert!(waiting.len() <= 1000, "a thousand requests of one machine wait");
    };
    refused.refuses(Code::TooManyPending);
    assert!(refused.retry_after.is_some(), "{refused:?}");
    assert!(waiting.len() >= 10, "no more than {} may wait", waiting.len());
    let again = put(&waiting[0]);
    assert_eq!(again.status, 200, "what is there already is not one more");
    client.put_one();
    let mut other = client.clone();
    other.parties.machine = machine.clone();
    other.withdraw(&waiting[0].card, "timeout").request();
    let last = new();
    assert_eq!(put(&last).status, 201, "there is room again");
    waiting.push(last);
    for signed in waiting {
        other.withdraw(&signed.card, "timeout");
    }
}

fn too_often(client: &Client) {
    let hasty = Call::new("GET", "/v1/presence", &client.parties.other_machine);
    let begun = Instant::now();
    let refused = |_| loop {
        let reply = client.once(&hasty);
        if reply.status != 200 || begun.elapsed() > Duration::from_secs(30) {
            return reply;
        }
    };
    for reply in at_once(8, refused) {
        reply.refuses(Code::Rate);
        let after = reply.retry_after.expect("Retry-After");
        assert!((1..=60).contains(&after), "{after} s");
    }
    let other = Call::new("GET", "/v1/presence", &client.parties.machine);
    assert_eq!(client.once(&other).status, 200, "another's haste is not one's own");
    let after = refused(0).retry_after.expect("Retry-After");
    thread::sleep(Duration::from_secs(after));
    assert_eq!(client.once(&hasty).status, 200, "after the time that it named");
}
