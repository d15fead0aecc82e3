//! From an assessment to a decision: the person's rules, their table, and what each event can be answered with.

use std::fmt;

use super::circumstances::Circumstances;
use super::config::{Invalid, Policy};
use super::limits::{Limit, Token};
use super::rules::{self, Origin, Owner, Rule};
use super::tiers::{Answer, Setter};
use super::windows::{self, Closed, Outside};
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
#[derive(Debug)]
pub struct Ruling {
    pub decision: Decision,
    pub by: By,
    /// The tier and whether all was understood, once the rules have rated every step.
    pub tier: Tier,
    pub proven: bool,
    /// The steps that a rule has rated other than their effects do: their number from 0, the tier, the rule's place.
    pub rated: Vec<(usize, Tier, Origin)>,
    /// It takes a token of each limit on the tool: policy allows the call by itself, or puts it to a person.
    pub counts: bool,
    /// The tokens that it took.
    pub token: Option<Token>,
}

impl Ruling {
    /// Takes back what a configuration that does not hold must not decide: every answer to a permission prompt, and every
    /// allow. What a guard or a rule that does hold stops before a call, where nobody may be asked, stays stopped.
    pub fn withdraw(&mut self, event: EventKind, invalid: &Invalid) {
        if matches!(self.by, By::Frozen(_)) {
            return;
        }
        let stops = matches!(self.decision, Decision::Deny(_) | Decision::Ask(_) | Decision::Hold(_));
        if event != EventKind::PreToolUse || !stops {
            self.decision = Decision::None;
            self.by = By::Configuration(invalid.to_string());
        }
    }

    /// Takes a token of each limit on the call's tool, if the decision counts and there are any. Where one is used up, or
    /// the buckets cannot be read, the call is not let through: an attended session's person is asked, for their yes is not
    /// limited; another one's agent is told when to come again.
    pub fn count(&mut self, call: &Call, limits: &[Limit], circumstances: &Circumstances) {
        let of_call: Vec<&Limit> = limits.iter().filter(|limit| limit.is_for(&call.tool)).collect();
        if !self.counts || of_call.is_empty() {
            return;
        }
        let refusal = match circumstances.tokens(&of_call) {
            Ok(token) => {
                self.token = token;
                return;
            }
            Err(refusal) => refusal,
        };
        self.decision = match (&self.decision, circumstances.attended) {
            (Decision::Hold(_), true) => return,
            (_, true) => Decision::None,
            (_, false) => denied(Reason::RateLimited, refusal.to_string()),
        };
        self.by = By::Limited(refusal.to_string());
    }

    /// Gives back what [`count`](Self::count) took, for a call that a person has denied, or that was not let through after
    /// all. Where that fails, it stays spent.
    pub fn give_back(&mut self) {
        if let Some(token) = self.token.take() {
            let _ = token.give_back();
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
    /// No window that is about the call is open.
    OutsideHours(String),
    /// Another agent or machine would be let through, by a window or by a rule that vouches.
    Identity(String),
    /// A rate limit is used up until some time, or cannot be counted.
    Limited(String),
    /// An escalation, for its reason.
    Escalated(Origin, String),
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
    /// The person who was asked.
    Person,
    /// The same, from the device of this name.
    Device(String),
    /// A person was needed and did not answer; why.
    Unanswered(String),
    /// The host took the question back.
    Withdrawn,
    /// Only the host's own screen can answer it.
    OnlyScreen,
    /// The host wants a person's answer, or the person edited the input and must confirm it.
    HostAsks,
}

impl By {
    /// One word for the log.
    pub fn word(&self) -> &'static str {
        match self {
            By::Frozen(_) => "frozen",
            By::OnlyPerson => "person",
            By::OutsideHours(_) => "window",
            By::Identity(_) => "identity",
            By::Limited(_) => "limit",
            By::Escalated(..) => "escalation",
            By::Unproven => "unproven",
            By::PlanMode => "plan_mode",
            By::Tier(..) | By::LeavesProject(_) => "policy",
            By::Rule(_) => "rule",
            By::Guard(_) => "guard",
            By::HostRule(_) => "host_rule",
            By::Configuration(_) => "configuration",
            By::ProjectVariable(_) => "project_variable",
            By::Person | By::Device(_) => "approver",
            By::Unanswered(_) => "unanswered",
            By::Withdrawn => "withdrawn",
            By::OnlyScreen => "screen",
            By::HostAsks => "host",
        }
    }
}

impl By {
    /// Whether somebody who looks for the reason of an answer would not find it in the call: the hook says it.
    pub fn must_be_told(&self) -> bool {
        match self {
            By::Frozen(_) | By::OutsideHours(_) | By::Identity(_) | By::Limited(_) | By::Escalated(..) => true,
            By::Configuration(_) => true,
            By::OnlyPerson | By::Unproven | By::PlanMode | By::Tier(..) | By::LeavesProject(_) => false,
            By::Person | By::Device(_) | By::Unanswered(_) | By::Withdrawn | By::OnlyScreen | By::HostAsks => false,
            By::Rule(_) | By::Guard(_) | By::HostRule(_) | By::ProjectVariable(_) => false,
        }
    }

