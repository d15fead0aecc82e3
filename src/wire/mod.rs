//! The faces: an event of the host is read into a [`Call`](crate::call::Call), a decision is written as its answer.
//!
//! `event` reads what a hook is given and `request` what the host asks in a person's place; `mcp` and `control` are the
//! protocols that carry such a request; [`output`] builds every answer. `once` sees to it that at most one leaves a hook's
//! process, `watchdog` that one does in time, `twin` that at most one process of the same event answers. The faces judge
//! nothing.

use serde_json::value::RawValue;

pub mod control;
pub mod event;
pub mod mcp;
pub mod once;
pub mod output;
pub mod request;
pub mod twin;
mod watchdog;

/// What the host asks, and so how it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A hook: the host is about to ask the person.
    PermissionRequest,
    /// A hook: the host is about to run a tool, whether or not it would ask.
    PreToolUse,
    /// The host asks this process in place of the person: over MCP, its control protocol or an SDK.
    CanUseTool,
}

impl EventKind {
    pub const fn as_str(self) -> &'static str {
        match self {
            EventKind::PermissionRequest => "PermissionRequest",
            EventKind::PreToolUse => "PreToolUse",
            EventKind::CanUseTool => "can_use_tool",
        }
    }

    /// The hook that an event names.
    fn parse(name: &str) -> Option<Self> {
        [EventKind::PermissionRequest, EventKind::PreToolUse]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// The bytes of a JSON text that stand outside its strings. A string is passed over from quote to quote, for a file's
/// whole content may stand in it.
fn outside_strings(json: &str) -> impl Iterator<Item = u8> {
    let mut rest = json;
    let pieces = std::iter::from_fn(move || {
        let (piece, string) = match rest.split_once('"') {
            Some(split) => split,
            None if rest.is_empty() => return None,
            None => (rest, ""),
        };
        rest = after_string(string);
        Some(piece)
    });
    pieces.flat_map(str::bytes)
}

/// What follows the string in whose text this begins; nothing where it does not end.
fn after_string(mut text: &str) -> &str {
    while let Some((before, after)) = text.split_once('"') {
        let backslashes = before.bytes().rev().take_while(|byte| *byte == b'\\').count();
        if backslashes.is_multiple_of(2) {
            return after;
        }
        text = after;
    }
    ""
}

/// Whether a valid JSON text holds a `null` at any depth: no other literal has an `n` in it.
fn holds_null(json: &RawValue) -> bool {
    outside_strings(json.get()).any(|byte| byte == b'n')
}

/// How deep arrays and objects stand in each other.
fn depth(json: &str) -> usize {
    let (mut deepest, mut now) = (0usize, 0usize);
    for byte in outside_strings(json) {
        match byte {
            b'[' | b'{' => now += 1,
            b']' | b'}' => now = now.saturating_sub(1),
            _ => continue,
        }
        deepest = deepest.max(now);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raw(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.into()).expect("test JSON")
    }

    #[test]
    fn null_is_found_at_any_depth_but_not_in_strings_and_keys() {
        assert!(holds_null(&raw("null")));
        assert!(holds_null(&raw(r#"{"a":[true,{"b":null}]}"#)));
        assert!(!holds_null(&raw(
            r#"{"null":"null","n\"":"\\","x":[false,true,1.5e3]}"#
        )));
    }

    #[test]
    fn depth_counts_brackets_outside_strings_only() {
        assert_eq!(depth("1"), 0);
        assert_eq!(depth(r#"{"a":["[[[",{}],"b\"{{":1}"#), 3);
        assert_eq!(depth(r#"["\\",["\\\"[[",[]]]"#), 3);
        assert_eq!(depth(r#"["[[["#), 1);
    }
}
