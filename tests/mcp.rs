//! `countersign mcp` as a client meets it, without a host: every line that it answers, to the byte.

#[path = "support/pty.rs"]
mod pty;

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use countersign::presence::{HandedOn, Other};
use pty::{PATIENCE, Pty, wait_for};
use serde_json::{Value, json};
use tempfile::TempDir;

const COUNTERSIGN: &str = env!("CARGO_BIN_EXE_countersign");
const LIMIT: usize = 16 * 1024 * 1024;

/// A server in a home of its own, and a terminal that a person may sit at.
struct Server {
    home: Arc<TempDir>,
    pty: Pty,
    child: Child,
    input: Option<File>,
    output: Receiver<String>,
}

impl Server {
    fn start() -> Self {
        Self::configured("")
    }

    fn configured(text: &str) -> Self {
        Self::in_home(Self::home(text))
    }

    fn home(configuration: &str) -> Arc<TempDir> {
        let home = TempDir::new().expect("a home");
        for dir in ["app", ".config/countersign"] {
            std::fs::create_dir_all(home.path().join(dir)).expect("directories");
        }
        std::fs::write(home.path().join("app/notes.txt"), "mine\n").expect("a file");
        std::fs::write(home.path().join(".config/countersign/config.toml"), configuration).expect("a file");
        Arc::new(home)
    }

    fn in_home(home: Arc<TempDir>) -> Self {
        Self::within(home, &[])
    }

