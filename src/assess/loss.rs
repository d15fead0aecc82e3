//! What a call would throw away, in numbers: how many files, how many bytes, and what git holds of them.
//!
//! It is counted only where somebody is told, after the tier is known, and changes no tier. A number is as of now and
//! assumes that every step runs. What was not understood, what another machine holds, and what lies past a bound is never
//! guessed at: it makes a number a least or a most, or leaves it out.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::catalog::grammar::git::{Discards, Extent, discards};
use crate::effect::{Action, Assessment, Effect, Place, Step, Subject, Undo};
use crate::facts::git::Tracked;
use crate::facts::{Facts, Kind};
use crate::place::{self, Purpose};
use crate::shell::{Arg, Span, Value};

/// At most about this many files are counted in one call.
const MAX_FILES: usize = 4096;
/// So many files are compared with git between two looks at the clock.
const COMPARED_AT_ONCE: usize = 512;
/// No further directory is looked into, and no further file compared, after this time.
pub const MAX_TIME: Duration = Duration::from_millis(400);

/// What happens to the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Deed {
    Deletes,
    /// Other content takes the place of theirs, all of it or a part.
    Overwrites,
    /// What was changed in them since the last commit goes.
    Discards,
}

impl Deed {
    pub const fn as_str(self) -> &'static str {
        match self {
            Deed::Deletes => "deletes",
            Deed::Overwrites => "overwrites",
            Deed::Discards => "discards",
        }
    }
}

/// How far the numbers of a loss hold, all of them alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    Exact,
    /// There was more than is counted.
    AtLeast,
    /// Which of these files it are is not known.
    AtMost,
    /// Neither is known; the numbers mean nothing.
    Unknown,
}

impl From<Extent> for Bound {
    fn from(extent: Extent) -> Self {
        match extent {
            Extent::All => Bound::Exact,
            Extent::AtLeast => Bound::AtLeast,
            Extent::AtMost => Bound::AtMost,
            Extent::Unknown => Bound::Unknown,
        }
    }
}

impl Bound {
    pub const fn as_str(self) -> &'static str {
        match self {
            Bound::Exact => "exact",
            Bound::AtLeast => "at_least",
            Bound::AtMost => "at_most",
            Bound::Unknown => "unknown",
        }
    }

    fn and(self, other: Bound) -> Bound {
        match (self, other) {
            (Bound::Exact, bound) | (bound, Bound::Exact) => bound,
            (bound, same) if bound == same => bound,
            _ => Bound::Unknown,
        }
    }
}

/// Files that are deleted, overwritten, or put back to what was committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loss {
    pub deed: Deed,
    pub bound: Bound,
    pub files: u64,
    /// Of all these files together.
    pub bytes: u64,
    /// How many of them the last commit does not hold as they are: untracked, or changed since.
    pub unheld: u64,
    /// Of how many it is not known: they lie outside the project's repository, or it does not tell.
    pub unsure: u64,
    /// How many of the unheld and unsure ones no tool makes again, so that nothing known brings them back.
    pub gone: u64,
}

/// What a call would throw away, one loss for each deed; empty where that is nothing. No file is looked at after
/// `time`, normally [`MAX_TIME`].
pub fn of(assessment: &Assessment, facts: &Facts, time: Duration) -> Vec<Loss> {
    let mut count = Count {
        facts,
        until: Instant::now() + time,
        files: 0,
        tallies: BTreeMap::new(),
    };
    for step in &assessment.steps {
        count.step(step);
    }
    count.losses()
}

/// The files of one deed.
struct Tally {
    bound: Bound,
    /// Real paths, and how long each file is.
    files: BTreeMap<PathBuf, u64>,
    /// Git itself goes with them.
    with_repository: bool,
}

impl Default for Tally {
    fn default() -> Self {
        Tally {
            bound: Bound::Exact,
            files: BTreeMap::new(),
            with_repository: false,
        }
    }
}

struct Count<'a> {
    facts: &'a Facts,
    until: Instant,
    /// How many files were counted.
    files: usize,
    tallies: BTreeMap<Deed, Tally>,
}

