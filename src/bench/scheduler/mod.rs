//! The discrete-event run of one configuration.
//!
//! Workers of every model copy run in a closed loop: fetch an input (the workers of a model take turns), preprocess,
//! record the ops of a lazy step (the workers of a process take turns), make the call, use the path or the link to the device, take the model's NeuronCore, transfer on the same path while
//! holding the core, compute, release, go through the remaining pipeline stages (each with its own core; a worker
//! leaves a core before it queues for the next), postprocess, record. Fetching, preprocessing, recording, the call and postprocessing
//! each take a core of the host, which has half as many as vCPUs. Every queue is first come, first served, and events of one
//! instant happen in the order they were scheduled, so a run is a function of its stage times.
//!
//! The clock starts at the measured window: all copies are brought up side by side before it, and it opens when the
//! last one is warm. At its end no worker begins another inference; those in flight are finished and counted in the
//! latencies, the totals and the per-second counts, as NeuronPerf joins its workers and keeps their results.
//!
//! Three options change that. In one shared process (`multiprocess=False`) fetching an input, preprocessing, recording and
//! postprocessing take turns over all copies. A dataset that is not looped ends a copy's work when the copy has been
//! through it, whatever the duration. With the original accounting, bring-up counts towards the duration.

pub(super) mod executor;
pub(super) mod observer;
mod queue;
mod resources;
mod run;
pub(super) mod source;
mod stages;
#[cfg(test)]
mod tests;
mod workers;

pub(super) use run::check_size;
pub use run::{Progress, Scheduler};
