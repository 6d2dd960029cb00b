//! How fast the simulator runs: instructions and DMAs simulated per second, and compiled-and-simulated models.
//!
//! `cargo bench --bench simulator`; prints rates, asserts nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout, clippy::disallowed_methods, missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use neuronscope::compiler::{Workflow, codegen, lower, passes};
use neuronscope::machine::Executable;
use neuronscope::machine::arch::NEURONCORE_V2;
use neuronscope::machine::cost::CostTable;
use neuronscope::model::ModelSpec;
use neuronscope::neuron::sim::{NoObserver, simulate};

/// Best of this many runs: the machine may be shared.
const RUNS: usize = 5;

fn compile(model: &str) -> Executable {
    let spec: ModelSpec = model.parse().unwrap();
    let graph = spec.trace(spec.info().default_batch_size).unwrap();
    let (module, _) = passes::optimize(lower(&graph, Workflow::Trace).unwrap()).unwrap();
    codegen::generate(&module, &NEURONCORE_V2).unwrap()
}

fn best_secs(mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..RUNS {
        let start = Instant::now();
        run();
        best = best.min(start.elapsed().as_secs_f64());
    }
    best
}

fn main() {
    let costs = CostTable::neuroncore_v2();
    println!("{:48} {:>10} {:>12} {:>12} {:>14}", "model", "items", "compile ms", "simulate ms", "M items/s");
    for model in ["nn", "mlp", "matmult:n=1024,loop_count=100", "matmult:n=1024,loop_count=1000"] {
        let compile_secs = best_secs(|| drop(compile(model)));
        let executable = compile(model);
        let simulate_secs = best_secs(|| {
            black_box(simulate(&executable, &costs, &mut NoObserver).unwrap());
        });
        let items = executable.item_count();
        println!(
            "{model:48} {items:>10} {:>12.3} {:>12.3} {:>14.2}",
            compile_secs * 1e3,
            simulate_secs * 1e3,
            items as f64 / simulate_secs / 1e6
        );
    }
}
