//! The clock of one party is set while a call waits: a minute, an hour and ten years, forward and back. Where a real clock is
//! set, only the time of day jumps; after a sleep of the machine, what counts up evenly may have jumped as well.
//!
//! libfaketime tells the program another time than the system has, and each test sees that it did.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use countersign::audit::time;
use serde_json::Value;

use crate::chain::{hook, program};
use crate::desk::{Desk, Gate, When, relay};
use crate::double::{Answer, Double, Step};
use crate::eventually::eventually;
use crate::home::{ALLOW, ASIDE, Home, RELAY, Running, stays_open};
use crate::kills::{needs_answer, stopped_at};
use crate::postgres::Database;
use crate::pty::Pty;
use crate::tls::{Front, through};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const TEN_YEARS: i64 = 3653 * 24 * HOUR;
/// By so many seconds a clock is set.
const JUMPS: [i64; 6] = [MINUTE, HOUR, TEN_YEARS, -MINUTE, -HOUR, -TEN_YEARS];
/// The relay has looked at what waits since its clock was set.
const SWEPT: Duration = Duration::from_millis(2200);
/// Nobody has asked for this long about what is taken down: two polls.
const ORPHANED: Duration = Duration::from_secs(60);
const SOON: Duration = Duration::from_secs(30);

/// The clock of the programs that are started by it.
struct Clock {
    file: tempfile::TempDir,
    /// It sets what counts up evenly as well.
    also_monotonic: bool,
}

impl Clock {
    /// A clock that is right.
    fn new() -> Clock {
        let clock = Clock {
            file: tempfile::tempdir().expect("a directory"),
            also_monotonic: false,
        };
        clock.set(0);
        clock
    }

    /// The same of all that tells a time.
    fn of_everything() -> Clock {
        Clock {
            also_monotonic: true,
            ..Clock::new()
        }
    }

    fn path(&self) -> PathBuf {
        self.file.path().join("by")
    }

    /// Sets it so many seconds before the system's time, or behind it.
    fn set(&self, by: i64) {
        // Renamed, for who reads half of it reads another time.
        let draft = self.file.path().join("draft");
        fs::write(&draft, format!("{by:+}\n")).expect("the time");
        fs::rename(draft, self.path()).expect("the time");
    }

    /// The command goes by it.
    fn rules(&self, command: &mut Command) {
        command
            .env("LD_PRELOAD", library())
            .env("FAKETIME_TIMESTAMP_FILE", self.path())
            .env("FAKETIME_NO_CACHE", "1")
            // The times of files stay as they are.
            .env("NO_FAKE_STAT", "1")
            .env("DONT_FAKE_MONOTONIC", if self.also_monotonic { "0" } else { "1" });
    }
}

fn library() -> PathBuf {
    let places = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let mut files = places.map(|place| place.path().join("faketime/libfaketimeMT.so.1"));
    let file = files.find(|file| file.exists());
    file.expect("these tests need libfaketimeMT.so.1 in /usr/lib/*/faketime: the Debian package libfaketime has it")
}

/// The time that a program has told is the system's, set by so many seconds.
#[track_caller]
fn was_set(what: &str, millis: u64, by: i64) {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let now = i64::try_from(since.expect("after 1970").as_millis()).expect("a time");
    let off = i64::try_from(millis).expect("a time") - now - by * 1000;
    assert!(
        off.abs() < MINUTE * 500,
        "{what}: the clock was not set by {by} s: {off} ms"
    );
}

/// The same of the last line of the record, which the hook has written.
#[track_caller]
fn record_was_set(what: &str, home: &Home, by: i64) {
    let apart = Duration::from_secs(MINUTE.unsigned_abs() / 2);
    let now = SystemTime::now();
    let jump = Duration::from_secs(by.unsigned_abs());
    let then = if by < 0 { now - jump } else { now + jump };
    let record = home.record();
    let told = record["time"].as_str().unwrap_or_default();
    let (from, to) = (time::written(then - apart), time::written(then + apart));
    assert!(
        (from.as_str()..to.as_str()).contains(&told),
        "{what}: the clock was not set: {record}"
    );
}

