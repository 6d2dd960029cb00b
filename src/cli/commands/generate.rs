//! `neuronscope generate` and `neuronscope fit`

use anyhow::{Result, bail};

use super::text;
use crate::llm_args::{FitArgs, GenerateArgs};
use crate::remarks::{with_remarks, write_profile};
use ns_base::convert::u64_to_f64;
use ns_fidelity::{GenerationReport, TpotInterval};
use ns_llm::{
    DecoderConfig, FITTED, FitGrid, FitRow, KnownTimes, Limits, RateFigures, Request, ServeReport, cheapest_plan,
    distinct_instances, fit, fit_models, note_of, serve,
};
use ns_session::studies::token_profile;

pub(super) fn run(args: GenerateArgs) -> Result<()> {
    if !args.options.has_model() {
        bail!("no model is named; give --model llama-3-8b, or a config.json with --model-config");
    }
    let study = args.options.study()?;
    let mut request = study.request()?;
    if let Some(traffic) = study.traffic() {
        request.continuous = true;
        request.check()?;
        let report = serve(&request, &traffic, FITTED)?;
        return if args.json { text::print_json(&report) } else { text::print(served(&request, &report).as_bytes()) };
    }
    let report = GenerationReport::with_larger_batch(&request, &KnownTimes::default())?;
    let remarks = match &args.trace {
        Some(path) => write_profile(path, &token_profile(&request)?, args.trace_export)?,
        None => Vec::new(),
    };
    if args.json {
        text::print(&with_remarks(text::to_json(&report)?, &remarks)?)
    } else {
        let limits = study.limits();
        let kept = limits_text(&limits, &report);
        text::print((describe(&request, &report) + &kept).as_bytes())
    }
}

/// Whether the limits are kept; empty without any.
fn limits_text(limits: &Limits, report: &GenerationReport) -> String {
    let misses = limits.misses(report.made.ttft_ms, report.made.tpot_p50_ms);
    match (limits.is_none(), misses.is_empty()) {
        (true, _) => String::new(),
        (_, true) => format!("It keeps the limits: {limits}.\n"),
        (_, false) => {
            let missed = misses.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            format!(
                "It misses by: {missed}. neuronscope fit with the same limits names the nearest place that keeps them.\n"
            )
        }
    }
}

pub(super) fn run_fit(args: FitArgs) -> Result<()> {
    let study = args.options.study()?;
    let (request, limits) = (study.request()?, study.limits());
    if !args.options.has_model() {
        return fit_all(&request, &limits, args.json);
    }
    request.check_numbers()?;
    let mut grid = fit(&request);
    if !limits.is_none() {
        grid.plan = cheapest_plan(&request, &limits, FITTED);
    }
    if args.json { text::print_json(&grid) } else { text::print(grid_text(&grid, &limits).as_bytes()) }
}

/// Every published model: at which degree it fits on which instance.
fn fit_all(request: &Request, limits: &Limits, json: bool) -> Result<()> {
    if !limits.is_none() {
        bail!("--max-ttft-ms and --max-tpot-ms are for one model; name it with --model");
    }
    // The model is the first of many, whose positions do not count.
    let of_any = DecoderConfig { max_positions: u64::MAX, ..request.config.clone() };
    Request { config: of_any, ..request.clone() }.check_numbers()?;
    let grids = fit_models(request);
    if json { text::print_json(&grids) } else { text::print(models_text(request, &grids).as_bytes()) }
}

fn models_text(request: &Request, grids: &[FitGrid]) -> String {
    let instances = distinct_instances();
    let place = |row: &FitRow| match row.memory.fits {
        true => format!("TP {}", row.tp),
        false => format!("-{:.1}", row.missing_gib),
    };
    let row = |grid: &FitGrid| -> Vec<String> {
        let places = instances.iter().map(|i| grid.best(i.name).map(place).unwrap_or_default());
        std::iter::once(grid.model.clone()).chain(places).collect()
    };
    let headings: Vec<&str> = std::iter::once("Model").chain(instances.iter().map(|i| i.name)).collect();
    format!(
        "{}, batch {}, {} positions: the smallest degree at which each model fits, or the GiB that every core misses\n{}",
        request.weights,
        request.batch,
        request.positions(),
        text::table(&headings, &grids.iter().map(row).collect::<Vec<_>>())
    )
}

fn gib(bytes: u64) -> String {
    format!("{:.2}", u64_to_f64(bytes) / f64::from(1 << 30))
}

fn heading(request: &Request) -> String {
    format!(
        "{} on {} cores of {} ({}), {}, batch {}, {} tokens in, {} out (simulated)\n",
        request.config.name,
        request.degree,
        request.instance.name,
        request.route(),
        request.weights,
        request.batch,
        request.input,
        request.output
    )
}

