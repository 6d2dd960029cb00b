//! Plots of NeuronPerf reports: speed-ups of each later file over the file opened first. Points open the rows.

use super::super::record_filter::RecordFilter;
use super::super::store::ReportFile;
use super::super::view_input::ViewInput;
use super::finding;
use super::reports::BaseFile;
use ns_base::Order;
use ns_base::convert::{f64_to_usize, usize_to_f64};
use ns_base::stats::percentile_sorted;
use ns_view::document::{Block, Document, Figure, Plot, Tone};
use ns_view::plot::{LineStyle, Lines, Scatter, Series};

/// Most letters of a file's name below the axis.
const TICK_LETTERS: usize = 14;

/// The configurations of the file opened last, by speed-up.
pub fn latest(input: &ViewInput<'_>) -> Document {
    let files = &input.store.reports;
    let title = "Latest speed-up by configuration".to_owned();
    let Some((position, last)) = files.iter().enumerate().next_back().filter(|(i, _)| *i > 0) else {
        return Document { title, blocks: vec![needs_two()] };
    };
    let base = BaseFile::first(files);
    let mut ranked: Vec<(usize, f64)> =
        last.reports.iter().enumerate().filter_map(|(row, r)| Some((row, base.ratio(r)?))).collect();
    if ranked.is_empty() {
        return Document { title, blocks: vec![nothing_in_common()] };
    }
    ranked.order_by(|a, b| a.1.total_cmp(&b.1));
    let points = ranked.iter().enumerate().filter_map(|(x, (row, ratio))| {
        let report = last.reports.get(*row)?;
        Some((report.model_name.clone(), usize_to_f64(x), *ratio, format!("{}, {}", report.model_name, report.label())))
    });
    let plot = Scatter::new("Configuration, from the slowest", "Speed-up", points);
    let targets = vec![ranked.iter().map(|(row, _)| RecordFilter::of_report(position, *row)).collect()];
    let note = format!("Throughput in {} over that in {}; above 1 it is faster.", last.name, base.name);
    let figure = Figure { title: "Speed-up of each configuration".to_owned(), note, plot: Plot::Scatter(plot) };
    Document { title, blocks: vec![Block::Points { figure, targets }] }
}

/// The geometric mean of the speed-ups of each file.
pub fn over_files(input: &ViewInput<'_>) -> Document {
    let title = "Geometric mean of the speed-ups, file by file".to_owned();
    let mean = |ratios: &[f64]| {
        let logs: f64 = ratios.iter().map(|r| libm::log(*r)).sum();
        Some(libm::exp(logs / usize_to_f64(ratios.len())))
    };
    let lines = [("Geometric mean", LineStyle::Solid, &mean as &dyn Fn(&[f64]) -> Option<f64>)];
    of_files(
        input,
        title,
        "Throughput of each file over that of the first, in the configurations that both have.",
        &lines,
    )
}

/// Percentiles of the speed-ups of each file.
pub fn percentiles(input: &ViewInput<'_>) -> Document {
    let title = "Percentiles of the speed-ups, file by file".to_owned();
    let at = |p: f64| move |ratios: &[f64]| percentile_sorted(ratios, p);
    let (p95, p50, p5) = (at(95.0), at(50.0), at(5.0));
    let lines = [
        ("p95", LineStyle::Dashed, &p95 as &dyn Fn(&[f64]) -> Option<f64>),
        ("p50", LineStyle::Solid, &p50),
        ("p5", LineStyle::Dashed, &p5),
    ];
    of_files(input, title, "Spread of the configurations of each file.", &lines)
}

/// A name, a style, and a number of the ascending speed-ups of a file.
type LineOf<'a> = (&'a str, LineStyle, &'a dyn Fn(&[f64]) -> Option<f64>);

fn of_files(input: &ViewInput<'_>, title: String, note: &str, lines: &[LineOf<'_>]) -> Document {
    let files = &input.store.reports;
    if files.len() < 2 {
        return Document { title, blocks: vec![needs_two()] };
    }
    let base = BaseFile::first(files);
    let ratios: Vec<Vec<f64>> = files.iter().map(|file| ascending(&base, file)).collect();
    if ratios.iter().skip(1).all(Vec::is_empty) {
        return Document { title, blocks: vec![nothing_in_common()] };
    }
    let series = lines.iter().map(|(name, style, of)| -> Series {
        let points = ratios.iter().enumerate().filter(|(_, r)| !r.is_empty());
        ((*name).to_owned(), *style, points.filter_map(|(i, r)| Some((usize_to_f64(i), of(r)?))).collect())
    });
    let names = files.iter().enumerate().map(|(i, file)| (usize_to_f64(i), file.name.clone())).collect();
    let plot = Lines::new("File", "Speed-up", series, false)
        .with_names(names, |name| name.chars().take(TICK_LETTERS).collect());
    // A point represents a whole file; it opens the file's first row.
    let targets = plot
        .lines
        .iter()
        .map(|line| line.points.iter().map(|(x, _)| RecordFilter::of_report(f64_to_usize(*x), 0)).collect());
    let targets = targets.collect();
    let figure = Figure { title: title.clone(), note: note.to_owned(), plot: Plot::Lines(plot) };
    Document { title, blocks: vec![Block::Points { figure, targets }] }
}

fn ascending(base: &BaseFile<'_>, file: &ReportFile) -> Vec<f64> {
    let mut all: Vec<f64> = file.reports.iter().filter_map(|r| base.ratio(r)).collect();
    all.order_by(f64::total_cmp);
    all
}

fn needs_two() -> Block {
    let text = "Drop a second report on this page; the others are compared with the file opened first.";
    finding(Tone::Neutral, "There is only one report.", text)
}

pub(super) fn nothing_in_common() -> Block {
    let text = "A configuration is a model, an instance, a batch size, a number of models and a number of workers, with a throughput in both files.";
    finding(Tone::Warning, "The files have no configuration in common.", text)
}
