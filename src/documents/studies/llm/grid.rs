//! Where the model fits, how fast and how dear it is there.

use std::collections::BTreeMap;

use super::run::{RequestPurpose, RequestResult};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_number;
use ns_fidelity::{PublishedDecode, published_decodes};
use ns_llm::{FitRow, Generation, Limits, Plan, Request, best_plan, distinct_instances, fit, fit_models};
use ns_machine::arch::known_instance;
use ns_view::document::{Block, Figure, Plot};
use ns_view::palette::GREY;
use ns_view::plot::{Bars, HeatCell, HeatMap, HeatRow, Scatter, XLimit};
use ns_view::table::{Cell, Column, ColumnKind, Table};

/// Places that were simulated, with their results.
fn places(made: &[RequestResult]) -> impl Iterator<Item = (&Request, &Generation)> {
    let of_place = made.iter().filter(|m| m.purpose == RequestPurpose::Place);
    of_place.filter_map(|m| Some((&m.request, &m.report.as_ref().ok()?.made)))
}

/// The same as plans.
fn plans<'a>(limits: &Limits, made: &'a [RequestResult]) -> impl Iterator<Item = Plan> + use<'a> {
    let limits = *limits;
    places(made).map(move |(request, made)| Plan::of(request, made, &limits))
}

/// The place that the page names first: the cheapest within the limits, or the nearest to them.
pub(super) fn best_place(limits: &Limits, made: &[RequestResult]) -> Option<Plan> {
    best_plan(plans(limits, made))
}

/// The best place of each instance that has a price, by [`best_plan`], in the order of their names.
fn best_of_instances(limits: &Limits, made: &[RequestResult]) -> Vec<Plan> {
    let mut by_instance: BTreeMap<&str, Vec<Plan>> = BTreeMap::new();
    for plan in plans(limits, made).filter(|plan| plan.usd_per_million_tokens.is_some()) {
        by_instance.entry(plan.instance).or_default().push(plan);
    }
    by_instance.into_values().filter_map(best_plan).collect()
}

/// The result of a place.
pub(super) fn result_of<'a>(plan: &Plan, made: &'a [RequestResult]) -> Option<&'a RequestResult> {
    let is_place = |m: &&RequestResult| {
        m.purpose == RequestPurpose::Place && m.request.instance.name == plan.instance && m.request.degree == plan.tp
    };
    made.iter().find(is_place)
}

/// The cost of a million tokens at the best degree of each instance; instances that break a limit are grey and come last.
pub(super) fn costs(limits: &Limits, made: &[RequestResult]) -> Option<Figure> {
    let mut best = best_of_instances(limits, made);
    let cost = |plan: &Plan| plan.usd_per_million_tokens.unwrap_or(f64::INFINITY);
    best.order_by(|a, b| a.misses.len().min(1).cmp(&b.misses.len().min(1)).then(cost(a).total_cmp(&cost(b))));
    let bar = |plan: &Plan| {
        let broken = if plan.misses.is_empty() { String::new() } else { format!(": {}", plan.missed()) };
        (format!("{}, TP {}{broken}", plan.instance, plan.tp), "cost".to_owned(), cost(plan))
    };
    let mut bars = Bars::new(best.iter().map(bar));
    for (bar, _) in bars.bars.iter_mut().zip(&best).filter(|(_, plan)| !plan.misses.is_empty()) {
        bar.fill = GREY;
    }
    (!bars.bars.is_empty()).then(|| Figure {
        title: "A million new tokens".to_owned(),
        note: "At the degree that is cheapest there, with as many groups of cores as the instance has; published prices on demand.".to_owned(),
        plot: Plot::Bars(bars, "US$".to_owned()),
    })
}

/// Tokens of a dollar over tokens a second for one user, at each degree and batch size: a line for each instance through those that no other
/// beats, and what is published of the model.
pub(super) fn trade(own: &Request, limits: &Limits, made: &[RequestResult]) -> Option<Figure> {
    let is_here = |m: &&RequestResult| matches!(m.purpose, RequestPurpose::Place | RequestPurpose::Curve);
    let drawn: Vec<TradePoint<'_>> = made.iter().filter(is_here).filter_map(|m| TradePoint::of(m, limits)).collect();
    let point = |p: &TradePoint<'_>| (p.request.instance.name.to_owned(), p.speed, p.tokens, p.label());
    let mut plot = Scatter::new("Tokens/s for a user", "Tokens per US$", drawn.iter().map(point));
    for (point, of) in plot.points.iter_mut().zip(&drawn) {
        point.is_outside = !of.plan.misses.is_empty();
        point.interval = of.interval;
    }
    let published = published_decodes(own);
    let ring = |row: &PublishedDecode| {
        let tokens = 1e6 / row.request.usd_per_million_tokens(row.throughput)?;
        let place = place_text(&row.request);
        let lengths = format!("{} tokens in, {} out", row.request.input, row.request.output);
        Some((1e3 / row.tpot_ms, tokens, format!("{place}, {lengths}, {}", row.framework)))
    };
    let plot = plot
        .with_front_of_both()
        .with_series_lines(true)
        .with_rings(PUBLISHED, published.iter().filter_map(ring))
        .with_ratios();
    let slowest = limits.tpot_ms.map(|ms| XLimit { value: 1e3 / ms, is_least: true });
    let plot = plot.with_limit(slowest);
    (!plot.points.is_empty()).then(|| Figure {
        title: format!("{}: tokens for a user against tokens for a dollar", own.config.name),
        note: format!(
            "{}, {} tokens in, {} out, at each degree (TP) and batch sizes from 1 to 128; the line of an instance joins those that none beats. Simulated.{}",
            own.weights,
            own.input,
            own.output,
            if limits.is_none() { String::new() } else { format!(" Limits: {limits}; faint points break one.") }
        ),
        plot: Plot::Scatter(plot),
    })
}

