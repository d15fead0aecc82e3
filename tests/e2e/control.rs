//! `countersign run` on the pinned releases: it starts the host and answers what the host asks of it.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::answers::{DENIED, deny};
use crate::api::{HALF_A_PAIR, Told, ToolUse};
use crate::host::Host;
use crate::sandbox::Sandbox;
use crate::session::{Attended, Session, bash, children};

const LOOK: &str = "cd sub && git status";
const REMOVE: &str = "rm -f marker.txt";

/// How a caller ends a turn.
const INTERRUPT: &str = r#"{"type":"control_request","request_id":"mine","request":{"subtype":"interrupt"}}"#;

fn read(path: &str) -> ToolUse {
    ToolUse {
        name: "Read",
        input: json!({"file_path": path}),
    }
}

fn told(is_error: bool, text: &str) -> Told {
    Told {
        is_error,
        text: text.to_owned(),
    }
}

fn stands(sandbox: &Sandbox) -> bool {
    sandbox.project().join("marker.txt").exists()
}

fn removal() -> Session {
    Session::new(Host::V332, [bash(REMOVE)]).file("marker.txt")
}

/// The actions, reasons and deciders of the calls that were asked about.
fn recorded(sandbox: &Sandbox) -> Vec<[String; 3]> {
    let text = |line: &Value, name: &str| line[name].as_str().unwrap_or_default().to_owned();
    let lines = sandbox
        .record()
        .into_iter()
        .filter(|line| line["event"] == "can_use_tool");
    lines
        .map(|line| ["action", "reason", "by"].map(|name| text(&line, name)))
        .collect()
}

/// The host asks its hook too, which leaves to this process what policy does not decide.
fn looks_freely_and_tells_what_was_denied(host: Host) {
    let calls = [bash("ls"), bash(LOOK), bash("mkdir made"), bash("rm -f ../marker.txt")];
    let session = Session::new(host, calls).file("marker.txt").installed(&[]).under_run();
    let run = session.headless();
    let looked = run.told(1);
    assert!(
        !looked.is_error && looked.text.contains("On branch main"),
        "{}",
        looked.text
    );
    let nobody = "[countersign:policy] It needs a person, and nobody can be asked: there is no terminal.";
    // Which directory they are judged in the hook hands on, where it is not quicker than the request.
    for call in [2, 3] {
        let denied = run.told(call);
        assert!(denied.is_error && denied.text.starts_with(nobody), "{}", denied.text);
    }
    assert!(stands(run.sandbox()));
    // What claude prints is passed on, and nothing of what it asked; what was done is told beside it.
    let out = run.out();
    let lines: Vec<Value> = out
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line of claude's"))
        .collect();
    let last = lines.last().expect("lines");
    assert_eq!((&last["type"], &last["result"]), (&json!("result"), &json!("all done")));
    assert!(lines.iter().all(|line| line["type"] != "control_request"), "{out}");
    let err = run.err();
    assert!(
        err.contains("countersign: denied: Bash `mkdir made`\ncountersign: denied: Bash `rm -f ../marker.txt`\n"),
        "{err}"
    );
    assert!(
        err.contains("countersign: ran without being asked about: Bash 1\n"),
        "{err}"
    );
    assert!(run.status().success(), "{}", run.status());
}

#[test]
fn it_looks_freely_and_tells_what_was_denied_on_2_1_332() {
    looks_freely_and_tells_what_was_denied(Host::V332);
}

#[test]
fn it_looks_freely_and_tells_what_was_denied_on_2_1_280() {
    looks_freely_and_tells_what_was_denied(Host::V280);
}

#[test]
fn it_looks_freely_and_tells_what_was_denied_on_2_1_207() {
    looks_freely_and_tells_what_was_denied(Host::V207);
}

/// Without any hook it knows where the session stands until the shell moves, and then no more.
#[test]
fn without_a_hook_it_knows_where_the_session_stands_until_the_shell_moves() {
    let calls = [bash("touch made"), bash("cd sub"), bash("touch other")];
    let session = Session::new(Host::V332, calls)
        .configured("preset = \"steady\"\n")
        .under_run();
    let run = session.headless();
    assert!(!run.told(0).is_error, "{}", run.told(0).text);
    assert!(run.sandbox().project().join("made").exists());
    let unknown = run.told(2);
    assert!(
        unknown.is_error && unknown.text.starts_with("[countersign:policy] It needs a person"),
        "{}",
        unknown.text
    );
    assert_eq!(recorded(run.sandbox()).len(), 2);
}

