//! The result of a case, as plain data for every output.

use serde::{Deserialize, Serialize};

use ns_base::convert::{u64_to_f64, usize_to_f64};
use ns_base::units::format_share;
use ns_base::{Refusal, SimTime};
use ns_device::EstimateMark;
use ns_machine::isa::Engine;
use ns_tensor::FloatFormat;

use super::call_times::CallTimes;
use super::config::MatmultCase;
use super::findings::MatmultFinding;
use super::measure::CaseResult;
use super::ranges::RangeSummary;

/// One case. Times are in seconds; the compile time is modelled, the others are simulated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatmultReport {
    /// The case that was measured.
    pub case: MatmultCase,
    /// Format of the products: `bf16`.
    pub dtype: String,
    /// Flags of the compiler.
    pub compiler_args: String,
    /// `finished` or `error`.
    pub status: String,
    /// The error of a case that did not run.
    pub error: Option<String>,
    /// Seconds that the real compiler would take, by a model of one published figure; absent when compiling is skipped.
    pub modelled_compile_s: Option<f64>,
    /// Loading the model.
    pub load_s: Option<f64>,
    /// Time of all warm-up calls.
    pub warmup_s: Option<f64>,
    /// Time of all timed calls, by the clock.
    pub benchmark_s: Option<f64>,
    /// Mean time of one timed call, by the clock.
    pub iteration_s: Option<f64>,
    /// The shortest timed call.
    pub iteration_min_s: Option<f64>,
    /// The median timed call.
    pub iteration_p50_s: Option<f64>,
    /// The longest timed call.
    pub iteration_max_s: Option<f64>,
    /// The part of `iteration_s` in which the host works.
    pub host_s: Option<f64>,
    /// The part in which inputs and outputs move over the link.
    pub link_s: Option<f64>,
    /// The part of `host_s` and `link_s` that passed while the device ran the previous call: it adds no time.
    pub hidden_s: Option<f64>,
    /// The part in which the device runs the call.
    pub device_s: Option<f64>,
    /// Tera-operations per second by the script's formula, `2 * B * N^3 * L / iteration_s`, counting the products as written.
    pub tops: Option<f64>,
    /// The same for the products that the core computes.
    pub tops_computed: Option<f64>,
    /// Peak of the core's array in this format.
    pub peak_tops: Option<f64>,
    /// `tops_computed` as a share of `peak_tops`.
    pub peak_percent: Option<f64>,
    /// Bytes that DMAs move between device memory and the core in one call.
    pub dma_bytes: Option<u64>,
    /// Rate of those bytes, gigabytes per second, from the first to the last instruction of an execution.
    pub dma_gb_per_s: Option<f64>,
    /// Bandwidth of device memory for one core.
    pub peak_gb_per_s: Option<f64>,
    /// Products of one call as written.
    pub products_asked: Option<u64>,
    /// Products of one call that the compiler kept.
    pub products_computed: Option<u64>,
    /// Operators of a model file whose cost is a guess; absent when there are none.
    pub estimate: Option<EstimateMark>,
    /// What limits the throughput.
    pub limit: Option<Limit>,
    /// The check of repeatability.
    pub verification: Option<Verification>,
    /// The range of the values, for a layer without a bias.
    pub ranges: Option<RangeSummary>,
    /// The guide's pitfalls that this case has.
    pub findings: Vec<MatmultFinding>,
}

/// What limits the throughput of a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Limit {
    /// `host`, `link`, `start_up`, `waits`, or the name of an engine, or `DMA`.
    pub by: String,
    /// Share of a call's time.
    pub percent: f64,
    /// A sentence that explains the limit.
    pub sentence: String,
}

/// The timed calls repeated, each time with the next seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Verification {
    /// TOPS of each run, the reported one first.
    pub tops: Vec<f64>,
    /// (largest - smallest) / mean of them, percent.
    pub spread_percent: f64,
    /// Whether the run of the first seed gave the same times again, to the picosecond.
    pub same_seed_repeats: bool,
}

/// Data for the plots of one case, in addition to its report.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatmultDetail {
    /// Each timed call, shortest first, seconds.
    pub calls_s: Vec<f64>,
    /// Operations of one call that the core computes.
    pub operations: f64,
    /// Bytes that DMAs move between device memory and the core in one call.
    pub dma_bytes: u64,
    /// Bandwidth of device memory for one core, bytes per second.
    pub peak_bytes_per_s: f64,
    /// From the first to the last instruction of an execution, seconds.
    pub window_s: f64,
}

