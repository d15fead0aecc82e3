//! The hook process around a judge that fails, is slow, or runs twice. Has a `main` of its own: it starts itself with
//! such a judge, whose standard output no test harness may touch.

use std::io::{PipeReader, PipeWriter, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use countersign::audit::entry::{Action, ERROR, Entry};
use countersign::audit::files;
use countersign::call::Call;
use countersign::cli::hook;
use countersign::decision::{Allow, Decision, Run};
use countersign::effect::{Assessment, Tier};
use countersign::facts::Facts;
use countersign::hold::{Held, Holder};
use countersign::judge::Judgement;
use countersign::policy::{By, Circumstances, Policy, Ruling, Wiring};
use countersign::wire::EventKind;
use countersign::wire::once::Once;
use rustix::fs::{OFlags, fcntl_setfl};
use rustix::process::{Pid, Signal, kill_process};

const ALLOW: &str =
    "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}\n";
const BLOCK: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\"}}\n";
const EMPTY: &str = "{}\n";

fn allows(_: EventKind, _: &Call, _: Wiring, _: &Policy, _: &Circumstances, _: &Facts) -> Judgement {
    Judgement {
        assessment: Assessment {
            steps: Vec::new(),
            doubts: Vec::new(),
            tier: Tier::Safe,
            commands: Vec::new(),
            parsed: None,
        },
        ruling: Ruling {
            decision: Decision::Allow(Allow::Run(Run::default())),
            by: By::OnlyPerson,
            tier: Tier::Safe,
            proven: true,
            rated: Vec::new(),
            counts: false,
            token: None,
        },
        losses: None,
    }
}

fn panics(_: EventKind, call: &Call, _: Wiring, _: &Policy, _: &Circumstances, _: &Facts) -> Judgement {
    panic!("cannot judge\n\u{1b}[31m {}", call.tool)
}

fn takes<const MILLISECONDS: u64>(
    event: EventKind,
    call: &Call,
    wiring: Wiring,
    policy: &Policy,
    now: &Circumstances,
    facts: &Facts,
) -> Judgement {
    thread::sleep(Duration::from_millis(MILLISECONDS));
    allows(event, call, wiring, policy, now, facts)
}

fn overflows_its_stack(
    event: EventKind,
    call: &Call,
    wiring: Wiring,
    policy: &Policy,
    now: &Circumstances,
    facts: &Facts,
) -> Judgement {
    fn deeper(level: u64) -> u64 {
        let room = std::hint::black_box([level; 64]);
        if room[63] == u64::MAX {
            0
        } else {
            deeper(level + 1) + room[0]
        }
    }
    std::hint::black_box(deeper(0));
    allows(event, call, wiring, policy, now, facts)
}

/// What comes after the answer never ends.
fn answers_once() -> Once {
    let once = Once::start(
        EventKind::PermissionRequest,
        Duration::from_secs(1),
        Box::new(|_, _| {}),
    );
    std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).expect("an event");
    once.answer("{\"answer\":1}");
    once
}

/// Nothing is held here.
struct AtOnce;

impl Holder for AtOnce {
    const WAITS: bool = false;

    fn hold(&self, _: Held) {
        panic!("a call is held");
    }

    fn printed(&self, _: bool) {}
}

fn hangs_after_its_answer() -> ! {
    answers_once();
    loop {
        thread::park();
    }
}

fn answers_twice() -> ! {
    answers_once().answer("{\"answer\":2}");
    unreachable!("the second answer ends the process")
}

fn main() {
    let words: Vec<_> = std::env::args_os().skip(1).collect();
    if let [judge, rest @ ..] = words.as_slice() {
        let judge: hook::Judge = match judge.to_str() {
            Some("panics") => panics,
            Some("takes-half-a-second") => takes::<500>,
            Some("takes-five-seconds") => takes::<5000>,
            Some("takes-a-second-and-a-half") => takes::<1500>,
            Some("overflows-its-stack") => overflows_its_stack,
            Some("hangs-after-its-answer") => hangs_after_its_answer(),
            Some("answers-twice") => answers_twice(),
            _ => return run_all(),
        };
        hook::answer(hook::Args::read(rest), judge, AtOnce);
    }
    run_all()
}

