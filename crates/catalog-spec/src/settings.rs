//! The list of git's settings that make it run, reach or trust something.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;
use toml::Spanned;

use crate::diagnostic::{Diagnostic, Source};
use crate::words::{Action, EffectSpec};

/// What is known of one setting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// In lower case; a `*` stands for any text.
    pub key: String,
    /// What it does, to go on after its name: "names a program that git runs".
    pub why: String,
    /// Its value is a command for a shell.
    pub shell: bool,
    /// What it does for one command that it is given for.
    pub effect: EffectSpec,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    setting: Vec<Raw>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    keys: Spanned<String>,
    why: String,
    effect: Spanned<String>,
    #[serde(default)]
    shell: bool,
    /// Commands, each with the least tier that it has.
    #[serde(default)]
    examples: BTreeMap<String, String>,
}

/// The settings of a file, sorted by their key, and the examples: a command, and the tier's name.
pub type Settings = (Vec<Setting>, Vec<(String, String)>);

/// Reads the file of settings.
///
/// # Errors
/// Every fault of the file, or that it cannot be read.
pub fn load_settings(path: &Path) -> Result<Settings, Vec<Diagnostic>> {
    let file = path.display().to_string();
    let text = std::fs::read_to_string(path).map_err(|error| {
        vec![Diagnostic {
            file: file.clone(),
            line: 1,
            message: error.to_string(),
        }]
    })?;
    let mut source = Source::new(&file, &text);
    let Some(raw) = source.read::<File>() else {
        return Err(source.faults);
    };
    let mut settings = BTreeMap::new();
    let mut examples = Vec::new();
    for raw in raw.setting {
        let effect = match EffectSpec::parse(raw.effect.get_ref()) {
            Ok(effect) if matches!(effect.action, Action::Execute | Action::Connect) => effect,
            Ok(_) => {
                source.fault(&raw.effect.span(), "a setting executes something or connects somewhere");
                continue;
            }
            Err(why) => {
                source.fault(&raw.effect.span(), why);
                continue;
            }
        };
        for key in raw.keys.get_ref().split_whitespace() {
            let setting = Setting {
                key: key.to_owned(),
                why: raw.why.clone(),
                shell: raw.shell,
                effect,
            };
            if key != key.to_ascii_lowercase() || !key.contains('.') {
                source.fault(
                    &raw.keys.span(),
                    format!("write `{key}` in lower case, with its section"),
                );
            }
            if settings.insert(key.to_owned(), setting).is_some() {
                source.fault(&raw.keys.span(), format!("`{key}` is listed twice"));
            }
        }
        examples.extend(raw.examples);
    }
    match source.faults.is_empty() {
        true => Ok((settings.into_values().collect(), examples)),
        false => Err(source.faults),
    }
}
