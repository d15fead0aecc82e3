//! Where Claude Code keeps its settings, and what it accepts in them.
//!
//! `install`, `uninstall` and `doctor` ask here. Everything was measured on 2.1.332: a settings file with one
//! fault of the `Void` kind is passed over as a whole, permission rules included.

use std::fmt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::{Map, Value};

/// The event that a permission prompt fires.
pub const PERMISSION_REQUEST: &str = "PermissionRequest";
/// The event before every tool call.
pub const PRE_TOOL_USE: &str = "PreToolUse";
/// The event at the beginning of a session.
pub const SESSION_START: &str = "SessionStart";

/// The version from which a terminal session with no mode set starts in auto mode.
pub const AUTO_BY_DEFAULT_SINCE: (u32, u32, u32) = (2, 1, 283);

const EVENTS: &[&str] = &[
    PRE_TOOL_USE,
    PERMISSION_REQUEST,
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "UserPromptSubmit",
    "UserPromptExpansion",
    SESSION_START,
    "SessionEnd",
    "Stop",
    "StopFailure",
    "SubagentStart",
    "SubagentStop",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "PermissionDenied",
    "Setup",
    "TeammateIdle",
    "TaskCreated",
    "TaskCompleted",
    "Elicitation",
    "ElicitationResult",
    "ConfigChange",
    "WorktreeCreate",
    "WorktreeRemove",
    "InstructionsLoaded",
    "CwdChanged",
    "FileChanged",
    "DirectoryAdded",
    "MessageDisplay",
    "PreSkillShellCommand",
];

/// The places of the host's settings for one person in one directory.
#[derive(Clone, Debug)]
pub struct Places {
    /// `~/.claude`, or what CLAUDE_CONFIG_DIR names.
    pub config: PathBuf,
    /// The file in which the host keeps the person's MCP servers, among other things.
    pub state: PathBuf,
    /// The directory whose project settings count.
    pub project: PathBuf,
    /// The directory of the organisation's settings.
    pub managed: PathBuf,
}

impl Places {
    /// The places as the host would find them from the current directory.
    ///
    /// # Errors
    /// When neither HOME nor CLAUDE_CONFIG_DIR says where the person's settings are.
    pub fn find() -> Result<Self> {
        let config = config_dir()?;
        Ok(Self {
            state: match named_dir("CLAUDE_CONFIG_DIR") {
                Some(dir) => dir.join(".claude.json"),
                None => config.with_file_name(".claude.json"),
            },
            config,
            project: std::env::current_dir().context("the current directory cannot be read")?,
            managed: named_dir("CLAUDE_CODE_MANAGED_SETTINGS_PATH").unwrap_or_else(|| managed_dir().to_owned()),
        })
    }

    pub fn user_settings(&self) -> PathBuf {
        self.config.join("settings.json")
    }

    /// Shared with everyone who works on the project.
    pub fn project_settings(&self) -> PathBuf {
        self.project.join(".claude/settings.json")
    }

    /// The person's own for this project.
    pub fn local_settings(&self) -> PathBuf {
        self.project.join(".claude/settings.local.json")
    }

    /// The organisation's files in the order in which the host lays them over each other.
    pub fn managed_settings(&self) -> Vec<PathBuf> {
        let mut files = vec![self.managed.join("managed-settings.json")];
        let drop_ins = std::fs::read_dir(self.managed.join("managed-settings.d"));
        let mut more: Vec<PathBuf> = drop_ins
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect();
        more.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
        more.sort();
        files.extend(more);
        files
    }
}

fn config_dir() -> Result<PathBuf> {
    if let Some(dir) = named_dir("CLAUDE_CONFIG_DIR") {
        return Ok(dir);
    }
    let home = home().context("HOME is not set, so there is no ~/.claude; name the file with --settings PATH")?;
    Ok(home.join(".claude"))
}

/// The person's home directory; `None` where HOME and the user database say nothing usable.
pub fn home() -> Option<PathBuf> {
    directories::BaseDirs::new()
        .map(|base| base.home_dir().to_owned())
        .filter(|home| home.is_absolute())
}

