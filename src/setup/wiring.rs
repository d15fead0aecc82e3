//! Which entries Countersign has in the host's settings, how they are known again, and the edits that add and remove them.
//!
//! `install`, `uninstall` and `doctor` call this. It works on texts and values and reads no file.

use anyhow::Result;
use serde_json::{Map, Value, json};

use super::host::{PERMISSION_REQUEST, PRE_TOOL_USE, SESSION_START};
use super::json::{Document, Step};
use crate::effect::Tier;
use crate::policy::{Guard, Wiring};

/// Seconds after which the hook ends on its own, and those after which the host ends it; the second must be longer.
const PERMISSION_REQUEST_SECONDS: (u32, u32) = (25, 30);
/// The same where the hook may wait for a person elsewhere.
const HELD_SECONDS: (u32, u32) = (86_400, 86_460);
/// How long a session's start may wait until the relay runs.
const ENSURE_SECONDS: u32 = 10;
/// The same before a call, where the screen stands still until the hook ends.
const PRE_TOOL_USE_SECONDS: (u32, u32) = (5, 10);

/// The tools whose input is a shell command. PreToolUse holds up every call it matches, and no other tool is asked about
/// so often that allowing it early is worth that.
const SHELL_TOOLS: &str = "Bash|Monitor";
/// What a guard stops it stops for every tool.
const EVERY_TOOL: &str = "*";

/// The entries that the person wants.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entries {
    /// The absolute path of the executable.
    pub binary: String,
    pub wiring: Wiring,
    /// Whether what is left open may wait for a person elsewhere.
    pub relay: bool,
}

impl Entries {
    /// The entry for an event in exec form, or `None` where nothing is wanted of it.
    pub fn group(&self, event: &str) -> Option<Value> {
        match event {
            PERMISSION_REQUEST => {
                let seconds = if self.relay {
                    HELD_SECONDS
                } else {
                    PERMISSION_REQUEST_SECONDS
                };
                Some(self.entry(EVERY_TOOL, seconds, &[]))
            }
            SESSION_START if self.relay => {
                let args = ["relay", "ensure"];
                let hook = json!({"type": "command", "command": self.binary, "args": args, "timeout": ENSURE_SECONDS});
                Some(json!({"hooks": [hook]}))
            }
            PRE_TOOL_USE if self.wiring != Wiring::default() => {
                let tools = self.wiring.guard.map_or(SHELL_TOOLS, |_| EVERY_TOOL);
                Some(self.entry(tools, PRE_TOOL_USE_SECONDS, &self.early_args()))
            }
            _ => None,
        }
    }

    fn early_args(&self) -> Vec<&'static str> {
        let mut args = Vec::new();
        if self.wiring.early {
            args.push("--early");
        }
        if let Some(guard) = self.wiring.guard {
            args.extend(["--guard", guard.tier.as_str()]);
            if guard.asks {
                args.push("--guard-asks");
            }
        }
        args
    }

    fn entry(&self, matcher: &str, (deadline, timeout): (u32, u32), more: &[&str]) -> Value {
        let mut args = vec!["hook".to_owned(), "--deadline".to_owned(), deadline.to_string()];
        args.extend(more.iter().map(|&arg| arg.to_owned()));
        let hook = json!({"type": "command", "command": self.binary, "args": args, "timeout": timeout});
        json!({"matcher": matcher, "hooks": [hook]})
    }
}

/// One hook of Countersign's in the settings.
#[derive(Clone, Debug)]
pub struct Found<'a> {
    pub event: &'a str,
    /// Which group of the event, and which hook of the group.
    pub at: (usize, usize),
    pub group: &'a Map<String, Value>,
    pub hook: &'a Value,
}

impl Found<'_> {
    /// The program and its arguments. In shell form they are the words of the command line.
    pub fn command_line(&self) -> Vec<String> {
        command_line(self.hook).unwrap_or_default()
    }

    /// What follows an option among the arguments.
    pub fn option(&self, name: &str) -> Option<String> {
        let words = self.command_line();
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    }

    pub fn has(&self, name: &str) -> bool {
        self.command_line().iter().any(|word| word == name)
    }
}

/// Every command hook in the settings, ours or not, in order.
pub fn hooks(settings: &Value) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    let events = settings.get("hooks").and_then(Value::as_object);
    for (event, groups) in events.into_iter().flatten() {
        for (g, group) in groups.as_array().into_iter().flatten().enumerate() {
            let Some(group) = group.as_object() else { continue };
            let hooks = group.get("hooks").and_then(Value::as_array);
            for (h, hook) in hooks.into_iter().flatten().enumerate() {
                found.push(Found {
                    event,
                    at: (g, h),
                    group,
                    hook,
                });
            }
        }
    }
    found
}

/// Whether a hook runs `countersign hook` or `countersign relay ensure`, in exec form or as a shell's command line.
pub fn is_ours(hook: &Value) -> bool {
    let Some(words) = command_line(hook) else { return false };
    let name = words.first().and_then(|program| program.rsplit('/').next());
    matches!(name, Some("countersign" | "countersign-hook"))
        && match words.get(1).map(String::as_str) {
            Some("hook") => true,
            Some("relay") => words.get(2).is_some_and(|verb| verb == "ensure"),
            _ => false,
        }
}

