//! Dates of simulated runs: they count from a fixed moment, so that no report depends on when it was made.

use crate::base::SimTime;

/// Days of each month of the epoch's year, a leap year.
const MONTHS: [u64; 12] = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/// `YYYYMMDD-HHMMSS` of a moment after the epoch 2024-01-01 00:00:00, whole seconds rounded down.
///
/// Simulated time ends after 213 days, so the year never changes.
#[must_use]
pub fn simulated_dts(after_epoch: SimTime) -> String {
    const DAY: u64 = 86_400;
    let secs = after_epoch.0 / SimTime::from_secs(1).0;
    let (mut day, mut month) = (secs / DAY, 0);
    while day >= MONTHS[month] {
        day -= MONTHS[month];
        month += 1;
    }
    let (h, m, s) = (secs % DAY / 3_600, secs % 3_600 / 60, secs % 60);
    format!("2024{:02}{:02}-{h:02}{m:02}{s:02}", month + 1, day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_count_from_the_epoch() {
        let at = |secs| simulated_dts(SimTime::from_secs(secs));
        assert_eq!(at(0), "20240101-000000");
        assert_eq!(at(60), "20240101-000100");
        assert_eq!(at(86_399), "20240101-235959");
        assert_eq!(at(31 * 86_400 + 3_661), "20240201-010101");
        assert_eq!(at(59 * 86_400), "20240229-000000");
        assert_eq!(simulated_dts(SimTime(u64::MAX)), "20240801-120544");
        assert_eq!(simulated_dts(SimTime(1_999_999_999_999)), "20240101-000001");
    }
}
