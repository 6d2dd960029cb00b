//! From a model's text to what runs on a simulated core: trace, lower, optimise, generate code.

use std::rc::Rc;

use super::configuration::Configuration;
use super::fixed::FixedModel;
use super::host_step::HostStep;
use super::options::{DeviceType, SdkGeneration};
use super::service::ServiceTimes;
use crate::base::{SimTime, nearest_text};
use crate::compiler::hlo::{HloModule, Opcode};
use crate::compiler::passes::{PassLog, PassManager};
use crate::compiler::{CompileOptions, Workflow, codegen, lower};
use crate::machine::Executable;
use crate::machine::arch::{INSTANCES, Instance, features, instance};
use crate::machine::cost::CostTable;
use crate::model::zoo::ModelSpec;
use crate::neuron::runtime::{InferenceCosts, inference_costs};
use crate::neuron::sim::{NoObserver, simulate};
use crate::tensor::Rounding;

/// A simulated device: the NeuronCores of an instance.
#[derive(Clone, Debug)]
pub struct Device {
    /// What its instructions cost.
    pub costs: Rc<CostTable>,
    /// How models are compiled for it.
    pub options: CompileOptions,
}

/// What compiling a model gave.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// What runs.
    pub executable: Rc<Executable>,
    /// What each pass did.
    pub passes: PassLog,
    /// Matrix products of the program before the passes.
    pub products_before: u64,
    /// Matrix products that the passes left.
    pub products_after: u64,
    /// Ops that the host records of a call where nothing is traced ahead.
    pub recorded_ops: u64,
}

impl Device {
    /// The NeuronCores of an instance, with the defaults of the compiler.
    ///
    /// # Errors
    /// When the simulator has no costs for its generation.
    pub fn of_instance(name: &str) -> Result<Self, String> {
        Self::new(name, CompileOptions::default())
    }

    /// The NeuronCores of an instance and how models are compiled for them.
    ///
    /// # Errors
    /// When the simulator has no costs for its generation, or its cores have not what the options ask for.
    pub fn new(name: &str, options: CompileOptions) -> Result<Self, String> {
        let Some(instance) = instance(name.trim()) else {
            let nearest = nearest_text(name, INSTANCES.iter().map(|i| i.name));
            return Err(format!("unknown instance type '{name}': the nearest are {nearest}"));
        };
        options.check(instance, Rounding::Rne).map_err(|e| e.to_string())?;
        let mut costs = CostTable::of_instance(instance).map_err(|e| format!("{}: {e}", instance.name))?;
        if options.value_format().bytes() <= 2 {
            costs = costs.with_16_bit_values();
        }
        let lnc = options.lnc.or_else(|| features(instance.core_version).map(|f| f.default_lnc)).unwrap_or(1);
        if lnc > 1 {
            costs = costs.logical(lnc);
        }
        Ok(Self { costs: Rc::new(costs), options })
    }

    /// Compiles a model for one core, for a batch size or the model's own default.
    ///
    /// # Errors
    /// With the first stage that refused, naming the model.
    pub fn compile(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<Rc<Executable>, String> {
        Ok(self.compilation(model, batch_size, workflow)?.executable)
    }

    /// As [`Self::compile`], with what the passes did.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compilation(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<Compilation, String> {
        let named = |e: &dyn std::fmt::Display| format!("{model}: {e}");
        let spec: ModelSpec = model.parse().map_err(|e: crate::model::zoo::SpecError| e.to_string())?;
        let batch_size = batch_size.map_or(spec.info().default_batch_size, u64::from);
        let graph = spec.trace(batch_size).map_err(|e| named(&e))?;
        let recorded_ops = graph.recorded_ops();
        let module = lower(&graph, workflow).map_err(|e| named(&e))?;
        let products_before = products_of(&module);
        let (module, passes) = PassManager::of_level(self.options.opt_level).run(module).map_err(|e| named(&e))?;
        let executable = codegen::generate_with(&module, &self.costs, &self.options).map_err(|e| named(&e))?;
        let products_after = products_of(&module);
        Ok(Compilation { executable: Rc::new(executable), passes, products_before, products_after, recorded_ops })
    }

    /// Stage times of a configuration on this device: its model compiled for its workflow and simulated once, with the host
    /// around it.
    ///
    /// # Errors
    /// When the model can not be compiled for one core.
    pub fn service_times(&self, configuration: &Configuration) -> Result<ServiceTimes, String> {
        let workflow = configuration.options.workflow;
        let compiled = self.compilation(&configuration.model, Some(configuration.batch_size), workflow)?;
        let outcome = simulate(&compiled.executable, &self.costs, &mut NoObserver).map_err(|e| e.to_string())?;
        let around = compiled.around(&self.costs, outcome.window, workflow);
        stage_times(&compiled.executable, &self.costs, around, configuration)
    }
}

impl Compilation {
    /// The runtime around an execution that takes `window` on a core.
    #[must_use]
    pub fn around(&self, costs: &CostTable, window: SimTime, workflow: Workflow) -> InferenceCosts {
        let traced = inference_costs(&self.executable, costs, window);
        match workflow {
            Workflow::Trace => traced,
            Workflow::MarkStep => traced.marked(costs, self.recorded_ops),
        }
    }

