//! The critical path, as a drawing and as a table.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::listing::{LinkedTable, Rows, Sources};
use crate::timeline::link;
use ns_analysis::Names;
use ns_analysis::critical::{CriticalPath, PathPart, PathReason};
use ns_base::convert::{i64_to_f64, usize_to_i64};
use ns_base::{Interval, Order, StrId, TraceNs};
use ns_profile::Profile;
use ns_view::table::Table;
use ns_view::timeline::SliceLink;

/// Name of a part without a slice.
const NOTHING_RAN: &str = "(nothing ran)";

/// A critical path for drawing.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PathSteps {
    /// Its steps, by time and without gaps.
    pub steps: Vec<PathStep>,
    /// Whether there are more parts than can be drawn; each step then shows the name with most of its time.
    pub is_thinned: bool,
    /// Number of parts in all.
    pub total: u64,
    /// Length of the path, in ns.
    pub length_ns: i64,
    /// Time on it without a slice, in ns.
    pub idle_ns: i64,
}

/// A stretch of a critical path.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathStep {
    /// The slice, the longest if there are several; absent for a part without a slice.
    pub slice: Option<SliceLink>,
    /// When it begins, in ns from the origin.
    pub start_ns: i64,
    pub end_ns: i64,
}

/// All parts; if there are more than `limit`, at most `limit` stretches of equal length.
pub(super) fn path_steps(sources: &Sources<'_>, path: &CriticalPath, limit: usize) -> PathSteps {
    let is_thinned = path.parts.len() > limit;
    let thinned = if is_thinned { thinned(sources.profile, &path.parts, limit) } else { Vec::new() };
    let drawn = if is_thinned { &thinned } else { &path.parts };
    let step = |p: &PathPart| PathStep {
        slice: p.slice.map(|id| link(sources.profile, sources.tracks, id)),
        start_ns: p.span.start.0,
        end_ns: p.span.end.0,
    };
    PathSteps {
        steps: drawn.iter().map(step).collect(),
        is_thinned,
        total: path.parts.len() as u64,
        length_ns: path.length_ns(),
        idle_ns: path.parts.iter().filter(|p| p.slice.is_none()).map(length).sum(),
    }
}

/// Stretches of equal length, each with the name that takes most of it; neighbours with the same name are merged.
fn thinned(profile: &Profile, parts: &[PathPart], limit: usize) -> Vec<PathPart> {
    let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return Vec::new() };
    let (start, whole) = (first.span.start.0, last.span.end.0.saturating_sub(first.span.start.0));
    let limit = usize_to_i64(limit.max(1));
    let stretch = (whole.saturating_add(limit - 1) / limit).max(1);
    let name = |part: &PathPart| part.slice.map(|id| profile.slices().name(id));
    let mut found: Vec<PathPart> = Vec::new();
    let mut rest = parts;
    let mut from = start;
    while from < last.span.end.0 {
        let span = Interval::new(TraceNs(from), TraceNs(from.saturating_add(stretch).min(last.span.end.0)));
        rest = &rest[rest.partition_point(|p| p.span.end <= span.start)..];
        let inside = || rest.iter().take_while(|p| p.span.start < span.end);
        let covered = |p: &PathPart| p.span.end.min(span.end).0.saturating_sub(p.span.start.max(span.start).0);
        let mut by_name: BTreeMap<Option<StrId>, i64> = BTreeMap::new();
        inside().for_each(|p| *by_name.entry(name(p)).or_insert(0) += covered(p));
        let most = by_name.into_iter().max_by_key(|(of, ns)| (*ns, std::cmp::Reverse(*of))).map(|(of, _)| of);
        let longest =
            inside().filter(|p| Some(name(p)) == most).max_by_key(|p| (covered(p), std::cmp::Reverse(p.span.start)));
        match (longest, found.last_mut()) {
            (Some(part), Some(before)) if name(part) == name(before) => before.span.end = span.end,
            (Some(part), _) => found.push(PathPart { span, ..*part }),
            (None, _) => {}
        }
        from = span.end.0;
    }
    found
}

fn length(part: &PathPart) -> i64 {
    part.span.end.0.saturating_sub(part.span.start.0)
}

/// The length of a path and its parts, the longest first, ties by time.
pub(super) fn parts_by_length(path: CriticalPath) -> (i64, Vec<PathPart>) {
    let whole = path.length_ns();
    let mut parts = path.parts;
    parts.order_by_key(|p| (std::cmp::Reverse(length(p)), p.span.start));
    (whole, parts)
}

const fn join_word(cause: PathReason) -> &'static str {
    match cause {
        PathReason::Last => "ends last",
        PathReason::Track => "next on its track",
        PathReason::Arrow => "arrow to the next",
        PathReason::Thread => "next on another row",
        PathReason::Wait => "the next waits for it",
        PathReason::Idle => "the next did not start",
    }
}

fn percent(ns: i64, whole: i64) -> f64 {
    if whole == 0 { 0.0 } else { i64_to_f64(ns) * 100.0 / i64_to_f64(whole) }
}

/// Parts of a path of a length, the longest first.
pub(super) fn parts_table(sources: &Sources<'_>, (whole, parts): &(i64, Vec<PathPart>), page: Rows) -> LinkedTable {
    let profile = sources.profile;
    let table = Table::of(page.of(parts))
        .name("name", "Part", |p| p.slice.map_or(NOTHING_RAN, |id| profile.str(profile.slices().name(id))))
        .count("start_ns", "Start (ns)", |p| p.span.start.0)
        .count("duration_ns", "Time (ns)", |p| length(p).max(0).unsigned_abs())
        .percent("percent", "Time %", |p| percent(length(p), *whole))
        .text("joined", "Joined by", |p| join_word(p.cause))
        .table();
    let links = page.of(parts).iter().map(|p| p.slice.map(|id| link(profile, sources.tracks, id)));
    let (skip, total) = (u64::from(page.skip), parts.len() as u64);
    LinkedTable { table, slices: links.collect(), skip, total, notes: Vec::new() }
}

/// The time of each name on the path.
pub(super) fn path_table(sources: &Sources<'_>, (path, names): &(CriticalPath, Names), page: Rows) -> LinkedTable {
    let (shares, length) = (path.shares(sources.profile, names), path.length_ns());
    let table = Table::of(page.of(&shares))
        .name("name", "On the path", |s| if s.longest.is_none() { NOTHING_RAN } else { &s.name })
        .count("parts", "Parts", |s| s.parts)
        .count("time_ns", "Time (ns)", |s| s.ns.max(0).unsigned_abs())
        .percent("percent", "Time %", |s| percent(s.ns, length))
        .table();
    let links = page.of(&shares).iter().map(|s| s.longest.map(|id| link(sources.profile, sources.tracks, id)));
    let (skip, total) = (u64::from(page.skip), shares.len() as u64);
    LinkedTable { table, slices: links.collect(), skip, total, notes: Vec::new() }
}
