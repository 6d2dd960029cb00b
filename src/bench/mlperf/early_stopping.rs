//! LoadGen's early stopping: how many queries support a percentile with 99 % confidence.

use ns_base::convert::u64_to_f64;

/// Probability that a system that misses its percentile passes.
const MISTAKE: f64 = 0.01;

/// The result of early stopping for a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlyStopping {
    /// This many of the slowest queries are discarded; the estimate is the slowest one left.
    Discard(u64),
    /// This many queries are needed in all, more than there were.
    Needs(u64),
}

/// The fewest queries for which, with `over` of them above a latency, the `percentile` (0.9, 0.99) is at most that latency
/// with 99 % confidence: the smallest n with P(Binomial(n, 1 - percentile) <= over) < 1 %.
pub fn queries_needed(over: u64, percentile: f64) -> u64 {
    let passes = |n: u64| at_most(over, n, percentile) < MISTAKE;
    // The mean is over / (1 - percentile); the answer is above it, by a few standard deviations.
    let (mut low, mut high) = (over, over.max(1) * 2);
    while !passes(high) {
        (low, high) = (high, high.saturating_mul(2));
    }
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if passes(middle) { high = middle } else { low = middle }
    }
    high
}

/// How many of the slowest of `queries` may be discarded when their number is given, not a latency, as in Single-
/// and MultiStream. With at most t queries over the estimated latency, t - 1 are discarded: the estimate itself may be
/// one of the t.
pub fn discardable(queries: u64, percentile: f64) -> EarlyStopping {
    let least = queries_needed(1, percentile);
    if queries < least {
        return EarlyStopping::Needs(least);
    }
    let (mut low, mut high) = (1, queries);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if queries_needed(middle, percentile) <= queries { low = middle } else { high = middle }
    }
    EarlyStopping::Discard(low - 1)
}

/// P(Binomial(n, 1 - p) <= t): the regularised incomplete beta function I_p(n - t, t + 1).
fn at_most(t: u64, n: u64, p: f64) -> f64 {
    if n <= t {
        return 1.0;
    }
    incomplete_beta(p, u64_to_f64(n - t), u64_to_f64(t + 1))
}

fn incomplete_beta(x: f64, a: f64, b: f64) -> f64 {
    let front =
        libm::exp(libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x));
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(x, a, b) / a
    } else {
        1.0 - front * continued_fraction(1.0 - x, b, a) / b
    }
}

/// Lentz's method for the continued fraction of the incomplete beta function (Numerical Recipes, 6.4).
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away(1.0 - (a + b) * x / (a + 1.0));
    let mut h = d;
    for i in 1..20_000 {
        let m = f64::from(i);
        for term in [
            m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m)),
            -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0)),
        ] {
            d = 1.0 / away(1.0 + term * d);
            c = away(1.0 + term / c);
            h *= d * c;
        }
        if (d * c - 1.0).abs() < 1e-14 {
            break;
        }
    }
    h
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fewest_queries_are_loadgens() {
        let table = [(0.90, 44, 64), (0.95, 90, 130), (0.97, 152, 219), (0.99, 459, 662), (0.999, 4_603, 6_636)];
        for (percentile, none_over, one_over) in table {
            assert_eq!(queries_needed(0, percentile), none_over, "{percentile}");
            assert_eq!(queries_needed(1, percentile), one_over, "{percentile}");
        }
    }

    #[test]
    fn published_runs_discard_what_they_say() {
        assert_eq!(discardable(4_940, 0.90), EarlyStopping::Discard(444));
        assert_eq!(discardable(4_797, 0.99), EarlyStopping::Discard(31));
        assert_eq!(queries_needed(0, 0.99) - 392, 67);
        assert_eq!(discardable(63, 0.90), EarlyStopping::Needs(64));
        assert_eq!(discardable(64, 0.90), EarlyStopping::Discard(0));
    }

    #[test]
    fn the_classic_counts_are_enough_for_one_percent_margins() {
        // At p99, 270,336 queries allow almost 2,703 over the bound, which is one percent.
        let EarlyStopping::Discard(discarded) = discardable(270_336, 0.99) else { panic!("enough") };
        let t = discarded + 1;
        assert!((2_570..2_703).contains(&t), "{t}");
        assert!(queries_needed(t, 0.99) <= 270_336 && queries_needed(t + 1, 0.99) > 270_336);
    }
}
