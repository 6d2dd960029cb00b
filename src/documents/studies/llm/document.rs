//! What the page shows of a language model.

use super::grid::{best_place, costs, grid, models, result_of, trade};
use super::run::{RequestPurpose, RequestResult};
use super::traffic::{self, Served};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_number, format_plural, format_range};
use ns_fidelity::{GenerationReport, LargerBatch};
use ns_forms::studies::LlmStudy;
use ns_llm::{Limits, Memory, Request};
use ns_view::colours::Kind;
use ns_view::document::{Block, Document, Figure, Finding, Plot, Share, Shares, Tile, Tone};
use ns_view::palette::shade;
use ns_view::plot::Scatter;

/// The document of a run. Until the run is over, it holds the answer to the form's own request and nothing else.
pub(super) fn document(
    study: &LlmStudy,
    own: &Request,
    made: &[RequestResult],
    served: Option<&Served>,
    is_over: bool,
) -> Document {
    let limits = study.limits();
    let mut blocks = Vec::new();
    // Without limits the place of the form is the answer; with them it is one of many places.
    if limits.is_none() {
        blocks.extend(own_place(own, &limits, made));
    }
    if !is_over {
        return Document { title: title(own, &limits), blocks };
    }
    blocks.extend(answer(own, &limits, made));
    blocks.extend(served.into_iter().flat_map(|served| traffic::blocks(study, own, served)));
    blocks.extend(trade(own, &limits, made).map(Block::Plot));
    let plots: Vec<Figure> = [curve(made), costs(&limits, made)].into_iter().flatten().collect();
    if !plots.is_empty() {
        blocks.push(Block::Plots(plots));
    }
    blocks.push(grid(own, &limits, made));
    blocks.push(models(own));
    blocks.push(Block::Text(ABOUT.to_owned()));
    let mut commands =
        vec![own.serve_command(), LlmStudy { request_rate: None, ..study.clone() }.command("generate", own)];
    if !limits.is_none() {
        commands.push(study.command("fit", own));
    }
    commands.extend(study.traffic().map(|_| study.command("generate", own)));
    commands.swap(0, 1);
    blocks.extend(commands.into_iter().map(Block::Command));
    Document { title: title(own, &limits), blocks }
}

/// The question: the place of the form, or, with limits, the limits, because the place is then the answer.
pub(super) fn title(own: &Request, limits: &Limits) -> String {
    let place = match limits.is_none() {
        true => format!(", on {} of {}", format_plural(own.degree, "core"), own.instance.name),
        false => String::new(),
    };
    let wanted = if limits.is_none() { String::new() } else { format!("; {limits}") };
    let (model, weights) = (&own.config.name, own.weights);
    format!("{model}, {weights}{place}: batch {}, {} tokens in, {} out{wanted}", own.batch, own.input, own.output)
}

/// The figures of the form's own place.
fn own_place(own: &Request, limits: &Limits, made: &[RequestResult]) -> Vec<Block> {
    match made.first().map(|m| &m.report) {
        Some(Ok(report)) => figures(own, report, limits),
        Some(Err(refusal)) => vec![finding(Tone::Bad, &refusal.to_string(), "")],
        None => Vec::new(),
    }
}

pub(super) fn figures(request: &Request, report: &GenerationReport, limits: &Limits) -> Vec<Block> {
    let mut blocks = vec![Block::Tiles(tiles(request, report, limits))];
    let notes = report.note.into_iter().chain(report.remarks.iter().map(String::as_str));
    blocks.extend(notes.map(|note| finding(Tone::Warning, note, "")));
    blocks.push(Block::Shares(token(report)));
    blocks.push(Block::Shares(first_token(report)));
    blocks
}

/// The cheapest place. With limits its figures come first, and those of the form's own place below them, if it is another.
fn answer(own: &Request, limits: &Limits, made: &[RequestResult]) -> Vec<Block> {
    let Some(plan) = best_place(limits, made) else {
        return if limits.is_none() { Vec::new() } else { own_place(own, limits, made) };
    };
    let tone = if plan.misses.is_empty() { Tone::Good } else { Tone::Warning };
    let text = match plan.misses.is_empty() {
        true => plan.figures(),
        false => format!("{} Use a smaller batch, fewer tokens, int8 weights, or looser limits.", plan.figures()),
    };
    let mut blocks = vec![finding(tone, &plan.title(limits), &text)];
    let found = result_of(&plan, made).and_then(|m| Some((&m.request, m.report.as_ref().ok()?)));
    if let Some((request, report)) = found.filter(|_| !limits.is_none()) {
        blocks.extend(figures(request, report, limits));
        if request != own {
            let place = format!("{} of {}", format_plural(own.degree, "core"), own.instance.name);
            blocks.push(Block::Heading(format!("The place in the form: {place}")));
            blocks.extend(own_place(own, limits, made));
        }
    }
    blocks
}

const ABOUT: &str = "All times are simulated. A layer is two segments, attention and feed-forward part; each is compiled and simulated once for its shape, and \
     ends where the cores exchange their sums. Nothing of the next segment is fetched before that. The median token is that of the bucket which holds it; a \
     cache of a bucket is read whole.";

pub(super) fn finding(tone: Tone, title: &str, text: &str) -> Block {
    Block::Finding(Finding { tone, title: title.to_owned(), text: text.to_owned() })
}

