//! `[(config, results)]` of `return_timers` as JSON: `[[config, results], ...]`, each timer as its pairs of start and end.
//! `import/timers.rs` reads it back.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use serde_json::{Map, Value};

use super::beside::Beside;
use super::report::Report;
use super::results::CONFIG_KEYS;
use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;
use crate::measured::spans::{Span, TimerSpans};

/// A configuration with everything its timers recorded.
#[derive(Clone, Debug)]
pub struct TimedResults {
    config: Map<String, Value>,
    workers_per_model: u32,
    inferences: u64,
    status: String,
    total_s: f64,
    spans: TimerSpans,
    beside: Beside,
}

impl TimedResults {
    /// The results of a run: its measurement, its report and the spans that were recorded.
    pub fn new(configuration: &Configuration, measured: &Measurement, report: &Report, spans: TimerSpans) -> Self {
        let config = match serde_json::to_value(report) {
            Ok(Value::Object(map)) => map,
            _ => Map::new(),
        };
        Self {
            config,
            workers_per_model: configuration.workers_per_model,
            inferences: measured.inferences() + measured.warmups,
            status: report.status.clone(),
            total_s: (measured.bring_up + measured.elapsed).to_secs_f64(),
            spans,
            beside: Beside::of(report),
        }
    }
}

/// Written as NeuronPerf's tuple: the configuration, then the results.
impl Serialize for TimedResults {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut pair = serializer.serialize_seq(Some(2))?;
        pair.serialize_element(&Config(&self.config))?;
        pair.serialize_element(&Results(self))?;
        pair.end()
    }
}

/// The configuration part of the report, in its order.
struct Config<'a>(&'a Map<String, Value>);

impl Serialize for Config<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(CONFIG_KEYS.iter().map(|key| (key, self.0.get(*key))))
    }
}

struct Results<'a>(&'a TimedResults);

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        const NONE: [f64; 0] = [];
        let r = self.0;
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("workers_per_model", &r.workers_per_model)?;
        map.serialize_entry("n_infs", &r.inferences)?;
        map.serialize_entry("status", &r.status)?;
        map.serialize_entry("total_s", &r.total_s)?;
        map.serialize_entry("timers", &TimerTable(&r.spans))?;
        // A simulated host has no samples.
        map.serialize_entry("cpu_percents", &NONE)?;
        map.serialize_entry("mem_percents", &NONE)?;
        // Not a key of NeuronPerf.
        if !r.beside.is_empty() {
            map.serialize_entry("neuronscope", &r.beside)?;
        }
        map.end()
    }
}

struct TimerTable<'a>(&'a TimerSpans);

impl Serialize for TimerTable<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let named = self.0.named();
        serializer.collect_map(named.iter().map(|(name, lists)| (name, Lists(lists))))
    }
}

/// A list of timers, each a list of `[start, end]` in seconds.
struct Lists<'a>(&'a [Vec<Span>]);

impl Serialize for Lists<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|spans| Pairs(spans)))
    }
}

struct Pairs<'a>(&'a [Span]);

impl Serialize for Pairs<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|s| [s.start.to_secs_f64(), s.end.to_secs_f64()]))
    }
}
