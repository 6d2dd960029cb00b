//! Figures beside their predictions as a document.

use std::collections::BTreeMap;

use super::table::FigureAnswer;
use ns_base::convert::usize_to_f64;
use ns_base::units::{format_number, format_plural, format_share};
use ns_fidelity::{
    Coverage, GenerationTimes, KernelComparison, KernelSummary, PlacementBasis, RowComparison, ServedAnswer,
    ServedErrors, Summary, Validation,
};
use ns_view::document::{Block, Document, Figure, Plot, Tile};
use ns_view::plot::Scatter;
use ns_view::table::{Column, ColumnKind, Table};

impl FigureAnswer {
    /// The rows of a file with their errors.
    pub fn document(&self, file: &str) -> Document {
        let blocks = match self {
            Self::Measured { measurements } => of_measurements(measurements),
            Self::Published { rows, summary, coverage } => of_published(rows, summary, coverage),
            Self::Served { rows, groups } => of_served(rows, groups),
            Self::Kernels { kernels, summary } => of_kernels(kernels, summary),
        };
        Document { title: format!("{file} beside the model"), blocks }
    }
}

fn block(title: &str, file: &str, table: Table) -> Block {
    Block::Table { title: title.to_owned(), file: file.to_owned(), table }
}

fn percent(share: f64) -> f64 {
    share * 100.0
}

fn in_tenths(id: &str, title: &str) -> Column {
    Column::new(id, title, ColumnKind::Tenths)
}

/// An interval in words.
fn interval(low: Option<f64>, high: Option<f64>) -> Option<String> {
    low.zip(high).map(|(low, high)| format!("{} to {}", format_number(low), format_number(high)))
}

/// The rows without a prediction, and why, where there are any.
fn skipped<'a>(rows: impl Iterator<Item = (&'a str, Option<&'a String>)>) -> Option<Block> {
    let mut of: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for (what, why) in rows {
        if let Some(why) = why {
            *of.entry((what, why)).or_default() += 1;
        }
    }
    let of: Vec<_> = of.into_iter().collect();
    let table = Table::of(&of)
        .text("what", "What", |((what, _), _)| *what)
        .count("rows", "Rows", |(_, rows)| *rows)
        .text("why", "Why", |((_, why), _)| *why)
        .table();
    (!of.is_empty()).then(|| block("Rows without a prediction", "skipped", table))
}

/// Letters of a name in a legend.
const LONGEST_NAME: usize = 32;

/// Rows below which a percentile and a bias say little.
const FEWEST_OF_A_SPREAD: usize = 5;

/// What the rows say of the model, at first sight.
fn tiles(summary: &Summary) -> Option<Block> {
    let of = |share: Option<f64>| share.map(|share| format_share(percent(share)));
    let rows = format_plural(summary.n, "row");
    let tile = |name: &str, value: Option<String>, note: String| Some(Tile::new(name, value?, note));
    let bias = summary.geomean_ratio.map(|ratio| format!("{:+.1} %", percent(ratio - 1.0)));
    let is_spread = summary.n >= FEWEST_OF_A_SPREAD;
    let all = [
        tile("Median error", of(summary.median_abs_error), format!("of {rows}")),
        tile(
            "9 of 10 within",
            of(summary.p90_abs_error).filter(|_| is_spread),
            "the 90th percentile of the error".to_owned(),
        ),
        tile("Bias", bias.filter(|_| is_spread), "of the geometric mean; above zero the model is too high".to_owned()),
        tile("In their interval", of(summary.inside_share), "of the measured figures".to_owned()),
    ];
    let all: Vec<Tile> = all.into_iter().flatten().collect();
    (!all.is_empty()).then_some(Block::Tiles(all))
}

/// A name as a legend has room for.
fn shortened(name: &str) -> String {
    let cut = |(at, _)| format!("{}\u{2026}", name[..at].trim_end_matches([' ', ':', ',']));
    name.char_indices().nth(LONGEST_NAME).map_or_else(|| name.to_owned(), cut)
}

/// Each figure with the ratio of the model's to it: (series, measured, ratio, label).
fn ratios(what: &str, points: impl Iterator<Item = (String, f64, f64, String)>) -> Option<Block> {
    let plot = Scatter::new(what, "Model / measured", points).with_ratios();
    let note = "A point at 1 is met; above it the model\u{2019}s figure is the larger one.".to_owned();
    let figure = Figure { title: "Model beside measurement".to_owned(), note, plot: Plot::Scatter(plot.clone()) };
    (plot.points.len() > 1).then_some(Block::Plot(figure))
}

/// Errors of groups of rows.
fn errors(groups: &[(&str, &Summary)]) -> Block {
    let table = Table::of(groups)
        .text("group", "Rows of", |(group, _)| *group)
        .count("rows", "Rows", |(_, s)| s.n as u64)
        .percent("median_error", "Median error", |(_, s)| s.median_abs_error.map(percent))
        .percent("p90_error", "p90", |(_, s)| s.p90_abs_error.map(percent))
        .number("bias", "Bias", |(_, s)| s.geomean_ratio)
        .table();
    block("Errors", "errors", table)
}

