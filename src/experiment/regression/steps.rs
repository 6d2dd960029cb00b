//! Steps of a series that may have gaps.

use serde::Serialize;

use super::potts::ends_with_best_penalty;
use super::series::ValueSeries;
use ns_base::convert::usize_to_f64;

/// A stretch with a nearly constant value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Step {
    /// Position of its first point.
    pub start: usize,
    /// Position after its last point.
    pub end: usize,
    /// The median of its points.
    pub median: f64,
    /// The smallest of its points.
    pub min: f64,
    /// Their mean absolute deviation from the median.
    pub deviation: f64,
}

/// The steps of a series in time order. Points that are missing or NaN do not belong to a step.
pub fn detect_steps(series: &[Option<f64>]) -> Vec<Step> {
    let present = series.iter().enumerate().filter_map(|(i, v)| v.filter(|v| v.is_finite()).map(|v| (i, v)));
    let (places, values): (Vec<usize>, Vec<f64>) = present.unzip();
    let mut known = ValueSeries::new(&values);
    let mut start = 0;
    let ends = ends_with_best_penalty(&mut known);
    let step = |end: usize| {
        let level = known.level(start, end);
        let points = &values[start..end];
        let step = Step {
            start: places[start],
            end: places[end - 1] + 1,
            median: level.median,
            min: points.iter().copied().fold(f64::INFINITY, f64::min),
            deviation: level.deviation / usize_to_f64(points.len()),
        };
        start = end;
        step
    };
    ends.into_iter().map(step).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn steps_cover_the_series_in_order(series in prop::collection::vec(prop::option::weighted(0.9, 0.1f64..10.0), 0..60)) {
            let steps = detect_steps(&series);
            let present = series.iter().filter(|v| v.is_some()).count();
            let covered: usize = steps.iter().map(|s| series[s.start..s.end].iter().filter(|v| v.is_some()).count()).sum();
            prop_assert_eq!(present, covered);
            prop_assert!(steps.windows(2).all(|s| s[0].end <= s[1].start));
        }
    }
}
