//! Walks a script in the order it runs, with the state that one command hands to the next, and reads each command
//! through the catalog. The verdict of a script is the worst of every command in any branch, substitution or body.

mod changes;
mod command;
mod evaluation;
mod gathered;
mod guess;
mod program;
mod redirects;
mod simple;
mod surroundings;
mod wrapped;

use std::cell::Cell;
use std::path::Path;

use super::builtins;
use super::input::{self, Input};
use super::lines;
use super::seen::Seen;
use crate::catalog;
use crate::effect::{Action, Assessment, Doubt, Reach, Step, Tier};
use crate::facts::Facts;
use crate::risk;
use crate::shell::ast::{CaseArm, Command, Connector, Item, Pipeline, Script, Stage, Word};
use crate::shell::expansion::expand;
use crate::shell::state::State;
use crate::shell::{self, Arg, Span, Value};
pub use changes::changes_nothing;
use changes::{forget_assigned, goes_by_turns};
pub use gathered::Gathered;
use guess::Guesses;

/// Without words these run what they read.
const SHELLS: &[&str] = &["sh", "bash", "zsh", "dash"];
/// How many wrappers and scripts may stand inside one another.
const MAX_NESTING: usize = 12;
/// At most this many words of one command are looked at.
const MAX_WORDS: usize = 4096;
/// At most this many steps are assessed in one call.
const MAX_STEPS: usize = 2000;
/// At most this many commands of any kind are walked through in one call.
const MAX_STAGES: usize = 4000;
/// What the words of a script may become in bytes, with a little for every word.
const MAX_EXPANDED: usize = 1024 * 1024;
/// At most so many turns of a loop are read one after another.
const MAX_TURNS: usize = 16;

/// Works out what a script would do.
pub fn assess(source: &str, cwd: Option<&Path>, facts: &Facts) -> Assessment {
    let mut work = Work::new(facts);
    let cwd = cwd.filter(|dir| dir.is_absolute()).map(Path::to_path_buf);
    let parsed = match shell::parse(source) {
        Ok(script) => {
            work.script(&script, &mut State::in_directory(cwd.clone()), 0);
            work.suspect(source, cwd);
            true
        }
        Err(refusal) => {
            work.doubts.push(Doubt {
                why: format!("not understood: {}", refusal.what),
                span: refusal.span,
                gap: None,
            });
            work.scan(source, cwd);
            false
        }
    };
    let proven = work.doubts.is_empty() && work.steps.iter().all(Step::proven);
    let worst = work.steps.iter().map(|step| step.tier).max().unwrap_or(Tier::Safe);
    Assessment {
        tier: risk::floor(worst, proven),
        steps: work.steps,
        doubts: work.doubts,
        commands: work.commands,
        parsed: Some(parsed),
    }
}

/// One assessment in progress.
pub struct Work<'a> {
    pub facts: &'a Facts,
    pub steps: Vec<Step>,
    pub doubts: Vec<Doubt>,
    commands: Vec<Vec<Option<String>>>,
    /// What substitutions did to files: they run in shells of their own, but on the same disk.
    aside: Aside,
    pub(super) seen: Seen,
    guesses: Guesses,
    /// How many commands were walked through.
    stages: usize,
    /// How many bytes words have become.
    expanded: Cell<usize>,
    /// Something was not followed because there is too much.
    left_out: bool,
}

/// What may have been done to files on the way.
#[derive(Clone, Copy, Default)]
struct Aside {
    wrote: bool,
    relinked: bool,
}

/// Which command is read, and how deep.
#[derive(Clone, Copy)]
pub struct Site {
    pub span: Span,
    pub depth: usize,
    /// It stands in the script itself; otherwise a wrapper runs it.
    pub written: bool,
}

impl Site {
    /// The command that this one runs.
    fn wrapped(self) -> Self {
        Site {
            depth: self.depth + 1,
            written: false,
            ..self
        }
    }
}

impl<'a> Work<'a> {
    /// Work on one call.
    pub fn new(facts: &'a Facts) -> Self {
        Work {
            facts,
            steps: Vec::new(),
            doubts: Vec::new(),
            commands: Vec::new(),
            aside: Aside::default(),
            seen: Seen::default(),
            guesses: Guesses::default(),
            stages: 0,
            expanded: Cell::new(0),
            left_out: false,
        }
    }

    fn too_deep(&mut self, depth: usize, span: Span) -> bool {
        let too_much = depth > MAX_NESTING || self.steps.len() > MAX_STEPS || self.stages > MAX_STAGES;
        if too_much {
            self.too_much(span);
        }
        too_much
    }