fn named_dir(variable: &str) -> Option<PathBuf> {
    std::env::var_os(variable)
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

fn managed_dir() -> &'static Path {
    Path::new(if cfg!(target_os = "macos") {
        "/Library/Application Support/ClaudeCode"
    } else {
        "/etc/claude-code"
    })
}

/// Something in a settings file that the host does not accept.
#[derive(Debug, PartialEq, Eq)]
pub struct Fault {
    /// Where, as the host names it: `hooks.PermissionRequest.0.hooks`.
    pub path: String,
    pub what: String,
    pub weight: Weight,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// The host passes over the whole file.
    Void,
    /// The host passes over this entry and takes the rest.
    Entry,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "`{}` {}", self.path, self.what)
    }
}

/// What the host would not accept in these settings; empty when all is well.
///
/// Checks the hooks, and of the rest what was seen to void a file. Other parts are taken as they are.
pub fn faults(settings: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_permissions(settings, &mut faults);
    let Some(hooks) = settings.get("hooks") else {
        return faults;
    };
    let Some(events) = hooks.as_object() else {
        // The host passes over this member alone, but there is no place in it for an entry of ours.
        faults.push(fault("hooks".into(), "is not an object", Weight::Void));
        return faults;
    };
    for (event, groups) in events {
        let path = format!("hooks.{event}");
        if !EVENTS.contains(&event.as_str()) {
            faults.push(fault(path, "is no event that is known of Claude Code", Weight::Entry));
            continue;
        }
        // Only these two can stop a call, so only a fault in them costs the whole file.
        let decides = event == PERMISSION_REQUEST || event == PRE_TOOL_USE;
        let weight = if decides { Weight::Void } else { Weight::Entry };
        let Some(groups) = groups.as_array() else {
            faults.push(fault(path, "is not a list", weight));
            continue;
        };
        for (index, group) in groups.iter().enumerate() {
            check_group(&format!("{path}.{index}"), group, weight, &mut faults);
        }
    }
    faults
}

fn fault(path: String, what: impl Into<String>, weight: Weight) -> Fault {
    Fault {
        path,
        what: what.into(),
        weight,
    }
}

fn check_permissions(settings: &Value, faults: &mut Vec<Fault>) {
    type Check = (&'static str, &'static str, fn(&Value) -> bool);
    const EXPECTED: [Check; 5] = [
        ("disableAllHooks", "is neither true nor false", Value::is_boolean),
        ("permissions.allow", "is not a list of texts", is_texts),
        ("permissions.ask", "is not a list of texts", is_texts),
        ("permissions.deny", "is not a list of texts", is_texts),
        ("permissions.defaultMode", "is not a text", Value::is_string),
    ];
    for (path, what, is) in EXPECTED {
        if settings
            .pointer(&format!("/{}", path.replace('.', "/")))
            .is_some_and(|value| !is(value))
        {
            faults.push(fault(path.into(), what, Weight::Void));
        }
    }
}

fn check_group(path: &str, group: &Value, weight: Weight, faults: &mut Vec<Fault>) {
    let Some(members) = group.as_object() else {
        faults.push(fault(path.into(), "is not an object", weight));
        return;
    };
    if members.get("matcher").is_some_and(|matcher| !matcher.is_string()) {
        faults.push(fault(format!("{path}.matcher"), "is not a text", weight));
    }
    let Some(hooks) = members.get("hooks").and_then(Value::as_array) else {
        faults.push(fault(format!("{path}.hooks"), "is missing or not a list", weight));
        return;
    };
    for (index, hook) in hooks.iter().enumerate() {
        if let Err((member, what)) = check_hook(hook) {
            let at = format!("{path}.hooks.{index}");
            faults.push(fault(
                if member.is_empty() {
                    at
                } else {
                    format!("{at}.{member}")
                },
                what,
                weight,
            ));
        }
    }
}

