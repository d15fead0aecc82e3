//! Every answer that leaves Countersign is built here, by one function, from what the host was seen to accept.
//!
//! What the host would refuse is never printed: a decision that does not fit its call, or whose answer would hold a
//! `null`, becomes no decision, and the question stays with the person. The tests hold each answer's exact bytes.

use std::fmt::Write;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::{EventKind, holds_null};
use crate::call::{Call, Input};
use crate::decision::{Allow, Decision, Deny, Hold, NextMode, Remember, Run};
use crate::escape::visible;
use crate::questions::{self, Answer, Answers};

/// The most bytes of a message or reason, before JSON quotes them. Quoted they are at most twice as long, so an answer
/// without an echoed input stays below the 4096 bytes that a pipe takes in one piece.
pub const MAX_TOLD: usize = 1900;

/// How "no decision" is printed for a `PermissionRequest` event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NoDecision {
    /// The event's block without a decision. The host logs it as invalid, so a missing decision leaves a trace.
    #[default]
    Block,
    /// `{}`, which the host takes in silence.
    Empty,
}

/// The one line that answers a hook's event, without its newline.
///
/// `call` is the call that the event carries; without one there is nothing to allow or to ask about.
pub fn output(event: EventKind, call: Option<&Call>, decision: &Decision, no_decision: NoDecision) -> String {
    let answer = match (decision, call) {
        (Decision::Aside, _) => Some("{}".into()),
        (Decision::Deny(denial), _) => Some(deny(event, denial)),
        (_, None) => None,
        (decision, Some(call)) => answer(event, call, decision),
    };
    answer.unwrap_or_else(|| match (event, no_decision) {
        (EventKind::PermissionRequest, NoDecision::Block) => {
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#.into()
        }
        (_, _) => "{}".into(),
    })
}

/// The object that answers a [`EventKind::CanUseTool`], on one line; `None` where the decision is none or does not fit
/// the call, for there no object says so. A call that could not be read can only be denied.
///
/// An allow always carries `updatedInput`, for releases before 2.1.207 were told to refuse one without it; where nothing
/// was edited it is `{}`, which leaves the input as it is (seen on 2.1.207, 2.1.280 and 2.1.332). A denial carries its
/// reason code as `reason` beside the message.
pub fn permission_result(call: Option<&Call>, decision: &Decision) -> Option<String> {
    match (decision, call) {
        (Decision::Deny(denial), None) => Some(deny(EventKind::CanUseTool, denial)),
        (_, None) => None,
        (decision, Some(call)) => answer(EventKind::CanUseTool, call, decision),
    }
}

fn answer(event: EventKind, call: &Call, decision: &Decision) -> Option<String> {
    match decision {
        Decision::None | Decision::Aside => None,
        Decision::Ask(why) | Decision::Hold(Hold { reason: why, .. }) => ask(event, why),
        Decision::Deny(denial) => Some(deny(event, denial)),
        Decision::Allow(allowed) => allow(event, call, allowed),
    }
}

fn ask(event: EventKind, why: &str) -> Option<String> {
    match event {
        EventKind::PermissionRequest | EventKind::CanUseTool => None,
        EventKind::PreToolUse => Some(pre_tool_use(
            "ask",
            &told("Countersign", "asks about this call", why),
            "",
        )),
    }
}

