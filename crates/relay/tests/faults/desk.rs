//! A home with a relay of its own, its terminal, and a way between hook and relay that the test can hold.

use std::fs;
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension};
use serde_json::{Value, json};

use crate::double::{Answer, Double, Step, Turn};
use crate::eventually::eventually;
use crate::home::{Home, RELAY, Ran, Running, signal};
use crate::http;
use crate::port;

pub struct Desk {
    pub home: Home,
    pub address: SocketAddr,
}

impl Desk {
    /// A relay that runs, and a terminal that is online there.
    pub fn new() -> Desk {
        let address = port::free();
        let home = Home::new();
        let ran = relay(&home, &["on", "--url", &format!("http://{address}")]);
        assert_eq!(ran.status, Some(0), "{ran:?}");
        let desk = Desk { home, address };
        desk.come_online();
        desk
    }

    /// The terminal asks what waits.
    pub fn come_online(&self) {
        let ran = relay(&self.home, &["pending"]);
        assert!(matches!(ran.status, Some(0 | 3)), "{ran:?}");
    }

    /// The machine reaches its relay by another address from now on.
    pub fn by_way_of(&self, double: &Double) {
        self.change("machine.json", |machine| machine["url"] = json!(double.url));
    }

    pub fn change(&self, file: &str, change: impl FnOnce(&mut Value)) {
        let text = fs::read_to_string(self.home.relay_dir().join(file)).expect("the file");
        let mut object = serde_json::from_str(&text).expect("JSON");
        change(&mut object);
        self.home.write(file, &object.to_string());
    }

    /// The process that serves.
    pub fn relay(&self) -> u32 {
        let lock = fs::read_to_string(self.home.relay_dir().join("relay.lock")).expect("the lock");
        lock.lines()
            .next()
            .and_then(|line| line.parse().ok())
            .expect("a process")
    }

    pub fn kill_relay(&self) {
        let process = self.relay();
        signal(process, "KILL");
        eventually("the relay has ended", Duration::from_secs(10), || {
            std::net::TcpStream::connect(self.address).is_err()
        });
    }

    pub fn start_relay(&self) {
        self.start_relay_by(self.home.command(RELAY), &[]);
    }

    /// The same, by a command of the test's own that starts the relay's program.
    pub fn start_relay_by(&self, mut command: Command, more: &[&str]) {
        command
            .args([
                "serve",
                "--detach",
                "--log",
                "--listen",
                &self.address.to_string(),
                "--dir",
            ])
            .arg(self.home.relay_dir())
            .args(more)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        assert!(command.status().expect("it starts").success());
        eventually("the relay answers", Duration::from_secs(20), || {
            std::net::TcpStream::connect(self.address).is_ok()
        });
    }

    /// The ids of what waits, as the terminal sees it; none while the relay does not answer.
    pub fn waiting(&self) -> Vec<String> {
        let ran = relay(&self.home, &["pending", "--json"]);
        let ids = ran.said.lines().map(|line| {
            let object: Value = serde_json::from_str(line).expect("JSON");
            object["id"].as_str().expect("an id").to_owned()
        });
        ids.collect()
    }

    /// Waits for the one call that waits, and gives its id.
    pub fn one_waits(&self) -> String {
        let mut ids = Vec::new();
        eventually("a call waits", Duration::from_secs(40), || {
            ids = self.waiting();
            !ids.is_empty()
        });
        assert_eq!(ids.len(), 1);
        ids.remove(0)
    }

    pub fn approve(&self, id: &str) -> Ran {
        relay(&self.home, &["approve", id, "--yes"])
    }

    pub fn thief(&self) -> Thief {
        let text = fs::read_to_string(self.home.relay_dir().join("machine.json")).expect("the file");
        let machine: Value = serde_json::from_str(&text).expect("JSON");
        Thief {
            address: self.address.to_string(),
            token: machine["token"].as_str().expect("a token").to_owned(),
        }
    }

    /// How the relay has the request; it is not asked, for who asks shows that somebody waits.
    pub fn status(&self, id: &str) -> Option<String> {
        self.kept("status", id)
    }

    /// What a column of the relay's table holds of the request.
    pub fn kept(&self, column: &str, id: &str) -> Option<String> {
        let store = Connection::open(self.home.relay_dir().join("relay.db")).expect("the store");
        let statement = format!("SELECT {column} FROM request WHERE id = $1");
        let kept = store.query_row(&statement, [id], |row| row.get(0));
        kept.optional().expect("a text")
    }
}

/// Another process that has the machine's token, and not the key of the one that holds the call.
pub struct Thief {
    address: String,
    token: String,
}

impl Thief {
    /// The verdict, which was taken, is not given to it.
    pub fn takes_nothing(&self, id: &str) {
        for key in ["", "idempotency-key: 0123456789abcdef\r\n"] {
            let path = format!("/v1/requests/{id}/consume");
            let reply = http::send(&self.address, &self.token, "POST", &path, key, "");
            let refusal = (reply.status, &reply.body["error"], &reply.body["verdict"]);
            assert_eq!(
                refusal,
                (409, &json!("already_consumed"), &Value::Null),
                "{key}: {reply:?}"
            );
        }
    }
}

impl Drop for Desk {
    fn drop(&mut self) {
        // However far the test came, its relay ends.
        let _ = self.home.command(RELAY).arg("off").stdin(Stdio::null()).output();
    }
}

/// A command of the relay's program, to its end.
pub fn relay(home: &Home, words: &[&str]) -> Ran {
    let mut command = home.command(RELAY);
    Running::start(command.args(words), "").end()
}

/// Where a message is held on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// It has left the hook, and has not reached the relay.
    Sent,
    /// The relay has done what it asks, and its answer has not reached the hook.
    Done,
}

/// A place on the way where the first message of a step stops.
pub struct Gate {
    step: Step,
    when: When,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    reached: bool,
    open: bool,
    /// The answer is lost.
    cut: bool,
}

const LONG: Duration = Duration::from_secs(60);

impl Gate {
    pub fn at(step: Step, when: When) -> Arc<Gate> {
        Arc::new(Gate {
            step,
            when,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// What a double does that hands on, with this gate.
    pub fn answer(&self, turn: &Turn) -> Answer {
        let stops = turn.step() == self.step && turn.before == 0;
        if stops && self.when == When::Sent {
            self.stop();
        }
        let answer = turn.honest();
        match stops && self.when == When::Done && self.stop() {
            true => Answer::Close,
            false => answer,
        }
    }

    /// `true` where the answer is lost.
    fn stop(&self) -> bool {
        let mut state = self.state.lock().expect("the gate");
        state.reached = true;
        self.changed.notify_all();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, LONG, |state| !state.open)
            .expect("the gate");
        state.cut
    }

    pub fn is_reached(&self) -> bool {
        self.state.lock().expect("the gate").reached
    }

    pub fn open(&self, cut: bool) {
        let mut state = self.state.lock().expect("the gate");
        (state.open, state.cut) = (true, cut);
        self.changed.notify_all();
    }
}

/// A process that stands for the host.
pub struct Host(Child);

impl Host {
    pub fn new() -> Host {
        Host(Command::new("sleep").arg("600").spawn().expect("sleep"))
    }

    pub fn id(&self) -> String {
        self.0.id().to_string()
    }

    pub fn kill(&mut self) {
        self.0.kill().expect("it is killed");
        self.0.wait().expect("its end");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
