//! The verifier's codes, always shown together with the times.

use std::collections::BTreeMap;

use super::super::entry::{Entry, Outcome};
use super::super::record_filter::RecordFilter;
use super::super::text::{moment, number, table, word};
use super::super::view_input::ViewInput;
use super::finding;
use ns_experiment::aggregate::Backend;
use ns_view::document::{Block, Document, Figure, Plot, Tone};
use ns_view::plot::Bars;
use ns_view::table::{ColumnKind, Table};

/// Codes that carry no information about values.
const SILENT: [&str; 2] = ["VERIFIER_SKIPPED", "VERIFIER_DIDNT_RUN"];

/// The newest code and the newest time of a cell. `--verify` replaces timing, so they come from different records.
#[derive(Default)]
struct Cell<'a> {
    code: Option<(&'a str, f64)>,
    timed: Option<&'a Entry>,
    failed: Option<&'a Entry>,
}

/// Whether a code says that the values are right; `None` when it carries no information.
pub fn says(code: &str) -> Option<bool> {
    if SILENT.contains(&code) { None } else { Some(code == "PASS") }
}

/// The cells by model and backend.
type Cells<'a> = BTreeMap<(&'a str, usize), Cell<'a>>;

/// The newest of each cell, and how many records have each code.
fn cells<'a>(input: &ViewInput<'a>) -> (Cells<'a>, BTreeMap<&'a str, f64>) {
    let mut cells = Cells::new();
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    for entry in input.records().filter(|e| input.backends.contains(&e.config.backend)) {
        let cell = cells.entry((&entry.config.model, entry.config.backend.index())).or_default();
        if let Some(code) = entry.code.as_deref() {
            *counts.entry(code).or_default() += 1.0;
            // A code with information is not replaced by one without.
            if says(code).is_some() || cell.code.is_none_or(|(old, _)| says(old).is_none()) {
                cell.code = Some((code, entry.timestamp));
            }
        }
        match entry.outcome {
            Outcome::Timed { .. } => cell.timed = Some(entry),
            Outcome::Failed(_) => cell.failed = Some(entry),
            _ => {}
        }
    }
    (cells, counts)
}

/// A row for each cell, the target that each row opens, and the cells whose values were not accepted.
fn rows(input: &ViewInput<'_>, cells: &Cells<'_>) -> (Table, Vec<String>, Vec<String>) {
    let mut rows = table(&[
        ("model", "Model", ColumnKind::Text),
        ("backend", "Backend", ColumnKind::Text),
        ("code", "Verification", ColumnKind::Text),
        ("verified", "Verified in the run of", ColumnKind::Text),
        ("time_ms", "Time (ms)", ColumnKind::Number),
        ("timed", "Timed in the run of", ColumnKind::Text),
        ("error", "Error", ColumnKind::Text),
    ]);
    let (mut targets, mut wrong) = (Vec::new(), Vec::new());
    for ((model, backend), cell) in cells {
        let backend = Backend::ALL[*backend];
        let code = cell.code.map_or("", |c| c.0);
        if says(code) == Some(false) && !code.is_empty() {
            wrong.push(format!("{model} with {} ({code})", backend.title()));
        }
        let time = cell.timed.and_then(|e| e.timed(input.metric)).map(|t| t.measure.avg * 1e3);
        let error =
            match cell.failed.filter(|f| cell.timed.is_none_or(|t| t.timestamp < f.timestamp)).map(|e| &e.outcome) {
                Some(Outcome::Failed(error)) => error.to_string(),
                _ => String::new(),
            };
        rows.rows.push(vec![
            word(*model),
            word(backend.title()),
            word(code),
            word(cell.code.map_or_else(String::new, |c| moment(c.1))),
            number(time),
            word(cell.timed.map_or_else(String::new, |e| moment(e.timestamp))),
            word(error),
        ]);
        targets.push(RecordFilter::of(Some(model), Some(backend.name()), None));
    }
    (rows, targets, wrong)
}

pub fn document(input: &ViewInput<'_>) -> Document {
    let title = "Verification beside performance".to_owned();
    let (cells, counts) = cells(input);
    if counts.is_empty() {
        let text = "Older records have no verification_code. Run the experiments again with --verify, and once more without it for the times.";
        return Document { title, blocks: vec![finding(Tone::Warning, "No record has a code of the verifier.", text)] };
    }
    let (rows, targets, wrong) = rows(input, &cells);
    let about = "PASS: the values are those of eager execution. VERIFIER_SKIPPED: verification was not requested, because it replaces timing; run once with --verify and once without.";
    let mut blocks = vec![Block::Text(about.to_owned())];
    if !wrong.is_empty() {
        blocks.push(finding(
            Tone::Bad,
            "Values were not accepted; the speed of these cells means little.",
            wrong.join(", "),
        ));
    }
    let bars = Bars::new(counts.into_iter().map(|(code, n)| (code.to_owned(), code.to_owned(), n)));
    let plot = Plot::Bars(bars, "records".to_owned());
    blocks.push(Block::Plot(Figure { title: "Codes of all records".to_owned(), note: String::new(), plot }));
    blocks.push(Block::Rows {
        title: "Code and time of each cell".to_owned(),
        file: "verification".to_owned(),
        table: rows,
        targets,
        faint: Vec::new(),
    });
    Document { title, blocks }
}