    /// The reason code of a face that must deny what this leaves to a person, and has nobody to ask; `None` where there is
    /// no better one than that nobody answered.
    pub fn reason(&self) -> Option<Reason> {
        match self {
            By::Frozen(_) => Some(Reason::Frozen),
            By::OutsideHours(_) => Some(Reason::OutsideHours),
            By::Identity(_) => Some(Reason::Identity),
            By::Limited(_) => Some(Reason::RateLimited),
            By::OnlyPerson | By::Unproven | By::PlanMode | By::Tier(..) | By::LeavesProject(_) => None,
            By::Person | By::Device(_) | By::Unanswered(_) | By::Withdrawn | By::OnlyScreen | By::HostAsks => None,
            By::Rule(_) | By::Guard(_) | By::HostRule(_) | By::Configuration(_) | By::ProjectVariable(_) => None,
            By::Escalated(..) => None,
        }
    }
}

impl fmt::Display for By {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            By::Frozen(freeze) => write!(f, "{freeze}; `countersign thaw` ends that"),
            By::OnlyPerson => write!(f, "only you can answer it"),
            By::OutsideHours(window) => write!(f, "outside the hours of the window {window}"),
            By::Identity(asked) => write!(f, "let through only for who is named in {asked}"),
            By::Limited(why) => f.write_str(why),
            By::Escalated(origin, reason) => write!(f, "the escalation at {origin} has you asked: {reason}"),
            By::Unproven => write!(f, "what is not understood is never let through unasked"),
            By::PlanMode => write!(f, "in plan mode only what is safe runs unasked"),
            By::Tier(tier, answer, setter) => write!(f, "{tier} is `{}` by {setter}", answer.as_str()),
            By::LeavesProject(setter) => write!(f, "it does not stay in the project, which {setter} asks for"),
            By::Rule(origin) => write!(f, "the rule at {origin}"),
            By::Guard(tier) => write!(f, "{tier} and above is stopped by `--guard` in Claude Code's settings"),
            By::HostRule(rule) => write!(f, "your own ask rule in Claude Code's settings may match: {rule}"),
            By::Configuration(why) => write!(f, "no decision until the configuration is right: {why}"),
            By::Person => write!(f, "you have decided"),
            By::Device(name) => write!(f, "you have decided, on {name}"),
            By::Unanswered(why) => write!(f, "{why}"),
            By::Withdrawn => write!(f, "Claude Code took the question back"),
            By::OnlyScreen => write!(f, "only Claude Code's own screen can answer it"),
            By::HostAsks => write!(f, "it needs a person's yes"),
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
/// Each of these decides if it has something to say of the call, the earlier before the later: a freeze; the rules that
/// deny and then those that ask; the rules of the person's that vouch for all of it; time windows, and in them who asks;
/// rate limits; escalations; the guard and the table of tiers. A window that only asks takes an allow back, and no question
/// or denial that follows. What the project's own file says counts where it is stricter. The limits are only noted here:
/// see [`Ruling::count`].
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
    let (mut ruling, rating) = rated(call, assessment, policy, facts);
    let case = Case {
        event,
        call,
        assessment,
        guard: wiring.guard.filter(|_| event == EventKind::PreToolUse),
        early: wiring.early,
        policy,
        circumstances,
        facts,
        ruling: &ruling,
        rating,
    };
    if let Some((decision, by, counts)) = case.verdict() {
        ruling.decision = decision;
        ruling.by = by;
        ruling.counts = counts;
    }
    ruling
}

/// A call, and all that is known for the decision on it.
struct Case<'a> {
    event: EventKind,
    call: &'a Call,
    assessment: &'a Assessment,
    /// The guard, where it can stop the call.
    guard: Option<Guard>,
    early: bool,
    policy: &'a Policy,
    circumstances: &'a Circumstances,
    facts: &'a Facts,
    ruling: &'a Ruling,
    rating: Rating<'a>,
}

