//! The hook as the host starts it: real processes, one event in, at most one object out.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

const ALLOW: &str =
    "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"allow\"}}}\n";
const BLOCK: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\"}}\n";
const EMPTY: &str = "{}\n";

/// A call that does nothing, and one that must never be let through.
const HARMLESS: &str = "true";
const HARMFUL: &str = "rm -rf ~";

/// A home of its own, an event, and what the process made of it.
struct Session {
    home: TempDir,
    arguments: Vec<String>,
    input: Vec<u8>,
}

impl Session {
    fn new() -> Self {
        Session {
            home: tempfile::tempdir().expect("a home"),
            arguments: vec!["hook".into()],
            input: Vec::new(),
        }
    }

    fn arguments(mut self, line: &str) -> Self {
        self.arguments = line.split_whitespace().map(str::to_owned).collect();
        self
    }

    fn event(self, name: &str, tool: &str, input: &str) -> Self {
        self.input(
            format!(
                r#"{{"session_id":"s","cwd":"/tmp","permission_mode":"default","hook_event_name":"{name}","tool_name":"{tool}","tool_input":{input}}}"#
            )
            .into_bytes(),
        )
    }

    fn permission_request(self, command: &str) -> Self {
        self.event("PermissionRequest", "Bash", &format!(r#"{{"command":"{command}"}}"#))
    }

    fn pre_tool_use(self, command: &str) -> Self {
        self.event("PreToolUse", "Bash", &format!(r#"{{"command":"{command}"}}"#))
    }

    fn input(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.input = bytes.into();
        self
    }

    fn config(self, text: &str) -> Self {
        let path = self.config_file();
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, text).expect("a configuration");
        self
    }

    fn host_settings(self, text: &str) -> Self {
        let dir = self.home.path().join(".claude");
        fs::create_dir_all(&dir).expect("a directory");
        fs::write(dir.join("settings.json"), text).expect("settings");
        self
    }

    fn config_file(&self) -> PathBuf {
        self.home.path().join(".config/countersign/config.toml")
    }

    fn pause_file(&self) -> PathBuf {
        self.home.path().join(".local/state/countersign/switches/off")
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_countersign"));
        command
            .args(&self.arguments)
            .env_clear()
            .env("HOME", self.home.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn start(&self) -> Child {
        self.command().spawn().expect("the hook starts")
    }

    fn run(&self) -> Answer {
        let mut child = self.start();
        // A hook that does not want the rest closes its end.
        let _ = child.stdin.take().expect("a pipe").write_all(&self.input);
        Answer::of(child.wait_with_output().expect("the hook ends"))
    }
}

struct Answer {
    stdout: String,
    stderr: String,
    status: Option<i32>,
}

impl Answer {
    fn of(output: Output) -> Self {
        Answer {
            stdout: String::from_utf8(output.stdout).expect("UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("UTF-8"),
            status: output.status.code(),
        }
    }

    #[track_caller]
    fn is(self, stdout: &str) -> Self {
        assert_eq!(
            (self.stdout.as_str(), self.status),
            (stdout, Some(0)),
            "{}",
            self.stderr
        );
        self
    }

    #[track_caller]
    fn silently(self) {
        assert_eq!(self.stderr, "");
    }

    #[track_caller]
    fn saying(self, words: &str) {
        assert!(self.stderr.contains(words), "{}", self.stderr);
        assert_eq!(self.stderr.matches('\n').count(), 1, "{}", self.stderr);
        assert!(self.stderr.starts_with("countersign: ") && !self.stderr.trim_end().contains(char::is_control));
    }
}

#[test]
fn a_harmless_call_is_allowed_and_another_stays_with_the_person() {
    Session::new().permission_request(HARMLESS).run().is(ALLOW).silently();
    Session::new().permission_request(HARMFUL).run().is(BLOCK).silently();
}

#[test]
fn a_harmless_command_that_leaves_the_sandbox_stays_with_the_person() {
    let input = r#"{"command":"true","dangerouslyDisableSandbox":true}"#;
    Session::new().event("PermissionRequest", "Bash", input).run().is(BLOCK);
    Session::new()
        .arguments("hook --early")
        .event("PreToolUse", "Bash", input)
        .run()
        .is(EMPTY);
}

#[test]
fn questions_and_plans_stay_with_the_person_at_every_event() {
    for (tool, input) in [
        ("ExitPlanMode", r#"{"plan":"true"}"#),
        (
            "AskUserQuestion",
            r#"{"questions":[{"question":"Q?","options":[{"label":"A"}]}]}"#,
        ),
    ] {
        Session::new().event("PermissionRequest", tool, input).run().is(BLOCK);
        for wiring in ["hook", "hook --early", "hook --guard low"] {
            Session::new()
                .arguments(wiring)
                .event("PreToolUse", tool, input)
                .run()
                .is(EMPTY);
        }
    }
}

#[test]
fn what_is_no_event_is_no_decision_with_one_line_of_diagnosis() {
    let wrong_type = r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":["true"]}}"#;
    let twice = r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"true","command":"true"}}"#;
    let deep = format!(
        r#"{{"hook_event_name":"PermissionRequest","x":{}"#,
        "[".repeat(1_000_000)
    );
    for (input, words) in [
        (&b""[..], "empty"),
        (b"\xef\xbb\xbf \n", "empty"),
        (b"{\"hook_event_name\":\"Perm", "cannot be read"),
        (b"true", "not a JSON object"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (
            b"{\"hook_event_name\":\"Post\\u001b[31m\\nToolUse\"}",
            "Post\\u{1b}[31m\\nToolUse",
        ),
        (wrong_type.as_bytes(), "Bash"),
        (twice.as_bytes(), "duplicate"),
        (deep.as_bytes(), "nests"),
    ] {
        Session::new().input(input).run().is(BLOCK).saying(words);
    }
}

#[test]
fn an_unreadable_tool_use_is_no_opinion() {
    Session::new()
        .event("PreToolUse", "Bash", "5")
        .run()
        .is(EMPTY)
        .saying("not an object");
    Session::new()
        .arguments("hook --early")
        .input("{")
        .run()
        .is(EMPTY)
        .saying("cannot be read");
}

#[test]
fn sixteen_mebibytes_are_answered_and_more_is_no_decision() {
    let event = |length: usize| {
        let content = "x".repeat(length - 300);
        Session::new().event(
            "PermissionRequest",
            "Write",
            &format!(r#"{{"file_path":"/tmp/x","content":"{content}"}}"#),
        )
    };
    event(16 << 20).run().is(BLOCK).silently();
    event((16 << 20) + 400).run().is(BLOCK).saying("longer");
}

#[test]
fn input_that_never_ends_is_no_decision_at_the_deadline() {
    for (arguments, answer) in [("hook --deadline 1", BLOCK), ("hook --deadline=1 --early", EMPTY)] {
        let session = Session::new().arguments(arguments).permission_request(HARMLESS);
        let started = Instant::now();
        let mut child = session.start();
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(&session.input).expect("a whole event");
        let answered = Answer::of(child.wait_with_output().expect("the hook ends"));
        drop(stdin);
        answered.is(answer).saying("within 1 s");
        assert!(started.elapsed() >= Duration::from_secs(1));
    }
}

#[test]
fn a_reader_that_is_gone_is_no_panic() {
    let session = Session::new().permission_request(HARMLESS);
    let mut child = session.start();
    drop(child.stdout.take());
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(&session.input)
        .expect("an event");
    let mut stderr = String::new();
    child
        .stderr
        .take()
        .expect("a pipe")
        .read_to_string(&mut stderr)
        .expect("UTF-8");
    assert_eq!(
        (child.wait().expect("the hook ends").code(), stderr.as_str()),
        (Some(0), "")
    );
}

#[test]
fn wrong_arguments_are_no_decision_and_never_status_2() {
    for arguments in [
        "--bogus",
        "--deadline",
        "--deadline 0",
        "--guard x",
        "--guard-asks",
        "--early --early",
        "--help x",
        "word",
    ] {
        let session = Session::new()
            .arguments(&format!("hook {arguments}"))
            .permission_request(HARMLESS);
        session.run().is(BLOCK).saying("countersign hook --help");
    }
}

#[test]
fn help_shows_the_arguments() {
    let answer = Session::new().arguments("hook --help").run();
    for flag in ["--deadline", "--early", "--guard ", "--guard-asks"] {
        assert!(
            answer.stdout.contains(flag) && answer.status == Some(0),
            "{}",
            answer.stdout
        );
    }
}

#[test]
fn a_tool_use_is_only_watched_until_it_is_wired() {
    for command in [HARMLESS, HARMFUL] {
        Session::new().pre_tool_use(command).run().is(EMPTY).silently();
    }
}

#[test]
fn early_allows_harmless_tool_uses_and_is_silent_on_others() {
    let allow = Session::new().arguments("hook --early").pre_tool_use(HARMLESS).run();
    assert!(allow.stdout.contains(
        r#""hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Countersign: "#
    ));
    Session::new()
        .arguments("hook --early")
        .pre_tool_use(HARMFUL)
        .run()
        .is(EMPTY);
}

#[test]
fn what_the_person_has_the_host_ask_about_is_never_allowed() {
    for (rule, answer) in [("Bash(true)", BLOCK), ("Bash(* x)", BLOCK), ("Bash(git push *)", ALLOW)] {
        let settings = format!(r#"{{"permissions":{{"ask":["{rule}"]}}}}"#);
        let session = Session::new().host_settings(&settings).permission_request(HARMLESS);
        session.run().is(answer);
    }
    let broken = Session::new().host_settings("{").permission_request(HARMLESS);
    broken.run().is(BLOCK);
    let early = Session::new().host_settings("{").arguments("hook --early");
    early.pre_tool_use(HARMLESS).run().is(EMPTY);
}

#[test]
fn a_guard_denies_or_asks_and_says_why() {
    let deny = Session::new()
        .arguments("hook --guard high")
        .pre_tool_use(HARMFUL)
        .run();
    assert!(
        deny.stdout
            .contains(r#""permissionDecision":"deny","permissionDecisionReason":"[countersign:policy] "#)
    );
    let ask = Session::new()
        .arguments("hook --guard=high --guard-asks")
        .pre_tool_use(HARMFUL)
        .run();
    assert!(
        ask.stdout
            .contains(r#""permissionDecision":"ask","permissionDecisionReason":"Countersign: "#)
    );
    Session::new()
        .arguments("hook --guard high")
        .pre_tool_use(HARMLESS)
        .run()
        .is(EMPTY);
}

#[test]
fn whoever_is_stopped_is_told_how_much_would_be_lost() {
    let session = Session::new().arguments("hook --guard low");
    let draft = session.home.path().join("draft");
    fs::write(&draft, "mine").expect("a file");
    let denied = session.pre_tool_use(&format!("rm {}", draft.display())).run();
    let told = "; it deletes 1 file (4 B), not known to be in git";
    assert!(denied.stdout.contains(told), "{}", denied.stdout);
}

#[test]
fn no_decision_is_empty_where_the_person_wants_that() {
    let session = Session::new().config("[hook]\nno_decision = \"empty\"\n");
    session.permission_request(HARMFUL).run().is(EMPTY).silently();
    let session = Session::new().config("[hook]\nno_decision = \"empty\"\n");
    session.input("").run().is(EMPTY).saying("empty");
}

#[test]
fn a_wrong_configuration_is_no_decision_and_says_what_to_write() {
    let session = Session::new()
        .config("[hook]\nno_decision = \"blok\"\n")
        .permission_request(HARMLESS);
    session
        .run()
        .is(BLOCK)
        .saying("config.toml:2: `no_decision = \"blok\"`");
}

#[test]
fn a_configuration_that_everybody_may_write_to_is_no_decision() {
    let session = Session::new().config("").permission_request(HARMLESS);
    fs::set_permissions(session.config_file(), fs::Permissions::from_mode(0o666)).expect("chmod");
    session.run().is(BLOCK).saying("may be written by everybody");
}

#[test]
fn while_it_is_off_no_call_gets_an_opinion_and_on_ends_that() {
    let session = Session::new().arguments("off 1h");
    assert!(session.run().stdout.contains("off for 1 h"));
    let session = session.arguments("hook").permission_request(HARMLESS);
    session.run().is(EMPTY).saying("switched off");
    let session = session.arguments("hook --guard low").pre_tool_use(HARMFUL);
    session.run().is(EMPTY).saying("switched off");
    let session = session.arguments("on");
    let on = session.run().stdout;
    assert!(on.contains("is on") && on.contains("59 min"), "{on}");
    session
        .arguments("hook")
        .permission_request(HARMLESS)
        .run()
        .is(ALLOW)
        .silently();
}

#[test]
fn off_without_a_length_has_no_end_and_a_wrong_length_changes_nothing() {
    let session = Session::new().arguments("off");
    assert!(session.run().stdout.contains("until `countersign on`"));
    let session = session.arguments("hook").permission_request(HARMLESS);
    session.run().is(EMPTY).saying("switched off");
    let other = Session::new().arguments("off soon");
    let refused = other.run();
    assert!(
        refused.stderr.contains("30m, 1h, 2d") && refused.status != Some(0),
        "{}",
        refused.stderr
    );
    assert!(!other.pause_file().exists());
}

#[test]
fn a_pause_that_has_ended_is_on_and_a_broken_one_is_off() {
    for (text, answer) in [("1000000000\n", ALLOW), ("soon\n", EMPTY), ("", EMPTY)] {
        let session = Session::new().permission_request(HARMLESS);
        let file = session.pause_file();
        fs::create_dir_all(file.parent().expect("a parent")).expect("directories");
        fs::write(file, text).expect("a pause");
        let answered = session.run().is(answer);
        assert_eq!(answered.stderr.contains("holds no time"), answer == EMPTY);
    }
}

#[test]
fn without_a_home_calls_are_still_answered() {
    let session = Session::new().permission_request(HARMLESS);
    let mut child = session
        .command()
        .env_remove("HOME")
        .env("XDG_RUNTIME_DIR", "/proc")
        .spawn()
        .expect("the hook starts");
    child
        .stdin
        .take()
        .expect("a pipe")
        .write_all(&session.input)
        .expect("an event");
    Answer::of(child.wait_with_output().expect("the hook ends")).is(ALLOW);
}

const FROZEN: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PermissionRequest\",\"decision\":{\"behavior\":\"deny\",\"message\":\"[countersign:frozen] The person has frozen this session: no call is allowed for now.\",\"interrupt\":true}}}\n";
const FROZEN_TOOL_USE: &str = "{\"hookSpecificOutput\":{\"hookEventName\":\"PreToolUse\",\"permissionDecision\":\"deny\",\"permissionDecisionReason\":\"[countersign:frozen] The person has frozen this session: no call is allowed for now.\"}}\n";

#[test]
fn while_it_is_frozen_every_call_is_denied_and_thaw_ends_that() {
    let session = Session::new().arguments("off");
    session.run();
    let session = session.arguments("freeze --reason leak");
    let frozen = session.run();
    assert!(frozen.stdout.contains("denies every call"), "{}", frozen.stdout);
    let session = session.arguments("hook").permission_request(HARMLESS);
    session.run().is(FROZEN).saying(": leak; `countersign thaw` ends that");
    let session = session.arguments("hook --early").pre_tool_use(HARMLESS);
    session.run().is(FROZEN_TOOL_USE).saying("frozen since");
    let session = session
        .config("preset = 5")
        .arguments("hook")
        .permission_request(HARMFUL);
    session.run().is(FROZEN).saying("leak");
    let mut session = session.config("[[rule]]\ntool = \"Bash\"\naction = \"deny\"\n");
    session.run().is(FROZEN).saying("leak");
    for (arguments, input, answer) in [
        ("hook", "no event", FROZEN),
        (
            "hook",
            r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{}}"#,
            FROZEN_TOOL_USE,
        ),
        ("hook --guard low", "", FROZEN_TOOL_USE),
        ("hook --no-such", "", FROZEN),
        (
            "hook",
            r#"{"hook_event_name":"PermissionRequest","tool_name":"AskUserQuestion","tool_input":{"questions":[]}}"#,
            FROZEN,
        ),
    ] {
        session = session.arguments(arguments).input(input);
        session.run().is(answer);
    }
    session = session.arguments("hook --deadline 1");
    let late = session.start();
    Answer::of(late.wait_with_output().expect("the hook ends"))
        .is(FROZEN)
        .saying("the event is empty");
    let mut never_told = session.start();
    let stdin = never_told.stdin.take();
    Answer::of(never_told.wait_with_output().expect("the hook ends"))
        .is(FROZEN)
        .saying("within 1 s");
    drop(stdin);
    session = session.arguments("thaw");
    let thawed = session.run();
    assert!(
        thawed.stdout.contains("it was frozen since") && thawed.stdout.contains("It is switched off"),
        "{}",
        thawed.stdout
    );
    session = session.arguments("hook").permission_request(HARMLESS);
    session.run().is(EMPTY).saying("switched off");
}

#[test]
fn a_freeze_that_cannot_be_read_holds() {
    for file in ["switches", "switches/frozen"] {
        let session = Session::new().permission_request(HARMLESS);
        let path = session.home.path().join(".local/state/countersign").join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        fs::write(path, "soon").expect("a file");
        session.run().is(FROZEN).saying("frozen, as it seems");
    }
}

/// Starts a hook, lets `interfere` do its worst after `delay`, and says what came out: nothing or one whole object.
fn interrupted(command: &str, delay: Duration, interfere: impl FnOnce(Pid)) -> bool {
    let session = Session::new()
        .arguments("hook --deadline 1")
        .permission_request(command);
    let mut child = session.start();
    let mut stdin = child.stdin.take().expect("a pipe");
    let (first, rest) = session.input.split_at(session.input.len() / 2);
    let _ = stdin.write_all(first).and_then(|()| stdin.write_all(rest));
    drop(stdin);
    thread::sleep(delay);
    interfere(Pid::from_child(&child));
    let output = child.wait_with_output().expect("the hook ends");
    let stdout = String::from_utf8(output.stdout).expect("UTF-8");
    let whole = [ALLOW, BLOCK, ""].contains(&stdout.as_str());
    assert!(whole, "{stdout:?} after {delay:?}");
    assert!(stdout != ALLOW || command == HARMLESS, "an allow of {command}");
    assert_ne!(output.status.code(), Some(2));
    !stdout.is_empty()
}

/// A process that has ended already takes no signal, and need not.
fn send(pid: Pid, signal: Signal) {
    let _ = kill_process(pid, signal);
}

/// Moments spread over a hook's life, unevenly: most fall into its first milliseconds. The last is after its end.
fn moments(count: u64) -> impl Iterator<Item = (Duration, &'static str)> {
    (0..count).map(move |number| {
        let delay = if number + 2 >= count {
            400_000
        } else {
            number * number * 7919 % 12_000
        };
        (
            Duration::from_micros(delay),
            if number % 2 == 0 { HARMLESS } else { HARMFUL },
        )
    })
}

#[test]
fn killed_at_any_moment_it_leaves_nothing_or_one_whole_object() {
    for signal in [Signal::TERM, Signal::KILL] {
        let answered = moments(200)
            .filter(|(delay, command)| interrupted(command, *delay, |pid| send(pid, signal)))
            .count();
        println!("{answered} of 200 answered before {signal:?}");
        assert!((2..200).contains(&answered), "the signals missed: {answered}");
    }
}

#[test]
fn stopped_past_its_deadline_at_any_moment_it_answers_at_most_once_and_whole() {
    let stops = moments(60).map(|(delay, command)| {
        thread::spawn(move || {
            interrupted(command, delay, |pid| {
                send(pid, Signal::STOP);
                thread::sleep(Duration::from_millis(1200));
                send(pid, Signal::CONT);
            })
        })
    });
    let stops: Vec<_> = stops.collect();
    for stop in stops {
        assert!(
            stop.join().expect("nothing but whole objects"),
            "what goes on after a stop answers"
        );
    }
}
