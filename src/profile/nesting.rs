//! How the slices of one track nest: which slice was running when another started, and the row in which each is drawn.

use std::ops::Range;

use super::packed::Column;
use super::{SliceFlags, SliceId};
use ns_base::convert::usize_to_u32;

/// The most rows that are searched before an overlapping slice opens a new row: bounds the work on hostile input.
const MAX_ROWS_SEARCHED: usize = 256;

/// The input of nesting: the slices of one track, sorted by start, longest first.
pub(super) struct TrackSlices<'a> {
    /// Their positions in the columns.
    pub(super) range: Range<usize>,
    pub(super) start: &'a Column<i64>,
    pub(super) dur: &'a Column<i64>,
    pub(super) flags: &'a mut Column<SliceFlags>,
}

/// The result of nesting: columns to append to, and counts.
#[derive(Default)]
pub(super) struct Nesting {
    pub(super) depth: Column<u16>,
    /// The distance from each slice back to its parent; 0 for none.
    pub(super) parent_back: Column<u32>,
    /// Number of slices that begin inside the running slice and end after it.
    pub(super) overlaps: u64,
    /// The first of them.
    pub(super) first_overlap: Option<SliceId>,
    /// Number of slices whose row is greater than can be stored.
    pub(super) too_deep: u64,
    stack: Vec<(SliceId, i64)>,
    open: Vec<(i64, u16)>,
    row_ends: Vec<i64>,
}

impl Nesting {
    /// Appends depth and parent for every slice of a track and marks the overlapping ones; returns the number of rows needed.
    pub(super) fn add_track(&mut self, track: &mut TrackSlices<'_>) -> u32 {
        self.stack.clear();
        self.open.clear();
        self.row_ends.clear();
        for i in track.range.clone() {
            let start = track.start.get(i);
            let (end, flags) = (start.saturating_add(track.dur.get(i)), track.flags.get(i));
            let id = SliceId(usize_to_u32(i));
            if flags.has(SliceFlags::UNCLOSED) {
                self.parent_back.push(0);
            } else {
                let overlaps = self.push_on_stack(id, start, end);
                if overlaps {
                    track.flags.set(i, flags.with(SliceFlags::OVERLAPS));
                    self.overlaps += 1;
                    self.first_overlap = self.first_overlap.or(Some(id));
                }
            }
            let row = self.place(start, end);
            self.depth.push(row);
        }
        usize_to_u32(self.row_ends.len())
    }

    /// The stack that statistics use: a slice is the child of the slice that was running, up to the end of the shorter one.
    /// Returns whether it ends after the slice that was running.
    fn push_on_stack(&mut self, id: SliceId, start: i64, end: i64) -> bool {
        while self.stack.last().is_some_and(|&(_, e)| e <= start) {
            self.stack.pop();
        }
        let running = self.stack.last().copied();
        self.parent_back.push(running.map_or(0, |(parent, _)| id.0 - parent.0));
        self.stack.push((id, end));
        running.is_some_and(|(_, e)| end > e)
    }

    /// The row in which a slice is drawn: the first free row below the innermost slice that contains it. For slices that
    /// nest this is their depth; an overlapping slice goes to a further row, so that no slice hides another.
    fn place(&mut self, start: i64, end: i64) -> u16 {
        // Slices that end before this one cannot contain later slices that this one does not contain, so they are dropped.
        while self.open.last().is_some_and(|&(e, _)| e <= start || e < end) {
            self.open.pop();
        }
        let below = self.open.last().map_or(0, |&(_, row)| usize::from(row) + 1);
        let searched = self.row_ends.len().min(below.saturating_add(MAX_ROWS_SEARCHED));
        let free = (below..searched).find(|&row| self.row_ends[row] <= start);
        let row = free.unwrap_or(self.row_ends.len());
        let Ok(stored) = u16::try_from(row) else {
            self.too_deep += 1;
            return u16::MAX;
        };
        match self.row_ends.get_mut(row) {
            Some(row_end) => *row_end = end,
            None => self.row_ends.push(end),
        }
        self.open.push((end, stored));
        stored
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nest(slices: &[(i64, i64)]) -> (Vec<u16>, Vec<Option<u32>>, u64) {
        let start: Column<_> = slices.iter().map(|s| s.0).collect();
        let dur: Column<_> = slices.iter().map(|s| s.1 - s.0).collect();
        let mut flags: Column<_> = slices.iter().map(|_| SliceFlags::default()).collect();
        let mut nesting = Nesting::default();
        nesting.add_track(&mut TrackSlices { range: 0..slices.len(), start: &start, dur: &dur, flags: &mut flags });
        let parent = |(i, back): (usize, u32)| (back != 0).then(|| i as u32 - back);
        let parents = nesting.parent_back.iter().enumerate().map(parent).collect();
        (nesting.depth.iter().collect(), parents, nesting.overlaps)
    }

    #[test]
    fn nested_slices_have_their_depth() {
        let (depth, parent, overlaps) = nest(&[(0, 10), (0, 4), (1, 2), (4, 10), (10, 12)]);
        assert_eq!(depth, [0, 1, 2, 1, 0]);
        assert_eq!(parent, [None, Some(0), Some(1), Some(0), None]);
        assert_eq!(overlaps, 0);
    }

    #[test]
    fn overlapping_slices_get_rows_and_release_them() {
        // A chain in which each slice begins inside the previous one and ends after it needs two rows, however long it is.
        let chain: Vec<_> = (0..1000).map(|i| (i * 10, i * 10 + 15)).collect();
        let (depth, parent, overlaps) = nest(&chain);
        assert_eq!(depth.iter().max(), Some(&1));
        assert_eq!(overlaps, 999);
        assert_eq!(parent[1], Some(0));
        // A child of the second of two overlapping slices goes below both.
        assert_eq!(nest(&[(0, 10), (5, 15), (6, 9)]).0, [0, 1, 2]);
    }

    #[test]
    fn no_two_slices_of_a_row_overlap() {
        let mut rng = ns_base::Rng::new(7, 1);
        let mut slices: Vec<_> = (0..3000)
            .map(|_| {
                let start = i64::from(rng.next_u32() % 10_000);
                (start, start + i64::from(rng.next_u32() % 300))
            })
            .collect();
        slices.sort_by_key(|s| (s.0, -s.1));
        let (depth, ..) = nest(&slices);
        let mut row_end = vec![i64::MIN; 4000];
        for (slice, row) in slices.iter().zip(depth) {
            let end = &mut row_end[usize::from(row)];
            assert!(slice.0 >= *end, "row {row} at {slice:?}");
            *end = slice.1;
        }
    }
}
