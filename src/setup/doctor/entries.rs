//! Each hook that decides: other people's, and ours with its program, its limits and its answers.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use super::layers::{Entry, Layer, ours};
use super::{Findings, Given};
use crate::effect::Tier;
use crate::escape::visible;
use crate::hold;
use crate::pause::Pause;
use crate::policy::{config, tiers};
use crate::setup::host::{self, PERMISSION_REQUEST, PRE_TOOL_USE};
use crate::setup::selftest::{self, Answer};
use crate::setup::{process, wiring};

/// Other people's hooks on the same events: the first decision to arrive wins.
pub fn rivals(layers: &[Layer], findings: &mut Findings) {
    let mut any = false;
    for layer in layers {
        for found in wiring::hooks(&layer.settings) {
            let decides = found.event == PERMISSION_REQUEST || found.event == PRE_TOOL_USE;
            if !decides || wiring::is_ours(found.hook) || !may_match(found.group.get("matcher"), "Bash") {
                continue;
            }
            any = true;
            let what = format!(
                "another {} hook in {}: {}; the first decision of several wins, even an allow over a deny",
                found.event,
                layer.path.display(),
                describe(found.hook)
            );
            findings.warn(
                "rival",
                what,
                "make sure that it allows nothing you would want to be asked about",
            );
        }
    }
    if !any {
        findings.ok("rival", "no other hook decides about shell commands");
    }
}

fn describe(hook: &Value) -> String {
    let kind = hook.get("type").and_then(Value::as_str).unwrap_or("unknown");
    let body = ["command", "url", "prompt", "tool"]
        .iter()
        .find_map(|key| hook.get(*key)?.as_str());
    format!("{kind} `{}`", visible(body.unwrap_or_default()))
}

/// Whether a matcher takes in a tool, as the host reads matchers. A regular expression is taken to do so.
fn may_match(matcher: Option<&Value>, tool: &str) -> bool {
    let Some(matcher) = matcher.and_then(Value::as_str) else {
        return true;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '|' | ',' | ' ');
    match matcher {
        "" | "*" => true,
        _ if matcher.chars().all(plain) => matcher.split(['|', ',']).any(|name| name.trim() == tool),
        _ => true,
    }
}

pub fn check_entry(entry: &Entry, findings: &mut Findings) {
    const INSTALL: &str = "run `countersign install`, which writes the entry anew";
    let place = entry.place();
    let hook = entry.found.hook;
    if hook.get("onFailure").is_some_and(|value| value == "block") {
        let what = format!("{place} has `onFailure: \"block\"`: whatever Countersign leaves to you is denied instead");
        findings.fail("entry", what, INSTALL);
    }
    if hook.get("async") == Some(&Value::Bool(true)) || hook.get("asyncRewake") == Some(&Value::Bool(true)) {
        findings.fail(
            "entry",
            format!("{place} runs in the background, so its decision is ignored"),
            INSTALL,
        );
    }
    if let Some(filter) = hook.get("if").and_then(Value::as_str) {
        findings.warn(
            "entry",
            format!("{place} is called only for `{}`", visible(filter)),
            INSTALL,
        );
    }
    if !may_match(entry.found.group.get("matcher"), "Bash") {
        findings.warn(
            "entry",
            format!("{place} has a matcher that leaves shell commands out"),
            INSTALL,
        );
    }
    if let (Some(deadline), Some(timeout)) = (entry.deadline(), entry.timeout())
        && timeout <= deadline
    {
        let what =
            format!("{place} is ended by Claude Code after {timeout} s, before its own deadline of {deadline} s");
        findings.fail("entry", what, INSTALL);
    }
}

/// The programs that our entries name, each once.
pub fn binaries(layers: &[Layer], given: &Given, findings: &mut Findings) {
    let mut seen = BTreeSet::new();
    for entry in ours(layers) {
        if let Some(program) = entry.program().filter(|program| seen.insert(program.clone())) {
            check_binary(&entry, &program, given, findings);
        }
    }
}

