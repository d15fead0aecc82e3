//! A dangerous call that waits for a person elsewhere, on the real host: answered from a second terminal, or at the host's
//! own dialog, which stands beside it.

use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::api::{DELEGATED, OF_SUBAGENT, Told, ToolUse};
use crate::host::Host;
use crate::sandbox::{COUNTERSIGN, Sandbox};
use crate::session::{Session, Terminal, bash, write};
use crate::tui::Tui;

const REMOVE: &str = "rm -f marker.txt";
const SLOW: &str = "rm -f marker.txt; sleep 4 | cat; echo \"it's\" 'done'";
const STANDS: Duration = Duration::from_millis(500);

/// A session whose calls wait for the second terminal too, at once.
fn held(host: Host, calls: &[&str]) -> Session {
    let calls: Vec<_> = calls.iter().map(|command| bash(command)).collect();
    wired(Session::new(host, calls)).configured("[relay]\ngrace = \"0\"\n")
}

fn wired(session: Session) -> Session {
    session.sandbox().desk();
    session.file("marker.txt").installed(&[])
}

fn stands(sandbox: &Sandbox) -> bool {
    sandbox.project().join("marker.txt").exists()
}

fn denied(words: &str) -> Told {
    Told {
        is_error: true,
        text: format!("[countersign:denied_by_person] {words}"),
    }
}

/// What the record says of each call: what was answered, and who decided.
fn recorded(sandbox: &Sandbox) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let lines = sandbox.record();
    lines
        .iter()
        .map(|line| (text(&line["action"]), text(&line["by"])))
        .collect()
}

fn line(action: &str, by: &str) -> (String, String) {
    (action.to_owned(), by.to_owned())
}

/// The dialog stands beside the card; the answer from elsewhere takes it away, and the call runs or does not.
fn answered_from_a_second_terminal(host: Host) {
    let mut terminal = held(host, &["rm -f nothing.txt marker.txt", REMOVE]).in_terminal();
    terminal.dialog_stands("nothing.txt", STANDS);
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for("nothing.txt");
    assert_eq!(waiting.card["tier"], "high");
    assert_eq!(waiting.card["attended"], true);
    let session = waiting.card["session"].clone();
    desk.denies(&waiting.id, "move it to the attic instead");
    assert_eq!(terminal.told(0), denied("move it to the attic instead"));
    assert!(stands(terminal.sandbox()), "it was denied and the file is gone");

    // One that watches is shown it, and asked.
    let watch = Tui::start(terminal.sandbox(), Path::new(COUNTERSIGN), &["watch".to_owned()]);
    terminal.dialog_stands(REMOVE, STANDS);
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for(REMOVE);
    let asks = |screen: &str| (screen.contains(REMOVE) && screen.trim_end().ends_with('>')).then_some(());
    assert!(
        watch.watch(Duration::from_secs(20), asks).is_some(),
        "{}",
        watch.screen()
    );
    watch.type_text("a");
    watch.press(&["Enter"]);
    assert!(!terminal.told(1).is_error);
    terminal.shows_no_dialog();
    terminal.play_out();
    assert!(watch.screen().contains("Allowed: Bash"), "{}", watch.screen());
    let desk = terminal.sandbox().desk();
    assert!(!stands(terminal.sandbox()));
    assert_eq!(desk.request(&waiting.id)["status"], "consumed");
    desk.approves_in_vain(&waiting.id);
    assert_eq!(
        recorded(terminal.sandbox()),
        [line("deny", "approver"), line("allow", "approver")]
    );
    let record = terminal.sandbox().record();
    assert!(record.iter().all(|line| line["session"] == session), "{record:?}");
}

#[test]
fn a_second_terminal_denies_with_words_and_allows_on_2_1_332() {
    answered_from_a_second_terminal(Host::V332);
}

/// Nobody is there: a card at once, whatever grace a person before the machine would have.
fn answered_without_a_screen(host: Host) {
    let calls = ["rm -f nothing.txt marker.txt", REMOVE].map(bash);
    let run = wired(Session::new(host, calls)).headless_while(|sandbox| {
        let desk = sandbox.desk();
        let waiting = desk.waits_for("nothing.txt");
        assert!(!waiting.card["attended"].as_bool().unwrap_or_default());
        desk.denies(&waiting.id, "move it");
        let waiting = desk.waits_for(REMOVE);
        assert!(stands(sandbox), "it was denied and the file is gone");
        desk.approves(&waiting.id);
    });
    assert_eq!(run.told(0), denied("move it"));
    assert!(!run.told(1).is_error);
    assert!(!stands(run.sandbox()) && run.status().success());
    assert_eq!(
        recorded(run.sandbox()),
        [line("deny", "approver"), line("allow", "approver")]
    );
}

