//! What was measured of the limit of the tensor engine's clock, beside what the simulation makes of the same work: `src/fidelity/instructions.csv`
//! has the measurements.

use neuronscope::base::{Interval, Refusal, SimTime};
use neuronscope::compiler::{Workflow, codegen, lower, passes};
use neuronscope::machine::cost::CostTable;
use neuronscope::machine::isa::{Activity, DmaQueue, Engine, Instruction, Op, Unit, Wait};
use neuronscope::machine::{Executable, SourceId};
use neuronscope::model::nn::{Linear, RmsNorm};
use neuronscope::model::{Child, Ctx, Entry, Module, Value, trace};
use neuronscope::neuron::sim::{NoObserver, Observer, simulate};
use neuronscope::tensor::Shape;
use neuronscope::tensor::kernels::BinaryOp;

/// The transformer block of the measurement: 4,096 features, 32 heads, 2,048 tokens.
struct Block {
    norms: [Child<RmsNorm>; 2],
    layers: [Child<Linear>; 6],
}

const HIDDEN: u64 = 4_096;
const HEADS: u64 = 32;
const SEQ: u64 = 2_048;

impl Block {
    fn new() -> Self {
        let linear = |name: &str, from, to| Child::new(name, Linear::with_bias(from, to, false));
        let (h, wide) = (HIDDEN, 4 * HIDDEN);
        Self {
            norms: ["norm1", "norm2"].map(|name| Child::new(name, RmsNorm::new(h, 1e-6))),
            layers: [
                linear("q", h, h),
                linear("k", h, h),
                linear("v", h, h),
                linear("o", h, h),
                linear("w1", h, wide),
                linear("w2", wide, h),
            ],
        }
    }
}

impl Module for Block {
    fn class(&self) -> &str {
        "Block"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let x = cx.one_input(inputs)?;
        let [q, k, v, o, w1, w2] = &self.layers;
        let normed = self.norms[0].call(cx, x)?;
        let mut heads = Vec::new();
        for layer in [q, k, v] {
            let y = layer.call(cx, &normed)?;
            let y = cx.view(&y, &[1, SEQ, HEADS, HIDDEN / HEADS])?;
            heads.push(cx.permute(&y, &[0, 2, 1, 3])?);
        }
        let scale = (BinaryOp::Div, ((HIDDEN / HEADS) as f32).sqrt());
        let context = cx.attention([&heads[0], &heads[1], &heads[2]], Some(scale), None)?;
        let context = cx.permute(&context, &[0, 2, 1, 3])?;
        let context = cx.view(&context, &[1, SEQ, HIDDEN])?;
        let context = o.call(cx, &context)?;
        let x = cx.add(x, &context)?;
        let normed = self.norms[1].call(cx, &x)?;
        let wide = w1.call(cx, &normed)?;
        let wide = cx.gelu(&wide)?;
        let narrow = w2.call(cx, &wide)?;
        cx.add(&x, &narrow)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        self.norms.iter().map(Child::entry).chain(self.layers.iter().map(Child::entry)).collect()
    }
}

fn transformer() -> Executable {
    let graph = trace(&Block::new(), &[Shape::f32([1, SEQ, HIDDEN])]).unwrap();
    let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
    codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap()
}

/// The clock of the GpSimd engine of v2.
const V2_MHZ: u32 = 1_400;

/// Streams of instructions of single engines.
#[derive(Default)]
struct Stream {
    executable: Executable,
}

impl Stream {
    /// Adds an instruction that waits for others.
    fn push(&mut self, engine: Engine, op: Op, after: &[Wait]) -> Wait {
        let e = &mut self.executable;
        let (waits_start, waits_len) = (e.waits.len() as u32, after.len() as u8);
        e.waits.extend_from_slice(after);
        let op = e.ops.id_of(engine, op);
        let stream = &mut e.engines[engine.index()];
        let (activity, source) = (Activity::Execution, SourceId(0));
        stream.push(Instruction { op, activity, waits_start, waits_len, from_psum: false, source });
        Wait { unit: Unit::Engine(engine), count: stream.len() as u32 }
    }

    /// Products of `rows` rows after others; the last of them.
    fn products(&mut self, count: usize, rows: u32, passes: u32, after: &[Wait]) -> Wait {
        let mut last = self.push(Engine::Tensor, Op::LdWeights { rows, columns: 128 }, after);
        for _ in 0..count {
            last = self.push(Engine::Tensor, Op::Matmul { free: 512, passes }, &[]);
        }
        last
    }

    /// Another engine at work for a time after others, at the clock of v2.
    fn other(&mut self, ns: f64, after: &[Wait]) -> Wait {
        let time_ps = (ns * 1e3) as u64;
        self.push(Engine::GpSimd, Op::CustomKernel { elements: 1, time_ps, mhz: V2_MHZ }, after)
    }

