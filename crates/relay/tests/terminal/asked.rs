//! Who is asked on the terminal itself: `watch`, and `approve` without `--yes`.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use countersign_protocol::card::{Card, Choice, Kind, Offer, Question, Scope, Tier};
use countersign_protocol::verdict::{Answer, Answered, Then};
use serde_json::Value;

use crate::pty::{Pty, wait_for};
use crate::support::{Desk, card, cut_card, nasty_card, write};

/// A command of the terminal's on a terminal of its own.
struct Asking {
    pty: Pty,
    child: Child,
    _input: File,
}

impl Asking {
    fn start(desk: &Desk, words: &[&str]) -> Asking {
        Asking::with(desk, words, &[])
    }

    fn with(desk: &Desk, words: &[&str], variables: &[(&str, &str)]) -> Asking {
        let pty = Pty::new();
        let mut command = desk.command(words);
        command.envs(variables.iter().copied());
        let (child, input) = pty.start(&command);
        Asking {
            pty,
            child,
            _input: input,
        }
    }

    fn signal(&self, name: &str) {
        let told = Command::new("kill")
            .args(["-s", name, &self.child.id().to_string()])
            .status();
        assert!(told.expect("kill starts").success());
    }

    /// The status with which it ends.
    fn ends(mut self) -> i32 {
        wait_for("the command ends", || self.child.try_wait().expect("a child").is_some());
        self.child.wait().expect("its end").code().expect("an exit status")
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn named(words: &str) -> Card {
    let mut asked = card();
    asked.preview.head = words.into();
    asked
}

#[test]
fn each_call_that_comes_to_wait_is_asked_about_in_its_turn() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch"]);
    let first = desk.put(named("rm one.txt"));
    watch.pty.shows("Countersign: may Bash run?");
    watch.pty.shows("rm one.txt");
    let second = desk.put(named("rm two.txt"));
    watch.pty.types("a");
    watch.pty.shows("Allowed: Bash");
    watch.pty.shows("rm two.txt");
    watch.pty.types("d use git rm");
    watch.pty.shows("Denied: Bash");
    assert_eq!(desk.verdict(&first).answer, Answer::Allow);
    assert_eq!(desk.verdict(&second).note.as_deref(), Some("use git rm"));
    // The first Ctrl-C ends it, whatever stands on the screen.
    watch.pty.press("\u{3}");
    assert_eq!(watch.ends(), 0);
}

#[test]
fn what_was_typed_before_a_card_stood_counts_for_nothing() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch", "--once"]);
    wait_for("it listens", || desk.online() > 0);
    watch.pty.press("a\na\n");
    let put = desk.put(card());
    watch.pty.shows("[a]llow");
    watch.pty.shows("> ");
    std::thread::sleep(std::time::Duration::from_millis(300));
    assert_eq!(desk.status(&put), "pending");
    watch.pty.press("a\n");
    watch.pty.shows("Allowed");
    assert_eq!(watch.ends(), 0);
}

#[test]
fn a_card_that_is_answered_elsewhere_or_taken_back_is_taken_from_the_screen() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch"]);
    let gone = desk.put(named("rm gone.txt"));
    watch.pty.shows("rm gone.txt");
    watch.pty.shows("> ");
    desk.withdraw(&gone);
    watch.pty.shows("(not asked any more");
    let elsewhere = desk.put(named("rm elsewhere.txt"));
    watch.pty.shows("rm elsewhere.txt");
    watch.pty.shows("> ");
    desk.run(&["approve", &elsewhere.card.id, "--yes"]).says("Allowed");
    watch.pty.shows("(not asked any more");
    let put = desk.put(named("rm left.txt"));
    watch.pty.shows("rm left.txt");
    watch.pty.types("l");
    watch.pty.shows("(it waits on");
    assert_eq!(desk.status(&put), "pending");
}

