//! At every step of the protocol one of the processes is killed. What must hold after it: nothing runs that the person did
//! not allow, what they allow runs at most once, and nothing waits for ever.

use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crate::desk::{Desk, Gate, Host, When, relay};
use crate::double::{Double, Step};
use crate::eventually::eventually;
use crate::home::{ALLOW, ASIDE, BLOCK, Ran, Running};

/// Every place between hook and relay, in the order in which a call comes by.
const PLACES: [(Step, When); 10] = [
    (Step::Presence, When::Sent),
    (Step::Presence, When::Done),
    (Step::Put, When::Sent),
    (Step::Put, When::Done),
    (Step::Poll, When::Sent),
    (Step::Poll, When::Done),
    (Step::Consume, When::Sent),
    (Step::Consume, When::Done),
    (Step::Outcome, When::Sent),
    (Step::Outcome, When::Done),
];
/// The hook waits for as long as any of these tests.
const DEADLINE: u64 = 120;
const SOON: Duration = Duration::from_secs(30);

/// A call on its way, stopped at one place.
pub struct Stopped {
    pub desk: Desk,
    host: Host,
    pub gate: Arc<Gate>,
    double: Double,
    pub running: Running,
}

fn stopped(step: Step, when: When) -> Stopped {
    stopped_at(Desk::new(), step, when, |_| {})
}

/// A call of this desk's, by a hook that is started in its own way. A person has allowed it where the place comes after
/// that.
pub fn stopped_at(desk: Desk, step: Step, when: When, way: impl FnOnce(&mut Command)) -> Stopped {
    let gate = Gate::at(step, when);
    let at = Arc::clone(&gate);
    let double = Double::before(desk.address, &desk.home.device, move |turn| at.answer(turn));
    desk.by_way_of(&double);
    let host = Host::new();
    let mut hold = desk.home.hold(DEADLINE);
    way(hold.env("CLAUDE_PID", host.id()));
    let running = Running::start(&mut hold, &desk.home.event("rm notes.txt"));
    if needs_answer(step, when) {
        let ran = desk.approve(&desk.one_waits());
        assert_eq!(ran.status, Some(0), "{ran:?}");
    }
    eventually(&format!("{step:?} {when:?} is reached"), SOON, || gate.is_reached());
    Stopped {
        desk,
        host,
        gate,
        double,
        running,
    }
}

/// Whether this place is reached only once somebody has answered.
pub fn needs_answer(step: Step, when: When) -> bool {
    matches!(
        (step, when),
        (Step::Poll, When::Done) | (Step::Consume | Step::Outcome, _)
    )
}

impl Stopped {
    pub fn id(&self) -> Option<String> {
        Some(self.double.card()?.card.id)
    }

    /// The old answer is good for nothing any more: the same call, asked again, waits for a new one.
    fn is_not_answered_again(&self) {
        let ran = Running::start(&mut self.desk.home.hold(4), &self.desk.home.event("rm notes.txt")).end();
        assert_eq!(ran.said, BLOCK, "{ran:?}");
    }
}

#[test]
fn a_relay_that_is_killed_at_any_step_goes_on_with_the_same_request() {
    for (step, when) in PLACES {
        let stopped = stopped(step, when);
        let what = format!("{step:?} {when:?}");
        stopped.desk.kill_relay();
        stopped.desk.start_relay();
        stopped.desk.come_online();
        if (step, when) == (Step::Consume, When::Done) {
            let id = stopped.id().expect("a card was put");
            stopped.desk.thief().takes_nothing(&id);
        }
        // What the relay had done, it could not say.
        stopped.gate.open(true);
        if !needs_answer(step, when) {
            let ran = stopped.desk.approve(&stopped.desk.one_waits());
            assert_eq!(ran.status, Some(0), "{what}: {ran:?}");
        }
        let (desk, id) = (&stopped.desk, stopped.id().expect("a card was put"));
        let ran = stopped.running.end();
        assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{what}: {ran:?}");
        assert_eq!(desk.status(&id).as_deref(), Some("consumed"), "{what}");
        assert_eq!(desk.approve(&id).status, Some(3), "{what}: nothing is left to answer");
        let puts = stopped.double.of(Step::Put).into_iter();
        let keys: std::collections::HashSet<_> = puts
            .map(|seen| (seen.header("idempotency-key").map(str::to_owned), seen.body))
            .collect();
        assert_eq!(keys.len(), 1, "{what}: one request, however often it was put");
    }
}

