//! The document of one case: figures, pitfalls with their effects, phases, one call, the roofline.

use super::document::{CaseResult, finding, sentence};
use ns_base::convert::{f64_to_usize, u64_to_f64, usize_to_f64};
use ns_base::units::{format_ns, format_plural, format_share, unit_of_ns};
use ns_bench::matmult::{MatmultDetail, MatmultFinding, MatmultReport, Pitfall};
use ns_fidelity::product_beside;
use ns_view::document::{Block, Document, Figure, Finding, Plot, Source, SourceLine, Tile, Tone};
use ns_view::plot::{Bars, LineStyle, Lines, RooflinePlot};

/// Bars of the histogram of calls.
const HISTOGRAM_BARS: usize = 40;
/// Lines of a program shown at its beginning and at its end; the rest is left out.
const PROGRAM_LINES: (usize, usize) = (14, 10);

pub(super) fn blocks(done: &CaseResult) -> Vec<Block> {
    let r = &done.report;
    if let Some(error) = &r.error {
        let title = "It cannot be measured.".to_owned();
        return vec![Block::Finding(Finding { tone: Tone::Bad, title, text: sentence(error) })];
    }
    let mut blocks = vec![Block::Tiles(tiles(r))];
    blocks.extend(limit(r));
    blocks.extend(pitfalls(done));
    blocks.push(Block::Heading("Where the time goes".to_owned()));
    blocks.push(Block::Plots(vec![phases(r), call(r)]));
    if let Some(detail) = &done.detail {
        // Without products, the roofline of the array does not have a point.
        let roofline = (r.products_asked != Some(0)).then(|| roofline(r, detail));
        blocks.push(Block::Plots(histogram(detail).into_iter().chain(roofline).collect()));
    }
    blocks
}

fn ms(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "-".to_owned(), |s| format_ns(s * 1e9))
}

fn tiles(r: &MatmultReport) -> Vec<Tile> {
    let percent = r.peak_percent.unwrap_or(0.0);
    let peak = r.peak_tops.unwrap_or(0.0);
    let reached = match r.tops_computed {
        Some(tops) => format!("{tops:.2} TFLOPS"),
        None => "The clock did not tick".to_owned(),
    };
    let has_products = r.products_asked != Some(0);
    let tone = match percent {
        p if p >= 70.0 => Tone::Good,
        p if p >= 30.0 => Tone::Neutral,
        _ => Tone::Warning,
    };
    let of_peak = format!("{} of the array\u{2019}s peak of {peak:.2} in {}", format_share(percent), r.dtype);
    let published = r.tops_computed.and_then(|here| product_beside(&r.case, here));
    let note = published.map_or_else(|| of_peak.clone(), |published| format!("{of_peak}; {published}"));
    let mut all = Vec::new();
    if has_products {
        all.push(Tile { tone, share: Some(percent / 100.0), ..Tile::new("Achieved", reached, note) });
    }
    if let Some((rate, peak)) = r.dma_gb_per_s.zip(r.peak_gb_per_s).filter(|_| r.case.operator.is_some()) {
        let note = format!("{} of the {peak:.1} that device memory gives one core", format_share(rate / peak * 100.0));
        all.push(Tile { share: Some(rate / peak), ..Tile::new("Moved by DMA", format!("{rate:.1} GB/s"), note) });
    }
    let (asked, computed) = (r.products_asked.unwrap_or(0), r.products_computed.unwrap_or(0));
    if asked != computed {
        let note = format!("counts all {asked} products; the core computes {computed}");
        let value = r.tops.map_or_else(|| "-".to_owned(), |t| format!("{t:.2} TFLOPS"));
        all.push(Tile { tone: Tone::Bad, ..Tile::new("What the script prints", value, note) });
    }
    let share = r.device_s.zip(r.iteration_s).filter(|(_, all)| *all > 0.0).map(|(device, all)| device / all);
    all.push(Tile::new("One call, end to end", ms(r.iteration_s), format!("mean of {}", r.case.run.timed_iterations)));
    let note = share.map_or_else(String::new, |s| format!("{} of the call", format_share(s * 100.0)));
    all.push(Tile { share, ..Tile::new("On the device", ms(r.device_s), note) });
    if let Some(v) = &r.verification {
        let again = if v.same_seed_repeats { "gives the same time again" } else { "gives another time" };
        let note = format!("between {} runs; the first seed {again}", v.tops.len());
        all.push(Tile::new("Spread", format!("{:.3} %", v.spread_percent), note));
    }
    if let Some((what, k)) = r.ranges.as_ref().and_then(|r| {
        let nan = r.first_nan.map(|k| ("NaN", k));
        nan.or(r.first_inf.map(|k| ("infinity", k))).or(r.first_zero.map(|k| ("only zeros", k)))
    }) {
        let note = format!("first at product {k}: nothing keeps the values in range");
        all.push(Tile { tone: Tone::Bad, ..Tile::new("Values", what.to_owned(), note) });
    }
    all
}

