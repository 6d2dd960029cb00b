//! Arithmetic on sorted, disjoint spans in nanoseconds, as returned by [`Interval::merge`].

use ns_base::Interval;
use ns_base::convert::u64_to_f64;

/// Spans of a timeline.
pub(super) type Spans = Vec<Interval<i64>>;

/// Merged spans of these items.
pub(super) fn merge(times: impl Iterator<Item = Interval<i64>>) -> Spans {
    Interval::merge(times.collect())
}

/// Sum of the lengths.
pub(super) fn length_ns(spans: &[Interval<i64>]) -> u64 {
    spans.iter().map(|s| (s.end - s.start).unsigned_abs()).sum()
}

/// The parts of `spans` that none of `others` covers. Both are sorted and disjoint.
pub(super) fn without(spans: &[Interval<i64>], others: &[Interval<i64>]) -> Spans {
    let mut left = Spans::new();
    let mut next = 0;
    for span in spans {
        let mut start = span.start;
        while others.get(next).is_some_and(|o| o.end <= start) {
            next += 1;
        }
        for other in others[next..].iter().take_while(|o| o.start < span.end) {
            if other.start > start {
                left.push(Interval::new(start, other.start));
            }
            start = start.max(other.end);
        }
        if start < span.end {
            left.push(Interval::new(start, span.end));
        }
    }
    left
}

/// The parts that both cover. Both are sorted and disjoint.
pub(super) fn both(a: &[Interval<i64>], b: &[Interval<i64>]) -> Spans {
    let (mut i, mut j, mut shared) = (0, 0, Spans::new());
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        let (start, end) = (x.start.max(y.start), x.end.min(y.end));
        if start < end {
            shared.push(Interval::new(start, end));
        }
        if x.end <= y.end { i += 1 } else { j += 1 }
    }
    shared
}

/// Nanoseconds as seconds.
pub(super) fn secs(ns: u64) -> f64 {
    u64_to_f64(ns) / 1e9
}

/// `part` of `whole` in percent, 0 to 100; 0 when `whole` is 0.
pub(super) fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { part * 100.0 / whole } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spans(of: &[(i64, i64)]) -> Spans {
        of.iter().map(|(a, b)| Interval::new(*a, *b)).collect()
    }

    #[test]
    fn what_others_cover_is_left_out() {
        let dma = spans(&[(0, 10), (20, 30), (40, 50)]);
        let busy = spans(&[(2, 4), (8, 22), (24, 26), (41, 60)]);
        assert_eq!(without(&dma, &busy), spans(&[(0, 2), (4, 8), (22, 24), (26, 30), (40, 41)]));
        assert_eq!(without(&dma, &[]), dma);
        assert_eq!(length_ns(&without(&dma, &dma)), 0);
        assert_eq!(length_ns(&both(&dma, &busy)) + length_ns(&without(&dma, &busy)), length_ns(&dma));
    }
}
