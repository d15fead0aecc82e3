//! What the relay takes from whom, and what it says of it.

use std::io::Write;
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::eventually::eventually;
use crate::http::{answer, get, raw};
use crate::support::Home;

#[test]
fn every_answer_names_the_protocol_and_a_request_of_another_version_is_refused() {
    let home = Home::on();
    let parties = home.parties();
    let with = |version: &str| {
        let headers = format!(
            "host: {}\r\nauthorization: Bearer {}\r\n{version}",
            parties.address, parties.machine
        );
        raw(&parties.address, "GET", "/v1/presence", &headers, "")
    };
    for (version, status) in [
        ("countersign-protocol: 1\r\n", 200),
        ("countersign-protocol: 2\r\n", 426),
        ("", 426),
    ] {
        let reply = with(version);
        assert_eq!(reply.status, status, "{version}");
        assert!(reply.head.contains("countersign-protocol: 1\r\n"), "{}", reply.head);
    }
    for path in ["/v1/nothing", "/", "/v1/requests/%ff"] {
        let reply = parties.send("GET", path, &parties.machine, "", "");
        assert!(reply.status >= 400 && reply.body["error"].is_string(), "{reply:?}");
        assert!(reply.head.contains("countersign-protocol: 1"));
    }
}

#[test]
fn a_request_under_another_name_than_this_machines_is_refused() {
    let home = Home::on();
    let parties = home.parties();
    let under = |host: &str| {
        let headers = format!(
            "host: {host}\r\ncountersign-protocol: 1\r\nauthorization: Bearer {}\r\n",
            parties.terminal
        );
        raw(&parties.address, "GET", "/v1/pending", &headers, "").status
    };
    for own in ["localhost", "127.0.0.1:47163", "LOCALHOST:1", "[::1]:80", "127.9.9.9"] {
        assert_eq!(under(own), 200, "{own}");
    }
    for strange in [
        "evil.example",
        "evil.example:47163",
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "192.0.2.1",
        "",
    ] {
        assert!(under(strange) >= 400, "{strange}");
    }
}

#[test]
fn whoever_is_struck_from_the_clients_is_out_at_once_even_from_a_held_poll() {
    let home = Home::on();
    let parties = home.parties();
    let card = parties.put();
    let all = home.read("clients.json");
    std::thread::scope(|scope| {
        let held = scope.spawn(|| parties.poll(&card, 25));
        std::thread::sleep(Duration::from_millis(300));
        let rest = json!([all[1]]);
        std::fs::write(home.dir().join("clients.json"), rest.to_string()).expect("the clients");
        assert_eq!(parties.poll(&card, 0).status, 401);
        assert_eq!(parties.allow(&card).status, 200);
        assert_eq!(held.join().expect("an answer").status, 401);
    });
    std::fs::write(home.dir().join("clients.json"), "[").expect("the clients");
    assert_eq!(parties.pending().status, 401, "a file that cannot be read names nobody");
    std::fs::write(home.dir().join("clients.json"), all.to_string()).expect("the clients");
    assert_eq!(parties.consume(&card).status, 200);
}

#[test]
fn a_device_is_online_once_it_asks_and_gone_once_it_is_struck() {
    let home = Home::on();
    let parties = home.parties();
    assert_eq!(parties.presence(), json!({"paired": 1, "online": 0}));
    assert_eq!(parties.pending().status, 200);
    assert_eq!(parties.presence(), json!({"paired": 1, "online": 1}));
    let all = home.read("clients.json");
    std::fs::write(home.dir().join("clients.json"), json!([all[0]]).to_string()).expect("the clients");
    assert_eq!(parties.presence(), json!({"paired": 0, "online": 0}));
}

#[test]
fn a_client_that_asks_too_fast_is_told_when_to_go_on() {
    let home = Home::on();
    let parties = home.parties();
    let replies = (0..2000).map(|_| parties.send("GET", "/v1/presence", &parties.machine, "", ""));
    let refused = replies
        .into_iter()
        .find(|reply| reply.status != 200)
        .expect("a refusal");
    assert_eq!((refused.status, &refused.body["error"]), (429, &json!("rate")));
    assert!(refused.head.contains("retry-after: 1"), "{}", refused.head);
    assert_eq!(parties.pending().status, 200, "others are not held up");
}

#[test]
fn a_machine_has_two_hundred_pending_requests_and_not_one_more() {
    let home = Home::on();
    let parties = home.parties();
    let cards: Vec<_> = (0..200).map(|_| parties.put()).collect();
    let more = parties.card();
    let reply = parties.post(&more);
    assert_eq!((reply.status, &reply.body["error"]), (429, &json!("too_many_pending")));
    assert_eq!(parties.post(&cards[7]).status, 200, "what is there already is replayed");
    assert_eq!(parties.allow(&cards[0]).status, 200);
    assert_eq!(parties.post(&more).status, 201);
}

