//! A series as steps: the Potts model, which pays for deviations and for steps.

use super::golden::{Tolerance, golden_search};
use super::series::ValueSeries;
use ns_base::convert::usize_to_f64;

/// The longest stretch in the exact solution; longer ones are merged from these stretches.
const LONGEST: usize = 20;

/// Ends of the stretches (each the start of the next) for the penalty that is chosen from the data: the one with the least
/// `4 ln(n) / n * stretches + ln(noise)`, where the noise is fitted with a correlation between neighbours.
pub(super) fn ends_with_best_penalty(series: &mut ValueSeries<'_>) -> Vec<usize> {
    let n = series.values.len();
    if n == 0 {
        return Vec::new();
    }
    let per_step = 4.0 * libm::log(usize_to_f64(n)) / usize_to_f64(n);
    let whole = series.deviation(0, n);
    let unit = if whole == 0.0 { 1.0 } else { whole };
    let mut best: Option<(f64, Vec<usize>)> = None;
    let lowest = libm::log(0.1 / usize_to_f64(n));
    let objective = |x: f64| {
        let ends = ends_with_penalty(series, unit * libm::exp(x));
        let objective = per_step * usize_to_f64(ends.len()) + libm::log(noise(series, &ends));
        if best.as_ref().is_none_or(|(least, _)| objective < *least) {
            best = Some((objective, ends));
        }
        objective
    };
    golden_search(objective, lowest, 0.0, Tolerance { x: lowest.abs() * 0.1, f: 0.0 });
    best.map_or_else(|| vec![n], |(_, ends)| ends)
}

/// Sum of the absolute residuals after each deviation is predicted from the previous one. A floor keeps the sum above zero
/// when the values hardly scatter.
fn noise(series: &mut ValueSeries<'_>, ends: &[usize]) -> f64 {
    let mut start = 0;
    let mut levels = Vec::with_capacity(ends.len());
    let mut deviations = Vec::with_capacity(series.values.len());
    for &end in ends {
        let median = series.level(start, end).median;
        deviations.extend(series.values[start..end].iter().map(|v| v - median));
        levels.push(median);
        start = end;
    }
    let left = |rho: f64| {
        let first = deviations.first().map_or(0.0, |d: &f64| d.abs());
        deviations.windows(2).fold(first, |sum, pair| sum + (pair[1] - rho * pair[0]).abs())
    };
    let rho = golden_search(left, -1.0, 1.0, Tolerance { x: 0.05, f: 1e-8 });
    let least = |values: &mut dyn Iterator<Item = f64>| values.fold(f64::INFINITY, f64::min);
    let floor = if levels.len() > 2 {
        0.1 * least(&mut levels.windows(2).map(|pair| (pair[1] - pair[0]).abs()))
    } else {
        0.001 * least(&mut levels.iter().map(|v| v.abs()))
    };
    floor.max(1e-300) + left(rho)
}

/// Ends of the stretches for a given penalty per stretch.
fn ends_with_penalty(series: &mut ValueSeries<'_>, penalty: f64) -> Vec<usize> {
    let ends = short_ends(series, penalty);
    let merged = merge(series, ends, penalty);
    shift(series, merged)
}

/// The best partition into stretches of at most [`LONGEST`], by dynamic programming over their ends.
fn short_ends(series: &mut ValueSeries<'_>, penalty: f64) -> Vec<usize> {
    let n = series.values.len();
    let mut cost = vec![-penalty];
    let mut start_of = Vec::with_capacity(n);
    for end in 1..=n {
        let (mut least, mut best) = (f64::INFINITY, end - 1);
        let first = end.saturating_sub(LONGEST);
        for (start, before) in (first..).zip(&cost[first..end]) {
            let candidate = before + penalty + series.deviation(start, end);
            if candidate <= least {
                (least, best) = (candidate, start);
            }
        }
        cost.push(least);
        start_of.push(best);
    }
    let mut ends = Vec::new();
    let mut end = n;
    while end > 0 {
        ends.push(end);
        end = start_of[end - 1];
    }
    ends.reverse();
    ends
}

/// Merges neighbours as long as that lowers the cost.
fn merge(series: &mut ValueSeries<'_>, mut ends: Vec<usize>, penalty: f64) -> Vec<usize> {
    loop {
        let (mut best, mut at, mut start) = (0.0, ends.len(), 0);
        for j in 1..ends.len() {
            // A gain was found: it is taken before looking much further.
            if at + 2 < j {
                break;
            }
            let apart = series.deviation(start, ends[j - 1]) + series.deviation(ends[j - 1], ends[j]) + penalty;
            let change = series.deviation(start, ends[j]) - apart;
            if change <= best {
                (best, at) = (change, j - 1);
            }
            start = ends[j - 1];
        }
        if at >= ends.len() {
            return ends;
        }
        ends.remove(at);
    }
}

/// Moves each border to the position with the least cost: short stretches may have misplaced it.
fn shift(series: &mut ValueSeries<'_>, mut ends: Vec<usize>) -> Vec<usize> {
    let mut start = 0;
    for j in 1..ends.len() {
        let (border, end) = (ends[j - 1], ends[j]);
        let mut least = series.deviation(start, border) + series.deviation(border, end);
        let mut best = border;
        for candidate in border.saturating_sub(LONGEST)..=border + LONGEST {
            if candidate <= start + 1 || candidate + 1 >= end || candidate == border {
                continue;
            }
            let cost = series.deviation(start, candidate) + series.deviation(candidate, end);
            if cost < least {
                (least, best) = (cost, candidate);
            }
        }
        ends[j - 1] = best;
        start = best;
    }
    ends
}
