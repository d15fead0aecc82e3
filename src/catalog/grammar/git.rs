//! What of git only the words together tell: lists against changes, configuration by key, pushes by their target.
//!
//! It starts from what commands/git.toml says, which is the worst that each form can be, and states it exactly where every word is
//! understood. Left out, nothing would be let through that is not: a reading with doubts is returned as it is.

mod discards;

use catalog_spec::{Action, EffectSpec, Place, Reach, Undo};

use crate::catalog::blob::{self, Node};
use crate::catalog::{Inner, Misread, Reading, Role, Use, git_settings};
use crate::shell::{Arg, Value};
pub use discards::{Discards, Extent, discards};

/// Branch names that others build on, where their last or only component is meant.
const SHARED: &[&str] = &["main", "master", "develop", "trunk", "production"];

const LOOKS: &[EffectSpec] = &[];
const REPOSITORY_KEPT: EffectSpec = write(Place::Repository, Undo::Kept);
const PROJECT_KEPT: EffectSpec = write(Place::Project, Undo::Kept);

const fn write(place: Place, undo: Undo) -> EffectSpec {
    EffectSpec {
        action: Action::Write,
        place,
        undo,
        reach: Reach::Here,
    }
}

/// Refines a reading of git by its entry; `args[0]` is `git`.
pub fn refine(args: &[Arg], reading: &mut Reading) {
    settings(reading);
    by_environment(args, reading);
    if !reading.doubts.is_empty() {
        return;
    }
    let Some(words) = Words::of(args, reading.subcommand) else {
        return;
    };
    refuse_signatures(&words, reading);
    match reading.subcommand {
        "branch" => branch(&words, reading),
        "tag" => tag(&words, reading),
        "config" => {
            config(&words, reading);
            told_settings(&words, reading);
        }
        "symbolic-ref" => symbolic_ref(&words, reading),
        "checkout" => checkout(&words, reading),
        "switch" => begins_branch("-c --create", &words, reading),
        "restore" => restore(&words, reading),
        "clean" => clean(&words, reading),
        "apply" => apply(&words, reading),
        "format-patch" => format_patch(&words, reading),
        "remote show" => remote_show(&words, reading),
        "push" => push(&words, reading),
        "fetch" | "pull" | "ls-remote" => fetch(&words, reading),
        "diff" | "log" | "show" | "whatchanged" | "rev-list" | "shortlog" | "blame" | "annotate" | "grep"
        | "cat-file" | "diff-tree" | "diff-index" | "range-diff" | "archive" | "reflog show" | "stash show" => {
            content(&words, reading)
        }
        // Every other subcommand is said completely by its entry.
        _ => {}
    }
}

/// A subcommand's words, split by the arity that its entry gives each option.
#[derive(Default)]
struct Words {
    options: Vec<(String, Option<Arg>)>,
    operands: Vec<Arg>,
    /// How many operands stand before `--`, if there is one.
    separator: Option<usize>,
}

impl Words {
    /// `None` where there is no subcommand.
    fn of(args: &[Arg], subcommand: &str) -> Option<Words> {
        let git = blob::command("git")?;
        let (_, node) = git.sub(subcommand)?;
        let mut at = 1;
        while let Some(option) = args.get(at)?.value.literal().filter(|t| t.starts_with('-')) {
            at += 1 + usize::from(git.option(option).is_some_and(|o| o.takes_value()));
        }
        at += subcommand.split(' ').count();
        let mut words = Words::default();
        let mut rest = args.get(at..)?.iter();
        while let Some(arg) = rest.next() {
            words.take(node, arg, &mut rest);
        }
        Some(words)
    }

