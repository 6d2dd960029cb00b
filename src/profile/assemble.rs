//! Turns the rows that a builder collected into the columns of a profile: match, sort, nest, rebase.

use std::cmp::{Ordering, Reverse};
use std::marker::PhantomData;

use super::builder::ProfileBuilder;
use super::fused::Fusions;
use super::levels::Levels;
use super::nesting::{Nesting, TrackSlices};
use super::packed::Column;
use super::rows::{EndRow, LinkRows, PointRows, SliceRows};
use super::{
    ArgsArena, ArgsId, InstantTable, JoinColumns, LinkTable, PointTable, Profile, ProfileMeta, ScopeColumn, SliceFlags,
    SliceTable, TrackId,
};
use ns_base::convert::usize_to_u32;
use ns_base::{Diagnostics, Idx, Interval, StrId, StringTable, TraceNs, beginning};

pub(super) fn assemble(mut b: ProfileBuilder, mut diagnostics: Diagnostics) -> Profile {
    let track_ends = TrackEnds::of(&b);
    match_ends(&mut b, &track_ends, &mut diagnostics);
    let events = b.events();
    let (low, high) = b.bounds.unwrap_or((0, 0));
    let span = Interval::new(TraceNs(0), TraceNs(high.saturating_sub(low)));
    let slices = sort_slices(b.slices, b.tracks.len(), low);
    let (instants, links) = (sort_instants(b.instants, b.instant_scope, low), sort_links(b.links, b.link_ids, low));
    let mut args = b.args;
    args.seal();
    let may_overlap = b.may_overlap;
    let (title, format, by_phase, properties) = (b.title, b.format, b.phase_counts, b.properties);
    let meta = ProfileMeta { title, format, origin_ns: low, span, events, by_phase, unit: b.unit, properties };
    let mut profile = Profile {
        meta,
        strings: b.strings,
        processes: b.processes,
        tracks: b.tracks,
        slices,
        instants,
        links,
        counters: b.counters.finish(low),
        metadata: b.metadata,
        args,
        diagnostics,
        levels: Levels::default(),
        fusions: Fusions::default(),
        plugin_run: None,
    };
    nest(&mut profile, may_overlap);
    profile.levels = Levels::of(&profile);
    profile.fusions = Fusions::of(&mut profile.strings, &profile.tracks, &profile.slices, &profile.args);
    profile
}

/// The last time seen on each track, on the source's clock.
struct TrackEnds(Vec<i64>);

impl TrackEnds {
    fn of(b: &ProfileBuilder) -> Self {
        let mut ends = Self(vec![i64::MIN; b.tracks.len()]);
        let slices = &b.slices;
        for ((track, start), dur) in slices.track.iter().zip(slices.start.iter()).zip(slices.dur.iter()) {
            ends.note(track.index(), start.saturating_add(dur));
        }
        for points in [&b.instants, &b.links] {
            for (track, ts) in points.track.iter().zip(points.ts.iter()) {
                ends.note(track.index(), ts);
            }
        }
        for (track, ts) in b.ends.track.iter().zip(b.ends.ts.iter()) {
            ends.note(track.index(), ts);
        }
        ends
    }

    fn note(&mut self, track: usize, ts: i64) {
        if let Some(end) = self.0.get_mut(track) {
            *end = (*end).max(ts);
        }
    }

    fn get(&self, track: usize) -> i64 {
        self.0.get(track).copied().unwrap_or(0)
    }
}

/// Gives every begin its end: per track, by time (equal times in file order); the last begun slice ends first.
fn match_ends(b: &mut ProfileBuilder, track_ends: &TrackEnds, diagnostics: &mut Diagnostics) {
    let rows = std::mem::take(&mut b.ends);
    let (first_of_track, mut order) = order_by_track(&rows.track, b.tracks.len());
    sort_each_track(&first_of_track, &mut order, |i| (rows.ts.get(i as usize), i));
    let mut open: Vec<EndRow> = Vec::new();
    let mut track = None;
    for row in order.into_iter().map(|i| rows.get(i as usize)) {
        if track != Some(row.track) {
            close_unended(&mut open, b, track_ends, diagnostics);
            track = Some(row.track);
        }
        if row.slice.is_some() {
            open.push(row);
        } else if let Some(begin) = open.pop() {
            end_slice(b, &begin, &row, diagnostics);
        } else {
            diagnostics.add("end_without_begin", Some(row.byte_offset), || {
                format!("{} ends at {} ns, but nothing was open: ignored", quoted(&b.strings, row.name), row.ts)
            });
        }
    }
    close_unended(&mut open, b, track_ends, diagnostics);
}