    /// The part of a call's host work in which its ops are recorded, from 0 to 1.
    #[must_use]
    pub fn recording_share(&self, costs: &CostTable, workflow: Workflow) -> f64 {
        let around = self.around(costs, SimTime::ZERO, workflow);
        let traced = self.around(costs, SimTime::ZERO, Workflow::Trace);
        (around.call - traced.call).to_secs_f64() / around.call.to_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Matrix products of a program, those inside fusions too.
fn products_of(module: &HloModule) -> u64 {
    let count = |opcode: &Opcode| match opcode {
        Opcode::Dot(_) => 1,
        Opcode::Fusion(body) => body.members.iter().filter(|m| matches!(m.opcode, Opcode::Dot(_))).count() as u64,
        _ => 0,
    };
    module.instructions.iter().map(|i| count(&i.opcode)).sum()
}

/// Stage times of a configuration whose compiled model has these costs, with the host around it.
///
/// # Errors
/// When the person's own work has no time.
pub fn stage_times(
    executable: &Executable,
    costs: &CostTable,
    around: InferenceCosts,
    configuration: &Configuration,
) -> Result<ServiceTimes, String> {
    let generation = match configuration.options.sdk_generation {
        SdkGeneration::Pt1 => costs.runtime.torch_1_permille,
        SdkGeneration::Pt2 => 1_000,
    };
    let times = ServiceTimes {
        load: around.load,
        load_beside: around.load_beside,
        warmup: around.warmup,
        // Inputs and outputs move while the core works on another request: with one worker that is added to each
        // call, with two it is hidden, as the published rows of NeuronCore-v2 show. Threads copy side by side; only the
        // link of a device is shared, by the copies on it.
        call: around.call,
        link: around.transfer,
        device: vec![around.device],
        ..ServiceTimes::default()
    };
    // A compiled pipeline would know its own stages.
    let stages = configuration.pipeline_size;
    let times = if stages > 1 { times.with_even_pipeline(stages) } else { times };
    let times = times.with_slower_inferences(generation);
    let memory = &executable.memory;
    let times = with_host_work(times, configuration, Some((memory.input_bytes, memory.output_bytes)))?;
    // What is known is how much longer the first inference takes than the others.
    Ok(ServiceTimes { warmup: times.warmup + times.unloaded(), ..times })
}

/// Stage times of a configuration, whatever its model: a system given by its times, or a model of the zoo compiled and
/// simulated. Copies and workers do not change them.
///
/// # Errors
/// When the model is not known, does not fit, takes other inputs, or the device is not simulated.
pub fn service_times(configuration: &Configuration) -> Result<ServiceTimes, String> {
    configuration.check().map_err(|e| e.to_string())?;
    if configuration.options.device_type == DeviceType::Cpu {
        return Err("device_type cpu: a processor is measured and has no simulated times; MLPerf scenarios and timelines of a run need device_type neuron".to_owned());
    }
    if FixedModel::is_meant(&configuration.model) {
        let model: FixedModel = configuration.model.parse().map_err(|e: super::fixed::FixedError| e.to_string())?;
        let times = with_host_work(model.service_times(configuration.pipeline_size), configuration, None)?;
        return Ok(ServiceTimes { warmup: model.warmup.unwrap_or_else(|| times.unloaded()), ..times });
    }
    let device = Device::new(&configuration.instance_type, configuration.compile_options())?;
    check_inputs(configuration)?;
    device.service_times(configuration)
}

/// Whether the inputs that were given are those that the model takes.
///
/// # Errors
/// With what it takes.
pub(super) fn check_inputs(configuration: &Configuration) -> Result<(), String> {
    check_steps(configuration)?;
    let Some(given) = &configuration.inputs else { return Ok(()) };
    let spec: ModelSpec = configuration.model.parse().map_err(|e: crate::model::zoo::SpecError| e.to_string())?;
    let expected = spec.inputs(u64::from(configuration.batch_size)).map_err(|e| e.to_string())?;
    let shapes: Vec<Vec<u64>> = expected.iter().map(|i| i.shape.dims.to_vec()).collect();
    given.mismatch(&configuration.model, configuration.batch_size, &shapes).map_or(Ok(()), Err)
}

/// Whether the model has every input that the work before the call names. What it gives is known when it has run.
fn check_steps(configuration: &Configuration) -> Result<(), String> {
    let (step, named) = (&configuration.options.preprocess, configuration.options.preprocess.tensors());
    if named <= 1 {
        return Ok(());
    }
    let spec: ModelSpec = configuration.model.parse().map_err(|e: crate::model::zoo::SpecError| e.to_string())?;
    let has = spec.inputs(u64::from(configuration.batch_size)).map_err(|e| e.to_string())?.len();
    if named <= has {
        return Ok(());
    }
    Err(format!(
        "preprocess: '{step}' names {named} inputs, {} has {has}; its inputs are x, y, z in their order",
        configuration.model
    ))
}

/// Adds the person's own work around the call. `bytes` are those of the inputs and the outputs, where they are known.
fn with_host_work(
    times: ServiceTimes,
    configuration: &Configuration,
    bytes: Option<(u64, u64)>,
) -> Result<ServiceTimes, String> {
    let options = &configuration.options;
    let cost = |field: &str, step: &HostStep, bytes: Option<u64>| {
        step.time(bytes).ok_or_else(|| {
            format!("{field}: the size of the data of {} is not known; give a time such as 0.25ms", configuration.model)
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

/// Whether the simulator has costs for the instance's NeuronCores.
#[must_use]
pub fn is_simulated(instance: &Instance) -> bool {
    CostTable::of_instance(instance).is_ok()
}
