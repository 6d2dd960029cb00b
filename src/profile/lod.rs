//! Level of detail: the shapes of a track for a number of pixels, at a cost that depends on pixels and not on slices.
//!
//! Slices of one row never overlap, so a row is a sorted list of spans. A *run* is one slice, or several neighbours
//! that are each narrower than a bucket of `2^k` ns and begin in the same bucket. Runs of coarser buckets are stored
//! if there are at most a quarter as many as finer ones, so all levels together hold at most a third as many runs as
//! there are slices. A query takes the coarsest level that is fine enough and merges its runs further. Buckets are aligned
//! to powers of two of the profile's time, so panning never changes which slices are merged.

use super::{Profile, SliceId, TrackId};
use ns_base::convert::{usize_to_u16, usize_to_u32};
use ns_base::{Interval, TraceNs};

/// One shape: a slice, or neighbouring slices too narrow to tell apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Start of the first slice.
    pub start: TraceNs,
    /// End of the last slice.
    pub end: TraceNs,
    /// The row.
    pub depth: u16,
    /// The slice, or the longest of them (the first in a tie), which gives the run its name and colour.
    pub slice: SliceId,
    /// Number of slices.
    pub count: u32,
}

/// A level is kept if the level below it has at least this many times as many runs.
const SHRINK: usize = 4;
/// A row with fewer runs than this needs no coarser level.
const MIN_RUNS: usize = 64;
/// Wider buckets than this do not occur: profiles span less than 2^62 ns.
const MAX_BUCKET_LOG2: u32 = 62;

/// Levels of detail of a profile, made for each track when it is first requested.
#[derive(Debug, Default)]
pub struct LodIndex {
    tracks: Vec<Option<TrackLod>>,
}

#[derive(Debug)]
struct TrackLod {
    rows: Vec<RowLod>,
}

#[derive(Debug, Default)]
struct RowLod {
    /// The slices of the row by start (and, as they do not overlap, by end).
    ids: Vec<SliceId>,
    levels: Vec<BucketLevel>,
}

#[derive(Debug)]
struct BucketLevel {
    bucket_log2: u32,
    runs: Vec<Bucket>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    start: i64,
    end: i64,
    longest: SliceId,
    count: u32,
}

impl LodIndex {
    /// An index without levels so far.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The shapes of a track between two times in `width_px` pixels: row by row, each row by start. At most four runs
    /// per pixel and row. Empty if the interval is empty, the width is 0, or the track belongs to another profile.
    pub fn query(&mut self, profile: &Profile, track: TrackId, within: Interval<TraceNs>, width_px: u32) -> Vec<Run> {
        let mut out = Vec::new();
        if within.is_empty() || width_px == 0 {
            return out;
        }
        let bucket_log2 = bucket_for(within, width_px);
        let Some(lod) = self.track(profile, track) else { return out };
        for (depth, row) in lod.rows.iter().enumerate() {
            row.query(profile, within, bucket_log2, usize_to_u16(depth), &mut out);
        }
        out
    }

    /// The slice of a row at a time, or else the nearest slice whose edge is at most `tolerance_ns` away.
    pub fn slice_at(
        &mut self,
        profile: &Profile,
        track: TrackId,
        depth: u16,
        at: TraceNs,
        tolerance_ns: i64,
    ) -> Option<SliceId> {
        let slices = profile.slices();
        let row = self.track(profile, track)?.rows.get(usize::from(depth))?;
        let after = row.ids.partition_point(|&id| slices.start(id) <= at);
        let before = after.checked_sub(1).map(|i| row.ids[i]);
        let distance_after = |id: SliceId| at.0.saturating_sub(slices.end(id).0).max(0);
        // If several slices start here, the last one continues; the others have no width.
        if let Some(id) = before.filter(|&id| slices.interval(id).contains(at) || distance_after(id) == 0) {
            return Some(id);
        }
        let left = before.map(|id| (distance_after(id), id));
        let right = row.ids.get(after).map(|&id| (slices.start(id).0.saturating_sub(at.0), id));
        let nearest = left.into_iter().chain(right).min_by_key(|(distance, _)| *distance)?;
        (nearest.0 <= tolerance_ns).then_some(nearest.1)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let rows = self.tracks.iter().flatten().flat_map(|t| &t.rows);
        rows.map(|row| {
            let runs: usize = row.levels.iter().map(|l| l.runs.capacity()).sum();
            row.ids.capacity() * size_of::<SliceId>() + runs * size_of::<Bucket>()
        })
        .sum()
    }

    fn track(&mut self, profile: &Profile, track: TrackId) -> Option<&TrackLod> {
        if self.tracks.len() < profile.tracks().len() {
            self.tracks.resize_with(profile.tracks().len(), || None);
        }
        let slot = self.tracks.get_mut(track.0 as usize)?;
        Some(slot.get_or_insert_with(|| TrackLod::build(profile, track)))
    }
}

