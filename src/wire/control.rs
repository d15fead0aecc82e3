//! The control protocol: claude's `stream-json` lines, among which it asks what may run.
//!
//! Every line that is not ours passes unchanged. Ours are the `can_use_tool` requests of claude, and its cancellations of
//! them.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

/// What a line of claude says, as far as it matters here.
#[derive(Debug)]
pub enum FromHost {
    /// May this call run? Wants an answer with this id.
    Ask { id: String, request: Box<RawValue> },
    /// The request of this id wants no answer any more.
    TakenBack { id: String },
    /// A turn begins, in this directory and permission mode.
    Begin { cwd: Option<String>, mode: Option<String> },
    /// A turn has ended; the calls that were denied in it.
    End { denied: Vec<Denied> },
    /// Calls that the model makes.
    Calls(Vec<Made>),
    /// Calls that have run without an error, by their ids.
    Ran(Vec<String>),
    /// Anything else.
    Other,
}

/// A call that the host says was denied.
#[derive(Clone, Debug, Deserialize)]
pub struct Denied {
    pub tool_name: String,
    #[serde(default)]
    pub tool_use_id: String,
}

/// A call that the model makes.
#[derive(Clone, Debug)]
pub struct Made {
    pub id: String,
    pub tool: String,
    /// A shell command, where it is one.
    pub command: Option<String>,
}

#[derive(Deserialize)]
struct Line {
    #[serde(rename = "type")]
    kind: Option<String>,
    subtype: Option<String>,
    request_id: Option<String>,
    request: Option<Box<RawValue>>,
    cwd: Option<String>,
    #[serde(rename = "permissionMode")]
    mode: Option<String>,
    message: Option<Message>,
    #[serde(default)]
    permission_denials: Vec<Denied>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Value,
}

#[derive(Deserialize)]
struct Subtype {
    subtype: Option<String>,
}

/// What a line says. One that cannot be read is no line of ours.
pub fn read(line: &[u8]) -> FromHost {
    let Ok(line) = serde_json::from_slice::<Line>(line) else {
        return FromHost::Other;
    };
    let kind = line.kind.as_deref().unwrap_or_default();
    match (kind, line.request_id, line.request) {
        ("control_request", Some(id), Some(request)) => {
            let subtype = serde_json::from_str::<Subtype>(request.get())
                .ok()
                .and_then(|request| request.subtype);
            match subtype.as_deref() {
                Some("can_use_tool") => FromHost::Ask { id, request },
                _ => FromHost::Other,
            }
        }
        ("control_cancel_request", Some(id), _) => FromHost::TakenBack { id },
        ("system", ..) if line.subtype.as_deref() == Some("init") => FromHost::Begin {
            cwd: line.cwd,
            mode: line.mode,
        },
        ("result", ..) => FromHost::End {
            denied: line.permission_denials,
        },
        ("assistant", ..) => FromHost::Calls(blocks(line.message.as_ref()).filter_map(made).collect()),
        ("user", ..) => FromHost::Ran(blocks(line.message.as_ref()).filter_map(ran).collect()),
        _ => FromHost::Other,
    }
}

fn blocks(message: Option<&Message>) -> impl Iterator<Item = &Value> {
    message
        .and_then(|message| message.content.as_array())
        .into_iter()
        .flatten()
}

fn made(block: &Value) -> Option<Made> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    (block["type"] == "tool_use").then_some(())?;
    Some(Made {
        id: text(&block["id"])?,
        tool: text(&block["name"])?,
        command: text(&block["input"]["command"]),
    })
}

fn ran(block: &Value) -> Option<String> {
    let ran = block["type"] == "tool_result" && block["is_error"] != true;
    ran.then(|| block["tool_use_id"].as_str().map(str::to_owned))?
}

/// What the model says in a line, as text; `None` where it says nothing.
pub fn said(line: &[u8]) -> Option<String> {
    let line = serde_json::from_slice::<Line>(line).ok()?;
    (line.kind.as_deref() == Some("assistant")).then_some(())?;
    let texts = blocks(line.message.as_ref()).filter_map(|block| block["text"].as_str());
    let text = texts.collect::<Vec<_>>().join("\n");
    (!text.is_empty()).then_some(text)
}

