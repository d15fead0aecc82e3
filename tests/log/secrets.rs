//! No secret is ever in the record's bytes.

use std::fs;

use super::{Answer, BINARY, Home, begun, event};
use serde_json::json;

/// Invented; nothing accepts them.
const SECRETS: &[&str] = &[
    "AKIAZZZZZZZZZZZZZZZZ",
    "ghp_0123456789abcdefghijABCDEFGHIJ012345",
    "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
    "glpat-0123456789abcdefABCD",
    "sk-ant-api03-0123456789abcdefghij",
    "xoxb-0123456789-abcdefghij",
    "AIzaSyA0123456789abcdefghijklmnopqrstuv",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ",
];

/// The value of a variable of the hook's own environment.
const OF_ENVIRONMENT: &str = "plain words, but secret";

#[test]
fn no_secret_of_a_call_is_in_the_records_bytes() {
    leaves_no_secret(&Home::new());
}

#[test]
fn nor_is_one_where_the_input_is_recorded_too() {
    let home = Home::new();
    home.configure("[log]\ninput = true\n");
    leaves_no_secret(&home);
}

#[test]
fn the_input_is_recorded_only_where_that_is_asked_for() {
    let home = Home::new();
    home.hook("echo one two");
    home.configure("[log]\ninput = true\n");
    home.hook("echo one two");
    let text = fs::read_to_string(home.log()).expect("the log");
    let inputs: Vec<bool> = text
        .lines()
        .map(|line| line.contains(r#""command":"echo one two""#))
        .collect();
    assert_eq!(inputs, [false, true], "{text}");
}

fn leaves_no_secret(home: &Home) {
    let mut events = Vec::new();
    for secret in SECRETS.iter().chain(&[OF_ENVIRONMENT]) {
        for command in [
            format!("cat '/tmp/{secret}'"),
            format!("'./{secret}' x"),
            format!("curl 'https://api.example.com/v1?x={secret}'"),
            format!("curl 'https://dev:{secret}@example.com/v1'"),
            format!("curl -H 'Authorization: Bearer {secret}' https://example.com"),
            format!("TOKEN='{secret}' deploy --token '{secret}' > 'out-{secret}'"),
            format!("git push 'https://{secret}@example.com/x.git'"),
            format!("echo '{secret}' | tee '{secret}'"),
        ] {
            events.push(event("PermissionRequest", "Bash", &json!({ "command": command })));
        }
        events.push(event(
            "PermissionRequest",
            "Read",
            &json!({ "file_path": format!("/srv/{secret}") }),
        ));
        events.push(event(
            "PermissionRequest",
            "WebFetch",
            &json!({ "url": format!("https://h.example/?k={secret}") }),
        ));
        events.push(event(
            "PermissionRequest",
            "mcp__x__y",
            &json!({ "path": format!("/srv/{secret}"), "api_key": secret }),
        ));
        events.push(event("PermissionRequest", secret, &json!({})));
        events.push(event(secret, "Bash", &json!({})));
        events.push(format!("{{\"hook_event_name\":\"{secret}\""));
    }
    for event in &events {
        let mut hook = home.command(BINARY);
        hook.arg("hook").env("SHOP_API_TOKEN", OF_ENVIRONMENT);
        Answer::of(begun(hook, event));
    }
    assert_eq!(home.entries().len(), events.len());
    for file in fs::read_dir(home.state()).expect("the state directory") {
        let bytes = fs::read(file.expect("a file").path()).expect("its bytes");
        let text = String::from_utf8_lossy(&bytes);
        for secret in SECRETS.iter().chain(&[OF_ENVIRONMENT]) {
            let line = text.lines().find(|line| line.contains(secret));
            assert_eq!(line, None, "{secret}");
        }
    }
    assert!(fs::read_to_string(home.log()).expect("the log").contains("[masked]"));
}

#[test]
fn the_environment_is_not_in_the_record() {
    let home = Home::new();
    let mut hook = home.command(BINARY);
    hook.arg("hook").env("COLOUR_OF_THE_DAY", "aquamarine-and-teal");
    Answer::of(begun(hook, &super::request("env; echo $COLOUR_OF_THE_DAY")));
    let text = fs::read_to_string(home.log()).expect("the log");
    assert!(!text.contains("aquamarine-and-teal"), "{text}");
}

#[test]
fn hidden_characters_are_written_as_escapes() {
    let home = Home::new();
    let mut hook = home.command(BINARY);
    hook.arg("hook");
    let tool = "a\u{202e}b\u{7f}\u{1b}[31m\u{200b}";
    Answer::of(begun(hook, &event("PermissionRequest", tool, &json!({}))));
    let text = fs::read_to_string(home.log()).expect("the log");
    assert!(text.contains(r"a\u202eb\u007f\u001b[31m\u200b"), "{text}");
    let shown = home.ok("log");
    assert!(shown.contains(r"a\u{202e}b\u{7f}\u{1b}[31m\u{200b}"), "{shown}");
}
