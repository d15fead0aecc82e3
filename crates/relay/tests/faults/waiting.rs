//! What comes to hold while a call waits: nothing is let through that was not shown, and nothing that policy has come to
//! refuse.

use std::fs;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use countersign::pause;
use countersign_protocol::SignedVerdict;
use countersign_protocol::verdict::{Answer as Says, Verdict};
use serde_json::{Value, json};

use crate::desk::{Gate, When};
use crate::double::{Answer, Double, Step, Turn};
use crate::eventually::eventually;
use crate::home::{ALLOW, ASIDE, BLOCK, Home, Ran, Running, stays_open, with};

const WITHIN: Duration = Duration::from_secs(15);

/// A person who allows everything once something was done meanwhile.
fn allowed_after(command: &str, meanwhile: impl Fn(&Home)) -> (Home, Double, Ran) {
    let gate = Gate::at(Step::Poll, When::Sent);
    let at = Arc::clone(&gate);
    let (home, double) = with(move |turn| at.answer(turn));
    let running = Running::start(&mut home.hold(20), &home.event(command));
    eventually("a poll", Duration::from_secs(20), || gate.is_reached());
    meanwhile(&home);
    gate.open(false);
    let ran = running.end();
    (home, double, ran)
}

fn configure(home: &Home, text: &str) {
    let dir = home.path().join(".config/countersign");
    fs::create_dir_all(&dir).expect("a directory");
    fs::write(dir.join("config.toml"), text).expect("a configuration");
}

/// The cards that were put, in their order.
fn cards(double: &Double) -> Vec<Value> {
    let puts = double.of(Step::Put);
    puts.iter()
        .map(|put| serde_json::from_str::<Value>(&put.body).expect("JSON")["card"].clone())
        .collect()
}

fn edited(turn: &Turn, command: &str) -> SignedVerdict {
    let verdict = Verdict {
        input: Some(json!({"command": command}).to_string()),
        ..turn.verdict(Says::Allow)
    };
    verdict.sign(turn.device).expect("a signature")
}

#[test]
fn a_call_that_waits_and_is_allowed_is_let_through_as_it_was_shown() {
    let (_home, double, ran) = allowed_after("truncate -s 0 notes.txt", |_| {});
    assert_eq!(ran.said, ALLOW, "{ran:?}");
    assert_eq!(cards(&double).len(), 1);
}

#[test]
fn a_call_that_has_come_to_do_something_else_is_shown_again_before_it_is_let_through() {
    // Worse, and no worse but to another file.
    for target in [".bashrc", "shop/other.txt"] {
        let (home, double, ran) = allowed_after("truncate -s 0 notes.txt", |home| {
            let (notes, other) = (home.project().join("notes.txt"), home.path().join(target));
            fs::write(&other, "x").expect("a file");
            fs::remove_file(&notes).expect("removed");
            std::os::unix::fs::symlink(&other, &notes).expect("a link");
        });
        assert_eq!(ran.said, ALLOW, "{target}: {ran:?}");
        let cards = cards(&double);
        assert_eq!(cards.len(), 2, "{target}: {}", home.record());
        assert_ne!(cards[0]["id"], cards[1]["id"], "{target}");
        assert!(ran.errors.contains("asked again"), "{target}: {ran:?}");
        if target == ".bashrc" {
            assert_eq!(
                (&cards[0]["tier"], &cards[1]["tier"]),
                (&json!("high"), &json!("critical"))
            );
        }
    }
}

