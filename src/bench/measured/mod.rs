//! The measurements of a run: latencies, NeuronPerf's ten timers as sums, and their spans.

pub(super) mod ends;
pub(super) mod measurement;
pub(super) mod spans;
pub(super) mod timer;
