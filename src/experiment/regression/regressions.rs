//! Steps up that still last.

use serde::Serialize;

use super::steps::Step;

/// A step to a worse value, where larger is worse.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Regression {
    /// Position of the last good point.
    pub last_good: usize,
    /// Position of the first bad point.
    pub first_bad: usize,
    pub before: f64,
    /// The value after: the best one since then.
    pub after: f64,
}

/// The whole regression of a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Regressions {
    pub now: f64,
    /// The best earlier value.
    pub best: f64,
    /// The steps that led here, oldest first.
    pub steps: Vec<Regression>,
}

/// Steps of fewer points are noise, unless all steps are that short.
const FEWEST_POINTS: usize = 2;

/// Upward steps after which the series never came back. A step counts when it is larger than the spread on both sides and
/// than `threshold` times the value before (0.05 is five percent). `None` without a step of this kind.
pub fn find_regressions(steps: &[Step], threshold: f64) -> Option<Regressions> {
    let last = steps.last()?;
    let (mut best, mut best_deviation, mut worst_start) = (last.median, last.deviation, last.start);
    let mut found = Vec::new();
    let mut least = last.median;
    for step in steps.iter().rev().skip(1) {
        if step.end - step.start < FEWEST_POINTS {
            continue;
        }
        let bound = step.deviation.max(best_deviation).max(threshold * step.median);
        if best - step.median > bound {
            let (before, after) = (step.median, best);
            found.push(Regression { last_good: step.end - 1, first_bad: worst_start, before, after });
            least = step.median;
        }
        if step.median < best {
            (best, best_deviation) = (step.median, step.deviation);
        }
        worst_start = step.start;
    }
    found.reverse();
    (!found.is_empty()).then_some(Regressions { now: last.median, best: least, steps: found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(start: usize, end: usize, median: f64) -> Step {
        Step { start, end, median, min: median, deviation: 0.01 }
    }

    #[test]
    fn only_lasting_regressions_count() {
        assert_eq!(find_regressions(&[step(0, 9, 1.0), step(9, 20, 0.5)], 0.05), None);
        assert_eq!(find_regressions(&[step(0, 9, 1.0), step(9, 15, 2.0), step(15, 20, 1.0)], 0.05), None);
        let up = find_regressions(&[step(0, 9, 1.0), step(9, 20, 1.2)], 0.05).unwrap();
        assert_eq!(up.steps, [Regression { last_good: 8, first_bad: 9, before: 1.0, after: 1.2 }]);
        assert_eq!(find_regressions(&[step(0, 9, 1.0), step(9, 20, 1.2)], 0.25), None);
        assert_eq!(find_regressions(&[], 0.0), None);
    }
}
