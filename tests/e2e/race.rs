//! In a headless session the host asks its hook and its prompt tool at once. Each call comes to one outcome all the same:
//! what either allows runs once, and what policy leaves open does not run.

use std::collections::HashMap;
use std::fs;

use serde_json::{Value, json};

use crate::api::ToolUse;
use crate::host::Host;
use crate::sandbox::COUNTERSIGN;
use crate::session::{Session, bash};

const CALLS: usize = 50;
/// Calls that the model makes together; the host asks about them one after the other.
const TOGETHER: usize = 10;

/// What policy makes of a call: lets it run, and whether that makes a directory, for to make one twice fails.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Policy {
    LetsLook,
    LetsMake,
    LeavesOpen,
}

/// The call of this number.
fn call(number: usize) -> (ToolUse, Policy) {
    match number % 4 {
        // Safe wherever the session stands: the hook and the prompt tool allow it both.
        0 => (bash(&format!("cat /etc/hostname && printf {number}")), Policy::LetsLook),
        // Only the hook knows where it would be made.
        1 => (bash(&format!("mkdir made-{number}")), Policy::LetsMake),
        2 => (bash(&format!("rm kept-{number}")), Policy::LeavesOpen),
        _ => (bash(&format!("mkdir made-{number} && sudo true")), Policy::LeavesOpen),
    }
}

/// How often each call was asked about, by its input, as the prompt server was told.
fn requests(log: &str) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for line in log.lines() {
        let message: Value = serde_json::from_str(line).expect("a message of the host");
        if message["method"] == "tools/call" {
            let command = message["params"]["arguments"]["input"]["command"].as_str();
            *counts.entry(command.unwrap_or_default().to_owned()).or_default() += 1;
        }
    }
    counts
}

fn each_call_has_one_outcome(host: Host) {
    let calls: Vec<(ToolUse, Policy)> = (0..CALLS).map(call).collect();
    let tools: Vec<ToolUse> = calls.iter().map(|(tool, _)| tool.clone()).collect();
    let turns = tools.chunks(TOGETHER).map(<[ToolUse]>::to_vec);
    let session = Session::in_turns(host, turns)
        .configured("preset = \"steady\"\n[log]\ninput = true\n")
        .installed(&[]);
    for number in 0..CALLS {
        fs::write(session.sandbox().project().join(format!("kept-{number}")), "").expect("a file");
    }
    // The shell becomes the server, so that the host's process is its parent as ever.
    let heard = session.sandbox().root().join("heard");
    let script = format!("exec {COUNTERSIGN} mcp < <(exec tee {})", heard.display());
    let server = json!({"type": "stdio", "command": "bash", "args": ["-c", script], "timeout": 60_000});
    let config = json!({"mcpServers": {"countersign": server}}).to_string();
    let run = session.asking_mcp_by(&config).headless();
    assert!(run.status().success(), "{}\n{}", run.status(), run.err());

    let requests = requests(&fs::read_to_string(&heard).expect("what the server heard"));
    let record = run.sandbox().record();
    assert!(
        requests.len() > CALLS / 2,
        "the host asked the server too seldom: {}",
        requests.len()
    );
    for (number, (tool, policy)) in calls.iter().enumerate() {
        let command = tool.input["command"].as_str().expect("a command");
        let told = run.told(number);
        let lines: Vec<&Value> = record
            .iter()
            .filter(|line| line["input"]["command"] == command)
            .collect();
        let by = |event: &str, action: &str| {
            let fitting = |line: &&&Value| line["event"] == event && line["action"] == action;
            lines.iter().filter(fitting).count()
        };
        assert_eq!(
            told.is_error,
            *policy == Policy::LeavesOpen,
            "{command}: {}\n{lines:?}",
            told.text
        );
        let made = run.sandbox().project().join(format!("made-{number}")).exists();
        assert_eq!(made, *policy == Policy::LetsMake, "{command}");
        // The hook is quick enough at times that the host does not ask anybody else.
        let asked = requests.get(command).copied().unwrap_or(0);
        assert!(asked <= 1, "{command}: {asked} requests");
        let at_the_desk = lines.iter().filter(|line| line["event"] == "can_use_tool").count();
        assert!(at_the_desk <= asked, "{command}: {lines:?}");
        match policy {
            Policy::LetsLook | Policy::LetsMake => {
                assert!(
                    lines.iter().all(|line| line["action"] != "deny"),
                    "{command}: {lines:?}"
                );
                assert_eq!(by("PermissionRequest", "allow"), 1, "{command}: {lines:?}");
            }
            Policy::LeavesOpen => {
                assert_eq!(
                    (asked, lines.len(), by("can_use_tool", "deny")),
                    (1, 1, 1),
                    "{command}: {lines:?}"
                );
                assert!(
                    told.text.starts_with("[countersign:policy] It needs a person"),
                    "{}",
                    told.text
                );
                assert!(run.sandbox().project().join(format!("kept-{number}")).exists());
            }
        }
    }
}

#[test]
fn each_of_fifty_calls_has_one_outcome_on_2_1_332() {
    each_call_has_one_outcome(Host::V332);
}

#[test]
fn each_of_fifty_calls_has_one_outcome_on_2_1_332_once_more() {
    each_call_has_one_outcome(Host::V332);
}

#[test]
fn each_of_fifty_calls_has_one_outcome_on_2_1_280() {
    each_call_has_one_outcome(Host::V280);
}

#[test]
fn each_of_fifty_calls_has_one_outcome_on_2_1_280_once_more() {
    each_call_has_one_outcome(Host::V280);
}
