//! A relay, a machine that asks it, and a home whose terminals answer.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use countersign_protocol::SignedCard;
use countersign_protocol::canonical::{hex, sha256};
use countersign_protocol::card::{Card, Offer, Preview, Scope};
use countersign_protocol::keys::{Algorithm, KeyPair, random_hex};
use countersign_protocol::verdict::Verdict;
use serde_json::{Value, json};

use crate::card as example;
use crate::http::{self, Reply};
use crate::serving::{ANYWHERE, RELAY, Serving};

/// One machine and its person's terminals, at a relay that runs for the test.
pub struct Desk {
    running: Option<Serving>,
    dir: tempfile::TempDir,
    pub machine: KeyPair,
    pub terminal: KeyPair,
    machine_token: String,
    terminal_token: String,
    address: String,
}

impl Desk {
    pub fn new() -> Desk {
        let key = || KeyPair::generate(Algorithm::Ed25519).expect("a key");
        let token = || random_hex::<32>().expect("a token");
        let mut desk = Desk {
            running: None,
            dir: tempfile::tempdir().expect("a directory"),
            machine: key(),
            terminal: key(),
            machine_token: token(),
            terminal_token: token(),
            address: ANYWHERE.into(),
        };
        std::fs::create_dir_all(desk.relay_dir()).expect("the relay's directory");
        std::fs::create_dir_all(desk.terminal_dir()).expect("the terminal's directory");
        std::fs::set_permissions(desk.terminal_dir(), std::fs::Permissions::from_mode(0o700)).expect("its mode");
        desk.introduce(true);
        desk.start();
        desk.write_terminal(&desk.machine.public().key);
        desk
    }

    pub fn home(&self) -> &Path {
        self.dir.path()
    }

    /// How many terminals have asked for what waits, of late.
    pub fn online(&self) -> u64 {
        self.send("GET", "/v1/presence", "", "").body["online"]
            .as_u64()
            .expect("a number")
    }

    fn relay_dir(&self) -> PathBuf {
        self.terminal_dir()
    }

    fn terminal_dir(&self) -> PathBuf {
        self.dir.path().join("state/countersign/relay")
    }

    /// Tells the relay who its clients are, with the terminal or without.
    pub fn introduce(&self, terminal: bool) {
        let client = |role: &str, key: &KeyPair, token: &str| json!({"role": role, "name": role, "key": key.public(), "token": sha256(token.as_bytes())});
        let mut clients = vec![client("machine", &self.machine, &self.machine_token)];
        if terminal {
            clients.push(client("approver", &self.terminal, &self.terminal_token));
        }
        write(&self.relay_dir().join("clients.json"), &json!(clients).to_string());
    }

    /// The terminal's file, which knows one machine by this key.
    pub fn write_terminal(&self, machine: &str) {
        let identity = json!({
            "url": format!("http://{}", self.address),
            "name": "terminal",
            "token": self.terminal_token,
            "key": hex(self.terminal.pkcs8()),
            "alg": "ed25519",
            "pinned": [{"name": "laptop", "key": {"alg": "ed25519", "key": machine}}],
        });
        write(&self.terminal_dir().join("terminal.json"), &identity.to_string());
    }

    pub fn forget_terminal(&self) {
        std::fs::remove_file(self.terminal_dir().join("terminal.json")).expect("it is removed");
    }

    /// Starts the relay, at the address that it had.
    pub fn start(&mut self) {
        let mut command = Command::new(RELAY);
        command.env("HOME", self.dir.path());
        let running = Serving::start(&mut command, &self.address, &self.relay_dir(), &[]);
        self.address.clone_from(&running.address);
        self.running = Some(running);
    }

    /// Kills the relay.
    pub fn stop(&mut self) {
        self.running = None;
    }

