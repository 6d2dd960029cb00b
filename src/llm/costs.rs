//! What no simulation of a core tells: collectives, the host around a step, and what was fitted to published rows.

use ns_base::units::format_count;
use ns_machine::arch::Instance;
use ns_machine::cost::{CollectiveCosts, CostStatus, Entry};

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
    all_reduce_ns: 35_300,
    sequence_ns: 5_400,
    first_token_inf2_us: 18_000,
    first_token_trn_us: 6_700,
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

/// The numbers of this file for the register (`neuronscope devices --costs`, docs/costs.md).
#[must_use]
pub fn cost_entries() -> Vec<Entry> {
    fitted_entries().into_iter().chain(other_entries()).collect()
}

fn entry(name: &'static str, value: u64, unit: &'static str, status: CostStatus, source: &'static str) -> Entry {
    let values = [(); 3].map(|()| format_count(value));
    Entry { group: "Language models", name, values, unit, status, source }
}

fn fitted_entries() -> [Entry; 4] {
    let LlmCalibration { all_reduce_ns, sequence_ns, first_token_inf2_us, first_token_trn_us } = FITTED;
    let row = |name, value, unit, source| entry(name, value, unit, CostStatus::Fitted, source);
    let (exchange, sequence) = (
        "all-reduce of few bytes between the cores of an instance, with the start of what waits for it",
        "each further sequence of a batch: its part of attention that no transfer hides",
    );
    [
        row("all_reduce_ns", all_reduce_ns, "ns", exchange),
        row("sequence_ns", sequence_ns, "ns a layer", sequence),
        row("first_token_inf2_us", first_token_inf2_us, "us", "host and change of executables around a prompt, Inf2"),
        row("first_token_trn_us", first_token_trn_us, "us", "the same, Trn1 and later"),
    ]
}

fn other_entries() -> [Entry; 4] {
    use CostStatus::{Chosen, Measured, Published};
    let exchange = "nccom-test between 64 ranks of two Trn1, 64 MB to 1 GB";
    let int8 = "between the byte that is moved and the two that one engine's conversion takes";
    let host = "0.44 ms for the synchronous call; the rest writes tokens to the cores and chooses the next";
    let on_device = "Trn2, where the device chooses the next token: about 0.4 ms a call";
    [
        entry("ALL_REDUCE_BYTES_PER_US", ALL_REDUCE_BYTES_PER_US, "bytes/us", Measured, exchange),
        entry("INT8_STREAM_TENTHS", INT8_STREAM_TENTHS, "tenths of a byte a weight", Chosen, int8),
        entry("HOST_STEP_US", HOST_STEP_US, "us a step", Measured, host),
        entry("HOST_STEP_ON_DEVICE_US", HOST_STEP_ON_DEVICE_US, "us a step", Published, on_device),
    ]
}

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
