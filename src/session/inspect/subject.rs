//! A model to inspect: its program before any pass, its origin, and its target.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::spec::{InspectField, InspectSpec};
use ns_compiler::hlo::HloModule;
use ns_compiler::passes::{PassLog, PassManager};
use ns_compiler::{FromProgramError, Placed, Workflow, codegen, from_program, lower, outline};
use ns_device::{Device, LibraryError, ModelFileRef, ModelLibrary, ModelRef};
use ns_import::Inspection;
use ns_machine::Executable;

/// The default instance.
pub(super) const DEFAULT_INSTANCE: &str = "trn1.2xlarge";

/// A model on a device.
pub(super) struct Subject {
    /// Its name: `bert-base-uncased, batch 1`.
    pub title: String,
    pub device: Device,
    /// Its program before any pass.
    pub module: HloModule,
    /// Facts from its file; `None` for a model of the zoo.
    pub inspection: Option<Inspection>,
    /// Operators that are placed by an estimate, with how often and the first place each.
    pub estimates: BTreeMap<String, (u64, String)>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// Why it cannot be compiled, if that is already known.
    refusal: Option<Refusal>,
}

/// Why a model cannot run on a core.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Refusal {
    /// One sentence with the first thing that was refused.
    pub reason: String,
    /// Instructions that are refused, with the reason of each.
    pub named: BTreeMap<String, String>,
    /// The path of the operation that is refused, as in source maps.
    pub path: Option<String>,
}

/// The compiled program.
pub(super) struct Compiled {
    pub executable: Rc<Executable>,
    pub passes: PassLog,
}

impl Subject {
    /// The model of a specification.
    ///
    /// # Errors
    /// One sentence with the first thing that was refused, and what to do.
    pub fn of(spec: &InspectSpec, models: &ModelLibrary) -> Result<Self, String> {
        let instance = spec.get(InspectField::Instance).trim();
        let device = Device::of_instance(if instance.is_empty() { DEFAULT_INSTANCE } else { instance })?;
        let batch = match spec.get(InspectField::Batch).trim() {
            "" => None,
            text => Some(
                text.parse::<u64>().map_err(|_| format!("batch {text}: the batch size is a whole number from 1"))?,
            ),
        };
        let model = spec.get(InspectField::Model).trim();
        let model = match models.resolve(model)? {
            ModelRef::Zoo(spec) => spec,
            ModelRef::File(file) => return Self::of_file(&file, batch, device, models),
            ModelRef::Fixed(_) => return Err(LibraryError::NoProgram.into()),
        };
        let batch = batch.unwrap_or(model.info().default_batch_size);
        let named = |e: &dyn std::fmt::Display| format!("{model}: {e}");
        let graph = model.trace(batch).map_err(|e| named(&e))?;
        let module = lower(&graph, Workflow::Trace).map_err(|e| named(&e))?;
        let (estimates, notes) = (BTreeMap::new(), Vec::new());
        let title = format!("{model}, batch {batch}");
        Ok(Self { title, device, module, inspection: None, estimates, notes, refusal: None })
    }

    fn of_file(spec: &ModelFileRef, batch: Option<u64>, device: Device, models: &ModelLibrary) -> Result<Self, String> {
        let found = models.instantiate(spec, batch)?;
        let (program, assumed) = (&found.imported.program, &spec.settings.assumed);
        let mut refusal = None;
        let placed = from_program(program, Workflow::Trace, assumed).or_else(|error| {
            // Its graph can be shown, with the reason at each refused operation.
            let outlined = outline(program, Workflow::Trace, assumed).map_err(|_| error.clone())?;
            refusal = Some(Refusal { reason: error.to_string(), named: outlined.refused, path: None });
            Ok(outlined.placed)
        });
        let Placed { module, estimates, notes } =
            placed.map_err(|e: FromProgramError| format!("{}: {e}", spec.label()))?;
        let inspection = found.imported.inspection;
        let notes = inspection.notes.iter().cloned().chain(notes).collect();
        Ok(Self { title: spec.label(), device, module, inspection: Some(inspection), estimates, notes, refusal })
    }

    /// Compiles it for one core.
    ///
    /// # Errors
    /// When it cannot run on a core; names the operation.
    pub fn compile(&self) -> Result<Compiled, Refusal> {
        if let Some(refusal) = &self.refusal {
            return Err(refusal.clone());
        }
        let of = |reason: String, path| Refusal { reason, named: BTreeMap::new(), path };
        let passes = PassManager::of_level(self.device.options.opt_level);
        let (module, passes) = passes.run(self.module.clone()).map_err(|e| of(e.to_string(), None))?;
        let executable = codegen::generate_with(&module, &self.device.costs, &self.device.options);
        let executable = executable.map_err(|e| of(e.to_string(), e.path().map(str::to_owned)))?;
        Ok(Compiled { executable: Rc::new(executable), passes })
    }
}
