//! From an assessment to a decision: the person's rules, their table, and what each event can be answered with.

use std::fmt;

use super::circumstances::Circumstances;
use super::config::{Invalid, Policy};
use super::rules::{self, Origin};
use super::tiers::{Answer, Setter};
use crate::call::{Call, Input, Mode};
use crate::decision::{Allow, Decision, Deny, Reason, Run};
use crate::effect::{Action, Assessment, Effect, Place, Reach, Subject, Tier, Undo};
use crate::facts::Facts;
use crate::report;
use crate::risk;
use crate::wire::EventKind;

/// What the entry in the host's settings asks of a `PreToolUse` hook. By default it only watches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Wiring {
    /// Allows before the host asks what a prompt would have been spared.
    pub early: bool,
    pub guard: Option<Guard>,
}

/// Stops calls in every mode of the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Guard {
    /// The lowest tier that is stopped.
    pub tier: Tier,
    /// Asks the person instead of denying.
    pub asks: bool,
}

/// What is answered, and why.
#[derive(Clone, Debug)]
pub struct Ruling {
    pub decision: Decision,
    pub by: By,
    /// The tier and whether all was understood, once the rules have rated every step.
    pub tier: Tier,
    pub proven: bool,
    /// The steps that a rule has rated other than their effects do: their number from 0, the tier, the rule's place.
    pub rated: Vec<(usize, Tier, Origin)>,
}

impl Ruling {
    /// Takes back what a configuration that does not hold must not decide: every answer to a permission prompt, and every
    /// allow. What a guard or a rule that does hold stops before a call, where nobody may be asked, stays stopped.
    pub fn withdraw(&mut self, event: EventKind, invalid: &Invalid) {
        if matches!(self.by, By::Frozen(_)) {
            return;
        }
        let stops = matches!(self.decision, Decision::Deny(_) | Decision::Ask(_));
        if event == EventKind::PermissionRequest || !stops {
            self.decision = Decision::None;
            self.by = By::Configuration(invalid.to_string());
        }
    }
}

/// What has decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum By {
    /// The person has frozen everything, at this time and for this reason.
    Frozen(String),
    /// A question or a plan is the person's to answer.
    OnlyPerson,
    /// Something was not understood.
    Unproven,
    /// In plan mode nothing above safe is allowed.
    PlanMode,
    /// The table, which somebody has set.
    Tier(Tier, Answer, Setter),
    /// What the table allows in the project reaches outside.
    LeavesProject(Setter),
    Rule(Origin),
    /// The guard of the entry in the host's settings.
    Guard(Tier),
    /// The person's own `permissions.ask` in the host's settings.
    HostRule(String),
    /// The configuration does not hold.
    Configuration(String),
    /// The project's settings of the host set a variable that could lead this program or others astray.
    ProjectVariable(String),
}

impl By {
    /// One word for the log.
    pub fn word(&self) -> &'static str {
        match self {
            By::Frozen(_) => "frozen",
            By::OnlyPerson => "person",
            By::Unproven => "unproven",
            By::PlanMode => "plan_mode",
            By::Tier(..) | By::LeavesProject(_) => "policy",
            By::Rule(_) => "rule",
            By::Guard(_) => "guard",
            By::HostRule(_) => "host_rule",
            By::Configuration(_) => "configuration",
            By::ProjectVariable(_) => "project_variable",
        }
    }
}

impl By {
    /// Whether somebody who looks for the reason of an answer would not find it in the call: the hook says it.
    pub fn must_be_told(&self) -> bool {
        matches!(self, By::Frozen(_) | By::Configuration(_))
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Frozen(freeze) => write!(f, "{freeze}; `countersign thaw` ends that"),
            By::OnlyPerson => write!(f, "only you can answer it"),
            By::Unproven => write!(f, "what is not understood is never let through unasked"),
            By::PlanMode => write!(f, "in plan mode only what is safe runs unasked"),
            By::Tier(tier, answer, setter) => write!(f, "{tier} is `{}` by {setter}", answer.as_str()),
            By::LeavesProject(setter) => write!(f, "it does not stay in the project, which {setter} asks for"),
            By::Rule(origin) => write!(f, "the rule at {origin}"),
            By::Guard(tier) => write!(f, "{tier} and above is stopped by `--guard` in Claude Code's settings"),
            By::HostRule(rule) => write!(f, "your own ask rule in Claude Code's settings may match: {rule}"),
            By::Configuration(why) => write!(f, "no decision until the configuration is right: {why}"),
            By::ProjectVariable(name) => {
                write!(
                    f,
                    "the project's settings for Claude Code set `{name}`, which programs obey"
                )
            }
        }
    }
}