    /// What is left out may be anything.
    pub fn too_much(&mut self, span: Span) {
        let doubt = Doubt {
            why: "more is nested, named or repeated than is followed".into(),
            span,
            gap: None,
        };
        if !self.left_out {
            self.left_out = true;
            let mut gathered = Gathered::default();
            gathered.unvouched("what is not followed");
            gathered.doubts.push(doubt.clone());
            self.push("(more)", &[], gathered, span);
        }
        if self.doubts.len() <= MAX_STEPS {
            self.doubts.push(doubt);
        }
    }

    /// Runs a script in `state`, which it changes.
    pub fn script(&mut self, script: &Script, state: &mut State, depth: usize) {
        for item in &script.items {
            self.item(item, state, depth);
        }
    }

    fn item(&mut self, item: &Item, state: &mut State, depth: usize) {
        if item.background {
            let mut own = state.clone();
            self.list(item, &mut own, depth);
            state.after_child(&own);
        } else {
            self.list(item, state, depth);
        }
    }

    /// What follows `&&` runs in the state that all before it left; after an `||` it is not known which ran.
    fn list(&mut self, item: &Item, state: &mut State, depth: usize) {
        self.pipeline(&item.first, state, depth);
        if item.rest.is_empty() {
            return;
        }
        let mut entered = state.clone();
        let mut alternatives = false;
        for (connector, pipeline) in &item.rest {
            alternatives |= *connector == Connector::Or;
            if alternatives {
                entered = state.clone();
            }
            self.pipeline(pipeline, &mut entered, depth);
            state.merge(entered.clone());
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, depth: usize) {
        if let [only] = pipeline.stages.as_slice() {
            self.stage(only, None, state, depth);
            return;
        }
        let mut fetched = false;
        let mut piped = None;
        let before = state.clone();
        for (at, stage) in pipeline.stages.iter().enumerate() {
            let mut own = before.clone();
            own.after_child(state);
            let first = self.steps.len();
            let input: Option<Input> = std::mem::take(&mut piped);
            if let Some(next) = pipeline.stages.get(at + 1) {
                piped = Some(input::printed(stage, input.as_ref(), next, &own, self));
            }
            self.stage(stage, input, &mut own, depth);
            // Every element is a subshell in bash; in zsh the last one is not.
            state.merge(own);
            let steps = &mut self.steps[first..];
            if fetched {
                run_from_network(steps);
            }
            fetched |= connects(steps);
        }
    }

    fn stage(&mut self, stage: &Stage, piped: Option<Input>, state: &mut State, depth: usize) {
        self.stages += 1;
        if self.too_deep(depth, stage.span) {
            return;
        }
        if state.crowded {
            self.too_much(stage.span);
        }
        let is_piped = piped.is_some();
        let mut io = Gathered::with_input(input::of(stage, piped, state, self));
        for redirect in &stage.redirects {
            self.redirect(redirect, state, depth, &mut io);
        }
        match &stage.command {
            Command::Simple { assignments, words } => self.simple(assignments, words, io, state, depth, stage.span),
            compound => {
                let input = lines::of_compound(&io.input, is_piped, stage, state, self);
                self.push("(redirection)", &[], io, stage.span);
                self.compound(compound, &input, state, depth, stage.span);
            }
        }
    }

    fn compound(&mut self, command: &Command, input: &Input, state: &mut State, depth: usize, span: Span) {
        match command {
            Command::Simple { .. } => {}
            Command::Group(script) => self.script(script, state, depth + 1),
            Command::Subshell(script) => {
                let mut own = state.clone();
                self.script(script, &mut own, depth + 1);
                state.after_child(&own);
            }
            Command::If { branches, otherwise } => self.branches(branches, otherwise.as_ref(), state, depth),
            Command::While {
                until: _,
                condition,
                body,
            } => {
                forget_assigned(condition, state);
                forget_assigned(body, state);
                let read = lines::read(condition, body, input, state);
                self.script(condition, state, depth + 1);
                let mut own = state.clone();
                if let Some((name, line)) = read {
                    own.assign(&name, line);
                }
                self.script(body, &mut own, depth + 1);
                state.merge(own);
            }
            Command::For { name, words, body } => self.for_loop(name, words.as_deref(), body, state, depth, span),
            Command::Case { subject, arms } => self.case(subject, arms, state, depth, span),
            Command::Test(condition) => {
                let mut gathered = Gathered::default();
                self.condition(condition, state, depth, &mut gathered);
                self.push("[[", &[], gathered, span);
            }
            Command::Arithmetic(expression) => {
                let mut gathered = Gathered::default();
                self.arithmetic(expression, state, depth, &mut gathered);
                match (&expression.count, expression.assigned.as_slice()) {
                    (Some(count), [name]) if count.of.as_ref().is_none_or(|of| state.is_number(of)) => {
                        state.count(name)
                    }
                    (_, assigned) => assigned.iter().for_each(|name| state.forget(name)),
                }
                self.push("((", &[], gathered, span);
            }
            Command::Function { name, body } => {
                // It may be called from anywhere, so its body is read knowing nothing of the state.
                let mut own = state.clone();
                own.forget_all();
                own.in_function = true;
                self.stage(body, None, &mut own, depth + 1);
                state.after_child(&own);
                if builtins::is_called_unasked(name) || catalog::lists(name) {
                    let mut gathered = Gathered::default();
                    gathered.doubt(
                        format!("a function takes the name `{name}`, which means something else"),
                        span,
                    );
                    self.push("(function)", &[], gathered, span);
                    state.forget_all();
                }
                state.define(name);
            }
        }
    }

    fn branches(&mut self, branches: &[(Script, Script)], otherwise: Option<&Script>, state: &mut State, depth: usize) {
        let mut ends: Vec<State> = Vec::new();
        for (condition, body) in branches {
            self.script(condition, state, depth + 1);
            let mut own = state.clone();
            self.script(body, &mut own, depth + 1);
            ends.push(own);
        }
        if let Some(body) = otherwise {
            self.script(body, state, depth + 1);
        }
        for end in ends {
            state.merge(end);
        }
    }

    fn for_loop(
        &mut self,
        name: &str,
        words: Option<&[Word]>,
        body: &Script,
        state: &mut State,
        depth: usize,
        span: Span,
    ) {
        let mut gathered = Gathered::default();
        let mut values = Vec::new();
        for word in words.unwrap_or_default() {
            self.substitutions(word, state, depth, &mut gathered);
            match lines::words(word, state, self) {
                Some(words) => values.extend(words),
                None => values.extend(expand(word, state, self).into_iter().map(|arg| arg.value)),
            }
        }
        if words.is_none() {
            values.extend(state.positional.iter().flat_map(|words| words.iter().skip(1).cloned()));
        }
        let value = lines::one_of(&values);
        self.check_assignment(name, &value, state, span, &mut gathered);
        self.push("for", &[], gathered, span);
        if let Some(turns) = turns(words, &values, body) {
            for turn in turns {
                state.assign(name, turn.clone());
                self.script(body, state, depth + 1);
            }
            return state.forget(name);
        }
        forget_assigned(body, state);
        let mut own = state.clone();
        own.assign(name, value);
        self.script(body, &mut own, depth + 1);
        state.forget(name);
        state.merge(own);
        state.forget(name);
    }

    fn case(&mut self, subject: &Word, arms: &[CaseArm], state: &mut State, depth: usize, span: Span) {
        let mut gathered = Gathered::default();
        self.substitutions(subject, state, depth, &mut gathered);
        let mut ends = Vec::new();
        for arm in arms {
            for pattern in &arm.patterns {
                self.substitutions(pattern, state, depth, &mut gathered);
            }
            let mut own = state.clone();
            self.script(&arm.body, &mut own, depth + 1);
            ends.push(own);
        }
        self.push("case", &[], gathered, span);
        for end in ends {
            state.merge(end);
        }
    }

    /// Adds a step, unless there is nothing to say of it.
    fn push(&mut self, program: &str, args: &[Arg], gathered: Gathered, span: Span) {
        let nothing = args.is_empty() && gathered.effects.is_empty() && gathered.doubts.is_empty();
        if nothing {
            return;
        }
        let mut step = Step {
            program: program.to_owned(),
            words: args.iter().map(|arg| arg.value.literal().map(str::to_owned)).collect(),
            effects: gathered.effects,
            doubts: gathered.doubts,
            tier: Tier::Safe,
            span,
            around: gathered.around,
        };
        step.tier = risk::step_tier(&step);
        self.steps.push(step);
    }
}

fn connects(steps: &[Step]) -> bool {
    steps
        .iter()
        .flat_map(|s| &s.effects)
        .any(|e| e.spec.action == Action::Connect)
}

/// Code that comes through a pipe from the network is the network's.
fn run_from_network(steps: &mut [Step]) {
    for step in steps {
        for effect in step.effects.iter_mut().filter(|e| e.spec.action == Action::Execute) {
            effect.spec.reach = effect.spec.reach.max(Reach::New);
        }
        step.tier = risk::step_tier(step);
    }
}

/// The words of a loop that is read turn by turn, as it runs: one over a few words of the script that moves the shell.
fn turns<'a>(words: Option<&[Word]>, values: &'a [Value], body: &Script) -> Option<&'a [Value]> {
    let is_literal = |value: &Value| value.literal().is_some();
    let are_few = words.is_some() && !values.is_empty() && values.len() <= MAX_TURNS;
    (are_few && values.iter().all(is_literal) && goes_by_turns(body)).then_some(values)
}
