//! The one place that joins assessment and policy. Every face calls it.

use std::path::Path;

use crate::assess;
use crate::call::{Call, Input};
use crate::decision::{Allow, Decision};
use crate::effect::{Assessment, Subject};
use crate::facts::Facts;
use crate::policy::{self, Wiring, host_rules};
use crate::wire::EventKind;

/// A call, assessed and decided.
#[derive(Debug)]
pub struct Judgement {
    pub assessment: Assessment,
    pub decision: Decision,
    /// The person's own rule that a harmless call may match, so that it is left to the person all the same.
    pub held_by: Option<String>,
}

/// Works out what a call would do, and what is answered to it.
///
/// An allow of a `PermissionRequest` overrules the person's own `permissions.ask` rules in the host's settings, so what
/// they may match is not allowed.
pub fn judge(event: EventKind, call: &Call, wiring: Wiring, facts: &Facts) -> Judgement {
    let assessment = assess::assess(call, facts);
    let mut decision = policy::decide(event, call, &assessment, wiring);
    let mut held_by = None;
    if let Decision::Allow(_) = decision {
        held_by = ask_rule(call, &assessment, facts);
        if held_by.is_some() {
            decision = Decision::None;
        }
    }
    if let Decision::Allow(Allow::Run(run)) = &mut decision {
        run.why = crate::report::summary(&assessment);
    }
    Judgement {
        assessment,
        decision,
        held_by,
    }
}

fn ask_rule(call: &Call, assessment: &Assessment, facts: &Facts) -> Option<String> {
    let config_dir = std::env::var_os("CLAUDE_CONFIG_DIR");
    let sources = host_rules::Sources::of(facts.home.as_deref(), config_dir.as_deref(), &facts.project);
    let rules = host_rules::read(&sources);
    let command = match &call.input {
        Input::Shell { command, .. } => Some(command.as_str()),
        _ => None,
    };
    let programs: Vec<String> = assessment
        .steps
        .iter()
        .map(|step| words(step.words.as_slice(), &step.program))
        .collect();
    let programs: Vec<&str> = programs.iter().map(String::as_str).collect();
    let effects = assessment.steps.iter().flat_map(|step| &step.effects);
    let paths: Vec<&Path> = effects
        .filter_map(|effect| match &effect.subject {
            Subject::Path { named, real } => Some([named.as_path(), real.as_path()]),
            Subject::Host(_) | Subject::None => None,
        })
        .flatten()
        .collect();
    host_rules::may_match(&rules, &call.tool, command, &programs, &paths)
}

/// The words of a step as far as they are known.
fn words(words: &[Option<String>], program: &str) -> String {
    let known: Vec<&str> = words.iter().map_while(|word| word.as_deref()).collect();
    if known.is_empty() {
        program.to_owned()
    } else {
        known.join(" ")
    }
}

#[cfg(test)]
mod tests;