fn describe(request: &Request, report: &GenerationReport) -> String {
    let made = &report.made;
    let mut out = heading(request);
    let b = &made.breakdown_ms;
    let line = |name: &str, value: String| vec![name.to_owned(), value];
    let t = &made.ttft_breakdown_ms;
    let mut rows = vec![
        line("time to first token", format!("{:.1} ms", made.ttft_ms)),
        line("  attention", format!("{:.1} ms", t.attention)),
        line("  feed-forward", format!("{:.1} ms", t.feed_forward)),
        line("  collectives", format!("{:.1} ms", t.collectives)),
        line("  host", format!("{:.1} ms", t.host)),
        line("time of a token, median", format!("{:.2} ms", made.tpot_p50_ms)),
        line("time of a token, mean", format!("{:.2} ms", made.tpot_mean_ms)),
        line("throughput", format!("{:.1} tokens/s", made.throughput_tokens_per_s)),
    ];
    if let Some(TpotInterval { tpot_low_ms: low, tpot_high_ms: high }) = report.interval {
        rows.push(line("  on a device, 9 of 10 cases", format!("{low:.2} to {high:.2} ms")));
    }
    if let Some(cost) = made.cost_usd_per_million_tokens {
        rows.push(line("cost of a million tokens", format!("{cost:.2} US$")));
    }
    if let Some(larger) = &report.larger_batch {
        rows.push(line(
            &format!("  at batch {}", larger.batch),
            format!("{:.2} US$", larger.cost_usd_per_million_tokens),
        ));
    }
    for (name, ms) in [
        ("  weights", Some(b.weights)),
        ("  router", b.router),
        ("  cache", Some(b.cache)),
        ("  experts", b.experts),
        ("  collectives", Some(b.collectives)),
        ("  compute", Some(b.compute)),
        ("  host", Some(b.host)),
    ] {
        let Some(ms) = ms else { continue };
        rows.push(line(name, format!("{ms:.2} ms of the median token")));
    }
    let m = &made.memory;
    rows.push(line("memory of a core", format!("{} of {} GiB", gib(m.needed_bytes), gib(m.core_bytes))));
    for (name, bytes) in [("  weights", m.weight_bytes), ("  cache", m.cache_bytes), ("  scratch", m.scratch_bytes)] {
        rows.push(line(name, format!("{} GiB", gib(bytes))));
    }
    out.push_str(&text::table(&["Figure", ">Value"], &rows));
    out.push('\n');
    let steps = made.step_ms_by_bucket.iter();
    let steps: Vec<Vec<String>> = steps.map(|(bucket, ms)| vec![bucket.to_string(), format!("{ms:.2}")]).collect();
    out.push_str(&text::table(&[">Cache", ">Step ms"], &steps));
    if let Some(loads) = &made.expert_loads {
        out.push_str(&format!(
            "a core loads {} of {} experts in a layer of a step; from batch {} on a further sequence loads no more\n",
            loads.loads, loads.most, loads.all_from_batch
        ));
    }
    out.push_str(&note(request));
    out.push_str(&format!("{}\n", made.serve_command));
    out
}

fn note(request: &Request) -> String {
    let remarks = request.remarks();
    let notes = note_of(request.instance).into_iter().chain(remarks.iter().map(String::as_str));
    notes.map(|note| format!("{note}\n")).collect()
}

fn served(request: &Request, report: &ServeReport) -> String {
    let mut out = heading(request);
    let three = |p: &[f64; 3]| p.iter().map(|ms| format!("{ms:.1}")).collect::<Vec<_>>();
    let row = |name: &str, p: &[f64; 3]| std::iter::once(name.to_owned()).chain(three(p)).collect::<Vec<_>>();
    let rows = [row("TTFT ms", &report.ttft_ms), row("TPOT ms", &report.tpot_ms)];
    out.push_str(&text::table(&["Figure", ">p50", ">p90", ">p99"], &rows));
    out.push_str(&format!(
        "{} requests in {:.1} s: {:.1} tokens/s, {:.2} requests/s, {:.1} sequences in a step on average\ngoodput {:.2} requests/s\n",
        report.requests, report.time_s, report.throughput_tokens_per_s, report.requests_per_s, report.mean_batch, report.goodput_requests_per_s
    ));
    out.push_str(&match report.knee_requests_per_s {
        Some(rate) => format!("the knee is at {rate:.2} requests/s\n"),
        None => "no rate is served within the limits\n".to_owned(),
    });
    let cells = |r: &RateFigures| {
        let all = [r.rate, r.requests_per_s, r.goodput_requests_per_s, r.ttft_ms[0], r.ttft_ms[1], r.tpot_ms];
        all.iter().map(|x| format!("{x:.2}")).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = report.rates.iter().map(cells).collect();
    out.push_str(&text::table(&[">Rate", ">Served", ">Good", ">TTFT p50 ms", ">TTFT p99 ms", ">TPOT p50 ms"], &rows));
    out.push_str(&note(request));
    out.push_str(&format!("{}\n", report.serve_command));
    out
}

fn grid_text(grid: &FitGrid, limits: &Limits) -> String {
    let rows: Vec<Vec<String>> = grid
        .rows
        .iter()
        .map(|row| {
            let missing =
                if row.memory.fits { "fits".to_owned() } else { format!("{:.2} GiB are missing", row.missing_gib) };
            let m = &row.memory;
            vec![
                row.instance.to_owned(),
                row.tp.to_string(),
                gib(m.weight_bytes),
                gib(m.cache_bytes),
                gib(m.scratch_bytes),
                gib(m.core_bytes),
                missing,
            ]
        })
        .collect();
    let mut out = format!(
        "{}, {}, batch {}, {} positions: GiB of each core\n",
        grid.model, grid.weights, grid.batch, grid.positions
    );
    out.push_str(&text::table(&["Instance", ">TP", ">Weights", ">Cache", ">Scratch", ">Core", "Result"], &rows));
    out.push_str(&match grid.nearest {
        Some((instance, tp)) => {
            format!("The instance with the lowest price that holds it is {instance}, at TP {tp}.\n")
        }
        None => "It fits nowhere: use a smaller batch, fewer tokens or int8 weights.\n".to_owned(),
    });
    if let Some(plan) = &grid.plan {
        out.push_str(&format!("{} {}\n", plan.title(limits), plan.figures()));
    }
    grid.remarks.iter().for_each(|remark| out.push_str(&format!("{remark}\n")));
    out
}
