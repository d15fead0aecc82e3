//! docs/soundness.md: what a whole run of the lab showed, and everything that it tolerates.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::Outcome;
use crate::tolerated::Tolerated;

/// How many examples came out how.
#[derive(Default)]
pub struct Counts {
    programs: usize,
    clean: usize,
    failed: usize,
    missing: usize,
    wrong: usize,
    tolerated: usize,
    /// By place in the list of what is tolerated.
    by_tolerance: BTreeMap<usize, usize>,
}

impl Counts {
    /// Of a run that chose from the examples of so many programs.
    pub fn of(programs: usize) -> Self {
        Counts {
            programs,
            ..Counts::default()
        }
    }

    pub fn add(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Clean => self.clean += 1,
            Outcome::Failed => self.failed += 1,
            Outcome::Missing => self.missing += 1,
            Outcome::Wrong(_) => self.wrong += 1,
            Outcome::Tolerated(used) => {
                self.tolerated += 1;
                for &at in used {
                    *self.by_tolerance.entry(at).or_default() += 1;
                }
            }
        }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ran = self.clean + self.failed + self.tolerated + self.wrong;
        write!(
            f,
            "Of {} programs {ran} safe lines were run: {} changed nothing, connected nowhere and ran nothing else, {} of them without \
             finding what they ask for; {} did only what is tolerated below; {} did more. {} could not be run, for a program \
             in them is in no package that the image has.",
            self.programs,
            self.clean + self.failed,
            self.failed,
            self.tolerated,
            self.wrong,
            self.missing
        )
    }
}

pub fn write(counts: &Counts, tolerated: &Tolerated) {
    let text = format!("{}{counts}\n\n{}", head(), list(tolerated));
    fs::write(file(), text).expect("the page");
}

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/soundness.md")
}

fn head() -> String {
    "# Soundness\n\n\
     What the catalog calls safe is not only said, it is run. Every example of tier safe whose program can be installed \
     from Debian 12, npm or PyPI runs in a cage without network, on a scratch project, and every system call of it that \
     opens a file to write, removes, renames, changes rights, connects or starts a program is looked at. So does every \
     option with which an entry says that its program only describes itself. The project is full of configuration and \
     plugins (tests/soundness/canaries.toml) that would leave a trace if a program loaded them.\n\n\
     ```\n\
     tests/image/build                                       # as root, on Debian 12; once\n\
     COUNTERSIGN_LAB=all cargo test --locked --test soundness\n\
     ```\n\n\
     Without the variable a run takes a sample and prints its seed. The last whole run:\n\n"
        .to_owned()
}

fn list(tolerated: &Tolerated) -> String {
    let mut text = "## What is tolerated\n\n| programs | what | why |\n|---|---|---|\n".to_owned();
    for tolerance in tolerated.all() {
        let programs = if tolerance.programs == "*" {
            "any"
        } else {
            &tolerance.programs
        };
        text += &format!("| {programs} | `{}` | {} |\n", tolerance.deed, tolerance.why);
    }
    text
}

#[test]
fn the_page_of_the_lab_has_everything_that_is_tolerated() {
    let page = fs::read_to_string(file()).expect("the page");
    let list = list(&Tolerated::load());
    assert!(
        page.starts_with(&head()) && page.ends_with(&list),
        "docs/soundness.md is stale; write it anew with COUNTERSIGN_DRAW=1 COUNTERSIGN_LAB=all cargo test --test soundness"
    );
}
