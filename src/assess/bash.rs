//! Walks a script in the order it runs, with the state that one command hands to the next, and reads each command
//! through the catalog. The verdict of a script is the worst of every command in any branch, substitution or body.

use std::cell::Cell;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use super::builtins::{self, StateChange};
use super::input::{self, Input};
use super::names::{self, Names};
use super::seen::{Named, Seen};
use super::{git, glob, inline, lines, numbers, paths, roles, unlisted};
use crate::catalog::environment::EnvRisk;
use crate::catalog::{self, Feed, Inner, Reading, Role, grammar};
use crate::effect::{
    Action, Around, Assessment, Doubt, Effect, EffectSpec, Gap, Place, Reach, Step, Subject, Tier, Undo,
};
use crate::facts::git::Discovery;
use crate::facts::{self, Facts, Found};
use crate::place::{self, Purpose};
use crate::risk;
use crate::shell::ast::{
    Arithmetic, AssignedValue, Assignment, CaseArm, Command, Condition, Connector, Item, Parameter, ParameterOperation,
    Part, Pipeline, Redirect, RedirectKind, Script, Stage, Word,
};
use crate::shell::expansion::{PatternPart, Surroundings, counts, expand, expand_single};
use crate::shell::state::State;
use crate::shell::{self, Arg, Span, Value};

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
/// At most this many commands are guessed of a script that was not understood.
const MAX_GUESSES: usize = 400;
/// At most so many turns of a loop are read one after another.
const MAX_TURNS: usize = 16;
/// A number that a loop starts to count from is no longer.
const MAX_DIGITS: usize = 6;
/// Among this many first words of such a command, another one is looked for.
const MAX_INNER: usize = 24;
/// So many words of a command that stands among those of another one are looked at.
const MAX_GUESSED_WORDS: usize = 512;

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
    pub(super) git: git::Cache,
    pub(super) seen: Seen,
    pub(super) names: Names,
    /// How many commands were guessed among the words of others.
    guesses: usize,
    /// The words of a command are taken for commands.
    guessing: bool,
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

/// What is gathered about one step before it is rated.
#[derive(Default)]
pub struct Gathered {
    pub effects: Vec<Effect>,
    pub doubts: Vec<Doubt>,
    /// Every effect that was gathered, to find it again.
    known: HashSet<Effect>,
    around: Around,
    /// What the command reads from its standard input.
    input: Input,
}

impl Gathered {
    /// Something that was not understood.
    pub fn doubt(&mut self, why: impl Into<String>, span: Span) {
        self.doubts.push(Doubt {
            why: why.into(),
            span,
            gap: None,
        });
    }

    /// Something that the catalog does not list.
    pub fn unlisted(&mut self, gap: Gap, why: impl Into<String>, span: Span) {
        self.doubts.push(Doubt {
            why: why.into(),
            span,
            gap: Some(gap),
        });
    }

    /// Something that the step does to what is neither one path nor one host.
    pub fn effect(&mut self, spec: EffectSpec, target: impl Into<String>) {
        self.add(Effect::new(spec, target));
    }

    /// Something that the step does; the same twice is once.
    pub fn add(&mut self, effect: Effect) {
        if self.known.insert(effect.clone()) {
            self.effects.push(effect);
        }
    }

    /// Runs code that nobody vouches for.
    pub fn unvouched(&mut self, target: impl Into<String>) {
        let spec = EffectSpec {
            undo: Undo::Lost,
            place: Place::Other,
            ..EffectSpec::of(Action::Execute)
        };
        self.effect(spec, target);
    }
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

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl Surroundings for Work<'_> {
    fn variable(&self, name: &str, state: &State) -> Option<String> {
        match name {
            "HOME" => self.facts.home.as_ref()?.to_str().map(str::to_owned),
            "PWD" => state.cwd.as_ref()?.to_str().map(str::to_owned),
            "OLDPWD" => state.previous.as_ref()?.to_str().map(str::to_owned),
            _ => None,
        }
    }

    fn output(&self, script: &Script, state: &State) -> Option<String> {
        let cwd = state.cwd.as_ref().filter(|_| !state.wrote && !state.opaque)?;
        let directory = match plain_words(script)?.as_slice() {
            ["pwd"] => cwd.clone(),
            ["git", "rev-parse", "--show-toplevel"] => {
                match facts::git::discover(&self.facts.real(cwd), &mut facts::git::Found::new()) {
                    Discovery::Repository(found) => found.worktree,
                    Discovery::None | Discovery::Suspicious(_) => return None,
                }
            }
            _ => return None,
        };
        directory.to_str().map(str::to_owned)
    }

    fn home(&self, state: &State) -> Option<String> {
        match state.get("HOME") {
            Some(value) => value.literal().map(str::to_owned),
            None => self.variable("HOME", state),
        }
    }

    fn matches(&self, pattern: &[PatternPart], state: &State) -> Option<Vec<String>> {
        if state.wrote || !state.is_inner && self.names.matches_otherwise(self.facts) {
            None
        } else {
            self.seen.matches(pattern, state.cwd.as_deref(), || {
                glob::matches(pattern, state.cwd.as_deref(), self.facts)
            })
        }
    }

