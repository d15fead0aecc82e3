//! One command whose words are computed: which program it runs, and what the catalog says of its words.

use std::path::Path;

use super::program::Program;
use super::{Gathered, Site, Work};
use crate::assess::builtins;
use crate::assess::input;
use crate::assess::{git, paths, roles};
use crate::catalog::{self, Inner, Reading, Role};
use crate::effect::{Action, Around, Effect, EffectSpec, Gap, Place, Subject, Undo};
use crate::place::{self, Purpose};
use crate::shell::state::State;
use crate::shell::{Arg, Value};

impl Work<'_> {
    /// Reads one command: its words are computed, its program first.
    pub fn command(&mut self, args: &[Arg], mut gathered: Gathered, state: &mut State, site: Site) {
        state.wrote |= self.aside.wrote;
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
            self.push(&name, args, gathered, site.span);
            return;
        }
        if builtins::run(&name, args, state, site, self) {
            self.push(&name, args, gathered, site.span);
            return;
        }
        let entry = match self.program(&name, first.span, state, &mut gathered) {
            Program::Entry(entry) => entry,
            Program::Path(path) => {
                let effect = paths::execute(&path, self, state.wrote);
                gathered.add(effect);
                self.as_its_name_says(&path, args, state, &mut gathered);
                self.words_outside(args, state, &mut gathered);
                self.raise(args, site.span, state, &mut gathered);
                state.wrote = true;
                self.push(&name, args, gathered, site.span);
                return;
            }
            Program::Unknown => {
                gathered.unvouched(&name);
                state.wrote = true;
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
                state.wrote = true;
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
        self.push(name, args, gathered, site.span);
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