#[test]
fn without_a_screen_a_second_terminal_denies_and_allows_on_2_1_332() {
    answered_without_a_screen(Host::V332);
}

#[test]
fn without_a_screen_a_second_terminal_denies_and_allows_on_2_1_280() {
    answered_without_a_screen(Host::V280);
}

/// The host gives no sign of a Yes until the tool has ended; the child that runs the command does.
#[test]
fn a_local_yes_takes_the_card_down_while_the_command_still_runs() {
    let mut terminal = held(Host::V332, &[SLOW]).in_terminal();
    terminal.dialog_stands("sleep 4", STANDS);
    let waiting = terminal.sandbox().desk().waits_for("sleep 4");
    let pressed = Instant::now();
    terminal.press("1");
    let begins = Instant::now() + Duration::from_secs(20);
    while stands(terminal.sandbox()) && Instant::now() < begins {
        sleep(Duration::from_millis(10));
    }
    let runs = Instant::now();
    let desk = terminal.sandbox().desk();
    let request = desk.is_gone(&waiting.id);
    let took = runs.elapsed();
    eprintln!(
        "from the local Yes to the card's end: {:?}, {took:?} of it with the command running",
        pressed.elapsed()
    );
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(
        (&request["status"], &request["why"]),
        (&json!("withdrawn"), &json!("answered_elsewhere"))
    );
    desk.approves_in_vain(&waiting.id);
    assert!(!terminal.told(0).is_error);
    assert!(!stands(terminal.sandbox()));
    terminal.play_out();
    assert_eq!(recorded(terminal.sandbox()), [line("none", "withdrawn")]);
}

/// Of what is no command the host gives no sign at all; the session's transcript does.
#[test]
fn a_local_answer_to_another_tool_takes_the_card_down() {
    let ask = ToolUse {
        name: "AskUserQuestion",
        input: json!({"questions": [question("Which colour?", false)]}),
    };
    let session = wired(Session::new(Host::V332, [write("new.txt"), ask])).configured("[relay]\ngrace = \"0\"\n");
    let mut terminal = session.in_terminal();
    for (turn, words) in ["new.txt", "Which colour?"].into_iter().enumerate() {
        terminal.dialog_stands(words, STANDS);
        let waiting = terminal.sandbox().desk().waits_for(words);
        terminal.press("1");
        assert!(!terminal.told(turn).is_error);
        let told = Instant::now();
        let desk = terminal.sandbox().desk();
        let request = desk.is_gone(&waiting.id);
        let took = told.elapsed();
        eprintln!("from the end of {words} to the card's: {took:?}");
        assert!(took < Duration::from_secs(2), "{took:?}");
        assert_eq!(request["why"], "answered_elsewhere");
        desk.approves_in_vain(&waiting.id);
    }
    let withdrawn = line("none", "withdrawn");
    assert_eq!(recorded(terminal.sandbox()), [withdrawn.clone(), withdrawn]);
}

/// A No and an Escape end the hook, which takes its card with it.
fn refused_at_the_hosts_own_dialog(how: &str, refuse: impl FnOnce(&Terminal)) {
    let mut terminal = held(Host::V332, &[REMOVE]).in_terminal();
    terminal.dialog_stands(REMOVE, STANDS);
    let waiting = terminal.sandbox().desk().waits_for(REMOVE);
    let pressed = Instant::now();
    refuse(&terminal);
    let desk = terminal.sandbox().desk();
    let request = desk.is_gone(&waiting.id);
    let took = pressed.elapsed();
    eprintln!("from the local {how} to the card's end: {took:?}");
    assert!(took < Duration::from_secs(2), "{took:?}");
    assert_eq!(
        (&request["status"], &request["why"]),
        (&json!("withdrawn"), &json!("answered_elsewhere"))
    );
    desk.approves_in_vain(&waiting.id);
    terminal.shows_no_dialog();
    assert!(stands(terminal.sandbox()), "it was refused and the file is gone");
    assert_eq!(recorded(terminal.sandbox()), [line("none", "withdrawn")]);
}

#[test]
fn a_local_no_takes_the_card_down() {
    refused_at_the_hosts_own_dialog("No", |terminal| terminal.chooses("No"));
}

#[test]
fn an_escape_takes_the_card_down() {
    refused_at_the_hosts_own_dialog("Escape", |terminal| terminal.press("Escape"));
}

