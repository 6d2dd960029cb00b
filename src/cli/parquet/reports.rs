//! Benchmark reports: a row for each report, a column for each key.

use std::io::Write;

use anyhow::{Context, Result};
use serde_json::Value as Json;

use super::sheet::{Field, Kind, Sheet, Value};
use ns_bench::{REPORT_KEYS, Report};

/// Keys with text.
const TEXTS: [&str; 18] = [
    "model_filename",
    "model_name",
    "device_type",
    "instance_type",
    "stats_interval",
    "start_dts",
    "duration",
    "stop_dts",
    "NeuronPerf_version",
    "status",
    "workflow",
    "throughput_avg_method",
    "workers_tried",
    "source",
    "machine",
    "compiler_args",
    "estimated_ops",
    "error",
];
/// Keys with lists or fields of their own: a table of scalars cannot hold them; `report --json-file` keeps them.
const NESTED: [&str; 5] = ["throughput_hist", "e2e_durations_ms", "estimate", "published", "interval"];
const TRUTHS: [&str; 3] = ["multiprocess", "multiinterpreter", "steady_state"];
const INTEGERS: [&str; 10] = [
    "batch_size",
    "n_models",
    "workers_per_model",
    "pipeline_size",
    "n_devices",
    "performance_level",
    "n_stats_intervals",
    "total_infs",
    "latency_samples",
    "latency_outliers",
];

fn fields() -> Vec<Field> {
    let kind = |key: &str| match key {
        _ if TEXTS.contains(&key) => Kind::Text,
        _ if TRUTHS.contains(&key) => Kind::Bool,
        _ if INTEGERS.contains(&key) => Kind::Integer,
        _ => Kind::Number,
    };
    REPORT_KEYS.iter().filter(|key| !NESTED.contains(key)).map(|key| Field::new(key, kind(key))).collect()
}

/// Writes reports; returns how many rows the file has.
///
/// # Errors
/// When the file cannot be written.
pub(crate) fn reports<W: Write + Send>(out: W, reports: &[Report]) -> Result<u64> {
    let fields = fields();
    let mut sheet = Sheet::new(out, "reports", &fields)?;
    for report in reports {
        let json = serde_json::to_value(report.in_file_decimals()).context("a report has no JSON form")?;
        let row: Vec<Value<'_>> = fields.iter().map(|f| cell(json.get(&f.name), f.kind)).collect();
        sheet.push(&row)?;
    }
    sheet.finish()
}

fn cell(value: Option<&Json>, kind: Kind) -> Value<'_> {
    match (value, kind) {
        (Some(Json::String(text)), _) => Value::Text(text),
        (Some(Json::Bool(truth)), _) => Value::Bool(*truth),
        (Some(Json::Number(number)), Kind::Integer) => number.as_i64().into(),
        (Some(Json::Number(number)), _) => number.as_f64().into(),
        _ => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_named_key_is_a_key_of_reports() {
        for key in TEXTS.iter().chain(&NESTED).chain(&TRUTHS).chain(&INTEGERS) {
            assert!(REPORT_KEYS.contains(key), "{key}");
        }
    }

    #[test]
    fn every_key_fits_a_full_report() {
        let mut full = serde_json::to_value(Report::default()).unwrap();
        for field in fields() {
            let value = match field.kind {
                Kind::Text => Json::from("x"),
                Kind::Bool => Json::from(true),
                Kind::Integer => Json::from(3),
                Kind::Number => Json::from(0.5),
            };
            full[&field.name] = value;
        }
        let report: Report = serde_json::from_value(full).unwrap();
        assert_eq!(reports(Vec::new(), &[report, Report::default()]).unwrap(), 2);
    }
}
