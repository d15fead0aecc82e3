//! What one line of the record says of one answered call. Every text from the agent or the person passes the masker.

use std::path::Path;
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::mask::Masker;
use super::time;
use crate::call::{Call, Mode};
use crate::decision::{Decision, Reason};
use crate::effect;
use crate::judge::Judgement;
use crate::pause::Freeze;
use crate::policy::By;
use crate::report::ShownLoss;
use crate::wire::EventKind;

/// The version of the line's form.
const VERSION: u32 = 1;

/// At most this many steps of a call, and effects of a step, are named; the rest are counted.
const MAX_NAMED: usize = 64;

/// The most bytes of one text, before it is said to be cut.
const MAX_TEXT: usize = 1000;

/// Who decided where something went wrong, so that nobody did.
pub const ERROR: &str = "error";

/// One answered call. What is not known is left out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Entry {
    pub v: u32,
    /// When it was answered: UTC, RFC 3339 to the millisecond.
    pub time: String,
    pub event: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The last component of the project's directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// SHA-256 of the tool's name, a zero byte and the input as received.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proven: Option<bool>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<Step>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub steps_left_out: usize,
    /// What the call would have thrown away; not counted for one that was let through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub losses: Vec<ShownLoss>,
    pub action: Action,
    /// The reason code of a denial.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who decided: [`By::word`](crate::policy::By::word), or [`ERROR`].
    pub by: String,
    /// By which rule, and where it stands.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// What went wrong, where an error decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// Microseconds from the hook's start to its answer.
    pub took_us: u64,
    /// The input, masked, where the person asked for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input: Option<Box<RawValue>>,
}

/// One step of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    pub program: String,
    pub tier: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub effects_left_out: usize,
}

/// One thing a step does, in the catalog's words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    pub action: String,
    pub place: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub target: String,
}

/// What the host was told. `None` is no decision: the host goes on as it would by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    Allow,
    Deny,
    Ask,
    None,
}

impl Action {
    pub const fn as_str(self) -> &'static str {
        match self {
            Action::Allow => "allow",
            Action::Deny => "deny",
            Action::Ask => "ask",
            Action::None => "none",
        }
    }

    /// What a decision is, if it was printed as one.
    pub fn of(decision: &Decision) -> Self {
        match decision {
            Decision::Allow(_) => Action::Allow,
            Decision::Deny(_) => Action::Deny,
            Decision::Ask(_) | Decision::Hold(_) => Action::Ask,
            Decision::None | Decision::Aside => Action::None,
        }
    }
}

/// What is known of an answer, whoever gave it.
#[derive(Clone, Copy, Debug)]
pub struct Answered<'a> {
    pub event: EventKind,
    pub call: Option<&'a Call>,
    /// The project's directory.
    pub project: Option<&'a Path>,
    /// From the hook's start to its answer.
    pub took: Duration,
}

impl Entry {
    /// A call that was judged, and what was printed for it.
    pub fn judged(answered: &Answered, judgement: &Judgement, action: Action, mask: &Masker) -> Self {
        let Judgement { assessment, ruling, .. } = judgement;
        let mut steps: Vec<Step> = assessment
            .steps
            .iter()
            .take(MAX_NAMED)
            .map(|step| Step::of(step, mask))
            .collect();
        for (number, tier, _) in &ruling.rated {
            if let Some(step) = steps.get_mut(*number) {
                step.tier = tier.as_str().to_owned();
            }
        }
        Entry {
            tier: Some(ruling.tier.as_str().to_owned()),
            proven: Some(ruling.proven),
            steps_left_out: assessment.steps.len() - steps.len(),
            steps,
            losses: judgement.losses.iter().flatten().map(ShownLoss::of).collect(),
            reason: match &ruling.decision {
                Decision::Deny(deny) if action == Action::Deny => Some(deny.reason.as_str().to_owned()),
                _ => None,
            },
            rule: Some(bounded(&ruling.by.to_string(), mask)),
            ..Entry::bare(answered, action, ruling.by.word(), mask)
        }
    }

    /// No decision, as something went wrong.
    pub fn error(answered: &Answered, why: &str, mask: &Masker) -> Self {
        Entry {
            why: Some(bounded(why, mask)),
            ..Entry::bare(answered, Action::None, ERROR, mask)
        }
    }

