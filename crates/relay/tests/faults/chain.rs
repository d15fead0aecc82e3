//! The whole chain as the host starts it: the hook, what it becomes, the relay, and a second terminal.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use countersign_protocol::canonical::{hex, sha256};
use countersign_protocol::keys::{Algorithm, KeyPair};
use serde_json::{Value, json};

use crate::desk::{Desk, relay};
use crate::double::{Double, Step};
use crate::eventually::eventually;
use crate::home::{ALLOW, ASIDE, BLOCK, Home, RELAY, Running, with};
use crate::http;

const SOON: Duration = Duration::from_secs(30);

/// The hook's program, which is built beside the relay's.
pub fn program() -> PathBuf {
    let program = Path::new(RELAY).with_file_name("countersign");
    assert!(
        program.exists(),
        "{} is not there: `cargo build -p countersign` makes it",
        program.display()
    );
    program
}

pub fn hook(home: &Home, program: &Path, seconds: u64) -> Command {
    let mut command = home.command(program);
    command.args(["hook", "--deadline", &seconds.to_string()]);
    command
}

#[test]
fn the_hook_becomes_the_one_that_waits_and_prints_what_the_terminal_answers() {
    let desk = Desk::new();
    let start = || Running::start(&mut hook(&desk.home, &program(), 60), &desk.home.event("rm notes.txt"));
    let running = start();
    let id = desk.one_waits();
    assert_eq!(desk.approve(&id).status, Some(0));
    let ran = running.end();
    assert_eq!(
        (ran.said.as_str(), ran.status, ran.errors.as_str()),
        (ALLOW, Some(0), ""),
        "{ran:?}"
    );
    let running = start();
    let denied = relay(&desk.home, &["deny", &desk.one_waits(), "--message", "use git rm"]);
    assert_eq!(denied.status, Some(0), "{denied:?}");
    let ran = running.end();
    assert!(
        ran.said.contains(r#""behavior":"deny""#) && ran.said.contains("use git rm"),
        "{ran:?}"
    );
}

#[test]
fn of_two_hooks_that_the_host_starts_for_one_call_one_asks() {
    let desk = Desk::new();
    let start = || Running::start(&mut hook(&desk.home, &program(), 60), &desk.home.event("rm notes.txt"));
    let mut two = [start(), start()];
    let id = desk.one_waits();
    eventually("one steps aside", SOON, || two.iter_mut().any(|one| !one.is_running()));
    assert_eq!(desk.waiting(), [id.as_str()]);
    assert_eq!(desk.approve(&id).status, Some(0));
    let mut said = two.map(|one| one.end().said);
    said.sort();
    assert_eq!(said, [ALLOW, ASIDE]);
}

#[test]
fn a_hook_that_is_wired_for_a_short_time_asks_nobody_elsewhere() {
    let (home, double) = with(|turn| turn.honest());
    let ran = Running::start(&mut hook(&home, &program(), 25), &home.event("rm notes.txt")).end();
    assert_eq!(ran.said, BLOCK, "{ran:?}");
    assert!(double.seen().is_empty());
}

#[test]
fn where_the_relays_program_is_missing_there_is_no_decision_and_it_is_said() {
    let (home, double) = with(|turn| turn.honest());
    let alone = home.path().join("countersign");
    fs::copy(program(), &alone).expect("a copy");
    let ran = Running::start(&mut hook(&home, &alone, 60), &home.event("rm notes.txt")).end();
    assert_eq!((ran.said.as_str(), ran.status), (BLOCK, Some(0)), "{ran:?}");
    assert!(ran.errors.contains("countersign-relay cannot be started"), "{ran:?}");
    assert!(double.seen().is_empty());
}

#[test]
fn a_machine_without_room_for_the_event_makes_no_decision_and_says_so() {
    let (home, double) = with(|turn| turn.honest());
    let mut limited = without_room(&home);
    limited.arg(program()).args(["hook", "--deadline", "60"]);
    let ran = Running::start(&mut limited, &home.event("rm notes.txt")).end();
    assert_eq!((ran.said.as_str(), ran.status), (BLOCK, Some(0)), "{ran:?}");
    assert!(ran.errors.contains("nobody is asked elsewhere"), "{ran:?}");
    assert!(double.seen().is_empty());
}

#[test]
fn a_machine_without_room_for_the_record_is_answered_and_says_that_it_is_not_recorded() {
    let (home, _double) = with(|turn| turn.honest());
    let mut limited = without_room(&home);
    limited.arg(RELAY).args(["hold", "--deadline", "20"]);
    let ran = Running::start(&mut limited, &home.event("rm notes.txt")).end();
    assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{ran:?}");
    assert!(ran.errors.contains("is not recorded"), "{ran:?}");
}

/// A program whose files may hold nothing, as on a disk that is full.
fn without_room(home: &Home) -> Command {
    let mut command = home.command("sh");
    command.args(["-c", "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\""]);
    command
}

#[test]
fn a_host_that_does_not_read_the_answer_harms_nobody() {
    let (home, double) = with(|turn| turn.honest());
    let mut hold = home.hold(20);
    let mut child = hold
        .stdin(std::process::Stdio::piped())
        .stderr(std::process::Stdio::null())
        .spawn()
        .expect("it starts");
    drop(child.stdout.take());
    let event = home.event("rm notes.txt");
    std::io::Write::write_all(&mut child.stdin.take().expect("its input"), event.as_bytes()).expect("the event");
    assert!(child.wait().expect("its end").success());
    assert_eq!(double.count(Step::Consume), 1);
}

#[test]
fn two_machines_at_one_relay_get_each_its_own_answer_and_see_nothing_of_the_other() {
    let desk = Desk::new();
    let (other, way) = another_machine(&desk);
    let first = Running::start(&mut desk.home.hold(60), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    let mut second = Running::start(&mut other.hold(60), &other.event("rm -f notes.txt"));
    eventually("both wait", SOON, || desk.waiting().len() == 2);
    let theirs = way.card().expect("a card").card.id;
    assert_ne!(id, theirs);
    for (method, path, body) in [
        ("GET", "", ""),
        ("POST", "/consume", ""),
        ("DELETE", "", r#"{"why":"timeout"}"#),
    ] {
        let (address, path) = (desk.address.to_string(), format!("/v1/requests/{id}{path}"));
        let status = http::send(&address, other.token(), method, &path, "", body).status;
        assert_eq!(status, 404, "{method} {path} of another's request");
    }
    assert_eq!(desk.approve(&id).status, Some(0));
    let ran = first.end();
    assert_eq!(ran.said, ALLOW, "{ran:?}");
    assert!(second.is_running(), "the other's answer is not taken for its own");
    let denied = relay(&desk.home, &["deny", &theirs, "--message", "not there"]);
    assert_eq!(denied.status, Some(0), "{denied:?}");
    assert!(second.end().said.contains("not there"));
}

/// Another machine that the desk's relay and terminal know, and its way there.
fn another_machine(desk: &Desk) -> (Home, Double) {
    let other = Home::new();
    let way = Double::before(desk.address, &other.device, |turn| turn.honest());
    other.ask(&way.url);
    let key = KeyPair::generate(Algorithm::Ed25519).expect("a key");
    let read = |file: &str| -> Value {
        let text = fs::read_to_string(desk.home.relay_dir().join(file)).expect("the file");
        serde_json::from_str(&text).expect("JSON")
    };
    let clients = read("clients.json");
    let clients = clients.as_array().expect("a list");
    let terminal = clients
        .iter()
        .find(|client| client["role"] == "approver")
        .expect("the terminal");
    let path = other.relay_dir().join("machine.json");
    let mut machine: Value = serde_json::from_str(&fs::read_to_string(path).expect("the file")).expect("JSON");
    machine["key"] = json!(hex(key.pkcs8()));
    machine["pinned"] = json!([{"name": "terminal", "key": terminal["key"]}]);
    other.write("machine.json", &machine.to_string());
    let token = sha256(other.token().as_bytes());
    desk.change("clients.json", |clients| {
        let entry = json!({"role": "machine", "name": "other", "key": key.public(), "token": token});
        clients.as_array_mut().expect("a list").push(entry);
    });
    desk.change("terminal.json", |terminal| {
        let pinned = terminal["pinned"].as_array_mut().expect("a list");
        pinned.push(json!({"name": "other", "key": key.public()}));
    });
    (other, way)
}

/// `countersign decide` while a relay is on, asked about the removal of this file.
fn decide(home: &Home, file: &str) -> Running {
    let request = json!({
        "tool_name": "Bash",
        "input": {"command": format!("rm {file}")},
        "tool_use_id": "t1",
        "cwd": home.project(),
    });
    Running::start(home.command(program()).arg("decide"), &request.to_string())
}

#[test]
fn what_is_asked_in_a_persons_place_is_judged_again_once_they_have_answered() {
    let desk = Desk::new();
    let config = desk.home.path().join(".config/countersign/config.toml");
    fs::create_dir_all(config.parent().expect("its directory")).expect("made");
    let rule = "[[rule]]\nprogram = \"rm\"\naction = \"deny\"\nreason = \"never\"\n";
    for (text, said) in [
        ("x = [", None),
        (rule, Some("never")),
        ("", Some(r#""behavior":"allow""#)),
    ] {
        fs::write(&config, "").expect("a configuration");
        let running = decide(&desk.home, "notes.txt");
        let id = desk.one_waits();
        fs::write(&config, text).expect("another configuration");
        assert_eq!(desk.approve(&id).status, Some(0));
        let ran = running.end();
        let allowed = ran.said.contains(r#""behavior":"allow""#);
        assert_eq!(allowed, text.is_empty(), "{text}: {ran:?}");
        assert!(said.is_none_or(|said| ran.said.contains(said)), "{text}: {ran:?}");
    }
    let running = decide(&desk.home, "notes.txt");
    let id = desk.one_waits();
    let off = desk.home.command(program()).arg("off").output().expect("it runs");
    assert!(off.status.success(), "{off:?}");
    assert_eq!(desk.approve(&id).status, Some(0));
    let ran = running.end();
    assert!(ran.said.is_empty() && ran.status != Some(0), "{ran:?}");
}

#[test]
fn what_comes_to_do_more_while_a_person_is_asked_is_put_to_them_again_at_every_face() {
    let desk = Desk::new();
    let (dir, outside) = (desk.home.project().join("sub"), desk.home.path().join("outside"));
    for made in [&dir, &outside] {
        fs::create_dir(made).expect("a directory");
        fs::write(made.join("x"), "x").expect("a file");
    }
    let running = decide(&desk.home, "sub/x");
    let first = desk.one_waits();
    fs::rename(&dir, desk.home.project().join("old")).expect("moved");
    std::os::unix::fs::symlink(&outside, &dir).expect("a link");
    assert_eq!(desk.approve(&first).status, Some(0));
    let second = desk.one_waits();
    assert_ne!(first, second);
    let denied = relay(&desk.home, &["deny", &second]);
    assert_eq!(denied.status, Some(0), "{denied:?}");
    assert!(running.end().said.contains(r#""behavior":"deny""#));
}

#[test]
fn a_relay_that_is_turned_off_ends_at_once_what_waits_at_it() {
    for words in [&["off"][..], &["off", "--forget"]] {
        let desk = Desk::new();
        let mut hook = hook(&desk.home, &program(), 60);
        let running = Running::start(&mut hook, &desk.home.event("rm notes.txt"));
        desk.one_waits();
        let begun = Instant::now();
        let off = relay(&desk.home, words);
        assert_eq!(off.status, Some(0), "{off:?}");
        let ran = running.end();
        assert!(begun.elapsed() < SOON / 3, "{:?}", begun.elapsed());
        assert_eq!((ran.said.as_str(), ran.status), (BLOCK, Some(0)), "{ran:?}");
        assert!(ran.errors.contains("the relay was turned off"), "{ran:?}");
    }
}