impl Count<'_> {
    fn step(&mut self, step: &Step) {
        let (around, own) = step.effects.split_at(step.around.effects.min(step.effects.len()));
        around.iter().for_each(|effect| self.overwritten(effect));
        // It says neither what goes nor what stays.
        if !step.proven() {
            return;
        }
        match of_git(step) {
            Some(Discards::Named) => self.deletions(own, Bound::AtMost),
            Some(_) if !own.iter().any(is_lost) => {}
            Some(Discards::Untracked { extent, nested }) => self.untracked(own, extent.into(), nested),
            Some(Discards::Changes { extent, all }) => self.changed(own, extent.into(), all),
            None => {
                own.iter().for_each(|effect| self.overwritten(effect));
                // What is written elsewhere in the same step was moved or packed.
                if own.iter().all(|effect| effect.spec.action != Action::Write) {
                    self.deletions(own, chosen(step));
                }
            }
        }
    }

    fn deletions(&mut self, own: &[Effect], bound: Bound) {
        let deletes = own.iter().filter(|effect| effect.spec.action == Action::Delete);
        let named = deletes.filter(|effect| !effect.target.is_empty());
        named.for_each(|effect| self.deleted(effect, bound));
    }

    fn tally(&mut self, deed: Deed) -> &mut Tally {
        self.tallies.entry(deed).or_default()
    }

    fn limit(&mut self, deed: Deed, bound: Bound) {
        let tally = self.tally(deed);
        tally.bound = tally.bound.and(bound);
    }

    fn file(&mut self, deed: Deed, path: PathBuf) {
        if self.files >= MAX_FILES {
            return self.limit(deed, Bound::AtLeast);
        }
        if let Ok(file) = fs::symlink_metadata(&path)
            && self.tally(deed).files.insert(path, file.len()).is_none()
        {
            self.files += 1;
        }
    }

    fn overwritten(&mut self, effect: &Effect) {
        // Of what is added at its end, or is a directory, nothing goes.
        if let Subject::Path { real, .. } = &effect.subject
            && effect.spec.action == Action::Write
            && effect.spec.undo > Undo::Nothing
            && !effect.target.is_empty()
            && self.facts.kind(real) == Kind::File
        {
            self.file(Deed::Overwrites, real.clone());
        }
    }

    fn deleted(&mut self, effect: &Effect, bound: Bound) {
        let Subject::Path { real, .. } = &effect.subject else {
            return;
        };
        if !self.facts.exists(real) {
            return;
        }
        self.limit(Deed::Deletes, bound);
        if self.facts.is_link(real) || self.facts.kind(real) != Kind::Directory {
            return self.file(Deed::Deletes, real.clone());
        }
        let holds_repository = self
            .facts
            .project
            .iter()
            .any(|root| root.join(".git").starts_with(real));
        self.tally(Deed::Deletes).with_repository |= holds_repository;
        for path in self.below(Deed::Deletes, real, &|_| false) {
            self.file(Deed::Deletes, path);
        }
    }

    /// The files below a directory; `skip` says which directories are left out.
    fn below(&mut self, deed: Deed, directory: &Path, skip: &dyn Fn(&Path) -> bool) -> Vec<PathBuf> {
        if self.files >= MAX_FILES || Instant::now() >= self.until {
            self.limit(deed, Bound::AtLeast);
            return Vec::new();
        }
        let tree = self.facts.tree(directory, skip);
        if tree.cut {
            self.limit(deed, Bound::AtLeast);
        }
        tree.files.into_iter().chain(tree.links).collect()
    }

    /// `git clean`: what is not tracked below the paths it is given, or below the directory that it runs in.
    fn untracked(&mut self, own: &[Effect], bound: Bound, nested: bool) {
        let deed = Deed::Deletes;
        let deletes = own.iter().filter(|effect| effect.spec.action == Action::Delete);
        let (of_git, named): (Vec<&Effect>, Vec<&Effect>) = deletes.partition(|effect| effect.target.is_empty());
        let roots: Vec<PathBuf> = match named.as_slice() {
            [] => of_git
                .into_iter()
                .filter_map(|e| Some(self.facts.real(e.subject.paths()?[0])))
                .collect(),
            named => named
                .iter()
                .filter_map(|e| Some(e.subject.paths()?[1].to_path_buf()))
                .collect(),
        };
        self.limit(deed, if roots.is_empty() { Bound::Unknown } else { bound });
        for root in roots {
            let skip = |dir: &Path| dir.ends_with(".git") || !nested && dir.join(".git").exists();
            let files = match self.facts.kind(&root) {
                Kind::Directory => self.below(deed, &root, &skip),
                Kind::File | Kind::Missing | Kind::Other => vec![root],
            };
            for (file, state) in files.iter().zip(self.states(&files)) {
                match state {
                    Some(Tracked::Untracked) => self.file(deed, file.clone()),
                    Some(Tracked::Unknown) => self.limit(deed, Bound::Unknown),
                    None => self.limit(deed, Bound::AtLeast),
                    Some(Tracked::Unchanged | Tracked::Changed | Tracked::Staged) => {}
                }
            }
        }
    }

    /// `git reset --hard`, `git checkout -- PATH`: what was changed in tracked files.
    fn changed(&mut self, own: &[Effect], bound: Bound, all: bool) {
        let deed = Deed::Discards;
        let written = own.iter().filter(|effect| effect.spec.action == Action::Write);
        let roots: Vec<&Path> = written
            .filter(|effect| effect.target.is_empty() == all)
            .filter_map(|effect| Some(effect.subject.paths()?[1]))
            .collect();
        let tracked = roots.first().and_then(|root| self.facts.listed(root));
        let Some(tracked) = tracked else {
            return self.limit(deed, Bound::Unknown);
        };
        self.limit(deed, bound);
        let mut files: Vec<PathBuf> = tracked
            .into_iter()
            .filter(|file| roots.iter().any(|root| file.starts_with(root)))
            .collect();
        if files.len() > 2 * MAX_FILES {
            files.truncate(2 * MAX_FILES);
            self.limit(deed, Bound::AtLeast);
        }
        for (file, state) in files.iter().zip(self.states(&files)) {
            match state {
                Some(Tracked::Changed) => self.file(deed, file.clone()),
                Some(Tracked::Staged) => {
                    self.file(deed, file.clone());
                    // What is staged stays where only the working tree is put back.
                    if !all {
                        self.limit(deed, Bound::AtMost);
                    }
                }
                Some(Tracked::Unknown) => self.limit(deed, Bound::Unknown),
                None => self.limit(deed, Bound::AtLeast),
                Some(Tracked::Unchanged | Tracked::Untracked) => {}
            }
        }
    }

    /// What git holds of each file; `None` for those that there was no time for.
    fn states(&mut self, files: &[PathBuf]) -> Vec<Option<Tracked>> {
        let mut states = vec![None; files.len()];
        let mut by_root: BTreeMap<Option<&Path>, Vec<usize>> = BTreeMap::new();
        for (number, file) in files.iter().enumerate() {
            by_root.entry(self.facts.root_of(file)).or_default().push(number);
        }
        for (root, numbers) in by_root {
            for some in numbers.chunks(COMPARED_AT_ONCE) {
                if Instant::now() >= self.until {
                    return states;
                }
                let paths: Vec<PathBuf> = some.iter().map(|number| files[*number].clone()).collect();
                let found = match root {
                    Some(_) => self.facts.tracked(&paths),
                    None => vec![Tracked::Unknown; paths.len()],
                };
                for (number, state) in some.iter().zip(found) {
                    states[*number] = Some(state);
                }
            }
        }
        states
    }

    fn losses(mut self) -> Vec<Loss> {
        let tallies = std::mem::take(&mut self.tallies);
        let losses = tallies.into_iter().map(|(deed, tally)| self.loss(deed, &tally));
        losses
            .filter(|loss| loss.files > 0 || loss.bound == Bound::Unknown)
            .collect()
    }

    fn loss(&mut self, deed: Deed, tally: &Tally) -> Loss {
        let paths: Vec<PathBuf> = tally.files.keys().cloned().collect();
        let mut loss = Loss {
            deed,
            bound: match tally.bound {
                // Some that none was found of, or none that is left.
                Bound::AtLeast if paths.is_empty() => Bound::Unknown,
                bound => bound,
            },
            files: paths.len() as u64,
            bytes: tally.files.values().sum(),
            unheld: 0,
            unsure: 0,
            gone: 0,
        };
        for (path, state) in paths.iter().zip(self.states(&paths)) {
            match state {
                _ if tally.with_repository => loss.unheld += 1,
                Some(Tracked::Unchanged) => continue,
                Some(Tracked::Untracked | Tracked::Changed | Tracked::Staged) => loss.unheld += 1,
                Some(Tracked::Unknown) | None => loss.unsure += 1,
            }
            let is_made_again = place::of(path, self.facts, Purpose::Change) == Place::Cache;
            loss.gone += u64::from(!is_made_again);
        }
        loss
    }
}