/// Nobody is left who would run it, and no card says otherwise.
fn the_session_ends(end: impl FnOnce(&Terminal)) {
    let mut terminal = held(Host::V332, &[REMOVE]).in_terminal();
    terminal.dialog_stands(REMOVE, STANDS);
    let waiting = terminal.sandbox().desk().waits_for(REMOVE);
    let host = Path::new("/proc").join(terminal.process().to_string()).join("cmdline");
    let ended = Instant::now();
    end(&terminal);
    let desk = terminal.sandbox().desk();
    let request = desk.is_gone(&waiting.id);
    let took = ended.elapsed();
    eprintln!("from the session's end to the card's: {took:?}");
    assert!(took < Duration::from_secs(4), "{took:?}");
    assert_eq!(
        (&request["status"], &request["why"]),
        (&json!("withdrawn"), &json!("session_ended"))
    );
    desk.approves_in_vain(&waiting.id);
    assert!(stands(terminal.sandbox()), "nobody decided and the file is gone");
    // It writes into its HOME until it is gone.
    let lives = || std::fs::read(&host).is_ok_and(|words| !words.is_empty());
    while lives() && ended.elapsed() < Duration::from_secs(20) {
        sleep(Duration::from_millis(40));
    }
}

#[test]
fn a_card_goes_with_its_host_that_is_killed() {
    the_session_ends(|terminal| {
        let killed = Command::new("kill")
            .args(["-KILL", &terminal.process().to_string()])
            .status();
        assert!(killed.expect("kill").success());
    });
}

#[test]
fn a_card_goes_with_the_terminal_of_its_session() {
    the_session_ends(Terminal::close);
}

/// Two projects of one user, the same commands in both: what is said of the one is never said of the other.
#[test]
fn two_sessions_that_wait_at_once_each_get_their_own_answer() {
    let commands = ["rm -f marker.txt", "rm -f sub/notes.txt"];
    let first = held(Host::V332, &commands);
    let second = Session::beside(&first, commands.map(bash)).file("marker.txt");
    let mut sessions = [first, second].map(Session::in_terminal);
    // The one that is answered first, and whether it is allowed; the other is answered otherwise.
    for (turn, (first, allowed)) in [(0, true), (0, false)].into_iter().enumerate() {
        let waiting: Vec<_> = sessions
            .iter()
            .map(|session| {
                let project = session.sandbox().project();
                let waiting = sessions[0].sandbox().desk().waits_for(&project.display().to_string());
                assert_eq!(waiting.card["preview"]["head"], commands[turn]);
                waiting
            })
            .collect();
        assert_ne!(waiting[0].card["session"], waiting[1].card["session"]);
        for session in [first, 1 - first] {
            let desk = sessions[0].sandbox().desk();
            match allowed == (session == first) {
                true => desk.approves(&waiting[session].id),
                false => desk.denies(&waiting[session].id, &format!("not in {session}")),
            }
        }
        for session in [first, 1 - first] {
            let told = sessions[session].told(turn);
            let file = sessions[session]
                .sandbox()
                .project()
                .join(commands[turn].trim_start_matches("rm -f "));
            match allowed == (session == first) {
                true => assert!(!told.is_error && !file.exists(), "{told:?}"),
                false => {
                    assert_eq!(told, denied(&format!("not in {session}")));
                    assert!(file.exists());
                }
            }
        }
    }
    // The first has the HOME of both.
    let [_first, second] = sessions;
    drop(second);
}

/// Whoever sits there answers what they see, and nobody else hears of it; what they leave comes to the second terminal.
#[test]
fn a_person_before_the_machine_has_eight_seconds_before_anybody_else_is_asked() {
    let calls = ["rm -f marker.txt #here", "rm -f marker.txt #there"].map(bash);
    let mut terminal = wired(Session::new(Host::V332, calls)).in_terminal();
    terminal.dialog_stands("#here", Duration::from_secs(1));
    terminal.press("1");
    assert!(!terminal.told(0).is_error);
    terminal.dialog_stands("#there", Duration::ZERO);
    let stands_since = Instant::now();
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for("#there");
    let took = stands_since.elapsed();
    eprintln!("from the dialog to the card: {took:?}");
    assert!(
        Duration::from_secs(7) < took && took < Duration::from_secs(12),
        "{took:?}"
    );
    assert!(
        !desk.relay_knows("#here"),
        "it was answered at once and yet put to the relay"
    );
    desk.approves(&waiting.id);
    assert!(!terminal.told(1).is_error);
}

