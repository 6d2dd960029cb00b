//! Simulates BERT on Inf2: `cargo run --release --example simulate_bert`.
//!
//! Prints the time of one call, the operators that take the NeuronCore's time, and the throughput of a small sweep.
//! The numbers are the same on every machine, because nothing is measured. Needs no feature.

#![allow(clippy::print_stdout, reason = "an example prints its result")]

use std::error::Error;

use neuronscope::base::NeverCancel;
use neuronscope::bench::export::{TableOptions, to_table};
use neuronscope::bench::{BenchConfig, ConfigurationRun, RunDetail, expand, service_times};
use neuronscope::capture::{Recorder, build_profile};
use neuronscope::compiler::Workflow;
use neuronscope::device::{Device, ModelLibrary, ServiceTimes};
use neuronscope::neuron::sim::simulate;
use neuronscope::profile::neuron::{OperatorView, operator_table};

const MODEL: &str = "bert-base-uncased";
const INSTANCE: &str = "inf2.xlarge";

fn main() -> Result<(), Box<dyn Error>> {
    one_call()?;
    sweep()
}

/// Compiles the model, runs it once on a simulated NeuronCore, and counts its operators.
fn one_call() -> Result<(), Box<dyn Error>> {
    let device = Device::of_instance(INSTANCE)?;
    let compiled = device.compilation(MODEL, Some(1), Workflow::Trace)?;
    let mut recorder = Recorder::default();
    let outcome = simulate(&compiled.executable, &device.costs, &mut recorder)?;
    let times = ServiceTimes::of_step(&compiled.step(&device.costs, outcome.window, Workflow::Trace), 1);
    println!("{MODEL} on {INSTANCE}, batch size 1");
    println!(
        "one call: {:.3} ms, on the NeuronCore: {:.3} ms",
        times.unloaded().to_ms_f64(),
        outcome.window.to_ms_f64()
    );

    let captured = build_profile(&compiled.executable, &recorder, &device.costs, Workflow::Trace, MODEL.into());
    for row in operator_table(&captured.profile, OperatorView::Framework).iter().take(5) {
        println!("{:>6} x  {:>10} ns  {}", row.occurrences, row.time_ns, row.name);
    }
    Ok(())
}

/// Benchmarks two batch sizes with one and two copies of the model, as NeuronPerf does.
fn sweep() -> Result<(), Box<dyn Error>> {
    let config = BenchConfig {
        model: MODEL.to_owned(),
        instance_type: INSTANCE.to_owned(),
        batch_sizes: vec![1, 4],
        n_models: Some(vec![1, 2]),
        duration_s: 2.0,
        ..BenchConfig::default()
    };
    let mut reports = Vec::new();
    for configuration in expand(&config)?.configurations {
        let times = service_times(&configuration, &ModelLibrary::default());
        let times = times.as_ref().map_err(ToString::to_string);
        reports.push(ConfigurationRun::new(configuration, times).run(&NeverCancel, RunDetail::default()).report);
    }
    println!("\n{}", to_table(&reports, &TableOptions::default()));
    Ok(())
}