/// The widest power of two that is no wider than a pixel.
pub(super) fn bucket_for(within: Interval<TraceNs>, width_px: u32) -> u32 {
    let width_ns = within.end.0.saturating_sub(within.start.0).max(1).unsigned_abs();
    (width_ns / u64::from(width_px)).checked_ilog2().unwrap_or(0)
}

impl TrackLod {
    fn build(profile: &Profile, track: TrackId) -> Self {
        let slices = profile.slices();
        let mut rows = Vec::new();
        rows.resize_with(slices.rows(track) as usize, RowLod::default);
        for id in slices.of_track(track) {
            if let Some(row) = rows.get_mut(usize::from(slices.depth(id))) {
                row.ids.push(id);
            }
        }
        for row in &mut rows {
            row.ids.shrink_to_fit();
            row.build_levels(profile);
        }
        Self { rows }
    }
}

impl RowLod {
    fn build_levels(&mut self, profile: &Profile) {
        let merges = self.merges_by_bucket(profile);
        let (mut finer, mut merged) = (self.ids.len(), 0);
        for (bucket_log2, more) in merges.into_iter().enumerate().take(MAX_BUCKET_LOG2 as usize) {
            merged += more;
            let count = self.ids.len() - merged;
            if count > finer / SHRINK || finer < MIN_RUNS {
                continue;
            }
            let bucket_log2 = usize_to_u32(bucket_log2);
            let mut runs = Vec::with_capacity(count);
            let mut merger = Merger::new(bucket_log2);
            self.each_from(profile, self.levels.len(), 0, |run| {
                runs.extend(merger.add(profile, run).into_iter().flatten());
                true
            });
            runs.extend(merger.finish());
            finer = runs.len();
            self.levels.push(BucketLevel { bucket_log2, runs });
        }
    }

    /// How many pairs of neighbours become one run when buckets grow to `2^k` ns, by `k`: when both are narrower and
    /// begin in one bucket. So the size of every level is known before any level is made.
    fn merges_by_bucket(&self, profile: &Profile) -> [usize; 65] {
        let bits = |x: i64| 64 - x.leading_zeros();
        let slices = profile.slices();
        let mut merges = [0; 65];
        for pair in self.ids.windows(2) {
            let apart = bits(slices.start(pair[0]).0 ^ slices.start(pair[1]).0);
            let width = bits(slices.dur_ns(pair[0])).max(bits(slices.dur_ns(pair[1])));
            merges[apart.max(width) as usize] += 1;
        }
        merges
    }

    fn query(&self, profile: &Profile, within: Interval<TraceNs>, bucket_log2: u32, depth: u16, out: &mut Vec<Run>) {
        let level = self.levels.partition_point(|l| l.bucket_log2 <= bucket_log2);
        // From the start of the previous bucket, so that a run that begins before the edge is complete: anything narrower
        // than a bucket ends in the next bucket at the latest.
        let from = ((within.start.0 >> bucket_log2) - 1) << bucket_log2;
        let first = match level.checked_sub(1) {
            Some(i) => self.levels[i].runs.partition_point(|r| r.end < from),
            None => self.ids.partition_point(|&id| profile.slices().end(id).0 < from),
        };
        let mut merger = Merger::new(bucket_log2);
        let mut push = |run: Bucket| {
            if run.end >= within.start.0 && run.start < within.end.0 {
                let (start, end) = (TraceNs(run.start), TraceNs(run.end));
                out.push(Run { start, end, depth, slice: run.longest, count: run.count });
            }
        };
        self.each_from(profile, level, first, |run| {
            if run.start >= within.end.0 && !merger.takes(run.start) {
                return false;
            }
            merger.add(profile, run).into_iter().flatten().for_each(&mut push);
            true
        });
        merger.finish().into_iter().for_each(push);
    }

    /// Calls `f` with the runs of a level (0: the slices themselves) from a position on, as long as it returns true.
    fn each_from(&self, profile: &Profile, level: usize, first: usize, mut f: impl FnMut(Bucket) -> bool) {
        if let Some(level) = level.checked_sub(1).and_then(|i| self.levels.get(i)) {
            level.runs.iter().skip(first).all(|&run| f(run));
            return;
        }
        let slices = profile.slices();
        self.ids
            .iter()
            .skip(first)
            .all(|&id| f(Bucket { start: slices.start(id).0, end: slices.end(id).0, longest: id, count: 1 }));
    }
}

/// Merges runs into those of a wider bucket.
struct Merger {
    bucket_log2: u32,
    pending: Option<Bucket>,
}

impl Merger {
    fn new(bucket_log2: u32) -> Self {
        Self { bucket_log2, pending: None }
    }

    /// Whether a narrow run that starts here would be merged with the pending run.
    fn takes(&self, start: i64) -> bool {
        self.pending.is_some_and(|p| p.start >> self.bucket_log2 == start >> self.bucket_log2)
    }

