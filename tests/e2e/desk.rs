//! The second terminal of a session's user, with the relay of their machine turned on: what waits there, and the answers
//! given to it. The relay is the program that is built beside the product; it ends with the sandbox.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::sandbox::{COUNTERSIGN, Sandbox};

/// The product's program for the network.
const RELAY: &str = "countersign-relay";
/// How long something may take to come to wait, or to go.
const PATIENCE: Duration = Duration::from_secs(30);
const GLANCE: Duration = Duration::from_millis(40);

pub struct Desk {
    home: PathBuf,
    environment: Vec<(&'static str, String)>,
}

/// A call that waits, as the second terminal is shown it.
#[derive(Debug)]
pub struct Waiting {
    pub id: String,
    pub card: Value,
}

impl Desk {
    /// Turns the relay on in the sandbox's HOME, and looks once at what waits, so that somebody is there to be asked.
    pub fn open(sandbox: &Sandbox) -> Desk {
        let program = Path::new(COUNTERSIGN).with_file_name(RELAY);
        assert!(
            program.exists(),
            "this test needs the program {}: `cargo build -p {RELAY}`, or `cargo test --workspace`, builds it",
            program.display()
        );
        let desk = Desk {
            home: sandbox.home(),
            environment: sandbox.environment(),
        };
        // Not the relay's own port: other relays run on this machine.
        let port = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let url = format!("http://{}", port.expect("a free port"));
        desk.does(&["relay", "on", "--url", &url]);
        assert_eq!(desk.waiting().len(), 0);
        desk
    }

    /// Runs the product on this terminal.
    pub fn run(&self, words: &[&str]) -> Output {
        Command::new(COUNTERSIGN)
            .args(words)
            .current_dir(&self.home)
            .env_clear()
            .envs(self.environment.iter().cloned())
            .stdin(Stdio::null())
            .output()
            .expect("countersign starts")
    }

    /// The same, and it succeeds; gives what it prints.
    pub fn does(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            output.status.success(),
            "{words:?}: {}: {said}{complaint}",
            output.status
        );
        said
    }

    /// What waits now, the oldest first.
    pub fn waiting(&self) -> Vec<Waiting> {
        let output = self.run(&["pending", "--json"]);
        // 3: nothing waits.
        assert!(matches!(output.status.code(), Some(0 | 3)), "{output:?}");
        let lines = String::from_utf8_lossy(&output.stdout).into_owned();
        let request = |line: &str| {
            let request: Value = serde_json::from_str(line).expect("a line of JSON");
            assert_eq!(request["verified"], true, "{request}");
            Waiting {
                id: request["id"].as_str().expect("an id").to_owned(),
                card: request["card"].clone(),
            }
        };
        lines.lines().map(request).collect()
    }

    /// Waits until a call waits that shows `words`.
    pub fn waits_for(&self, words: &str) -> Waiting {
        let shows = |waiting: &Waiting| waiting.card.to_string().contains(words);
        self.until(&format!("a card shows `{words}`"), || {
            self.waiting().into_iter().find(shows)
        })
    }

    /// Waits until this call does not wait any more; gives the request as the relay keeps it.
    pub fn is_gone(&self, id: &str) -> Value {
        self.until(&format!("{id} is gone"), || {
            self.waiting().iter().all(|waiting| waiting.id != id).then_some(())
        });
        self.request(id)
    }

    /// Lets it run.
    pub fn approves(&self, id: &str) {
        self.does(&["approve", id, "--yes"]);
    }

    /// Too late: an approve of this call is refused.
    pub fn approves_in_vain(&self, id: &str) {
        let output = self.run(&["approve", id, "--yes"]);
        assert!(!output.status.success(), "{output:?}");
    }

    pub fn denies(&self, id: &str, message: &str) {
        self.does(&["deny", id, "--message", message]);
    }

    /// The request, as the relay tells the machine that has asked.
    pub fn request(&self, id: &str) -> Value {
        let identity = std::fs::read(self.dir().join("machine.json")).expect("the machine's file");
        let identity: Value = serde_json::from_slice(&identity).expect("JSON");
        let [url, token] = ["url", "token"].map(|name| identity[name].as_str().expect("a text"));
        let address = url.strip_prefix("http://").expect("an address");
        let mut stream = TcpStream::connect(address).expect("the relay");
        let head = format!(
            "GET /v1/requests/{id} HTTP/1.1\r\nhost: {address}\r\nauthorization: Bearer {token}\r\n\
             countersign-protocol: 1\r\nconnection: close\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).expect("the relay reads");
        let mut answer = String::new();
        stream.read_to_string(&mut answer).expect("the relay answers");
        let body = answer.split_once("\r\n\r\n").map_or("", |(_, body)| body);
        serde_json::from_str(body).unwrap_or_else(|_| json!({"answer": answer}))
    }

    /// Whether the relay has ever been told these words.
    pub fn relay_knows(&self, words: &str) -> bool {
        ["relay.db", "relay.db-wal"].iter().any(|file| {
            let bytes = std::fs::read(self.dir().join(file)).unwrap_or_default();
            bytes.windows(words.len()).any(|window| window == words.as_bytes())
        })
    }

    /// The relay's process, or the one that was it last.
    pub fn relay(&self) -> u32 {
        let lock = std::fs::read_to_string(self.dir().join("relay.lock")).expect("the relay's lock");
        // One that starts has not written it yet.
        lock.lines()
            .next()
            .and_then(|line| line.parse().ok())
            .unwrap_or_default()
    }

    /// Waits until another relay runs than the one that was this process.
    pub fn comes_back(&self, before: u32) {
        self.until("the relay runs again", || {
            let listens = || self.run(&["relay", "status"]).status.success();
            (self.relay() != before && listens()).then_some(())
        });
    }

    fn dir(&self) -> PathBuf {
        self.home.join(".local/state/countersign/relay")
    }

    fn until<T>(&self, what: &str, mut seen: impl FnMut() -> Option<T>) -> T {
        let end = Instant::now() + PATIENCE;
        loop {
            if let Some(found) = seen() {
                return found;
            }
            if Instant::now() > end {
                let relay = std::fs::read_to_string(self.dir().join("relay.log")).unwrap_or_default();
                let relay = relay.lines().filter(|line| !line.contains("/v1/pending"));
                let relay: Vec<_> = relay.collect();
                let record = self.run(&["log", "--json"]).stdout;
                let record = String::from_utf8_lossy(&record);
                let waiting = self.waiting();
                panic!(
                    "not so: {what}\n--- waiting\n{waiting:?}\n--- record\n{record}\n--- relay\n{}",
                    relay.join("\n")
                );
            }
            sleep(GLANCE);
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        let off = self.run(&["relay", "off"]);
        if !off.status.success() {
            eprintln!("the relay is not off: {off:?}");
        }
    }
}
