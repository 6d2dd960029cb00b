//! Lines of PyTorch/XLA's benchmark runner: one experiment each, with the times of its repeats.

use serde::de::IgnoredAny;
use serde_json::Value;
use std::collections::BTreeMap;

use super::ImportedReports;
use crate::reports::report::Report;
use ns_base::Order;
use ns_base::stats;
use ns_base::without_nan;

/// Whether a line is an experiment of the suite.
pub(super) fn is_record(line: &str) -> bool {
    // A whole file of results may be one line: its values are not kept.
    let keys = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(&without_nan(line));
    keys.is_ok_and(|keys| keys.contains_key("experiment") && keys.contains_key("model"))
}

pub(super) fn read(text: &str) -> ImportedReports {
    let mut imported = ImportedReports::default();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        match serde_json::from_str::<Value>(&without_nan(line)) {
            Ok(record) if record.get("experiment").is_some() => imported.reports.push(report(&record)),
            Ok(_) => imported
                .diagnostics
                .add("bad_row", None, || format!("line {} is not an experiment and is left out", i + 1)),
            Err(e) => imported.diagnostics.add("truncated", None, || format!("line {}: {e}; it is left out", i + 1)),
        }
    }
    imported
}

/// The first repeat holds the compilation, as in the tool's own analysis: the others are the latencies.
fn report(record: &Value) -> Report {
    let text = |path: &str| record.pointer(path).and_then(Value::as_str).map(str::to_owned);
    let experiment = |key: &str| text(&format!("/experiment/{key}"));
    let mut name = text("/model/model_name").unwrap_or_else(|| "unknown".to_owned());
    let configuration: Vec<String> =
        ["test", "dynamo", "xla"].iter().filter_map(|k| experiment(k).map(|v| format!("{k}={v}"))).collect();
    if !configuration.is_empty() {
        name.push_str(&format!(" ({})", configuration.join(", ")));
    }
    let batch = record.pointer("/experiment/batch_size").and_then(Value::as_u64);
    let batch_size = batch.and_then(|b| u32::try_from(b).ok()).filter(|b| *b > 0).unwrap_or(1);
    let mut report = Report {
        model_filename: name.clone(),
        model_name: name,
        device_type: experiment("accelerator").unwrap_or_default(),
        instance_type: experiment("accelerator_model").unwrap_or_default().trim().to_owned(),
        batch_size,
        n_models: 1,
        workers_per_model: 1,
        pipeline_size: 1,
        n_devices: 1,
        status: "finished".to_owned(),
        ..Report::default()
    };
    fill_times(&mut report, record);
    report
}

fn fill_times(report: &mut Report, record: &Value) {
    let numbers = |key: &str| -> Vec<f64> {
        let list = record.pointer(&format!("/metrics/{key}")).and_then(Value::as_array);
        list.map(|l| l.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
    };
    if let Some(error) = record.pointer("/metrics/error").and_then(Value::as_str) {
        (report.status, report.error) = ("error".to_owned(), Some(error.to_owned()));
        return;
    }
    let times_s = numbers("per_iter_time");
    let Some((first, rest)) = times_s.split_first() else {
        (report.status, report.error) = ("error".to_owned(), Some("the line has no per_iter_time".to_owned()));
        return;
    };
    let mut ms: Vec<f64> = if rest.is_empty() { vec![first * 1e3] } else { rest.iter().map(|s| s * 1e3).collect() };
    ms.order_by(f64::total_cmp);
    let at = |percent: f64| stats::percentile_sorted(&ms, percent).map(|x| stats::round_to(x, 3));
    report.warmup_avg_ms = (!rest.is_empty()).then(|| stats::round_to(first * 1e3, 3));
    (report.latency_ms_p0, report.latency_ms_p50, report.latency_ms_p90) = (at(0.0), at(50.0), at(90.0));
    (report.latency_ms_p95, report.latency_ms_p99, report.latency_ms_p100) = (at(95.0), at(99.0), at(100.0));
    report.latency_samples = Some(ms.len() as u64);
    let mean = stats::mean(&ms).filter(|m| *m > 0.0);
    report.infer_avg_ms = mean.map(|m| stats::round_to(m, 3));
    report.e2e_avg_ms = report.infer_avg_ms;
    report.throughput_avg = mean.map(|m| stats::round_to(f64::from(report.batch_size) * 1e3 / m, 3));
    report.throughput_avg_method = Some("batch_over_mean".to_owned());
    let total: f64 = numbers("total_time").iter().sum();
    report.total_s = Some(stats::round_to(total, 2));
}
