//! What is known of git's dangerous settings: git-settings.toml, as the build made it.

use catalog_spec::{Action, EffectSpec, Place, Reach, Undo};

/// A setting that makes git run, reach or trust something.
#[derive(Debug)]
pub struct Setting {
    /// In lower case; a `*` stands for any text.
    key: &'static str,
    /// What it does, to go on after its name.
    pub why: &'static str,
    /// Its value is a command for a shell.
    pub shell: bool,
    /// What it does for one command that it is given for.
    pub effect: EffectSpec,
}

include!(concat!(env!("OUT_DIR"), "/git_settings.rs"));

/// What is known of a key, however its letters are written.
pub fn find(key: &str) -> Option<&'static Setting> {
    let key = key.to_ascii_lowercase();
    SETTINGS.iter().find(|setting| match setting.key.split_once('*') {
        Some((before, after)) => {
            key.len() > before.len() + after.len() && key.starts_with(before) && key.ends_with(after)
        }
        None => setting.key == key,
    })
}
