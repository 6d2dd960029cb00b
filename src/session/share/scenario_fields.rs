//! The MLPerf scenario of a benchmark as text, for links and the form. A value of MLPerf's rules is an empty text, so that a link
//! names only what was chosen; without a scenario its limits have no effect.

use super::BenchField;
use ns_bench::BenchConfig;
use ns_bench::mlperf::{MlperfSettings, Scenario, SettingsError};

/// The text of a field.
pub(super) fn text(field: BenchField, config: &BenchConfig) -> String {
    let Some(settings) = &config.mlperf else { return String::new() };
    let rules = MlperfSettings::official(settings.scenario);
    let unless = |is_rule: bool, text: String| if is_rule { String::new() } else { text };
    let optional = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
    match field {
        BenchField::Scenario => settings.scenario.name().to_owned(),
        BenchField::MinDuration => {
            unless(settings.min_duration_s == rules.min_duration_s, settings.min_duration_s.to_string())
        }
        BenchField::MinQueries => unless(settings.min_queries == rules.min_queries, settings.min_queries.to_string()),
        BenchField::SamplesPerQuery => {
            unless(settings.samples_per_query == rules.samples_per_query, settings.samples_per_query.to_string())
        }
        BenchField::LatencyBound => optional(settings.latency_bound_ms),
        BenchField::TargetQps => optional(settings.target_qps),
        _ => String::new(),
    }
}

/// Puts a text into a field; an empty text means the value of MLPerf's rules, and for the scenario: none.
///
/// # Errors
/// One sentence for the user: what is wrong and what would be right.
pub(super) fn set(field: BenchField, config: &mut BenchConfig, text: &str) -> Result<(), String> {
    if field == BenchField::Scenario {
        config.mlperf = match text {
            "" => None,
            text => {
                let scenario: Scenario = text.parse().map_err(|e: SettingsError| format!("scenario: {e}"))?;
                Some(MlperfSettings::official(scenario))
            }
        };
        return Ok(());
    }
    let Some(settings) = &mut config.mlperf else { return Ok(()) };
    let rules = MlperfSettings::official(settings.scenario);
    let wrong = |wanted: &str| format!("{}: '{text}' is not {wanted}", field.config_name());
    let optional = || match text {
        "" => Ok(None),
        text => text.parse::<f64>().map(Some).map_err(|_| wrong("a number, such as 15")),
    };
    match field {
        BenchField::MinDuration if text.is_empty() => settings.min_duration_s = rules.min_duration_s,
        BenchField::MinDuration => {
            settings.min_duration_s = text.parse().map_err(|_| wrong("a number of seconds, such as 60"))?;
        }
        BenchField::MinQueries if text.is_empty() => settings.min_queries = rules.min_queries,
        BenchField::MinQueries => settings.min_queries = text.parse().map_err(|_| wrong("a whole number"))?,
        BenchField::SamplesPerQuery if text.is_empty() => settings.samples_per_query = rules.samples_per_query,
        BenchField::SamplesPerQuery => {
            settings.samples_per_query = text.parse().map_err(|_| wrong("a whole number"))?;
        }
        BenchField::LatencyBound => settings.latency_bound_ms = optional()?,
        BenchField::TargetQps => settings.target_qps = optional()?,
        _ => {}
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::{BENCH_FIELDS, BenchLink, Link};

    #[test]
    fn a_scenario_survives_a_link() {
        let settings = MlperfSettings {
            min_duration_s: 60.5,
            min_queries: 500,
            samples_per_query: 4,
            latency_bound_ms: Some(15.0),
            target_qps: Some(250.25),
            ..MlperfSettings::official(Scenario::Server)
        };
        for mlperf in [None, Some(settings), Some(MlperfSettings::official(Scenario::Offline))] {
            let link = Link::Benchmark(Box::new(BenchLink {
                config: BenchConfig { mlperf, ..BenchConfig::default() },
                ..BenchLink::default()
            }));
            assert_eq!(Link::parse(&link.print()), (link, vec![]));
        }
    }

    #[test]
    fn what_is_missing_or_wrong_is_said_beside_its_field() {
        let mut config = BenchConfig::default();
        let mut said = |field: BenchField, text: &str| field.set(&mut config, text).err().unwrap_or_default();
        assert_eq!(said(BenchField::TargetQps, "nonsense without a scenario"), "");
        assert!(said(BenchField::Scenario, "Batch").contains("SingleStream, MultiStream, Server or Offline"));
        assert_eq!(said(BenchField::Scenario, "server"), "");
        assert!(said(BenchField::LatencyBound, "").contains("the Server scenario needs a latency bound"));
        assert!(said(BenchField::MinDuration, "-1").contains("min_duration_s: -1 is not allowed"));
        assert_eq!(said(BenchField::LatencyBound, "15"), "");
        assert!(BENCH_FIELDS.iter().all(|f| f.set(&mut config.clone(), &f.text(&config)).is_ok()));
    }
}