fn run_all() {
    let tests: [(&str, fn()); 14] = [
        (
            "a_second_answer_is_silence_and_the_end",
            a_second_answer_is_silence_and_the_end,
        ),
        (
            "a_panic_is_no_decision_and_one_line_of_diagnosis",
            a_panic_is_no_decision_and_one_line_of_diagnosis,
        ),
        ("a_stack_overflow_says_nothing", a_stack_overflow_says_nothing),
        (
            "a_judge_past_the_deadline_is_no_decision",
            a_judge_past_the_deadline_is_no_decision,
        ),
        (
            "an_allow_that_comes_after_a_stop_past_the_deadline_is_not_given",
            an_allow_after_a_stop_is_not_given,
        ),
        ("a_panic_is_recorded_with_its_call", a_panic_is_recorded_with_its_call),
        (
            "a_deadline_that_passed_is_recorded_with_its_call",
            a_deadline_that_passed_is_recorded_with_its_call,
        ),
        (
            "what_comes_after_the_answer_ends_at_the_deadline_and_answers_nothing_more",
            what_comes_after_the_answer_ends_at_the_deadline,
        ),
        (
            "an_answer_that_nobody_takes_does_not_hold_the_process",
            an_answer_that_nobody_takes_does_not_hold_the_process,
        ),
        ("one_of_two_twins_answers", one_of_two_twins_answers),
        (
            "different_events_do_not_wait_for_each_other",
            different_events_do_not_wait_for_each_other,
        ),
        (
            "a_guard_is_no_twin_of_an_entry_without_one",
            a_guard_is_no_twin_of_an_entry_without_one,
        ),
        ("hooks_of_two_hosts_are_no_twins", hooks_of_two_hosts_are_no_twins),
        (
            "without_a_place_for_locks_both_answer",
            without_a_place_for_locks_both_answer,
        ),
    ];
    for (name, test) in tests {
        test();
        println!("test {name} ... ok");
    }
}

/// A child with such a judge, its event given whole.
fn start(home: &Path, line: &str, event: &str, host: &str) -> Child {
    start_to(Stdio::piped(), home, line, event, host)
}

