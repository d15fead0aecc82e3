//! Which program a command's name means.

use std::path::PathBuf;

use super::{Gathered, Work};
use crate::assess::builtins::{self, StateChange};
use crate::assess::{names, paths};
use crate::effect::Place;
use crate::facts::Found;
use crate::place::{self, Purpose};
use crate::shell::Span;
use crate::shell::state::State;

pub(super) enum Program {
    /// The entry of this name.
    Entry(String),
    /// This file.
    Path(PathBuf),
    Unknown,
}

impl Work<'_> {
    /// Which catalog entry, or which file, a command's name means.
    pub(super) fn program(&mut self, name: &str, span: Span, state: &State, gathered: &mut Gathered) -> Program {
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
        match self.facts.find(name) {
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
}