/// Until the person has said how long a subagent may be held up, it is not.
#[test]
fn a_subagents_call_is_left_to_the_hosts_own_dialog() {
    let prompt = format!("{DELEGATED}{REMOVE}");
    let agent = ToolUse {
        name: "Agent",
        input: json!({"description": "a part", "prompt": prompt, "subagent_type": "general-purpose"}),
    };
    let session = wired(Session::new(Host::V332, [agent])).configured("[relay]\ngrace = \"0\"\n");
    let mut terminal = session.in_terminal();
    terminal.dialog_stands(REMOVE, Duration::from_secs(2));
    let desk = terminal.sandbox().desk();
    assert_eq!(desk.waiting().len(), 0);
    assert!(!desk.relay_knows(REMOVE));
    terminal.press("1");
    assert!(!terminal.told(OF_SUBAGENT).is_error);
    assert!(!stands(terminal.sandbox()));
    assert!(!terminal.sandbox().record()[0]["agent"].is_null());
}

/// The hook that waits starts its own machine's relay again, which has kept the question.
#[test]
fn a_relay_that_is_killed_comes_back_and_the_answer_still_arrives() {
    let mut terminal = held(Host::V332, &[REMOVE]).in_terminal();
    terminal.dialog_stands(REMOVE, STANDS);
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for(REMOVE);
    let relay = desk.relay();
    let killed = Command::new("kill").args(["-KILL", &relay.to_string()]).status();
    assert!(killed.expect("kill").success());
    desk.comes_back(relay);
    desk.approves(&waiting.id);
    assert!(!terminal.told(0).is_error);
    assert!(!stands(terminal.sandbox()));
    assert_eq!(recorded(terminal.sandbox()), [line("allow", "approver")]);
}

fn question(text: &str, several: bool) -> Value {
    let option = |label: &str| json!({"label": label, "description": format!("it is {label}")});
    json!({"question": text, "header": "Choice", "options": [option("Red"), option("Blue"), option("Green")], "multiSelect": several})
}

/// One of the options, several, and the person's own words.
#[test]
fn questions_are_answered_from_a_second_terminal() {
    let ask = ToolUse {
        name: "AskUserQuestion",
        input: json!({"questions": [
            question("Which colour?", false), question("Which shades?", true), question("Which name?", false),
        ]}),
    };
    let session = wired(Session::new(Host::V332, [ask.clone(), ask])).configured("[relay]\ngrace = \"0\"\n");
    let mut terminal = session.in_terminal();
    terminal.shows("Which colour?");
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for("Which colour?");
    assert_eq!(waiting.card["kind"], "questions");
    assert_eq!(waiting.card["questions"][1]["several"], true);
    desk.does(&[
        "approve",
        &waiting.id,
        "--yes",
        "--answer",
        "1=Blue",
        "--answer",
        "2=Red",
        "--answer",
        "2=3",
        "--text",
        "3=call it \"Bob\"",
    ]);
    let told = terminal.told(0);
    assert!(!told.is_error, "{}", told.text);
    for answer in ["\"Which colour?\"=\"Blue\"", "Red, Green", "call it \"Bob\""] {
        assert!(told.text.contains(answer), "{answer}: {}", told.text);
    }
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for("Which colour?");
    desk.denies(&waiting.id, "ask me tomorrow");
    assert_eq!(terminal.told(1), denied("ask me tomorrow"));
    assert_eq!(
        recorded(terminal.sandbox()),
        [line("allow", "approver"), line("deny", "approver")]
    );
}

/// A plan goes back with words, and then is approved with the mode in which the person wants it carried out.
#[test]
fn a_plan_is_sent_back_and_then_approved_with_a_mode_from_a_second_terminal() {
    let plan = ToolUse {
        name: "ExitPlanMode",
        input: json!({"plan": "1. remove the marker"}),
    };
    let calls = [plan.clone(), plan, write("made.txt")];
    let session = wired(Session::new(Host::V332, calls))
        .mode("plan")
        .configured("[relay]\ngrace = \"0\"\n");
    let mut terminal = session.in_terminal();
    let desk = terminal.sandbox().desk();
    let waiting = desk.waits_for("\"plan\"");
    assert_eq!(waiting.card["kind"], "plan");
    desk.denies(&waiting.id, "keep the marker");
    assert_eq!(terminal.told(0), denied("keep the marker"));
    let desk = terminal.sandbox().desk();
    let again = desk.waits_for("\"plan\"");
    assert_ne!(again.id, waiting.id);
    desk.does(&["approve", &again.id, "--yes", "--then", "accept-edits"]);
    assert!(!terminal.told(1).is_error);
    // It accepts edits now: the file is made with nobody asked.
    assert!(!terminal.told(2).is_error);
    assert!(terminal.sandbox().project().join("made.txt").exists());
    let decided = [line("deny", "approver"), line("allow", "approver")];
    assert_eq!(recorded(terminal.sandbox()), decided);
}

