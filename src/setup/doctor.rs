//! Looks at how the host is set up and says what keeps Countersign from answering, and what to do about it.
//!
//! `cli::doctor` calls `examine` and prints the findings. Nothing is changed. Each check is one function that
//! adds findings; the first decision of several hooks wins in the host, so other people's hooks are looked at too.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use super::host::{self, AUTO_BY_DEFAULT_SINCE, PERMISSION_REQUEST, PRE_TOOL_USE, Places, Weight};
use super::json::Document;
use super::process;
use super::selftest::{self, Answer};
use super::wiring::{self, Found};
use crate::escape::visible;
use crate::pause::{Length, Pause};
use crate::policy::config;

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
    /// Countersign's own directories; they need not exist.
    pub own: Vec<PathBuf>,
    /// The person's configuration; it need not exist.
    pub config: Option<PathBuf>,
    pub pause: Pause,
    pub now: SystemTime,
}

/// Looks at everything, in the order in which a person would.
pub fn examine(given: &Given) -> Vec<Finding> {
    let mut findings = Findings::default();
    let layers = load(&given.places, &mut findings);
    let version = host_version(&given.path, &mut findings);
    wired(&layers, &mut findings);
    configured(given, &mut findings);
    switched_off(&layers, &mut findings);
    mode(&layers, version, &mut findings);
    rivals(&layers, &mut findings);
    for entry in ours(&layers) {
        check_entry(&entry, &mut findings);
    }
    binaries(&layers, given, &mut findings);
    writable(&layers, given, &mut findings);
    for entry in ours(&layers) {
        answers(&entry, given, &mut findings);
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

/// Whose settings a file holds. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Owner {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

/// One file of settings that the host takes.
struct Layer {
    owner: Owner,
    path: PathBuf,
    settings: Value,
    /// The plugin's directory, for `${CLAUDE_PLUGIN_ROOT}`.
    root: Option<PathBuf>,
}

/// One entry of ours, and the file it is in.
struct Entry<'a> {
    layer: &'a Layer,
    found: Found<'a>,
}

impl Entry<'_> {
    fn place(&self) -> String {
        format!("{} ({})", self.layer.path.display(), self.found.event)
    }

    /// The hook with the plugin's directory put in, as the host does.
    fn hook(&self) -> Value {
        let mut hook = self.found.hook.clone();
        if let (Some(root), Some(command)) = (&self.layer.root, hook.get("command").and_then(Value::as_str)) {
            hook["command"] = Value::from(command.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()));
        }
        hook
    }

    fn program(&self) -> Option<PathBuf> {
        let hook = self.hook();
        Found {
            hook: &hook,
            ..self.found.clone()
        }
        .command_line()
        .first()
        .map(PathBuf::from)
    }

    fn timeout(&self) -> Option<f64> {
        self.found.hook.get("timeout").and_then(Value::as_f64)
    }
}

fn ours(layers: &[Layer]) -> Vec<Entry<'_>> {
    let entries = layers.iter().flat_map(|layer| {
        wiring::hooks(&layer.settings)
            .into_iter()
            .map(move |found| Entry { layer, found })
    });
    entries.filter(|entry| wiring::is_ours(entry.found.hook)).collect()
}

fn load(places: &Places, findings: &mut Findings) -> Vec<Layer> {
    let mut files = vec![
        (Owner::User, places.user_settings()),
        (Owner::Project, places.project_settings()),
        (Owner::Local, places.local_settings()),
    ];
    files.extend(places.managed_settings().into_iter().map(|path| (Owner::Managed, path)));
    let mut layers: Vec<Layer> = Vec::new();
    for (owner, path) in files {
        // A session in the home directory has the person's file as its project's, too.
        if !layers.iter().any(|layer| layer.path == path) {
            layers.extend(load_file(owner, path, None, findings));
        }
    }
    let plugins = plugins(&layers, places);
    layers.extend(
        plugins
            .into_iter()
            .filter_map(|(root, path)| load_file(Owner::Plugin, path, Some(root), findings)),
    );
    layers.sort_by_key(|layer| layer.owner);
    layers
}

fn load_file(owner: Owner, path: PathBuf, root: Option<PathBuf>, findings: &mut Findings) -> Option<Layer> {
    let shown = path.display();
    let text = match fs::read_to_string(&path) {
        Ok(text) if text.trim().is_empty() => return None,
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        Err(error) => {
            findings.fail(
                "settings",
                format!("{shown} cannot be read: {error}"),
                "make it a file that you can read",
            );
            return None;
        }
    };
    let settings = match Document::parse(&text).and_then(|document| document.value()) {
        Ok(settings) => settings,
        Err(error) => {
            let what = format!("{shown} is no JSON ({error}); Claude Code passes over all of it");
            findings.fail("settings", what, "mend it: no comments, no trailing commas");
            return None;
        }
    };
    let faults = host::faults(&settings);
    for fault in faults.iter().filter(|fault| fault.weight == Weight::Entry) {
        findings.warn(
            "settings",
            format!("in {shown} {fault}; Claude Code passes over it"),
            "mend or remove it",
        );
    }
    if let Some(fault) = faults.iter().find(|fault| fault.weight == Weight::Void) {
        let what = format!("in {shown} {fault}; Claude Code passes over the whole file");
        findings.fail("settings", what, "mend or remove it");
        return None;
    }
    Some(Layer {
        owner,
        path,
        settings,
        root,
    })
}