#[test]
fn a_rule_that_has_come_to_deny_the_call_wins_over_the_allow() {
    let rule = "[[rule]]\naction = \"deny\"\nprogram = \"rm\"\nreason = \"not today\"\n";
    let (home, _double, ran) = allowed_after("rm notes.txt", |home| configure(home, rule));
    assert!(ran.said.contains(r#""behavior":"deny""#), "{ran:?} {}", home.record());
}

#[test]
fn a_configuration_that_has_come_to_be_unreadable_lets_nothing_through() {
    let (home, _double, ran) = allowed_after("rm notes.txt", |home| configure(home, "[[rule]\n"));
    assert!(ran.said == BLOCK || ran.said == ASIDE, "{ran:?} {}", home.record());
}

#[test]
fn a_freeze_while_a_call_waits_denies_it() {
    let (home, _double, ran) = allowed_after("rm notes.txt", |home| {
        pause::freeze(&home.state().join("switches"), SystemTime::now(), Some("stop")).expect("frozen");
    });
    assert!(
        ran.said.contains(r#""behavior":"deny""#) && ran.said.contains("frozen"),
        "{ran:?}"
    );
    assert_eq!(home.record()["action"], "deny");
}

#[test]
fn whoever_switches_countersign_off_while_a_call_waits_takes_it_back() {
    let (home, _double, ran) = allowed_after("rm notes.txt", |home| {
        pause::start(&home.state().join("switches"), None).expect("off");
    });
    assert_eq!(ran.said, ASIDE, "{ran:?} {}", home.record());
}

#[test]
fn a_relay_that_is_turned_off_while_a_call_waits_answers_it_no_more() {
    let (home, _double, ran) = allowed_after("rm notes.txt", |home| {
        fs::rename(
            home.relay_dir().join("machine.json"),
            home.relay_dir().join("machine.off.json"),
        )
        .expect("off");
    });
    stays_open(
        "off",
        &home,
        &ran,
        Duration::from_secs(25),
        &["the relay was turned off"],
    );
}

#[test]
fn an_edited_input_is_judged_and_shown_again_and_only_a_second_allow_lets_it_through() {
    let (home, double) = with(|turn| {
        let card = turn.step() != Step::Presence && turn.step() != Step::Put && turn.card().card.edited;
        match turn.step() {
            Step::Poll if !card => Answer::Json(200, turn.request("decided", Some(&edited(turn, "rm -f notes.txt")))),
            Step::Consume if !card => {
                Answer::Json(200, turn.request("consumed", Some(&edited(turn, "rm -f notes.txt"))))
            }
            _ => turn.honest(),
        }
    });
    let ran = Running::start(&mut home.hold(20), &home.event("rm notes.txt")).end();
    assert!(
        ran.said.contains(r#""updatedInput":{"command":"rm -f notes.txt"}"#),
        "{ran:?}"
    );
    let cards = cards(&double);
    assert_eq!(cards.len(), 2);
    assert_eq!(
        (&cards[1]["edited"], &cards[1]["preview"]["head"]),
        (&json!(true), &json!("rm -f notes.txt"))
    );
    assert_ne!(cards[0]["digest"], cards[1]["digest"]);
    assert!(
        cards[1].get("offers").is_none(),
        "nothing is remembered for an input that is not the agent's"
    );
    let superseded = double.seen().into_iter().any(|seen| seen.body.contains("superseded"));
    assert!(superseded);
}

#[test]
fn the_answer_that_has_edited_an_input_is_not_taken_for_the_second() {
    let first: std::sync::Mutex<Option<SignedVerdict>> = std::sync::Mutex::default();
    let (home, _double) = with(move |turn| {
        let mut first = first.lock().expect("what is kept");
        match turn.step() {
            Step::Poll | Step::Consume => {
                let verdict = first.get_or_insert_with(|| edited(turn, "rm -f notes.txt")).clone();
                let status = if turn.step() == Step::Poll {
                    "decided"
                } else {
                    "consumed"
                };
                Answer::Json(200, turn.request(status, Some(&verdict)))
            }
            _ => turn.honest(),
        }
    });
    let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
    stays_open(
        "edited once",
        &home,
        &ran,
        WITHIN,
        &["another question than the one that was asked"],
    );
}

#[test]
fn an_edited_input_that_policy_denies_is_denied_and_one_that_is_no_input_is_no_decision() {
    let rule = "[[rule]]\naction = \"deny\"\nprogram = \"shred\"\nreason = \"never\"\n";
    for (input, denied) in [
        (r#"{"command":"shred notes.txt"}"#, true),
        (r#"{"command":["shred"]}"#, false),
    ] {
        let (home, _double) = with(move |turn| {
            let change = || {
                let verdict = Verdict {
                    input: Some(input.into()),
                    ..turn.verdict(Says::Allow)
                };
                verdict.sign(turn.device).expect("a signature")
            };
            match turn.step() {
                Step::Poll => Answer::Json(200, turn.request("decided", Some(&change()))),
                Step::Consume => Answer::Json(200, turn.request("consumed", Some(&change()))),
                _ => turn.honest(),
            }
        });
        configure(&home, rule);
        let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
        match denied {
            true => assert!(ran.said.contains(r#""behavior":"deny""#), "{input}: {ran:?}"),
            false => stays_open(input, &home, &ran, WITHIN, &["the edited input is none"]),
        }
    }
}

#[test]
fn a_tier_below_relay_from_is_left_to_the_hosts_dialog_and_nobody_is_asked() {
    let (home, double) = with(|turn| turn.honest());
    configure(&home, "[relay]\nfrom = \"critical\"\n");
    let ran = Running::start(&mut home.hold(10), &home.event("rm notes.txt")).end();
    assert_eq!(ran.said, BLOCK, "{ran:?}");
    assert_eq!(double.seen().len(), 0);
}

#[test]
fn a_subagents_call_waits_for_subagent_wait_and_no_longer() {
    let (home, double) = with(|turn| match turn.step() {
        Step::Poll => Answer::Json(200, turn.request("pending", None)),
        _ => turn.honest(),
    });
    let event = home
        .event("rm notes.txt")
        .replacen('{', r#"{"agent_id":"a1","agent_type":"general","#, 1);
    let ran = Running::start(&mut home.hold(20), &event).end();
    assert_eq!(
        (ran.said.as_str(), double.seen().len()),
        (BLOCK, 0),
        "by default for no time: {ran:?}"
    );
    configure(&home, "[relay]\nsubagent_wait = \"2s\"\n");
    let ran = Running::start(&mut home.hold(20), &event).end();
    stays_open(
        "a subagent's",
        &home,
        &ran,
        Duration::from_secs(9),
        &["nobody answered", "time for an answer"],
    );
    assert!(ran.took >= Duration::from_millis(1500), "{ran:?}");
    assert_eq!(double.count(Step::Withdraw), 1);
}

#[test]
fn somebody_who_sits_there_has_the_grace_to_themselves() {
    let (home, double) = with(|turn| turn.honest());
    configure(&home, "[relay]\ngrace = \"3s\"\n");
    let mut hold = home.hold(20);
    let running = Running::start(
        hold.env("CLAUDE_CODE_SESSION_ATTENDED", "1"),
        &home.event("rm notes.txt"),
    );
    std::thread::sleep(Duration::from_millis(1500));
    assert_eq!(double.seen().len(), 0);
    running.terminate();
    assert_eq!(running.end().said, ASIDE);
    assert_eq!(double.seen().len(), 0, "answered in the dialog, nobody else was asked");
}

#[test]
fn a_project_that_sets_where_the_relays_files_are_has_nothing_held() {
    let (home, double) = with(|turn| turn.honest());
    let inside = home.project().join("state");
    fs::create_dir_all(inside.join("countersign")).expect("a directory");
    let moved = inside.join("countersign/relay");
    fs::rename(home.relay_dir(), &moved).expect("moved");
    fs::create_dir_all(home.project().join(".claude")).expect("a directory");
    let settings = json!({"env": {"XDG_STATE_HOME": inside}});
    fs::write(home.project().join(".claude/settings.json"), settings.to_string()).expect("settings");
    let mut hold = home.hold(10);
    let ran = Running::start(hold.env("XDG_STATE_HOME", &inside), &home.event("rm notes.txt")).end();
    assert_eq!(ran.said, BLOCK, "{ran:?}");
    assert_eq!(double.seen().len(), 0);
}
