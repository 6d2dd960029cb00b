//! Stage times of a configuration: those of its model on its device, with the user's work around the call.

use crate::config::configuration::Configuration;
use crate::config::options::{DeviceType, SdkGeneration};
use crate::host_step::expression::Expression;
use crate::host_step::step::HostStep;
use ns_base::{Refusal, SimTime, refuse};
use ns_device::{Device, ModelLibrary, ModelRef, ServiceTimes, model_label};
use ns_machine::Executable;
use ns_machine::arch::instance;
use ns_machine::cost::decisions::{INF1_PATH_BYTES_PER_US, IO_ELEMENT_BYTES};
use ns_machine::cost::{CostTable, all_reduce};
use ns_model::ModelSpec;
use ns_model::training::TrainingCall;
use ns_neuron::step::{StepCosts, at_rate};

/// Stage times of a configuration whose compiled model has this step, with the host around it. Fails when the time of the user's
/// work is not known.
pub fn stage_times(
    executable: &Executable,
    costs: &CostTable,
    step: &StepCosts,
    configuration: &Configuration,
) -> Result<ServiceTimes, Refusal> {
    let generation = match configuration.options.sdk_generation {
        SdkGeneration::Pt1 => costs.runtime.torch_1_permille,
        SdkGeneration::Pt2 => 1_000,
    };
    let times = ServiceTimes::of_step(step, configuration.pipeline_size);
    let times = times.with_slower_inferences(generation);
    let memory = &executable.memory;
    let times = with_host_work(times, configuration, Some((memory.input_bytes, memory.output_bytes)))?;
    let times = ServiceTimes { weight_bytes: memory.weight_bytes, ..times };
    // The known figure is how much longer the first inference takes than the others.
    Ok(ServiceTimes { warmup: times.warmup + times.unloaded(), ..times })
}

/// Stage times of a configuration, whatever its model: a system given by its times, or a model in the zoo or in `models`,
/// compiled and simulated. The number of workers does not change them, and the number of copies only that of a training step, whose
/// copies add up their gradients. Fails when the model is not known, does not fit, takes other inputs, or the device is not
/// simulated.
pub fn service_times(configuration: &Configuration, models: &ModelLibrary) -> Result<ServiceTimes, Refusal> {
    configuration.check()?;
    if configuration.options.device_type == DeviceType::Cpu {
        return Err(refuse!(
            "device_type cpu: a processor is measured and has no simulated times; MLPerf scenarios and timelines of a run need device_type neuron"
        ));
    }
    if let ModelRef::Fixed(model) = models.resolve(&configuration.model)? {
        let times = on_shared_path(model.service_times(configuration.pipeline_size), configuration);
        let times = with_host_work(times, configuration, None)?;
        return Ok(ServiceTimes { warmup: model.warmup.unwrap_or_else(|| times.unloaded()), ..times });
    }
    let device = Device::new(&configuration.instance_type, configuration.compile_options())?.with_models(models);
    check_inputs(configuration, models)?;
    simulated_times(&device, configuration)
}

/// The times of a system on an Inf1 instance, whose copies share one path to the devices: the part of a call in which its inputs
/// move is on that path. The given times were measured with one copy, so they contain it: host work first, then device time. A
/// system that names its `transfer_ms` says itself what is shared.
fn on_shared_path(times: ServiceTimes, configuration: &Configuration) -> ServiceTimes {
    let is_inf1 = instance(&configuration.instance_type).is_some_and(|size| size.core_version == 1);
    let Some(inputs) = configuration.inputs.as_ref().filter(|_| is_inf1 && times.transfer == SimTime::ZERO) else {
        return times;
    };
    let path = at_rate(inputs.bytes(IO_ELEMENT_BYTES), INF1_PATH_BYTES_PER_US);
    let host = times.host.min(path);
    let mut device = times.device.clone();
    let transfer = match device.first_mut() {
        Some(first) => {
            let transfer = (*first).min(path - host);
            *first = *first - transfer;
            transfer
        }
        None => SimTime::ZERO,
    };
    ServiceTimes { call: times.call + (times.host - host), host, transfer, device, ..times }
}

/// Stage times of a configuration on a device: its model compiled for its workflow and simulated once, with the host around
/// it. Of a training step that adds up several micro-batches, a call is the mean of them: all but the last end with the
/// backward pass, and the last with the reduction and the update.
fn simulated_times(device: &Device, configuration: &Configuration) -> Result<ServiceTimes, Refusal> {
    let mut times = times_of_call(device, configuration, &configuration.model)?;
    let Some((spec, call)) = training_call(configuration, &device.models)? else { return Ok(times) };
    let reduction = reduction(&spec, configuration)?;
    if let Some(last) = times.device.last_mut() {
        *last += reduction;
    }
    times.warmup += reduction;
    if call.micro_batches() == 1 {
        return Ok(times);
    }
    let micro_batch = spec.with_training(Some(TrainingCall::MicroBatch)).to_string();
    let before = times_of_call(device, configuration, &micro_batch)?;
    Ok(times.averaged(&before, call.micro_batches()))
}