/// A desk whose relay goes by this clock.
fn desk_by(clock: &Clock) -> Desk {
    let desk = Desk::new();
    desk.kill_relay();
    start_relay(&desk, clock, &[]);
    desk
}

fn start_relay(desk: &Desk, clock: &Clock, more: &[&str]) {
    let mut command = desk.home.command(RELAY);
    clock.rules(&mut command);
    desk.start_relay_by(command, more);
    desk.come_online();
}

/// Sets the relay's clock, and sees that it was.
fn set_relay(what: &str, desk: &Desk, clock: &Clock, by: i64) {
    clock.set(by);
    desk.come_online();
    let log = fs::read_to_string(desk.home.relay_dir().join("relay.log")).expect("the log");
    let last: Value = serde_json::from_str(log.lines().last().expect("a line")).expect("JSON");
    was_set(what, last["time"].as_u64().expect("a time"), by);
    thread::sleep(SWEPT);
}

/// Does it for each jump, all at once.
fn for_each_jump(test: impl Fn(i64) + Sync) {
    thread::scope(|scope| {
        for by in JUMPS {
            let test = &test;
            scope.spawn(move || test(by));
        }
    });
}

#[test]
fn a_relay_whose_clock_is_set_at_any_step_goes_on_and_the_answer_counts() {
    const PLACES: [(Step, When); 5] = [
        (Step::Presence, When::Done),
        (Step::Put, When::Done),
        (Step::Poll, When::Sent),
        (Step::Consume, When::Sent),
        (Step::Outcome, When::Sent),
    ];
    for_each_jump(|by| {
        for (step, when) in PLACES {
            let what = format!("{step:?} {when:?}, by {by} s");
            let clock = Clock::new();
            let stopped = stopped_at(desk_by(&clock), step, when, |_| {});
            set_relay(&what, &stopped.desk, &clock, by);
            stopped.gate.open(false);
            if !needs_answer(step, when) {
                let ran = stopped.desk.approve(&stopped.desk.one_waits());
                assert_eq!(ran.status, Some(0), "{what}: {ran:?}");
            }
            let id = stopped.id().expect("a card was put");
            let ran = stopped.running.end();
            assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{what}: {ran:?}");
            match stopped.desk.status(&id) {
                None => assert_eq!(by, TEN_YEARS, "{what}: what has ended is forgotten after seven days"),
                status => assert_eq!(status.as_deref(), Some("consumed"), "{what}"),
            }
        }
    });
}

