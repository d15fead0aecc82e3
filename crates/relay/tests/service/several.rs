//! Relays on one PostgreSQL, and a PostgreSQL that goes away.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::eventually::eventually;
use crate::http::get;
use crate::postgres::Database;
use crate::support::Home;

#[test]
fn what_one_relay_is_told_another_that_holds_the_poll_gives_at_once() {
    let Some(database) = Database::start() else { return };
    let (home, other) = (Home::on(), Home::on());
    let one = home.serve(&["--postgres", &database.address]);
    let clients = std::fs::read(home.dir().join("clients.json")).expect("the clients");
    std::fs::write(other.dir().join("clients.json"), clients).expect("the clients");
    let two = other.serve(&["--postgres", &database.address]);
    let (here, there) = (home.parties().at(&one.address), home.parties().at(&two.address));
    let card = here.put();
    assert_eq!(there.pending().body["requests"][0]["id"], json!(card.id));
    std::thread::scope(|scope| {
        let held = scope.spawn(|| {
            let reply = here.poll(&card, 25);
            (reply, Instant::now())
        });
        std::thread::sleep(Duration::from_millis(500));
        let told = Instant::now();
        assert_eq!(there.allow(&card).status, 200);
        let (reply, came) = held.join().expect("an answer");
        assert_eq!(reply.body["status"], "decided");
        assert!(
            came.duration_since(told) < Duration::from_secs(1),
            "{:?}",
            came.duration_since(told)
        );
    });
    let key = card.digest.as_str();
    let taken = [
        here.consume_with(&card, key).status,
        there.consume(&card).status,
        there.consume_with(&card, key).status,
    ];
    assert_eq!(taken, [200, 409, 200], "taken once, whichever relay is asked");
}

#[test]
fn a_database_that_goes_away_and_comes_back_is_used_again() {
    let Some(mut database) = Database::start() else { return };
    let home = Home::on();
    let serving = home.serve(&["--postgres", &database.address]);
    let parties = home.parties().at(&serving.address);
    let card = parties.put();
    database.stop();
    let health = || get(&parties.address, "/health").status;
    assert_eq!(parties.post(&parties.card()).body["error"], "unavailable");
    assert_eq!(health(), 503);
    database.again();
    eventually("it keeps again", Duration::from_secs(10), || health() == 200);
    assert_eq!(parties.poll(&card, 0).body["status"], "pending");
    std::thread::scope(|scope| {
        let held = scope.spawn(|| parties.poll(&card, 25));
        std::thread::sleep(Duration::from_millis(300));
        assert_eq!(parties.allow(&card).status, 200);
        assert_eq!(held.join().expect("an answer").body["status"], "decided");
    });
    assert_eq!(parties.consume(&card).status, 200);
}
