//! What the relay bears: `cargo bench -p countersign-relay --bench load`. It prints numbers and promises nothing.
//!
//! Against a release build of `countersign-relay` on loopback, on SQLite and on PostgreSQL where that is installed:
//! 10,000 held polls, what they cost in memory, and how long all of them take to hear of an answer; then whole requests
//! (put, decide, consume) one after another on many connections.

#[path = "../tests/shared/card.rs"]
mod card;
#[path = "../tests/shared/postgres.rs"]
mod postgres;
#[path = "../tests/shared/serving.rs"]
mod serving;

use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_protocol::Card;
use countersign_protocol::canonical::sha256;
use countersign_protocol::keys::{Algorithm, KeyPair, random_hex};
use countersign_protocol::verdict::{Answer, Verdict};
use serde_json::json;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

use card::card;
use serving::{ANYWHERE, RELAY, Serving};

/// Machines; each may have 200 pending requests, and 100 requests a second.
const MACHINES: usize = 64;
const HELD: usize = 10_000;
/// Connections that send whole requests.
const SENDERS: usize = 64;
const SENDS_FOR: Duration = Duration::from_secs(10);

struct Party {
    key: KeyPair,
    token: String,
}

struct Everybody {
    machines: Vec<Party>,
    devices: Vec<Party>,
}

fn main() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let dir = tempfile::tempdir().expect("a directory");
    println!("SQLite");
    runtime.block_on(bear(dir.path(), &[]));
    match postgres::Database::start() {
        Some(database) => {
            println!("PostgreSQL (its own fsync is off, as for a test)");
            let dir = tempfile::tempdir().expect("a directory");
            runtime.block_on(bear(dir.path(), &["--postgres", &database.address]));
        }
        None => println!("PostgreSQL is not installed; nothing is measured on it"),
    }
}

async fn bear(dir: &Path, more: &[&str]) {
    let all = Arc::new(everybody(dir));
    let relay = Serving::start(&mut Command::new(RELAY), ANYWHERE, dir, more);
    let address = relay.address.clone();
    let before = memory(&relay.child);

    let begun = Instant::now();
    let mut puts = tokio::task::JoinSet::new();
    for sender in 0..SENDERS {
        let (all, address) = (Arc::clone(&all), address.clone());
        puts.spawn(async move {
            let mut way = Way::to(&address).await;
            let mut put = Vec::new();
            for number in (sender..HELD).step_by(SENDERS) {
                let machine = number % MACHINES;
                put.push((machine, way.put(&all.machines[machine]).await));
            }
            put
        });
    }
    let put: Vec<(usize, Card)> = puts.join_all().await.into_iter().flatten().collect();
    println!(
        "  {HELD} puts: {:.0} a second",
        HELD as f64 / begun.elapsed().as_secs_f64()
    );
    let with_requests = memory(&relay.child);

    let begun = Instant::now();
    let mut polls = tokio::task::JoinSet::new();
    for (machine, card) in put.clone() {
        let (all, address) = (Arc::clone(&all), address.clone());
        polls.spawn(async move {
            let mut way = Way::to(&address).await;
            let token = &all.machines[machine].token;
            loop {
                let path = format!("/v1/requests/{}?wait=30", card.id);
                let answer = way.send("GET", &path, token, "", "").await;
                assert_eq!(answer.0, 200, "{}", answer.1);
                if answer.1.contains("\"status\":\"decided\"") {
                    return Instant::now();
                }
            }
        });
    }
    loop {
        let held = metric(&address, "held_polls").await;
        if held >= HELD as f64 {
            break;
        }
        assert!(
            begun.elapsed() < Duration::from_secs(60),
            "{held} polls are held after a minute"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    println!(
        "  {HELD} polls held {:.1} s after the first was sent",
        begun.elapsed().as_secs_f64()
    );
    tokio::time::sleep(Duration::from_secs(1)).await;
    let held = memory(&relay.child);
    println!(
        "  memory (RSS): {before} MiB at the start, {with_requests} MiB with {HELD} requests, {held} MiB with {HELD} polls held",
    );

    let begun = Instant::now();
    let mut decides = tokio::task::JoinSet::new();
    for sender in 0..SENDERS {
        let (all, address, put) = (Arc::clone(&all), address.clone(), put.clone());
        decides.spawn(async move {
            let mut way = Way::to(&address).await;
            for (_, card) in put.iter().skip(sender).step_by(SENDERS) {
                way.decide(&all.devices[sender], card).await;
            }
        });
    }
    decides.join_all().await;
    let decided = begun.elapsed();
    let heard = polls.join_all().await.into_iter().max().expect("polls");
    println!(
        "  all decided: {:.0} a second; the last poll heard {:.0} ms after the last decision",
        HELD as f64 / decided.as_secs_f64(),
        heard.saturating_duration_since(begun + decided).as_secs_f64() * 1000.0
    );

    let begun = Instant::now();
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..SENDERS {
        let (all, address) = (Arc::clone(&all), address.clone());
        senders.spawn(async move {
            let mut way = Way::to(&address).await;
            let (machine, device) = (&all.machines[sender], &all.devices[sender]);
            let mut times = Vec::new();
            while begun.elapsed() < SENDS_FOR {
                let start = Instant::now();
                let card = way.put(machine).await;
                way.decide(device, &card).await;
                let path = format!("/v1/requests/{}/consume", card.id);
                let key = format!("idempotency-key: {}\r\n", random_hex::<32>().expect("a key"));
                let answer = way.send("POST", &path, &machine.token, &key, "").await;
                assert_eq!(answer.0, 200, "{}", answer.1);
                times.push(start.elapsed());
                // As much as one client may send.
                tokio::time::sleep(Duration::from_millis(30).saturating_sub(start.elapsed())).await;
            }
            times
        });
    }
    let mut times: Vec<Duration> = senders.join_all().await.into_iter().flatten().collect();
    let took = begun.elapsed().as_secs_f64();
    times.sort();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1000.0;
    println!(
        "  put, decide and consume: {:.0} requests of the protocol a second ({:.0} whole); whole p50 {:.1} ms, p99 {:.1} ms",
        3.0 * times.len() as f64 / took,
        times.len() as f64 / took,
        at(0.5),
        at(0.99)
    );
}

fn everybody(dir: &Path) -> Everybody {
    let party = |_| Party {
        key: KeyPair::generate(Algorithm::Ed25519).expect("a key"),
        token: random_hex::<32>().expect("a token"),
    };
    let all = Everybody {
        machines: (0..MACHINES).map(party).collect(),
        devices: (0..SENDERS).map(party).collect(),
    };
    let client = |role: &str, number: usize, party: &Party| {
        let token = sha256(party.token.as_bytes());
        json!({"role": role, "name": format!("{role} {number}"), "key": party.key.public(), "token": token})
    };
    let machines = all
        .machines
        .iter()
        .enumerate()
        .map(|(number, party)| client("machine", number, party));
    let devices = all
        .devices
        .iter()
        .enumerate()
        .map(|(number, party)| client("approver", number, party));
    let clients: Vec<_> = machines.chain(devices).collect();
    std::fs::write(dir.join("clients.json"), json!(clients).to_string()).expect("the clients");
    all
}

/// The memory that the process holds, in MiB; 0 where the system does not say.
fn memory(process: &Child) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok())
        .unwrap_or_default()
        / 1024
}

