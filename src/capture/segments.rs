//! Overlaps as the plugin shows them: where several operations are active at once in a row, the row shows one
//! `fused_N` with its members.

use std::collections::BTreeMap;

use ns_base::Interval;
use ns_base::Order;
use ns_machine::SourceId;

/// A stretch of time in which the same set of operations is active.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Segment {
    /// Nanoseconds.
    pub time: Interval<i64>,
    /// The active operations in the order in which they began; those that began at once in the order of the program.
    pub active: Vec<SourceId>,
}

/// Cuts time at every start and end; spans without an active operation are left out.
pub(super) fn segments(spans: &[(SourceId, Interval<i64>)]) -> Vec<Segment> {
    let mut edges: Vec<(i64, bool, SourceId)> = Vec::with_capacity(spans.len() * 2);
    for (source, time) in spans.iter().filter(|(_, t)| !t.is_empty()) {
        edges.push((time.start, true, *source));
        edges.push((time.end, false, *source));
    }
    edges.order();
    let mut segments: Vec<Segment> = Vec::new();
    let mut depth: BTreeMap<SourceId, Active> = BTreeMap::new();
    let mut from = 0;
    let mut edges = edges.into_iter().peekable();
    while let Some(&(at, _, _)) = edges.peek() {
        if !depth.is_empty() && at > from {
            push_merged(&mut segments, Interval::new(from, at), in_order(&depth));
        }
        while let Some(&(t, starts, source)) = edges.peek() {
            if t != at {
                break;
            }
            edges.next();
            let active = depth.entry(source).or_insert(Active { since: at, times: 0 });
            if starts {
                active.times += 1;
            } else {
                active.times -= 1;
                if active.times == 0 {
                    depth.remove(&source);
                }
            }
        }
        from = at;
    }
    segments
}

/// An operation that is active, perhaps more than once: several of its DMAs may be in flight.
struct Active {
    since: i64,
    times: u32,
}

fn in_order(active: &BTreeMap<SourceId, Active>) -> Vec<SourceId> {
    let mut order: Vec<(i64, SourceId)> = active.iter().map(|(source, a)| (a.since, *source)).collect();
    order.order();
    order.into_iter().map(|(_, source)| source).collect()
}

/// A stretch of a row.
pub(super) struct Stretch {
    pub time: Interval<i64>,
    /// The labels of the active operations, in their order, each once.
    pub labels: Vec<String>,
    /// The first operation.
    pub first: SourceId,
}

/// One row of the segments: `label_of` names each active operation at this level (`None`: not shown there). Segments with the same set
/// of labels that follow one another are one stretch.
pub(super) fn level(segments: &[Segment], label_of: impl Fn(SourceId) -> Option<String>) -> Vec<Stretch> {
    let mut row: Vec<Stretch> = Vec::new();
    for segment in segments {
        let mut named = segment.active.iter().filter_map(|s| Some((label_of(*s)?, *s)));
        let Some((label, first)) = named.next() else { continue };
        let mut labels = vec![label];
        for (label, _) in named {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        match row.last_mut() {
            Some(last) if last.time.end == segment.time.start && is_same_set(&last.labels, &labels) => {
                last.time.end = segment.time.end;
            }
            _ => row.push(Stretch { time: segment.time, labels, first }),
        }
    }
    row
}

/// Whether two lists without repetitions hold the same.
fn is_same_set<T: PartialEq>(a: &[T], b: &[T]) -> bool {
    a.len() == b.len() && a.iter().all(|x| b.contains(x))
}

fn push_merged(segments: &mut Vec<Segment>, time: Interval<i64>, active: Vec<SourceId>) {
    match segments.last_mut() {
        Some(last) if last.time.end == time.start && is_same_set(&last.active, &active) => last.time.end = time.end,
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
        assert_eq!(row[0].time, Interval::new(0, 14));
    }

    #[test]
    fn members_are_in_the_order_in_which_they_began() {
        let (early, late) = (SourceId(1), SourceId(0));
        let spans = [(early, Interval::new(0, 10)), (late, Interval::new(4, 12)), (early, Interval::new(10, 12))];
        let row = level(&segments(&spans), |s| Some(s.0.to_string()));
        let members: Vec<_> = row.iter().map(|r| (r.time.start, r.time.end, r.labels.join(" "))).collect();
        assert_eq!(members, [(0, 4, "1".to_owned()), (4, 12, "1 0".to_owned())]);
        let at_once = [(early, Interval::new(0, 3)), (late, Interval::new(0, 3))];
        assert_eq!(level(&segments(&at_once), |s| Some(s.0.to_string()))[0].labels, ["0", "1"]);
    }
}
