//! What the hook sends is what the protocol says, and nothing else.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use countersign_protocol::canonical::sha256;
use serde_json::Value;

use crate::desk::Desk;
use crate::double::{Answer, Double, Seen, Step, http};
use crate::eventually::eventually;
use crate::home::{ALLOW, ASIDE, Running, with};

#[test]
fn every_request_names_the_version_and_the_machine_and_no_address_holds_a_secret() {
    let (home, double) = with(|turn| turn.honest());
    let mut hold = home.hold(10);
    let hold = hold.env("DEPLOY_TOKEN", "never-leaves-this-machine");
    let ran = Running::start(hold, &home.event("rm notes.txt")).end();
    assert_eq!(ran.said, ALLOW, "{ran:?}");
    let seen = double.seen();
    assert_eq!(seen.len(), 5);
    let card = double.card().expect("a card").card;
    for Seen { line, head, body, .. } in &seen {
        let bearer = format!("Bearer {}", home.token());
        assert!(
            head.contains(&bearer) && head.contains("countersign-protocol: 1"),
            "{head}"
        );
        assert!(!line.contains(home.token()) && !body.contains(home.token()), "{line}");
        assert!(!line.contains("notes") && !line.contains(&card.digest), "{line}");
        assert!(
            !format!("{head}{body}").contains("never-leaves-this-machine"),
            "{head}{body}"
        );
    }
    let path = |seen: &Seen| seen.line.split(' ').nth(1).unwrap_or_default().to_owned();
    let id = card.id;
    assert_eq!(path(&seen[0]), "/v1/presence");
    assert_eq!(path(&seen[1]), "/v1/requests");
    assert!(
        path(&seen[2]).starts_with(&format!("/v1/requests/{id}?wait=")),
        "{}",
        seen[2].line
    );
    assert_eq!(path(&seen[3]), format!("/v1/requests/{id}/consume"));
    assert_eq!(path(&seen[4]), format!("/v1/requests/{id}/outcome"));
    let outcome: Value = serde_json::from_str(&seen[4].body).expect("JSON");
    assert_eq!(outcome, serde_json::json!({"outcome": "ran"}));
}

#[test]
fn a_card_whose_arrival_is_not_known_is_put_again_with_the_same_key_and_the_same_bytes() {
    let (home, double) = with(|turn| match turn.step() {
        Step::Put if turn.before == 0 => Answer::Close,
        Step::Put if turn.before == 1 => Answer::refusal(503),
        Step::Put if turn.before == 2 => Answer::refusal(429),
        _ => turn.honest(),
    });
    let ran = Running::start(&mut home.hold(20), &home.event("rm notes.txt")).end();
    assert_eq!(ran.said, ALLOW, "{ran:?}");
    let puts = double.of(Step::Put);
    assert_eq!(puts.len(), 4);
    let keys: HashSet<_> = puts
        .iter()
        .map(|put| (put.header("idempotency-key"), &put.body))
        .collect();
    assert_eq!(keys.len(), 1);
    let card = double.card().expect("a card").card;
    let key = sha256(format!("{}\0{}", card.id, card.digest).as_bytes());
    assert_eq!(puts[0].header("idempotency-key"), Some(key.as_str()));
    for two in puts.windows(2) {
        let pause = two[1].at - two[0].at;
        assert!(pause >= Duration::from_millis(100), "{pause:?} between two tries");
    }
}

#[test]
fn a_verdict_whose_giving_is_lost_is_given_again_to_the_process_that_took_it_and_to_no_other() {
    type Loss = fn(&[u8]) -> Answer;
    let losses: [(&str, Loss); 5] = [
        ("closed", |_| Answer::Close),
        ("cut in its head", |given| Answer::Raw(given[..20].to_vec())),
        ("cut in its body", |given| {
            Answer::Raw(given[..given.len() - 5].to_vec())
        }),
        ("another's word", |_| Answer::Raw(http("502 Bad Gateway", "", ""))),
        ("silence", |_| Answer::Silence),
    ];
    for (what, loss) in losses {
        let desk = Desk::new();
        let (thief, sent_away) = (desk.thief(), Arc::new(AtomicUsize::new(0)));
        let count = Arc::clone(&sent_away);
        let double = Double::before(desk.address, &desk.home.device, move |turn| match turn.honest() {
            Answer::Raw(given) if turn.step() == Step::Consume && turn.before < 2 => {
                thief.takes_nothing(&turn.card().card.id);
                count.fetch_add(1, Ordering::SeqCst);
                loss(&given)
            }
            answer => answer,
        });
        desk.by_way_of(&double);
        let running = Running::start(&mut desk.home.hold(60), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        assert_eq!(desk.approve(&id).status, Some(0), "{what}");
        let ran = running.end();
        assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{what}: {ran:?}");
        assert_eq!(desk.status(&id).as_deref(), Some("consumed"), "{what}");
        let takings = double.of(Step::Consume);
        let keys: HashSet<_> = takings.iter().map(|taking| taking.header("idempotency-key")).collect();
        assert_eq!((takings.len(), keys.len()), (3, 1), "{what}");
        assert!(
            keys.iter().all(|key| key.is_some_and(|key| key.len() == 64)),
            "{what}: {keys:?}"
        );
        assert_eq!(sent_away.load(Ordering::SeqCst), 2, "{what}");
        desk.thief().takes_nothing(&id);
    }
}

#[test]
fn two_hooks_of_one_call_ask_by_ids_of_their_own() {
    let (home, double) = with(|turn| turn.honest());
    for _ in 0..2 {
        let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
        assert_eq!(ran.said, ALLOW, "{ran:?}");
    }
    for step in [Step::Put, Step::Consume] {
        let seen = double.of(step);
        let keys: HashSet<_> = seen.iter().map(|seen| seen.header("idempotency-key")).collect();
        assert_eq!((seen.len(), keys.len()), (2, 2), "{step:?}");
    }
}

#[test]
fn where_the_network_cuts_what_lasts_the_polls_become_shorter() {
    let (home, double) = with(|turn| match turn.step() {
        Step::Poll => {
            std::thread::sleep(Duration::from_millis(2200));
            Answer::Close
        }
        _ => turn.honest(),
    });
    let running = Running::start(&mut home.hold(120), &home.event("rm notes.txt"));
    eventually("four polls", Duration::from_secs(30), || double.count(Step::Poll) > 3);
    running.terminate();
    assert_eq!(running.end().said, ASIDE);
    let polls = double.of(Step::Poll);
    let waits: Vec<String> = polls
        .iter()
        .map(|poll| poll.line.split(['=', ' ']).nth(2).unwrap_or_default().to_owned())
        .collect();
    assert_eq!(waits[..4], ["25", "10", "3", "3"]);
}

#[test]
fn a_relay_that_answers_at_once_that_nothing_has_changed_is_not_asked_without_rest() {
    let (home, double) = with(|turn| match turn.step() {
        Step::Poll => Answer::Json(200, turn.request("pending", None)),
        _ => turn.honest(),
    });
    let running = Running::start(&mut home.hold(60), &home.event("rm notes.txt"));
    eventually("a poll", Duration::from_secs(20), || double.count(Step::Poll) > 0);
    std::thread::sleep(Duration::from_secs(2));
    let polls = double.count(Step::Poll);
    assert!(polls <= 14, "{polls} polls in two seconds");
    running.terminate();
    assert_eq!(running.end().said, ASIDE);
    let last = double.seen().pop().expect("a request");
    assert_eq!(last.step, Step::Withdraw);
    assert_eq!(last.body, r#"{"why":"answered_elsewhere"}"#);
}