    /// Takes the next run; returns the pending run, and the next run itself if it stands alone.
    fn add(&mut self, profile: &Profile, run: Bucket) -> [Option<Bucket>; 2] {
        // Only single slices are as wide as a bucket: runs of a finer level are narrower than half of this one.
        let wide = run.count == 1 && run.end.saturating_sub(run.start) >> self.bucket_log2 > 0;
        if wide {
            return [self.pending.take(), Some(run)];
        }
        if self.takes(run.start) {
            if let Some(pending) = &mut self.pending {
                let slices = profile.slices();
                pending.end = run.end;
                pending.count = pending.count.saturating_add(run.count);
                if slices.dur_ns(run.longest) > slices.dur_ns(pending.longest) {
                    pending.longest = run.longest;
                }
            }
            return [None, None];
        }
        [self.pending.replace(run), None]
    }

    fn finish(self) -> Option<Bucket> {
        self.pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileBuilder;
    use ns_base::{Diagnostics, Rng};

    fn random_profile(slices: usize, seed: u64) -> Profile {
        let mut rng = Rng::new(seed, 1);
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        let mut at = 0;
        for i in 0..slices {
            at += i64::from(rng.next_u32() % 50);
            let long = if rng.next_u32().is_multiple_of(100) { 5_000 } else { 40 };
            let dur = i64::from(rng.next_u32() % long);
            b.slice(t, at, dur, if i % 2 == 0 { "even" } else { "odd" }, "", None);
            if i % 3 == 0 {
                at += dur;
            }
        }
        b.finish(Diagnostics::new())
    }

    /// The definition, without levels: merge the slices of a row by bucket, then keep the visible runs.
    fn plain(profile: &Profile, within: Interval<TraceNs>, width_px: u32) -> Vec<Run> {
        let (slices, track) = (profile.slices(), TrackId(0));
        let bucket = bucket_for(within, width_px);
        let mut out = Vec::new();
        for depth in 0..slices.rows(track) as u16 {
            let mut runs: Vec<(Run, bool)> = Vec::new();
            for id in slices.of_track(track).filter(|&id| slices.depth(id) == depth) {
                let wide = slices.dur_ns(id) >> bucket > 0;
                let run = Run { start: slices.start(id), end: slices.end(id), depth, slice: id, count: 1 };
                match runs.last_mut() {
                    Some((last, false)) if !wide && last.start.0 >> bucket == run.start.0 >> bucket => {
                        last.end = run.end;
                        last.count += 1;
                        if slices.dur_ns(id) > slices.dur_ns(last.slice) {
                            last.slice = id;
                        }
                    }
                    _ => runs.push((run, wide)),
                }
            }
            let seen = runs.into_iter().map(|(run, _)| run);
            out.extend(seen.filter(|run| run.end >= within.start && run.start < within.end));
        }
        out
    }

    #[test]
    fn a_level_equals_the_merged_slices() {
        let profile = random_profile(20_000, 5);
        let end = profile.span().end.0;
        let mut lod = LodIndex::new();
        let mut rng = Rng::new(1, 1);
        for round in 0..200 {
            let a = i64::from(rng.next_u32()) % end;
            let width = 1 + ((i64::from(rng.next_u32()) % end) >> (round % 18));
            let within = Interval::new(TraceNs(a - 10), TraceNs((a + width).min(end + 10)));
            let px = 1 + rng.next_u32() % 2000;
            assert_eq!(lod.query(&profile, TrackId(0), within, px), plain(&profile, within, px), "{within:?} {px}");
        }
    }

    #[test]
    fn output_is_bounded_by_pixels_and_counts_every_slice() {
        let profile = random_profile(50_000, 6);
        let mut lod = LodIndex::new();
        let within = Interval::new(TraceNs(0), TraceNs(profile.span().end.0 + 1));
        let rows = profile.slices().rows(TrackId(0));
        for px in [1, 10, 1000] {
            let runs = lod.query(&profile, TrackId(0), within, px);
            assert!(runs.len() as u32 <= (4 * px + 2) * rows, "{} runs for {px} px and {rows} rows", runs.len());
            assert_eq!(runs.iter().map(|r| r.count as usize).sum::<usize>(), 50_000);
        }
        assert!(lod.bytes() < 50_000 * 16);
    }

    #[test]
    fn a_click_finds_its_slice_or_the_nearest() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "");
        let t = b.thread(p, "1", "");
        b.slice(t, 0, 100, "a", "", None);
        b.slice(t, 10, 10, "b", "", None);
        b.slice(t, 40, 0, "mark", "", None);
        let profile = b.finish(Diagnostics::new());
        let mut lod = LodIndex::new();
        let mut at = |depth, ns, tolerance| {
            let found = lod.slice_at(&profile, t, depth, TraceNs(ns), tolerance)?;
            Some(profile.str(profile.slices().name(found)).to_owned())
        };
        assert_eq!(at(0, 50, 0).as_deref(), Some("a"));
        assert_eq!(at(1, 15, 0).as_deref(), Some("b"));
        assert_eq!(at(1, 25, 0), None);
        assert_eq!(at(1, 25, 5).as_deref(), Some("b"));
        assert_eq!(at(1, 38, 5).as_deref(), Some("mark"));
        assert_eq!(at(2, 38, 5), None);
    }
}
