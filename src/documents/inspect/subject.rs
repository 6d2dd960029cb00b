//! A model to inspect: its program before any pass, its origin, and its target.

use std::collections::BTreeMap;
use std::rc::Rc;

use ns_compiler::hlo::HloModule;
use ns_compiler::passes::PassLog;
use ns_compiler::{GuessedCost, LoweredProgram, Pipeline, StageError, Workflow};
use ns_device::{Device, EstimateMark, FixedModel, ModelLibrary, ModelRef};
use ns_forms::{InspectField, InspectSpec};
use ns_machine::Executable;

pub(super) const DEFAULT_INSTANCE: &str = "trn1.2xlarge";

/// A model on a device.
pub(super) struct Subject {
    /// Its name: `bert-base-uncased, batch 1`.
    pub title: String,
    pub device: Device,
    /// The EC2 size that the device stands in.
    pub instance: String,
    /// Its program before any pass.
    pub module: Rc<HloModule>,
    pub pipeline: Pipeline,
    /// Operators that are placed by an estimate.
    pub estimates: BTreeMap<String, GuessedCost>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Why it cannot be compiled, if that is already known.
    refusal: Option<Obstacle>,
}

/// Why a model cannot run on a core.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Obstacle {
    /// One sentence with the first thing that was refused.
    pub reason: String,
    /// Instructions that are refused, with the reason of each.
    pub by_operator: BTreeMap<String, String>,
    /// The path of the operation that is refused, as in source maps.
    pub path: Option<String>,
}

pub(super) struct CompiledProgram {
    pub executable: Rc<Executable>,
    pub passes: PassLog,
}

impl Subject {
    /// The model of a specification. Fails with one sentence with the first thing that was refused, and what to do.
    pub fn of(spec: &InspectSpec, models: &ModelLibrary) -> Result<Self, String> {
        let instance = spec.get(InspectField::Instance).trim();
        let instance = if instance.is_empty() { DEFAULT_INSTANCE } else { instance };
        let device = Device::of_instance(instance)?;
        let batch = match spec.get(InspectField::Batch).trim() {
            "" => None,
            text => Some(
                text.parse::<u64>().map_err(|_| format!("batch {text}: the batch size is a whole number from 1"))?,
            ),
        };
        let device = device.with_models(models);
        let model = models.resolve(spec.get(InspectField::Model).trim())?;
        let (name, title) = match &model {
            ModelRef::Zoo(spec) => {
                (spec.to_string(), format!("{spec}, batch {}", batch.unwrap_or(spec.info().default_batch_size)))
            }
            ModelRef::File(file) => (file.label(), file.label()),
            ModelRef::Fixed(_) => {
                return Err(FixedModel::no_program().into());
            }
        };
        let pipeline = device.pipeline(&model, &name, batch, Workflow::Trace)?;
        let (pipeline, refusal) = match pipeline.lowered() {
            Ok(_) => (pipeline, None),
            // The graph of a file can be shown, with the reason at each refused operation.
            Err(error) => {
                let (outlined, by_operator) = pipeline.outlined().ok_or_else(|| format!("{name}: {error}"))?;
                (outlined, Some(Obstacle { reason: error.to_string(), by_operator, path: None }))
            }
        };
        let LoweredProgram { module, estimates, notes } =
            pipeline.lowered().map_err(|error| format!("{name}: {error}"))?.clone();
        let of_file = pipeline.inspection().map_or(&[][..], |inspection| &inspection.notes);
        let notes = of_file.iter().cloned().chain(notes).collect();
        Ok(Self { title, device, instance: instance.to_owned(), pipeline, module, estimates, notes, refusal })
    }

    /// The mark of its times, if the cost of an operator is a guess.
    pub fn mark(&self) -> Option<EstimateMark> {
        let count = |is_unknown| self.estimates.values().filter(|c| c.is_unknown == is_unknown).map(|c| c.count).sum();
        let mark = EstimateMark { unknown: count(true), estimated: count(false) };
        (mark != EstimateMark::default()).then_some(mark)
    }

    /// Compiles it for one core. Fails when it cannot run on a core; names the operation.
    pub fn compile(&self) -> Result<CompiledProgram, Obstacle> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let refused =
            |error: StageError| Obstacle { reason: error.to_string(), by_operator: BTreeMap::new(), path: error.path };
        let executable = Rc::clone(self.pipeline.executable(&self.device.costs).map_err(refused)?);
        let passes = self.pipeline.optimised().map_err(refused)?.passes.clone();
        Ok(CompiledProgram { executable, passes })
    }
}
