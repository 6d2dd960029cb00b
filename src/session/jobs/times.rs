//! Stage times that a session has computed, for all its benchmarks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ns_bench::{Configuration, ServiceTimes, service_times};
use ns_device::{ModelKind, ModelLibrary, model_label};

/// Stage times by [`Configuration::times_key`], shared by the jobs of a session.
#[derive(Clone, Debug, Default)]
pub struct StageTimes(Rc<RefCell<BTreeMap<u64, Result<ServiceTimes, String>>>>);

impl StageTimes {
    /// Stage times of a configuration, its model compiled and simulated once.
    ///
    /// An error of this configuration alone, such as more copies than cores, is not kept, because other configurations share its key. Nor is an error
    /// of a model file, which may be opened later.
    pub fn of(&self, configuration: &Configuration, models: &ModelLibrary) -> Result<ServiceTimes, String> {
        configuration.check().map_err(|e| e.to_string())?;
        let key = configuration.times_key();
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let times = service_times(configuration, models).map_err(|e| e.to_string());
        if times.is_ok() || ModelKind::of(&configuration.model) != ModelKind::File {
            self.0.borrow_mut().insert(key, times.clone());
        }
        times
    }

    /// Takes stage times that another session has computed.
    pub fn learn(&self, configuration: &Configuration, times: ServiceTimes) {
        self.0.borrow_mut().insert(configuration.times_key(), Ok(times));
    }
}

/// The note on products that the compiler removed from a configuration's model.
pub(super) fn removed_note(configuration: &Configuration, times: &Result<ServiceTimes, String>) -> Option<String> {
    let removed = times.as_ref().ok()?.removed?;
    Some(removed.sentence(&model_label(&configuration.model)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_impossible_configuration_does_not_affect_others() {
        let (times, models) = (StageTimes::default(), ModelLibrary::default());
        let config = ns_bench::BenchConfig { n_models: Some(vec![1, 64]), ..Default::default() };
        let configurations = ns_bench::expand(&config).unwrap().configurations;
        let (small, large) = (&configurations[0], configurations.iter().find(|c| c.n_models == 64).unwrap());
        assert_eq!(small.times_key(), large.times_key());
        assert!(times.of(large, &models).unwrap_err().contains("64"));
        assert!(times.of(small, &models).is_ok());
    }
}