    /// Started by other programs, given with their arguments.
    fn within(home: Arc<TempDir>, others: &[&str]) -> Self {
        let words = [others, &[COUNTERSIGN, "mcp"]].concat();
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).current_dir(home.path().join("app"));
        command.env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
        let pty = Pty::new();
        let (mut child, input) = pty.start(&command);
        let (sender, output) = channel();
        let lines = BufReader::new(child.stdout.take().expect("its output")).lines();
        thread::spawn(move || lines.map_while(Result::ok).try_for_each(|line| sender.send(line)));
        Server {
            home,
            pty,
            child,
            input: Some(input),
            output,
        }
    }

    fn project(&self) -> PathBuf {
        self.home.path().join("app")
    }

    fn send(&mut self, line: &str) {
        let input = self.input.as_mut().expect("an open input");
        writeln!(input, "{line}").expect("the server reads");
    }

    /// The next line of the server.
    fn line(&self) -> String {
        self.output.recv_timeout(PATIENCE).expect("an answer")
    }

    fn answer(&mut self, line: &str) -> String {
        self.send(line);
        self.line()
    }

    /// Asks whether a shell command may run.
    fn ask(&mut self, id: &str, command: &str) {
        let arguments = json!({"tool_name": "Bash", "input": {"command": command}, "tool_use_id": "toolu_1"});
        self.call(id, "permission_prompt", &arguments);
    }

    fn call(&mut self, id: &str, tool: &str, arguments: &Value) {
        self.send(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
        ));
    }

    /// That it said nothing that was not asked for: the next thing it says is the answer to this.
    fn says_nothing_more(&mut self) {
        let pong = self.answer(r#"{"jsonrpc":"2.0","id":"last","method":"ping"}"#);
        assert_eq!(pong, r#"{"jsonrpc":"2.0","id":"last","result":{}}"#);
    }

    fn ended(&mut self) -> ExitStatus {
        let mut status = None;
        wait_for("the server ends", || {
            status = self.child.try_wait().expect("its state");
            status.is_some()
        });
        status.expect("an exit status")
    }

    /// What the record says was answered, why, and by whom.
    fn recorded(&self) -> Vec<[String; 3]> {
        let output = Command::new(COUNTERSIGN)
            .args(["log", "--json"])
            .env_clear()
            .env("HOME", self.home.path())
            .output()
            .expect("the record");
        let lines = String::from_utf8(output.stdout).expect("text");
        let read = |line: &str| {
            let line: Value = serde_json::from_str(line).expect("a recorded line");
            ["action", "reason", "by"].map(|name| line[name].as_str().unwrap_or_default().to_owned())
        };
        lines.lines().map(read).collect()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The line of a result whose one block holds `text`.
fn result(id: &str, text: &str) -> String {
    let text = Value::from(text);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":{text}}}]}}}}"#)
}

fn error(id: &str, code: i32, message: &str) -> String {
    let message = Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

const ALLOW: &str = r#"{"behavior":"allow","updatedInput":{}}"#;

#[test]
fn every_kind_of_message_is_answered_to_the_byte_or_not_at_all() {
    let mut server = Server::start();
    let discover =
        r#"{"jsonrpc":"2.0","id":"probe-1","method":"server/discover","params":{"protocolVersion":"2026-07-28"}}"#;
    assert_eq!(
        server.answer(discover),
        error("\"probe-1\"", -32601, "server/discover is not known")
    );
    let initialize = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(
        server.answer(initialize),
        format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"2025-06-18","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"countersign","title":"Countersign","version":"{version}"}}}}}}"#
        )
    );
    for silent in [
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/unheard-of","params":[1]}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled"}"#,
        r#"{"jsonrpc":"2.0","id":5,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":5,"error":{"code":1,"message":"no"}}"#,
        "",
        "   \t ",
    ] {
        server.send(silent);
    }
    let listed: Value = serde_json::from_str(&server.answer(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#))
        .expect("one line of JSON");
    let names: Vec<&Value> = listed["result"]["tools"]
        .as_array()
        .expect("tools")
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    assert_eq!(names, ["permission_prompt", "ask_person"]);
    for (line, answer) in [
        (
            r#"{"jsonrpc":"2.0","id":-3,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":-3,"result":{}}"#.to_owned(),
        ),
        (
            r#"{"jsonrpc":"2.0","id":2,"method":"resources/list"}"#,
            error("2", -32601, "resources/list is not known"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"tools/call"}"#,
            error("3", -32602, "params are missing"),
        ),
        (
            r#"{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"other\u001b[m"}}"#,
            error("4", -32602, "there is no tool other\\u{1b}[m"),
        ),
    ] {
        assert_eq!(server.answer(line), answer, "{line}");
    }
    server.says_nothing_more();
}

#[test]
fn what_is_no_message_is_refused_and_the_next_one_is_answered() {
    let mut server = Server::start();
    for (line, code) in [
        ("{", -32700),
        ("nonsense", -32700),
        ("[]", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"} trailing", -32700),
        ("{\"jsonrpc\":\"2.0\",\"id\":1,\"id\":2,\"method\":\"ping\"}", -32700),
        ("{\"id\":1,\"method\":\"ping\"}", -32600),
        ("{\"jsonrpc\":\"2.0\"}", -32600),
    ] {
        let answer: Value = serde_json::from_str(&server.answer(line)).expect("one line of JSON");
        assert_eq!(answer["error"]["code"], code, "{line}: {answer}");
        assert!(answer.get("id").is_some(), "{line}: {answer}");
    }
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let answer = server.answer(&format!(
        r#"{{"jsonrpc":"2.0","id":9,"method":"ping","params":{deep}}}"#
    ));
    assert!(
        answer.contains("\"error\"") || answer.contains("\"result\""),
        "{answer}"
    );
    let bytes = b"{\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"\xff\"}\n";
    server
        .input
        .as_mut()
        .expect("an input")
        .write_all(bytes)
        .expect("it reads");
    assert!(server.line().contains("-32700"));
    server.says_nothing_more();
}

#[test]
fn a_line_beyond_the_limit_is_refused_whole_and_the_next_one_is_answered() {
    let mut server = Server::start();
    let head = r#"{"jsonrpc":"2.0","id":1,"method":"ping","params":{"pad":""#;
    let longest = format!("{head}{}\"}}}}", "x".repeat(LIMIT - head.len() - 4));
    assert_eq!(longest.len() + 1, LIMIT, "with its end");
    assert_eq!(server.answer(&longest), r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    // Its rest would be a message by itself.
    let hidden = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let huge = format!("{}{hidden}", "x".repeat(LIMIT + 1));
    assert_eq!(
        server.answer(&huge),
        error("null", -32700, &format!("the message is longer than {LIMIT} bytes"))
    );
    server.says_nothing_more();
}

#[test]
fn what_policy_decides_is_answered_at_once_and_recorded() {
    let mut server =
        Server::configured("[[rule]]\nprogram = \"shred\"\naction = \"deny\"\nreason = \"never \\\"here\\\"\"\n");
    let project = server.project().canonicalize().expect("a path");
    server.ask("\"a/1\"", "cat /etc/hostname");
    assert_eq!(server.line(), result("\"a/1\"", ALLOW));
    server.ask("2", &format!("ls {}", project.display()));
    assert_eq!(server.line(), result("2", ALLOW));
    server.ask("3", "shred notes.txt");
    let denied = r#"{"behavior":"deny","message":"[countersign:policy] never \"here\"","reason":"policy"}"#;
    assert_eq!(server.line(), result("3", denied));
    let allowed = ["allow", "", "policy"].map(str::to_owned);
    let denied = ["deny", "policy", "rule"].map(str::to_owned);
    assert_eq!(server.recorded(), [allowed.clone(), allowed, denied]);
}

#[test]
fn a_call_that_cannot_be_read_is_denied_as_malformed() {
    let mut server = Server::start();
    for arguments in [
        json!({}),
        json!({"tool_name": "Bash", "input": {}}),
        json!({"tool_name": "Bash", "input": "ls"}),
        json!({"tool_name": "", "input": {}}),
        json!({"tool_name": "Bash", "input": {"command": 5}}),
        json!({"tool_name": 5, "input": {}}),
        json!([]),
    ] {
        server.call("1", "permission_prompt", &arguments);
        let line = server.line();
        assert!(
            line.starts_with(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"{\"behavior\":\"deny\",\"message\":\"[countersign:malformed] The call cannot be read: "#)
                && line.ends_with(r#".\",\"reason\":\"malformed\"}"}]}}"#),
            "{arguments}: {line}"
        );
    }
    // Half of a surrogate pair, which the host passes on.
    server.send(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"permission_prompt","arguments":{"tool_name":"Bash","input":{"command":"echo \ud800"}}}}"#);
    assert!(server.line().contains("[countersign:malformed]"));
    let recorded = server.recorded();
    assert_eq!(recorded.len(), 8);
    assert!(
        recorded
            .iter()
            .all(|line| *line == ["deny", "malformed", "error"].map(str::to_owned))
    );
}

#[test]
fn a_person_allows_and_denies_at_the_terminal() {
    let mut server = Server::start();
    server.ask("1", "rm notes.txt");
    server.pty.shows("Countersign: may Bash run?");
    server.pty.shows("rm notes.txt");
    server.pty.types("a");
    assert_eq!(server.line(), result("1", ALLOW));
    server.ask("2", "rm notes.txt");
    server.pty.types("d keep \"it\"");
    let denied =
        r#"{"behavior":"deny","message":"[countersign:denied_by_person] keep \"it\"","reason":"denied_by_person"}"#;
    assert_eq!(server.line(), result("2", denied));
    server.ask("3", "rm notes.txt");
    server.pty.types("s");
    let stopped = r#"{"behavior":"deny","message":"[countersign:denied_by_person] The person refused this call.","reason":"denied_by_person","interrupt":true}"#;
    assert_eq!(server.line(), result("3", stopped));
}

#[test]
fn a_terminal_that_is_not_surely_in_front_is_not_asked_at() {
    // A namespace of processes, from which the session's own leader is not seen.
    let hidden = [
        "bwrap",
        "--die-with-parent",
        "--unshare-pid",
        "--dev-bind",
        "/",
        "/",
        "--proc",
        "/proc",
    ];
    // A group of its own, as `timeout` makes it, is not the one in front.
    let background = ["sh", "-c", "timeout 60 \"$@\"; true", "sh"];
    for (others, why) in [
        (&hidden[..], "the terminal is not ours"),
        (&background, "this process is in the terminal's background"),
    ] {
        let mut server = Server::within(Server::home(""), others);
        server.ask("1", "rm notes.txt");
        let line = server.line();
        assert!(
            line.contains("nobody can be asked") && line.contains(why),
            "{others:?}: {line}"
        );
        assert!(!server.pty.has_shown("Countersign"), "{others:?}");
    }
}

/// A hook of this host, which is this process, hands on where the session stands. What it left open policy lets run no
/// more, whatever the directory; what it left to be counted, policy decides.
#[test]
fn a_directory_that_is_handed_on_is_shown_and_opens_nothing_that_the_hook_left_open() {
    let mut server = Server::configured("preset = \"steady\"\n[headless]\nwait = \"2s\"\n");
    let runtime = server.home.path().join(".local/state/countersign");
    let mut hook = None;
    wait_for("the server says that it answers", || {
        hook = Other::find(&runtime, &[std::process::id()]);
        hook.is_some()
    });
    let hook = hook.expect("the server");
    let request = br#"{"tool_name":"Bash","input":{"command":"touch made"}}"#;
    let digest = countersign::wire::request::read(request).expect("a call").call.digest();
    let cwd = server.project().canonicalize().expect("a path");
    let handed_on = |is_open| HandedOn {
        cwd: cwd.clone(),
        is_open,
    };
    // What is there already is of an earlier call.
    hook.hand_on(&digest, &handed_on(false)).expect("handed on");
    server.ask("1", "touch made");
    let shown = format!("(in {})", cwd.display());
    wait_for("the card shows the directory", || {
        hook.hand_on(&digest, &handed_on(true)).expect("handed on");
        server.pty.has_shown(&shown)
    });
    let late = "[countersign:timeout] It needs a person, and nobody answered within 2 s. It is low: changes the permissions of made";
    let denied = format!(r#"{{"behavior":"deny","message":"{late}","reason":"timeout"}}"#);
    assert_eq!(server.line(), result("1", &denied));
    server.ask("2", "touch made");
    let mut line = None;
    wait_for("an answer", || {
        hook.hand_on(&digest, &handed_on(false)).expect("handed on");
        line = server.output.try_recv().ok();
        line.is_some()
    });
    assert_eq!(line, Some(result("2", ALLOW)));
}

/// What was typed before a question stood answers none.
#[test]
fn what_is_typed_too_early_counts_for_nothing() {
    let mut server = Server::configured("[headless]\nwait = \"3s\"\n");
    server.pty.press("a\na\na\n");
    server.ask("1", "rm notes.txt");
    let denied = r#"{"behavior":"deny","message":"[countersign:timeout] It needs a person, and nobody answered within 3 s. It is high: deletes notes.txt, which loses work","reason":"timeout"}"#;
    assert_eq!(server.line(), result("1", denied));
    assert_eq!(
        server.recorded(),
        [["deny", "timeout", "unanswered"].map(str::to_owned)]
    );
}

#[test]
fn a_call_that_is_cancelled_is_taken_down_and_never_answered() {
    let mut server = Server::start();
    server.ask("1", "rm notes.txt");
    server.pty.shows("> ");
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"decided"}}"#);
    server.pty.shows("(not asked any more");
    server.says_nothing_more();
    assert_eq!(server.recorded(), [["none", "", "withdrawn"].map(str::to_owned)]);
    // Its id is free again, and the text "1" is another one.
    server.ask("1", "rm notes.txt");
    server.pty.shows("> ");
    server.send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}"#);
    server.says_nothing_more();
    assert!(!server.pty.has_shown("(not asked any more"));
    server.pty.press("a\n");
    assert_eq!(server.line(), result("1", ALLOW));
}

/// Of two calls under one id an answer could not say which it means: neither is answered with a yes.
#[test]
fn a_second_call_under_an_id_takes_the_first_one_down() {
    let mut server = Server::start();
    server.ask("1", "rm notes.txt");
    server.pty.shows("> ");
    server.ask("1", "rm -rf /");
    assert_eq!(
        server.line(),
        error("1", -32602, "a request with this id is being answered")
    );
    server.pty.shows("(not asked any more");
    server.pty.press("a\n");
    server.says_nothing_more();
    // Its id is free again once the first one has ended.
    let free = (0..100).any(|_| {
        server.ask("1", "cat /etc/hostname");
        let line = server.line();
        assert!(line == result("1", ALLOW) || line == error("1", -32602, "a request with this id is being answered"));
        line == result("1", ALLOW)
    });
    assert!(free);
}

#[test]
fn when_the_client_is_gone_the_question_is_taken_down_and_the_server_ends() {
    let mut server = Server::start();
    server.ask("1", "rm notes.txt");
    server.pty.shows("> ");
    let begun = Instant::now();
    server.input = None;
    assert!(server.ended().success());
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    server.pty.shows("(not asked any more");
    assert_eq!(server.recorded(), [["none", "", "withdrawn"].map(str::to_owned)]);
    assert!(server.output.recv().is_err(), "nothing was answered");
}

#[test]
fn calls_are_settled_beside_each_other_and_each_gets_its_own_answer() {
    let mut server = Server::start();
    server.ask("\"held\"", "rm notes.txt");
    server.pty.shows("> ");
    for id in 0..40 {
        let (tool, command) = match id % 2 {
            0 => ("permission_prompt", "cat /etc/hostname"),
            _ => ("nothing", "x"),
        };
        let arguments = json!({"tool_name": "Bash", "input": {"command": command}});
        server.call(&id.to_string(), tool, &arguments);
    }
    let mut answers: Vec<String> = (0..40).map(|_| server.line()).collect();
    let mut expected: Vec<String> = (0..40)
        .map(|id| match id % 2 {
            0 => result(&id.to_string(), ALLOW),
            _ => error(&id.to_string(), -32602, "there is no tool nothing"),
        })
        .collect();
    answers.sort_unstable();
    expected.sort_unstable();
    assert_eq!(answers, expected);
    server.pty.press("d\n");
    assert!(server.line().starts_with(r#"{"jsonrpc":"2.0","id":"held","#));
}

/// Two questions stand one after the other, and each is answered by its own line.
#[test]
fn two_questions_do_not_share_an_answer() {
    let mut server = Server::start();
    server.ask("1", "rm notes.txt");
    server.pty.shows("rm notes.txt");
    server.ask("2", "rm -r src");
    server.pty.types("a\na\na");
    assert_eq!(server.line(), result("1", ALLOW));
    server.pty.shows("rm -r src");
    server.pty.types("d");
    assert!(server.line().contains("denied_by_person"));
}

/// Each terminal has its own turn, also those of one person.
#[test]
fn questions_on_two_terminals_stand_at_once() {
    let mut one = Server::start();
    let mut other = Server::in_home(Arc::clone(&one.home));
    one.ask("1", "rm notes.txt");
    one.pty.shows("> ");
    other.ask("2", "rm notes.txt");
    other.pty.types("a");
    assert_eq!(other.line(), result("2", ALLOW));
    one.pty.press("a\n");
    assert_eq!(one.line(), result("1", ALLOW));
}

#[test]
fn a_client_that_wants_to_know_is_told_that_a_call_still_waits() {
    let mut server = Server::start();
    let arguments = json!({"tool_name": "Bash", "input": {"command": "rm notes.txt"}});
    server.send(&format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"permission_prompt","arguments":{arguments},"_meta":{{"progressToken":"t"}}}}}}"#
    ));
    assert_eq!(
        server.line(),
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1,"message":"Waiting for a person's answer"}}"#
    );
    server.pty.types("a");
    assert_eq!(server.line(), result("1", ALLOW));
    server.says_nothing_more();
}