#[test]
fn a_hook_that_is_killed_at_any_step_has_printed_an_allow_or_none_ever_will_and_its_request_ends() {
    thread::scope(|scope| {
        for (step, when) in PLACES {
            scope.spawn(move || {
                let mut stopped = stopped(step, when);
                let what = format!("{step:?} {when:?}");
                let id = stopped.id();
                stopped.running.kill();
                // What was on its way arrives.
                stopped.gate.open(false);
                let killed = Instant::now();
                if let Some(id) = id {
                    // An answer that nobody takes is kept until its time has passed; it was good for the process that has ended.
                    let end = match (step, when) {
                        (Step::Presence | Step::Put, _) | (Step::Poll, When::Sent) => "withdrawn",
                        (Step::Poll, When::Done) => "decided",
                        _ => "consumed",
                    };
                    eventually(&format!("{what}: it is {end}"), Duration::from_secs(75), || {
                        thread::sleep(Duration::from_millis(500));
                        stopped.desk.status(&id).as_deref() == Some(end)
                    });
                    let took = killed.elapsed();
                    assert!(took < Duration::from_secs(70), "{what}: {took:?}");
                    let late = stopped.desk.approve(&id);
                    assert_ne!(late.status, Some(0), "{what}: {late:?}");
                }
                stopped.is_not_answered_again();
                let printed = if step == Step::Outcome { ALLOW } else { "" };
                let ran = stopped.running.end();
                assert_eq!((ran.said.as_str(), ran.status), (printed, None), "{what}: {ran:?}");
            });
        }
    });
}

/// Nobody waits for the request any more that was on its way at this place, if the relay has it; whose answer was taken is
/// over by that.
fn is_taken_down(desk: &Desk, place: (Step, When), id: Option<String>) {
    if let Some(id) = id.filter(|_| place != (Step::Put, When::Sent)) {
        let taken = place.0 == Step::Outcome || place == (Step::Consume, When::Done);
        let end = if taken { "consumed" } else { "withdrawn" };
        assert_eq!(desk.status(&id).as_deref(), Some(end), "{place:?}");
    }
}

#[test]
fn a_host_that_is_killed_at_any_step_takes_its_card_down_within_two_seconds() {
    for (step, when) in PLACES {
        let mut stopped = stopped(step, when);
        let what = format!("{step:?} {when:?}");
        let id = stopped.id();
        let killed = Instant::now();
        stopped.host.kill();
        let printed = if step == Step::Outcome { ALLOW } else { ASIDE };
        eventually(&format!("{what}: the hook ends"), Duration::from_secs(4), || {
            !stopped.running.is_running()
        });
        let took = killed.elapsed();
        let ran = stopped.running.end();
        assert_eq!((ran.said.as_str(), ran.status), (printed, Some(0)), "{what}: {ran:?}");
        assert!(took < Duration::from_secs(2), "{what}: {took:?}");
        is_taken_down(&stopped.desk, (step, when), id);
        assert!(stopped.desk.waiting().is_empty(), "{what}");
        stopped.gate.open(false);
    }
}

#[test]
fn a_hook_that_is_told_to_end_at_any_step_takes_its_card_down_and_ends_before_it_is_killed() {
    for (step, when) in PLACES {
        let stopped = stopped(step, when);
        let what = format!("{step:?} {when:?}");
        let id = stopped.id();
        let told = Instant::now();
        stopped.running.terminate();
        let ran = stopped.running.end();
        let took = told.elapsed();
        let printed = if step == Step::Outcome { ALLOW } else { ASIDE };
        assert_eq!(ran.said, printed, "{what}: {ran:?}");
        // The host kills it then.
        assert!(took < Duration::from_millis(1500), "{what}: {took:?}");
        is_taken_down(&stopped.desk, (step, when), id);
        stopped.gate.open(false);
    }
}

#[test]
fn an_approver_that_is_killed_before_its_answer_arrives_has_answered_nothing() {
    let mut answering = answering(When::Sent);
    answering.approver.kill();
    answering.approver.end();
    let Answering { desk, id, running, .. } = answering;
    assert_eq!(desk.status(&id).as_deref(), Some("pending"));
    by_itself(&desk);
    assert_eq!(desk.approve(&id).status, Some(0));
    assert_eq!(running.end().said, ALLOW);
}

