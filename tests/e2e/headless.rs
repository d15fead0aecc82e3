//! Headless sessions that ask `countersign mcp` in a person's place, on every pinned release.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{HALF_A_PAIR, Told, ToolUse};
use crate::host::Host;
use crate::sandbox::Sandbox;
use crate::session::{Headless, Session, bash, children};

/// It only looks, and the host would ask about it.
const LOOK: &str = "cd sub && git status";
const REMOVE: &str = "rm -f marker.txt";

fn question(text: &str) -> ToolUse {
    let option = |label: &str| json!({"label": label, "description": format!("it is {label}")});
    ToolUse {
        name: "AskUserQuestion",
        input: json!({"questions": [{
            "question": text, "header": "Colour", "options": [option("Red"), option("Blue")], "multiSelect": false,
        }]}),
    }
}

fn told(is_error: bool, text: &str) -> Told {
    Told {
        is_error,
        text: text.to_owned(),
    }
}

/// What the record says of the calls that this face was asked about: what was answered, for which reason, by whom.
fn recorded(sandbox: &Sandbox) -> Vec<(String, String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = sandbox
        .record()
        .into_iter()
        .filter(|line| line["event"] == "can_use_tool");
    lines
        .map(|line| (text(&line["action"]), text(&line["reason"]), text(&line["by"])))
        .collect()
}

fn line(action: &str, reason: &str, by: &str) -> (String, String, String) {
    (action.to_owned(), reason.to_owned(), by.to_owned())
}

fn removal(host: Host) -> Session {
    Session::new(host, [bash(REMOVE)])
        .file("marker.txt")
        .installed(&[])
        .asking_mcp()
}

fn stands(sandbox: &Sandbox) -> bool {
    sandbox.project().join("marker.txt").exists()
}

/// The hook and the prompt tool are asked both. What the hook decides, it decides; of the rest it hands on where the
/// session stands.
fn looks_freely_and_denies_the_rest(host: Host) {
    let calls = [
        bash(LOOK),
        bash("mkdir made"),
        bash("rm -f ../marker.txt"),
        bash("sudo true"),
    ];
    let session = Session::new(host, calls).file("marker.txt").installed(&[]).asking_mcp();
    let run = session.headless();
    let looked = run.told(0);
    assert!(
        !looked.is_error && looked.text.contains("On branch main"),
        "{}",
        looked.text
    );
    let nobody = "[countersign:policy] It needs a person, and nobody can be asked: there is no terminal.";
    // Which directory they are judged in the hook hands on, where it is not quicker than the request.
    for call in [1, 2, 3] {
        let denied = run.told(call);
        assert!(denied.is_error && denied.text.starts_with(nobody), "{}", denied.text);
    }
    assert!(stands(run.sandbox()) && !run.sandbox().project().join("sub/made").exists());
    assert!(run.status().success(), "{}", run.status());
    let lines = recorded(run.sandbox());
    let denied = vec![line("deny", "policy", "unanswered"); 3];
    assert!(lines.ends_with(&denied), "{lines:?}");
    let withdrawn = line("none", "", "withdrawn");
    assert!(
        lines.len() == 3 || lines[0] == withdrawn && lines.len() == 4,
        "{lines:?}"
    );
}

#[test]
fn it_looks_freely_and_denies_the_rest_with_reasons_on_2_1_332() {
    looks_freely_and_denies_the_rest(Host::V332);
}

#[test]
fn it_looks_freely_and_denies_the_rest_with_reasons_on_2_1_280() {
    looks_freely_and_denies_the_rest(Host::V280);
}

/// 2.1.207 runs no hook under `-p`, so nobody says where the session stands: what depends on it is not let through.
#[test]
fn on_2_1_207_it_lets_through_only_what_is_safe_wherever_the_session_stands() {
    let calls = [bash("cat /etc/hostname"), bash(LOOK), bash(REMOVE)];
    let session = Session::new(Host::V207, calls)
        .file("marker.txt")
        .installed(&[])
        .asking_mcp();
    let run = session.headless();
    assert!(!run.told(0).is_error, "{}", run.told(0).text);
    let nobody = "[countersign:policy] It needs a person, and nobody can be asked: there is no terminal.";
    let git = "It is high: runs what git finds there, which nobody vouches for";
    assert_eq!(run.told(1), told(true, &format!("{nobody} {git}")));
    let removal = "It is high: deletes marker.txt, which loses work";
    assert_eq!(run.told(2), told(true, &format!("{nobody} {removal}")));
    assert!(stands(run.sandbox()) && run.status().success());
    let denied = line("deny", "policy", "unanswered");
    assert_eq!(
        recorded(run.sandbox()),
        [line("allow", "", "policy"), denied.clone(), denied]
    );
}

