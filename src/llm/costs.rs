//! What no simulation of a core tells: collectives, the host around a step, and what was fitted to published rows.

use ns_machine::arch::Instance;
use ns_machine::cost::CollectiveCosts;

/// Numbers that are fitted to published rows of text generation. One value of each serves all models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmCalibration {
    /// Time of an all-reduce of few bytes, nanoseconds, with the start of the operations that wait for it.
    pub all_reduce_ns: u64,
    /// Time of a layer for each further sequence of a batch, nanoseconds: its part of attention that no transfer hides.
    pub sequence_ns: u64,
    /// Host and change of executables around a prompt on Inf2, microseconds.
    pub first_token_inf2_us: u64,
    /// The same on Trn1 and later.
    pub first_token_trn_us: u64,
}

/// The result of `neuronscope validate src/fidelity/decode.csv --calibrate`; a test compares.
pub const FITTED: LlmCalibration = LlmCalibration {
    all_reduce_ns: 37_800,
    sequence_ns: 6_400,
    first_token_inf2_us: 18_000,
    first_token_trn_us: 6_900,
};

/// Bytes of a large all-reduce over its time, bytes per microsecond (measured: `nccom-test` between 64 ranks of two
/// Trn1, 64 MB to 1 GB; of one instance no such run is published since collectives became faster).
pub const ALL_REDUCE_BYTES_PER_US: u64 = 26_800;

/// Bytes that take as long to stream as a weight of int8 with its conversion on the core, tenths: between the one byte that is moved and
/// the two bytes that one engine's conversion takes (chosen with the rows in view).
pub const INT8_STREAM_TENTHS: u64 = 15;

/// Host time of a step, microseconds: a synchronous call, the write of the embedded tokens to every core, and the choice of the
/// next tokens (0.44 ms were measured for the call alone).
pub const HOST_STEP_US: u64 = 500;

/// The same where the device chooses the next token (published for Trn2: about 0.4 ms a call).
pub const HOST_STEP_ON_DEVICE_US: u64 = 400;

impl LlmCalibration {
    /// Costs of collectives.
    #[must_use]
    pub const fn collectives(&self) -> CollectiveCosts {
        CollectiveCosts { latency_ns: self.all_reduce_ns, bytes_per_us: ALL_REDUCE_BYTES_PER_US }
    }

    /// Host and change of executables around a prompt, microseconds.
    #[must_use]
    pub fn first_token_us(&self, instance: &Instance) -> u64 {
        if instance.name.starts_with("inf2") { self.first_token_inf2_us } else { self.first_token_trn_us }
    }
}
