//! Limits, windows, identity and freeze with many hooks at once, and with some of them killed at any moment.
//!
//! Every test has a home of its own.

#[path = "../support/random.rs"]
#[allow(dead_code, reason = "another test uses the rest")]
mod random;

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use countersign::policy::limits::{Limit, left};
use countersign::policy::{Policy, config};
use random::Random;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use tempfile::TempDir;

const AT_ONCE: usize = 32;

/// Longer than any test takes, so that no token comes back meanwhile.
const LIMIT: &str = "[limits]\nBash = \"20/day\"\n\"*\" = \"1000/day\"\n";

struct Home {
    dir: TempDir,
}

impl Home {
    fn new(config: &str) -> Self {
        let home = Home {
            dir: tempfile::tempdir().expect("a home"),
        };
        fs::create_dir_all(home.dir.path().join("shop")).expect("a project");
        fs::create_dir_all(home.config().parent().expect("a parent")).expect("directories");
        fs::write(home.config(), config).expect("a configuration");
        home
    }

    fn config(&self) -> PathBuf {
        self.dir.path().join(".config/countersign/config.toml")
    }

    fn state(&self) -> PathBuf {
        self.dir.path().join(".local/state/countersign")
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(arguments)
            .current_dir(self.dir.path().join("shop"))
            .env_clear()
            .env("HOME", self.dir.path())
            .env("PATH", "/usr/bin:/bin")
            .env("CLAUDE_PROJECT_DIR", self.dir.path().join("shop"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("UTF-8")
    }

    /// Starts a hook of a session without a person, on a harmless command that no other hook is asked about.
    fn start(&self, number: usize, more: &Value) -> Child {
        let mut event = json!({
            "session_id": "s1", "permission_mode": "default", "hook_event_name": "PermissionRequest",
            "cwd": self.dir.path().join("shop"),
            "tool_name": "Bash", "tool_input": { "command": format!("echo {number}") },
        });
        let fields = event.as_object_mut().expect("an object");
        fields.extend(more.as_object().cloned().unwrap_or_default());
        let mut hook = self.command(&["hook"]);
        let mut child = hook.env("CLAUDE_CODE_SESSION_ATTENDED", "0").spawn().expect("the hook");
        // It may have been killed.
        let _ = child
            .stdin
            .take()
            .expect("a pipe")
            .write_all(event.to_string().as_bytes());
        child
    }

    /// What so many hooks answer that run at once: `allow`, `none` or the reason code of a denial.
    fn answers(&self, more: impl Fn(usize) -> Value) -> Vec<String> {
        let hooks: Vec<Child> = (0..AT_ONCE).map(|number| self.start(number, &more(number))).collect();
        hooks
            .into_iter()
            .map(|hook| answer(hook).expect("it ended by itself"))
            .collect()
    }

    fn left(&self) -> u64 {
        let policy: Policy = config::read(&self.config()).expect("a configuration").policy;
        let limits: Vec<&Limit> = policy.limits.iter().filter(|limit| limit.tool == "Bash").collect();
        left(&self.state(), &limits, SystemTime::now()).expect("whole buckets")[0]
    }
}

/// `None`: it was killed before it had answered.
fn answer(hook: Child) -> Option<String> {
    let output = hook.wait_with_output().expect("its end");
    if output.stdout.is_empty() {
        assert!(!output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        return None;
    }
    let answer: Value = serde_json::from_slice(&output.stdout).expect("one whole object");
    let decision = &answer["hookSpecificOutput"]["decision"];
    Some(match decision["behavior"].as_str() {
        Some("deny") => {
            let message = decision["message"].as_str().expect("a message");
            let code = message
                .strip_prefix("[countersign:")
                .and_then(|rest| rest.split_once(']'));
            code.expect("a reason code").0.to_owned()
        }
        Some(other) => other.to_owned(),
        None => "none".to_owned(),
    })
}

fn count(answers: &[String], wanted: &str) -> usize {
    answers.iter().filter(|answer| *answer == wanted).count()
}

#[test]
fn thirty_two_hooks_at_once_get_exactly_as_many_tokens_as_there_are() {
    for _ in 0..5 {
        let home = Home::new(LIMIT);
        let answers = home.answers(|_| Value::Null);
        assert_eq!(
            (count(&answers, "allow"), count(&answers, "rate_limited")),
            (20, 12),
            "{answers:?}"
        );
        assert_eq!(home.left(), 0);
    }
}

#[test]
fn a_session_with_a_person_keeps_its_prompt_over_the_limit_and_other_tools_go_on() {
    let home = Home::new("[limits]\nBash = \"1/day\"\n");
    assert_eq!(answer(home.start(1, &Value::Null)).as_deref(), Some("allow"));
    assert_eq!(answer(home.start(2, &Value::Null)).as_deref(), Some("rate_limited"));
    let event = r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"echo 3"}}"#;
    let mut hook = home.command(&["hook"]).spawn().expect("the hook");
    hook.stdin
        .take()
        .expect("a pipe")
        .write_all(event.as_bytes())
        .expect("an event");
    let output = hook.wait_with_output().expect("its end");
    let said = String::from_utf8(output.stderr).expect("UTF-8");
    assert_eq!(
        output.stdout,
        b"{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\"}}\n"
    );
    assert!(said.contains("is used up; the next call is let through from"), "{said}");
    let read = json!({ "tool_name": "Glob", "tool_input": { "pattern": "*.rs" } });
    assert_eq!(answer(home.start(4, &read)).as_deref(), Some("allow"));
}

#[test]
fn without_a_limit_nothing_is_counted() {
    let home = Home::new("preset = \"calm\"\n");
    assert_eq!(count(&home.answers(|_| Value::Null), "allow"), AT_ONCE);
    let names = fs::read_dir(home.state())
        .expect("the state")
        .flatten()
        .map(|entry| entry.file_name());
    let names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
    assert!(names.iter().all(|name| !name.starts_with("limits")), "{names:?}");
}

#[test]
fn a_call_that_is_put_to_a_person_gives_its_token_back_where_nobody_learns_the_answer() {
    let home = Home::new(&format!(
        "{LIMIT}[[escalate]]\ntool = \"Bash\"\nreason = \"look at it\"\n"
    ));
    for number in 0..3 {
        assert_eq!(answer(home.start(number, &Value::Null)).as_deref(), Some("none"));
    }
    assert_eq!(home.left(), 20);
    let shown = home.ok(&["log"]);
    assert!(shown.contains("has you asked: look at it"), "{shown}");
}

#[test]
fn hooks_killed_at_any_moment_cost_at_most_their_own_token_and_stop_nobody() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("after 1970");
    let seed = now.as_nanos() as u64 | 1;
    let mut random = Random::new(seed);
    let (mut killed, mut ended) = (0, 0);
    for round in 0..6 {
        let home = Home::new(LIMIT);
        let mut killers = Vec::new();
        let hooks: Vec<Child> = (0..AT_ONCE)
            .map(|number| {
                let hook = home.start(number, &Value::Null);
                if random.below(2) == 0 {
                    let (pid, delay) = (
                        Pid::from_child(&hook),
                        Duration::from_micros(random.below(40_000) as u64),
                    );
                    killers.push(thread::spawn(move || {
                        thread::sleep(delay);
                        // It may have ended, but is not yet waited for: the id is still its own.
                        let _ = kill_process(pid, Signal::KILL);
                    }));
                }
                hook
            })
            .collect();
        killers.into_iter().for_each(|killer| killer.join().expect("a kill"));
        let answers: Vec<Option<String>> = hooks.into_iter().map(answer).collect();
        let silent = answers.iter().filter(|answer| answer.is_none()).count();
        let answers: Vec<String> = answers.into_iter().flatten().collect();
        let (allowed, left) = (count(&answers, "allow"), home.left() as usize);
        let told = format!("seed {seed}, round {round}: {allowed} allowed, {silent} killed, {left} left");
        assert_eq!(allowed + count(&answers, "rate_limited"), answers.len(), "{told}");
        assert!(allowed + left <= 20 && allowed + left + silent >= 20, "{told}");
        assert!(
            left == 0 || count(&answers, "rate_limited") == 0,
            "refused while there were some: {told}"
        );
        let start = Instant::now();
        let next = answer(home.start(99, &Value::Null)).expect("it ends by itself");
        assert_eq!(next, if left > 0 { "allow" } else { "rate_limited" }, "{told}");
        assert!(start.elapsed() < Duration::from_secs(5), "it waited for a lock: {told}");
        killed += silent;
        ended += answers.len();
    }
    assert!(killed > 0 && ended > 0, "seed {seed}: {killed} killed, {ended} not");
}