/// The report of a case that cannot run.
pub(super) fn failed(case: &MatmultCase, error: &Refusal) -> MatmultReport {
    MatmultReport { status: "error".to_owned(), error: Some(error.to_string()), ..empty(case) }
}

pub(super) fn detail(m: &CaseResult) -> MatmultDetail {
    MatmultDetail {
        calls_s: m.timed.sorted.iter().map(|t| t.to_secs_f64()).collect(),
        operations: m.operations * m.computed_share(),
        dma_bytes: m.outcome.dma_bytes,
        peak_bytes_per_s: m.costs.core.peak_hbm_bytes_per_s(),
        window_s: m.step.window.to_secs_f64(),
    }
}

fn empty(case: &MatmultCase) -> MatmultReport {
    MatmultReport {
        case: case.clone(),
        dtype: case.dtype().to_owned(),
        compiler_args: case.options.to_string(),
        status: "finished".to_owned(),
        error: None,
        modelled_compile_s: None,
        load_s: None,
        warmup_s: None,
        benchmark_s: None,
        iteration_s: None,
        iteration_min_s: None,
        iteration_p50_s: None,
        iteration_max_s: None,
        host_s: None,
        link_s: None,
        hidden_s: None,
        device_s: None,
        tops: None,
        tops_computed: None,
        peak_tops: None,
        peak_percent: None,
        dma_bytes: None,
        dma_gb_per_s: None,
        peak_gb_per_s: None,
        products_asked: None,
        products_computed: None,
        estimate: None,
        limit: None,
        verification: None,
        ranges: None,
        findings: Vec::new(),
    }
}

/// The report of a case with its findings.
pub(super) fn finished(
    case: &MatmultCase,
    m: &CaseResult,
    findings: Vec<MatmultFinding>,
    ranges: Option<RangeSummary>,
) -> MatmultReport {
    let t = &m.timed;
    // A clock that did not tick gives no rate, and neither does a call without a product.
    let rate = |tops: f64| Some(tops).filter(|_| t.read > SimTime::ZERO && m.operations > 0.0);
    let (bytes, window_s) = (m.outcome.dma_bytes, m.step.window.to_secs_f64().max(f64::MIN_POSITIVE));
    let (tops, computed) = (m.tops(), m.tops_computed());
    let peak = peak_tops(case, m);
    MatmultReport {
        modelled_compile_s: (!case.run.skip_compilation).then_some(m.step.first.compile.to_secs_f64()),
        load_s: Some(m.step.first.load.to_secs_f64()),
        warmup_s: Some(t.warmup.to_secs_f64()),
        benchmark_s: Some(t.read.to_secs_f64()),
        iteration_s: Some(t.mean_s()),
        iteration_min_s: Some(t.at(0.0)),
        iteration_p50_s: Some(t.at(0.5)),
        iteration_max_s: Some(t.at(1.0)),
        host_s: Some(t.of_each(t.host)),
        link_s: Some(t.of_each(t.link)),
        hidden_s: Some(t.of_each(t.hidden)),
        device_s: Some(t.of_each(t.device)),
        tops: rate(tops),
        tops_computed: rate(computed),
        peak_tops: Some(peak),
        peak_percent: rate(computed / peak * 100.0),
        dma_bytes: Some(bytes),
        dma_gb_per_s: Some(u64_to_f64(bytes) / window_s / 1e9),
        peak_gb_per_s: Some(m.costs.core.peak_hbm_bytes_per_s() / 1e9),
        products_asked: Some(m.compilation.products_before),
        products_computed: Some(m.compilation.products_after),
        estimate: EstimateMark::of(&m.compilation.estimated_ops),
        limit: Some(limit(case, m)),
        verification: (case.run.verification_iterations > 0).then(|| verification(case, m)),
        ranges,
        findings,
        ..empty(case)
    }
}

/// The array's peak in the format of the products: single precision takes several passes, and 8-bit products contract two
/// rows per partition if the array supports it.
pub(super) fn peak_tops(case: &MatmultCase, m: &CaseResult) -> f64 {
    let (format, core) = (case.options.matmul_format(), &m.costs.core);
    let rows = if format == FloatFormat::Fp8E4m3 { core.fp8_rows_per_partition.max(1) } else { 1 };
    core.peak_bf16_flops() * f64::from(rows) / f64::from(format.matmul_passes()) / 1e12
}

