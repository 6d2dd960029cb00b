//! What a worker is at, and how many of them there may be.

use crate::bench::config::configuration::Configuration;
use crate::bench::run::error::RunError;
use crate::bench::scheduler::executor::Stage;
use crate::bench::scheduler::queue::MAX_WORKERS;

pub(super) struct Worker {
    pub(super) model: u32,
    /// What its pending event ends; `None` is the wait for a query that is known to come.
    pub(super) stage: Option<Stage>,
    /// Time of the stage it waits to begin, drawn when it asked.
    pub(super) pending: u64,
    /// When its stage was begun.
    pub(super) since: u64,
    pub(super) begun: u64,
    pub(super) called: u64,
}

/// Checks that workers and cores can be numbered, before anything is made for each of them.
///
/// # Errors
/// When there are none or too many.
pub(in crate::bench) fn check_size(configuration: &Configuration) -> Result<(), RunError> {
    let workers = configuration.workers();
    if workers == 0 || workers > MAX_WORKERS {
        let Configuration { n_models, workers_per_model, .. } = *configuration;
        return Err(RunError::Workers { n_models, workers_per_model, workers, max: MAX_WORKERS });
    }
    if configuration.n_devices() > MAX_WORKERS {
        return Err(RunError::Cores { cores: configuration.n_devices(), max: MAX_WORKERS });
    }
    Ok(())
}

/// All workers, the first of each copy before the second of any: what waits first is served first, and one copy is not
/// to get two of eight samples while another has none.
pub(super) fn in_turns(configuration: &Configuration) -> impl Iterator<Item = u32> + use<> {
    let (models, each) = (configuration.n_models, configuration.workers_per_model);
    (0..each).flat_map(move |w| (0..models).map(move |m| m * each + w))
}
