//! An entry of the register.

use serde::Serialize;

use super::Throttle;
use ns_base::names;
use ns_base::units::format_count;

names! {
    /// The status of a number.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum CostStatus {
        /// Stated in public documentation.
        Published = "published",
        /// Read off device traces, profiler pictures or program output that AWS published, or timed on a host.
        Measured = "measured",
        /// Arithmetic on published and measured figures.
        Derived = "derived",
        /// Found by `validate --calibrate`.
        Fitted = "fitted",
        /// No public source determines it.
        Chosen = "chosen with these rows in view",
    }

    /// The status in words.
    pub const fn words(self) -> &'static str;
}

/// One number or decision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Entry {
    /// Its group: `Engines`, `DMA`, `Code generation`.
    pub group: &'static str,
    /// Its name in the code, or the decision in a few words.
    pub name: &'static str,
    /// Its value on NeuronCore-v2, v3 and v4, as text with commas between thousands.
    pub values: [String; 3],
    /// Unit of the value; empty for a decision.
    pub unit: &'static str,
    /// The status of its value for NeuronCore-v2.
    pub status: CostStatus,
    /// The document, the arithmetic, or the reason; also the source of a different value for another generation.
    pub source: &'static str,
}

/// A value of the register.
pub(super) trait CostFigure {
    /// The figure as text, with commas between thousands.
    fn text(&self) -> String;
}

impl CostFigure for u32 {
    fn text(&self) -> String {
        format_count(u64::from(*self))
    }
}

impl CostFigure for u64 {
    fn text(&self) -> String {
        format_count(*self)
    }
}

impl CostFigure for f64 {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl CostFigure for usize {
    fn text(&self) -> String {
        self.to_string()
    }
}

impl CostFigure for Option<Throttle> {
    fn text(&self) -> String {
        let Some(Throttle { light_eighths, dense_eighths, threshold_permille, window_ns }) = self else {
            return "none".to_owned();
        };
        let window = format_count(*window_ns);
        format!("{light_eighths}/8, {dense_eighths}/8 after {window} ns at {threshold_permille} thousandths")
    }
}

/// Declares a struct of costs. Each field has the unit, the status and the source of its entry in the register.
macro_rules! cost_fields {
    (
        $(#[$meta:meta])*
        pub struct $name:ident in $group:literal {
            $($(#[$doc:meta])* $field:ident: $type:ty, $unit:literal, $status:ident, $source:expr;)*
        }
    ) => {
        $(#[$meta])*
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl $name {
            /// Its entries in the register; values are those of each generation.
            pub(super) fn entries(costs: [&Self; 3]) -> Vec<Entry> {
                vec![$(Entry::of(
                    ($group, stringify!($field)),
                    costs.map(|c| &c.$field),
                    ($unit, CostStatus::$status, $source),
                )),*]
            }
        }
    };
}
pub(super) use cost_fields;

impl Entry {
    pub(super) fn of(
        (group, name): (&'static str, &'static str),
        values: [&impl CostFigure; 3],
        (unit, status, source): (&'static str, CostStatus, &'static str),
    ) -> Self {
        Self { group, name, values: values.map(CostFigure::text), unit, status, source }
    }

    /// The cell of a table: `500; v3: 600` means 500 on NeuronCore-v2, and 600 on v3 and v4.
    pub fn value_cell(&self) -> String {
        let [v2, v3, v4] = &self.values;
        let mut cell = v2.clone();
        for (name, value, before) in [("v3", v3, v2), ("v4", v4, v3)] {
            if value != before {
                cell.push_str(&format!("; {name}: {value}"));
            }
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generations_show_where_they_differ() {
        let cell = |values: [&str; 3]| {
            let values = values.map(str::to_owned);
            Entry { group: "", name: "", values, unit: "", status: CostStatus::Chosen, source: "" }.value_cell()
        };
        assert_eq!(cell(["1", "1", "1"]), "1");
        assert_eq!(cell(["1", "2", "2"]), "1; v3: 2");
        assert_eq!(cell(["1", "2", "3"]), "1; v3: 2; v4: 3");
    }
}
