//! A summary as a list of named values, in one order for the table, the JSON and the page.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::names;

/// One value of a summary.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Metric {
    /// Name: `mfu_estimated_percent`.
    pub name: String,
    pub value: MetricValue,
    pub unit: Unit,
}

/// A whole number or a real one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum MetricValue {
    /// A count, or bytes.
    Count(u64),
    /// A time, a share, a rate.
    Real(f64),
}

names! {
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum Unit {
        /// Seconds.
        Seconds = "s",
        /// Nanoseconds.
        Nanoseconds = "ns",
        /// 0 to 100.
        Percent = "%",
        /// Bytes.
        Bytes = "B",
        /// Floating point operations.
        Flops = "flop",
        /// 10^12 floating point operations per second.
        TflopsPerSecond = "TFLOPS",
        /// Floating point operations per byte.
        FlopsPerByte = "flop/B",
        /// How many.
        Count = "",
    }

    /// The symbol in tables; empty for a count.
    pub const fn symbol(self) -> &'static str;
}

impl Metric {
    /// The value with its unit, for display: `7.20 us`, `24.0 MiB`, `84.6 %`.
    pub fn text(&self) -> String {
        use ns_base::units::{format_bytes, format_count, format_ns, format_number, format_percent};
        match (self.value, self.unit) {
            (MetricValue::Count(n), Unit::Bytes) => format_bytes(u64_to_f64(n)),
            (MetricValue::Real(x), Unit::Bytes) => format_bytes(x),
            (MetricValue::Real(s), Unit::Seconds) => format_ns(s * 1e9),
            (MetricValue::Real(ns), Unit::Nanoseconds) => format_ns(ns),
            (MetricValue::Count(n), unit) => format!("{} {}", format_count(n), unit.symbol()).trim_end().to_owned(),
            (MetricValue::Real(x), Unit::Percent) if x == 0.0 || x.abs() >= 0.01 => format_percent(x),
            (MetricValue::Real(x), unit) => format!("{} {}", format_number(x), unit.symbol()).trim_end().to_owned(),
        }
    }
}

/// The types of a summary's fields.
pub(super) trait MetricField {
    /// The value; `None` when it is absent.
    fn metric_value(&self) -> Option<MetricValue>;
}

impl MetricField for u64 {
    fn metric_value(&self) -> Option<MetricValue> {
        Some(MetricValue::Count(*self))
    }
}

impl MetricField for f64 {
    fn metric_value(&self) -> Option<MetricValue> {
        Some(MetricValue::Real(*self))
    }
}

impl<T: MetricField> MetricField for Option<T> {
    fn metric_value(&self) -> Option<MetricValue> {
        self.as_ref().and_then(MetricField::metric_value)
    }
}

/// Declares a struct of metrics together with their list, so that the two always have the same fields.
macro_rules! metrics {
    ($(#[$meta:meta])* pub struct $name:ident { $($(#[$doc:meta])+ $field:ident: $type:ty, $unit:ident;)* }) => {
        $(#[$meta])*
        #[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name { $($(#[$doc])+ pub $field: $type,)* }

        impl $name {
            /// The values that are present, in the order of the fields.
            pub fn metrics(&self) -> Vec<$crate::Metric> {
                let all = [$((stringify!($field), $crate::metrics::MetricField::metric_value(&self.$field),
                    $crate::Unit::$unit),)*];
                let there = all.into_iter().filter_map(|(name, value, unit)| Some((name, value?, unit)));
                there.map(|(name, value, unit)| $crate::Metric { name: name.to_owned(), value, unit }).collect()
            }
        }
    };
}
pub(super) use metrics;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_with_their_units() {
        let text = |value, unit| Metric { name: String::new(), value, unit }.text();
        assert_eq!(text(MetricValue::Real(7.2e-6), Unit::Seconds), "7.20 \u{b5}s");
        assert_eq!(text(MetricValue::Count(4096), Unit::Bytes), "4.00 KiB");
        assert_eq!(text(MetricValue::Count(1_000), Unit::Count), "1,000");
        assert_eq!(text(MetricValue::Real(84.62), Unit::Percent), "84.6 %");
        assert_eq!(text(MetricValue::Real(7.81e-6), Unit::Percent), "7.81e-6 %");
    }
}
