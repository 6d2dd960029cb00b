//! The shapes to draw for some tracks in a span.

use super::highlight::Highlight;
use super::outline::{TrackContent, ViewTracks, async_ref, instant_ref};
use ns_base::convert::usize_to_u32;
use ns_base::{FxHashMap, Interval, StrId, TraceNs};
use ns_profile::lod::LodIndex;
use ns_profile::{Profile, SeriesId, SliceId, TrackId};
use ns_view::timeline::{NO_SLICE, SliceRef, TimelineQuery, TimelineTile, TrackTile};

/// Most pixels that a query may ask for, so that a wrong query cannot ask for every slice of a large profile.
const MAX_WIDTH_PX: u64 = 1 << 15;

/// Answers a query.
pub fn tile(
    profile: &Profile,
    lod: &mut LodIndex,
    tracks: &ViewTracks,
    highlight: Option<&Highlight>,
    query: &TimelineQuery,
) -> TimelineTile {
    let mut names = Names { highlight, ..Names::default() };
    let columns = query
        .tracks
        .iter()
        .map(|&track| {
            let mut columns = TrackTile { track, ..TrackTile::default() };
            match tracks.content_of(track) {
                Some(TrackContent::Slices(id)) => slices(profile, lod, id, query, &mut names, &mut columns),
                Some(TrackContent::Series(id)) => series(profile, id, query, &mut names, &mut columns),
                Some(TrackContent::Async(group)) => asyncs(profile, tracks, group, query, &mut names, &mut columns),
                Some(TrackContent::Instants(id)) => instants(profile, tracks, id, query, &mut names, &mut columns),
                None => {}
            }
            columns
        })
        .collect();
    let group = highlight.map(|h| (h.group.clone(), names.is_in_group()));
    let (span, resolution_ns) = (query.span, query.resolution_ns);
    TimelineTile { span, resolution_ns, names: names.texts(profile), group, tracks: columns }
}

/// Names used by a tile, each once; if a group is highlighted, once inside and once outside the group.
#[derive(Default)]
struct Names<'a> {
    highlight: Option<&'a Highlight>,
    ids: Vec<(StrId, bool)>,
    position: FxHashMap<(StrId, bool), u32>,
}

impl Names<'_> {
    /// The name of an instant or an async span.
    fn add(&mut self, id: StrId) -> u32 {
        let is_found = self.highlight.is_some_and(|h| h.holds_name(id));
        self.position_of((id, is_found))
    }

    /// The name of a slice.
    fn add_slice(&mut self, profile: &Profile, slice: SliceId) -> u32 {
        let is_found = self.highlight.is_some_and(|h| h.holds(profile, slice));
        self.position_of((profile.slices().name(slice), is_found))
    }

    fn position_of(&mut self, key: (StrId, bool)) -> u32 {
        *self.position.entry(key).or_insert_with(|| {
            self.ids.push(key);
            usize_to_u32(self.ids.len()) - 1
        })
    }

    fn is_in_group(&self) -> Vec<bool> {
        self.ids.iter().map(|(_, is_found)| *is_found).collect()
    }

    fn texts(&self, profile: &Profile) -> Vec<String> {
        self.ids.iter().map(|(id, _)| profile.str(*id).to_owned()).collect()
    }
}

fn width_px(query: &TimelineQuery) -> u32 {
    let span = query.span.end.0.saturating_sub(query.span.start.0).max(0).unsigned_abs();
    u32::try_from((span / query.resolution_ns.max(1)).clamp(1, MAX_WIDTH_PX)).unwrap_or(1)
}

fn slices(
    profile: &Profile,
    lod: &mut LodIndex,
    track: TrackId,
    query: &TimelineQuery,
    names: &mut Names<'_>,
    columns: &mut TrackTile,
) {
    for run in lod.query(profile, track, query.span, width_px(query)) {
        let name = names.add_slice(profile, run.slice);
        let slice = if run.count == 1 { SliceRef(run.slice.0) } else { NO_SLICE };
        let duration_ns = (run.end.0 - run.start.0).max(0).unsigned_abs();
        columns.push_merged(slice, run.depth, name, run.start.0, duration_ns, run.count);
    }
}

