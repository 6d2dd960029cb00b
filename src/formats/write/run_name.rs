//! Names of run directories as the Neuron plugin gives them: `2022_10_14_19_22_22_16`, the minute twice, and for operator
//! runs an id after it.

use super::chrome::neuron_start_ns;
use ns_base::digest64;
use ns_profile::Profile;
use ns_profile::neuron::{OperatorView, operator_table};

/// 2024-01-01 00:00:00, when simulated runs begin, in seconds since 1970.
const SIMULATED_START_S: i64 = 1_704_067_200;
/// A clock with earlier times does not count from 1970: 2000-01-01 00:00:00, in seconds.
const EARLIEST_DATE_S: i64 = 946_684_800;
/// A clock with later times does not either: the end of the year 9999.
const LATEST_DATE_S: i64 = 253_402_300_799;

/// The name of a profile's run directory. A run of the plugin keeps its name. Every other run is named by its start date,
/// which for a simulated run is 2024-01-01. The name of an operator run also has a digest of its title, so that two runs
/// of one second are two directories.
pub(super) fn run_name(profile: &Profile) -> String {
    let read = profile.plugin_run().map_or("", |run| run.name.as_str());
    let kept: Vec<String> =
        read.split('/').filter(|part| !matches!(*part, "" | "." | "..")).map(as_file_name).collect();
    if !kept.is_empty() {
        return kept.join("/");
    }
    let date = date_name(began_at_s(profile));
    if is_trace(profile) { date } else { format!("{date}_{:016x}_1", digest64(&profile.meta().title)) }
}

fn is_trace(profile: &Profile) -> bool {
    [OperatorView::Framework, OperatorView::Hlo].into_iter().all(|view| operator_table(profile, view).is_empty())
}

/// When the run began, in seconds since 1970.
fn began_at_s(profile: &Profile) -> i64 {
    let start_ns = neuron_start_ns(profile).unwrap_or(profile.meta().origin_ns);
    let start_s = start_ns.div_euclid(1_000_000_000);
    if (EARLIEST_DATE_S..=LATEST_DATE_S).contains(&start_s) { start_s } else { SIMULATED_START_S }
}

/// The characters that every file system accepts.
fn as_file_name(part: &str) -> String {
    part.chars().map(|c| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' }).collect()
}

/// `YYYY_MM_DD_HH_MM_MM_SS` of a moment in UTC. The plugin writes the minute twice.
fn date_name(seconds: i64) -> String {
    let (days, rest) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (year, month, day) = civil_date(days);
    let (hour, minute, second) = (rest / 3_600, rest % 3_600 / 60, rest % 60);
    format!("{year:04}_{month:02}_{day:02}_{hour:02}_{minute:02}_{minute:02}_{second:02}")
}

/// Year, month and day of a day since 1970-01-01 in the Gregorian calendar. Years are counted from March, so that the day
/// of a leap year is the last of its year; 400 of them have 146,097 days, and months 153 days for five.
fn civil_date(days: i64) -> (i64, i64, i64) {
    // The days from 0000-03-01 to 1970-01-01.
    let from_march = days + 719_468;
    let (era, day_of_era) = (from_march.div_euclid(146_097), from_march.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date_name(SIMULATED_START_S), "2024_01_01_00_00_00_00");
        // The example of the plugin's own documentation.
        assert_eq!(date_name(1_665_775_336), "2022_10_14_19_22_22_16");
        assert_eq!(date_name(951_782_400), "2000_02_29_00_00_00_00");
        assert_eq!(date_name(951_868_799 + 1), "2000_03_01_00_00_00_00");
        assert_eq!(date_name(4_107_542_399), "2100_02_28_23_59_59_59");
        assert_eq!(date_name(4_107_542_400), "2100_03_01_00_00_00_00");
        assert_eq!(date_name(LATEST_DATE_S), "9999_12_31_23_59_59_59");
    }
}