    fn take<'a>(&mut self, node: Node, arg: &Arg, rest: &mut impl Iterator<Item = &'a Arg>) {
        let text = match &arg.value {
            Value::Literal(text) => text,
            Value::OneOf(texts) => &texts[0],
            Value::Unknown { prefix: begin, .. }
            | Value::Numbered { before: begin, .. }
            | Value::Under { directory: begin, .. } => begin,
        };
        if self.separator.is_some() || !text.starts_with('-') || text == "-" {
            self.operands.push(arg.clone());
        } else if text == "--" {
            self.separator = Some(self.operands.len());
        } else if text.starts_with("--") {
            let (spelling, glued) = match text.split_once('=') {
                Some((spelling, _)) => (spelling, Some(without(arg, spelling.len() + 1))),
                None => (text.as_str(), None),
            };
            self.option(node, spelling, glued, rest);
        } else {
            for (at, letter) in text.char_indices().skip(1) {
                let after = at + letter.len_utf8();
                let spelling = format!("-{letter}");
                let takes_value = node.option(&spelling).is_some_and(|o| o.takes_value());
                let glued = (takes_value && after < text.len()).then(|| without(arg, after));
                let ends = glued.is_some();
                self.option(node, &spelling, glued, rest);
                if ends {
                    break;
                }
            }
        }
    }

    fn option<'a>(&mut self, node: Node, spelling: &str, glued: Option<Arg>, rest: &mut impl Iterator<Item = &'a Arg>) {
        let wants = node.option(spelling).is_some_and(|o| o.takes_value() && !o.optional);
        let value = match glued {
            None if wants => rest.next().cloned(),
            glued => glued,
        };
        self.options.push((spelling.to_owned(), value));
    }

    /// One of these options, separated by blanks, was given.
    fn has(&self, spellings: &str) -> bool {
        spellings
            .split(' ')
            .any(|spelling| self.options.iter().any(|(given, _)| given == spelling))
    }
}

fn without(arg: &Arg, count: usize) -> Arg {
    Arg {
        value: arg.value.without_prefix(count),
        span: arg.span,
    }
}

/// Takes the settings that are inert out of the reading; of any other it is not known what it makes git do.
fn settings(reading: &mut Reading) {
    let (given, others) = std::mem::take(&mut reading.uses)
        .into_iter()
        .partition(|used| used.role == Role::Config);
    reading.uses = others;
    for used in given {
        if is_inert_setting(&used.arg) {
            continue;
        }
        let text = used.arg.value.literal().unwrap_or_default();
        let (key, value) = text.split_once('=').unwrap_or((text, "true"));
        let Some(setting) = git_settings::find(key) else {
            reading.doubts.push(Misread {
                why: "this setting is not one that is known to run, open or move nothing".to_owned(),
                span: used.arg.span,
            });
            reading.uses.push(used);
            continue;
        };
        reading.doubts.push(Misread {
            why: format!("`{key}` {}", setting.why),
            span: used.arg.span,
        });
        let what = match setting.effect.action {
            Action::Connect => format!("where `{key}` leads"),
            _ => format!("what `{key}` names"),
        };
        reading.told.push((setting.effect, what));
        if setting.shell {
            let code = match value.strip_prefix('!') {
                Some(code) => code.to_owned(),
                None if key.to_ascii_lowercase().starts_with("alias.") => format!("git {value}"),
                None => value.to_owned(),
            };
            reading.inner.push(Inner::Elsewhere {
                args: super::shell(Value::Literal(code), used.arg.span),
                by: format!("by `{key}`"),
            });
        }
    }
}

/// What `git config` writes down, where it is known what that does.
fn told_settings(words: &Words, reading: &mut Reading) {
    let mut keys = words.operands.iter().filter_map(|arg| arg.value.literal());
    let known = keys.find_map(|key| Some((key, git_settings::find(key)?)));
    let at = reading.effects.iter().position(|effect| effect.place == Place::Startup);
    let (Some((key, setting)), Some(at)) = (known, at) else {
        return;
    };
    let spec = reading.effects.remove(at);
    reading.told.push((spec, format!("`{key}`, which {}", setting.why)));
}

/// `--config-env KEY=VARIABLE`: a setting whose value the environment holds.
fn by_environment(args: &[Arg], reading: &mut Reading) {
    let is_option = |arg: &&Arg| arg.value.literal().is_some_and(|text| text.starts_with("--config-env"));
    if let Some(arg) = args.iter().find(is_option) {
        let effect = EffectSpec {
            place: Place::Other,
            undo: Undo::Lost,
            ..EffectSpec::of(Action::Execute)
        };
        reading.doubts.push(Misread {
            why: "a setting is taken from the environment".to_owned(),
            span: arg.span,
        });
        reading
            .told
            .push((effect, "what a setting from the environment may name".to_owned()));
    }
}

