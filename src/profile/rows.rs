//! Events as columns in the order they were given, before they are sorted.

use super::packed::Column;
use super::{ArgsId, SliceFlags, TrackId};
use ns_base::StrId;

/// A slice or another event that was added, by its place.
#[derive(Clone, Copy, Debug)]
pub enum Row {
    /// A slice.
    Slice(usize),
    /// An event at one instant.
    Instant(usize),
    /// An event that is joined to others.
    Link(usize),
}

/// An event at one instant, for a reader that looks at it again.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// Its track.
    pub track: TrackId,
    /// Its time, in nanoseconds.
    pub ts: i64,
    /// Its name.
    pub name: StrId,
    /// Its arguments.
    pub args: ArgsId,
    /// The id that joins it to others; `(0, 0)` for none.
    pub id: (u8, u64),
}

/// Slices in the order they were given.
#[derive(Debug, Default)]
pub(super) struct SliceRows {
    pub(super) track: Column<TrackId>,
    pub(super) start: Column<i64>,
    pub(super) dur: Column<i64>,
    pub(super) name: Column<StrId>,
    pub(super) category: Column<StrId>,
    pub(super) args: Column<ArgsId>,
    pub(super) flags: Column<SliceFlags>,
}

/// A begin or an end. A begin has its slice, which waits for its duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndRow {
    pub(super) track: TrackId,
    pub(super) ts: i64,
    /// Position of a begin in [`SliceRows`]; `None` for an end.
    pub(super) slice: Option<u32>,
    pub(super) name: StrId,
    pub(super) args: ArgsId,
    /// Its position in the source.
    pub(super) byte_offset: u64,
}

/// Begins and ends in the order they were given.
#[derive(Debug, Default)]
pub(super) struct EndRows {
    pub(super) track: Column<TrackId>,
    pub(super) ts: Column<i64>,
    is_begin: Column<bool>,
    /// For an end, the number of slices at that time: numbers that are close to their neighbours take less room.
    slice: Column<u32>,
    name: Column<StrId>,
    args: Column<ArgsId>,
    byte_offset: Column<u64>,
}

impl EndRows {
    pub(super) fn get(&self, row: usize) -> EndRow {
        EndRow {
            track: self.track.get(row),
            ts: self.ts.get(row),
            slice: self.is_begin.get(row).then(|| self.slice.get(row)),
            name: self.name.get(row),
            args: self.args.get(row),
            byte_offset: self.byte_offset.get(row),
        }
    }

    /// `slices`: the number of slices so far.
    pub(super) fn push(&mut self, row: EndRow, slices: u32) {
        self.track.push(row.track);
        self.ts.push(row.ts);
        self.is_begin.push(row.slice.is_some());
        self.slice.push(row.slice.unwrap_or(slices));
        self.name.push(row.name);
        self.args.push(row.args);
        self.byte_offset.push(row.byte_offset);
    }

    pub(super) fn bytes(&self) -> usize {
        let times = self.ts.bytes() + self.byte_offset.bytes();
        let ids = self.track.bytes() + self.slice.bytes() + self.name.bytes() + self.args.bytes();
        times + ids + self.is_begin.bytes()
    }
}

/// Instants, or the common part of link events, in the order they were given.
#[derive(Debug, Default)]
pub(super) struct PointRows {
    pub(super) track: Column<TrackId>,
    pub(super) ts: Column<i64>,
    pub(super) name: Column<StrId>,
    pub(super) category: Column<StrId>,
    pub(super) args: Column<ArgsId>,
    pub(super) phase: Column<u8>,
}

/// The other columns of link events.
#[derive(Debug, Default)]
pub(super) struct LinkRows {
    pub(super) tag: Column<u8>,
    pub(super) id: Column<u64>,
    pub(super) binds_enclosing: Column<bool>,
}

impl SliceRows {
    #[allow(clippy::too_many_arguments, reason = "a value for each column")]
    pub(super) fn push(
        &mut self,
        track: TrackId,
        start: i64,
        dur: i64,
        name: StrId,
        category: StrId,
        args: ArgsId,
        flags: SliceFlags,
    ) {
        self.track.push(track);
        self.start.push(start);
        self.dur.push(dur);
        self.name.push(name);
        self.category.push(category);
        self.args.push(args);
        self.flags.push(flags);
    }

    pub(super) fn bytes(&self) -> usize {
        let times = self.start.bytes() + self.dur.bytes();
        let texts = self.name.bytes() + self.category.bytes() + self.args.bytes();
        times + texts + self.track.bytes() + self.flags.bytes()
    }
}

impl PointRows {
    pub(super) fn push(&mut self, track: TrackId, ts: i64, name: StrId, category: StrId, args: ArgsId, phase: u8) {
        self.track.push(track);
        self.ts.push(ts);
        self.name.push(name);
        self.category.push(category);
        self.args.push(args);
        self.phase.push(phase);
    }

    pub(super) fn bytes(&self) -> usize {
        let texts = self.name.bytes() + self.category.bytes() + self.args.bytes();
        self.ts.bytes() + self.track.bytes() + texts + self.phase.bytes()
    }
}

impl LinkRows {
    pub(super) fn bytes(&self) -> usize {
        self.tag.bytes() + self.id.bytes() + self.binds_enclosing.bytes()
    }
}
