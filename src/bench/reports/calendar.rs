//! Dates of runs as NeuronPerf writes them: for a simulated run from a fixed moment, so that no report depends on when it
//! was made; for a measured run from the shell's clock.

use super::report::Report;
use ns_base::SimTime;

/// NeuronPerf's name for a file of reports that has none: `{model_name}.results-{date}-{time}.{extension}`, UTC.
pub fn results_file_name(reports: &[Report], unix_s: u64, extension: &str) -> String {
    let name = reports.first().map_or("neuronscope", |r| r.model_name.as_str());
    // A model name may hold characters that are special in a path: `google/vit`, `matmult:n=64`.
    let safe = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '=') { c } else { '_' };
    let name: String = name.chars().map(safe).take(64).collect();
    format!("{name}.results-{}.{extension}", utc_dts(unix_s))
}

/// 2024-01-01 00:00:00 UTC, seconds since 1970: the start of every simulated run.
const SIMULATED_EPOCH_S: u64 = 1_704_067_200;

/// `YYYYMMDD-HHMMSS` of a moment after the epoch 2024-01-01 00:00:00, whole seconds rounded down.
pub fn simulated_dts(after_epoch: SimTime) -> String {
    utc_dts(SIMULATED_EPOCH_S + after_epoch.0 / SimTime::from_secs(1).0)
}

/// A moment as `YYYYMMDD-HHMMSS` in UTC, from seconds since the beginning of 1970.
pub fn utc_dts(unix_s: u64) -> String {
    const DAY: u64 = 86_400;
    let (year, month, day) = date_of(unix_s / DAY);
    let (h, m, s) = (unix_s % DAY / 3_600, unix_s % 3_600 / 60, unix_s % 60);
    format!("{year:04}{month:02}{day:02}-{h:02}{m:02}{s:02}")
}

/// Year, month and day of a number of days after 1970-01-01. Years are counted from March, so that the leap day is the
/// last of one, in cycles of 400 years.
fn date_of(days: u64) -> (u64, u64, u64) {
    const CYCLE: u64 = 146_097;
    // From 0000-03-01 to 1970-01-01.
    let days = days + 719_468;
    let (cycle, day_of_cycle) = (days / CYCLE, days % CYCLE);
    let leap_days = day_of_cycle / 1_460 - day_of_cycle / 36_524 + day_of_cycle / (CYCLE - 1);
    let year_of_cycle = (day_of_cycle - leap_days) / 365;
    let day_of_year = day_of_cycle - (365 * year_of_cycle + year_of_cycle / 4 - year_of_cycle / 100);
    // Five months of 153 days each repeat from March on.
    let from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * from_march + 2) / 5 + 1;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (400 * cycle + year_of_cycle + u64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simulated_dates_count_from_the_epoch() {
        let at = |secs| simulated_dts(SimTime::from_secs(secs));
        assert_eq!(at(0), "20240101-000000");
        assert_eq!(at(60), "20240101-000100");
        assert_eq!(at(86_399), "20240101-235959");
        assert_eq!(at(31 * 86_400 + 3_661), "20240201-010101");
        assert_eq!(at(59 * 86_400), "20240229-000000");
        assert_eq!(simulated_dts(SimTime(u64::MAX)), "20240801-120544");
        assert_eq!(simulated_dts(SimTime(1_999_999_999_999)), "20240101-000001");
    }

    #[test]
    fn dates_of_measured_runs_are_those_of_a_calendar() {
        for (unix_s, expected) in [
            (0, "19700101-000000"),
            (951_782_400, "20000229-000000"),
            (951_868_799, "20000229-235959"),
            (1_078_012_800, "20040229-000000"),
            (4_107_542_399, "21000228-235959"),
            (4_107_542_400, "21000301-000000"),
            (1_792_281_600, "20261018-000000"),
        ] {
            assert_eq!(utc_dts(unix_s), expected);
        }
    }

    #[test]
    fn every_day_follows_the_one_before() {
        let mut before = date_of(0);
        for day in 1..200_000 {
            let date = date_of(day);
            let next = (before.0, before.1, before.2 + 1);
            let next_month = (before.0, before.1 + 1, 1);
            let next_year = (before.0 + 1, 1, 1);
            assert!(date == next || date == next_month || date == next_year, "{before:?} then {date:?}");
            assert!(date.2 <= 31 && (date.2 <= 28 || date.1 != 2 || (date.2 == 29 && date.0.is_multiple_of(4))));
            before = date;
        }
    }
}
