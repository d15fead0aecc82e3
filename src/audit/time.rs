//! Points in time as the record writes them: UTC, RFC 3339, always to the millisecond, so that their order as texts is
//! their order in time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// `2026-11-30T02:03:04.005Z`. A time before 1970 is taken as its beginning.
pub fn written(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or(Duration::ZERO);
    let seconds = since.as_secs();
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{millis:03}Z")
}

/// The same without the milliseconds: `2026-11-30T02:03:04Z`.
pub fn to_second(time: SystemTime) -> String {
    let mut text = written(time);
    text.truncate(text.len() - ".005Z".len());
    text + "Z"
}

/// The date of a day counted from 1970-01-01, by Howard Hinnant's `civil_from_days`: years begin in March, so that the
/// leap day is the last.
fn date(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let march_month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * march_month + 2) / 5 + 1;
    let month = if march_month < 10 {
        march_month + 3
    } else {
        march_month - 9
    };
    (era * 400 + year_of_era + u64::from(month <= 2), month, day)
}

/// Reads the beginning of such a time, from the date on: `2026-11-30`, `2026-11-30T02:03`, `2026-11-30 02:03:04Z`. The
/// result sorts before every time of the record that it is the beginning of.
///
/// # Errors
/// One line for a person.
pub fn parse_start(text: &str) -> Result<String, String> {
    const SHAPE: &[u8] = b"0000-00-00T00:00:00.000";
    let start = text.strip_suffix(['Z', 'z']).unwrap_or(text).replacen(' ', "T", 1);
    let fits = |(byte, shape): (u8, &u8)| match shape {
        b'0' => byte.is_ascii_digit(),
        shape => byte == *shape,
    };
    let whole = [10, 16, 19, 23].contains(&start.len()) && start.bytes().zip(SHAPE).all(fits);
    let part = |from: usize| {
        start
            .get(from..from + 2)
            .map_or(0, |digits| digits.parse().unwrap_or(99))
    };
    if whole && (1..=12).contains(&part(5)) && (1..=31).contains(&part(8)) && part(11) < 24 && part(14) < 60 {
        return Ok(start);
    }
    Err(format!(
        "`{text}` is no time: write 2h, 3d, 2026-11-30 or 2026-11-30T14:05 (UTC)"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64, millis: u64) -> String {
        written(UNIX_EPOCH + Duration::from_secs(seconds) + Duration::from_millis(millis))
    }

    #[test]
    fn times_are_written_in_utc_to_the_millisecond() {
        for (seconds, text) in [
            (0, "1970-01-01T00:00:00.007Z"),
            (951_782_399, "2000-02-28T23:59:59.007Z"),
            (951_782_400, "2000-02-29T00:00:00.007Z"),
            (1_709_251_199, "2024-02-29T23:59:59.007Z"),
            (1_735_689_599, "2024-12-31T23:59:59.007Z"),
            (4_107_542_400, "2100-03-01T00:00:00.007Z"),
        ] {
            assert_eq!(at(seconds, 7), text);
        }
        assert_eq!(
            to_second(UNIX_EPOCH + Duration::from_millis(61_999)),
            "1970-01-01T00:01:01Z"
        );
    }

    #[test]
    fn a_day_after_another_is_the_next_in_the_calendar() {
        let lengths = |leap| [31, 28 + u64::from(leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
        let mut days = 0;
        for year in 1970..2500u64 {
            let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
            for (month, length) in lengths(leap).into_iter().enumerate() {
                for day in 1..=length {
                    assert_eq!(date(days), (year, month as u64 + 1, day));
                    days += 1;
                }
            }
        }
    }

    #[test]
    fn the_beginning_of_a_time_sorts_before_all_that_it_begins() {
        for text in [
            "2000-02-29",
            "2000-02-29T00:00",
            "2000-02-29 00:00:00Z",
            "2000-02-29T00:00:00.000Z",
        ] {
            let start = parse_start(text).expect(text);
            assert!(start <= at(951_782_400, 0) && start > at(951_782_399, 999), "{start}");
        }
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "",
            "2000",
            "2000-13-01",
            "2000-00-10",
            "2000-02-32",
            "2000-02-29T24:00",
            "2000-02-29T1",
            "x000-01-01",
            "é",
        ] {
            assert!(parse_start(text).is_err(), "{text}");
        }
    }
}