/// `-c key=value` where neither the key nor its value can run, open or move anything.
fn is_inert_setting(arg: &Arg) -> bool {
    let Some(texts) = arg.value.alternatives() else {
        return false;
    };
    texts.iter().all(|text| match text.split_once('=') {
        Some((key, value)) => is_inert_pair(key, value),
        // It then means true, which names no program.
        None => !text.to_ascii_lowercase().ends_with(".editor") && is_inert_pair(text, "true"),
    })
}

fn is_inert_pair(key: &str, value: &str) -> bool {
    const INERT: &[&str] = &[
        "commit.cleanup",
        "commit.status",
        "commit.verbose",
        "core.abbrev",
        "core.autocrlf",
        "core.commentchar",
        "core.eol",
        "core.filemode",
        "core.ignorecase",
        "core.precomposeunicode",
        "core.quotepath",
        "core.safecrlf",
        "core.whitespace",
        "diff.algorithm",
        "diff.colormoved",
        "diff.context",
        "diff.interhunkcontext",
        "diff.mnemonicprefix",
        "diff.noprefix",
        "diff.renamelimit",
        "diff.renames",
        "diff.submodule",
        "fetch.parallel",
        "fetch.prune",
        "grep.linenumber",
        "init.defaultbranch",
        "log.abbrevcommit",
        "log.date",
        "log.decorate",
        "log.follow",
        "merge.conflictstyle",
        "merge.ff",
        "merge.renamelimit",
        "merge.renames",
        "merge.stat",
        "push.default",
        "pull.ff",
        "pull.rebase",
        "rebase.autosquash",
        "rebase.autostash",
        "status.aheadbehind",
        "status.branch",
        "status.relativepaths",
        "status.renames",
        "status.short",
        "status.showstash",
        "status.showuntrackedfiles",
        "user.email",
        "user.name",
    ];
    let key = key.to_ascii_lowercase();
    let section = key.split('.').next().unwrap_or_default();
    match key.as_str() {
        "core.pager" => matches!(value, "cat" | ""),
        "core.editor" | "sequence.editor" => matches!(value, "true" | ":"),
        "commit.gpgsign" | "core.fsmonitor" | "log.showsignature" | "tag.gpgsign" => value == "false",
        "gc.auto" => value == "0",
        known if INERT.contains(&known) => true,
        _ if section == "pager" => matches!(value, "false" | "cat"),
        _ => matches!(section, "advice" | "color" | "column"),
    }
}

/// A format that shows a signature makes git run gpg.
fn refuse_signatures(words: &Words, reading: &mut Reading) {
    for (option, value) in &words.options {
        let formats = matches!(
            option.as_str(),
            "--format" | "--pretty" | "--sort" | "--group" | "--batch-check"
        );
        let Some(arg) = value.as_ref().filter(|_| formats) else {
            continue;
        };
        let plain = |text: &String| !text.contains("%G") && !text.contains("signature");
        let why = match arg.value.alternatives() {
            Some(texts) if texts.iter().all(plain) => continue,
            Some(_) => "the format shows signatures, which git checks by running gpg",
            None => "the format is not known, and some formats make git run gpg",
        };
        reading.doubts.push(Misread {
            why: why.to_owned(),
            span: arg.span,
        });
    }
}

fn branch(words: &Words, reading: &mut Reading) {
    let changes = words.has(
        "-d -D --delete -m -M --move -c -C --copy -f --force -u --set-upstream-to --unset-upstream -t --track --create-reflog",
    );
    let lists = words.operands.is_empty()
        || words.has("-l --list --show-current --contains --no-contains --merged --no-merged --points-at");
    if lists && !changes {
        reading.effects = LOOKS.to_vec();
    }
}

fn tag(words: &Words, reading: &mut Reading) {
    let changes = words.has("-d --delete -a --annotate -f --force -m --message -F --file --create-reflog");
    let lists = words.operands.is_empty()
        || words.has("-l --list -n --contains --no-contains --merged --no-merged --points-at");
    if lists && !changes {
        reading.effects = LOOKS.to_vec();
    }
}

