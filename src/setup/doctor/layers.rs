//! The host's settings in force: which files there are, which one wins, and where our entries stand in them.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use super::Findings;
use crate::setup::host::{self, Places, Weight};
use crate::setup::json::Document;
use crate::setup::wiring::{self, Found};

/// Whose settings a file holds. Later ones win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    Plugin,
    User,
    Project,
    Local,
    Managed,
}

/// One file of settings that the host takes.
pub struct Layer {
    pub owner: Owner,
    pub path: PathBuf,
    pub settings: Value,
    /// The plugin's directory, for `${CLAUDE_PLUGIN_ROOT}`.
    pub root: Option<PathBuf>,
}

/// One entry of ours, and the file it is in.
pub struct Entry<'a> {
    pub layer: &'a Layer,
    pub found: Found<'a>,
}

impl Entry<'_> {
    pub fn place(&self) -> String {
        format!("{} ({})", self.layer.path.display(), self.found.event)
    }

    /// The hook with the plugin's directory put in, as the host does.
    pub fn hook(&self) -> Value {
        let mut hook = self.found.hook.clone();
        if let (Some(root), Some(command)) = (&self.layer.root, hook.get("command").and_then(Value::as_str)) {
            hook["command"] = Value::from(command.replace("${CLAUDE_PLUGIN_ROOT}", &root.to_string_lossy()));
        }
        hook
    }

    pub fn program(&self) -> Option<PathBuf> {
        let hook = self.hook();
        Found {
            hook: &hook,
            ..self.found.clone()
        }
        .command_line()
        .first()
        .map(PathBuf::from)
    }

    /// In how many seconds the hook ends on its own.
    pub fn deadline(&self) -> Option<f64> {
        self.found.option("--deadline")?.parse().ok()
    }

    pub fn timeout(&self) -> Option<f64> {
        self.found.hook.get("timeout").and_then(Value::as_f64)
    }
}

pub fn ours(layers: &[Layer]) -> Vec<Entry<'_>> {
    let entries = layers.iter().flat_map(|layer| {
        wiring::hooks(&layer.settings)
            .into_iter()
            .map(move |found| Entry { layer, found })
    });
    entries.filter(|entry| wiring::is_ours(entry.found.hook)).collect()
}

pub fn load(places: &Places, findings: &mut Findings) -> Vec<Layer> {
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
pub fn effective<'a>(layers: &'a [Layer], pointer: &str) -> Option<(&'a Value, &'a Layer)> {
    let layers = layers.iter().filter(|layer| layer.owner != Owner::Plugin);
    layers
        .rev()
        .find_map(|layer| Some((layer.settings.pointer(pointer)?, layer)))
}
