//! Floating point formats of a NeuronCore, and how values are rounded to them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::round::{round_bf16, round_f16};
use ns_base::convert::f64_to_f32;
use ns_base::{Rng, names};

/// A floating point format that a matrix product or a stored value can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FloatFormat {
    /// IEEE single precision: 8 exponent bits, 23 mantissa bits.
    Fp32,
    /// TensorFloat: the range of single precision with 10 mantissa bits, in 32 bits of memory.
    Tf32,
    /// bfloat16: 8 exponent bits, 7 mantissa bits.
    Bf16,
    /// IEEE half precision: 5 exponent bits, 10 mantissa bits.
    Fp16,
    /// 8 bits: 4 exponent bits, 3 mantissa bits, with infinities. Its largest number is 240. This is the `F8E4M3` that
    /// Trn1 and Trn2 support, not `F8E4M3FN` (largest number 448, no infinities).
    Fp8E4m3,
}

names! {
    /// How a value between two numbers of a format is rounded to one of them.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Rounding {
        /// To the nearest, ties to even: the default of every NeuronCore.
        #[default]
        Rne = "rne",
        /// Up or down at random; the nearer number is more likely, so that the mean of many roundings is the value itself.
        Stochastic = "stochastic",
    }

    /// `rne` or `stochastic`.
    pub const fn name(self) -> &'static str;
    /// The rounding with this name.
    pub fn from_name(name: &str) -> Option<Self>;
}

impl fmt::Display for Rounding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FloatFormat {
    /// All formats, widest first.
    pub const ALL: [Self; 5] = [Self::Fp32, Self::Tf32, Self::Bf16, Self::Fp16, Self::Fp8E4m3];

    /// Bytes of a value in memory.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::Fp32 | Self::Tf32 => 4,
            Self::Bf16 | Self::Fp16 => 2,
            Self::Fp8E4m3 => 1,
        }
    }

    /// Passes through the array for a product: four for single precision, one for all narrower formats.
    pub const fn matmul_passes(self) -> u32 {
        match self {
            Self::Fp32 => 4,
            Self::Tf32 | Self::Bf16 | Self::Fp16 | Self::Fp8E4m3 => 1,
        }
    }

    /// Mantissa bits that are stored.
    pub const fn mantissa_bits(self) -> u32 {
        match self {
            Self::Fp32 => 23,
            Self::Tf32 | Self::Fp16 => 10,
            Self::Bf16 => 7,
            Self::Fp8E4m3 => 3,
        }
    }

    /// Exponent of the smallest normal number: below it numbers are evenly spaced.
    const fn min_exponent(self) -> i32 {
        match self {
            Self::Fp32 | Self::Tf32 | Self::Bf16 => -126,
            Self::Fp16 => -14,
            Self::Fp8E4m3 => -6,
        }
    }

    /// The largest finite number.
    pub fn max_finite(self) -> f32 {
        match self {
            Self::Fp32 => f32::MAX,
            Self::Tf32 => f32::from_bits(0x7f7f_e000),
            Self::Bf16 => f32::from_bits(0x7f7f_0000),
            Self::Fp16 => 65_504.0,
            Self::Fp8E4m3 => 240.0,
        }
    }

    /// The nearest number of the format, ties to even. Beyond the largest one by half a step or more it is infinite.
    pub fn round_nearest(self, v: f32) -> f32 {
        match self {
            Self::Fp32 => v,
            Self::Bf16 => round_bf16(v),
            Self::Fp16 => round_f16(v),
            Self::Tf32 | Self::Fp8E4m3 => {
                if !v.is_finite() || v == 0.0 {
                    return v;
                }
                // Scaled so that the last kept bit is worth one: exact, because the scale is a power of two.
                let scale = pow2(self.step_exponent(v));
                let units = f64::from(v) / scale;
                let below = libm::floor(units);
                let rest = units - below;
                let up = rest > 0.5 || (rest == 0.5 && libm::fmod(below, 2.0) != 0.0);
                self.saturate(f64_to_f32((below + f64::from(u8::from(up))) * scale))
            }
        }
    }

    /// One of the two numbers of the format around `v`. `unit` is uniform in `[0, 1)`; the result is the upper number
    /// when `unit` is below the relative position of `v` between the two. A number of the format does not change.
    pub fn round_with(self, v: f32, unit: f64) -> f32 {
        if self == Self::Fp32 || !v.is_finite() || v == 0.0 {
            return v;
        }
        let scale = pow2(self.step_exponent(v));
        let units = f64::from(v) / scale;
        let below = libm::floor(units);
        let up = unit < units - below;
        self.saturate(f64_to_f32((below + f64::from(u8::from(up))) * scale))
    }

    /// Exponent of the distance between neighbouring numbers of the format around a finite `v`.
    fn step_exponent(self, v: f32) -> i32 {
        let exponent = libm::frexpf(v).1 - 1;
        exponent.max(self.min_exponent()) - self.mantissa_bits().cast_signed()
    }

    fn saturate(self, v: f32) -> f32 {
        if v.abs() > self.max_finite() { f32::INFINITY.copysign(v) } else { v }
    }
}

impl fmt::Display for FloatFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fp32 => "fp32",
            Self::Tf32 => "tf32",
            Self::Bf16 => "bf16",
            Self::Fp16 => "fp16",
            Self::Fp8E4m3 => "fp8_e4m3",
        })
    }
}

/// A power of two as a double; exact for every exponent that single precision can have.
fn pow2(exponent: i32) -> f64 {
    libm::ldexp(1.0, exponent)
}

