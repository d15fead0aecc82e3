//! From a call to its steps: what each does, where, and what of it was not understood.

mod address;
mod arguments;
pub mod bash;
mod below;
mod builtins;
mod files;
mod found;
mod git;
mod glob;
mod hosts;
mod inline;
mod input;
mod lines;
pub mod loss;
mod mcp_tool;
mod names;
mod numbers;
mod other_tool;
mod paths;
mod printed;
mod roles;
mod secrets;
mod seen;
mod web;
mod words;

use crate::call::{Call, Input};
use crate::effect::{Around, Assessment, Doubt, Effect, Step, Tier};
use crate::facts::Facts;
use crate::risk;
use crate::shell::Span;
use crate::shell::state::State;

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
        Input::Read { path } => tool(call, facts, |state, work, gathered| {
            files::read(path, state, work, gathered);
        }),
        Input::Write { path, texts } => tool(call, facts, |state, work, gathered| {
            files::write(path, texts, state, work, gathered);
        }),
        Input::Names { pattern, path } => tool(call, facts, |state, work, gathered| {
            files::names(pattern, path.as_deref(), state, work, gathered);
        }),
        Input::Content { path, filter } => tool(call, facts, |state, work, gathered| {
            files::content(path.as_deref(), filter.as_deref(), state, work, gathered);
        }),
        Input::Fetch { url } => tool(call, facts, |state, work, gathered| {
            web::fetch(url, state, work, gathered)
        }),
        Input::Search { query } => tool(call, facts, |_, _, gathered| web::search(query, gathered)),
        Input::Mcp { server, verb, texts } => tool(call, facts, |state, work, gathered| {
            mcp_tool::call(server, verb, texts, state, work, gathered);
        }),
        Input::Other { texts } => tool(call, facts, |state, work, gathered| {
            other_tool::call(&call.tool, texts, state, work, gathered);
        }),
    }
}

/// One step that `judge` fills, and the steps of any script that it meets.
fn tool(
    call: &Call,
    facts: &Facts,
    judge: impl FnOnce(&State, &mut bash::Work<'_>, &mut bash::Gathered),
) -> Assessment {
    let mut work = bash::Work::new(facts);
    let mut gathered = bash::Gathered::default();
    judge(&State::in_directory(call.cwd.clone()), &mut work, &mut gathered);
    let mut assessment = one_step(call, gathered.effects, gathered.doubts);
    assessment.steps.append(&mut work.steps);
    let worst = assessment
        .steps
        .iter()
        .map(|step| step.tier)
        .max()
        .unwrap_or(Tier::Safe);
    assessment.tier = risk::floor(worst, assessment.proven());
    assessment
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
        around: Around::default(),
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
        gap: None,
    }
}
