//! Countersign itself on the real host: what it finds safe runs with no key pressed, and everything else keeps its
//! prompt. Wired by its own installer, by the plugin of this repository, and behind the recorder.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use crate::answers::{ALLOW, NONE};
use crate::api::ToolUse;
use crate::host::Host;
use crate::sandbox::{COUNTERSIGN, Sandbox};
use crate::session::{Session, bash, write};

/// The host prompts for it, and it only looks.
const LOOK: &str = "cd sub && git status";
/// From the directory that [`LOOK`] leaves the shell in.
const REMOVE: &str = "rm -f ../marker.txt";
const STANDS: Duration = Duration::from_millis(2500);

fn look_and_remove() -> [ToolUse; 2] {
    [bash(LOOK), bash(REMOVE)]
}

fn session(host: Host) -> Session {
    Session::new(host, look_and_remove()).file("marker.txt")
}

/// This repository as the host's plugin, and the program where its launcher looks for it.
fn with_our_plugin(session: Session) -> Session {
    let bin = session.sandbox().home().join(".local/bin");
    fs::create_dir_all(&bin).expect("the directory for programs");
    symlink(COUNTERSIGN, bin.join("countersign")).expect("the program's link");
    session.plugin_dir(PathBuf::from(env!("CARGO_MANIFEST_DIR")))
}

/// The look ran with no key pressed; the removal waits for one.
fn looks_freely_and_asks_to_remove(session: Session) {
    let mut terminal = session.in_terminal();
    let marker = terminal.sandbox().project().join("marker.txt");
    let looked = terminal.told(0);
    assert!(
        !looked.is_error && looked.text.contains("On branch main"),
        "{}",
        looked.text
    );
    terminal.dialog_stands(REMOVE, STANDS);
    assert!(marker.exists(), "nobody decided and the file is gone");
    terminal.press("1");
    assert!(!terminal.told(1).is_error);
    assert!(!marker.exists(), "the person said yes and the file is still there");
}

/// What the product answers to the first recorded event about `command`, sent to it once more.
fn answer_again(sandbox: &Sandbox, event: &str, command: &str, args: &[&str]) -> String {
    let heard = sandbox
        .heard(event)
        .into_iter()
        .find(|heard| heard["tool_input"]["command"] == command);
    let heard = heard.unwrap_or_else(|| panic!("no {event} hook was asked about `{command}`\n{}", sandbox.report()));
    sandbox.countersign(&[&["hook"], args].concat(), &format!("{heard}\n"))
}

#[test]
fn installed_it_looks_freely_and_asks_to_remove_on_2_1_332() {
    looks_freely_and_asks_to_remove(session(Host::V332).installed(&[]));
}

#[test]
fn installed_it_looks_freely_and_asks_to_remove_on_2_1_280() {
    looks_freely_and_asks_to_remove(session(Host::V280).installed(&[]));
}

#[test]
fn installed_it_looks_freely_and_asks_to_remove_on_2_1_207() {
    looks_freely_and_asks_to_remove(session(Host::V207).installed(&[]));
}

#[test]
fn as_a_plugin_it_looks_freely_and_asks_to_remove() {
    looks_freely_and_asks_to_remove(with_our_plugin(session(Host::V332)));
}

#[test]
fn installed_twice_as_a_plugin_and_in_the_settings_it_answers_all_the_same() {
    looks_freely_and_asks_to_remove(with_our_plugin(session(Host::V332).installed(&[])));
}

/// The look ran; the removal was refused by the host, because nobody is there to ask.
fn looks_freely_and_removes_nothing(session: Session) {
    let run = session.headless();
    let looked = run.told(0);
    let free = !looked.is_error && looked.text.contains("On branch main");
    assert!(free, "{}\n{}", looked.text, run.sandbox().report());
    assert!(run.told(1).is_error, "no decision is the host's refusal");
    assert!(run.sandbox().project().join("marker.txt").exists());
}

#[test]
fn headless_and_installed_it_looks_freely_and_removes_nothing() {
    looks_freely_and_removes_nothing(session(Host::V332).installed(&[]));
}

#[test]
fn headless_and_a_plugin_it_looks_freely_and_removes_nothing() {
    looks_freely_and_removes_nothing(with_our_plugin(session(Host::V332)));
}

#[test]
fn its_answers_are_the_bytes_that_these_tests_show_the_host_to_take() {
    let mut terminal = session(Host::V332).countersign("PermissionRequest", &[]).in_terminal();
    terminal.told(0);
    terminal.dialog_stands(REMOVE, STANDS);
    let sandbox = terminal.sandbox();
    assert_eq!(
        answer_again(sandbox, "PermissionRequest", LOOK, &[]),
        format!("{ALLOW}\n")
    );
    assert_eq!(
        answer_again(sandbox, "PermissionRequest", REMOVE, &[]),
        format!("{NONE}\n")
    );
}

