//! `countersign log`.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use super::{Answer, BINARY, Home, begun, event};
use serde_json::json;

/// A home where four calls were answered.
fn busy() -> Home {
    let home = Home::new();
    home.hook("echo hello");
    home.hook("rm -rf ~");
    home.hook("mkdir new");
    let mut hook = home.command(BINARY);
    hook.arg("hook");
    Answer::of(begun(
        hook,
        &event("PermissionRequest", "WebFetch", &json!({"url": "https://example.com/"})),
    ));
    home
}

/// How many lines are shown, and all of them.
fn shown(home: &Home, line: &str) -> (usize, String) {
    let output = home.run(line);
    let text = String::from_utf8(output.stdout).expect("UTF-8");
    let status = if text.is_empty() { 3 } else { 0 };
    assert_eq!(output.status.code(), Some(status), "{line}");
    (text.lines().count(), text)
}

#[test]
fn without_a_record_it_says_so() {
    let home = Home::new();
    let expected = format!("Nothing is recorded yet ({}).\n", home.state().display());
    assert_eq!(home.nothing_fits("log"), expected);
    assert!(home.ok("log --verify").starts_with("nothing is recorded yet"));
    assert_eq!(home.nothing_fits("log --json"), "");
    assert!(!home.state().exists(), "reading made the directory");
}

#[test]
fn an_answer_is_one_line_that_says_when_what_and_who() {
    let home = busy();
    let text = home.ok("log");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 4);
    let rest = |line: &str| line[20..].to_owned();
    assert_eq!(rest(lines[0]), "  allow  safe      Bash  echo  (policy)");
    assert_eq!(rest(lines[1]), "  none   critical  Bash  rm: delete ~  (policy)");
    assert!(
        lines[0].as_bytes()[19] == b'Z' && lines[0].as_bytes()[10] == b' ',
        "{text}"
    );
}

