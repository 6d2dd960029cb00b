//! One configuration from its stage times to its row: the times, an estimate of the work, the run in steps, its errors.

pub(super) mod configuration_run;
pub(super) mod estimate;
pub(super) mod times;
pub(super) mod worker_trial;