/// The hooks of enabled plugins: each plugin's directory, and its file.
fn plugins(layers: &[Layer], places: &Places) -> Vec<(PathBuf, PathBuf)> {
    let enabled: BTreeSet<&str> = layers
        .iter()
        .filter_map(|layer| layer.settings.get("enabledPlugins").and_then(Value::as_object))
        .flatten()
        .filter(|(_, on)| **on == Value::Bool(true))
        .map(|(name, _)| name.as_str())
        .collect();
    let installed = fs::read_to_string(places.config.join("plugins/installed_plugins.json")).unwrap_or_default();
    let installed: Value = serde_json::from_str(&installed).unwrap_or_default();
    let copies = enabled
        .iter()
        .filter_map(|name| installed.get("plugins")?.get(name)?.as_array())
        .flatten();
    let roots = copies
        .filter_map(|copy| copy.get("installPath")?.as_str())
        .map(PathBuf::from);
    roots
        .map(|root| (root.clone(), root.join("hooks/hooks.json")))
        .collect()
}

/// The value that counts for the host, and the file it is from.
fn effective<'a>(layers: &'a [Layer], pointer: &str) -> Option<(&'a Value, &'a Layer)> {
    let layers = layers.iter().filter(|layer| layer.owner != Owner::Plugin);
    layers
        .rev()
        .find_map(|layer| Some((layer.settings.pointer(pointer)?, layer)))
}

type Version = (u32, u32, u32);

/// Asks the `claude` on PATH for its version.
fn host_version(path: &OsStr, findings: &mut Findings) -> Option<Version> {
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
                    "{event} is wired {} times: {}; the host starts all of them",
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
        Pause::Unreadable(why) => {
            findings.fail(
                "pause",
                format!("{why}; until then every call keeps its prompt"),
                "run `countersign on`",
            );
        }
    }
    match given.config.as_deref().map(config::read) {
        None | Some(Ok(_)) => {}
        Some(Err(invalid)) => {
            let what = format!(
                "{}; until then every call keeps its prompt",
                visible(&invalid.to_string())
            );
            findings.fail("config", what, "mend the file or remove it");
        }
    }
}

fn switched_off(layers: &[Layer], findings: &mut Findings) {
    for layer in layers
        .iter()
        .filter(|layer| layer.settings.get("disableAllHooks") == Some(&Value::Bool(true)))
    {
        let what = format!(
            "`disableAllHooks` is true in {}, so the host calls no hook",
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

/// What the permission mode means for which calls reach us.
fn mode(layers: &[Layer], version: Option<Version>, findings: &mut Findings) {
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
            format!("\"{mode}\" in {from}: the host denies what it would ask about, and Countersign is not called"),
            "set `permissions.defaultMode` to \"default\", or use `countersign install --early`",
        ),
        "bypassPermissions" => findings.warn(
            "mode",
            format!("\"{mode}\" in {from}: the host asks nothing, and only PreToolUse hooks are called"),
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

/// Other people's hooks on the same events: the first decision to arrive wins.
fn rivals(layers: &[Layer], findings: &mut Findings) {
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

fn check_entry(entry: &Entry, findings: &mut Findings) {
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
    let deadline = entry
        .found
        .option("--deadline")
        .and_then(|seconds| seconds.parse::<f64>().ok());
    if let (Some(deadline), Some(timeout)) = (deadline, entry.timeout())
        && timeout <= deadline
    {
        let what = format!("{place} is ended by the host after {timeout} s, before its own deadline of {deadline} s");
        findings.fail("entry", what, INSTALL);
    }
}

/// The programs that our entries name, each once.
fn binaries(layers: &[Layer], given: &Given, findings: &mut Findings) {
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
            "{} names `{shown}` without a path, so it is looked up on the host's PATH",
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

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o111 != 0)
}

/// What everyone on the machine may write to is no place for a decision.
fn writable(layers: &[Layer], given: &Given, findings: &mut Findings) {
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

/// Sends two events through the entry as the host would.
fn answers(entry: &Entry, given: &Given, findings: &mut Findings) {
    let place = entry.place();
    let limit = Duration::from_secs_f64(entry.timeout().unwrap_or(30.0).min(30.0));
    let ask = |command: &str, session: &str| {
        let session = format!("countersign-doctor-{}-{session}", std::process::id());
        let event = selftest::event(entry.found.event, command, &given.places.project, &session);
        selftest::ask(&entry.hook(), entry.found.event, &event, &given.places.project, limit)
    };
    let expects_allow = entry.found.event == PERMISSION_REQUEST || entry.found.has("--early");
    let harmless = format!("{place}: `{}`", selftest::HARMLESS);
    match ask(selftest::HARMLESS, "harmless") {
        Ok(Answer::Allow) => findings.ok("answer", format!("{harmless} is allowed")),
        Ok(Answer::NoOpinion) if !expects_allow => findings.ok("answer", format!("{harmless} is left to the host")),
        Ok(Answer::NoOpinion) if given.pause != Pause::On => {
            findings.ok(
                "answer",
                format!("{harmless} keeps its prompt, as Countersign is switched off"),
            );
        }
        Ok(Answer::NoOpinion) => findings.warn(
            "answer",
            format!("{harmless} keeps its prompt"),
            format!("run `countersign explain '{}'` to see why", selftest::HARMLESS),
        ),
        Ok(Answer::Deny | Answer::Ask) => {
            findings.fail("answer", format!("{harmless} is stopped"), "look at your policy");
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

    #[test]
    fn the_hosts_version_is_the_first_word() {
        assert_eq!(parse_version("2.1.332 (Claude Code)\n"), Some((2, 1, 332)));
        assert_eq!(parse_version("claude\n"), None);
        assert_eq!(parse_version(""), None);
    }
}
