//! A record that cannot be written changes no answer.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use super::{ALLOW, Answer, BINARY, BLOCK, Home, begun, event, request};
use countersign::audit::entry::Action;

/// The harmless command is allowed, with one line about what is wrong.
#[track_caller]
fn answers_but_does_not_record(home: &Home, command: Command, why: &str) {
    let answer = Answer::of(begun(command, &request("echo hello")));
    assert_eq!(answer.stdout, ALLOW);
    let told = "countersign: the answer stands, but is not recorded: ";
    assert!(
        answer.stderr.starts_with(told) && answer.stderr.contains(why),
        "{}",
        answer.stderr
    );
    assert_eq!(answer.stderr.matches('\n').count(), 1, "{}", answer.stderr);
    assert_eq!(home.verified().faults, []);
}

fn hook(home: &Home) -> Command {
    let mut hook = home.command(BINARY);
    hook.arg("hook");
    hook
}

#[test]
fn a_state_directory_that_is_a_file_is_told_of() {
    let home = Home::new();
    fs::create_dir_all(home.state().parent().expect("a parent")).expect("directories");
    fs::write(home.state(), "in the way").expect("a file");
    let answer = home.hook("echo hello");
    assert_eq!(answer.stdout, ALLOW);
    assert!(
        answer.stderr.contains("is not a directory that only you may write to"),
        "{}",
        answer.stderr
    );
    assert_eq!(fs::read_to_string(home.state()).expect("the file"), "in the way");
}

#[test]
fn a_state_directory_that_cannot_be_made_is_told_of() {
    let home = Home::new();
    let mut hook = hook(&home);
    hook.env("XDG_STATE_HOME", "/proc/self");
    answers_but_does_not_record(&home, hook, "No such file");
}

#[test]
fn a_directory_that_others_may_write_to_is_not_used() {
    let home = Home::new();
    home.hook("echo hello");
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o777)).expect("chmod");
    answers_but_does_not_record(&home, hook(&home), "only you may write to");
    assert_eq!(home.verified().lines, 1);
}

#[test]
fn a_log_that_is_a_link_is_not_followed() {
    let home = Home::new();
    let elsewhere = home.project().join("notes.txt");
    fs::create_dir_all(home.state()).expect("directories");
    fs::set_permissions(home.state(), fs::Permissions::from_mode(0o700)).expect("chmod");
    symlink(&elsewhere, home.log()).expect("a link");
    let answer = home.hook("echo hello");
    assert_eq!(answer.stdout, ALLOW);
    assert!(
        answer.stderr.contains("log.jsonl is a symbolic link"),
        "{}",
        answer.stderr
    );
    fs::write(&elsewhere, "mine\n").expect("a file");
    home.hook("echo hello");
    assert_eq!(fs::read_to_string(&elsewhere).expect("the file"), "mine\n");
}

#[test]
fn a_log_of_another_user_is_not_written_to() {
    let home = Home::new();
    home.hook("echo hello");
    if std::os::unix::fs::chown(home.log(), Some(12345), None).is_err() {
        eprintln!("not tested: only root can give a file away");
        return;
    }
    let answer = home.hook("echo hello");
    assert_eq!(answer.stdout, ALLOW);
    assert!(
        answer.stderr.contains("log.jsonl belongs to another user"),
        "{}",
        answer.stderr
    );
}

#[test]
fn a_log_that_others_may_read_becomes_private_again() {
    let home = Home::new();
    home.hook("echo hello");
    fs::set_permissions(home.log(), fs::Permissions::from_mode(0o666)).expect("chmod");
    home.hook("echo hello");
    let mode = fs::metadata(home.log()).expect("metadata").permissions().mode() & 0o777;
    assert_eq!((mode, home.verified().lines), (0o600, 2));
}

#[test]
fn a_limit_on_file_sizes_ends_no_hook() {
    let home = Home::new();
    home.hook("echo hello");
    home.hook("echo hello");
    let mut limited = home.command("sh");
    limited.args(["-c", "ulimit -f 1; exec \"$0\" hook", BINARY]);
    answers_but_does_not_record(&home, limited, "limit on file sizes");
}

