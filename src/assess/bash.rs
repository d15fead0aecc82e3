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
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::builtins;
use super::input::{self, Input};
use super::lines;
use super::printed;
use super::roles;
use super::seen::Seen;
use crate::catalog;
use crate::effect::{Action, Assessment, Doubt, Effect, Place, Reach, Step, Tier, Undo};
use crate::facts::Facts;
use crate::risk;
use crate::shell::ast::{CaseArm, Command, Connector, Item, Pipeline, Script, Stage, Word};
use crate::shell::expansion::{expand, is_uncounted};
use crate::shell::state::{Positional, State};
use crate::shell::{self, Arg, Span, Value};
pub use changes::changes_nothing;
use changes::{forget_assigned, goes_by_turns, may_return, set_by_match};
use command::{changes, is_own};
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
            let mut state = State::in_directory(cwd.clone());
            work.script(&script, &mut state, 0);
            work.settle(0);
            work.join(&state);
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
    /// The functions that were defined, as long as they may yet be called.
    defined: Vec<Defined>,
    /// What may run after the lines that follow it.
    jobs: Vec<Job>,
    /// How many commands were walked through.
    stages: usize,
    /// How many bytes words have become.
    expanded: Cell<usize>,
    /// Something was not followed because there is too much.
    left_out: bool,
}

/// A function's body, read knowing nothing of how it is called.
struct Defined {
    body: Rc<Stage>,
    steps: Vec<Step>,
    /// It was read again at a call, with what is known there.
    called: bool,
}

/// What runs at some time after it was read.
struct Job {
    what: Later,
    start: State,
    /// How many steps there were once it was read.
    until: usize,
}

/// What a `&` sends to the background, or a `trap` keeps.
pub enum Later {
    Item(Item, usize),
    Code(Arg, Site),
}

/// What may have been done to files on the way.
#[derive(Clone, Copy, Default)]
struct Aside {
    wrote: bool,
    planted: bool,
    relinked: bool,
}

