//! What the hook sends is what the protocol says, and nothing else.

use std::collections::HashSet;
use std::time::Duration;

use countersign_protocol::canonical::sha256;
use serde_json::Value;

use crate::double::{Answer, Seen, Step};
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
fn two_hooks_of_one_call_ask_by_ids_of_their_own() {
    let (home, double) = with(|turn| turn.honest());
    for _ in 0..2 {
        let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
        assert_eq!(ran.said, ALLOW, "{ran:?}");
    }
    let puts = double.of(Step::Put);
    let keys: HashSet<_> = puts.iter().map(|put| put.header("idempotency-key")).collect();
    assert_eq!((puts.len(), keys.len()), (2, 2));
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
