//! Requests that arrive at random: continuous batching at the form's rate, and at others up to the knee.

use ns_base::Refusal;
use ns_base::units::format_number;
use ns_forms::studies::LlmStudy;
use ns_llm::{FITTED, Limits, RateFigures, Request, ServeReport, Traffic, serve};
use ns_view::document::{Block, Figure, Finding, Plot, Tile, Tone};
use ns_view::plot::{LineStyle, Lines, Series};

/// What the requests of the form saw, or why they could not be served.
pub(super) type Served = Result<ServeReport, Refusal>;

/// Serves requests, as `neuronscope generate --request-rate` does.
pub(super) fn serve_at(request: &Request, traffic: &Traffic) -> Served {
    let request = Request { continuous: true, ..request.clone() };
    request.check().and_then(|_| serve(&request, traffic, FITTED))
}

/// What the document says of them.
pub(super) fn blocks(study: &LlmStudy, request: &Request, served: &Served) -> Vec<Block> {
    let Some(Traffic { requests_per_s: rate, .. }) = study.traffic() else { return Vec::new() };
    let mut blocks = vec![Block::Heading(format!("{rate} requests a second arrive at random"))];
    match served {
        Err(refusal) => {
            let finding = Finding { tone: Tone::Bad, title: refusal.to_string(), text: String::new() };
            blocks.push(Block::Finding(finding));
        }
        Ok(report) => {
            blocks.push(Block::Tiles(tiles(request, rate, report)));
            blocks.extend(too_many(rate, report));
            blocks.push(Block::Finding(knee(&study.limits(), report)));
            blocks.push(Block::Plots(vec![times(report), goodput(&study.limits(), report)]));
        }
    }
    blocks
}

/// The highest rate that is served well.
fn knee(limits: &Limits, report: &ServeReport) -> Finding {
    let (tone, title) = match report.knee_requests_per_s {
        Some(rate) => (Tone::Good, format!("The knee is at {} requests a second.", format_number(rate))),
        None => (Tone::Warning, "No rate is served within the limits.".to_owned()),
    };
    let text = match limits.is_none() {
        true => "Up to there half of the first tokens come within twice the time of a prompt.".to_owned(),
        false => format!("Up to there 9 of 10 requests keep the limits: {limits}."),
    };
    Finding { tone, title, text }
}

fn tiles(request: &Request, rate: f64, report: &ServeReport) -> Vec<Tile> {
    let of = |[p50, _, p99]: &[f64; 3]| {
        (format!("{} ms", format_number(*p50)), format!("99 of 100 requests within {} ms", format_number(*p99)))
    };
    let (ttft, ttft_note) = of(&report.ttft_ms);
    let (tpot, tpot_note) = match request.output {
        1 => ("\u{2013}".to_owned(), "a request of one token has no further one".to_owned()),
        _ => of(&report.tpot_ms),
    };
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

fn times(report: &ServeReport) -> Figure {
    let of = |name: &str, n: usize| -> Series {
        let points = report.rates.iter().map(|figures| (figures.rate, figures.ttft_ms[n]));
        (name.to_owned(), LineStyle::Solid, points.collect())
    };
    Figure {
        title: "First token by rate".to_owned(),
        note: "A request waits for a place in the batch, then for its own prompt.".to_owned(),
        plot: Plot::Lines(Lines::new("Requests/s", "First token (ms)", [of("median", 0), of("99 of 100", 1)], true)),
    }
}

fn goodput(limits: &Limits, report: &ServeReport) -> Figure {
    let of = |name: &str, value: fn(&RateFigures) -> f64| -> Series {
        let points = report.rates.iter().map(|figures| (figures.rate, value(figures)));
        (name.to_owned(), LineStyle::Solid, points.collect())
    };
    let series = [of("served", |r| r.requests_per_s), of("within the limits", |r| r.goodput_requests_per_s)];
    Figure {
        title: "Goodput by rate".to_owned(),
        note: if limits.is_none() {
            "Set limits in the form: without them every request is good.".to_owned()
        } else {
            "Requests a second whose first token and mean token keep the limits of the form.".to_owned()
        },
        plot: Plot::Lines(Lines::new("Requests/s that arrive", "Requests/s", series, true)),
    }
}
