//! From a path and what is done to it to effects: where it is, by name and by real path, and what would be lost.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::Work;
use crate::effect::{Action, Effect, EffectSpec, Place, Reach, Subject, Undo};
use crate::facts::{Facts, Kind};
use crate::place::{self, Purpose};
use crate::shell::Span;

/// The effects of doing `action` to `path` (absolute, as written). Once too many paths were looked at: the worst.
pub fn effects(action: Action, path: &Path, work: &mut Work<'_>) -> Rc<[Effect]> {
    if let Some(effects) = work.seen.effects(action, path) {
        return effects;
    }
    let effects: Rc<[Effect]> = if work.seen.look() {
        looked_up(action, path, work).into()
    } else {
        work.too_much(Span::default());
        let spec = EffectSpec {
            place: Place::Other,
            undo: Undo::Lost,
            ..EffectSpec::of(action)
        };
        return Rc::new([Effect::new(spec, "more than is looked at")]);
    };
    work.seen.keep_effects(action, path, &effects);
    effects
}

fn looked_up(action: Action, path: &Path, work: &mut Work<'_>) -> Vec<Effect> {
    let purpose = match action {
        Action::Inspect | Action::Read | Action::Disclose | Action::Connect | Action::Execute => Purpose::Look,
        Action::Write | Action::Mode | Action::Delete | Action::Control | Action::Send | Action::Privilege => {
            Purpose::Change
        }
    };
    let real = match (action, path.parent(), path.file_name()) {
        // Removing a symbolic link removes the link, not what it names, unless a slash follows.
        (Action::Delete, Some(parent), Some(name)) if !path.as_os_str().as_bytes().ends_with(b"/") => {
            work.facts.real(parent).join(name)
        }
        _ => work.facts.real(path),
    };
    let lexical = place::normalize(path);
    // What `/dev/stdin` leads to was judged where it was opened.
    let real = match place::of(&lexical, work.facts, purpose) {
        Place::Nowhere if lexical == path => lexical.clone(),
        _ => real,
    };
    let mut places = vec![at(&lexical, &real, work.facts, purpose)];
    let by_real = at(&real, &real, work.facts, purpose);
    // What `/dev/stdin` and `/dev/fd/3` are at the moment is this process's, not the command's.
    let is_descriptor = places == [Place::Nowhere] || lexical.starts_with("/dev/fd");
    if !places.contains(&by_real) && !is_descriptor {
        places.push(by_real);
    }
    let is_git_config =
        real.file_name().is_some_and(|name| name == "config") && real.components().any(|c| c.as_os_str() == ".git");
    if action == Action::Read && is_git_config && work.facts.holds_password(&real) {
        places.push(Place::Secret);
    }
    let undo = match purpose {
        Purpose::Look => Undo::Nothing,
        Purpose::Change => undo(action, &real, work),
    };
    let target = shown(&lexical, work.facts);
    let subject = Subject::Path { named: lexical, real };
    places
        .into_iter()
        .filter(|place| !(purpose == Purpose::Change && *place == Place::Nowhere))
        .map(|place| Effect {
            spec: EffectSpec {
                action,
                place,
                undo,
                reach: Reach::Here,
            },
            target: target.clone(),
            subject: subject.clone(),
        })
        .collect()
}

/// The place of a path; a file of the system that not everybody may read is not public.
fn at(path: &Path, real: &Path, facts: &Facts, purpose: Purpose) -> Place {
    match place::of(path, facts, purpose) {
        Place::System if purpose == Purpose::Look && !facts.world_readable(real) => Place::Other,
        place => place,
    }
}

fn undo(action: Action, real: &Path, work: &mut Work<'_>) -> Undo {
    if action == Action::Mode {
        return Undo::Kept;
    }
    let holds_project = work.facts.project.iter().any(|root| root.starts_with(real));
    if action == Action::Delete && holds_project {
        return Undo::Forever;
    }
    match work.facts.kind(real) {
        Kind::Missing => Undo::Nothing,
        Kind::Directory if action == Action::Write => Undo::Nothing,
        _ if place::of(real, work.facts, Purpose::Change) == Place::Cache => Undo::Kept,
        Kind::File if work.git_holds(real) => Undo::Kept,
        Kind::File | Kind::Directory | Kind::Other => Undo::Lost,
    }
}

/// The effect of running the file at `path`: as good as whoever vouches for it.
pub fn execute(path: &Path, work: &mut Work<'_>, wrote: bool) -> Effect {
    let real = work.facts.real(path);
    let place = place::of(&real, work.facts, Purpose::Look);
    let in_dependencies = real
        .components()
        .any(|c| matches!(c.as_os_str().to_str(), Some("node_modules" | ".venv" | "venv")));
    let vouched =
        work.facts.in_project(&real) && !wrote && (place == Place::Cache || in_dependencies || work.git_holds(&real));
    let spec = if vouched {
        EffectSpec {
            action: Action::Execute,
            place: Place::Project,
            undo: Undo::Kept,
            reach: Reach::Here,
        }
    } else {
        EffectSpec {
            action: Action::Execute,
            place: Place::Other,
            undo: Undo::Lost,
            reach: Reach::Here,
        }
    };
    let named = place::normalize(path);
    Effect {
        spec,
        target: shown(&named, work.facts),
        subject: Subject::Path { named, real },
    }
}

/// The path as a person would write it: below the project or the home.
pub fn shown(path: &Path, facts: &Facts) -> String {
    for root in &facts.project {
        if let Ok(inside) = path.strip_prefix(root) {
            return if inside.as_os_str().is_empty() {
                ".".to_owned()
            } else {
                inside.display().to_string()
            };
        }
    }
    match facts.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    }
}

/// The text of a path operand as an absolute path; `None` where the directory it starts from is not known.
pub fn absolute(text: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    if text.starts_with('/') {
        Some(PathBuf::from(text))
    } else {
        Some(cwd?.join(text))
    }
}
