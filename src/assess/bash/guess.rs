//! Commands that are guessed: among the words of a command that nobody knows (`rtk rm -rf ~`), in a script that was refused,
//! in text that something may run. What is found may only raise a tier.

use std::collections::HashSet;
use std::ops::{Range, RangeInclusive};
use std::path::PathBuf;

use super::{Gathered, MAX_WORDS, SHELLS, Site, Work, connects, run_from_network};
use crate::assess::words;
use crate::catalog;
use crate::effect::{Action, Effect, EffectSpec, Place, Reach, Step, Tier, Undo};
use crate::shell::state::State;
use crate::shell::{self, Arg, Span, Value};

/// So much is guessed in one call, in words; what a guess runs in turn counts too.
const MAX_GUESSED: usize = 10 * 1024;
/// What a command costs besides its words.
const COMMAND: usize = 4;
/// So many bytes cost as much as a word.
const BYTES_PER_WORD: usize = 32;
/// So many words of the commands among those of one command are looked at in all, but of each at least and at most so many;
/// of the first one, as many as of any command.
const STRETCHES: usize = 2048;
const STRETCH: RangeInclusive<usize> = 12..=512;

/// How much has been guessed in one call.
#[derive(Default)]
pub(super) struct Guesses {
    spent: usize,
    /// What is read is a guess.
    running: bool,
    /// The words of a command are taken for commands, whose own words are not.
    among_words: bool,
    /// The script was read, so most of its words that could stand for a command are names of files, commits, variables.
    only_telling: bool,
}

impl Guesses {
    /// Whether a command may still be read: it is none of the guesses, or they are not too much.
    pub(super) fn allow(&mut self, args: &[Arg]) -> bool {
        let words = args
            .iter()
            .map(|arg| 1 + arg.value.literal().map_or(0, str::len) / BYTES_PER_WORD);
        !self.running || self.spend(COMMAND + words.sum::<usize>())
    }

    fn spend(&mut self, words: usize) -> bool {
        self.spent = self.spent.saturating_add(words);
        self.spent <= MAX_GUESSED
    }
}

/// Where guesses come from.
#[derive(Clone, Copy)]
struct Origin {
    why: &'static str,
    span: Span,
    /// Only a guess that does something of this tier is kept.
    least: Tier,
}