#[test]
fn the_last_are_shown_and_as_many_as_asked_for() {
    let home = Home::new();
    for number in 0..23 {
        home.hook(&format!("echo {number}"));
    }
    assert_eq!(shown(&home, "log").0, 20);
    let (count, text) = shown(&home, "log -n 2 --json");
    assert_eq!(count, 2);
    assert!(text.contains(r#""seq":22,"#) && text.contains(r#""seq":23,"#), "{text}");
    assert_eq!(shown(&home, "log --lines 100").0, 23);
}

#[test]
fn filters_keep_what_fits_all_of_them() {
    let home = busy();
    for (filter, count) in [
        ("--session s1", 4),
        ("--tool WebFetch", 1),
        ("--tier critical", 1),
        ("--tier safe", 4),
        ("--action allow", 1),
        ("--action none --tool Bash", 2),
        ("--project shop", 4),
        ("--since 1h", 4),
        ("--since 2020-01-01 --until 2020-01-02", 0),
        ("--until 1h", 0),
        ("--since 1h --tier critical --action none --project shop", 1),
    ] {
        assert_eq!(shown(&home, &format!("log --json {filter}")).0, count, "{filter}");
    }
    let nothing = home.nothing_fits("log --session other");
    assert!(nothing.starts_with("Nothing recorded fits ("), "{nothing}");
    for wrong in [
        "--since soon",
        "--tier worst",
        "--action maybe",
        "--reason soon",
        "--verify --json",
    ] {
        // Not the status of a record in which nothing fits.
        assert_eq!(home.run(&format!("log {wrong}")).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn a_reason_tells_a_denial_by_policy_from_one_that_could_not_be_read() {
    let home = Home::new();
    home.configure("[tiers]\ncritical = \"deny\"\n");
    home.hook("rm -rf ~");
    let mut decide = home.command(BINARY);
    decide.arg("decide");
    Answer::of(begun(decide, "{}"));
    assert_eq!(shown(&home, "log --json --action deny").0, 2);
    for (reason, count) in [("policy", 1), ("malformed", 1), ("timeout", 0)] {
        let (found, text) = shown(&home, &format!("log --json --reason {reason}"));
        assert_eq!(found, count, "{text}");
    }
}

#[test]
fn json_is_the_lines_as_they_are() {
    let home = busy();
    assert_eq!(home.ok("log --json"), fs::read_to_string(home.log()).expect("the log"));
}

#[test]
fn verify_ends_with_0_or_with_1_and_the_line() {
    let home = busy();
    let place = home.state().display().to_string();
    assert_eq!(
        home.ok("log --verify"),
        format!("as it was written: 4 lines in {place}\n")
    );
    let text = fs::read_to_string(home.log()).expect("the log");
    let removed: String = text
        .lines()
        .filter(|line| !line.contains("critical"))
        .map(|line| format!("{line}\n"))
        .collect();
    fs::write(home.log(), removed).expect("the log");
    let output = home.run("log --verify");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(
        String::from_utf8(output.stdout).expect("UTF-8"),
        format!(
            "log.jsonl:2: before it, number 2 is missing\nNOT as it was written: 1 fault, 3 lines in {place}\n\
             What is named was changed, added or taken away after it was written. To begin anew, move the files `log*` elsewhere.\n"
        )
    );
    fs::write(home.log(), format!("{text}{{\"v\":1,\"ti")).expect("the log");
    let torn = home.ok("log --verify");
    assert!(
        torn.starts_with("note: 1 torn line, left by a process that was killed"),
        "{torn}"
    );
}

#[test]
fn follow_shows_new_answers_also_across_a_rotation_and_from_siblings() {
    let home = busy();
    let mut follow = home.command(BINARY);
    follow.args(["log", "--follow", "-n", "1"]).stdin(Stdio::null());
    let mut child = follow.spawn().expect("the program");
    let mut lines = BufReader::new(child.stdout.take().expect("its output")).lines();
    let mut next = || lines.next().expect("a line").expect("UTF-8");
    assert!(next().contains("WebFetch"));
    home.hook("pwd");
    assert!(next().contains("pwd"));
    fs::rename(home.log(), home.state().join("log-000001.jsonl")).expect("a rotation");
    home.hook("whoami");
    assert!(next().contains("whoami"));
    let head = fs::File::open(home.state().join("log.head")).expect("the head");
    head.lock().expect("the lock");
    home.hook("uptime");
    assert!(next().contains("uptime"));
    child.kill().expect("an end");
    child.wait().expect("its end");
}

#[test]
fn a_reader_that_goes_away_is_no_error() {
    let home = Home::new();
    for number in 0..5 {
        home.hook(&format!("echo {number}"));
    }
    let log = fs::read_to_string(home.log()).expect("the log");
    fs::write(home.log(), log.repeat(2000)).expect("a long log");
    let mut command = home.command(BINARY);
    command.args(["log", "-n", "10000"]).stdin(Stdio::null());
    let mut child = command.spawn().expect("the program");
    drop(child.stdout.take());
    thread::sleep(Duration::from_millis(10));
    let output = child.wait_with_output().expect("its end");
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &[][..]));
}

#[test]
fn what_would_be_lost_is_recorded_but_not_of_a_call_that_runs() {
    let home = Home::new();
    let draft = home.project().join("draft");
    fs::write(&draft, "mine").expect("a file");
    home.hook(&format!("rm {}", draft.display()));
    home.hook("echo hello");
    let entries = home.entries();
    let [asked, ran] = entries.as_slice() else {
        panic!("{entries:?}");
    };
    let [loss] = asked.losses.as_slice() else {
        panic!("{asked:?}");
    };
    let counted = loss.counted.expect("numbers");
    assert_eq!((loss.deed.as_str(), loss.bound.as_str()), ("deletes", "exact"));
    assert_eq!((counted.files, counted.bytes, counted.gone), (1, 4, 1));
    assert!(ran.losses.is_empty());
}
