//! The date of a run, for files that name it.

use std::time::{SystemTime, UNIX_EPOCH};

use ns_base::convert::u64_to_i64;

/// Seconds since 1970 of `now`, of a day `2023-04-28`, or of a moment `2023-04-28T00:54:04` in UTC. Fails when the text is none of
/// these, or the calendar has no such moment.
pub(super) fn seconds(text: &str) -> Result<i64, String> {
    if text == "now" {
        return Ok(SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| u64_to_i64(d.as_secs())));
    }
    let problem = || "write now, a day as 2023-04-28, or a moment as 2023-04-28T00:54:04, from 2000 to 9999".to_owned();
    let (day, time) = text.trim_end_matches('Z').split_once(['T', ' ']).unwrap_or((text, "00:00:00"));
    let [year, month, day] = numbers(day, '-').ok_or_else(problem)?;
    let [hour, minute, second] = numbers(time, ':').ok_or_else(problem)?;
    let exists = (2000..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=days_of(year, month)).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !exists {
        return Err(problem());
    }
    let years = (1970..year).map(|y| if is_leap(y) { 366 } else { 365 }).sum::<i64>();
    let months = (1..month).map(|m| days_of(year, m)).sum::<i64>();
    Ok(((years + months + day - 1) * 24 + hour) * 3_600 + minute * 60 + second)
}

/// Three numbers without a sign.
fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let parts: Vec<&str> = text.split(separator).collect();
    let [a, b, c] = parts[..] else { return None };
    let number = |part: &str| part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten();
    Some([number(a)?, number(b)?, number(c)?])
}

const fn is_leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

const fn days_of(year: i64, month: i64) -> i64 {
    match month {
        2 if is_leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_is_a_moment_in_utc() {
        assert_eq!(seconds("2024-01-01"), Ok(1_704_067_200));
        assert_eq!(seconds("2023-04-28T00:54:04"), Ok(1_682_643_244));
        assert_eq!(seconds("2000-02-29 00:00:01Z"), Ok(951_782_401));
        assert!(seconds("now").unwrap() > 1_704_067_200);
        for wrong in ["2023-02-29", "2023-13-01", "2023-04-28T24:00:00", "1999-01-01", "+2023-1-1", "28.4.2023", ""] {
            assert!(seconds(wrong).unwrap_err().contains("write now"), "{wrong}");
        }
    }
}
