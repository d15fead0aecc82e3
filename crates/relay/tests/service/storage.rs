//! What the relay keeps, and what it does where it cannot.

use std::process::Command;
use std::time::Duration;

use serde_json::json;

use crate::eventually::eventually;
use crate::http::get;
use crate::serving::RELAY;
use crate::support::Home;

#[test]
fn with_no_room_to_write_it_says_so_and_goes_on_once_there_is() {
    let home = Home::on();
    // A limit on the size of files fails its writes as a full disk does, and can be lifted while it runs.
    let mut command = Command::new("sh");
    command
        .args(["-c", "trap '' XFSZ; ulimit -S -f 400; exec \"$0\" \"$@\"", RELAY])
        .env("HOME", home.0.path());
    let serving = home.serve_by(&mut command, &[]);
    let parties = home.parties().at(&serving.address);
    let kept = parties.put();
    let mut refused = None;
    for _ in 0..190 {
        let mut card = parties.card();
        card.preview.head = "x".repeat(20_000);
        let reply = parties.post(&card);
        if reply.status != 201 {
            refused = Some((card, reply));
            break;
        }
    }
    let (card, reply) = refused.expect("the limit is met");
    assert_eq!(
        (reply.status, &reply.body["error"]),
        (503, &json!("unavailable")),
        "{reply:?}"
    );
    let lifted = Command::new("prlimit")
        .args(["--fsize=unlimited", "--pid", &serving.child.id().to_string()])
        .status();
    assert!(lifted.expect("prlimit starts").success());
    assert_eq!(parties.post(&card).status, 201, "there is room again");
    assert_eq!(parties.allow(&kept).status, 200);
    assert_eq!(parties.consume(&kept).status, 200);
    assert_eq!(get(&parties.address, "/health").status, 200);
}

#[test]
fn a_damaged_database_is_not_served_from_and_what_to_do_is_said() {
    let home = Home::on();
    home.parties().put();
    home.done(&["off"]);
    let path = home.dir().join("relay.db");
    let database = rusqlite::Connection::open(&path).expect("the database");
    database
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .expect("all is in one file");
    drop(database);
    let sound = std::fs::read(&path).expect("the database");
    let mut scribbled = sound.clone();
    scribbled[4096..].fill(b'x');
    for damage in [b"this is no database at all ".repeat(100), scribbled] {
        std::fs::write(&path, damage).expect("damage");
        let output = home.run(&["on"]);
        assert!(!output.status.success());
        let dir = home.dir().display().to_string();
        let output = home.run(&["serve", "--listen", "127.0.0.1:0", "--dir", &dir]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && said.contains("move") && said.contains("relay.db"),
            "{said}"
        );
    }
    for file in ["relay.db", "relay.db-wal", "relay.db-shm"] {
        std::fs::remove_file(home.dir().join(file)).ok();
    }
    home.done(&["on"]);
    home.parties().put();
}

#[test]
fn a_request_survives_kill_9() {
    let home = Home::on();
    let parties = home.parties();
    let (waiting, decided) = (parties.put(), parties.put());
    assert_eq!(parties.allow(&decided).status, 200);
    home.signal("-KILL");
    // A process that was killed may take a moment to be gone.
    eventually("the relay goes on with it", Duration::from_secs(20), || {
        home.run(&["ensure"]);
        parties.poll(&waiting, 0).body["status"] == "pending"
    });
    assert_eq!(parties.consume(&decided).status, 200);
    assert_eq!(parties.consume(&decided).body["error"], "already_consumed");
}

#[test]
fn a_question_whose_time_has_passed_is_over_for_a_held_poll_at_once() {
    let home = Home::on();
    let parties = home.parties();
    let mut card = parties.card();
    card.lives_for = 1500;
    assert_eq!(parties.post(&card).status, 201);
    let begun = std::time::Instant::now();
    let reply = parties.poll(&card, 25);
    assert_eq!(reply.body["status"], "expired");
    assert!(begun.elapsed() < Duration::from_secs(5), "{:?}", begun.elapsed());
    assert_eq!(parties.allow(&card).body["error"], "expired");
    eventually("it is counted", Duration::from_secs(3), || {
        let metrics = get(&parties.address, "/metrics").body;
        metrics
            .as_str()
            .is_some_and(|text| text.contains("became=\"expired\"} 1"))
    });
}
