//! The roofline: the rate that a core allows at an arithmetic intensity, and the rates that were reached.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::run::{Run, Work};
use super::spans::{length_ns, merge, secs};
use ns_base::Interval;
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_machine::arch::CoreSpec;

/// Most points besides the point of the whole run.
const MAX_POINTS: usize = 100;

/// The roof of a core and the points below it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Roofline {
    /// Peak rate, floating point operations per second.
    pub peak_flops_per_s: f64,
    /// Peak rate of device memory, bytes per second.
    pub peak_bytes_per_s: f64,
    /// Where the two roofs meet, floating point operations per byte.
    pub ridge_flops_per_byte: f64,
    /// The whole run first, then its modules, most operations first.
    pub points: Vec<RooflinePoint>,
    /// Modules left out because there are more than a plot can show.
    pub omitted: u32,
}

/// A run or a module of the model.
///
/// Points are modules, not single operations: an operation next to a product (an input or a gather) may move the
/// product's operands, so only the module has both the operations and the bytes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RooflinePoint {
    /// `total`, or the module's path: `NN[model]/Linear[layer1]`.
    pub name: String,
    /// Operations of its matmuls, without transposes.
    pub flops: u64,
    /// Bytes its DMAs read from and wrote to device memory.
    pub hbm_bytes: u64,
    /// `flops` per byte; `None` when no byte was moved.
    pub intensity_flops_per_byte: Option<f64>,
    /// For the run, its total time, as MFU counts; for a module, the time in which any of its instructions or DMAs was in progress.
    pub seconds: f64,
    /// `flops` over `seconds`.
    pub flops_per_s: f64,
    /// The rate that the roof allows at this intensity.
    pub attainable_flops_per_s: f64,
}

#[derive(Default)]
struct Sums {
    flops: u64,
    hbm_bytes: u64,
    times: Vec<Interval<i64>>,
}

impl Sums {
    fn add(&mut self, work: &Work, time: Interval<i64>) {
        self.times.push(time);
        match work {
            Work::Matmul { flops, transpose: false, .. } => self.flops += flops,
            Work::Transfer(t) => self.hbm_bytes += t.bytes * (u64::from(t.reads_hbm) + u64::from(t.writes_hbm)),
            _ => {}
        }
    }
}

impl Roofline {
    /// The points of a run on a core.
    pub fn of(run: &Run<'_>, core: &CoreSpec) -> Self {
        let mut total = Sums::default();
        let mut modules: IndexMap<&[String], Sums> = IndexMap::new();
        for item in run.units.iter().flat_map(|u| &u.items) {
            total.add(&item.work, item.time);
            if let Some(source) = run.source(item) {
                modules.entry(source.scope.as_slice()).or_default().add(&item.work, item.time);
            }
        }
        let point = |name: String, sums: &Sums, seconds: f64| point(run.peak_flops(core), core, name, sums, seconds);
        let mut points: Vec<RooflinePoint> = modules
            .into_iter()
            .filter(|(_, sums)| sums.flops > 0)
            .map(|(scope, mut sums)| {
                let busy = secs(length_ns(&merge(std::mem::take(&mut sums.times).into_iter())));
                point(scope.join("/"), &sums, busy)
            })
            .collect();
        // The sort is stable: equal points keep the order in which they ran.
        points.order_by_key(|p| std::cmp::Reverse(p.flops));
        let omitted = u32::try_from(points.len().saturating_sub(MAX_POINTS)).unwrap_or(u32::MAX);
        points.truncate(MAX_POINTS);
        points.insert(0, point("total".to_owned(), &total, run.total_s()));
        Self {
            peak_flops_per_s: run.peak_flops(core),
            peak_bytes_per_s: core.peak_hbm_bytes_per_s(),
            ridge_flops_per_byte: run.peak_flops(core) / core.peak_hbm_bytes_per_s(),
            points,
            omitted,
        }
    }
}

fn point(peak: f64, core: &CoreSpec, name: String, sums: &Sums, seconds: f64) -> RooflinePoint {
    let intensity = (sums.hbm_bytes > 0).then(|| u64_to_f64(sums.flops) / u64_to_f64(sums.hbm_bytes));
    RooflinePoint {
        name,
        flops: sums.flops,
        hbm_bytes: sums.hbm_bytes,
        intensity_flops_per_byte: intensity,
        seconds,
        flops_per_s: if seconds > 0.0 { u64_to_f64(sums.flops) / seconds } else { 0.0 },
        attainable_flops_per_s: intensity.map_or(peak, |i| (i * core.peak_hbm_bytes_per_s()).min(peak)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Role;
    use crate::testing::{TestRun, dma};
    use ns_machine::arch::NEURONCORE_V2;
    use ns_machine::isa::Engine;

    #[test]
    fn a_module_has_the_operations_of_its_product_and_the_bytes_of_its_weights() {
        let mut t = TestRun::new(0, 1_000);
        let weights = t.source("NN[model]/Linear[a]/aten__permute_transpose", "transpose");
        let dot = t.source("NN[model]/Linear[a]/aten__addmm_dot", "dot");
        let other = t.source("NN[model]/Linear[b]/aten__addmm_dot", "dot");
        t.queue("q", (0, 300), weights, dma(Role::Weight, 10_000, 128));
        t.item(Engine::Tensor, (200, 400), dot, Work::Matmul { flops: 50_000, passes: 1, transpose: false });
        t.item(Engine::Tensor, (400, 500), other, Work::Matmul { flops: 90_000, passes: 1, transpose: false });
        let run = t.run();
        let r = Roofline::of(&run, &NEURONCORE_V2);
        let names: Vec<&str> = r.points.iter().map(|p| p.name.as_str()).collect();
        assert_eq!(names, ["total", "NN[model]/Linear[b]", "NN[model]/Linear[a]"]);
        let (total, b, a) = (&r.points[0], &r.points[1], &r.points[2]);
        assert_eq!((total.flops, total.hbm_bytes, total.seconds), (140_000, 10_000, run.total_s()));
        assert_eq!((a.intensity_flops_per_byte, a.seconds), (Some(5.0), 400e-9));
        assert!((a.attainable_flops_per_s - 5.0 * 410e9).abs() < 1.0);
        assert!((a.flops_per_s - 50_000.0 / 400e-9).abs() < 1.0);
        assert_eq!((b.intensity_flops_per_byte, b.attainable_flops_per_s), (None, r.peak_flops_per_s));
    }
}
