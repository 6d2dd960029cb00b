//! The kinds of values in a report.

use super::beside::{Interval, PublishedFigures};
use ns_base::stats::round_to;
use ns_device::EstimateMark;

/// The kind of a key's value; any value may be absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReportKind {
    Text,
    Bool,
    Whole,
    Float,
    List,
    Published,
    Interval,
    Estimate,
}

/// A type of a report's fields.
pub(super) trait ReportValue {
    const KIND: ReportKind;

    /// Rounds a measure to decimals.
    fn round(&mut self, _decimals: usize) {}
}

macro_rules! kinds {
    ($($type:ty: $kind:ident,)*) => {
        $(impl ReportValue for $type {
            const KIND: ReportKind = ReportKind::$kind;
        })*
    };
}

kinds! {
    String: Text,
    bool: Bool,
    u8: Whole,
    u32: Whole,
    u64: Whole,
    EstimateMark: Estimate,
}

impl ReportValue for f64 {
    const KIND: ReportKind = ReportKind::Float;

    fn round(&mut self, decimals: usize) {
        *self = round_to(*self, decimals);
    }
}

impl ReportValue for PublishedFigures {
    const KIND: ReportKind = ReportKind::Published;

    fn round(&mut self, _decimals: usize) {
        *self = self.rounded();
    }
}

impl ReportValue for Interval {
    const KIND: ReportKind = ReportKind::Interval;

    fn round(&mut self, _decimals: usize) {
        *self = self.rounded();
    }
}

impl<T: ReportValue> ReportValue for Option<T> {
    const KIND: ReportKind = T::KIND;

    fn round(&mut self, decimals: usize) {
        self.iter_mut().for_each(|value| value.round(decimals));
    }
}

impl<T: ReportValue> ReportValue for Vec<T> {
    const KIND: ReportKind = ReportKind::List;

    fn round(&mut self, decimals: usize) {
        self.iter_mut().for_each(|value| value.round(decimals));
    }
}
