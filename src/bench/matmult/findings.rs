//! The pitfalls that the guide warns of, found in the results of the compiler and the simulator. The effect of each is shown by the same case without
//! it, measured for comparison.

use std::cell::RefCell;

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::units::format_share;
use ns_base::{SimTime, names};
use ns_compiler::Workflow;

use super::call_times::CallTimes;
use super::config::{MatmultCase, MatmultRun};
use super::measure::CaseResult;
use super::ranges::RangeSummary;
use super::report::peak_tops;

names! {
    /// The pitfalls of the microbenchmark.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Pitfall {
        /// Few products in a call: the overheads around them take a large part of the time.
        OverheadsDominate = "overheads_dominate",
        /// Products whose results are not used: the compiler removes them.
        ProductsRemoved = "products_removed",
        /// The first call is timed.
        NoWarmup = "no_warmup",
        /// No bias: values leave the range of the format.
        NoBias = "no_bias",
        /// Lazily executed graphs, which the host records in each step.
        LazyExecution = "lazy_execution",
        /// A clock whose ticks are long beside the timed calls.
        CoarseClock = "coarse_clock",
        /// Matrices that do not fill the array.
        SmallMatrices = "small_matrices",
    }

    /// Its name in files: `products_removed`.
    pub const fn code(self) -> &'static str;
}

impl Pitfall {
    /// A short title: `Products removed`.
    pub const fn title(self) -> &'static str {
        match self {
            Self::OverheadsDominate => "Overheads dominate",
            Self::ProductsRemoved => "Products removed",
            Self::NoWarmup => "No warm-up",
            Self::NoBias => "No bias",
            Self::LazyExecution => "Lazy execution",
            Self::CoarseClock => "Coarse clock",
            Self::SmallMatrices => "Small matrices",
        }
    }
}

/// A pitfall that was found in a case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MatmultFinding {
    pub pitfall: Pitfall,
    /// The problem and what to do, in a sentence or two.
    pub sentence: String,
    /// TOPS of the same case without the pitfall, if that was measured.
    pub tops_without: Option<f64>,
}

/// Share of overheads in a call from which they are reported.
const OVERHEAD_SHARE: f64 = 0.1;
/// Products of the chain that overheads are compared with, unless it takes too long to simulate.
const LONG_LOOP: u32 = 1_000;
/// Most instructions and DMAs of that chain.
const LONG_LOOP_ITEMS: u64 = 2_000_000;
/// Ticks of a clock during the timed calls from which its error is below 1 %.
const TICKS_ENOUGH: u64 = 100;
/// Matrices of this size fill the array; the guide uses this size.
const FILLING_DIM: u32 = 1_024;
/// Part of the array's peak during execution below which matrices are called small.
const FILLED_SHARE: f64 = 0.5;

/// All findings. `ranges` is the range of values, if it was computed. Comparison cases that `beside` does
/// not know yet are requested from it, and their findings have no effect figure until it knows them.
pub(super) fn findings(
    case: &MatmultCase,
    m: &CaseResult,
    ranges: Option<&RangeSummary>,
    beside: &BesideCase,
) -> Vec<MatmultFinding> {
    let found = [
        removed(case, m, beside),
        overheads(case, m, beside),
        cold(case, m),
        ranges.map(|r| no_bias(case, r)),
        lazy(case, m, beside),
        coarse(case, m),
        small(case, m, beside),
    ];
    found.into_iter().flatten().collect()
}

fn finding(pitfall: Pitfall, sentence: String, tops_without: Option<f64>) -> Option<MatmultFinding> {
    Some(MatmultFinding { pitfall, sentence, tops_without })
}

