//! Files, from `canaries.toml`, that tell of themselves when a program loads them as code.

use std::path::Path;

use serde::Deserialize;

use crate::support::Machine;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Canaries {
    canary: Vec<Canary>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Canary {
    /// Names in the project, with blanks between.
    files: String,
    /// What stands in each.
    text: String,
}

impl Canaries {
    pub fn load() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soundness/canaries.toml");
        let text = std::fs::read_to_string(file).expect("the canaries");
        toml::from_str(&text).expect("canaries without mistakes")
    }

    /// Writes them into the machine's project.
    pub fn plant(&self, machine: &Machine) {
        for canary in &self.canary {
            for name in canary.files.split_whitespace() {
                machine.write(name, &canary.text);
            }
        }
    }
}