/// A person at the terminal answers one question, and replies to another in words.
fn a_person_answers(host: Host) {
    let calls = [question("Which colour?"), question("Which shade?")];
    let session = Session::new(host, calls).installed(&[]).asking_mcp().attended();
    session.shows("2  Blue - it is Blue");
    session.types("2");
    let answered = session.told(0);
    assert!(
        !answered.is_error && answered.text.contains("\"Which colour?\"=\"Blue\""),
        "{}",
        answered.text
    );
    session.types("r neither, \"ask\" later");
    assert_eq!(
        session.told(1),
        told(true, "[countersign:denied_by_person] neither, \"ask\" later")
    );
    assert_eq!(session.ended(), "0");
    let by_person = [
        line("allow", "", "approver"),
        line("deny", "denied_by_person", "approver"),
    ];
    assert_eq!(recorded(session.sandbox()), by_person);
}

#[test]
fn a_person_answers_questions_at_the_terminal_on_2_1_332() {
    a_person_answers(Host::V332);
}

#[test]
fn a_person_answers_questions_at_the_terminal_on_2_1_280() {
    a_person_answers(Host::V280);
}

#[test]
fn a_person_answers_questions_at_the_terminal_on_2_1_207() {
    a_person_answers(Host::V207);
}

/// Nobody answers at the terminal: when the time has passed the call is denied and the question taken down.
fn nobody_answers_in_time(host: Host) {
    let session = removal(host).configured("[headless]\nwait = \"2s\"\n").attended();
    session.shows("Countersign: may Bash run?");
    assert_eq!(
        session.told(0),
        told(
            true,
            "[countersign:timeout] It needs a person, and nobody answered within 2 s. It is high: deletes marker.txt, which loses work"
        )
    );
    session.shows("(no answer in time)");
    assert_eq!(session.ended(), "0");
    assert!(stands(session.sandbox()));
    assert_eq!(recorded(session.sandbox()), [line("deny", "timeout", "unanswered")]);
}

#[test]
fn a_call_that_nobody_answers_in_time_is_denied_on_2_1_332() {
    nobody_answers_in_time(Host::V332);
}

#[test]
fn a_call_that_nobody_answers_in_time_is_denied_on_2_1_280() {
    nobody_answers_in_time(Host::V280);
}

#[test]
fn a_call_that_nobody_answers_in_time_is_denied_on_2_1_207() {
    nobody_answers_in_time(Host::V207);
}

/// The prompt server is killed while a person is waited for: the call does not run, and the host goes on.
fn the_server_is_killed(host: Host) {
    let session = removal(host).attended();
    session.shows("Countersign: may Bash run?");
    let server = session.wait_for("the prompt server is found", |_| child(session.process(), "mcp"));
    let killed = Command::new("kill").args(["-KILL", &server.to_string()]).status();
    assert!(killed.expect("kill").success());
    let begun = Instant::now();
    assert!(session.told(0).is_error);
    // 2.1.280 was seen not to end after it had said its last word, now and then.
    session.wait_for("the model goes on to its end", |_| {
        session.sandbox().api.has_ended().then_some(())
    });
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    assert!(stands(session.sandbox()), "nobody decided and the file is gone");
    assert_eq!(recorded(session.sandbox()), []);
}

/// The child of this process whose second word is `verb`.
fn child(process: u32, verb: &str) -> Option<u32> {
    children(process).into_iter().find(|pid| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(verb.as_bytes())
    })
}

#[test]
fn nothing_runs_when_the_server_is_killed_mid_question_on_2_1_332() {
    the_server_is_killed(Host::V332);
}

#[test]
fn nothing_runs_when_the_server_is_killed_mid_question_on_2_1_280() {
    the_server_is_killed(Host::V280);
}

#[test]
fn nothing_runs_when_the_server_is_killed_mid_question_on_2_1_207() {
    the_server_is_killed(Host::V207);
}

fn without_answer(unanswered: &str) -> Headless {
    let text = format!("[headless]\nunanswered = \"{unanswered}\"\n");
    let run = removal(Host::V332).configured(&text).headless();
    assert!(stands(run.sandbox()), "nobody decided and the file is gone");
    run
}