/// The same, with its answer going there.
fn start_to(stdout: Stdio, home: &Path, line: &str, event: &str, host: &str) -> Child {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(line.split_whitespace())
        .env_clear()
        .env("HOME", home)
        .env("CLAUDE_PID", host)
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let text = format!(r#"{{"hook_event_name":"{event}","tool_name":"Bash","tool_input":{{"command":"x"}}}}"#);
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(text.as_bytes())
        .expect("an event");
    child
}

fn end(child: Child) -> (String, String, Option<i32>) {
    let output = child.wait_with_output().expect("an end");
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    (text(output.stdout), text(output.stderr), output.status.code())
}

fn home() -> tempfile::TempDir {
    tempfile::tempdir().expect("a home")
}

/// What two hooks that run at the same time print, sorted.
fn both(first: &str, second: &str, events: [&str; 2], hosts: [&str; 2], home: &Path) -> [String; 2] {
    let children = [
        start(home, first, events[0], hosts[0]),
        start(home, second, events[1], hosts[1]),
    ];
    let mut answers = children.map(|child| {
        let (stdout, _, status) = end(child);
        assert_eq!(status, Some(0));
        stdout
    });
    answers.sort();
    answers
}

const SLOW: &str = "takes-half-a-second";
const ASKED: [&str; 2] = ["PermissionRequest"; 2];
const ONE_HOST: [&str; 2] = ["77"; 2];

fn a_panic_is_no_decision_and_one_line_of_diagnosis() {
    let home = home();
    let (stdout, stderr, status) = end(start(home.path(), "panics", "PermissionRequest", "1"));
    assert_eq!((stdout.as_str(), status), (BLOCK, Some(0)), "{stderr}");
    assert!(stderr.contains("cannot judge\\n\\u{1b}[31m Bash"), "{stderr}");
    assert_eq!(stderr.matches('\n').count(), 1, "{stderr}");
    let (stdout, ..) = end(start(home.path(), "panics", "PreToolUse", "1"));
    assert_eq!(stdout, EMPTY);
}

fn a_stack_overflow_says_nothing() {
    let home = home();
    let (stdout, _, status) = end(start(home.path(), "overflows-its-stack", "PermissionRequest", "1"));
    assert_eq!((stdout.as_str(), status), ("", None));
}

fn a_judge_past_the_deadline_is_no_decision() {
    let home = home();
    let started = Instant::now();
    let (stdout, stderr, status) = end(start(
        home.path(),
        "takes-five-seconds --deadline 1",
        "PermissionRequest",
        "1",
    ));
    assert_eq!((stdout.as_str(), status), (BLOCK, Some(0)), "{stderr}");
    assert!(
        stderr.contains("within 1 s") && started.elapsed() < Duration::from_secs(5),
        "{stderr}"
    );
}

fn an_allow_after_a_stop_is_not_given() {
    let home = home();
    let child = start(
        home.path(),
        "takes-half-a-second --deadline 1",
        "PermissionRequest",
        "1",
    );
    let pid = Pid::from_child(&child);
    thread::sleep(Duration::from_millis(200));
    kill_process(pid, Signal::STOP).expect("a stop");
    thread::sleep(Duration::from_millis(1200));
    kill_process(pid, Signal::CONT).expect("a continuation");
    let (stdout, _, status) = end(child);
    assert_eq!((stdout.as_str(), status), (BLOCK, Some(0)));
}

/// The one answer that is recorded.
fn recorded(home: &Path) -> Entry {
    let log = std::fs::read(home.join(".local/state/countersign/log.jsonl")).expect("a log");
    let entries: Vec<Entry> = files::lines(&log).map(|one| one.entry).collect();
    assert_eq!(entries.len(), 1);
    entries.into_iter().next().expect("one")
}

fn a_panic_is_recorded_with_its_call() {
    let home = home();
    end(start(home.path(), "panics", "PermissionRequest", "1"));
    let entry = recorded(home.path());
    assert_eq!(
        (entry.action, entry.by.as_str(), entry.tool.as_deref()),
        (Action::None, ERROR, Some("Bash"))
    );
    let why = entry.why.expect("why");
    assert!(
        why.starts_with("an error in Countersign itself") && why.contains("cannot judge"),
        "{why}"
    );
}

fn a_deadline_that_passed_is_recorded_with_its_call() {
    let home = home();
    end(start(
        home.path(),
        "takes-a-second-and-a-half --deadline 1",
        "PermissionRequest",
        "1",
    ));
    let entry = recorded(home.path());
    assert_eq!(
        (entry.action, entry.by.as_str(), entry.tool.as_deref()),
        (Action::None, ERROR, Some("Bash"))
    );
    assert!(entry.why.expect("why").starts_with("no decision within 1 s"));
    assert!(entry.took_us >= 1_000_000, "{}", entry.took_us);
}

fn what_comes_after_the_answer_ends_at_the_deadline() {
    let home = home();
    let started = Instant::now();
    let (stdout, stderr, status) = end(start(home.path(), "hangs-after-its-answer", "PermissionRequest", "1"));
    assert_eq!(
        (stdout.as_str(), stderr.as_str(), status),
        ("{\"answer\":1}\n", "", Some(0))
    );
    assert!(started.elapsed() >= Duration::from_secs(1));
}

/// A pipe that is full, and its end to read from.
fn full_pipe() -> (PipeReader, PipeWriter) {
    let (reader, mut writer) = std::io::pipe().expect("a pipe");
    fcntl_setfl(&writer, OFlags::NONBLOCK).expect("a pipe that does not wait");
    while writer.write(&[0; 4096]).is_ok() {}
    fcntl_setfl(&writer, OFlags::empty()).expect("a pipe that waits");
    (reader, writer)
}

/// Whether it is the judge or the watchdog that waits for a reader.
fn an_answer_that_nobody_takes_does_not_hold_the_process() {
    let home = home();
    let (_reader, writer) = full_pipe();
    let lines = ["takes-half-a-second --deadline 1", "takes-five-seconds --deadline 1"];
    let started = Instant::now();
    let children = lines.map(|line| {
        let stdout = writer.try_clone().expect("its end").into();
        start_to(stdout, home.path(), line, "PermissionRequest", line)
    });
    for mut child in children {
        let status = loop {
            match child.try_wait().expect("a child") {
                Some(status) => break status.code(),
                None if started.elapsed() > Duration::from_millis(4500) => child.kill().expect("its end"),
                None => thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(status, Some(0));
    }
}

fn a_second_answer_is_silence_and_the_end() {
    let home = home();
    let (stdout, stderr, status) = end(start(home.path(), "answers-twice", "PermissionRequest", "1"));
    assert_eq!(
        (stdout.as_str(), stderr.as_str(), status),
        ("{\"answer\":1}\n", "", Some(0))
    );
}

fn one_of_two_twins_answers() {
    let home = home();
    for _ in 0..5 {
        assert_eq!(both(SLOW, SLOW, ASKED, ONE_HOST, home.path()), [ALLOW, EMPTY]);
    }
    let [first, second] = [(); 2].map(|()| start(home.path(), SLOW, "PermissionRequest", "77"));
    let spoken = end(first).1 + &end(second).1;
    assert_eq!(
        spoken,
        "countersign: another Countersign hook answers this event; wire only one\n"
    );
}

fn different_events_do_not_wait_for_each_other() {
    let home = home();
    let early = "takes-half-a-second --early";
    let [asked, used] = both(SLOW, early, ["PermissionRequest", "PreToolUse"], ONE_HOST, home.path());
    assert!(
        asked.contains("\"allow\"") && used.contains("\"allow\""),
        "{asked}{used}"
    );
}

fn a_guard_is_no_twin_of_an_entry_without_one() {
    let home = home();
    let guard = "takes-half-a-second --guard high";
    let answers = both(SLOW, guard, ["PreToolUse"; 2], ONE_HOST, home.path());
    assert!(answers.iter().all(|answer| answer.contains("\"allow\"")), "{answers:?}");
}

fn hooks_of_two_hosts_are_no_twins() {
    let home = home();
    assert_eq!(both(SLOW, SLOW, ASKED, ["77", "78"], home.path()), [ALLOW, ALLOW]);
}

fn without_a_place_for_locks_both_answer() {
    let home = home();
    std::fs::write(home.path().join(".local"), "in the way").expect("a file");
    let [first, second] = both(SLOW, SLOW, ASKED, ONE_HOST, home.path());
    assert_eq!([first, second], [ALLOW, ALLOW]);
}
