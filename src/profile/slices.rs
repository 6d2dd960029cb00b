//! The slices of a profile in columns, grouped by track and sorted by time within it.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::packed::Column;
use super::{ArgsId, TrackId};
use ns_base::convert::usize_to_u32;
use ns_base::define_idx;
use ns_base::{Interval, StrId, TraceNs};

define_idx! {
    /// A slice of one profile. Ids run track by track, and in a track by start, longest first.
    pub struct SliceId;
}

/// Flags of one slice.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceFlags(pub u8);

impl SliceFlags {
    /// The slice never ended; it is shown up to the end of its track and left out of statistics.
    pub const UNCLOSED: Self = Self(1);
    /// It begins inside the slice before it on the stack and ends after it.
    pub const OVERLAPS: Self = Self(2);
    /// A complete event without a duration; it is shown with no length.
    pub const NO_DURATION: Self = Self(4);

    /// It is made of a begin and an end; used only while sorting.
    pub(super) const PAIRED: Self = Self(128);

    /// Whether all flags of `other` are set.
    pub fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags without those of `other`.
    #[must_use]
    pub(super) fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// The flags of both.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// Columns of slices.
#[derive(Clone, Debug, Default)]
pub struct SliceTable {
    pub(super) start: Column<i64>,
    pub(super) dur: Column<i64>,
    pub(super) name: Column<StrId>,
    pub(super) category: Column<StrId>,
    pub(super) args: Column<ArgsId>,
    pub(super) flags: Column<SliceFlags>,
    pub(super) depth: Column<u16>,
    /// The distance back to the parent: 0 for none.
    pub(super) parent_back: Column<u32>,
    /// First slice of each track, and one more entry: the number of slices.
    pub(super) first_of_track: Vec<u32>,
    /// Number of rows that each track needs: one more than its greatest depth.
    pub(super) rows_of_track: Vec<u32>,
}

impl SliceTable {
    /// Number of slices.
    pub fn len(&self) -> usize {
        self.start.len()
    }

    /// Whether the table has no slices.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All slices, track by track.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = SliceId> + ExactSizeIterator + use<> {
        (0..usize_to_u32(self.start.len())).map(SliceId)
    }

    /// The slices of a track by start, longest first.
    pub fn of_track(&self, track: TrackId) -> impl DoubleEndedIterator<Item = SliceId> + ExactSizeIterator + use<> {
        let range = self.range_of(track);
        (usize_to_u32(range.start)..usize_to_u32(range.end)).map(SliceId)
    }

    /// Positions of a track's slices in the columns.
    pub fn range_of(&self, track: TrackId) -> Range<usize> {
        let at = |i: usize| self.first_of_track.get(i).map_or(self.start.len(), |&first| first as usize);
        at(track.0 as usize)..at(track.0 as usize + 1)
    }

    /// The track a slice is on.
    pub fn track(&self, id: SliceId) -> TrackId {
        let after = self.first_of_track.partition_point(|&first| first <= id.0);
        TrackId(usize_to_u32(after.saturating_sub(1)))
    }

    /// Number of rows that a track needs: one more than its greatest depth, 0 without slices.
    pub fn rows(&self, track: TrackId) -> u32 {
        self.rows_of_track.get(track.0 as usize).copied().unwrap_or(0)
    }

    /// The start of the slice.
    pub fn start(&self, id: SliceId) -> TraceNs {
        TraceNs(self.start.get(id.0 as usize))
    }

    /// How long it lasts, in ns; never negative.
    pub fn dur_ns(&self, id: SliceId) -> i64 {
        self.dur.get(id.0 as usize)
    }

    /// The end of the slice (saturating).
    pub fn end(&self, id: SliceId) -> TraceNs {
        TraceNs(self.start(id).0.saturating_add(self.dur_ns(id)))
    }

    /// The interval from start to end.
    pub fn interval(&self, id: SliceId) -> Interval<TraceNs> {
        Interval::new(self.start(id), self.end(id))
    }

    /// Its name.
    pub fn name(&self, id: SliceId) -> StrId {
        self.name.get(id.0 as usize)
    }

    /// Its category, empty when it has none.
    pub fn category(&self, id: SliceId) -> StrId {
        self.category.get(id.0 as usize)
    }

    /// Its arguments.
    pub fn args(&self, id: SliceId) -> ArgsId {
        self.args.get(id.0 as usize)
    }

    /// Its flags.
    pub fn flags(&self, id: SliceId) -> SliceFlags {
        self.flags.get(id.0 as usize)
    }

    /// The row in which it is drawn: 0 is the outermost. No two slices of a row of a track overlap.
    pub fn depth(&self, id: SliceId) -> u16 {
        self.depth.get(id.0 as usize)
    }

    /// The slice that was running on its track when it started. It ends before this slice does if this slice has
    /// [`SliceFlags::OVERLAPS`]; see [`Self::enclosing`]. An unclosed slice has no parent and is never one.
    pub fn stack_parent(&self, id: SliceId) -> Option<SliceId> {
        let back = self.parent_back.get(id.0 as usize);
        (back != 0).then(|| SliceId(id.0 - back))
    }

    /// The innermost slice that contains it wholly.
    pub fn enclosing(&self, id: SliceId) -> Option<SliceId> {
        let end = self.end(id);
        let mut at = self.stack_parent(id);
        while let Some(parent) = at {
            if self.end(parent) >= end {
                return Some(parent);
            }
            at = self.stack_parent(parent);
        }
        None
    }

    /// Bytes held by the columns.
    pub fn bytes(&self) -> usize {
        let times = self.start.bytes() + self.dur.bytes();
        let texts = self.name.bytes() + self.category.bytes() + self.args.bytes();
        times + texts + self.flags.bytes() + self.depth.bytes() + self.parent_back.bytes()
    }
}
