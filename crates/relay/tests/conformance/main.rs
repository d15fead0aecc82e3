//! The protocol, as any relay must speak it: each check talks HTTP to a base URL and knows nothing else of the relay.
//!
//! Without COUNTERSIGN_RELAY_URL the checks run against this repository's relay, on SQLite and on PostgreSQL, started
//! here. With it they run against that relay, which must know the parties of the directory that COUNTERSIGN_RELAY_CLIENTS
//! names; docs/protocol.md says how. COUNTERSIGN_RELAY_SLOW=1 adds what takes minutes.

#[path = "../shared/card.rs"]
mod card;
mod checks;
mod client;
#[path = "../shared/postgres.rs"]
mod postgres;
mod server;
#[path = "../shared/serving.rs"]
mod serving;

use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::PoisonError;

use client::{Client, Parties};
use countersign_protocol::Code;
use server::Server;

/// Runs every check, and names those that fail.
fn all(client: &Client) {
    let mut failed = Vec::new();
    let slow = env::var_os("COUNTERSIGN_RELAY_SLOW").is_some();
    for (promise, check) in checks::ALL
        .iter()
        .chain(checks::SLOW.iter().filter(|_| slow))
        .chain(checks::LAST)
    {
        println!("  {promise}");
        if catch_unwind(AssertUnwindSafe(|| check(client))).is_err() {
            failed.push(*promise);
        }
    }
    if !slow {
        let skipped: Vec<&str> = checks::SLOW.iter().map(|(promise, _)| *promise).collect();
        println!("  not checked without COUNTERSIGN_RELAY_SLOW=1: {}", skipped.join("; "));
    }
    assert!(failed.is_empty(), "the relay does not keep:\n  {}", failed.join("\n  "));
    let seen = client.seen.lock().unwrap_or_else(PoisonError::into_inner);
    // Nobody can fill a relay's disk from outside.
    let unseen: Vec<&Code> = Code::ALL
        .iter()
        .filter(|code| **code != Code::Unavailable && !seen.contains(code))
        .collect();
    assert!(unseen.is_empty(), "no check has been refused with {unseen:?}");
}

#[test]
fn another_relay_speaks_the_protocol() {
    let Ok(base) = env::var("COUNTERSIGN_RELAY_URL") else {
        println!("nothing is shown: COUNTERSIGN_RELAY_URL names no other relay");
        return;
    };
    let dir = env::var("COUNTERSIGN_RELAY_CLIENTS").expect("COUNTERSIGN_RELAY_CLIENTS names a directory");
    let Some(parties) = Parties::of_dir(Path::new(&dir)) else {
        panic!("tell the relay of the parties in {dir}/clients.json, which are new, and run this again");
    };
    all(&Client::new(&base, &parties));
}

#[test]
fn this_relay_speaks_the_protocol_on_sqlite() {
    let server = Server::on_sqlite();
    all(&server.client());
}

#[test]
fn this_relay_speaks_the_protocol_on_postgresql() {
    let Some(database) = postgres::Database::start() else {
        return;
    };
    let server = Server::on_postgresql(&database);
    all(&server.client());
}

#[test]
fn a_request_survives_the_end_of_the_relay_however_it_ends() {
    for kill in [true, false] {
        let mut server = Server::on_sqlite();
        let client = server.client();
        let (card, waits, back) = (client.put_one(), client.put_one(), client.put_one());
        client.allow(&card);
        client.withdraw(&back, "superseded");
        server.restart(kill);
        let client = server.client();
        assert_eq!(client.get(&card, "").body["status"], "decided", "killed: {kill}");
        assert_eq!(client.get(&waits, "").body["status"], "pending", "killed: {kill}");
        client.consume(&card).request();
        server.restart(kill);
        let client = server.client();
        client.consume(&card).refuses(Code::AlreadyConsumed);
        client.allow(&back).refuses(Code::Withdrawn);
        client.allow(&waits).request();
    }
}
