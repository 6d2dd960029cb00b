//! A model's program before any pass, from the zoo or from a file.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error::{DeviceError, StageError};
use super::library::{LibraryError, ModelFileRef, ModelLibrary, ModelRef};
use ns_compiler::hlo::HloModule;
use ns_compiler::{Placed, Workflow, from_program, lower};

/// A model's program before any pass.
pub(super) struct Lowered {
    pub module: HloModule,
    /// Operations of the model's products and convolutions as written.
    pub model_flops: u64,
    /// Ops that the host records for a call when nothing is traced ahead.
    pub recorded_ops: u64,
    /// Operators that are placed by an estimate.
    pub estimated_ops: Vec<EstimatedOp>,
    /// Notes for the user.
    pub notes: Vec<String>,
}

/// An operator of a model file whose time is an estimate, because it has no rule of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimatedOp {
    /// Its name in the file's format.
    pub op: String,
    /// How often it occurs.
    pub count: u64,
    /// The name of its first node.
    pub first: String,
}

impl fmt::Display for EstimatedOp {
    /// `aten.foo (3 times, first at foo_1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let times = if self.count == 1 { "once, at".to_owned() } else { format!("{} times, first at", self.count) };
        write!(f, "{} ({times} {})", self.op, self.first)
    }
}

impl Lowered {
    /// The program of a model for a batch size, or the model's own.
    ///
    /// # Errors
    /// When the model is not known, does not have that batch size, or cannot be placed on a core.
    pub fn of(
        model: &str,
        batch_size: Option<u32>,
        workflow: Workflow,
        models: &ModelLibrary,
    ) -> Result<Self, DeviceError> {
        let spec = match models.resolve(model)? {
            ModelRef::Zoo(spec) => spec,
            ModelRef::File(file) => return Self::of_file(&file, batch_size, workflow, models),
            ModelRef::Fixed(_) => return Err(LibraryError::NoProgram.into()),
        };
        let named = |e: StageError| e.of(model);
        let batch_size = batch_size.map_or(spec.info().default_batch_size, u64::from);
        let graph = spec.trace(batch_size).map_err(|e| named(e.into()))?;
        let module = lower(&graph, workflow).map_err(|e| named(e.into()))?;
        let (estimated_ops, notes) = (Vec::new(), Vec::new());
        Ok(Self { module, model_flops: graph.flops(), recorded_ops: graph.recorded_ops(), estimated_ops, notes })
    }

    fn of_file(
        spec: &ModelFileRef,
        batch_size: Option<u32>,
        workflow: Workflow,
        models: &ModelLibrary,
    ) -> Result<Self, DeviceError> {
        let found = models.instantiate(spec, batch_size.map(u64::from))?;
        let placed = from_program(&found.imported.program, workflow, &spec.settings.assumed);
        let Placed { module, estimates, notes } = placed.map_err(|e| StageError::from(e).of(&spec.label()))?;
        let inspection = found.imported.inspection;
        let estimated = estimates.into_iter().map(|(op, (count, first))| EstimatedOp { op, count, first });
        Ok(Self {
            module,
            model_flops: inspection.flops,
            // Each operator of the file counts as one that its framework would record.
            recorded_ops: inspection.ops.values().sum(),
            estimated_ops: estimated.collect(),
            notes,
        })
    }
}