/// The requests do not tell the mode, but the host's first line does.
fn in_plan_mode_nothing_is_changed(host: Host) {
    let session = Session::new(host, [bash("touch made")]).mode("plan");
    let session = session.setting("useAutoModeDuringPlan", json!(false));
    let run = session.configured("preset = \"steady\"\n").under_run().headless();
    let denied = run.told(0);
    assert!(denied.is_error, "{}", denied.text);
    assert!(!run.sandbox().project().join("made").exists());
    assert_eq!(
        recorded(run.sandbox()),
        [["deny", "policy", "unanswered"].map(str::to_owned)]
    );
}

#[test]
fn in_plan_mode_nothing_is_changed_on_2_1_332() {
    in_plan_mode_nothing_is_changed(Host::V332);
}

#[test]
fn in_plan_mode_nothing_is_changed_on_2_1_207() {
    in_plan_mode_nothing_is_changed(Host::V207);
}

/// The agent may move into a worktree of its own without being asked, and the shell moves with it.
#[test]
fn in_a_worktree_it_does_not_know_where_the_session_stands() {
    let enter = ToolUse {
        name: "EnterWorktree",
        input: json!({"name": "aside"}),
    };
    let calls = [enter, bash("touch made")];
    let session = Session::new(Host::V332, calls)
        .configured("preset = \"steady\"\n")
        .under_run();
    let run = session.headless();
    let moved = run.told(0);
    assert!(!moved.is_error, "{}", moved.text);
    let unknown = run.told(1);
    assert!(
        unknown.is_error && unknown.text.starts_with("[countersign:policy] It needs a person"),
        "{}",
        unknown.text
    );
}

/// The shell is moved to `sub`, the turn is ended, and in the next one a file is removed that is there in `sub` alone.
fn moved_and_then_asked_in_the_next_turn(host: Host) -> Attended {
    let calls = [bash("cd sub"), bash("sudo true"), bash("rm -f work.txt")];
    let mut session = Session::new(host, calls)
        .file("sub/work.txt")
        .configured("preset = \"steady\"\n")
        .under_run_fed()
        .attended();
    session.feed_errand();
    session.shows("sudo true");
    session.feed(INTERRUPT);
    session.shows("(not asked any more");
    session.feed_errand();
    session
}

fn a_turn_begins_where_the_last_one_left_the_shell(host: Host) {
    let session = moved_and_then_asked_in_the_next_turn(host);
    session.shows("rm -f work.txt");
    session.types("d");
    assert!(session.told(2).is_error);
    assert!(session.sandbox().project().join("sub/work.txt").exists());
}

#[test]
fn a_turn_begins_where_the_last_one_left_the_shell_on_2_1_332() {
    a_turn_begins_where_the_last_one_left_the_shell(Host::V332);
}

#[test]
fn a_turn_begins_where_the_last_one_left_the_shell_on_2_1_280() {
    a_turn_begins_where_the_last_one_left_the_shell(Host::V280);
}

/// There the removal finds nothing, and so policy lets it through.
#[test]
fn a_turn_begins_in_the_project_on_2_1_207() {
    let session = moved_and_then_asked_in_the_next_turn(Host::V207);
    assert!(!session.told(2).is_error);
    assert!(session.sandbox().project().join("sub/work.txt").exists());
}

/// Half of a surrogate pair is a text to the host, and none to us.
#[test]
fn a_call_that_cannot_be_read_is_denied_as_malformed() {
    let command = format!("rm -f marker.txt {HALF_A_PAIR}");
    let session = Session::new(Host::V332, [bash(&command)])
        .file("marker.txt")
        .under_run();
    let run = session.headless();
    let denied = run.told(0);
    assert!(
        denied.is_error && denied.text.starts_with("[countersign:malformed] "),
        "{}",
        denied.text
    );
    assert!(stands(run.sandbox()));
}

#[test]
fn while_all_is_frozen_a_call_is_denied_and_the_turn_ends() {
    let session = removal().under_run();
    session.sandbox().countersign(&["freeze"], "");
    let run = session.headless();
    assert!(!run.sandbox().api.has_ended(), "the model was asked once more");
    assert!(stands(run.sandbox()));
    assert_eq!(recorded(run.sandbox()), [["deny", "frozen", "frozen"]]);
}