    /// Bursts of dense products with another engine's work between them, each after the other.
    fn bursts(count: usize, products: usize, pause_ns: f64) -> Executable {
        let mut stream = Self::default();
        let mut after = stream.other(0.0, &[]);
        for _ in 0..count {
            let dense = stream.products(products, 128, 1, &[after]);
            after = stream.other(pause_ns, &[dense]);
        }
        stream.executable
    }
}

/// The transformer block as the counters of Trn1 have it: 9.11 ms of dense products, then 3.76 ms of products between 3.84 ms of other work.
fn counted_block() -> Executable {
    let product_ns = 209.2;
    let mut stream = Stream::default();
    let mut after = stream.products((9.11e6 / product_ns) as usize, 128, 1, &[]);
    let groups = (3.76e6 / product_ns / 8.0) as usize;
    for _ in 0..groups {
        after = stream.other(3.84e6 / groups as f64, &[after]);
        after = stream.products(8, 128, 1, &[after]);
    }
    stream.executable
}

/// Seconds of an execution.
fn seconds(executable: &Executable, costs: &CostTable) -> f64 {
    simulate(executable, costs, &mut NoObserver).unwrap().window.to_secs_f64()
}

/// Time of Trn1 over that of Inf2: the ratio of their rates.
fn ratio(executable: &Executable) -> f64 {
    seconds(executable, &CostTable::neuroncore_v2()) / seconds(executable, &CostTable::inferentia2())
}

/// Time at work of the tensor engine, and the sum of its limits over that time.
#[derive(Default)]
struct Clock {
    eighths: u32,
    active: f64,
    limited: f64,
}

impl Observer for Clock {
    fn instruction(&mut self, engine: Engine, _: usize, span: Interval<SimTime>) {
        if engine == Engine::Tensor {
            let seconds = span.end.saturating_sub(span.start).to_secs_f64();
            self.active += seconds;
            self.limited += seconds * f64::from(self.eighths) / 8.0;
        }
    }
    fn dma(&mut self, _: DmaQueue, _: usize, _: SimTime, _: Interval<SimTime>) {}
    fn clock_limit(&mut self, _: SimTime, eighths: u32) {
        self.eighths = eighths;
    }
}

/// FLOPs of a product of 8192 x 8192 matrices, and products of tiles that it takes.
const GEMM_FLOPS: f64 = 2.0 * 8_192.0 * 8_192.0 * 8_192.0;
const GEMM_PRODUCTS: usize = 64 * 64 * 16;
/// Idle time at the start of every profiled execution.
const IDLE_HEAD_S: f64 = 2.08e-3;

fn gemm() -> Executable {
    let mut stream = Stream::default();
    stream.products(GEMM_PRODUCTS, 128, 1, &[]);
    stream.executable
}

/// The mean limit over an execution with its idle head.
fn average_limit(costs: &CostTable) -> f64 {
    let mut clock = Clock { eighths: 8, ..Clock::default() };
    let window = simulate(&gemm(), costs, &mut clock).unwrap().window.to_secs_f64();
    clock.limited / (window + IDLE_HEAD_S)
}

/// Microseconds that the tensor engine of Trn2 is busy.
fn busy_us(executable: &Executable) -> f64 {
    let costs = CostTable::neuroncore_v3().unwrap();
    let outcome = simulate(executable, &costs, &mut NoObserver).unwrap();
    outcome.engine_busy[Engine::Tensor.index()].to_secs_f64() * 1e6
}

/// A single-precision product of 128 x 128 x 512 every 2.7 us, 512 times: the kernel of a rotary embedding.
fn rope() -> Executable {
    let mut stream = Stream::default();
    let ns = 2_700.0 * f64::from(CostTable::neuroncore_v3().unwrap().core.gpsimd_mhz) / f64::from(V2_MHZ);
    let mut pace = stream.other(ns, &[]);
    for _ in 0..512 {
        stream.products(1, 128, 4, &[pace]);
        pace = stream.other(ns, &[]);
    }
    stream.executable
}

/// Copies of one row to all partitions, one after the other: most of the work of a kernel of Mamba, 769.6 us at the published clock.
fn one_row() -> Executable {
    let mut stream = Stream::default();
    stream.products(3_608, 1, 1, &[]);
    stream.executable
}

/// Decimals of a figure of the table.
fn row(table: &mut String, what: &str, measured: f64, here: f64, digits: usize) {
    let error = (here / measured - 1.0) * 100.0;
    table.push_str(&format!("| {what} | {measured:.digits$} | {here:.digits$} | {error:+.1} % |\n"));
}

