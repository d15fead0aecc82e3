//! From the words of a command, each with its role, to effects on paths, hosts and the environment.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::bash::{Gathered, Work};
use super::seen::Walk;
use super::{glob, hosts, inline, numbers, paths};
use crate::catalog::{Role, Use, environment};
use crate::effect::{Action, EffectSpec, Place, Reach, Undo};
use crate::facts::{Facts, Kind, Tree};
use crate::place::{self, Purpose};
use crate::shell::state::State;
use crate::shell::{Arg, Value};

/// At most this many directories are looked through for one word, those that links lead to included.
const MAX_LINKED: usize = 32;

/// The effects of every word that a command was given.
pub fn apply(uses: &[Use], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let uses = &numbers::resolved(uses, state, work);
    let filters = filters(uses);
    for used in uses.iter() {
        let arg = &used.arg;
        match used.role {
            Role::Plain | Role::Command | Role::Remote | Role::RemoteShell => {}
            Role::Package => package(arg, state, work, gathered),
            Role::Module => {
                if !inline::is_library_module(arg, state, work) {
                    gathered.add(work.own_code(state.planted, state));
                }
            }
            Role::PathRead => path(Action::Read, arg, state, work, gathered),
            Role::TreeRead => tree(
                arg,
                state,
                Entered {
                    hidden: true,
                    names: &filters,
                },
                work,
                gathered,
            ),
            Role::TreeVisible => tree(
                arg,
                state,
                Entered {
                    hidden: false,
                    names: &filters,
                },
                work,
                gathered,
            ),
            Role::PathInspect | Role::Directory => path(Action::Inspect, arg, state, work, gathered),
            Role::PathWrite => {
                path(Action::Write, arg, state, work, gathered);
                into_directory(arg, uses, state, work, gathered);
            }
            Role::PathDelete => path(Action::Delete, arg, state, work, gathered),
            Role::PathMode => path(Action::Mode, arg, state, work, gathered),
            Role::Permissions => permissions(arg, gathered),
            Role::Mount => mount(arg, state, work, gathered),
            Role::Config | Role::Program => program(arg, state, work, gathered),
            Role::Host => hosts::host(arg, gathered),
            Role::Url => hosts::url(arg, state, work, gathered),
            Role::Secret => {
                gathered.effect(
                    EffectSpec {
                        place: Place::Secret,
                        ..EffectSpec::of(Action::Disclose)
                    },
                    "a secret in the command",
                );
            }
            Role::Env => match arg.value.literal() {
                Some(name) => work.disclosure(name, state, gathered),
                None => gathered.doubt("which variable is shown is not known", arg.span),
            },
            Role::EnvAssign => assignment(arg, state, work, gathered),
            Role::TreeFilter => {}
            Role::Shell
            | Role::Code
            | Role::Python
            | Role::JavaScript
            | Role::Sed
            | Role::Awk
            | Role::Jq
            | Role::Template
            | Role::Find
            | Role::Sql
            | Role::Sqlite => {
                gathered.doubt("code that is not followed here", arg.span);
            }
        }
    }
}

/// The effect of `action` on every path that a word can be.
pub fn path(action: Action, arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let texts = match &arg.value {
        Value::Literal(text) => std::slice::from_ref(text),
        Value::OneOf(texts) => texts,
        Value::Under { directory, names } => return under(action, directory, names, arg, state, work, gathered),
        Value::Numbered { .. } => {
            let value = numbers::files(&arg.value, state, work);
            let arg = Arg { value, span: arg.span };
            return path(action, &arg, state, work, gathered);
        }
        Value::Unknown { .. } => {
            gathered.doubt(format!("which file it {} is not known", verb(action)), arg.span);
            return somewhere(action, Place::Project, "a file that is not known", gathered);
        }
    };
    for text in texts {
        // `-` is the program's own input or output to most, and the name of a file to a few.
        if text == "-" && !located(text, state).is_some_and(|path| work.facts.exists(&path)) {
            continue;
        }
        match located(text, state) {
            Some(path) => one_path(action, &path, arg, state, work, gathered),
            None => {
                gathered.doubt("the directory it runs in is not known", arg.span);
                let secret = Path::new(text)
                    .file_name()
                    .and_then(OsStr::to_str)
                    .is_some_and(place::secret_file_name);
                let place = if secret { Place::Secret } else { Place::Project };
                somewhere(action, place, text, gathered);
            }
        }
    }
}

