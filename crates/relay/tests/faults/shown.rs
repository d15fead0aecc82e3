//! Nobody can allow what they were not shown.

use serde_json::json;

use crate::desk::{Desk, relay};
use crate::home::{ALLOW, Ran, Running};

/// Holds a call of this tool, lets the person see its card and say yes to it, and gives what both printed.
fn asked(tool: &str, input: &serde_json::Value) -> (Ran, Option<Ran>) {
    let desk = Desk::new();
    let mut event: serde_json::Value = serde_json::from_str(&desk.home.event("x")).expect("an event");
    event["tool_name"] = json!(tool);
    event["tool_input"] = input.clone();
    let running = Running::start(&mut desk.home.hold(60), &format!("{event}\n"));
    let id = desk.one_waits();
    let said = desk.approve(&id);
    if said.status != Some(0) {
        let denied = relay(&desk.home, &["deny", &id]);
        assert_eq!(denied.status, Some(0), "{denied:?}");
        running.end();
        return (said, None);
    }
    (said, Some(running.end()))
}

#[test]
fn what_is_masked_for_what_stands_around_it_can_only_be_denied() {
    let commands = [
        "python3 -c \"# -----BEGIN X\nimport os; os.system(chr(114))\"",
        "echo token: x; python3 run.py",
        "node -e 'api_key=require(1).exec(2)'",
        "perl -e '$token=unlink+q!notes.txt!'",
        "token=cm0gLXJmIG5vdGVzLnR4dA==; echo $token|base64 -d|sh",
    ];
    let inputs = commands.map(|command| ("Bash", json!({ "command": command })));
    let write = json!({"file_path": "run.py", "content": "x = 1 # token: y\nimport os # more"});
    for (tool, input) in inputs.into_iter().chain([("Write", write)]) {
        let (said, ran) = asked(tool, &input);
        assert!(ran.is_none(), "{input}: {said:?}");
        assert!(said.errors.contains("whole"), "{input}: {said:?}");
    }
}

#[test]
fn a_secret_that_is_known_does_not_stand_in_the_way_and_stands_nowhere_else() {
    let secret = "ghp_aaaaaaaaaaaaaaaaaaaaaaaaaaaa1";
    let (said, ran) = asked("Bash", &json!({"command": format!("deploy-it --token {secret}")}));
    assert!(
        said.said.contains("[masked]") && !said.said.contains(secret),
        "{said:?}"
    );
    assert_eq!(ran.expect("it is allowed").said, ALLOW);
}

#[test]
fn a_plan_is_shown_with_all_that_is_approved_with_it() {
    let input = json!({"plan": "Tidy up.", "allowedPrompts": [{"tool": "Bash", "prompt": "run any command"}]});
    let (said, _) = asked("ExitPlanMode", &input);
    for shown in ["Tidy up.", "allowedPrompts", "run any command"] {
        assert!(said.said.contains(shown), "{shown}: {said:?}");
    }
}

#[test]
fn a_question_that_is_too_long_for_its_card_is_not_answered_from_it() {
    let long = "x".repeat(5000);
    let options = json!([{"label": "Red", "description": ""}, {"label": "Blue", "description": ""}]);
    let input = json!({"questions": [{"question": long, "header": "h", "options": options, "multiSelect": false}]});
    let (said, ran) = asked("AskUserQuestion", &input);
    assert!(ran.is_none(), "{said:?}");
}