/// The largest part of a call; on the device, the busiest unit, if it works for half of the time.
fn limit(case: &MatmultCase, m: &CaseResult) -> Limit {
    let s = &m.step;
    let call = s.time(case.run.waits()).to_secs_f64();
    let percent = |t: SimTime| t.to_secs_f64() / call * 100.0;
    let said = |by: &str, percent: f64, sentence: String| Limit { by: by.to_owned(), percent, sentence };
    let (larger, trace) = ("make calls larger", "trace the model");
    let parts = [
        ("host", s.record, "recording the ops of the graph", trace),
        ("host", s.host(), "the host's work of a call and its copies", larger),
        ("link", s.link, "moving inputs and outputs between host and device", larger),
        ("start_up", s.around(), "start-up and tear-down of the execution on the device", larger),
    ];
    for (by, time, what, instead) in parts {
        if time > s.window {
            let p = percent(time);
            let work = if case.operator.is_some() { "operator" } else { "products" };
            let verb = if time == s.record { "takes" } else { "take" };
            let sentence = format!("{what} {verb} {} of a call, longer than the {work}: {instead}", format_share(p));
            return said(by, p, sentence);
        }
    }
    // Initiation intervals of overlapping instructions may add up to a little more than the execution.
    let engines = Engine::ALL.iter().zip(m.outcome.engine_busy).map(|(e, busy)| (e.name(), busy.min(s.window)));
    let dma = std::iter::once(("DMA", m.outcome.dma_busy.min(s.window)));
    let busiest = engines.chain(dma).fold(("", SimTime::ZERO), |best, unit| if unit.1 > best.1 { unit } else { best });
    let of_window = busiest.1.to_secs_f64() / s.window.to_secs_f64().max(f64::MIN_POSITIVE) * 100.0;
    let name = if busiest.0 == "DMA" { "DMA".to_owned() } else { format!("the {} engine", busiest.0) };
    if of_window < 50.0 {
        let sentence = format!(
            "units wait for one another: the busiest, {name}, works for {} of the execution; larger matrices fill it",
            format_share(of_window)
        );
        return said("waits", 100.0 - of_window, sentence);
    }
    let p = percent(busiest.1);
    let works =
        format!("{name} works for {} of the execution and {} of a call", format_share(of_window), format_share(p));
    let rest = if busiest.0 == Engine::Tensor.name() { rest_of_peak(case, m, busiest.1) } else { String::new() };
    said(busiest.0, p, works + &rest)
}

/// Why the array is below its peak while its engine works for `busy`.
fn rest_of_peak(case: &MatmultCase, m: &CaseResult, busy: SimTime) -> String {
    let e = &m.costs.engine;
    let limit = e.tensor_throttle.map_or(1.0, |throttle| f64::from(throttle.dense_eighths) / 8.0);
    let sustained = f64::from(e.sustained_matmul_permille) / 10.0 * limit;
    let reached = m.operations * m.computed_share() / busy.to_secs_f64() / 1e12 / peak_tops(case, m) * 100.0;
    let slow_start = if e.tensor_throttle.is_some_and(|t| t.light_eighths < t.dense_eighths) {
        ", and to the slow start"
    } else {
        ""
    };
    format!(
        "; while it works it computes at {} of the array's peak: products one after another sustain {}, and the rest goes to loads \
         of weights and to rows that do not fill the array{slow_start}",
        format_share(reached),
        format_share(sustained),
    )
}

fn verification(case: &MatmultCase, m: &CaseResult) -> Verification {
    let run = &case.run;
    let again = |seed: u64| CallTimes::of(&m.step, run, seed);
    let others = (1..=u64::from(run.verification_iterations)).map(|i| m.tops_of(&again(run.seed.wrapping_add(i))));
    let tops: Vec<f64> = std::iter::once(m.tops()).chain(others).collect();
    let (least, most) = tops.iter().fold((f64::INFINITY, 0.0f64), |(a, b), t| (a.min(*t), b.max(*t)));
    let mean = tops.iter().sum::<f64>() / usize_to_f64(tops.len());
    let spread_percent = if mean > 0.0 { (most - least) / mean * 100.0 } else { 0.0 };
    Verification { tops, spread_percent, same_seed_repeats: again(run.seed) == m.timed }
}
