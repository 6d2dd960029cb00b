//! Dates of runs as NeuronPerf writes them: for a simulated run from a fixed moment, so that no report depends on when it
//! was made; for a measured run from the shell's clock.

use super::report::Report;
use ns_base::convert::u64_to_i64;
use ns_base::{SimTime, moment_utc};

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
    let [year, month, day, h, m, s] = moment_utc(u64_to_i64(unix_s));
    format!("{year:04}{month:02}{day:02}-{h:02}{m:02}{s:02}")
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
}
