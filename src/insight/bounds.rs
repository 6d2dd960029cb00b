//! Performance bounds: times that an execution cannot beat, and where the time between the bounds goes. Names and
//! formulas are those of the profiler's `recommend` command.

use serde::{Deserialize, Serialize};

use super::run::Run;
use super::spans::secs;
use super::{Limiter, Resource, Summary};
use ns_base::convert::u64_to_f64;
use ns_machine::arch::CoreSpec;

/// A statement of what the bounds do not promise.
pub const CAVEAT: &str = "A bound is a time that this execution could not beat, not a time that can be reached; the lost times \
    overlap, so they do not add up, and none of them is a promised saving.";

/// Bounds of an execution.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bounds {
    /// The time that they are compared with: the summary's `total_time`, seconds.
    pub total_time_s: f64,
    /// Memory bounds, compute bounds, then the pipeline.
    pub bounds: Vec<Bound>,
    /// Time between consecutive bounds, by cause.
    pub lost: Vec<LostTime>,
    /// [`CAVEAT`].
    pub caveat: String,
}

/// One bound.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// Name: `memory_bound_ideal`.
    pub name: String,
    pub seconds: f64,
    /// How much faster the execution would be at this bound if every other unit took the time it takes now:
    /// `total_time` over the larger of the bound and the longest active time of the other units. `None` when nothing
    /// ran.
    pub speedup: Option<f64>,
    /// The unit that limits the execution at this bound: `Data transfer`, `Vector engine`; empty when nothing ran.
    pub then: String,
    /// Its meaning, in one sentence.
    pub meaning: String,
}

/// Time between two bounds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LostTime {
    /// The larger one, or `total_time`.
    pub from: String,
    pub to: String,
    /// The difference in seconds, at least 0.
    pub seconds: f64,
    pub cause: String,
}

impl Bounds {
    /// The bounds of a run with this summary.
    pub fn of(run: &Run<'_>, summary: &Summary, limiter: &Limiter, core: &CoreSpec) -> Self {
        let s = summary;
        let bandwidth = core.peak_hbm_bytes_per_s();
        let ideal = u64_to_f64(s.dma_transfer_total_bytes) / bandwidth;
        let needed = run.memory.map(|m| u64_to_f64(m.input_bytes + m.output_bytes + m.weight_bytes) / bandwidth);
        // The adjusted count includes the cost of fp32, so that one peak serves a run.
        let flops = u64_to_f64(s.adjusted_hardware_flops) / run.peak_flops(core);
        let useful = u64_to_f64(s.adjusted_hardware_flops - s.adjusted_transpose_flops) / run.peak_flops(core);
        let total = s.total_time;
        let bound = |name: &str, seconds: f64, of: Resource, meaning: &str| {
            let rest = limiter.next_bound(&[of]).filter(|r| secs(r.busy_ns) > seconds);
            let slowest = rest.map_or(seconds, |r| secs(r.busy_ns));
            let speedup = (slowest > 0.0).then(|| total / slowest);
            let then = speedup.map_or("", |_| rest.map_or(of, |r| r.resource).name()).to_owned();
            Bound { name: name.to_owned(), seconds, speedup, then, meaning: meaning.to_owned() }
        };
        let memory = |name: &str, seconds: f64, meaning: &str| bound(name, seconds, Resource::Dma, meaning);
        let compute = |name: &str, seconds: f64, meaning: &str| bound(name, seconds, Resource::Tensor, meaning);
        let mut bounds = vec![
            memory("memory_bound", s.dma_active_time, "DMA as it is, with no other wait"),
            memory("memory_bound_ideal", ideal, "the same bytes at the peak rate of device memory"),
        ];
        if let Some(needed) = needed {
            let meaning = "inputs, outputs and weights once each, at the peak rate of device memory";
            bounds.push(memory("memory_bound_ideal_no_reloads", needed.min(ideal), meaning));
        }
        let pipeline = "all units overlap perfectly: the busiest one alone";
        let (busiest, longest) = limiter.first().map_or((Resource::Dma, 0), |r| (r.resource, r.busy_ns));
        bounds.extend([
            compute("compute_bound", s.tensor_engine_active_time, "the tensor engine as it is, with no other wait"),
            compute("compute_bound_ideal_flops", flops, "the same operations at the array's peak rate"),
            compute("compute_bound_ideal_useful_flops", useful, "the same without transposes"),
            bound("perfect_pipeline", secs(longest), busiest, pipeline),
        ]);
        let around = secs(((run.total.end - run.total.start) - run.window_ns()).unsigned_abs());
        let lost = lost_times(s, &bounds, around);
        Self { total_time_s: total, bounds, lost, caveat: CAVEAT.to_owned() }
    }

    /// Seconds of a bound.
    pub fn seconds(&self, name: &str) -> Option<f64> {
        self.bounds.iter().find(|b| b.name == name).map(|b| b.seconds)
    }
}