/// The first member that the host refuses, and why.
fn check_hook(hook: &Value) -> Result<(), (&'static str, &'static str)> {
    let Some(members) = hook.as_object() else {
        return Err(("", "is not an object"));
    };
    match members.get("type").and_then(Value::as_str) {
        Some("command") => {
            require(members, "command", "is missing or not a text", Value::is_string)?;
            allow(members, "args", "is not a list of texts", is_texts)?;
            allow(members, "async", "is neither true nor false", Value::is_boolean)?;
        }
        Some("http") => require(members, "url", "is missing or not a text", Value::is_string)?,
        Some("prompt" | "agent") => require(members, "prompt", "is missing or not a text", Value::is_string)?,
        Some("mcp_tool") => {
            require(members, "server", "is missing or not a text", Value::is_string)?;
            require(members, "tool", "is missing or not a text", Value::is_string)?;
        }
        _ => return Err(("type", "is none of command, http, mcp_tool, prompt, agent")),
    }
    allow(members, "timeout", "is not a number above 0 (seconds)", |timeout| {
        timeout.as_f64().is_some_and(|t| t > 0.0)
    })?;
    allow(members, "if", "is not a text", Value::is_string)?;
    let is_choice = |choice: &Value| matches!(choice.as_str(), Some("continue" | "block"));
    allow(members, "onFailure", "is neither \"continue\" nor \"block\"", is_choice)
}

type Member = Result<(), (&'static str, &'static str)>;

fn require(members: &Map<String, Value>, name: &'static str, what: &'static str, is: fn(&Value) -> bool) -> Member {
    if members.get(name).is_some_and(is) {
        Ok(())
    } else {
        Err((name, what))
    }
}

fn allow(members: &Map<String, Value>, name: &'static str, what: &'static str, is: fn(&Value) -> bool) -> Member {
    if members.get(name).is_none_or(is) {
        Ok(())
    } else {
        Err((name, what))
    }
}

fn is_texts(value: &Value) -> bool {
    value.as_array().is_some_and(|texts| texts.iter().all(Value::is_string))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn weights(settings: Value) -> Vec<Weight> {
        faults(&settings).into_iter().map(|fault| fault.weight).collect()
    }

    fn hook(members: Value) -> Value {
        let mut hook = json!({"type": "command", "command": "true"});
        hook.as_object_mut()
            .unwrap()
            .extend(members.as_object().unwrap().clone());
        json!({"hooks": {"PermissionRequest": [{"hooks": [hook]}]}})
    }

    #[test]
    fn what_the_host_was_seen_to_accept_has_no_fault() {
        for members in [
            json!({}),
            json!({"args": ["a"], "timeout": 0.5}),
            json!({"zzz": 1}),
            json!({"async": true}),
        ] {
            assert_eq!(faults(&hook(members)), []);
        }
        assert_eq!(
            faults(&json!({"hooks": {"PermissionRequest": [{"matcher": "*", "hooks": []}]}})),
            []
        );
        assert_eq!(faults(&json!({"permissions": {"allow": []}})), []);
    }

    #[test]
    fn what_the_host_was_seen_to_void_a_file_for_is_found() {
        for members in [
            json!({"timeout": "5"}),
            json!({"timeout": 0}),
            json!({"timeout": -1}),
            json!({"timeout": null}),
            json!({"args": [1]}),
            json!({"onFailure": "zzz"}),
            json!({"type": "carrier"}),
            json!({"command": null}),
        ] {
            assert_eq!(weights(hook(members.clone())), [Weight::Void], "{members}");
        }
        for groups in [
            json!({}),
            json!([null]),
            json!([{"matcher": "*"}]),
            json!([{"matcher": 3, "hooks": []}]),
        ] {
            assert_eq!(
                weights(json!({"hooks": {"PreToolUse": groups.clone()}})),
                [Weight::Void],
                "{groups}"
            );
        }
    }

    #[test]
    fn a_fault_in_an_event_that_decides_nothing_costs_only_itself() {
        assert_eq!(weights(json!({"hooks": {"NoSuchEvent": 7}})), [Weight::Entry]);
        for groups in [json!({}), json!([null]), json!([{"hooks": [{"type": "command"}]}])] {
            assert_eq!(
                weights(json!({"hooks": {"PostToolUse": groups.clone()}})),
                [Weight::Entry],
                "{groups}"
            );
        }
    }

    #[test]
    fn wrong_types_among_the_permissions_are_found() {
        assert_eq!(weights(json!({"permissions": {"allow": "x"}})), [Weight::Void]);
        assert_eq!(weights(json!({"disableAllHooks": "x"})), [Weight::Void]);
    }
}