fn is_lost(effect: &Effect) -> bool {
    matches!(effect.spec.action, Action::Write | Action::Delete) && effect.spec.undo >= Undo::Lost
}

/// Whether the step deletes all that it names, or chooses among that.
fn chosen(step: &Step) -> Bound {
    let is_plain = |word: &Option<String>| word.as_deref().is_some_and(|text| text != "-delete");
    if step.words.iter().all(is_plain) {
        Bound::Exact
    } else {
        Bound::AtMost
    }
}

/// What a git command throws away by itself; `None` for other programs.
fn of_git(step: &Step) -> Option<Discards> {
    let is_git = Path::new(&step.program).file_name().is_some_and(|name| name == "git");
    let words = step.words.iter().map(|word| word.clone().map(Value::Literal));
    let words: Option<Vec<Value>> = words.collect();
    let mut args: Vec<Arg> = words
        .filter(|_| is_git)?
        .into_iter()
        .map(|value| Arg {
            value,
            span: Span::default(),
        })
        .collect();
    args.first_mut()?.value = Value::Literal("git".into());
    discards(&args)
}

impl fmt::Display for Loss {
    /// "deletes 214 files (3.1 MB), 12 of them not in git".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (verb, many) = match self.deed {
            Deed::Deletes => ("deletes", "files"),
            Deed::Overwrites => ("overwrites or changes", "files"),
            Deed::Discards => ("discards the uncommitted changes of", "files"),
        };
        let about = match self.bound {
            Bound::Exact => "",
            Bound::AtLeast => "at least ",
            Bound::AtMost => "at most ",
            Bound::Unknown => return write!(f, "{verb} {many}, and how many is not known"),
        };
        let noun = if self.files == 1 { "file" } else { many };
        write!(f, "{verb} {about}{} {noun}", grouped(self.files))?;
        write!(f, " ({about}{})", size(self.bytes))?;
        if self.deed == Deed::Discards {
            return Ok(());
        }
        let part = |count: u64| match (self.files, count) {
            (1, _) => "".to_owned(),
            (all, some) if all == some && self.bound == Bound::Exact => "none of them ".to_owned(),
            (_, some) => format!("{about}{} of them ", grouped(some)),
        };
        let not = |count: u64| match count == self.files && self.files > 1 && self.bound == Bound::Exact {
            true => "",
            false => "not ",
        };
        match (self.unheld, self.unsure) {
            (0, 0) if self.bound == Bound::AtLeast => {}
            (0, 0) if self.files == 1 => write!(f, ", which git holds")?,
            (0, 0) => write!(f, ", all of which git holds")?,
            (0, _) => {}
            (unheld, _) => write!(f, ", {}{}in git", part(unheld), not(unheld))?,
        }
        if self.unsure > 0 {
            write!(f, ", {}{}known to be in git", part(self.unsure), not(self.unsure))?;
        }
        let made_again = self.unheld + self.unsure - self.gone;
        if made_again > 0 {
            write!(f, " ({} made again by tools)", grouped(made_again))?;
        }
        Ok(())
    }
}

