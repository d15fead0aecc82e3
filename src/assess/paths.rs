//! From a path and what is done to it to effects: where it is, by name and by real path, and what would be lost.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::Work;
use super::below;
use crate::effect::{Action, Effect, EffectSpec, Place, Reach, Subject, Undo};
use crate::facts::{self, Facts, Kind};
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
        (Action::Delete, Some(parent), Some(name)) if !enters(path) => work.facts.real(parent).join(name),
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
    // That a secret is there, and its size and age, tell nothing of it that a list of the project's files would not.
    if action == Action::Inspect && [&lexical, &real].iter().all(|path| work.facts.in_project(path)) {
        places
            .iter_mut()
            .filter(|place| **place == Place::Secret)
            .for_each(|place| *place = Place::Project);
    }
    // There is no secret yet in a file of this name, only settings that programs will obey.
    if action == Action::Write && [&lexical, &real].iter().all(|path| is_new_dotenv(path, work.facts)) {
        places
            .iter_mut()
            .filter(|place| **place == Place::Secret)
            .for_each(|place| *place = Place::BecomesCode);
    }
    let is_git_config =
        real.file_name().is_some_and(|name| name == "config") && real.components().any(|c| c.as_os_str() == ".git");
    if action == Action::Read && is_git_config && work.facts.holds_password(&real) {
        places.push(Place::Secret);
    }
    // What programs are found in is no mere scratch.
    if purpose == Purpose::Change && places.contains(&Place::Scratch) && work.facts.moves_path([&lexical, &real]) {
        places.push(Place::BecomesCode);
    }
    let mut undo = match purpose {
        Purpose::Look => Undo::Nothing,
        Purpose::Change => undo(action, &real, work),
    };
    let mut target = shown(&lexical, work.facts);
    let mut below = Vec::new();
    if action == Action::Delete && undo == Undo::Lost && below::is_looked_into(&real, work.facts) {
        let lost = below::lost(&real, work);
        below = lost.named;
        undo = lost.undo;
        if let Some(what) = lost.what {
            target = format!("{what} in {target}/");
        }
    }
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
        .chain(below)
        .collect()
}

/// Whether this would be a new `.env` or `.env.test` among ordinary files of the project.
fn is_new_dotenv(path: &Path, facts: &Facts) -> bool {
    let is_ordinary =
        |dir: &Path| facts.kind(dir) == Kind::Directory && place::of(dir, facts, Purpose::Change) == Place::Project;
    let is_so_named = path
        .file_name()
        .is_some_and(|name| name == ".env" || name.as_bytes().starts_with(b".env."));
    is_so_named && facts.in_project(path) && facts.kind(path) == Kind::Missing && path.parent().is_some_and(is_ordinary)
}

/// Whether a path names what is behind a last link, not the link.
pub fn enters(path: &Path) -> bool {
    let text = path.as_os_str().as_bytes();
    text.ends_with(b"/") || text.ends_with(b"/.")
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
    let kind = match work.facts.is_link(real) {
        true => Kind::File,
        false => work.facts.kind(real),
    };
    match kind {
        Kind::Missing => Undo::Nothing,
        Kind::Directory if action == Action::Write => Undo::Nothing,
        _ if place::of(real, work.facts, Purpose::Change) == Place::Cache => Undo::Kept,
        Kind::File if work.facts.git_holds(real) => Undo::Kept,
        Kind::File | Kind::Directory | Kind::Other => Undo::Lost,
    }
}

/// The effect of running the file at `path`: as good as whoever vouches for it, and nobody does once it may have been changed.
pub fn execute(path: &Path, work: &mut Work<'_>, planted: bool) -> Effect {
    let real = work.facts.real(path);
    let place = place::of(&real, work.facts, Purpose::Look);
    let in_dependencies = real
        .components()
        .any(|c| matches!(c.as_os_str().to_str(), Some("node_modules" | ".venv" | "venv")));
    let vouched = work.facts.in_project(&real)
        && !planted
        && (place == Place::Cache || in_dependencies || work.facts.git_holds(&real));
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
            let text = inside.display().to_string();
            return match text.chars().next() {
                None => ".".to_owned(),
                // A file of this name is no home.
                Some('~') => format!("./{text}"),
                Some(_) => text,
            };
        }
    }
    match facts.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
        Some(inside) if inside.as_os_str().is_empty() => "~".to_owned(),
        Some(inside) => format!("~/{}", inside.display()),
        None => path.display().to_string(),
    }
}

/// The paths that a word of a program may name whose options are not known: the word, and what is glued to an option, a
/// scheme or another path.
pub fn named_in(word: &str, cwd: Option<&Path>, facts: &Facts) -> Vec<PathBuf> {
    let looks_so = |text: &str| {
        let name = text.rsplit('/').next().unwrap_or_default();
        text.contains('/') || text.starts_with(['~', '.']) || place::secret_file_name(name)
    };
    // `//app:all` is a label of a build system, unless it leads to something.
    let is_label = |text: &str| text.starts_with("//") && !facts.exists(Path::new(text));
    let path = |text: &str| match (text.strip_prefix("~/"), &facts.home) {
        _ if !looks_so(text) || is_label(text) => None,
        (Some(rest), Some(home)) => Some(home.join(rest)),
        _ if text == "~" => facts.home.clone(),
        _ => absolute(text, cwd),
    };
    let is_short = word.starts_with('-') && !word.starts_with("--") && !word.contains('=');
    let is_address = |text: &str| text.contains("://");
    let mut paths = Vec::new();
    if !is_address(word) {
        paths.extend(path(word));
        paths.extend(is_short.then(|| word.get(2..)).flatten().and_then(path));
    }
    for part in word.split([',', ';', '|', '"', '\'', '`', '<', '>', ' ', '\t', '\n']) {
        if let Some((_, local)) = part.split_once("file:") {
            let local = match local.strip_prefix("//") {
                Some(rest) => &rest[rest.find('/').unwrap_or(0)..],
                None => local,
            };
            paths.extend(match local.contains('%') {
                true => Some(Path::new("/").join(local)),
                false => path(local),
            });
        }
        let glued = ['=', '@', ':'];
        if !is_address(part) && (part.len() < word.len() || part.contains(glued)) {
            paths.extend(part.split(glued).filter_map(path));
        }
    }
    paths.dedup();
    paths
}

/// The text of a path operand as an absolute path; `None` where the directory it starts from is not known, or where no
/// system opens a path as long.
pub fn absolute(text: &str, cwd: Option<&Path>) -> Option<PathBuf> {
    if text.len() > facts::MAX_PATH {
        None
    } else if text.starts_with('/') {
        Some(PathBuf::from(text))
    } else {
        Some(cwd?.join(text))
    }
}
