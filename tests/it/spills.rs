//! Values that do not fit in SBUF together leave it and come back.

use neuronscope::base::Refusal;
use neuronscope::capture::{Recorder, run_of};
use neuronscope::compiler::{Workflow, codegen, lower, passes};
use neuronscope::insight::{Insights, Rule};
use neuronscope::machine::Executable;
use neuronscope::machine::cost::CostTable;
use neuronscope::machine::isa::{DmaDirection, DmaQueue};
use neuronscope::model::nn::{Function, Linear, ReLU};
use neuronscope::model::{Child, Ctx, Entry, Module, Value, trace};
use neuronscope::neuron::sim::simulate;
use neuronscope::tensor::Shape;

/// Layers down, and up again with the result of each level added: the result of a level is needed until the very end.
struct Ladder {
    down: Vec<Child<Linear>>,
    up: Vec<Child<Linear>>,
    relu: Child<Function>,
}

const WIDTH: u64 = 256;

/// The model at 4096 rows; the vector engine adds a level in fp32.
const LEVEL_BYTES: u64 = 4096 * WIDTH * 4;

impl Ladder {
    fn new(levels: usize) -> Self {
        let layers = |name: &str| -> Vec<Child<Linear>> {
            (0..levels).map(|i| Child::new(format!("{name}{i}"), Linear::new(WIDTH, WIDTH))).collect()
        };
        Self { down: layers("down"), up: layers("up"), relu: Child::new("relu", ReLU) }
    }

    fn compile(&self, rows: u64) -> Executable {
        let graph = trace(self, &[Shape::f32([rows, WIDTH])]).unwrap();
        let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
        codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap()
    }
}

impl Module for Ladder {
    fn class(&self) -> &str {
        "Ladder"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        let mut x = cx.one_input(inputs)?.clone();
        let mut levels = Vec::new();
        for layer in &self.down {
            let y = layer.call(cx, &x)?;
            x = self.relu.call(cx, &y)?;
            levels.push(x.clone());
        }
        for (layer, level) in self.up.iter().zip(levels.iter().rev()) {
            let y = layer.call(cx, &x)?;
            let sum = cx.add(&y, level)?;
            x = self.relu.call(cx, &sum)?;
        }
        Ok(x)
    }

    fn children(&self) -> Vec<Entry<'_>> {
        let all = self.down.iter().chain(&self.up).map(Child::entry);
        all.chain([self.relu.entry()]).collect()
    }
}

/// Bytes written and bytes read back.
fn spilled(executable: &Executable) -> (u64, u64) {
    let moved = |direction| {
        let queue = &executable.queues[DmaQueue::Spill.index()];
        queue.iter().filter(|d| d.direction == direction).map(|d| d.bytes).sum()
    };
    (moved(DmaDirection::SbufToHbm), moved(DmaDirection::HbmToSbuf))
}

fn insights(executable: &Executable) -> Insights {
    let costs = CostTable::neuroncore_v2();
    let mut recorder = Recorder::default();
    simulate(executable, &costs, &mut recorder).unwrap();
    Insights::of(&run_of(executable, &recorder, &costs, Workflow::Trace), &costs.core)
}

#[test]
fn levels_that_do_not_fit_together_are_written_once_and_read_back() {
    // SBUF is 24 MiB.
    let executable = Ladder::new(14).compile(4096);
    let (saved, reloaded) = spilled(&executable);
    assert!(saved > 0);
    assert_eq!(saved, reloaded, "every level is needed again");
    assert_eq!(executable.memory.spill_bytes, saved);
    assert!(executable.queues[DmaQueue::Spill.index()].iter().all(|d| d.bytes == LEVEL_BYTES));
    assert!(executable.memory.sbuf_peak_bytes <= executable.memory.sbuf_capacity_bytes);
    let insights = insights(&executable);
    assert_eq!((insights.summary.spill_save_bytes, insights.summary.spill_reload_bytes), (saved, reloaded));
    assert!(insights.findings.iter().any(|f| f.rule == Rule::Spills));
}

#[test]
fn deeper_ladders_spill_values_that_do_not_fit() {
    let saved = |levels| spilled(&Ladder::new(levels).compile(4096)).0;
    let [twelve, sixteen, twenty] = [12, 16, 20].map(saved);
    assert!(twelve < sixteen);
    assert_eq!(twenty - sixteen, 4 * LEVEL_BYTES, "four more levels");
}

#[test]
fn values_that_fit_are_not_moved() {
    let executable = Ladder::new(14).compile(128);
    assert_eq!(spilled(&executable), (0, 0));
    assert!(insights(&executable).findings.iter().all(|f| f.rule != Rule::Spills));
}

#[test]
fn scores_that_do_not_fit_wait_in_device_memory_and_no_others_do() {
    let device = neuronscope::device::Device::of_instance("trn1.2xlarge").unwrap();
    let of = |heads: u64, tokens: u64| {
        let shape = format!("{heads}x{tokens}x64");
        let model = format!("op:name=attention,shapes={shape}_{shape}_{shape}");
        spilled(&device.compile(&model, None, Workflow::Trace).unwrap())
    };
    // Of a third block of partitions 1 of 128 is used, and all are taken: 64 heads of 257 tokens take 25.3 MB of 25.2.
    let scores = 64 * 257 * 257 * 4;
    assert_eq!(of(64, 257), (scores, scores));
    assert_eq!([of(63, 257), of(64, 256)], [(0, 0); 2]);
}

/// A product of two inputs.
struct Pair;

impl Module for Pair {
    fn class(&self) -> &str {
        "Pair"
    }

    fn forward(&self, cx: &mut Ctx, inputs: &[Value]) -> Result<Value, Refusal> {
        cx.matmul(&inputs[0], &inputs[1])
    }
}

#[test]
fn an_input_that_is_read_as_it_lies_is_not_turned() {
    let turned = |rows: u64| {
        let graph = trace(&Pair, &[Shape::f32([rows, 1024]), Shape::f32([1024, 1024])]).unwrap();
        let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
        let executable = codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap();
        insights(&executable).summary.transpose_flops
    };
    // Only the rows of the other input: blocks of 128 x 128, one for each 128 of its columns.
    assert!(turned(1) <= 8 * 2 * 128 * 128 * 128, "{}", turned(1));
}
