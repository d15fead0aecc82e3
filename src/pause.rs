//! Switched off for a while, or frozen: two small files in one directory of the state directory.
//!
//! `off` writes the one, `on` removes it. While it holds, every call gets no opinion, which loosens nothing: the host asks
//! as if Countersign were not there. `freeze` writes the other, `thaw` removes it. While it is there, whatever it says,
//! every call is denied. The directory is there only while one of them is, so the hook asks one question, first of all.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::audit::time;
use crate::own_files;

/// The longest pause with an end.
pub const MAX: Duration = Duration::from_secs(366 * DAY);

/// The longest reason of a freeze, in bytes.
pub const MAX_REASON: usize = 500;

const DAY: u64 = 24 * 60 * 60;
const NO_END: &str = "until on";
const OFF: &str = "off";
const FROZEN: &str = "frozen";

/// Whether Countersign answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It answers.
    On,
    /// It gives no opinion; `None`: until `on`.
    Off { until: Option<SystemTime> },
    /// It gives no opinion, since the file that would say is there and says nothing. Why, for a person.
    Unreadable(String),
    /// It denies every call, whether or not it is switched off as well.
    Frozen(Freeze),
}

/// Why every call is denied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Freeze {
    /// Somebody ran `freeze`, with these words.
    Ordered { since: SystemTime, reason: Option<String> },
    /// What would say whether somebody did cannot be understood. Why, for a person.
    Unreadable(String),
}

impl fmt::Display for Freeze {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Freeze::Ordered { since, reason } => {
                write!(f, "frozen since {}", time::to_second(*since))?;
                reason.iter().try_for_each(|reason| write!(f, ": {reason}"))
            }
            Freeze::Unreadable(why) => write!(f, "frozen, as it seems: {why}"),
        }
    }
}

/// Where the files are, or would be. `None` where no home is known.
pub fn dir() -> Option<PathBuf> {
    Some(own_files::state_dir()?.join("switches"))
}

/// What holds now, by this person's own files. Without a home nothing can be switched.
pub fn now() -> Pause {
    dir().map_or(Pause::On, |dir| read(&dir, SystemTime::now()))
}

/// What holds at `now`, by the files in `dir`. A pause that has ended counts as on. A freeze needs no more than that its
/// file is there, or that it cannot be seen whether it is.
pub fn read(dir: &Path, now: SystemTime) -> Pause {
    let frozen = |why| Pause::Frozen(Freeze::Unreadable(why));
    match fs::symlink_metadata(dir) {
        Ok(metadata) if metadata.is_dir() => {}
        Ok(_) => return frozen(format!("{} is no directory; remove it", dir.display())),
        Err(error) if own_files::is_absent(&error) => return Pause::On,
        Err(error) => return frozen(format!("{} cannot be looked at: {error}", dir.display())),
    }
    match text_of(&dir.join(FROZEN)) {
        Ok(None) => {}
        Ok(Some(text)) => return Pause::Frozen(freeze_in(&dir.join(FROZEN), &text)),
        Err(why) => return frozen(why),
    }
    match text_of(&dir.join(OFF)) {
        Ok(None) => Pause::On,
        Ok(Some(text)) => off_in(&dir.join(OFF), text.trim(), now),
        Err(why) => Pause::Unreadable(why),
    }
}

/// The text of a file that is not long; `None` where there is none.
fn text_of(path: &Path) -> Result<Option<String>, String> {
    match fs::symlink_metadata(path) {
        Err(error) if own_files::is_absent(&error) => return Ok(None),
        _ => {}
    }
    let mut text = String::new();
    let file = File::open(path).map_err(|error| format!("{} cannot be opened: {error}", path.display()))?;
    match file.take(MAX_REASON as u64 + 64).read_to_string(&mut text) {
        Ok(_) => Ok(Some(text)),
        Err(error) => Err(format!("{} cannot be read: {error}", path.display())),
    }
}

