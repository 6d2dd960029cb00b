//! The numbers that no document gives; they are fitted to published throughput.

/// Fitted numbers. The same numbers hold for every simulation: none is specific to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Host time of one inference call, nanoseconds.
    pub host_call_ns: u64,
    /// Effective rate at which a call copies its inputs to the device and its outputs back, bytes per microsecond.
    pub host_copy_bytes_per_us: u64,
    /// How much longer a call takes with PyTorch 1 and its compiler and runtime than with PyTorch 2, thousandths.
    pub torch_1_permille: u32,
}

/// The result of `neuronscope validate --calibrate` for the published rows in
/// `src/fidelity/published.csv`.
pub const FITTED: Calibration =
    Calibration { host_call_ns: 160_000, host_copy_bytes_per_us: 4_300, torch_1_permille: 1_113 };
