//! The summary of an execution, with the field names and formulas of neuron-profile and Neuron Explorer.

use super::metrics::metrics;
use super::spans::{length_ns, merge, percent, secs};
use super::{Role, Run, Work};
use ns_base::convert::{i64_to_f64, u64_to_f64};
use ns_base::{FxHashSet, Interval};
use ns_machine::arch::CoreSpec;
use ns_machine::isa::{Activity, Engine};

metrics! {
    /// Summary metrics. Times are seconds, shares 0 to 100 percent; an active time merges overlapping intervals, an
    /// instruction time adds them up. A metric that is not known for an execution is `None` and is not listed.
    pub struct Summary {
        /// From the start of the execution on the device to its stop: idle time, set-up and tear-down included.
        total_time: f64, Seconds;
        /// From the first to the last instruction or DMA of the model: the device window.
        total_exec_time: f64, Seconds;
        /// Time in which any engine or DMA is active.
        total_active_time: f64, Seconds;
        /// `total_active_time` as a share of `total_time`.
        total_active_time_percent: f64, Percent;
        /// Two per multiply-accumulate of the model's matrix products.
        model_flops: Option<u64>, Flops;
        /// All matmuls of the tensor engine: the sum of 2 x rows x columns x moving elements.
        hardware_flops: u64, Flops;
        /// The part of `hardware_flops` that transposes data.
        transpose_flops: u64, Flops;
        /// `hardware_flops` in bf16 equivalents: fp32 counts 4 times.
        adjusted_hardware_flops: u64, Flops;
        /// `transpose_flops` in bf16 equivalents.
        adjusted_transpose_flops: u64, Flops;
        /// (hardware - transpose flops) / (HBM bytes read + written).
        mm_arithmetic_intensity: Option<f64>, FlopsPerByte;
        /// The ridge: peak flops per second over peak HBM bytes per second.
        peak_flops_bandwidth_ratio: f64, FlopsPerByte;
        /// `model_flops` as a share of what the peak rate could do in `total_time`.
        mfu_estimated_percent: Option<f64>, Percent;
        /// The same for (hardware - transpose flops).
        mfu_inst_estimated_percent: f64, Percent;
        /// The MFU that memory allows at the model's arithmetic intensity: intensity / ridge, at most 100.
        mfu_max_achievable_estimated_percent: Option<f64>, Percent;
        /// `hardware_flops` as a share of what the peak rate could do in `total_time`.
        hfu_estimated_percent: f64, Percent;
        /// HBM bytes read and written, as a share of what the peak bandwidth could move in `total_time`.
        mbu_estimated_percent: f64, Percent;
        /// The same for inputs and weights, each read once, of a table the rows that are read.
        mbu_min_read_util_percent: Option<f64>, Percent;
        /// Bytes that DMA read from device memory.
        hbm_read_bytes: u64, Bytes;
        /// Bytes that DMA wrote to device memory.
        hbm_write_bytes: u64, Bytes;
        /// Bytes saved to device memory because SBUF was full.
        spill_save_bytes: u64, Bytes;
        /// Bytes of spilled values that were read back.
        spill_reload_bytes: u64, Bytes;
        /// Bytes of DMAs that move inputs.
        input_queue_bytes: u64, Bytes;
        /// Bytes of DMAs that move outputs.
        output_queue_bytes: u64, Bytes;
        /// Bytes of DMAs that move weights.
        weight_queue_bytes: u64, Bytes;
        /// Ours: bytes of custom operators, to device memory and back.
        custom_queue_bytes: u64, Bytes;
        /// Time in which any DMA is in progress, from its trigger to its last data.
        dma_active_time: f64, Seconds;
        /// `dma_active_time` as a share of `total_time`.
        dma_active_time_percent: f64, Percent;
        /// Sum of the times of all DMAs.
        dma_transfer_time: f64, Seconds;
        /// Number of DMAs.
        dma_transfer_count: u64, Count;
        /// Bytes moved by DMA.
        dma_transfer_total_bytes: u64, Bytes;
        /// Average bytes of a DMA.
        dma_transfer_average_bytes: Option<f64>, Bytes;
        /// DMA queues used.
        dma_queue_count: u64, Count;
        /// Sum of the tensor engine's instruction times.
        tensor_engine_instruction_time: f64, Seconds;
        /// Merged time of the tensor engine.
        tensor_engine_active_time: f64, Seconds;
        /// The same as a share of `total_time`.
        tensor_engine_active_time_percent: f64, Percent;
        /// Instructions of the tensor engine.
        tensor_engine_instruction_count: u64, Count;
        /// Time in which the tensor engine works at a limited clock.
        throttle_active_time: f64, Seconds;
        /// The limit of its clock as an average over `total_time`, in which idle time counts as zero and work at the published clock as
        /// 100 %.
        throttle_avg_util_limit_percent: f64, Percent;
        /// Number of matmuls among them.
        matmul_instruction_count: u64, Count;
        /// Sum of the vector engine's instruction times.
        vector_engine_instruction_time: f64, Seconds;
        /// Merged time of the vector engine.
        vector_engine_active_time: f64, Seconds;
        /// The same as a share of `total_time`.
        vector_engine_active_time_percent: f64, Percent;
        /// Instructions of the vector engine.
        vector_engine_instruction_count: u64, Count;
        /// Sum of the scalar engine's instruction times.
        scalar_engine_instruction_time: f64, Seconds;
        /// Merged time of the scalar engine.
        scalar_engine_active_time: f64, Seconds;
        /// The same as a share of `total_time`.
        scalar_engine_active_time_percent: f64, Percent;
        /// Instructions of the scalar engine.
        scalar_engine_instruction_count: u64, Count;
        /// Sum of the activation instructions' times.
        activate_instruction_time: f64, Seconds;
        /// Activation instructions.
        activate_instruction_count: u64, Count;
        /// Sum of the GpSimd engine's instruction times.
        gpsimd_engine_instruction_time: f64, Seconds;
        /// Merged time of the GpSimd engine.
        gpsimd_engine_active_time: f64, Seconds;
        /// The same as a share of `total_time`.
        gpsimd_engine_active_time_percent: f64, Percent;
        /// Instructions of the GpSimd engine.
        gpsimd_engine_instruction_count: u64, Count;
        /// Ours: peak use of SBUF.
        sbuf_peak_bytes: Option<u64>, Bytes;
        /// Ours: number of HLO dots that ran.
        dot_count: u64, Count;
        /// Ours: `model_flops` over the device window.
        tflops: Option<f64>, TflopsPerSecond;
        /// Ours: the device window over `dot_count`, which is the time of a layer when each layer is one product.
        ns_per_layer: Option<f64>, Nanoseconds;
    }
}