fn time_in(text: &str) -> Option<SystemTime> {
    UNIX_EPOCH.checked_add(Duration::from_secs(text.parse().ok()?))
}

fn freeze_in(path: &Path, text: &str) -> Freeze {
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    let reason = Some(rest.trim()).filter(|rest| !rest.is_empty());
    match time_in(first) {
        Some(since) => Freeze::Ordered {
            since,
            reason: reason.map(str::to_owned),
        },
        None => Freeze::Unreadable(format!("{} holds no time", path.display())),
    }
}

fn off_in(path: &Path, text: &str, now: SystemTime) -> Pause {
    if text == NO_END {
        return Pause::Off { until: None };
    }
    match time_in(text) {
        Some(until) if until <= now => Pause::On,
        Some(until) => Pause::Off { until: Some(until) },
        None => Pause::Unreadable(format!("{} holds no time; `countersign on` removes it", path.display())),
    }
}

/// Switches off until then; no call sees half of it.
///
/// # Errors
/// Those of the file system, and a directory that others may write to.
pub fn start(dir: &Path, until: Option<SystemTime>) -> io::Result<()> {
    write(dir, OFF, &until.map_or(NO_END.to_owned(), seconds))
}

/// Ends what [`start`] began, if it holds.
///
/// # Errors
/// Those of the file system.
pub fn end(dir: &Path) -> io::Result<()> {
    remove(dir, OFF)
}

/// Freezes from now on; no call sees half of it. A reason longer than [`MAX_REASON`] is cut.
///
/// # Errors
/// Those of the file system, and a directory that others may write to.
pub fn freeze(dir: &Path, now: SystemTime, reason: Option<&str>) -> io::Result<()> {
    let reason = reason.unwrap_or_default();
    let end = (0..=MAX_REASON.min(reason.len()))
        .rev()
        .find(|&end| reason.is_char_boundary(end));
    write(
        dir,
        FROZEN,
        &format!("{}\n{}", seconds(now), &reason[..end.unwrap_or(0)]),
    )
}

/// Ends what [`freeze`] began, if it holds.
///
/// # Errors
/// Those of the file system.
pub fn thaw(dir: &Path) -> io::Result<()> {
    remove(dir, FROZEN)
}

fn seconds(time: SystemTime) -> String {
    time.duration_since(UNIX_EPOCH)
        .unwrap_or_default()
        .as_secs()
        .to_string()
}

/// Whoever removes the other file at the same time may remove the empty directory too; then it is made again.
fn write(dir: &Path, name: &str, text: &str) -> io::Result<()> {
    const TRIES: usize = 10;
    let draft = dir.join(format!("{name}.{}", process::id()));
    let write = || {
        dir.parent().map_or(Ok(()), own_files::private_dir)?;
        own_files::private_dir(dir)?;
        File::create(&draft)?.write_all(format!("{text}\n").as_bytes())?;
        fs::rename(&draft, dir.join(name))
    };
    let is_last = |result: &io::Result<()>| !matches!(result, Err(error) if own_files::is_absent(error));
    (1..TRIES).map(|_| write()).find(is_last).unwrap_or_else(write)
}

fn remove(dir: &Path, name: &str) -> io::Result<()> {
    match fs::remove_file(dir.join(name)) {
        Err(error) if !own_files::is_absent(&error) => return Err(error),
        _ => {}
    }
    // Where the other file is, the directory stays.
    let _ = fs::remove_dir(dir);
    Ok(())
}