fn removed(case: &MatmultCase, m: &CaseResult, beside: &BesideCase) -> Option<MatmultFinding> {
    let c = &m.compilation;
    let gone = c.products_before.saturating_sub(c.products_after);
    if gone == 0 {
        return None;
    }
    // The first pass that reports that it removed a product.
    let names_product = |examples: &[String]| examples.iter().any(|e| e.contains("_dot") || e.contains("%dot"));
    let pass = c.passes.iter().find(|p| p.changes > 0 && names_product(&p.examples)).map(|p| p.pass.as_str());
    let is_layer = case.model.is_none();
    let without = if is_layer { beside.tops(case, |other| other.run.chained = true) } else { None };
    let (tops, computed) = (m.tops(), m.tops_computed());
    let effect = without.map_or(String::new(), |t| format!("; chained, the same core reaches {t:.2} TOPS"));
    let sentence = format!(
        "the compiler removed {gone} of {} products (pass {}), because nothing reads their results: {tops:.2} PE TOPS count \
         products that were never computed, and those that were come to {computed:.2}{effect}. Feed each product to the next",
        c.products_before,
        pass.unwrap_or("dce"),
    );
    finding(Pitfall::ProductsRemoved, sentence, without)
}

fn overheads(case: &MatmultCase, m: &CaseResult, beside: &BesideCase) -> Option<MatmultFinding> {
    let s = &m.step;
    let call = s.time(case.run.waits()).to_secs_f64();
    let share = 1.0 - s.window.to_secs_f64() / call;
    if let Some(operator) = &case.operator {
        return operator_overheads(operator, m, call, share);
    }
    if case.model.is_some() || case.loop_count >= LONG_LOOP || (case.loop_count > 1 && share < OVERHEAD_SHARE) {
        return None;
    }
    let per_product = (m.outcome.items / u64::from(case.loop_count)).max(1);
    let fitting = u32::try_from(LONG_LOOP_ITEMS / per_product).unwrap_or(LONG_LOOP);
    let loops = fitting.clamp(2, LONG_LOOP);
    let without = if loops > case.loop_count && case.run.chained {
        beside.tops(case, |other| other.loop_count = loops)
    } else {
        None
    };
    let effect =
        without.map_or(String::new(), |t| format!(" With --loop_count {loops} the same core reaches {t:.2} TOPS."));
    let sentence = format!(
        "overheads take {} of a call of {} ({:.3} ms): host {:.3} ms, link {:.3} ms, start-up and tear-down on the device \
         {:.3} ms, so it reaches {:.2} TOPS.{effect}",
        format_share(share * 100.0),
        if m.compilation.products_after == 1 {
            "one product".to_owned()
        } else {
            format!("{} products", m.compilation.products_after)
        },
        call * 1e3,
        s.host().to_ms_f64(),
        s.link.to_ms_f64(),
        s.around().to_ms_f64(),
        m.tops_exact(),
    );
    finding(Pitfall::OverheadsDominate, sentence, without)
}

fn operator_overheads(operator: &str, m: &CaseResult, call_s: f64, share: f64) -> Option<MatmultFinding> {
    if share < OVERHEAD_SHARE {
        return None;
    }
    let s = &m.step;
    let sentence = format!(
        "overheads take {} of a call of {operator} ({:.3} ms): host {:.3} ms, link {:.3} ms, start-up and tear-down on the \
         device {:.3} ms; the operator itself takes {:.3} ms. Take larger shapes, or loop_count=N where its result has the shape \
         of its input",
        format_share(share * 100.0),
        call_s * 1e3,
        s.host().to_ms_f64(),
        s.link.to_ms_f64(),
        s.around().to_ms_f64(),
        s.window.to_ms_f64(),
    );
    finding(Pitfall::OverheadsDominate, sentence, None)
}

