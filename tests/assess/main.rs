//! What calls would do, told as stories over a person's machine in miniature.
//!
//! Each test says one thing that a person relies on. What one command alone does is told by the catalog's own examples,
//! which are run here too.

mod bypasses;
mod elsewhere;
mod embedded;
mod examples;
mod files;
mod invariants;
mod lists;
mod loops;
mod losses;
mod names;
mod programs;
mod repositories;
mod sequences;
mod settings;
mod shell;
#[path = "../support/mod.rs"]
mod support;
mod tools;
mod trust;
mod twins;
mod unlisted;

use countersign::effect::{Assessment, Effect, Tier};
use countersign::report;
use support::{Machine, assess};

fn judged(machine: &Machine, command: &str) -> Assessment {
    assess(machine, &machine.project(), command)
}

/// None of these is let through unasked.
#[track_caller]
fn not_let_through(machine: &Machine, commands: &[&str]) {
    for command in commands {
        let found = judged(machine, command);
        assert!(
            !found.proven() || found.tier > Tier::Safe,
            "{command}: {:?}",
            found.steps
        );
    }
}

/// "safe" to "critical", or "unproven" where something was not understood.
fn verdict(machine: &Machine, command: &str) -> &'static str {
    let assessment = judged(machine, command);
    if assessment.proven() {
        assessment.tier.as_str()
    } else {
        "unproven"
    }
}

/// Each of these commands has this verdict.
#[track_caller]
fn all(machine: &Machine, expected: &str, commands: &[&str]) {
    let mut wrong = Vec::new();
    for command in commands {
        let found = verdict(machine, command);
        if found != expected {
            let assessment = judged(machine, command);
            let (summary, reasons) = (report::summary(&assessment), report::reasons(&assessment));
            wrong.push(format!("{command:?} is {found}: {summary} {reasons:?}"));
        }
    }
    assert!(wrong.is_empty(), "not {expected}:\n{}", wrong.join("\n"));
}

/// What a script touches, in order, each as "action target".
fn deeds(machine: &Machine, command: &str) -> Vec<String> {
    let deed = |effect: &Effect| format!("{} {}", effect.spec.action.as_str(), effect.target);
    let assessment = judged(machine, command);
    assessment
        .steps
        .iter()
        .flat_map(|step| &step.effects)
        .map(deed)
        .collect()
}

/// Something that the command does is this, as "action target".
#[track_caller]
fn does(machine: &Machine, command: &str, deed: &str) {
    let deeds = deeds(machine, command);
    assert!(deeds.iter().any(|d| d == deed), "{command}: {deeds:?}");
}