/// Reads a length of time: whole numbers with `s`, `m`, `h` or `d`, joined as in `1h30m`.
///
/// # Errors
/// One line for a person: no such length, none at all, or longer than [`MAX`].
pub fn parse_length(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is no length of time: write 30m, 1h, 2d or 1h30m");
    let mut seconds = 0u64;
    let mut rest = text;
    while !rest.is_empty() {
        let digits = rest
            .find(|character: char| !character.is_ascii_digit())
            .ok_or_else(wrong)?;
        let count: u64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest.as_bytes()[digits] {
            b's' => 1,
            b'm' => 60,
            b'h' => 60 * 60,
            b'd' => DAY,
            _ => return Err(wrong()),
        };
        seconds = count
            .checked_mul(unit)
            .and_then(|part| seconds.checked_add(part))
            .ok_or_else(wrong)?;
        rest = &rest[digits + 1..];
    }
    match Duration::from_secs(seconds) {
        Duration::ZERO => Err(wrong()),
        length if length > MAX => Err(format!(
            "`{text}` is longer than 366 days: leave the length out for no end"
        )),
        length => Ok(length),
    }
}

/// A length of time in words: `1 d 2 h`, `59 min`, `5 s`; the two largest units, cut below.
#[derive(Clone, Copy, Debug)]
pub struct Length(pub Duration);

impl fmt::Display for Length {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let units = [
            (seconds / DAY, "d"),
            (seconds / 3600 % 24, "h"),
            (seconds / 60 % 60, "min"),
            (seconds % 60, "s"),
        ];
        let first = units
            .iter()
            .position(|(count, _)| *count > 0)
            .unwrap_or(units.len() - 1);
        let (count, unit) = units[first];
        write!(f, "{count} {unit}")?;
        match units.get(first + 1) {
            Some((count, unit)) if *count > 0 => write!(f, " {count} {unit}"),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        UNIX_EPOCH + Duration::from_secs(seconds)
    }

    /// Switches in a directory of their own, with these files.
    fn switches(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().expect("a directory");
        let dir = root.path().join("state/switches");
        fs::create_dir_all(&dir).expect("directories");
        for (name, text) in files {
            fs::write(dir.join(name), text).expect("a file");
        }
        (root, dir)
    }

    #[test]
    fn without_files_it_is_on() {
        let (_root, dir) = switches(&[]);
        assert_eq!(read(&dir, at(1000)), Pause::On);
        assert_eq!(read(&dir.join("none"), at(1000)), Pause::On);
        assert_eq!(read(&dir.join("none/none"), at(1000)), Pause::On);
    }

    #[test]
    fn what_start_writes_is_read_back_until_it_has_ended() {
        let (_root, dir) = switches(&[]);
        start(&dir, Some(at(2000))).expect("off");
        assert_eq!(read(&dir, at(1999)), Pause::Off { until: Some(at(2000)) });
        assert_eq!(read(&dir, at(2000)), Pause::On);
        start(&dir, None).expect("off");
        assert_eq!(read(&dir, at(u64::from(u32::MAX))), Pause::Off { until: None });
        end(&dir).expect("on");
        assert_eq!(read(&dir, at(1000)), Pause::On);
        assert!(!dir.exists(), "the directory is there only while it is needed");
        end(&dir).expect("on twice");
    }

    #[test]
    fn what_freeze_writes_is_read_back_until_thaw() {
        let (_root, dir) = switches(&[]);
        for (reason, read_as) in [
            (None, None),
            (Some("  a leak\nin CI "), Some("a leak\nin CI".to_owned())),
        ] {
            freeze(&dir, at(1000), reason).expect("frozen");
            let frozen = Pause::Frozen(Freeze::Ordered {
                since: at(1000),
                reason: read_as,
            });
            assert_eq!(read(&dir, at(5)), frozen, "whatever the clock says");
        }
        thaw(&dir).expect("thawed");
        assert_eq!(read(&dir, at(1000)), Pause::On);
        assert!(!dir.exists());
        thaw(&dir).expect("thawed twice");
        freeze(&dir, at(1000), Some(&"é".repeat(MAX_REASON))).expect("frozen");
        assert!(
            matches!(read(&dir, at(5)), Pause::Frozen(Freeze::Ordered { .. })),
            "a long reason"
        );
    }

