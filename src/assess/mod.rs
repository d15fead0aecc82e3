//! From a call to its steps: what each does, where, and what of it was not understood.

pub mod bash;
mod builtins;
mod git;
mod glob;
mod hosts;
mod paths;
mod roles;

use crate::call::{Call, Input};
use crate::effect::{Action, Assessment, Doubt, Effect, EffectSpec, Step, Tier};
use crate::facts::Facts;
use crate::risk;
use crate::shell::Span;

/// Works out what a call would do.
pub fn assess(call: &Call, facts: &Facts) -> Assessment {
    match &call.input {
        Input::Shell {
            command,
            leaves_sandbox,
        } => {
            let mut assessment = bash::assess(command, call.cwd.as_deref(), facts);
            if *leaves_sandbox {
                assessment.doubts.push(whole("it asks to leave the host's sandbox"));
                assessment.tier = assessment.tier.max(Tier::High);
            }
            assessment
        }
        Input::Question => of_person(call, "asks the person a question"),
        Input::Plan => of_person(call, "asks the person to approve a plan"),
        Input::Other => {
            let effect = Effect {
                spec: EffectSpec::of(Action::Control),
                target: call.tool.clone(),
            };
            one_step(call, vec![effect], vec![whole("this tool is not judged yet")])
        }
    }
}

fn of_person(call: &Call, why: &str) -> Assessment {
    one_step(call, Vec::new(), vec![whole(why)])
}

fn one_step(call: &Call, effects: Vec<Effect>, doubts: Vec<Doubt>) -> Assessment {
    let mut step = Step {
        program: call.tool.clone(),
        words: Vec::new(),
        effects,
        doubts,
        tier: Tier::Safe,
        span: Span::default(),
    };
    step.tier = risk::step_tier(&step);
    Assessment {
        tier: step.tier,
        steps: vec![step],
        doubts: Vec::new(),
        commands: Vec::new(),
        parsed: None,
    }
}

fn whole(why: &str) -> Doubt {
    Doubt {
        why: why.to_owned(),
        span: Span::default(),
    }
}
