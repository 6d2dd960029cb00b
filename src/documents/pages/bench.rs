//! Reports of a benchmark as a file: the best rows, the verdict, plots, all rows.

use serde::{Deserialize, Serialize};

use super::live_address;
use crate::build_id;
use crate::results::{
    BestFigure, BestFigures, Filter, ReportCells, Requirements, fronts, report_table, scaling,
    throughput_by_configuration, throughput_latency, visible_columns, with_pareto,
};
use ns_base::Refusal;
use ns_base::units::format_number;
use ns_bench::export::to_json;
use ns_bench::{BenchConfig, Report, sharing};
use ns_device::model_label;
use ns_forms::results::DEFAULT_COLUMNS;
use ns_forms::share::{BenchLink, PageLink as _, ResultsView};
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::page::{PageFile, figure};

/// Reports as bytes: only one of the page's two programs makes and shows reports; the other need not know their type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackedReports(Vec<u8>);

impl PackedReports {
    /// Packs reports. Fails when a report cannot be packed, which would be a defect.
    pub fn of(reports: &[Report]) -> Result<Self, String> {
        postcard::to_allocvec(reports).map(Self).map_err(|e| format!("the reports cannot be handed to the worker: {e}"))
    }

    fn reports(&self) -> Result<Vec<Report>, String> {
        postcard::from_bytes(&self.0).map_err(|e| format!("the reports did not arrive complete: {e}"))
    }
}

/// The contents of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BenchPage {
    /// The request; absent for reports that this program did not make.
    pub config: Option<Box<BenchConfig>>,
    /// The view of the results, as [`ResultsView::to_fields`] writes it.
    pub view: String,
    pub reports: PackedReports,
    /// Address of the page, for the link.
    pub base: String,
}

impl BenchPage {
    /// The file as HTML. Fails when the reports cannot be read or written as JSON.
    pub fn to_html(&self) -> Result<String, String> {
        let view = ResultsView::of_fields(&self.view);
        bench_page(self.config.as_deref(), &view, &self.reports.reports()?, &self.base).map_err(|e| e.to_string())
    }
}

/// Reports as one HTML file, in the view of the page, with a link to the configuration and that view on the page at `base`. Fails
/// when the reports cannot be written as JSON.
pub fn bench_page(
    config: Option<&BenchConfig>,
    view: &ResultsView,
    reports: &[Report],
    base: &str,
) -> Result<String, Refusal> {
    let document = Document { title: title(config, reports), blocks: blocks(view, reports) };
    let finished = reports.iter().filter(|r| r.is_finished()).count();
    let made = if reports.iter().any(|r| r.source == "measured") { "measured" } else { "simulated" };
    let lead = format!(
        "{finished} of {} configurations finished, {made} by neuronscope {}. Press a column heading to sort by it.",
        reports.len(),
        build_id()
    );
    // A link holds no model file and no index of models.
    let is_linked = |config: &&BenchConfig| config.index.is_none();
    let link = |config: &BenchConfig| BenchLink { config: config.clone(), view: view.clone() }.hash();
    let live = config.filter(is_linked).map(|config| live_address(base, &link(config)));
    Ok(PageFile { document, lead, live, figure, data: Some(to_json(reports)?) }.to_html())
}

fn title(config: Option<&BenchConfig>, reports: &[Report]) -> String {
    match (config, reports.first()) {
        (Some(config), _) => format!("Benchmark of {} on {}", model_label(&config.model), config.instance_type),
        (None, Some(first)) => format!("Benchmark of {}", first.model_name),
        (None, None) => "Benchmark".to_owned(),
    }
}

fn blocks(view: &ResultsView, reports: &[Report]) -> Vec<Block> {
    let (filter, _) = Filter::parse(&view.filter);
    let (wanted, _) = Requirements::read(&view.wanted);
    let all: Vec<(&Report, ReportCells)> = reports.iter().map(|r| (r, ReportCells::of(r))).collect();
    let accepted: Vec<&(&Report, ReportCells)> = all.iter().filter(|(_, cells)| filter.accepts(cells)).collect();
    let rows: Vec<&Report> = accepted.iter().map(|(report, _)| *report).collect();
    let best = BestFigures::of(&rows, wanted);
    let mut blocks = vec![Block::Tiles(tiles(&best, rows.len()))];
    blocks.extend(best.sentence.into_iter().chain(sharing(rows.iter().copied())).map(Block::Text));
    if let Some(limits) = wanted.limits() {
        let found = wanted.describe(&rows, wanted.find(&rows));
        blocks.push(Block::Text(format!("Within the limits ({limits}), {found}")));
    }
    if rows.len() < reports.len() {
        let (left, all) = (rows.len(), reports.len());
        blocks.push(Block::Text(format!("{left} of {all} configurations match the filter: {}", view.filter)));
    }
    let finished: Vec<&Report> = rows.iter().copied().filter(|r| r.is_finished()).collect();
    if !finished.is_empty() {
        blocks.push(Block::Plots(plots(&finished)));
    }
    blocks.push(Block::Heading("All configurations".to_owned()));
    blocks.push(table(view, &rows, &accepted.iter().map(|(_, cells)| cells).collect::<Vec<_>>()));
    blocks
}

/// The best values with their configurations.
fn tiles(best: &BestFigures, all: usize) -> Vec<Tile> {
    let tile = |row: &BestFigure| Tile {
        name: row.title.to_owned(),
        value: format!("{}{} {}", row.before, format_number(row.value), row.unit),
        note: std::iter::once(&row.of).chain(&row.beside).cloned().collect::<Vec<_>>().join("; "),
        ..Tile::default()
    };
    let failed = (best.failed > 0).then(|| Tile {
        name: "Failed".to_owned(),
        value: format!("{} of {all}", best.failed),
        note: "the reason is in the Status column".to_owned(),
        tone: Tone::Bad,
        share: None,
    });
    best.figures.iter().map(tile).chain(failed).collect()
}

fn plots(finished: &[&Report]) -> Vec<Figure> {
    let figure = |title: String, plot: Plot| Figure { title, note: String::new(), plot };
    let (over_latency, _) = throughput_latency(finished);
    let (bars, all) = throughput_by_configuration(finished);
    let (accepted, all) = (bars.bars.len(), all.len());
    let title = if accepted < all { format!(": the {accepted} fastest of {all}") } else { String::new() };
    let mut plots = vec![
        figure(
            "Throughput over latency; the dashed line joins the configurations that no other beats in both".to_owned(),
            Plot::Scatter(over_latency),
        ),
        figure(format!("Throughput by configuration{title}"), Plot::Bars(bars, "inf/s".to_owned())),
    ];
    let scaled = scaling(finished.iter().copied()).map(|found| found.plots).unwrap_or_default();
    plots.extend(scaled.into_iter().map(|(title, plot)| figure(format!("Scaling: {title}"), Plot::Lines(plot))));
    plots
}

fn table(view: &ResultsView, rows: &[&Report], cells: &[&ReportCells]) -> Block {
    let columns = visible_columns(view.columns.as_deref().unwrap_or(&DEFAULT_COLUMNS), cells);
    let mut table = with_pareto(report_table(cells, &columns), &fronts(rows));
    let order = table.order(view.sort.as_ref(), "");
    table.rows = order.into_iter().filter_map(|row| table.rows.get(row).cloned()).collect();
    Block::Table { title: "Benchmark results".to_owned(), file: String::new(), table }
}
