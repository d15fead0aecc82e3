//! Looks at how the host is set up and says what keeps Countersign from answering, and what to do about it.
//!
//! `cli::doctor` calls `examine` and prints the findings. Nothing is changed. Each check is one function that
//! adds findings; the first decision of several hooks wins in the host, so other people's hooks are looked at too.

mod entries;
mod layers;
mod mcp;
mod mode;
mod relay;

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::SystemTime;

use serde_json::{Value, json};

use self::layers::{Entry, Layer, Owner, ours};
use super::host::{PERMISSION_REQUEST, PRE_TOOL_USE, Places};
use super::wiring::Found;
use crate::audit::chain::could_append;
use crate::audit::verify::verify;
use crate::escape::visible;
use crate::pause::{Length, Pause};
use crate::policy::config;
use crate::policy::limits::{self, Limit};

/// The variables of the environment that the host obeys and `examine` looks at.
pub const VARIABLES: [&str; 2] = ["MCP_TIMEOUT", "MCP_TOOL_TIMEOUT"];

/// How bad a finding is for the person's calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    Ok,
    /// Countersign answers, but less or other than one may think.
    Warn,
    /// Countersign does not answer, or answers what it must not.
    Fail,
}

impl Mark {
    pub const fn as_str(self) -> &'static str {
        match self {
            Mark::Ok => "ok",
            Mark::Warn => "warn",
            Mark::Fail => "fail",
        }
    }
}

/// One thing that was looked at.
#[derive(Debug)]
pub struct Finding {
    /// What it is about, one word: `wired`, `mode`, `answer` ..
    pub topic: &'static str,
    pub mark: Mark,
    pub what: String,
    /// What the person can do. None where nothing need be done.
    pub remedy: Option<String>,
}

impl Finding {
    pub fn to_json(&self) -> Value {
        json!({"topic": self.topic, "mark": self.mark.as_str(), "what": self.what, "remedy": self.remedy})
    }
}

/// What `examine` is told; it finds out the rest.
#[derive(Debug)]
pub struct Given {
    pub places: Places,
    /// Where `claude` is looked for: the value of PATH.
    pub path: std::ffi::OsString,
    /// What is set of [`VARIABLES`], by name.
    pub variables: HashMap<&'static str, String>,
    /// Countersign's own directories; they need not exist.
    pub own: Vec<PathBuf>,
    /// The person's configuration; it need not exist.
    pub config: Option<PathBuf>,
    /// Where the record is; it need not exist.
    pub state: Option<PathBuf>,
    /// The project's root directories, as a call from here would find them.
    pub roots: Vec<PathBuf>,
    pub pause: Pause,
    pub now: SystemTime,
}

/// Looks at everything, in the order in which a person would.
pub fn examine(given: &Given) -> Vec<Finding> {
    let mut findings = Findings::default();
    let layers = layers::load(&given.places, &mut findings);
    let version = mode::host_version(&given.path, &mut findings);
    wired(&layers, &mut findings);
    configured(given, &mut findings);
    recorded(given, &mut findings);
    switched_off(&layers, &mut findings);
    mode::mode(&layers, version, &mut findings);
    entries::rivals(&layers, &mut findings);
    for entry in ours(&layers) {
        entries::check_entry(&entry, &mut findings);
    }
    entries::binaries(&layers, given, &mut findings);
    entries::writable(&layers, given, &mut findings);
    mcp::servers(&layers, given, &mut findings);
    relay::relay(&layers, &mut findings);
    let decides = |entry: &Entry| [PERMISSION_REQUEST, PRE_TOOL_USE].contains(&entry.found.event);
    for entry in ours(&layers).into_iter().filter(decides) {
        entries::answers(&entry, &layers, given, &mut findings);
    }
    findings.0
}

#[derive(Default)]
struct Findings(Vec<Finding>);

impl Findings {
    fn ok(&mut self, topic: &'static str, what: impl Into<String>) {
        self.0.push(Finding {
            topic,
            mark: Mark::Ok,
            what: what.into(),
            remedy: None,
        });
    }

    fn warn(&mut self, topic: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding {
            topic,
            mark: Mark::Warn,
            what: what.into(),
            remedy: Some(remedy.into()),
        });
    }

    fn fail(&mut self, topic: &'static str, what: impl Into<String>, remedy: impl Into<String>) {
        self.0.push(Finding {
            topic,
            mark: Mark::Fail,
            what: what.into(),
            remedy: Some(remedy.into()),
        });
    }
}