/// Each bound with the one above it, and the cause of the difference.
const STEPS: &[(&str, &str, &str)] = &[
    ("total_exec_time", "memory_bound", "DMA is idle"),
    (
        "memory_bound",
        "memory_bound_ideal",
        "fixed costs of DMA, transfers too small for the full rate, and DMA engines slower than device memory",
    ),
    (
        "memory_bound_ideal",
        "memory_bound_ideal_no_reloads",
        "bytes moved more than once: spills, weights streamed again, copies within device memory, custom operators",
    ),
    ("total_exec_time", "compute_bound", "the tensor engine is idle"),
    ("compute_bound", "compute_bound_ideal_flops", "tiles that do not fill the array, and fixed costs of instructions"),
    ("compute_bound_ideal_flops", "compute_bound_ideal_useful_flops", "transposes through the array"),
    ("total_exec_time", "perfect_pipeline", "units wait for one another"),
];

fn lost_times(summary: &Summary, bounds: &[Bound], around: f64) -> Vec<LostTime> {
    let seconds = |name: &str| match name {
        "total_exec_time" => Some(summary.total_exec_time),
        _ => bounds.iter().find(|b| b.name == name).map(|b| b.seconds),
    };
    let lost = |from: &str, to: &str, seconds: f64, cause: &str| LostTime {
        from: from.to_owned(),
        to: to.to_owned(),
        seconds: seconds.max(0.0),
        cause: cause.to_owned(),
    };
    let set_up = lost("total_time", "total_exec_time", around, "set-up and tear-down of the execution");
    let steps = STEPS.iter().filter_map(|(from, to, cause)| Some(lost(from, to, seconds(from)? - seconds(to)?, cause)));
    std::iter::once(set_up).chain(steps).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use ns_machine::arch::NEURONCORE_V2;
    use ns_machine::isa::Engine;

    #[test]
    fn bounds_nest_and_the_lost_time_lies_between_them() {
        let mut t = TestRun::new(0, 3_000);
        let dot = t.source("m/dot", "dot");
        let flops = 2 * 128 * 128 * 512;
        t.queue("q", (100, 900), dot, dma(Role::Weight, 41_000, 128));
        t.item(Engine::Tensor, (900, 1_300), dot, Work::Matmul { flops, passes: 1, transpose: false });
        t.item(Engine::Tensor, (1_300, 1_400), dot, Work::Matmul { flops: flops / 4, passes: 1, transpose: true });
        t.item(Engine::Vector, (1_400, 2_100), dot, Work::Copy);
        let run = t.run();
        let summary = Summary::of(&run, &NEURONCORE_V2);
        let b = Bounds::of(&run, &summary, &Limiter::of(&run), &NEURONCORE_V2);
        let at = |name: &str| b.seconds(name).unwrap();
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-12, "{a} is not {b}");
        near(at("memory_bound"), 800e-9);
        near(at("memory_bound_ideal"), 100e-9);
        near(at("compute_bound"), 500e-9);
        near(at("compute_bound_ideal_useful_flops"), 512.0 / 2.8e9);
        near(at("compute_bound_ideal_flops"), 640.0 / 2.8e9);
        near(at("perfect_pipeline"), 800e-9);
        assert_eq!(b.seconds("memory_bound_ideal_no_reloads"), None, "the memory plan is not known");
        let bound = |name: &str| b.bounds.iter().find(|b| b.name == name).unwrap();
        // With ideal memory, the vector engine is the slowest; with ideal compute, DMA is.
        near(bound("memory_bound_ideal").speedup.unwrap(), 3_000.0 / 700.0);
        near(bound("compute_bound_ideal_flops").speedup.unwrap(), 3_000.0 / 800.0);
        assert_eq!(bound("memory_bound_ideal").then, "Vector engine");
        assert_eq!(
            (&*bound("compute_bound").then, &*bound("perfect_pipeline").then),
            ("Data transfer", "Data transfer")
        );
        let lost = |to: &str| b.lost.iter().find(|l| l.to == to).unwrap().seconds;
        near(lost("total_exec_time"), 1_000e-9);
        near(lost("memory_bound"), 1_200e-9);
        near(lost("memory_bound_ideal"), 700e-9);
        near(lost("compute_bound_ideal_useful_flops"), 128.0 / 2.8e9);
    }

    #[test]
    fn an_empty_run_promises_nothing() {
        let t = TestRun::new(0, 0);
        let run = t.run();
        let b = Bounds::of(&run, &Summary::of(&run, &NEURONCORE_V2), &Limiter::of(&run), &NEURONCORE_V2);
        assert!(b.bounds.iter().all(|b| b.speedup.is_none() && b.seconds == 0.0));
        assert!(b.lost.iter().all(|l| l.seconds == 0.0));
    }
}
