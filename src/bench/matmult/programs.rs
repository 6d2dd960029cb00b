//! The program of a case before and after the passes.

use crate::bench::device::Device;

use super::config::MatmultCase;

/// The HLO of a case as text: as written, and as the compiler's passes leave it.
///
/// # Errors
/// When it can not be compiled, or its device is not simulated.
pub fn programs(case: &MatmultCase) -> Result<[String; 2], String> {
    let device = Device::new(&case.instance, case.options)?;
    device.programs(&case.specification(), Some(case.batch_size), case.run.workflow)
}
