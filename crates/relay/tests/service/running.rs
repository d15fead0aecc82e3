//! How the relay is started, outlives whoever started it, and ends.

use std::io::Read;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::eventually::eventually;
use crate::http::get;
use crate::serving::RELAY;
use crate::support::Home;

#[test]
fn where_it_is_off_nothing_is_started() {
    let home = Home::new();
    assert_eq!(home.done(&["ensure"]), "");
    assert!(!home.dir().exists());
}

#[test]
fn of_many_starts_at_once_one_relay_comes_of_it() {
    let home = Home::on();
    home.signal("-KILL");
    let starts: Vec<_> = (0..12)
        .map(|_| home.command(&["ensure"]).spawn().expect("it starts"))
        .collect();
    for mut start in starts {
        assert!(start.wait().expect("its end").success());
    }
    let dir = home.dir().display().to_string();
    let serving = std::fs::read_dir("/proc")
        .expect("the processes")
        .flatten()
        .filter(|process| {
            let words = std::fs::read(process.path().join("cmdline")).unwrap_or_default();
            let words = String::from_utf8_lossy(&words).into_owned();
            words.contains("serve") && words.contains(&dir)
        });
    assert_eq!(serving.count(), 1);
    let before = home.process();
    home.done(&["ensure"]);
    assert_eq!(home.process(), before);
}

#[test]
fn it_outlives_the_group_and_session_of_whoever_started_it_and_holds_none_of_their_files() {
    let home = Home::on();
    home.signal("-KILL");
    let held = home.0.path().join("held");
    std::fs::write(&held, "").expect("a file");
    let script = format!("exec 9<{}; {RELAY} ensure; echo started; exec sleep 60", held.display());
    let mut caller = Command::new("sh")
        .args(["-c", &script])
        .env("HOME", home.0.path())
        .env_remove("XDG_STATE_HOME")
        .process_group(0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the caller starts");
    let mut output = caller.stdout.take().expect("its output");
    let mut first = [0; 8];
    output.read_exact(&mut first).expect("its word");
    let told = Command::new("kill")
        .args(["-KILL", "--", &format!("-{}", caller.id())])
        .status();
    assert!(told.expect("kill starts").success());
    caller.wait().expect("its end");
    // The host waits for the end of this: whoever else held it would void its answer.
    let ended = Instant::now();
    output.read_to_end(&mut Vec::new()).expect("the end");
    assert!(ended.elapsed() < Duration::from_secs(1));

    let process = home.process();
    assert_eq!(home.parties().presence()["paired"], 1, "it answers");
    let files = std::fs::read_dir(format!("/proc/{process}/fd"))
        .expect("its files")
        .flatten();
    for file in files {
        let file = std::fs::read_link(file.path()).unwrap_or_default();
        assert_ne!(file, held);
    }
    let (parent, session) = above(&process.to_string());
    assert_ne!(parent, caller.id());
    assert_ne!(session, above("self").1);
}

/// A process's parent and session, which are 0 where they lie outside of the namespace that the tests run in.
fn above(process: &str) -> (u32, u32) {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).expect("its state");
    let fields = stat.rsplit_once(')').expect("its fields").1;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    (
        fields[1].parse().expect("a number"),
        fields[3].parse().expect("a number"),
    )
}

#[test]
fn a_relay_whose_program_was_replaced_ends_and_the_new_one_is_started() {
    let home = Home::new();
    let program = home.0.path().join("countersign-relay");
    std::fs::copy(RELAY, &program).expect("a program");
    let by_it = |words: &[&str]| {
        let mut command = Command::new(&program);
        let command = command.args(words).env_clear().env("HOME", home.0.path());
        assert!(command.output().expect("it starts").status.success(), "{words:?}");
    };
    by_it(&["on"]);
    let before = home.process();
    let next = home.0.path().join("next");
    std::fs::copy(RELAY, &next).expect("a program");
    std::fs::rename(&next, &program).expect("it is replaced");
    let is_there = || Path::new(&format!("/proc/{before}")).exists();
    eventually("the old one has ended", Duration::from_secs(20), || !is_there());
    by_it(&["ensure"]);
    assert_ne!(home.process(), before);
    assert_eq!(home.parties().presence()["paired"], 1, "it answers");
    by_it(&["off"]);
}