impl Summary {
    /// Summarises a run on a core.
    pub fn of(run: &Run<'_>, core: &CoreSpec) -> Self {
        let mut summary = Self {
            total_time: run.total_s(),
            total_exec_time: secs(run.window_ns().unsigned_abs()),
            peak_flops_bandwidth_ratio: run.peak_flops(core) / core.peak_hbm_bytes_per_s(),
            model_flops: run.model_flops,
            sbuf_peak_bytes: run.memory.map(|m| m.sbuf_peak_bytes),
            ..Self::default()
        };
        let all = run.units.iter().flat_map(|u| &u.items).map(|i| i.time);
        summary.total_active_time = secs(length_ns(&merge(all)));
        summary.total_active_time_percent = percent(summary.total_active_time, summary.total_time);
        summary.add_engines(run);
        summary.add_throttle(run);
        summary.add_instructions(run);
        summary.add_transfers(run);
        summary.add_rates(run, core);
        summary
    }

    fn add_engines(&mut self, run: &Run<'_>) {
        let total = self.total_time;
        let set = |e: EngineTimes, fields: [&mut f64; 3], count: &mut u64| {
            let [instruction, active, share] = fields;
            (*instruction, *active, *share, *count) = (e.instruction, e.active, percent(e.active, total), e.count);
        };
        set(
            EngineTimes::of(run, Engine::Tensor),
            [
                &mut self.tensor_engine_instruction_time,
                &mut self.tensor_engine_active_time,
                &mut self.tensor_engine_active_time_percent,
            ],
            &mut self.tensor_engine_instruction_count,
        );
        set(
            EngineTimes::of(run, Engine::Vector),
            [
                &mut self.vector_engine_instruction_time,
                &mut self.vector_engine_active_time,
                &mut self.vector_engine_active_time_percent,
            ],
            &mut self.vector_engine_instruction_count,
        );
        set(
            EngineTimes::of(run, Engine::Scalar),
            [
                &mut self.scalar_engine_instruction_time,
                &mut self.scalar_engine_active_time,
                &mut self.scalar_engine_active_time_percent,
            ],
            &mut self.scalar_engine_instruction_count,
        );
        set(
            EngineTimes::of(run, Engine::GpSimd),
            [
                &mut self.gpsimd_engine_instruction_time,
                &mut self.gpsimd_engine_active_time,
                &mut self.gpsimd_engine_active_time_percent,
            ],
            &mut self.gpsimd_engine_instruction_count,
        );
    }