/// What is done to a path that is not known is at least what it would be to the person's work, or to a secret.
fn somewhere(action: Action, place: Place, target: &str, gathered: &mut Gathered) {
    let undo = match action {
        Action::Write | Action::Delete => Undo::Lost,
        Action::Inspect | Action::Read if place == Place::Secret => Undo::Nothing,
        Action::Mode => Undo::Kept,
        Action::Inspect
        | Action::Read
        | Action::Execute
        | Action::Disclose
        | Action::Control
        | Action::Connect
        | Action::Send
        | Action::Privilege => return,
    };
    let spec = EffectSpec {
        place,
        undo,
        ..EffectSpec::of(action)
    };
    gathered.effect(spec, target);
}

/// A set-user or set-group bit lends the rights of the file's owner to whoever runs it.
fn permissions(arg: &Arg, gathered: &mut Gathered) {
    let Some(texts) = arg.value.alternatives() else {
        return gathered.doubt("which permissions these are is not known", arg.span);
    };
    if texts.iter().any(|text| lends_rights(text)) {
        let spec = EffectSpec::of(Action::Mode);
        gathered.effect(spec, "whoever runs it gets its owner's rights");
    }
}

/// `4755`, `u+s`, `g=rxs`; taking the bit away (`u-s`) is harmless.
fn lends_rights(mode: &str) -> bool {
    let bits = u32::from_str_radix(mode.trim_start_matches(['+', '=']), 8);
    let mut gives = false;
    bits.is_ok_and(|bits| bits & 0o6000 != 0)
        || mode.chars().any(|sign| {
            gives = match sign {
                '+' | '=' => true,
                '-' | ',' => false,
                _ => gives,
            };
            gives && sign == 's'
        })
}

/// What runs in a container may change, remove and disclose all that is mounted into it; what has a name only is a volume.
fn mount(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(texts) = arg.value.alternatives() else {
        return gathered.doubt("what is mounted is not known", arg.span);
    };
    for text in texts {
        let named = |field: &'_ str| {
            field
                .strip_prefix("source=")
                .or(field.strip_prefix("src="))
                .map(str::to_owned)
        };
        let source = text.split(',').find_map(named);
        let source = source.or_else(|| Some(text.split_once(':')?.0.to_owned()));
        let source = source.filter(|source| source.starts_with(['/', '.', '~']));
        let Some(source) = source else { continue };
        let in_project = located(&source, state).is_some_and(|path| work.facts.in_project(&path));
        let action = if in_project { Action::Write } else { Action::Delete };
        let value = Value::Literal(source);
        path(action, &Arg { value, span: arg.span }, state, work, gathered);
    }
}

fn verb(action: Action) -> &'static str {
    match action {
        Action::Inspect => "looks at",
        Action::Read => "reads",
        Action::Write => "writes",
        Action::Delete => "deletes",
        Action::Mode => "changes",
        Action::Execute => "runs",
        Action::Disclose | Action::Control | Action::Connect | Action::Send | Action::Privilege => "uses",
    }
}

fn one_path(action: Action, path: &Path, arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    if state.relinked && may_be_relinked(path, action, work) {
        gathered.doubt("an earlier command may have made this path", arg.span);
    }
    for effect in paths::effects(action, path, work).iter() {
        gathered.add(effect.clone());
    }
}

/// Whether this path may be another one after a command that made links: it was missing, or is the project's, whose files
/// another commit may hold as links, and is changed now.
pub fn may_be_relinked(path: &Path, action: Action, work: &Work<'_>) -> bool {
    let facts = work.facts;
    let is_root = |dir: &Path| facts.project.iter().any(|root| *root == place::normalize(dir));
    let changes = match action {
        Action::Write | Action::Mode => true,
        // Only the link would be gone.
        Action::Delete => paths::enters(path) || !path.parent().is_some_and(is_root),
        _ => false,
    };
    facts.kind(path) == Kind::Missing || changes && facts.in_project(&place::normalize(path))
}

fn located(text: &str, state: &State) -> Option<PathBuf> {
    paths::absolute(text, state.cwd.as_deref())
}

