//! What the host asks in a person's place: a call, and what the host says of it.
//!
//! The prompt tool, the control protocol and the SDKs carry the same request in three spellings; here they are one.
//! None of them says where the session stands.

use std::path::PathBuf;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::event::object;
use crate::call::{Agent, Call, Input, Mode};
use crate::decision::{Offer, Remember, Scope};
use crate::questions;

/// How many questions a model may ask at once, and how many options each may have: as many as the host's own tool.
const MAX_QUESTIONS: usize = 4;
const OPTIONS: std::ops::RangeInclusive<usize> = 2..=4;

/// One request.
#[derive(Debug)]
pub struct Request {
    pub call: Call,
    /// The host's name for this very call, which an answer is bound to.
    pub tool_use_id: Option<String>,
    pub host: HostView,
}

/// What the host says of a call beside its input. Its words for a person change with releases and languages, so only
/// its names for things decide anything.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostView {
    /// Why it asks, by kind: `rule`, `workingDir`, `safetyCheck` ..
    pub reason_type: Option<String>,
    /// The path that made it ask.
    pub blocked_path: Option<String>,
    /// What it would have asked the person.
    pub title: Option<String>,
    /// The host lets no classifier approve it, or an ask rule of the person's has matched it.
    pub only_person: bool,
    /// Only the host's own screen can answer it: an allow from elsewhere becomes a denial.
    pub only_screen: bool,
}

/// The spellings of the prompt tool, the control protocol, and the TypeScript SDK.
#[derive(Deserialize)]
struct Fields {
    subtype: Option<String>,
    #[serde(alias = "toolName")]
    tool_name: Option<String>,
    input: Option<Box<RawValue>>,
    #[serde(alias = "toolUseID", alias = "toolUseId")]
    tool_use_id: Option<String>,
    #[serde(alias = "suggestions")]
    permission_suggestions: Option<Vec<Box<RawValue>>>,
    #[serde(alias = "agentID", alias = "agentId")]
    agent_id: Option<String>,
    #[serde(alias = "sessionId")]
    session_id: Option<String>,
    #[serde(alias = "permissionMode")]
    permission_mode: Option<String>,
    cwd: Option<String>,
    #[serde(alias = "decisionReasonType")]
    decision_reason_type: Option<String>,
    #[serde(alias = "blockedPath")]
    blocked_path: Option<String>,
    title: Option<String>,
    #[serde(alias = "classifierApprovable")]
    classifier_approvable: Option<bool>,
    #[serde(alias = "requiresUserInteraction")]
    requires_user_interaction: Option<bool>,
    #[serde(alias = "matchedAskRule")]
    matched_ask_rule: Option<IgnoredAny>,
}

/// Reads one request: the arguments of the prompt tool, the `request` of a `can_use_tool`, or the object that
/// `countersign decide` takes.
///
/// # Errors
/// One line for a person.
pub fn read(bytes: &[u8]) -> Result<Request, String> {
    let text = object(bytes, "the request")?;
    let fields: Fields = serde_json::from_str(text).map_err(|error| format!("the request cannot be read: {error}"))?;
    let tool = fields
        .tool_name
        .filter(|name| !name.is_empty())
        .ok_or("tool_name is missing")?;
    let raw_input = fields.input.ok_or("input is missing")?;
    // Half a character, which no text can hold: what cannot be shown cannot be answered.
    serde_json::from_str::<Value>(raw_input.get())
        .map_err(|error| format!("the input of {tool} is no text: {error}"))?;
    // The control protocol names a subagent; the prompt tool never does.
    let tells_agents = fields.subtype.as_deref() == Some("can_use_tool");
    Ok(Request {
        call: Call {
            input: Input::read(&tool, &raw_input)?,
            tool,
            raw_input,
            suggestions: fields.permission_suggestions.unwrap_or_default(),
            cwd: fields.cwd.map(PathBuf::from).filter(|cwd| cwd.is_absolute()),
            session: fields.session_id,
            agent: match fields.agent_id {
                Some(id) => Agent::Sub { id, kind: None },
                None if tells_agents => Agent::Main,
                None => Agent::Unknown,
            },
            mode: fields.permission_mode.as_deref().map(Mode::named).unwrap_or_default(),
        },
        tool_use_id: fields.tool_use_id,
        host: HostView {
            reason_type: fields.decision_reason_type,
            blocked_path: fields.blocked_path,
            title: fields.title,
            only_person: fields.classifier_approvable == Some(false) || fields.matched_ask_rule.is_some(),
            only_screen: fields.requires_user_interaction == Some(true),
        },
    })
}

