//! The report: one row for each record, and the fixed columns.

use indexmap::{IndexMap, IndexSet};
use serde::Serialize;
use serde_json::Value;

use super::fields::{AnalyzedRecord, Field};
use super::unlike::BatchSizes;
use crate::python::{json_dumps, number_or_word, repr};
use crate::record::{LineError, LineNotes};
use ns_base::convert::f64_to_i64;

/// One line of the JSONL report.
#[derive(Serialize)]
struct JsonLine<'a> {
    metrics: IndexMap<String, Value>,
    dimensions: IndexMap<&'static str, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_message: Option<&'a str>,
}

/// Records and their columns.
pub struct Analyzer {
    /// Seconds since 1970 for records without a time.
    timestamp: f64,
    hide_errors: bool,
    records: Vec<AnalyzedRecord>,
    columns: IndexSet<String>,
    notes: LineNotes,
    batches: BatchSizes,
}

impl Analyzer {
    /// An empty report. `timestamp` is used for records without one.
    pub fn new(timestamp: f64, hide_errors: bool) -> Self {
        let columns = FIXED_COLUMNS.iter().map(|c| (*c).to_owned()).collect();
        Self {
            timestamp,
            hide_errors,
            records: Vec::new(),
            columns,
            notes: LineNotes::default(),
            batches: BatchSizes::default(),
        }
    }

    /// Takes a line. A line that is not a record is noted and left out, as is a metric that is not a list of numbers.
    pub fn push_line(&mut self, line: &[u8], place: impl Fn() -> String) {
        match AnalyzedRecord::of(line) {
            Ok(record) => {
                for name in &record.left_out {
                    self.notes
                        .add("metrics are not lists of numbers and are left out", || format!("{}: {name}", place()));
                }
                for (metric, stats) in &record.metrics {
                    self.columns.extend(stats.values_by_name().into_iter().map(|(name, _)| format!("{name}_{metric}")));
                }
                self.batches.push(&record);
                self.records.push(record);
            }
            Err(LineError::Blank) => self.notes.add("lines are blank", place),
            Err(error) => self.notes.add("lines are not records", || format!("{}: {error}", place())),
        }
    }

    /// The notes, including models whose backends had different batch sizes.
    pub fn notes(&self) -> LineNotes {
        let mut notes = self.notes.clone();
        for unlike in self.batches.unlike() {
            notes.add("models have different batch sizes, which must not be compared", || unlike);
        }
        notes
    }

