//! Switched off for a while: one small file in the state directory.
//!
//! `off` writes it, `on` removes it, the hook reads it first of all. While it holds, every call gets no opinion, which
//! loosens nothing: the host asks as if Countersign were not there.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::own_files;

/// The longest pause with an end.
pub const MAX: Duration = Duration::from_secs(366 * DAY);

const DAY: u64 = 24 * 60 * 60;
const NO_END: &str = "until on";

/// Whether Countersign answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// It answers.
    On,
    /// It gives no opinion; `None`: until `on`.
    Off { until: Option<SystemTime> },
    /// It gives no opinion, since the file that would say is there and says nothing. Why, for a person.
    Unreadable(String),
}

/// Where the file is, or would be. `None` where no home is known.
pub fn file() -> Option<PathBuf> {
    Some(own_files::state_dir()?.join("off"))
}

/// What holds at `now`, by the file at `path`. A pause that has ended counts as on.
pub fn read(path: &Path, now: SystemTime) -> Pause {
    let mut text = String::new();
    match File::open(path) {
        Ok(file) => match file.take(64).read_to_string(&mut text) {
            Ok(_) => understand(path, text.trim(), now),
            Err(error) => Pause::Unreadable(format!("{} cannot be read: {error}", path.display())),
        },
        Err(error) if own_files::is_absent(&error) => Pause::On,
        Err(error) => Pause::Unreadable(format!("{} cannot be opened: {error}", path.display())),
    }
}

fn understand(path: &Path, text: &str, now: SystemTime) -> Pause {
    if text == NO_END {
        return Pause::Off { until: None };
    }
    match text
        .parse()
        .ok()
        .and_then(|seconds| UNIX_EPOCH.checked_add(Duration::from_secs(seconds)))
    {
        Some(until) if until <= now => Pause::On,
        Some(until) => Pause::Off { until: Some(until) },
        None => Pause::Unreadable(format!("{} holds no time; `countersign on` removes it", path.display())),
    }
}

/// Writes the file at `path`; no call sees half of it.
///
/// # Errors
/// Those of the file system, and a directory that others may write to.
pub fn start(path: &Path, until: Option<SystemTime>) -> io::Result<()> {
    if let Some(dir) = path.parent() {
        own_files::private_dir(dir)?;
    }
    let seconds = until
        .and_then(|until| until.duration_since(UNIX_EPOCH).ok())
        .map(|since| since.as_secs());
    let text = seconds.map_or(NO_END.to_owned(), |seconds| seconds.to_string());
    let draft = path.with_extension("new");
    File::create(&draft)?.write_all(format!("{text}\n").as_bytes())?;
    fs::rename(&draft, path)
}

/// Removes the file at `path`, if it is there.
///
/// # Errors
/// Those of the file system.
pub fn end(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if !own_files::is_absent(&error) => Err(error),
        _ => Ok(()),
    }
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

    fn holding(text: &str) -> Pause {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("off");
        fs::write(&path, text).expect("a file");
        read(&path, at(1000))
    }

    #[test]
    fn without_a_file_it_is_on() {
        let dir = tempfile::tempdir().expect("a directory");
        assert_eq!(read(&dir.path().join("off"), at(1000)), Pause::On);
    }

    #[test]
    fn what_start_writes_is_read_back_until_it_has_ended() {
        let dir = tempfile::tempdir().expect("a directory");
        let path = dir.path().join("state/off");
        start(&path, Some(at(2000))).expect("off");
        assert_eq!(read(&path, at(1999)), Pause::Off { until: Some(at(2000)) });
        assert_eq!(read(&path, at(2000)), Pause::On);
        start(&path, None).expect("off");
        assert_eq!(read(&path, at(u64::from(u32::MAX))), Pause::Off { until: None });
        end(&path).expect("on");
        assert_eq!(read(&path, at(1000)), Pause::On);
        end(&path).expect("on twice");
    }

    #[test]
    fn a_file_that_says_nothing_counts_as_off() {
        for text in ["", "soon", "-5", "99999999999999999999999", "2000 x"] {
            assert!(matches!(holding(text), Pause::Unreadable(_)), "{text}");
        }
        let dir = tempfile::tempdir().expect("a directory");
        assert!(
            matches!(read(dir.path(), at(1000)), Pause::Unreadable(_)),
            "a directory"
        );
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