#[test]
fn a_call_that_nobody_answers_in_time_is_denied() {
    let session = removal()
        .configured("[headless]\nwait = \"2s\"\n")
        .under_run()
        .attended();
    session.shows("Countersign: may Bash run?");
    let removal = "It is high: deletes marker.txt, which loses work";
    let late = "[countersign:timeout] It needs a person, and nobody answered within 2 s.";
    assert_eq!(session.told(0), told(true, &format!("{late} {removal}")));
    session.shows("(no answer in time)");
    assert_eq!(session.ended(), "0");
    assert!(stands(session.sandbox()));
    assert_eq!(
        recorded(session.sandbox()),
        [["deny", "timeout", "unanswered"].map(str::to_owned)]
    );
}

/// One session at the terminal, in which everything is typed that can be.
#[test]
fn what_is_typed_at_the_terminal_decides() {
    let calls = [
        bash("rm -f one.txt"),
        bash("rm -f two.txt"),
        bash("rm -f three.txt"),
        bash("npm view left-pad > four.txt"),
        bash("rm -f five.txt"),
        bash("rm -f six.txt"),
        bash("rm -f seven.txt"),
        bash("rm -f eight.txt"),
    ];
    let session = Session::new(Host::V332, calls);
    let names = ["one", "two", "three", "five", "six", "seven", "eight"];
    let session = names
        .iter()
        .fold(session, |session, name| session.file(&format!("{name}.txt")));
    let editor = "#!/bin/sh\nprintf 'rm -f three.txt && touch edited.txt\\n' >\"$1\"\n";
    let editor = session.sandbox().executable("editor", editor);
    let session = session
        .variable("EDITOR", &editor.display().to_string())
        .under_run()
        .attended();
    let project = session.sandbox().project();
    let is_there = |name: &str| project.join(name).exists();

    session.shows("rm -f one.txt");
    session.types("allow");
    assert!(!session.told(0).is_error && !is_there("one.txt"));

    session.shows("rm -f two.txt");
    session.types("deny use \"git\" mv");
    assert_eq!(
        session.told(1),
        told(true, "[countersign:denied_by_person] use \"git\" mv")
    );

    session.shows("rm -f three.txt");
    session.types("e");
    session.shows("as you edited it");
    session.types("a");
    assert!(!session.told(2).is_error && !is_there("three.txt") && is_there("edited.txt"));

    session.shows("npm view left-pad");
    session.types("d");
    assert_eq!(
        session.told(3),
        told(true, "[countersign:denied_by_person] The person refused this call.")
    );

    session.shows("rm -f five.txt");
    session.types("x");
    session.shows("The whole of it:");
    session.types("a");
    assert!(!session.told(4).is_error && !is_there("five.txt"));

    session.shows("rm -f six.txt");
    session.types("i please look first");
    session.wait_for("the model hears the words", |_| {
        session.sandbox().api.was_said("please look first").then_some(())
    });
    assert!(is_there("six.txt"), "it was not allowed, and ran");

    session.shows("rm -f seven.txt");
    session.types("s");
    assert_eq!(session.ended(), "1", "{}", session.err());
    assert!(is_there("seven.txt"));
    assert!(!session.sandbox().api.has_ended(), "the model was asked once more");
    let by_person = recorded(session.sandbox());
    assert!(by_person.iter().all(|line| line[2] == "approver"), "{by_person:?}");
    let actions: Vec<&str> = by_person.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(actions, ["allow", "deny", "allow", "deny", "allow", "deny", "deny"]);
}

/// What the host offers to remember is remembered by the host, and the next such call is not asked about.
#[test]
fn what_is_always_allowed_is_not_asked_about_again() {
    let calls = [bash("npm view left-pad"), bash("npm view right-pad"), bash(REMOVE)];
    let session = Session::new(Host::V332, calls).file("marker.txt");
    session.sandbox().program("npm", "#!/bin/sh\necho \"$2\"\n");
    let session = session.under_run().attended();
    session.shows("npm view left-pad");
    session.types("w");
    session.shows("Allow it now, and from now on:");
    session.types("1");
    assert!(!session.told(0).is_error && !session.told(1).is_error);
    session.shows(REMOVE);
    session.types("d");
    assert_eq!(session.ended(), "0");
    assert!(
        session.err().contains("ran without being asked about: Bash 1"),
        "{}",
        session.err()
    );
    assert_eq!(recorded(session.sandbox()).len(), 2);
}