fn of_measurements(measurements: &[RowComparison]) -> Vec<Block> {
    let rows: Vec<&RowComparison> = measurements.iter().filter(|r| r.skipped.is_none()).collect();
    let table = Table::of(&rows)
        .text("what", "What", |r| r.what.as_str())
        .text("instance", "Instance", |r| r.instance.as_str())
        .text("quantity", "Quantity", |r| format!("{}, {}", r.metric, r.unit))
        .number("measured", "Measured", |r| r.measured)
        .number("model", "Model", |r| r.model)
        .percent("error", "Error", |r| r.error.map(percent))
        .text("why", "Why the cost stays", |r| r.reason.clone())
        .table();
    let ratios: Vec<f64> = rows.iter().filter_map(|r| Some(1.0 + r.error?)).collect();
    let without = skipped(measurements.iter().map(|r| (r.what.as_str(), r.skipped.as_ref())));
    let head = tiles(&Summary::of_ratios(&ratios));
    head.into_iter().chain([block("Measurements", "measurements", table)]).chain(without).collect()
}

fn of_published(rows: &[Validation], summary: &Summary, coverage: &[Coverage]) -> Vec<Block> {
    let predicted: Vec<&Validation> = rows.iter().filter(|r| r.skipped.is_none()).collect();
    let table = Table::of(&predicted)
        .text("model", "Model", |r| r.model.as_str())
        .text("instance", "Instance", |r| r.instance.as_str())
        .count("batch_size", "Batch", |r| r.batch_size.map(u64::from))
        .text("placement", "Cores x workers", |r| placement(r))
        .column(in_tenths("published", "Published"), |r| r.published)
        .column(in_tenths("predicted", "Predicted"), |r| r.predicted)
        .text("interval", "In 8 of 10 cases", |r| interval(r.throughput_low, r.throughput_high))
        .number("ratio", "Ratio", |r| r.ratio)
        .table();
    let mut by_model: BTreeMap<&str, Vec<&Validation>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.judges()) {
        by_model.entry(&row.model).or_default().push(row);
    }
    let of_models: Vec<(&str, Summary)> =
        by_model.into_iter().map(|(model, rows)| (model, Summary::of(rows.into_iter()))).collect();
    let groups: Vec<_> = of_models.iter().map(|(model, s)| (*model, s)).chain([("all", summary)]).collect();
    let point = |r: &&Validation| {
        let on = format!("{}, batch {}", r.instance, r.batch_size.unwrap_or(1));
        Some((shortened(&r.model), r.published?, r.ratio?, on))
    };
    let plot = ratios("Measured", predicted.iter().filter_map(point));
    let mut blocks: Vec<Block> = tiles(summary).into_iter().chain(plot).collect();
    blocks.extend([block("Throughput", "validation", table), errors(&groups)]);
    if summary.inside_share.is_some() {
        let table = Table::of(coverage)
            .text("group", "Rows of", |c| c.group.as_str())
            .count("rows", "Rows", |c| c.rows as u64)
            .count("inside", "In their intervals", |c| c.inside as u64)
            .table();
        blocks.push(block("Shipped rows in intervals that are made without their family", "coverage", table));
    }
    for (row, constant) in rows.iter().filter_map(|row| Some((row, row.solved.as_ref()?))) {
        blocks.push(Block::Text(format!("not counted: {constant} was solved from the row of {}", row.model)));
    }
    if rows.iter().any(|r| r.placed_by == Some(PlacementBasis::LittlesLaw)) {
        let star = "* from the requests in flight: Little's law over the row's throughput and latency";
        blocks.push(Block::Text(star.to_owned()));
    }
    blocks.extend(of_generation(rows));
    blocks.extend(skipped(rows.iter().map(|r| (r.model.as_str(), r.skipped.as_ref()))));
    blocks
}

/// `2 x 1`, with a star where it comes from Little's law.
fn placement(row: &Validation) -> Option<String> {
    let (models, workers) = row.n_models.zip(row.workers_per_model)?;
    let star = if row.placed_by == Some(PlacementBasis::LittlesLaw) { "*" } else { "" };
    Some(format!("{models} x {workers}{star}"))
}