/// Something below a directory, found by `find`.
fn under(
    action: Action,
    directory: &str,
    names: &[String],
    arg: &Arg,
    state: &State,
    work: &mut Work<'_>,
    gathered: &mut Gathered,
) {
    let directory_arg = Arg {
        value: Value::Literal(directory.to_owned()),
        span: arg.span,
    };
    match action {
        Action::Read => tree(&directory_arg, state, Entered { hidden: true, names }, work, gathered),
        Action::Inspect => path(action, &directory_arg, state, work, gathered),
        Action::Write | Action::Delete | Action::Mode => {
            path(action, &directory_arg, state, work, gathered);
            for effect in gathered
                .effects
                .iter_mut()
                .filter(|effect| effect.spec.action == action)
            {
                effect.spec.undo = effect.spec.undo.max(Undo::Lost);
            }
        }
        Action::Execute | Action::Disclose | Action::Control | Action::Connect | Action::Send | Action::Privilege => {
            gathered.doubt("which file it uses is not known", arg.span);
        }
    }
}

/// Which files below a directory a walk reads.
#[derive(Clone, Copy)]
pub struct Entered<'a> {
    /// Names that begin with a dot too.
    pub hidden: bool,
    /// Patterns for the names of files, one of which must fit; empty: every file. What they name is read though hidden.
    pub names: &'a [String],
}

impl Entered<'_> {
    fn directory(self, name: &OsStr) -> bool {
        let name = name.to_string_lossy();
        !is_restored(&name) && (self.hidden || !self.names.is_empty() || !name.starts_with('.'))
    }

    fn file(self, path: &Path) -> bool {
        let Some(name) = path.file_name().map(OsStr::to_string_lossy) else {
            return false;
        };
        let name = name.to_lowercase();
        let fits = |pattern: &String| glob::name_fits(&pattern.to_lowercase(), &name).unwrap_or(true);
        if self.names.is_empty() {
            self.hidden || !name.starts_with('.')
        } else {
            self.names.iter().any(fits)
        }
    }
}

/// Directories of a repository or of dependencies, whose files are not the person's own.
fn is_restored(directory: &str) -> bool {
    [".git", "node_modules", "target", ".venv"].contains(&directory)
}

/// The patterns of which a file of a walk must fit one. One that is not known fits every file; `!x` only leaves out.
fn filters(uses: &[Use]) -> Vec<String> {
    let leaves_out = |pattern: &String| pattern.starts_with('!');
    let mut filters = Vec::new();
    for used in uses.iter().filter(|used| used.role == Role::TreeFilter) {
        match used.arg.value.alternatives() {
            Some(patterns) if patterns.iter().all(leaves_out) => {}
            Some(patterns) if !patterns.iter().any(leaves_out) => filters.extend_from_slice(patterns),
            Some(_) | None => filters.push("*".to_owned()),
        }
    }
    filters
}

/// Content that is looked for under a secret's name counts as that secret, whether or not one is there now.
pub fn sought(uses: &[Use], runs: bool, gathered: &mut Gathered) {
    let reads = runs
        || uses
            .iter()
            .any(|used| matches!(used.role, Role::TreeRead | Role::TreeVisible));
    for used in uses.iter().filter(|used| reads && used.role == Role::TreeFilter) {
        for pattern in used.arg.value.alternatives().unwrap_or_default() {
            let name = pattern.rsplit('/').next().unwrap_or_default();
            if !pattern.starts_with('!') && place::secret_file_name(name) {
                let spec = EffectSpec {
                    place: Place::Secret,
                    ..EffectSpec::of(Action::Read)
                };
                gathered.effect(spec, pattern);
            }
        }
    }
}

/// What ignore files take back from being ignored, which is then read though it is hidden.
pub fn taken_back(root: &Path, tree: &Tree, facts: &Facts) -> Vec<String> {
    const IGNORE_FILES: &[&str] = &[".gitignore", ".ignore", ".rgignore", ".fdignore"];
    let above = root
        .ancestors()
        .flat_map(|dir| IGNORE_FILES.iter().map(|name| dir.join(name)));
    let below = tree.files.iter().filter(|path| {
        path.file_name()
            .is_some_and(|name| IGNORE_FILES.iter().any(|ignore| name == *ignore))
    });
    above
        .chain(below.cloned())
        .filter_map(|path| facts.text(&path))
        .flat_map(|text| {
            let lines = text.lines().filter_map(|line| line.trim_end().strip_prefix('!'));
            lines.map(str::to_owned).collect::<Vec<_>>()
        })
        .collect()
}

