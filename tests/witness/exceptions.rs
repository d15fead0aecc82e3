//! The options that the witness test cannot settle, each with its reason: `COMMAND OPTION: REASON`, a line each.

use std::collections::BTreeMap;
use std::path::Path;

pub struct Exceptions {
    /// By command and option, `git log --oneline`.
    reasons: BTreeMap<String, String>,
}

impl Exceptions {
    pub fn load() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/witness/exceptions.txt");
        let text = std::fs::read_to_string(file).expect("the exceptions");
        let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let reasons = lines.map(|line| {
            let (option, reason) = line.split_once(": ").unwrap_or_else(|| panic!("no reason: {line}"));
            (option.to_owned(), reason.to_owned())
        });
        Exceptions {
            reasons: reasons.collect(),
        }
    }

    pub fn has(&self, option: &str) -> bool {
        self.reasons.contains_key(option)
    }

    pub fn all(&self) -> impl Iterator<Item = &String> {
        self.reasons.keys()
    }
}
