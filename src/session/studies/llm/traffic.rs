//! Requests that arrive at random: continuous batching at the form's rate, and at other rates for a curve.

use super::spec::LlmStudy;
use ns_base::Order;
use ns_base::Refusal;
use ns_base::convert::u64_to_f64;
use ns_base::units::format_number;
use ns_llm::{FITTED, Limits, Request, ServeReport, Traffic, serve};
use ns_view::document::{Block, Figure, Finding, Plot, Tile, Tone};
use ns_view::plot::{LineStyle, Lines, Series};

/// Rates of the curve, as shares of what the cores serve at most.
const SHARES: [f64; 8] = [0.2, 0.4, 0.6, 0.7, 0.8, 0.9, 1.0, 1.2];

/// Requests that were served at one rate.
pub(super) struct RateResult {
    pub rate: f64,
    pub report: Result<ServeReport, Refusal>,
}

/// The form's rate first, then those of the curve around the requests a second that the cores serve with a full batch.
pub(super) fn rates(own: f64, request: &Request, tokens_per_s: f64) -> Vec<f64> {
    let most = tokens_per_s / u64_to_f64(request.output.max(1));
    std::iter::once(own).chain(SHARES.map(|share| share * most)).filter(|rate| *rate > 0.0).collect()
}

/// Serves requests at a rate, as `neuronscope generate --request-rate` does.
pub(super) fn serve_at(study: &LlmStudy, request: &Request, rate: f64) -> RateResult {
    let request = Request { continuous: true, ..request.clone() };
    let traffic = Traffic { requests_per_s: rate, requests: study.requests(), seed: 0, limits: study.limits() };
    let report = request.check().and_then(|_| serve(&request, &traffic, FITTED));
    RateResult { rate, report }
}

/// What the document says of them; empty where nothing was served.
pub(super) fn blocks(study: &LlmStudy, request: &Request, served: &[RateResult]) -> Vec<Block> {
    let Some((own, _)) = served.split_first() else { return Vec::new() };
    let mut blocks = vec![Block::Heading(format!("{} requests a second arrive at random", own.rate))];
    match &own.report {
        Err(refusal) => {
            let finding = Finding { tone: Tone::Bad, title: refusal.to_string(), text: String::new() };
            blocks.push(Block::Finding(finding));
        }
        Ok(report) => {
            blocks.push(Block::Tiles(tiles(request, own.rate, report)));
            blocks.extend(too_many(own.rate, report));
            blocks.push(Block::Plots(vec![times(served), goodput(&study.limits(), served)]));
        }
    }
    blocks
}

fn tiles(request: &Request, rate: f64, report: &ServeReport) -> Vec<Tile> {
    let of = |[p50, _, p99]: &[f64; 3]| {
        (format!("{} ms", format_number(*p50)), format!("99 of 100 requests within {} ms", format_number(*p99)))
    };
    let (ttft, ttft_note) = of(&report.ttft_ms);
    let (tpot, tpot_note) = of(&report.tpot_ms);
    let good = report.goodput_requests_per_s;
    vec![
        Tile::new("First token of a request, median", ttft, ttft_note),
        Tile::new("Token of a request, median", tpot, tpot_note),
        Tile::new(
            "Goodput",
            format!("{} requests/s", format_number(good)),
            format!("within the limits, of {rate} that arrive"),
        ),
        Tile::new(
            "Throughput",
            format!("{} tokens/s", format_number(report.throughput_tokens_per_s)),
            format!("{} of {} places are taken on average", format_number(report.mean_batch), request.batch),
        ),
    ]
}

/// The warning that requests come faster than they are served, so that the queue only grows.
fn too_many(rate: f64, report: &ServeReport) -> Option<Block> {
    // The last requests leave the batch emptier than it was, which takes a little of the rate.
    let is_full = report.requests_per_s < 0.9 * rate;
    is_full.then(|| {
        Block::Finding(Finding {
            tone: Tone::Warning,
            title: format!(
                "The cores serve {} requests a second: those that arrive wait longer and longer.",
                format_number(report.requests_per_s)
            ),
            text: "A larger batch, more cores, shorter answers or a second group of cores serve more.".to_owned(),
        })
    })
}

/// Reports by rate, the lowest rate first.
fn by_rate(served: &[RateResult]) -> Vec<(f64, &ServeReport)> {
    let mut all: Vec<(f64, &ServeReport)> =
        served.iter().filter_map(|s| Some((s.rate, s.report.as_ref().ok()?))).collect();
    all.order_by(|a, b| a.0.total_cmp(&b.0));
    all
}

fn times(served: &[RateResult]) -> Figure {
    let of = |name: &str, n: usize| -> Series {
        let points = by_rate(served).into_iter().map(|(rate, report)| (rate, report.ttft_ms[n]));
        (name.to_owned(), LineStyle::Solid, points.collect())
    };
    Figure {
        title: "First token by rate".to_owned(),
        note: "A request waits for a place in the batch, then for its own prompt.".to_owned(),
        plot: Plot::Lines(Lines::new("Requests/s", "First token (ms)", [of("median", 0), of("99 of 100", 2)], true)),
    }
}

fn goodput(limits: &Limits, served: &[RateResult]) -> Figure {
    let of = |name: &str, value: fn(&ServeReport) -> f64| -> Series {
        let points = by_rate(served).into_iter().map(|(rate, report)| (rate, value(report)));
        (name.to_owned(), LineStyle::Solid, points.collect())
    };
    let series = [of("served", |r| r.requests_per_s), of("within the limits", |r| r.goodput_requests_per_s)];
    let has_limits = limits.ttft_ms.is_some() || limits.tpot_ms.is_some();
    Figure {
        title: "Goodput by rate".to_owned(),
        note: if has_limits {
            "Requests a second whose first token and mean token keep the limits of the form.".to_owned()
        } else {
            "Set limits in the form: without them every request is good.".to_owned()
        },
        plot: Plot::Lines(Lines::new("Requests/s that arrive", "Requests/s", series, true)),
    }
}