fn cold(case: &MatmultCase, m: &CaseResult) -> Option<MatmultFinding> {
    let run = &case.run;
    if run.warmup_iterations > 0 {
        return None;
    }
    let warm = CallTimes::of(&m.step, &MatmultRun { warmup_iterations: 1, ..run.clone() }, run.seed);
    let (cold_s, warm_s) = (m.timed.true_mean_s(), warm.true_mean_s().max(f64::MIN_POSITIVE));
    let without = m.operations * m.computed_share() / warm_s / 1e12;
    let sentence = format!(
        "the first call is timed too and takes {:.3} ms longer than the others: {} calls take {} longer each than after a \
         warm-up, which gives {without:.2} TOPS. Warm up at least once",
        m.step.first.warmup.to_ms_f64(),
        run.timed_iterations,
        format_share((cold_s / warm_s - 1.0) * 100.0),
    );
    finding(Pitfall::NoWarmup, sentence, Some(without))
}

fn lazy(case: &MatmultCase, m: &CaseResult, beside: &BesideCase) -> Option<MatmultFinding> {
    if case.run.workflow != Workflow::MarkStep {
        return None;
    }
    let without = beside.tops(case, |other| other.run.workflow = Workflow::Trace);
    let effect = without.map_or(String::new(), |t| format!("; traced, the same core reaches {t:.2}"));
    let s = &m.step;
    let sentence = format!(
        "a lazily executed step records its graph in each call: {} ops take {:.3} ms of the host's {:.3} ms, and the inputs move in \
         the step, which takes {:.3} ms on the device. It reaches {:.2} TOPS{effect}. Trace the model",
        m.compilation.recorded_ops,
        s.record.to_ms_f64(),
        s.host().to_ms_f64(),
        s.device().to_ms_f64(),
        m.tops_exact(),
    );
    finding(Pitfall::LazyExecution, sentence, without)
}

fn coarse(case: &MatmultCase, m: &CaseResult) -> Option<MatmultFinding> {
    let (t, tick) = (&m.timed, SimTime::from_ns(case.run.clock_tick_ns));
    if tick == SimTime::ZERO || t.total.0 / tick.0 >= TICKS_ENOUGH {
        return None;
    }
    let computed = m.operations * m.computed_share();
    let calls = f64::from(case.run.timed_iterations);
    let without = m.tops_exact();
    let ticks = t.read.0 / tick.0;
    let rate = |ticks: u64| computed * calls / SimTime(ticks * tick.0).to_secs_f64() / 1e12;
    // The calls began anywhere between two ticks, so that the clock may have counted one more or one less.
    let (fewest, most) = (t.total.0 / tick.0, t.total.0.div_ceil(tick.0));
    let said = match fewest {
        0 => format!("nothing at all or {:.2} TOPS", rate(most)),
        _ => format!("anything from {:.2} to {:.2} TOPS", rate(most), rate(fewest)),
    };
    let needed = (tick.to_secs_f64() * u64_to_f64(TICKS_ENOUGH) / t.true_mean_s().max(f64::MIN_POSITIVE)).ceil();
    let sentence = format!(
        "the clock ticks every {:.3} ms and saw {ticks} ticks in timed calls of {:.3} ms: depending on when \
         they begin, it says {said}, where {without:.2} is right. Time {needed:.0} calls or more, or use a finer clock",
        tick.to_ms_f64(),
        t.total.to_ms_f64(),
    );
    finding(Pitfall::CoarseClock, sentence, Some(without))
}

fn small(case: &MatmultCase, m: &CaseResult, beside: &BesideCase) -> Option<MatmultFinding> {
    if case.model.is_some() || case.matrix_dim >= FILLING_DIM {
        return None;
    }
    let reached = m.tops_executing();
    let share = reached / peak_tops(case, m);
    if share >= FILLED_SHARE {
        return None;
    }
    // Other pitfalls stay; the loop is shortened so that the larger matrices take no longer to simulate.
    let loop_count = case.loop_count.min(LONG_LOOP / case.batch_size.max(1)).max(1);
    let filled = beside.rates(case, |other| {
        other.matrix_dim = FILLING_DIM;
        other.loop_count = loop_count;
    });
    let shorter = if loop_count == case.loop_count { String::new() } else { format!(" and --loop_count {loop_count}") };
    let effect = filled.map_or(String::new(), |r| {
        format!(
            " With --matrix_dim {FILLING_DIM}{shorter} it reaches {:.2} TOPS while it executes, and {:.2} instead of {:.2} in a \
             whole call.",
            r.executing,
            r.call,
            m.tops_exact()
        )
    });
    let sentence = format!(
        "matrices of {} x {} do not fill the array: while it executes, the core reaches {reached:.2} TOPS, {} of its \
         peak, because each product waits for the one before, whose rows are few.{effect}",
        case.matrix_dim,
        case.matrix_dim,
        format_share(share * 100.0),
    );
    finding(Pitfall::SmallMatrices, sentence, filled.map(|r| r.call))
}

