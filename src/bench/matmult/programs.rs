//! The program of a case before and after the passes.

use crate::device::{Device, DeviceError, ModelLibrary};

use super::config::MatmultCase;

/// The HLO of a case as text: as written, and as the compiler's passes leave it.
///
/// # Errors
/// When it cannot be compiled, or its device is not simulated.
pub fn programs(case: &MatmultCase, models: &ModelLibrary) -> Result<[String; 2], DeviceError> {
    let device = Device::new(&case.instance, case.options)?.with_models(models);
    device.programs(&case.specification(), Some(case.batch_size), case.run.workflow)
}
