//! A home with a project in it whose calls are held.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use countersign_protocol::canonical::hex;
use countersign_protocol::keys::{Algorithm, KeyPair, random_hex};
use serde_json::{Value, json};

use crate::double::Double;

pub const RELAY: &str = env!("CARGO_BIN_EXE_countersign-relay");

pub const ALLOW: &str =
    r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#;
/// No decision.
pub const BLOCK: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#;
/// The question is answered elsewhere.
pub const ASIDE: &str = "{}";

pub struct Home {
    dir: tempfile::TempDir,
    pub device: KeyPair,
    token: String,
}

impl Home {
    pub fn new() -> Home {
        let home = Home {
            dir: tempfile::tempdir().expect("a home"),
            device: KeyPair::generate(Algorithm::Ed25519).expect("a key"),
            token: random_hex::<32>().expect("a token"),
        };
        fs::create_dir(home.project()).expect("a project");
        fs::write(home.project().join("notes.txt"), "notes").expect("a file");
        home
    }

    /// A home whose machine asks at this address.
    pub fn asking(url: &str) -> Home {
        let home = Home::new();
        home.ask(url);
        home
    }

    /// The machine asks at this address from now on, and believes the device.
    pub fn ask(&self, url: &str) {
        let key = KeyPair::generate(Algorithm::Ed25519).expect("a key");
        let machine = json!({
            "url": url,
            "name": "laptop",
            "token": self.token,
            "key": hex(key.pkcs8()),
            "alg": "ed25519",
            "pinned": [{"name": "phone", "key": self.device.public()}],
        });
        fs::create_dir_all(self.relay_dir()).expect("the relay's directory");
        fs::set_permissions(self.relay_dir(), fs::Permissions::from_mode(0o700)).expect("its mode");
        self.write("machine.json", &machine.to_string());
    }

    pub fn write(&self, file: &str, text: &str) {
        let path = self.relay_dir().join(file);
        fs::write(&path, text).expect("a file");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).expect("its mode");
    }

    pub fn token(&self) -> &str {
        &self.token
    }

    pub fn path(&self) -> &Path {
        self.dir.path()
    }

    pub fn project(&self) -> PathBuf {
        self.dir.path().join("shop")
    }

    pub fn state(&self) -> PathBuf {
        self.dir.path().join(".local/state/countersign")
    }

    pub fn relay_dir(&self) -> PathBuf {
        self.state().join("relay")
    }

    /// The event of a call of this command.
    pub fn event(&self, command: &str) -> String {
        let event = json!({
            "session_id": "s1",
            "transcript_path": self.path().join("t.jsonl"),
            "cwd": self.project(),
            "permission_mode": "default",
            "hook_event_name": "PermissionRequest",
            "tool_name": "Bash",
            "tool_input": {"command": command},
        });
        event.to_string() + "\n"
    }

    /// A program in this home, in an environment of its own.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", self.path())
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("CLAUDE_CODE_SESSION_ATTENDED", "0")
            .env("CLAUDE_PROJECT_DIR", self.project())
            .env("CLAUDE_PID", std::process::id().to_string())
            .env("NO_COLOR", "1")
            .current_dir(self.project())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// What the hook becomes, with this long to the answer.
    pub fn hold(&self, seconds: u64) -> Command {
        let mut command = self.command(RELAY);
        command.args(["hold", "--deadline", &seconds.to_string()]);
        command
    }

    /// The last line of the record.
    pub fn record(&self) -> Value {
        let log = fs::read_to_string(self.state().join("log.jsonl")).unwrap_or_default();
        let last = log.lines().last().unwrap_or("null");
        serde_json::from_str(last).expect("a line of JSON")
    }
}

/// A process that answers an event.
pub struct Running {
    child: Child,
    begun: Instant,
}

/// What it left.
#[derive(Debug)]
pub struct Ran {
    pub said: String,
    pub errors: String,
    pub status: Option<i32>,
    pub took: Duration,
}

impl Running {
    pub fn start(command: &mut Command, event: &str) -> Running {
        let begun = Instant::now();
        let mut child = command.stdin(Stdio::piped()).spawn().expect("it starts");
        let mut input = child.stdin.take().expect("its input");
        input.write_all(event.as_bytes()).expect("the event");
        Running { child, begun }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    pub fn kill(&mut self) {
        self.child.kill().expect("it is killed");
    }

    pub fn terminate(&self) {
        signal(self.id(), "TERM");
    }

    pub fn is_running(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    pub fn end(self) -> Ran {
        let begun = self.begun;
        let Output { status, stdout, stderr } = self.child.wait_with_output().expect("its end");
        Ran {
            said: String::from_utf8(stdout).expect("UTF-8").trim_end().to_owned(),
            errors: String::from_utf8(stderr).expect("UTF-8"),
            status: status.code(),
            took: begun.elapsed(),
        }
    }
}

pub fn signal(process: u32, name: &str) {
    let told = Command::new("kill")
        .args([format!("-{name}"), process.to_string()])
        .status();
    assert!(told.expect("kill starts").success());
}

/// The call stays open, in time, and everybody who may look is told why.
#[track_caller]
pub fn stays_open(what: &str, home: &Home, ran: &Ran, within: Duration, words: &[&str]) {
    assert_eq!((ran.said.as_str(), ran.status), (BLOCK, Some(0)), "{what}: {ran:?}");
    assert!(ran.took < within, "{what}: {ran:?}");
    let record = home.record().to_string();
    let says = |text: &str| words.iter().any(|words| text.contains(words));
    assert!(says(&ran.errors), "{what}: {ran:?}");
    assert!(says(&record), "{what}: {record}");
    assert!(record.len() < 8192, "{what}: a line of {} bytes", record.len());
    for text in [&ran.errors, &record] {
        assert!(!text.contains(home.token()), "{what}: the token is told: {text}");
    }
}

/// A home and a scripted relay that it asks.
pub fn with(script: impl Fn(&crate::double::Turn) -> crate::double::Answer + Send + Sync + 'static) -> (Home, Double) {
    let home = Home::new();
    let double = Double::new(&home.device, script);
    home.ask(&double.url);
    (home, double)
}
