//! `neuronscope generate` and `neuronscope fit`

use anyhow::{Result, bail};

use super::text;
use crate::file;
use crate::llm_args::{FitArgs, GenerateArgs, LlmModelArgs, LlmSizeArgs};
use crate::remarks::{with_remarks, write_profile};
use ns_base::convert::u64_to_f64;
use ns_fidelity::{GenerationReport, TpotInterval};
use ns_llm::{
    DecoderConfig, FITTED, FitGrid, FitRow, Limits, Request, ServeReport, Traffic, cheapest_plan, degrees,
    distinct_instances, fit, fit_models, llm_instance, model_names, named_config, note_of, read_config, serve,
};
use ns_session::studies::token_profile;

/// The model that the flags name, if they name one.
fn named_model(args: &LlmModelArgs) -> Result<Option<DecoderConfig>> {
    match (&args.model_config, &args.model) {
        (Some(path), _) => {
            let name = path.display().to_string();
            let bytes = file::read(path)?;
            Ok(Some(read_config(&name, &bytes)?))
        }
        (None, Some(name)) => Ok(Some(named_config(name)?)),
        (None, None) => Ok(None),
    }
}

fn request_of(config: DecoderConfig, instance: &str, size: &LlmSizeArgs) -> Result<Request> {
    let instance = llm_instance(instance)?;
    Ok(Request {
        config,
        instance,
        degree: degrees(instance, size.lnc).last().copied().unwrap_or(1),
        lnc: size.lnc,
        weights: size.weights,
        batch: size.batch,
        input: size.input,
        output: size.output,
        buckets: Vec::new(),
        continuous: false,
        route: size.route,
    })
}

pub(super) fn run(args: GenerateArgs) -> Result<()> {
    let Some(config) = named_model(&args.model)? else {
        bail!("no model is named; give --model llama-3-8b, or a config.json with --model-config");
    };
    let mut request = request_of(config, &args.instance, &args.size)?;
    request.degree = args.tp.unwrap_or(request.degree);
    request.buckets = args.buckets;
    if let Some(rate) = args.request_rate {
        request.continuous = true;
        let limits = Limits { ttft_ms: args.max_ttft_ms, tpot_ms: args.max_tpot_ms };
        let traffic = Traffic { requests_per_s: rate, requests: args.requests, seed: 0, limits };
        request.check()?;
        let report = serve(&request, &traffic, FITTED)?;
        return if args.json { text::print_json(&report) } else { text::print(served(&request, &report).as_bytes()) };
    }
    let report = GenerationReport::with_larger_batch(&request)?;
    let remarks = match &args.trace {
        Some(path) => write_profile(path, &token_profile(&request)?, args.trace_export)?,
        None => Vec::new(),
    };
    if args.json {
        text::print(&with_remarks(text::to_json(&report)?, &remarks)?)
    } else {
        text::print(describe(&request, &report).as_bytes())
    }
}

pub(super) fn run_fit(args: FitArgs) -> Result<()> {
    let Some(config) = named_model(&args.model)? else { return fit_all(&args) };
    let request = request_of(config, ANY_INSTANCE, &args.size)?;
    request.check_numbers()?;
    let limits = Limits { ttft_ms: args.max_ttft_ms, tpot_ms: args.max_tpot_ms };
    limits.check()?;
    let mut grid = fit(&request);
    if !limits.is_none() {
        grid.plan = cheapest_plan(&request, &limits, FITTED);
    }
    if args.json { text::print_json(&grid) } else { text::print(grid_text(&grid, &limits).as_bytes()) }
}

/// The instance of a request for which its own does not matter.
const ANY_INSTANCE: &str = "inf2.48xlarge";

/// Every published model: at which degree it fits on which instance.
fn fit_all(args: &FitArgs) -> Result<()> {
    if args.max_ttft_ms.is_some() || args.max_tpot_ms.is_some() {
        bail!("--max-ttft-ms and --max-tpot-ms are for one model; name it with --model");
    }
    let Some(first) = model_names().next() else { return Ok(()) };
    let request = request_of(named_config(first)?, ANY_INSTANCE, &args.size)?;
    // The model is the first of many, whose positions do not count.
    let of_any = DecoderConfig { max_positions: u64::MAX, ..request.config.clone() };
    Request { config: of_any, ..request.clone() }.check_numbers()?;
    let grids = fit_models(&request);
    if args.json { text::print_json(&grids) } else { text::print(models_text(&request, &grids).as_bytes()) }
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
    let mut rows = vec![
        line("time to first token", format!("{:.1} ms", made.ttft_ms)),
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
    out.push_str(&note(request));
    out
}

fn note(request: &Request) -> String {
    let notes = note_of(request.instance).into_iter().chain(request.config.remarks.iter().map(String::as_str));
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
    out.push_str(&note(request));
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
