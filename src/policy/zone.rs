//! Time zones by their IANA name, from the system's own database.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use tz::TimeZone;

/// Where systems keep the database. `TZDIR` does not count: a session's environment is not the person's word.
const DATABASES: &[&str] = &[
    "/usr/share/zoneinfo",
    "/etc/zoneinfo",
    "/usr/share/lib/zoneinfo",
    "/var/db/timezone/zoneinfo",
];

/// The longest file of a zone that is read, in bytes.
const MAX_BYTES: u64 = 256 * 1024;

/// Minutes of a day.
pub const DAY: u16 = 24 * 60;

/// A time zone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone {
    pub name: String,
    zone: TimeZone,
}

impl Zone {
    /// # Errors
    /// Why there is no such zone here, for a person.
    pub fn named(name: &str) -> Result<Self, String> {
        let found = |zone| Zone {
            name: name.to_owned(),
            zone,
        };
        if name == "UTC" {
            return Ok(found(TimeZone::utc()));
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || "/_+-".contains(c);
        let mut databases = DATABASES
            .iter()
            .filter(|_| !name.starts_with('/') && name.chars().all(plain));
        let bytes = databases.find_map(|database| bytes_of(&Path::new(database).join(name)));
        let zone = bytes.and_then(|bytes| TimeZone::from_tz_data(&bytes).ok());
        zone.map(found).ok_or_else(|| {
            format!(
                "this machine knows no time zone `{name}`; write its IANA name, such as \"Europe/Berlin\" or \"UTC\""
            )
        })
    }

    /// The day of the week, from 0 for Monday, and the minute of the day that clocks show there. Clocks that are set back
    /// show an hour twice; an hour that is left out they never show. `None` where the database does not say.
    pub fn local(&self, now: SystemTime) -> Option<(u8, u16)> {
        const MONDAY: i64 = 4 * 24 * 60;
        let seconds = match now.duration_since(UNIX_EPOCH) {
            Ok(since) => i64::try_from(since.as_secs()).ok()?,
            Err(before) => -i64::try_from(before.duration().as_secs()).ok()?,
        };
        let offset = self.zone.find_local_time_type(seconds).ok()?.ut_offset();
        let minute = (seconds + i64::from(offset)).div_euclid(60);
        let day = (minute - MONDAY).div_euclid(i64::from(DAY)).rem_euclid(7);
        Some((day as u8, minute.rem_euclid(i64::from(DAY)) as u16))
    }
}

fn bytes_of(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn local(zone: &str, seconds: u64) -> (u8, u16) {
        let zone = Zone::named(zone).expect("a zone");
        zone.local(UNIX_EPOCH + Duration::from_secs(seconds)).expect("a time")
    }

    #[test]
    fn a_zone_tells_the_day_and_minute_that_its_clocks_show() {
        for (zone, seconds, shown) in [
            ("UTC", 0, (3, 0)),
            ("UTC", 345_600, (0, 0)),
            ("UTC", 345_599, (6, 1439)),
            ("America/New_York", 0, (2, 19 * 60)),
            ("Asia/Kolkata", 0, (3, 5 * 60 + 30)),
        ] {
            assert_eq!(local(zone, seconds), shown, "{zone} {seconds}");
        }
    }

    #[test]
    fn clocks_are_set_forward_and_back() {
        // In Berlin on 2026-03-29 two o'clock is three; on 2026-10-25 three o'clock is two again.
        let (spring, autumn) = (1_774_746_000, 1_792_890_000);
        assert_eq!(local("Europe/Berlin", spring - 60), (6, 2 * 60 - 1));
        assert_eq!(local("Europe/Berlin", spring), (6, 3 * 60));
        assert_eq!(local("Europe/Berlin", autumn - 60), (6, 3 * 60 - 1));
        assert_eq!(local("Europe/Berlin", autumn), (6, 2 * 60));
        // Beyond the transitions that the file lists its rule goes on: 2099-07-01.
        assert_eq!(local("Europe/Berlin", 4_086_547_200), (2, 2 * 60));
    }

    #[test]
    fn what_is_no_name_of_a_zone_is_refused() {
        for name in [
            "",
            "Europe",
            "Europe/Bonn",
            "../../../etc/hostname",
            "/usr/share/zoneinfo/UTC",
            "tzdata.zi",
            "CET?",
        ] {
            assert!(
                Zone::named(name).is_err_and(|why| why.contains("knows no time zone")),
                "{name}"
            );
        }
    }
}
