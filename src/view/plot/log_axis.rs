//! Logarithmic axes: over whole decades, or between round values.

use super::axis::short;
use super::{Axis, AxisTick};

/// The most ticks: more do not fit.
const MOST_TICKS: i32 = 9;

/// How many times the smallest value the largest one is where an axis becomes logarithmic: on one from zero, most values would lie in a corner.
const WIDE: f64 = 20.0;

/// Parts of a decade at which an axis between round values begins, ends and has ticks.
const PARTS: [f64; 3] = [1.0, 2.0, 5.0];

impl Axis {
    /// An axis over all decades that these values touch; values that are not positive are ignored.
    pub fn decades(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let kept = values.into_iter().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = kept.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low.is_finite() { (low, high) } else { (1.0, 10.0) };
        #[allow(clippy::cast_possible_truncation, reason = "powers of ten of finite numbers")]
        let (first, last) = (libm::floor(libm::log10(low)) as i32, libm::ceil(libm::log10(high)) as i32);
        let last = last.max(first + 1);
        let step = ((last - first + MOST_TICKS - 1) / MOST_TICKS).max(1);
        let tick = |power: i32| AxisTick { value: ten_to(power), label: power_label(power) };
        let ticks = (first..=last).filter(|p| (p - first) % step == 0).map(tick).collect();
        Self { title: title.to_owned(), min: ten_to(first), max: ten_to(last), ticks, is_logarithmic: true }
    }

    /// A logarithmic axis of the same title, if the largest of these values is many times the smallest.
    pub fn by_ratios(&self, values: impl Iterator<Item = f64>) -> Option<Self> {
        let (low, high) = values.fold((f64::INFINITY, 0.0), |(l, h), v| (f64::min(l, v), f64::max(h, v)));
        (low > 0.0 && high >= WIDE * low && high.is_finite()).then(|| Self::logarithmic(&self.title, low, high))
    }

    /// An axis on which equal ratios have equal lengths, from a round value that is not above `low` to one that is not below `high`; both
    /// are positive and finite, else the axis is a linear one from zero.
    pub fn logarithmic(title: &str, low: f64, high: f64) -> Self {
        if !(low > 0.0 && low.is_finite() && high.is_finite()) {
            return Self::from_zero(title, high, MOST_TICKS.unsigned_abs());
        }
        #[allow(clippy::cast_possible_truncation, reason = "powers of ten of finite numbers")]
        let decade = |value: f64| libm::floor(libm::log10(value) + 1e-9) as i32;
        let values = |power: i32| PARTS.map(|part| part * ten_to(power));
        let min = values(decade(low)).into_iter().rfind(|v| *v <= low * (1.0 + 1e-9)).unwrap_or(low);
        let least = high.max(min * 2.0) * (1.0 - 1e-9);
        let max = values(decade(least)).into_iter().find(|v| *v >= least).unwrap_or_else(|| ten_to(decade(least) + 1));
        // Four decades with all parts fit beside each other; of more, only whole decades have ticks.
        let parts = if max / min > 1e4 { 1 } else { PARTS.len() };
        let inside = |v: &f64| *v >= min * (1.0 - 1e-9) && *v <= max * (1.0 + 1e-9);
        let all = (decade(min)..=decade(max)).flat_map(|power| values(power).into_iter().take(parts)).filter(inside);
        let ticks = all.map(|value| AxisTick { value, label: short(value) }).collect();
        Self { title: title.to_owned(), min, max, ticks, is_logarithmic: true }
    }
}

/// A power of ten. `libm::exp10` would bring tables of 6 KB, which the page downloads first; numbers are parsed in it anyway.
fn ten_to(power: i32) -> f64 {
    format!("1e{power}").parse().unwrap_or(f64::INFINITY)
}

/// A power of ten as text: `0.1`, `100`, `10G`.
fn power_label(power: i32) -> String {
    const SUFFIXES: [&str; 6] = ["", "k", "M", "G", "T", "P"];
    let suffix = usize::try_from(power.div_euclid(3)).ok().and_then(|i| SUFFIXES.get(i));
    match (power, suffix) {
        (_, Some(suffix)) => format!("{}{suffix}", ["1", "10", "100"][power.rem_euclid(3) as usize]),
        (-2, _) => "0.01".to_owned(),
        (-1, _) => "0.1".to_owned(),
        _ => format!("1e{power}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_cover_the_values_and_equal_ratios_are_equally_long() {
        let axis = Axis::decades("flop/B", [0.53, 223.8, 0.0, f64::NAN]);
        assert_eq!((axis.min, axis.max), (0.1, 1e3));
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0.1", "1", "10", "100", "1k"]);
        let step = axis.share(10.0) - axis.share(1.0);
        assert!((axis.share(100.0) - axis.share(10.0) - step).abs() < 1e-12);
        assert_eq!([-1.0, f64::NAN, 1e9].map(|v| axis.share(v)), [0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_logarithmic_axis_begins_and_ends_round_and_gives_ratios_equal_lengths() {
        let labels = |low, high| {
            let axis = Axis::logarithmic("x", low, high);
            assert!(axis.min <= low && axis.max >= high, "{axis:?}");
            axis.ticks.iter().map(|t| t.label.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(0.0652, 4.47), "0.05 0.1 0.2 0.5 1 2 5");
        assert_eq!(labels(1.0, 100.0), "1 2 5 10 20 50 100");
        assert_eq!(labels(3.0, 3.0), "2 5");
        assert_eq!(labels(0.003, 70_000.0), "0.01 0.1 1 10 100 1000 10k 100k");
        let axis = Axis::logarithmic("x", 1.0, 100.0);
        assert!(!Axis::logarithmic("x", 0.0, 100.0).is_logarithmic, "zero has no logarithm");
        assert_eq!([0.5, 1.0, 10.0, 100.0, 200.0].map(|v| axis.share(v)), [0.0, 0.0, 0.5, 1.0, 1.0]);
    }

    #[test]
    fn many_decades_have_few_ticks_and_no_values_a_decade() {
        assert!(Axis::decades("x", [1e-9, 1e14]).ticks.len() <= 10);
        assert_eq!(Axis::decades("x", []).ticks.len(), 2);
        assert_eq!([-3, -2, 0, 4, 11, 15, 18].map(power_label), ["1e-3", "0.01", "1", "10k", "100G", "1P", "1e18"]);
    }

    #[test]
    fn powers_of_ten_are_exact() {
        for power in -15..=15 {
            assert_eq!(ten_to(power), libm::exp10(f64::from(power)), "{power}");
        }
        assert_eq!((ten_to(-400), ten_to(300)), (0.0, 1e300));
    }
}
