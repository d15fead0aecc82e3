//! Which calls reach the hook in each of the host's modes, and that the host's own rules stay above it. What is
//! asserted here is measured behaviour of the host; docs/modes.md tells it to people.

use std::time::Duration;

use serde_json::json;

use crate::answers::{ALLOW, DENIED, EARLY_ALLOW, EARLY_ASK, early_deny};
use crate::api::ToolUse;
use crate::host::Host;
use crate::session::{Session, bash, write};

const LOOK: &str = "cd sub && git status";
const REMOVE: &str = "rm -f marker.txt";
/// Shorter than this, a dialog was answered by nobody but the hook.
const STANDS: Duration = Duration::from_millis(2200);

/// One call of each sort: one the host lets through itself, one that removes, one that writes, one that only looks.
fn sorts() -> [ToolUse; 4] {
    [bash("ls"), bash(REMOVE), write("new.txt"), bash(LOOK)]
}

/// A session whose PreToolUse hook is silent and whose PermissionRequest hook allows everything.
fn allowing(calls: impl Into<Vec<ToolUse>>) -> Session {
    let session = Session::new(Host::V332, calls).file("marker.txt");
    session
        .hook_prints("PreToolUse", "")
        .hook_prints("PermissionRequest", ALLOW)
}

/// A session whose PreToolUse hook allows everything and whose PermissionRequest hook has no opinion.
fn allowing_early(calls: impl Into<Vec<ToolUse>>) -> Session {
    let session = Session::new(Host::V332, calls).file("marker.txt");
    session
        .hook_prints("PreToolUse", EARLY_ALLOW)
        .hook_prints("PermissionRequest", "")
}

/// Plays to the end with no key pressed, then asserts what each event's hook was asked.
fn reaches(session: Session, early: &[&str], asked: &[&str]) {
    let mut terminal = session.in_terminal();
    terminal.play_out();
    assert_eq!(terminal.sandbox().asked("PreToolUse"), early);
    assert_eq!(terminal.sandbox().asked("PermissionRequest"), asked);
    assert!(
        !terminal.sandbox().project().join("marker.txt").exists(),
        "the removal was let through"
    );
}

/// Plays until the dialog about [`LOOK`] stands although the hook would allow it, because it was never asked.
fn stands_unasked(session: Session) {
    let mut terminal = session.in_terminal();
    terminal.dialog_stands(LOOK, STANDS);
    terminal.shows("Auto mode can't check actions in this session");
    assert!(
        terminal.sandbox().asked("PreToolUse").iter().any(|call| call == LOOK),
        "the early hook is asked"
    );
    assert_eq!(
        terminal.sandbox().asked("PermissionRequest"),
        [""; 0],
        "the late hook is not"
    );
}

#[test]
fn manual_mode_asks_the_hook_about_all_but_plain_looking() {
    reaches(
        allowing(sorts()),
        &["ls", REMOVE, "Write", LOOK],
        &[REMOVE, "Write", LOOK],
    );
}

#[test]
fn accept_edits_mode_asks_the_hook_only_about_what_is_no_edit() {
    reaches(
        allowing(sorts()).mode("acceptEdits"),
        &["ls", REMOVE, "Write", LOOK],
        &[LOOK],
    );
}

#[test]
fn plan_mode_without_auto_mode_asks_the_hook_as_manual_mode_does() {
    let session = allowing(sorts())
        .mode("plan")
        .setting("useAutoModeDuringPlan", json!(false));
    reaches(session, &["ls", REMOVE, "Write", LOOK], &[REMOVE, "Write", LOOK]);
}

/// The scripted API is no server that the host's safety check can run on: what is measured is this case, not a
/// real classifier's verdict.
#[test]
fn auto_mode_removes_a_project_file_unasked_and_asks_the_person_past_the_hook() {
    let mut terminal = allowing([bash(REMOVE)]).mode_of_the_host().in_terminal();
    assert!(!terminal.told(0).is_error);
    terminal.shows("auto mode on");
    assert!(terminal.dialogs().is_empty());
    assert_eq!(terminal.sandbox().asked("PreToolUse"), [REMOVE]);
    assert!(terminal.sandbox().asked("PermissionRequest").is_empty());
    drop(terminal);
    let terminal = allowing([bash(LOOK)]).mode_of_the_host().in_terminal();
    terminal.shows("Auto mode can't check actions in this session");
    assert_eq!(terminal.sandbox().asked("PreToolUse"), [LOOK]);
    assert!(terminal.sandbox().asked("PermissionRequest").is_empty());
}

#[test]
fn plan_mode_with_auto_mode_asks_the_person_past_the_hook() {
    stands_unasked(allowing([bash(LOOK)]).mode("plan"));
}

#[test]
fn before_auto_mode_was_the_default_the_terminal_asks_the_hook_with_nothing_configured() {
    for host in [Host::V280, Host::V207] {
        let session = Session::new(host, [bash(REMOVE)]).file("marker.txt").mode_of_the_host();
        reaches(session.hook_prints("PermissionRequest", ALLOW), &[], &[REMOVE]);
    }
}

/// The four calls of the early tests: two free ones, one under an ask rule, one under a deny rule.
fn under_rules(mode: &str) -> Session {
    let calls = [
        bash(REMOVE),
        bash(LOOK),
        bash("touch made.txt"),
        bash("touch refused.txt"),
    ];
    let rules = json!({"ask": ["Bash(touch made.txt)"], "deny": ["Bash(touch refused.txt)"]});
    allowing_early(calls).setting("permissions", rules).mode(mode)
}