    fn keeps(&self, bytes: usize) -> bool {
        self.expanded.set(self.expanded.get().saturating_add(bytes));
        self.expanded.get() <= MAX_EXPANDED
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
            git: git::Cache::default(),
            seen: Seen::default(),
            names: Names::default(),
            guesses: 0,
            guessing: false,
            stages: 0,
            expanded: Cell::new(0),
            left_out: false,
        }
    }

    /// Whether git holds the file at this path unchanged.
    pub fn git_holds(&mut self, real: &Path) -> bool {
        self.git.holds(real, self.facts)
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
            self.push("(more)", Vec::new(), gathered, span);
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
        let mut io = Gathered {
            input: input::of(stage, piped, state, self),
            ..Gathered::default()
        };
        for redirect in &stage.redirects {
            self.redirect(redirect, state, depth, &mut io);
        }
        match &stage.command {
            Command::Simple { assignments, words } => self.simple(assignments, words, io, state, depth, stage.span),
            compound => {
                let input = lines::of_compound(&io.input, is_piped, stage, state, self);
                self.push("(redirection)", Vec::new(), io, stage.span);
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
                self.push("[[", Vec::new(), gathered, span);
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
                self.push("((", Vec::new(), gathered, span);
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
                    self.push("(function)", Vec::new(), gathered, span);
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
        self.push("for", Vec::new(), gathered, span);
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
        self.push("case", Vec::new(), gathered, span);
        for end in ends {
            state.merge(end);
        }
    }

    fn simple(
        &mut self,
        assignments: &[Assignment],
        words: &[Word],
        mut gathered: Gathered,
        state: &mut State,
        depth: usize,
        span: Span,
    ) {
        for word in words {
            self.substitutions(word, state, depth, &mut gathered);
            check_spelling(word, &mut gathered);
        }
        let mut args = Vec::new();
        let mut listed = Vec::new();
        for word in words {
            let expanded = expand(word, state, self);
            listed.extend(expanded.iter().map(|arg| arg.value.literal().map(str::to_owned)));
            args.extend(expanded);
            if args.len() > MAX_WORDS {
                gathered.doubt("the command has more words than are looked at", span);
                break;
            }
        }
        let reads = args.first().is_some_and(|arg| arg.value.literal() == Some("read"));
        for assignment in assignments {
            // `IFS= read` says only how that one line is split, and what is read is not known anyway.
            if reads && assignment.name == "IFS" && matches!(assignment.value, AssignedValue::Scalar(_)) {
                if let AssignedValue::Scalar(word) = &assignment.value {
                    self.substitutions(word, state, depth, &mut gathered);
                }
                continue;
            }
            self.assignment(assignment, words.is_empty(), state, depth, &mut gathered);
        }
        if args.is_empty() {
            if !words.is_empty() {
                gathered.doubt("the command's name is not known", span);
            }
            if !(gathered.effects.is_empty() && gathered.doubts.is_empty()) {
                self.push("(assignment)", Vec::new(), gathered, span);
            }
            return;
        }
        self.commands.push(listed);
        let site = Site {
            span,
            depth,
            written: true,
        };
        let args = names::resolved(words, args, state, site, self, &mut gathered);
        self.command(&args, gathered, state, site);
    }

    fn assignment(
        &mut self,
        assignment: &Assignment,
        lasting: bool,
        state: &mut State,
        depth: usize,
        gathered: &mut Gathered,
    ) {
        let value = match &assignment.value {
            AssignedValue::Scalar(word) => {
                self.substitutions(word, state, depth, gathered);
                check_spelling(word, gathered);
                expand_single(word, state, self)
            }
            AssignedValue::Array(words) => {
                for word in words {
                    self.substitutions(word, state, depth, gathered);
                }
                Value::UNKNOWN
            }
        };
        let value = if assignment.append { Value::UNKNOWN } else { value };
        if lasting {
            self.check_assignment(&assignment.name, &value, state, assignment.span, gathered);
            match &assignment.value {
                AssignedValue::Scalar(word) if !assignment.append && counts(word, state) => {
                    state.count(&assignment.name);
                }
                AssignedValue::Scalar(_) | AssignedValue::Array(_) => state.assign(&assignment.name, value),
            }
        } else {
            self.check_environment(&assignment.name, &value, assignment.span, gathered);
            // A builtin, a function or an inner shell sees it, and it may stay.
            state.forget(&assignment.name);
        }
    }

    /// A variable set for a program that runs: inert, or a doubt.
    pub fn check_environment(&self, name: &str, value: &Value, span: Span, gathered: &mut Gathered) {
        match catalog::environment::assignment(name, value) {
            EnvRisk::Inert => {}
            EnvRisk::Hazard(why) => {
                gathered.doubt(format!("`{name}` {why}"), span);
                gathered.unvouched(name);
            }
            EnvRisk::Unknown => gathered.doubt(format!("what `{name}` changes is not known"), span),
        }
    }

    /// A shell variable set for later: it matters if it is, or becomes, part of the environment or of the shell itself.
    pub fn check_assignment(&self, name: &str, value: &Value, state: &State, span: Span, gathered: &mut Gathered) {
        let special = catalog::environment::obeyed_by_shell(name);
        if special || self.facts.environment.contains(name) || state.exported.contains(name) {
            self.check_environment(name, value, span, gathered);
        } else if let EnvRisk::Hazard(why) = catalog::environment::assignment(name, value) {
            gathered.doubt(format!("`{name}` {why}"), span);
            gathered.unvouched(name);
        }
    }

    fn redirect(&mut self, redirect: &Redirect, state: &mut State, depth: usize, gathered: &mut Gathered) {
        let actions: &[Action] = match &redirect.kind {
            RedirectKind::Read(_) => &[Action::Read],
            RedirectKind::Write(_)
            | RedirectKind::WriteBoth(_)
            | RedirectKind::Append(_)
            | RedirectKind::AppendBoth(_) => &[Action::Write],
            RedirectKind::ReadWrite(_) => &[Action::Read, Action::Write],
            RedirectKind::Duplicate(_) | RedirectKind::Close => return,
            RedirectKind::HereDoc(word) | RedirectKind::HereString(word) => {
                self.substitutions(word, state, depth, gathered);
                return;
            }
        };
        let appends = matches!(redirect.kind, RedirectKind::Append(_) | RedirectKind::AppendBoth(_));
        let (RedirectKind::Read(word)
        | RedirectKind::Write(word)
        | RedirectKind::WriteBoth(word)
        | RedirectKind::Append(word)
        | RedirectKind::AppendBoth(word)
        | RedirectKind::ReadWrite(word)) = &redirect.kind
        else {
            return;
        };
        self.substitutions(word, state, depth, gathered);
        // zsh does not expand as bash does here, so only one plain word counts.
        let targets = match expand(word, state, self).as_slice() {
            [
                Arg {
                    value: Value::Numbered { before, after },
                    ..
                },
            ] => numbers::files(before, after, state, self),
            [one] => one.value.clone(),
            _ => Value::UNKNOWN,
        };
        let targets = targets.alternatives().map(<[String]>::to_vec);
        let Some(targets) = targets else {
            gathered.doubt("the file that is redirected is not known", redirect.span);
            return;
        };
        let twice = matches!(redirect.kind, RedirectKind::WriteBoth(_) | RedirectKind::AppendBoth(_));
        for target in targets {
            if twice && target.contains(['$', '`']) {
                gathered.doubt("bash expands the word after `>&` again", redirect.span);
            }
            if let Some(host) = target
                .strip_prefix("/dev/tcp/")
                .or_else(|| target.strip_prefix("/dev/udp/"))
            {
                let host = host.split('/').next().unwrap_or_default();
                gathered.effect(
                    EffectSpec {
                        reach: Reach::New,
                        ..EffectSpec::of(Action::Connect)
                    },
                    host,
                );
                continue;
            }
            let Some(path) = paths::absolute(&target, state.cwd.as_deref()) else {
                gathered.doubt("the directory it runs in is not known", redirect.span);
                continue;
            };
            for &action in actions {
                for mut effect in paths::effects(action, &path, self).iter().cloned() {
                    if appends {
                        effect.spec.undo = Undo::Nothing;
                    }
                    state.wrote |= action == Action::Write && effect.spec.place != Place::Nowhere;
                    gathered.add(effect);
                }
            }
        }
    }

    /// Runs the scripts inside a word and notes the variables that it shows.
    fn substitutions(&mut self, word: &Word, state: &State, depth: usize, gathered: &mut Gathered) {
        for part in &word.parts {
            self.part(part, state, depth, word.span, gathered);
        }
    }

    fn part(&mut self, part: &Part, state: &State, depth: usize, span: Span, gathered: &mut Gathered) {
        match part {
            Part::Literal(_) | Part::Quoted(_) | Part::Glob(_) | Part::Tilde(_) => {}
            Part::DoubleQuoted(parts) => {
                for part in parts {
                    self.part(part, state, depth, span, gathered);
                }
            }
            Part::Brace(alternatives) => {
                for part in alternatives.iter().flatten() {
                    self.part(part, state, depth, span, gathered);
                }
            }
            Part::CommandSubstitution(script) | Part::ProcessSubstitution { script, .. } => {
                if !self.too_deep(depth + 1, span) {
                    let mut own = state.clone();
                    self.script(script, &mut own, depth + 1);
                    self.aside.wrote |= own.wrote;
                    self.aside.relinked |= own.relinked;
                }
            }
            Part::Arithmetic(expression) => self.inner_arithmetic(expression, state, depth, gathered),
            Part::Parameter(parameter) => self.parameter(parameter, state, depth, span, gathered),
        }
    }

    fn parameter(&mut self, parameter: &Parameter, state: &State, depth: usize, span: Span, gathered: &mut Gathered) {
        self.disclosure(&parameter.name, state, gathered);
        match &parameter.operation {
            None | Some(ParameterOperation::Length) => {}
            Some(ParameterOperation::Default(operator, word)) => {
                self.substitutions(word, state, depth, gathered);
                if operator.ends_with('=') {
                    // The assignment is not followed, so nothing may rest on the variable.
                    self.check_assignment(&parameter.name, &Value::UNKNOWN, state, span, gathered);
                    let counts = expand_single(word, state, self).literal().is_some_and(is_digits);
                    if state.get(&parameter.name).is_some() || !counts {
                        gathered.doubt(format!("`{}` may be assigned here", parameter.name), span);
                    }
                }
            }
            Some(ParameterOperation::Strip(_, word) | ParameterOperation::Case(_, Some(word))) => {
                self.substitutions(word, state, depth, gathered);
            }
            Some(ParameterOperation::Case(_, None)) => {}
            Some(ParameterOperation::Replace(_, pattern, replacement)) => {
                self.substitutions(pattern, state, depth, gathered);
                if let Some(word) = replacement {
                    self.substitutions(word, state, depth, gathered);
                }
            }
            Some(ParameterOperation::Substring(offset, length)) => {
                self.inner_arithmetic(offset, state, depth, gathered);
                if let Some(length) = length {
                    self.inner_arithmetic(length, state, depth, gathered);
                }
            }
        }
    }

    /// Showing a variable of the session's environment may show a secret.
    pub fn disclosure(&self, name: &str, state: &State, gathered: &mut Gathered) {
        // What the script may have assigned is its own, but a variable of the session only if it surely was replaced.
        let inherited = self.facts.environment.contains(name);
        let replaced = |value: &Value| !inherited || !matches!(value, Value::Unknown { .. });
        let Named { printable, secret } = self.seen.variable(name);
        if state.get(name).is_some_and(replaced) || printable {
            return;
        }
        let place = if secret {
            Place::Secret
        } else if inherited {
            Place::Nowhere
        } else {
            return;
        };
        gathered.effect(
            EffectSpec {
                place,
                ..EffectSpec::of(Action::Disclose)
            },
            format!("${name}"),
        );
    }

    /// Arithmetic inside a word. What it assigns is not followed, so nothing may rest on it.
    fn inner_arithmetic(&mut self, expression: &Arithmetic, state: &State, depth: usize, gathered: &mut Gathered) {
        self.arithmetic(expression, state, depth, gathered);
        for name in expression.assigned.iter().filter(|name| state.get(name).is_some()) {
            gathered.doubt(format!("`{name}` is assigned by arithmetic"), expression.span);
        }
    }

    /// bash evaluates the value of a name in arithmetic again, substitutions and all.
    fn arithmetic(&mut self, expression: &Arithmetic, state: &State, depth: usize, gathered: &mut Gathered) {
        for part in &expression.parts {
            self.part(part, state, depth, expression.span, gathered);
            if !matches!(part, Part::Parameter(p) if self.is_number(&p.name, state) && p.operation.is_none()) {
                gathered.doubt(
                    "what is inserted here is evaluated again as arithmetic",
                    expression.span,
                );
            }
        }
        for name in &expression.names {
            if !self.is_number(name, state) {
                gathered.doubt(
                    format!("the value of `{name}` is evaluated again as arithmetic"),
                    expression.span,
                );
            }
        }
        for name in &expression.assigned {
            self.check_assignment(name, &Value::UNKNOWN, state, expression.span, gathered);
        }
    }

    fn is_number(&self, name: &str, state: &State) -> bool {
        match state.get(name) {
            Some(_) if state.is_number(name) => true,
            Some(value) => value
                .alternatives()
                .is_some_and(|texts| texts.iter().all(|text| is_digits(text))),
            None => {
                [
                    "?", "#", "$", "!", "RANDOM", "SECONDS", "LINENO", "PPID", "UID", "EUID", "BASHPID",
                ]
                .contains(&name)
                    // What nobody has set is zero; what the shell itself sets may hold any text of the script.
                    || !state.opaque
                        && !self.facts.environment.contains(name)
                        && !catalog::environment::set_by_shell(name)
                        && name.starts_with(|c: char| c.is_ascii_alphabetic())
            }
        }
    }

    fn condition(&mut self, condition: &Condition, state: &State, depth: usize, gathered: &mut Gathered) {
        match condition {
            Condition::Not(inner) => self.condition(inner, state, depth, gathered),
            Condition::And(left, right) | Condition::Or(left, right) => {
                self.condition(left, state, depth, gathered);
                self.condition(right, state, depth, gathered);
            }
            Condition::Word(word) => self.substitutions(word, state, depth, gathered),
            Condition::Unary(operator, word) => {
                self.substitutions(word, state, depth, gathered);
                let value = expand_single(word, state, self);
                match operator.as_str() {
                    "-n" | "-z" | "-t" | "-o" => {}
                    "-v" | "-R" => gathered.doubt(format!("`{operator}` evaluates the name it is given"), word.span),
                    _ => roles::path(Action::Inspect, &Arg { value, span: word.span }, state, self, gathered),
                }
            }
            Condition::Binary(left, operator, right) => {
                for word in [left, right] {
                    self.substitutions(word, state, depth, gathered);
                    let value = expand_single(word, state, self);
                    match operator.as_str() {
                        "==" | "=" | "!=" | "=~" | "<" | ">" => {}
                        "-nt" | "-ot" | "-ef" => {
                            roles::path(Action::Inspect, &Arg { value, span: word.span }, state, self, gathered);
                        }
                        _ => {
                            let counts = matches!(word.parts.as_slice(), [Part::Parameter(p)] if p.operation.is_none() && p.index.is_none() && self.is_number(&p.name, state));
                            if !counts
                                && !value
                                    .alternatives()
                                    .is_some_and(|texts| texts.iter().all(|text| is_digits(text)))
                            {
                                gathered.doubt(format!("`{operator}` evaluates this word as arithmetic"), word.span);
                            }
                        }
                    }
                }
            }
        }
    }

    /// Reads one command: its words are computed, its program first.
    pub fn command(&mut self, args: &[Arg], mut gathered: Gathered, state: &mut State, site: Site) {
        state.wrote |= self.aside.wrote;
        state.relinked |= self.aside.relinked;
        if self.too_deep(site.depth, site.span) {
            return;
        }
        gathered.around = Around {
            effects: gathered.effects.len(),
            doubts: gathered.doubts.len(),
        };
        let Some(first) = args.first() else { return };
        if !site.written {
            let words = args.iter().map(|arg| arg.value.literal().map(str::to_owned));
            self.commands.push(words.collect());
        }
        let Some(name) = first.value.literal().map(str::to_owned) else {
            gathered.doubt("which program runs is not known", first.span);
            gathered.unvouched("a program that is not known");
            let shown = first
                .value
                .alternatives()
                .map_or_else(|| "?".to_owned(), |all| all.join("|"));
            self.push(&shown, args.to_vec(), gathered, site.span);
            state.forget_all();
            state.wrote = true;
            return;
        };
        // What a wrapper runs is no function.
        let function = state.function(&name).filter(|_| site.written);
        if function.is_some() {
            // Its body was read where it was defined.
            state.forget_all();
        }
        if function == Some(false) {
            gathered.doubt(format!("`{name}` may be a function here"), first.span);
        }
        if function == Some(true) {
            self.push(&name, args.to_vec(), gathered, site.span);
            return;
        }
        if builtins::run(&name, args, state, site, self) {
            self.push(&name, args.to_vec(), gathered, site.span);
            return;
        }
        let entry = match self.program(&name, first.span, state, &mut gathered) {
            Program::Entry(entry) => entry,
            Program::Path(path) => {
                let effect = paths::execute(&path, self, state.wrote);
                gathered.add(effect);
                self.as_its_name_says(&path, args, state, &mut gathered);
                self.words_outside(args, state, &mut gathered);
                unlisted::raise(args, site.span, state, self, &mut gathered);
                state.wrote = true;
                self.push(&name, args.to_vec(), gathered, site.span);
                return;
            }
            Program::Unknown => {
                gathered.unvouched(&name);
                state.wrote = true;
                self.push(&name, args.to_vec(), gathered, site.span);
                return;
            }
        };
        match read_as(&entry, args) {
            None => {
                gathered.unlisted(Gap::Program, format!("`{name}` is not in the catalog"), first.span);
                gathered.unvouched(&name);
                self.words_outside(args, state, &mut gathered);
                unlisted::raise(args, site.span, state, self, &mut gathered);
                state.forget_all();
                state.wrote = true;
                self.push(&name, args.to_vec(), gathered, site.span);
            }
            Some(reading) => {
                let named = Entry {
                    entry: &entry,
                    name: &name,
                    args,
                };
                self.reading(named, reading, gathered, state, site);
            }
        }
    }

    fn reading(
        &mut self,
        named: Entry<'_>,
        mut reading: Reading,
        mut gathered: Gathered,
        state: &mut State,
        site: Site,
    ) {
        let Entry { entry, name, args } = named;
        let input = std::mem::take(&mut gathered.input);
        if let Some(role) = reading.input
            && !input::as_code(role, &input, &mut reading, site.span)
        {
            gathered.unvouched("code from its input");
        }
        for misread in &reading.doubts {
            gathered.unlisted(Gap::Word, misread.why.clone(), misread.span);
        }
        let mut own = state.clone();
        if let Some(directory) = &reading.directory {
            own.cwd = roles::directory(directory, state, self, &mut gathered);
        }
        for effect in &reading.effects {
            gathered.add(self.vouched(*effect, &own));
        }
        for (spec, what) in std::mem::take(&mut reading.told) {
            gathered.effect(spec, what);
        }
        let mut uses = reading.uses;
        if entry == "git" && reading.subcommand == "diff" {
            git::widen(&mut uses, &own, self.facts);
        }
        roles::apply(&uses, &own, self, &mut gathered);
        roles::beside(&reading.beside, &own, self, &mut gathered);
        roles::sought(&uses, !reading.inner.is_empty(), &mut gathered);
        let own_effects = gathered.effects.iter().skip(gathered.around.effects);
        if own_effects.clone().any(|effect| effect.spec.action == Action::Execute) {
            self.words_outside(args, &own, &mut gathered);
        }
        if entry == "git" {
            git::check(&own, reading.subcommand, site.span, self, &mut gathered);
        }
        if ["sh", "dash"].contains(&entry) && reading.inner.iter().any(nests_subshells) {
            gathered.doubt("a plain sh reads `((` as two subshells", site.span);
        }
        builtins::after(entry, args, &mut gathered, state, self);
        let changes = |effect: &Effect| {
            !matches!(
                effect.spec.action,
                Action::Inspect | Action::Read | Action::Disclose | Action::Connect
            )
        };
        state.wrote |= gathered.effects.iter().any(changes) || !gathered.doubts.is_empty();
        self.push(name, args.to_vec(), gathered, site.span);
        for used in uses.iter().filter(|used| used.role == Role::EnvAssign) {
            builtins::assigned(&used.arg)
                .iter()
                .for_each(|(name, _)| own.forget(name));
        }
        for inner in reading.inner {
            if builtins::runs_in_this_shell(entry) {
                self.inner(inner, &input, state, site);
            } else if entry == "time" {
                // A word of the shell, or a program where it is quoted or stands behind an assignment.
                let mut after = state.clone();
                self.inner(inner, &input, &mut after, site);
                state.merge(after);
            } else {
                let mut child = own.child();
                self.inner(inner, &input, &mut child, site);
                own.after_child(&child);
            }
        }
        state.after_child(&own);
    }

    /// A program given by its path probably does what its name says. That may only raise.
    fn as_its_name_says(&mut self, path: &Path, args: &[Arg], state: &State, gathered: &mut Gathered) {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return;
        };
        if let Some(reading) = read_as(name, args) {
            for effect in &reading.effects {
                gathered.effect(*effect, "");
            }
            let mut guessed = Gathered::default();
            roles::apply(&reading.uses, state, self, &mut guessed);
            gathered.effects.extend(guessed.effects);
        }
    }

    /// What an entry calls the project's own code is that only in the project, and as long as nothing changed it.
    fn vouched(&self, spec: EffectSpec, state: &State) -> Effect {
        let real = state.cwd.as_ref().map(|cwd| self.facts.real(cwd));
        let in_project = real.as_ref().is_some_and(|real| self.facts.in_project(real));
        if spec.action != Action::Execute || in_project && !state.wrote {
            return Effect::new(spec, "");
        }
        let spec = EffectSpec {
            place: Place::Other,
            undo: spec.undo.max(Undo::Lost),
            ..spec
        };
        let named = state.cwd.clone().unwrap_or_default();
        Effect {
            subject: Subject::Path {
                real: real.unwrap_or_default(),
                named,
            },
            ..Effect::new(spec, "")
        }
    }

    /// What a program does with its words is not known where it runs code that nobody reads. That they name what lies
    /// outside the project may only raise.
    fn words_outside(&mut self, args: &[Arg], state: &State, gathered: &mut Gathered) {
        for arg in args.iter().skip(1) {
            for text in arg.value.alternatives().unwrap_or_default() {
                for path in paths::named_in(text, state.cwd.as_deref(), self.facts) {
                    let effects = paths::effects(Action::Read, &path, self);
                    for effect in effects.iter().filter(|effect| !self.is_inside(effect)) {
                        let mut effect = effect.clone();
                        // What it runs may be there.
                        if effect.spec.place == Place::Scratch {
                            effect.spec.place = Place::Other;
                        }
                        gathered.add(effect);
                    }
                    if place::of(&self.facts.real(&path), self.facts, Purpose::Change) == Place::Startup {
                        let spec = EffectSpec {
                            place: Place::Startup,
                            ..EffectSpec::of(Action::Read)
                        };
                        gathered.effect(spec, paths::shown(&path, self.facts));
                    }
                }
            }
        }
    }

    fn is_inside(&self, effect: &Effect) -> bool {
        let in_project = |paths: [&Path; 2]| paths.iter().all(|path| self.facts.in_project(path));
        effect.spec.place != Place::Secret && effect.subject.paths().is_some_and(in_project)
    }

    /// Runs what a command runs, in the state of the shell that runs it.
    fn inner(&mut self, inner: Inner, input: &Input, state: &mut State, site: Site) {
        let site = site.wrapped();
        match inner {
            Inner::Command { args } => {
                let gathered = Gathered {
                    input: input.clone(),
                    ..Gathered::default()
                };
                self.command(&args, gathered, state, site);
            }
            Inner::Fed { args, feed } => self.fed(&args, &feed, input, state, site),
            Inner::Elsewhere { args, by } => self.elsewhere(&args, &by, site),
            Inner::Code {
                role: Role::Shell,
                code,
                words,
            } => {
                state.positional = words.map(|words| words.into_iter().map(|word| word.value).collect());
                self.code(&code, state, site);
                state.positional = None;
            }
            Inner::Code { role, code, .. } => {
                let mut gathered = Gathered::default();
                if inline::is_harmless(role, &code, state, self, &mut gathered) {
                    return self.push("(code)", vec![code], gathered, site.span);
                }
                gathered.unvouched("code given in the command");
                self.push("(code)", vec![code], gathered, site.span);
                state.wrote = true;
                state.relinked = true;
            }
        }
    }

    /// A command whose words come from data: judged with none, with one and with all of them.
    fn fed(&mut self, args: &[Arg], feed: &Feed, input: &Input, state: &mut State, site: Site) {
        let known = input::words(input, feed);
        let unknown = Value::Unknown {
            prefix: String::new(),
            single: feed.placeholder.is_some(),
        };
        let is_known = known.is_some();
        let data = known.unwrap_or_else(|| vec![unknown]);
        let arg = |value: &Value| Arg {
            value: value.clone(),
            span: site.span,
        };
        if let Some(placeholder) = &feed.placeholder {
            for value in &data {
                let args: Vec<Arg> = args
                    .iter()
                    .map(|arg| grammar::find::replace(arg, placeholder, value))
                    .collect();
                self.command(&args, Gathered::default(), state, site);
            }
            return;
        }
        let with = |words: &[Value]| args.iter().cloned().chain(words.iter().map(arg)).collect::<Vec<Arg>>();
        if is_known {
            // Without words it may act on the current directory; that it lacks them is no doubt of what it does with
            // them.
            let first = self.steps.len();
            self.command(args, Gathered::default(), state, site);
            for step in &mut self.steps[first..] {
                step.doubts.clear();
                step.tier = risk::step_tier(step);
            }
            self.command(&with(&data[..data.len().min(1)]), Gathered::default(), state, site);
            if self.steps[first..]
                .iter()
                .all(|step| step.proven() && step.tier == Tier::Safe)
            {
                self.steps.truncate(first);
            }
        }
        // One of several paths stands for any number of these.
        let many = data.iter().any(|value| value.literal().is_none());
        let again = if many { data.as_slice() } else { &[] };
        let all = [data.as_slice(), again].concat();
        self.command(&with(&all), Gathered::default(), state, site);
    }

    /// A command that runs in a container, on another machine, or at some point of another one. What it does there is not
    /// what it would do here: only what nothing brings back counts, and code from the network, besides what the entry says
    /// of running it at all.
    fn elsewhere(&mut self, args: &[Arg], by: &str, site: Site) {
        let first = self.steps.len();
        self.command(args, Gathered::default(), &mut State::default(), site);
        let is_loss = |effect: &Effect| {
            let loses = matches!(
                effect.spec.action,
                Action::Delete | Action::Send | Action::Control | Action::Execute
            ) || effect.spec.undo == Undo::Forever;
            loses && risk::tier(effect.spec) == Tier::Critical
        };
        for step in &mut self.steps[first..] {
            step.doubts.clear();
            step.effects.retain(is_loss);
            for effect in &mut step.effects {
                effect.subject = Subject::None;
                let what = if effect.target.is_empty() {
                    "something"
                } else {
                    &effect.target
                };
                effect.target = format!("{what}, {by}");
            }
            step.around = Around::default();
            step.tier = risk::step_tier(step);
        }
        let kept = self
            .steps
            .split_off(first)
            .into_iter()
            .filter(|step| !step.effects.is_empty());
        self.steps.extend(kept.collect::<Vec<_>>());
    }

    /// Runs shell code that is given as a word.
    pub fn code(&mut self, code: &Arg, state: &mut State, site: Site) {
        let mut gathered = Gathered::default();
        match code.value.literal().map(shell::parse) {
            Some(Ok(script)) if !self.too_deep(site.depth, site.span) => {
                // Spans of the inner script mean nothing in the outer one.
                let first = self.steps.len();
                self.script(&script, state, site.depth + 1);
                for step in &mut self.steps[first..] {
                    step.span = code.span;
                    step.doubts.iter_mut().for_each(|doubt| doubt.span = code.span);
                }
                return;
            }
            Some(Ok(_)) => return,
            Some(Err(refusal)) => {
                gathered.doubt(format!("code not understood: {}", refusal.what), code.span);
                if let Some(text) = code.value.literal() {
                    self.scan(text, state.cwd.clone());
                }
            }
            None => gathered.doubt("the code that is run is not known", code.span),
        }
        gathered.unvouched("code given in the command");
        state.forget_all();
        state.wrote = true;
        self.push("(code)", vec![code.clone()], gathered, site.span);
    }

    /// Which catalog entry, or which file, a command's name means.
    fn program(&mut self, name: &str, span: Span, state: &State, gathered: &mut Gathered) -> Program {
        if name.contains('/') {
            let Some(path) = paths::absolute(name, state.cwd.as_deref()) else {
                gathered.doubt("the directory it runs in is not known", span);
                return Program::Unknown;
            };
            let real = self.facts.real(&path);
            let system = [&path, &real].iter().all(|p| {
                place::of(p, self.facts, Purpose::Change) == Place::System
                    && !p.starts_with("/proc")
                    && !p.starts_with("/dev")
                    && !p.starts_with("/var")
                    && !p.starts_with("/run")
            });
            return match path.file_name().and_then(|name| name.to_str()) {
                Some(base) if builtins::state_change(base) != StateChange::Nothing && base != "printf" => {
                    gathered.doubt(
                        format!("`{base}` of a file does not do what the shell's own does"),
                        span,
                    );
                    Program::Unknown
                }
                Some(base) if system && name.starts_with('/') => Program::Entry(base.to_owned()),
                _ => Program::Path(path),
            };
        }
        if builtins::is_builtin(name) {
            return Program::Entry(name.to_owned());
        }
        match self.seen.find(name, self.facts) {
            Found::Nowhere => Program::Entry(name.to_owned()),
            Found::Relative => {
                gathered.doubt(
                    "PATH holds a relative directory, so which program runs depends on where",
                    span,
                );
                Program::Unknown
            }
            Found::File { path, real } => {
                let ours =
                    |p: &PathBuf| self.facts.in_project(p) || place::of(p, self.facts, Purpose::Look) == Place::Scratch;
                if ours(&path) || ours(&real) {
                    let shown = paths::shown(&path, self.facts);
                    gathered.doubt(
                        format!("on this PATH `{name}` is {shown}, which the agent can write"),
                        span,
                    );
                    return Program::Path(path);
                }
                if real
                    .file_name()
                    .is_some_and(|file| file == "busybox" || file == "toybox")
                {
                    gathered.doubt(
                        format!("`{name}` is busybox here, whose options are not in the catalog"),
                        span,
                    );
                }
                names::chosen(name, &path, span, state, self, gathered);
                Program::Entry(name.to_owned())
            }
        }
    }

    /// Reads what may be a command among the words of another one. It is kept where it is critical, and only raises.
    pub fn guess(&mut self, args: Vec<Arg>, span: Span, state: &State) {
        self.guesses += 1;
        if self.guessing || self.guesses > MAX_GUESSES {
            return;
        }
        let known = (self.steps.len(), self.doubts.len(), self.commands.len());
        let aside = self.aside;
        self.guessing = true;
        let mut gathered = Gathered::default();
        gathered.doubt("guessed from the words of a command that is not known", span);
        let site = Site {
            span,
            depth: 1,
            written: false,
        };
        self.command(&args, gathered, &mut state.child(), site);
        self.guessing = false;
        self.aside = aside;
        let is_worse = self.steps[known.0..].iter().any(|step| step.tier == Tier::Critical);
        if !is_worse {
            self.steps.truncate(known.0);
            self.doubts.truncate(known.1);
            self.commands.truncate(known.2);
        }
    }

    /// Where something was not understood, or runs text that nobody vouches for, a danger may stand in that text: in a
    /// variable, an alias, a here-document, or as words of another program. It only raises.
    fn suspect(&mut self, source: &str, cwd: Option<PathBuf>) {
        let worst = self.steps.iter().map(|step| step.tier).max().unwrap_or(Tier::Safe);
        let runs_anything = |effect: &Effect| effect.spec.action == Action::Execute && effect.spec.undo >= Undo::Lost;
        let is_suspect = |step: &Step| !step.proven() || step.effects.iter().any(runs_anything);
        if worst == Tier::Critical || !self.steps.iter().any(is_suspect) {
            return;
        }
        let mut guesses = Work::new(self.facts);
        guesses.scan(source, cwd);
        self.steps
            .extend(guesses.steps.into_iter().filter(|step| step.tier > worst));
    }

    /// Names the dangers in a script that was refused. It only raises.
    fn scan(&mut self, source: &str, cwd: Option<PathBuf>) {
        let mut seen = HashSet::new();
        let found = shell::scan(source)
            .into_iter()
            .flat_map(with_inner_commands)
            .filter(|words| seen.insert(words.clone()));
        let before = self.steps.len();
        for (number, words) in found.enumerate() {
            if number == MAX_GUESSES {
                return self.too_much(Span::default());
            }
            let span = Span {
                start: 0,
                end: u32::try_from(source.len()).unwrap_or(u32::MAX),
            };
            let args: Vec<Arg> = words
                .into_iter()
                .map(|text| Arg {
                    value: Value::Literal(self.at_home(text)),
                    span,
                })
                .collect();
            let mut gathered = Gathered::default();
            gathered.doubt("guessed from a script that was not understood", span);
            let site = Site {
                span,
                depth: 1,
                written: false,
            };
            self.command(&args, gathered, &mut State::in_directory(cwd.clone()), site);
        }
        let steps = &mut self.steps[before..];
        if connects(steps) {
            // A shell without words reads code, maybe what another guess fetched.
            steps
                .chunks_mut(1)
                .filter(|step| step[0].words.len() == 1 && SHELLS.contains(&step[0].program.as_str()))
                .for_each(run_from_network);
        }
    }

    /// A word of a script that was not understood, the home at its start written out.
    pub fn at_home(&self, word: String) -> String {
        // All that is in a directory is as good as the directory, and zsh may start a name with `=`.
        let word = match word.strip_suffix("/*") {
            Some("") => "/".to_owned(),
            Some(directory) => directory.to_owned(),
            None => word,
        };
        let word = word.strip_prefix('=').map(str::to_owned).unwrap_or(word);
        let rest = ["~", "$HOME", "${HOME}"]
            .iter()
            .find_map(|home| word.strip_prefix(home))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest, self.facts.home.as_ref().and_then(|home| home.to_str())) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            (Some(_), None) | (None, _) => word,
        }
    }

    /// Adds a step, unless there is nothing to say of it.
    fn push(&mut self, program: &str, args: Vec<Arg>, gathered: Gathered, span: Span) {
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

/// A command that the catalog has read.
struct Entry<'a> {
    /// As the catalog spells its name.
    entry: &'a str,
    /// As it stands in the script.
    name: &'a str,
    args: &'a [Arg],
}