#[test]
fn who_says_nothing_or_drips_or_sends_too_much_is_cut_off_and_others_are_served() {
    let home = Home::on();
    let parties = home.parties();
    let open = |text: &str| {
        let mut stream = TcpStream::connect(&parties.address).expect("a connection");
        stream.write_all(text.as_bytes()).expect("a start");
        stream.set_read_timeout(Some(Duration::from_secs(40))).expect("a limit");
        stream
    };
    let head = format!(
        "POST /v1/requests HTTP/1.1\r\nhost: localhost\r\ncountersign-protocol: 1\r\nauthorization: Bearer {}\r\n\
         idempotency-key: 0123456789abcdef\r\n",
        parties.machine
    );
    let mut silent = open("");
    let mut half = open("GET /v1/pending HTTP/1.1\r\nhost: loc");
    let mut bodiless = open(&format!("{head}content-length: 1000\r\n\r\n{{"));
    let begun = Instant::now();
    let mut dripping = open("GET /health HTTP/1.1\r\n");
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while dripping.write_all(b"x: y\r\n").is_ok() && begun.elapsed() < Duration::from_secs(35) {
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        for _ in 0..20 {
            assert_eq!(parties.pending().status, 200);
        }
        assert_eq!(answer(&mut bodiless).status, 422, "after ten seconds");
        assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
        for stream in [&mut silent, &mut half] {
            assert!(matches!(answer(stream).status, 0 | 408), "it is closed");
        }
        assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    });
    assert!(
        begun.elapsed() < Duration::from_secs(33),
        "who drips is cut off too: {:?}",
        begun.elapsed()
    );

    let chunked = format!("{head}transfer-encoding: chunked\r\n\r\n");
    let mut bomb = open(&chunked);
    let chunk = format!("10000\r\n{}\r\n", "x".repeat(0x10000));
    let sent = (0..1000)
        .take_while(|_| bomb.write_all(chunk.as_bytes()).is_ok())
        .count();
    assert!(sent < 1000, "a body without end is not read to its end");
    let long = parties.send(
        "GET",
        "/health",
        &parties.machine,
        &format!("x: {}\r\n", "y".repeat(100_000)),
        "",
    );
    assert!(matches!(long.status, 0 | 431), "{}", long.status);
    let declared = parties.send(
        "POST",
        "/v1/requests",
        &parties.machine,
        "idempotency-key: 0123456789abcdef\r\n",
        &"x".repeat(300_000),
    );
    assert_eq!(declared.status, 413);
    assert_eq!(parties.pending().status, 200);
}

#[test]
fn the_log_and_the_metrics_say_what_happened_and_nothing_of_what_was_asked() {
    let home = Home::on();
    let parties = home.parties();
    let card = parties.put();
    parties.allow(&card);
    parties.consume(&card);
    parties.poll(&card, 1);
    parties.send(
        "GET",
        "/v1/requests/secret-path?wait=secret-query",
        &parties.machine,
        "",
        "",
    );
    parties.send("GET", "/v1/pending", "secret-token", "", "");
    let metrics = get(&parties.address, "/metrics").body;
    let metrics = metrics.as_str().expect("a text");
    for line in [
        "countersign_relay_requests_total{became=\"created\"} 1",
        "countersign_relay_requests_total{became=\"decided\"} 1",
        "countersign_relay_requests_total{became=\"consumed\"} 1",
        "countersign_relay_decision_seconds_count 1",
        "countersign_relay_refusals_total{error=\"token\"} 1",
        "countersign_relay_answers_total{route=\"/v1/requests\",status=\"201\"} 1",
        "countersign_relay_pending 0",
    ] {
        assert!(metrics.contains(line), "{line} is not in\n{metrics}");
    }
    let mut log = String::new();
    eventually("all is logged", Duration::from_secs(5), || {
        log = std::fs::read_to_string(home.dir().join("relay.log")).expect("a log");
        log.lines().count() >= 8
    });
    let lines = log
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str::<Value>(line).unwrap_or_else(|_| panic!("{line}")));
    let put = lines
        .into_iter()
        .find(|line| line["status"] == 201)
        .expect("the request");
    assert_eq!(
        (&put["method"], &put["route"]),
        (&json!("POST"), &json!("/v1/requests"))
    );
    for secret in [
        "the-words-of",
        "secret-",
        "notes.txt",
        "Bearer",
        "wait=",
        &parties.machine,
        &parties.terminal,
    ] {
        assert!(!log.contains(secret) && !metrics.contains(secret), "{secret}");
    }
}