/// Reading everything below a directory also reads the secrets and follows the links that lie there.
pub fn tree(arg: &Arg, state: &State, entered: Entered<'_>, work: &mut Work<'_>, gathered: &mut Gathered) {
    path(Action::Read, arg, state, work, gathered);
    let Some(texts) = arg.value.alternatives() else { return };
    for text in texts.iter().filter(|text| *text != "-") {
        let Some(root) = located(text, state) else { continue };
        let below = below(root, arg, state, entered, work);
        for effect in &below.effects {
            gathered.add(effect.clone());
        }
        for doubt in &below.doubts {
            gathered.doubt(doubt.why.as_str(), arg.span);
        }
    }
}

/// What a walk meets, where this is a directory; a walk is made once.
fn below(root: PathBuf, arg: &Arg, state: &State, entered: Entered<'_>, work: &mut Work<'_>) -> Rc<Gathered> {
    let walk = Walk {
        root: root.clone(),
        hidden: entered.hidden,
        names: entered.names.to_vec(),
        relinked: state.relinked,
    };
    if let Some(below) = work.seen.walk(&walk) {
        return below;
    }
    let mut below = Gathered::default();
    if !work.seen.look() {
        work.too_much(arg.span);
    } else if work.facts.kind(&root) == Kind::Directory {
        self::walk(root, arg, state, entered, work, &mut below);
    }
    let below = Rc::new(below);
    work.seen.keep_walk(walk, &below);
    below
}

/// Notes the secrets below a directory, and what links below it lead to, each directory once.
fn walk(root: PathBuf, arg: &Arg, state: &State, entered: Entered<'_>, work: &mut Work<'_>, gathered: &mut Gathered) {
    let mut seen: Vec<PathBuf> = Vec::new();
    let mut roots = vec![root];
    while let Some(root) = roots.pop() {
        let real = work.facts.real(&root);
        if seen.iter().any(|earlier| real.starts_with(earlier)) {
            continue;
        }
        seen.push(real);
        let tree = work
            .facts
            .tree(&root, &|dir| !entered.directory(dir.file_name().unwrap_or_default()));
        work.seen.walked(tree.files.len() + tree.links.len());
        if tree.cut || seen.len() > MAX_LINKED {
            let why = "there is more below this directory than is looked through for secrets";
            return gathered.doubt(why, arg.span);
        }
        let kept = if entered.hidden {
            Vec::new()
        } else {
            taken_back(&root, &tree, work.facts)
        };
        let back = Entered {
            hidden: false,
            names: &kept,
        };
        let is_read = |path: &PathBuf| entered.file(path) || !kept.is_empty() && back.file(path);
        // The files of a directory stand together, so whether their names alone tell is asked once for all of them.
        let mut directory: Option<(&Path, bool)> = None;
        for file in tree.files.iter().filter(|path| is_read(path)) {
            let parent = file.parent().unwrap_or(file);
            let by_name = match directory {
                Some((known, by_name)) if known == parent => by_name,
                _ => place::names_tell_secrets(parent, work.facts),
            };
            directory = Some((parent, by_name));
            let secret = match by_name {
                true => place::secret_file_name(&file.file_name().unwrap_or_default().to_string_lossy()),
                false => place::is_secret_at(file, work.facts),
            };
            if secret {
                one_path(Action::Read, file, arg, state, work, gathered);
            }
        }
        for link in &tree.links {
            let real = work.facts.real(link);
            if work.facts.kind(&real) == Kind::Directory && work.facts.in_project(&real) {
                roots.push(link.clone());
            } else if is_read(link) && (place::is_secret_at(&real, work.facts) || !work.facts.in_project(&real)) {
                one_path(Action::Read, link, arg, state, work, gathered);
            }
        }
    }
}

/// A write to a directory lands on the names of what is copied or moved there.
fn into_directory(target: &Arg, uses: &[Use], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let targets = target.value.alternatives().unwrap_or_default();
    for dir in targets.iter().filter_map(|text| located(text, state)) {
        into_this(&dir, target, uses, state, work, gathered);
    }
}

fn into_this(dir: &Path, target: &Arg, uses: &[Use], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let is_there = work.facts.kind(dir) == Kind::Directory;
    for used in uses {
        if !matches!(used.role, Role::PathRead | Role::TreeRead | Role::PathDelete) {
            continue;
        }
        for source in used.arg.value.alternatives().unwrap_or_default() {
            let inside = Path::new(source)
                .file_name()
                .filter(|_| is_there)
                .map(|name| dir.join(name));
            if let Some(inside) = &inside {
                one_path(Action::Write, inside, target, state, work, gathered);
            }
            // Whether a directory lands inside of the one that is there or on it, an option or a last `/.` decides.
            if used.role == Role::TreeRead
                && let Some(source) = located(source, state)
            {
                for landing in inside.iter().map(PathBuf::as_path).chain([dir]) {
                    tree_lands(&source, landing, target, state, work, gathered);
                }
            }
        }
    }
}

