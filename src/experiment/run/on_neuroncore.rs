//! Experiments on a simulated NeuronCore. Every repeat except the first takes the same time, because a simulation has no disturbances.

use super::error::RunError;
use super::experiment::Experiment;
use crate::plan::Dynamo;
use crate::record::Metrics;
use ns_compiler::Workflow;
use ns_device::{Device, ModelLibrary};

/// Times of an experiment on the cores of `instance`, for a batch.
pub(super) fn simulate(
    experiment: &Experiment<'_>,
    models: &ModelLibrary,
    instance: &'static str,
    batch: u32,
) -> Result<Metrics, RunError> {
    let on_device = |reason: String| RunError::Device { instance, reason };
    let in_model = |reason: String| RunError::Model { model: experiment.model.name.clone(), reason };
    // A traced model is called; lazy tensors end a step with mark_step.
    let traced = experiment.config.dynamo == Some(Dynamo::Openxla);
    let workflow = if traced { Workflow::Trace } else { Workflow::MarkStep };
    let device = Device::of_instance(instance).map_err(|e| on_device(e.to_string()))?.with_models(models);
    let specification = &experiment.model.specification;
    let compiled = device.compilation(specification, Some(batch), workflow).map_err(|e| in_model(e.to_string()))?;
    let step = device.step(&compiled, workflow).map_err(|e| in_model(e.to_string()))?;
    let iterations = f64::from(experiment.iterations_per_run);
    // The time in the model's call, before the device has the result: recording, call and copies.
    let call_s = step.host().to_secs_f64() * iterations;
    let execute_s = step.device().to_secs_f64() * iterations;
    // The suite waits for the device at the end of a run, not between its iterations.
    let run_s = step.run(u64::from(experiment.iterations_per_run)).to_secs_f64();
    let compile_s = step.first.compile.to_secs_f64();
    let load_s = step.first.load.to_secs_f64() + step.first.warmup.to_secs_f64();
    let mut metrics = Metrics::default();
    for repeat in 0..experiment.repeat {
        let (compile_s, load_s) = if repeat == 0 { (compile_s, load_s) } else { (0.0, 0.0) };
        metrics.push_total(compile_s + load_s + run_s, experiment.iterations_per_run);
        metrics.push_trace(compile_s + call_s, experiment.iterations_per_run);
        metrics.push_xla([compile_s, execute_s], [u64::from(repeat == 0), u64::from(experiment.iterations_per_run)]);
    }
    Ok(metrics)
}
