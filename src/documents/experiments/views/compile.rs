//! The extra time of the first repeat, and the compile time that XLA reports.

use std::collections::BTreeMap;

use super::super::entry::{Entry, Outcome};
use super::super::record_filter::RecordFilter;
use super::super::text::{colour_backends, moment, number, seconds, table, word};
use super::super::view_input::ViewInput;
use super::finding;
use ns_experiment::aggregate::Backend;
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::plot::{LineStyle, Lines};
use ns_view::table::ColumnKind;

/// A longer compile time is reported.
const LONG_S: f64 = 120.0;

fn compilation(entry: &Entry) -> Option<f64> {
    match entry.outcome {
        Outcome::Timed { compilation, .. } => compilation.filter(|s| s.is_finite()),
        _ => None,
    }
}

pub fn document(input: &ViewInput<'_>) -> Document {
    let title = "Time to compile".to_owned();
    // The newest record of each cell.
    let mut newest: BTreeMap<(&str, usize, &str), &Entry> = BTreeMap::new();
    for entry in input.records().filter(|e| input.backends.contains(&e.config.backend) && compilation(e).is_some()) {
        newest.insert((&entry.config.model, entry.config.backend.index(), &entry.config.batch), entry);
    }
    if newest.is_empty() {
        let text = "It is the time of the first repeat minus the mean of the others, so a record needs two repeats.";
        return Document { title, blocks: vec![finding(Tone::Warning, "No record has a time to compile.", text)] };
    }
    let mut rows = table(&[
        ("model", "Model", ColumnKind::Text),
        ("backend", "Backend", ColumnKind::Text),
        ("batch_size", "Batch size", ColumnKind::Text),
        ("compile_s", "First repeat minus the others (s)", ColumnKind::Number),
        ("xla_compile_s", "XLA's own count (s)", ColumnKind::Number),
        ("run", "Run (UTC)", ColumnKind::Text),
    ]);
    let mut targets = Vec::new();
    for ((model, backend, batch), entry) in &newest {
        let backend = Backend::ALL[*backend];
        rows.rows.push(vec![
            word(*model),
            word(backend.title()),
            word(*batch),
            number(compilation(entry)),
            number(entry.xla_compile_s),
            word(moment(entry.timestamp)),
        ]);
        targets.push(RecordFilter::of(Some(model), Some(backend.name()), Some(entry.timestamp)));
    }
    let tiles = input.backends.iter().filter_map(|b| tile(*b, newest.values().copied())).collect();
    let mut blocks = vec![
        Block::Text("The first repeat records and compiles. Its time beyond the mean of the others is the time to compile, as the suite counts it. Choose the metric \u{201c}compile\u{201d} to compare it with a baseline in the other views.".to_owned()),
        Block::Tiles(tiles),
    ];
    let long: Vec<&str> =
        newest.iter().filter(|(_, e)| compilation(e).is_some_and(|s| s > LONG_S)).map(|((m, ..), _)| *m).collect();
    if !long.is_empty() {
        blocks.push(finding(Tone::Warning, "Some models compile for longer than two minutes.", long.join(", ")));
    }
    blocks.extend(over_time(input));
    blocks.push(Block::Rows {
        title: "Newest time to compile".to_owned(),
        file: "compile".to_owned(),
        table: rows,
        targets,
        faint: Vec::new(),
    });
    Document { title, blocks }
}

fn tile<'a>(backend: Backend, entries: impl Iterator<Item = &'a Entry>) -> Option<Tile> {
    let times: Vec<f64> = entries.filter(|e| e.config.backend == backend).filter_map(compilation).collect();
    let mean = ns_base::stats::mean(&times)?;
    let longest = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let note = format!("mean of {} cells; the longest {}", times.len(), seconds(longest));
    Some(Tile { name: backend.title().to_owned(), value: seconds(mean), note, tone: Tone::Neutral, share: None })
}

fn over_time(input: &ViewInput<'_>) -> Option<Block> {
    if input.runs.len() < 2 {
        return None;
    }
    let of = |backend: &Backend| {
        let mut by_run: Vec<(f64, Vec<f64>)> = input.runs.iter().map(|t| (*t, Vec::new())).collect();
        for entry in input.records().filter(|e| e.config.backend == *backend) {
            let Some(s) = compilation(entry) else { continue };
            if let Ok(at) = by_run.binary_search_by(|(t, _)| t.total_cmp(&entry.timestamp)) {
                by_run[at].1.push(s);
            }
        }
        let points = by_run.iter().filter_map(|(t, times)| Some((*t, ns_base::stats::mean(times)?))).collect();
        (backend.title().to_owned(), LineStyle::Solid, points)
    };
    let mut plot = Lines::new("Run (UTC)", "Mean time to compile (s)", input.backends.iter().map(of), false)
        .with_names(input.runs.iter().map(|t| (*t, moment(*t))).collect(), |name| name.chars().take(10).collect());
    colour_backends(&mut plot);
    let targets = plot
        .lines
        .iter()
        .map(|line| {
            let id = input.backends.iter().find(|b| b.title() == line.name).map(|b| b.name());
            line.points.iter().map(|(t, _)| RecordFilter::of(None, id, Some(*t))).collect()
        })
        .collect();
    let figure = Figure { title: "Mean time to compile".to_owned(), note: String::new(), plot: Plot::Lines(plot) };
    Some(Block::Points { figure, targets })
}
