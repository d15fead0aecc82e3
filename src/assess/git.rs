//! git runs what a repository's configuration, attributes and hooks name, so it counts as catalogued only in the
//! session's own repository, and only while nothing there runs on what it is asked to do.

use super::bash::{Gathered, Work};
use super::paths;
use crate::catalog::{Role, Use};
use crate::effect::{Action, EffectSpec, Place, Subject, Undo};
use crate::facts::Facts;
use crate::facts::git::Discovery;
use crate::shell::state::State;
use crate::shell::{Span, Value};

/// Two paths of which one lies outside are compared as `diff` does it: directories file by file, tracked or not.
pub fn widen(uses: &mut [Use], state: &State, facts: &Facts) {
    let outside = |used: &Use| {
        let texts = used.arg.value.alternatives();
        let is_here = matches!(&used.arg.value, Value::Numbered { before, after, .. } if ![before, after].iter().any(|text| text.contains('/')));
        used.role == Role::PathRead
            && !is_here
            && texts.is_none_or(|texts| {
                let path = |text: &String| paths::absolute(text, state.cwd.as_deref());
                texts
                    .iter()
                    .any(|text| path(text).is_none_or(|path| !facts.in_project(&facts.real(&path))))
            })
    };
    if uses.iter().any(outside) {
        for used in uses.iter_mut().filter(|used| used.role == Role::PathRead) {
            used.role = Role::TreeRead;
        }
    }
}

/// Adds what git may run in the directory it is started in.
pub fn check(state: &State, subcommand: &str, span: Span, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(cwd) = &state.cwd else {
        return refuse("which repository git works in is not known", span, gathered);
    };
    match work.facts.repository_at(cwd) {
        // No repository: git runs nothing of one, unless an earlier command makes one.
        Discovery::None if !state.wrote => {}
        Discovery::None => refuse("an earlier command may make a repository here", span, gathered),
        Discovery::Suspicious(why) => refuse(&why, span, gathered),
        Discovery::Repository(found) => {
            let own = work.facts.own_repository();
            if own.is_none_or(|own| own.common_dir != found.common_dir) {
                return refuse(
                    "this is not the session's own repository, and its configuration may run programs",
                    span,
                    gathered,
                );
            }
            // What it throws away without a name is of this working tree.
            for effect in &mut gathered.effects {
                if effect.target.is_empty() && effect.spec.undo == Undo::Lost && effect.spec.place == Place::Project {
                    effect.subject = Subject::Path {
                        named: cwd.clone(),
                        real: found.worktree.clone(),
                    };
                }
            }
            let shows_addresses =
                ["remote", "config", "ls-remote"].contains(&subcommand.split(' ').next().unwrap_or_default());
            if shows_addresses && work.facts.holds_password(&found.common_dir.join("config")) {
                let spec = EffectSpec {
                    place: Place::Secret,
                    ..EffectSpec::of(Action::Disclose)
                };
                gathered.effect(spec, "a password in the address of a remote");
            }
            // A bare repository planted below the top directory would be found before the session's own.
            if state.wrote && *cwd != found.worktree {
                refuse("an earlier command may plant a repository here", span, gathered);
            }
            let trust = work.facts.trust(&found);
            for why in &trust.reads {
                refuse(why, span, gathered);
            }
            let changes = gathered.effects.iter().any(|effect| {
                matches!(
                    effect.spec.action,
                    Action::Write | Action::Delete | Action::Mode | Action::Send | Action::Connect
                )
            });
            if changes && !trust.writes.is_empty() {
                gathered.effect(unvouched(), trust.writes.join(", "));
            }
        }
    }
}

fn refuse(why: &str, span: Span, gathered: &mut Gathered) {
    gathered.doubt(why, span);
    gathered.effect(unvouched(), "what git finds there");
}

fn unvouched() -> EffectSpec {
    EffectSpec {
        place: Place::Other,
        undo: Undo::Lost,
        ..EffectSpec::of(Action::Execute)
    }
}