/// Reads a command's words by the entry of this name, however the command itself was written.
fn read_as(entry: &str, args: &[Arg]) -> Option<Reading> {
    let mut words = args.to_vec();
    words.first_mut()?.value = Value::Literal(entry.to_owned());
    catalog::read(&words)
}

/// The words of a command, and from each of the first of them on that is a program's name: the command that it may run.
fn with_inner_commands(words: Vec<String>) -> Vec<Vec<String>> {
    let inner = (1..words.len().min(MAX_INNER)).filter(|at| catalog::lists(&words[*at]));
    let stretch = |at: usize| words[at..words.len().min(at + MAX_GUESSED_WORDS)].to_vec();
    let mut all: Vec<Vec<String>> = inner.map(stretch).collect();
    all.push(words);
    all
}

/// Whether code holds `((`, which bash and zsh read as arithmetic and other shells as commands.
fn nests_subshells(inner: &Inner) -> bool {
    let Inner::Code {
        role: Role::Shell,
        code,
        ..
    } = inner
    else {
        return false;
    };
    let Some(text) = code.value.literal() else {
        return false;
    };
    text.match_indices("((").any(|(at, _)| !text[..at].ends_with('$'))
}

enum Program {
    /// The entry of this name.
    Entry(String),
    /// This file.
    Path(PathBuf),
    Unknown,
}