#[test]
fn a_question_is_answered_at_the_terminal() {
    let option = |label: &str| json!({"label": label, "description": "one of them"});
    let question = ToolUse {
        name: "AskUserQuestion",
        input: json!({"questions": [{
            "question": "Which sizes?", "header": "Size", "options": [option("S"), option("L")], "multiSelect": true,
        }]}),
    };
    let session = Session::new(Host::V332, [question]).under_run().attended();
    session.shows("Which sizes?");
    session.types("1 2");
    let answered = session.told(0);
    assert!(
        !answered.is_error && answered.text.contains("\"Which sizes?\"=\"S, L\""),
        "{}",
        answered.text
    );
    assert_eq!(session.ended(), "0");
}

/// Another hook of the host decides while the person is asked: the question is taken down, and what it said holds.
#[test]
fn a_hook_that_decides_first_takes_the_question_down() {
    let session = removal();
    let wait = "while [ ! -e go ]; do sleep 0.1; done";
    let script = format!("#!/bin/sh\ncat >/dev/null\n{wait}\nprintf '%s\\n' '{}'\n", deny());
    let slow = session.sandbox().executable("slow", &script);
    let session = session
        .hook("PermissionRequest", vec![slow.display().to_string()])
        .under_run()
        .attended();
    session.shows("Countersign: may Bash run?");
    fs::write(session.sandbox().project().join("go"), "").expect("a file");
    session.shows("(not asked any more");
    assert_eq!(session.told(0), told(true, DENIED));
    assert_eq!(session.ended(), "0");
    assert!(stands(session.sandbox()));
    assert_eq!(
        recorded(session.sandbox()),
        [["none", "", "withdrawn"].map(str::to_owned)]
    );
    assert!(!session.out().contains("control_cancel_request"), "{}", session.out());
}

/// Whoever feeds the session stops the turn, as the control protocol lets them.
#[test]
fn a_caller_that_interrupts_takes_the_question_down() {
    let mut session = removal().under_run_fed().attended();
    session.feed_errand();
    session.shows("Countersign: may Bash run?");
    session.feed(INTERRUPT);
    session.shows("(not asked any more");
    session.wait_for("the caller reads the answer", |_| {
        let out = session.out();
        let mut lines = out.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        lines
            .any(|line| line["type"] == "control_response" && line["response"]["request_id"] == "mine")
            .then_some(())
    });
    session.feed_ends();
    session.ended();
    assert!(stands(session.sandbox()));
    assert_eq!(
        recorded(session.sandbox()),
        [["none", "", "withdrawn"].map(str::to_owned)]
    );
}

/// The person stops it all with the terminal's own key.
#[test]
fn a_key_that_interrupts_ends_claude_and_the_question() {
    let session = removal().under_run().attended();
    session.shows("Countersign: may Bash run?");
    session.press("C-c");
    session.ended();
    session.shows("(not asked any more");
    assert!(stands(session.sandbox()), "nobody decided and the file is gone");
    assert_eq!(
        recorded(session.sandbox()),
        [["none", "", "withdrawn"].map(str::to_owned)]
    );
}

#[test]
fn a_claude_that_is_killed_mid_question_ends_it_all_with_its_status() {
    let session = removal().under_run().attended();
    session.shows("Countersign: may Bash run?");
    let claude = children(session.process()).first().expect("claude").to_string();
    let killed = Command::new("kill").args(["-KILL", &claude]).status();
    assert!(killed.expect("kill").success());
    let begun = Instant::now();
    assert_eq!(session.ended(), "137");
    assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", begun.elapsed());
    session.shows("(not asked any more");
    assert!(stands(session.sandbox()));
}

/// Two calls that the host asks about at once: each answer reaches its own.
#[test]
fn two_requests_in_flight_are_answered_each_for_itself() {
    let secrets = ["/etc/shadow", "/etc/gshadow"];
    let session = Session::in_turns(Host::V332, [secrets.map(read).to_vec()])
        .under_run()
        .attended();
    let first = session.wait_for("one of them stands on the screen", |screen| {
        secrets.iter().position(|path| screen.contains(&format!("\"{path}\"")))
    });
    session.types("d the first");
    session.shows(&format!("\"{}\"", secrets[1 - first]));
    session.types("d the second");
    let reason = |words: &str| told(true, &format!("[countersign:denied_by_person] {words}"));
    assert_eq!(session.told(first), reason("the first"));
    assert_eq!(session.told(1 - first), reason("the second"));
    assert_eq!(session.ended(), "0");
}
