//! A simple command as it is written: its words and its assignments become values.

use super::guess::not_looked_at;
use super::{Gathered, MAX_WORDS, Site, Work};
use crate::assess::{lines, names};
use crate::catalog;
use crate::catalog::environment::EnvRisk;
use crate::risk;
use crate::shell::ast::{AssignedValue, Assignment, Word};
use crate::shell::expansion::{counts, expand, expand_single, is_uncounted};
use crate::shell::state::State;
use crate::shell::{Arg, Span, Value};

impl Work<'_> {
    pub(super) fn simple(
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
        // They ran before any other word becomes what it is.
        state.wrote |= self.aside.wrote;
        state.relinked |= self.aside.relinked;
        let mut args = Vec::new();
        let mut listed = Vec::new();
        let mut some: Option<(usize, lines::Words)> = None;
        let mut uncounted = false;
        for word in words {
            if !args.is_empty()
                && some.is_none()
                && let Some(words) = lines::words(word, state, self)
            {
                uncounted |= !words.one;
                some = Some((args.len(), words));
                listed.push(None);
                continue;
            }
            let expanded = expand(word, state, self);
            uncounted |= is_uncounted(word, &expanded, state);
            listed.extend(expanded.iter().map(|arg| arg.value.literal().map(str::to_owned)));
            args.extend(expanded);
            if args.len() > MAX_WORDS {
                gathered.doubt("the command has more words than are looked at", span);
                gathered.add(not_looked_at());
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
                self.push("(assignment)", &[], gathered, span);
            }
            return;
        }
        self.commands.push(listed);
        let site = Site {
            span,
            depth,
            written: true,
            uncounted,
        };
        let count = args.len();
        let args = names::resolved(words, args, state, site, self, &mut gathered);
        match some {
            // An alias put words in at the start.
            Some((at, words)) => {
                let at = at + args.len() - count;
                self.with_some((&args, at), &words, gathered, state, site);
            }
            None => self.command(&args, gathered, state, site),
        }
    }

    /// A command among whose words stand any number of these: judged with several, a few and none. What is worse so than
    /// with the most of them is kept.
    fn with_some(
        &mut self,
        (args, at): (&[Arg], usize),
        words: &lines::Words,
        gathered: Gathered,
        state: &mut State,
        site: Site,
    ) {
        const COUNTS: &[usize] = &[4, 2, 1, 0];
        let counts = if words.one { &COUNTS[2..] } else { COUNTS };
        let (before, behind) = args.split_at(at);
        let one = Arg {
            value: lines::one_of(&words.values),
            span: site.span,
        };
        let start = state.clone();
        let input = gathered.input.clone();
        let mut told = Some(gathered);
        let mut after: Option<State> = None;
        let mut most = None;
        for &count in counts {
            let first = self.steps.len();
            let mut args = before.to_vec();
            args.resize(at + count, one.clone());
            args.extend_from_slice(behind);
            let mut end = start.clone();
            // What its words and redirections do is told once.
            let gathered = told.take().unwrap_or_else(|| Gathered::with_input(input.clone()));
            self.command(&args, gathered, &mut end, site);
            if count == 0 && behind.is_empty() {
                self.lacks_words(first);
            }
            let worst = self.steps[first..].iter().map(|step| (!step.proven(), step.tier)).max();
            match worst > most {
                true => most = worst,
                false => self.steps.truncate(first),
            }
            match &mut after {
                Some(after) => after.merge(end),
                None => after = Some(end),
            }
        }
        *state = after.unwrap_or(start);
    }

    /// That a command lacks words at its end is no doubt of what it does with them.
    pub(super) fn lacks_words(&mut self, first: usize) {
        for step in &mut self.steps[first..] {
            step.doubts.clear();
            step.tier = risk::step_tier(step);
        }
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
                gathered.unvouched(format!("whatever {name} makes run"));
            }
            EnvRisk::Unknown => {
                gathered.doubt(format!("what `{name}` changes is not known"), span);
                if catalog::environment::names_program(name) {
                    gathered.unvouched(format!("whatever {name} makes run"));
                }
            }
        }
    }

    /// A shell variable set for later: it matters if it is, or becomes, part of the environment or of the shell itself.
    pub fn check_assignment(&self, name: &str, value: &Value, state: &State, span: Span, gathered: &mut Gathered) {
        let special = catalog::environment::obeyed_by_shell(name);
        if special || self.facts.environment.contains(name) || state.exported.contains(name) {
            self.check_environment(name, value, span, gathered);
        } else if let EnvRisk::Hazard(why) = catalog::environment::assignment(name, value) {
            gathered.doubt(format!("`{name}` {why}"), span);
            gathered.unvouched(format!("whatever {name} makes run"));
        }
    }
}

fn check_spelling(word: &Word, gathered: &mut Gathered) {
    if word.is_disguised() {
        gathered.doubt("a word is quoted in pieces, as if to hide what it says", word.span);
    }
}
