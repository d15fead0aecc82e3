//! A person's home with a relay of its own, and what its machine and its terminal say to it.

use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use countersign_protocol::Card;
use countersign_protocol::canonical::unhex;
use countersign_protocol::keys::{Algorithm, KeyPair, random_hex};
use countersign_protocol::verdict::{Answer, Verdict};
use serde_json::Value;

use crate::card::card;
use crate::eventually::eventually;
use crate::http::{self, Reply};
use crate::port;
use crate::serving::{ANYWHERE, RELAY, Serving};

pub struct Home(pub tempfile::TempDir);

impl Home {
    /// A home in which nothing is on.
    pub fn new() -> Home {
        Home(tempfile::tempdir().expect("a home"))
    }

    /// A home whose relay is on and runs, at a port that no other test takes meanwhile.
    pub fn on() -> Home {
        let home = Home::new();
        home.done(&["on", "--url", &format!("http://{}", port::free())]);
        home
    }

    pub fn dir(&self) -> PathBuf {
        self.0.path().join(".local/state/countersign/relay")
    }

    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(RELAY);
        command
            .args(words)
            .env_clear()
            .env("HOME", self.0.path())
            .stdin(Stdio::null());
        command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command
    }

    pub fn run(&self, words: &[&str]) -> Output {
        self.command(words).output().expect("it starts")
    }

    /// What it prints; it must succeed.
    pub fn done(&self, words: &[&str]) -> String {
        let output = self.run(words);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{words:?}: {said}");
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    pub fn read(&self, file: &str) -> Value {
        let text = std::fs::read_to_string(self.dir().join(file)).unwrap_or_else(|error| panic!("{file}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// The process that serves from the home's directory.
    pub fn process(&self) -> u32 {
        let text = std::fs::read_to_string(self.dir().join("relay.lock")).expect("a lock");
        text.lines()
            .next()
            .and_then(|line| line.parse().ok())
            .expect("a process")
    }

    pub fn signal(&self, signal: &str) {
        let told = Command::new("kill")
            .args([signal, &self.process().to_string()])
            .status();
        assert!(told.expect("kill starts").success());
    }

    /// The port of the relay's, as another program that has it; the relay was killed.
    pub fn taken(&self) -> TcpListener {
        self.signal("-KILL");
        let address = self.parties().address;
        let mut taken = None;
        eventually("the port is free", Duration::from_secs(5), || {
            taken = TcpListener::bind(&address).ok();
            taken.is_some()
        });
        taken.expect("a listener")
    }

    /// Ends the relay of the home's own, and serves from its directory in the foreground.
    pub fn serve(&self, more: &[&str]) -> Serving {
        self.serve_by(&mut self.command(&[]), more)
    }

    /// The same, by a command that starts the relay.
    pub fn serve_by(&self, command: &mut Command, more: &[&str]) -> Serving {
        self.done(&["off"]);
        Serving::start(command, ANYWHERE, &self.dir(), more)
    }

    pub fn parties(&self) -> Parties {
        let file = if self.dir().join("machine.json").exists() {
            "machine.json"
        } else {
            "machine.off.json"
        };
        let (machine, terminal) = (self.read(file), self.read("terminal.json"));
        let key = |party: &Value| {
            let bytes = unhex(party["key"].as_str().expect("a key")).expect("hexadecimal");
            KeyPair::from_pkcs8(Algorithm::Ed25519, &bytes).expect("a key")
        };
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        Parties {
            address: text(&machine["url"]).trim_start_matches("http://").to_owned(),
            keys: (key(&machine), key(&terminal)),
            machine: text(&machine["token"]),
            terminal: text(&terminal["token"]),
        }
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.run(&["off"]);
    }
}

/// The machine and the terminal of a home, and where their relay is.
pub struct Parties {
    pub address: String,
    keys: (KeyPair, KeyPair),
    /// Their tokens.
    pub machine: String,
    pub terminal: String,
}

impl Parties {
    pub fn at(mut self, address: &str) -> Parties {
        self.address = address.to_owned();
        self
    }

    pub fn card(&self) -> Card {
        let mut card = card();
        card.preview.head = "rm the-words-of-the-question".into();
        card.lives_for = 600_000;
        card
    }

    pub fn post(&self, card: &Card) -> Reply {
        let signed = card.clone().sign(&self.keys.0).expect("a signed card");
        let body = serde_json::to_string(&signed).expect("JSON");
        let key = format!("idempotency-key: {}\r\n", card.id);
        self.send("POST", "/v1/requests", &self.machine, &key, &body)
    }

    /// Puts a new card, which the relay takes.
    pub fn put(&self) -> Card {
        let card = self.card();
        let reply = self.post(&card);
        assert_eq!(reply.status, 201, "{reply:?}");
        card
    }

    pub fn poll(&self, card: &Card, wait: u32) -> Reply {
        self.send(
            "GET",
            &format!("/v1/requests/{}?wait={wait}", card.id),
            &self.machine,
            "",
            "",
        )
    }

    pub fn allow(&self, card: &Card) -> Reply {
        let verdict = Verdict::new(card, Answer::Allow, 1_796_000_000_500).expect("a card");
        let signed = verdict.sign(&self.keys.1).expect("a signed verdict");
        let body = serde_json::to_string(&signed).expect("JSON");
        self.send(
            "POST",
            &format!("/v1/requests/{}/decision", card.id),
            &self.terminal,
            "",
            &body,
        )
    }

    /// By a key that nobody else has.
    pub fn consume(&self, card: &Card) -> Reply {
        self.consume_with(card, &random_hex::<32>().expect("a key"))
    }

    pub fn consume_with(&self, card: &Card, key: &str) -> Reply {
        let path = format!("/v1/requests/{}/consume", card.id);
        let key = format!("idempotency-key: {key}\r\n");
        self.send("POST", &path, &self.machine, &key, "")
    }

    pub fn pending(&self) -> Reply {
        self.send("GET", "/v1/pending", &self.terminal, "", "")
    }

    pub fn presence(&self) -> Value {
        self.send("GET", "/v1/presence", &self.machine, "", "").body
    }

    pub fn send(&self, method: &str, path: &str, token: &str, headers: &str, body: &str) -> Reply {
        http::send(&self.address, token, method, path, headers, body)
    }
}
