//! Areas, annotations and lists of tracks as texts of a link.

use std::collections::BTreeSet;

use ns_base::{Interval, TraceNs};
use ns_view::timeline::{Annotation, Area, TrackId};

/// Most tracks of an area.
const MOST_TRACKS: usize = 10_000;

/// A span and its tracks, neighbours joined: `100..200:3-5.8`.
pub(super) fn area_of(text: &str) -> Option<Area> {
    let (span, list) = text.split_once(':')?;
    let (start, end) = span.split_once("..")?;
    let (start, end) = (nanoseconds(start)?, nanoseconds(end)?);
    let mut tracks = Vec::new();
    for part in list.split('.').filter(|part| !part.is_empty()) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let ids = first.parse::<u32>().ok()?..=last.parse::<u32>().ok()?;
        if ids.is_empty() || tracks.len() + ids.clone().take(MOST_TRACKS + 1).count() > MOST_TRACKS {
            return None;
        }
        tracks.extend(ids.map(TrackId));
    }
    (start <= end).then(|| Area { span: Interval::new(TraceNs(start), TraceNs(end)), tracks })
}

/// Each run of neighbours is its first and its last, because an area may have hundreds.
pub(super) fn area_text(area: &Area) -> String {
    let neighbours = area.tracks.chunk_by(|a, b| a.0.checked_add(1) == Some(b.0));
    let part = |run: &[TrackId]| match run {
        [first, .., last] => format!("{}-{}", first.0, last.0),
        _ => run.iter().map(|id| id.0.to_string()).collect(),
    };
    let tracks: Vec<String> = neighbours.map(part).collect();
    format!("{}..{}:{}", area.span.start.0, area.span.end.0, tracks.join("."))
}

/// `100~A` is a mark, `200..300~B` a range.
pub(super) fn annotation_of(text: &str) -> Option<Annotation> {
    let (at, label) = text.split_once('~')?;
    let (start, end) = at.split_once("..").unwrap_or((at, at));
    let (start_ns, end_ns) = (nanoseconds(start)?, nanoseconds(end)?);
    (start_ns <= end_ns).then(|| Annotation { start_ns, end_ns, label: label.to_owned() })
}

pub(super) fn annotation_text(a: &Annotation) -> String {
    let label = a.label.replace([';', '~'], " ");
    if a.is_range() { format!("{}..{}~{label}", a.start_ns, a.end_ns) } else { format!("{}~{label}", a.start_ns) }
}

/// Tracks: `3.5`.
pub(super) fn tracks_of<C: FromIterator<TrackId>>(text: &str) -> Option<C> {
    text.split('.').map(|n| n.trim().parse().ok().map(TrackId)).collect()
}

pub(super) fn tracks_text<'a>(tracks: impl IntoIterator<Item = &'a TrackId>) -> String {
    tracks.into_iter().map(|id| id.0.to_string()).collect::<Vec<_>>().join(".")
}

/// Numbers of sections: `0,3`.
pub(super) fn sections_of(text: &str) -> Option<BTreeSet<usize>> {
    text.split(',').map(|n| n.trim().parse::<u32>().ok().map(|n| n as usize)).collect()
}

pub(super) fn sections_text(sections: &BTreeSet<usize>) -> String {
    sections.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

pub(super) fn nanoseconds(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}
