//! How fast the simulator runs: instructions and DMAs simulated per second, and compiled-and-simulated models.
//!
//! `cargo bench --bench simulator`; prints rates, asserts nothing. `-- resnet50` runs the models of that name only.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark prints, reads the clock and may fail"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use neuronscope::compiler::{Workflow, codegen, lower, passes};
use neuronscope::machine::Executable;
use neuronscope::machine::cost::CostTable;
use neuronscope::model::ModelSpec;
use neuronscope::neuron::sim::{NoObserver, simulate};

/// Best of this many measurements: the machine may be shared.
const RUNS: usize = 5;
/// A measurement repeats what takes less: the smallest model is simulated in a microsecond.
const LEAST: Duration = Duration::from_millis(2);

fn compile(model: &str, batch_size: u64) -> Executable {
    let spec: ModelSpec = model.parse().unwrap();
    let graph = spec.trace(batch_size).unwrap();
    let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
    codegen::generate(&module, &CostTable::neuroncore_v2()).unwrap()
}

fn best_secs(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let (start, mut runs) = (Instant::now(), 0);
        while runs == 0 || start.elapsed() < LEAST {
            run();
            runs += 1;
        }
        best = best.min(start.elapsed().as_secs_f64() / f64::from(runs));
    }
    best
}

/// The chains of ten times the layers and the batches of ten times the images show whether growth is linear.
const CASES: [(&str, u64); 8] = [
    ("nn", 4),
    ("mlp", 32),
    ("matmult:n=1024,loop_count=100", 1),
    ("matmult:n=1024,loop_count=1000", 1),
    ("bert-base-uncased:seq=128", 8),
    ("resnet50", 1),
    ("resnet50", 10),
    ("llama-2-7b", 1),
];

fn main() {
    let costs = CostTable::neuroncore_v2();
    println!(
        "{:32} {:>6} {:>10} {:>12} {:>12} {:>14}",
        "model", "batch", "items", "compile ms", "simulate ms", "M items/s"
    );
    // Cargo gives a benchmark the option --bench.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with('-')).collect();
    let is_wanted = |model: &str| wanted.is_empty() || wanted.iter().any(|part| model.contains(part));
    for (model, batch_size) in CASES.into_iter().filter(|(model, _)| is_wanted(model)) {
        let compile_secs = best_secs(|| drop(compile(model, batch_size)));
        let executable = compile(model, batch_size);
        let simulate_secs = best_secs(|| {
            black_box(simulate(&executable, &costs, &mut NoObserver).unwrap());
        });
        let items = executable.item_count();
        println!(
            "{model:32} {batch_size:>6} {items:>10} {:>12.3} {:>12.3} {:>14.2}",
            compile_secs * 1e3,
            simulate_secs * 1e3,
            items as f64 / simulate_secs / 1e6
        );
    }
}
