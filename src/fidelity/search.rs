//! The search of every fit, and what fits are judged by.
//!
//! The search is a pattern search: from the starting point each parameter is moved up and down by its step as long as the
//! error decreases, then the steps are halved. It uses no random numbers, so the result is the same everywhere.

use ns_base::Order;
use ns_base::convert::usize_to_f64;

/// The parameters with the least error. `steps` are the first steps, as shares of the parameters; `scaled` multiplies the
/// parameter of this number by a factor.
pub(super) fn pattern_search<C: Copy, const N: usize>(
    start: C,
    mut steps: [f64; N],
    halvings: u32,
    scaled: fn(&C, usize, f64) -> C,
    mut error: impl FnMut(&C) -> f64,
) -> C {
    let (mut best, mut least) = (start, error(&start));
    for _ in 0..=halvings {
        let mut moved = true;
        while moved {
            moved = false;
            for (parameter, step) in steps.iter().enumerate() {
                for factor in [1.0 + step, 1.0 / (1.0 + step)] {
                    let tried = scaled(&best, parameter, factor);
                    let with = error(&tried);
                    if with < least {
                        (best, least, moved) = (tried, with, true);
                        break;
                    }
                }
            }
        }
        steps = steps.map(|step| step / 2.0);
    }
    best
}

/// Sum of the squares of the logarithms of some ratios.
pub(super) fn squares_of_ratios(ratios: &[f64]) -> f64 {
    ratios.iter().map(|r| libm::log(*r) * libm::log(*r)).sum()
}

/// Root mean square of the logarithms of some ratios.
pub fn rms_of_ratios(ratios: &[f64]) -> f64 {
    libm::sqrt(squares_of_ratios(ratios) / usize_to_f64(ratios.len().max(1)))
}

/// Geometric mean of some ratios.
pub(super) fn mean_of_ratios(ratios: &[f64]) -> f64 {
    let logs: f64 = ratios.iter().map(|r| libm::log(*r)).sum();
    libm::exp(logs / usize_to_f64(ratios.len().max(1)))
}

/// Models in the order in which rows name them, each once.
pub(super) fn models_in_order<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut models: Vec<String> = Vec::new();
    for name in names {
        if !models.iter().any(|model| model == name) {
            models.push(name.to_owned());
        }
    }
    models
}

/// The least and the most that published over predicted figures are once one of `one_in` rows is left out on each side. `ratios` are
/// predicted over published.
pub(super) fn factors_inside<'a>(ratios: impl Iterator<Item = &'a f64>, one_in: usize) -> (f64, f64) {
    let mut factors: Vec<f64> = ratios.map(|ratio| 1.0 / ratio).collect();
    factors.order_by(f64::total_cmp);
    let outside = factors.len() / one_in;
    let inside = &factors[outside..factors.len() - outside];
    (inside.first().copied().unwrap_or(1.0), inside.last().copied().unwrap_or(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_ends_at_the_least_error() {
        let scaled = |c: &[f64; 2], parameter: usize, factor: f64| {
            let mut c = *c;
            c[parameter] *= factor;
            c
        };
        let error = |c: &[f64; 2]| (c[0] - 3.0).abs() + (c[1] - 0.5).abs();
        let [a, b] = pattern_search([1.0, 1.0], [0.2, 0.2], 12, scaled, error);
        assert!((a - 3.0).abs() < 0.01 && (b - 0.5).abs() < 0.01, "{a} {b}");
    }

    #[test]
    fn the_farthest_rows_are_left_out_on_each_side() {
        let ratios: Vec<f64> = (1..=20).map(f64::from).collect();
        assert_eq!(factors_inside(ratios.iter(), 10), (1.0 / 18.0, 1.0 / 3.0));
        assert_eq!(factors_inside(std::iter::empty(), 10), (1.0, 1.0));
    }
}