/// Questions that a model asks by `ask_person`, as the host would ask them.
///
/// # Errors
/// One line for the model: they are no questions, or not one to four with two to four options each.
pub fn questions(arguments: &RawValue) -> Result<Request, String> {
    let asked = questions::read(arguments)?;
    if asked.len() > MAX_QUESTIONS || asked.iter().any(|question| !OPTIONS.contains(&question.options.len())) {
        return Err("ask one to four questions, each with two to four options".into());
    }
    let fields = json!({"tool_name": "AskUserQuestion", "input": arguments});
    read(fields.to_string().as_bytes())
}

/// What a model is told of its questions, by how the host would have been answered.
pub fn answered(result: &str) -> String {
    let result: Value = serde_json::from_str(result).unwrap_or_default();
    let answer = match (&result["behavior"], result["reason"].as_str()) {
        (Value::String(allowed), _) if allowed == "allow" => json!({"answers": result["updatedInput"]["answers"]}),
        (_, Some("denied_by_person")) => json!({"reply": result["message"]}),
        _ => json!({"unanswered": result["message"]}),
    };
    answer.to_string()
}

#[derive(Deserialize)]
struct SuggestionFields {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    rules: Vec<RuleFields>,
    behavior: Option<String>,
    #[serde(default)]
    directories: Vec<String>,
    mode: Option<String>,
    destination: Option<String>,
}

#[derive(Deserialize)]
struct RuleFields {
    #[serde(rename = "toolName")]
    tool: String,
    #[serde(rename = "ruleContent")]
    content: Option<String>,
}

/// What the host suggests to remember, each by itself; first until the session ends, then as far as the host meant it. A
/// suggestion that is not known is offered as it came.
pub fn offers(suggestions: &[Box<RawValue>]) -> Vec<Offer> {
    let offered = suggestions
        .iter()
        .enumerate()
        .flat_map(|(index, raw)| match known(raw) {
            None => vec![Offer {
                change: raw.get().to_owned(),
                scope: None,
                remember: Remember::Suggestion(index),
            }],
            Some((change, scope)) => {
                let wider = (scope != Scope::Session).then(|| Offer {
                    change: change.clone(),
                    scope: Some(scope),
                    remember: Remember::Suggestion(index),
                });
                let session = Offer {
                    change,
                    scope: Some(Scope::Session),
                    remember: match scope {
                        Scope::Session => Remember::Suggestion(index),
                        _ => Remember::ForSession(index),
                    },
                };
                [session].into_iter().chain(wider).collect()
            }
        });
    offered.collect()
}

/// What a suggestion would change, and for how long.
fn known(raw: &RawValue) -> Option<(String, Scope)> {
    let fields: SuggestionFields = serde_json::from_str(raw.get()).ok()?;
    let rules = fields.rules.iter().map(|rule| match &rule.content {
        Some(content) => format!("{}({content})", rule.tool),
        None => format!("every {} call", rule.tool),
    });
    let rules = rules.collect::<Vec<_>>().join(", ");
    let change = match (fields.kind.as_str(), fields.behavior.as_deref(), &fields.mode) {
        ("addRules", Some("allow"), _) => format!("allow {rules}"),
        ("addDirectories", ..) => format!("count {} as the project", fields.directories.join(", ")),
        ("setMode", _, Some(mode)) => format!("switch to the mode {mode}"),
        _ => return None,
    };
    let scope = match fields.destination.as_deref()? {
        "session" => Scope::Session,
        "localSettings" => Scope::Local,
        "projectSettings" => Scope::Project,
        "userSettings" => Scope::User,
        _ => return None,
    };
    Some((change, scope))
}

impl Request {
    /// A host that asks because a rule of the person's says so must not be answered by policy, nor one that lets no
    /// classifier approve.
    pub fn is_for_person(&self) -> bool {
        self.host.only_person || self.host.reason_type.as_deref() == Some("rule")
    }

    /// An allow could not reach the host: its own screen must ask. Questions and plans are answered by their input.
    pub fn is_for_screen(&self) -> bool {
        self.host.only_screen && !self.call.input.is_for_person()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(text: &str) -> Request {
        read(text.as_bytes()).expect(text)
    }

    #[test]
    fn the_three_spellings_say_the_same() {
        let snake = request(
            r#"{"subtype":"can_use_tool","tool_name":"Bash","display_name":"Bash","input":{"command":"rm m"},"description":"d",
                "permission_suggestions":[{"type":"setMode"}],"blocked_path":"/p/m","decision_reason_type":"workingDir",
                "tool_use_id":"t1","agent_id":"a1","classifier_approvable":false}"#,
        );
        let camel = request(
            r#"{"toolName":"Bash","input":{"command":"rm m"},"suggestions":[{"type":"setMode"}],"blockedPath":"/p/m",
                "decisionReasonType":"workingDir","toolUseID":"t1","agentID":"a1","classifierApprovable":false}"#,
        );
        assert_eq!(snake.host, camel.host);
        assert_eq!(snake.tool_use_id, camel.tool_use_id);
        let (one, other) = (&snake.call, &camel.call);
        assert_eq!(
            (&one.tool, &one.input, &one.agent),
            (&other.tool, &other.input, &other.agent)
        );
        assert_eq!(one.raw_input.get(), other.raw_input.get());
        assert_eq!(one.suggestions.len(), other.suggestions.len());
        let prompt_tool = request(r#"{"tool_name":"Bash","input":{"command":"rm m"},"tool_use_id":"t1"}"#);
        assert_eq!(prompt_tool.call.input, snake.call.input);
        assert_eq!((prompt_tool.host, prompt_tool.call.cwd), (HostView::default(), None));
    }