impl Work<'_> {
    /// Adds what the words of a command say that nobody knows, and the critical commands among them as steps.
    pub(super) fn raise(&mut self, args: &[Arg], span: Span, state: &State, gathered: &mut Gathered) {
        let texts: Vec<Option<&str>> = args.iter().map(|arg| arg.value.literal()).collect();
        said(&texts, gathered);
        if self.guesses.among_words {
            return;
        }
        self.guesses.among_words = true;
        let (aside, jobs) = (self.aside, self.jobs.len());
        let origin = Origin {
            why: "guessed from the words of a command that is not known",
            span,
            least: Tier::Critical,
        };
        let state = &state.child();
        let names_one = |text: &str| text.rsplit('/').next().is_some_and(catalog::lists);
        let mut stretches = inner(&texts, names_one).filter(|stretch| stretch.len() > 1);
        let mut code = texts.iter().skip(1).flatten();
        let all = stretches.all(|stretch| self.guess(&args[stretch], origin, state))
            && code.all(|text| !text.contains(char::is_whitespace) || self.guess_in(text, origin, state));
        if !all {
            gathered.add(not_looked_at());
        }
        self.aside = aside;
        self.jobs.truncate(jobs);
        self.guesses.among_words = false;
    }

    /// Where something was not understood, or runs text that nobody vouches for, a danger may stand in that text: in a
    /// variable, an alias, a here-document, or as words of another program.
    pub(super) fn suspect(&mut self, source: &str, cwd: Option<PathBuf>) {
        let worst = self.steps.iter().map(|step| step.tier).max().unwrap_or(Tier::Safe);
        let runs_anything = |effect: &Effect| effect.spec.action == Action::Execute && effect.spec.undo >= Undo::Lost;
        let is_suspect = |step: &Step| !step.proven() || step.effects.iter().any(runs_anything);
        if worst == Tier::Critical || !self.steps.iter().any(is_suspect) {
            return;
        }
        let mut guesses = Work::new(self.facts);
        guesses.seen = std::mem::take(&mut self.seen).counted_anew();
        guesses.guesses.only_telling = true;
        guesses.scan(source, cwd);
        self.steps
            .extend(guesses.steps.into_iter().filter(|step| step.tier > worst));
    }

    /// Names the dangers in a script that was refused.
    pub(super) fn scan(&mut self, source: &str, cwd: Option<PathBuf>) {
        let before = self.steps.len();
        let origin = Origin {
            why: "guessed from the words of the script",
            span: Span {
                start: 0,
                end: u32::try_from(source.len()).unwrap_or(u32::MAX),
            },
            least: Tier::Safe,
        };
        if !self.guess_in(source, origin, &State::in_directory(cwd)) {
            self.too_much(Span::default());
            let mut gathered = Gathered::default();
            gathered.doubt(origin.why, origin.span);
            gathered.add(not_looked_at());
            self.push("(more)", &[], gathered, origin.span);
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

    /// Guesses every command that a text may hold; `false` where these are too many.
    fn guess_in(&mut self, text: &str, origin: Origin, state: &State) -> bool {
        if !self.guesses.spend(text.len() / BYTES_PER_WORD) {
            return false;
        }
        let found = shell::scan(text);
        let mut tried = HashSet::new();
        for words in &found {
            let words = &words[..words.len().min(MAX_WORDS)];
            let texts: Vec<Option<&str>> = words.iter().map(|word| Some(word.as_str())).collect();
            for stretch in inner(&texts, catalog::lists).chain(std::iter::once(0..words.len())) {
                let words = &words[stretch];
                if !tried.insert(words) {
                    continue;
                }
                let args = words.iter().map(|word| Arg {
                    value: Value::Literal(self.at_home(word)),
                    span: origin.span,
                });
                let args: Vec<Arg> = args.collect();
                if !self.guess(&args, origin, state) {
                    return false;
                }
            }
        }
        found.iter().all(|words| words.len() <= MAX_WORDS)
    }

    /// Reads words as a command of their own; `false` where there were too many of them.
    fn guess(&mut self, args: &[Arg], origin: Origin, state: &State) -> bool {
        let left_out = self.left_out;
        let known = (self.steps.len(), self.doubts.len(), self.commands.len());
        let mut gathered = Gathered::default();
        gathered.doubt(origin.why, origin.span);
        let site = Site {
            uncounted: false,
            span: origin.span,
            depth: 1,
            written: false,
        };
        let outer = std::mem::replace(&mut self.guesses.running, true);
        self.command(args, gathered, &mut state.clone(), site);
        self.guesses.running = outer;
        let least = match self.guesses.only_telling && !is_telling(args) {
            true => Tier::Critical,
            false => origin.least,
        };
        if self.steps[known.0..].iter().all(|step| step.tier < least) {
            self.steps.truncate(known.0);
            self.doubts.truncate(known.1);
            self.commands.truncate(known.2);
            self.left_out = left_out;
        }
        self.guesses.spent <= MAX_GUESSED
    }

    /// A word of a script that was not understood, the home at its start written out.
    fn at_home(&self, word: &str) -> String {
        // All that is in a directory is as good as the directory, and zsh may start a name with `=`.
        let word = match word.strip_suffix("/*") {
            Some("") => "/",
            Some(directory) => directory,
            None => word,
        };
        let word = word.strip_prefix('=').unwrap_or(word);
        let rest = ["~", "$HOME", "${HOME}"]
            .iter()
            .find_map(|home| word.strip_prefix(home))
            .filter(|rest| rest.is_empty() || rest.starts_with('/'));
        match (rest, self.facts.home.as_ref().and_then(|home| home.to_str())) {
            (Some(rest), Some(home)) => format!("{home}{rest}"),
            (Some(_), None) | (None, _) => word.to_owned(),
        }
    }
}

/// Whether words are a program that is known and is told what to do.
fn is_telling(args: &[Arg]) -> bool {
    let name = args.first().and_then(|arg| arg.value.literal()).unwrap_or_default();
    let name = name.rsplit('/').next().unwrap_or_default();
    // A shell alone runs what it reads.
    SHELLS.contains(&name) || args.len() > 1 && name != "." && catalog::lists(name)
}

/// Words without end hide a danger, so what they may hold beyond what is looked at is the worst.
pub(super) fn not_looked_at() -> Effect {
    let spec = EffectSpec {
        undo: Undo::Forever,
        ..EffectSpec::of(Action::Execute)
    };
    Effect::new(spec, "more words than are looked through for commands")
}

/// What words say by themselves: the command may be a client of something that others depend on.
fn said(texts: &[Option<&str>], gathered: &mut Gathered) {
    let words = || texts.iter().skip(1).flatten();
    // The first words are most often what is done.
    let mut verbs = words().filter(|text| !text.starts_with('-')).take(2);
    if verbs.any(|verb| words::any(verb, words::DESTROYS)) {
        let spec = EffectSpec {
            undo: Undo::Lost,
            reach: Reach::Known,
            ..EffectSpec::of(Action::Send)
        };
        gathered.effect(spec, "what its words say it destroys");
    }
    if words().any(|text| !text.contains('/') && words::any(text, words::CREDENTIALS)) {
        let spec = EffectSpec {
            place: Place::Secret,
            ..EffectSpec::of(Action::Disclose)
        };
        gathered.effect(spec, "what its words call a secret");
    }
}

/// The commands that may begin among the words of another one, by the words that name one; the last and shortest first.
fn inner(texts: &[Option<&str>], names_one: impl Fn(&str) -> bool) -> impl Iterator<Item = Range<usize>> {
    let begins = |at: &usize| texts[*at].is_some_and(&names_one);
    let starts: Vec<usize> = (1..texts.len()).filter(begins).collect();
    let share = (STRETCHES / starts.len().max(1)).clamp(*STRETCH.start(), *STRETCH.end());
    let end = texts.len();
    let stretch = move |(number, at): (usize, usize)| {
        let most = if number == 0 { MAX_WORDS } else { share };
        at..end.min(at + most)
    };
    starts.into_iter().enumerate().rev().map(stretch)
}
