//! The catalog: what commands do with their words.
//!
//! `read` is pure: it knows neither the machine nor policy. An option, operand or value that no entry lists is a doubt.

mod argv;
mod blob;
pub mod environment;
mod git_settings;
pub mod grammar;

use crate::effect::EffectSpec;
use crate::shell::{Arg, Span};
pub use catalog_spec::Role;

/// What a command was understood to do with its words.
#[derive(Clone, Debug, Default)]
pub struct Reading {
    /// Each word, or part of a word, that names something.
    pub uses: Vec<Use>,
    /// What it does whatever its words are.
    pub effects: Vec<EffectSpec>,
    /// Further effects, each with what it is done to in words.
    pub told: Vec<(EffectSpec, String)>,
    /// Commands and code that it runs.
    pub inner: Vec<Inner>,
    /// The code that it reads from its standard input.
    pub input: Option<Role>,
    /// What was not understood.
    pub doubts: Vec<Misread>,
    /// A directory, relative to the cwd, in which it acts and against which its paths are read (`git -C`, `env -C`).
    pub directory: Option<Arg>,
    /// The names of files, with blanks between, whose code it runs where one lies at or above the current directory.
    pub obeys: &'static str,
    /// Paths whose directories hold configuration or plugins that it runs.
    pub beside: Vec<Arg>,
    /// What the command does, in a few words.
    pub about: &'static str,
    /// The subcommand as the catalog spells it, its words joined by a space; empty where there is none.
    pub subcommand: &'static str,
}

/// A word (or the value part of one) and the role it plays.
#[derive(Clone, Debug)]
pub struct Use {
    pub role: Role,
    pub arg: Arg,
}

/// A command or code that the command runs.
#[derive(Clone, Debug)]
pub enum Inner {
    /// `timeout 5 ls -l`: its own words, the program first.
    Command { args: Vec<Arg> },
    /// `xargs ls -l`: the same, with words from its input.
    Fed { args: Vec<Arg>, feed: Feed },
    /// `docker exec web ls`, `git -c core.pager=ls log`: run where or when it is not known what it finds.
    Elsewhere {
        args: Vec<Arg>,
        /// Where or by what, to go on after what it is done to: "on web, not on this machine".
        by: String,
    },
    /// Code that is run: `bash -c CODE`, `awk PROGRAM` is not here (it is read by its own grammar).
    Code {
        role: Role,
        code: Arg,
        /// To a shell its `$0`, `$1` and so on, where these are known.
        words: Option<Vec<Arg>>,
    },
}

/// How words of data become words of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// Each word that holds this is one with a word of the data in its place; `None`: any number of them stand at the end.
    pub placeholder: Option<String>,
    pub split: Split,
    /// One run takes only some of the words, and later runs begin with the others.
    pub in_parts: bool,
    /// Each run of the command gets one word, or none.
    pub one: bool,
}

/// Where data is split into words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Split {
    /// At blanks and line ends (with a placeholder only at these); quotes and backslashes quote.
    Blanks,
    /// At each NUL.
    Nul,
    /// Nowhere: each word is a path that the command itself finds, and without any it runs nothing.
    Found,
    /// Elsewhere.
    Other,
}

/// Something not understood, with the words it concerns.
#[derive(Clone, Debug)]
pub struct Misread {
    pub why: String,
    pub span: Span,
}

/// Whether a command of this name is known.
pub fn lists(name: &str) -> bool {
    blob::command(name).is_some()
}

/// Reads a command: `args[0]` is the program's name as the entry spells it (no directory), the rest its words.
///
/// `None`: no entry has this name.
pub fn read(args: &[Arg]) -> Option<Reading> {
    let name = args.first()?.value.literal()?;
    let mut reading = argv::read(blob::command(name)?, args);
    if name == "git" {
        grammar::git::refine(args, &mut reading);
    }
    Some(reading)
}