/// A directory is copied with all that is below it, and each file lands at a name of its own: on what is there, or where
/// the name has a meaning.
fn tree_lands(
    source: &Path,
    landing: &Path,
    target: &Arg,
    state: &State,
    work: &mut Work<'_>,
    gathered: &mut Gathered,
) {
    if !work.seen.look() {
        return work.too_much(target.span);
    }
    let facts = work.facts;
    let place_of = |real: &Path| place::of(real, facts, Purpose::Change);
    let usual = place_of(&facts.real(landing));
    let skip =
        |dir: &Path| usual == Place::Scratch && is_restored(&dir.file_name().unwrap_or_default().to_string_lossy());
    let tree = facts.tree(source, &skip);
    work.seen.walked(tree.files.len() + tree.links.len());
    if tree.cut {
        return gathered.doubt("there is more below this directory than is looked through", target.span);
    }
    if state.wrote && was_written(source, work) {
        gathered.doubt("an earlier command may have put files into what is copied", target.span);
    }
    // The files of a directory stand together, so where it really is, is asked once for all of them.
    let mut directory: Option<(&Path, PathBuf)> = None;
    for file in tree.files.iter().chain(&tree.links).chain(&tree.skipped) {
        let (Some(parent), Some(name), Ok(below)) = (file.parent(), file.file_name(), file.strip_prefix(source)) else {
            continue;
        };
        let lands = landing.join(below);
        if directory.as_ref().is_none_or(|(known, _)| *known != parent) {
            directory = lands.parent().map(|above| (parent, facts.real(above)));
        }
        let means_more = directory
            .as_ref()
            .is_some_and(|(_, real)| place_of(&real.join(name)) != usual);
        if means_more || facts.exists(&lands) {
            one_path(Action::Write, &lands, target, state, work, gathered);
        }
    }
}

/// Whether a link that is made leads to ordinary files of the project from wherever its text may be followed: a symbolic one
/// is from the directory that it lies in.
pub fn links_inside(uses: &[Use], state: &State, work: &Work<'_>) -> bool {
    let words = |role: Role| {
        let of_role = uses.iter().filter(move |used| used.role == role);
        of_role
            .map(|used| used.arg.value.literal())
            .collect::<Option<Vec<&str>>>()
    };
    let (Some(targets), Some(names), Some(cwd)) = (words(Role::PathRead), words(Role::PathWrite), &state.cwd) else {
        return false;
    };
    let facts = work.facts;
    let is_ordinary = |path: &Path| {
        let both = [place::normalize(path), facts.real(path)];
        both.iter().all(|path| {
            let place = place::of(path, facts, Purpose::Change);
            let holds_more = [".git", ".env", ".claude"]
                .iter()
                .any(|name| facts.exists(&path.join(name)));
            facts.in_project(path) && matches!(place, Place::Project | Place::Build | Place::Cache) && !holds_more
        })
    };
    let name = |name: &&str| cwd.join(name);
    let above = names
        .iter()
        .filter_map(|text| name(text).parent().map(Path::to_path_buf));
    let directories: Vec<PathBuf> = above.chain(names.iter().map(name)).chain([cwd.clone()]).collect();
    let lead = |target: &&str| directories.iter().all(|dir| is_ordinary(&dir.join(target)));
    let is_in_project = |name: &&str| {
        let path = cwd.join(name);
        [place::normalize(&path), facts.real(&path)]
            .iter()
            .all(|path| facts.in_project(path))
    };
    !state.relinked
        && !targets.is_empty()
        && facts.in_project(&facts.real(cwd))
        && names.iter().all(is_in_project)
        && targets.iter().all(lead)
}

/// Whether a copy or a move of these may bring symbolic links to where it puts them.
pub fn carries_links(uses: &[Use], state: &State, work: &Work<'_>) -> bool {
    let facts = work.facts;
    let may_hold = |path: &PathBuf| {
        let holds = |tree: Tree| tree.cut || !tree.links.is_empty();
        state.relinked && facts.kind(path) == Kind::Missing
            || facts.is_link(path)
            || state.wrote && was_written(path, work)
            || facts.kind(path) == Kind::Directory && holds(facts.tree(path, &|_| false))
    };
    let mut sources = uses
        .iter()
        .filter(|used| matches!(used.role, Role::PathRead | Role::TreeRead | Role::PathDelete));
    sources.any(|used| {
        let texts = used.arg.value.alternatives();
        texts.is_none_or(|texts| {
            texts
                .iter()
                .any(|text| located(text, state).is_none_or(|path| may_hold(&path)))
        })
    })
}

