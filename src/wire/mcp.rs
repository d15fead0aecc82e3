//! The Model Context Protocol on standard input and output, as far as a server of two tools needs it: JSON-RPC 2.0, one
//! message a line.
//!
//! What the host was seen to need: every unknown method is refused at once (it waits three seconds for
//! `server/discover`), a supported protocol version is echoed, and a result is exactly one text block and never
//! `structuredContent`. Source: the specification of 2025-11-25, and hosts 2.1.207 to 2.1.332.

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::event::object;

/// The tool that the host asks in a person's place.
pub const PERMISSION_PROMPT: &str = "permission_prompt";
/// The tool by which a model asks a person.
pub const ASK_PERSON: &str = "ask_person";

/// The versions that this server speaks, the newest first: what it uses is the same in all.
const VERSIONS: [&str; 4] = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];

/// What a client sends.
#[derive(Debug)]
pub enum Message {
    /// Wants an answer with this id.
    Request {
        id: Box<RawValue>,
        method: String,
        params: Option<Box<RawValue>>,
    },
    Notification {
        method: String,
        params: Option<Box<RawValue>>,
    },
    /// An answer to something that this server never asked.
    Response,
}

/// Why a line is no message, as the line that answers it.
#[derive(Debug)]
pub struct Refused(pub String);

#[derive(Deserialize)]
struct Fields {
    jsonrpc: Option<String>,
    id: Option<Box<RawValue>>,
    method: Option<String>,
    params: Option<Box<RawValue>>,
}

