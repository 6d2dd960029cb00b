//! One record with every metric it has.

use indexmap::IndexMap;
use serde_json::value::RawValue;

use super::metric_stats::MetricStats;
use crate::record::{LineError, numbers, python_number, trimmed};
use ns_base::quoted_nan;
use ns_base::{Refusal, refuse};

type Fields = IndexMap<String, Box<RawValue>>;

/// A value of a record as reports print it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    /// Missing, or null.
    None,
    /// A whole number, in its own digits.
    Integer(String),
    /// A number with a fraction.
    Float(f64),
    Text(String),
}

/// One record.
pub(super) struct AnalyzedRecord {
    model: Fields,
    experiment: Fields,
    others: Fields,
    /// Statistics of each metric that is a list of numbers.
    pub metrics: Vec<(String, MetricStats)>,
    /// Why it failed.
    pub error: Option<String>,
    /// Metrics that are not lists of numbers.
    pub left_out: Vec<String>,
}

impl AnalyzedRecord {
    /// Reads a line.
    pub fn of(line: &[u8]) -> Result<Self, LineError> {
        let text = quoted_nan(trimmed(line)?);
        let mut others = object(&text)?;
        let mut part = |key: &str| {
            let missing = || refuse!("not a record: it has no {key}");
            others.shift_remove(key).ok_or_else(missing).and_then(|value| object(value.get()))
        };
        let (model, experiment, metrics) = (part("model")?, part("experiment")?, part("metrics")?);
        let error = metrics.get("error").map(|e| match field(e) {
            Field::Text(text) => text,
            _ => e.get().to_owned(),
        });
        let mut analyzed = Self { model, experiment, others, metrics: Vec::new(), error, left_out: Vec::new() };
        if analyzed.error.is_none() {
            analyzed.take_metrics(&metrics);
        }
        Ok(analyzed)
    }

    fn take_metrics(&mut self, metrics: &Fields) {
        let uses_xla = self.get("xla") != Field::None;
        for (name, value) in metrics {
            let stats = numbers("metric", value.get()).ok().and_then(|repeats| MetricStats::of(&repeats));
            match stats {
                // Without XLA there is no tracing to time.
                Some(stats) if name == "trace_per_iter_time" && !uses_xla => {
                    let steady = stats.steady.map(|_| (-1.0, -1.0));
                    self.metrics.push((name.clone(), MetricStats { min: -1.0, median: -1.0, max: -1.0, steady }));
                }
                Some(stats) => self.metrics.push((name.clone(), stats)),
                None => self.left_out.push(name.clone()),
            }
        }
    }

    /// A value by the name of its column, wherever it is in the record.
    pub fn get(&self, column: &str) -> Field {
        let found = self.others.get(column).or_else(|| self.model.get(column)).or_else(|| self.experiment.get(column));
        found.map_or(Field::None, |value| field(value))
    }

    /// Statistics of a metric.
    pub fn metric(&self, name: &str) -> Option<&MetricStats> {
        self.metrics.iter().find(|(n, _)| n == name).map(|(_, stats)| stats)
    }

    /// How much longer the slowest repeat took than the median: the time to compile, for backends that compile.
    pub fn compile_time(&self, column: &str) -> Option<f64> {
        let uses = self.get(if column == "xla_compile_time" { "xla" } else { "dynamo" }) != Field::None;
        let total = self.metric("total_time")?;
        Some(if uses { total.max - total.median } else { -1.0 })
    }
}

fn object(text: &str) -> Result<Fields, Refusal> {
    serde_json::from_str(text).map_err(|e| refuse!("not a record: {e}"))
}

fn field(value: &RawValue) -> Field {
    let text = value.get().trim();
    match text.as_bytes().first() {
        Some(b'n') | None => Field::None,
        Some(b't') => Field::Text("True".to_owned()),
        Some(b'f') => Field::Text("False".to_owned()),
        Some(b'-' | b'0'..=b'9') if !text.contains(['.', 'e', 'E']) => Field::Integer(text.to_owned()),
        Some(b'-' | b'0'..=b'9') => python_number(text).map_or(Field::None, Field::Float),
        Some(b'"') => match python_number(text) {
            Some(x) => Field::Float(x),
            None => Field::Text(serde_json::from_str(text).unwrap_or_default()),
        },
        Some(_) => Field::Text(text.to_owned()),
    }
}

impl Field {
    /// The value as a cell of a CSV.
    pub fn csv(&self) -> String {
        match self {
            Self::None => String::new(),
            Self::Integer(text) | Self::Text(text) => text.clone(),
            Self::Float(x) => super::analyzer::cell(*x),
        }
    }

    /// The value as text of the JSONL report, where a missing value is `None`.
    pub fn dimension(&self) -> String {
        if *self == Self::None { "None".to_owned() } else { self.csv() }
    }
}