/// What the person has remembered holds from the next call on: a rule or a mode of the host's, a rule of Countersign's.
#[test]
fn what_is_remembered_from_a_second_terminal_is_not_asked_about_again() {
    let calls = [
        "forge build one",
        "forge build two",
        "mkdir -p made",
        "mkdir -p made",
        "mkdir one",
        "mkdir two",
    ];
    let session = held(Host::V332, &calls);
    session.sandbox().program("forge", "#!/bin/sh\necho forged $2\n");
    let mut terminal = session.in_terminal();
    for (turn, scope, words) in [
        (0, "local", "Bash(forge build *)"),
        (2, "countersign", "exactly mkdir -p made"),
        (4, "session", "acceptEdits"),
    ] {
        let desk = terminal.sandbox().desk();
        let waiting = desk.waits_for(calls[turn]);
        let offers = waiting.card["offers"].as_array().expect("offers");
        let fits = |offer: &Value| offer["scope"] == scope && offer["words"].as_str().expect("words").contains(words);
        let Some(offer) = offers.iter().position(fits) else {
            panic!("no offer of {words} for {scope}: {offers:#?}")
        };
        desk.does(&["approve", &waiting.id, "--yes", "--remember", &(offer + 1).to_string()]);
        for turn in [turn, turn + 1] {
            assert!(!terminal.told(turn).is_error);
        }
    }
    let by_person = line("allow", "approver");
    assert_eq!(
        recorded(terminal.sandbox()),
        [by_person.clone(), by_person.clone(), line("allow", "rule"), by_person]
    );
}

/// The person changes what is to run: it is judged and put to them again, and then runs as they have it.
#[test]
fn an_edited_input_is_asked_about_again_and_runs_as_edited() {
    let mut terminal = held(Host::V332, &["rm -f marker.txt sub/notes.txt"]).in_terminal();
    let sandbox = terminal.sandbox();
    let waiting = sandbox.desk().waits_for("sub/notes.txt");
    let editor = sandbox.executable("edit", "#!/bin/sh\nsed -i 's/ sub.notes.txt//' \"$1\"\n");
    let words = [
        &format!("EDITOR={}", editor.display()),
        COUNTERSIGN,
        "approve",
        &waiting.id,
        "--edit",
        "--yes",
    ];
    let words = words.map(|word: &str| word.to_owned());
    let _approve = Tui::start(sandbox, Path::new("/usr/bin/env"), &words);
    let desk = sandbox.desk();
    let again = desk.waits_for("\"edited\":true");
    assert_eq!(again.card["preview"]["head"], REMOVE);
    assert_eq!(desk.request(&waiting.id)["outcome"], "superseded");
    desk.approves(&again.id);
    assert!(!terminal.told(0).is_error);
    let project = terminal.sandbox().project();
    assert!(!project.join("marker.txt").exists() && project.join("sub/notes.txt").exists());
    assert_eq!(recorded(terminal.sandbox()), [line("allow", "approver")]);
}

/// Where another face of Countersign answers in the person's place, it asks elsewhere too, and the hook leaves it that.
fn another_face_asks_elsewhere(session: impl FnOnce(Session) -> Session) {
    let calls = ["rm -f nothing.txt marker.txt", REMOVE].map(bash);
    let run = session(wired(Session::new(Host::V332, calls))).headless_while(|sandbox| {
        let desk = sandbox.desk();
        let waiting = desk.waits_for("nothing.txt");
        assert_eq!(desk.waiting().len(), 1);
        desk.denies(&waiting.id, "move it");
        let waiting = desk.waits_for(REMOVE);
        assert!(stands(sandbox), "it was denied and the file is gone");
        desk.approves(&waiting.id);
    });
    assert_eq!(run.told(0), denied("move it"));
    assert!(!run.told(1).is_error && !stands(run.sandbox()));
    assert_eq!(
        recorded(run.sandbox()),
        [line("deny", "approver"), line("allow", "approver")]
    );
    assert!(
        run.sandbox()
            .record()
            .iter()
            .all(|line| line["event"] == "can_use_tool")
    );
}

#[test]
fn the_prompt_tool_asks_elsewhere_and_nobody_twice() {
    another_face_asks_elsewhere(Session::asking_mcp);
}

#[test]
fn countersign_run_asks_elsewhere_and_nobody_twice() {
    another_face_asks_elsewhere(Session::under_run);
}