fn instants(
    profile: &Profile,
    tracks: &ViewTracks,
    track: TrackId,
    query: &TimelineQuery,
    names: &mut Names<'_>,
    columns: &mut TrackTile,
) {
    let table = profile.instants();
    let all = tracks.instants(track);
    let first = all.partition_point(|id| table.ts(*id) < query.span.start);
    let resolution = i64::try_from(query.resolution_ns.max(1)).unwrap_or(i64::MAX);
    for &id in all[first..].iter().take_while(|id| table.ts(**id) <= query.span.end) {
        let at = table.ts(id).0;
        // Instants in one pixel become one mark.
        if let (Some(last), Some(count)) = (columns.start_ns.last(), columns.count.last_mut())
            && at.saturating_sub(*last) < resolution
        {
            *count += 1;
            if let Some(slice) = columns.slice.last_mut() {
                *slice = NO_SLICE;
            }
            continue;
        }
        let name = names.add(table.name(id));
        columns.push(SliceRef(instant_ref(profile, id)), 0, name, at, 0);
    }
}

/// Async spans in one pixel become one.
fn asyncs(
    profile: &Profile,
    tracks: &ViewTracks,
    group: usize,
    query: &TimelineQuery,
    names: &mut Names<'_>,
    columns: &mut TrackTile,
) {
    let Some(of) = tracks.asyncs().groups().get(group) else { return };
    let resolution = i64::try_from(query.resolution_ns.max(1)).unwrap_or(i64::MAX);
    for row in &of.rows {
        let first_of_row = columns.len();
        for (id, span) in tracks.asyncs().within(row, query.span) {
            let (start, end) = (span.time.start.0, span.time.end.0);
            let last = columns.len().checked_sub(1).filter(|last| *last >= first_of_row);
            let merged = last.filter(|&i| end.saturating_sub(columns.start_ns[i]) < resolution);
            if let Some(i) = merged {
                columns.duration_ns[i] = end.saturating_sub(columns.start_ns[i]).unsigned_abs();
                columns.slice[i] = NO_SLICE;
                columns.count[i] += 1;
                continue;
            }
            let name = names.add(span.name);
            columns.push(
                SliceRef(async_ref(profile, id)),
                span.row,
                name,
                start,
                end.saturating_sub(start).unsigned_abs(),
            );
        }
    }
}

/// Each value holds until the next sample; if several fall into one pixel, the largest is drawn.
fn series(profile: &Profile, series: SeriesId, query: &TimelineQuery, names: &mut Names<'_>, columns: &mut TrackTile) {
    let key = profile.counters().series()[series].key;
    let name = names.add(key);
    let resolution = query.resolution_ns.max(1);
    let mut samples = profile.counters().samples(series).peekable();
    while let Some((at, value)) = samples.next() {
        let until = samples.peek().map_or(profile.span().end, |(next, _)| *next);
        let interval: Interval<TraceNs> = Interval::new(at, until);
        if interval.end < query.span.start || interval.start > query.span.end {
            continue;
        }
        let duration_ns = (interval.end.0 - interval.start.0).max(0).unsigned_abs();
        if let (Some(start), Some(last), Some(last_value), Some(count)) = (
            columns.start_ns.last(),
            columns.duration_ns.last_mut(),
            columns.value.last_mut(),
            columns.count.last_mut(),
        ) && (interval.end.0 - start).unsigned_abs() < resolution
        {
            *last = (interval.end.0 - start).unsigned_abs();
            *last_value = last_value.max(value);
            *count += 1;
            continue;
        }
        columns.push(NO_SLICE, 0, name, at.0, duration_ns);
        columns.value.push(value);
    }
}