fn symbolic_ref(words: &Words, reading: &mut Reading) {
    if words.operands.len() == 1 && is_one(&words.operands[0]) && !words.has("-d --delete -m") {
        reading.effects = LOOKS.to_vec();
    }
}

fn is_one(arg: &Arg) -> bool {
    !matches!(arg.value, Value::Unknown { single: false, .. })
}

/// What a form of `git config` does.
enum Configuring<'a> {
    Reads(&'a str),
    Lists,
    Sets(&'a str, &'a Arg),
    Other,
}

fn config(words: &Words, reading: &mut Reading) {
    let configuring = configuring(words);
    let lists = matches!(configuring, Configuring::Lists);
    let shown = match configuring {
        Configuring::Reads(key) => is_secret_key(key),
        Configuring::Lists => !words.has("--name-only"),
        Configuring::Sets(key, value) => {
            let elsewhere = words.has("--global --system");
            let inert = |text: &String| is_inert_pair(key, text);
            let free = matches!(key, "user.name" | "user.email");
            if !elsewhere && (free || value.value.alternatives().is_some_and(|texts| texts.iter().all(inert))) {
                reading.effects = vec![REPOSITORY_KEPT];
            }
            return;
        }
        Configuring::Other => return,
    };
    reading.effects = match shown {
        // Without what is included it is the repository's own file, which is looked at for secrets.
        true if lists && words.has("--local") && !words.has("--global --system --worktree --includes") => {
            LOOKS.to_vec()
        }
        true => vec![EffectSpec::of(Action::Disclose)],
        false => LOOKS.to_vec(),
    };
}

fn configuring(words: &Words) -> Configuring<'_> {
    let texts: Option<Vec<&str>> = words.operands.iter().map(|arg| arg.value.literal()).collect();
    let first = words.operands.first().and_then(|arg| arg.value.literal());
    if words.has("--unset --unset-all --add --replace-all") {
        return Configuring::Other;
    }
    if words.has("-l --list --get-regexp --get-urlmatch") {
        return Configuring::Lists;
    }
    match (first, words.operands.as_slice(), texts.as_deref()) {
        (_, _, Some(["list"])) => Configuring::Lists,
        (_, _, Some(["get", key])) if !words.has("--all --regexp") => Configuring::Reads(key),
        (Some(key), _, Some(_)) if words.has("--get --get-all") && key.contains('.') => Configuring::Reads(key),
        (Some("set"), [_, key, value], _) if is_one(value) => match key.value.literal() {
            Some(key) => Configuring::Sets(key, value),
            None => Configuring::Other,
        },
        (_, _, Some([key])) if key.contains('.') && !key.contains('=') => Configuring::Reads(key),
        (Some(key), [_, value], _) if key.contains('.') && is_one(value) && !words.has("--get --get-all") => {
            Configuring::Sets(key, value)
        }
        _ => Configuring::Other,
    }
}

/// The value may hold a credential.
fn is_secret_key(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let section = key.split('.').next().unwrap_or_default();
    matches!(section, "credential" | "http" | "imap" | "sendemail" | "url")
        || ["token", "pass", "secret", "auth", "header", "cookie"]
            .iter()
            .any(|word| {
                key.rsplit('.')
                    .next()
                    .is_some_and(|last| last.contains(word) && last != "author")
            })
}

/// Switching branches keeps work, since git refuses to overwrite it; restoring files loses it.
fn checkout(words: &Words, reading: &mut Reading) {
    if words.has("-f --force -2 --ours -3 --theirs --no-overlay --overlay") {
        return;
    }
    let makes_branch = words.has("-b -B --orphan -d --detach -t --track");
    let separated = words.separator.is_some_and(|before| before < words.operands.len());
    let switches = match words.operands.as_slice() {
        _ if separated => false,
        [] => true,
        _ if makes_branch => words.operands.iter().all(is_one),
        [_] if words.separator.is_some() => true,
        [only] => only.value.literal().is_some_and(may_be_branch),
        _ => false,
    };
    if !switches {
        return;
    }
    reading.effects = vec![PROJECT_KEPT];
    // A lone word may still be a file, which would be restored: its use stays, and says what is lost.
    if makes_branch || words.separator.is_some() || words.operands.iter().any(|o| o.value.literal() == Some("-")) {
        reading.uses.retain(|u| u.role != Role::PathWrite);
    }
    begins_branch("-b", words, reading);
}

