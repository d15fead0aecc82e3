//! What a command runs in turn: another command, one that is fed words, one on another machine, code.

use super::{Gathered, Site, Work, positional};
use crate::assess::inline;
use crate::assess::input::{self, Input};
use crate::catalog::{Feed, Inner, Role, Split, grammar};
use crate::effect::{Action, Around, Effect, Subject, Tier, Undo};
use crate::risk;
use crate::shell::state::State;
use crate::shell::{self, Arg, Value};

impl Work<'_> {
    /// Runs what a command runs, in the state of the shell that runs it.
    pub(super) fn inner(&mut self, inner: Inner, input: &Input, state: &mut State, site: Site) {
        let site = site.wrapped();
        match inner {
            Inner::Command { args } => {
                let gathered = Gathered::with_input(input.clone());
                self.command(&args, gathered, state, site);
            }
            Inner::Fed { args, feed } => self.fed(&args, &feed, input, state, site),
            Inner::Elsewhere { args, by } => self.elsewhere(&args, &by, site),
            Inner::Code {
                role: Role::Shell,
                code,
                words,
            } => {
                state.positional = words.map(|words| positional(words.into_iter().map(|word| word.value), 0, site));
                self.code(&code, state, site);
                state.positional = None;
            }
            Inner::Code { role, code, .. } => {
                let mut gathered = Gathered::default();
                if inline::is_harmless(role, &code, state, self, &mut gathered) {
                    return self.push("(code)", &[code], gathered, site.span);
                }
                gathered.unvouched("code given in the command");
                self.push("(code)", &[code], gathered, site.span);
                state.plant();
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
        // Of lines it is known what each may be, and not how many there are.
        let site = Site {
            uncounted: site.uncounted || !feed.one && !matches!(input, Input::Text(_)),
            ..site
        };
        let with = |words: &[Value]| args.iter().cloned().chain(words.iter().map(arg)).collect::<Vec<Arg>>();
        if is_known && feed.split != Split::Found {
            // Without words it may act on the current directory.
            let first = self.steps.len();
            self.command(args, Gathered::default(), state, site);
            self.lacks_words(first);
            self.command(&with(&data[..data.len().min(1)]), Gathered::default(), state, site);
            if self.steps[first..]
                .iter()
                .all(|step| step.proven() && step.tier == Tier::Safe)
            {
                self.steps.truncate(first);
            }
        }
        if feed.one {
            for value in &data {
                let args = with(std::slice::from_ref(value));
                self.command(&args, Gathered::default(), state, site);
            }
            return;
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
        let (first, jobs) = (self.steps.len(), self.jobs.len());
        self.command(args, Gathered::default(), &mut State::default(), site);
        self.jobs.truncate(jobs);
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
                let defined = self.defined.len();
                self.script(&script, state, site.depth + 1);
                self.settle(defined);
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
        state.plant();
        self.push("(code)", std::slice::from_ref(code), gathered, site.span);
    }
}
