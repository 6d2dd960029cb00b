//! Where the model fits, how fast and how dear it is there.

use std::collections::BTreeMap;

use super::run::{RequestPurpose, RequestResult};
use ns_base::convert::u64_to_f64;
use ns_base::units::format_number;
use ns_llm::{FitRow, Generation, Limits, Request, distinct_instances, fit, fit_models};
use ns_machine::arch::known_instance;
use ns_view::document::{Block, Figure, Finding, Plot, Tone};
use ns_view::plot::{Bars, HeatCell, HeatMap, HeatRow};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Places that were simulated, with their results.
fn places(made: &[RequestResult]) -> impl Iterator<Item = (&Request, &Generation)> {
    let of_place = made.iter().filter(|m| m.purpose == RequestPurpose::Place);
    of_place.filter_map(|m| Some((&m.request, &m.report.as_ref().ok()?.made)))
}

/// The cost of a million tokens at the cheapest degree of each instance.
pub(super) fn costs(made: &[RequestResult]) -> Option<Figure> {
    let mut least: BTreeMap<&str, (f64, u32)> = BTreeMap::new();
    for (request, generation) in places(made) {
        let Some(cost) = generation.cost_usd_per_million_tokens else { continue };
        let best = least.entry(request.instance.name).or_insert((f64::INFINITY, 0));
        if cost < best.0 {
            *best = (cost, request.degree);
        }
    }
    let mut bars: Vec<(String, String, f64)> =
        least.into_iter().map(|(name, (cost, tp))| (format!("{name}, TP {tp}"), "cost".to_owned(), cost)).collect();
    bars.sort_by(|a, b| a.2.total_cmp(&b.2));
    (!bars.is_empty()).then(|| Figure {
        title: "A million new tokens".to_owned(),
        note: "At the degree that is cheapest there, with as many groups of cores as the instance has; published prices on demand.".to_owned(),
        plot: Plot::Bars(Bars::new(bars), "US$".to_owned()),
    })
}

/// The cheapest place within limits, if some are set.
pub(super) fn cheapest(limits: &Limits, made: &[RequestResult]) -> Option<Block> {
    if limits.ttft_ms.is_none() && limits.tpot_ms.is_none() {
        return None;
    }
    let within = places(made).filter(|(_, made)| limits.keeps(made.ttft_ms, made.tpot_p50_ms));
    let priced = within.filter_map(|(request, made)| Some((request, made, made.cost_usd_per_million_tokens?)));
    let best = priced.min_by(|a, b| a.2.total_cmp(&b.2));
    let (tone, title, text) = match best {
        Some((request, made, cost)) => (
            Tone::Good,
            format!("The cheapest within the limits is {} at TP {}.", request.instance.name, request.degree),
            format!(
                "First token {} ms, each token {} ms, {} US$ for a million tokens.",
                format_number(made.ttft_ms),
                format_number(made.tpot_p50_ms),
                format_number(cost)
            ),
        ),
        None => (
            Tone::Warning,
            "No place that was simulated so far keeps the limits.".to_owned(),
            "Use a smaller batch, fewer tokens, int8 weights, or looser limits.".to_owned(),
        ),
    };
    Some(Block::Finding(Finding { tone, title, text }))
}

const COLUMNS: [(&str, &str, ColumnKind); 8] = [
    ("instance", "Instance", ColumnKind::Text),
    ("tp", "TP", ColumnKind::Count),
    ("result", "Result", ColumnKind::Text),
    ("needed_gib", "Needed (GiB)", ColumnKind::Exact),
    ("core_gib", "A core has (GiB)", ColumnKind::Exact),
    ("tpot_ms", "A token (ms)", ColumnKind::Exact),
    ("ttft_ms", "First token (ms)", ColumnKind::Exact),
    ("usd", "US$ per million tokens", ColumnKind::Exact),
];

/// A figure with the digits that people say.
fn rounded(x: f64) -> Cell {
    format_number(x).replace(',', "").parse().map_or(Cell::Number(x), Cell::Number)
}

