//! A person answers at a second terminal: real processes, at this repository's relay on SQLite.

mod asked;
#[path = "../shared/card.rs"]
mod card;
#[path = "../shared/http.rs"]
mod http;
#[path = "../../../../tests/support/pty.rs"]
mod pty;
#[path = "../shared/serving.rs"]
mod serving;
mod support;

use countersign_protocol::card::{Offer, Scope, Tier};
use countersign_protocol::keys::{Algorithm, KeyPair};
use countersign_protocol::verdict::Answer;
use serde_json::Value;
use support::{Desk, card, cut_card, is_obeyed, nasty_card};

#[test]
fn nothing_waits_is_said_and_has_a_status_of_its_own() {
    Desk::new().run(&["pending"]).fails(3, "Nothing waits");
}

#[test]
fn what_waits_is_shown_a_line_each_the_oldest_first() {
    let desk = Desk::new();
    let first = desk.put(card());
    // The relay's clock tells them apart by the millisecond.
    std::thread::sleep(std::time::Duration::from_millis(10));
    let second = desk.put(card());
    let shown = desk.run(&["pending"]);
    shown.says("high      laptop  shop  01234567  Bash  deletes notes.txt  (asked ");
    let ids: Vec<&str> = shown.said.lines().map(|line| &line[..8]).collect();
    assert_eq!(ids, [&first.card.id[..8], &second.card.id[..8]]);
}

#[test]
fn what_waits_is_written_as_json_for_programs() {
    let desk = Desk::new();
    let put = desk.put(card());
    let shown = desk.run(&["pending", "--json"]);
    let object: Value = serde_json::from_str(&shown.said).expect("one object");
    assert_eq!(object["id"], put.card.id.as_str());
    assert_eq!(object["digest"], put.card.sha256().expect("a digest").as_str());
    assert_eq!(object["card"]["preview"]["head"], "rm notes.txt");
}

#[test]
fn an_approval_shows_the_whole_card_and_is_signed_for_it() {
    let desk = Desk::new();
    let mut asked = card();
    asked.preview.head = "rm notes.txt\necho done".into();
    let put = desk.put(asked);
    let ran = desk.run(&["approve", &put.card.id[..6], "--yes"]);
    for words in [
        "rm notes.txt",
        "echo done",
        "it loses work",
        "/home/dev/shop",
        "Allowed: Bash",
    ] {
        ran.says(words);
    }
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
}

#[test]
fn a_denial_carries_its_words_or_ends_the_turn() {
    let desk = Desk::new();
    let (one, other) = (desk.put(card()), desk.put(card()));
    desk.run(&["deny", &one.card.id, "--message", "use git rm"])
        .says("Denied: Bash");
    let verdict = desk.verdict(&one);
    assert_eq!(
        (verdict.answer, verdict.note.as_deref()),
        (Answer::Deny, Some("use git rm"))
    );
    desk.run(&["deny", &other.card.id, "--stop"]).says("Denied");
    assert!(desk.verdict(&other).stop);
}

#[test]
fn a_card_of_a_machine_that_is_not_known_is_shown_by_its_id_alone_and_cannot_be_answered() {
    let desk = Desk::new();
    let put = desk.put(card());
    desk.write_terminal(&KeyPair::generate(Algorithm::Ed25519).expect("a key").public().key);
    let shown = desk.run(&["pending"]);
    shown.says("a request that no machine you know has signed");
    let json = desk.run(&["pending", "--json"]);
    json.says("\"verified\":false");
    for ran in [shown, json] {
        assert!(!ran.said.contains("notes"), "{ran:?}");
    }
    for words in [["approve", &put.card.id, "--yes"], ["deny", &put.card.id, "--stop"]] {
        let ran = desk.run(&words);
        ran.fails(1, "no machine you know has signed");
        assert!(!ran.said.contains("notes"), "{ran:?}");
    }
    assert_eq!(desk.status(&put), "pending");
}

#[test]
fn something_critical_is_never_allowed_by_an_option_alone() {
    let desk = Desk::new();
    let mut asked = card();
    asked.tier = Tier::Critical;
    let put = desk.put(asked);
    desk.run(&["approve", &put.card.id, "--yes"])
        .fails(1, "you cannot be asked");
    assert_eq!(desk.status(&put), "pending");
}

#[test]
fn a_cut_card_can_be_denied_and_not_allowed() {
    let desk = Desk::new();
    let put = desk.put(cut_card(4096));
    desk.run(&["approve", &put.card.id, "--yes"])
        .fails(1, "can only be denied");
    assert_eq!(desk.status(&put), "pending");
    desk.run(&["deny", &put.card.id]).says("Denied");
}

#[test]
fn an_approval_can_be_bound_to_the_card_that_was_seen() {
    let desk = Desk::new();
    let put = desk.put(card());
    let other = "0".repeat(64);
    desk.run(&["approve", &put.card.id, "--yes", "--digest", &other])
        .fails(1, "this is another card");
    assert_eq!(desk.status(&put), "pending");
    let digest = put.card.sha256().expect("a digest");
    desk.run(&["approve", &put.card.id, "--yes", "--digest", &digest])
        .says("Allowed");
}

