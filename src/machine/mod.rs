//! What the hardware is, as data: devices, instances and their prices, engines, instruction costs, executables.

pub mod arch;