/// The name of published figures in a legend.
const PUBLISHED: &str = "Published";

/// A simulated request among its alternatives.
struct TradePoint<'a> {
    request: &'a Request,
    plan: Plan,
    /// Tokens of a second for a user.
    speed: f64,
    /// Tokens of a dollar.
    tokens: f64,
    /// Both at worst and at best.
    interval: Option<[(f64, f64); 2]>,
}

impl<'a> TradePoint<'a> {
    fn of(made: &'a RequestResult, limits: &Limits) -> Option<Self> {
        let report = made.report.as_ref().ok()?;
        let plan = Plan::of(&made.request, &report.made, limits);
        let (speed, tokens) = (1e3 / plan.tpot_ms, 1e6 / plan.usd_per_million_tokens?);
        let at = |tpot_ms: f64| (1e3 / tpot_ms, tokens * plan.tpot_ms / tpot_ms);
        let interval = report.interval.map(|ends| [at(ends.tpot_high_ms), at(ends.tpot_low_ms)]);
        Some(Self { request: &made.request, plan, speed, tokens, interval })
    }

    fn label(&self) -> String {
        let place = place_text(self.request);
        if self.plan.misses.is_empty() { place } else { format!("{place}: {}", self.plan.missed()) }
    }
}

/// `inf2.48xlarge TP 24, batch 1`
fn place_text(request: &Request) -> String {
    format!("{} TP {}, batch {}", request.instance.name, request.degree, request.batch)
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
pub(super) fn grid(own: &Request, limits: &Limits, made: &[RequestResult]) -> Block {
    let found = fit(own);
    let all: Vec<Plan> = plans(limits, made).collect();
    let result_of = |row: &FitRow| {
        places(made)
            .find(|(request, _)| request.instance.name == row.instance && request.degree == row.tp)
            .map(|(_, made)| made)
    };
    let is_priced = |row: &FitRow| known_instance(row.instance).is_ok_and(|i| i.usd_per_hour.is_some());
    // Of memory, time and money, less is better.
    let columns = COLUMNS.map(|(id, title, kind)| match kind {
        ColumnKind::Exact => Column::new(id, title, kind).least_first(),
        _ => Column::new(id, title, kind),
    });
    // Without simulations there are no times.
    let most = if made.is_empty() { columns.len() - 3 } else { columns.len() };
    let mut table = Table { columns: columns.into_iter().take(most).collect(), ..Table::default() };
    let (mut targets, mut faint) = (Vec::new(), Vec::new());
    for (position, row) in found.rows.iter().enumerate() {
        let result = match (row.memory.fits, is_priced(row)) {
            (true, true) => "fits",
            (true, false) => "fits; no published price",
            (false, _) => "",
        };
        let broken = all.iter().find(|p| p.instance == row.instance && p.tp == row.tp && !p.misses.is_empty());
        if broken.is_some() || !row.memory.fits {
            faint.push(position);
        }
        let result = match broken {
            Some(plan) => format!("{result}; {}", plan.missed()),
            _ if row.memory.fits => result.to_owned(),
            _ => format!("{} GiB are missing", format_number(row.missing_gib)),
        };
        let gib = |bytes: u64| rounded(u64_to_f64(bytes) / f64::from(1 << 30));
        let figure = |of: fn(&Generation) -> Option<f64>| result_of(row).and_then(of).map_or(Cell::Missing, rounded);
        let cells = [
            Cell::Text(row.instance.to_owned()),
            Cell::Count(u64::from(row.tp)),
            Cell::Text(result),
            gib(row.memory.needed_bytes),
            gib(row.memory.core_bytes),
            figure(|made| Some(made.tpot_p50_ms)),
            figure(|made| Some(made.ttft_ms)),
            figure(|made| made.cost_usd_per_million_tokens),
        ];
        table.rows.push(cells.into_iter().take(most).collect());
        targets.push(format!("instance={}&tp={}", row.instance, row.tp));
    }
    let title = match found.nearest {
        Some(_) => "Where it fits",
        None => "Where it fits: nowhere; use a smaller batch, fewer tokens or int8 weights",
    };
    Block::Rows { title: title.to_owned(), file: "fit".to_owned(), table, targets, faint }
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
