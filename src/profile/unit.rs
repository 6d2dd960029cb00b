//! The unit of the numbers along a profile's axis.

use serde::{Deserialize, Serialize};

use ns_base::convert::i64_to_f64;
use ns_base::units::{format_count, format_ns, format_place};

/// The unit of the axis. Profiles of stacks that were counted and not timed have samples, bytes or another unit; one of them
/// is stored as one nanosecond, and shown in its own unit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unit {
    /// A nanosecond.
    #[default]
    Ns,
    /// Something counted, by its name in the plural: `samples`.
    Counted(String),
    /// Something counted that has fractions: its name in the plural, and the name of its millionths, of which one is stored as one
    /// nanosecond.
    Millionths(String, String),
}

/// Millionths of one.
pub(crate) const PARTS: i64 = 1_000_000;

impl Unit {
    /// The unit for a kind of thing that is counted.
    #[must_use]
    pub fn count_of(plural: &str) -> Self {
        Self::Counted(plural.to_owned())
    }

    /// The unit for a kind of thing of which there are fractions.
    #[must_use]
    pub fn millionths_of(plural: &str) -> Self {
        Self::Millionths(plural.to_owned(), format!("millionths of {plural}"))
    }

    /// The number of things that a stored length is, if they have fractions.
    pub fn fraction(&self, value: i64) -> Option<f64> {
        matches!(self, Self::Millionths(..)).then(|| i64_to_f64(value) / i64_to_f64(PARTS))
    }

    /// Its name, as in the head of a column: `ns`, `samples`.
    pub fn name(&self) -> &str {
        match self {
            Self::Ns => "ns",
            Self::Counted(plural) | Self::Millionths(_, plural) => plural,
        }
    }

    /// A number without rounding: `11,452 ns`, `1,500 samples`.
    pub fn exact(&self, value: i64) -> String {
        let sign = if value < 0 { "\u{2212}" } else { "" };
        if let Self::Millionths(plural, _) = self {
            let (parts, of) = (value.unsigned_abs(), PARTS.unsigned_abs());
            let fraction = format!(".{:06}", parts % of);
            let fraction = fraction.trim_end_matches('0').trim_end_matches('.');
            return format!("{sign}{}{fraction} {plural}", format_count(parts / of));
        }
        format!("{sign}{} {}", format_count(value.unsigned_abs()), self.name())
    }

    /// A point on the axis for display: `717.554 ms`, `1,500 samples`.
    pub fn place(&self, value: i64) -> String {
        match self {
            Self::Ns => format_place(value),
            Self::Counted(_) | Self::Millionths(..) => self.exact(value),
        }
    }

    /// A length for display: `1.50 ms`, `1,500 samples`.
    pub fn text(&self, value: i64) -> String {
        match self {
            Self::Ns => format_ns(i64_to_f64(value)),
            Self::Millionths(..) => self.exact(value),
            Self::Counted(plural) => {
                let sign = if value < 0 { "-" } else { "" };
                format!("{sign}{} {plural}", format_count(value.unsigned_abs()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_are_not_nanoseconds() {
        assert_eq!(Unit::count_of("samples").text(1500), "1,500 samples");
        assert_eq!(Unit::count_of("samples").text(-3), "-3 samples");
        assert_eq!(Unit::count_of("samples").exact(-3), "\u{2212}3 samples");
        let parts = Unit::millionths_of("samples");
        assert_eq!((parts.text(812_500), parts.fraction(812_500)), ("0.8125 samples".to_owned(), Some(0.8125)));
        assert_eq!(parts.name(), "millionths of samples");
        assert_eq!(Unit::Ns.exact(11_452), "11,452 ns");
        assert_eq!((Unit::Ns.text(1500), Unit::Ns.name()), ("1.50 \u{b5}s".to_owned(), "ns"));
    }
}
