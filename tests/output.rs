//! Every answer, byte for byte, and held against what the host was seen to accept.

use countersign::call::{Agent, Call, Input, Mode};
use countersign::decision::{Allow, Decision, Deny, Hold, NextMode, Reason, Remember, Run};
use countersign::questions::{Answer, Answers};
use countersign::wire::EventKind::{self, CanUseTool, PermissionRequest, PreToolUse};
use countersign::wire::output::{MAX_TOLD, NoDecision, output, permission_result};
use proptest::prelude::*;
use serde_json::Value;
use serde_json::value::RawValue;

const BLOCK: &str = r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest"}}"#;

const RULE: &str = r#"{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"npm view *"}],"behavior":"allow","destination":"localSettings"}"#;
const MODE: &str = r#"{"type":"setMode", "mode":"acceptEdits","destination":"session"}"#;

const QUESTIONS: &str = r#"{"questions":[{"question":"Which colour?","header":"Colour","options":[{"label":"Red","description":"r"},{"label":"Blue","description":"b"}],"multiSelect":false},{"question":"Which \"sizes\"\u003f","header":"Size","options":[{"label":"S","description":"s"},{"label":"L","description":"l"}],"multiSelect":true}]}"#;

fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.into()).expect("test JSON")
}

fn call(tool: &str, input: &str) -> Call {
    let raw_input = raw(input);
    Call {
        tool: tool.into(),
        input: Input::read(tool, &raw_input).expect("an input"),
        raw_input,
        suggestions: vec![raw(RULE), raw(MODE)],
        cwd: None,
        session: None,
        agent: Agent::Main,
        mode: Mode::Default,
    }
}

fn bash() -> Call {
    call("Bash", r#"{"command":"npm view left-pad"}"#)
}

fn run() -> Run {
    Run::default()
}

fn allow(run: Run) -> Decision {
    Decision::Allow(Allow::Run(run))
}

fn deny(message: &str, interrupt: bool) -> Decision {
    Decision::Deny(Deny {
        reason: Reason::Policy,
        message: message.into(),
        interrupt,
    })
}

fn hold(reason: &str) -> Decision {
    Decision::Hold(Hold {
        reason: reason.into(),
        timeout: None,
    })
}

fn answers(given: &[(&str, Answer)]) -> Decision {
    let given = given.iter().map(|(text, answer)| ((*text).into(), answer.clone()));
    Decision::Allow(Allow::Answers(Answers(given.collect())))
}

fn one(label: &str) -> Answer {
    Answer::One(label.into())
}

fn written(event: EventKind, call: &Call, decision: &Decision) -> String {
    output(event, Some(call), decision, NoDecision::Block)
}

fn asked(call: &Call, decision: &Decision) -> String {
    written(PermissionRequest, call, decision)
}

#[test]
fn an_allow_is_bare() {
    assert_eq!(
        asked(&bash(), &allow(run())),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow"}}}"#
    );
}

#[test]
fn an_allow_carries_the_whole_edited_input() {
    let edited = Run {
        input: Some(raw(r#"{"command":"npm view  x","timeout":5}"#)),
        ..run()
    };
    assert_eq!(
        asked(&bash(), &allow(edited)),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{"command":"npm view  x","timeout":5}}}}"#
    );
}

#[test]
fn an_allow_remembers_exactly_the_suggestion_that_was_chosen() {
    let chosen = |remember| {
        allow(Run {
            remember: Some(remember),
            ..run()
        })
    };
    let remember = |index| chosen(Remember::Suggestion(index));
    assert_eq!(
        asked(&bash(), &remember(0)),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedPermissions":[{RULE}]}}}}}}"#
        )
    );
    assert_eq!(
        asked(&bash(), &remember(1)),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedPermissions":[{MODE}]}}}}}}"#
        )
    );
    assert_eq!(
        asked(&bash(), &remember(2)),
        BLOCK,
        "what was not offered cannot be remembered"
    );
    let for_session = RULE.replace("localSettings", "session");
    assert_ne!(for_session, RULE);
    assert_eq!(
        asked(&bash(), &chosen(Remember::ForSession(0))),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedPermissions":[{for_session}]}}}}}}"#
        )
    );
}

