//! One figure of the hardware, with its source.

use serde::Serialize;

use ns_base::names;

names! {
    /// The status of a figure.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
    #[serde(rename_all = "snake_case")]
    pub enum FigureStatus {
        /// Stated in public documentation.
        Published = "published",
        /// Read off device traces or profiler pictures that AWS published.
        Measured = "measured",
        /// Arithmetic on published or measured figures; the source says which.
        Derived = "derived",
        /// The value is not public.
        Unpublished = "unpublished",
    }

    /// Its name, as in JSON.
    pub const fn name(self) -> &'static str;
}

/// One figure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// Its name: `tensor_mhz`.
    pub name: &'static str,
    /// Its value; absent when it is not public. A rule is 1 (yes) or 0 (no).
    pub value: Option<f64>,
    /// Unit of the value.
    pub unit: &'static str,
    /// Its status.
    pub status: FigureStatus,
    /// The document, or the arithmetic.
    pub source: &'static str,
}

const fn figure(
    name: &'static str,
    value: f64,
    unit: &'static str,
    status: FigureStatus,
    source: &'static str,
) -> Figure {
    Figure { name, value: Some(value), unit, status, source }
}

/// A figure that a document states.
pub(super) const fn published(name: &'static str, value: f64, unit: &'static str, source: &'static str) -> Figure {
    figure(name, value, unit, FigureStatus::Published, source)
}

/// A figure read off AWS's measurements.
pub(super) const fn measured(name: &'static str, value: f64, unit: &'static str, source: &'static str) -> Figure {
    figure(name, value, unit, FigureStatus::Measured, source)
}

/// A figure that follows from others.
pub(super) const fn derived(name: &'static str, value: f64, unit: &'static str, source: &'static str) -> Figure {
    figure(name, value, unit, FigureStatus::Derived, source)
}

/// A figure that is not public.
pub(super) const fn unpublished(name: &'static str, unit: &'static str, source: &'static str) -> Figure {
    Figure { name, value: None, unit, status: FigureStatus::Unpublished, source }
}
