//! Overlaps as the plugin shows them: where several operations are active at once in a row, the row shows one
//! `fused_N` with its members.

use std::collections::BTreeSet;

use ns_base::Interval;
use ns_machine::SourceId;

/// A stretch of time in which the same set of operations is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Nanoseconds.
    pub time: Interval<i64>,
    /// The active operations, ascending.
    pub active: Vec<SourceId>,
}

/// Cuts time at every start and end; spans without an active operation are left out.
pub(super) fn segments(spans: &[(SourceId, Interval<i64>)]) -> Vec<Segment> {
    let mut edges: Vec<(i64, bool, SourceId)> = Vec::with_capacity(spans.len() * 2);
    for (source, time) in spans.iter().filter(|(_, t)| !t.is_empty()) {
        edges.push((time.start, true, *source));
        edges.push((time.end, false, *source));
    }
    edges.sort_unstable();
    let mut segments: Vec<Segment> = Vec::new();
    // An operation may be active more than once: several of its DMAs in flight.
    let mut depth: std::collections::BTreeMap<SourceId, u32> = std::collections::BTreeMap::new();
    let mut from = 0;
    let mut edges = edges.into_iter().peekable();
    while let Some(&(at, _, _)) = edges.peek() {
        if !depth.is_empty() && at > from {
            push_merged(&mut segments, Interval::new(from, at), depth.keys().copied().collect());
        }
        while let Some(&(t, starts, source)) = edges.peek() {
            if t != at {
                break;
            }
            edges.next();
            let n = depth.entry(source).or_insert(0);
            if starts {
                *n += 1;
            } else {
                *n -= 1;
                if *n == 0 {
                    depth.remove(&source);
                }
            }
        }
        from = at;
    }
    segments
}

/// One row of the segments: `label_of` names each active operation at this level (`None`: not shown there). Returns
/// the spans with the same set of labels, with the first source of each label.
pub(super) fn level(
    segments: &[Segment],
    label_of: impl Fn(SourceId) -> Option<String>,
) -> Vec<(Interval<i64>, BTreeSet<String>, Vec<SourceId>)> {
    let mut row: Vec<(Interval<i64>, BTreeSet<String>, Vec<SourceId>)> = Vec::new();
    for segment in segments {
        let labels: BTreeSet<String> = segment.active.iter().filter_map(|s| label_of(*s)).collect();
        if labels.is_empty() {
            continue;
        }
        match row.last_mut() {
            Some((time, last, sources)) if *last == labels && time.end == segment.time.start => {
                time.end = segment.time.end;
                sources.extend(segment.active.iter().filter(|s| label_of(**s).is_some()));
            }
            _ => {
                let sources = segment.active.iter().copied().filter(|s| label_of(*s).is_some()).collect();
                row.push((segment.time, labels, sources));
            }
        }
    }
    row
}

fn push_merged(segments: &mut Vec<Segment>, time: Interval<i64>, active: Vec<SourceId>) {
    match segments.last_mut() {
        Some(last) if last.active == active && last.time.end == time.start => last.time.end = time.end,
        _ => segments.push(Segment { time, active }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlaps_become_segments_of_their_own() {
        let (a, b) = (SourceId(0), SourceId(1));
        let spans = [(a, Interval::new(0, 10)), (b, Interval::new(6, 14)), (b, Interval::new(14, 16))];
        let cut = segments(&spans);
        let as_tuples: Vec<_> = cut.iter().map(|s| (s.time.start, s.time.end, s.active.clone())).collect();
        assert_eq!(as_tuples, [(0, 6, vec![a]), (6, 10, vec![a, b]), (10, 16, vec![b])]);
        let busy: i64 = cut.iter().map(|s| s.time.end - s.time.start).sum();
        assert_eq!(busy, 16);
    }

    #[test]
    fn a_level_joins_segments_of_one_name() {
        let spans = [(SourceId(0), Interval::new(0, 10)), (SourceId(1), Interval::new(6, 14))];
        let row = level(&segments(&spans), |_| Some("NN[model]".to_owned()));
        assert_eq!(row.len(), 1);
        assert_eq!(row[0].0, Interval::new(0, 14));
    }
}
