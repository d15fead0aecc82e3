//! Reading: an event of the host becomes a typed call, once.
//!
//! Written from what releases 2.1.207 to 2.1.332 of the host really send. Fields that are not known are passed over and
//! most may be missing; what is there must have its type, and a known field that stands there twice is refused, since
//! the host and we might read different ones. Nothing here touches the machine.

use std::fmt;
use std::path::PathBuf;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EventKind, depth};
use crate::call::{Agent, Call, Input, Mode};

/// The longest event that is read, in bytes: a `Write` carries its file's whole content.
pub const MAX_BYTES: usize = 16 * 1024 * 1024;

/// How deep an event may nest; what is read recursively, here or later, stays far from the stack's end.
pub const MAX_DEPTH: usize = 100;

/// One event.
#[derive(Debug)]
pub struct Event {
    pub kind: EventKind,
    pub call: Call,
    /// The file in which the host writes down what is said and done in the session.
    pub transcript: Option<PathBuf>,
}

/// Why an event could not be read.
#[derive(Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The event, where that much could be read.
    pub kind: Option<EventKind>,
    /// One line for a person, lower case, without a full stop.
    pub why: String,
}

impl fmt::Display for Unreadable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.why)
    }
}

impl std::error::Error for Unreadable {}

#[derive(Deserialize)]
struct Fields {
    hook_event_name: Option<String>,
    tool_name: Option<String>,
    tool_input: Option<Box<RawValue>>,
    permission_suggestions: Option<Vec<Box<RawValue>>>,
    cwd: Option<String>,
    session_id: Option<String>,
    agent_id: Option<String>,
    agent_type: Option<String>,
    permission_mode: Option<String>,
    transcript_path: Option<String>,
}

/// Reads one event of the host: the whole of what came in. Blanks and a byte order mark around it do not matter.
///
/// # Errors
/// [`Unreadable`] for everything that is not one well-formed event of a [`EventKind`].
pub fn read(bytes: &[u8]) -> Result<Event, Unreadable> {
    let mut fields = fields(bytes)?;
    let transcript = fields.transcript_path.take().map(PathBuf::from);
    let name = fields
        .hook_event_name
        .as_deref()
        .ok_or_else(|| unknown("hook_event_name is missing"))?;
    let kind = EventKind::parse(name).ok_or_else(|| {
        unknown(format!(
            "the event is {name}, which is not one that Countersign answers"
        ))
    })?;
    match call(fields) {
        Ok(call) => Ok(Event { kind, call, transcript }),
        Err(why) => Err(Unreadable { kind: Some(kind), why }),
    }
}

/// Reads one line of `classify`: an event, or the shorter `{"tool_name", "tool_input", "cwd"}`.
///
/// # Errors
/// [`Unreadable`], as for [`read`]; the event's name does not matter.
pub fn classify_event(line: &str) -> Result<Call, Unreadable> {
    call(fields(line.as_bytes())?).map_err(unknown)
}

fn fields(bytes: &[u8]) -> Result<Fields, Unreadable> {
    let text = object(bytes, "the event").map_err(unknown)?;
    serde_json::from_str(text).map_err(|error| unknown(format!("the event cannot be read: {error}")))
}

/// The text of one JSON object that is short and flat enough to be read; blanks and a byte order mark around it do not
/// matter.
///
/// # Errors
/// One line for a person, which calls it `what`.
pub(super) fn object<'a>(bytes: &'a [u8], what: &str) -> Result<&'a str, String> {
    if bytes.len() > MAX_BYTES {
        return Err(format!("{what} is longer than {MAX_BYTES} bytes"));
    }
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("{what} is not UTF-8 at byte {}", error.valid_up_to()))?
        .trim();
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).trim_start();
    if text.is_empty() {
        return Err(format!("{what} is empty"));
    }
    if depth(text) > MAX_DEPTH {
        return Err(format!("{what} nests deeper than {MAX_DEPTH}"));
    }
    if !text.starts_with('{') {
        return Err(format!("{what} is not a JSON object"));
    }
    Ok(text)
}