fn command_line(hook: &Value) -> Option<Vec<String>> {
    let command = hook.get("command")?.as_str()?;
    match hook.get("args").and_then(Value::as_array) {
        None => Some(shell_words(command)),
        Some(args) => {
            let args = args.iter().map(|arg| arg.as_str().map(str::to_owned));
            std::iter::once(Some(command.to_owned())).chain(args).collect()
        }
    }
}

/// Splits a command line of plain, quoted and backslashed words. It serves only to know an entry again.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), _) if c == open => quote = None,
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (None, _) if c.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What the settings ask of our PreToolUse entries now.
pub fn present(settings: &Value) -> Wiring {
    let ours = hooks(settings)
        .into_iter()
        .filter(|found| found.event == PRE_TOOL_USE && is_ours(found.hook));
    let mut wiring = Wiring::default();
    for found in ours {
        wiring.early |= found.has("--early");
        let tier = found.option("--guard").and_then(|tier| Tier::parse(&tier));
        let asks = found.has("--guard-asks");
        wiring.guard = wiring.guard.or(tier.map(|tier| Guard { tier, asks }));
    }
    wiring
}

/// The settings with exactly the wanted entries of ours; what is another's is left as it stands.
pub fn wire(text: &str, wanted: &Entries) -> Result<String> {
    let mut document = Document::parse(text)?;
    for event in [PERMISSION_REQUEST, PRE_TOOL_USE, SESSION_START] {
        let settings = document.value()?;
        match wanted.group(event) {
            Some(group) => put(&mut document, &settings, event, &group)?,
            None => drop_ours(&mut document, &settings, event, None, &Value::Null)?,
        }
    }
    Ok(document.text().to_owned())
}

/// Leaves one entry of ours for the event, and that one as wanted.
fn put(document: &mut Document, settings: &Value, event: &str, wanted: &Value) -> Result<()> {
    let groups = settings.pointer(&format!("/hooks/{event}")).and_then(Value::as_array);
    let wholly_ours = |group: &Value| {
        let hooks = group.get("hooks").and_then(Value::as_array);
        hooks.is_some_and(|hooks| !hooks.is_empty() && hooks.iter().all(is_ours))
    };
    let place = groups.and_then(|groups| {
        let same = groups.iter().position(|group| group == wanted);
        same.or_else(|| groups.iter().position(wholly_ours))
    });
    if let (Some(groups), Some(index)) = (groups, place)
        && groups.get(index) != Some(wanted)
    {
        document.replace(&[Step::Key("hooks"), Step::Key(event), Step::Index(index)], wanted)?;
    }
    // Without a place of its own, another's group that held ours keeps its other hooks and a new one is made.
    drop_ours(document, settings, event, place, &Value::Null)?;
    if place.is_some() {
        return Ok(());
    }
    let settings = document.value()?;
    if settings.get("hooks").is_none() {
        return document.append_member(&[], "hooks", &json!({event: [wanted]}));
    }
    if settings.pointer(&format!("/hooks/{event}")).is_none() {
        return document.append_member(&[Step::Key("hooks")], event, &json!([wanted]));
    }
    document.append_element(&[Step::Key("hooks"), Step::Key(event)], wanted)
}

/// The settings without any entry of ours, and without what gets empty by that, unless `earlier` settings have it too.
pub fn unwire(text: &str, earlier: &Value) -> Result<String> {
    let mut document = Document::parse(text)?;
    let settings = document.value()?;
    let events = settings.get("hooks").and_then(Value::as_object);
    for event in events.into_iter().flatten().map(|(event, _)| event) {
        drop_ours(&mut document, &settings, event, None, earlier)?;
    }
    Ok(document.text().to_owned())
}

/// Removes our hooks of one event, backwards so that places stay true, and what gets empty by it.
fn drop_ours(
    document: &mut Document,
    settings: &Value,
    event: &str,
    spare: Option<usize>,
    earlier: &Value,
) -> Result<()> {
    let all = hooks(settings);
    let ours: Vec<_> = all
        .iter()
        .filter(|found| found.event == event && is_ours(found.hook))
        .collect();
    let mut removed = false;
    for found in ours.iter().rev().filter(|found| Some(found.at.0) != spare) {
        let path = [
            Step::Key("hooks"),
            Step::Key(event),
            Step::Index(found.at.0),
            Step::Key("hooks"),
            Step::Index(found.at.1),
        ];
        document.remove(&path)?;
        if document.is_empty(&path[..4])? {
            document.remove(&path[..3])?;
        }
        removed = true;
    }
    if removed
        && earlier.pointer(&format!("/hooks/{event}")).is_none()
        && document.is_empty(&[Step::Key("hooks"), Step::Key(event)])?
    {
        document.remove(&[Step::Key("hooks"), Step::Key(event)])?;
        if earlier.get("hooks").is_none() && document.is_empty(&[Step::Key("hooks")])? {
            document.remove(&[Step::Key("hooks")])?;
        }
    }
    Ok(())
}
