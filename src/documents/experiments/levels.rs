//! Finds where a series moved permanently to another level.

use ns_experiment::regression::{Step, detect_steps};

/// Fewest points of a level; fewer are noise.
const FEWEST_POINTS: usize = 2;

/// Pairs of consecutive levels that are farther apart than the scatter of either.
pub fn changes(series: &[Option<f64>]) -> Vec<(Step, Step)> {
    let steps = detect_steps(series);
    let points = |step: &Step| series[step.start..step.end].iter().flatten().count();
    let is_clear = |a: &Step, b: &Step| (b.median - a.median).abs() > a.deviation.max(b.deviation);
    let long: Vec<Step> = steps.into_iter().filter(|step| points(step) >= FEWEST_POINTS).collect();
    long.windows(2).filter(|pair| is_clear(&pair[0], &pair[1])).map(|pair| (pair[0], pair[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_levels_that_last_are_changes() {
        let of = |values: &[f64]| {
            let series: Vec<Option<f64>> = values.iter().copied().map(Some).collect();
            changes(&series).into_iter().map(|(_, after)| after.start).collect::<Vec<_>>()
        };
        let before = [1.0, 1.01, 0.99, 1.0, 1.01, 0.99, 1.0, 1.01];
        let after = [1.2, 1.21, 1.19, 1.2, 1.21, 1.19, 1.2, 1.21];
        assert_eq!(of(&[before, after].concat()), [8]);
        assert_eq!(of(&[&before[..], &[5.0], &before[..]].concat()), [0; 0]);
        assert_eq!(of(&[1.0, 2.0]), [0; 0]);
        assert_eq!(of(&[]), [0; 0]);
    }
}