#[test]
fn a_plan_is_approved_by_its_exact_echo() {
    let input = r##"{"plan":"# My plan\n1.  step \u00e9\n","planFilePath":"/home/dev/.claude/plans/x.md"}"##;
    let approve = |then| Decision::Allow(Allow::Plan { then });
    let plan = call("ExitPlanMode", input);
    assert_eq!(
        asked(&plan, &approve(None)),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedInput":{input}}}}}}}"#
        )
    );
    for (then, name) in [(NextMode::AcceptEdits, "acceptEdits"), (NextMode::Auto, "auto")] {
        assert_eq!(
            asked(&plan, &approve(Some(then))),
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedInput":{input},"updatedPermissions":[{{"type":"setMode","mode":"{name}","destination":"session"}}]}}}}}}"#
            )
        );
    }
    assert_eq!(
        asked(&call("ExitPlanMode", "{}"), &approve(None)),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{}}}}"#
    );
}

#[test]
fn one_question_is_answered_with_its_label_or_free_text() {
    let input = r#"{"questions":[{"question":"Which colour?","options":[{"label":"Red"},{"label":"Blue"}]}]}"#;
    let open = &input[..input.len() - 1];
    for (answer, text) in [
        (one("Blue"), "Blue"),
        (
            Answer::Text("neither:\n\\\"x\\\"".into()),
            "neither:\\n\\\\\\\"x\\\\\\\"",
        ),
    ] {
        assert_eq!(
            asked(&call("AskUserQuestion", input), &answers(&[("Which colour?", answer)])),
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedInput":{open},"answers":{{"Which colour?":"{text}"}}}}}}}}}}"#
            )
        );
    }
}

#[test]
fn several_questions_are_answered_together_and_echoed_byte_for_byte() {
    let open = &QUESTIONS[..QUESTIONS.len() - 1];
    let both = answers(&[
        ("Which colour?", one("Red")),
        ("Which \"sizes\"?", Answer::Many(vec!["S".into(), "L".into()])),
    ]);
    assert_eq!(
        asked(&call("AskUserQuestion", QUESTIONS), &both),
        format!(
            r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{{"behavior":"allow","updatedInput":{open},"answers":{{"Which colour?":"Red","Which \"sizes\"?":"S, L"}}}}}}}}}}"#
        )
    );
}

#[test]
fn answers_that_do_not_fit_are_no_decision() {
    for given in [
        answers(&[]),
        answers(&[("Which colour?", one("Red"))]),
        answers(&[("Which colour?", one("Green")), ("Which \"sizes\"?", one("S"))]),
        allow(run()),
        Decision::Allow(Allow::Plan { then: None }),
    ] {
        assert_eq!(asked(&call("AskUserQuestion", QUESTIONS), &given), BLOCK, "{given:?}");
    }
}

#[test]
fn an_allow_of_another_kind_of_call_is_no_decision() {
    for (call, decision) in [
        (bash(), Decision::Allow(Allow::Plan { then: None })),
        (bash(), answers(&[])),
        (call("ExitPlanMode", "{}"), allow(run())),
        (call("ExitPlanMode", "{}"), answers(&[])),
        (
            call("Write", r#"{"file_path":"/x"}"#),
            Decision::Allow(Allow::Plan { then: None }),
        ),
    ] {
        assert_eq!(asked(&call, &decision), BLOCK, "{decision:?}");
    }
}

#[test]
fn a_denial_opens_with_its_code_and_never_ends_the_turn_when_it_has_words() {
    for interrupt in [false, true] {
        assert_eq!(
            asked(&bash(), &deny("pushes are not wanted\nnow", interrupt)),
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"[countersign:policy] pushes are not wanted\nnow"}}}"#
        );
    }
}

#[test]
fn a_denial_without_words_has_a_message_and_may_end_the_turn() {
    assert_eq!(
        asked(&bash(), &deny("", false)),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"[countersign:policy] The person's rules do not allow this call."}}}"#
    );
    assert_eq!(
        asked(&bash(), &deny(" \n", true)),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"[countersign:policy] The person's rules do not allow this call.","interrupt":true}}}"#
    );
}

