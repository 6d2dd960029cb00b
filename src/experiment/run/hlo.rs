//! The HLO of an experiment: what its backend compiles.

use super::error::RunError;
use super::experiment::Experiment;
use super::network::Network;
use crate::compiler::hlo::print;
use crate::compiler::{Workflow, lower, passes};
use crate::experiment::plan::Dynamo;
use crate::model::ModelSpec;

impl Experiment<'_> {
    /// The module as text: as lowered for eager runs, with fused loops for the others, and for a simulated core with the
    /// transfers of its workflow.
    ///
    /// # Errors
    /// When the model can not be built or compiled.
    pub fn hlo(&self) -> Result<String, RunError> {
        if self.config.accelerator.instance().is_none() {
            let fused = self.config.dynamo.is_some() || self.config.xla.is_some();
            return Ok(print(&*Network::new(self.model, self.batch_size, self.seed)?.compile(fused)?));
        }
        let named =
            |e: &dyn std::fmt::Display| RunError::Model { model: self.model.name.clone(), reason: e.to_string() };
        let traced = self.config.dynamo == Some(Dynamo::Openxla);
        let workflow = if traced { Workflow::Trace } else { Workflow::MarkStep };
        let spec: ModelSpec = self.model.specification.parse().map_err(|e: crate::model::SpecError| named(&e))?;
        let graph = spec.trace(u64::from(self.batch()?)).map_err(|e| named(&e))?;
        let (module, _) = passes::optimize(lower(&graph, workflow).map_err(|e| named(&e))?).map_err(|e| named(&e))?;
        Ok(print(&module))
    }
}
