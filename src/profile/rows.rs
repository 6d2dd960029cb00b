//! Events as columns in the order they were given, before they are sorted.

use super::{ArgsId, SliceFlags, TrackId};
use crate::base::StrId;

/// A slice or another event that was added, by its place.
#[derive(Clone, Copy, Debug)]
pub(super) enum Row {
    Slice(usize),
    Instant(usize),
    Link(usize),
}

/// An event at one instant, as a reader looks at it again.
#[derive(Clone, Copy, Debug)]
pub(super) struct Point {
    pub(super) track: TrackId,
    pub(super) ts: i64,
    pub(super) name: StrId,
    pub(super) args: ArgsId,
    /// What joins it to others; `(0, 0)` for nothing.
    pub(super) id: (u8, u64),
}

/// Slices in the order they were given.
#[derive(Debug, Default)]
pub(super) struct SliceRows {
    pub(super) track: Vec<TrackId>,
    pub(super) start: Vec<i64>,
    pub(super) dur: Vec<i64>,
    pub(super) name: Vec<StrId>,
    pub(super) category: Vec<StrId>,
    pub(super) args: Vec<ArgsId>,
    pub(super) flags: Vec<SliceFlags>,
}

/// A begin or an end. A begin has its slice, which waits for its duration.
#[derive(Clone, Copy, Debug)]
pub(super) struct EndRow {
    pub(super) track: TrackId,
    pub(super) ts: i64,
    /// Position in [`SliceRows`] of a begin; `u32::MAX` for an end.
    pub(super) slice: u32,
    pub(super) name: StrId,
    pub(super) args: ArgsId,
    /// Where it is in the source.
    pub(super) byte_offset: u64,
}

/// Instants, or the common part of link events, in the order they were given.
#[derive(Debug, Default)]
pub(super) struct PointRows {
    pub(super) track: Vec<TrackId>,
    pub(super) ts: Vec<i64>,
    pub(super) name: Vec<StrId>,
    pub(super) category: Vec<StrId>,
    pub(super) args: Vec<ArgsId>,
    pub(super) phase: Vec<u8>,
}

/// The rest of link events.
#[derive(Debug, Default)]
pub(super) struct LinkRows {
    pub(super) tag: Vec<u8>,
    pub(super) id: Vec<u64>,
    pub(super) binds_enclosing: Vec<bool>,
}

impl SliceRows {
    #[allow(clippy::too_many_arguments)]
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
}
