//! Sends an event through an installed command line as the host would, and reads the answer as the host would.
//!
//! `doctor` calls this. The commands in the events are only judged, never run.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::{Value, json};

use super::host::{PERMISSION_REQUEST, PRE_TOOL_USE};
use super::process;

/// Harmless wherever it is run: it names no path.
pub const HARMLESS: &str = "echo ready | wc -c";
/// What no setting may ever let through unasked.
pub const DANGEROUS: &str = "rm -rf ~";

/// What a hook answered, in the host's reading of it.
#[derive(Debug, PartialEq, Eq)]
pub enum Answer {
    Allow,
    Deny,
    Ask,
    NoOpinion,
}

/// An event as Claude Code 2.1.332 sends it, about a shell command in `project`.
///
/// `session` keeps two tests apart, for hooks that remember what they were asked.
pub fn event(name: &str, command: &str, project: &Path, session: &str) -> String {
    let mut event = json!({
        "session_id": session,
        "transcript_path": "/nonexistent/countersign-doctor.jsonl",
        "cwd": project,
        "prompt_id": session,
        "permission_mode": "default",
        "effort": {"level": "medium"},
        "hook_event_name": name,
        "tool_name": "Bash",
        "tool_input": {"command": command, "description": "a test by countersign doctor"},
    });
    if name == PRE_TOOL_USE {
        event["tool_use_id"] = Value::from(format!("toolu_{session}"));
    }
    format!("{event}\n")
}

/// Runs a hook from the settings on an event.
///
/// # Errors
/// Says, lower case, why the host would get no usable answer.
pub fn ask(hook: &Value, event_name: &str, event: &str, project: &Path, limit: Duration) -> Result<Answer, String> {
    let mut command = host_command(hook).ok_or("has no command")?;
    command
        .current_dir(project)
        .env("CLAUDE_PROJECT_DIR", project)
        .env("CLAUDECODE", "1")
        .env_remove("CLAUDE_PID");
    let ran = process::run(&mut command, event, limit)?;
    let answer = read(&ran.printed, event_name)?;
    if answer == Answer::NoOpinion && !ran.status.success() {
        return Err(format!("gave no answer and ended with {}", ran.status));
    }
    Ok(answer)
}

/// The process that the host starts: directly where there are `args`, else through `/bin/sh`.
fn host_command(hook: &Value) -> Option<Command> {
    let program = hook.get("command")?.as_str()?;
    let Some(args) = hook.get("args").and_then(Value::as_array) else {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", program]);
        return Some(shell);
    };
    let mut command = Command::new(program);
    command.args(args.iter().filter_map(Value::as_str));
    Some(command)
}

fn read(output: &str, event_name: &str) -> Result<Answer, String> {
    let text = output.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(Answer::NoOpinion);
    }
    let value: Value = serde_json::from_str(text).map_err(|_| "did not print one JSON object".to_owned())?;
    let Some(answer) = value.as_object() else {
        return Err("did not print one JSON object".to_owned());
    };
    let Some(output) = answer.get("hookSpecificOutput") else {
        return if answer.is_empty() {
            Ok(Answer::NoOpinion)
        } else {
            Err("printed an unknown answer".to_owned())
        };
    };
    if output.get("hookEventName").and_then(Value::as_str) != Some(event_name) {
        return Err(format!("did not answer as {event_name}"));
    }
    let verdict = match event_name {
        PERMISSION_REQUEST => output.pointer("/decision"),
        _ => output.get("permissionDecision"),
    };
    let Some(verdict) = verdict else {
        return Ok(Answer::NoOpinion);
    };
    match verdict.get("behavior").unwrap_or(verdict).as_str() {
        Some("allow") => Ok(Answer::Allow),
        Some("deny") => Ok(Answer::Deny),
        Some("ask") if event_name == PRE_TOOL_USE => Ok(Answer::Ask),
        _ => Err("printed a decision that the host does not know".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_request(output: &str) -> Result<Answer, String> {
        read(output, PERMISSION_REQUEST)
    }

    #[test]
    fn answers_are_read_as_the_host_reads_them() {
        let answer = |decision: &str| {
            format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#)
        };
        assert_eq!(read_request(&answer(r#"{"behavior":"allow"}"#)), Ok(Answer::Allow));
        assert_eq!(
            read_request(&answer(r#"{"behavior":"deny","message":"x"}"#)),
            Ok(Answer::Deny)
        );
        assert!(read_request(&answer(r#"{"behavior":"ask"}"#)).is_err());
        for silent in [
            "",
            "\n",
            "{}",
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#,
        ] {
            assert_eq!(read_request(silent), Ok(Answer::NoOpinion), "{silent}");
        }
        for wrong in [
            "allow",
            "[]",
            "{} {}",
            r#"{"decision":"approve"}"#,
            r#"{"hookSpecificOutput":{}}"#,
        ] {
            assert!(read_request(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn an_answer_for_another_event_is_none() {
        let answer = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
        assert_eq!(read(answer, PRE_TOOL_USE), Ok(Answer::Allow));
        assert!(read_request(answer).is_err());
    }
}