fn deny(event: EventKind, denial: &Deny) -> String {
    let code = format!("[countersign:{}]", denial.reason.as_str());
    let message = told(&code, denial.reason.sentence(), &denial.message);
    let interrupt = denial.interrupt && denial.message.trim().is_empty();
    let interrupt = if interrupt { r#","interrupt":true"# } else { "" };
    let told = quoted(&message);
    match event {
        EventKind::PreToolUse => pre_tool_use("deny", &message, ""),
        EventKind::PermissionRequest => permission_request("deny", &format!(r#","message":{told}{interrupt}"#)),
        EventKind::CanUseTool => {
            let reason = denial.reason.as_str();
            result("deny", &format!(r#","message":{told},"reason":"{reason}"{interrupt}"#))
        }
    }
}

fn allow(event: EventKind, call: &Call, allowed: &Allow) -> Option<String> {
    match (allowed, &call.input) {
        (Allow::Plan { then }, Input::Plan) => approve_plan(event, call, *then),
        (Allow::Answers(answers), Input::Question) => answer_questions(event, call, answers),
        (Allow::Run(run), input) if !input.is_for_person() => run_call(event, call, run),
        (Allow::Run(_) | Allow::Plan { .. } | Allow::Answers(_), _) => None,
    }
}

fn run_call(event: EventKind, call: &Call, run: &Run) -> Option<String> {
    let input = match &run.input {
        Some(input) => format!(r#","updatedInput":{}"#, echoed(input)?),
        None => String::new(),
    };
    let remembered = match &run.remember {
        // It is kept here, and the host is told nothing of it.
        None | Some(Remember::Rule(_)) => String::new(),
        Some(remember) => format!(r#","updatedPermissions":[{}]"#, remembered(call, remember)?),
    };
    match event {
        EventKind::PermissionRequest => Some(permission_request("allow", &format!("{input}{remembered}"))),
        EventKind::CanUseTool => {
            let input = if input.is_empty() {
                r#","updatedInput":{}"#
            } else {
                &input
            };
            Some(result("allow", &format!("{input}{remembered}")))
        }
        EventKind::PreToolUse => remembered.is_empty().then(|| {
            let why = told("Countersign", "understood and harmless", &run.why);
            pre_tool_use("allow", &why, &input)
        }),
    }
}

/// A suggestion as received, or with the session in place of where the host would have kept it.
fn remembered(call: &Call, remember: &Remember) -> Option<String> {
    let (Remember::Suggestion(index) | Remember::ForSession(index)) = remember else {
        return None;
    };
    let suggestion = call.suggestions.get(*index)?;
    let text = echoed(suggestion)?;
    if matches!(remember, Remember::Suggestion(_)) {
        return Some(text);
    }
    let mut fields: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).ok()?;
    fields.insert("destination".into(), "session".into());
    Some(serde_json::Value::Object(fields).to_string())
}

fn approve_plan(event: EventKind, call: &Call, then: Option<NextMode>) -> Option<String> {
    let input = echoed(&call.raw_input)?;
    let mode = match then {
        None => String::new(),
        Some(mode) => {
            let name = match mode {
                NextMode::AcceptEdits => "acceptEdits",
                NextMode::Auto => "auto",
            };
            format!(r#","updatedPermissions":[{{"type":"setMode","mode":"{name}","destination":"session"}}]"#)
        }
    };
    with_person(event, &format!(r#","updatedInput":{input}{mode}"#))
}

fn answer_questions(event: EventKind, call: &Call, answers: &Answers) -> Option<String> {
    let questions = questions::read(&call.raw_input).ok()?;
    if !answers.fit(&questions) {
        return None;
    }
    let input = echoed(&call.raw_input)?;
    let open = input.strip_suffix('}')?;
    let mut given = String::new();
    for (text, answer) in &answers.0 {
        let comma = if given.is_empty() { "" } else { "," };
        let answer = match answer {
            Answer::One(text) | Answer::Text(text) => quoted(text),
            Answer::Many(labels) => quoted(&labels.join(", ")),
        };
        let _ = write!(given, "{comma}{}:{answer}", quoted(text));
    }
    with_person(event, &format!(r#","updatedInput":{open},"answers":{{{given}}}}}"#))
}

/// Questions and plans are answered where the host asks; before that there is no opinion on them.
fn with_person(event: EventKind, rest: &str) -> Option<String> {
    match event {
        EventKind::PermissionRequest => Some(permission_request("allow", rest)),
        EventKind::CanUseTool => Some(result("allow", rest)),
        EventKind::PreToolUse => None,
    }
}

fn result(behavior: &str, rest: &str) -> String {
    format!(r#"{{"behavior":"{behavior}"{rest}}}"#)
}

fn permission_request(behavior: &str, rest: &str) -> String {
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"{behavior}"{rest}}}}}}}"#
    )
}

fn pre_tool_use(decision: &str, reason: &str, rest: &str) -> String {
    let reason = quoted(reason);
    format!(
        r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"{decision}","permissionDecisionReason":{reason}{rest}}}}}"#
    )
}

/// An object as received, on one line: a line break between its tokens, which the host never sends, becomes a blank;
/// inside strings JSON has none. `None` for what is no object or holds a `null`: no release was seen to take one, and
/// some were seen to void an answer for it.
fn echoed(raw: &RawValue) -> Option<String> {
    if !raw.get().starts_with('{') || holds_null(raw) {
        return None;
    }
    Some(raw.get().replace(['\n', '\r'], " "))
}

/// `opening: words`, or the stock sentence where there are no words; bounded, and nothing in it hidden. Line breaks
/// stay.
fn told(opening: &str, stock: &str, words: &str) -> String {
    const CUT: &str = " [cut]";
    let words = if words.trim().is_empty() { stock } else { words };
    let joint = if opening.ends_with(']') { " " } else { ": " };
    let mut text = format!("{opening}{joint}");
    for (number, line) in words.split('\n').enumerate() {
        if number > 0 {
            text.push('\n');
        }
        text.push_str(&visible(line));
    }
    if text.len() > MAX_TOLD {
        let end = (0..=MAX_TOLD - CUT.len()).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or(0));
        text.push_str(CUT);
    }
    text
}

/// A JSON string.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