#[test]
fn every_reason_has_its_code_and_words() {
    for reason in Reason::ALL {
        let decision = Decision::Deny(Deny {
            reason,
            message: String::new(),
            interrupt: false,
        });
        let answer: Value = serde_json::from_str(&asked(&bash(), &decision)).expect("JSON");
        let message = answer["hookSpecificOutput"]["decision"]["message"]
            .as_str()
            .expect("a message");
        let code = format!("[countersign:{}] ", reason.as_str());
        assert!(
            message.starts_with(&code) && message.len() > code.len() + 10,
            "{message}"
        );
    }
}

#[test]
fn no_decision_is_the_block_or_empty_as_the_person_wants() {
    for decision in [Decision::None, Decision::Ask("why".into()), hold("why")] {
        let none = |no_decision| output(PermissionRequest, Some(&bash()), &decision, no_decision);
        assert_eq!(none(NoDecision::Block), BLOCK);
        assert_eq!(none(NoDecision::Empty), "{}");
    }
}

#[test]
fn stepping_aside_is_an_empty_object_for_every_event() {
    for event in [PermissionRequest, PreToolUse] {
        assert_eq!(output(event, None, &Decision::Aside, NoDecision::Block), "{}");
    }
}

#[test]
fn without_a_call_there_is_nothing_to_allow_or_to_ask_about() {
    for decision in [allow(run()), Decision::Ask("x".into()), Decision::None] {
        assert_eq!(output(PermissionRequest, None, &decision, NoDecision::Block), BLOCK);
        assert_eq!(output(PreToolUse, None, &decision, NoDecision::Block), "{}");
    }
}

#[test]
fn a_call_that_cannot_be_read_can_be_denied() {
    let frozen = Decision::Deny(Deny::frozen());
    assert_eq!(
        output(PermissionRequest, None, &frozen, NoDecision::Empty),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":"[countersign:frozen] The person has frozen this session: no call is allowed for now.","interrupt":true}}}"#
    );
    assert_eq!(
        output(PreToolUse, None, &frozen, NoDecision::Empty),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"[countersign:frozen] The person has frozen this session: no call is allowed for now."}}"#
    );
}

#[test]
fn a_tool_use_is_allowed_denied_asked_about_or_left_alone() {
    let why = Run {
        why: "looks at files of the project".into(),
        ..run()
    };
    for (decision, answer) in [
        (
            allow(why),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Countersign: looks at files of the project"}}"#,
        ),
        (
            allow(run()),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Countersign: understood and harmless"}}"#,
        ),
        (
            deny("high: `rm` deletes x", true),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"[countersign:policy] high: `rm` deletes x"}}"#,
        ),
        (
            Decision::Ask("high: `rm` deletes x".into()),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Countersign: high: `rm` deletes x"}}"#,
        ),
        (
            hold("it changes production"),
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"Countersign: it changes production"}}"#,
        ),
        (Decision::None, "{}"),
    ] {
        assert_eq!(written(PreToolUse, &bash(), &decision), answer);
    }
}

#[test]
fn a_tool_use_is_allowed_with_an_edited_input_but_remembers_nothing() {
    let edited = Run {
        input: Some(raw(r#"{"command":"ls"}"#)),
        ..run()
    };
    assert_eq!(
        written(PreToolUse, &bash(), &allow(edited)),
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"Countersign: understood and harmless","updatedInput":{"command":"ls"}}}"#
    );
    let remembering = Run {
        remember: Some(Remember::Suggestion(0)),
        ..run()
    };
    assert_eq!(written(PreToolUse, &bash(), &allow(remembering)), "{}");
}

#[test]
fn questions_and_plans_are_not_decided_before_the_host_asks() {
    let colour = call("AskUserQuestion", QUESTIONS);
    let both = answers(&[("Which colour?", one("Red")), ("Which \"sizes\"?", one("S"))]);
    assert_eq!(written(PreToolUse, &colour, &both), "{}");
    let plan = Decision::Allow(Allow::Plan { then: None });
    assert_eq!(written(PreToolUse, &call("ExitPlanMode", "{}"), &plan), "{}");
}

