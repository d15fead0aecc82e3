//! What a command's name means to the person's own shell, before PATH is asked: an alias, a function, or a program that
//! a file of the project chooses.

use std::path::Path;

use super::bash::{Gathered, Site, Work};
use crate::effect::{Action, EffectSpec, Reach};
use crate::facts::Facts;
use crate::facts::snapshot::{Alias, ShellSnapshot};
use crate::shell::ast::{Part, Word};
use crate::shell::state::State;
use crate::shell::{self, Arg, Span, Value};

/// At most this many aliases stand for one another.
const MAX_ALIASES: usize = 8;

/// The words that an alias of the session's shell puts behind the name, where it means the program of that name;
/// `None`: it means another thing, or may.
pub fn put_in(name: &str, state: &State, facts: &Facts) -> Option<Vec<String>> {
    if state.is_inner {
        return Some(Vec::new());
    }
    let snapshot = facts.shell();
    if snapshot.unreadable || is_function(name, snapshot) {
        return None;
    }
    match snapshot.alias(name) {
        None => Some(Vec::new()),
        Some(Alias::Text(text)) if !text.ends_with([' ', '\t']) => {
            let mut words = simple_words(&text)?.into_iter();
            (words.next().as_deref() == Some(name)).then(|| words.collect())
        }
        Some(Alias::Text(_) | Alias::Unclear) => None,
    }
}

/// A command's words as the session's shell reads them: an alias is put in, and a function is a doubt.
pub fn resolved(
    words: &[Word],
    mut args: Vec<Arg>,
    state: &mut State,
    site: Site,
    work: &mut Work<'_>,
    gathered: &mut Gathered,
) -> Vec<Arg> {
    if state.is_inner {
        return args;
    }
    let mut is_plain = matches!(
        words.first().map(|word| word.parts.as_slice()),
        Some([Part::Literal(_)])
    );
    let mut put_in: Vec<String> = Vec::new();
    while let Some(name) = args.first().and_then(|arg| arg.value.literal()).map(str::to_owned) {
        let span = args[0].span;
        let snapshot = work.facts.shell();
        if snapshot.unreadable {
            gathered.doubt(
                "the host's shell snapshot, which may rename any command, cannot be read",
                span,
            );
            break;
        }
        let alias = (is_plain && !put_in.contains(&name) && put_in.len() < MAX_ALIASES).then(|| snapshot.alias(&name));
        let Some(alias) = alias.flatten() else {
            if state.function(&name) != Some(true) && is_function(&name, snapshot) {
                gathered.doubt(format!("`{name}` is a function of the person's shell"), span);
                state.forget_all();
                state.plant();
            }
            break;
        };
        let simple = match &alias {
            Alias::Text(text) => simple_words(text),
            Alias::Unclear => None,
        };
        let Some(simple) = simple else {
            gathered.doubt(
                format!("`{name}` is an alias of the person's shell for more than one command"),
                span,
            );
            gathered.unvouched(&name);
            if let Alias::Text(text) = alias {
                let code = Arg {
                    value: Value::Literal(text),
                    span,
                };
                let inner = Site {
                    depth: site.depth + 1,
                    ..site
                };
                work.code(&code, &mut state.child(), inner);
            }
            state.forget_all();
            state.plant();
            break;
        };
        let Alias::Text(text) = alias else { break };
        let next = args.get(1).and_then(|arg| arg.value.literal());
        if text.ends_with([' ', '\t']) && next.is_some_and(|next| snapshot.alias(next).is_some()) {
            gathered.doubt(format!("the alias `{name}` lets an alias follow it"), span);
        }
        let simple = simple.into_iter().map(|text| Arg {
            value: Value::Literal(text),
            span,
        });
        args.splice(0..1, simple);
        put_in.push(name);
        is_plain = true;
    }
    args
}

/// A function of the name, or one that the shell runs with it.
fn is_function(name: &str, snapshot: &ShellSnapshot) -> bool {
    let changes_directory = ["cd", "pushd", "popd"].contains(&name);
    snapshot.is_function(name) || changes_directory && snapshot.is_function("chpwd")
}

/// The words of a text that is one command of literal words.
fn simple_words(text: &str) -> Option<Vec<String>> {
    let script = shell::parse(text).ok()?;
    let words: Option<Vec<String>> = script.lone_command()?.iter().map(|word| literal(&word.parts)).collect();
    words.filter(|words| !words.is_empty())
}