/// `UPDATE_DOCS=1 cargo test` writes the table.
#[test]
fn what_was_measured_of_the_clock_comes_out() {
    let (trn1, inf2) = (CostTable::neuroncore_v2(), CostTable::inferentia2());
    let dense = gemm();
    let gemm_s = seconds(&dense, &trn1);
    // A second at work and one at rest.
    let pulses = Stream::bursts(40, GEMM_PRODUCTS / 40, gemm_s / 40.0 * 1e9);
    // Pulses come by the clock of the host: the same work a pulse would end earlier.
    let pulse = {
        let active = |costs: &CostTable| seconds(&pulses, costs) - gemm_s;
        active(&trn1) / active(&inf2)
    };
    // A chain of two products, vector, scalar and GpSimd work; what the others take is what Trn1's rate leaves.
    let chain_s = 2.0 * GEMM_FLOPS / 54.01e12;
    let mixed = Stream::bursts(2, GEMM_PRODUCTS, (chain_s / 2.0 - gemm_s) * 1e9);
    let memory = seconds_of_weights(&trn1) / seconds_of_weights(&inf2);
    let mut table = "| what | measured | simulated | error |\n|---|---|---|---|\n".to_owned();
    let ratios = [
        ("dense product of 8192 x 8192 matrices", 0.723, ratio(&dense)),
        ("the same, half of the time", 0.727, pulse),
        ("a chain over all engines", 0.785, ratio(&mixed)),
        ("a transformer block, by the counters of Trn1", 0.834, ratio(&counted_block())),
        ("device memory", 1.0, memory),
    ];
    for (what, measured, here) in ratios {
        row(&mut table, &format!("rate of Inf2 over Trn1: {what}"), measured, here, 3);
        assert!((here / measured - 1.0).abs() < 0.02, "{what}: {here} beside {measured}");
    }
    let block = transformer();
    let compiled = ratio(&block);
    assert!((compiled / 0.834 - 1.0).abs() < 0.12, "a compiled transformer block: {compiled}");
    row(&mut table, "rate of Inf2 over Trn1: the block as it is compiled here", 0.834, compiled, 3);
    let busy = simulate(&block, &trn1, &mut NoObserver).unwrap().engine_busy[Engine::Tensor.index()];
    row(&mut table, "ms that the tensor engine of Trn1 works for this block", 12.87, busy.to_secs_f64() * 1e3, 2);
    for (what, measured, costs) in [("Inf2", 0.5635, &inf2), ("Trn1", 0.7656, &trn1)] {
        let here = average_limit(costs);
        assert!((here - measured).abs() < 0.02, "average limit of {what}: {here}");
        row(&mut table, &format!("average limit of a dense product on {what}"), measured, here, 3);
    }
    for (what, measured, here) in [
        ("a product of 0.86 us every 2.7 us", 702.0, busy_us(&rope())),
        ("products of one row, back to back", 1_539.0, busy_us(&one_row())),
    ] {
        assert!((here / measured - 1.0).abs() < 0.05, "{what}: {here} us beside {measured}");
        row(&mut table, &format!("us that the tensor engine of Trn2 is busy: {what}"), measured, here, 0);
    }
    super::doc_tables::assert_written("docs/fidelity.md", "what was measured of the clock", &table);
}

/// Seconds of a stream of weights that products wait for.
fn seconds_of_weights(costs: &CostTable) -> f64 {
    use neuronscope::machine::isa::{Dma, DmaDirection};
    let mut stream = Stream::default();
    let ring = DmaQueue::Weights;
    for count in 1..=400 {
        stream.executable.queues[ring.index()].push(Dma {
            bytes: 2 << 20,
            partitions: 128,
            descriptors: 0,
            first_partition: None,
            direction: DmaDirection::HbmToSbuf,
            exchange_ps: 0,
            waits_start: 0,
            waits_len: 0,
            source: SourceId(0),
        });
        stream.products(8, 128, 1, &[Wait { unit: Unit::Queue(ring), count }]);
    }
    seconds(&stream.executable, costs)
}

#[test]
fn small_products_keep_seven_eighths() {
    // 128 x 128 x 128 with as much time between them: a third of a window is used.
    let mut stream = Stream::default();
    let mut after = stream.other(0.0, &[]);
    for _ in 0..2_000 {
        stream.push(Engine::Tensor, Op::LdWeights { rows: 128, columns: 128 }, &[after]);
        let product = stream.push(Engine::Tensor, Op::Matmul { free: 128, passes: 1 }, &[]);
        after = stream.other(100.0, &[product]);
    }
    assert!((ratio(&stream.executable) - 1.0).abs() < 1e-3);
}