#[test]
fn ctrl_c_ends_a_watch_while_a_card_stands_and_answers_nothing() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch"]);
    let put = desk.put(card());
    watch.pty.shows("> ");
    watch.pty.press("\u{3}");
    assert_eq!(watch.ends(), 0);
    assert_eq!(desk.status(&put), "pending");
}

#[test]
fn a_terminal_that_is_killed_has_answered_nothing_or_what_it_said() {
    let desk = Desk::new();
    let put = desk.put(card());
    let mut watch = Asking::start(&desk, &["watch"]);
    watch.pty.shows("> ");
    watch.pty.press("a");
    watch.child.kill().expect("it is killed");
    watch.child.wait().expect("its end");
    assert_eq!(desk.status(&put), "pending");
    // The next one asks again, as if nothing had been.
    let mut watch = Asking::start(&desk, &["watch"]);
    watch.pty.types("a");
    watch.pty.shows("Allowed");
    watch.child.kill().expect("it is killed");
    watch.child.wait().expect("its end");
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
}

#[test]
fn a_watch_survives_the_end_of_its_relay() {
    let mut desk = Desk::new();
    let mut watch = Asking::start(&desk, &["watch", "--once"]);
    let errors = watch.child.stderr.take().expect("its errors");
    wait_for("it listens", || desk.online() > 0);
    desk.stop();
    let mut lines = BufReader::new(errors).lines();
    let line = lines.next().expect("a line").expect("text");
    assert!(line.contains("the relay does not answer"), "{line}");
    desk.start();
    let line = lines.next().expect("a line").expect("text");
    assert_eq!(
        line, "(the relay answers again)",
        "said once, however often it was tried"
    );
    let put = desk.put(card());
    watch.pty.types("a");
    watch.pty.shows("Allowed");
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
    assert_eq!(watch.ends(), 0);
}

#[test]
fn a_watch_whose_terminal_is_struck_ends_and_says_so() {
    let desk = Desk::new();
    let mut watch = Asking::start(&desk, &["watch"]);
    let errors = watch.child.stderr.take().expect("its errors");
    wait_for("it listens", || desk.online() > 0);
    desk.introduce(false);
    // A change wakes the poll, and the next one is refused.
    desk.put(card());
    let said: Vec<String> = BufReader::new(errors).lines().map_while(Result::ok).collect();
    assert!(
        said.iter().any(|line| line.contains("the relay refuses this terminal")),
        "{said:?}"
    );
    assert_eq!(watch.ends(), 1);
}

#[test]
fn something_critical_takes_a_word_of_this_card() {
    let desk = Desk::new();
    let mut asked = card();
    asked.tier = Tier::Critical;
    let put = desk.put(asked);
    let word = put.card.sha256().expect("a digest")[..6].to_owned();
    let watch = Asking::start(&desk, &["watch", "--once"]);
    watch.pty.types("a");
    watch.pty.shows(&format!("This is critical. To allow it, type {word}"));
    watch.pty.types("yes");
    watch.pty.shows("That is not the word");
    assert_eq!(desk.status(&put), "pending");
    watch.pty.types("a");
    watch.pty.types(&word);
    watch.pty.shows("Allowed");
    let mut asked = card();
    asked.tier = Tier::Critical;
    let put = desk.put(asked);
    let word = put.card.sha256().expect("a digest")[..6].to_owned();
    let approve = Asking::start(&desk, &["approve", &put.card.id, "--yes"]);
    approve.pty.types(&word);
    assert_eq!(approve.ends(), 0);
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
}

#[test]
fn approve_asks_and_takes_only_a_yes() {
    let desk = Desk::new();
    let put = desk.put(card());
    for no in ["", "n", "ja", "approve"] {
        let approve = Asking::start(&desk, &["approve", &put.card.id]);
        approve.pty.shows("rm notes.txt");
        approve.pty.shows("Allow it? [y/N]");
        approve.pty.types(no);
        assert_eq!(approve.ends(), 1, "{no}");
        assert_eq!(desk.status(&put), "pending");
    }
    let approve = Asking::start(&desk, &["approve", &put.card.id]);
    approve.pty.types("y");
    assert_eq!(approve.ends(), 0);
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
}

