//! Reports of NeuronPerf side by side: each configuration of every file against the first file.

use std::collections::BTreeMap;

use super::super::chosen::Chosen;
use super::super::open::Opened;
use super::super::store::ReportFile;
use super::super::text::{number, table, word};
use super::{finding, report_plots};
use crate::bench::Report;
use crate::view::document::{Block, Document, Tone};
use crate::view::table::{Cell, ColumnKind, Table};

/// A smaller difference is noise where a report has no interval.
const NOISE: f64 = 0.05;

pub(super) type Key<'a> = (&'a str, &'a str, u32, u32, u32);

/// What a configuration is told by.
pub(super) fn key(report: &Report) -> Key<'_> {
    (&report.model_name, &report.instance_type, report.batch_size, report.n_models, report.workers_per_model)
}

/// What reports are compared with: the file opened first.
pub(super) struct Against<'a> {
    /// Its name.
    pub name: &'a str,
    rows: BTreeMap<Key<'a>, &'a Report>,
}

impl<'a> Against<'a> {
    /// The first of some files; nothing when there is none.
    pub fn first(files: &'a [ReportFile]) -> Self {
        let rows = files.first().map_or_else(BTreeMap::new, |f| f.reports.iter().map(|r| (key(r), r)).collect());
        Self { name: files.first().map_or("", |f| f.name.as_str()), rows }
    }

    /// Throughput of a configuration over that in the first file, where both have one.
    pub fn ratio(&self, report: &Report) -> Option<f64> {
        let then = self.rows.get(&key(report))?.throughput_avg?;
        Some(report.throughput_avg? / then).filter(|r| r.is_finite() && *r > 0.0)
    }
}

/// The view.
pub fn document(chosen: &Chosen<'_>) -> Document {
    let files = &chosen.store.reports;
    let title = "NeuronPerf reports side by side".to_owned();
    let Some(first) = files.first() else {
        let text = "Drop CSV or JSON files of NeuronPerf, or of this program, on this page.";
        return Document { title, blocks: vec![finding(Tone::Neutral, "No report is open.", text)] };
    };
    let against = Against::first(files);
    let Configurations { rows, targets, passed, all } = Configurations::of(files, &against);
    let about = format!(
        "Each configuration (model, instance, batch size, models, workers) against {}, the file opened first: {passed} of {all} rows have a throughput. A change counts when the 95 % intervals of the throughputs do not touch, or, where a report has none, from {} % on.",
        first.name,
        NOISE * 100.0
    );
    let rows = Block::Rows { title: "Configurations".to_owned(), file: "neuronperf".to_owned(), table: rows, targets };
    let mut blocks = vec![Block::Text(about)];
    if files.len() > 1 {
        let plots = [report_plots::over_files(chosen), report_plots::latest(chosen), report_plots::percentiles(chosen)];
        let side = |plot: Document| Document { title: String::new(), blocks: plot.blocks };
        blocks.push(Block::Beside(plots.into_iter().map(side).collect()));
    }
    blocks.push(rows);
    Document { title, blocks }
}

/// A row for each configuration of every file, and for each of the first file that another has no more.
struct Configurations {
    rows: Table,
    /// What each row opens.
    targets: Vec<String>,
    /// Rows with a throughput.
    passed: usize,
    /// Rows with a result.
    all: usize,
}

impl Configurations {
    fn of(files: &[ReportFile], against: &Against<'_>) -> Self {
        let base = &against.rows;
        let mut targets = Vec::new();
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
            for (row, report) in file.reports.iter().enumerate() {
                let then = base.get(&key(report)).copied();
                let ratio = against.ratio(report);
                targets.push(Opened::of_report(i, row));
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
                targets.push(String::new());
            }
        }
        Self { rows, targets, passed, all }
    }
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
