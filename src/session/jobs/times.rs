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
    pub fn of(&self, configuration: &Configuration) -> Result<ServiceTimes, String> {
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
