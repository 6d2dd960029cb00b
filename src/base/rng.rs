//! Seeded random numbers with distributions of our own, so that a library release never changes a result.

use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg32;

use super::convert::{u32_to_f32, u64_to_f64};

/// A deterministic stream of random numbers: PCG-32 with a stream chosen by the caller.
#[derive(Clone, Debug)]
pub struct Rng(Pcg32);

impl Rng {
    /// A stream for (seed, stream). Streams of one seed are independent.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Pcg32::new(seed, stream))
    }

    /// A stream for a seed alone.
    #[must_use]
    pub fn from_seed(seed: u64) -> Self {
        Self(Pcg32::seed_from_u64(seed))
    }

    /// A uniform `u32`.
    pub fn next_u32(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// A uniform `u64`.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in `[0, 1)` with 53 bits.
    pub fn unit_f64(&mut self) -> f64 {
        u64_to_f64(self.next_u64() >> 11) / u64_to_f64(1 << 53)
    }

    /// Uniform in `[0, 1)` with 24 bits.
    pub fn unit_f32(&mut self) -> f32 {
        u32_to_f32(self.next_u32() >> 8) / u32_to_f32(1 << 24)
    }

    /// Uniform in `[low, high)`.
    pub fn uniform_f32(&mut self, low: f32, high: f32) -> f32 {
        low + (high - low) * self.unit_f32()
    }

    /// Standard normal (Box-Muller, one of the pair).
    pub fn normal_f64(&mut self) -> f64 {
        let u = 1.0 - self.unit_f64();
        let v = self.unit_f64();
        libm::sqrt(-2.0 * libm::log(u)) * libm::cos(2.0 * std::f64::consts::PI * v)
    }

    /// Exponential with mean 1.
    pub fn exponential_f64(&mut self) -> f64 {
        -libm::log(1.0 - self.unit_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_for_ever() {
        let mut r = Rng::new(0, 0);
        let first: Vec<u32> = (0..4).map(|_| r.next_u32()).collect();
        let mut again = Rng::new(0, 0);
        assert_eq!(first, (0..4).map(|_| again.next_u32()).collect::<Vec<_>>());
        let mut other = Rng::new(0, 1);
        assert_ne!(first[0], other.next_u32());
    }

    #[test]
    fn moments_are_right() {
        let mut r = Rng::from_seed(7);
        let n = 20_000;
        let (mut sum, mut sq, mut exp) = (0.0, 0.0, 0.0);
        for _ in 0..n {
            let x = r.normal_f64();
            sum += x;
            sq += x * x;
            exp += r.exponential_f64();
        }
        let n = f64::from(n);
        assert!((sum / n).abs() < 0.03 && (sq / n - 1.0).abs() < 0.05 && (exp / n - 1.0).abs() < 0.05);
    }
}