    /// A denial of what could not be read, and so was not judged.
    pub fn refused(answered: &Answered, reason: Reason, why: &str, mask: &Masker) -> Self {
        Entry {
            reason: Some(reason.as_str().to_owned()),
            why: Some(bounded(why, mask)),
            ..Entry::bare(answered, Action::Deny, ERROR, mask)
        }
    }

    /// It was denied all the same, as everything was frozen.
    pub fn was_frozen(&mut self, freeze: &Freeze, mask: &Masker) {
        let by = By::Frozen(freeze.to_string());
        self.action = Action::Deny;
        self.reason = Some(Reason::Frozen.as_str().to_owned());
        self.by = by.word().to_owned();
        self.rule = Some(bounded(&by.to_string(), mask));
    }

    /// Adds the call's input, its secrets masked.
    pub fn keep_input(&mut self, call: &Call, mask: &Masker) {
        self.input = mask.json(&call.raw_input);
    }

    fn bare(answered: &Answered, action: Action, by: &str, mask: &Masker) -> Self {
        let call = answered.call;
        let text = |text: &str| bounded(text, mask);
        let project = answered.project.and_then(Path::file_name);
        Entry {
            v: VERSION,
            time: time::written(SystemTime::now()),
            event: answered.event.as_str().to_owned(),
            session: call.and_then(|call| call.session.as_deref()).map(text),
            agent: call.and_then(|call| call.agent.id()).map(text),
            project: project.map(|name| text(&name.to_string_lossy())),
            tool: call.map(|call| text(&call.tool)),
            mode: call.map(|call| mode(call.mode).to_owned()),
            digest: call.map(Call::digest),
            tier: None,
            proven: None,
            steps: Vec::new(),
            steps_left_out: 0,
            losses: Vec::new(),
            action,
            reason: None,
            by: by.to_owned(),
            rule: None,
            why: None,
            took_us: u64::try_from(answered.took.as_micros()).unwrap_or(u64::MAX),
            input: None,
        }
    }
}

impl Step {
    fn of(step: &effect::Step, mask: &Masker) -> Self {
        let effects = step.effects.iter().take(MAX_NAMED);
        Step {
            program: bounded(&step.program, mask),
            tier: step.tier.as_str().to_owned(),
            effects: effects.map(|effect| Effect::of(effect, mask)).collect(),
            effects_left_out: step.effects.len().saturating_sub(MAX_NAMED),
        }
    }
}

impl Effect {
    fn of(effect: &effect::Effect, mask: &Masker) -> Self {
        Effect {
            action: effect.spec.action.as_str().to_owned(),
            place: effect.spec.place.as_str().to_owned(),
            target: bounded(&effect.target, mask),
        }
    }
}

const fn mode(mode: Mode) -> &'static str {
    match mode {
        Mode::Default => "default",
        Mode::AcceptEdits => "acceptEdits",
        Mode::Plan => "plan",
        Mode::Auto => "auto",
        Mode::Unknown => "unknown",
    }
}

