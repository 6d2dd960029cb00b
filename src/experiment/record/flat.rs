//! A record as rows of a table: one for each repeat, with the configuration in every row.

use std::borrow::Cow;

use indexmap::IndexMap;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::error::LineError;
use super::number::{numbers, python_number};
use super::parse::trimmed;
use ns_base::quoted_nan;
use ns_base::refuse;

/// The metrics that have a column: every list of numbers that the suite's runner writes. Units are seconds, except for the two counts.
pub const FLAT_METRICS: [&str; 12] = [
    "total_time",
    "per_iter_time",
    "trace_total_time",
    "trace_per_iter_time",
    "xla_CompileTime_time_s",
    "xla_CompileTime_number",
    "xla_ExecuteTime_time_s",
    "xla_ExecuteTime_number",
    "total_cpu_time_s",
    "total_cuda_time_s",
    "per_iter_cpu_time_s",
    "per_iter_cuda_time_s",
];

/// Values of a record that hold for all its repeats, then the metrics of each repeat. A missing value is `None`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FlatRecord {
    /// Seconds since 1970.
    pub timestamp: Option<f64>,
    /// Suite of the model.
    pub suite_name: Option<String>,
    pub model_name: String,
    /// Kind of accelerator.
    pub accelerator: Option<String>,
    /// Product of the accelerator.
    pub accelerator_model: Option<String>,
    /// Runtime under XLA.
    pub xla: Option<String>,
    /// The variable `XLA_FLAGS`.
    pub xla_flags: Option<String>,
    /// Backend of torch.compile.
    pub dynamo: Option<String>,
    /// torch_xla2 mode.
    pub torch_xla2: Option<String>,
    /// `eval` or `train`.
    pub test: Option<String>,
    /// Samples of one inference.
    pub batch_size: Option<i64>,
    /// Number of timed runs requested.
    pub repeat: Option<i64>,
    /// Inferences in one timed run.
    pub iterations_per_run: Option<i64>,
    pub verification_code: Option<String>,
    /// The reason why the record has no times.
    pub error: Option<String>,
    /// The lists of [`FLAT_METRICS`], in that order; a list that is missing is empty.
    pub metrics: [Vec<f64>; FLAT_METRICS.len()],
    /// Metrics that are not lists of numbers, or that have no column.
    pub left_out: Vec<String>,
}

type Texts<'a> = IndexMap<Cow<'a, str>, &'a RawValue>;

/// A line as read. Older schemas lack some keys.
#[derive(Deserialize)]
struct Line<'a> {
    #[serde(borrow)]
    model: Texts<'a>,
    #[serde(borrow)]
    experiment: Texts<'a>,
    #[serde(borrow)]
    metrics: Texts<'a>,
    #[serde(borrow, default)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow, default)]
    repeat: Option<&'a RawValue>,
    #[serde(borrow, default)]
    iterations_per_run: Option<&'a RawValue>,
    #[serde(borrow, default)]
    verification_code: Option<&'a RawValue>,
}

impl FlatRecord {
    /// Reads a line of `results.jsonl`. Fails when it is blank, not UTF-8, not JSON, or has no model, experiment or metrics.
    pub fn of(line: &[u8]) -> Result<Self, LineError> {
        let quoted = quoted_nan(trimmed(line)?);
        let not_a_record = |e: serde_json::Error| refuse!("not a record: {e}");
        let line: Line<'_> = serde_json::from_str(&quoted).map_err(not_a_record)?;
        let of = |key: &str| text(line.experiment.get(key).copied());
        let mut flat = Self {
            timestamp: line.timestamp.and_then(|t| python_number(t.get())),
            suite_name: text(line.model.get("suite_name").copied()),
            model_name: text(line.model.get("model_name").copied())
                .ok_or_else(|| refuse!("not a record: model has no model_name"))?,
            accelerator: of("accelerator"),
            accelerator_model: of("accelerator_model"),
            xla: of("xla"),
            xla_flags: of("xla_flags"),
            dynamo: of("dynamo"),
            torch_xla2: of("torch_xla2"),
            test: of("test"),
            batch_size: whole(line.experiment.get("batch_size").copied()),
            repeat: whole(line.repeat),
            iterations_per_run: whole(line.iterations_per_run),
            verification_code: text(line.verification_code),
            error: text(line.metrics.get("error").copied()),
            ..Self::default()
        };
        for (name, value) in line.metrics.iter().filter(|(name, _)| *name != "error") {
            let column = FLAT_METRICS.iter().position(|known| known == name);
            match (column, numbers("metric", value.get())) {
                (Some(column), Ok(list)) => flat.metrics[column] = list,
                _ => flat.left_out.push(name.clone().into_owned()),
            }
        }
        Ok(flat)
    }

    /// Number of rows that the record takes in a table: the length of its longest list, or one if it has no lists.
    pub fn rows(&self) -> usize {
        self.metrics.iter().map(Vec::len).max().unwrap_or(0).max(1)
    }

    /// Whether the record has no times.
    pub fn is_without_times(&self) -> bool {
        self.metrics.iter().all(Vec::is_empty)
    }
}

/// A string as it is; `None` for null or a missing value; any other value as JSON.
fn text(value: Option<&RawValue>) -> Option<String> {
    let json = value?.get();
    match json.as_bytes().first()? {
        b'n' => None,
        b'"' => Some(serde_json::from_str(json).unwrap_or_else(|_| json.to_owned())),
        _ => Some(json.to_owned()),
    }
}

/// A whole number; `None` for any other value.
fn whole(value: Option<&RawValue>) -> Option<i64> {
    value?.get().trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_a_row_for_each_repeat() {
        let line = br#"{"model": {"suite_name": "s", "model_name": "a"}, "experiment": {"accelerator_model": "m", "batch_size": 4, "dynamo": null, "test": "eval", "xla": "PJRT"}, "repeat": 2, "metrics": {"total_time": [1, 2.5], "trace_total_time": [NaN], "counters": [{}]}, "timestamp": 3.5}"#;
        let flat = FlatRecord::of(line).unwrap();
        assert_eq!((flat.model_name.as_str(), flat.xla.as_deref(), flat.dynamo.as_deref()), ("a", Some("PJRT"), None));
        assert_eq!((flat.batch_size, flat.repeat, flat.iterations_per_run), (Some(4), Some(2), None));
        assert_eq!((flat.rows(), flat.metrics[0].as_slice()), (2, &[1.0, 2.5][..]));
        assert!(flat.metrics[2][0].is_nan());
        assert_eq!(flat.left_out, ["counters"]);
    }

    #[test]
    fn a_failure_has_one_row_and_other_lines_are_refused() {
        let line = br#"{"model": {"model_name": "a"}, "experiment": {}, "metrics": {"error": "SKIP"}}"#;
        let flat = FlatRecord::of(line).unwrap();
        assert_eq!((flat.rows(), flat.error.as_deref(), flat.is_without_times()), (1, Some("SKIP"), true));
        for bad in ["", "{", "[1]", r#"{"model": {}, "experiment": {}, "metrics": {}}"#] {
            assert!(FlatRecord::of(bad.as_bytes()).is_err(), "{bad}");
        }
    }
}
