//! What a step does: an action on a target, where, what is lost, and how far it reaches.
//!
//! `assess` makes effects, `risk` rates them; nothing else does either.

use std::path::{Path, PathBuf};

pub use catalog_spec::{Action, EffectSpec, Place, Reach, Tier, Undo};

use crate::shell::Span;

/// One thing a step does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Effect {
    pub spec: EffectSpec,
    /// What it is done to, for a person to read: a path, a host, a program's name. May be empty.
    pub target: String,
    /// What it is done to, for rules to compare.
    pub subject: Subject,
}

/// What an effect is done to, where that is one path or one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Neither, or not known.
    #[default]
    None,
    /// Both absolute.
    Path {
        /// As written, `.` and `..` taken out by name.
        named: PathBuf,
        /// Where it is once every link is followed.
        real: PathBuf,
    },
    /// Lower case, without a port.
    Host(String),
}

impl Subject {
    /// The path as written and as it is once every link is followed.
    pub fn paths(&self) -> Option<[&Path; 2]> {
        match self {
            Subject::Path { named, real } => Some([named, real]),
            Subject::Host(_) | Subject::None => None,
        }
    }

    pub fn host(&self) -> Option<&str> {
        match self {
            Subject::Host(host) => Some(host),
            Subject::Path { .. } | Subject::None => None,
        }
    }
}

impl Effect {
    /// An effect on something that is neither one path nor one host.
    pub fn new(spec: EffectSpec, target: impl Into<String>) -> Self {
        Effect {
            spec,
            target: target.into(),
            subject: Subject::None,
        }
    }
}

/// Something in a call that was not understood. One is enough to keep the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doubt {
    /// For a person to read, lower case, without a full stop: "`--pre` is not an option that is known of rg".
    pub why: String,
    /// Where in the script.
    pub span: Span,
    /// All that is missing is the catalog's knowledge, so that a person who knows the tool can vouch for it by a rule.
    pub gap: Option<Gap>,
}

/// What the catalog does not list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gap {
    /// The program or tool as a whole.
    Program,
    /// An option, an operand or code of a program that it lists. What the words after it do was not read.
    Word,
}

/// One simple command inside a script, or the whole call of another tool.
#[derive(Clone, Debug)]
pub struct Step {
    /// The program's name as written, or the tool's.
    pub program: String,
    /// The computed words; `None` where a word is not known exactly.
    pub words: Vec<Option<String>>,
    pub effects: Vec<Effect>,
    pub doubts: Vec<Doubt>,
    pub tier: Tier,
    pub span: Span,
    /// What of the effects and doubts comes from around the command: redirections, variables, substitutions.
    pub around: Around,
}

/// How many of a step's effects and doubts, from the first on, are not those of its own words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Around {
    pub effects: usize,
    pub doubts: usize,
}

impl Step {
    /// Every command, option and operand was understood.
    pub fn proven(&self) -> bool {
        self.doubts.is_empty()
    }
}

/// What a call would do.
#[derive(Clone, Debug)]
pub struct Assessment {
    pub steps: Vec<Step>,
    /// What was not understood of the script as a whole, beside each step's own doubts.
    pub doubts: Vec<Doubt>,
    pub tier: Tier,
    /// Each simple command wherever it stands in the script, and each that another one runs, as its computed words;
    /// `None` where one is not known.
    pub commands: Vec<Vec<Option<String>>>,
    /// The script was parsed. `None` for tools that carry no script.
    pub parsed: Option<bool>,
}

impl Assessment {
    pub fn proven(&self) -> bool {
        self.doubts.is_empty() && self.steps.iter().all(Step::proven)
    }
}