#[test]
fn a_full_disk_loses_lines_and_nothing_else() {
    let home = Home::new();
    fs::create_dir_all(home.state()).expect("directories");
    // As many hooks as surely fill it, and then some after room was made.
    let script = r#"
        mount -t tmpfs -o size=16k,mode=700 tmpfs "$1" || exit 99
        for number in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24; do
            printf '%s' "$2" | "$0" hook || echo "status $?"
        done
        mount -o remount,size=64k "$1" && printf '%s' "$2" | "$0" hook
        "$0" log --verify >&2 || echo broken"#;
    let mut caged = home.command("unshare");
    caged
        .args(["-rm", "sh", "-c", script, BINARY])
        .arg(home.state())
        .arg(request("echo hello"));
    let output = caged.output().expect("unshare");
    let (stdout, stderr) = (
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
    if !output.status.success() && stdout.is_empty() {
        eprintln!("not tested: this machine lets nobody mount a file system of his own: {stderr}");
        return;
    }
    assert_eq!(stdout, ALLOW.repeat(25), "{stderr}");
    assert!(
        stderr.contains("not recorded") && stderr.contains("No space left"),
        "{stderr}"
    );
    assert!(
        stderr.contains("as it was written: ") && !stderr.contains("NOT"),
        "{stderr}"
    );
}

#[test]
fn who_waits_too_long_for_the_lock_records_beside_the_log() {
    let home = Home::new();
    home.hook("echo first");
    let head = File::open(home.state().join("log.head")).expect("the head");
    head.lock().expect("the lock");
    let answer = home.hook("echo second");
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), (ALLOW, ""));
    drop(head);
    home.hook("echo third");
    let report = home.verified();
    assert_eq!((report.files, report.lines), (2, 3));
    assert_eq!(report.faults, []);
    assert_eq!(home.ok("log").lines().count(), 3);
}

#[test]
fn what_cannot_be_read_is_recorded_as_an_error() {
    let home = Home::new();
    let answer = Answer::of(begun(hook(&home), "no event"));
    assert_eq!(answer.stdout, BLOCK);
    let entry = &home.entries()[0];
    assert_eq!(
        (entry.action, entry.by.as_str(), entry.tool.as_deref()),
        (Action::None, "error", None)
    );
    assert_eq!(entry.why.as_deref(), Some("the event is not a JSON object"));
}

#[test]
fn who_steps_aside_records_nothing() {
    let home = Home::new();
    home.ok("off 1h");
    assert_eq!(home.hook("echo hello").stdout, "{}\n");
    assert_eq!(home.entries().len(), 0);
}

#[test]
fn each_answer_is_recorded_as_it_was_given() {
    let home = Home::new();
    let mut guard = hook(&home);
    guard.args(["--guard", "critical"]);
    let mut asks = hook(&home);
    asks.args(["--guard", "critical", "--guard-asks"]);
    let input = serde_json::json!({"command": "rm -rf ~"});
    Answer::of(begun(hook(&home), &request("echo hello")));
    Answer::of(begun(hook(&home), &request("rm -rf ~")));
    Answer::of(begun(guard, &event("PreToolUse", "Bash", &input)));
    Answer::of(begun(asks, &event("PreToolUse", "Bash", &input)));
    fs::create_dir(home.dir.path().join(".claude")).expect("a directory");
    let rules = r#"{"permissions":{"ask":["Bash(echo *)"]}}"#;
    fs::write(home.dir.path().join(".claude/settings.json"), rules).expect("settings");
    Answer::of(begun(hook(&home), &request("echo hello")));
    let told: Vec<_> = home
        .entries()
        .into_iter()
        .map(|entry| (entry.action, entry.by, entry.tier.unwrap_or_default()))
        .collect();
    let expected = [
        (Action::Allow, "policy", "safe"),
        (Action::None, "policy", "critical"),
        (Action::Deny, "guard", "critical"),
        (Action::Ask, "guard", "critical"),
        (Action::None, "host_rule", "safe"),
    ];
    assert_eq!(
        told,
        expected.map(|(action, by, tier)| (action, by.to_owned(), tier.to_owned()))
    );
    let rule = home.entries()[4].rule.clone().unwrap_or_default();
    assert!(rule.contains("Bash(echo *)"), "{rule}");
    let shown = home.ok("log");
    assert!(shown.contains("--guard") && shown.contains("Bash(echo *)"), "{shown}");
}
