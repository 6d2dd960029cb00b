//! Reports of a benchmark as a file: the best rows, the verdict, plots, all rows.

use serde::{Deserialize, Serialize};

use super::live_address;
use crate::protocol::build_id;
use crate::results::{
    DEFAULT_COLUMNS, ReportCells, are_of_several_models, on_front, report_table, row_text, scaling, shown_columns,
    throughput_by_configuration, throughput_latency, with_pareto,
};
use crate::share::PageLink as _;
use ns_base::Refusal;
use ns_base::units::format_number;
use ns_bench::export::to_json;
use ns_bench::{BenchConfig, Report, best, verdict};
use ns_device::model_label;
use ns_view::document::{Block, Document, Figure, Plot, Tile, Tone};
use ns_view::page::PageFile;

/// Reports as bytes: only one of the page's two programs makes and shows reports; the other need not know their type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PackedReports(Vec<u8>);

impl PackedReports {
    /// Packs reports.
    ///
    /// # Errors
    /// When a report cannot be packed, which would be a defect.
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
    pub reports: PackedReports,
    /// Address of the page, for the link.
    pub base: String,
}

impl BenchPage {
    /// The file as HTML.
    ///
    /// # Errors
    /// When the reports cannot be read or written as JSON.
    pub(crate) fn to_html(&self) -> Result<String, String> {
        bench_page(self.config.as_deref(), &self.reports.reports()?, &self.base).map_err(|e| e.to_string())
    }
}

/// Reports as one HTML file, with a link to the configuration on the page at `base`.
///
/// # Errors
/// When the reports cannot be written as JSON.
pub fn bench_page(config: Option<&BenchConfig>, reports: &[Report], base: &str) -> Result<String, Refusal> {
    let document = Document { title: title(config, reports), blocks: blocks(reports) };
    let finished = reports.iter().filter(|r| r.is_finished()).count();
    let made = if reports.iter().any(|r| r.source == "measured") { "measured" } else { "simulated" };
    let lead = format!(
        "{finished} of {} configurations finished, {made} by neuronscope {}. Press a column heading to sort by it.",
        reports.len(),
        build_id()
    );
    // A link holds no model file and no index of models.
    let is_linked = |config: &&BenchConfig| config.index.is_none();
    let live = config.filter(is_linked).map(|config| live_address(base, &config.hash()));
    Ok(PageFile { document, lead, live, data: Some(to_json(reports)?) }.to_html())
}

fn title(config: Option<&BenchConfig>, reports: &[Report]) -> String {
    match (config, reports.first()) {
        (Some(config), _) => format!("Benchmark of {} on {}", model_label(&config.model), config.instance_type),
        (None, Some(first)) => format!("Benchmark of {}", first.model_name),
        (None, None) => "Benchmark".to_owned(),
    }
}

fn blocks(reports: &[Report]) -> Vec<Block> {
    let mut blocks = vec![Block::Tiles(tiles(reports))];
    blocks.extend(verdict(reports).map(Block::Text));
    let finished: Vec<&Report> = reports.iter().filter(|r| r.is_finished()).collect();
    if !finished.is_empty() {
        blocks.push(Block::Plots(plots(&finished)));
    }
    blocks.push(Block::Heading("All configurations".to_owned()));
    blocks.push(table(reports));
    blocks
}

/// The best values with their configurations.
fn tiles(reports: &[Report]) -> Vec<Tile> {
    let finished: Vec<&Report> = reports.iter().filter(|r| r.is_finished()).collect();
    let several = are_of_several_models(&finished);
    let tile = |name: &str, unit: &str, measure: fn(&Report) -> Option<f64>, is_largest: bool| {
        let (report, value) = best(finished.iter().copied(), measure, is_largest)?;
        let value = format!("{} {unit}", format_number(value));
        Some(Tile { name: name.to_owned(), value, note: row_text(report, several), ..Tile::default() })
    };
    let failed = reports.iter().filter(|r| r.error.is_some()).count();
    let failed = (failed > 0).then(|| Tile {
        name: "Failed".to_owned(),
        value: format!("{failed} of {}", reports.len()),
        note: "the reason is in the Status column".to_owned(),
        tone: Tone::Bad,
        share: None,
    });
    [
        tile("Best throughput", "inf/s", |r| r.throughput_avg, true),
        tile("Lowest p99 latency", "ms", |r| r.latency_ms_p99, false),
        tile("Lowest cost", "US$ per million", |r| r.cost_per_1m_inf, false),
        failed,
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn plots(finished: &[&Report]) -> Vec<Figure> {
    let figure = |title: String, plot: Plot| Figure { title, note: String::new(), plot };
    let (over_latency, _) = throughput_latency(finished);
    let (bars, all) = throughput_by_configuration(finished);
    let shown = bars.bars.len();
    let title = if shown < all { format!(": the {shown} fastest of {all}") } else { String::new() };
    let mut plots = vec![
        figure(
            "Throughput over latency; the dashed line joins the configurations that no other beats".to_owned(),
            Plot::Scatter(over_latency),
        ),
        figure(format!("Throughput by configuration{title}"), Plot::Bars(bars, "inf/s".to_owned())),
    ];
    let scaled = scaling(finished.iter().copied()).map(|found| found.plots).unwrap_or_default();
    plots.extend(scaled.into_iter().map(|(title, plot)| figure(format!("Scaling: {title}"), Plot::Lines(plot))));
    plots
}

fn table(reports: &[Report]) -> Block {
    let cells: Vec<ReportCells> = reports.iter().map(ReportCells::of).collect();
    let cells: Vec<&ReportCells> = cells.iter().collect();
    let front = on_front(&reports.iter().collect::<Vec<_>>());
    let table = with_pareto(report_table(&cells, &shown_columns(&DEFAULT_COLUMNS, &cells)), &front);
    Block::Table { title: "Benchmark results".to_owned(), file: String::new(), table }
}
