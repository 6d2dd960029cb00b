//! One row of a NeuronPerf report: all its values, and the same configuration in the other files.

use super::super::record_filter::RecordFilter;
use super::super::text::{table, word};
use super::super::view_input::ViewInput;
use super::finding;
use super::reports::BaseFile;
use crate::results::column_title;
use ns_base::convert::usize_to_f64;
use ns_base::units::format_number;
use ns_bench::export::cell;
use ns_bench::{REPORT_KEYS, Report};
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::plot::{LineStyle, Lines};
use ns_view::table::ColumnKind;

/// The text of a report for a missing value.
const ABSENT: &str = "N/A";

/// The row at a place of a file.
pub fn document(input: &ViewInput<'_>, (position, row): (usize, usize)) -> Document {
    let files = &input.store.reports;
    let Some((file, report)) = files.get(position).and_then(|f| Some((f, f.reports.get(row)?))) else {
        let text = "The link may belong to other files, or to files in another order.";
        let blocks = vec![finding(Tone::Warning, "There is no such row.", text)];
        return Document { title: "Row of a report".to_owned(), blocks };
    };
    let base = BaseFile::first(files);
    let mut blocks = vec![Block::Tiles(tiles(report, base.ratio(report).filter(|_| position > 0), &base))];
    blocks.extend(over_files(input, report, &base));
    let mut all = table(&[
        ("key", "Key", ColumnKind::Text),
        ("title", "Column", ColumnKind::Text),
        ("value", "Value", ColumnKind::Text),
    ]);
    for key in REPORT_KEYS {
        let value = cell(report, key);
        if value != ABSENT {
            all.rows.push(vec![word(*key), word(column_title(key)), word(value)]);
        }
    }
    blocks.push(Block::Table {
        title: "All values of the row".to_owned(),
        file: "neuronperf-row".to_owned(),
        table: all,
    });
    Document { title: format!("{}, {}: row {} of {}", report.model_name, report.label(), row + 1, file.name), blocks }
}

fn tiles(report: &Report, ratio: Option<f64>, base: &BaseFile<'_>) -> Vec<Tile> {
    let tile = |name: &str, value: Option<f64>, unit: &str, note: String| {
        let value =
            value.map_or_else(|| "none".to_owned(), |v| format!("{} {unit}", format_number(v)).trim_end().to_owned());
        Tile { name: name.to_owned(), value, note, ..Tile::default() }
    };
    let mut tiles = vec![
        tile("Throughput", report.throughput_avg, "inf/s", report.status.clone()),
        tile("Latency p50", report.latency_ms_p50, "ms", String::new()),
        tile("Latency p99", report.latency_ms_p99, "ms", String::new()),
    ];
    if ratio.is_some() {
        tiles.push(tile("Speed-up", ratio, "", format!("over the same configuration in {}", base.name)));
    }
    tiles
}

/// Throughput of the configuration in each file; each point opens that row.
fn over_files(input: &ViewInput<'_>, report: &Report, base: &BaseFile<'_>) -> Option<Block> {
    let same = |(i, file): (usize, &super::super::store::ReportFile)| {
        let row = file.reports.iter().position(|r| base.is_same(r, report))?;
        Some((i, row, file.reports.get(row)?.throughput_avg.filter(|t| t.is_finite())?))
    };
    let found: Vec<(usize, usize, f64)> = input.store.reports.iter().enumerate().filter_map(same).collect();
    if found.len() < 2 {
        return None;
    }
    let points = found.iter().map(|(i, _, throughput)| (usize_to_f64(*i), *throughput)).collect();
    let names = input.store.reports.iter().enumerate().map(|(i, f)| (usize_to_f64(i), f.name.clone())).collect();
    let plot = Lines::new("File", "Throughput (inf/s)", [("Throughput".to_owned(), LineStyle::Solid, points)], false)
        .with_names(names, |name| name.chars().take(14).collect());
    let targets = vec![found.iter().map(|(i, row, _)| RecordFilter::of_report(*i, *row)).collect()];
    let note = String::new();
    let figure = Figure { title: "The same configuration in each file".to_owned(), note, plot: Plot::Lines(plot) };
    Some(Block::Points { figure, targets })
}