/// Whether a line for claude is a person's message, after which a turn begins.
pub fn is_message(line: &[u8]) -> bool {
    serde_json::from_slice::<Line>(line).is_ok_and(|line| line.kind.as_deref() == Some("user"))
}

/// The answer to the request of this id: a `PermissionResult`, as [`permission_result`](super::output::permission_result)
/// builds it.
pub fn answer(id: &str, result: &str) -> String {
    let id = Value::from(id);
    format!(r#"{{"type":"control_response","response":{{"subtype":"success","request_id":{id},"response":{result}}}}}"#)
}

/// That the request of this id has no answer; the host then denies the call in words of its own.
pub fn failure(id: &str, why: &str) -> String {
    json!({"type": "control_response", "response": {"subtype": "error", "request_id": id, "error": why}}).to_string()
}

/// A person's message.
pub fn message(words: &str) -> String {
    json!({"type": "user", "message": {"role": "user", "content": words}, "parent_tool_use_id": null, "session_id": ""})
        .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_and_its_cancellation_are_ours_and_other_requests_pass() {
        let ask = br#"{"type":"control_request","request_id":"r1","request":{"subtype":"can_use_tool","tool_name":"Bash","input":{"command":"ls"}}}"#;
        assert!(matches!(read(ask), FromHost::Ask { id, .. } if id == "r1"));
        let back = br#"{"type":"control_cancel_request","request_id":"r1"}"#;
        assert!(matches!(read(back), FromHost::TakenBack { id } if id == "r1"));
        for other in [
            r#"{"type":"control_request","request_id":"r2","request":{"subtype":"hook_callback"}}"#,
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"init-1"}}"#,
            r#"{"type":"stream_event"}"#,
            "not JSON",
            "",
            "[]",
        ] {
            assert!(matches!(read(other.as_bytes()), FromHost::Other), "{other}");
        }
    }

    #[test]
    fn turns_calls_and_their_ends_are_read_from_the_stream() {
        let init = br#"{"type":"system","subtype":"init","cwd":"/p","permissionMode":"plan"}"#;
        assert!(
            matches!(read(init), FromHost::Begin { cwd: Some(cwd), mode: Some(mode) } if cwd == "/p" && mode == "plan")
        );
        let made = br#"{"type":"assistant","message":{"content":[{"type":"text","text":"I look."},{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"ls"}}]}}"#;
        match read(made) {
            FromHost::Calls(calls) => assert_eq!(
                (calls.len(), calls[0].id.as_str(), calls[0].command.as_deref()),
                (1, "t1", Some("ls"))
            ),
            other => panic!("{other:?}"),
        }
        assert_eq!(said(made).as_deref(), Some("I look."));
        let results = br#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"x"},{"type":"tool_result","tool_use_id":"t2","is_error":true}]}}"#;
        assert!(matches!(read(results), FromHost::Ran(ids) if ids == ["t1"]));
        let end =
            br#"{"type":"result","permission_denials":[{"tool_name":"Bash","tool_use_id":"t2","tool_input":{}}]}"#;
        assert!(matches!(read(end), FromHost::End { denied } if denied[0].tool_use_id == "t2"));
    }

    #[test]
    fn what_we_say_is_what_the_host_was_seen_to_take() {
        assert_eq!(
            answer("r\"1", r#"{"behavior":"allow","updatedInput":{}}"#),
            r#"{"type":"control_response","response":{"subtype":"success","request_id":"r\"1","response":{"behavior":"allow","updatedInput":{}}}}"#
        );
        assert_eq!(
            failure("r1", "nobody"),
            r#"{"type":"control_response","response":{"subtype":"error","request_id":"r1","error":"nobody"}}"#
        );
        assert!(is_message(message("go\n\"on\"").as_bytes()));
        assert!(!is_message(
            br#"{"type":"control_request","request_id":"i","request":{"subtype":"interrupt"}}"#
        ));
    }
}
