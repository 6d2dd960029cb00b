//! Names of run directories as the Neuron plugin gives them: `2022_10_14_19_22_22_16`, the minute twice, and for operator
//! runs an id after it.

use super::chrome::neuron_start_ns;
use ns_base::{digest64, moment_utc};
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
    let [year, month, day, hour, minute, second] = moment_utc(seconds);
    format!("{year:04}_{month:02}_{day:02}_{hour:02}_{minute:02}_{minute:02}_{second:02}")
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