/// Masked first and then cut, so that no half of a secret is left.
fn bounded(text: &str, mask: &Masker) -> String {
    let mut text = mask.text(text);
    if text.len() > MAX_TEXT {
        let end = (0..=MAX_TEXT).rev().find(|&end| text.is_char_boundary(end));
        text.truncate(end.unwrap_or(0));
        text.push_str(" [cut]");
    }
    text
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::chain::sha256;
    use crate::decision::{Allow, Deny, Run};
    use crate::effect::{Action as Does, Assessment, EffectSpec, Tier};
    use crate::policy::{Origin, Ruling};
    use crate::shell::Span;

    fn call() -> Call {
        let input = r#"{"command":"cat  x"}"#;
        let event = format!(
            r#"{{"tool_name":"Bash","tool_input":{input},"session_id":"s","agent_id":"a","permission_mode":"plan"}}"#
        );
        crate::wire::event::classify_event(&event).expect("a call")
    }

    /// So many steps with so many effects each, answered so.
    fn judgement(decision: Decision, by: By, steps: usize, effects: usize) -> Judgement {
        let effect = |number| effect::Effect::new(EffectSpec::of(Does::Read), format!("file-{number}"));
        let step = effect::Step {
            program: "cat".into(),
            words: Vec::new(),
            effects: (0..effects).map(effect).collect(),
            doubts: Vec::new(),
            tier: Tier::Safe,
            span: Span::default(),
            around: effect::Around::default(),
        };
        Judgement {
            assessment: Assessment {
                steps: vec![step; steps],
                doubts: Vec::new(),
                tier: Tier::Safe,
                commands: Vec::new(),
                parsed: Some(true),
            },
            ruling: Ruling {
                decision,
                by,
                tier: Tier::Safe,
                proven: true,
                rated: Vec::new(),
                counts: false,
                token: None,
            },
            losses: None,
        }
    }

    fn answered(call: &Call) -> Answered<'_> {
        Answered {
            event: EventKind::PermissionRequest,
            call: Some(call),
            project: Some(Path::new("/home/dev/shop")),
            took: Duration::from_micros(1234),
        }
    }

    fn allow() -> Decision {
        Decision::Allow(Allow::Run(Run::default()))
    }

    fn recorded(judgement: &Judgement, action: Action) -> Entry {
        Entry::judged(&answered(&call()), judgement, action, &Masker::default())
    }

    #[test]
    fn a_line_tells_the_call_its_steps_and_the_answer_but_not_the_input() {
        let by = By::HostRule("Bash(cat *)".into());
        let mut entry = recorded(&judgement(allow(), by, 1, 1), Action::Allow);
        entry.time = "T".into();
        let digest = sha256(&[b"Bash\0{\"command\":\"cat  x\"}"]);
        let expected = format!(
            r#"{{"v":1,"time":"T","event":"PermissionRequest","session":"s","agent":"a","project":"shop","tool":"Bash","mode":"plan","digest":"{digest}","tier":"safe","proven":true,"steps":[{{"program":"cat","tier":"safe","effects":[{{"action":"read","place":"nowhere","target":"file-0"}}]}}],"action":"allow","by":"host_rule","rule":"your own ask rule in Claude Code's settings may match: Bash(cat *)","took_us":1234}}"#
        );
        assert_eq!(serde_json::to_string(&entry).expect("JSON"), expected);
        entry.keep_input(&call(), &Masker::default());
        let with_input = serde_json::to_string(&entry).expect("JSON");
        assert!(
            with_input.ends_with(r#","input":{"command":"cat  x"}}"#),
            "{with_input}"
        );
    }

    #[test]
    fn what_is_left_out_is_counted() {
        let entry = recorded(&judgement(Decision::None, By::Unproven, 100, 70), Action::None);
        assert_eq!((entry.steps.len(), entry.steps_left_out), (64, 36));
        assert_eq!((entry.steps[0].effects.len(), entry.steps[0].effects_left_out), (64, 6));
        let long = bounded(&"é".repeat(5000), &Masker::default());
        assert!(long.ends_with("é [cut]") && long.len() < MAX_TEXT + 10);
    }

    #[test]
    fn a_denial_has_its_reason_and_a_rated_step_the_tier_of_the_rule() {
        let deny = Decision::Deny(Deny {
            reason: Reason::Policy,
            message: String::new(),
            interrupt: false,
        });
        let mut denied = judgement(deny, By::Guard(Tier::High), 2, 1);
        denied.ruling.rated = vec![
            (1, Tier::High, Origin::of("config.toml", 3)),
            (90, Tier::Low, Origin::of("x", 1)),
        ];
        let entry = recorded(&denied, Action::Deny);
        assert_eq!((entry.by.as_str(), entry.reason.as_deref()), ("guard", Some("policy")));
        assert_eq!(
            (entry.steps[0].tier.as_str(), entry.steps[1].tier.as_str()),
            ("safe", "high")
        );
        assert_eq!(
            recorded(&denied, Action::None).reason,
            None,
            "it was not printed as one"
        );
    }

    #[test]
    fn an_error_is_told_with_as_much_of_the_call_as_is_known() {
        let entry = Entry::error(&answered(&call()), "the deadline passed", &Masker::default());
        assert_eq!(
            (entry.action, entry.by.as_str(), entry.why.as_deref()),
            (Action::None, ERROR, Some("the deadline passed"))
        );
        assert_eq!((entry.tool.as_deref(), entry.tier), (Some("Bash"), None));
        let unread = Answered {
            call: None,
            project: None,
            ..answered(&call())
        };
        let entry = Entry::error(&unread, "x", &Masker::default());
        assert_eq!((entry.tool, entry.digest, entry.project), (None, None, None));
    }
}