#[test]
fn an_approver_that_is_killed_after_its_answer_has_arrived_has_answered_once() {
    let mut answering = answering(When::Done);
    answering.approver.kill();
    answering.approver.end();
    let Answering { desk, id, running, .. } = answering;
    assert_eq!(running.end().said, ALLOW);
    by_itself(&desk);
    let again = desk.approve(&id);
    assert_eq!(again.status, Some(3), "{again:?}");
}

#[test]
fn an_approver_whose_answer_was_taken_and_not_confirmed_gives_it_again_and_it_counts_once() {
    let Answering {
        desk,
        gate,
        double,
        running,
        id,
        approver,
    } = answering(When::Done);
    gate.open(true);
    let approver = approver.end();
    let told = approver.errors.contains("Too late: it was decided already");
    assert!(told && approver.status == Some(1), "{approver:?}");
    assert!(double.count(Step::Decide) > 1);
    let ran = running.end();
    assert_eq!(ran.said, ALLOW, "{ran:?}");
    assert_eq!(desk.status(&id).as_deref(), Some("consumed"));
}

/// A call that waits, and a terminal whose answer to it is stopped on its way.
struct Answering {
    desk: Desk,
    gate: Arc<Gate>,
    double: Double,
    running: Running,
    id: String,
    approver: Running,
}

/// The answer has not reached the relay, or it has and the terminal does not know.
fn answering(when: When) -> Answering {
    let desk = Desk::new();
    let gate = Gate::at(Step::Decide, when);
    let at = Arc::clone(&gate);
    let double = Double::before(desk.address, &desk.home.device, move |turn| at.answer(turn));
    let running = Running::start(&mut desk.home.hold(DEADLINE), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    by_way_of(&desk, &double);
    let approver = Running::start(
        desk.home.command(crate::home::RELAY).args(["approve", &id, "--yes"]),
        "",
    );
    eventually("the answer is under way", SOON, || gate.is_reached());
    Answering {
        desk,
        gate,
        double,
        running,
        id,
        approver,
    }
}

fn by_way_of(desk: &Desk, double: &Double) {
    desk.change("terminal.json", |terminal| terminal["url"] = double.url.as_str().into());
}

fn by_itself(desk: &Desk) {
    let url = format!("http://{}", desk.address);
    desk.change("terminal.json", |terminal| terminal["url"] = url.into());
}

#[test]
fn a_hook_whose_own_relay_is_killed_starts_it_again_and_goes_on() {
    let desk = Desk::new();
    let running = Running::start(&mut desk.home.hold(DEADLINE), &desk.home.event("rm notes.txt"));
    let id = desk.one_waits();
    let before = desk.relay();
    desk.kill_relay();
    eventually("the relay is there again", SOON, || desk.waiting() == [id.as_str()]);
    assert_ne!(desk.relay(), before);
    assert_eq!(desk.approve(&id).status, Some(0));
    let ran = running.end();
    assert_eq!((ran.said.as_str(), ran.status), (ALLOW, Some(0)), "{ran:?}");
}

#[test]
fn two_hooks_at_once_each_get_the_answer_to_their_own_call() {
    let desk = Desk::new();
    let commands = ["rm notes.txt", "rm other.txt", "rm -f third.txt"];
    let start = |command: &str| Running::start(&mut desk.home.hold(DEADLINE), &desk.home.event(command));
    let running = commands.map(start);
    eventually("all wait", SOON, || desk.waiting().len() == commands.len());
    let shown = relay(&desk.home, &["pending", "--json"]).said;
    let id = |command: &str| {
        let line = shown
            .lines()
            .find(|line| line.contains(&format!("{command:?}")))
            .expect("it waits");
        let object: serde_json::Value = serde_json::from_str(line).expect("JSON");
        object["id"].as_str().expect("an id").to_owned()
    };
    assert_eq!(desk.approve(&id(commands[1])).status, Some(0));
    let denied = relay(&desk.home, &["deny", &id(commands[2]), "--message", "keep it"]);
    assert_eq!(denied.status, Some(0), "{denied:?}");
    let [mut first, second, third] = running;
    let (second, third): (Ran, Ran) = (second.end(), third.end());
    assert_eq!(second.said, ALLOW, "{second:?}");
    assert!(
        third.said.contains(r#""behavior":"deny""#) && third.said.contains("keep it"),
        "{third:?}"
    );
    assert!(first.is_running(), "nobody has answered it");
    first.terminate();
    assert_eq!(first.end().said, ASIDE);
}
