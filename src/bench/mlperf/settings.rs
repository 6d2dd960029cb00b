//! Settings of an MLPerf run.

use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use ns_base::names;

/// Longest minimum duration, seconds: a day.
const MAX_S: f64 = 86_400.0;
/// Most queries.
const MAX_QUERIES: u64 = 50_000_000;

names! {
    /// How queries arrive.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Scenario {
        /// One sample, and the next when it is answered.
        SingleStream = "SingleStream",
        /// Several samples at once, and the next ones when all are answered.
        MultiStream = "MultiStream",
        /// One sample at a time, at the times of a Poisson process, within a latency bound.
        Server = "Server",
        /// All samples at once.
        Offline = "Offline",
    }

    /// All scenarios, in the order of the rules.
    pub const ALL: [Self; _];
    /// Its name in LoadGen.
    pub const fn name(self) -> &'static str;
}

impl Scenario {
    /// The percentile of its latencies that counts.
    pub const fn percentile(self) -> f64 {
        match self {
            Self::SingleStream => 0.90,
            _ => 0.99,
        }
    }
}

impl FromStr for Scenario {
    type Err = SettingsError;

    fn from_str(text: &str) -> Result<Self, SettingsError> {
        let plain = |t: &str| t.chars().filter(char::is_ascii_alphanumeric).collect::<String>().to_ascii_lowercase();
        let found = Self::ALL.into_iter().find(|s| plain(s.name()) == plain(text));
        found.ok_or_else(|| SettingsError::UnknownScenario { text: text.to_owned() })
    }
}

/// Settings that cannot be used.
#[derive(Clone, Debug, Error, PartialEq)]
#[non_exhaustive]
pub enum SettingsError {
    #[error("'{text}' is not an MLPerf scenario; use SingleStream, MultiStream, Server or Offline")]
    UnknownScenario { text: String },
    /// A number out of its range.
    #[error("{field}: {value} is not allowed; use {allowed}")]
    OutOfRange { field: &'static str, value: String, allowed: &'static str },
    /// Server without its bound.
    #[error("the Server scenario needs a latency bound; give latency_bound_ms, such as 15 for ResNet-50")]
    NoBound,
}

/// A scenario and its limits. Defaults are those of the official rules: 600 seconds, and for Offline 24,576 samples.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct MlperfSettings {
    /// How queries arrive.
    pub scenario: Scenario,
    /// Shortest duration of a run, simulated seconds.
    pub min_duration_s: f64,
    /// Fewest queries of a run (Offline: samples).
    pub min_queries: u64,
    /// Samples of one MultiStream query.
    pub samples_per_query: u32,
    /// Latency bound that 99 % of a Server's answers must keep, milliseconds.
    pub latency_bound_ms: Option<f64>,
    /// Queries per second of a Server; if absent, the highest rate that keeps the bound is searched for.
    pub target_qps: Option<f64>,
}

impl Default for MlperfSettings {
    fn default() -> Self {
        Self::official(Scenario::SingleStream)
    }
}

impl MlperfSettings {
    /// The official rules for a scenario.
    pub fn official(scenario: Scenario) -> Self {
        let min_queries = if scenario == Scenario::Offline { 24_576 } else { 100 };
        Self {
            scenario,
            min_duration_s: 600.0,
            min_queries,
            samples_per_query: 8,
            latency_bound_ms: None,
            target_qps: None,
        }
    }

    /// Checks every number. An error names the first number that cannot be used.
    pub fn validate(&self) -> Result<(), SettingsError> {
        let bad = |field, value: String, allowed| Err(SettingsError::OutOfRange { field, value, allowed });
        if !(self.min_duration_s > 0.0 && self.min_duration_s <= MAX_S) {
            return bad("min_duration_s", self.min_duration_s.to_string(), "seconds above 0 and up to 86400");
        }
        if !(1..=MAX_QUERIES).contains(&self.min_queries) {
            return bad("min_queries", self.min_queries.to_string(), "a whole number from 1 to 50000000");
        }
        if !(1..=4_096).contains(&self.samples_per_query) {
            return bad("samples_per_query", self.samples_per_query.to_string(), "a whole number from 1 to 4096");
        }
        if let Some(ms) = self.latency_bound_ms.filter(|ms| !(*ms > 0.0 && *ms <= MAX_S * 1e3)) {
            return bad("latency_bound_ms", ms.to_string(), "milliseconds above 0 and up to 86400000");
        }
        if let Some(qps) = self.target_qps.filter(|q| !(*q > 0.0 && *q <= 1e9)) {
            return bad("target_qps", qps.to_string(), "queries per second above 0 and up to 1e9");
        }
        if self.scenario == Scenario::Server && self.latency_bound_ms.is_none() {
            return Err(SettingsError::NoBound);
        }
        Ok(())
    }
}
