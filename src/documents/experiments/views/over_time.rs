//! Geometric means and percentiles of the models, run by run, with the runs where they changed permanently.

use super::super::levels::changes;
use super::super::record_filter::RecordFilter;
use super::super::reproduce;
use super::super::text::{backend_fill, change, colour_backends, moment, number, of_report, speedup};
use super::super::view_input::ViewInput;
use super::nothing;
use ns_base::Order;
use ns_base::convert::{f64_to_usize, usize_to_f64};
use ns_experiment::aggregate::{BackendSpeedups, ReportKind, TimeSpeedups};
use ns_view::document::{Block, Document, Figure, Plot};
use ns_view::plot::{LineMark, LineStyle, Lines, Series};
use ns_view::table::{Column, ColumnKind, Table};

/// A smaller step is not marked.
const LEAST_STEP: f64 = 0.05;

/// Geometric means over time.
pub fn speedups(input: &ViewInput<'_>) -> Document {
    let report = input.report(ReportKind::Speedup);
    let mut table = report.table().map(|t| of_report(&t)).unwrap_or_default();
    let title = format!("Speed-up of {} over {}", input.metric_text(), input.base_text());
    if table.rows.is_empty() {
        return Document { title, blocks: vec![nothing(input)] };
    }
    add_intervals(input, &mut table);
    let plot = means(input);
    let command = Block::Command(reproduce::aggregate(input, "speedup"));
    let rows = with_targets(input, &table, "Geometric mean by run", "speedup");
    let mut blocks = vec![plot, rows];
    blocks.extend(lasting_changes(input));
    blocks.push(command);
    Document { title, blocks }
}

/// The geometric mean of each backend, run by run.
pub fn means(input: &ViewInput<'_>) -> Block {
    let points = |b: usize| -> Vec<(f64, f64)> {
        let at = |t: &TimeSpeedups| Some((t.timestamp, t.backends.get(b)?.as_ref()?.gmean.avg));
        input.times.iter().filter_map(at).collect()
    };
    let series = (0..input.backends.len()).map(|b| (title_of(input, b), LineStyle::Solid, points(b)));
    figure(input, "Geometric mean of the speed-ups", series, None)
}

/// Percentiles of the models over time.
pub fn percentiles(input: &ViewInput<'_>) -> Document {
    let table = input.report(ReportKind::Histogram).table().map(|t| of_report(&t)).unwrap_or_default();
    let title = format!("Percentiles of the speed-ups of {} over {}", input.metric_text(), input.base_text());
    if table.rows.is_empty() {
        return Document { title, blocks: vec![nothing(input)] };
    }
    let of = |b: usize, p: usize| -> Vec<(f64, f64)> {
        let at = |t: &TimeSpeedups| Some((t.timestamp, *t.backends.get(b)?.as_ref()?.percentiles.get(p)?));
        input.times.iter().filter_map(at).collect()
    };
    let plots = (0..input.backends.len()).filter(|b| !of(*b, 1).is_empty()).map(|b| {
        let names = [("p95", LineStyle::Dashed), ("p50", LineStyle::Solid), ("p5", LineStyle::Dashed)];
        let series = names.into_iter().enumerate().map(|(p, (name, style))| (name.to_owned(), style, of(b, p)));
        figure(input, &format!("Models with {}", title_of(input, b)), series, Some(b))
    });
    let side = |plot| Document { title: String::new(), blocks: vec![plot] };
    let mut blocks = vec![Block::Beside(plots.map(side).collect())];
    blocks.extend(spread_of_models(input));
    blocks.push(with_targets(input, &table, "Percentiles by run", "histogram"));
    blocks.push(Block::Command(reproduce::aggregate(input, "histogram")));
    Document { title, blocks }
}

fn title_of(input: &ViewInput<'_>, backend: usize) -> String {
    input.backends.get(backend).map_or("", |b| b.title()).to_owned()
}

/// Lines over the dates of the runs, all of one backend or each of its own; each point opens its records.
fn figure(input: &ViewInput<'_>, title: &str, series: impl Iterator<Item = Series>, of: Option<usize>) -> Block {
    let mut plot = Lines::new("Run (UTC)", "Speed-up", series, false)
        .with_names(input.times.iter().map(|t| (t.timestamp, moment(t.timestamp))).collect(), |name| {
            name.chars().take(10).collect()
        });
    match of.and_then(|b| backend_fill(&title_of(input, b))) {
        Some(fill) => plot.lines.iter_mut().for_each(|line| line.fill = fill),
        None => colour_backends(&mut plot),
    }
    let mut targets = Vec::new();
    for i in 0..plot.lines.len() {
        let (name, points) = (plot.lines[i].name.clone(), plot.lines[i].points.clone());
        let backend = input.backends.iter().position(|b| b.title() == name);
        let id = backend.and_then(|b| input.backends.get(b)).map(|b| b.name());
        targets.push(points.iter().map(|(t, _)| RecordFilter::of(None, id, Some(*t))).collect());
        if let Some(b) = backend {
            plot = plot.with_spread(i, points.iter().map(|(t, _)| interval_at(input, b, *t)).collect());
            plot.marks.extend(steps(input, b));
        }
    }
    plot.marks.order_by(|a, b| a.x.total_cmp(&b.x));
    let has_intervals = plot.lines.iter().any(|line| !line.spread.is_empty());
    let note = if has_intervals {
        "Bars are 95 % confidence intervals; dotted lines mark runs where a mean changed permanently by more than 5 %."
    } else {
        ""
    };
    let figure = Figure { title: title.to_owned(), note: note.to_owned(), plot: Plot::Lines(plot) };
    Block::Points { figure, targets }
}