fn wired(layers: &[Layer], findings: &mut Findings) {
    let entries = ours(layers);
    for event in [PERMISSION_REQUEST, PRE_TOOL_USE] {
        let of_event: Vec<&Entry> = entries.iter().filter(|entry| entry.found.event == event).collect();
        let places: Vec<String> = of_event
            .iter()
            .map(|entry| entry.layer.path.display().to_string())
            .collect();
        match (event, of_event.len()) {
            (PERMISSION_REQUEST, 0) => {
                findings.fail(
                    "wired",
                    "no permission prompt reaches Countersign",
                    "run `countersign install`",
                );
            }
            (_, 0) => findings.ok(
                "wired",
                "no early answers and no guard (`countersign install --early` adds them)",
            ),
            (PERMISSION_REQUEST, 1) => findings.ok("wired", format!("permission prompts, in {}", places[0])),
            (_, 1) => findings.ok(
                "wired",
                format!("{}, in {}", early_words(&of_event[0].found), places[0]),
            ),
            _ => findings.warn(
                "twin",
                format!(
                    "{event} is wired {} times: {}; Claude Code starts all of them",
                    places.len(),
                    places.join(", ")
                ),
                "keep one: `countersign uninstall` with --project or --settings, or disable the plugin",
            ),
        }
    }
}

fn early_words(found: &Found) -> String {
    let mut words = Vec::new();
    if found.has("--early") {
        words.push("harmless shell commands allowed early".to_owned());
    }
    if let Some(tier) = found.option("--guard") {
        let does = if found.has("--guard-asks") {
            "asked about"
        } else {
            "denied"
        };
        words.push(format!("tier {tier} and above {does} in every mode"));
    }
    if words.is_empty() {
        "before every call, without --early or --guard".to_owned()
    } else {
        words.join(", ")
    }
}

/// What Countersign's own files say about whether it answers.
fn configured(given: &Given, findings: &mut Findings) {
    match &given.pause {
        Pause::On => findings.ok("pause", "not switched off"),
        Pause::Off { until } => {
            let left = until.and_then(|until| until.duration_since(given.now).ok());
            let until = left.map_or("until `countersign on`".into(), |left| {
                format!("for another {}", Length(left))
            });
            let what = format!("switched off {until}: every call keeps its prompt");
            findings.warn("pause", what, "run `countersign on`");
        }
        Pause::Frozen(freeze) => findings.warn(
            "pause",
            format!("{}: every call is denied", visible(&freeze.to_string())),
            "run `countersign thaw`, once you know why",
        ),
        Pause::Unreadable(why) => {
            findings.fail(
                "pause",
                format!("{why}; until then nothing is let through, and no guard stops a call"),
                "run `countersign on`",
            );
        }
    }
    match config::effective(given.config.as_deref(), &given.roots) {
        Ok(config) => counted(given, &config.policy.limits, findings),
        Err(invalid) => {
            let what = format!("{}; until then nothing is let through", visible(&invalid.to_string()));
            findings.fail("config", what, "mend the file or remove it");
        }
    }
}

/// Whether calls can be counted, where that is asked for.
fn counted(given: &Given, limits: &[Limit], findings: &mut Findings) {
    let (Some(dir), false) = (&given.state, limits.is_empty()) else {
        return;
    };
    let limits: Vec<&Limit> = limits.iter().collect();
    match limits::left(dir, &limits, given.now) {
        Ok(left) => {
            let used_up = left.iter().filter(|left| **left == 0).count();
            findings.ok("limits", format!("{} set, {used_up} used up just now", limits.len()));
        }
        Err(error) => findings.fail(
            "limits",
            format!(
                "calls cannot be counted, so nothing that is limited is let through: {}",
                visible(&error.to_string())
            ),
            "mend that",
        ),
    }
}

/// Whether answers can be recorded, and the record is as it was written.
fn recorded(given: &Given, findings: &mut Findings) {
    let Some(dir) = &given.state else {
        let what = "no home directory is known, so no answer is recorded";
        findings.warn("record", what, "set HOME");
        return;
    };
    if let Err(error) = could_append(dir) {
        let what = format!("answers are not recorded: {}", visible(&error.to_string()));
        findings.warn("record", what, "mend that; the answers themselves do not depend on it");
        return;
    }
    match verify(dir) {
        Ok(report) if report.faults.is_empty() => findings.ok("record", report.summary()),
        Ok(report) => findings.warn("record", report.summary(), "run `countersign log --verify`"),
        Err(error) => findings.warn(
            "record",
            format!("it cannot be read: {}", visible(&error.to_string())),
            "mend that",
        ),
    }
}

fn switched_off(layers: &[Layer], findings: &mut Findings) {
    for layer in layers
        .iter()
        .filter(|layer| layer.settings.get("disableAllHooks") == Some(&Value::Bool(true)))
    {
        let what = format!(
            "`disableAllHooks` is true in {}, so Claude Code calls no hook",
            layer.path.display()
        );
        findings.fail("switched-off", what, "remove it");
    }
    let managed_only = |layer: &&Layer| {
        layer.owner == Owner::Managed && layer.settings.get("allowManagedHooksOnly") == Some(&Value::Bool(true))
    };
    if let Some(layer) = layers.iter().find(managed_only)
        && ours(layers).iter().any(|entry| entry.layer.owner != Owner::Managed)
    {
        let what = format!(
            "{} allows the organisation's hooks only, so yours is not called",
            layer.path.display()
        );
        findings.fail(
            "switched-off",
            what,
            "ask whoever manages the machine to add Countersign there",
        );
    }
}