/// Early, a harmless call brings no dialog at all and no second question.
fn looks_early(mode: &str) {
    let session = Session::new(Host::V332, [bash(LOOK)])
        .mode(mode)
        .installed(&["--early"]);
    let mut terminal = session.in_terminal();
    terminal.play_out();
    let looked = terminal.told(0);
    assert!(
        !looked.is_error && looked.text.contains("On branch main"),
        "{}",
        looked.text
    );
    assert!(
        terminal.dialogs().is_empty(),
        "a dialog came up:\n{}",
        terminal.dialogs()[0]
    );
    let log = terminal.sandbox().debug_lines();
    assert!(
        !log.contains("executePermissionRequestHooks called"),
        "the late hook was asked too:\n{log}"
    );
}

#[test]
fn early_it_leaves_no_dialog_in_manual_mode() {
    looks_early("default");
}

#[test]
fn early_it_leaves_no_dialog_in_auto_mode() {
    looks_early("auto");
}

#[test]
fn early_it_leaves_no_dialog_in_accept_edits_mode() {
    looks_early("acceptEdits");
}

/// In auto mode the host removes a project's file unasked; a guard stops it and the model reads why, to the letter.
#[test]
fn its_guard_stops_a_removal_in_auto_mode_and_tells_the_model_why() {
    let guard = ["--guard", "high"];
    let calls = [bash("rm -f marker.txt")];
    let session = Session::new(Host::V332, calls).file("marker.txt").mode_of_the_host();
    let mut terminal = session.countersign("PreToolUse", &guard).in_terminal();
    let told = terminal.told(0);
    assert!(
        terminal.sandbox().project().join("marker.txt").exists(),
        "the guard denied it and the file is gone"
    );
    let answer = answer_again(terminal.sandbox(), "PreToolUse", "rm -f marker.txt", &guard);
    let answer: Value = serde_json::from_str(&answer).expect("one object");
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"]
        .as_str()
        .expect("a reason");
    assert!(reason.starts_with("[countersign:policy] "), "{reason}");
    assert_eq!(
        (told.is_error, told.text),
        (true, format!("PreToolUse:Bash hook error: {reason}"))
    );
}

/// A guard is for every tool: here a file that git would run.
#[test]
fn its_guard_stops_a_hook_of_git_from_being_written_in_auto_mode() {
    let session = Session::new(Host::V332, [write(".git/hooks/pre-commit")]).mode_of_the_host();
    let mut terminal = session.installed(&["--guard", "critical"]).in_terminal();
    let told = terminal.told(0);
    assert!(
        told.is_error && told.text.starts_with("[countersign:policy] critical"),
        "{}",
        told.text
    );
    assert!(!terminal.sandbox().project().join(".git/hooks/pre-commit").exists());
    assert!(terminal.dialogs().is_empty());
}

#[test]
fn its_guard_may_ask_in_auto_mode_instead() {
    let calls = [bash("rm -f marker.txt")];
    let session = Session::new(Host::V332, calls).file("marker.txt").mode_of_the_host();
    let mut terminal = session.installed(&["--guard", "high", "--guard-asks"]).in_terminal();
    terminal.dialog_stands("rm -f marker.txt", STANDS);
    assert!(
        terminal.sandbox().project().join("marker.txt").exists(),
        "nobody decided and the file is gone"
    );
}

/// The host lets a late allow override an ask rule; Countersign does not use that.
#[test]
fn what_the_persons_own_ask_rule_matches_keeps_its_prompt() {
    let rules = json!({"ask": ["Bash(git status:*)"]});
    for options in [&[][..], &["--early"]] {
        let session = Session::new(Host::V332, [bash(LOOK)]).setting("permissions", rules.clone());
        session.installed(options).in_terminal().dialog_stands(LOOK, STANDS);
    }
}

#[test]
fn switched_off_it_leaves_every_prompt() {
    let session = session(Host::V332).installed(&[]);
    session.sandbox().countersign(&["off"], "");
    session.in_terminal().dialog_stands(LOOK, STANDS);
}

#[test]
fn the_host_finds_the_plugin_valid() {
    let sandbox = Sandbox::new(Vec::new());
    let repository = Path::new(env!("CARGO_MANIFEST_DIR"));
    let output = Command::new(Host::V332.executable())
        .args(["plugin", "validate"])
        .arg(repository)
        .current_dir(sandbox.project())
        .env_clear()
        .envs(sandbox.environment())
        .output()
        .expect("the host starts");
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "the host refuses the plugin:\n{said}");
}