/// Rows of text generation with their times, and the errors of these.
fn of_generation(rows: &[Validation]) -> Vec<Block> {
    let times: Vec<(&Validation, GenerationTimes)> = rows.iter().filter_map(|r| Some((r, r.generation?))).collect();
    if times.is_empty() {
        return Vec::new();
    }
    let table = Table::of(&times)
        .text("model", "Model", |(r, _)| r.model.as_str())
        .text("instance", "Instance", |(r, _)| r.instance.as_str())
        .count("batch_size", "Batch", |(r, _)| r.batch_size.map(u64::from))
        .number("tpot", "TPOT ms", |(_, t)| t.published_tpot_ms)
        .number("tpot_predicted", "Predicted", |(_, t)| t.predicted_tpot_ms)
        .number("tpot_ratio", "Ratio", |(_, t)| t.tpot_ratio)
        .number("ttft", "TTFT ms", |(_, t)| t.published_ttft_ms)
        .number("ttft_predicted", "Predicted", |(_, t)| t.predicted_ttft_ms)
        .number("ttft_ratio", "Ratio", |(_, t)| t.ttft_ratio)
        .table();
    let of = |ratio: &dyn Fn(&GenerationTimes) -> Option<f64>| {
        Summary::of_ratios(&times.iter().filter_map(|(_, t)| ratio(t)).collect::<Vec<_>>())
    };
    let (tpot, ttft) = (of(&|t| t.tpot_ratio), of(&|t| t.ttft_ratio));
    vec![block("Times of text generation", "generation", table), errors(&[("TPOT", &tpot), ("TTFT", &ttft)])]
}

fn of_served(rows: &[ServedAnswer], groups: &[ServedErrors]) -> Vec<Block> {
    let predicted: Vec<&ServedAnswer> = rows.iter().filter(|r| r.skipped.is_none()).collect();
    let ratio_of = |r: &&ServedAnswer| r.predicted_ms.zip(r.value_ms).map(|(made, ms)| made / ms);
    let table = Table::of(&predicted)
        .text("set", "Set", |r| r.set.as_str())
        .text("model", "Model", |r| r.model.as_str())
        .number("ms", "ms", |r| r.value_ms)
        .number("predicted", "Predicted", |r| r.predicted_ms)
        .text("interval", "In 9 of 10 cases", |r| interval(r.low_ms, r.high_ms))
        .number("ratio", "Ratio", ratio_of)
        .text("note", "Note", |r| r.group.is_none().then_some("of the few that took longest: counts in no error"))
        .table();
    let errors = Table::of(groups)
        .text("group", "Rows of", |g| g.group)
        .count("rows", "Rows", |g| g.summary.n as u64)
        .percent("median_error", "Median error", |g| g.summary.median_abs_error.map(percent))
        .percent("p90_error", "p90", |g| g.summary.p90_abs_error.map(percent))
        .number("bias", "Bias", |g| g.summary.geomean_ratio)
        .count("inside", "In their intervals", |g| g.inside as u64)
        .table();
    let of: Vec<f64> = predicted.iter().filter(|r| r.group.is_some()).filter_map(ratio_of).collect();
    let (inside, judged) = groups.iter().fold((0, 0), |(inside, n), g| (inside + g.inside, n + g.summary.n));
    let share = (judged > 0).then(|| usize_to_f64(inside) / usize_to_f64(judged));
    let head = tiles(&Summary { inside_share: share, ..Summary::of_ratios(&of) });
    let point =
        |r: &&ServedAnswer| Some((r.group?.to_owned(), r.value_ms?, ratio_of(r)?, format!("{}, {}", r.model, r.set)));
    let plot = ratios("Measured (ms)", predicted.iter().filter_map(point));
    let without = skipped(rows.iter().map(|r| (r.model.as_str(), r.skipped.as_ref())));
    let table = block("Times of served models", "served", table);
    head.into_iter().chain(plot).chain([table, block("Errors", "errors", errors)]).chain(without).collect()
}

fn of_kernels(kernels: &[KernelComparison], summary: &[KernelSummary]) -> Vec<Block> {
    let note = |c: &KernelComparison| {
        let built = if c.builds_as_measured { "" } else { "builds otherwise" };
        let spilt = if c.spills_as_measured == Some(false) { "spills otherwise" } else { "" };
        format!("{built}{spilt}")
    };
    let table = Table::of(kernels)
        .text("kernel", "Kernel", |c| c.row.variant.as_str())
        .column(in_tenths("measured", "Measured us"), |c| c.row.measured_us)
        .column(in_tenths("model", "Model us"), |c| c.total_us)
        .percent("error", "Error", |c| c.error.map(percent))
        .text("note", "Note", note)
        .table();
    let groups = Table::of(summary)
        .text("operator", "Operator", |s| s.group.as_str())
        .count("kernels", "Kernels", |s| s.kernels as u64)
        .percent("median", "Median", |s| percent(s.median))
        .percent("p90", "p90", |s| percent(s.p90))
        .percent("bias", "Bias", |s| percent(s.bias))
        .number("tau", "Tau", |s| s.tau)
        .number("tau_above_5", "Above 5 %", |s| s.tau_above_5)
        .percent("regret", "Regret", |s| percent(s.regret))
        .text("wrong", "Wrong builds, spills", |s| format!("{}, {}", s.wrong_builds, s.wrong_spills))
        .table();
    vec![block("Kernels", "kernels", table), block("Errors of the operators", "operators", groups)]
}