/// A new branch that begins where the old one stands leaves every file as it is.
fn begins_branch(option: &str, words: &Words, reading: &mut Reading) {
    let moves = "-B -C --force-create --orphan -d --detach -t --track -f --force --discard-changes";
    if words.has(option) && !words.has(moves) && words.operands.is_empty() {
        reading.effects = vec![REPOSITORY_KEPT];
    }
}

fn may_be_branch(text: &str) -> bool {
    let starts_like_path = ["./", "../", "/", ":", "~"].iter().any(|p| text.starts_with(p));
    !starts_like_path && !text.ends_with('/') && !matches!(text, "." | "..") && !text.contains(['*', '?', '['])
}

fn restore(words: &Words, reading: &mut Reading) {
    if words.has("-S --staged") && !words.has("-W --worktree --ours -2 --theirs -3") {
        reading.effects = vec![REPOSITORY_KEPT];
        change_role(reading, Role::PathWrite, Role::PathInspect);
    }
}

fn clean(words: &Words, reading: &mut Reading) {
    if words.has("-n --dry-run") {
        reading.effects = LOOKS.to_vec();
        change_role(reading, Role::PathDelete, Role::PathInspect);
    }
}

fn apply(words: &Words, reading: &mut Reading) {
    if words.has("--check --stat --numstat --summary") && !words.has("--apply") {
        reading.effects = LOOKS.to_vec();
    }
}

fn format_patch(words: &Words, reading: &mut Reading) {
    if words.has("--stdout") && !words.has("-o --output-directory") {
        reading.effects = LOOKS.to_vec();
    }
}

fn remote_show(words: &Words, reading: &mut Reading) {
    if words.operands.is_empty() || words.has("-n") {
        reading.effects = LOOKS.to_vec();
    }
}

fn change_role(reading: &mut Reading, from: Role, to: Role) {
    for used in &mut reading.uses {
        if used.role == from {
            used.role = to;
        }
    }
}

/// A configured remote's name is no URL: it leads where the person's configuration says.
fn name_remotes(reading: &mut Reading) {
    let is_name = |text: &str| {
        !text.starts_with(['.', '-'])
            && text
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
    };
    reading
        .uses
        .retain(|u| u.role != Role::Url || !u.arg.value.literal().is_some_and(is_name));
}

fn fetch(words: &Words, reading: &mut Reading) {
    name_remotes(reading);
    let may_force = |arg: &Arg| match arg.value.alternatives() {
        Some(texts) => texts.iter().any(|t| t.starts_with('+')),
        None => true,
    };
    if reading.subcommand != "ls-remote" && words.operands.iter().skip(1).any(may_force) {
        reading.effects.push(write(Place::Repository, Undo::Lost));
    }
}

/// A push keeps what is there; forcing, deleting and mirroring do not, and to a branch that others build on it is for good.
fn push(words: &Words, reading: &mut Reading) {
    name_remotes(reading);
    let refspecs: Vec<&str> = words
        .operands
        .iter()
        .skip(1)
        .map(|arg| arg.value.literal().unwrap_or("+"))
        .collect();
    let every = words.has("--mirror --prune");
    let forced = every || words.has("-f --force --force-with-lease -d --delete");
    let unnamed = refspecs.is_empty() || words.has("--all --branches --tags");
    let overwrites = |spec: &&str| spec.starts_with('+') || (spec.starts_with(':') && spec.len() > 1);
    let undo = match refspecs
        .iter()
        .filter(|spec| forced || overwrites(spec))
        .collect::<Vec<_>>()
    {
        _ if every || (forced && unnamed) => Undo::Forever,
        overwritten if overwritten.iter().any(|spec| is_shared(spec)) => Undo::Forever,
        overwritten if overwritten.is_empty() => Undo::Kept,
        _ => Undo::Lost,
    };
    // A branch that is one's own is overwritten on another machine, but nobody builds on it.
    let reach = match undo {
        Undo::Lost => Reach::Known,
        Undo::Nothing | Undo::Kept | Undo::Forever => Reach::Shared,
    };
    reading.effects = vec![EffectSpec {
        action: Action::Send,
        place: Place::Nowhere,
        undo,
        reach,
    }];
}

