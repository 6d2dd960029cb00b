//! The runtime around an execution: loading a model and serving one inference.

use crate::gpsimd::HostCosts;
use ns_base::SimTime;
use ns_machine::Executable;
use ns_machine::cost::CostTable;

/// The costs of one loaded copy of a model, without queueing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InferenceCosts {
    /// Loading the copy: a fixed part and its weights over PCIe.
    pub load: SimTime,
    /// Added to the load for each other copy that loads at the same time.
    pub load_beside: SimTime,
    /// The extra time of the first inference.
    pub warmup: SimTime,
    /// Host work of one call on the caller's thread, including copying its inputs and outputs.
    pub call: SimTime,
    /// Moving inputs and outputs between host and device, over the link of the device.
    pub transfer: SimTime,
    /// The execution on the core, with its device-side start-up and tear-down.
    pub device: SimTime,
}

/// Costs of a copy whose execution takes `window` on the core.
///
/// The constants are those of [`ns_machine::cost::RuntimeCosts`]. Start-up and tear-down of an execution happen
/// on the device, so they are part of the time for which the core is held.
#[must_use]
pub fn inference_costs(executable: &Executable, costs: &CostTable, window: SimTime) -> InferenceCosts {
    let r = &costs.runtime;
    let memory = &executable.memory;
    let bytes = memory.input_bytes + memory.output_bytes;
    let transfer = at_rate(bytes, r.link_bytes_per_us);
    InferenceCosts {
        load: SimTime::from_ns(r.load_ns) + at_rate(memory.weight_bytes, r.link_bytes_per_us),
        load_beside: SimTime::from_ns(r.load_beside_ns),
        warmup: SimTime::from_ns(r.warmup_ns),
        // The effective rate of copy and link together.
        call: SimTime::from_ns(r.host_call_ns) + (at_rate(bytes, r.host_io_bytes_per_us) - transfer),
        transfer,
        device: SimTime::from_ns(r.setup_traced_ns) + window + SimTime::from_ns(r.teardown_ns),
    }
}

impl InferenceCosts {
    /// The same for a workflow in which each call is a step of lazy tensors: its ops are recorded one by one, and
    /// `mark_step` starts its graph. The programs are already compiled and in the cache.
    #[must_use]
    pub fn marked(self, costs: &CostTable, ops: u64) -> Self {
        let (r, recording) = (&costs.runtime, HostCosts::published().recording(ops));
        let (traced, marked) = (SimTime::from_ns(r.setup_traced_ns), SimTime::from_ns(r.setup_mark_step_ns));
        Self { call: self.call + SimTime::from_ns_f64(recording), device: self.device - traced + marked, ..self }
    }
}

/// Moving bytes at a rate, in whole nanoseconds.
#[must_use]
pub fn at_rate(bytes: u64, bytes_per_us: u64) -> SimTime {
    SimTime((bytes.saturating_mul(1_000) / bytes_per_us.max(1)).saturating_mul(1_000))
}