/// Rounds values in one way. Stochastic rounding has its own random stream and draws one number for each finite value
/// that is not exact, so that the same values in the same order give the same results.
#[derive(Clone, Debug)]
pub struct Rounder {
    rounding: Rounding,
    rng: Rng,
}

impl Rounder {
    /// A rounder with a stream of random numbers.
    #[must_use]
    pub fn new(rounding: Rounding, rng: Rng) -> Self {
        Self { rounding, rng }
    }

    /// The value in a format.
    pub fn round(&mut self, format: FloatFormat, v: f32) -> f32 {
        match self.rounding {
            Rounding::Rne => format.round_nearest(v),
            Rounding::Stochastic => format.round_with(v, self.rng.unit_f64()),
        }
    }

    /// Every value of a slice in a format.
    pub fn round_slice(&mut self, format: FloatFormat, values: &mut [f32]) {
        if format != FloatFormat::Fp32 {
            for v in values {
                *v = self.round(format, *v);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Rng;
    use proptest::prelude::*;

    fn repeated_half(rounding: Rounding, seed: u64) -> f32 {
        let mut rounder = Rounder::new(rounding, Rng::from_seed(seed));
        (0..2048).fold(1024.0f32, |x, _| rounder.round(FloatFormat::Fp16, x + 0.5))
    }

    #[test]
    fn adding_halves_to_1024_in_fp16_grows_only_under_stochastic_rounding() {
        // The published vector of Neuron's rounding modes: 2048 additions of 0.5 leave 1024 to nearest even, and come to
        // about 2056 stochastically; the exact sum is 2048.
        assert_eq!(repeated_half(Rounding::Rne, 0), 1024.0);
        let sums: Vec<f32> = (0..40).map(|seed| repeated_half(Rounding::Stochastic, seed)).collect();
        let mean = sums.iter().sum::<f32>() / 40.0;
        // Each of 2048 steps is 0 or 1: the standard deviation of a sum is 22.6, of the mean of forty 3.6.
        assert!((mean - 2048.0).abs() < 12.0, "{mean}");
        assert!(sums.iter().all(|s| (s - 2048.0).abs() < 100.0), "{sums:?}");
        assert!(sums.iter().any(|s| *s != sums[0]));
    }

    #[test]
    fn fp8_is_the_format_with_infinities() {
        let f = FloatFormat::Fp8E4m3;
        for (v, expected) in [
            (240.0, 240.0),
            (247.9, 240.0),
            (248.0, f32::INFINITY),
            (-1e9, f32::NEG_INFINITY),
            (17.0, 16.0),
            (19.0, 20.0),
            (1.0 / 512.0, 1.0 / 512.0),
            (1.0 / 1024.0, 0.0),
            (1.5 / 512.0, 2.0 / 512.0),
        ] {
            assert_eq!(f.round_nearest(v), expected, "{v}");
        }
        assert!(f.round_nearest(f32::NAN).is_nan());
    }

    #[test]
    fn tf32_keeps_ten_bits_and_the_range() {
        let f = FloatFormat::Tf32;
        assert_eq!(f.round_nearest(1.0 + 1.0 / 2048.0), 1.0);
        assert_eq!(f.round_nearest(1.0 + 3.0 / 2048.0), 1.0 + 2.0 / 1024.0);
        assert!((f.round_nearest(1e38) / 1e38 - 1.0).abs() <= 1.0 / 2048.0);
        assert_eq!(f.round_nearest(f32::MAX), f32::INFINITY);
    }

    #[test]
    fn the_mean_of_stochastic_roundings_is_the_value() {
        let mut rounder = Rounder::new(Rounding::Stochastic, Rng::from_seed(1));
        for format in [FloatFormat::Tf32, FloatFormat::Bf16, FloatFormat::Fp16, FloatFormat::Fp8E4m3] {
            let v = 3.312_345_7f32;
            let n = 20_000;
            let sum: f64 = (0..n).map(|_| f64::from(rounder.round(format, v))).sum();
            let step = pow2(1 - format.mantissa_bits() as i32);
            // Four standard deviations of a mean whose single values are one step apart.
            let allowed = 4.0 * step * 0.5 / f64::from(n).sqrt();
            assert!((sum / f64::from(n) - f64::from(v)).abs() < allowed, "{format}");
        }
    }

    proptest! {
        #[test]
        fn rounding_gives_a_neighbour_and_is_the_identity_on_the_format(
            bits in any::<u32>(), unit in 0.0f64..1.0, index in 0usize..5
        ) {
            let (format, v) = (FloatFormat::ALL[index], f32::from_bits(bits));
            let (near, random) = (format.round_nearest(v), format.round_with(v, unit));
            for r in [near, random] {
                prop_assert_eq!(r.is_nan(), v.is_nan());
                if !v.is_nan() {
                    prop_assert_eq!(format.round_nearest(r).to_bits(), r.to_bits());
                    prop_assert_eq!(format.round_with(r, unit).to_bits(), r.to_bits());
                }
            }
            if near.is_finite() && random.is_finite() {
                let error = |r: f32| (f64::from(r) - f64::from(v)).abs();
                prop_assert!(error(near) <= error(random));
                prop_assert!(error(random) < pow2(format.step_exponent(v)));
            }
        }

        #[test]
        fn the_general_path_agrees_with_the_half_crate(v in any::<f32>()) {
            // Both narrow formats again, by way of the two neighbours that stochastic rounding chooses from.
            for format in [FloatFormat::Bf16, FloatFormat::Fp16] {
                let near = format.round_nearest(v);
                let (low, high) = (format.round_with(v, 0.999_999_999), format.round_with(v, 0.0));
                prop_assert!(near.is_nan() || near == low || near == high, "{} {} {}", near, low, high);
            }
        }
    }
}
