//! `countersign decide`: one request in, one result out. No test here has a person to ask.

#[path = "support/cli.rs"]
mod cli;

use std::fs;
use std::path::Path;

use cli::Home;
use serde_json::{Value, json};

/// A home in which nobody is waited for.
fn unattended() -> Home {
    let home = Home::new();
    let dir = home.project().with_file_name(".config").join("countersign");
    fs::create_dir_all(&dir).expect("directories");
    fs::write(dir.join("config.toml"), "[headless]\nwait = \"0\"\n").expect("a configuration");
    home
}

/// The result for a shell command of a session that stands in this directory.
fn decided(home: &Home, command: &str, cwd: &Path) -> Value {
    decided_from(home, &home.project(), command, cwd)
}

/// The same where the host was started in `start`.
fn decided_from(home: &Home, start: &Path, command: &str, cwd: &Path) -> Value {
    let request = json!({"tool_name": "Bash", "input": {"command": command}, "cwd": cwd});
    // The SDKs start it without the project's name, in the directory of their program.
    let nameless = [("CLAUDE_PROJECT_DIR", Path::new(""))];
    let output = home.run_in(start, &nameless, &["decide"], request.to_string().as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn a_harmless_call_is_allowed_and_keeps_its_input() {
    let home = unattended();
    let result = decided(&home, "ls -l", &home.project());
    assert_eq!(result, json!({"behavior": "allow", "updatedInput": {}}));
}

#[test]
fn what_is_no_request_is_denied_as_malformed() {
    let home = unattended();
    for input in [&b"{}"[..], b"", br#"{"tool_name":"Bash","input":{"command":7}}"#] {
        let output = home.run(&["decide"], input);
        assert!(output.status.success());
        let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(result["reason"], "malformed");
        let message = result["message"].as_str().expect("a message");
        assert!(message.starts_with("[countersign:malformed] "), "{message}");
    }
}

#[test]
fn an_ask_rule_of_the_project_holds_in_a_repository_below_it_too() {
    let home = unattended();
    let (project, below) = (home.project(), home.project().join("below"));
    for dir in [project.join(".git"), below.join(".git"), project.join(".claude")] {
        fs::create_dir_all(dir).expect("directories");
    }
    let rules = json!({"permissions": {"ask": ["Bash(ls *)"]}});
    fs::write(project.join(".claude/settings.local.json"), rules.to_string()).expect("settings");
    for cwd in [&project, &below] {
        let result = decided(&home, "ls -l", cwd);
        assert_eq!(result["behavior"], "deny", "{result}");
    }
    assert_eq!(decided(&home, "wc README.md", &project)["behavior"], "allow");
}

#[test]
fn an_ask_rule_of_the_directory_that_the_host_was_started_in_holds_below_the_repositorys_top_too() {
    let home = unattended();
    let (repository, start) = (home.project(), home.project().join("src"));
    for dir in [repository.join(".git"), start.join(".claude")] {
        fs::create_dir_all(dir).expect("directories");
    }
    let rules = json!({"permissions": {"ask": ["Bash(ls *)"]}});
    fs::write(start.join(".claude/settings.json"), rules.to_string()).expect("settings");
    assert_eq!(decided_from(&home, &start, "ls -l", &start)["behavior"], "deny");
    assert_eq!(
        decided_from(&home, &start, "wc ../README.md", &start)["behavior"],
        "allow"
    );
}

/// An allow from here would silently become a denial, so that is what it is, and says why.
#[test]
fn what_only_the_hosts_own_screen_can_answer_is_never_allowed_and_recorded_as_undone() {
    let home = unattended();
    for mark in ["requires_user_interaction", "requiresUserInteraction"] {
        let request = json!({"tool_name": "Bash", "input": {"command": "echo hi"}, mark: true});
        let output = home.run(&["decide"], request.to_string().as_bytes());
        let message = "[countersign:undone_by_host] Only the terminal can answer this, and it is not asked here.";
        let denied = json!({"behavior": "deny", "message": message, "reason": "undone_by_host"});
        let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        assert_eq!(result, denied, "{mark}");
    }
    let recorded = home.run(&["log", "--reason", "undone_by_host", "--json"], b"");
    let recorded = String::from_utf8(recorded.stdout).expect("UTF-8");
    assert_eq!(recorded.matches(r#""by":"screen""#).count(), 2, "{recorded}");
}

/// What the host lets no classifier approve, and what it asks because a rule of the person's says so, needs a person.
#[test]
fn what_needs_a_person_by_the_hosts_word_is_not_let_through_by_policy() {
    let home = unattended();
    let marked = |mark: Value| {
        let mut request = json!({"tool_name": "Bash", "input": {"command": "echo hi"}});
        request
            .as_object_mut()
            .expect("an object")
            .extend(mark.as_object().expect("an object").clone());
        let output = home.run(&["decide"], request.to_string().as_bytes());
        let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
        result["behavior"].clone()
    };
    assert_eq!(marked(json!({"decision_reason_type": "other"})), "allow");
    assert_eq!(marked(json!({"decision_reason_type": "rule"})), "deny");
    assert_eq!(marked(json!({"classifier_approvable": false})), "deny");
}

/// The answer and the record give one reason, and a freeze comes before anything else.
#[test]
fn what_cannot_be_read_while_all_is_frozen_is_denied_and_recorded_as_frozen() {
    let home = unattended();
    assert!(home.run(&["freeze"], b"").status.success());
    let output = home.run(&["decide"], b"{}");
    let result: Value = serde_json::from_slice(&output.stdout).expect("one JSON object");
    assert_eq!(
        (&result["reason"], &result["interrupt"]),
        (&json!("frozen"), &json!(true))
    );
    let recorded = |reason: &str| home.run(&["log", "--reason", reason, "--json"], b"").stdout;
    assert_eq!(recorded("malformed"), b"");
    let line: Value = serde_json::from_slice(&recorded("frozen")).expect("one line");
    assert_eq!((&line["action"], &line["by"]), (&json!("deny"), &json!("frozen")));
}
