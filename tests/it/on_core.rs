//! The time of a model file on a simulated core.

use std::collections::BTreeMap;
use std::rc::Rc;

use neuronscope::base::Refusal;
use neuronscope::base::SimTime;
use neuronscope::compiler::{Pipeline, Workflow};
use neuronscope::device::Device;
use neuronscope::program::ImportedModel;

/// The time of one call on the core, from the first instruction to the last.
pub fn core_time(device: &Device, imported: ImportedModel) -> Result<SimTime, Refusal> {
    let pipeline = Pipeline::of_file(Rc::new(imported), BTreeMap::new(), Workflow::Trace, device.options);
    Ok(device.step(&device.generate(&pipeline)?, Workflow::Trace)?.window)
}