#[test]
fn only_what_the_card_offers_is_remembered() {
    let desk = Desk::new();
    let mut asked = card();
    let words = "rm of notes.txt".to_owned();
    let offer = |scope| Offer {
        words: words.clone(),
        scope,
    };
    asked.offers = vec![offer(Scope::Session), offer(Scope::User)];
    let put = desk.put(asked);
    for none in ["0", "3"] {
        desk.run(&["approve", &put.card.id, "--yes", "--remember", none])
            .fails(1, "2 offers to remember");
    }
    let ran = desk.run(&["approve", &put.card.id, "--yes", "--remember", "2"]);
    ran.says("--remember 1: rm of notes.txt, for this session");
    assert_eq!(desk.verdict(&put).remember, Some(1));
}

#[test]
fn digits_that_name_none_or_several_or_are_too_few_answer_nothing() {
    let desk = Desk::new();
    let named = |id: String| {
        let mut asked = card();
        asked.id = id;
        desk.put(asked)
    };
    let (one, other) = (
        named(format!("abcdef01{}", "0".repeat(24))),
        named(format!("abcdef01{}", "1".repeat(24))),
    );
    let yes = |id: &str| desk.run(&["approve", id, "--yes"]);
    yes("abcdef").fails(1, "more than one request begins with abcdef");
    yes("abcde").fails(1, "names no request");
    yes("latest").fails(1, "names no request");
    yes("fedcba98").fails(3, "Nothing waits whose id begins with fedcba98");
    assert_eq!(
        (desk.status(&one), desk.status(&other)),
        ("pending".into(), "pending".into())
    );
    desk.run(&["pending"]).says("abcdef011  ");
    yes("ABCDEF011").says("Allowed");
    assert_eq!(
        (desk.status(&one), desk.status(&other)),
        ("pending".into(), "decided".into())
    );
}

#[test]
fn of_two_terminals_at_once_one_wins_and_the_other_is_told() {
    let desk = Desk::new();
    let put = desk.put(card());
    let words: [&[&str]; 2] = [&["approve", &put.card.id, "--yes"], &["deny", &put.card.id]];
    let ran = std::thread::scope(|scope| {
        let tries = words.map(|words| (0..3).map(|_| scope.spawn(|| desk.run(words))).collect::<Vec<_>>());
        let ends = tries.into_iter().flatten().map(|one| one.join().expect("a try"));
        ends.collect::<Vec<_>>()
    });
    let won = ran.iter().filter(|ran| ran.status == 0).count();
    assert_eq!(won, 1, "{ran:?}");
    for lost in ran.iter().filter(|ran| ran.status != 0) {
        assert!(
            lost.status == 3 && lost.errors.contains("it was answered")
                || lost.status == 1 && lost.errors.contains("Too late: it was decided already, by approver, "),
            "{lost:?}"
        );
    }
}

#[test]
fn what_was_taken_back_cannot_be_answered() {
    let desk = Desk::new();
    let put = desk.put(card());
    desk.withdraw(&put);
    desk.run(&["approve", &put.card.id, "--yes"]).fails(3, "was taken back");
}

#[test]
fn the_agents_own_shell_allows_nothing_and_may_deny() {
    let desk = Desk::new();
    let put = desk.put(card());
    let mut command = desk.command(&["approve", &put.card.id, "--yes"]);
    let output = command.env("CLAUDECODE", "1").output().expect("it runs");
    let errors = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        !output.status.success() && errors.contains("CLAUDECODE is set"),
        "{errors}"
    );
    assert_eq!(desk.status(&put), "pending");
    let mut command = desk.command(&["deny", &put.card.id]);
    assert!(command.env("CLAUDECODE", "1").status().expect("it runs").success());
}

#[test]
fn what_an_agent_wrote_is_shown_and_not_obeyed() {
    let desk = Desk::new();
    let put = desk.put(nasty_card());
    for words in [
        vec!["pending"],
        vec!["pending", "--json"],
        vec!["approve", &put.card.id, "--yes"],
    ] {
        let ran = desk.run(&words);
        assert_eq!(ran.status, 0, "{ran:?}");
        assert!(!ran.said.contains(is_obeyed), "{ran:?}");
    }
}

#[test]
fn a_relay_that_is_down_a_token_that_is_revoked_and_no_relay_at_all_are_told_apart() {
    let mut desk = Desk::new();
    let put = desk.put(card());
    desk.introduce(false);
    pty::wait_for("the terminal is struck", || {
        desk.run(&["pending"]).errors.contains("the relay refuses")
    });
    desk.run(&["approve", &put.card.id, "--yes"])
        .fails(1, "the relay refuses");
    assert_eq!(desk.status(&put), "pending");
    desk.stop();
    desk.run(&["approve", &put.card.id, "--yes"])
        .fails(1, "the relay does not answer");
    desk.forget_terminal();
    desk.run(&["pending"]).fails(1, "countersign relay on");
}
