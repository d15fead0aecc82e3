//! From a person's answer to the printed decision: `cargo bench -p countersign-relay --bench answer`. It prints numbers and
//! promises nothing.
//!
//! A call is held at a relay on loopback, a device answers it, and the clock runs from when the device sends the verdict
//! to when the process that the host waits for has ended.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use countersign_protocol::canonical::unhex;
use countersign_protocol::keys::{Algorithm, KeyPair};
use countersign_protocol::state::Pending;
use countersign_protocol::verdict::{Answer, Verdict};
use countersign_protocol::{VERSION, VERSION_HEADER};
use serde_json::{Value, json};

const RELAY: &str = env!("CARGO_BIN_EXE_countersign-relay");
const ROUNDS: usize = 100;

fn main() {
    let home = tempfile::tempdir().expect("a home");
    let project = home.path().join("shop");
    fs::create_dir(&project).expect("a project");
    fs::write(project.join("notes.txt"), "notes").expect("a file");
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let url = format!("http://{}", free.expect("a port"));
    let on = command(home.path(), &project)
        .args(["on", "--url", &url])
        .output()
        .expect("it runs");
    assert!(on.status.success(), "{on:?}");
    let device = Device::of(home.path(), url);
    let mut times: Vec<Duration> = (0..ROUNDS).map(|_| round(home.path(), &project, &device)).collect();
    times.sort_unstable();
    let ms = |at: usize| times[at].as_secs_f64() * 1000.0;
    println!(
        "from the answer to the printed decision, {ROUNDS} times: median {:.1} ms, 99 of 100 within {:.1} ms",
        ms(ROUNDS / 2),
        ms(ROUNDS * 99 / 100 - 1)
    );
    let off = command(home.path(), &project).arg("off").output().expect("it runs");
    assert!(off.status.success(), "{off:?}");
}

fn command(home: &Path, project: &Path) -> Command {
    let mut command = Command::new(RELAY);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("CLAUDE_CODE_SESSION_ATTENDED", "0")
        .env("CLAUDE_PROJECT_DIR", project)
        .env("CLAUDE_PID", std::process::id().to_string())
        .current_dir(project)
        .stdin(Stdio::null());
    command
}

fn round(home: &Path, project: &Path, device: &Device) -> Duration {
    let mut seen = device.pending(0, 0).revision;
    let event = json!({
        "session_id": "s1",
        "cwd": project,
        "permission_mode": "default",
        "hook_event_name": "PermissionRequest",
        "tool_name": "Bash",
        "tool_input": {"command": "rm notes.txt"},
    });
    let mut held = command(home, project)
        .args(["hold", "--deadline", "60"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut input = held.stdin.take().expect("its input");
    input.write_all(format!("{event}\n").as_bytes()).expect("the event");
    drop(input);
    let request = loop {
        let mut pending = device.pending(5, seen);
        seen = pending.revision;
        if let Some(request) = pending.requests.pop() {
            break request;
        }
    };
    let verdict = Verdict::new(&request.card.card, Answer::Allow, 1_796_000_000_000).expect("a card");
    let signed = verdict.sign(&device.key).expect("a signature");
    // As long as a person would look: the hook's poll stands by then.
    std::thread::sleep(Duration::from_millis(50));
    let begun = Instant::now();
    let sent = device.request(
        "POST",
        &format!("/v1/requests/{}/decision", request.id),
        json!(signed).to_string(),
    );
    let mut said = String::new();
    let mut output = held.stdout.take().expect("its output");
    output.read_to_string(&mut said).expect("UTF-8");
    let took = begun.elapsed();
    assert!(said.contains(r#""behavior":"allow""#), "{sent} {said}");
    held.wait().expect("its end");
    took
}

struct Device {
    url: String,
    token: String,
    key: KeyPair,
    agent: ureq::Agent,
}

impl Device {
    fn of(home: &Path, url: String) -> Device {
        let text = fs::read_to_string(home.join(".local/state/countersign/relay/terminal.json"));
        let identity: Value = serde_json::from_str(&text.expect("the terminal")).expect("JSON");
        let text = |name: &str| identity[name].as_str().expect(name).to_owned();
        let key = unhex(&text("key")).expect("hexadecimal");
        Device {
            url,
            token: text("token"),
            key: KeyPair::from_pkcs8(Algorithm::Ed25519, &key).expect("a key"),
            agent: ureq::Agent::new_with_defaults(),
        }
    }

    fn pending(&self, wait: u64, seen: u64) -> Pending {
        let text = self.request(
            "GET",
            &format!("/v1/pending?wait={wait}&revision={seen}"),
            String::new(),
        );
        serde_json::from_str(&text).expect("what waits")
    }

    fn request(&self, method: &str, path: &str, body: String) -> String {
        let request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.url))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .header(VERSION_HEADER, VERSION)
            .body(body)
            .expect("a request");
        let mut answer = self.agent.run(request).expect("an answer");
        answer.body_mut().read_to_string().expect("its text")
    }
}