#[test]
fn an_echo_that_holds_a_null_is_no_decision() {
    let plan = Decision::Allow(Allow::Plan { then: None });
    assert_eq!(asked(&call("ExitPlanMode", r#"{"plan":{"x":[null]}}"#), &plan), BLOCK);
    let edited = Run {
        input: Some(raw(r#"{"command":"ls","timeout":null}"#)),
        ..run()
    };
    assert_eq!(asked(&bash(), &allow(edited)), BLOCK);
    let words = Run {
        input: Some(raw(r#"{"command":"echo null"}"#)),
        ..run()
    };
    assert!(
        asked(&bash(), &allow(words)).contains("echo null"),
        "the word is no null"
    );
}

#[test]
fn an_edited_input_that_is_no_object_is_no_decision() {
    for input in ["[]", "\"ls\"", "5"] {
        let edited = Run {
            input: Some(raw(input)),
            ..run()
        };
        assert_eq!(asked(&bash(), &allow(edited)), BLOCK, "{input}");
    }
}

#[test]
fn line_breaks_between_tokens_become_blanks_and_strings_stay() {
    let plan = Decision::Allow(Allow::Plan { then: None });
    assert_eq!(
        asked(&call("ExitPlanMode", "{\r\n \"plan\":\n\"a\\nb\"}"), &plan),
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedInput":{    "plan": "a\nb"}}}}"#
            .replace("{    \"plan\"", "{   \"plan\"")
    );
}

#[test]
fn a_long_message_is_cut_and_says_so_and_fits_a_pipe() {
    for filler in ["x", "é", "\"", "\\", "\n", "\u{1b}", "\u{202e}", "🦀"] {
        for decision in [
            deny(&filler.repeat(5000), false),
            deny(&format!("x{}", filler.repeat(5000)), false),
        ] {
            let line = asked(&bash(), &decision);
            assert!(line.len() < 4096, "{} of {filler:?}", line.len());
            let answer: Value = serde_json::from_str(&line).expect("JSON");
            let message = answer["hookSpecificOutput"]["decision"]["message"]
                .as_str()
                .expect("a message")
                .to_owned();
            let blank = filler.trim().is_empty();
            assert!(message.ends_with(" [cut]") || blank && message.len() < 100, "{message}");
            assert!(message.len() <= MAX_TOLD);
        }
    }
}

#[test]
fn a_reason_hides_nothing() {
    let decision = Decision::Ask("run \u{202e}cod\u{1b}[2J".into());
    let line = written(PreToolUse, &bash(), &decision);
    assert!(line.contains(r"run \\u{202e}cod\\u{1b}[2J"), "{line}");
}

/// The third face: what the prompt tool, the control protocol and the SDKs are answered with.
fn settled(call: &Call, decision: &Decision) -> Option<String> {
    permission_result(Some(call), decision)
}

#[test]
fn a_result_that_allows_always_carries_an_input() {
    let written = |decision| settled(&bash(), &decision).expect("a result");
    assert_eq!(written(allow(run())), r#"{"behavior":"allow","updatedInput":{}}"#);
    let said = Run {
        why: "told to nobody here".into(),
        ..run()
    };
    assert_eq!(written(allow(said)), r#"{"behavior":"allow","updatedInput":{}}"#);
    let edited = Run {
        input: Some(raw("{\"command\":\n\"npm  view x\\n\", \"timeout\":5}")),
        ..run()
    };
    assert_eq!(
        written(allow(edited.clone())),
        r#"{"behavior":"allow","updatedInput":{"command": "npm  view x\n", "timeout":5}}"#
    );
    let both = Run {
        remember: Some(Remember::Suggestion(1)),
        ..edited
    };
    assert_eq!(
        written(allow(both)),
        format!(
            r#"{{"behavior":"allow","updatedInput":{{"command": "npm  view x\n", "timeout":5}},"updatedPermissions":[{MODE}]}}"#
        )
    );
    let remembered = Run {
        remember: Some(Remember::Suggestion(0)),
        ..run()
    };
    assert_eq!(
        written(allow(remembered)),
        format!(r#"{{"behavior":"allow","updatedInput":{{}},"updatedPermissions":[{RULE}]}}"#)
    );
}

#[test]
fn a_result_that_denies_has_words_its_code_and_ends_the_turn_only_without_words() {
    let written = |decision| settled(&bash(), &decision).expect("a result");
    for interrupt in [false, true] {
        assert_eq!(
            written(deny("not \"now\"\nlater", interrupt)),
            r#"{"behavior":"deny","message":"[countersign:policy] not \"now\"\nlater","reason":"policy"}"#
        );
    }
    assert_eq!(
        written(deny("", false)),
        r#"{"behavior":"deny","message":"[countersign:policy] The person's rules do not allow this call.","reason":"policy"}"#
    );
    assert_eq!(
        written(deny(" \n", true)),
        r#"{"behavior":"deny","message":"[countersign:policy] The person's rules do not allow this call.","reason":"policy","interrupt":true}"#
    );
    for reason in Reason::ALL {
        let decision = Decision::Deny(Deny {
            reason,
            message: "x".into(),
            interrupt: false,
        });
        let code = reason.as_str();
        let line = format!(r#"{{"behavior":"deny","message":"[countersign:{code}] x","reason":"{code}"}}"#);
        assert_eq!(settled(&bash(), &decision), Some(line.clone()));
        assert_eq!(
            permission_result(None, &decision),
            Some(line),
            "a call that cannot be read"
        );
    }
}

#[test]
fn a_result_answers_questions_and_approves_plans_by_their_echo() {
    let open = &QUESTIONS[..QUESTIONS.len() - 1];
    let both = answers(&[
        ("Which colour?", Answer::Text("te\"al".into())),
        ("Which \"sizes\"?", Answer::Many(vec!["S".into(), "L".into()])),
    ]);
    assert_eq!(
        settled(&call("AskUserQuestion", QUESTIONS), &both),
        Some(format!(
            r#"{{"behavior":"allow","updatedInput":{open},"answers":{{"Which colour?":"te\"al","Which \"sizes\"?":"S, L"}}}}}}"#
        ))
    );
    let plan = call("ExitPlanMode", r#"{"plan":"1. \u00e9"}"#);
    let approve = |then| settled(&plan, &Decision::Allow(Allow::Plan { then }));
    assert_eq!(
        approve(None).as_deref(),
        Some(r#"{"behavior":"allow","updatedInput":{"plan":"1. \u00e9"}}"#)
    );
    assert_eq!(
        approve(Some(NextMode::AcceptEdits)).as_deref(),
        Some(
            r#"{"behavior":"allow","updatedInput":{"plan":"1. \u00e9"},"updatedPermissions":[{"type":"setMode","mode":"acceptEdits","destination":"session"}]}"#
        )
    );
}

#[test]
fn there_is_no_result_where_nobody_decided_or_the_decision_does_not_fit() {
    let with_null = Run {
        input: Some(raw(r#"{"command":"ls","timeout":null}"#)),
        ..run()
    };
    let no_object = Run {
        input: Some(raw("[]")),
        ..run()
    };
    let never_offered = Run {
        remember: Some(Remember::Suggestion(2)),
        ..run()
    };
    for decision in [
        Decision::None,
        Decision::Aside,
        Decision::Ask("why".into()),
        allow(with_null),
        allow(no_object),
        allow(never_offered),
        Decision::Allow(Allow::Plan { then: None }),
        answers(&[]),
    ] {
        assert_eq!(settled(&bash(), &decision), None, "{decision:?}");
    }
    for decision in [allow(run()), answers(&[]), answers(&[("Which colour?", one("Green"))])] {
        assert_eq!(
            settled(&call("AskUserQuestion", QUESTIONS), &decision),
            None,
            "{decision:?}"
        );
    }
    let plan = Decision::Allow(Allow::Plan { then: None });
    assert_eq!(settled(&call("ExitPlanMode", r#"{"plan":null}"#), &plan), None);
    assert_eq!(
        permission_result(None, &allow(run())),
        None,
        "a call that cannot be read"
    );
}

/// What the host accepts, by CONTRACT.md sections 2 and 7 as they were found by running it.
fn host_accepts(line: &str, event: EventKind) -> Result<(), String> {
    if line.contains(['\n', '\r']) {
        return Err("more than one line".into());
    }
    let answer: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    no_null(&answer)?;
    if event == CanUseTool {
        return result_of(&answer);
    }
    let outer = keys(&answer, &["hookSpecificOutput"])?;
    if outer.is_empty() {
        return Ok(());
    }
    let inner = &answer["hookSpecificOutput"];
    if inner["hookEventName"] != event.as_str() {
        return Err("another event's name".into());
    }
    match event {
        PermissionRequest => {
            let names = keys(inner, &["hookEventName", "decision"])?;
            if names.len() == 1 {
                return Ok(());
            }
            permission_decision(&inner["decision"])
        }
        PreToolUse => {
            keys(
                inner,
                &[
                    "hookEventName",
                    "permissionDecision",
                    "permissionDecisionReason",
                    "updatedInput",
                ],
            )?;
            one_of(&inner["permissionDecision"], &["allow", "deny", "ask", "defer"])?;
            non_empty(&inner["permissionDecisionReason"])?;
            inner.get("updatedInput").map_or(Ok(()), object)
        }
        CanUseTool => unreachable!("answered above"),
    }
}

/// As a hook's decision, but that an allow carries an input, and a denial its code.
fn result_of(answer: &Value) -> Result<(), String> {
    let mut decision = answer.clone();
    if answer["behavior"] == "allow" {
        object(&answer["updatedInput"])?;
    } else if let Some(fields) = decision.as_object_mut() {
        let reason = fields.remove("reason").unwrap_or_default();
        one_of(&reason, &Reason::ALL.map(Reason::as_str))?;
    }
    permission_decision(&decision)
}

fn permission_decision(decision: &Value) -> Result<(), String> {
    match decision["behavior"].as_str() {
        Some("allow") => {
            keys(decision, &["behavior", "updatedInput", "updatedPermissions"])?;
            decision.get("updatedInput").map_or(Ok(()), object)?;
            let updates = decision
                .get("updatedPermissions")
                .map(|updates| updates.as_array().ok_or("no array"));
            updates.transpose()?.into_iter().flatten().try_for_each(update)
        }
        Some("deny") => {
            keys(decision, &["behavior", "message", "interrupt"])?;
            non_empty(&decision["message"])?;
            match decision.get("interrupt") {
                None | Some(Value::Bool(_)) => Ok(()),
                Some(other) => Err(format!("interrupt is {other}")),
            }
        }
        other => Err(format!("behavior is {other:?}")),
    }
}

fn update(update: &Value) -> Result<(), String> {
    one_of(
        &update["type"],
        &[
            "addRules",
            "replaceRules",
            "removeRules",
            "setMode",
            "addDirectories",
            "removeDirectories",
        ],
    )?;
    one_of(
        &update["destination"],
        &["userSettings", "projectSettings", "localSettings", "session", "cliArg"],
    )
}

fn keys<'a>(value: &'a Value, known: &[&str]) -> Result<Vec<&'a String>, String> {
    let names: Vec<&String> = value.as_object().ok_or(format!("no object: {value}"))?.keys().collect();
    match names.iter().find(|name| !known.contains(&name.as_str())) {
        Some(unknown) => Err(format!("unknown key {unknown}")),
        None => Ok(names),
    }
}

fn object(value: &Value) -> Result<(), String> {
    value.as_object().map(|_| ()).ok_or(format!("no object: {value}"))
}

fn one_of(value: &Value, known: &[&str]) -> Result<(), String> {
    value
        .as_str()
        .filter(|text| known.contains(text))
        .map(|_| ())
        .ok_or(format!("{value} is none of {known:?}"))
}

fn non_empty(value: &Value) -> Result<(), String> {
    value
        .as_str()
        .filter(|text| !text.is_empty())
        .map(|_| ())
        .ok_or(format!("no text: {value}"))
}

fn no_null(value: &Value) -> Result<(), String> {
    match value {
        Value::Null => Err("a null".into()),
        Value::Array(items) => items.iter().try_for_each(no_null),
        Value::Object(fields) => fields.values().try_for_each(no_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Ok(()),
    }
}

#[test]
fn the_validator_refuses_what_the_host_refuses() {
    for line in [
        "[]",
        "null",
        "{} {}",
        "{}\n",
        r#"{"decision":"approve"}"#,
        r#"{"behavior":"allow"}"#,
        r#"{"hookSpecificOutput":{"decision":{"behavior":"allow"}}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","decision":{"behavior":"allow"}}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":"allow"}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"ask"}}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":null}}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"deny","message":""}}}"#,
        r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode"}]}}}"#,
    ] {
        assert!(host_accepts(line, PermissionRequest).is_err(), "{line}");
    }
}

fn any_json() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        Just("true".to_owned()),
        any::<i32>().prop_map(|number| number.to_string()),
        any::<String>().prop_map(|text| Value::from(text).to_string()),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let pair = (any::<String>(), inner.clone()).prop_map(|(key, value)| format!("{}: {value}", Value::from(key)));
        prop_oneof![
            proptest::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(",\n"))),
            proptest::collection::vec(pair, 0..4).prop_map(|fields| format!("{{ {}\r\n}}", fields.join(", "))),
        ]
    })
}

fn any_call() -> impl Strategy<Value = Call> {
    let other = any_json().prop_map(|json| ("mcp__x__y", format!("{{\"field\":{json}}}")));
    let plan = any_json().prop_map(|json| ("ExitPlanMode", format!("{{\"plan\":{json}}}")));
    let question = any::<(String, String)>().prop_map(|(text, label)| {
        let (text, label) = (Value::from(text), Value::from(label));
        let one =
            format!(r#"{{"question":{text},"options":[{{"label":{label}}},{{"label":"B"}}],"multiSelect":true}}"#);
        ("AskUserQuestion", format!("{{\"questions\":[{one}\n]}}"))
    });
    let shell = any::<String>().prop_map(|text| ("Bash", format!("{{\"command\":{}}}", Value::from(text))));
    prop_oneof![other, plan, question, shell].prop_map(|(tool, input)| call(tool, &input))
}

fn any_decision(call: &Call) -> BoxedStrategy<Decision> {
    let text =
        countersign::questions::read(&call.raw_input).map_or(String::new(), |questions| questions[0].text.clone());
    let labels: Vec<String> = countersign::questions::read(&call.raw_input).map_or(Vec::new(), |questions| {
        questions[0].options.iter().map(|choice| choice.label.clone()).collect()
    });
    let answer = prop_oneof![
        Just(Answer::Many(labels)),
        Just(Answer::One("B".into())),
        any::<String>().prop_map(Answer::Text),
    ];
    let run = (
        proptest::option::of(any_json()),
        proptest::option::of(0..4usize),
        any::<String>(),
    );
    prop_oneof![
        Just(Decision::None),
        Just(Decision::Aside),
        any::<String>().prop_map(Decision::Ask),
        any::<String>().prop_map(|reason| hold(&reason)),
        run.prop_map(|(input, remember, why)| allow(Run {
            input: input.map(|json| raw(&json)),
            remember: remember.map(Remember::Suggestion),
            why
        })),
        proptest::sample::select(vec![None, Some(NextMode::AcceptEdits), Some(NextMode::Auto)])
            .prop_map(|then| Decision::Allow(Allow::Plan { then })),
        answer.prop_map(move |answer| answers(&[(&text, answer)])),
        (
            proptest::sample::select(Reason::ALL.to_vec()),
            any::<String>(),
            any::<bool>()
        )
            .prop_map(|(reason, message, interrupt)| Decision::Deny(Deny {
                reason,
                message,
                interrupt
            })),
    ]
    .boxed()
}

/// Whether a hook would have printed it as an allow: every face takes the same decisions.
fn line_allows(call: &Call, decision: &Decision) -> bool {
    asked(call, decision).contains(r#""decision":{"behavior":"allow""#)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_answer_is_one_line_that_the_host_accepts(
        (call, decision) in any_call().prop_flat_map(|call| {
            let decision = any_decision(&call);
            (Just(call), decision)
        }),
        event in proptest::sample::select(vec![PermissionRequest, PreToolUse]),
        no_decision in proptest::sample::select(vec![NoDecision::Block, NoDecision::Empty]),
    ) {
        let line = output(event, Some(&call), &decision, no_decision);
        prop_assert_eq!(host_accepts(&line, event), Ok(()), "{}", line);
        let allows = line.contains(r#""behavior":"allow""#) || line.contains(r#""permissionDecision":"allow""#);
        prop_assert!(!allows || matches!(decision, Decision::Allow(_)));
        if let (Decision::Deny(_), PermissionRequest) = (&decision, event) {
            let opens = line.contains(r#""behavior":"deny","message":"[countersign:"#);
            prop_assert!(opens, "{}", line);
        }
        let result = permission_result(Some(&call), &decision);
        prop_assert_eq!(result.is_some(), matches!(decision, Decision::Deny(_)) || line_allows(&call, &decision));
        if let Some(result) = result {
            prop_assert_eq!(host_accepts(&result, CanUseTool), Ok(()), "{}", result);
            prop_assert_eq!(result.contains(r#"{"behavior":"allow""#), matches!(decision, Decision::Allow(_)));
        }
    }
}