impl Case<'_> {
    /// The decision, by what, and whether it takes a token of each limit. `None`: only a person can answer.
    fn verdict(&self) -> Option<(Decision, By, bool)> {
        if let Some(freeze) = &self.circumstances.freeze {
            return Some((Decision::Deny(Deny::frozen()), By::Frozen(freeze.to_string()), false));
        }
        if self.call.input.is_for_person() {
            return None;
        }
        let listed = self.is_listed();
        let held = |owner| match (self.outside(owner), self.escalated(owner)) {
            _ if listed => None,
            (Some(outside), Some(escalated)) => Some(stricter(outside, escalated)),
            (outside, escalated) => outside.or(escalated),
        };
        let own = self
            .stopped(Owner::Person)
            .unwrap_or_else(|| match held(Owner::Person) {
                Some((Decision::None, by)) => stricter((Decision::None, by), self.by_tier()),
                Some(held) => held,
                None => self.by_tier(),
            });
        let theirs = self.stopped(Owner::Project).or_else(|| held(Owner::Project));
        let (decision, by) = match theirs {
            Some(theirs) => stricter(own, theirs),
            None => own,
        };
        let counts = !listed && matches!(decision, Decision::Allow(_) | Decision::Hold(_));
        Some((decision, by, counts))
    }

    /// The rules that deny and ask.
    fn stopped(&self, owner: Owner) -> Option<(Decision, By)> {
        let stop = rules::stop(&self.policy.rules, owner, self.call, &self.assessment.steps, self.facts)?;
        let by = By::Rule(stop.rule.origin.clone());
        let decision = match (stop.denial(), self.guard) {
            (Some(Some(reason)), _) => deny(reason.to_owned()),
            (Some(None), _) => deny(format!("the person's rules forbid this: {}", worst(self.assessment))),
            (None, Some(_)) => Decision::Ask(format!("a rule of the person asks ({})", stop.rule.origin)),
            (None, None) => Decision::None,
        };
        Some((decision, by))
    }

    /// Every step is one that a rule of the person's vouches for, and the table allows what the rules make of it.
    fn is_listed(&self) -> bool {
        self.rating.vouched && self.allowance().is_ok() && self.guarding().is_none()
    }

    /// Time windows, and whom they are for.
    fn outside(&self, owner: Owner) -> Option<(Decision, By)> {
        let (windows, now) = (&self.policy.windows, self.circumstances.now);
        let (window, closed, outside) = windows::closed(windows, owner, self.ruling.tier, self.call, self.facts, now)?;
        let told = format!("{window} ({})", window.origin);
        let (by, reason) = match closed {
            Closed::Hours => (By::OutsideHours(told), Reason::OutsideHours),
            Closed::Identity => (By::Identity(told), Reason::Identity),
        };
        let decision = match outside {
            Outside::Ask => Decision::None,
            Outside::Deny => denied(reason, by.to_string()),
        };
        Some((decision, by))
    }

    fn escalated(&self, owner: Owner) -> Option<(Decision, By)> {
        let (all, steps) = (&self.policy.escalations, &self.assessment.steps);
        let escalation = rules::escalation(all, owner, self.call, steps, self.facts)?;
        let by = By::Escalated(escalation.origin.clone(), escalation.hold.reason.clone());
        Some((Decision::Hold(escalation.hold.clone()), by))
    }

    fn by_tier(&self) -> (Decision, By) {
        let (answer, setter) = self.policy.table.answer(self.ruling.tier);
        if let Some(guard) = self.guarding() {
            return (stop(guard, self.ruling, self.assessment), By::Guard(guard.tier));
        }
        if answer == Answer::Deny {
            let by = By::Tier(self.ruling.tier, answer, setter.clone());
            return (deny(format!("{}: {}", self.ruling.tier, worst(self.assessment))), by);
        }
        match (self.allowance(), self.event) {
            (Ok(by), EventKind::PermissionRequest | EventKind::CanUseTool) => (allow(), by),
            (Ok(by), EventKind::PreToolUse) if self.early => (allow(), by),
            (Ok(by) | Err(by), _) => (Decision::None, by),
        }
    }

    fn guarding(&self) -> Option<Guard> {
        self.guard.filter(|guard| self.ruling.tier >= guard.tier)
    }

    /// What allows the call, or what does not.
    fn allowance(&self) -> Result<By, By> {
        let (tier, assessment) = (self.ruling.tier, self.assessment);
        let (answer, setter) = self.policy.table.answer(tier);
        let effects = || assessment.steps.iter().flat_map(|step| &step.effects);
        let leaves_sandbox = matches!(
            self.call.input,
            Input::Shell {
                leaves_sandbox: true,
                ..
            }
        );
        let by = match answer {
            _ if !self.ruling.proven || leaves_sandbox => Err(By::Unproven),
            Answer::Allow | Answer::AllowInProject if self.call.mode == Mode::Plan && tier > Tier::Safe => {
                Err(By::PlanMode)
            }
            Answer::AllowInProject if !effects().all(|effect| stays(effect, self.facts)) => {
                Err(By::LeavesProject(setter.clone()))
            }
            Answer::Allow | Answer::AllowInProject => Ok(By::Tier(tier, answer, setter.clone())),
            Answer::Ask | Answer::Deny => Err(By::Tier(tier, answer, setter.clone())),
        };
        let lowered = assessment.tier > tier || !assessment.proven();
        match (by, self.ruling.rated.first(), self.rating.withheld) {
            (Ok(_), Some((_, _, origin)), _) if lowered => Ok(By::Rule(origin.clone())),
            (Err(_), _, Some(rule)) => Err(By::Identity(format!("{} ({})", rule.when, rule.origin))),
            (by, ..) => by,
        }
    }
}

