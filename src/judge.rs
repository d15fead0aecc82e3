//! The one place that joins assessment and policy. Every face calls it.

use std::path::Path;

use crate::assess::{self, loss, loss::Loss};
use crate::call::{Call, Input};
use crate::catalog::environment::{self, EnvRisk};
use crate::decision::{Allow, Decision};
use crate::effect::{Assessment, Step};
use crate::facts::Facts;
use crate::policy::{self, By, Circumstances, Policy, Ruling, Wiring, host_rules};
use crate::shell::Value;
use crate::wire::EventKind;

/// A call, assessed and decided.
#[derive(Debug)]
pub struct Judgement {
    pub assessment: Assessment,
    pub ruling: Ruling,
    /// What it would throw away, where that was counted: [`Judgement::count`].
    pub losses: Option<Vec<Loss>>,
}

impl Judgement {
    /// What the call would throw away, counted when first asked for. Not for a call that is let through: nobody is told.
    pub fn count(&mut self, facts: &Facts) -> &[Loss] {
        let assessment = &self.assessment;
        self.losses
            .get_or_insert_with(|| loss::of(assessment, facts, loss::MAX_TIME))
    }
}

/// Works out what a call would do, and what is answered to it.
///
/// An allow of a `PermissionRequest` overrules the person's own `permissions.ask` rules in the host's settings, so what
/// they may match is not allowed.
///
/// Nor is anything while the project's settings of the host set a variable that programs obey: HOME or PATH of this very
/// process may then be the project's.
///
/// Rate limits are counted last, so that only what is let through or put to a person takes a token: a face gives it back
/// with [`Ruling::give_back`] when the person denies the call, or it does not run for another reason.
pub fn judge(
    event: EventKind,
    call: &Call,
    wiring: Wiring,
    policy: &Policy,
    circumstances: &Circumstances,
    facts: &Facts,
) -> Judgement {
    let assessment = assess::assess(call, facts);
    let mut ruling = policy::decide(event, call, &assessment, wiring, policy, circumstances, facts);
    if let Decision::Allow(_) = ruling.decision
        && let Some(by) = held_back(call, &assessment, facts)
    {
        ruling.decision = Decision::None;
        ruling.by = by;
        ruling.counts = false;
    }
    ruling.count(call, &policy.limits, circumstances);
    if let Decision::Allow(Allow::Run(run)) = &mut ruling.decision {
        run.why = match &ruling.by {
            By::Rule(_) => ruling.by.to_string(),
            _ => crate::report::summary(&assessment),
        };
    }
    let mut judgement = Judgement {
        assessment,
        ruling,
        losses: None,
    };
    tell_losses(&mut judgement, facts);
    judgement
}

/// Whoever is stopped or asked is told how much is at stake.
fn tell_losses(judgement: &mut Judgement, facts: &Facts) {
    match &judgement.ruling.decision {
        // A denial that ends the turn has no words.
        Decision::Deny(deny) if deny.interrupt => return,
        Decision::Deny(_) | Decision::Ask(_) | Decision::Hold(_) => {}
        Decision::Allow(_) | Decision::None | Decision::Aside => return,
    }
    let told: String = judgement
        .count(facts)
        .iter()
        .map(|loss| format!("; it {loss}"))
        .collect();
    match &mut judgement.ruling.decision {
        Decision::Deny(deny) => deny.message.push_str(&told),
        Decision::Ask(message) => message.push_str(&told),
        Decision::Hold(hold) => hold.reason.push_str(&told),
        Decision::Allow(_) | Decision::None | Decision::Aside => {}
    }
}

/// The settings of the host that hold here.
fn host_settings(facts: &Facts) -> host_rules::AskRules {
    let config_dir = std::env::var_os("CLAUDE_CONFIG_DIR");
    let sources = host_rules::Sources::of(facts.home.as_deref(), config_dir.as_deref(), &facts.project);
    host_rules::read(&sources, facts)
}

/// A variable that the project's settings of the host set and that programs obey: where there is one, HOME or PATH of this
/// very process may be the project's.
fn obeyed_variable(rules: &host_rules::AskRules) -> Option<String> {
    let obeyed = |(name, value): &(String, String)| {
        let value = Value::Literal(value.clone());
        (environment::assignment(name, &value) != EnvRisk::Inert).then(|| name.clone())
    };
    rules.project_variables.iter().find_map(obeyed)
}

/// The variable by which the project could have chosen what this process takes for the person's own: their home, their
/// configuration.
pub fn led_by_project(facts: &Facts) -> Option<String> {
    obeyed_variable(&host_settings(facts))
}

fn held_back(call: &Call, assessment: &Assessment, facts: &Facts) -> Option<By> {
    let rules = host_settings(facts);
    if let Some(name) = obeyed_variable(&rules) {
        return Some(By::ProjectVariable(name));
    }
    let command = match &call.input {
        Input::Shell { command, .. } => Some(command.as_str()),
        _ => None,
    };
    let texts: Vec<String> = assessment.steps.iter().map(words).collect();
    let programs: Vec<host_rules::Command> = texts
        .iter()
        .zip(&assessment.steps)
        .map(|(text, step)| host_rules::Command {
            text,
            whole: !step.words.is_empty() && step.words.iter().all(Option::is_some),
        })
        .collect();
    let effects = assessment.steps.iter().flat_map(|step| &step.effects);
    let paths: Vec<&Path> = effects.filter_map(|effect| effect.subject.paths()).flatten().collect();
    host_rules::may_match(&rules, &call.tool, command, &programs, &paths).map(By::HostRule)
}

/// The words of a step as far as they are known.
fn words(step: &Step) -> String {
    let known: Vec<&str> = step.words.iter().map_while(|word| word.as_deref()).collect();
    if known.is_empty() {
        step.program.clone()
    } else {
        known.join(" ")
    }
}

#[cfg(test)]
mod tests;
