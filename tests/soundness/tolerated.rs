//! What the lab lets a command do nevertheless, from `tolerated.toml`, each with its reason.

use std::path::Path;

use serde::Deserialize;

use crate::deeds::Deed;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerated {
    tolerate: Vec<Tolerance>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// The programs that may do it, with blanks between; `*` is any.
    pub programs: String,
    /// An action and its target, in which `*` stands for anything.
    pub deed: String,
    pub why: String,
}

impl Tolerated {
    pub fn load() -> Self {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/soundness/tolerated.toml");
        let text = std::fs::read_to_string(file).expect("what is tolerated");
        toml::from_str(&text).expect("tolerances without mistakes")
    }

    pub fn all(&self) -> &[Tolerance] {
        &self.tolerate
    }

    /// The place in `all` of what lets one of these programs do this.
    pub fn find(&self, programs: &[String], deed: &Deed) -> Option<usize> {
        let text = format!("{} {}", deed.action, deed.target);
        self.tolerate.iter().position(|tolerance| {
            let mut named = tolerance.programs.split(' ');
            named.any(|name| name == "*" || programs.iter().any(|program| program == name))
                && fits(&tolerance.deed, &text)
        })
    }
}

/// Whether the text is the pattern, in which `*` stands for anything.
fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => text.strip_prefix(start).is_some_and(|text| {
            rest.is_empty() || (0..=text.len()).any(|at| text.is_char_boundary(at) && fits(rest, &text[at..]))
        }),
    }
}

#[test]
fn a_star_stands_for_anything_and_all_else_for_itself() {
    assert!(fits("write /a/*.lock", "write /a/b/c.lock"));
    assert!(fits("write /a/*", "write /a/b"));
    assert!(!fits("write /a/*.lock", "write /a/b.locks"));
    assert!(!fits("write /a", "write /a/b"));
}
