//! Properties of every model of the zoo, compiled and simulated.

use neuronscope::base::{Interval, SimTime};
use neuronscope::compiler::Workflow;
use neuronscope::device::Device;
use neuronscope::machine::Executable;
use neuronscope::machine::cost::{CostTable, instruction_cost};
use neuronscope::machine::isa::{DmaQueue, Engine, Unit};
use neuronscope::neuron::sim::{NoObserver, Observer, simulate};

const MODELS: [&str; 14] = [
    "nn",
    "matmult:n=1024,loop_count=4,add_bias=true",
    "bert-base-uncased",
    "distilbert-base-uncased",
    "albert-base-v2:seq=64",
    "roberta-base:seq=32",
    "resnet18",
    "resnet50",
    "vgg11",
    "alexnet",
    "google/vit-base-patch16-224",
    "openai/clip-vit-base-patch32",
    "UNet",
    "gpt2",
];

fn compiled(model: &str, batch: u32) -> (Executable, CostTable) {
    let device = Device::of_instance("inf2.xlarge").unwrap();
    let executable = device.compile(model, Some(batch), Workflow::Trace).unwrap();
    ((*executable).clone(), (*device.costs).clone())
}

fn window(model: &str, batch: u32) -> f64 {
    let (executable, costs) = compiled(model, batch);
    simulate(&executable, &costs, &mut NoObserver).unwrap().window.to_secs_f64()
}

#[derive(Default)]
struct Spans {
    engines: [Vec<Interval<SimTime>>; 4],
    seen: [Vec<bool>; 4],
    dmas: usize,
}

impl Observer for Spans {
    fn instruction(&mut self, engine: Engine, index: usize, span: Interval<SimTime>) {
        let seen = &mut self.seen[engine.index()];
        seen.resize(seen.len().max(index + 1), false);
        assert!(!std::mem::replace(&mut seen[index], true), "an instruction ran twice");
        self.engines[engine.index()].push(span);
    }
    fn dma(&mut self, _: DmaQueue, _: usize, triggered: SimTime, span: Interval<SimTime>) {
        assert!(triggered <= span.start);
        self.dmas += 1;
    }
}

/// The longest chain of waits, each item at its latency, with engines and bandwidth for all at once.
fn critical_path(executable: &Executable, costs: &CostTable) -> SimTime {
    let mut completed: [Vec<SimTime>; Unit::COUNT] = Default::default();
    let mut longest = SimTime::ZERO;
    loop {
        let before: usize = completed.iter().map(Vec::len).sum();
        for engine in Engine::ALL {
            let unit = Unit::Engine(engine).index();
            while let Some(instruction) = executable.engines[engine.index()].get(completed[unit].len()) {
                let waits = executable.waits(instruction.waits_start, instruction.waits_len);
                let Some(ready) = ready(&completed, waits) else { break };
                let done = ready + instruction_cost(costs, engine, &executable.op(instruction)).latency;
                completed[unit].push(done);
                longest = longest.max(done);
            }
        }
        for queue in DmaQueue::ALL {
            let unit = Unit::Queue(queue).index();
            while let Some(dma) = executable.queues[queue.index()].get(completed[unit].len()) {
                let waits = executable.waits(dma.waits_start, dma.waits_len);
                let Some(ready) = ready(&completed, waits) else { break };
                let done = ready + SimTime::from_ns(costs.dma.trigger_to_data_ns + costs.dma.min_data_ns);
                completed[unit].push(done);
                longest = longest.max(done);
            }
        }
        if completed.iter().map(Vec::len).sum::<usize>() == before {
            assert_eq!(before, executable.item_count(), "some items wait for something that never comes");
            return longest;
        }
    }
}

fn ready(completed: &[Vec<SimTime>; Unit::COUNT], waits: &[neuronscope::machine::isa::Wait]) -> Option<SimTime> {
    let mut at = SimTime::ZERO;
    for wait in waits.iter().filter(|w| w.count > 0) {
        at = at.max(*completed[wait.unit.index()].get(wait.count as usize - 1)?);
    }
    Some(at)
}

#[test]
fn no_engine_overlaps_itself_and_all_work_is_done_once() {
    for model in MODELS {
        let (executable, costs) = compiled(model, 2);
        let mut spans = Spans::default();
        let outcome = simulate(&executable, &costs, &mut spans).unwrap();
        for (engine, spans) in spans.engines.iter().enumerate() {
            assert_eq!(spans.len(), executable.engines[engine].len(), "{model}");
            assert!(spans.windows(2).all(|pair| pair[0].end <= pair[1].start), "{model}");
        }
        let bytes: u64 = executable.queues.iter().flatten().map(|d| d.bytes).sum();
        assert_eq!((outcome.dma_bytes, spans.dmas), (bytes, executable.queues.iter().map(Vec::len).sum()), "{model}");
    }
}

#[test]
fn no_program_is_faster_than_its_critical_path_or_larger_than_the_part() {
    for model in MODELS {
        let (executable, costs) = compiled(model, 4);
        let window = simulate(&executable, &costs, &mut NoObserver).unwrap().window;
        assert!(critical_path(&executable, &costs) <= window, "{model}");
        let memory = &executable.memory;
        assert!(memory.sbuf_peak_bytes <= costs.core.sbuf_bytes, "{model}");
        assert!(memory.weight_bytes + memory.input_bytes + memory.output_bytes <= costs.core.hbm_bytes, "{model}");
    }
}

#[test]
fn a_faster_device_is_never_slower() {
    for model in MODELS {
        let (executable, mut slow) = compiled(model, 2);
        // What keeps a tensor engine busier may make its clock slower, on hardware as here.
        slow.engine.tensor_throttle = None;
        let at = |costs: &CostTable| simulate(&executable, costs, &mut NoObserver).unwrap().window;
        let base = at(&slow);
        let mut engines = slow.clone();
        engines.core.tensor_mhz *= 2;
        engines.core.vector_mhz *= 2;
        engines.core.scalar_mhz *= 2;
        assert!(at(&engines) <= base, "{model}: faster engines");
        let mut dma = slow.clone();
        dma.dma.aggregate_bytes_per_us *= 2;
        dma.dma.engine_bytes_per_us *= 2;
        assert!(at(&dma) <= base, "{model}: faster DMA");
    }
}

#[test]
fn larger_models_and_batches_take_longer() {
    let sizes: [&[&str]; 4] = [
        &["distilbert-base-uncased", "bert-base-uncased", "bert-large-uncased"],
        &["resnet18", "resnet34", "resnet50", "resnet101", "resnet152"],
        &["vgg11", "vgg16"],
        &["openai/clip-vit-base-patch32", "openai/clip-vit-large-patch14"],
    ];
    for family in sizes {
        let times: Vec<f64> = family.iter().map(|model| window(model, 4)).collect();
        assert!(times.windows(2).all(|t| t[0] < t[1]), "{family:?}: {times:?}");
    }
    for model in ["bert-base-uncased", "resnet50", "google/vit-base-patch16-224", "openai/clip-vit-base-patch32"] {
        let times: Vec<f64> = [1, 2, 4, 8].map(|batch| window(model, batch)).to_vec();
        // More work is never faster, and never slower than its parts one after another.
        assert!(times.windows(2).all(|t| t[0] < t[1] && t[1] < 2.02 * t[0]), "{model}: {times:?}");
    }
    let half = window("distilbert-base-uncased", 8) / window("bert-base-uncased", 8);
    assert!((0.48..0.56).contains(&half), "{half}");
}
