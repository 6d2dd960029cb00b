//! When the inferences of a worker ended: its rate, whatever the length of the run.

use serde::{Deserialize, Serialize};

use ns_base::SimTime;
use ns_base::convert::u64_to_f64;

/// The ends of a worker's inferences.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ends {
    first: SimTime,
    last: SimTime,
    count: u64,
}

impl Ends {
    /// Adds an end; ends must not decrease.
    #[inline]
    pub fn add(&mut self, end: SimTime) {
        if self.count == 0 {
            self.first = end;
        }
        self.last = end;
        self.count += 1;
    }
}

/// Inferences a second of these workers together: of each, those after its first, over the time between its first and its last.
///
/// Nothing depends on where a run or a second begins and ends, so a short run gives the rate of a long one. Counting the ends of all workers
/// together would not: copies that began at one moment end in rounds, and a round more or less is counted. `None` if a worker that ended
/// any has ended only one.
pub(crate) fn rate_of(workers: &[Ends]) -> Option<f64> {
    let mut rate = 0.0;
    for worker in workers.iter().filter(|worker| worker.count > 0) {
        let between = worker.last.saturating_sub(worker.first);
        if between == SimTime::ZERO {
            return None;
        }
        rate += u64_to_f64(worker.count - 1) / between.to_secs_f64();
    }
    (rate > 0.0).then_some(rate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ends(us: &[u64]) -> Ends {
        let mut ends = Ends::default();
        us.iter().for_each(|us| ends.add(SimTime::from_us(*us)));
        ends
    }

    #[test]
    fn rates_of_workers_are_added_up() {
        // One every 10 us and one every 20 us.
        let workers = [ends(&[7, 17, 27]), ends(&[100, 120]), ends(&[])];
        assert!((rate_of(&workers).unwrap() - 150_000.0).abs() < 1e-6);
        assert_eq!(rate_of(&[ends(&[5, 9]), ends(&[3])]), None);
        assert_eq!((rate_of(&[]), rate_of(&[ends(&[4, 4])])), (None, None));
    }
}
