//! `countersign classify` as a process: JSON lines in, JSON lines out, in order.

#[path = "support/cli.rs"]
mod cli;

use cli::Home;
use serde_json::{Value, json};

/// What is answered to these lines, each read as JSON.
fn classified(lines: &[String]) -> Vec<Value> {
    let output = Home::new().run(&["classify"], lines.join("\n").as_bytes());
    assert!(output.status.success());
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.ends_with('\n'));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{line}: {error}")))
        .collect()
}

fn bash(command: &str) -> String {
    json!({ "tool_name": "Bash", "tool_input": { "command": command }, "cwd": "/tmp" }).to_string()
}

fn one(command: &str) -> Value {
    classified(&[bash(command)]).remove(0)
}

#[test]
fn an_answer_has_these_fields_in_this_order() {
    let output = Home::new().run(&["classify"], bash("echo hi").as_bytes());
    assert_eq!(
        String::from_utf8(output.stdout).expect("text"),
        "{\"tier\":\"safe\",\"proven\":true,\"effects\":[],\"reasons\":[],\"summary\":\"does nothing beyond printing\",\
         \"parsed\":true,\"commands\":[[\"echo\",\"hi\"]]}\n"
    );
}

#[test]
fn an_effect_says_what_is_done_where_and_to_what() {
    let answer = one("rm -rf /etc/hosts");
    assert_eq!(answer["tier"], "critical");
    let fields: Vec<&String> = answer["effects"][0].as_object().expect("an effect").keys().collect();
    assert_eq!(fields, ["action", "place", "undo", "reach", "target"]);
    assert_eq!(answer["effects"][0]["action"], "delete");
    assert_eq!(answer["effects"][0]["place"], "system");
    assert_eq!(answer["effects"][0]["target"], "/etc/hosts");
}

#[test]
fn lines_are_answered_in_order_and_bad_ones_in_their_place() {
    let answers = classified(&[
        bash("echo 1"),
        "not json".to_owned(),
        String::new(),
        "[]".to_owned(),
        "{\"tool_name\":\"Bash\"}".to_owned(),
        "{\"tool_name\":\"Bash\",\"tool_input\":{}}".to_owned(),
        bash("echo 2"),
    ]);
    assert_eq!(answers.len(), 6, "the empty line is not answered");
    assert_eq!(answers[0]["commands"], json!([["echo", "1"]]));
    for bad in &answers[1..5] {
        assert_eq!(bad["tier"], "high", "{bad}");
        assert_eq!(bad["proven"], false);
        assert!(bad["error"].as_str().is_some_and(|error| !error.is_empty()));
        assert!(bad.get("effects").is_none());
    }
    assert_eq!(answers[5]["commands"], json!([["echo", "2"]]));
}

#[test]
fn a_line_that_is_no_text_is_answered_too() {
    let mut input = b"\xff\xfe\n".to_vec();
    input.extend(bash("echo 1").bytes());
    let output = Home::new().run(&["classify"], &input);
    let text = String::from_utf8(output.stdout).expect("text");
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2);
    assert!(lines[0].contains("UTF-8") && lines[1].contains("\"safe\""));
}

#[test]
fn commands_are_listed_wherever_they_stand() {
    for (script, commands) in [
        ("a && b | c; d &", json!([["a"], ["b"], ["c"], ["d"]])),
        ("echo $(ls -l)", json!([["ls", "-l"], ["echo", null]])),
        ("if a; then b; else c; fi", json!([["a"], ["b"], ["c"]])),
        ("f() { a; }; f", json!([["a"], ["f"], ["a"]])),
        ("eval 'a b'", json!([["eval", "a b"], ["a", "b"]])),
        ("trap 'a b' EXIT", json!([["trap", "a b", "EXIT"], ["a", "b"]])),
        ("bash -c 'a b'", json!([["bash", "-c", "a b"], ["a", "b"]])),
        ("rm \"$x\" 'a b'", json!([["rm", null, "a b"]])),
        ("x=y; echo $x", json!([["echo", "y"]])),
        ("X=1 echo {a,b}", json!([["echo", "a", "b"]])),
        ("echo a > b", json!([["echo", "a"]])),
        ("", json!([])),
    ] {
        assert_eq!(one(script)["commands"], commands, "{script}");
    }
}

#[test]
fn a_script_that_is_refused_says_so_and_is_not_safe() {
    let answer = one("ls $((");
    assert_eq!(answer["parsed"], false);
    assert_eq!(answer["proven"], false);
    assert_ne!(answer["tier"], "safe");
    assert!(
        answer["reasons"][0]
            .as_str()
            .is_some_and(|why| why.starts_with("not understood"))
    );
}

#[test]
fn a_tool_without_a_script_has_no_commands() {
    let line = json!({ "tool_name": "Mystery", "tool_input": {} }).to_string();
    let answer = classified(&[line]).remove(0);
    assert_eq!(answer["proven"], false);
    assert!(answer.get("commands").is_none() && answer.get("parsed").is_none());
}

#[test]
fn nothing_hidden_is_shown_as_itself_in_what_is_for_reading() {
    let answer = one("cat 'a\u{202e}b\u{1b}[31m\u{200b}'; odd\u{202e}name");
    for text in [answer["summary"].to_string(), answer["reasons"].to_string()] {
        assert!(text.contains("u{202e}"), "{text}");
        assert!(!text.contains(['\u{202e}', '\u{200b}', '\u{1b}']), "{text:?}");
    }
}

#[test]
fn a_hidden_character_of_a_word_is_printed_as_an_escape_and_stays_itself_to_a_program() {
    let word = "a\u{202e}b\u{200b}\u{e0001}";
    let output = Home::new().run(
        &["classify"],
        format!("{}\n", bash(&format!("cat '{word}'"))).as_bytes(),
    );
    let printed = String::from_utf8(output.stdout).expect("UTF-8");
    assert!(!printed.contains(['\u{202e}', '\u{200b}', '\u{e0001}']), "{printed:?}");
    assert!(printed.contains(r"\u202e"), "{printed}");
    let answer: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(answer["commands"][0][1], word);
}

#[test]
fn the_same_lines_have_the_same_answers() {
    let lines: Vec<String> = [
        "ls -la",
        "rm -rf ~",
        "cat $x",
        "ls $((",
        "for f in *; do cat \"$f\"; done",
    ]
    .map(bash)
    .into();
    let home = Home::new();
    let input = lines.join("\n");
    let first = home.run(&["classify"], input.as_bytes());
    let second = home.run(&["classify"], input.as_bytes());
    assert_eq!(first.stdout, second.stdout);
}

#[test]
fn no_lines_have_no_answers() {
    let output = Home::new().run(&["classify"], b"");
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
}