    /// The report as CSV: with its heading, or only the rows, for appending. Fails when memory runs out.
    pub fn to_csv(&self, heading: bool) -> Result<String, csv::Error> {
        let mut out = csv::Writer::from_writer(Vec::new());
        if heading {
            out.write_record(&self.columns)?;
        }
        for record in &self.records {
            out.write_record(self.columns.iter().map(|column| self.cell(record, column)))?;
        }
        let bytes = out.into_inner().map_err(|e| e.into_error())?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn cell(&self, record: &AnalyzedRecord, column: &str) -> String {
        match column {
            "timestamp" => match record.get(column) {
                Field::None => repr(self.timestamp),
                given => given.csv(),
            },
            "error_message" if self.hide_errors => String::new(),
            "error_message" => record.error.clone().unwrap_or_default(),
            "xla_compile_time" | "dynamo_compile_time" => record
                .compile_time(column)
                .map_or_else(String::new, |time| if time == -1.0 { "-1".to_owned() } else { cell(time) }),
            fixed if FIXED_COLUMNS.contains(&fixed) && !fixed.starts_with("median_") => record.get(fixed).csv(),
            statistic => self.statistic(record, statistic).map_or_else(String::new, cell),
        }
    }

    fn statistic(&self, record: &AnalyzedRecord, column: &str) -> Option<f64> {
        let (name, metric) = column.split_once('_')?;
        record.metric(metric)?.values_by_name().into_iter().find(|(n, _)| *n == name).map(|(_, value)| value)
    }

    /// The report as lines of JSON. Fails when a value has no JSON form.
    pub fn to_jsonl(&self) -> Result<String, serde_json::Error> {
        let mut out = String::new();
        for record in &self.records {
            let line = JsonLine {
                metrics: self.json_metrics(record),
                dimensions: dimensions(record),
                error_message: record.error.as_deref().filter(|_| !self.hide_errors),
            };
            out.push_str(&json_dumps(&line)?);
            out.push('\n');
        }
        Ok(out)
    }

    fn json_metrics(&self, record: &AnalyzedRecord) -> IndexMap<String, Value> {
        let mut metrics = IndexMap::new();
        let timestamp = match record.get("timestamp") {
            Field::Float(seconds) => seconds,
            Field::Integer(digits) => digits.parse().unwrap_or(self.timestamp),
            _ => self.timestamp,
        };
        metrics.insert("timestamp".to_owned(), Value::from(f64_to_i64(timestamp)));
        for key in ["batch_size", "repeat", "iterations_per_run"] {
            metrics.insert(key.to_owned(), number(&record.get(key)));
        }
        if record.error.is_some() {
            metrics.extend(FAILED_METRICS.map(|key| (key.to_owned(), Value::from(-1))));
            return metrics;
        }
        for (metric, stats) in &record.metrics {
            metrics.extend(
                stats
                    .values_by_name()
                    .into_iter()
                    .map(|(name, value)| (format!("{name}_{metric}"), number_or_word(value))),
            );
        }
        for column in ["dynamo_compile_time", "xla_compile_time"] {
            let value = record.compile_time(column).unwrap_or(-1.0);
            metrics.insert(column.to_owned(), if value == -1.0 { Value::from(-1) } else { number_or_word(value) });
        }
        metrics
    }
}

/// A number as pandas writes it: NaN is a missing value.
pub(super) fn cell(value: f64) -> String {
    if value.is_nan() { String::new() } else { repr(value) }
}

fn number(field: &Field) -> Value {
    match field {
        Field::Integer(digits) => digits.parse::<i64>().map_or(Value::from(-1), Value::from),
        Field::Float(x) => number_or_word(*x),
        _ => Value::from(-1),
    }
}

fn dimensions(record: &AnalyzedRecord) -> IndexMap<&'static str, String> {
    // The suite names the product twice.
    const KEYS: [(&str, &str); 9] = [
        ("suite_name", "suite_name"),
        ("model_name", "model_name"),
        ("accelerator", "accelerator_model"),
        ("accelerator_model", "accelerator_model"),
        ("xla", "xla"),
        ("dynamo", "dynamo"),
        ("torch_xla2", "torch_xla2"),
        ("test", "test"),
        ("outputs_file", "outputs_file"),
    ];
    let mut dimensions: IndexMap<_, _> =
        KEYS.into_iter().map(|(name, key)| (name, record.get(key).dimension())).collect();
    let status = if record.error.is_some() { "failure" } else { "success" };
    dimensions.insert("run_status", status.to_owned());
    dimensions
}

/// Columns in order. Columns of further metrics follow in order of their first appearance.
pub const FIXED_COLUMNS: [&str; 20] = [
    "timestamp",
    "suite_name",
    "model_name",
    "accelerator",
    "accelerator_model",
    "xla",
    "xla_flags",
    "dynamo",
    "torch_xla2",
    "test",
    "batch_size",
    "repeat",
    "iterations_per_run",
    "error_message",
    "median_total_time",
    "median_per_iter_time",
    // This column is always empty; readers of the database expect it.
    "xla_median_trace_per_iter_time",
    "xla_compile_time",
    "dynamo_compile_time",
    "outputs_file",
];

/// Metrics of a record that failed, in the order of the JSONL report; each is -1.
pub(super) const FAILED_METRICS: [&str; 5] = [
    "median_total_time",
    "median_per_iter_time",
    "xla_median_trace_per_iter_time",
    "xla_compile_time",
    "dynamo_compile_time",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_are_none_are_blank_and_pythons_words_in_json() {
        let line = r#"{"model": {"suite_name": "s", "model_name": "m"}, "experiment": {"xla": "PJRT", "dynamo": null},
            "metrics": {"total_time": [NaN, 1.0], "per_iter_time": [Infinity, 2.0, 4.0]}, "repeat": 2}"#;
        let mut analyzer = Analyzer::new(1.0, false);
        analyzer.push_line(line.replace('\n', " ").as_bytes(), String::new);
        let csv = analyzer.to_csv(true).unwrap();
        let mut lines = csv.lines().map(|line| line.split(','));
        let (heading, row) = (lines.next().unwrap(), lines.next().unwrap());
        let row: IndexMap<&str, &str> = heading.zip(row).collect();
        // As pandas writes them.
        assert_eq!([row["median_total_time"], row["min_total_time"], row["xla_compile_time"]], [""; 3]);
        assert_eq!([row["median_per_iter_time"], row["max_per_iter_time"]], ["4.0", "inf"]);
        let json = analyzer.to_jsonl().unwrap();
        for part in [r#""median_total_time": NaN"#, r#""max_per_iter_time": Infinity"#, r#""xla_compile_time": NaN"#] {
            assert!(json.contains(part), "{json}");
        }
    }
}
