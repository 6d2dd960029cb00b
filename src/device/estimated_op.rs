//! Operators whose cost is a guess, and how they mark the figures that hold them.

use std::fmt;

use ns_base::units::{format_count, format_plural};
use ns_program::occurrence;
use serde::{Deserialize, Serialize};

/// An operator of a model file whose time is an estimate, because it has no rule of its own.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EstimatedOp {
    /// Its name in the file's format.
    pub op: String,
    /// How often it occurs.
    pub count: u64,
    /// The name of its first node; empty if it has none.
    pub first: String,
    /// Whether nothing is known about its cost: its time is the least that it can take.
    pub is_unknown: bool,
}

impl fmt::Display for EstimatedOp {
    /// `aten.foo (3 times, first at foo_1)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.op, occurrence(self.count, &self.first))
    }
}

/// The mark of a figure that holds guessed costs: `at least 2.47 µs (1 operator without a known cost)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EstimateMark {
    /// Operators without a known cost.
    pub unknown: u64,
    /// Operators whose cost is an estimate.
    pub estimated: u64,
}

impl EstimateMark {
    /// The mark of a figure that holds these operators; `None` where every cost has a rule.
    pub fn of(ops: &[EstimatedOp]) -> Option<Self> {
        let count = |is_unknown| ops.iter().filter(|op| op.is_unknown == is_unknown).map(|op| op.count).sum();
        let mark = Self { unknown: count(true), estimated: count(false) };
        (mark != Self::default()).then_some(mark)
    }

    /// What stands before a time or a cost: it is the least that is possible if a cost is not known.
    pub const fn before_time(self) -> &'static str {
        if self.unknown > 0 { "at least " } else { "" }
    }

    /// What stands before a rate.
    pub const fn before_rate(self) -> &'static str {
        if self.unknown > 0 { "at most " } else { "" }
    }

    /// The reason: `1 operator without a known cost`, `estimated, 2 operators`.
    pub fn note(self) -> String {
        let operators = |n: u64| format_plural(n, "operator");
        match (self.unknown, self.estimated) {
            (0, estimated) => format!("estimated, {}", operators(estimated)),
            (unknown, 0) => format!("{} without a known cost", operators(unknown)),
            (unknown, estimated) => {
                format!("{} without a known cost, {} estimated", operators(unknown), format_count(estimated))
            }
        }
    }
}

/// The note of a table of times: `Times are at least these: 1 operator without a known cost.`
pub fn note_of_times(mark: Option<EstimateMark>) -> Option<String> {
    let what = |mark: EstimateMark| if mark.unknown > 0 { "Times are at least these" } else { "Times hold guesses" };
    mark.map(|mark| format!("{}: {}.", what(mark), mark.note()))
}

/// A time with its mark and the reason: `at least 2.47 µs (1 operator without a known cost)`.
pub fn marked_time(mark: Option<EstimateMark>, time: &str) -> String {
    mark.map_or_else(|| time.to_owned(), |mark| format!("{}{time} ({})", mark.before_time(), mark.note()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_marked_by_what_it_holds() {
        let op = |count, is_unknown| EstimatedOp { op: "a".into(), count, is_unknown, ..EstimatedOp::default() };
        let marked = |ops: &[EstimatedOp]| marked_time(EstimateMark::of(ops), "2.47 \u{b5}s");
        assert_eq!(marked(&[]), "2.47 \u{b5}s");
        assert_eq!(marked(&[op(1, true)]), "at least 2.47 \u{b5}s (1 operator without a known cost)");
        assert_eq!(marked(&[op(1, false)]), "2.47 \u{b5}s (estimated, 1 operator)");
        let both = [op(1, true), op(2, true), op(4, false)];
        assert_eq!(marked(&both), "at least 2.47 \u{b5}s (3 operators without a known cost, 4 estimated)");
        assert_eq!(EstimateMark::of(&both).unwrap().before_rate(), "at most ");
        let noted = |ops: &[EstimatedOp]| note_of_times(EstimateMark::of(ops));
        assert_eq!(noted(&[]), None);
        assert_eq!(noted(&[op(1, true)]).unwrap(), "Times are at least these: 1 operator without a known cost.");
        assert_eq!(noted(&[op(2, false)]).unwrap(), "Times hold guesses: estimated, 2 operators.");
    }
}
