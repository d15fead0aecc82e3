//! Rate limits: how often policy lets calls of a tool through by itself, counted in token buckets on disk.
//!
//! A bucket holds at most as many tokens as its limit names, and gets one back after each equal part of the time. Of each
//! bucket one point in time is kept: when it will be full again. So taking a token moves that point by one part, giving
//! it back moves it back, and nothing has to be filled up while nobody looks.
//!
//! All buckets are lines of the file `limits` in the state directory. Who changes it holds the lock of `limits.lock`,
//! which the kernel drops when its holder ends, however it ends, and puts a whole new file in the old one's place. What
//! cannot be read or written lets nothing through.

use std::fmt::{self, Write as _};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::pattern;
use super::rules::{Origin, Owner};
use crate::audit::chain::sha256;
use crate::audit::time;
use crate::own_files::{has_lock, is_absent, open, open_private, private_dir};

/// The most calls that a limit may name.
pub const MAX_COUNT: u32 = 100_000;

const FILE: &str = "limits";
const LOCK: &str = "limits.lock";
const DRAFT: &str = "limits.new";

/// How the file begins, so that an empty one is none.
const HEADER: &str = "countersign limits 1\n";

/// The longest file that is read, in bytes.
const MAX_BYTES: u64 = 1024 * 1024;

/// How long the lock is waited for; then nothing is let through.
const WAIT: Duration = Duration::from_secs(5);

/// One line of `[limits]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limit {
    pub origin: Origin,
    pub owner: Owner,
    /// A pattern for the tool's name.
    pub tool: String,
    pub rate: Rate,
}

/// So many calls in a unit of time, all at once or spread over it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rate {
    pub count: u32,
    pub unit: Unit,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Second,
    Minute,
    Hour,
    Day,
}

impl Unit {
    pub const ALL: [Unit; 4] = [Unit::Second, Unit::Minute, Unit::Hour, Unit::Day];

    pub const fn as_str(self) -> &'static str {
        match self {
            Unit::Second => "second",
            Unit::Minute => "minute",
            Unit::Hour => "hour",
            Unit::Day => "day",
        }
    }

    const fn nanos(self) -> u64 {
        let seconds = match self {
            Unit::Second => 1,
            Unit::Minute => 60,
            Unit::Hour => 3600,
            Unit::Day => 86_400,
        };
        seconds * 1_000_000_000
    }
}

impl Rate {
    /// `60/hour`. `None`: it is not of this form, or not from 1 to [`MAX_COUNT`] calls.
    pub fn parse(text: &str) -> Option<Self> {
        let (count, unit) = text.split_once('/')?;
        let unit = Unit::ALL.into_iter().find(|known| known.as_str() == unit.trim())?;
        let count = count
            .trim()
            .parse()
            .ok()
            .filter(|count| (1..=MAX_COUNT).contains(count))?;
        Some(Rate { count, unit })
    }

    /// What one token takes to come back, in nanoseconds.
    const fn part(self) -> u64 {
        self.unit.nanos().div_ceil(self.count as u64)
    }

    /// What an empty bucket takes to fill up, in nanoseconds.
    const fn whole(self) -> u64 {
        self.part() * self.count as u64
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.count, self.unit.as_str())
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = \"{}\"", self.tool, self.rate)
    }
}

impl Limit {
    pub fn is_for(&self, tool: &str) -> bool {
        pattern::text(&self.tool, tool)
    }

    /// What its bucket is called. A project's is its own; the person's are for all projects together.
    fn bucket(&self) -> String {
        match self.owner {
            Owner::Person => self.tool.clone(),
            Owner::Project => {
                let file = self.origin.file.to_string_lossy();
                format!("{} {}", self.tool, sha256(&[file.as_bytes()]))
            }
        }
    }
}

/// Why no token was to be had.
#[derive(Debug)]
pub enum Refusal {
    /// This limit is used up until then.
    Empty { limit: Limit, until: SystemTime },
    /// The buckets cannot be read or written.
    Uncounted(io::Error),
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Empty { limit, until } => write!(
                f,
                "the limit {limit} ({}) is used up; the next call is let through from {} on",
                limit.origin,
                time::to_second(*until + Duration::from_secs(1))
            ),
            Refusal::Uncounted(error) => write!(f, "calls cannot be counted, so none is let through: {error}"),
        }
    }
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Refusal::Uncounted(error)
    }
}

/// One token of each limit on a call. Dropped it stays spent.
#[derive(Debug)]
pub struct Token {
    dir: PathBuf,
    /// The buckets, and the nanoseconds that one token of each stands for.
    taken: Vec<(String, u64)>,
}

impl Token {
    /// Puts the tokens back, for a call that did not run: a person has denied it, or it was not let through after all.
    ///
    /// # Errors
    /// Those of the files; the tokens then stay spent until they come back by themselves.
    pub fn give_back(self) -> io::Result<()> {
        let mut buckets = Buckets::locked(&self.dir)?;
        for (bucket, part) in &self.taken {
            if let Some((_, full)) = buckets.full_at.iter_mut().find(|(name, _)| name == bucket) {
                *full = full.saturating_sub(*part);
            }
        }
        buckets.store(&self.dir)
    }
}

