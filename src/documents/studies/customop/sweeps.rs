//! The comparison of several values of a constant, numbers of processors and networks: a table, and a plot over each.

use super::document::CaseReport;
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_times;
use ns_forms::studies::CasePurpose;
use ns_view::document::{Block, Figure, Plot};
use ns_view::plot::{Bars, LineStyle, Lines};
use ns_view::table::Table;

/// A line of a plot: its name, its look, its points.
type Series = (String, LineStyle, Vec<(f64, f64)>);

/// The axis of a plot.
struct Axis {
    title: &'static str,
    /// Its place on the axis.
    value: fn(&CaseReport) -> Option<f64>,
    /// The values that are constant on one line of the plot.
    rest: fn(&CaseReport) -> String,
}

const AXES: [Axis; 3] = [
    Axis {
        title: "Value of the constant",
        value: |f| f.case.constant.as_ref()?.parse().ok(),
        rest: |f| format!("{}, {}, {}", processors(f), layers(f), f.report.dtype),
    },
    Axis {
        title: "Processors",
        value: |f| Some(f64::from(f.report.cores)),
        rest: |f| format!("{}, {}{}", layers(f), f.report.dtype, constant(f)),
    },
    Axis {
        title: "Elements of the operator in a step",
        value: |f| Some(u64_to_f64(f.case.spec.hidden().sum::<u64>()) * u64_to_f64(f.case.spec.batch)),
        rest: |f| format!("{}, {}{}", processors(f), f.report.dtype, constant(f)),
    },
];

fn processors(f: &CaseReport) -> String {
    if f.report.cores == 1 { "1 processor".to_owned() } else { format!("{} processors", f.report.cores) }
}

fn layers(f: &CaseReport) -> String {
    f.case.spec.layers.iter().map(u64::to_string).collect::<Vec<_>>().join("-")
}

fn constant(f: &CaseReport) -> String {
    f.case.constant.as_ref().map(|value| format!(", {value}")).unwrap_or_default()
}

/// The run with the highest rate, or the first one while none has a rate.
pub(super) fn best(finished: &[CaseReport]) -> Option<&CaseReport> {
    let runs = finished.iter().filter(|f| f.case.purpose == CasePurpose::Kernel);
    let rated = runs.filter_map(|f| Some((f, f.report.comparable_rate()?)));
    // Of equal rates the first.
    let best = rated.fold(None, |best: Option<(&CaseReport, f64)>, next| match best {
        Some(best) if best.1 >= next.1 => Some(best),
        _ => Some(next),
    });
    best.map(|(best, _)| best).or_else(|| finished.first())
}

/// The choice of the best run, beside the worst: `The best of 5 runs: ...`. `None` for a single run.
pub(super) fn best_in_words(finished: &[CaseReport]) -> Option<String> {
    let runs: Vec<&CaseReport> = finished.iter().filter(|f| f.case.purpose == CasePurpose::Kernel).collect();
    let best = best(finished).filter(|_| runs.len() > 1)?;
    let rate = best.report.comparable_rate()?;
    let worst = runs.iter().filter_map(|f| f.report.comparable_rate()).fold(rate, f64::min);
    let what = format!("{}, {}, {}{}", processors(best), layers(best), best.report.dtype, constant(best));
    Some(format!(
        "The figures are of the best of {} runs: {what}. It is {} as fast as the slowest.",
        runs.len(),
        format_times(rate / worst, 2)
    ))
}

/// The comparison, when there is more than one run of the kernel. A run with a fault is a row without times, and on no plot.
pub(super) fn blocks(finished: &[CaseReport]) -> Vec<Block> {
    let runs: Vec<&CaseReport> = finished.iter().filter(|f| f.case.purpose == CasePurpose::Kernel).collect();
    if runs.len() < 2 {
        return Vec::new();
    }
    let mut blocks = vec![Block::Heading("What was compared".to_owned())];
    let mut figures: Vec<Figure> = AXES.iter().flat_map(|axis| figures(axis, &runs)).collect();
    figures.extend(of_types(&runs));
    if !figures.is_empty() {
        blocks.push(Block::Plots(figures));
    }
    blocks.push(Block::Table {
        title: "Runs of the kernel".to_owned(),
        file: "customop-runs".to_owned(),
        table: table(&runs),
    });
    blocks
}

/// Iterations per second and time per element, over an axis on which the runs differ.
fn figures(axis: &Axis, runs: &[&CaseReport]) -> Vec<Figure> {
    let mut places: Vec<f64> = runs.iter().filter_map(|f| (axis.value)(f)).collect();
    places.order_by(f64::total_cmp);
    places.dedup();
    if places.len() < 2 {
        return Vec::new();
    }
    let figure = |title: &str, y: fn(&CaseReport) -> Option<f64>| {
        let mut lines: Vec<Series> = Vec::new();
        for f in runs {
            let (Some(x), Some(y)) = ((axis.value)(f), y(f)) else { continue };
            let name = (axis.rest)(f);
            match lines.iter_mut().find(|l| l.0 == name) {
                Some(line) => line.2.push((x, y)),
                None => lines.push((name, LineStyle::Solid, vec![(x, y)])),
            }
        }
        for line in &mut lines {
            line.2.order_by(|a, b| a.0.total_cmp(&b.0));
        }
        let plot = Plot::Lines(Lines::new(axis.title, title, lines, true));
        Figure { title: format!("{title} over {}", lower(axis.title)), note: String::new(), plot }
    };
    vec![
        figure("Iterations/s", |f| f.report.comparable_rate()),
        figure("ns per element", |f| f.report.comparable_ns_per_element()),
    ]
}

/// Time per element for each element type; a type that the kernel does not take has no bar.
fn of_types(runs: &[&CaseReport]) -> Option<Figure> {
    let first = runs.first()?.report.dtype;
    if runs.iter().all(|f| f.report.dtype == first) {
        return None;
    }
    let bars = runs.iter().filter_map(|f| {
        let name = format!("{}, {}, {}{}", f.report.dtype, processors(f), layers(f), constant(f));
        Some((name, f.report.dtype.to_string(), f.report.comparable_ns_per_element()?))
    });
    let plot = Plot::Bars(Bars::new(bars), "ns".to_owned());
    Some(Figure { title: "ns per element for each element type".to_owned(), note: String::new(), plot })
}

fn lower(title: &str) -> String {
    let mut letters = title.chars();
    letters.next().map(|c| c.to_lowercase().chain(letters).collect()).unwrap_or_default()
}

fn table(runs: &[&CaseReport]) -> Table {
    let mut runs = runs.to_vec();
    let rate = |f: &CaseReport| f.report.comparable_rate().unwrap_or(0.0);
    runs.order_by(|a, b| rate(b).total_cmp(&rate(a)));
    Table::of(&runs)
        .text("kernel", "Kernel", |f| f.report.kernel.as_str())
        .text("layers", "Layers", |f| layers(f))
        .count("cores", "Processors", |f| u64::from(f.report.cores))
        .text("dtype", "Elements", |f| f.report.dtype.to_string())
        .number("iterations_per_s", "Iterations/s", |f| f.report.comparable_rate())
        .number("ns_per_element", "ns per element", |f| f.report.comparable_ns_per_element())
        .text("bound_by", "Bound by", |f| f.report.bound_by.unwrap_or("-"))
        .text("most", "Operator spends most on", |f| f.report.largest_part())
        .text("problem", "Problem", |f| f.report.problem())
        .table()
}