    #[test]
    fn a_field_in_two_spellings_is_refused() {
        let twice = br#"{"tool_name":"Bash","toolName":"Read","input":{"command":"ls"}}"#;
        assert!(read(twice).unwrap_err().contains("duplicate"));
    }

    #[test]
    fn what_cannot_be_read_says_why() {
        for (text, why) in [
            ("", "empty"),
            ("[]", "not a JSON object"),
            ("{", "cannot be read"),
            (r#"{"input":{}}"#, "tool_name is missing"),
            (r#"{"tool_name":"Bash"}"#, "input is missing"),
            (r#"{"tool_name":"Bash","input":{}}"#, "command"),
            (r#"{"tool_name":"Bash","input":"ls"}"#, "not an object"),
            (
                r#"{"tool_name":"Write","input":{"file_path":"/x","content":"\ud800"}}"#,
                "no text",
            ),
            (
                r#"{"tool_name":"WebFetch","input":{"url":"https://x","prompt":"\udc00"}}"#,
                "no text",
            ),
            (
                r#"{"tool_name":"Bash","input":{"command":"ls"},"tool_use_id":5}"#,
                "invalid type",
            ),
        ] {
            assert!(read(text.as_bytes()).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn a_suggestion_is_offered_in_words_for_the_session_first_and_then_as_far_as_it_reaches() {
        let offered = |text: &str| {
            let offered = offers(&[RawValue::from_string(text.into()).expect("test JSON")]).into_iter();
            offered
                .map(|offer| (offer.to_string(), offer.remember))
                .collect::<Vec<_>>()
        };
        let (as_sent, for_session) = (Remember::Suggestion(0), Remember::ForSession(0));
        assert_eq!(
            offered(
                r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm view *"},{"toolName":"Read"}],"behavior":"allow","destination":"localSettings"}"#
            ),
            [
                (
                    "allow Bash(npm view *), every Read call, for this session".to_owned(),
                    for_session
                ),
                (
                    "allow Bash(npm view *), every Read call, for this project, in your local settings".to_owned(),
                    as_sent.clone()
                ),
            ]
        );
        for (raw, words) in [
            (
                r#"{"type":"setMode","mode":"acceptEdits","destination":"session"}"#,
                "switch to the mode acceptEdits, for this session",
            ),
            (
                r#"{"type":"addDirectories","directories":["/p"],"destination":"session"}"#,
                "count /p as the project, for this session",
            ),
        ] {
            assert_eq!(offered(raw), [(words.to_owned(), as_sent.clone())]);
        }
        for unknown in [
            r#"{"type":"newKind","destination":"session"}"#,
            r#"{"type":"setMode","mode":"plan"}"#,
            "[]",
        ] {
            assert_eq!(offered(unknown), [(unknown.to_owned(), as_sent.clone())]);
        }
    }

    #[test]
    fn an_ask_rule_that_the_host_matched_wants_a_person_whatever_the_reason() {
        let marked = |mark: &str| {
            request(&format!(
                r#"{{"tool_name":"mcp__a__b","input":{{}},"decisionReasonType":"other"{mark}}}"#
            ))
        };
        assert!(marked(r#","matchedAskRule":{"source":"userSettings","toolName":"mcp__c__b"}"#).is_for_person());
        assert!(marked(r#","matched_ask_rule":{"source":"userSettings","tool_name":"mcp__c__b"}"#).is_for_person());
        assert!(!marked(r#","matchedAskRule":null"#).is_for_person());
        assert!(!marked("").is_for_person());
    }

    #[test]
    fn only_the_persons_own_screen_answers_what_the_host_marks_so() {
        let marked = |tool: &str, input: &str| {
            request(&format!(
                r#"{{"tool_name":"{tool}","input":{input},"requires_user_interaction":true}}"#
            ))
        };
        assert!(marked("Mystery", "{}").is_for_screen());
        assert!(!marked("AskUserQuestion", r#"{"questions":[]}"#).is_for_screen());
        assert!(!request(r#"{"tool_name":"Mystery","input":{}}"#).is_for_screen());
    }
}
