//! `countersign explain` as a process: what a person reads, and what a program reads with `--json`.

#[path = "support/cli.rs"]
mod cli;

use std::fs;
use std::process::Command;

use cli::Home;
use serde_json::{Value, json};

fn explained(arguments: &[&str], input: &str) -> String {
    let output = Home::new().run(&[&["explain"], arguments].concat(), input.as_bytes());
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("text")
}

fn as_json(command: &str) -> Value {
    serde_json::from_str(&explained(&["--json", command], "")).expect("JSON")
}

#[test]
fn each_step_is_shown_with_its_tier_and_what_it_does() {
    let text = explained(&["cat README.md && mkdir made"], "");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(
        lines[..4],
        [
            vec!["safe", "cat", "README.md"],
            vec!["reads", "README.md", "(in", "the", "project)"],
            vec!["low", "mkdir", "made"],
            vec!["writes", "made", "(in", "the", "project)"]
        ]
    );
    let last: Vec<&str> = text.lines().skip(4).collect();
    assert_eq!(
        last,
        [
            "= low and understood: keeps its prompt",
            "  (low is `ask` by the preset `calm`, as nothing else is configured)"
        ]
    );
}

#[test]
fn what_was_not_understood_is_said_with_its_step() {
    let text = explained(&["ls --no-such-option"], "");
    assert!(text.contains("not understood: `--no-such-option`"), "{text}");
    let last = text.lines().find(|line| line.starts_with('=')).unwrap_or_default();
    assert!(
        last.contains("not understood completely") && last.contains("keeps its prompt"),
        "{text}"
    );
}

#[test]
fn what_is_let_through_is_said() {
    let text = explained(&["cat README.md"], "");
    let last = text.lines().find(|line| line.starts_with('=')).unwrap_or_default();
    assert!(
        last.contains("safe and understood") && last.contains("runs without a prompt"),
        "{text}"
    );
}

#[test]
fn several_words_are_one_command() {
    assert_eq!(explained(&["cat", "README.md"], ""), explained(&["cat README.md"], ""));
}

#[test]
fn json_says_the_same_to_a_program() {
    let found = as_json("cat README.md; rm -rf /etc");
    assert_eq!(found["tier"], "critical");
    assert_eq!(found["proven"], true);
    assert_eq!(found["decision"], "none");
    assert_eq!(found["steps"][0]["words"], json!(["cat", "README.md"]));
    assert_eq!(found["steps"][0]["tier"], "safe");
    assert_eq!(found["steps"][0]["span"], json!([0, 13]));
    assert_eq!(found["steps"][1]["program"], "rm");
    assert_eq!(as_json("cat README.md")["decision"], "allow");
    assert_eq!(as_json("cat $x")["steps"][0]["words"], json!(["cat", null]));
}

#[test]
fn an_event_is_read_from_a_file_and_from_standard_input() {
    let home = Home::new();
    let event = json!({
        "hook_event_name": "PermissionRequest", "tool_name": "Bash", "cwd": home.project(),
        "tool_input": { "command": "cat README.md" },
    })
    .to_string();
    let file = home.project().join("event.json");
    fs::write(&file, &event).expect("a file");
    let by_file = home.run(&["explain", "--event", file.to_str().expect("a path")], b"");
    let by_input = home.run(&["explain", "--event", "-"], event.as_bytes());
    assert!(by_file.status.success());
    assert_eq!(by_file.stdout, by_input.stdout);
    assert!(String::from_utf8_lossy(&by_file.stdout).contains("cat README.md\n"));
}

#[test]
fn what_cannot_be_explained_fails_and_says_why() {
    let home = Home::new();
    for (arguments, input, why) in [
        (
            vec!["explain", "--event", "/nowhere/event"],
            "",
            "/nowhere/event cannot be opened",
        ),
        (
            vec!["explain", "--event", "-"],
            "not json",
            "no event that can be judged",
        ),
        (vec!["explain", "--event", "-"], "", "no event that can be judged"),
        (vec!["explain"], "", "required"),
    ] {
        let output = home.run(&arguments, input.as_bytes());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && output.stdout.is_empty(), "{arguments:?}");
        assert!(text.contains(why), "{arguments:?}: {text}");
    }
}

#[test]
fn nothing_hidden_is_shown_as_itself() {
    let command = "cat 'a\u{202e}b\u{1b}[31m\u{200b}'; odd\u{202e}name 'x\u{9b}' --\u{2066}; \u{202e}";
    for arguments in [vec![command], vec!["--json", command]] {
        let text = explained(&arguments, "");
        let hidden = ['\u{202e}', '\u{200b}', '\u{1b}', '\u{9b}', '\u{2066}'];
        assert!(text.contains("u{202e}"), "{text}");
        assert!(!text.contains(hidden), "{text:?}");
    }
    let output = Home::new().run(&["explain", "--event", "a\u{202e}b"], b"");
    assert!(!String::from_utf8_lossy(&output.stderr).contains('\u{202e}'));
}

#[test]
fn colour_is_for_a_terminal_that_wants_it() {
    assert!(!explained(&["ls"], "").contains('\u{1b}'));
    let on_a_terminal = |no_colour: bool| {
        let home = Home::new();
        let mut script = Command::new("script");
        script
            .args([
                "-qec",
                concat!(env!("CARGO_BIN_EXE_countersign"), " explain ls"),
                "/dev/null",
            ])
            .current_dir(home.project())
            .env("HOME", home.project().join(".."))
            .env_remove("NO_COLOR");
        if no_colour {
            script.env("NO_COLOR", "1");
        }
        let output = script
            .output()
            .expect("script, which this test needs (package bsdutils)");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert!(
        on_a_terminal(false).contains("\u{1b}[32msafe"),
        "{}",
        on_a_terminal(false)
    );
    assert!(!on_a_terminal(true).contains('\u{1b}'));
}
