//! From a model's text to a program for a simulated core, and the time of a call.

use std::rc::Rc;

use super::estimated_op::EstimatedOp;
use super::library::{FixedModel, ModelLibrary, ModelRef, model_label};
use super::removed_products::RemovedProducts;
use ns_base::{Refusal, SimTime, refuse};
use ns_compiler::hlo::text::print;
use ns_compiler::hlo::{HloModule, Opcode};
use ns_compiler::passes::PassLog;
use ns_compiler::{CompileOptions, GuessedCost, Pipeline, StageError, Workflow};
use ns_machine::Executable;
use ns_machine::arch::{Instance, known_instance};
use ns_machine::cost::CostTable;
use ns_neuron::sim::{NoObserver, simulate};
use ns_neuron::step::StepCosts;
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
    /// The NeuronCores of an instance, with the defaults of the compiler. Fails when the simulator has no costs for their
    /// generation.
    pub fn of_instance(name: &str) -> Result<Self, Refusal> {
        Self::new(name, CompileOptions::default())
    }

    /// The NeuronCores of an instance, with options for the compiler. Fails when the simulator has no costs for their generation,
    /// or the cores do not support the options.
    pub fn new(name: &str, options: CompileOptions) -> Result<Self, Refusal> {
        let instance = known_instance(name)?;
        options.check(instance, Rounding::Rne)?;
        let mut costs = CostTable::of_instance(instance).map_err(|error| refuse!("{}: {error}", instance.name))?;
        if options.value_format().bytes() <= 2 {
            costs = costs.with_16_bit_values();
        }
        let lnc = instance.lnc(options.lnc);
        if lnc > 1 {
            costs = costs.logical(lnc);
        }
        Ok(Self { costs: Rc::new(costs), options, models: ModelLibrary::default() })
    }

    /// The same device with open model files.
    pub fn with_models(self, models: &ModelLibrary) -> Self {
        Self { models: models.clone(), ..self }
    }

    /// Compiles a model for one core, for a batch size or the model's own default. Fails with the error of the first stage that
    /// refused; it names the model.
    pub fn compile(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<Rc<Executable>, Refusal> {
        Ok(self.compilation(model, batch_size, workflow)?.executable)
    }

    /// As [`Self::compile`], with the log of the passes. Fails as [`Self::compile`].
    pub fn compilation(
        &self,
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
    ) -> Result<Compilation, Refusal> {
        let pipeline = self.text_pipeline(model, batch_size, workflow)?;
        self.generate(&pipeline).map_err(|e| about(&model_label(model), e))
    }

    /// The stages of a model's compilation, for a batch size or the model's own default. Errors name the model `name`. Fails when
    /// the model does not have that batch size, or its file is not open.
    pub fn pipeline(
        &self,
        model: &ModelRef,
        name: &str,
        batch_size: Option<u64>,
        workflow: Workflow,
    ) -> Result<Pipeline, Refusal> {
        match model {
            ModelRef::Zoo(spec) => {
                let batch_size = batch_size.unwrap_or(spec.info().default_batch_size);
                let graph = spec.trace(batch_size).map_err(|e| about(name, e))?;
                Ok(Pipeline::of_graph(Rc::new(graph), workflow, self.options))
            }
            ModelRef::File(file) => {
                let found = self.models.instantiate(file, batch_size)?;
                Ok(Pipeline::of_file(found.imported, file.settings.assumed.clone(), workflow, self.options))
            }
            ModelRef::Fixed(_) => Err(FixedModel::no_program()),
        }
    }

    fn text_pipeline(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<Pipeline, Refusal> {
        self.pipeline(&self.models.resolve(model)?, &model_label(model), batch_size.map(u64::from), workflow)
    }

    /// The last stage of a pipeline: code for this device, with facts about all stages. Fails with the error of the first stage
    /// that refused; it does not name the model.
    pub fn generate(&self, pipeline: &Pipeline) -> Result<Compilation, Refusal> {
        let executable = Rc::clone(pipeline.executable(&self.costs)?);
        let (lowered, optimised) = (pipeline.lowered()?, pipeline.optimised()?);
        let estimated = |(op, guess): (&String, &GuessedCost)| EstimatedOp {
            op: op.clone(),
            count: guess.count,
            first: guess.first.clone(),
            is_unknown: guess.is_unknown,
        };
        Ok(Compilation {
            executable,
            passes: optimised.passes.clone(),
            products_before: products_of(&lowered.module),
            products_after: products_of(&optimised.module),
            recorded_ops: pipeline.recorded_ops(),
            model_flops: pipeline.model_flops(),
            estimated_ops: lowered.estimates.iter().map(estimated).collect(),
            notes: lowered.notes.clone(),
        })
    }

    /// Simulates a step of a compiled model. Fails when the simulator stops.
    pub fn step(&self, compiled: &Compilation, workflow: Workflow) -> Result<StepCosts, Refusal> {
        let window = simulate(&compiled.executable, &self.costs, &mut NoObserver)?.window;
        Ok(compiled.step(&self.costs, window, workflow))
    }

    /// The program of a model as text, before and after the passes. Fails as [`Self::compile`].
    pub fn programs(&self, model: &str, batch_size: Option<u32>, workflow: Workflow) -> Result<[String; 2], Refusal> {
        let pipeline = self.text_pipeline(model, batch_size, workflow)?;
        let refused = |e: StageError| about(&model_label(model), e.refusal);
        let (lowered, optimised) = (pipeline.lowered().map_err(refused)?, pipeline.optimised().map_err(refused)?);
        Ok([print(&lowered.module), print(&optimised.module)])
    }
}

/// The error of a stage between a model and the core, with the model's name.
fn about(name: &str, error: Refusal) -> Refusal {
    error.within(|what| format!("{name}: {what}"))
}

impl Compilation {
    /// The products that the passes removed; `None` when all remain.
    pub const fn removed(&self) -> Option<RemovedProducts> {
        RemovedProducts::of(self.products_before, self.products_after)
    }

    /// A step whose execution takes `window` on a core.
    pub fn step(&self, costs: &CostTable, window: SimTime, workflow: Workflow) -> StepCosts {
        StepCosts::of(&self.executable, costs, window, workflow, self.recorded_ops)
    }
}

/// Matrix products and convolutions of a program, those inside fusions too.
fn products_of(module: &HloModule) -> u64 {
    let is_product = |opcode: &Opcode| matches!(opcode, Opcode::Dot(_) | Opcode::Convolution { .. });
    let count = |opcode: &Opcode| match opcode {
        Opcode::Fusion(body) => body.members.iter().filter(|m| is_product(&m.opcode)).count() as u64,
        opcode => u64::from(is_product(opcode)),
    };
    module.instructions.iter().map(|i| count(&i.opcode)).sum()
}

/// Whether the simulator has costs for the instance's NeuronCores.
pub fn is_simulated(instance: &Instance) -> bool {
    CostTable::of_instance(instance).is_ok()
}