/// Where a refspec leads may be a branch that others build on.
fn is_shared(refspec: &str) -> bool {
    let plain = refspec.trim_start_matches('+');
    let target = plain.split_once(':').map_or(plain, |(_, target)| target);
    let branch = target.strip_prefix("refs/heads/").unwrap_or(target);
    let first = branch.split('/').next().unwrap_or_default();
    branch.is_empty()
        || branch.contains(['*', '@'])
        || matches!(branch, "HEAD" | "tag")
        || branch.starts_with("refs/")
        || SHARED.contains(&branch)
        || matches!(first, "release" | "releases")
}

/// `REV:PATH` reads the content of PATH; a word that can only be a revision names no file.
fn content(words: &Words, reading: &mut Reading) {
    let outside = words.has("--no-index");
    let blames = matches!(reading.subcommand, "blame" | "annotate");
    for used in &mut reading.uses {
        if !matches!(used.role, Role::PathRead | Role::PathInspect) {
            continue;
        }
        match cut_of(&used.arg.value) {
            Ok(Some(cut)) => {
                *used = Use {
                    role: Role::PathRead,
                    arg: without(&used.arg, cut),
                };
            }
            Ok(None) if !outside && used.arg.value.literal().is_some_and(is_revision) => {
                used.arg.value = Value::Literal(".".to_owned());
            }
            Ok(None) => {}
            Err(()) => reading.doubts.push(Misread {
                why: "which part of this word is a path differs from turn to turn".to_owned(),
                span: used.arg.span,
            }),
        }
    }
    for (option, value) in &words.options {
        let (true, Some(arg)) = (option == "-L" && !blames, value) else {
            continue;
        };
        if let Some(at) = arg.value.literal().and_then(|text| text.rfind(':')) {
            reading.uses.push(Use {
                role: Role::PathRead,
                arg: without(arg, at + 1),
            });
        }
    }
}

/// Where the path begins, if every text that the word can be agrees on it.
fn cut_of(value: &Value) -> Result<Option<usize>, ()> {
    match value {
        Value::Literal(text) => Ok(path_in_revision(text)),
        Value::Unknown { prefix: begin, .. } | Value::Under { directory: begin, .. } => Ok(path_in_revision(begin)),
        // What follows the number may begin a path.
        Value::Numbered { before, after, .. } => match after.contains(':') {
            true => Err(()),
            false => Ok(path_in_revision(before)),
        },
        Value::OneOf(texts) => {
            let first = path_in_revision(&texts[0]);
            match texts.iter().all(|t| path_in_revision(t) == first) {
                true => Ok(first),
                false => Err(()),
            }
        }
    }
}

/// Where the path begins in `HEAD:src/x`, `:x` and `:0:x`; a pathspec's magic (`:(top)x`) goes too.
fn path_in_revision(text: &str) -> Option<usize> {
    let at = text.find(':')? + 1;
    let rest = &text[at..];
    match rest.as_bytes() {
        [b'0'..=b'3', b':', ..] if at == 1 => Some(at + 2),
        // `:/text` searches messages, `HEAD^{/a:b}` too.
        [b'/', ..] if at == 1 => None,
        [b'(', ..] if at == 1 => rest.find(')').map(|end| at + end + 1),
        [] => None,
        _ => Some(at),
    }
}

/// `HEAD`, `HEAD~2`, `@{u}`, `1a2b3c4d`: nothing in it can lead out of the current directory.
fn is_revision(text: &str) -> bool {
    let tail = |rest: &str| {
        rest.bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'~' | b'^' | b'@' | b'{' | b'}' | b'-'))
    };
    let named = ["HEAD", "@"]
        .iter()
        .any(|name| text.strip_prefix(name).is_some_and(tail));
    named || ((7..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
