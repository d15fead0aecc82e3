//! The marker files: a session deletes files behind prompts, and the hook's answer alone says which of them go.

use std::time::Duration;

use crate::answers::{ALLOW, DENIED, NONE, deny};
use crate::host::Host;
use crate::session::{Session, bash};

/// A session that removes three marker files in turn, with a hook that answers by the file's name.
fn three_markers(host: Host) -> Session {
    let calls = ["allowed.txt", "denied.txt", "left.txt"].map(|name| bash(&format!("rm -f {name}")));
    let session = Session::new(host, calls)
        .file("allowed.txt")
        .file("denied.txt")
        .file("left.txt");
    let script = format!(
        "#!/bin/sh\ncase $(cat) in\n*allowed.txt*) printf '%s\\n' '{ALLOW}' ;;\n*denied.txt*) printf '%s\\n' '{}' ;;\n\
         *) printf '%s\\n' '{NONE}' ;;\nesac\n",
        deny()
    );
    let clerk = session.sandbox().executable("clerk", &script);
    session.hook("PermissionRequest", vec![clerk.display().to_string()])
}

/// The allowed one is gone with no key pressed, the denied one stays and the model reads why, the last one waits.
fn in_the_terminal(session: Session) {
    let mut terminal = session.in_terminal();
    let project = terminal.sandbox().project();

    let allowed = terminal.told(0);
    assert!(
        !allowed.is_error,
        "the host ran it, but the model was told: {}",
        allowed.text
    );
    assert!(
        !project.join("allowed.txt").exists(),
        "the hook allowed it and the file is still there"
    );

    let denied = terminal.told(1);
    assert_eq!((denied.is_error, denied.text.as_str()), (true, DENIED));
    assert!(
        project.join("denied.txt").exists(),
        "the hook denied it and the file is gone"
    );
    let flash = terminal.longest_dialog();
    assert!(
        flash < Duration::from_secs(2),
        "the hook answered, yet a dialog stood for {flash:?}"
    );

    terminal.dialog_stands("rm -f left.txt", Duration::from_millis(2500));
    assert!(project.join("left.txt").exists(), "nobody decided and the file is gone");
    terminal.press("1");
    let left = terminal.told(2);
    assert!(
        !left.is_error,
        "the person said yes, but the model was told: {}",
        left.text
    );
    assert!(
        !project.join("left.txt").exists(),
        "the person said yes and the file is still there"
    );
    assert_eq!(
        terminal.sandbox().heard("PermissionRequest").len(),
        3,
        "one event a call"
    );
    let transcript = terminal.sandbox().transcript();
    assert!(
        transcript.contains("hook_permission_decision"),
        "the transcript says that a hook decided"
    );
}

/// The same without a person: no decision is a refusal in the host's own words.
fn without_a_terminal(session: Session) {
    let run = session.headless();
    let project = run.sandbox().project();
    assert!(
        !run.told(0).is_error && !project.join("allowed.txt").exists(),
        "{}",
        run.sandbox().report()
    );
    let denied = run.told(1);
    assert_eq!((denied.is_error, denied.text.as_str()), (true, DENIED));
    assert!(project.join("denied.txt").exists());
    let left = run.told(2);
    assert!(
        left.is_error && !left.text.contains("countersign"),
        "no decision is the host's refusal: {}",
        left.text
    );
    assert!(project.join("left.txt").exists());
    assert_eq!(run.sandbox().heard("PermissionRequest").len(), 3, "one event a call");
}

#[test]
fn the_hook_in_the_settings_decides_which_markers_go_on_2_1_332() {
    in_the_terminal(three_markers(Host::V332));
}

#[test]
fn the_hook_in_the_settings_decides_which_markers_go_on_2_1_280() {
    in_the_terminal(three_markers(Host::V280));
}

#[test]
fn the_hook_in_the_settings_decides_which_markers_go_on_2_1_207() {
    in_the_terminal(three_markers(Host::V207));
}

#[test]
fn the_hook_of_a_plugin_decides_which_markers_go_on_2_1_332() {
    in_the_terminal(three_markers(Host::V332).wired_by_plugin());
}

#[test]
fn the_hook_of_a_plugin_decides_which_markers_go_on_2_1_207() {
    in_the_terminal(three_markers(Host::V207).wired_by_plugin());
}

#[test]
fn a_headless_session_obeys_the_hook_on_2_1_332() {
    without_a_terminal(three_markers(Host::V332));
}

#[test]
fn a_headless_session_obeys_the_hook_of_a_plugin_on_2_1_332() {
    without_a_terminal(three_markers(Host::V332).wired_by_plugin());
}

#[test]
fn a_headless_session_obeys_the_hook_on_2_1_280() {
    without_a_terminal(three_markers(Host::V280));
}

/// 2.1.207 runs no PermissionRequest hook under `-p`: nothing is asked, so nothing may be deleted.
#[test]
fn a_headless_session_on_2_1_207_asks_no_hook_and_deletes_nothing() {
    let run = three_markers(Host::V207).headless();
    for (turn, name) in ["allowed.txt", "denied.txt", "left.txt"].into_iter().enumerate() {
        assert!(run.told(turn).is_error, "{}", run.sandbox().report());
        assert!(run.sandbox().project().join(name).exists(), "{name} is gone");
    }
    assert!(run.sandbox().heard("PermissionRequest").is_empty());
}
