//! The three clocks of the product, as three types that are never converted into one another.
//!
//! * [`SimTime`]: simulated time, integer picoseconds. A cycle of a 2.8 GHz engine is 357.14 ps, so nanoseconds would
//!   lose it. Cycles are converted once per instruction.
//! * [`WallNs`]: wall time measured by a shell's clock. Always labelled as measured where it is shown.
//! * [`TraceNs`]: time read from a file (or written into a profile), integer nanoseconds.

use crate::Order;
use std::ops::{Add, AddAssign, Sub};

use serde::{Deserialize, Serialize};

use super::convert::{f64_to_u64, u64_to_f64};

/// Simulated time or a simulated duration, in integer picoseconds. 2^64 ps is 213 days.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SimTime(pub u64);

impl SimTime {
    /// The start of a simulation.
    pub const ZERO: Self = Self(0);

    /// Whole nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns.saturating_mul(1_000))
    }

    /// Whole microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us.saturating_mul(1_000_000))
    }

    /// Whole seconds.
    #[must_use]
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000_000))
    }

    /// A duration in seconds, rounded to the nearest picosecond; negative and NaN give zero.
    #[must_use]
    pub fn from_secs_f64(secs: f64) -> Self {
        Self::from_ps_f64(secs * 1e12)
    }

    /// A duration in nanoseconds, rounded to the nearest picosecond; negative and NaN give zero.
    #[must_use]
    pub fn from_ns_f64(ns: f64) -> Self {
        Self::from_ps_f64(ns * 1e3)
    }

    fn from_ps_f64(ps: f64) -> Self {
        Self(f64_to_u64(ps + 0.5))
    }

    /// Nanoseconds, rounded half up, as in profiles and reports.
    pub const fn to_ns(self) -> u64 {
        (self.0 + 500) / 1_000
    }

    /// Milliseconds, exact to f64.
    pub fn to_ms_f64(self) -> f64 {
        u64_to_f64(self.0) / 1e9
    }

    /// Seconds, exact to f64.
    pub fn to_secs_f64(self) -> f64 {
        u64_to_f64(self.0) / 1e12
    }

    /// `self - earlier`, or zero when `earlier` is later.
    #[must_use]
    pub const fn saturating_sub(self, earlier: Self) -> Self {
        Self(self.0.saturating_sub(earlier.0))
    }

    /// This duration `n` times, saturating.
    #[must_use]
    pub const fn times(self, n: u64) -> Self {
        Self(self.0.saturating_mul(n))
    }
}

impl Add for SimTime {
    type Output = Self;
    fn add(self, rhs: Self) -> Self {
        Self(self.0.saturating_add(rhs.0))
    }
}

impl AddAssign for SimTime {
    fn add_assign(&mut self, rhs: Self) {
        *self = *self + rhs;
    }
}

impl Sub for SimTime {
    type Output = Self;
    /// Saturates at zero: a duration is never negative.
    fn sub(self, rhs: Self) -> Self {
        self.saturating_sub(rhs)
    }
}

impl std::iter::Sum for SimTime {
    fn sum<I: Iterator<Item = Self>>(iter: I) -> Self {
        iter.fold(Self::ZERO, Add::add)
    }
}

/// Measured wall time in nanoseconds since an origin the clock chooses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct WallNs(pub u64);

/// A time or duration read from a file, in integer nanoseconds, relative to the origin of its profile.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TraceNs(pub i64);

/// A half-open span `[start, end)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Interval<T> {
    /// First instant inside.
    pub start: T,
    /// First instant after.
    pub end: T,
}

impl<T: Copy + Ord> Interval<T> {
    /// A span from `start` to `end`; an `end` before `start` gives an empty span at `start`.
    pub fn new(start: T, end: T) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Whether `t` lies inside.
    pub fn contains(&self, t: T) -> bool {
        self.start <= t && t < self.end
    }

    /// Whether the two spans share an instant.
    pub fn overlaps(&self, other: &Self) -> bool {
        self.start < other.end && other.start < self.end
    }

    /// Whether the interval has no length.
    pub fn is_empty(&self) -> bool {
        self.start >= self.end
    }

    /// Merges spans that touch or overlap; the result is sorted and disjoint. Every "active time" is computed this
    /// way.
    pub fn merge(mut spans: Vec<Self>) -> Vec<Self> {
        spans.retain(|s| !s.is_empty());
        spans.order_by_key(|s| s.start);
        let mut merged: Vec<Self> = Vec::new();
        for span in spans {
            match merged.last_mut() {
                Some(last) if span.start <= last.end => last.end = last.end.max(span.end),
                _ => merged.push(span),
            }
        }
        merged
    }
}

impl Interval<TraceNs> {
    /// Total length of disjoint spans, nanoseconds.
    pub fn total_ns(disjoint: &[Self]) -> i64 {
        disjoint.iter().map(|s| s.end.0.saturating_sub(s.start.0)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nanoseconds_round_half_up() {
        assert_eq!(SimTime(1_499).to_ns(), 1);
        assert_eq!(SimTime(1_500).to_ns(), 2);
        assert_eq!(SimTime::from_secs_f64(-1.0), SimTime::ZERO);
        assert_eq!(SimTime::from_secs_f64(f64::NAN), SimTime::ZERO);
    }

    #[test]
    fn merge_joins_touching_spans_and_drops_empty_ones() {
        let spans = vec![Interval::new(5, 7), Interval::new(0, 2), Interval::new(2, 3), Interval::new(9, 9)];
        assert_eq!(Interval::merge(spans), vec![Interval::new(0, 3), Interval::new(5, 7)]);
    }
}
