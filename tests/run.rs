//! `countersign run` as a process, around scripts that stand in for claude: what passes, what is answered, how it ends.

#[path = "support/pty.rs"]
mod pty;

use std::fs::{self, File};
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use pty::{Pty, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

const COUNTERSIGN: &str = env!("CARGO_BIN_EXE_countersign");

/// A home with a project, and in it a script that is called claude.
struct Home(TempDir);

impl Home {
    /// `script` is what follows the line that names the shell.
    fn with_claude(script: &str) -> Self {
        let home = Home(TempDir::new().expect("a home"));
        fs::create_dir_all(home.project()).expect("a project");
        fs::write(home.project().join("notes.txt"), "mine\n").expect("a file");
        let claude = home.0.path().join("claude");
        fs::write(&claude, format!("#!/bin/sh\n{script}")).expect("a script");
        fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).expect("its mode");
        home
    }

    fn project(&self) -> PathBuf {
        self.0.path().join("app")
    }

    /// `countersign run OPTIONS -- claude WORDS`.
    fn command(&self, options: &[&str], words: &[&str]) -> Command {
        let mut command = Command::new(COUNTERSIGN);
        command
            .arg("run")
            .args(options)
            .arg("--")
            .arg(self.0.path().join("claude"))
            .args(words);
        command.current_dir(self.project());
        command.env("HOME", self.0.path()).env("PATH", "/usr/bin:/bin");
        command
    }

    /// The same, away from every terminal, with pipes.
    fn alone(&self, options: &[&str], words: &[&str]) -> Child {
        let command = self.command(options, words);
        let child = Command::new("setsid")
            .arg(command.get_program())
            .args(command.get_args())
            .current_dir(self.project())
            .env_clear()
            .envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        child.unwrap_or_else(|error| panic!("these tests need the program `setsid`: {error}"))
    }

    fn output(&self, options: &[&str], words: &[&str], input: &str) -> Output {
        let mut child = self.alone(options, words);
        let mut stdin = child.stdin.take().expect("its input");
        stdin.write_all(input.as_bytes()).expect("it reads");
        drop(stdin);
        child.wait_with_output().expect("its output")
    }

    /// What the script has put into a file of the project.
    fn left(&self, name: &str) -> String {
        fs::read_to_string(self.project().join(name)).unwrap_or_default()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn ask(id: &str, command: &str) -> String {
    json!({"type": "control_request", "request_id": id, "request": {
        "subtype": "can_use_tool", "tool_name": "Bash", "input": {"command": command}, "tool_use_id": format!("toolu_{id}"),
    }})
    .to_string()
}

fn answer(id: &str, result: &str) -> String {
    format!(
        r#"{{"type":"control_response","response":{{"subtype":"success","request_id":"{id}","response":{result}}}}}"#
    )
}

const ALLOW: &str = r#"{"behavior":"allow","updatedInput":{}}"#;
const RESULT: &str = r#"{"type":"result","subtype":"success","permission_denials":[]}"#;

/// A session on a terminal whose script has begun.
struct Attended {
    home: Home,
    pty: Pty,
    child: Child,
    input: Option<File>,
    output: BufReader<ChildStdout>,
}

impl Attended {
    fn start(home: Home, options: &[&str]) -> Self {
        let pty = Pty::new();
        let (mut child, input) = pty.start(&home.command(options, &[]));
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Attended {
            home,
            pty,
            child,
            input: Some(input),
            output,
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    fn ended(&mut self) -> ExitStatus {
        ended(&mut self.child)
    }
}

impl Drop for Attended {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn ended(child: &mut Child) -> ExitStatus {
    let mut status = None;
    wait_for("the process ends", || {
        status = child.try_wait().expect("its state");
        status.is_some()
    });
    status.expect("an exit status")
}

#[test]
fn claude_is_started_with_the_flags_it_needs_and_its_own_words_unchanged() {
    let home = Home::with_claude("printf '%s\\n' \"$@\"\n");
    let flags = "--print\n--input-format\nstream-json\n--output-format\nstream-json\n--verbose\n--permission-prompt-tool\nstdio\n";
    let run = home.output(&[], &["--model", "a b", "", "-x=*"], "");
    assert_eq!(text(&run.stdout), format!("{flags}--model\na b\n\n-x=*\n"));
    let run = home.output(&[], &["-p", "--verbose", "--output-format=stream-json"], "");
    let given = "--print\n--input-format\nstream-json\n--permission-prompt-tool\nstdio\n-p\n--verbose\n--output-format=stream-json\n";
    assert_eq!(text(&run.stdout), given, "what is there is not given twice");
    let run = home.output(&[], &["--permission-prompt-tool", "mcp__x__y"], "");
    assert_eq!((run.status.code(), text(&run.stdout).as_str()), (Some(1), ""));
    assert!(
        text(&run.stderr).contains("needs --permission-prompt-tool stdio"),
        "{}",
        text(&run.stderr)
    );
}

#[test]
fn the_exit_status_and_the_streams_are_claudes() {
    let home = Home::with_claude("echo out; echo err >&2; exit 7\n");
    let run = home.output(&[], &[], "");
    assert_eq!(run.status.code(), Some(7));
    assert_eq!(
        (text(&run.stdout).as_str(), text(&run.stderr).as_str()),
        ("out\n", "err\n")
    );
    let home = Home::with_claude("kill -KILL $$\n");
    assert_eq!(home.output(&[], &[], "").status.code(), Some(137));
    let mut command = home.command(&[], &[]);
    fs::remove_file(home.0.path().join("claude")).expect("gone");
    let run = command.stdin(Stdio::null()).output().expect("an output");
    assert_eq!(run.status.code(), Some(1));
    assert!(text(&run.stderr).contains("does not start"), "{}", text(&run.stderr));
}

#[test]
fn everything_that_is_not_ours_passes_byte_for_byte_both_ways() {
    let home = Home::with_claude("cat\nprintf 'no end'\n");
    let lines = concat!(
        "{\"type\":\"control_request\",\"request_id\":\"1\",\"request\":{\"subtype\":\"initialize\"}}\n",
        "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"1\"}}\n",
        "{\"type\":\"control_cancel_request\",\"request_id\":\"never asked\"}\n",
        "{\"type\": \"stream_event\", \"x\":1.0e0, \"x\":null}\n",
        "not JSON \u{1b}[31m\r\n",
        "\n",
    );
    let run = home.output(&[], &[], lines);
    assert_eq!(text(&run.stdout), format!("{lines}no end"));
    assert_eq!(
        text(&run.stderr),
        "countersign: claude was given no message; give the task with --prompt\n"
    );
}

#[test]
fn what_claude_asks_is_answered_and_seen_by_nobody_else() {
    let script = format!(
        "read -r message\necho '{}'\nread -r one\necho \"$one\" >one\necho '{}'\nread -r two\necho \"$two\" >two\necho '{}'\necho '{RESULT}'\ncat >rest\n",
        ask("r1", "cat /etc/hostname"),
        ask("r2", "sudo true"),
        r#"{"type":"control_request","request_id":"r3","request":{"subtype":"hook_callback"}}"#,
    );
    let home = Home::with_claude(&script);
    let run = home.output(&["--prompt", "go \"on\""], &[], "");
    assert_eq!(home.left("one"), answer("r1", ALLOW) + "\n");
    let message = "[countersign:policy] It needs a person, and nobody can be asked: there is no terminal. It is critical: runs with more rights";
    let denied = home.left("two");
    let denied: Value = serde_json::from_str(&denied).expect("a line");
    let result = &denied["response"]["response"];
    assert_eq!(
        (&result["behavior"], &result["reason"]),
        (&json!("deny"), &json!("policy"))
    );
    assert!(
        result["message"]
            .as_str()
            .is_some_and(|text| text.starts_with(&message[..80])),
        "{result}"
    );
    assert_eq!(home.left("rest"), "", "and then its input ended");
    let theirs = r#"{"type":"control_request","request_id":"r3","request":{"subtype":"hook_callback"}}"#;
    assert_eq!(text(&run.stdout), format!("{theirs}\n{RESULT}\n"));
    assert!(run.status.success());
}

#[test]
fn a_request_that_cannot_be_read_is_denied_and_one_that_nobody_answers_may_be_left_to_the_host() {
    let broken = r#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{}}}"#;
    let script = format!(
        "read -r message\necho '{broken}'\nread -r one\necho \"$one\" >one\necho '{}'\nread -r two\necho \"$two\" >two\necho '{RESULT}'\n",
        ask("r2", "rm notes.txt")
    );
    let home = Home::with_claude(&script);
    fs::create_dir_all(home.0.path().join(".config/countersign")).expect("a directory");
    let config = home.0.path().join(".config/countersign/config.toml");
    fs::write(config, "[headless]\nunanswered = \"none\"\n").expect("a file");
    home.output(&["--prompt", "go"], &[], "");
    assert!(
        home.left("one")
            .contains("\"behavior\":\"deny\",\"message\":\"[countersign:malformed] "),
        "{}",
        home.left("one")
    );
    assert_eq!(
        home.left("two"),
        "{\"type\":\"control_response\",\"response\":{\"subtype\":\"error\",\"request_id\":\"r2\",\"error\":\"It needs a person, and nobody can be asked: there is no terminal.\"}}\n"
    );
}

/// A caller that writes 20 MB of messages before it reads anything, while claude says each of them back.
#[test]
fn a_caller_that_writes_much_before_it_reads_does_not_stand_still() {
    let home = Home::with_claude("exec cat\n");
    let mut child = home.alone(&[], &[]);
    let line = format!("{{\"type\":\"keep\",\"pad\":\"{}\"}}\n", "x".repeat(10_000));
    let count = 2_000;
    let mut input = child.stdin.take().expect("its input");
    let begun = Instant::now();
    for _ in 0..count {
        input.write_all(line.as_bytes()).expect("it reads on");
    }
    drop(input);
    assert!(begun.elapsed() < Duration::from_secs(60), "{:?}", begun.elapsed());
    let mut back = Vec::new();
    child
        .stdout
        .take()
        .expect("its output")
        .read_to_end(&mut back)
        .expect("all of it");
    assert_eq!(back.len(), line.len() * count);
    assert!(ended(&mut child).success());
}

/// claude says 20 MB and asks in the midst of it; nobody reads for a while, and all of it is there afterwards.
#[test]
fn a_caller_that_does_not_read_for_a_while_loses_nothing() {
    let flood = "head -c 10000000 /dev/zero | tr '\\0' x; echo\n";
    let script = format!(
        "{flood}echo '{}'\nread -r one\necho \"$one\" >one\n{flood}",
        ask("r1", "cat /etc/hostname")
    );
    let home = Home::with_claude(&script);
    let mut child = home.alone(&[], &[]);
    let mut input = child.stdin.take().expect("its input");
    thread::sleep(Duration::from_millis(700));
    for _ in 0..2_000 {
        input.write_all(&[b'y'; 1_000]).expect("it reads on");
    }
    assert_eq!(home.left("one"), "", "it cannot have asked yet");
    let mut said = Vec::new();
    child
        .stdout
        .take()
        .expect("its output")
        .read_to_end(&mut said)
        .expect("all of it");
    assert_eq!(said.len(), 20_000_002);
    assert_eq!(home.left("one"), answer("r1", ALLOW) + "\n");
    drop(input);
    assert!(ended(&mut child).success());
}

#[test]
fn a_caller_that_is_gone_ends_claude_as_its_own_pipe_would() {
    let home = Home::with_claude("while echo more; do :; done\n");
    let mut child = home.alone(&[], &[]);
    drop(child.stdout.take());
    let status = ended(&mut child);
    assert!(!status.success(), "{status}");
}

#[test]
fn a_signal_is_passed_on_to_claude() {
    let home = Home::with_claude("trap 'echo told; exit 9' TERM\necho ready\nwhile :; do sleep 0.1; done\n");
    let mut child = home.alone(&[], &[]);
    let mut output = BufReader::new(child.stdout.take().expect("its output"));
    let mut line = String::new();
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "ready\n");
    let sent = Command::new("kill").arg(child.id().to_string()).status();
    assert!(sent.expect("kill").success());
    line.clear();
    output.read_line(&mut line).expect("a line");
    assert_eq!(line, "told\n");
    assert_eq!(ended(&mut child).code(), Some(9));
}

/// Two requests stand at once; the terminal shows one after the other, and each gets its own answer.
#[test]
fn two_requests_at_once_get_each_their_own_answer() {
    let script = format!(
        "echo '{}'; echo '{}'; echo '{}'\nread -r a; echo \"$a\"; read -r b; echo \"$b\"; read -r c; echo \"$c\"\n",
        ask("r1", "rm one.txt notes.txt"),
        ask("r2", "rm two.txt notes.txt"),
        ask("r3", "cat /etc/hostname")
    );
    let mut session = Attended::start(Home::with_claude(&script), &[]);
    assert_eq!(session.line(), answer("r3", ALLOW), "nobody waits for a person in vain");
    let first = wait_for_one(&session, ["rm one.txt", "rm two.txt"]);
    session.pty.types("a");
    assert_eq!(session.line(), answer(["r1", "r2"][first], ALLOW));
    session.pty.shows(["rm two.txt", "rm one.txt"][first]);
    session.pty.types("d no");
    let denied = r#"{"behavior":"deny","message":"[countersign:denied_by_person] no","reason":"denied_by_person"}"#;
    assert_eq!(session.line(), answer(["r2", "r1"][first], denied));
    session.input = None;
    assert!(session.ended().success());
}

/// Which of two texts the screen shows first.
fn wait_for_one(session: &Attended, texts: [&str; 2]) -> usize {
    let mut found = None;
    wait_for("one of them is shown", || {
        found = texts.iter().position(|text| session.pty.has_shown(text));
        found.is_some()
    });
    found.expect("one")
}

#[test]
fn a_request_that_is_taken_back_is_taken_down_and_not_answered() {
    let script = format!(
        "echo '{}'\nread -r go\necho '{}'\necho '{}'\nread -r next; echo \"$next\"\n",
        ask("r1", "rm notes.txt"),
        r#"{"type":"control_cancel_request","request_id":"r1"}"#,
        ask("r2", "cat /etc/hostname")
    );
    let mut session = Attended::start(Home::with_claude(&script), &[]);
    session.pty.shows("> ");
    writeln!(session.input.as_mut().expect("an input"), "go").expect("it reads");
    assert_eq!(session.line(), answer("r2", ALLOW));
    session.pty.shows("(not asked any more");
    session.input = None;
    assert!(session.ended().success());
}

#[test]
fn words_in_place_of_an_answer_end_the_turn_and_follow_as_a_message() {
    let script = format!(
        "read -r message\necho '{}'\nread -r one; echo \"$one\"\necho '{RESULT}'\nread -r two; echo \"$two\"\necho '{RESULT}'\ncat\n",
        ask("r1", "rm notes.txt")
    );
    let mut session = Attended::start(Home::with_claude(&script), &["--prompt", "go"]);
    session.pty.types("i look \"first\"");
    let stopped = r#"{"behavior":"deny","message":"[countersign:denied_by_person] The person refused this call.","reason":"denied_by_person","interrupt":true}"#;
    assert_eq!(session.line(), answer("r1", stopped));
    assert_eq!(session.line(), RESULT);
    let said: Value = serde_json::from_str(&session.line()).expect("a message");
    assert_eq!(
        (&said["type"], &said["message"]["content"]),
        (&json!("user"), &json!("look \"first\""))
    );
    assert_eq!(session.line(), RESULT);
    assert!(session.ended().success(), "its input ended after the second turn");
}

/// claude dies while a person is asked, and something that it started still holds its output.
#[test]
fn a_claude_that_dies_mid_question_ends_it_even_if_its_output_stays_open() {
    let script = format!(
        "sleep 300 &\necho $! >sleeper\necho '{}'\nread -r go\nkill -KILL $$\n",
        ask("r1", "rm notes.txt")
    );
    let mut session = Attended::start(Home::with_claude(&script), &[]);
    session.pty.shows("> ");
    let begun = Instant::now();
    writeln!(session.input.as_mut().expect("an input"), "go").expect("it reads");
    let status = session.ended();
    let sleeper = session.home.left("sleeper");
    Command::new("kill").arg(sleeper.trim()).status().expect("kill");
    assert_eq!(status.code(), Some(137));
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    session.pty.shows("(not asked any more");
}

#[test]
fn as_text_it_prints_what_the_model_says_with_nothing_for_a_terminal_to_obey() {
    let says = |text: &str| json!({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}});
    let script = format!(
        "printf '%s\\n' '{}' '{{\"type\":\"system\"}}'\nprintf '%s\\n' '{}'\n",
        says("one\ntwo"),
        says("\u{1b}[2Jthree")
    );
    let home = Home::with_claude(&script);
    let run = home.output(&["--text"], &[], "");
    assert!(run.status.success());
    assert!(text(&run.stdout).starts_with("one\ntwo\n"), "{}", text(&run.stdout));
    assert!(!text(&run.stdout).contains('\u{1b}'), "{}", text(&run.stdout));
}