    #[test]
    fn frozen_wins_over_off_and_each_ends_by_its_own_verb() {
        let (_root, dir) = switches(&[]);
        start(&dir, None).expect("off");
        freeze(&dir, at(1000), None).expect("frozen");
        assert!(matches!(read(&dir, at(1000)), Pause::Frozen(_)));
        end(&dir).expect("on");
        assert!(matches!(read(&dir, at(1000)), Pause::Frozen(_)));
        start(&dir, None).expect("off");
        assert!(matches!(read(&dir, at(1000)), Pause::Frozen(_)));
        thaw(&dir).expect("thawed");
        assert_eq!(read(&dir, at(1000)), Pause::Off { until: None });
    }

    #[test]
    fn a_file_that_says_nothing_counts_as_off_or_as_frozen() {
        for text in ["", "soon", "-5", "99999999999999999999999", "2000 x"] {
            let (_root, dir) = switches(&[("off", text)]);
            assert!(matches!(read(&dir, at(1000)), Pause::Unreadable(_)), "{text}");
            let (_root, dir) = switches(&[("frozen", text)]);
            assert!(
                matches!(read(&dir, at(1000)), Pause::Frozen(Freeze::Unreadable(_))),
                "{text}"
            );
        }
    }

    #[test]
    fn what_cannot_be_looked_at_counts_as_frozen() {
        let (_root, dir) = switches(&[("file", "")]);
        assert!(matches!(read(&dir.join("file"), at(1)), Pause::Frozen(_)), "a file");
        std::os::unix::fs::symlink(dir.join("nowhere"), dir.join("link")).expect("a link");
        assert!(matches!(read(&dir.join("link"), at(1)), Pause::Frozen(_)), "a link");
        std::os::unix::fs::symlink(dir.join("nowhere"), dir.join(FROZEN)).expect("a link");
        assert!(matches!(read(&dir, at(1)), Pause::Frozen(_)), "a link to nothing");
        fs::remove_file(dir.join(FROZEN)).expect("gone");
        fs::create_dir(dir.join(FROZEN)).expect("a directory");
        assert!(matches!(read(&dir, at(1)), Pause::Frozen(_)), "a directory");
        fs::remove_dir(dir.join(FROZEN)).expect("gone");
        fs::write(dir.join(FROZEN), [0xff, 0xfe]).expect("no text");
        assert!(matches!(read(&dir, at(1)), Pause::Frozen(_)), "no text");
    }

    #[test]
    fn nobody_who_switches_at_the_same_time_undoes_a_freeze() {
        let (_root, dir) = switches(&[]);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..200 {
                    start(&dir, None).expect("off");
                    end(&dir).expect("on");
                }
            });
            for round in 0..200 {
                freeze(&dir, at(round), None).expect("frozen");
                assert!(matches!(read(&dir, at(1)), Pause::Frozen(_)), "{round}");
                thaw(&dir).expect("thawed");
            }
        });
    }

    #[test]
    fn lengths_are_read_with_their_units() {
        for (text, seconds) in [
            ("45s", 45),
            ("30m", 1800),
            ("1h", 3600),
            ("2d", 2 * DAY),
            ("1h30m", 5400),
        ] {
            assert_eq!(parse_length(text), Ok(Duration::from_secs(seconds)), "{text}");
        }
        for text in [
            "",
            "0m",
            "5",
            "m",
            "1w",
            "1.5h",
            "-1h",
            "1h5",
            "99999999999999999d",
            "367d",
            "1é",
        ] {
            assert!(parse_length(text).is_err(), "{text}");
        }
    }

    #[test]
    fn lengths_are_shown_by_their_two_largest_units() {
        for (seconds, words) in [
            (0, "0 s"),
            (59, "59 s"),
            (60, "1 min"),
            (3599, "59 min 59 s"),
            (DAY + 7261, "1 d 2 h"),
            (DAY + 61, "1 d"),
        ] {
            assert_eq!(Length(Duration::from_secs(seconds)).to_string(), words);
        }
    }
}