#[test]
fn an_approval_that_is_asked_about_goes_away_with_its_question_and_comes_too_late_after_another() {
    let desk = Desk::new();
    let put = desk.put(card());
    let approve = Asking::start(&desk, &["approve", &put.card.id]);
    approve.pty.shows("[y/N]");
    desk.withdraw(&put);
    approve.pty.shows("(not asked any more");
    assert_eq!(approve.ends(), 1);
    let put = desk.put(card());
    let mut late = Asking::start(&desk, &["approve", &put.card.id]);
    late.pty.shows("[y/N]");
    // Stopped, it cannot hear that the question is gone, and finds the answer typed when it goes on.
    late.signal("STOP");
    desk.run(&["deny", &put.card.id]).says("Denied");
    late.pty.press("y\n");
    late.signal("CONT");
    let mut errors = String::new();
    let mut stream = late.child.stderr.take().expect("its errors");
    std::io::Read::read_to_string(&mut stream, &mut errors).expect("text");
    assert!(
        errors.contains("Too late: it was decided already, by approver, 0 s ago")
            || errors.contains("Nothing was answered"),
        "{errors}"
    );
    assert_eq!(late.ends(), 1);
    assert_eq!(desk.verdict(&put).answer, Answer::Deny);
}

#[test]
fn of_what_may_be_remembered_the_session_is_chosen_unless_another_is() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch"]);
    for (line, remembered) in [("", Some(1)), ("1", Some(0)), ("n", None)] {
        let mut asked = card();
        let offer = |scope| Offer {
            words: "rm of notes.txt".into(),
            scope,
        };
        asked.offers = vec![offer(Scope::Project), offer(Scope::Session)];
        let put = desk.put(asked);
        watch.pty.types("w");
        watch.pty.shows("which one (nothing: 2");
        watch.pty.types(line);
        if remembered.is_none() {
            watch.pty.types("a");
        }
        watch.pty.shows("Allowed");
        assert_eq!(desk.verdict(&put).remember, remembered, "`{line}`");
    }
}

#[test]
fn a_card_that_is_cut_or_not_all_shown_is_not_allowed_at_a_key() {
    let desk = Desk::new();
    let watch = Asking::start(&desk, &["watch"]);
    let long: Vec<String> = (0..100).map(|line| format!("echo line {line}")).collect();
    let put = desk.put(named(&long.join("\n")));
    watch.pty.shows("[70 lines are not shown]");
    watch.pty.types("a");
    watch.pty.shows("`explain` shows the rest");
    watch.pty.types("x");
    watch.pty.shows("echo line 50");
    watch.pty.types("a");
    watch.pty.shows("Allowed");
    assert_eq!(desk.verdict(&put).answer, Answer::Allow);
    let put = desk.put(cut_card(10));
    watch.pty.shows("[10 bytes are not shown]");
    watch.pty.types("a");
    watch.pty.shows("it can be denied");
    watch.pty.types("s");
    watch.pty.shows("Denied");
    assert!(desk.verdict(&put).stop);
}