/// The words of a script that is one plain command without redirections.
fn plain_words(script: &Script) -> Option<Vec<&str>> {
    script.lone_command()?.iter().map(plain_text).collect()
}

fn plain_text(word: &Word) -> Option<&str> {
    match word.parts.as_slice() {
        [Part::Literal(text) | Part::Quoted(text)] => Some(text),
        _ => None,
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
    if words.is_none() || values.is_empty() || values.len() > MAX_TURNS || !values.iter().all(is_literal) {
        return None;
    }
    let mut changes = Changes::default();
    changes.of_script(body);
    (changes.moves && !changes.jumps && !changes.anything).then_some(values)
}

/// Forgets what a loop's body may change, before it is read once for every turn.
fn forget_assigned(script: &Script, state: &mut State) {
    let mut changes = Changes::default();
    changes.of_script(script);
    if changes.anything || state.has_functions() {
        state.forget_all();
    }
    if changes.positional {
        state.positional = None;
    }
    let counted = changes.counted(state);
    for name in changes.names {
        state.forget(&name);
    }
    for (name, _) in changes.counts {
        match counted.contains(&name) {
            true => state.count(&name),
            false => state.forget(&name),
        }
    }
    for name in changes.fixed {
        state.freeze(&name);
    }
    if changes.directory {
        state.forget_directory();
    }
}

/// Whether code leaves the shell that runs it as it was: its directory, its variables, its names.
pub fn changes_nothing(code: &str) -> bool {
    let mut changes = Changes::default();
    if let Ok(script) = shell::parse(code) {
        changes.of_script(&script);
    } else {
        changes.anything = true;
    }
    let (moves, jumps) = (changes.moves, changes.jumps);
    let nothing = Changes {
        moves,
        jumps,
        ..Changes::default()
    };
    changes == nothing
}

/// What a script may change of the state, read off its tree alone.
#[derive(Default, PartialEq)]
struct Changes {
    names: HashSet<String>,
    /// Given a number that is made of another variable's, or of none.
    counts: Vec<(String, Option<String>)>,
    /// `$1` and so on.
    positional: bool,
    /// It changes the directory of the shell, or of one that it starts.
    moves: bool,
    /// It leaves a turn of a loop, or the loop.
    jumps: bool,
    /// Made read-only.
    fixed: HashSet<String>,
    directory: bool,
    anything: bool,
}

impl Changes {
    fn of_script(&mut self, script: &Script) {
        for item in &script.items {
            self.of_pipeline(&item.first);
            item.rest.iter().for_each(|(_, pipeline)| self.of_pipeline(pipeline));
        }
    }

    fn of_pipeline(&mut self, pipeline: &Pipeline) {
        pipeline.stages.iter().for_each(|stage| self.of_command(&stage.command));
    }

    fn of_command(&mut self, command: &Command) {
        match command {
            Command::Simple { assignments, words } => {
                assignments
                    .iter()
                    .for_each(|it| self.of_assignment(it, words.is_empty()));
                self.of_words(words);
            }
            Command::Group(inner) => self.of_script(inner),
            // It changes only its own copy.
            Command::Subshell(inner) => {
                let mut own = Changes::default();
                own.of_script(inner);
                self.moves |= own.moves;
            }
            Command::If { branches, otherwise } => {
                for (condition, body) in branches {
                    self.of_script(condition);
                    self.of_script(body);
                }
                otherwise.iter().for_each(|body| self.of_script(body));
            }
            Command::While { condition, body, .. } => {
                self.of_script(condition);
                self.of_script(body);
            }
            Command::For { name, body, .. } => {
                self.names.insert(name.clone());
                self.of_script(body);
            }
            Command::Case { arms, .. } => arms.iter().for_each(|arm| self.of_script(&arm.body)),
            Command::Arithmetic(expression) => match (&expression.count, expression.assigned.as_slice()) {
                (Some(count), [name]) => self.counts.push((name.clone(), count.of.clone())),
                (_, assigned) => self.names.extend(assigned.iter().cloned()),
            },
            Command::Test(_) => {}
            Command::Function { .. } => self.anything = true,
        }
    }

    fn of_assignment(&mut self, assignment: &Assignment, lasting: bool) {
        let of = match &assignment.value {
            AssignedValue::Scalar(word) if lasting && !assignment.append => counted_of(word),
            AssignedValue::Scalar(_) | AssignedValue::Array(_) => None,
        };
        match of {
            Some(of) => self.counts.push((assignment.name.clone(), of)),
            None => drop(self.names.insert(assignment.name.clone())),
        }
    }

    /// The variables that hold a number before the loop and after every turn of it.
    fn counted(&self, state: &State) -> HashSet<String> {
        let names = self.counts.iter().map(|(name, _)| name.clone());
        let mut counted: HashSet<String> = names
            .filter(|name| state.is_number(name) && !self.names.contains(name))
            .collect();
        loop {
            let is_number = |of: &String| counted.contains(of) || state.is_number(of) && !self.assigns(of);
            let broken = self
                .counts
                .iter()
                .find(|(name, of)| counted.contains(name) && !of.as_ref().is_none_or(is_number));
            match broken {
                Some((name, _)) => counted.remove(name),
                None => return counted,
            };
        }
    }

    fn assigns(&self, name: &str) -> bool {
        self.names.contains(name) || self.counts.iter().any(|(counted, _)| counted == name)
    }

    fn of_words(&mut self, words: &[Word]) {
        let name = match words.first().map(|word| word.parts.as_slice()) {
            None => return,
            Some([Part::Literal(name) | Part::Quoted(name)]) => name.as_str(),
            Some(_) => {
                self.anything = true;
                return;
            }
        };
        self.jumps |= ["break", "continue", "return"].contains(&name);
        match builtins::state_change(name) {
            StateChange::Nothing => {}
            StateChange::Directory => {
                self.directory = true;
                self.moves = true;
            }
            StateChange::Positional => self.positional = true,
            StateChange::Names => {
                let fixes = |word: &Word| name_in(word).is_some_and(|text| text.starts_with('-') && text.contains('r'));
                if name == "readonly" || name != "read" && words.iter().any(fixes) {
                    self.fixed.extend(words.iter().filter_map(name_in));
                }
                self.names.extend(words.iter().filter_map(name_in));
            }
            StateChange::Anything => self.anything = true,
        }
    }
}

/// Of which variable's number a word is made that only counts.
fn counted_of(word: &Word) -> Option<Option<String>> {
    let parts = match word.parts.as_slice() {
        [Part::DoubleQuoted(inner)] => inner.as_slice(),
        parts => parts,
    };
    match parts {
        [Part::Arithmetic(expression)] if expression.assigned.is_empty() => Some(expression.count.as_ref()?.of.clone()),
        [Part::Parameter(it)] if it.index.is_none() && it.operation.is_none() => Some(Some(it.name.clone())),
        [Part::Literal(text) | Part::Quoted(text)] if text.len() <= MAX_DIGITS && is_digits(text) => Some(None),
        _ => None,
    }
}

fn check_spelling(word: &Word, gathered: &mut Gathered) {
    if word.is_disguised() {
        gathered.doubt("a word is quoted in pieces, as if to hide what it says", word.span);
    }
}

/// The name that a builtin such as `read` or `export` may assign by this word.
fn name_in(word: &Word) -> Option<String> {
    match word.parts.first() {
        Some(Part::Literal(text) | Part::Quoted(text)) => text.split(['=', '+']).next().map(str::to_owned),
        _ => None,
    }
}