fn limit(r: &MatmultReport) -> Option<Block> {
    let limit = r.limit.as_ref()?;
    let tone = if matches!(limit.by.as_str(), "Tensor") { Tone::Good } else { Tone::Neutral };
    let title = format!("Limited by {}.", limit.by.replace('_', "-"));
    Some(Block::Finding(Finding { tone, title, text: sentence(&limit.sentence) }))
}

/// The pitfalls that were found, each with its sentence, the programs if products were removed, and the effects as bars.
fn pitfalls(done: &CaseResult) -> Vec<Block> {
    let r = &done.report;
    if r.findings.is_empty() {
        let title = "No pitfall of the guide was found.".to_owned();
        let text = "Switch one on in the form to see its cost.".to_owned();
        return vec![Block::Finding(Finding { tone: Tone::Good, title, text })];
    }
    let mut blocks = vec![Block::Heading("Pitfalls that were found".to_owned())];
    for found in &r.findings {
        blocks.push(finding(found.pitfall, &found.sentence));
        if let Some(programs) = done.programs.as_ref().filter(|_| found.pitfall == Pitfall::ProductsRemoved) {
            blocks.push(beside(r, programs));
        }
    }
    blocks.extend(effects(r).map(Block::Plot));
    blocks
}

fn effects(r: &MatmultReport) -> Option<Figure> {
    let without =
        |f: &MatmultFinding| Some((format!("Without: {}", f.pitfall.title()), "without".into(), f.tops_without?));
    let others: Vec<(String, String, f64)> = r.findings.iter().filter_map(without).collect();
    if others.is_empty() {
        return None;
    }
    let as_run = ("As it is".to_owned(), "is".to_owned(), r.tops_computed.unwrap_or(0.0));
    Some(Figure {
        title: "Cost of each pitfall".to_owned(),
        note:
            "Rate of the products that the core computes, with all pitfalls as they are and with one of them removed."
                .to_owned(),
        plot: Plot::Bars(Bars::new(std::iter::once(as_run).chain(others)), "TFLOPS".to_owned()),
    })
}

fn beside(r: &MatmultReport, [before, after]: &[String; 2]) -> Block {
    let part = |title: &str, products: Option<u64>, text: &str| Document {
        title: match products {
            Some(1) => format!("{title}: one product"),
            n => format!("{title}: {} products", n.unwrap_or(0)),
        },
        blocks: vec![Block::Source(program(&format!("HLO {}", title.to_lowercase()), text))],
    };
    Block::Beside(vec![
        part("As written", r.products_asked, before),
        part("After the compiler", r.products_computed, after),
    ])
}

/// A program with its products shaded; the middle of a long one is left out.
fn program(name: &str, text: &str) -> Source {
    let lines: Vec<&str> = text.lines().collect();
    let (first, last) = PROGRAM_LINES;
    let line = |text: &str| SourceLine {
        text: text.to_owned(),
        share: if text.contains(" dot(") { 1.0 } else { 0.0 },
        ..SourceLine::default()
    };
    let kept = if lines.len() <= first + last + 1 {
        lines.iter().map(|l| line(l)).collect()
    } else {
        let left_out = format!("  ... {} lines like these ...", lines.len() - first - last);
        let head = lines.iter().take(first).map(|l| line(l));
        let tail = lines.iter().skip(lines.len() - last).map(|l| line(l));
        head.chain([line(&left_out)]).chain(tail).collect()
    };
    Source { name: name.to_owned(), columns: Vec::new(), lines: kept }
}