#[test]
fn an_edited_input_is_signed_in_place_of_the_one_that_was_shown() {
    let desk = Desk::new();
    let path = desk.home().join("editor");
    write(&path, "#!/bin/sh\nsed -i 's/notes/old/' \"$1\"\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let editor = path.to_str().expect("a path");
    let shell = desk.put(card());
    let watch = Asking::with(&desk, &["watch", "--once"], &[("EDITOR", editor)]);
    watch.pty.types("e");
    watch.pty.shows("Edited: Bash");
    watch.pty.shows("comes back under another id");
    let input: Value = serde_json::from_str(desk.verdict(&shell).input.as_deref().expect("an input")).expect("JSON");
    assert_eq!(input["command"], "rm old.txt");
    let mut asked = named("{\n  \"file_path\": \"notes.txt\"\n}");
    asked.tool = "Write".into();
    let file = desk.put(asked);
    let approve = Asking::with(&desk, &["approve", &file.card.id, "--edit"], &[("EDITOR", editor)]);
    approve.pty.types("y");
    assert_eq!(approve.ends(), 0);
    let input: Value = serde_json::from_str(desk.verdict(&file).input.as_deref().expect("an input")).expect("JSON");
    assert_eq!(input["file_path"], "old.txt");
    // A field that is removed would come back.
    write(&path, "#!/bin/sh\necho '{\"content\": \"x\"}' >\"$1\"\n");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).expect("its mode");
    let mut asked = named("{\n  \"file_path\": \"notes.txt\",\n  \"content\": \"x\"\n}");
    asked.tool = "Write".into();
    let fewer = desk.put(asked);
    let approve = Asking::with(&desk, &["approve", &fewer.card.id, "--edit"], &[("EDITOR", editor)]);
    approve.pty.shows("`file_path` was taken out");
    assert_eq!(approve.ends(), 1);
    assert_eq!(desk.status(&fewer), "pending");
    // An editor that changes nothing leaves the question.
    let same = desk.put(card());
    let approve = Asking::with(&desk, &["approve", &same.card.id, "--edit"], &[("EDITOR", "true")]);
    approve.pty.shows("nothing was changed");
    assert_eq!(approve.ends(), 1);
    assert_eq!(desk.status(&same), "pending");
}

#[test]
fn what_an_agent_wrote_is_shown_on_the_screen_and_not_obeyed() {
    let desk = Desk::new();
    desk.put(nasty_card());
    let watch = Asking::start(&desk, &["watch", "--once"]);
    watch
        .pty
        .shows("Countersign: may a\\u{1b}[2Jb\\u{202e}c\\u{200b}d run?");
    watch.pty.press("w\n1\n");
    wait_for("it is answered", || watch.pty.has_shown("Allowed"));
    for obeyed in ["\u{1b}", "\u{202e}", "\u{200b}"] {
        assert!(!watch.pty.has_shown(obeyed), "{obeyed:?}");
    }
}

fn questions() -> Card {
    let choice = |label: &str| Choice {
        label: label.into(),
        description: format!("the size {label}"),
        preview: None,
    };
    let question = |text: &str, header: &str, several| Question {
        text: text.into(),
        header: header.into(),
        options: vec![choice("S"), choice("L")],
        several,
    };
    let mut asked = named("");
    asked.kind = Kind::Questions;
    asked.tool = "AskUserQuestion".into();
    asked.may_edit = false;
    asked.questions = vec![
        question("Which size?", "Size", false),
        question("Which sizes=sold?", "Sizes", true),
        question("What else?", "Else", false),
    ];
    asked
}

#[test]
fn questions_are_answered_one_after_the_other() {
    let desk = Desk::new();
    let put = desk.put(questions());
    let watch = Asking::start(&desk, &["watch", "--once"]);
    watch.pty.shows("Which size?");
    watch.pty.shows("2  L - the size L");
    watch.pty.types("2");
    watch.pty.types("1 2");
    watch.pty.types("o none of them");
    watch.pty.shows("Allowed");
    assert_eq!(desk.verdict(&put).answers, answers());
    let put = desk.put(questions());
    let approve = Asking::start(&desk, &["approve", &put.card.id]);
    approve.pty.types("r ask me tomorrow");
    assert_eq!(approve.ends(), 0);
    assert_eq!(desk.verdict(&put).note.as_deref(), Some("ask me tomorrow"));
}

fn answers() -> [Answered; 3] {
    [
        Answered::Labels(vec!["L".into()]),
        Answered::Labels(vec!["S".into(), "L".into()]),
        Answered::Text("none of them".into()),
    ]
}