    fn add_throttle(&mut self, run: &Run<'_>) {
        let (mut limited_ns, mut eighths_ns) = (0, 0);
        for (item, eighths) in run.clocked_items() {
            let ns = duration_ns(item.time);
            limited_ns += if eighths < 8 { ns } else { 0 };
            eighths_ns += ns * u64::from(eighths);
        }
        self.throttle_active_time = secs(limited_ns);
        self.throttle_avg_util_limit_percent = percent(secs(eighths_ns) / 8.0, self.total_time);
    }

    fn add_instructions(&mut self, run: &Run<'_>) {
        let mut activate_ns = 0;
        for item in run.engine_items() {
            match item.work {
                Work::Matmul { flops, passes, transpose } => {
                    self.matmul_instruction_count += 1;
                    self.hardware_flops += flops;
                    self.adjusted_hardware_flops += flops * u64::from(passes);
                    if transpose {
                        self.transpose_flops += flops;
                        self.adjusted_transpose_flops += flops * u64::from(passes);
                    }
                }
                Work::Activate => {
                    self.activate_instruction_count += 1;
                    activate_ns += duration_ns(item.time);
                }
                _ => {}
            }
        }
        self.activate_instruction_time = secs(activate_ns);
        self.dot_count = executed_dots(run);
    }

    fn add_transfers(&mut self, run: &Run<'_>) {
        let mut sum_ns = 0;
        for (item, t) in run.transfers() {
            sum_ns += duration_ns(item.time);
            self.dma_transfer_count += 1;
            self.dma_transfer_total_bytes += t.bytes;
            self.hbm_read_bytes += if t.reads_hbm { t.bytes } else { 0 };
            self.hbm_write_bytes += if t.writes_hbm { t.bytes } else { 0 };
            match t.role {
                Role::Input | Role::StagedInput => self.input_queue_bytes += t.bytes,
                Role::Output | Role::StagedOutput => self.output_queue_bytes += t.bytes,
                Role::Weight => self.weight_queue_bytes += t.bytes,
                Role::SpillSave => self.spill_save_bytes += t.bytes,
                Role::SpillReload => self.spill_reload_bytes += t.bytes,
                Role::Custom => self.custom_queue_bytes += t.bytes,
            }
        }
        self.dma_transfer_time = secs(sum_ns);
        self.dma_active_time = secs(length_ns(&merge(run.transfers().map(|(i, _)| i.time))));
        self.dma_active_time_percent = percent(self.dma_active_time, self.total_time);
        let used = run.units.iter().filter(|u| u.engine.is_none() && !u.items.is_empty());
        self.dma_queue_count = used.count() as u64;
        let average = u64_to_f64(self.dma_transfer_total_bytes) / u64_to_f64(self.dma_transfer_count);
        self.dma_transfer_average_bytes = (self.dma_transfer_count > 0).then_some(average);
    }

    fn add_rates(&mut self, run: &Run<'_>, core: &CoreSpec) {
        let peak = run.peak_flops(core) * self.total_time;
        let useful = u64_to_f64(self.hardware_flops - self.transpose_flops);
        let hbm = u64_to_f64(self.hbm_read_bytes + self.hbm_write_bytes);
        let hbm_peak = core.peak_hbm_bytes_per_s() * self.total_time;
        self.mfu_estimated_percent = run.model_flops.map(|f| percent(u64_to_f64(f), peak));
        self.mfu_inst_estimated_percent = percent(useful, peak);
        self.hfu_estimated_percent = percent(u64_to_f64(self.hardware_flops), peak);
        self.mm_arithmetic_intensity = (hbm > 0.0).then(|| useful / hbm);
        let allowed = |flops: u64| (u64_to_f64(flops) / hbm / self.peak_flops_bandwidth_ratio * 100.0).min(100.0);
        self.mfu_max_achievable_estimated_percent = run.model_flops.filter(|_| hbm > 0.0).map(allowed);
        self.mbu_estimated_percent = percent(hbm, hbm_peak);
        // Of a table in device memory only the rows that are looked up are read.
        let least = |m: ns_machine::MemoryPlan| (m.input_bytes + m.weight_bytes).min(self.hbm_read_bytes);
        let read_once = |m| percent(u64_to_f64(least(m)), hbm_peak);
        self.mbu_min_read_util_percent = run.memory.map(read_once);
        let window_s = self.total_exec_time;
        self.tflops = run.model_flops.filter(|_| window_s > 0.0).map(|f| u64_to_f64(f) / window_s / 1e12);
        self.ns_per_layer = (self.dot_count > 0).then(|| i64_to_f64(run.window_ns()) / u64_to_f64(self.dot_count));
    }
}

