//! Stage times that a session has worked out, for all its benchmarks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::bench::{Configuration, ServiceTimes, service_times};

/// Stage times by [`Configuration::times_key`]; shared by the jobs of a session.
#[derive(Clone, Debug, Default)]
pub struct Times(Rc<RefCell<BTreeMap<u64, Result<ServiceTimes, String>>>>);

impl Times {
    /// Stage times of a configuration, its model compiled and simulated once.
    ///
    /// What is wrong with this configuration alone, like more copies than cores, is not kept: others have its key.
    pub fn of(&self, configuration: &Configuration) -> Result<ServiceTimes, String> {
        configuration.check().map_err(|e| e.to_string())?;
        let key = configuration.times_key();
        if let Some(known) = self.0.borrow().get(&key) {
            return known.clone();
        }
        let times = service_times(configuration);
        self.0.borrow_mut().insert(key, times.clone());
        times
    }

    /// Takes stage times that another session has worked out.
    pub fn learn(&self, configuration: &Configuration, times: ServiceTimes) {
        self.0.borrow_mut().insert(configuration.times_key(), Ok(times));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_that_can_not_run_says_nothing_of_the_others() {
        let times = Times::default();
        let config = crate::bench::BenchConfig { n_models: Some(vec![1, 64]), ..Default::default() };
        let configurations = crate::bench::expand(&config).unwrap().configurations;
        let (small, large) = (&configurations[0], configurations.iter().find(|c| c.n_models == 64).unwrap());
        assert_eq!(small.times_key(), large.times_key());
        assert!(times.of(large).unwrap_err().contains("64"));
        assert!(times.of(small).is_ok());
    }
}