fn tiles(own: &Request, report: &GenerationReport, limits: &Limits) -> Vec<Tile> {
    let made = &report.made;
    let ms = |ms: f64| format!("{} ms", format_number(ms));
    let interval = report.interval.map_or_else(
        || "no published row tells the error".to_owned(),
        |i| format!("{} in 9 of 10 cases", format_range(i.tpot_low_ms, i.tpot_high_ms, "ms")),
    );
    let misses = limits.misses(made.ttft_ms, made.tpot_p50_ms);
    let limited = |what: &str, tile: Tile| match misses.iter().find(|miss| miss.what == what) {
        Some(miss) => {
            let above = format!("{} ms above the limit of {} ms", format_number(miss.above_ms), miss.limit_ms);
            Tile { note: format!("{above}; {}", tile.note), tone: Tone::Bad, ..tile }
        }
        None => tile,
    };
    let mut tiles = vec![
        limited("token", Tile::new("A token, median", ms(made.tpot_p50_ms), interval)),
        limited(
            "first token",
            Tile::new("First token", ms(made.ttft_ms), format!("after a prompt of {} tokens", own.input)),
        ),
        Tile::new(
            "Throughput",
            format!("{} tokens/s", format_number(made.throughput_tokens_per_s)),
            format!("of {} on {}", own.batch, format_plural(own.degree, "core")),
        ),
    ];
    tiles.extend(made.cost_usd_per_million_tokens.map(|usd| {
        let copies = own.instance.logical_cores(own.lnc) / own.degree.max(1);
        let place = format!("with {} of cores on {}", format_plural(copies, "group"), own.instance.name);
        let larger = report.larger_batch.as_ref().map(LargerBatch::text);
        Tile::new(
            "A million tokens",
            format!("{} US$", format_number(usd)),
            larger.into_iter().chain([place]).collect::<Vec<_>>().join("; "),
        )
    }));
    tiles.push(memory_tile(&made.memory));
    tiles
}

fn memory_tile(memory: &Memory) -> Tile {
    let bytes = |n: u64| format_bytes(u64_to_f64(n));
    Tile {
        name: "Memory of a core".to_owned(),
        value: bytes(memory.needed_bytes),
        note: format!(
            "of {}: weights {}, cache {}, scratch {}",
            bytes(memory.core_bytes),
            bytes(memory.weight_bytes),
            bytes(memory.cache_bytes),
            bytes(memory.scratch_bytes)
        ),
        tone: if memory.fits { Tone::Good } else { Tone::Bad },
        share: Some((u64_to_f64(memory.needed_bytes) / u64_to_f64(memory.core_bytes.max(1))).min(1.0)),
    }
}

/// The median token by its parts.
fn token(report: &GenerationReport) -> Shares {
    let parts = report.made.breakdown_ms;
    let all = [
        // All are transfers: shades of one hue.
        (if parts.experts.is_some() { "dense weights" } else { "weights" }, parts.weights, Kind::Transfer.fill()),
        ("router", parts.router.unwrap_or_default(), shade(Kind::Transfer.fill(), 1)),
        ("keys and values", parts.cache, shade(Kind::Transfer.fill(), 3)),
        ("experts", parts.experts.unwrap_or_default(), shade(Kind::Transfer.fill(), 5)),
        ("collectives", parts.collectives, Kind::Collective.fill()),
        ("compute that no transfer hides", parts.compute, Kind::Matrix.fill()),
        ("host", parts.host, Kind::Host.fill()),
    ];
    let note =
        "Weights, experts, keys and values at the rate of device memory; collectives between the segments of a layer.";
    let title = |whole: &str| format!("Where {whole} ms of the median token go");
    shares(title, note, &all)
}

/// The first token by its parts.
fn first_token(report: &GenerationReport) -> Shares {
    let parts = report.made.ttft_breakdown_ms;
    let all = [
        ("attention", parts.attention, Kind::Matrix.fill()),
        ("feed-forward parts and head", parts.feed_forward, shade(Kind::Matrix.fill(), 3)),
        ("collectives", parts.collectives, Kind::Collective.fill()),
        ("host", parts.host, Kind::Host.fill()),
    ];
    shares(
        |whole| format!("Where {whole} ms of the first token go"),
        "Each part with the transfers that it waits for.",
        &all,
    )
}

/// Milliseconds of parts, which add up to the time of the title.
fn shares(title: impl Fn(&str) -> String, note: &str, all: &[(&str, f64, u8)]) -> Shares {
    let whole: f64 = all.iter().map(|(_, ms, _)| ms).sum();
    let part = |(name, ms, fill): &(&str, f64, u8)| Share {
        name: (*name).to_owned(),
        value: format!("{} ms", format_number(*ms)),
        exact: format!("{ms} ms"),
        share: ms / whole.max(1e-12),
        kind: format!("hue-{fill}"),
        target: String::new(),
    };
    Shares {
        title: title(&format_number(whole)),
        note: note.to_owned(),
        parts: all.iter().map(part).filter(|p| p.share > 0.0).collect(),
    }
}

/// The throughput over the time of a token, by batch size.
fn curve(made: &[RequestResult]) -> Option<Figure> {
    let of_batch = made.iter().filter(|m| m.purpose == RequestPurpose::Batch);
    let mut points: Vec<(u64, f64, f64)> = of_batch
        .filter_map(|m| {
            m.report.as_ref().ok().map(|r| (m.request.batch, r.made.tpot_p50_ms, r.made.throughput_tokens_per_s))
        })
        .collect();
    points.order_by_key(|(batch, ..)| *batch);
    let (first, last) = (points.first()?.0, points.last()?.0);
    let point =
        |(batch, tpot, rate): &(u64, f64, f64)| (format!("batch {batch}"), *tpot, *rate, format!("batch {batch}"));
    let plot = Scatter::new("Time of a token (ms)", "Tokens/s", points.iter().map(point));
    Some(Figure {
        title: "Throughput against latency".to_owned(),
        note: format!(
            "Batch sizes {first} to {last} in the place that was chosen; larger ones do not fit or were not tried."
        ),
        plot: Plot::Scatter(plot),
    })
}
