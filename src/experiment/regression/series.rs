//! A series, its medians and the absolute deviations from them.

use ns_base::Order;
use rustc_hash::FxHashMap;

/// A series with the values computed for its stretches.
pub(super) struct ValueSeries<'a> {
    pub values: &'a [f64],
    known: FxHashMap<(u32, u32), Level>,
}

/// The median of a stretch, and the sum of the absolute deviations from it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    pub median: f64,
    pub deviation: f64,
}

impl<'a> ValueSeries<'a> {
    pub fn new(values: &'a [f64]) -> Self {
        Self { values, known: FxHashMap::default() }
    }

    /// The level of `start..end`.
    pub fn level(&mut self, start: usize, end: usize) -> Level {
        let key = (u32::try_from(start).unwrap_or(u32::MAX), u32::try_from(end).unwrap_or(u32::MAX));
        if let Some(level) = self.known.get(&key) {
            return *level;
        }
        let mut sorted = self.values.get(start..end).unwrap_or_default().to_vec();
        sorted.order_by(f64::total_cmp);
        let middle = sorted.len() / 2;
        let median = match sorted.len() {
            0 => 0.0,
            n if n % 2 == 1 => sorted[middle],
            _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
        };
        let deviation = self.values.get(start..end).unwrap_or_default().iter().map(|v| (v - median).abs()).sum();
        let level = Level { median, deviation };
        self.known.insert(key, level);
        level
    }

    pub fn deviation(&mut self, start: usize, end: usize) -> f64 {
        self.level(start, end).deviation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_of_stretches() {
        let values = [1.0, 5.0, 2.0, 4.0];
        let mut series = ValueSeries::new(&values);
        assert_eq!(series.level(0, 3), Level { median: 2.0, deviation: 4.0 });
        assert_eq!(series.level(0, 4), Level { median: 3.0, deviation: 6.0 });
        assert_eq!(series.level(2, 2), Level { median: 0.0, deviation: 0.0 });
    }
}
