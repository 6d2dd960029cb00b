//! The numbers that no document gives; they are fitted to published throughput.

/// Fitted numbers. The same numbers hold for every simulation: none is specific to a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Calibration {
    /// Rate at which the DMA engines of a core stream weights, bytes per microsecond (272,000 are published).
    pub weight_stream_bytes_per_us: u64,
    /// Times of Inferentia2's engines relative to Trainium's, in thousandths.
    pub inf2_engine_permille: u32,
    /// Host time of one inference call, nanoseconds.
    pub host_call_ns: u64,
    /// Effective rate of inputs and outputs between host and device, bytes per microsecond.
    pub host_io_bytes_per_us: u64,
    /// How much longer a call takes with PyTorch 1 and its compiler and runtime than with PyTorch 2, thousandths.
    pub torch_1_permille: u32,
}

/// The result of `neuronscope validate --calibrate` for the published rows in
/// `src/fidelity/published.csv`.
pub const FITTED: Calibration = Calibration {
    weight_stream_bytes_per_us: 246_000,
    inf2_engine_permille: 1_205,
    host_call_ns: 120_000,
    host_io_bytes_per_us: 3_400,
    torch_1_permille: 1_096,
};
