//! Marks with error bars: over time, or over the rank of a model.

use super::frame::{FigureSize, Frame};
use super::look::{LINES, Picture, fill, mark};
use crate::aggregate::{Measure, Report, ReportKind, datetime_utc};
use ns_base::Order;
use ns_base::convert::usize_to_f64;
use ns_view::plot::{Anchor, Axis, Form, Ink, Shape};

/// Pixels left of the vertical axis.
const LEFT: f64 = 78.0;
/// Half the width of an error bar's cap, pixels.
const CAP: f64 = 3.0;
/// Seconds in a day.
const DAY_S: f64 = 86_400.0;

/// A name, and points `(x, value)`; several series may belong to one backend.
struct Series {
    name: String,
    backend: usize,
    points: Vec<(f64, Measure)>,
}

/// Geometric means, or percentiles, of every timestamp.
pub fn time_figure(report: &Report<'_>, size: FigureSize, titles: &[&str]) -> Picture {
    let (mut drawing, frame) = Frame::new(size, titles, LEFT);
    let series = series_over_time(report);
    let times: Vec<f64> = series.iter().flat_map(|s| s.points.iter().map(|p| p.0)).collect();
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    // A single date is placed in the middle.
    let (low, high) = if high > low { (low, high) } else { (low - DAY_S, high + DAY_S) };
    let margin = (high - low) * 0.04;
    let share = |t: f64| (t - (low - margin)) / (high - low + 2.0 * margin);
    let axis = vertical(&series, "Geomean Speedup");
    frame.draw_vertical(&mut drawing, &axis);
    for t in dates(times) {
        let date = datetime_utc(t).map_or_else(String::new, |d| d.chars().take(10).collect());
        frame.draw_tick(&mut drawing, frame.x(share(t)), &date);
    }
    frame.draw_horizontal_title(&mut drawing, "Date");
    let styles_differ = report.kind == ReportKind::Histogram;
    for (i, s) in series.iter().enumerate() {
        draw_series(&mut drawing, &frame, &axis, s, i, styles_differ, &|x| share(x));
    }
    let names: Vec<String> = series.into_iter().map(|s| s.name).collect();
    frame.draw_legend(&mut drawing, &names, frame.legend_at_bottom(names.len()));
    drawing
}

/// Models by speed-up, with their names.
pub fn rank_figure(report: &Report<'_>, size: FigureSize, titles: &[&str]) -> Picture {
    let (mut drawing, frame) = Frame::new(size, titles, LEFT);
    let ranked: Vec<_> = (0..report.backends.len()).map(|b| report.ranked(b)).collect();
    let longest = ranked.iter().map(Vec::len).max().unwrap_or(0);
    let last = usize_to_f64(longest.saturating_sub(1));
    let share = |rank: f64| (rank + 0.5) / (last + 1.0);
    let series: Vec<Series> = ranked
        .iter()
        .zip(report.backends)
        .enumerate()
        .map(|(backend, (models, b))| Series {
            name: report.names.title(*b).to_owned(),
            backend,
            points: models.iter().enumerate().map(|(rank, (_, m))| (usize_to_f64(rank), *m)).collect(),
        })
        .collect();
    let axis = vertical(&series, "Speedup");
    frame.draw_vertical(&mut drawing, &axis);
    let step = (longest / 10).max(1);
    for rank in (0..longest).step_by(step) {
        frame.draw_tick(&mut drawing, frame.x(share(usize_to_f64(rank))), &rank.to_string());
    }
    frame.draw_horizontal_title(&mut drawing, "Workload Number");
    for (i, (s, models)) in series.iter().zip(&ranked).enumerate() {
        draw_series(&mut drawing, &frame, &axis, s, i, false, &|x| share(x));
        for (rank, (name, m)) in models.iter().enumerate() {
            let above = rank % 2 == 0;
            let (x, y) = (frame.x(share(usize_to_f64(rank))), frame.y(axis.share(m.avg)));
            let at = if above { (x + 4.0, y - 7.0) } else { (x - 4.0, y + 12.0) };
            let anchor = if above { Anchor::Rising } else { Anchor::RisingEnd };
            drawing.shapes.push(Shape::text(at, name, anchor, "model"));
        }
    }
    let names: Vec<String> = series.into_iter().map(|s| s.name).collect();
    frame.draw_legend(&mut drawing, &names, frame.legend_at_bottom(names.len()));
    drawing
}

/// Some of the timestamps, evenly spread over their order, including the first and the last.
fn dates(mut times: Vec<f64>) -> Vec<f64> {
    const MOST: usize = 6;
    times.order_by(f64::total_cmp);
    times.dedup();
    let ticks = times.len().min(MOST);
    let place = |i: usize| i * (times.len() - 1) / (ticks - 1).max(1);
    (0..ticks).map(|i| times[place(i)]).collect()
}

fn series_over_time(report: &Report<'_>) -> Vec<Series> {
    let is_histogram = report.kind == ReportKind::Histogram;
    let parts: &[(usize, &str)] = if is_histogram { &[(0, " p95"), (1, " p50"), (2, " p5")] } else { &[(0, "")] };
    let mut all = Vec::new();
    for (backend, b) in report.backends.iter().enumerate() {
        for (part, suffix) in parts {
            let point = |t: &crate::aggregate::TimeSpeedups| {
                let speedups = t.backends.get(backend)?.as_ref()?;
                let percentile = Measure { avg: *speedups.percentiles.get(*part)?, std: 0.0 };
                Some((t.timestamp, if is_histogram { percentile } else { speedups.gmean }))
            };
            let points = report.times.iter().filter_map(point).filter(|p| p.1.avg.is_finite()).collect();
            all.push(Series { name: format!("{}{suffix}", report.names.title(*b)), backend, points });
        }
    }
    all
}

/// The range from zero to above every error bar.
fn vertical(series: &[Series], title: &str) -> Axis {
    let tops = series.iter().flat_map(|s| &s.points).map(|(_, m)| m.avg + m.std).filter(|t| t.is_finite());
    Axis::from_zero(title, tops.fold(1.0, f64::max) * 1.05, 8)
}

fn draw_series(
    drawing: &mut Picture,
    frame: &Frame,
    axis: &Axis,
    series: &Series,
    n: usize,
    styles_differ: bool,
    share: &dyn Fn(f64) -> f64,
) {
    let fill = fill(n);
    let place = |x: f64, v: f64| (frame.x(share(x)), frame.y(axis.share(v)));
    let points = series.points.iter().map(|(x, m)| place(*x, m.avg)).collect();
    let class = if styles_differ { LINES[series.backend % LINES.len()] } else { LINES[0] };
    drawing.shapes.push(Shape::new(Form::Line(points), class, Ink::Stroke(fill)));
    for (x, m) in &series.points {
        if m.std > 0.0 && m.std.is_finite() {
            let ((x, low), (_, high)) = (place(*x, m.avg - m.std), place(*x, m.avg + m.std));
            for (from, to) in
                [((x, low), (x, high)), ((x - CAP, low), (x + CAP, low)), ((x - CAP, high), (x + CAP, high))]
            {
                drawing.shapes.push(Shape::new(Form::Line(vec![from, to]), "error", Ink::Stroke(fill)));
            }
        }
        let title = format!("{}: {:.3} ± {:.3}", series.name, m.avg, m.std);
        drawing.shapes.push(Shape::mark(mark(n), place(*x, m.avg), "mark", fill).with_title(title));
    }
}