#[test]
fn a_card_whose_hook_was_killed_goes_after_two_missed_polls_however_the_relays_clock_is_set() {
    let goes = |by: i64, restarted: bool| {
        let what = format!("by {by} s, {}", if restarted { "and started again" } else { "running" });
        let clock = Clock::new();
        let desk = desk_by(&clock);
        let mut running = Running::start(&mut desk.home.hold(600), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        running.kill();
        running.end();
        if restarted {
            desk.kill_relay();
            clock.set(by);
            start_relay(&desk, &clock, &[]);
        }
        set_relay(&what, &desk, &clock, by);
        let set = Instant::now();
        eventually(&what, ORPHANED + SOON, || {
            thread::sleep(Duration::from_millis(500));
            desk.status(&id).as_deref() != Some("pending")
        });
        assert!(set.elapsed() < ORPHANED + SWEPT * 2, "{what}: {:?}", set.elapsed());
        assert!(desk.waiting().is_empty(), "{what}");
        assert_ne!(desk.approve(&id).status, Some(0), "{what}");
    };
    thread::scope(|scope| {
        for by in JUMPS {
            for restarted in [false, true] {
                scope.spawn(move || goes(by, restarted));
            }
        }
    });
}

#[test]
fn a_call_waits_on_at_a_relay_that_is_started_again_with_another_clock() {
    // Ten years are more than any card lives.
    for by in [HOUR, -MINUTE, -HOUR, -TEN_YEARS] {
        let what = format!("by {by} s");
        let clock = Clock::new();
        let desk = desk_by(&clock);
        let cut = Arc::new(AtomicBool::new(false));
        let is_cut = Arc::clone(&cut);
        let double = Double::before(desk.address, &desk.home.device, move |turn| {
            match is_cut.load(Ordering::SeqCst) {
                true => Answer::Close,
                false => turn.honest(),
            }
        });
        desk.by_way_of(&double);
        let running = Running::start(&mut desk.home.hold(7200), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        cut.store(true, Ordering::SeqCst);
        desk.kill_relay();
        clock.set(by);
        start_relay(&desk, &clock, &[]);
        // The hook hears of the relay only once it has looked at what waits.
        set_relay(&what, &desk, &clock, by);
        cut.store(false, Ordering::SeqCst);
        assert_eq!(desk.one_waits(), id, "{what}");
        assert_eq!(desk.approve(&id).status, Some(0), "{what}");
        let ran = running.end();
        assert_eq!(ran.said, ALLOW, "{what}: {ran:?}");
    }
}

#[test]
fn a_card_that_has_expired_by_the_clock_of_a_relay_that_is_started_again_is_no_decision_and_it_is_said() {
    let clock = Clock::new();
    let desk = desk_by(&clock);
    let double = Double::before(desk.address, &desk.home.device, |turn| turn.honest());
    desk.by_way_of(&double);
    let running = Running::start(&mut desk.home.hold(600), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    desk.kill_relay();
    clock.set(TEN_YEARS);
    start_relay(&desk, &clock, &[]);
    set_relay("started again", &desk, &clock, TEN_YEARS);
    let ran = running.end();
    stays_open("ten years", &desk.home, &ran, SOON, &["by the relay's clock"]);
    assert_ne!(desk.approve(&id).status, Some(0));
}

#[test]
fn a_relay_on_a_database_that_others_share_goes_by_the_time_of_day_and_a_jump_costs_the_decision_or_nothing() {
    for by in [HOUR, TEN_YEARS, -MINUTE, -HOUR, -TEN_YEARS] {
        let Some(database) = Database::start() else { return };
        let what = format!("by {by} s");
        let (desk, clock) = (Desk::new(), Clock::new());
        desk.kill_relay();
        start_relay(&desk, &clock, &["--postgres", &database.address]);
        let running = Running::start(&mut desk.home.hold(120), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        set_relay(&what, &desk, &clock, by);
        match by < 0 {
            true => {
                assert_eq!(desk.approve(&id).status, Some(0), "{what}");
                let ran = running.end();
                assert_eq!(ran.said, ALLOW, "{what}: {ran:?}");
            }
            false => {
                let ran = running.end();
                // By ten years it was forgotten as well.
                let words = ["by the relay's clock", "there is no such request"];
                stays_open(&what, &desk.home, &ran, SOON, &words);
                assert_ne!(desk.approve(&id).status, Some(0), "{what}");
            }
        }
    }
}

#[test]
fn a_hook_whose_clock_is_set_at_any_step_prints_the_answer() {
    const PLACES: [(Step, When); 4] = [
        (Step::Presence, When::Done),
        (Step::Put, When::Done),
        (Step::Poll, When::Sent),
        (Step::Consume, When::Done),
    ];
    for_each_jump(|by| {
        for (step, when) in PLACES {
            let what = format!("{step:?} {when:?}, by {by} s");
            let clock = Clock::new();
            let stopped = stopped_at(Desk::new(), step, when, |hold| clock.rules(hold));
            clock.set(by);
            stopped.gate.open(false);
            if !needs_answer(step, when) {
                let ran = stopped.desk.approve(&stopped.desk.one_waits());
                assert_eq!(ran.status, Some(0), "{what}: {ran:?}");
            }
            let id = stopped.id().expect("a card was put");
            let ran = stopped.running.end();
            assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{what}: {ran:?}");
            assert_eq!(stopped.desk.status(&id).as_deref(), Some("consumed"), "{what}");
            record_was_set(&what, &stopped.desk.home, by);
        }
    });
}

#[test]
fn a_hook_whose_clock_is_set_while_it_waits_keeps_its_deadline() {
    const DEADLINE: u64 = 28;
    for_each_jump(|by| {
        let what = format!("by {by} s");
        let (desk, clock) = (Desk::new(), Clock::new());
        let mut hook = hook(&desk.home, &program(), DEADLINE);
        clock.rules(&mut hook);
        let running = Running::start(&mut hook, &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        clock.set(by);
        let ran = running.end();
        let within = Duration::from_secs(DEADLINE + 3);
        // The last poll may end with the time.
        let words = [
            "nobody answered within",
            "time for an answer",
            "the relay does not answer: timeout",
        ];
        stays_open(&what, &desk.home, &ran, within, &words);
        // Two seconds are for printing, and what is handed over is rounded down.
        assert!(ran.took > Duration::from_secs(DEADLINE - 5), "{what}: {ran:?}");
        record_was_set(&what, &desk.home, by);
        assert_eq!(desk.status(&id).as_deref(), Some("withdrawn"), "{what}");
        assert_ne!(desk.approve(&id).status, Some(0), "{what}");
    });
}

#[test]
fn a_hook_whose_clock_is_set_is_taken_back_at_once() {
    for by in JUMPS {
        let what = format!("by {by} s");
        let (desk, clock) = (Desk::new(), Clock::new());
        let mut hold = desk.home.hold(600);
        clock.rules(&mut hold);
        let running = Running::start(&mut hold, &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        clock.set(by);
        let told = Instant::now();
        running.terminate();
        let ran = running.end();
        let took = told.elapsed();
        assert_eq!((ran.said.as_str(), ran.status), (ASIDE, Some(0)), "{what}: {ran:?}");
        assert!(took < Duration::from_millis(1500), "{what}: {took:?}");
        record_was_set(&what, &desk.home, by);
        assert_eq!(desk.status(&id).as_deref(), Some("withdrawn"), "{what}");
    }
}

#[test]
fn a_hook_by_whose_clock_the_certificate_of_its_relay_does_not_count_makes_no_decision_and_says_so() {
    let desk = Desk::new();
    let front = Front::before(desk.address, "127.0.0.1");
    through(&front, &desk, Some(&front.certificate));
    for by in [TEN_YEARS, -TEN_YEARS] {
        let what = format!("by {by} s");
        let clock = Clock::new();
        clock.set(by);
        let mut hold = desk.home.hold(20);
        clock.rules(&mut hold);
        let ran = Running::start(&mut hold, &desk.home.event("rm notes.txt")).end();
        let words = if by > 0 {
            "certificate expired"
        } else {
            "certificate not valid yet"
        };
        stays_open(&what, &desk.home, &ran, SOON, &[words]);
        record_was_set(&what, &desk.home, by);
    }
}

#[test]
fn an_answer_that_comes_after_a_hooks_time_has_passed_in_a_jump_of_every_clock_does_not_count() {
    let desk = Desk::new();
    for (by, counts) in [(MINUTE, true), (HOUR, false)] {
        let what = format!("by {by} s");
        let clock = Clock::of_everything();
        let mut hold = desk.home.hold(1800);
        clock.rules(&mut hold);
        let running = Running::start(&mut hold, &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        clock.set(by);
        assert_eq!(desk.approve(&id).status, Some(0), "{what}");
        let ran = running.end();
        match counts {
            true => assert_eq!(ran.said, ALLOW, "{what}: {ran:?}"),
            false => stays_open(
                &what,
                &desk.home,
                &ran,
                SOON,
                &["nobody answered within", "time for an answer", "deadline"],
            ),
        }
        record_was_set(&what, &desk.home, by);
    }
}

#[test]
fn a_relay_that_has_slept_through_two_polls_ends_the_question_and_the_hook_says_why() {
    let clock = Clock::of_everything();
    let desk = desk_by(&clock);
    let running = Running::start(&mut desk.home.hold(1800), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    set_relay("asleep", &desk, &clock, 10 * MINUTE);
    let ran = running.end();
    let words = ["the relay has ended the question without an answer"];
    stays_open("asleep", &desk.home, &ran, SOON, &words);
    assert_ne!(desk.approve(&id).status, Some(0));
}

/// When the approver has decided, by its own clock.
fn decided_at(desk: &Desk, id: &str) -> u64 {
    let verdict = desk.kept("verdict", id).expect("a verdict");
    let verdict: Value = serde_json::from_str(&verdict).expect("JSON");
    verdict["verdict"]["decided_at"].as_u64().expect("a time")
}

#[test]
fn an_approver_whose_clock_is_set_before_it_answers_is_believed() {
    for_each_jump(|by| {
        let what = format!("by {by} s");
        let (desk, clock) = (Desk::new(), Clock::new());
        let gate = Gate::at(Step::Pending, When::Done);
        let at = Arc::clone(&gate);
        let double = Double::before(desk.address, &desk.home.device, move |turn| at.answer(turn));
        let running = Running::start(&mut desk.home.hold(120), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        desk.change("terminal.json", |terminal| terminal["url"] = double.url.as_str().into());
        let mut approve = desk.home.command(RELAY);
        clock.rules(approve.args(["approve", &id, "--yes"]));
        let approver = Running::start(&mut approve, "");
        eventually(&what, SOON, || gate.is_reached());
        clock.set(by);
        gate.open(false);
        let approver = approver.end();
        assert_eq!(approver.status, Some(0), "{what}: {approver:?}");
        let ran = running.end();
        assert_eq!(ran.said, ALLOW, "{what}: {ran:?}");
        was_set(&what, decided_at(&desk, &id), by);
    });
}

#[test]
fn a_card_stays_on_the_screen_of_a_terminal_whose_clock_is_set_and_is_answered_there() {
    for_each_jump(|by| {
        let what = format!("by {by} s");
        let (desk, clock) = (Desk::new(), Clock::new());
        let running = Running::start(&mut desk.home.hold(120), &desk.home.event("rm notes.txt"));
        let id = desk.one_waits();
        let pty = Pty::new();
        let mut watch = desk.home.command(RELAY);
        clock.rules(watch.args(["watch", "--once"]));
        let (mut child, _input) = pty.start(&watch);
        pty.shows("[a]llow");
        clock.set(by);
        thread::sleep(SWEPT);
        assert!(!pty.has_shown("(not asked any more"), "{what}");
        pty.types("a");
        pty.shows("Allowed");
        assert!(child.wait().expect("its end").success(), "{what}");
        let ran = running.end();
        assert_eq!(ran.said, ALLOW, "{what}: {ran:?}");
        was_set(&what, decided_at(&desk, &id), by);
    });
}

#[test]
fn a_terminal_whose_clock_is_set_does_not_say_of_a_card_that_it_has_no_time_left() {
    let (desk, clock) = (Desk::new(), Clock::new());
    let running = Running::start(&mut desk.home.hold(600), &desk.home.event("rm notes.txt"));
    desk.one_waits();
    for by in [HOUR, TEN_YEARS, -HOUR, -TEN_YEARS] {
        clock.set(by);
        let mut pending = desk.home.command(RELAY);
        clock.rules(pending.arg("pending"));
        let ran = Running::start(&mut pending, "").end();
        assert!(ran.said.contains("clocks differ"), "by {by} s: {ran:?}");
    }
    assert!(relay(&desk.home, &["pending"]).said.contains(" left)"));
    running.terminate();
    assert_eq!(running.end().said, ASIDE);
}