fn end_slice(b: &mut ProfileBuilder, begin: &EndRow, end: &EndRow, diagnostics: &mut Diagnostics) {
    if let Some(slice) = begin.slice {
        let args = join_args(&mut b.args, begin.args, end.args);
        b.slices.dur.set(slice as usize, end.ts - begin.ts);
        b.slices.args.set(slice as usize, args);
    }
    if end.name != StrId::EMPTY && end.name != begin.name {
        diagnostics.add("end_name_mismatch", Some(end.byte_offset), || {
            let (ended, begun) = (quoted(&b.strings, end.name), quoted(&b.strings, begin.name));
            format!("{ended} ends at {} ns where {begun} was open: taken as its end", end.ts)
        });
    }
}

fn close_unended(
    open: &mut Vec<EndRow>,
    b: &mut ProfileBuilder,
    track_ends: &TrackEnds,
    diagnostics: &mut Diagnostics,
) {
    for begin in open.drain(..) {
        if let Some(slice) = begin.slice {
            let i = slice as usize;
            b.slices.dur.set(i, track_ends.get(begin.track.index()).saturating_sub(begin.ts).max(0));
            b.slices.flags.set(i, b.slices.flags.get(i).with(SliceFlags::UNCLOSED));
        }
        diagnostics.add("begin_without_end", Some(begin.byte_offset), || {
            let name = quoted(&b.strings, begin.name);
            format!("{name} begins at {} ns and never ends: shown to the end of its track, not in statistics", begin.ts)
        });
    }
}

fn quoted(strings: &StringTable, name: StrId) -> String {
    format!("\"{}\"", strings.get(name))
}

/// One object with the members of both.
pub(super) fn join_args(arena: &mut ArgsArena, begin: ArgsId, end: ArgsId) -> ArgsId {
    if end.is_none() || begin == end {
        return begin;
    }
    if begin.is_none() {
        return end;
    }
    // Only the outer braces: the last value may be an object itself.
    let trim = |text: &str| {
        let text = text.trim();
        let inside = text.strip_prefix('{').and_then(|t| t.strip_suffix('}')).unwrap_or(text);
        inside.trim().to_owned()
    };
    let (first, second) = (arena.get(begin), arena.get(end));
    if !(first.starts_with('{') && second.starts_with('{')) {
        return begin;
    }
    let members = [trim(first), trim(second)].into_iter().filter(|m| !m.is_empty()).collect::<Vec<_>>();
    let joined = format!("{{{}}}", members.join(","));
    arena.add(&joined)
}

/// Rows grouped by track, in the order given: the start of each track (and one more entry, the number of rows), and the
/// rows.
fn order_by_track(track: &Column<TrackId>, tracks: usize) -> (Vec<u32>, Vec<u32>) {
    let mut first_of_track = vec![0u32; tracks + 1];
    for track in track.iter() {
        first_of_track[track.index() + 1] += 1;
    }
    for i in 1..first_of_track.len() {
        first_of_track[i] += first_of_track[i - 1];
    }
    let mut next = first_of_track.clone();
    let mut order = vec![0u32; track.len()];
    for (i, track) in track.iter().enumerate() {
        let at = &mut next[track.index()];
        order[*at as usize] = usize_to_u32(i);
        *at += 1;
    }
    (first_of_track, order)
}

fn sort_each_track<K: Ord>(first_of_track: &[u32], order: &mut [u32], key: impl Fn(u32) -> K) {
    for bounds in first_of_track.windows(2) {
        let part = &mut order[bounds[0] as usize..bounds[1] as usize];
        if !part.is_sorted_by_key(|&i| key(i)) {
            sort_rows(part, &|a, b| key(a).cmp(&key(b)));
        }
    }
}

/// One copy of the sort for all keys. Few tracks need it, and reading a key from packed columns takes longer than the call.
fn sort_rows(order: &mut [u32], by: &dyn Fn(u32, u32) -> Ordering) {
    order.sort_unstable_by(|&a, &b| by(a, b));
}

