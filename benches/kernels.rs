//! How fast kernels of custom operators are run: statements a second, and the time of one call of each kernel of the program.
//!
//! `cargo bench --bench kernels`; prints rates, asserts nothing.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    missing_docs,
    reason = "a benchmark prints, reads the clock and may fail"
)]

use std::hint::black_box;
use std::time::Instant;

use neuronscope::kernel::{BUILT_IN, Fill, HbmTensor, OperatorCall, Role, compile, filled};
use neuronscope::machine::cost::GpsimdCosts;

/// Best of this many runs: the machine may be shared.
const RUNS: usize = 3;
/// The first hidden layer of the tutorial's network at its batch size.
const DIMS: [u64; 2] = [32, 4096];

fn main() {
    let costs = GpsimdCosts::default();
    let values = filled(Fill::Normal, DIMS.iter().product(), 0, 0);
    println!("{:24} {:>12} {:>14} {:>16} {:>16}", "kernel", "call ms", "statements", "M statements/s", "M elements/s");
    for kernel in BUILT_IN {
        let program = compile(kernel.source).unwrap();
        let forward = program.kernel(Role::Forward).unwrap();
        let inputs = [HbmTensor::from_f32(&DIMS, &values)];
        let (mut best, mut statements) = (f64::INFINITY, 0);
        for _ in 0..RUNS {
            let start = Instant::now();
            let mut call = OperatorCall::new(forward, inputs.to_vec(), kernel.multicore, costs.processors, &costs);
            while !call.advance(u64::MAX) {}
            let run = black_box(call.finish());
            best = best.min(start.elapsed().as_secs_f64());
            statements = run.cost.lines.iter().map(|l| l.count).sum::<u64>();
        }
        println!(
            "{:24} {:>12.2} {:>14} {:>16.1} {:>16.2}",
            kernel.name,
            best * 1e3,
            statements,
            statements as f64 / best / 1e6,
            values.len() as f64 / best / 1e6
        );
    }
}