fn figure(title: &str, note: String, plot: Plot) -> Figure {
    Figure { title: title.to_owned(), note, plot }
}

/// Times in seconds as bars, in the unit that suits the longest.
fn times(bars: impl Iterator<Item = (String, String, f64)>) -> Plot {
    let bars: Vec<_> = bars.collect();
    let (unit, scale) = unit_of_ns(bars.iter().map(|(.., s)| s * 1e9).fold(0.0, f64::max));
    Plot::Bars(Bars::new(bars.into_iter().map(|(name, group, s)| (name, group, s * 1e9 / scale))), unit.to_owned())
}

fn calls(n: u32) -> String {
    format_plural(n, "call")
}

fn phases(r: &MatmultReport) -> Figure {
    let run = &r.case.run;
    let bars = [
        ("Compile (modelled)".to_owned(), r.modelled_compile_s),
        ("Load".to_owned(), r.load_s),
        (format!("Warm-up, {}", calls(run.warmup_iterations)), r.warmup_s),
        (format!("Timed run, {}", calls(run.timed_iterations)), r.benchmark_s),
    ];
    let bars = bars.into_iter().filter_map(|(name, s)| Some((name, String::new(), s?)));
    let note = "Each phase is timed separately; only the timed run counts for the rate.".to_owned();
    figure("Phases", note, times(bars))
}

fn call(r: &MatmultReport) -> Figure {
    let bars = [
        ("End to end", r.iteration_s),
        ("Device", r.device_s),
        ("Host", r.host_s),
        ("Link", r.link_s),
        ("Host and link, hidden part", r.hidden_s),
    ];
    let bars = bars.into_iter().filter_map(|(name, s)| Some((name.to_owned(), name.to_owned(), s?)));
    let note = match r.case.run.sync {
        true => "Each result is waited for, so that host, link and device follow one another.",
        false => "No result is waited for: the host is one call ahead, and its work during that time is hidden.",
    };
    figure("One call", note.to_owned(), times(bars))
}

/// Distribution of the timed calls; `None` for a single call.
fn histogram(detail: &MatmultDetail) -> Option<Figure> {
    let calls = &detail.calls_s;
    let (first, last) = (*calls.first()? * 1e3, *calls.last()? * 1e3);
    if calls.len() < 2 {
        return None;
    }
    // All calls are the same: draw a visible bar.
    let width = if last > first { (last - first) / usize_to_f64(HISTOGRAM_BARS) } else { (first * 0.01).max(1e-6) };
    let mut counts = vec![0_u64; HISTOGRAM_BARS];
    for call in calls {
        let at = f64_to_usize((call * 1e3 - first) / width);
        if let Some(count) = counts.get_mut(at.min(HISTOGRAM_BARS - 1)) {
            *count += 1;
        }
    }
    let edge = |i: usize| first + width * usize_to_f64(i);
    let bars = counts.iter().enumerate().map(|(i, n)| (edge(i), u64_to_f64(*n)));
    let points = bars.chain([(edge(HISTOGRAM_BARS), 0.0)]).collect();
    let lines = Lines::new("Call (ms)", "Calls", [("Timed calls".to_owned(), LineStyle::Steps, points)], false);
    Some(figure("Distribution of the timed calls", String::new(), Plot::Lines(lines)))
}

fn roofline(r: &MatmultReport, detail: &MatmultDetail) -> Figure {
    let intensity = (detail.dma_bytes > 0).then(|| detail.operations / u64_to_f64(detail.dma_bytes));
    let rate = |seconds: f64| if seconds > 0.0 { detail.operations / seconds } else { 0.0 };
    let points = [
        ("While it executes".to_owned(), intensity, rate(detail.window_s)),
        ("End to end".to_owned(), intensity, rate(r.iteration_s.unwrap_or(0.0))),
    ];
    let peak = r.peak_tops.unwrap_or(0.0) * 1e12;
    let plot = RooflinePlot::new(peak, detail.peak_bytes_per_s, points);
    let note = "Operations per byte that DMAs move: right of the ridge the array is the limit, left of it the memory.";
    figure("Roofline", note.to_owned(), Plot::Roofline(plot))
}
