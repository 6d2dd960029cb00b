//! NeuronPerf's ten timers, kept as sums: memory does not grow with inferences.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::{SimTime, stats};

/// The sum and the number of the spans that one timer measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timer {
    /// Sum of all spans.
    pub total: SimTime,
    /// Number of spans.
    pub count: u64,
}

impl Timer {
    /// Adds one span.
    pub fn add(&mut self, span: SimTime) {
        self.total += span;
        self.count += 1;
    }

    /// Average span in milliseconds; zero without spans, as in NeuronPerf's timers.
    pub fn avg_ms(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total.to_ms_f64() / u64_to_f64(self.count) }
    }
}

/// All timers of one configuration; `T` holds sums or something else. The first five have one entry for each model copy, the
/// others for each worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Timers<T = Timer> {
    /// Work before the load.
    pub env_setup: Vec<T>,
    /// Work after the load.
    pub setup: Vec<T>,
    pub load: Vec<T>,
    /// Fetching inputs, with the wait for the model's input lock.
    pub input: Vec<T>,
    /// Warm-up inferences.
    pub warmup: Vec<T>,
    /// Work before the call.
    pub preprocess: Vec<T>,
    /// The call: host, waits, transfer, device.
    pub infer: Vec<T>,
    /// Work after the call.
    pub postprocess: Vec<T>,
    pub e2e: Vec<T>,
    /// Lifetime of a worker, from the start of the measured window.
    pub worker: Vec<T>,
}

impl<T: Clone + Default> Timers<T> {
    /// Timers without any spans.
    pub fn new(models: usize, workers: usize) -> Self {
        let (per_model, per_worker) = (vec![T::default(); models], vec![T::default(); workers]);
        Self {
            env_setup: per_model.clone(),
            setup: per_model.clone(),
            load: per_model.clone(),
            input: per_model.clone(),
            warmup: per_model,
            preprocess: per_worker.clone(),
            infer: per_worker.clone(),
            postprocess: per_worker.clone(),
            e2e: per_worker.clone(),
            worker: per_worker,
        }
    }
}

/// NeuronPerf's `*_avg_ms`: the mean of the timers' averages, where each timer counts once, whatever its number of spans.
/// `None` when there is no timer.
pub fn mean_of_averages_ms(timers: &[Timer]) -> Option<f64> {
    let averages: Vec<f64> = timers.iter().map(Timer::avg_ms).collect();
    stats::mean(&averages)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn averages_are_not_weighted_by_count() {
        let mut often = Timer::default();
        (0..9).for_each(|_| often.add(SimTime::from_us(1_000)));
        let mut once = Timer::default();
        once.add(SimTime::from_us(3_000));
        assert_eq!(mean_of_averages_ms(&[often, once]), Some(2.0));
        assert_eq!(mean_of_averages_ms(&[Timer::default()]), Some(0.0));
        assert_eq!(mean_of_averages_ms(&[]), None);
    }
}
