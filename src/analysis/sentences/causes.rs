//! Why devices were idle: what the host did in the longest gaps, added up by name.

use std::collections::BTreeMap;

use super::tally::shared;
use crate::idle::IdleGaps;
use ns_base::{Interval, TraceNs};
use ns_profile::SliceId;

/// The most gaps that are searched for a cause, the longest first. The cost of a gap's search grows with its slices. In
/// real traces these gaps hold nearly all idle time.
pub(super) const GAPS_LOOKED_INTO: usize = 4096;

/// What ran on the host in the gaps of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IdleCause {
    /// Name of the slices.
    pub name: String,
    /// Process and thread.
    pub thread: String,
    /// Their self time in the gaps, in ns.
    pub ns: i64,
    /// Number of gaps in which they had the most.
    pub gaps: u64,
    /// The longest of them.
    pub longest: SliceId,
}

/// The name with the most self time in the gaps; each gap counts for the name that has the most self time in it. Gaps of several
/// devices overlap, so a cause has at most the time in which no device works: `device` are the stretches in which one does.
pub(super) fn main_cause(found: &IdleGaps, device: &[Interval<TraceNs>]) -> Option<IdleCause> {
    // The cause of each name, and the gaps that it has.
    let mut by_name: BTreeMap<_, (IdleCause, Vec<_>)> = BTreeMap::new();
    // Gaps come by length: the first slice of a name is in its longest gap.
    for (gap, meanwhile) in found.gaps.iter().filter_map(|gap| Some((gap, gap.meanwhile.as_ref()?))) {
        let new = || IdleCause {
            name: meanwhile.name.clone(),
            thread: meanwhile.thread.clone(),
            ns: 0,
            gaps: 0,
            longest: meanwhile.longest,
        };
        let (cause, spans) =
            by_name.entry((meanwhile.name.as_str(), meanwhile.thread.as_str())).or_insert_with(|| (new(), Vec::new()));
        cause.ns = cause.ns.saturating_add(meanwhile.self_ns);
        cause.gaps += 1;
        spans.push(gap.span);
    }
    let limited = |(mut cause, spans): (IdleCause, Vec<_>)| {
        let spans = Interval::merge(spans);
        cause.ns = cause.ns.min(Interval::total_ns(&spans) - shared(&spans, device));
        cause
    };
    by_name.into_values().rev().map(limited).max_by_key(|cause| cause.ns)
}

/// Length of the gaps that ended only when the host started the next work, which it did after the gap began, in ns.
pub(super) fn started_late_ns(found: &IdleGaps) -> i64 {
    found.gaps.iter().filter(|gap| gap.was_late).map(|gap| gap.span.end.0 - gap.span.start.0).sum()
}

/// What the user can do about a cause, by its name; `None` if the name does not say enough.
pub(super) fn remedy(name: &str) -> Option<&'static str> {
    const REMEDIES: [(&[&str], &str); 5] = [
        (
            &["DataLoader", "IteratorGetNext", "tf_data", "Iterator::", "DatasetNext"],
            "It loads data: more loader workers, or batches prepared ahead, shorten it",
        ),
        (
            &["LaunchKernel", "GraphLaunch", "::Execute", "ExecuteAsync", "LaunchHostFunc"],
            "It hands over work: fewer and larger operations, or graphs, shorten it",
        ),
        (
            &["XlaCompile", "backend_compile", "BackendCompile", "::Compile", "CompileAndLoad"],
            "It compiles: run the shapes once before measuring",
        ),
        (&["Memcpy", "memcpy", "_to_copy", "TransferTo", "BufferFrom"], "It copies: keep data on the device"),
        (
            &["Synchronize", "aten::item", "_local_scalar_dense", "block_until_ready", "BlockUntilReady"],
            "It waits for a result: ask for results later, or less often",
        ),
    ];
    REMEDIES.iter().find(|(names, _)| names.iter().any(|n| name.contains(n))).map(|(_, says)| *says)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::idle::{IdleGap, Meanwhile};

    fn gap(name: &str, self_ns: i64) -> IdleGap {
        gap_at(name, i64::from(name.as_bytes()[0]) * 1_000 + self_ns * 7, self_ns)
    }

    fn gap_at(name: &str, start: i64, self_ns: i64) -> IdleGap {
        let (before, after) = (SliceId(0), SliceId(1));
        let meanwhile =
            Meanwhile { name: name.to_owned(), thread: "main".to_owned(), self_ns, longest: SliceId(self_ns as u32) };
        IdleGap {
            of: "GPU 0".to_owned(),
            span: Interval::new(TraceNs(start), TraceNs(start + self_ns)),
            before,
            after,
            started_by: None,
            was_late: false,
            meanwhile: Some(meanwhile),
        }
    }

    #[test]
    fn many_short_gaps_of_one_cause_outweigh_a_longer_one() {
        let gaps = vec![gap("copy", 50), gap("load", 40), gap("load", 30)];
        let found = IdleGaps { total: 3, idle_ns: 120, gaps };
        let cause = main_cause(&found, &[]).unwrap();
        assert_eq!((cause.name.as_str(), cause.ns, cause.gaps, cause.longest), ("load", 70, 2, SliceId(40)));
        assert_eq!(main_cause(&IdleGaps::default(), &[]), None);
        assert_eq!(started_late_ns(&found), 0);
        let late = IdleGaps { gaps: vec![IdleGap { was_late: true, ..gap("launch", 7) }], ..found };
        assert_eq!(started_late_ns(&late), 7);
    }

    #[test]
    fn idle_time_of_eight_devices_counts_once() {
        let gaps: Vec<IdleGap> = (0..8).map(|_| gap_at("wait", 100, 40)).collect();
        let found = IdleGaps { total: 8, idle_ns: 320, gaps };
        assert_eq!(main_cause(&found, &[]).unwrap().ns, 40);
        // A ninth device works in a part of it.
        let device = [Interval::new(TraceNs(90), TraceNs(110))];
        assert_eq!(main_cause(&found, &device).unwrap().ns, 30);
    }

    #[test]
    fn a_name_that_says_nothing_has_no_remedy() {
        assert!(
            remedy("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__").is_some_and(|r| r.contains("loader"))
        );
        assert!(remedy("cudaLaunchKernel").is_some_and(|r| r.contains("hands over")));
        assert_eq!(remedy("step"), None);
        // A function that was compiled does not compile.
        assert_eq!(remedy("CompiledFunctionBackward"), None);
    }
}