#[test]
fn what_nobody_answers_may_be_left_to_the_hosts_own_refusal() {
    let run = without_answer("none");
    let refused = run.told(0);
    assert!(
        refused.is_error && refused.text.contains("nobody can be asked: there is no terminal"),
        "{}",
        refused.text
    );
    assert!(run.status().success());
    assert_eq!(recorded(run.sandbox()), [line("none", "", "unanswered")]);
}

#[test]
fn what_nobody_answers_may_end_the_turn() {
    let run = without_answer("deny_and_stop");
    assert!(!run.sandbox().api.has_ended(), "the model was asked once more");
    assert_eq!(run.status().code(), Some(1));
    assert_eq!(recorded(run.sandbox()), [line("deny", "policy", "unanswered")]);
}

/// Half of a surrogate pair is a text to the host, and none to us.
fn a_call_cannot_be_read(host: Host) {
    let session = Session::new(host, [bash(&format!("rm -f marker.txt {HALF_A_PAIR}"))]);
    let run = session.file("marker.txt").installed(&[]).asking_mcp().headless();
    let denied = run.told(0);
    assert!(
        denied.is_error
            && denied
                .text
                .starts_with("[countersign:malformed] The call cannot be read: "),
        "{}",
        denied.text
    );
    assert!(stands(run.sandbox()));
    assert_eq!(recorded(run.sandbox()), [line("deny", "malformed", "error")]);
}

#[test]
fn a_call_that_cannot_be_read_is_denied_as_malformed_on_2_1_332() {
    a_call_cannot_be_read(Host::V332);
}

#[test]
fn a_call_that_cannot_be_read_is_denied_as_malformed_on_2_1_280() {
    a_call_cannot_be_read(Host::V280);
}

#[test]
fn a_call_that_cannot_be_read_is_denied_as_malformed_on_2_1_207() {
    a_call_cannot_be_read(Host::V207);
}

/// Even what only looks is denied, and the turn ends there. No hook is wired, so that this face alone denies.
fn everything_is_frozen(host: Host) {
    let session = Session::new(host, [bash(LOOK), bash(REMOVE)])
        .file("marker.txt")
        .asking_mcp();
    session
        .sandbox()
        .countersign(&["freeze", "--reason", "the release is out"], "");
    let run = session.headless();
    assert!(!run.sandbox().api.has_ended(), "the model was asked once more");
    assert_eq!(run.status().code(), Some(1));
    assert!(stands(run.sandbox()));
    assert_eq!(recorded(run.sandbox()), [line("deny", "frozen", "frozen")]);
}

#[test]
fn while_all_is_frozen_a_call_is_denied_and_the_turn_ends_on_2_1_332() {
    everything_is_frozen(Host::V332);
}

#[test]
fn while_all_is_frozen_a_call_is_denied_and_the_turn_ends_on_2_1_280() {
    everything_is_frozen(Host::V280);
}

#[test]
fn while_all_is_frozen_a_call_is_denied_and_the_turn_ends_on_2_1_207() {
    everything_is_frozen(Host::V207);
}

/// With a hook wired both deny; whichever is first, nothing runs, and what is thawed runs again.
#[test]
fn a_freeze_holds_for_hook_and_prompt_server_until_it_is_thawed() {
    let frozen = removal(Host::V332);
    frozen.sandbox().countersign(&["freeze"], "");
    let run = frozen.headless();
    assert_eq!(run.status().code(), Some(1));
    assert!(stands(run.sandbox()));
    assert!(run.sandbox().record().iter().all(|line| line["reason"] == "frozen"));
    let thawed = Session::new(Host::V332, [bash(LOOK)]).installed(&[]).asking_mcp();
    thawed.sandbox().countersign(&["freeze"], "");
    thawed.sandbox().countersign(&["thaw"], "");
    assert!(!thawed.headless().told(0).is_error);
}

#[test]
fn switched_off_it_decides_nothing_and_so_nothing_runs() {
    let session = Session::new(Host::V332, [bash(LOOK), bash(REMOVE)])
        .file("marker.txt")
        .installed(&[])
        .asking_mcp();
    session.sandbox().countersign(&["off"], "");
    let run = session.headless();
    for call in [0, 1] {
        let refused = run.told(call);
        assert!(
            refused.is_error && refused.text.contains("Countersign is switched off"),
            "{}",
            refused.text
        );
    }
    assert!(stands(run.sandbox()));
    assert_eq!(recorded(run.sandbox()), []);
}
