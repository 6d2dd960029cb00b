//! A logarithmic axis over whole decades.

use serde::{Deserialize, Serialize};

use super::AxisTick;

/// An axis on which equal ratios have equal lengths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LogAxis {
    /// Its quantity, with the unit.
    pub title: String,
    /// Power of ten at its start.
    pub first: i32,
    /// Power of ten at its end.
    pub last: i32,
    /// A tick for each decade, or for every second or third one if there are many.
    pub ticks: Vec<AxisTick>,
}

/// The most ticks: more do not fit.
const MOST_TICKS: i32 = 9;

impl LogAxis {
    /// An axis over all decades that these values touch; values that are not positive are ignored.
    #[must_use]
    pub fn covering(title: &str, values: impl IntoIterator<Item = f64>) -> Self {
        let kept = values.into_iter().filter(|v| v.is_finite() && *v > 0.0);
        let (low, high) = kept.fold((f64::INFINITY, 0.0_f64), |(low, high), v| (low.min(v), high.max(v)));
        let (low, high) = if low.is_finite() { (low, high) } else { (1.0, 10.0) };
        #[allow(clippy::cast_possible_truncation, reason = "powers of ten of finite numbers")]
        let (first, mut last) = (libm::floor(libm::log10(low)) as i32, libm::ceil(libm::log10(high)) as i32);
        last = last.max(first + 1);
        let step = ((last - first + MOST_TICKS - 1) / MOST_TICKS).max(1);
        let tick = |power: i32| AxisTick { value: ten_to(power), label: power_label(power) };
        let ticks = (first..=last).filter(|p| (p - first) % step == 0).map(tick).collect();
        Self { title: title.to_owned(), first, last, ticks }
    }

    /// How far along the axis a value is, 0 to 1; values that are not positive are at the start.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        if value <= 0.0 || !value.is_finite() {
            return 0.0;
        }
        let decades = f64::from(self.last - self.first);
        ((libm::log10(value) - f64::from(self.first)) / decades).clamp(0.0, 1.0)
    }

    #[must_use]
    pub fn min(&self) -> f64 {
        ten_to(self.first)
    }

    #[must_use]
    pub fn max(&self) -> f64 {
        ten_to(self.last)
    }
}

/// A power of ten. `libm::exp10` would bring tables of 6 KB, which the page downloads first; numbers are parsed in it anyway.
pub(super) fn ten_to(power: i32) -> f64 {
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
        let axis = LogAxis::covering("flop/B", [0.53, 223.8, 0.0, f64::NAN]);
        assert_eq!((axis.first, axis.last), (-1, 3));
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["0.1", "1", "10", "100", "1k"]);
        let step = axis.share(10.0) - axis.share(1.0);
        assert!((axis.share(100.0) - axis.share(10.0) - step).abs() < 1e-12);
        assert_eq!((axis.share(-1.0), axis.share(1e9)), (0.0, 1.0));
    }

    #[test]
    fn many_decades_have_few_ticks_and_no_values_a_decade() {
        assert!(LogAxis::covering("x", [1e-9, 1e14]).ticks.len() <= 10);
        assert_eq!(LogAxis::covering("x", []).ticks.len(), 2);
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
