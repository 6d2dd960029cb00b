//! Figures beside their predictions as a document.

use std::collections::BTreeMap;

use super::validation::FigureAnswer;
use ns_base::units::format_share;
use ns_fidelity::{
    Coverage, GenerationTimes, KernelComparison, KernelSummary, PlacementBasis, RowComparison, ServedAnswer,
    ServedErrors, Summary, Validation,
};
use ns_view::document::{Block, Document};
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
fn interval(low: Option<f64>, high: Option<f64>, decimals: usize) -> Option<String> {
    low.zip(high).map(|(low, high)| format!("{low:.decimals$} to {high:.decimals$}"))
}

/// How many rows have no prediction, where there are any.
fn skipped(count: usize) -> Option<Block> {
    (count > 0).then(|| Block::Text(format!("{count} rows were skipped; --json says why")))
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
        .table();
    [block("Measurements", "measurements", table)].into_iter().chain(skipped(measurements.len() - rows.len())).collect()
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
        .text("interval", "In 8 of 10 cases", |r| interval(r.throughput_low, r.throughput_high, 1))
        .number("ratio", "Ratio", |r| r.ratio)
        .table();
    let mut by_model: BTreeMap<&str, Vec<&Validation>> = BTreeMap::new();
    for row in rows.iter().filter(|r| r.judges()) {
        by_model.entry(&row.model).or_default().push(row);
    }
    let of_models: Vec<(&str, Summary)> =
        by_model.into_iter().map(|(model, rows)| (model, Summary::of(rows.into_iter()))).collect();
    let groups: Vec<_> = of_models.iter().map(|(model, s)| (*model, s)).chain([("all", summary)]).collect();
    let mut blocks = vec![block("Throughput", "validation", table), errors(&groups)];
    if let Some(share) = summary.inside_share {
        let share = format_share(percent(share));
        blocks.push(Block::Text(format!("{share} of the published figures lie in their interval")));
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
    blocks.extend(skipped(rows.len() - predicted.len()));
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
    let table = Table::of(&predicted)
        .text("set", "Set", |r| r.set.as_str())
        .text("model", "Model", |r| r.model.as_str())
        .number("ms", "ms", |r| r.value_ms)
        .number("predicted", "Predicted", |r| r.predicted_ms)
        .text("interval", "In 9 of 10 cases", |r| interval(r.low_ms, r.high_ms, 2))
        .number("ratio", "Ratio", |r| r.predicted_ms.map(|ms| ms / r.value_ms))
        .table();
    let all: Vec<_> = groups.iter().map(|g| (g.group, &g.summary)).collect();
    let inside: Vec<String> = groups.iter().map(|g| format!("{} {} of {}", g.group, g.inside, g.summary.n)).collect();
    let inside = Block::Text(format!("In their intervals: {}", inside.join("; ")));
    let skipped = rows.iter().filter_map(|row| Some(format!("skipped: {}: {}", row.model, row.skipped.as_ref()?)));
    [block("Times of served models", "served", table), errors(&all), inside]
        .into_iter()
        .chain(skipped.map(Block::Text))
        .collect()
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