/// Which command is read, and how deep.
#[derive(Clone, Copy)]
pub struct Site {
    pub span: Span,
    pub depth: usize,
    /// It stands in the script itself; otherwise a wrapper runs it.
    pub written: bool,
    /// Some of its words stand for any number of words.
    pub uncounted: bool,
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
            defined: Vec::new(),
            jobs: Vec::new(),
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
            self.later(Later::Item(item.clone(), depth), state.clone());
            state.after_child(&own);
        } else {
            self.list(item, state, depth);
        }
    }

    /// Keeps what was read in this state and may run after any later line.
    pub fn later(&mut self, what: Later, start: State) {
        let until = self.steps.len();
        self.jobs.push(Job { what, start, until });
    }

    /// Reads again what may run after all that later lines do to files.
    fn join(&mut self, end: &State) {
        let total = self.steps.len();
        while let Some(mut job) = self.jobs.pop() {
            let later = &self.steps[job.until.min(total)..total];
            let before = job.start.files();
            job.start.add(self.done(later, end, true));
            if job.start.files() != before {
                self.again(|work| match &job.what {
                    Later::Item(item, depth) => work.list(item, &mut job.start, *depth),
                    Later::Code(code, site) => work.code(code, &mut job.start, *site),
                });
            }
        }
    }

    /// What these steps may have done to files, of all that was done to them in the end. What the project's own code
    /// does to itself counts only where asked for.
    fn done(&self, steps: &[Step], end: &State, with_own: bool) -> [bool; 3] {
        let writes = |step: &Step| step.effects.iter().any(|it| changes(it) && (with_own || !is_own(it)));
        let wrote = steps.iter().any(|step| !step.proven() || writes(step));
        let planted = steps.iter().any(|step| self.has_planted(step, with_own));
        [end.wrote && wrote, end.planted && planted, end.relinked && wrote]
    }

    /// Reads what was read before with less done to files. It is kept where it is worse than all that was read.
    fn again(&mut self, read: impl FnOnce(&mut Self)) {
        let first = self.steps.len();
        read(self);
        let rated = |steps: &[Step]| {
            let worst = steps.iter().map(|step| step.tier).max();
            (worst, steps.iter().all(Step::proven))
        };
        let (before, now) = (rated(&self.steps[..first]), rated(&self.steps[first..]));
        if now.0 <= before.0 && (now.1 || !before.1) {
            self.steps.truncate(first);
        }
    }

    /// Reads the body of a loop, each line of which may come after what any other does to files. Where each turn is about
    /// files of its own, those that an earlier one wrote are not `shared`: then only links and what is run count.
    fn turn(&mut self, state: &mut State, shared: bool, read: impl Fn(&mut Self, &mut State)) {
        let mut start = state.clone();
        let first = self.steps.len();
        read(self, state);
        let before = start.files();
        let [wrote, planted, relinked] = self.done(&self.steps[first..], state, false);
        start.add([wrote && shared, planted, relinked]);
        if start.files() != before {
            self.again(|work| read(work, &mut start));
            state.after_child(&start);
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
        let mut handed = false;
        let mut piped = None;
        let mut read: Vec<Piece> = Vec::new();
        let before = state.clone();
        for (at, stage) in pipeline.stages.iter().enumerate() {
            let mut own = before.clone();
            own.after_child(state);
            let first = self.steps.len();
            let input: Option<Input> = std::mem::take(&mut piped);
            let behind = &pipeline.stages[at + 1..];
            if !behind.is_empty() {
                piped = Some(printed::printed(stage, input.as_ref(), behind, &own, self));
            }
            let start = own.clone();
            self.stage(stage, input.clone(), &mut own, depth);
            if handed && start.wrote {
                unvouch(&mut self.steps[first..]);
            }
            let steps = &self.steps[first..];
            let mut effects = steps.iter().flat_map(|step| &step.effects);
            handed |= effects.any(|effect| self.reads_outside(effect));
            let is_simple = matches!(stage.command, Command::Simple { .. });
            read.push(Piece {
                stage,
                input,
                start,
                done: self.done(steps, &own, true),
                runs: !is_simple || steps.iter().any(executes),
                only_keeps: is_simple && steps.iter().all(|step| step.program == "tee"),
            });
            // Every element is a subshell in bash; in zsh the last one is not.
            state.merge(own);
            let steps = &mut self.steps[first..];
            if fetched {
                run_from_network(steps);
            }
            fetched |= connects(steps);
        }
        self.at_once(&read, depth);
    }

    /// The elements of a pipeline run at the same time, so one that runs code may come after what those behind it do to files.
    fn at_once(&mut self, pieces: &[Piece], depth: usize) {
        for (at, piece) in pieces.iter().enumerate() {
            let is_simple = matches!(piece.stage.command, Command::Simple { .. });
            // What `tee` writes is what this one prints, once it runs.
            let behind = pieces[at + 1..].iter().filter(|other| !(is_simple && other.only_keeps));
            let mut start = piece.start.clone();
            for other in behind {
                let [wrote, planted, relinked] = other.done;
                // What runs no code meets a link all the same; code could as well do itself what the link leads to.
                start.add([
                    wrote && piece.runs,
                    planted && piece.runs,
                    relinked && (piece.runs || !other.runs),
                ]);
            }
            if start.files() != piece.start.files() {
                self.again(|work| work.stage(piece.stage, piece.input.clone(), &mut start, depth));
            }
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
        let first = self.steps.len();
        let is_handed = state.wrote && io.effects.iter().any(|effect| self.reads_outside(effect));
        let made: Vec<PathBuf> = match self.aside.relinked || state.relinked {
            true => Vec::new(),
            false => io.effects.iter().filter_map(written_anew).collect(),
        };
        match &stage.command {
            Command::Simple { assignments, words } => self.simple(assignments, words, io, state, depth, stage.span),
            compound => {
                let input = lines::of_compound(&io.input, is_piped, stage, state, self);
                self.push("(redirection)", &[], io, stage.span);
                self.compound(compound, &input, state, depth, stage.span);
            }
        }
        if is_handed {
            unvouch(&mut self.steps[first..]);
        }
        // Redirections are made after what stands in a command's words has run.
        if self.aside.relinked
            && made
                .iter()
                .any(|path| roles::may_be_relinked(path, Action::Write, self))
        {
            let mut gathered = Gathered::default();
            gathered.doubt("a command among the words may have made this path", stage.span);
            self.push("(redirection)", &[], gathered, stage.span);
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
                self.turn(state, true, |work, state| {
                    work.script(condition, state, depth + 1);
                    let mut own = state.clone();
                    if let Some((name, line)) = &read {
                        own.assign(name, line.clone());
                    }
                    work.script(body, &mut own, depth + 1);
                    state.merge(own);
                });
            }
            Command::For { name, words, body } => self.for_loop(name, words.as_deref(), body, state, depth, span),
            Command::Case { subject, arms } => self.case(subject, arms, state, depth, span),
            Command::Test(condition) => {
                let mut gathered = Gathered::default();
                self.condition(condition, state, depth, &mut gathered);
                set_by_match(condition).iter().for_each(|name| state.forget(name));
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
                // Nothing of it runs here.
                let (outer, aside, jobs) = (std::mem::take(&mut self.steps), self.aside, self.jobs.len());
                self.stage(body, None, &mut own, depth + 1);
                let steps = std::mem::replace(&mut self.steps, outer);
                self.aside = aside;
                self.jobs.truncate(jobs);
                let body = Rc::from(body.clone());
                self.defined.push(Defined {
                    body: Rc::clone(&body),
                    steps,
                    called: false,
                });
                if builtins::is_called_unasked(name) || catalog::lists(name) {
                    let mut gathered = Gathered::default();
                    gathered.doubt(
                        format!("a function takes the name `{name}`, which means something else"),
                        span,
                    );
                    self.push("(function)", &[], gathered, span);
                    state.forget_all();
                }
                state.define(name, body);
            }
        }
    }

    /// Calls a function of the script with these words, its name first.
    fn call(&mut self, body: &Rc<Stage>, args: &[Arg], state: &mut State, site: Site) {
        let words = args[1..].iter().map(|arg| arg.value.clone());
        let mut own = state.clone();
        own.positional = Some(positional(std::iter::once(Value::UNKNOWN).chain(words), 1, site));
        own.in_function = true;
        let returns = may_return(body, &own);
        self.stage(body, None, &mut own, site.depth + 1);
        let is_it = |defined: &&mut Defined| Rc::ptr_eq(&defined.body, body);
        self.defined
            .iter_mut()
            .filter(is_it)
            .for_each(|defined| defined.called = true);
        own.positional = state.positional.clone();
        if returns {
            state.forget_all();
        }
        // Of what it assigns, only its own variables are gone again.
        state.merge(own);
    }

    /// Some function is called, and which is not known.
    fn call_any(&mut self) {
        for defined in &mut self.defined {
            self.steps.append(&mut defined.steps);
        }
    }

    /// Adds what the functions do that were never called with words that are known; of those defined from here on, none is
    /// called any more.
    fn settle(&mut self, from: usize) {
        let defined = self.defined.split_off(from).into_iter();
        let uncalled = defined.filter(|defined| !defined.called);
        self.steps.extend(uncalled.flat_map(|defined| defined.steps));
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
        let mut uncounted = false;
        for word in words.unwrap_or_default() {
            self.substitutions(word, state, depth, &mut gathered);
            state.wrote |= self.aside.wrote;
            state.relinked |= self.aside.relinked;
            match lines::words(word, state, self) {
                Some(words) => values.extend(words.values),
                None => {
                    let expanded = expand(word, state, self);
                    uncounted |= is_uncounted(word, &expanded, state);
                    values.extend(expanded.into_iter().map(|arg| arg.value));
                }
            }
        }
        if words.is_none() {
            values.extend(state.positional.iter().flat_map(|it| it.words.iter().skip(1).cloned()));
        }
        let value = lines::one_of(&values);
        self.check_assignment(name, &value, state, span, &mut gathered);
        self.push("for", &[], gathered, span);
        if words.is_some()
            && let Some(texts) = value.alternatives().filter(|texts| texts.len() <= MAX_TURNS)
            && goes_by_turns(body, name, texts, state)
        {
            if !uncounted && values.iter().all(|value| value.literal().is_some()) {
                for turn in values {
                    state.assign(name, turn);
                    self.script(body, state, depth + 1);
                }
                return state.forget(name);
            }
            if self.turns(name, texts, body, state, depth) {
                return;
            }
        }
        forget_assigned(body, state);
        let mut own = state.clone();
        own.assign(name, value);
        self.turn(&mut own, true, |work, own| work.script(body, own, depth + 1));
        state.forget(name);
        state.merge(own);
        state.forget(name);
    }

    /// Reads a loop over names of the machine turn by turn, in whatever order they are and if there are fewer; `false` where a
    /// turn does not end in the directory where it began.
    fn turns(&mut self, name: &str, texts: &[String], body: &Script, state: &mut State, depth: usize) -> bool {
        let mut start = state.clone();
        forget_assigned(body, &mut start);
        if start.opaque {
            return false;
        }
        start.cwd = state.cwd.clone();
        loop {
            let first = self.steps.len();
            let mut after = start.clone();
            for text in texts {
                let mut own = start.clone();
                own.assign(name, Value::OneOf(vec![text.clone()]));
                self.script(body, &mut own, depth + 1);
                if own.cwd != start.cwd {
                    return false;
                }
                after.merge(own);
            }
            // What one turn does to files may come before any other.
            let before = start.files();
            let [_, planted, _] = self.done(&self.steps[first..], &after, false);
            start.add([after.wrote, planted, after.relinked]);
            if start.files() == before {
                after.forget(name);
                *state = after;
                return true;
            }
        }
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

/// An element of a pipeline as it was read.
struct Piece<'a> {
    stage: &'a Stage,
    input: Option<Input>,
    start: State,
    /// What it may have done to files.
    done: [bool; 3],
    /// It may run code, now or later.
    runs: bool,
    only_keeps: bool,
}

fn executes(step: &Step) -> bool {
    step.effects.iter().any(|effect| effect.spec.action == Action::Execute)
}

/// The path that a redirection writes.
fn written_anew(effect: &Effect) -> Option<PathBuf> {
    let [named, _] = effect.subject.paths().filter(|_| effect.spec.action == Action::Write)?;
    Some(named.to_path_buf())
}

/// The project's own code is told what to do by a file that the script may have written outside of the project.
fn unvouch(steps: &mut [Step]) {
    for step in steps {
        for effect in step
            .effects
            .iter_mut()
            .filter(|effect| effect.spec.action == Action::Execute)
        {
            effect.spec.place = Place::Other;
            effect.spec.undo = effect.spec.undo.max(Undo::Lost);
        }
        step.tier = risk::step_tier(step);
    }
}

/// What `$0` and so on are to code that is given these words, of which these first ones are counted whatever they are.
fn positional(words: impl Iterator<Item = Value>, counted: usize, site: Site) -> Positional {
    let words: Rc<[Value]> = words.collect();
    let is_one = |value: &Value| !matches!(value, Value::Unknown { single: false, .. });
    Positional {
        counted: !site.uncounted && words.iter().skip(counted).all(is_one),
        words,
    }
}

fn connects(steps: &[Step]) -> bool {
    steps
        .iter()
        .flat_map(|s| &s.effects)
        .any(|e| e.spec.action == Action::Connect)
}

/// Code that comes through a pipe from the network is the network's. What is read by code that the command itself gives is
/// data, unless that code may run what it reads.
fn run_from_network(steps: &mut [Step]) {
    for step in steps.iter_mut().filter(|step| !is_given_code(step)) {
        for effect in step.effects.iter_mut().filter(|e| e.spec.action == Action::Execute) {
            effect.spec.reach = effect.spec.reach.max(Reach::New);
        }
        step.tier = risk::step_tier(step);
    }
}

/// Code of another language than the shell's that names nothing by which it would run what it reads.
fn is_given_code(step: &Step) -> bool {
    const RUNS: &[&str] = &[
        "Function",
        "__",
        "`",
        "/dev/",
        "child",
        "compile",
        "eval",
        "exec",
        "getattr",
        "import(",
        "load(",
        "open",
        "pickle",
        "qx",
        "require",
        "send",
        "spawn",
        "subprocess",
        "system",
        "vm",
    ];
    let [Some(text)] = step.words.as_slice() else {
        return false;
    };
    let text = text.replace("json.load(", "");
    step.program == "(code)" && step.proven() && !RUNS.iter().any(|word| text.contains(word))
}