/// One `tools/call`.
#[derive(Debug)]
pub struct ToolCall {
    pub name: String,
    pub arguments: Box<RawValue>,
    /// What progress is told under, where the client wants any.
    pub progress: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct CallParams {
    name: String,
    arguments: Option<Box<RawValue>>,
    #[serde(rename = "_meta")]
    meta: Option<Meta>,
}

#[derive(Deserialize)]
struct Meta {
    #[serde(rename = "progressToken")]
    progress_token: Option<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Cancelled {
    #[serde(rename = "requestId")]
    request_id: Option<Box<RawValue>>,
}

/// Reads one line.
///
/// # Errors
/// The line that answers what is no message.
pub fn read(line: &[u8]) -> Result<Message, Refused> {
    let text = object(line, "the message").map_err(|why| Refused(error("null", -32700, &why)))?;
    let fields: Fields =
        serde_json::from_str(text).map_err(|why| Refused(error("null", -32700, &format!("no message: {why}"))))?;
    let id = fields.id.filter(|id| is_id(id));
    if fields.jsonrpc.as_deref() != Some("2.0") {
        let id = id.as_ref().map_or("null", |id| id.get());
        return Err(Refused(error(id, -32600, "jsonrpc is not 2.0")));
    }
    match (fields.method, id) {
        (Some(method), Some(id)) => Ok(Message::Request {
            id,
            method,
            params: fields.params,
        }),
        (Some(method), None) => Ok(Message::Notification {
            method,
            params: fields.params,
        }),
        (None, Some(_)) => Ok(Message::Response),
        (None, None) => Err(Refused(error("null", -32600, "neither a method nor an id"))),
    }
}

/// An id is a text or a number.
fn is_id(id: &RawValue) -> bool {
    id.get()
        .starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit())
}

/// The answer to a request that is no tool call: what it wants, or that its method is unknown.
pub fn answer(id: &RawValue, method: &str, params: Option<&RawValue>) -> String {
    match method {
        "initialize" => result(id, &initialized(params).to_string()),
        "ping" => result(id, "{}"),
        "tools/list" => result(id, &tools().to_string()),
        _ => error(id.get(), -32601, &format!("{method} is not known")),
    }
}

fn initialized(params: Option<&RawValue>) -> Value {
    let params: Value = params
        .and_then(|params| serde_json::from_str(params.get()).ok())
        .unwrap_or_default();
    let wanted = params["protocolVersion"].as_str();
    let version = VERSIONS.into_iter().find(|version| Some(*version) == wanted);
    json!({
        "protocolVersion": version.unwrap_or(VERSIONS[0]),
        "capabilities": {"tools": {}},
        "serverInfo": {"name": "countersign", "title": "Countersign", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// Without output schemas: the host takes a result that has one for broken.
fn tools() -> Value {
    let option = json!({
        "type": "object", "required": ["label"],
        "properties": {"label": {"type": "string"}, "description": {"type": "string"}},
    });
    let question = json!({
        "type": "object", "required": ["question", "options"],
        "properties": {
            "question": {"type": "string", "description": "The whole question, ending in a question mark"},
            "header": {"type": "string", "description": "A word or two that name it"},
            "options": {"type": "array", "items": option, "minItems": 2, "maxItems": 4},
            "multiSelect": {"type": "boolean", "description": "More than one option may be chosen"},
        },
    });
    json!({"tools": [
        {
            "name": PERMISSION_PROMPT,
            "title": "Decide a tool call",
            "description": "For the host alone, as its --permission-prompt-tool: decides whether a tool call may run.",
            "inputSchema": {
                "type": "object", "required": ["tool_name", "input"],
                "properties": {
                    "tool_name": {"type": "string"},
                    "input": {"type": "object"},
                    "tool_use_id": {"type": "string"},
                },
            },
        },
        {
            "name": ASK_PERSON,
            "title": "Ask the person",
            "description": "Puts one to four questions to the person and waits for the answers. Gives {\"answers\": {question: answer}}, \
                            or {\"reply\": words} where the person answers in words of their own, or {\"unanswered\": why}.",
            "inputSchema": {
                "type": "object", "required": ["questions"],
                "properties": {"questions": {"type": "array", "items": question, "minItems": 1, "maxItems": 4}},
            },
        },
    ]})
}

/// Reads the parameters of a `tools/call`.
///
/// # Errors
/// One line for the client.
pub fn tool_call(params: Option<&RawValue>) -> Result<ToolCall, String> {
    let params = params.ok_or("params are missing")?;
    let params: CallParams = serde_json::from_str(params.get()).map_err(|why| format!("no tool call: {why}"))?;
    let empty = || RawValue::from_string("{}".into()).expect("an empty object is JSON");
    Ok(ToolCall {
        name: params.name,
        arguments: params.arguments.unwrap_or_else(empty),
        progress: params
            .meta
            .and_then(|meta| meta.progress_token)
            .filter(|token| is_id(token)),
    })
}

/// The id of the request that a `notifications/cancelled` takes back.
pub fn cancelled(params: Option<&RawValue>) -> Option<Box<RawValue>> {
    serde_json::from_str::<Cancelled>(params?.get()).ok()?.request_id
}

/// The answer to a `tools/call`: one text block.
pub fn tool_result(id: &RawValue, text: &str, is_error: bool) -> String {
    let failed = if is_error { r#","isError":true"# } else { "" };
    let text = Value::from(text);
    result(
        id,
        &format!(r#"{{"content":[{{"type":"text","text":{text}}}]{failed}}}"#),
    )
}

/// That a call is still waiting, for the `count`th time.
pub fn progress(token: &RawValue, count: u64, message: &str) -> String {
    let message = Value::from(message);
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{},"progress":{count},"message":{message}}}}}"#,
        token.get()
    )
}

/// That a tool or its parameters are not known.
pub fn invalid_params(id: &RawValue, why: &str) -> String {
    error(id.get(), -32602, why)
}

fn result(id: &RawValue, result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, id.get())
}

fn error(id: &str, code: i32, message: &str) -> String {
    let message = Value::from(message);
    format!(r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":{code},"message":{message}}}}}"#)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).expect("test JSON")
    }

    fn answered(line: &str) -> String {
        match read(line.as_bytes()) {
            Ok(Message::Request { id, method, params }) => answer(&id, &method, params.as_deref()),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn an_unknown_method_is_refused_with_the_id_as_it_came() {
        let probe = r#"{"jsonrpc":"2.0","id":"server-discover-probe-1","method":"server/discover","params":{}}"#;
        assert_eq!(
            answered(probe),
            r#"{"jsonrpc":"2.0","id":"server-discover-probe-1","error":{"code":-32601,"message":"server/discover is not known"}}"#
        );
    }

    #[test]
    fn a_version_that_is_spoken_is_echoed_and_another_is_answered_with_the_newest() {
        for (wanted, given) in [
            ("2024-11-05", "2024-11-05"),
            ("2025-11-25", "2025-11-25"),
            ("2031-01-01", "2025-11-25"),
        ] {
            let line = format!(
                r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":"{wanted}"}}}}"#
            );
            let answer: Value = serde_json::from_str(&answered(&line)).expect("JSON");
            assert_eq!(answer["result"]["protocolVersion"], given);
            assert_eq!(answer["result"]["capabilities"], json!({"tools": {}}));
        }
    }

    #[test]
    fn the_tools_are_listed_without_output_schemas() {
        let answer = answered(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
        let listed: Value = serde_json::from_str(&answer).expect("JSON");
        let names: Vec<&str> = listed["result"]["tools"]
            .as_array()
            .expect("tools")
            .iter()
            .filter_map(|tool| tool["name"].as_str())
            .collect();
        assert_eq!(names, [PERMISSION_PROMPT, ASK_PERSON]);
        assert!(!answer.contains("outputSchema"));
    }

    #[test]
    fn a_ping_is_answered_with_nothing() {
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        assert_eq!(answered(ping), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
    }

    #[test]
    fn a_tool_result_is_one_text_block_and_nothing_else() {
        assert_eq!(
            tool_result(&raw("2"), r#"{"behavior":"allow","updatedInput":{}}"#, false),
            r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"{\"behavior\":\"allow\",\"updatedInput\":{}}"}]}}"#
        );
        assert!(tool_result(&raw("2"), "x", true).ends_with(r#"}],"isError":true}}"#));
    }

    #[test]
    fn what_is_no_message_is_refused_by_the_specifications_codes() {
        for (line, code) in [
            ("", -32700),
            ("{", -32700),
            ("[]", -32700),
            ("{\"jsonrpc\":\"2.0\"}", -32600),
            ("{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}", -32600),
            ("{\"jsonrpc\":\"2.0\",\"id\":{},\"params\":[]}", -32600),
        ] {
            let Refused(answer) = read(line.as_bytes()).expect_err(line);
            assert!(answer.contains(&format!("\"code\":{code}")), "{line}: {answer}");
        }
    }

    #[test]
    fn notifications_and_strange_responses_want_no_answer() {
        let line = br#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a"}}"#;
        match read(line) {
            Ok(Message::Notification { params, .. }) => {
                assert_eq!(cancelled(params.as_deref()).expect("an id").get(), "\"a\"");
            }
            other => panic!("{other:?}"),
        }
        assert!(matches!(
            read(br#"{"jsonrpc":"2.0","id":1,"result":{}}"#),
            Ok(Message::Response)
        ));
    }

    #[test]
    fn a_call_carries_its_arguments_byte_for_byte_and_its_progress_token() {
        let params = raw(
            r#"{"name":"permission_prompt","arguments":{"tool_name":"Bash", "input":{}},"_meta":{"progressToken":2}}"#,
        );
        let call = tool_call(Some(&params)).expect("a call");
        assert_eq!(call.arguments.get(), r#"{"tool_name":"Bash", "input":{}}"#);
        assert_eq!(call.progress.expect("a token").get(), "2");
        assert!(tool_call(None).is_err());
        assert!(tool_call(Some(&raw("{}"))).is_err());
    }
}