fn call(fields: Fields) -> Result<Call, String> {
    let tool = fields
        .tool_name
        .filter(|name| !name.is_empty())
        .ok_or("tool_name is missing")?;
    let raw_input = fields.tool_input.ok_or("tool_input is missing")?;
    Ok(Call {
        input: Input::read(&tool, &raw_input)?,
        tool,
        raw_input,
        suggestions: fields.permission_suggestions.unwrap_or_default(),
        cwd: fields.cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute()),
        session: fields.session_id,
        agent: match fields.agent_id {
            Some(id) => Agent::Sub {
                id,
                kind: fields.agent_type,
            },
            None => Agent::Main,
        },
        mode: fields.permission_mode.as_deref().map(Mode::named).unwrap_or_default(),
    })
}

fn unknown(why: impl Into<String>) -> Unreadable {
    Unreadable {
        kind: None,
        why: why.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(text: &str) -> String {
        read(text.as_bytes()).expect_err(text).why
    }

    fn with_input(tool: &str, input: &str) -> String {
        format!(r#"{{"hook_event_name":"PermissionRequest","tool_name":"{tool}","tool_input":{input}}}"#)
    }

    fn shell(command: &str) -> Input {
        Input::Shell {
            command: command.into(),
            leaves_sandbox: false,
        }
    }

    #[test]
    fn a_whole_event_is_read() {
        let event = read(
            br#"{"session_id":"s1","transcript_path":"/t","cwd":"/home/dev/p","prompt_id":"p","permission_mode":"acceptEdits",
                "agent_id":"a1","agent_type":"general-purpose","effort":{"level":"medium"},
                "hook_event_name":"PermissionRequest","tool_name":"Bash",
                "tool_input":{"command":"rm -f  \u006d","description":"d"},
                "permission_suggestions":[{"type":"setMode", "mode":"acceptEdits","destination":"session"}]}"#,
        )
        .expect("an event");
        assert_eq!(event.kind, EventKind::PermissionRequest);
        let call = event.call;
        assert_eq!((call.tool.as_str(), &call.input), ("Bash", &shell("rm -f  m")));
        assert_eq!(call.raw_input.get(), r#"{"command":"rm -f  \u006d","description":"d"}"#);
        let suggestions: Vec<&str> = call.suggestions.iter().map(|one| one.get()).collect();
        assert_eq!(
            suggestions,
            [r#"{"type":"setMode", "mode":"acceptEdits","destination":"session"}"#]
        );
        assert_eq!(call.cwd, Some(PathBuf::from("/home/dev/p")));
        let agent = Agent::Sub {
            id: "a1".into(),
            kind: Some("general-purpose".into()),
        };
        assert_eq!((call.session.as_deref(), call.agent), (Some("s1"), agent));
        assert_eq!(call.mode, Mode::AcceptEdits);
    }

    #[test]
    fn everything_but_name_tool_and_input_may_be_missing_or_null() {
        for rest in [
            "",
            r#","cwd":null,"session_id":null,"permission_suggestions":null,"permission_mode":null"#,
        ] {
            let text = format!(
                r#"{{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{{"command":"ls"}}{rest}}}"#
            );
            let event = read(text.as_bytes()).expect("an event");
            assert_eq!((event.kind, event.call.mode), (EventKind::PreToolUse, Mode::Default));
            assert_eq!((event.call.cwd, event.call.suggestions.len()), (None, 0));
            assert_eq!(event.call.agent, Agent::Main);
        }
    }

    #[test]
    fn a_byte_order_mark_and_blanks_around_do_not_matter() {
        let event = format!(" \n\u{feff}\r\n {} \n\n", with_input("Bash", r#"{"command":"ls"}"#));
        assert_eq!(read(event.as_bytes()).expect("an event").call.input, shell("ls"));
    }

    #[test]
    fn what_is_no_event_is_refused_and_says_why() {
        for (text, why) in [
            ("", "empty"),
            (" \n\u{feff}\n", "empty"),
            ("null", "not a JSON object"),
            ("[]", "not a JSON object"),
            (r#"{"hook_event_name":"PermissionRequest""#, "cannot be read"),
            ("{}", "hook_event_name is missing"),
            (r#"{"hook_event_name":5}"#, "cannot be read"),
            (r#"{"hook_event_name":"PostToolUse","tool_name":"Bash"}"#, "PostToolUse"),
            (r#"{"hook_event_name":"permissionrequest"}"#, "permissionrequest"),
            (
                r#"{"hook_event_name":"PermissionRequest","tool_input":{}}"#,
                "tool_name is missing",
            ),
            (
                r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash"}"#,
                "tool_input is missing",
            ),
        ] {
            assert!(refused(text).contains(why), "{text}: {}", refused(text));
        }
        let two = format!("{0}{0}", with_input("Bash", r#"{"command":"ls"}"#));
        assert!(refused(&two).contains("trailing"));
    }

    #[test]
    fn an_input_of_the_wrong_type_is_refused_and_the_event_still_named() {
        for (tool, input) in [
            ("Bash", "{}"),
            ("Bash", r#"{"command":5}"#),
            ("Bash", r#"{"command":null}"#),
            ("Bash", r#"{"command":["ls"]}"#),
            ("Bash", r#"{"command":"ls","dangerouslyDisableSandbox":"no"}"#),
            ("Bash", r#"{"command":"\ud800"}"#),
            ("Bash", r#""ls""#),
            ("Bash", r#"["ls"]"#),
            ("Monitor", r#"{"description":"no command"}"#),
            ("Read", r#""/etc/passwd""#),
            ("ExitPlanMode", "[]"),
        ] {
            let error = read(with_input(tool, input).as_bytes()).expect_err(input);
            assert_eq!(error.kind, Some(EventKind::PermissionRequest), "{tool} {input}");
        }
    }

    #[test]
    fn a_known_field_that_stands_there_twice_is_refused() {
        let twice = with_input("Bash", r#"{"command":"ls","command":"rm x"}"#);
        assert!(refused(&twice).contains("duplicate"), "{}", refused(&twice));
        let spelled_twice = with_input("Bash", r#"{"command":"ls","comm\u0061nd":"rm x"}"#);
        assert!(refused(&spelled_twice).contains("duplicate"));
        let inputs = r#"{"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"},"tool_input":{"command":"rm x"}}"#;
        assert!(refused(inputs).contains("duplicate"));
    }

    #[test]
    fn an_unknown_field_that_stands_there_twice_is_passed_over() {
        let text = r#"{"x":1,"x":2,"hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls","y":1,"y":2}}"#;
        assert_eq!(read(text.as_bytes()).expect("an event").call.input, shell("ls"));
    }

    #[test]
    fn invalid_utf8_is_refused_even_in_a_field_that_nobody_reads() {
        let text = with_input("Write", r#"{"content":"~"}"#).replace('~', "\u{1}");
        let bytes: Vec<u8> = text.bytes().map(|byte| if byte == 1 { 0xff } else { byte }).collect();
        assert!(read(&bytes).expect_err("not UTF-8").why.contains("UTF-8"));
    }

    #[test]
    fn deep_nesting_is_refused_wherever_it_stands_and_overflows_nothing() {
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let deep = "[".repeat(depth) + &"]".repeat(depth);
            assert!(refused(&with_input("Write", &format!(r#"{{"content":{deep}}}"#))).contains("nests"));
            assert!(refused(&format!(r#"{{"unknown":{deep}}}"#)).contains("nests"));
            assert!(refused(&"[".repeat(depth)).contains("nests"));
        }
        let bearable = "[".repeat(MAX_DEPTH - 2) + &"]".repeat(MAX_DEPTH - 2);
        assert!(read(with_input("Skill", &format!(r#"{{"content":{bearable}}}"#)).as_bytes()).is_ok());
    }

    #[test]
    fn sixteen_mebibytes_are_read_and_one_byte_more_is_not() {
        let empty = with_input("Write", r#"{"file_path":"/x","content":""}"#);
        let content = "x".repeat(MAX_BYTES - empty.len());
        let full = with_input("Write", &format!(r#"{{"file_path":"/x","content":"{content}"}}"#));
        assert_eq!(full.len(), MAX_BYTES);
        assert!(read(full.as_bytes()).is_ok());
        assert!(refused(&(full + " ")).contains("longer"));
    }

    #[test]
    fn each_tool_is_typed_by_what_it_does_and_the_rest_is_other() {
        let write = Input::Write {
            path: "/x".into(),
            texts: vec![serde_json::from_str(r#""x\n""#).expect("a text")],
        };
        let text = |key: &str, text: &str| crate::call::Text {
            key: key.into(),
            text: text.into(),
        };
        let probe = Input::Mcp {
            server: "probe".into(),
            verb: "echo".into(),
            texts: vec![text("text", "hi")],
        };
        for (tool, input, typed) in [
            (
                "Monitor",
                r#"{"description":"w","command":"tail -f x"}"#,
                shell("tail -f x"),
            ),
            ("AskUserQuestion", r#"{"questions":[]}"#, Input::Question),
            ("ExitPlanMode", "{}", Input::Plan),
            ("Write", r#"{"file_path":"/x","content":"x\n"}"#, write),
            ("mcp__probe__echo", r#"{"count":5,"text":"hi"}"#, probe),
            (
                "Skill",
                r#"{"skill":"x"}"#,
                Input::Other {
                    texts: vec![text("skill", "x")],
                },
            ),
            (
                "bash",
                r#"{"command":"ls"}"#,
                Input::Other {
                    texts: vec![text("command", "ls")],
                },
            ),
        ] {
            assert_eq!(
                read(with_input(tool, input).as_bytes()).expect(tool).call.input,
                typed,
                "{tool}"
            );
        }
    }

    #[test]
    fn a_tool_input_without_what_its_tool_needs_is_refused() {
        for (tool, input) in [
            ("Write", r#"{"content":"x"}"#),
            ("Read", r#"{"file_path":5}"#),
            ("WebFetch", "{}"),
        ] {
            assert!(refused(&with_input(tool, input)).contains(tool));
        }
    }

    #[test]
    fn leaving_the_sandbox_is_seen() {
        let event = with_input("Bash", r#"{"command":"ls","dangerouslyDisableSandbox":true}"#);
        let Input::Shell { leaves_sandbox, .. } = read(event.as_bytes()).expect("an event").call.input else {
            panic!("a shell command");
        };
        assert!(leaves_sandbox);
    }

    #[test]
    fn a_relative_cwd_counts_as_none() {
        for (cwd, read_as) in [("src", None), ("", None), ("/p", Some(PathBuf::from("/p")))] {
            let line = format!(r#"{{"tool_name":"Bash","tool_input":{{"command":"ls"}},"cwd":"{cwd}"}}"#);
            assert_eq!(classify_event(&line).expect("a call").cwd, read_as);
        }
    }

    #[test]
    fn modes_are_known_by_name_and_others_are_unknown() {
        for (name, mode) in [
            ("default", Mode::Default),
            ("manual", Mode::Default),
            ("acceptEdits", Mode::AcceptEdits),
            ("plan", Mode::Plan),
            ("auto", Mode::Auto),
            ("bypassPermissions", Mode::Unknown),
            ("Default", Mode::Unknown),
        ] {
            assert_eq!(Mode::named(name), mode, "{name}");
        }
    }

    #[test]
    fn classify_reads_a_call_without_an_event_name_and_a_whole_event() {
        let short = r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#;
        assert_eq!(classify_event(short).expect("a call").input, shell("ls"));
        let whole = with_input("Bash", r#"{"command":"ls"}"#);
        assert_eq!(classify_event(&whole).expect("a call").input, shell("ls"));
        assert!(classify_event(r#"{"tool_name":"Bash"}"#).is_err());
    }
}