fn check_binary(entry: &Entry, program: &Path, given: &Given, findings: &mut Findings) {
    const AGAIN: &str = "run `countersign install` with the program you want";
    let shown = program.display();
    if !program.is_absolute() {
        let what = format!(
            "{} names `{shown}` without a path, so it is looked up on Claude Code's PATH",
            entry.place()
        );
        findings.warn("binary", what, AGAIN);
        return;
    }
    if !is_executable(program) {
        findings.fail(
            "binary",
            format!("{} names {shown}, which is no executable file", entry.place()),
            AGAIN,
        );
        return;
    }
    if program.starts_with(&given.places.project) && Some(&given.places.project) != host::home().as_ref() {
        let what = format!("{shown} lies in the project, where an agent can replace it");
        findings.warn("binary", what, "install it outside, for example to ~/.local/bin");
    }
    let said = process::run(Command::new(program).arg("--version"), "", Duration::from_secs(5));
    let expected = format!("countersign {}", env!("CARGO_PKG_VERSION"));
    match said {
        Ok(ran) if ran.printed.trim() == expected => {
            findings.ok("binary", format!("{shown} is {expected}, as this program"))
        }
        Ok(ran) => {
            let said = visible(ran.printed.lines().next().unwrap_or_default()).into_owned();
            findings.warn(
                "binary",
                format!("{shown} says `{said}`, but this program is {expected}"),
                AGAIN,
            );
        }
        Err(why) => findings.fail("binary", format!("{shown} {why}"), AGAIN),
    }
}

pub fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// What everyone on the machine may write to is no place for a decision.
pub fn writable(layers: &[Layer], given: &Given, findings: &mut Findings) {
    let mut paths: BTreeSet<PathBuf> = given.own.iter().cloned().collect();
    paths.extend(
        given
            .own
            .iter()
            .flat_map(fs::read_dir)
            .flatten()
            .flatten()
            .map(|entry| entry.path()),
    );
    paths.insert(given.places.config.clone());
    paths.extend(layers.iter().map(|layer| layer.path.clone()));
    let programs = ours(layers)
        .into_iter()
        .filter_map(|entry| entry.program())
        .filter(|path| path.is_absolute());
    for program in programs {
        paths.extend(program.parent().map(Path::to_owned));
        paths.insert(program);
    }
    let open: Vec<&PathBuf> = paths.iter().filter(|path| is_world_writable(path)).collect();
    for path in &open {
        let what = format!("everyone on this machine may write to {}", path.display());
        findings.fail("permissions", what, format!("run `chmod o-w {}`", path.display()));
    }
    if open.is_empty() {
        findings.ok(
            "permissions",
            "settings, configuration and program are not open to everyone",
        );
    }
}

fn is_world_writable(path: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    fs::metadata(path).is_ok_and(|metadata| metadata.mode() & 0o002 != 0 && metadata.mode() & STICKY == 0)
}

fn has_ask_rules(layers: &[Layer]) -> bool {
    let rules = |layer: &Layer| layer.settings.pointer("/permissions/ask")?.as_array().map(Vec::len);
    layers.iter().any(|layer| rules(layer).is_some_and(|count| count > 0))
}

/// The configuration lets nothing through, or does not hold.
fn allows_nothing(given: &Given) -> bool {
    let config = config::effective(given.config.as_deref(), &given.roots);
    config.map_or(true, |config| {
        config.policy.table.answer(Tier::Safe).0 >= tiers::Answer::Ask
    })
}