/// Slices by track, then start, longest first. If both are equal, the data does not say which is outside: slices that never
/// ended come first, then pairs of begin and end, then complete slices (as in other readers), in the given order.
fn sort_slices(rows: SliceRows, tracks: usize, origin_ns: i64) -> SliceTable {
    let (first_of_track, mut order) = order_by_track(&rows.track, tracks);
    drop(rows.track);
    sort_each_track(&first_of_track, &mut order, |i| {
        let at = i as usize;
        let flags = rows.flags.get(at);
        let outside = (flags.has(SliceFlags::UNCLOSED), flags.has(SliceFlags::PAIRED));
        (rows.start.get(at), Reverse(rows.dur.get(at)), Reverse(outside), i)
    });
    let flags = order.iter().map(|&i| rows.flags.get(i as usize).without(SliceFlags::PAIRED)).collect();
    SliceTable {
        start: rows.start.reorder_since(&order, origin_ns),
        dur: rows.dur.reorder(&order),
        name: rows.name.reorder(&order),
        category: rows.category.reorder(&order),
        args: rows.args.reorder(&order),
        flags,
        depth: Column::default(),
        parent_back: Column::default(),
        first_of_track,
        rows_of_track: Vec::new(),
    }
}

fn order_by_time(ts: &Column<i64>) -> Vec<u32> {
    let mut order: Vec<u32> = (0..usize_to_u32(ts.len())).collect();
    sort_each_track(&[0, usize_to_u32(ts.len())], &mut order, |i| (ts.get(i as usize), i));
    order
}

fn sort_instants(rows: PointRows, scope: Column<u8>, origin_ns: i64) -> InstantTable {
    sort_points(rows, origin_ns, |order| ScopeColumn { scope: scope.reorder(order) })
}

fn sort_links(rows: PointRows, ids: LinkRows, origin_ns: i64) -> LinkTable {
    sort_points(rows, origin_ns, |order| JoinColumns {
        id_tag: ids.tag.reorder(order),
        id: ids.id.reorder(order),
        binds_enclosing: ids.binds_enclosing.reorder(order),
    })
}

fn sort_points<I, X>(rows: PointRows, origin_ns: i64, own: impl FnOnce(&[u32]) -> X) -> PointTable<I, X> {
    let order = order_by_time(&rows.ts);
    PointTable {
        ts: rows.ts.reorder_since(&order, origin_ns),
        track: rows.track.reorder(&order),
        name: rows.name.reorder(&order),
        category: rows.category.reorder(&order),
        args: rows.args.reorder(&order),
        phase: rows.phase.reorder(&order),
        own: own(&order),
        of: PhantomData,
    }
}

/// Depth and parent of every slice, and the diagnostics found on the way.
fn nest(profile: &mut Profile, may_overlap: bool) {
    let mut nesting = Nesting::default();
    for track in 0..profile.tracks.len() {
        let slices = &mut profile.slices;
        let range = slices.first_of_track[track] as usize..slices.first_of_track[track + 1] as usize;
        let own = profile.tracks.as_slice()[track].kind.is_own();
        let before = (nesting.overlaps, nesting.first_overlap);
        let rows = nesting.add_track(&mut TrackSlices {
            range,
            start: &slices.start,
            dur: &slices.dur,
            flags: &mut slices.flags,
        });
        slices.rows_of_track.push(rows);
        if !own || may_overlap {
            // Nothing says that these slices nest.
            (nesting.overlaps, nesting.first_overlap) = before;
        }
    }
    let (overlaps, too_deep, first) = (nesting.overlaps, nesting.too_deep, nesting.first_overlap);
    profile.slices.depth = nesting.depth;
    profile.slices.parent_back = nesting.parent_back;
    let mut diagnostics = std::mem::take(&mut profile.diagnostics);
    diagnostics.add_many("partial_overlap", overlaps, None, || overlap_example(profile, first));
    diagnostics.add_many("too_deep", too_deep, None, || {
        format!("slices nest more than {} deep: the deepest share one row", u16::MAX)
    });
    super::implausible::note(profile, &mut diagnostics);
    profile.diagnostics = diagnostics;
}

/// Letters of a name that a remark has; PyTorch names of C++ functions have hundreds.
const MOST_OF_A_NAME: usize = 60;

fn overlap_example(profile: &Profile, first: Option<super::SliceId>) -> String {
    let Some(slice) = first else { return String::new() };
    let slices = &profile.slices;
    let name = |id| beginning(profile.str(slices.name(id)), MOST_OF_A_NAME).into_owned();
    let origin = profile.meta.origin_ns;
    let (start, end) = (slices.start(slice).0.saturating_add(origin), slices.end(slice).0.saturating_add(origin));
    let other = slices.stack_parent(slice).map_or_else(String::new, name);
    format!(
        "\"{}\" ({start} to {end} ns) begins inside \"{other}\" and ends after it: shown in a row of its own",
        name(slice)
    )
}
