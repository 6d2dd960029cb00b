//! A numeric axis from zero: round ticks that cover the values.

use crate::view::text::three_decimals;

/// An axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it measures, with its unit.
    pub title: String,
    /// The value at its end; it begins at zero.
    pub max: f64,
    /// Ticks from the beginning to the end.
    pub ticks: Vec<AxisTick>,
}

/// A tick.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisTick {
    /// Its value.
    pub value: f64,
    /// What it says.
    pub label: String,
}

impl Axis {
    /// An axis from zero to a round value that is not below `largest`, with about `wanted` ticks.
    #[must_use]
    pub fn from_zero(title: &str, largest: f64, wanted: u32) -> Self {
        let largest = if largest.is_finite() && largest > 0.0 { largest } else { 1.0 };
        let raw = largest / f64::from(wanted.max(1));
        let mut power = 1.0_f64;
        while power > raw {
            power /= 10.0;
        }
        while power * 10.0 <= raw {
            power *= 10.0;
        }
        let step = [1.0, 2.0, 2.5, 5.0, 10.0].iter().map(|m| m * power).find(|s| *s >= raw).unwrap_or(raw);
        let steps = libm::ceil(largest / step - 1e-9).max(1.0);
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 1 <= steps <= wanted + 1
        let count = steps as u32;
        let tick = |i: u32| {
            let value = f64::from(i) * step;
            AxisTick { value, label: short(value) }
        };
        Self { title: title.to_owned(), max: steps * step, ticks: (0..=count).map(tick).collect() }
    }

    /// How far along the axis a value is, 0 to 1.
    #[must_use]
    pub fn share(&self, value: f64) -> f64 {
        (value / self.max).clamp(0.0, 1.0)
    }
}

/// A value with a suffix for thousands and millions.
fn short(value: f64) -> String {
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
}
