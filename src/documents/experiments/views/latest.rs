//! Models by speed-up, each backend at its own newest run.

use super::super::record_filter::RecordFilter;
use super::super::reproduce;
use super::super::text::{backend_fill, moment, number, table, word};
use super::super::view_input::ViewInput;
use super::nothing;
use ns_base::convert::usize_to_f64;
use ns_experiment::aggregate::{Backend, Measure, Report, ReportKind, TimeSpeedups};
use ns_experiment::python::round8;
use ns_view::document::{Block, Document, Figure, Plot};
use ns_view::plot::Scatter;
use ns_view::table::{Cell, ColumnKind};

pub fn document(input: &ViewInput<'_>) -> Document {
    let report = input.report(ReportKind::Latest);
    let title = format!("Latest speed-up of {} over {}, by workload", input.metric_text(), input.base_text());
    let ranked: Vec<Vec<&(String, Measure)>> = (0..input.backends.len()).map(|b| report.ranked(b)).collect();
    if ranked.iter().all(Vec::is_empty) {
        return Document { title, blocks: vec![nothing(input)] };
    }
    let points = ranked.iter().zip(&input.backends).flat_map(|(models, backend)| {
        models.iter().enumerate().map(|(i, (model, m))| {
            let name = backend.title().to_owned();
            (name.clone(), usize_to_f64(i), m.avg, format!("{model} with {name}"))
        })
    });
    // The points that the plot shows, in its order.
    let filters = ranked.iter().zip(&input.backends).enumerate().flat_map(|(b, (models, backend))| {
        let finite = models.iter().filter(|(_, m)| m.avg.is_finite());
        let newest = newest_of(input, b);
        finite.map(move |(model, _)| RecordFilter::of(Some(model), Some(backend.name()), newest))
    });
    let targets = filters.collect();
    let mut plot = Scatter::new("Workload, from the slowest", "Speed-up", points);
    for (name, fill, _) in &mut plot.series {
        *fill = backend_fill(name).unwrap_or(*fill);
    }
    let note = "Each backend at its newest run; above 1 it is faster than the baseline.".to_owned();
    let figure = Figure { title: "Speed-up of each workload".to_owned(), note, plot: Plot::Scatter(plot) };
    let mut blocks = vec![Block::Points { figure, targets: vec![targets] }];
    let tables = input.backends.iter().enumerate().filter_map(|(b, backend)| of_backend(input, &report, b, *backend));
    blocks.push(Block::Beside(tables.map(|table| Document { title: String::new(), blocks: vec![table] }).collect()));
    blocks.push(Block::Command(reproduce::aggregate(input, "latest")));
    Document { title, blocks }
}

/// The newest run with a speed-up of a backend.
fn newest_of(input: &ViewInput<'_>, b: usize) -> Option<f64> {
    let has = |t: &&TimeSpeedups| t.backends.get(b).is_some_and(Option::is_some);
    input.times.iter().rev().find(has).map(|t| t.timestamp)
}

fn of_backend(input: &ViewInput<'_>, report: &Report<'_>, b: usize, backend: Backend) -> Option<Block> {
    let newest = newest_of(input, b)?;
    let reaches = input.reaches.iter().find(|t| t.timestamp == newest)?.backends.get(b)?.as_ref();
    let mut rows = table(&[
        ("ModelName", "Model", ColumnKind::Text),
        ("Workload", "Workload", ColumnKind::Count),
        ("Speedup", "Speed-up", ColumnKind::Number),
        ("StdDev", "Standard deviation", ColumnKind::Number),
        ("Low95", "95 % low", ColumnKind::Number),
        ("High95", "95 % high", ColumnKind::Number),
    ]);
    let mut targets = Vec::new();
    for (i, (model, m)) in report.ranked(b).into_iter().enumerate() {
        let reach = reaches.and_then(|r| r.models.iter().find(|(name, _)| name == model)).map(|(_, m)| m.std);
        rows.rows.push(vec![
            word(model),
            Cell::Count(i as u64),
            number(Some(round8(m.avg))),
            number(Some(round8(m.std))),
            number(reach.map(|r| m.avg - r)),
            number(reach.map(|r| m.avg + r)),
        ]);
        targets.push(RecordFilter::of(Some(model), Some(backend.name()), Some(newest)));
    }
    let title = format!("{}, run of {}", backend.title(), moment(newest));
    Some(Block::Rows { title, file: format!("latest-{}", backend.name()), table: rows, targets, faint: Vec::new() })
}