    /// A command of the terminal's, in an environment of its own.
    pub fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new(RELAY);
        command
            .args(words)
            .env_clear()
            .env("HOME", self.dir.path())
            .env("XDG_STATE_HOME", self.dir.path().join("state"))
            .env("XDG_RUNTIME_DIR", self.dir.path().join("run"))
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("NO_COLOR", "1")
            .env("TERM", "xterm");
        command
    }

    /// Runs a command of the terminal's to its end, without a terminal.
    pub fn run(&self, words: &[&str]) -> Ran {
        // In a session of its own, so that the person who runs the test is not asked.
        let command = self.command(words);
        let mut apart = Command::new("setsid");
        apart
            .arg("--wait")
            .arg(command.get_program())
            .args(command.get_args())
            .env_clear();
        apart.envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        Ran::of(apart.stdin(Stdio::null()).output().expect("the command runs"))
    }

    fn send(&self, method: &str, path: &str, headers: &str, body: &str) -> Reply {
        http::send(&self.address, &self.machine_token, method, path, headers, body)
    }

    /// The request as the relay has it.
    fn request(&self, card: &SignedCard) -> Value {
        self.send("GET", &format!("/v1/requests/{}", card.card.id), "", "").body
    }

    /// Puts the card to the relay.
    pub fn put(&self, card: Card) -> SignedCard {
        let card = card.sign(&self.machine).expect("a signed card");
        let body = serde_json::to_string(&card).expect("JSON");
        let key = format!("idempotency-key: {}\r\n", card.card.id);
        let reply = self.send("POST", "/v1/requests", &key, &body);
        assert_eq!(reply.status, 201, "{reply:?}");
        card
    }

    pub fn status(&self, card: &SignedCard) -> String {
        self.request(card)["status"].as_str().expect("a status").to_owned()
    }

    pub fn withdraw(&self, card: &SignedCard) {
        let body = json!({"why": "answered_elsewhere"}).to_string();
        let reply = self.send("DELETE", &format!("/v1/requests/{}", card.card.id), "", &body);
        assert_eq!(reply.status, 200, "{reply:?}");
    }

    /// The verdict that the relay holds, as the machine believes it.
    pub fn verdict(&self, card: &SignedCard) -> Verdict {
        let request = self.request(card);
        let verdict = request["verdict"].clone();
        let signed: countersign_protocol::SignedVerdict =
            serde_json::from_value(verdict).unwrap_or_else(|error| panic!("no verdict ({error}): {request}"));
        let keys = [self.terminal.public()];
        signed.verify(&keys, &card.card).expect("a verdict that counts").clone()
    }
}

/// What a command left.
#[derive(Debug)]
pub struct Ran {
    pub status: i32,
    pub said: String,
    pub errors: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            status: output.status.code().expect("an exit status"),
            said: String::from_utf8(output.stdout).expect("UTF-8"),
            errors: String::from_utf8(output.stderr).expect("UTF-8"),
        }
    }

    /// The command succeeded, and said these words.
    #[track_caller]
    pub fn says(&self, words: &str) {
        assert!(self.status == 0 && self.said.contains(words), "not `{words}`: {self:?}");
    }

    /// The command ended with this status, and with these words on standard error.
    #[track_caller]
    pub fn fails(&self, status: i32, words: &str) {
        assert!(
            self.status == status && self.errors.contains(words),
            "not `{words}`: {self:?}"
        );
    }
}

/// A card of an ordinary command that nobody has put yet.
pub fn card() -> Card {
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .expect("a time");
    Card {
        session: "0123456789abcdef".into(),
        summary: "deletes notes.txt".into(),
        reasons: vec!["it loses work".into()],
        created_at: u64::try_from(now.as_millis()).expect("a time"),
        ..example::card()
    }
}

/// A card whose every text holds what a terminal obeys, reorders or hides.
pub fn nasty_card() -> Card {
    let nasty = "a\u{1b}[2Jb\u{202e}c\u{200b}d";
    let mut card = card();
    let texts = [
        &mut card.host,
        &mut card.project,
        &mut card.session,
        &mut card.tool,
        &mut card.summary,
    ];
    texts.into_iter().for_each(|text| *text = nasty.into());
    card.cwd = Some(nasty.into());
    card.agent = Some(nasty.into());
    card.reasons = vec![nasty.into()];
    card.preview.head = format!("{nasty}\r\nrm x");
    card.offers = vec![Offer {
        words: nasty.into(),
        scope: Scope::Session,
    }];
    card
}

/// What a terminal would obey, reorder or hide; the ends of lines are our own.
pub fn is_obeyed(character: char) -> bool {
    character.is_control() && !"\r\n".contains(character) || "\u{202e}\u{200b}".contains(character)
}

pub fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("a file");
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600)).expect("its mode");
}

/// A card that does not hold so many bytes of the input.
pub fn cut_card(left_out: u64) -> Card {
    Card {
        preview: Preview {
            head: "echo a".into(),
            tail: "echo z".into(),
            left_out,
            masked: false,
        },
        may_edit: false,
        ..card()
    }
}