/// Takes a token of each limit, or none at all. `dir` is the state directory, which is created if need be.
///
/// # Errors
/// [`Refusal`]: one of the limits is used up, or the buckets cannot be read, locked within some seconds, or written.
pub fn take(dir: &Path, limits: &[&Limit], now: SystemTime) -> Result<Token, Refusal> {
    let mut buckets = Buckets::locked(dir)?;
    let now = nanos(now);
    buckets.spare(limits, now)?;
    let mut taken = Vec::new();
    for limit in limits {
        let (bucket, part) = (limit.bucket(), limit.rate.part());
        let full = buckets.full(limit, now) + part;
        buckets.set(&bucket, full);
        taken.push((bucket, part));
    }
    buckets.full_at.retain(|(_, full)| *full > now);
    buckets.store(dir)?;
    Ok(Token {
        dir: dir.to_owned(),
        taken,
    })
}

/// How many tokens each limit has left.
///
/// # Errors
/// The buckets cannot be read.
pub fn left(dir: &Path, limits: &[&Limit], now: SystemTime) -> io::Result<Vec<u64>> {
    let (buckets, now) = (Buckets::read(dir)?, nanos(now));
    let left = |limit: &&Limit| (now + limit.rate.whole() - buckets.full(limit, now)) / limit.rate.part();
    Ok(limits.iter().map(left).collect())
}

/// Whether [`take`] would give a token just now; nothing is taken.
///
/// # Errors
/// As [`take`].
pub fn look(dir: &Path, limits: &[&Limit], now: SystemTime) -> Result<(), Refusal> {
    Buckets::read(dir)?.spare(limits, nanos(now))
}

/// Since 1970; in the year 2554 it stands still.
fn nanos(time: SystemTime) -> u64 {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_nanos()).unwrap_or(u64::MAX / 2)
}

/// The buckets that are not full.
struct Buckets {
    /// The name of each, and when it is full again, in nanoseconds since 1970. They are few.
    full_at: Vec<(String, u64)>,
    /// Holds the lock.
    _lock: Option<fs::File>,
}

impl Buckets {
    fn locked(dir: &Path) -> io::Result<Self> {
        private_dir(dir)?;
        let path = dir.join(LOCK);
        let (lock, _) = open_private(&path, OpenOptions::new().write(true).create(true))?;
        if !has_lock(&lock, WAIT)? {
            let what = format!("{} is locked by another process for too long", path.display());
            return Err(io::Error::new(io::ErrorKind::TimedOut, what));
        }
        Ok(Buckets {
            _lock: Some(lock),
            ..Buckets::read(dir)?
        })
    }

    /// No file: all are full.
    fn read(dir: &Path) -> io::Result<Self> {
        let path = dir.join(FILE);
        let mut text = String::new();
        let full_at = match open(&path, &mut OpenOptions::new()) {
            Ok(file) => {
                file.take(MAX_BYTES).read_to_string(&mut text)?;
                buckets_in(&text).ok_or_else(|| {
                    let what = format!(
                        "{} is not as Countersign wrote it; remove it to begin anew",
                        path.display()
                    );
                    io::Error::new(io::ErrorKind::InvalidData, what)
                })?
            }
            Err(error) if is_absent(&error) => Vec::new(),
            Err(error) => return Err(error),
        };
        Ok(Buckets { full_at, _lock: None })
    }

    /// When the limit's bucket is full, at the latest after it was empty: clocks are set back, and limits are changed.
    fn full(&self, limit: &Limit, now: u64) -> u64 {
        let bucket = limit.bucket();
        let known = self.full_at.iter().find(|(name, _)| *name == bucket);
        known
            .map_or(now, |(_, full)| *full)
            .clamp(now, now + limit.rate.whole())
    }

    fn set(&mut self, bucket: &str, full: u64) {
        self.full_at.retain(|(name, _)| name != bucket);
        self.full_at.push((bucket.to_owned(), full));
    }

    /// Each limit has a token left; else the one that is used up for the longest time is told.
    fn spare(&self, limits: &[&Limit], now: u64) -> Result<(), Refusal> {
        let until = |limit: &&Limit| {
            let until = (self.full(limit, now) + limit.rate.part()).saturating_sub(limit.rate.whole());
            (until > now).then_some(until)
        };
        let empty = limits.iter().filter_map(|limit| Some((until(limit)?, *limit)));
        match empty.max_by_key(|(until, _)| *until) {
            None => Ok(()),
            Some((until, limit)) => Err(Refusal::Empty {
                limit: limit.clone(),
                until: UNIX_EPOCH + Duration::from_nanos(until),
            }),
        }
    }

    fn store(&self, dir: &Path) -> io::Result<()> {
        let mut text = HEADER.to_owned();
        for (bucket, full) in &self.full_at {
            let _ = writeln!(text, "{full} {bucket}");
        }
        let draft = dir.join(DRAFT);
        let (mut file, _) = open_private(&draft, OpenOptions::new().write(true).create(true).truncate(true))?;
        file.write_all(text.as_bytes())?;
        fs::rename(&draft, dir.join(FILE))
    }
}

/// `None`: it is not what [`Buckets::store`] writes.
fn buckets_in(text: &str) -> Option<Vec<(String, u64)>> {
    let lines = text.strip_prefix(HEADER)?;
    if !lines.is_empty() && !lines.ends_with('\n') {
        return None;
    }
    let bucket = |line: &str| {
        let (full, bucket) = line.split_once(' ')?;
        Some((bucket.to_owned(), full.parse().ok()?))
    };
    lines.lines().map(bucket).collect()
}

#[cfg(test)]
mod tests;
