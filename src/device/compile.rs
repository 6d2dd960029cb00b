//! From a model's text to a program for a simulated core: trace or read, lower, optimise, generate code.

use std::rc::Rc;

use super::error::{DeviceError, StageError};
use super::library::{ModelLibrary, model_label};
use super::lowered::{EstimatedOp, Lowered};
use super::removed::RemovedProducts;
use ns_base::{SimTime, nearest_text};
use ns_compiler::hlo::text::print;
use ns_compiler::hlo::{HloModule, Opcode};
use ns_compiler::passes::{PassLog, PassManager};
use ns_compiler::{CompileOptions, Workflow, codegen};
use ns_machine::Executable;
use ns_machine::arch::{INSTANCES, Instance, features, instance};
use ns_machine::cost::CostTable;
use ns_neuron::runtime::{InferenceCosts, inference_costs};
use ns_tensor::Rounding;

/// A simulated device: the NeuronCores of an instance.
#[derive(Clone, Debug)]
pub struct Device {
    /// The costs of its instructions.
    pub costs: Rc<CostTable>,
    /// How models are compiled for it.
    pub options: CompileOptions,
    /// Open model files, in addition to those of the zoo.
    pub models: ModelLibrary,
}

/// The result of compiling a model.
#[derive(Clone, Debug)]
pub struct Compilation {
    /// The compiled program.
    pub executable: Rc<Executable>,
    /// The log of the compiler's passes.
    pub passes: PassLog,
    /// Matrix products and convolutions of the program before the passes.
    pub products_before: u64,
    /// Matrix products and convolutions that remain after the passes.
    pub products_after: u64,
    /// Ops that the host records for a call when nothing is traced ahead.
    pub recorded_ops: u64,
    /// Operations of the model's products and convolutions as written ([`ns_model::Graph::flops`]).
    pub model_flops: u64,
    /// Operators of a model file that are placed by an estimate; none in models of the zoo.
    pub estimated_ops: Vec<EstimatedOp>,
    /// Notes on a model file for the user.
    pub notes: Vec<String>,
}

impl Device {
    /// The NeuronCores of an instance, with the defaults of the compiler.
    ///
    /// # Errors
    /// When the simulator has no costs for their generation.
    pub fn of_instance(name: &str) -> Result<Self, DeviceError> {
        Self::new(name, CompileOptions::default())
    }

    /// The NeuronCores of an instance, with options for the compiler.
    ///
    /// # Errors
    /// When the simulator has no costs for their generation, or the cores do not support the options.
    pub fn new(name: &str, options: CompileOptions) -> Result<Self, DeviceError> {
        let Some(instance) = instance(name.trim()) else {
            let nearest = nearest_text(name, INSTANCES.iter().map(|i| i.name));
            return Err(DeviceError::UnknownInstance { name: name.to_owned(), nearest });
        };
        options.check(instance, Rounding::Rne)?;
        let mut costs = CostTable::of_instance(instance)
            .map_err(|error| DeviceError::NotSimulated { instance: instance.name, error })?;
        if options.value_format().bytes() <= 2 {
            costs = costs.with_16_bit_values();
        }
        let lnc = options.lnc.or_else(|| features(instance.core_version).map(|f| f.default_lnc)).unwrap_or(1);
        if lnc > 1 {
            costs = costs.logical(lnc);
        }
        Ok(Self { costs: Rc::new(costs), options, models: ModelLibrary::default() })
    }

    /// The same device with open model files.
    #[must_use]
    pub fn with_models(self, models: &ModelLibrary) -> Self {
        Self { models: models.clone(), ..self }
    }

    /// Compiles a model for one core, for a batch size or the model's own default.
    ///
    /// # Errors
    /// The error of the first stage that refused; it names the model.
    pub fn compile(
        &self,
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
    ) -> Result<Rc<Executable>, DeviceError> {
        Ok(self.compilation(model, batch_size, workflow)?.executable)
    }

    /// As [`Self::compile`], with the log of the passes.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn compilation(
        &self,
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
    ) -> Result<Compilation, DeviceError> {
        let named = |e: StageError| e.of(&model_label(model));
        let Lowered { module, model_flops, recorded_ops, estimated_ops, notes } =
            Lowered::of(model, batch_size, workflow, &self.models)?;
        let products_before = products_of(&module);
        let (module, passes) =
            PassManager::of_level(self.options.opt_level).run(module).map_err(|e| named(e.into()))?;
        let executable = codegen::generate_with(&module, &self.costs, &self.options).map_err(|e| named(e.into()))?;
        let products_after = products_of(&module);
        Ok(Compilation {
            executable: Rc::new(executable),
            passes,
            products_before,
            products_after,
            recorded_ops,
            model_flops,
            estimated_ops,
            notes,
        })
    }

    /// The program of a model as text, before and after the passes.
    ///
    /// # Errors
    /// As [`Self::compile`].
    pub fn programs(
        &self,
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
    ) -> Result<[String; 2], DeviceError> {
        let Lowered { module, .. } = Lowered::of(model, batch_size, workflow, &self.models)?;
        let before = print(&module);
        let passes = PassManager::of_level(self.options.opt_level);
        let (module, _) = passes.run(module).map_err(|e| StageError::from(e).of(&model_label(model)))?;
        Ok([before, print(&module)])
    }
}

impl Compilation {
    /// The products that the passes removed; `None` when all remain.
    #[must_use]
    pub const fn removed(&self) -> Option<RemovedProducts> {
        RemovedProducts::of(self.products_before, self.products_after)
    }

    /// The runtime around an execution that takes `window` on a core.
    #[must_use]
    pub fn around(&self, costs: &CostTable, window: SimTime, workflow: Workflow) -> InferenceCosts {
        let traced = inference_costs(&self.executable, costs, window);
        match workflow {
            Workflow::Trace => traced,
            Workflow::MarkStep => traced.marked(costs, self.recorded_ops),
        }
    }

    /// The share of a call's host work that records its ops, from 0 to 1.
    #[must_use]
    pub fn recording_share(&self, costs: &CostTable, workflow: Workflow) -> f64 {
        let around = self.around(costs, SimTime::ZERO, workflow);
        let traced = self.around(costs, SimTime::ZERO, Workflow::Trace);
        (around.call - traced.call).to_secs_f64() / around.call.to_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Matrix products and convolutions of a program, those inside fusions too.
pub(super) fn products_of(module: &HloModule) -> u64 {
    let is_product = |opcode: &Opcode| matches!(opcode, Opcode::Dot(_) | Opcode::Convolution { .. });
    let count = |opcode: &Opcode| match opcode {
        Opcode::Fusion(body) => body.members.iter().filter(|m| is_product(&m.opcode)).count() as u64,
        opcode => u64::from(is_product(opcode)),
    };
    module.instructions.iter().map(|i| count(&i.opcode)).sum()
}

/// Whether the simulator has costs for the instance's NeuronCores.
#[must_use]
pub fn is_simulated(instance: &Instance) -> bool {
    CostTable::of_instance(instance).is_ok()
}
