//! Experiments on a simulated NeuronCore. Every repeat except the first takes the same time, because a simulation has no disturbances.

use super::error::RunError;
use super::experiment::Experiment;
use crate::plan::Dynamo;
use crate::record::Metrics;
use ns_base::SimTime;
use ns_compiler::{Workflow, modelled_compile_s};
use ns_device::Device;
use ns_neuron::runtime::inference_costs;
use ns_neuron::sim::{NoObserver, simulate};

/// Times of an experiment on the cores of `instance`, for a batch.
pub(super) fn simulated(experiment: &Experiment<'_>, instance: &'static str, batch: u32) -> Result<Metrics, RunError> {
    let on_device = |reason: String| RunError::Device { instance, reason };
    let in_model = |reason: String| RunError::Model { model: experiment.model.name.clone(), reason };
    // A traced model is called; lazy tensors end a step with mark_step.
    let traced = experiment.config.dynamo == Some(Dynamo::Openxla);
    let workflow = if traced { Workflow::Trace } else { Workflow::MarkStep };
    let device = Device::of_instance(instance).map_err(|e| on_device(e.to_string()))?;
    let executable =
        device.compile(&experiment.model.specification, Some(batch), workflow).map_err(|e| in_model(e.to_string()))?;
    let outcome = simulate(&executable, &device.costs, &mut NoObserver).map_err(|e| in_model(e.to_string()))?;
    let costs = inference_costs(&executable, &device.costs, outcome.window);
    let runtime = &device.costs.runtime;
    let on_core = if traced {
        costs.device
    } else {
        SimTime::from_ns(runtime.setup_mark_step_ns) + outcome.window + SimTime::from_ns(runtime.teardown_ns)
    };
    let iterations = f64::from(experiment.iterations_per_run);
    let call_s = costs.call.to_secs_f64() * iterations;
    let execute_s = on_core.to_secs_f64() * iterations;
    let run_s = call_s + execute_s + costs.transfer.to_secs_f64() * iterations;
    let compile_s = modelled_compile_s(&executable);
    let load_s = costs.load.to_secs_f64() + costs.warmup.to_secs_f64();
    let mut metrics = Metrics::default();
    for repeat in 0..experiment.repeat {
        let (compile_s, load_s) = if repeat == 0 { (compile_s, load_s) } else { (0.0, 0.0) };
        metrics.push_total(compile_s + load_s + run_s, experiment.iterations_per_run);
        metrics.push_trace(compile_s + call_s, experiment.iterations_per_run);
        metrics.push_xla([compile_s, execute_s], [u64::from(repeat == 0), u64::from(experiment.iterations_per_run)]);
    }
    Ok(metrics)
}
