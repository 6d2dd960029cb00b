//! A numeric axis, from zero or from a round value: round ticks that cover the values. `log_axis` makes logarithmic ones.

use serde::{Deserialize, Serialize};

use crate::text::three_decimals;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Axis {
    /// Its quantity, with the unit.
    pub title: String,
    /// The value at its start.
    pub min: f64,
    /// The value at its end.
    pub max: f64,
    /// Ticks from the beginning to the end.
    pub ticks: Vec<AxisTick>,
    /// Whether equal ratios have equal lengths.
    pub is_logarithmic: bool,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AxisTick {
    pub value: f64,
    pub label: String,
}

impl Axis {
    /// An axis from zero to a round value that is not below `largest`, with about `wanted` ticks.
    pub fn from_zero(title: &str, largest: f64, wanted: u32) -> Self {
        Self::between(title, 0.0, largest, wanted)
    }

    /// An axis for counts: from one whole number to another, with ticks at whole numbers.
    pub fn for_counts(title: &str, low: f64, high: f64, wanted: u32) -> Self {
        let axis = Self::between(title, low, high, wanted);
        let is_whole = |t: &AxisTick| t.value == libm::trunc(t.value);
        if axis.ticks.iter().all(is_whole) {
            return axis;
        }
        let (first, last) = (libm::floor(axis.min), libm::ceil(axis.max));
        // The step was below 1 or 2.5; the axis has at most this many whole numbers.
        let step = libm::ceil((last - first) / f64::from(wanted.max(1))).max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most `wanted` + 1")]
        let count = libm::ceil((last - first) / step).max(1.0) as u32;
        let tick = |i: u32| {
            let value = first + f64::from(i) * step;
            AxisTick { value, label: label(value, step) }
        };
        Self {
            title: title.to_owned(),
            min: first,
            max: first + f64::from(count) * step,
            ticks: (0..=count).map(tick).collect(),
            is_logarithmic: false,
        }
    }

    /// An axis from a round value that is not above `low` to one that is not below `high`, with about `wanted` ticks.
    pub fn between(title: &str, low: f64, high: f64, wanted: u32) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let high = if high.is_finite() && high > low { high } else { low + if low == 0.0 { 1.0 } else { low.abs() } };
        let raw = (high - low) / f64::from(wanted.max(1));
        let mut power = 1.0_f64;
        while power > raw {
            power /= 10.0;
        }
        while power * 10.0 <= raw {
            power *= 10.0;
        }
        let step =
            [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= raw * (1.0 - 1e-9)).unwrap_or(raw);
        let first = libm::floor(low / step + 1e-9);
        let last = libm::ceil(high / step - 1e-9).max(first + 1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "1 <= last - first <= wanted + 2")]
        let count = (last - first) as u32;
        let tick = |i: u32| {
            let value = (first + f64::from(i)) * step;
            AxisTick { value, label: label(value, step) }
        };
        let ticks = (0..=count).map(tick).collect();
        Self { title: title.to_owned(), min: first * step, max: last * step, ticks, is_logarithmic: false }
    }

    /// How far along the axis a value is, 0 to 1.
    pub fn share(&self, value: f64) -> f64 {
        if self.is_logarithmic {
            // Not a number is at the start, too.
            let value = value.max(self.min).min(self.max);
            return libm::log10(value / self.min) / libm::log10(self.max / self.min);
        }
        ((value - self.min) / (self.max - self.min)).clamp(0.0, 1.0)
    }
}

/// A tick's text with as many decimals as distinguish it from its neighbours.
fn label(value: f64, step: f64) -> String {
    // Steps far below the value need more digits than usual.
    if step < 1e-3 && value.abs() >= step && value.abs() < 1e4 {
        let decimals = libm::ceil(-libm::log10(step) + 0.5).clamp(0.0, 12.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 12")]
        let text = format!("{value:.*}", decimals as usize);
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    short(value)
}

/// A value with a suffix for thousands and millions.
pub(super) fn short(value: f64) -> String {
    match value.abs() {
        a if a >= 1e9 => format!("{}G", three_decimals(value / 1e9)),
        a if a >= 1e6 => format!("{}M", three_decimals(value / 1e6)),
        a if a >= 1e4 => format!("{}k", three_decimals(value / 1e3)),
        a if a > 0.0 && a < 1e-3 => format!("{value:e}"),
        _ => three_decimals(value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn axes_end_round_above_the_largest_value() {
        let labels = |largest| {
            Axis::from_zero("x", largest, 5).ticks.iter().map(|t| t.label.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(380_604.0), "0 100k 200k 300k 400k");
        assert_eq!(labels(0.031), "0 0.01 0.02 0.03 0.04");
        assert_eq!(labels(10.0), "0 2 4 6 8 10");
        assert_eq!(labels(f64::NAN), "0 0.2 0.4 0.6 0.8 1");
    }

    #[test]
    fn counts_have_whole_ticks() {
        let labels = |high, wanted| {
            let axis = Axis::for_counts("Models", 0.0, high, wanted);
            assert!(axis.min == 0.0 && axis.max >= high, "{axis:?}");
            axis.ticks.iter().map(|t| t.label.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(2.0, 6), "0 1 2");
        assert_eq!(labels(1.0, 6), "0 1");
        assert_eq!(labels(10.0, 4), "0 3 6 9 12");
        assert_eq!(labels(64.0, 6), "0 20 40 60 80");
        assert_eq!(labels(380_604.0, 5), "0 100k 200k 300k 400k");
    }

    #[test]
    fn axes_between_values_begin_round_and_tell_their_ticks_apart() {
        let labels = |low, high| {
            let axis = Axis::between("x", low, high, 4);
            // A round value may be off by the last digit in binary.
            let off = 1e-12 * high;
            assert!(axis.min <= low + off && axis.max >= high - off && axis.share(axis.min) == 0.0, "{axis:?}");
            axis.ticks.iter().map(|t| t.label.clone()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(3.21, 3.29), "3.2 3.22 3.24 3.26 3.28 3.3");
        assert_eq!(labels(0.0311, 0.0313), "0.0311 0.03115 0.0312 0.03125 0.0313");
        assert_eq!(labels(5.0, 5.0), "4 6 8 10");
    }
}
