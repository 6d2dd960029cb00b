//! A mean with its standard deviation, and how errors propagate.

use crate::base::convert::real_len;

/// A number and its standard deviation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measure {
    /// The number.
    pub avg: f64,
    /// Its deviation.
    pub std: f64,
}

impl Measure {
    /// `self / other`, with both relative deviations added in quadrature.
    #[must_use]
    pub fn over(self, other: Self) -> Self {
        let (a, b) = (self.std / self.avg, other.std / other.avg);
        let avg = self.avg / other.avg;
        Self { avg, std: avg * libm::sqrt(b * b + a * a) }
    }

    /// The geometric mean, with the deviation `g / n * sqrt(sum((std / avg)^2))`. `None` when there is nothing.
    #[must_use]
    pub fn geometric_mean(values: &[Self]) -> Option<Self> {
        if values.is_empty() {
            return None;
        }
        let n = real_len(values.len());
        let avg = libm::exp(values.iter().map(|v| libm::log(v.avg)).sum::<f64>() / n);
        let squares: f64 = values.iter().map(|v| (v.std / v.avg) * (v.std / v.avg)).sum();
        Some(Self { avg, std: avg / n * libm::sqrt(squares) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_and_means_carry_their_errors() {
        let (a, b) = (Measure { avg: 2.0, std: 0.3 }, Measure { avg: 4.0, std: 0.8 });
        let ratio = a.over(b);
        assert_eq!(ratio.avg, 0.5);
        assert!((ratio.std - 0.5 * libm::sqrt(0.15 * 0.15 + 0.2 * 0.2)).abs() < 1e-15);
        let mean = Measure::geometric_mean(&[a, Measure { avg: 8.0, std: 0.0 }]).unwrap();
        assert!((mean.avg - 4.0).abs() < 1e-12 && (mean.std - 4.0 / 2.0 * 0.15).abs() < 1e-12);
        assert_eq!(Measure::geometric_mean(&[]), None);
    }
}