async fn metric(address: &str, name: &str) -> f64 {
    let text = Way::to(address).await.send("GET", "/metrics", "", "", "").await.1;
    let line = text
        .lines()
        .find_map(|line| line.strip_prefix(&format!("countersign_relay_{name} ")));
    line.and_then(|value| value.parse().ok()).unwrap_or_default()
}

/// A connection that is kept.
struct Way(BufReader<TcpStream>);

impl Way {
    async fn to(address: &str) -> Way {
        loop {
            match TcpStream::connect(address).await {
                Ok(stream) => {
                    stream.set_nodelay(true).expect("no delay");
                    return Way(BufReader::new(stream));
                }
                // The queue of those who wait to be accepted is full.
                Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
            }
        }
    }

    async fn send(&mut self, method: &str, path: &str, token: &str, headers: &str, body: &str) -> (u16, String) {
        let length = body.len();
        let request = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\ncountersign-protocol: 1\r\nauthorization: Bearer {token}\r\n\
             {headers}content-length: {length}\r\n\r\n{body}"
        );
        self.0.write_all(request.as_bytes()).await.expect("it is sent");
        let (mut line, mut length, mut status) = (String::new(), 0, None);
        loop {
            line.clear();
            assert!(
                self.0.read_line(&mut line).await.expect("an answer") > 0,
                "the connection has ended"
            );
            let head = line.trim_end().to_ascii_lowercase();
            if head.is_empty() {
                break;
            }
            status = status.or_else(|| head.split(' ').nth(1)?.parse().ok());
            if let Some(value) = head.strip_prefix("content-length: ") {
                length = value.parse().expect("a length");
            }
        }
        let mut body = vec![0; length];
        self.0.read_exact(&mut body).await.expect("the body");
        (status.expect("a status"), String::from_utf8(body).expect("UTF-8"))
    }

    async fn put(&mut self, machine: &Party) -> Card {
        let card = Card {
            reasons: vec!["notes.txt is not tracked".into()],
            lives_for: 600_000,
            ..card()
        };
        let body = serde_json::to_string(&card.clone().sign(&machine.key).expect("a signed card")).expect("JSON");
        let key = format!("idempotency-key: {}\r\n", card.id);
        loop {
            let (status, said) = self.send("POST", "/v1/requests", &machine.token, &key, &body).await;
            match status {
                201 | 200 => return card,
                429 => tokio::time::sleep(Duration::from_millis(50)).await,
                other => panic!("{other}: {said}"),
            }
        }
    }

    async fn decide(&mut self, device: &Party, card: &Card) {
        let verdict = Verdict::new(card, Answer::Allow, 1_796_000_000_500).expect("a card");
        let body = serde_json::to_string(&verdict.sign(&device.key).expect("signed")).expect("JSON");
        let path = format!("/v1/requests/{}/decision", card.id);
        loop {
            let (status, said) = self.send("POST", &path, &device.token, "", &body).await;
            match status {
                200 => return,
                429 => tokio::time::sleep(Duration::from_millis(50)).await,
                other => panic!("{other}: {said}"),
            }
        }
    }
}