fn questions() -> Value {
    let option = |label: &str| json!({"label": label});
    json!({"questions": [
        {"question": "Which colour?", "options": [option("Red"), option("Blue")]},
        {"question": "Which sizes?", "options": [option("S"), option("L")], "multiSelect": true},
    ]})
}

#[test]
fn a_model_asks_a_person_and_is_given_the_answers_or_a_reply() {
    let mut server = Server::start();
    server.call("1", "ask_person", &questions());
    server.pty.types("2");
    server.pty.types("1 2");
    assert_eq!(
        server.line(),
        result("1", r#"{"answers":{"Which colour?":"Blue","Which sizes?":"S, L"}}"#)
    );
    server.call("2", "ask_person", &questions());
    server.pty.types("r it depends");
    assert_eq!(
        server.line(),
        result("2", r#"{"reply":"[countersign:denied_by_person] it depends"}"#)
    );
    server.call("3", "ask_person", &json!({"questions": []}));
    let refused = server.line();
    assert!(
        refused.ends_with(r#"no question is asked"}],"isError":true}}"#),
        "{refused}"
    );
}

#[test]
fn a_hosts_question_is_answered_with_its_input_and_the_answers() {
    let mut server = Server::start();
    server.call(
        "1",
        "permission_prompt",
        &json!({"tool_name": "AskUserQuestion", "input": questions()}),
    );
    server.pty.types("o teal");
    server.pty.types("2");
    let asked = questions().to_string();
    let open = asked.strip_suffix('}').expect("an object");
    let answered = format!(
        r#"{{"behavior":"allow","updatedInput":{open},"answers":{{"Which colour?":"teal","Which sizes?":"L"}}}}}}"#
    );
    assert_eq!(server.line(), result("1", &answered));
}

/// A preview is markup that the agent wrote: the person sees it as the text that it is.
#[test]
fn a_preview_of_an_answer_is_shown_as_text_whatever_markup_it_is_in() {
    let mut server = Server::start();
    let option = |label: &str, preview: &str| json!({"label": label, "description": "d", "preview": preview});
    let options = [
        option("Bold", "<b onclick=\"x()\">bold</b>\n\u{1b}[31mred"),
        option("Plain", "plain"),
    ];
    let asked = json!({"questions": [
        {"question": "Which look?", "header": "Look", "options": options, "multiSelect": false}
    ]});
    let input = json!({"tool_name": "AskUserQuestion", "input": asked});
    server.call("1", "permission_prompt", &input);
    server.pty.shows("| <b onclick=\"x()\">bold</b>");
    server.pty.shows("| \\u{1b}[31mred");
    server.pty.types("1");
    assert!(server.line().contains(r#"\"answers\":{\"Which look?\":\"Bold\"}"#));
}
