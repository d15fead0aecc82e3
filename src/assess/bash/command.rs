//! One command whose words are computed: which program it runs, and what the catalog says of its words.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::program::Program;
use super::{Gathered, Site, Work};
use crate::assess::builtins;
use crate::assess::found::{self, Wanted};
use crate::assess::input::{self, Input};
use crate::assess::{git, paths, roles};
use crate::catalog::{self, Inner, Reading, Role};
use crate::effect::{Action, Around, Effect, EffectSpec, Gap, Place, Reach, Step, Subject, Undo};
use crate::place::{self, Purpose};
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// These run their command again and again.
const REPEATS: &[&str] = &["find", "hyperfine", "parallel", "watch", "xargs"];

impl Work<'_> {
    /// Reads one command: its words are computed, its program first.
    pub fn command(&mut self, args: &[Arg], mut gathered: Gathered, state: &mut State, site: Site) {
        state.wrote |= self.aside.wrote;
        state.planted |= self.aside.planted;
        state.relinked |= self.aside.relinked;
        if self.too_deep(site.depth, site.span) || !self.guesses.allow(args) {
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
            self.push(&shown, args, gathered, site.span);
            state.forget_all();
            state.plant();
            return;
        };
        // What a wrapper runs is no function.
        let function = state.function(&name).filter(|_| site.written);
        if let Some(body) = state.body(&name).filter(|_| site.written) {
            self.push(&name, args, gathered, site.span);
            return self.call(&body, args, state, site);
        }
        if function.is_some() {
            self.call_any();
            state.forget_all();
            state.wrote = true;
            state.relinked = true;
            gathered.doubt(format!("`{name}` may be a function here"), first.span);
        }
        if builtins::run(&name, args, state, site, self) {
            self.push(&name, args, gathered, site.span);
            return;
        }
        let entry = match self.program(&name, first.span, state, &mut gathered) {
            Program::Entry(entry) => entry,
            Program::Path(path) => {
                let planted = state.planted || state.wrote && self.leads_outside(args, state);
                let effect = paths::execute(&path, self, planted);
                gathered.add(effect);
                let input = std::mem::take(&mut gathered.input);
                let inner = self.as_its_name_says(&path, args, &input, state, &mut gathered);
                self.words_outside(args, state, &mut gathered);
                self.raise(args, site.span, state, &mut gathered);
                state.plant();
                self.push(&name, args, gathered, site.span);
                let mut child = state.child();
                for inner in inner {
                    self.inner(inner, &input, &mut child, site);
                }
                state.after_child(&child);
                return;
            }
            Program::Unknown => {
                gathered.unvouched(&name);
                state.plant();
                self.push(&name, args, gathered, site.span);
                return;
            }
        };
        match read_as(&entry, args) {
            None => {
                gathered.unlisted(Gap::Program, format!("`{name}` is not in the catalog"), first.span);
                gathered.unvouched(&name);
                self.words_outside(args, state, &mut gathered);
                self.raise(args, site.span, state, &mut gathered);
                state.forget_all();
                state.plant();
                self.push(&name, args, gathered, site.span);
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
        // What was put outside the project is no code of its own, unless a word may lead there.
        let planted = own.planted;
        own.planted |= own.wrote && self.leads_outside(args, &own);
        for effect in &reading.effects {
            gathered.add(self.vouched(*effect, own.planted, &own));
        }
        if self.obeys(reading.obeys, &own) {
            gathered.add(self.own_code(planted, &own));
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
        own.planted = planted;
        if entry == "ln" && roles::links_inside(&uses, &own, self) {
            // What the entry says of a link that leads anywhere.
            let leads_out = |effect: &Effect| effect.target.is_empty() && effect.spec.action == Action::Write;
            gathered.effects.retain(|effect| !leads_out(effect));
        }
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
        let relinked = state.relinked;
        let only_copies = ["cp", "mv"].contains(&entry) && reading.effects.is_empty();
        let carries_links = !only_copies || roles::carries_links(&uses, &own, self);
        builtins::after(entry, args, &mut gathered, state, self);
        state.wrote |= gathered.effects.iter().any(changes) || !gathered.doubts.is_empty();
        let own_effects = gathered.own_effects();
        let executes = own_effects.iter().any(|it| it.spec.action == Action::Execute);
        let is_told_code = executes && matches!(input, Input::Text(_));
        let plants = !gathered.doubts.is_empty() || is_told_code || self.plants(own_effects, entry, args);
        state.planted |= plants;
        let is_understood = gathered.doubts.is_empty();
        let makes_none = match entry {
            "git" => is_understood && own_effects.iter().all(is_of_records),
            // Where the project's own code makes a link it could as well do what the link leads to.
            _ => executes && !plants || is_understood && !carries_links,
        };
        if makes_none {
            state.relinked = relinked;
        }
        self.push(name, args, gathered, site.span);
        for used in uses.iter().filter(|used| used.role == Role::EnvAssign) {
            builtins::assigned(&used.arg)
                .iter()
                .for_each(|(name, _)| own.forget(name));
        }
        let inner = std::mem::take(&mut reading.inner);
        if builtins::runs_in_this_shell(entry) {
            for inner in inner {
                self.inner(inner, &input, state, site);
            }
        } else if entry == "time" {
            for inner in inner {
                // A word of the shell, or a program where it is quoted or stands behind an assignment.
                let mut after = state.clone();
                self.inner(inner, &input, &mut after, site);
                state.merge(after);
            }
        } else if REPEATS.contains(&entry) && !inner.is_empty() {
            self.turn(&mut own, false, |work, own| {
                work.children(named, &inner, &input, own, site);
            });
        } else {
            self.children(named, &inner, &input, &mut own, site);
        }
        state.after_child(&own);
    }

    /// What a command runs in processes of its own, one after the other.
    fn children(&mut self, named: Entry<'_>, inner: &[Inner], input: &Input, own: &mut State, site: Site) {
        for inner in inner {
            let mut child = own.child();
            let input = match named.entry {
                "find" => found::paths(&named.args[1..], Wanted::Run, own, self)
                    .map_or(Input::Unknown, |found| Input::Lines(Rc::new(found))),
                _ => input.clone(),
            };
            self.inner(inner.clone(), &input, &mut child, site);
            own.after_child(&child);
        }
    }

    /// A program given by its path probably does what its name says, and runs what that one would. That may only raise.
    fn as_its_name_says(
        &mut self,
        path: &Path,
        args: &[Arg],
        input: &Input,
        state: &State,
        gathered: &mut Gathered,
    ) -> Vec<Inner> {
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            return Vec::new();
        };
        // `python3.12`
        let unnumbered = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
        let Some(mut reading) = read_as(name, args).or_else(|| read_as(unnumbered, args)) else {
            return Vec::new();
        };
        if let Some(role) = reading.input
            && !input::as_code(role, input, &mut reading, args[0].span)
        {
            gathered.unvouched("code from its input");
        }
        for effect in &reading.effects {
            gathered.effect(*effect, "");
        }
        let mut guessed = Gathered::default();
        roles::apply(&reading.uses, state, self, &mut guessed);
        gathered.effects.extend(guessed.effects);
        reading.inner
    }

    /// Whether one of these files lies at or above the current directory, or may by then.
    fn obeys(&self, files: &str, state: &State) -> bool {
        let is_there = |dir: &Path| files.split(' ').any(|file| self.facts.exists(&dir.join(file)));
        !files.is_empty() && (state.wrote || state.cwd.as_ref().is_none_or(|cwd| cwd.ancestors().any(is_there)))
    }

    /// That the project's own code runs.
    pub(in crate::assess) fn own_code(&self, planted: bool, state: &State) -> Effect {
        let own = EffectSpec {
            place: Place::Project,
            undo: Undo::Kept,
            ..EffectSpec::of(Action::Execute)
        };
        self.vouched(own, planted, state)
    }

    /// What an entry calls the project's own code is that only in the project, and as long as nothing changed it.
    fn vouched(&self, spec: EffectSpec, planted: bool, state: &State) -> Effect {
        let real = state.cwd.as_ref().map(|cwd| self.facts.real(cwd));
        let in_project = real.as_ref().is_some_and(|real| self.facts.in_project(real));
        if spec.action != Action::Execute || in_project && !planted {
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

    /// Whether the project's own code may be another one after a command with these effects, or do something else.
    ///
    /// It is not where only files are gone that a build makes again, where a directory is new and so empty, where only git's
    /// own records change, and where it ran itself, told by words that hold no code, and fetched nothing.
    fn plants(&self, effects: &[Effect], entry: &str, args: &[Arg]) -> bool {
        let is_plain = |text: &String| {
            text.bytes()
                .all(|b| b.is_ascii_alphanumeric() || b"-_./:@,".contains(&b))
        };
        let are_plain = |arg: &Arg| arg.value.alternatives().is_some_and(|texts| texts.iter().all(is_plain));
        let fetches = |effect: &Effect| effect.spec.action == Action::Connect && effect.spec.reach > Reach::Service;
        let is_harmless = |effect: &Effect| {
            let EffectSpec {
                action,
                place,
                undo,
                reach,
            } = effect.spec;
            let is_kept = undo <= Undo::Kept && reach == Reach::Here;
            match action {
                Action::Delete => is_kept && place == Place::Cache || self.is_apart(effect),
                Action::Write => match entry {
                    "mkdir" => matches!(place, Place::Project | Place::Cache | Place::Scratch),
                    "git" => is_kept && place == Place::Repository,
                    _ => self.is_apart(effect),
                },
                Action::Execute => {
                    let is_own = effect.target.is_empty() || builtins::activates(entry, args);
                    let is_told = args.iter().all(are_plain) && !effects.iter().any(fetches);
                    is_kept && place == Place::Project && is_own && is_told
                }
                Action::Mode | Action::Control | Action::Send | Action::Privilege => false,
                Action::Inspect | Action::Read | Action::Disclose | Action::Connect => true,
            }
        };
        !effects.iter().all(is_harmless)
    }

    /// Whether the project's own code may be another one after this step.
    pub(super) fn has_planted(&self, step: &Step, with_own: bool) -> bool {
        let (around, own) = step.effects.split_at(step.around.effects.min(step.effects.len()));
        let counts = |effect: &&Effect| with_own || effect.target.is_empty() || !is_own(effect);
        let own: Vec<Effect> = own.iter().filter(counts).cloned().collect();
        let word = |word: &Option<String>| Arg {
            value: word.clone().map_or(Value::UNKNOWN, Value::Literal),
            span: step.span,
        };
        let args: Vec<Arg> = step.words.iter().map(word).collect();
        let is_written = |effect: &Effect| effect.spec.action == Action::Write && !self.is_apart(effect);
        !step.proven() || around.iter().any(is_written) || self.plants(&own, &step.program, &args)
    }

    /// Whether what is changed lies in scratch, where no build or test of the project looks by itself.
    pub(super) fn is_apart(&self, effect: &Effect) -> bool {
        let is_scratch = |dir: &Path| place::of(dir, self.facts, Purpose::Look) == Place::Scratch;
        let mut above = self.facts.project.iter().filter_map(|root| root.parent());
        effect.spec.place == Place::Scratch
            && effect
                .subject
                .paths()
                .is_some_and(|paths| !self.facts.moves_path(paths))
            && !above.any(is_scratch)
    }

    /// Whether a word of a command may name what lies outside the project.
    fn leads_outside(&self, args: &[Arg], state: &State) -> bool {
        let is_outside = |path: &PathBuf| {
            let both = [place::normalize(path), self.facts.real(path)];
            !both.iter().all(|path| self.facts.in_project(path))
        };
        let leads = |text: &String| {
            let cwd = state.cwd.as_deref();
            let named = paths::named_in(text, cwd, self.facts);
            named.iter().chain(&paths::absolute(text, cwd)).any(is_outside)
        };
        state.cwd.as_ref().is_none_or(is_outside)
            || args
                .iter()
                .skip(1)
                .any(|arg| arg.value.alternatives().is_none_or(|texts| texts.iter().any(leads)))
    }

    pub(super) fn reads_outside(&self, effect: &Effect) -> bool {
        let is_descriptor = effect.spec.place == Place::Nowhere;
        effect.spec.action == Action::Read && !is_descriptor && !self.is_inside(effect)
    }

    fn is_inside(&self, effect: &Effect) -> bool {
        let in_project = |paths: [&Path; 2]| paths.iter().all(|path| self.facts.in_project(path));
        effect.spec.place != Place::Secret && effect.subject.paths().is_some_and(in_project)
    }
}

/// Whether an effect of git, where it changes something, puts nothing into the project: what changes are its own records, a
/// hook of the project runs, or a file is gone.
fn is_of_records(effect: &Effect) -> bool {
    match effect.spec.action {
        Action::Write => effect.spec.place == Place::Repository,
        Action::Delete => true,
        _ => !changes(effect) || is_own(effect),
    }
}

/// Whether it is the project's own code that runs, as far as anybody can tell.
pub(super) fn is_own(effect: &Effect) -> bool {
    let EffectSpec {
        action, place, undo, ..
    } = effect.spec;
    action == Action::Execute && place == Place::Project && undo <= Undo::Kept
}

pub(super) fn changes(effect: &Effect) -> bool {
    !matches!(
        effect.spec.action,
        Action::Inspect | Action::Read | Action::Disclose | Action::Connect
    )
}

/// A command that the catalog has read.
#[derive(Clone, Copy)]
struct Entry<'a> {
    /// As the catalog spells its name.
    entry: &'a str,
    /// As it stands in the script.
    name: &'a str,
    args: &'a [Arg],
}

/// Reads a command's words by the entry of this name, however the command itself was written.
fn read_as(entry: &str, args: &[Arg]) -> Option<Reading> {
    if args.first()?.value.literal() == Some(entry) {
        return catalog::read(args);
    }
    let mut words = args.to_vec();
    words.first_mut()?.value = Value::Literal(entry.to_owned());
    catalog::read(&words)
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