fn no_bias(case: &MatmultCase, r: &RangeSummary) -> MatmultFinding {
    let factor = r.factor.map_or(String::new(), |f| format!("each product multiplies the values by about {f:.2}; "));
    let what = match (r.first_nan, r.first_inf, r.first_zero, r.first_subnormal) {
        (Some(k), _, _, _) => format!("a NaN appears at product {k}"),
        (None, Some(k), _, _) => {
            format!("an infinity appears at product {k}, and 0 x infinity or a difference of two is NaN")
        }
        (None, None, Some(k), small) => format!(
            "they are below the smallest normal number from product {} and all zero from product {k}. The chain itself makes no \
             NaN of zeros, but whatever divides by its result does: 0 / 0 from product {k} on",
            small.unwrap_or(k)
        ),
        (None, None, None, Some(k)) => format!("they are below the smallest normal number from product {k}"),
        (None, None, None, None) => format!("they stay in range for {} products", r.loop_count),
    };
    let size = format!("computed in {} with matrices of {} and {} products", case.dtype(), r.matrix_dim, r.loop_count);
    let sentence = format!(
        "without a bias nothing keeps the values in range: {factor}{what} ({size}). A device reports numerical errors to the host, \
         which slows a real run; how much is not published and not in these times. Add a bias"
    );
    MatmultFinding { pitfall: Pitfall::NoBias, sentence, tops_without: None }
}

/// TOPS of the products that the core computes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    /// In a whole call.
    pub call: f64,
    /// From the first to the last instruction of an execution.
    pub executing: f64,
}

/// The cases that findings compare with, each the same case without one pitfall: the rates that were measured, and the cases that are
/// still wanted. Findings request cases; the runner measures them and computes the findings again.
#[derive(Default)]
pub(super) struct BesideCase {
    known: Vec<(MatmultCase, Option<Rates>)>,
    wanted: RefCell<Vec<MatmultCase>>,
}

impl BesideCase {
    /// The rate of whole calls of the same case with a change; `None` when it cannot run, or is not measured yet.
    pub fn tops(&self, case: &MatmultCase, change: impl FnOnce(&mut MatmultCase)) -> Option<f64> {
        self.rates(case, change).map(|r| r.call)
    }

    /// The rates of the same case with a change, as for [`Self::tops`].
    pub fn rates(&self, case: &MatmultCase, change: impl FnOnce(&mut MatmultCase)) -> Option<Rates> {
        let mut other = case.clone();
        change(&mut other);
        if let Some((_, rates)) = self.known.iter().find(|(known, _)| *known == other) {
            return *rates;
        }
        let mut wanted = self.wanted.borrow_mut();
        if !wanted.contains(&other) {
            wanted.push(other);
        }
        None
    }

    /// A case that is wanted and not measured yet; `None` when all are measured.
    pub fn next(&self) -> Option<MatmultCase> {
        self.wanted.borrow_mut().pop()
    }

    /// Takes a measured case; `None` when it cannot run.
    pub fn learn(&mut self, case: MatmultCase, measured: Option<&CaseResult>) {
        let rates = measured.map(|m| Rates { call: m.tops_exact(), executing: m.tops_executing() });
        self.known.push((case, rates));
    }
}