/// Sends two events through the entry as the host would.
pub fn answers(entry: &Entry, layers: &[Layer], given: &Given, findings: &mut Findings) {
    let place = entry.place();
    let limit = Duration::from_secs_f64(entry.timeout().unwrap_or(30.0).min(30.0));
    let ask = |command: &str, session: &str| {
        let session = format!("countersign-doctor-{}-{session}", std::process::id());
        let event = selftest::event(entry.found.event, command, &given.places.project, &session);
        selftest::ask(&at_once(entry), entry.found.event, &event, &given.places.project, limit)
    };
    let expects_allow = entry.found.event == PERMISSION_REQUEST || entry.found.has("--early");
    let harmless = format!("{place}: `{}`", selftest::HARMLESS);
    match ask(selftest::HARMLESS, "harmless") {
        Ok(Answer::Allow | Answer::NoOpinion | Answer::Ask) if matches!(given.pause, Pause::Frozen(_)) => findings
            .fail(
                "answer",
                format!("{harmless} is NOT denied, although everything is frozen"),
                "run `countersign install`; if it stays so, the hook may be of another version or see another home",
            ),
        Ok(Answer::Allow) => findings.ok("answer", format!("{harmless} is allowed")),
        Ok(Answer::NoOpinion) if !expects_allow => findings.ok("answer", format!("{harmless} is left to Claude Code")),
        Ok(Answer::NoOpinion) if given.pause != Pause::On => {
            findings.ok(
                "answer",
                format!("{harmless} keeps its prompt, as Countersign is switched off"),
            );
        }
        Ok(Answer::NoOpinion) if allows_nothing(given) => findings.ok(
            "answer",
            format!("{harmless} keeps its prompt, as the configuration asks, or until it is right"),
        ),
        Ok(Answer::NoOpinion) if has_ask_rules(layers) => findings.warn(
            "answer",
            format!("{harmless} keeps its prompt, perhaps by an ask rule of yours"),
            format!("run `countersign explain '{}'` to see why", selftest::HARMLESS),
        ),
        Ok(Answer::NoOpinion) => findings.fail(
            "answer",
            format!("{harmless} keeps its prompt"),
            format!(
                "run `countersign explain '{}'` to see why, then `countersign install`",
                selftest::HARMLESS
            ),
        ),
        Ok(Answer::Deny) if matches!(given.pause, Pause::Frozen(_)) => {
            findings.ok("answer", format!("{harmless} is denied, as everything is frozen"));
        }
        Ok(Answer::Deny | Answer::Ask) => {
            findings.fail("answer", format!("{harmless} is stopped"), "run `countersign install`");
        }
        Err(why) => findings.fail(
            "answer",
            format!("{place}: the installed command {why}"),
            "run `countersign install`",
        ),
    }
    let dangerous = format!("{place}: `{}` (only judged, not run)", selftest::DANGEROUS);
    match ask(selftest::DANGEROUS, "dangerous") {
        Ok(Answer::Allow) => findings.fail(
            "answer",
            format!("{dangerous} is ALLOWED"),
            "run `countersign uninstall` now, and do not trust this program",
        ),
        Ok(Answer::NoOpinion) if entry.found.has("--guard") && given.pause == Pause::On => findings.fail(
            "answer",
            format!("{dangerous} is not stopped by the guard"),
            "run `countersign explain` on it, and report this",
        ),
        Ok(Answer::NoOpinion) => findings.ok("answer", format!("{dangerous} is left to you")),
        Ok(Answer::Ask) => findings.ok("answer", format!("{dangerous} is brought to you")),
        Ok(Answer::Deny) => findings.ok("answer", format!("{dangerous} is denied")),
        // The harmless event has already told of a command that does not work.
        Err(_) => {}
    }
}

/// The hook with a deadline that leaves no time to ask a person elsewhere: nobody is to answer a test.
fn at_once(entry: &Entry) -> Value {
    let mut hook = entry.hook();
    let (Some(deadline), true) = (
        entry.found.option("--deadline"),
        entry.deadline().is_some_and(|seconds| seconds > hold::AT_ONCE as f64),
    ) else {
        return hook;
    };
    let short = hold::AT_ONCE.to_string();
    for arg in hook.get_mut("args").and_then(Value::as_array_mut).into_iter().flatten() {
        if *arg == deadline.as_str() {
            *arg = short.as_str().into();
        }
    }
    if let Some(line) = hook.get("command").and_then(Value::as_str) {
        hook["command"] = line
            .replace(&format!("--deadline {deadline}"), &format!("--deadline {short}"))
            .into();
    }
    hook
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matchers_are_read_as_the_host_reads_them() {
        let matches = |matcher: &str| may_match(Some(&Value::from(matcher)), "Bash");
        for yes in ["", "*", "Bash", "Edit|Bash", "Edit, Bash", "B.*", "^Ba"] {
            assert!(matches(yes), "{yes}");
        }
        for no in ["Ba", "bash", "Edit", "Edit|Write"] {
            assert!(!matches(no), "{no}");
        }
        assert!(may_match(None, "Bash"));
    }
}