fn literal(parts: &[Part]) -> Option<String> {
    parts
        .iter()
        .map(|part| match part {
            Part::Literal(text) | Part::Quoted(text) => Some(text.clone()),
            Part::DoubleQuoted(parts) => literal(parts),
            Part::Glob(_)
            | Part::Tilde(_)
            | Part::Brace(_)
            | Part::CommandSubstitution(_)
            | Part::ProcessSubstitution { .. }
            | Part::Arithmetic(_)
            | Part::Parameter(_) => None,
        })
        .collect()
}

/// Programs that only choose which program runs, by files at or above the directory that they start in.
struct Chooser {
    files: &'static [&'static str],
    /// It fetches what a file names where it is not there yet, and shows a file that it cannot read.
    fetches: bool,
}

/// A chooser's file that holds this may name a program of any directory; without it, it chooses among those installed.
const NAMES_A_DIRECTORY: &str = "path";

/// rustup: <https://rust-lang.github.io/rustup/overrides.html#path>.
const RUSTUP: Chooser = Chooser {
    files: &["rust-toolchain.toml", "rust-toolchain"],
    fetches: true,
};
/// asdf and mise: <https://asdf-vm.com/manage/configuration.html#tool-versions>, `path:DIRECTORY`.
const SHIMS: Chooser = Chooser {
    files: &[".tool-versions", "mise.toml", ".mise.toml"],
    fetches: false,
};

fn chooser(name: &str, path: &Path) -> Option<&'static Chooser> {
    const RUST: &[&str] = &[
        "cargo",
        "rust-analyzer",
        "rust-gdb",
        "rust-lldb",
        "rustc",
        "rustdoc",
        "rustfmt",
    ];
    if RUST.contains(&name) || name.starts_with("cargo-") || name.starts_with("clippy-") {
        return Some(&RUSTUP);
    }
    let has = |part: &str| path.components().any(|c| c.as_os_str() == part);
    (has("shims") && (has(".asdf") || has("asdf") || has("mise"))).then_some(&SHIMS)
}

/// Adds what runs instead of the program that PATH finds, where a file of the project may say so.
pub fn chosen(name: &str, path: &Path, span: Span, state: &State, work: &mut Work<'_>, gathered: &mut Gathered) {
    let Some(chooser) = chooser(name, path) else { return };
    let Some(cwd) = &state.cwd else {
        return gathered.doubt(
            format!("the directory it runs in is not known, whose files may say which `{name}` runs"),
            span,
        );
    };
    if chooser.fetches && state.wrote {
        gathered.unvouched(format!("the `{name}` that a file made before may choose"));
    }
    // Where a link led here, the chooser looks above what it leads to.
    let real = Some(work.facts.real(cwd)).filter(|real| real != cwd);
    let files = [Some(cwd), real.as_ref()].into_iter().flatten().flat_map(|cwd| {
        let names = move |dir: &Path| chooser.files.iter().map(|file| dir.join(file)).collect::<Vec<_>>();
        cwd.ancestors().flat_map(names)
    });
    for file in files.collect::<Vec<_>>() {
        if names_a_directory(&file, work.facts) {
            let file = super::paths::shown(&file, work.facts);
            gathered.doubt(format!("{file} may say which `{name}` runs"), span);
            gathered.unvouched(file);
        } else if chooser.fetches && work.facts.exists(&file) {
            for effect in super::paths::effects(Action::Read, &file, work).iter() {
                gathered.add(effect.clone());
            }
            let spec = EffectSpec {
                reach: Reach::Known,
                ..EffectSpec::of(Action::Connect)
            };
            let shown = super::paths::shown(&file, work.facts);
            gathered.effect(
                spec,
                format!("where the toolchain of {shown} is fetched if it is missing"),
            );
        }
    }
}

/// Whether a file of a chooser's is there and may name a directory, or cannot be read. An absolute path alone is one too.
fn names_a_directory(file: &Path, facts: &Facts) -> bool {
    match facts.text(file) {
        Some(text) => text.contains(NAMES_A_DIRECTORY) || text.contains('\\') || text.trim_start().starts_with('/'),
        None => facts.exists(file),
    }
}
