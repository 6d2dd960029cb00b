//! What no simulation of a core tells: collectives, the host around a step, and what was fitted to published rows.

use ns_machine::arch::Instance;
use ns_machine::cost::CollectiveCosts;

/// Numbers that are fitted to published rows of text generation. One value of each serves all models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LlmCalibration {
    /// Time of an all-reduce of few bytes, nanoseconds, with the start of the operations that wait for it.
    pub all_reduce_ns: u64,
    /// Bytes of an all-reduce over its time, bytes per microsecond.
    pub all_reduce_bytes_per_us: u64,
    /// Host and change of executables around a prompt on Inf2, microseconds.
    pub first_token_inf2_us: u64,
    /// The same on Trn1 and later.
    pub first_token_trn_us: u64,
}

/// The result of `neuronscope validate src/fidelity/decode.csv --calibrate`; a test compares.
pub const FITTED: LlmCalibration = LlmCalibration {
    all_reduce_ns: 25_000,
    all_reduce_bytes_per_us: 15_300,
    first_token_inf2_us: 17_600,
    first_token_trn_us: 7_000,
};

/// Host time of a step, microseconds: a synchronous call, the write of the embedded tokens to every core, and the choice of the
/// next tokens (0.44 ms were measured for the call alone).
pub const HOST_STEP_US: u64 = 500;

/// The same where the device chooses the next token (published for Trn2: about 0.4 ms a call).
pub const HOST_STEP_ON_DEVICE_US: u64 = 400;

impl LlmCalibration {
    /// Costs of collectives.
    #[must_use]
    pub const fn collectives(&self) -> CollectiveCosts {
        CollectiveCosts { latency_ns: self.all_reduce_ns, bytes_per_us: self.all_reduce_bytes_per_us }
    }

    /// Host and change of executables around a prompt, microseconds.
    #[must_use]
    pub fn first_token_us(&self, instance: &Instance) -> u64 {
        if instance.name.starts_with("inf2") { self.first_token_inf2_us } else { self.first_token_trn_us }
    }
}