/// The decision on a call.
///
/// Never allowed is what is not proven, what leaves the host's sandbox, what is critical, and in plan mode what is not
/// safe. A question or a plan is never decided here. Where the host's own ask rules may match, the caller must not take an
/// allow from here (see [`host_rules`](super::host_rules)).
pub fn decide(
    event: EventKind,
    call: &Call,
    assessment: &Assessment,
    wiring: Wiring,
    policy: &Policy,
    circumstances: &Circumstances,
    facts: &Facts,
) -> Ruling {
    let mut ruling = rated(call, assessment, policy, facts);
    if let Some(freeze) = &circumstances.freeze {
        ruling.decision = Decision::Deny(Deny::frozen());
        ruling.by = By::Frozen(freeze.to_string());
        return ruling;
    }
    if call.input.is_for_person() {
        return ruling;
    }
    if let Some(stop) = rules::stop(&policy.rules, call, &assessment.steps, facts) {
        ruling.by = By::Rule(stop.rule.origin.clone());
        ruling.decision = match (stop.denial(), wiring.guard, event) {
            (Some(Some(reason)), ..) => deny(reason.to_owned()),
            (Some(None), ..) => deny(format!("the person's rules forbid this: {}", worst(assessment))),
            (None, Some(_), EventKind::PreToolUse) => {
                Decision::Ask(format!("a rule of the person asks ({})", stop.rule.origin))
            }
            (None, ..) => Decision::None,
        };
        return ruling;
    }
    let (answer, setter) = policy.table.answer(ruling.tier);
    let stays = || {
        assessment
            .steps
            .iter()
            .flat_map(|step| &step.effects)
            .all(|effect| stays(effect, facts))
    };
    let leaves_sandbox = matches!(
        call.input,
        Input::Shell {
            leaves_sandbox: true,
            ..
        }
    );
    let allowed = match answer {
        _ if !ruling.proven || leaves_sandbox => By::Unproven,
        Answer::Allow | Answer::AllowInProject if call.mode == Mode::Plan && ruling.tier > Tier::Safe => By::PlanMode,
        Answer::AllowInProject if !stays() => By::LeavesProject(setter.clone()),
        answer => By::Tier(ruling.tier, answer, setter.clone()),
    };
    let allows = matches!(allowed, By::Tier(_, Answer::Allow | Answer::AllowInProject, _));
    let lowered = assessment.tier > ruling.tier || !assessment.proven();
    let allowed = match ruling.rated.first() {
        Some((_, _, origin)) if allows && lowered => By::Rule(origin.clone()),
        Some(_) | None => allowed,
    };
    (ruling.decision, ruling.by) = match (event, wiring.guard) {
        (EventKind::PreToolUse, Some(guard)) if ruling.tier >= guard.tier => {
            (stop(guard, &ruling, assessment), By::Guard(guard.tier))
        }
        _ if answer == Answer::Deny => {
            let by = By::Tier(ruling.tier, answer, setter.clone());
            (deny(format!("{}: {}", ruling.tier, worst(assessment))), by)
        }
        (EventKind::PermissionRequest, _) if allows => (allow(), allowed),
        (EventKind::PreToolUse, _) if allows && wiring.early => (allow(), allowed),
        (EventKind::PermissionRequest | EventKind::PreToolUse, _) => (Decision::None, allowed),
    };
    ruling
}

/// The call as the rules rate it, left to the person.
fn rated(call: &Call, assessment: &Assessment, policy: &Policy, facts: &Facts) -> Ruling {
    let mut proven = assessment.doubts.is_empty();
    let mut tier = Tier::Safe;
    let mut named = Vec::new();
    for (number, step) in assessment.steps.iter().enumerate() {
        let step_rated = rules::rate(&policy.rules, call, step, facts);
        if let Some(rule) = step_rated.by {
            named.push((number, step_rated.tier, rule.origin.clone()));
        }
        tier = tier.max(step_rated.tier);
        proven &= step_rated.proven;
    }
    // What is said of the call as a whole no rule takes back.
    let whole = assessment.doubts.is_empty() && !named.is_empty();
    let least = if whole { Tier::Safe } else { assessment.tier };
    Ruling {
        decision: Decision::None,
        by: By::OnlyPerson,
        tier: risk::floor(tier.max(least), proven),
        proven,
        rated: named,
    }
}

/// Whether an effect stays in the project, its scratch and what its tools restore.
fn stays(effect: &Effect, facts: &Facts) -> bool {
    let spec = effect.spec;
    let inside = match &effect.subject {
        Subject::Path { named, real } => {
            let scratch = matches!(spec.place, Place::Scratch | Place::Nowhere);
            scratch || [named, real].iter().all(|path| facts.in_project(path))
        }
        Subject::Host(_) => false,
        Subject::None => true,
    };
    match spec.action {
        // What is safe to look at may lie in the system.
        Action::Inspect | Action::Read => risk::tier(spec) == Tier::Safe,
        Action::Write | Action::Mode | Action::Delete | Action::Execute => {
            let place = matches!(
                spec.place,
                Place::Nowhere | Place::Scratch | Place::Project | Place::Cache | Place::Repository | Place::Build
            );
            inside && place && spec.reach == Reach::Here && spec.undo <= Undo::Kept
        }
        Action::Control => spec.place == Place::Nowhere && spec.undo == Undo::Nothing,
        Action::Connect => spec.reach <= Reach::Service,
        Action::Disclose | Action::Send | Action::Privilege => false,
    }
}

fn allow() -> Decision {
    Decision::Allow(Allow::Run(Run::default()))
}

fn deny(message: String) -> Decision {
    Decision::Deny(Deny {
        reason: Reason::Policy,
        message,
        interrupt: false,
    })
}

fn stop(guard: Guard, ruling: &Ruling, assessment: &Assessment) -> Decision {
    let message = format!(
        "{} ({} or above is stopped here): {}",
        ruling.tier,
        guard.tier,
        worst(assessment)
    );
    if guard.asks {
        return Decision::Ask(message);
    }
    deny(message)
}

/// What makes the assessment as bad as it is, in a few words: the first of the worst steps.
fn worst(assessment: &Assessment) -> String {
    let step = assessment.steps.iter().find(|step| step.tier == assessment.tier);
    let doubt = step.and_then(|step| step.doubts.first()).or(assessment.doubts.first());
    match (step, doubt) {
        (Some(step), _) if !step.effects.is_empty() => {
            let mut deeds: Vec<String> = step.effects.iter().map(report::describe).collect();
            deeds.dedup();
            format!("`{}` {}", step.program, deeds.join("; "))
        }
        (_, Some(doubt)) => format!("not understood: {}", doubt.why),
        (Some(step), None) => format!("`{}`", step.program),
        (None, None) => "the call as a whole".into(),
    }
}

#[cfg(test)]
mod tests;