/// An early allow leaves no dialog and no second question, and beats neither an ask rule nor a deny rule.
fn early_allow_keeps_below_the_rules(session: Session) {
    let mut terminal = session.in_terminal();
    assert!(!terminal.told(0).is_error && !terminal.told(1).is_error);
    assert!(!terminal.sandbox().project().join("marker.txt").exists());
    terminal.dialog_stands("touch made.txt", STANDS);
    terminal.press("1");
    let refused = terminal.told(3);
    assert!(
        refused.is_error && refused.text.contains("has been denied"),
        "the deny rule holds: {}",
        refused.text
    );
    let others: Vec<_> = terminal
        .dialogs()
        .iter()
        .filter(|screen| !screen.contains("touch made.txt"))
        .collect();
    assert!(
        others.is_empty(),
        "only the ask rule brings a dialog, however brief: {others:?}"
    );
    assert_eq!(terminal.sandbox().asked("PermissionRequest"), ["touch made.txt"]);
}

#[test]
fn early_allow_keeps_below_the_hosts_rules_in_manual_mode() {
    early_allow_keeps_below_the_rules(under_rules("default"));
}

#[test]
fn early_allow_keeps_below_the_hosts_rules_in_auto_mode() {
    early_allow_keeps_below_the_rules(under_rules("auto"));
}

#[test]
fn early_allow_keeps_below_the_hosts_rules_in_accept_edits_mode() {
    early_allow_keeps_below_the_rules(under_rules("acceptEdits"));
}

#[test]
fn early_allow_does_not_open_plan_mode() {
    stands_unasked(allowing_early([bash(LOOK)]).mode("plan"));
    let without_auto = allowing_early([bash(LOOK)])
        .mode("plan")
        .setting("useAutoModeDuringPlan", json!(false));
    let mut terminal = without_auto.in_terminal();
    terminal.dialog_stands(LOOK, STANDS);
    assert_eq!(
        terminal.sandbox().asked("PermissionRequest"),
        [LOOK],
        "the late hook is asked all the same"
    );
}

/// This is the host's law and why Countersign itself never allows what an ask rule may match.
#[test]
fn a_late_allow_overrides_an_ask_rule_but_a_deny_rule_is_never_asked_about() {
    let rules = json!({"ask": ["Bash(touch made.txt)"], "deny": ["Bash(touch refused.txt)"]});
    let calls = [bash("touch made.txt"), bash("touch refused.txt")];
    let mut terminal = allowing(calls).setting("permissions", rules).in_terminal();
    terminal.play_out();
    assert!(terminal.sandbox().project().join("made.txt").exists());
    assert!(terminal.told(1).is_error && !terminal.sandbox().project().join("refused.txt").exists());
    assert_eq!(terminal.sandbox().asked("PermissionRequest"), ["touch made.txt"]);
}

#[test]
fn an_ask_rule_brings_the_late_hook_into_auto_mode() {
    let rules = json!({"ask": ["Bash(rm:*)"]});
    let session = allowing([bash(REMOVE)])
        .setting("permissions", rules)
        .mode_of_the_host();
    reaches(session, &[REMOVE], &[REMOVE]);
}

/// A guard's deny holds in `mode` and the model reads the reason: after the host's own opening words for a shell
/// call, alone for another tool.
fn guard_denies(mode: &str) {
    let session = Session::new(Host::V332, [bash(REMOVE), write("new.txt")])
        .file("marker.txt")
        .mode(mode);
    let mut terminal = session.hook_prints("PreToolUse", &early_deny()).in_terminal();
    let (removal, new) = (terminal.told(0), terminal.told(1));
    assert_eq!(
        (removal.is_error, removal.text),
        (true, format!("PreToolUse:Bash hook error: {DENIED}"))
    );
    assert_eq!((new.is_error, new.text.as_str()), (true, DENIED));
    assert!(terminal.sandbox().project().join("marker.txt").exists());
    assert!(!terminal.sandbox().project().join("new.txt").exists());
    assert!(terminal.dialogs().is_empty());
}

#[test]
fn a_guards_deny_holds_in_manual_mode() {
    guard_denies("default");
}

#[test]
fn a_guards_deny_holds_in_auto_mode() {
    guard_denies("auto");
}

#[test]
fn a_guards_deny_holds_in_accept_edits_mode() {
    guard_denies("acceptEdits");
}

#[test]
fn a_guards_deny_holds_in_plan_mode() {
    guard_denies("plan");
}

#[test]
fn a_guards_ask_brings_the_dialog_into_auto_mode() {
    let session = Session::new(Host::V332, [bash(REMOVE)])
        .file("marker.txt")
        .mode_of_the_host();
    let session = session
        .hook_prints("PreToolUse", EARLY_ASK)
        .hook_prints("PermissionRequest", "");
    let mut terminal = session.in_terminal();
    terminal.dialog_stands(REMOVE, STANDS);
    assert!(
        terminal.sandbox().project().join("marker.txt").exists(),
        "nobody decided and the file is gone"
    );
    assert_eq!(terminal.sandbox().asked("PermissionRequest"), [REMOVE]);
    terminal.press("1");
    assert!(!terminal.told(0).is_error);
    assert!(
        !terminal.sandbox().project().join("marker.txt").exists(),
        "the person said yes"
    );
}
