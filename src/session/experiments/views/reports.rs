//! Reports of NeuronPerf side by side: each configuration of every file against the first file.

use std::collections::BTreeMap;

use super::super::chosen::Chosen;
use super::super::text::{number, table, word};
use super::finding;
use crate::bench::Report;
use crate::view::document::{Block, Document, Tone};
use crate::view::table::{Cell, ColumnKind};

/// A smaller difference is noise where a report has no interval.
const NOISE: f64 = 0.05;

type Key<'a> = (&'a str, &'a str, u32, u32, u32);

fn key(report: &Report) -> Key<'_> {
    (&report.model_name, &report.instance_type, report.batch_size, report.n_models, report.workers_per_model)
}

/// The view.
pub fn document(chosen: &Chosen<'_>) -> Document {
    let files = &chosen.store.reports;
    let title = "NeuronPerf reports side by side".to_owned();
    let Some(first) = files.first() else {
        let text = "Drop CSV or JSON files of NeuronPerf, or of this program, on this page.";
        return Document { title, blocks: vec![finding(Tone::Neutral, "No report is open.", text)] };
    };
    let base: BTreeMap<Key<'_>, &Report> = first.reports.iter().map(|r| (key(r), r)).collect();
    let mut rows = table(&[
        ("model", "Model", ColumnKind::Text),
        ("file", "File", ColumnKind::Text),
        ("instance_type", "Instance", ColumnKind::Text),
        ("batch_size", "Batch size", ColumnKind::Count),
        ("n_models", "Models", ColumnKind::Count),
        ("workers_per_model", "Workers", ColumnKind::Count),
        ("throughput_avg", "Throughput (inf/s)", ColumnKind::Number),
        ("ratio", "Against the first", ColumnKind::Number),
        ("latency_ms_p50", "Latency p50 (ms)", ColumnKind::Number),
        ("latency_ms_p99", "Latency p99 (ms)", ColumnKind::Number),
        ("status", "Status", ColumnKind::Text),
    ]);
    let (mut passed, mut all) = (0, 0);
    for (i, file) in files.iter().enumerate() {
        for report in &file.reports {
            let then = base.get(&key(report)).copied();
            let ratio = then.and_then(|t| Some(report.throughput_avg? / t.throughput_avg?));
            all += 1;
            passed += usize::from(report.throughput_avg.is_some());
            rows.rows.push(vec![
                word(&report.model_name),
                word(&file.name),
                word(&report.instance_type),
                Cell::Count(report.batch_size.into()),
                Cell::Count(report.n_models.into()),
                Cell::Count(report.workers_per_model.into()),
                number(report.throughput_avg),
                number(ratio),
                number(report.latency_ms_p50),
                number(report.latency_ms_p99),
                word(if i == 0 { "baseline" } else { status(report, then) }),
            ]);
        }
        let has: Vec<Key<'_>> = file.reports.iter().map(key).collect();
        for gone in base.iter().filter(|(k, _)| !has.contains(k)).map(|(_, r)| r) {
            let mut row = vec![Cell::Missing; rows.columns.len()];
            (row[0], row[1], row[2]) = (word(&gone.model_name), word(&file.name), word(&gone.instance_type));
            (row[3], row[4]) = (Cell::Count(gone.batch_size.into()), Cell::Count(gone.n_models.into()));
            (row[5], row[10]) = (Cell::Count(gone.workers_per_model.into()), word("gone"));
            rows.rows.push(row);
        }
    }
    let about = format!(
        "Each configuration (model, instance, batch size, models, workers) against {}, the file opened first: {passed} of {all} rows have a throughput. A change counts when the 95 % intervals of the throughputs do not touch, or, where a report has none, from {} % on.",
        first.name,
        NOISE * 100.0
    );
    let rows = Block::Table { title: "Configurations".to_owned(), file: "neuronperf".to_owned(), table: rows };
    Document { title, blocks: vec![Block::Text(about), rows] }
}

fn status(now: &Report, then: Option<&Report>) -> &'static str {
    let Some(then) = then else { return "new" };
    let (Some(a), Some(b)) = (then.throughput_avg, now.throughput_avg) else {
        return match (then.throughput_avg, now.throughput_avg) {
            (Some(_), None) => "now failing",
            (None, Some(_)) => "now passing",
            _ => "not enough data",
        };
    };
    let interval = |r: &Report| r.throughput_ci95_low.zip(r.throughput_ci95_high);
    let is_clear = match (interval(then), interval(now)) {
        (Some(t), Some(n)) => t.1 < n.0 || n.1 < t.0,
        _ => (b / a - 1.0).abs() >= NOISE,
    };
    match (is_clear, b > a) {
        (false, _) => "within noise",
        (true, true) => "improved",
        (true, false) => "regressed",
    }
}
