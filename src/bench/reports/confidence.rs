//! Confidence intervals of a mean and of a percentile, at 95 %.

use ns_base::convert::usize_to_f64;
use ns_base::stats;

/// 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The mean of these values, give or take Student's t at 95 %. `None` below two values.
///
/// Meant for nearly independent values, such as the counts of whole seconds.
pub fn mean_ci95(values: &[f64]) -> Option<(f64, f64)> {
    let (mean, deviation) = (stats::mean(values)?, stats::stddev(values)?);
    let n = usize_to_f64(values.len());
    let reach = t975(n - 1.0) * deviation / libm::sqrt(n);
    Some((mean - reach, mean + reach))
}

/// 97.5 % point of Student's t with `df` degrees of freedom: exact for 1 and 2, else by the Cornish-Fisher expansion,
/// which is within 1 % from 3 on.
fn t975(df: f64) -> f64 {
    if df <= 1.0 {
        return 12.706_204_736_174_7;
    }
    if df <= 2.0 {
        return 4.302_652_729_749_46;
    }
    let (z3, z5, z7) = (Z * Z * Z, Z * Z * Z * Z * Z, Z * Z * Z * Z * Z * Z * Z);
    let first = (z3 + Z) / 4.0;
    let second = (5.0 * z5 + 16.0 * z3 + 3.0 * Z) / 96.0;
    let third = (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * Z) / 384.0;
    Z + first / df + second / (df * df) + third / (df * df * df)
}

/// Percents of the ranks between which the `percent`-th percentile of `n` values lies with 95 % confidence, by the
/// normal approximation of the binomial. `None` when there are too few values for such an interval.
///
/// Latencies in a queue are correlated, so the true interval is wider. The interval shows how well a count of samples
/// supports a percentile, not how well a run would repeat.
pub fn percentile_ci95_percents(n: usize, percent: f64) -> Option<(f64, f64)> {
    let (p, count) = (percent / 100.0, usize_to_f64(n));
    let last = count - 1.0;
    let reach = Z * libm::sqrt(count * p * (1.0 - p));
    let (low, high) = (libm::floor(count * p - reach), libm::ceil(count * p + reach));
    (low >= 0.0 && high <= last && last > 0.0).then(|| (low / last * 100.0, high / last * 100.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::{Rng, stats::percentile_sorted};

    #[test]
    fn students_t_is_that_of_the_tables() {
        for (df, table) in [(1.0, 12.706), (2.0, 4.303), (3.0, 3.182), (5.0, 2.571), (10.0, 2.228), (57.0, 2.002)] {
            assert!((t975(df) / table - 1.0).abs() < 1e-2, "{df}: {} against {table}", t975(df));
        }
        assert_eq!(mean_ci95(&[1.0]), None);
        let (low, high) = mean_ci95(&[9.0, 10.0, 11.0]).unwrap();
        assert!((low - 7.516).abs() < 0.02 && (high - 12.484).abs() < 0.02, "{low} {high}");
    }

    #[test]
    fn nineteen_intervals_of_twenty_hold_the_true_percentile() {
        let mut rng = Rng::from_seed(3);
        for percent in [50.0, 99.0] {
            let mut covers = 0;
            for _ in 0..400 {
                let mut values: Vec<f64> = (0..2_000).map(|_| rng.unit_f64()).collect();
                values.sort_by(f64::total_cmp);
                let (low, high) = percentile_ci95_percents(values.len(), percent).unwrap();
                let at = |p| percentile_sorted(&values, p).unwrap();
                covers += u32::from(at(low) <= percent / 100.0 && percent / 100.0 <= at(high));
            }
            assert!((368..=398).contains(&covers), "p{percent}: {covers} of 400");
        }
        assert_eq!(percentile_ci95_percents(100, 99.0), None);
        assert!(percentile_ci95_percents(2_000, 99.0).is_some());
    }
}
