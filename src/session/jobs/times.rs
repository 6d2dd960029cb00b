//! Stage times that a session has computed, for all its benchmarks.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use ns_bench::{Configuration, ServiceTimes, service_times};
use ns_device::{ModelKind, ModelLibrary, model_label};

/// Stage times, shared by the jobs of a session.
#[derive(Clone, Debug, Default)]
pub struct StageTimes(Rc<RefCell<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// By [`Configuration::times_key`].
    times: BTreeMap<u64, ServiceTimes>,
    /// Why there are none, by the key and the instance, which an error names.
    errors: BTreeMap<(u64, String), String>,
}

impl StageTimes {
    /// Stage times of a configuration, its model compiled and simulated once.
    ///
    /// An error of this configuration alone, such as more copies than cores, is not kept, because other configurations share its key. Nor is an error
    /// of a model file, which may be opened later.
    pub fn of(&self, configuration: &Configuration, models: &ModelLibrary) -> Result<ServiceTimes, String> {
        configuration.check().map_err(|e| e.to_string())?;
        let key = configuration.times_key();
        let of_instance = (key, configuration.instance_type.clone());
        if let Some(times) = self.0.borrow().times.get(&key) {
            return Ok(times.clone());
        }
        if let Some(error) = self.0.borrow().errors.get(&of_instance) {
            return Err(error.clone());
        }
        let times = service_times(configuration, models).map_err(|e| e.to_string());
        let mut known = self.0.borrow_mut();
        match &times {
            Ok(times) => drop(known.times.insert(key, times.clone())),
            Err(_) if ModelKind::of(&configuration.model) == ModelKind::File => {}
            Err(error) => drop(known.errors.insert(of_instance, error.clone())),
        }
        times
    }

    /// Takes stage times that another session has computed.
    pub fn learn(&self, configuration: &Configuration, times: ServiceTimes) {
        self.0.borrow_mut().times.insert(configuration.times_key(), times);
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

    #[test]
    fn instances_with_the_same_device_share_times_but_not_errors() {
        let (times, models) = (StageTimes::default(), ModelLibrary::default());
        let on = |sizes: &str, lnc| {
            let config = ns_bench::BenchConfig { instance_type: sizes.to_owned(), ..Default::default() };
            let mut rows = ns_bench::expand(&config).unwrap().configurations;
            rows.retain(|row| (row.n_models, row.workers_per_model) == (1, 1));
            rows.iter_mut().for_each(|row| row.options.compile.lnc = lnc);
            rows
        };
        let rows = on("inf2.xlarge,inf2.48xlarge,trn1.2xlarge,trn1n.32xlarge,trn2.48xlarge", None);
        for row in &rows {
            let alone = service_times(row, &models).unwrap();
            assert_eq!(times.of(row, &models).unwrap(), alone, "{}", row.instance_type);
        }
        let keys: Vec<u64> = rows.iter().map(Configuration::times_key).collect();
        assert!(keys[0] == keys[1] && keys[2] == keys[3]);
        assert!(keys[0] != keys[2] && keys[2] != keys[4] && keys[0] != keys[4]);
        for row in on("inf2.xlarge,inf2.48xlarge", Some(3)) {
            let error = times.of(&row, &models).unwrap_err();
            assert!(error.contains(&row.instance_type), "{error}");
        }
    }
}
