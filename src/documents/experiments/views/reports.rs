//! Reports of NeuronPerf side by side: each configuration of every file against the first file.

use std::collections::{BTreeMap, BTreeSet};

use super::super::record_filter::RecordFilter;
use super::super::store::ReportFile;
use super::super::text::{number, table, word};
use super::super::view_input::ViewInput;
use super::{finding, report_plots};
use ns_base::stats::round_to;
use ns_bench::Report;
use ns_view::document::{Block, Document, Tone};
use ns_view::table::{Cell, ColumnKind, Table};

/// Smaller differences count as noise if a report has no interval.
const NOISE: f64 = 0.05;

type Key<'a> = (&'a str, &'a str, u32, u32, u32);

/// The key by which configurations of different files are the same, besides batch size, models and workers.
#[derive(Clone, Copy)]
struct Sameness {
    model: bool,
    instance: bool,
}

impl Sameness {
    /// From the strictest to the loosest.
    const ALL: [Self; 4] = [
        Self { model: true, instance: true },
        Self { model: true, instance: false },
        Self { model: false, instance: true },
        Self { model: false, instance: false },
    ];

    /// The values that identify a configuration.
    fn key(self, report: &Report) -> Key<'_> {
        let part = |counts: bool, text| if counts { text } else { "" };
        let (model, instance) =
            (part(self.model, report.model_name.as_str()), part(self.instance, report.instance_type.as_str()));
        (model, instance, report.batch_size, report.n_models, report.workers_per_model)
    }

    /// Whether the key distinguishes the configurations of each file: a field that is not in the key has one value per file.
    fn fits(self, files: &[ReportFile]) -> bool {
        let is_one = |file: &ReportFile, of: fn(&Report) -> &str| {
            file.reports.iter().map(of).collect::<BTreeSet<_>>().len() <= 1
        };
        files.iter().all(|file| {
            (self.model || is_one(file, |r| &r.model_name)) && (self.instance || is_one(file, |r| &r.instance_type))
        })
    }

    /// The key in words.
    fn words(self) -> &'static str {
        match (self.model, self.instance) {
            (true, true) => "model, instance, batch size, models, workers",
            (true, false) => "model, batch size, models, workers, with one instance per file",
            (false, true) => "instance, batch size, models, workers, with one model per file",
            (false, false) => "batch size, models, workers, with one model and one instance per file",
        }
    }
}

/// The base of the comparison: the file opened first.
pub(super) struct BaseFile<'a> {
    pub name: &'a str,
    same: Sameness,
    rows: BTreeMap<Key<'a>, &'a Report>,
}

impl<'a> BaseFile<'a> {
    /// A comparison with the first file; `None` without files. Files without a configuration in common, each with one instance or one
    /// model, are compared across instances or models.
    pub fn first(files: &'a [ReportFile]) -> Self {
        let fitting = Sameness::ALL.into_iter().filter(|same| same.fits(files)).map(|same| Self::by(same, files));
        let mut fitting = fitting.collect::<Vec<_>>().into_iter();
        let strictest = fitting.next().unwrap_or_else(|| Self::by(Sameness::ALL[0], files));
        if strictest.has_common(files) {
            return strictest;
        }
        fitting.find(|against| against.has_common(files)).unwrap_or(strictest)
    }

    fn by(same: Sameness, files: &'a [ReportFile]) -> Self {
        let rows = files.first().map_or_else(BTreeMap::new, |f| f.reports.iter().map(|r| (same.key(r), r)).collect());
        Self { name: files.first().map_or("", |f| f.name.as_str()), same, rows }
    }

    /// Whether a later file has a configuration of the first, with a throughput in both.
    pub fn has_common(&self, files: &[ReportFile]) -> bool {
        files.iter().skip(1).flat_map(|file| &file.reports).any(|report| self.ratio(report).is_some())
    }

    /// Throughput of a configuration divided by that in the first file, if both have one.
    pub fn ratio(&self, report: &Report) -> Option<f64> {
        let then = self.then(report)?.throughput_avg?;
        Some(report.throughput_avg? / then).filter(|r| r.is_finite() && *r > 0.0)
    }

    /// Whether two rows have the same configuration.
    pub fn is_same(&self, a: &Report, b: &Report) -> bool {
        self.same.key(a) == self.same.key(b)
    }

    /// The same configuration in the first file.
    fn then(&self, report: &Report) -> Option<&'a Report> {
        self.rows.get(&self.same.key(report)).copied()
    }

    /// The configurations of the first file that another file lacks.
    fn gone_from(&self, file: &ReportFile) -> Vec<&'a Report> {
        let has: BTreeSet<Key<'_>> = file.reports.iter().map(|r| self.same.key(r)).collect();
        self.rows.iter().filter(|(key, _)| !has.contains(*key)).map(|(_, report)| *report).collect()
    }
}

pub fn document(input: &ViewInput<'_>) -> Document {
    let files = &input.store.reports;
    let title = "NeuronPerf reports side by side".to_owned();
    let Some(first) = files.first() else {
        let text = "Drop CSV or JSON files of NeuronPerf, or of this program, on this page.";
        return Document { title, blocks: vec![finding(Tone::Neutral, "No report is open.", text)] };
    };
    let against = BaseFile::first(files);
    let Configurations { rows, targets, passed, all } = Configurations::of(files, &against);
    let about = format!(
        "Each configuration ({}) against {}, the file opened first: {passed} of {all} rows have a throughput. A change counts when the 95 % intervals of the throughputs do not overlap, or, if a report has none, from {} % on.",
        against.same.words(),
        first.name,
        NOISE * 100.0
    );
    let rows = Block::Rows {
        title: "Configurations".to_owned(),
        file: "neuronperf".to_owned(),
        table: rows,
        targets,
        faint: Vec::new(),
    };
    let mut blocks = vec![Block::Text(about)];
    if files.len() > 1 && !against.has_common(files) {
        blocks.push(report_plots::nothing_in_common());
    } else if files.len() > 1 {
        let plots = [report_plots::over_files(input), report_plots::latest(input), report_plots::percentiles(input)];
        let side = |plot: Document| Document { title: String::new(), blocks: plot.blocks };
        blocks.push(Block::Beside(plots.into_iter().map(side).collect()));
    }
    blocks.push(rows);
    Document { title, blocks }
}

/// A row for each configuration of every file, and for each configuration of the first file that another file lacks.
struct Configurations {
    rows: Table,
    /// The target that each row opens.
    targets: Vec<String>,
    /// Rows with a throughput.
    passed: usize,
    /// Rows with a result.
    all: usize,
}

impl Configurations {
    fn of(files: &[ReportFile], against: &BaseFile<'_>) -> Self {
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
                let then = against.then(report);
                let ratio = against.ratio(report);
                targets.push(RecordFilter::of_report(i, row));
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
            for gone in against.gone_from(file) {
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
    // One of them may be from a file, which has thousandths.
    if round_to(a, 3) == round_to(b, 3) {
        return "within noise";
    }
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
