//! `countersign mcp` as the official MCP clients see it: programs that were not written for it, and check every message.

use std::fs;
use std::time::Duration;

use serde_json::{Value, json};

use crate::program::{Language, PATIENCE, Program, within};

/// The same for every client: what it sees of the server from the handshake to the end.
fn conforms(language: Language, source: &str) -> Seen {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a directory");
    let file = place.path().join("seen.json");
    let program = Program::new(language, source, &[file.to_str().expect("a path")], Vec::new());
    let mine = program.sandbox.project().join("mine.txt");
    fs::write(&mine, "mine\n").expect("a file that git does not hold");
    // On a terminal, so that a call can wait for a person; nobody types.
    let tui = program.on_terminal();
    let seen = within(PATIENCE, || {
        serde_json::from_slice::<Value>(&fs::read(&file).ok()?).ok()
    });
    let seen = seen.unwrap_or_else(|| panic!("it does not come to its end\n{}", tui.screen().trim_end()));
    let one_block = |result: Value| json!({"blocks": ["text"], "structured": false, "result": result});
    let allowed = one_block(json!({"behavior": "allow", "updatedInput": {}}));
    assert_eq!(seen["server"], "countersign");
    assert_eq!(seen["ping"], json!({}));
    assert_eq!(
        seen["tools"],
        json!([["permission_prompt", true], ["ask_person", true]])
    );
    assert_eq!(seen["two"], json!([allowed, allowed]));
    assert_eq!(seen["unknown_tool"], -32602);
    assert_eq!(seen["malformed"]["blocks"], json!(["text"]));
    assert_eq!(seen["malformed"]["result"]["reason"], "malformed");
    assert_eq!(seen["unknown_method"], -32601);
    assert_eq!(seen["meanwhile"], allowed);
    assert_eq!((&seen["held"], &seen["afterwards"]), (&json!(true), &json!({})));
    let last = within(Duration::from_secs(10), || {
        program
            .recorded()
            .pop()
            .filter(|[_, action, by, _]| action == "none" && by == "withdrawn")
    });
    assert!(last.is_some(), "{:?}", program.recorded());
    let screen = tui.screen();
    Seen { told: seen, screen }
}

struct Seen {
    told: Value,
    screen: String,
}

#[test]
fn the_official_client_for_javascript_is_served() {
    let seen = conforms(Language::JavaScript, "tests/sdk/client.mjs");
    assert_eq!(seen.told["progress"], "Waiting for a person's answer");
    assert!(seen.screen.contains("may Bash run?"), "{}", seen.screen);
    assert!(seen.screen.contains("(not asked any more"), "{}", seen.screen);
}

#[test]
fn the_official_client_for_python_is_served() {
    conforms(Language::Python, "tests/sdk/client.py");
}