/// With a comma between thousands.
fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// In steps of a thousand, as disks are sold: "3.1 MB". Never more than there is.
fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    let mut tenths = bytes.saturating_mul(10);
    let mut unit = "B";
    for next in UNITS {
        if tenths < 10_000 {
            break;
        }
        tenths /= 1000;
        unit = next;
    }
    match (unit, tenths % 10) {
        ("B", _) | (_, 0) => format!("{} {unit}", tenths / 10),
        (_, tenth) => format!("{}.{tenth} {unit}", tenths / 10),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_counts_are_written_for_a_person() {
        let sizes = [0, 999, 1000, 1099, 1100, 999_999, 3_149_999, 5_000_000_000];
        let written = ["0 B", "999 B", "1 kB", "1 kB", "1.1 kB", "999.9 kB", "3.1 MB", "5 GB"];
        assert_eq!(sizes.map(size), written);
        assert_eq!(
            [0, 12, 999, 4096, 1_234_567].map(grouped),
            ["0", "12", "999", "4,096", "1,234,567"]
        );
    }

    #[test]
    fn a_least_and_a_most_together_say_nothing() {
        for bound in [Bound::Exact, Bound::AtLeast, Bound::AtMost, Bound::Unknown] {
            assert_eq!(bound.and(Bound::Exact), bound);
            assert_eq!(bound.and(bound), bound);
            assert_eq!(bound.and(Bound::Unknown), Bound::Unknown);
        }
        assert_eq!(Bound::AtLeast.and(Bound::AtMost), Bound::Unknown);
    }
}