/// Whether an earlier step wrote to this path, below it or above it.
fn was_written(path: &Path, work: &Work<'_>) -> bool {
    let path = place::normalize(path);
    let is_near = |other: &Path| other.starts_with(&path) || path.starts_with(other);
    let effects = work.steps.iter().flat_map(|step| &step.effects);
    let mut written = effects.filter(|effect| effect.spec.action == Action::Write);
    written.any(|effect| {
        effect
            .subject
            .paths()
            .is_some_and(|paths| paths.into_iter().any(is_near))
    })
}

fn program(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(texts) = arg.value.alternatives() else {
        gathered.doubt("which program it runs is not known", arg.span);
        gathered.unvouched("a program that is not known");
        return;
    };
    for text in texts {
        match located(text, state) {
            Some(path) => {
                let effect = paths::execute(&path, work, state.planted);
                gathered.add(effect);
            }
            None => {
                gathered.doubt("the directory it runs in is not known", arg.span);
                gathered.unvouched(text);
            }
        }
    }
}

/// What stands beside a path and is run is the project's own, which the entry's effects tell, only in the project.
pub fn beside(paths: &[Arg], state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    for arg in paths {
        let texts = match &arg.value {
            Value::Under { directory, .. } => std::slice::from_ref(directory),
            Value::Numbered { .. } => {
                gathered.doubt("which file's directory holds what it runs is not known", arg.span);
                continue;
            }
            value => value.alternatives().unwrap_or_default(),
        };
        for text in texts {
            let Some(named) = located(text, state) else {
                gathered.doubt("the directory it runs in is not known", arg.span);
                continue;
            };
            let both = [place::normalize(&named), work.facts.real(&named)];
            if !both.iter().all(|path| work.facts.in_project(path)) {
                gathered.unvouched(format!("what stands beside {text}"));
            }
        }
    }
}

/// The program of a package: that of the project's own dependencies, or new code from a registry.
fn package(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let name = arg.value.literal().unwrap_or_default();
    let is_plain = !name.is_empty() && !name.contains(['/', '@', ':']);
    let above = state.cwd.iter().flat_map(|cwd| cwd.ancestors());
    let installed = above
        .take_while(|dir| is_plain && work.facts.in_project(dir))
        .map(|dir| dir.join("node_modules/.bin").join(name))
        .find(|path| work.facts.kind(path) == Kind::File);
    match installed {
        Some(path) => gathered.add(paths::execute(&path, work, state.wrote)),
        None => {
            let spec = EffectSpec {
                reach: Reach::New,
                ..EffectSpec::of(Action::Connect)
            };
            gathered.effect(spec, "a registry of packages");
            gathered.unvouched(name);
        }
    }
}

/// `NAME=VALUE` for what runs, or a bare `NAME` that the shell sets or forgets.
fn assignment(arg: &Arg, state: &State, work: &Work<'_>, gathered: &mut Gathered) {
    match &arg.value {
        Value::Literal(text) if !text.contains('=') => {
            work.check_assignment(text, &Value::UNKNOWN, state, arg.span, gathered);
        }
        Value::Literal(text)
        | Value::Numbered { before: text, .. }
        | Value::Unknown {
            prefix: text,
            single: true,
        } if text.contains('=') => {
            let name = text.split('=').next().unwrap_or_default();
            // Only where the shell itself sets it, right before the command, is it plain what it is for.
            if environment::names_program(name) {
                gathered.doubt(format!("`{name}` names a program to run"), arg.span);
            }
            work.check_environment(name, &arg.value.without_prefix(name.len() + 1), arg.span, gathered);
        }
        Value::Literal(_) | Value::OneOf(_) | Value::Under { .. } | Value::Numbered { .. } | Value::Unknown { .. } => {
            gathered.doubt("which variable is set is not known", arg.span);
        }
    }
}

/// The directory that a command acts in; `None` where it is not known.
pub fn directory(arg: &Arg, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) -> Option<PathBuf> {
    path(Action::Inspect, arg, state, work, gathered);
    let path = arg.value.literal().and_then(|text| located(text, state));
    if path.is_none() {
        gathered.doubt("the directory it acts in is not known", arg.span);
    }
    path
}
