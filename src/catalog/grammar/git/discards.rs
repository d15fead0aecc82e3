//! Which files of the working tree a git command throws away by itself, told by its words alone.

use super::Words;
use crate::catalog;
use crate::shell::Arg;

/// What a git command throws away.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discards {
    /// The paths that it names, or what is tracked below them.
    Named,
    /// What is not tracked.
    Untracked {
        extent: Extent,
        /// Repositories below, too.
        nested: bool,
    },
    /// What was changed in tracked files since the last commit.
    Changes {
        extent: Extent,
        /// In the whole working tree, not in the paths that it names.
        all: bool,
    },
}

/// How much of what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extent {
    All,
    /// Some of it.
    AtMost,
    /// All of it, and maybe more.
    AtLeast,
    Unknown,
}

/// Reads a command of git, `args[0]` being `git` and every word a literal. `None` where it throws away nothing of the
/// kind, or where it is not understood.
pub fn discards(args: &[Arg]) -> Option<Discards> {
    let reading = catalog::read(args).filter(|reading| reading.doubts.is_empty())?;
    let words = Words::of(args, reading.subcommand)?;
    let named: Vec<&str> = words.operands.iter().filter_map(|arg| arg.value.literal()).collect();
    // A pattern, or a list in a file.
    let is_computed = words.has("--pathspec-from-file") || named.iter().any(|name| name.contains(['*', '?', '[', ':']));
    let among_paths = |extent| if is_computed { Extent::Unknown } else { extent };
    let from_commit = |is_last: bool| if is_last { Extent::All } else { Extent::AtLeast };
    match reading.subcommand {
        "rm" | "worktree remove" => Some(Discards::Named),
        "clean" => Some(Discards::Untracked {
            extent: among_paths(
                match words.has("-d") && words.has("-x") && !words.has("-e --exclude -X") {
                    true => Extent::All,
                    false => Extent::AtMost,
                },
            ),
            nested: words
                .options
                .iter()
                .filter(|(o, _)| o == "-f" || o == "--force")
                .count()
                > 1,
        }),
        "reset" if words.has("--hard") => Some(Discards::Changes {
            extent: from_commit(matches!(named.as_slice(), [] | ["HEAD"])),
            all: true,
        }),
        "reset" => Some(Discards::Changes {
            extent: Extent::AtMost,
            all: true,
        }),
        "switch" => Some(Discards::Changes {
            extent: from_commit(named.is_empty()),
            all: true,
        }),
        "checkout" if words.has("-f --force") && words.separator.is_none() => Some(Discards::Changes {
            extent: from_commit(named.is_empty()),
            all: true,
        }),
        "checkout" => Some(Discards::Changes {
            extent: among_paths(from_commit(words.separator == Some(0) || named.len() == 1)),
            all: false,
        }),
        "restore" => Some(Discards::Changes {
            extent: among_paths(from_commit(!words.has("-s --source"))),
            all: false,
        }),
        _ => None,
    }
}