#[test]
fn who_holds_the_lock_and_is_killed_keeps_nobody_waiting_and_who_goes_on_holding_it_lets_nothing_through() {
    let home = Home::new(LIMIT);
    assert_eq!(answer(home.start(0, &Value::Null)).as_deref(), Some("allow"));
    let hold = || {
        let mut holder = Command::new("flock");
        holder
            .arg("--no-fork")
            .arg(home.state().join("limits.lock"))
            .args(["sleep", "60"]);
        let holder = holder.spawn().expect("this test needs the program flock (util-linux)");
        let lock = fs::File::open(home.state().join("limits.lock")).expect("the lock's file");
        while lock.try_lock().is_ok() {
            lock.unlock().expect("given up");
            thread::sleep(Duration::from_millis(1));
        }
        holder
    };
    let mut holder = hold();
    let waiting = home.start(1, &Value::Null);
    thread::sleep(Duration::from_millis(100));
    holder.kill().expect("SIGKILL");
    holder.wait().expect("its end");
    assert_eq!(answer(waiting).as_deref(), Some("allow"));
    let mut holder = hold();
    assert_eq!(answer(home.start(2, &Value::Null)).as_deref(), Some("rate_limited"));
    holder.kill().expect("SIGKILL");
    holder.wait().expect("its end");
    assert_eq!(home.left(), 18);
}