fn interval_at(input: &ViewInput<'_>, backend: usize, timestamp: f64) -> (f64, f64) {
    let at = input.reaches.iter().find(|t| t.timestamp == timestamp);
    at.and_then(|t| t.backends.get(backend)?.as_ref())
        .map_or((f64::NAN, f64::NAN), |b| (b.gmean.avg - b.gmean.std, b.gmean.avg + b.gmean.std))
}

/// The runs where the geometric mean of a backend moved to another level.
fn steps(input: &ViewInput<'_>, backend: usize) -> Vec<LineMark> {
    let mean = |t: &TimeSpeedups| Some(t.backends.get(backend)?.as_ref()?.gmean.avg);
    let series: Vec<Option<f64>> = input.times.iter().map(mean).collect();
    let mark = |(then, now): (ns_experiment::regression::Step, ns_experiment::regression::Step)| {
        let (before, after) = (then.median, now.median);
        let t = input.times.get(now.start)?;
        let name = title_of(input, backend);
        let text = format!("{name} went from {} to {} ({})", speedup(before), speedup(after), change(after / before));
        let is_large = (after / before - 1.0).abs() >= LEAST_STEP;
        is_large.then_some(LineMark { x: t.timestamp, text, is_bad: after < before })
    };
    changes(&series).into_iter().filter_map(mark).collect()
}

/// Models that became slower and still are, as `--report changes` lists them.
fn lasting_changes(input: &ViewInput<'_>) -> Option<Block> {
    let report = input.report(ReportKind::Changes).table()?;
    let table = of_report(&report);
    if table.rows.is_empty() {
        let text = "No model became more than 5 % slower than the baseline and stayed so.";
        return Some(Block::Text(text.to_owned()));
    }
    let targets = report.rows.iter().map(|row| {
        let text = |i: usize| match row.get(i) {
            Some(ns_experiment::aggregate::Cell::Text(text)) => text.clone(),
            _ => String::new(),
        };
        let backend = input.backends.iter().find(|b| b.title() == text(1)).map(|b| b.name());
        RecordFilter::of(Some(&text(2)), backend, None)
    });
    let (title, file) =
        ("Models that became more than 5 % slower than the baseline and still are".to_owned(), "changes".to_owned());
    Some(Block::Rows { title, file, targets: targets.collect(), table, faint: Vec::new() })
}

/// The number of models for each speed-up now.
fn spread_of_models(input: &ViewInput<'_>) -> Option<Block> {
    const BARS: usize = 12;
    let report = input.report(ReportKind::Latest);
    let newest: Vec<(usize, &BackendSpeedups)> =
        (0..input.backends.len()).filter_map(|b| Some((b, report.newest(b)?))).collect();
    let all = || newest.iter().flat_map(|(_, n)| n.models.iter().map(|(_, m)| m.avg)).filter(|x| x.is_finite());
    let (low, high) = (all().fold(f64::INFINITY, f64::min), all().fold(f64::NEG_INFINITY, f64::max));
    if high <= low {
        return None;
    }
    let width = (high - low) / usize_to_f64(BARS);
    let series = |(b, speedups): &(usize, &BackendSpeedups)| {
        let mut counts = [0.0; BARS];
        for (_, m) in speedups.models.iter().filter(|(_, m)| m.avg.is_finite()) {
            let bar = f64_to_usize((m.avg - low) / width);
            counts[bar.min(BARS - 1)] += 1.0;
        }
        let mut points: Vec<(f64, f64)> =
            counts.iter().enumerate().map(|(i, n)| (low + width * usize_to_f64(i), *n)).collect();
        points.push((high, 0.0));
        let mut plot = Lines::new("Speed-up", "Models", [(title_of(input, *b), LineStyle::Steps, points)], false);
        colour_backends(&mut plot);
        Figure {
            title: format!("Models by speed-up with {} now", title_of(input, *b)),
            note: String::new(),
            plot: Plot::Lines(plot),
        }
    };
    Some(Block::Plots(newest.iter().map(series).collect()))
}

/// Lower and upper ends of the intervals, after the columns of the report.
fn add_intervals(input: &ViewInput<'_>, table: &mut Table) {
    let times: Vec<f64> =
        input.times.iter().filter(|t| t.backends.iter().any(Option::is_some)).map(|t| t.timestamp).collect();
    for (b, backend) in input.backends.iter().enumerate() {
        let title = backend.title();
        table.columns.push(Column::new(&format!("Low95({title})"), &format!("95 % low {title}"), ColumnKind::Number));
        table.columns.push(Column::new(&format!("High95({title})"), &format!("95 % high {title}"), ColumnKind::Number));
        for (row, t) in table.rows.iter_mut().zip(&times) {
            let (low, high) = interval_at(input, b, *t);
            row.extend([number(Some(low)), number(Some(high))]);
        }
    }
}

fn with_targets(input: &ViewInput<'_>, table: &Table, title: &str, file: &str) -> Block {
    let of = |t: &&TimeSpeedups| match file {
        "histogram" => t.backends.first().is_some_and(Option::is_some),
        _ => t.backends.iter().any(Option::is_some),
    };
    let targets = input.times.iter().filter(of).map(|t| RecordFilter::of(None, None, Some(t.timestamp))).collect();
    Block::Rows { title: title.to_owned(), file: file.to_owned(), table: table.clone(), targets, faint: Vec::new() }
}
