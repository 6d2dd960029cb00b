//! Shared by the sampled formats: weights that need not be times, limits.

use crate::decimal::TimeUnit;
use crate::interface::profile_too_large;
use crate::json::Value;
use ns_base::Diagnostics;
use ns_base::Refusal;
use ns_profile::{ProfileBuilder, Unit};

/// Number of slices that samples may make in addition to the bytes of the file: more only come from hostile files.
const FREE_SLICES: u64 = 50_000_000;

/// The unit of a number in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WeightUnit {
    /// A time.
    Time(TimeUnit),
    /// Another unit; one unit is stored as one nanosecond.
    Count,
    /// Another unit that has fractions: a millionth is stored as one nanosecond.
    Millionths,
}

/// The unit in which the millionths of a count are nanoseconds.
pub(super) const MILLIONTHS: TimeUnit = TimeUnit::Ms;

/// Whether a count in millionths is not whole.
pub(super) const fn has_fraction(millionths: i64) -> bool {
    millionths % 1_000_000 != 0
}

impl WeightUnit {
    /// By name: `seconds`, `us`, `nanoseconds`, `bytes`.
    pub fn from_name(name: &str) -> Self {
        match name {
            "nanoseconds" | "nanosecond" | "ns" => Self::Time(TimeUnit::Ns),
            "microseconds" | "microsecond" | "us" | "\u{b5}s" => Self::Time(TimeUnit::Us),
            "milliseconds" | "millisecond" | "ms" => Self::Time(TimeUnit::Ms),
            "seconds" | "second" | "s" => Self::Time(TimeUnit::S),
            _ => Self::Count,
        }
    }

    /// The unit that counts have if any of these numbers has a fraction.
    pub fn of_counts<'a>(self, mut numbers: impl Iterator<Item = Value<'a>>) -> Self {
        let is_fraction = |n: Value<'_>| n.ns(MILLIONTHS).is_some_and(has_fraction);
        if self == Self::Count && numbers.any(is_fraction) { Self::Millionths } else { self }
    }

    /// The number as nanoseconds.
    pub fn ns(self, value: Value<'_>) -> Option<i64> {
        match self {
            Self::Time(unit) => value.ns(unit),
            Self::Count => value.ns(TimeUnit::Ns),
            Self::Millionths => value.ns(MILLIONTHS),
        }
    }

    /// A whole number as nanoseconds.
    pub fn scale(self, value: i64) -> i64 {
        match self {
            Self::Time(unit) => value.saturating_mul(10i64.pow(unit as u32)),
            Self::Millionths => value.saturating_mul(10i64.pow(MILLIONTHS as u32)),
            Self::Count => value,
        }
    }

    /// Adds a diagnostic when lengths are not times, and gives the profile their unit.
    pub fn note(self, unit_name: &str, builder: &mut ProfileBuilder, diagnostics: &mut Diagnostics) {
        let name = if unit_name.is_empty() || unit_name == "none" { "counts" } else { unit_name };
        if self == Self::Millionths {
            builder.set_unit(Unit::millionths_of(name));
            diagnostics.add("weights_have_fractions", None, || {
                format!("the weights are {name} with fractions, not times: a millionth is stored as 1 ns, and texts show {name}")
            });
        }
        if self == Self::Count {
            builder.set_unit(Unit::count_of(name));
            diagnostics.add("weights_are_no_times", None, || {
                format!(
                    "the weights are {name}, not times: one is stored as 1 ns, and tables and flame graphs show {name}"
                )
            });
        }
    }
}

/// Checks that samples have not made more slices than an honest file of this size can hold.
pub(super) fn check_slices(builder: &ProfileBuilder, text_bytes: usize) -> Result<(), Refusal> {
    if builder.slice_count() > FREE_SLICES + text_bytes as u64 {
        return Err(profile_too_large(builder.events(), builder.bytes() as u64));
    }
    Ok(())
}

/// Counts a broken sample or event with its place.
pub(super) fn bad_sample(diagnostics: &mut Diagnostics, at: Option<Value<'_>>, what: &str) {
    diagnostics.add("bad_sample", at.map(Value::offset), || format!("{what}: skipped"));
}

/// Reports numbers that belong to samples and have none.
pub(super) fn left_over<'a>(diagnostics: &mut Diagnostics, mut rest: impl Iterator<Item = Value<'a>>, what: &str) {
    let Some(first) = rest.next() else { return };
    let count = 1 + rest.count() as u64;
    diagnostics.add_many("more_values_than_samples", count, Some(first.offset()), || {
        format!("there are more {what} than samples: those without a sample are not shown")
    });
}
