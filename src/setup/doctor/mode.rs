//! The host's version and permission mode, which decide what calls reach us at all.

use std::ffi::OsStr;
use std::process::Command;
use std::time::Duration;

use super::Findings;
use super::entries::is_executable;
use super::layers::{Layer, effective, ours};
use crate::setup::host::{AUTO_BY_DEFAULT_SINCE, PRE_TOOL_USE};
use crate::setup::process;

pub type Version = (u32, u32, u32);

/// Asks the `claude` on PATH for its version.
pub fn host_version(path: &OsStr, findings: &mut Findings) -> Option<Version> {
    let candidates = std::env::split_paths(path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("claude"));
    let Some(claude) = candidates.into_iter().find(|file| is_executable(file)) else {
        findings.ok(
            "host",
            "no `claude` on PATH, so its version is not known; tested with 2.1.332",
        );
        return None;
    };
    let said = process::run(Command::new(&claude).arg("--version"), "", Duration::from_secs(10));
    let version = said.as_ref().ok().and_then(|ran| parse_version(&ran.printed));
    match (&version, said) {
        (Some((major, minor, patch)), _) => {
            findings.ok(
                "host",
                format!(
                    "Claude Code {major}.{minor}.{patch} at {}; tested with 2.1.332",
                    claude.display()
                ),
            );
        }
        (None, Ok(_)) => {
            let what = format!("{} does not say a version", claude.display());
            findings.warn("host", what, "check that it is Claude Code");
        }
        (None, Err(why)) => {
            let what = format!("{} --version {why}", claude.display());
            findings.warn("host", what, "check that Claude Code runs");
        }
    }
    version
}

fn parse_version(text: &str) -> Option<Version> {
    let mut parts = text.split_whitespace().next()?.split('.').map(|part| part.parse().ok());
    Some((parts.next()??, parts.next()??, parts.next()??))
}

/// What the permission mode means for which calls reach us.
pub fn mode(layers: &[Layer], version: Option<Version>, findings: &mut Findings) {
    let no_auto = ["/permissions/disableAutoMode", "/disableAutoMode"]
        .iter()
        .any(|pointer| effective(layers, pointer).is_some_and(|(value, _)| value == "disable"));
    let set = effective(layers, "/permissions/defaultMode").and_then(|(value, layer)| Some((value.as_str()?, layer)));
    let Some((mode, layer)) = set else {
        return match version {
            _ if no_auto => findings.ok("mode", "auto mode is disabled: every prompt reaches Countersign"),
            Some(version) if version < AUTO_BY_DEFAULT_SINCE => {
                findings.ok(
                    "mode",
                    "none set; this version then asks, and every prompt reaches Countersign",
                );
            }
            Some(_) | None => auto(
                "none set: from 2.1.283 a terminal session then starts in auto mode",
                layers,
                findings,
            ),
        };
    };
    let from = layer.path.display();
    match mode {
        "default" | "manual" => findings.ok(
            "mode",
            format!("\"{mode}\" in {from}: every prompt reaches Countersign"),
        ),
        "acceptEdits" => {
            findings.ok(
                "mode",
                format!("\"{mode}\" in {from}: edits in the project are not asked about, the rest reaches Countersign"),
            );
        }
        "plan" if no_auto => findings.ok("mode", format!("\"plan\" in {from}: every prompt reaches Countersign")),
        "auto" if no_auto => findings.ok(
            "mode",
            format!("\"auto\" in {from}, but auto mode is disabled: every prompt reaches Countersign"),
        ),
        "auto" | "plan" => auto(&format!("\"{mode}\" in {from}"), layers, findings),
        "dontAsk" => findings.warn(
            "mode",
            format!("\"{mode}\" in {from}: Claude Code denies what it would ask about, and Countersign is not called"),
            "set `permissions.defaultMode` to \"default\", or use `countersign install --early`",
        ),
        "bypassPermissions" => findings.warn(
            "mode",
            format!("\"{mode}\" in {from}: Claude Code asks nothing, and only PreToolUse hooks are called"),
            "use `countersign install --guard critical`, or set `permissions.defaultMode` to \"default\"",
        ),
        other => findings.warn(
            "mode",
            format!("\"{other}\" in {from} is not known"),
            "check which calls still ask",
        ),
    }
}

/// Auto mode, in which only calls under an ask rule come to a permission prompt.
fn auto(why: &str, layers: &[Layer], findings: &mut Findings) {
    let what = format!("{why}, where ordinary calls never come to a permission prompt");
    if ours(layers).iter().any(|entry| entry.found.event == PRE_TOOL_USE) {
        findings.ok(
            "mode",
            format!("{what}; Countersign is called before shell commands all the same"),
        );
        return;
    }
    let remedy = "to be asked, set `permissions.defaultMode` to \"default\" or `permissions.disableAutoMode` to \
         \"disable\"; or cover auto mode with `countersign install --early --guard critical`";
    findings.warn("mode", what, remedy);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_version_is_the_first_word() {
        assert_eq!(parse_version("2.1.332 (Claude Code)\n"), Some((2, 1, 332)));
        assert_eq!(parse_version("claude\n"), None);
        assert_eq!(parse_version(""), None);
    }
}
