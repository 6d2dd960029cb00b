//! Statistics used by reports: one percentile rule, mean, standard deviation.

use super::convert::{f64_to_usize, usize_to_f64};

/// The `p`-th percentile (0..=100) of **sorted** values by linear interpolation, numpy's default rule.
/// `None` for an empty slice.
pub fn percentile_sorted(sorted: &[f64], p: f64) -> Option<f64> {
    let (low, high, fraction) = percentile_ranks(sorted.len(), p)?;
    let (a, b) = (sorted[low], sorted[high]);
    Some(lerp(a, b, fraction))
}

/// The point `fraction` (0..=1) of the way from `a` to `b`, as numpy computes it: from the nearer end, so that the
/// result never leaves `[a, b]`.
pub fn lerp(a: f64, b: f64, fraction: f64) -> f64 {
    if fraction < 0.5 { a + (b - a) * fraction } else { b - (b - a) * (1.0 - fraction) }
}

/// The two ranks that enclose the `p`-th percentile of `n` sorted values, and the fraction above the lower one.
/// `None` if `n` is 0.
pub fn percentile_ranks(n: usize, p: f64) -> Option<(usize, usize, f64)> {
    let last = n.checked_sub(1)?;
    let rank = p.clamp(0.0, 100.0) / 100.0 * usize_to_f64(last);
    let low = f64_to_usize(rank).min(last);
    Some((low, (low + 1).min(last), rank - usize_to_f64(low)))
}

/// The median of **sorted** whole numbers: the mean of the two middle ones, rounded towards zero, if their number is even.
pub fn median_sorted(sorted: &[i64]) -> Option<i64> {
    let last = sorted.len().checked_sub(1)?;
    Some(sorted[last / 2].midpoint(sorted[last.div_ceil(2)]))
}

/// Arithmetic mean; `None` for an empty slice.
pub fn mean(values: &[f64]) -> Option<f64> {
    if values.is_empty() { None } else { Some(values.iter().sum::<f64>() / usize_to_f64(values.len())) }
}

/// Sample standard deviation (n - 1); `None` below two values.
pub fn stddev(values: &[f64]) -> Option<f64> {
    let m = mean(values)?;
    if values.len() < 2 {
        return None;
    }
    let ss: f64 = values.iter().map(|v| (v - m) * (v - m)).sum();
    Some(libm::sqrt(ss / usize_to_f64(values.len() - 1)))
}

/// `x` rounded to `digits` decimals, half away from zero on the decimal text of the shortest form.
pub fn round_to(x: f64, digits: usize) -> f64 {
    if !x.is_finite() {
        return x;
    }
    format!("{x:.digits$}").parse().unwrap_or(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_follow_numpy_linear() {
        // numpy.percentile([1, 2, 3, 4], [0, 50, 90, 99, 100]) = [1, 2.5, 3.7, 3.97, 4]
        let v = [1.0, 2.0, 3.0, 4.0];
        let at = |p| round_to(percentile_sorted(&v, p).unwrap(), 6);
        assert_eq!([at(0.0), at(50.0), at(90.0), at(99.0), at(100.0)], [1.0, 2.5, 3.7, 3.97, 4.0]);
        assert_eq!([&[][..], &[7], &[1, 4], &[1, 4, 9]].map(median_sorted), [None, Some(7), Some(2), Some(4)]);
        assert_eq!(percentile_sorted(&[], 50.0), None);
        assert_eq!(percentile_sorted(&[5.0], 99.0), Some(5.0));
    }

    #[test]
    fn mean_and_deviation() {
        assert_eq!(mean(&[]), None);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), Some(3.0));
        assert_eq!(stddev(&[1.0]), None);
        assert_eq!(round_to(stddev(&[1.0, 2.0, 6.0]).unwrap(), 4), 2.6458);
        assert_eq!(round_to(2.0005, 3), 2.001);
    }
}
