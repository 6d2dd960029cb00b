//! How busy something is over time.

use ns_base::Interval;
use ns_base::convert::{u64_to_f64, u64_to_usize};

/// The share that disjoint spans fill of each part of the time until `end`, 0 to 100 percent; a part is `step` long. What is later is left out.
pub fn busy_shares(spans: impl IntoIterator<Item = Interval<u64>>, end: u64, step: u64) -> Vec<f64> {
    let step = step.max(1);
    let mut busy = vec![0u64; u64_to_usize(end.div_ceil(step))];
    for span in spans {
        let mut from = span.start;
        while from < span.end {
            let to = span.end.min((from / step + 1) * step);
            let Some(part) = busy.get_mut(u64_to_usize(from / step)) else { break };
            *part += to - from;
            from = to;
        }
    }
    busy.into_iter().map(|part| (u64_to_f64(part) / u64_to_f64(step) * 1e3).round() / 10.0).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_to_the_busy_time() {
        let spans = [Interval::new(0, 25), Interval::new(30, 40), Interval::new(95, 300)];
        assert_eq!(busy_shares(spans, 100, 20), [100.0, 75.0, 0.0, 0.0, 25.0]);
        assert!(busy_shares([], 0, 0).is_empty());
    }
}