#[test]
fn another_program_on_its_port_is_told_of_and_given_no_token() {
    let home = Home::on();
    let address = home.parties().address;
    let _taken = home.taken();
    let output = home.run(&["ensure"]);
    assert!(!output.status.success());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("another program listens"), "{said}");
    home.done(&["on"]);
    assert_ne!(home.parties().address, address);
    assert_eq!(home.parties().presence()["paired"], 1);
}

/// A relay that cannot get its port holds the lock for a moment, and one that another port was given holds it for long.
#[test]
fn whoever_has_the_port_of_a_relay_that_serves_elsewhere_or_not_yet_learns_no_token() {
    let home = Home::on();
    let address = home.parties().address;
    let taken = home.taken();
    let stranger = taken.try_clone().expect("a listener");
    stranger.set_nonblocking(true).expect("it is set");
    let heard = || stranger.accept().is_ok();
    let serve = |listen: &str| {
        let mut command = home.command(&["serve", "--log", "--listen", listen, "--dir"]);
        command.arg(home.dir());
        command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("it starts")
    };
    for _ in 0..5 {
        let mut fails = serve(&address);
        while fails.try_wait().expect("a process").is_none() {
            assert!(!home.run(&["pending"]).status.success());
            assert!(!heard(), "it was sent something while a relay started");
        }
    }
    let mut elsewhere = serve("127.0.0.1:0");
    let listens = || std::fs::read_to_string(home.dir().join("relay.lock")).is_ok_and(|text| text.lines().count() == 2);
    eventually("it listens elsewhere", Duration::from_secs(5), listens);
    for words in ["pending", "status", "ensure"] {
        let output = home.run(&[words]);
        assert!(!output.status.success(), "{words}");
        assert!(!heard(), "{words}");
    }
    let said = String::from_utf8(home.run(&["ensure"]).stderr).expect("UTF-8");
    assert!(said.contains("run `countersign relay on`"), "{said}");
    home.done(&["on"]);
    assert_eq!(home.parties().presence()["paired"], 1, "it is found where it listens");
    home.done(&["off"]);
    elsewhere.wait().expect("it ends");
}

#[test]
fn a_lock_that_names_another_process_ends_nothing_and_says_what_to_do() {
    let home = Home::on();
    let (relay, file) = (home.process(), home.dir().join("relay.lock"));
    let mut bystander = Command::new("sleep").arg("60").spawn().expect("it starts");
    for text in ["garbage\n".into(), String::new(), format!("{}\n", bystander.id())] {
        std::fs::write(&file, &text).expect("the lock");
        let output = home.run(&["off"]);
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            said.contains("remove that file") && said.contains("relay.lock"),
            "{said}"
        );
        assert!(bystander.try_wait().expect("a process").is_none(), "{text:?}");
    }
    bystander.kill().ok();
    bystander.wait().ok();
    std::fs::write(&file, format!("{relay}\n")).expect("the lock");
    home.done(&["off"]);
}

#[test]
fn told_to_end_it_answers_held_polls_at_once_and_ends_well() {
    let home = Home::on();
    let mut serving = home.serve(&[]);
    let parties = home.parties().at(&serving.address);
    let card = parties.put();
    std::thread::scope(|scope| {
        let held = scope.spawn(|| parties.poll(&card, 25));
        eventually("the poll is held", Duration::from_secs(5), || {
            let metrics = get(&parties.address, "/metrics");
            metrics
                .body
                .as_str()
                .is_some_and(|text| text.contains("held_polls 1\n"))
        });
        let told = Instant::now();
        let kill = Command::new("kill").arg(serving.child.id().to_string()).status();
        assert!(kill.expect("kill starts").success());
        let reply = held.join().expect("an answer");
        assert_eq!(
            (reply.status, reply.body["status"].as_str()),
            (200, Some("pending")),
            "{reply:?}"
        );
        assert!(serving.child.wait().expect("its end").success());
        assert!(told.elapsed() < Duration::from_secs(2), "{:?}", told.elapsed());
    });
}

#[test]
fn two_relays_do_not_serve_from_one_directory() {
    let home = Home::on();
    let dir = home.dir().display().to_string();
    let output = home.run(&["serve", "--listen", "127.0.0.1:0", "--dir", &dir]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains("serves from"));
}

#[test]
fn it_listens_on_this_machine_only() {
    let home = Home::new();
    for open in ["0.0.0.0:0", "[::]:0", "192.0.2.1:80"] {
        let output = home.run(&["serve", "--listen", open, "--dir", "/nonexistent"]);
        assert!(!output.status.success());
        assert!(String::from_utf8_lossy(&output.stderr).contains("TLS"), "{open}");
    }
}