/// Stage times of one call of a model.
fn times_of_call(device: &Device, configuration: &Configuration, model: &str) -> Result<ServiceTimes, Refusal> {
    let workflow = configuration.options.workflow;
    let compiled = device.compilation(model, Some(configuration.batch_size), workflow)?;
    let step = device.step(&compiled, workflow)?;
    let times = stage_times(&compiled.executable, &device.costs, &step, configuration)?;
    Ok(ServiceTimes { removed: compiled.removed(), estimated_ops: compiled.estimated_ops, ..times })
}

/// The model of a configuration and what its call does in training; `None` for an inference.
fn training_call(
    configuration: &Configuration,
    models: &ModelLibrary,
) -> Result<Option<(ModelSpec, TrainingCall)>, Refusal> {
    let ModelRef::Zoo(spec) = models.resolve(&configuration.model)? else { return Ok(None) };
    Ok(spec.training().map(|call| (spec, call)))
}

/// The time in which data parallel copies of a training step add up their gradients, after the backward pass; zero for one
/// copy, and for a micro-batch that has no update.
fn reduction(spec: &ModelSpec, configuration: &Configuration) -> Result<SimTime, Refusal> {
    if spec.training() == Some(TrainingCall::MicroBatch) || configuration.n_models == 1 {
        return Ok(SimTime::ZERO);
    }
    let Some(step) = spec.step(u64::from(configuration.batch_size))? else { return Ok(SimTime::ZERO) };
    let bytes = step.gradient_elements().saturating_mul(IO_ELEMENT_BYTES);
    Ok(all_reduce(bytes, u64::from(configuration.n_models)))
}

/// Checks that the given inputs are those that the model takes. An error names the inputs that the model takes.
pub(crate) fn check_inputs(configuration: &Configuration, models: &ModelLibrary) -> Result<(), Refusal> {
    check_steps(configuration, models)?;
    let Some(given) = &configuration.inputs else { return Ok(()) };
    let shapes = models.input_shapes(&configuration.model, u64::from(configuration.batch_size))?;
    given.mismatch(&model_label(&configuration.model), configuration.batch_size, &shapes).map_or(Ok(()), Err)
}

/// Checks that the model has every input that the work before the call names. The result of the work is known only after it has run.
fn check_steps(configuration: &Configuration, models: &ModelLibrary) -> Result<(), Refusal> {
    let (step, named) = (&configuration.options.preprocess, configuration.options.preprocess.tensors());
    // A record of a dataset is one tuple, which `lambda x: x[0]` takes apart.
    if named == 0 || (named == 1 && configuration.options.dataset.is_some()) {
        return Ok(());
    }
    let has = models.input_shapes(&configuration.model, u64::from(configuration.batch_size))?.len();
    if named == has {
        return Ok(());
    }
    let model = model_label(&configuration.model).into_owned();
    if named > has {
        return Err(refuse!(
            "preprocess: '{step}' names {named} inputs, {model} has {has}; its inputs are x, y, z in their order"
        ));
    }
    let names = Expression::names(has).join(", ");
    Err(refuse!(
        "preprocess: '{step}' takes {named} of the {has} inputs of {model}, which Python would refuse with a TypeError; name all of them, as in 'lambda {names}: ({names})'"
    ))
}

/// Adds the user's work around the call. `bytes` are those of the inputs and the outputs, where they are known.
fn with_host_work(
    times: ServiceTimes,
    configuration: &Configuration,
    bytes: Option<(u64, u64)>,
) -> Result<ServiceTimes, Refusal> {
    let options = &configuration.options;
    let cost = |field: &'static str, step: &HostStep, bytes: Option<u64>| {
        step.time(bytes).ok_or_else(|| {
            refuse!("{field}: the size of the data of {} is not known; give a time such as 0.25ms", configuration.model)
        })
    };
    let ms = |ms: f64| SimTime::from_ns_f64(ms * 1e6);
    Ok(ServiceTimes {
        preprocess: cost("preprocess", &options.preprocess, bytes.map(|b| b.0))?,
        postprocess: cost("postprocess", &options.postprocess, bytes.map(|b| b.1))?,
        env_setup: ms(options.env_setup_ms),
        setup: ms(options.setup_ms),
        ..times
    })
}