/// The one that lets less through, or else the first. To no decision the host does as it likes, so it never takes the place
/// of a question or a denial.
fn stricter(first: (Decision, By), other: (Decision, By)) -> (Decision, By) {
    let strictness = |decision: &Decision| match decision {
        Decision::Allow(_) => 0,
        Decision::None | Decision::Aside => 1,
        Decision::Ask(_) | Decision::Hold(_) => 2,
        Decision::Deny(_) => 3,
    };
    match strictness(&other.0) > strictness(&first.0) {
        true => other,
        false => first,
    }
}

/// What the rules make of a call beside its tier.
struct Rating<'a> {
    /// The person's rules vouch for every step.
    vouched: bool,
    /// A rule of the person's that would vouch for a step, if somebody else asked, or elsewhere.
    withheld: Option<&'a Rule>,
}

/// The call as the rules rate it, left to the person.
fn rated<'a>(call: &Call, assessment: &Assessment, policy: &'a Policy, facts: &Facts) -> (Ruling, Rating<'a>) {
    let mut rating = Rating {
        vouched: assessment.doubts.is_empty() && !assessment.steps.is_empty(),
        withheld: None,
    };
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
        rating.vouched &= step_rated.vouched;
        rating.withheld = rating.withheld.or(step_rated.withheld);
    }
    // What is said of the call as a whole no rule takes back.
    let whole = assessment.doubts.is_empty() && !named.is_empty();
    let least = if whole { Tier::Safe } else { assessment.tier };
    let ruling = Ruling {
        decision: Decision::None,
        by: By::OnlyPerson,
        tier: risk::floor(tier.max(least), proven),
        proven,
        rated: named,
        counts: false,
        token: None,
    };
    (ruling, rating)
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
    denied(Reason::Policy, message)
}

fn denied(reason: Reason, message: String) -> Decision {
    Decision::Deny(Deny::new(reason, message))
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
mod order;
#[cfg(test)]
mod tests;