/// Times of one engine, in seconds.
struct EngineTimes {
    instruction: f64,
    active: f64,
    count: u64,
}

impl EngineTimes {
    fn of(run: &Run<'_>, engine: Engine) -> Self {
        let items = run.engine(engine).map_or(&[][..], |u| &u.items);
        Self {
            instruction: secs(items.iter().map(|i| duration_ns(i.time)).sum()),
            active: secs(length_ns(&merge(items.iter().map(|i| i.time)))),
            count: items.len() as u64,
        }
    }
}

fn duration_ns(time: Interval<i64>) -> u64 {
    (time.end - time.start).unsigned_abs()
}

/// Operations with the HLO opcode `dot` that ran a matmul.
fn executed_dots(run: &Run<'_>) -> u64 {
    let mut seen = FxHashSet::default();
    let products = run
        .engine_items()
        .filter(|i| i.activity == Activity::Execution && matches!(i.work, Work::Matmul { transpose: false, .. }));
    products.filter(|i| seen.insert(i.source) && run.source(i).is_some_and(|s| s.hlo_opcode == "dot")).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MetricValue;
    use crate::testing::{TestRun, dma};
    use ns_machine::arch::NEURONCORE_V2;

    #[test]
    fn formulas_are_the_documented_ones() {
        let mut t = TestRun::new(0, 2_000);
        let dot = t.source("NN[model]/Linear[l]/aten__addmm_dot", "dot");
        let flops = 2 * 128 * 128 * 512;
        t.item(Engine::Tensor, (500, 700), dot, Work::Matmul { flops, passes: 1, transpose: false });
        t.item(Engine::Tensor, (700, 800), dot, Work::Matmul { flops: flops / 4, passes: 4, transpose: true });
        t.queue("q", (0, 400), dot, dma(Role::Weight, 40_000, 128));
        t.queue("q", (300, 600), dot, dma(Role::Output, 20_000, 128));
        t.model_flops = Some(flops);
        let s = Summary::of(&t.run(), &NEURONCORE_V2);
        assert_eq!((s.total_time, s.total_exec_time), (2e-6, 0.8e-6));
        assert_eq!((s.dma_active_time, s.dma_transfer_time), (0.6e-6, 0.7e-6));
        assert_eq!(s.total_active_time_percent, 40.0);
        assert_eq!((s.hardware_flops, s.transpose_flops), (flops * 5 / 4, flops / 4));
        assert_eq!((s.adjusted_hardware_flops, s.adjusted_transpose_flops), (flops * 2, flops));
        assert_eq!((s.hbm_read_bytes, s.hbm_write_bytes), (40_000, 20_000));
        assert_eq!(s.mm_arithmetic_intensity, Some(flops as f64 / 60_000.0));
        let peak = 2.0 * 128.0 * 128.0 * 2.8e9 * 2e-6;
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9 * b, "{a} is not {b}");
        near(s.mfu_estimated_percent.unwrap(), flops as f64 / peak * 100.0);
        near(s.hfu_estimated_percent, flops as f64 * 1.25 / peak * 100.0);
        near(s.mbu_estimated_percent, 60_000.0 / (410e9 * 2e-6) * 100.0);
        assert_eq!((s.tensor_engine_active_time, s.matmul_instruction_count, s.dot_count), (0.3e-6, 2, 1));
        assert_eq!(s.dma_transfer_average_bytes, Some(30_000.0));
        assert_eq!(s.ns_per_layer, Some(800.0));
    }

    #[test]
    fn what_is_not_known_is_absent_and_what_is_none_is_zero() {
        let t = TestRun::new(0, 100);
        let metrics = Summary::of(&t.run(), &NEURONCORE_V2).metrics();
        let value = |name: &str| metrics.iter().find(|m| m.name == name).map(|m| m.value);
        for absent in ["model_flops", "mm_arithmetic_intensity", "tflops", "ns_per_layer", "sbuf_peak_bytes"] {
            assert_eq!(value(absent), None, "{absent}");
        }
        assert_eq!(value("spill_reload_bytes"), Some(MetricValue::Count(0)));
        assert_eq!(metrics[0].name, "total_time");
    }
}