/// A row for each instance and degree; a row that fits is run when it is chosen.
pub(super) fn grid(own: &Request, made: &[RequestResult]) -> Block {
    let found = fit(own);
    let result_of = |row: &FitRow| {
        places(made)
            .find(|(request, _)| request.instance.name == row.instance && request.degree == row.tp)
            .map(|(_, made)| made)
    };
    let is_priced = |row: &FitRow| known_instance(row.instance).is_ok_and(|i| i.usd_per_hour.is_some());
    let columns = COLUMNS.map(|(id, title, kind)| Column { id: id.to_owned(), title: title.to_owned(), kind });
    let mut table = Table { columns: columns.into(), ..Table::default() };
    let mut targets = Vec::new();
    for row in &found.rows {
        let result = match (row.memory.fits, is_priced(row)) {
            (true, true) => "fits".to_owned(),
            (true, false) => "fits; no published price".to_owned(),
            (false, _) => format!("{} GiB are missing", format_number(row.missing_gib)),
        };
        let gib = |bytes: u64| rounded(u64_to_f64(bytes) / f64::from(1 << 30));
        let figure = |of: fn(&Generation) -> Option<f64>| result_of(row).and_then(of).map_or(Cell::Missing, rounded);
        table.rows.push(vec![
            Cell::Text(row.instance.to_owned()),
            Cell::Count(u64::from(row.tp)),
            Cell::Text(result),
            gib(row.memory.needed_bytes),
            gib(row.memory.core_bytes),
            figure(|made| Some(made.tpot_p50_ms)),
            figure(|made| Some(made.ttft_ms)),
            figure(|made| made.cost_usd_per_million_tokens),
        ]);
        targets.push(format!("instance={}&tp={}", row.instance, row.tp));
    }
    let nearest = match found.nearest {
        Some((instance, tp)) => format!("the cheapest that fits is {instance} at TP {tp}"),
        None => "it fits nowhere: use a smaller batch, fewer tokens or int8 weights".to_owned(),
    };
    Block::Rows { title: format!("Where it fits: {nearest}"), file: "fit".to_owned(), table, targets }
}

/// A cell for each published model on each kind of cores: the degree at which it fits, or what is missing. A cell that fits is run
/// when it is chosen.
pub(super) fn models(own: &Request) -> Block {
    let instances = distinct_instances();
    let (mut rows, mut targets) = (Vec::new(), Vec::new());
    for grid in fit_models(own) {
        let best: Vec<Option<&FitRow>> = instances.iter().map(|i| grid.best(i.name)).collect();
        let target = |row: &&FitRow| format!("config=&model={}&instance={}&tp={}", grid.model, row.instance, row.tp);
        let opens = |row: &Option<&FitRow>| row.filter(|row| row.memory.fits).as_ref().map(target).unwrap_or_default();
        targets.push(best.iter().map(opens).collect());
        let name = format!("{}, {} billion", grid.model, format_number(u64_to_f64(grid.parameters) / 1e9));
        rows.push(HeatRow { name, cells: best.into_iter().map(|row| row.map(cell)).collect() });
    }
    let title = format!(
        "All models at batch {}, {} positions, {}: the fewest cores that hold each, or the memory that every core misses",
        own.batch,
        own.positions(),
        own.weights
    );
    let plot = HeatMap {
        x_title: "instance".to_owned(),
        y_title: "model".to_owned(),
        value_title: "Shade: the part of a core\u{2019}s memory that is in use".to_owned(),
        columns: instances.iter().map(|i| i.name.to_owned()).collect(),
        rows,
    };
    Block::Points { figure: Figure { title, note: String::new(), plot: Plot::HeatMap(plot) }, targets }
}

fn cell(row: &FitRow) -> HeatCell {
    let share = u64_to_f64(row.memory.needed_bytes) / u64_to_f64(row.memory.core_bytes.max(1));
    if row.memory.fits {
        return HeatCell { value: share, text: format!("TP {}", row.tp), share };
    }
    HeatCell { value: share, text: format!("\u{2212}{} GiB", format_number(row.missing_gib)), share: 0.0 }
}