#[test]
fn buckets_that_are_broken_let_nothing_through_until_they_are_removed() {
    let home = Home::new(LIMIT);
    fs::create_dir_all(home.state()).expect("directories");
    fs::write(home.state().join("limits"), "").expect("a file");
    assert_eq!(count(&home.answers(|_| Value::Null), "rate_limited"), AT_ONCE);
    fs::remove_file(home.state().join("limits")).expect("gone");
    assert_eq!(count(&home.answers(|_| Value::Null), "allow"), 20);
}

#[test]
fn whoever_asks_while_it_is_frozen_is_denied_and_nobody_after_it() {
    let home = Home::new("");
    for _ in 0..3 {
        home.ok(&["freeze", "--reason", "a leak"]);
        assert_eq!(count(&home.answers(|_| Value::Null), "frozen"), AT_ONCE);
        home.ok(&["thaw"]);
        assert_eq!(count(&home.answers(|_| Value::Null), "allow"), AT_ONCE);
    }
    let shown = home.ok(&["log", "-n", "200"]);
    assert_eq!(
        shown.matches(": a leak; `countersign thaw` ends that; frozen)").count(),
        3 * AT_ONCE,
        "{shown}"
    );
}

#[test]
fn a_freeze_amid_other_switching_holds_for_every_hook_after_it() {
    let home = Home::new("");
    let early: Vec<Child> = (0..AT_ONCE).map(|number| home.start(number, &Value::Null)).collect();
    let switching: Vec<Child> = (0..8)
        .map(|number| home.command(&[["on", "off"][number % 2]]).spawn().expect("the program"))
        .collect();
    home.ok(&["freeze"]);
    assert_eq!(count(&home.answers(|_| Value::Null), "frozen"), AT_ONCE);
    for child in early.into_iter().chain(switching) {
        child.wait_with_output().expect("its end");
    }
    assert_eq!(count(&home.answers(|_| Value::Null), "frozen"), AT_ONCE);
}

#[test]
fn windows_and_agents_are_told_apart_by_hooks_that_run_at_once() {
    // The one is open for two hours around now, the other closed for as long.
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .expect("after 1970")
        .as_secs();
    let hour = now / 3600 % 24;
    let [from, to] = [(hour + 22) % 24, (hour + 2) % 24].map(|hour| format!("{hour:02}:00"));
    let [other_from, other_to] = [(hour + 10) % 24, (hour + 14) % 24].map(|hour| format!("{hour:02}:00"));
    let home = Home::new(&format!(
        "[[window]]\nfrom = \"{from}\"\nto = \"{to}\"\nzone = \"UTC\"\nagent = \"main\"\ntools = [\"Bash\"]\noutside = \"deny\"\n\
         [[window]]\nfrom = \"{other_from}\"\nto = \"{other_to}\"\nzone = \"UTC\"\ntools = [\"Glob\"]\noutside = \"deny\"\n"
    ));
    let answers = home.answers(|number| match number % 3 {
        0 => Value::Null,
        1 => json!({ "agent_id": "a1", "agent_type": "Explore" }),
        _ => json!({ "tool_name": "Glob", "tool_input": { "pattern": format!("*.{number}") } }),
    });
    for (number, answer) in answers.iter().enumerate() {
        assert_eq!(
            answer,
            ["allow", "identity", "outside_hours"][number % 3],
            "{number}: {answers:?}"
        );
    }
}
