//! The numbers that no document gives; they are fitted to published throughput.

use super::entry::{CostStatus, Entry, cost_fields};

cost_fields! {
    /// Fitted numbers. The same numbers hold for every simulation: none is specific to a model.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Calibration in "Fitted numbers" {
        /// Host time of one inference call, nanoseconds.
        host_call_ns: u64, "ns", Fitted, "host time of a call";
        /// Effective rate at which a call copies its inputs to the device and its outputs back, bytes per microsecond.
        host_copy_bytes_per_us: u64, "bytes/us", Fitted,
            "rate of copying inputs and outputs, one thread; for up to 16 MiB 11.55 GB/s to the device and 2.9 back were measured on Trn1";
        /// How much longer a call takes with PyTorch 1 and its compiler and runtime than with PyTorch 2, thousandths.
        torch_1_permille: u32, "thousandths", Fitted,
            "how much longer a call takes with the compiler and runtime of PyTorch 1 (`bench --sdk-generation pt1`)";
    }
}

/// The result of `neuronscope validate --calibrate` for the published rows in
/// `src/fidelity/published.csv`.
pub const FITTED: Calibration =
    Calibration { host_call_ns: 160_000, host_copy_bytes_per_us: 4_300, torch_1_permille: 1_113 };