#[test]
fn questions_are_answered_by_options_of_the_command_line() {
    let desk = Desk::new();
    let put = desk.put(questions());
    let approve = |options: &[&str]| {
        let mut words = vec!["approve", &put.card.id, "--yes"];
        words.extend(options);
        desk.run(&words)
    };
    let size = ["--answer", "Size=L"];
    let sizes = ["--answer", "Which sizes=sold?=S", "--answer", "2=2"];
    let other = ["--text", "Else=none of them"];
    approve(&[&size[..], &sizes].concat()).fails(1, "question 3 has no answer: What else?");
    approve(&["--answer", "Size=XL"]).fails(1, "`XL` is none of the options (S, L)");
    approve(&["--answer", "Colour=S"]).fails(1, "names no question");
    approve(&[&size[..], &["--answer", "1=S"], &sizes, &other].concat()).fails(1, "its answers are not those");
    assert_eq!(desk.status(&put), "pending");
    approve(&[&size[..], &sizes, &other].concat()).says("Allowed");
    assert_eq!(desk.verdict(&put).answers, answers());
}

#[test]
fn a_plan_is_approved_with_a_mode_or_sent_back_with_words() {
    let desk = Desk::new();
    let plan = || {
        let mut asked = named("1. write the test\n2. make it pass");
        asked.kind = Kind::Plan;
        asked.tool = "ExitPlanMode".into();
        asked.may_edit = false;
        desk.put(asked)
    };
    let watch = Asking::start(&desk, &["watch"]);
    for (line, then) in [("a", None), ("e", Some(Then::AcceptEdits)), ("u", Some(Then::Auto))] {
        let put = plan();
        watch.pty.shows("2. make it pass");
        watch.pty.types(line);
        watch.pty.shows("Allowed");
        assert_eq!(desk.verdict(&put).then, then);
    }
    let put = plan();
    watch.pty.types("d test the empty case too");
    watch.pty.shows("Denied");
    assert_eq!(desk.verdict(&put).note.as_deref(), Some("test the empty case too"));
    drop(watch);
    let put = plan();
    desk.run(&["approve", &put.card.id, "--yes", "--then", "accept-edits"])
        .says("Allowed");
    assert_eq!(desk.verdict(&put).then, Some(Then::AcceptEdits));
    let put = desk.put(card());
    desk.run(&["approve", &put.card.id, "--yes", "--then", "auto"])
        .fails(1, "what is no plan");
}

#[test]
fn programs_are_told_what_comes_to_wait_and_what_does_not_wait_any_more() {
    let desk = Desk::new();
    let mut watch = desk.command(&["watch", "--json"]);
    // It answers nothing, so that an agent may see it.
    watch.env("CLAUDECODE", "1").stdin(Stdio::null()).stdout(Stdio::piped());
    let mut watch = watch.spawn().expect("it starts");
    let mut lines = BufReader::new(watch.stdout.take().expect("its output")).lines();
    let mut next = || -> Value {
        let line = lines.next().expect("a line").expect("text");
        serde_json::from_str(&line).expect("JSON")
    };
    let put = desk.put(card());
    let told = next();
    assert_eq!(
        (&told["event"], &told["id"]),
        (&"waiting".into(), &put.card.id.as_str().into())
    );
    assert_eq!(told["card"]["summary"], "deletes notes.txt");
    desk.withdraw(&put);
    let told = next();
    assert_eq!(
        (&told["event"], &told["id"]),
        (&"gone".into(), &put.card.id.as_str().into())
    );
    watch.kill().expect("it is ended");
    watch.wait().expect("its end");
}

#[test]
fn a_watch_needs_a_terminal_and_a_person() {
    let desk = Desk::new();
    desk.run(&["watch"]).fails(1, "there is no terminal to ask on");
    let mut watch = desk.command(&["watch"]);
    let output = watch.env("CLAUDECODE", "1").output().expect("it runs");
    assert!(
        String::from_utf8_lossy(&output.stderr).contains("CLAUDECODE is set"),
        "{output:?}"
    );
}
