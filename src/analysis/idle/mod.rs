//! Idle times: when no slice ran, and what was waited for.
//!
//! A gap is the time between two slices of a row group (a device, or a thread) in which nothing of the group runs. Two
//! things say what it waited for: the arrow that leads to the slice after the gap shows what started that slice, and
//! other threads show what ran in the meantime.

mod gaps;
mod meanwhile;
mod pass;

use serde::{Deserialize, Serialize};

use super::work::Works;
use ns_base::{Interval, TraceNs};
use ns_profile::flows::FlowIndex;
use ns_profile::{Profile, SliceId, TrackId};

pub use pass::IdlePass;

/// A stretch in which no slice of a row group ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct IdleGap {
    /// The device, or the process and thread.
    pub of: String,
    /// The span of the gap.
    pub span: Interval<TraceNs>,
    /// The slice before the gap.
    pub before: SliceId,
    /// The slice after the gap.
    pub after: SliceId,
    /// The slice that started [`Self::after`]; absent when no arrow leads to it.
    pub started_by: Option<SliceId>,
    /// Whether that slice began after the gap did: no work was ready before then. If it began earlier, the work was
    /// already handed over and waited for something else.
    pub was_late: bool,
    /// The call that explains the gap on another thread, and how long it was on the stack: the thread that started the next
    /// slice if it is known, else the one whose call holds most of the gap.
    pub meanwhile: Option<Meanwhile>,
}

/// The activity of another thread in a gap.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Meanwhile {
    /// Name of the slices.
    pub name: String,
    /// The thread.
    pub track: TrackId,
    /// Process and thread.
    pub thread: String,
    /// How long one of them is on the stack in the gap, in ns: in itself or in what it calls.
    pub ns: i64,
    /// The slice among them with the most time in the gap.
    pub longest: SliceId,
}

/// Gaps of a profile, longest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct IdleGaps {
    /// The longest gaps.
    pub gaps: Vec<IdleGap>,
    /// Number of gaps in all.
    pub total: u64,
    /// Their length together, in ns.
    pub idle_ns: i64,
}

/// The `limit` longest gaps: of devices if the profile has devices, else of threads. Only gaps that share an instant
/// with `within`; they are not cut.
pub fn idle_gaps(
    profile: &Profile,
    works: &Works,
    flows: &FlowIndex,
    within: Option<Interval<TraceNs>>,
    limit: usize,
) -> IdleGaps {
    let mut pass = IdlePass::new(profile, within, limit);
    while !pass.advance(profile, works, flows, usize::MAX) {}
    pass.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::{ArgsId, LinkEvent, LinkValue, ProfileBuilder};

    #[test]
    fn a_gap_has_its_end_and_the_work_meanwhile() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        b.set_process_labels(gpu, "GPU 0");
        let (t, k) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"));
        b.slice(t, 0, 300, "step", "user_annotation", None);
        b.slice(t, 5, 5, "cudaLaunchKernel", "cuda_runtime", None);
        b.slice(t, 30, 150, "load data", "cpu_op", None);
        b.slice(t, 190, 5, "cudaLaunchKernel", "cuda_runtime", None);
        b.slice(k, 20, 30, "gemm", "kernel", None);
        b.slice(k, 50, 10, "Memcpy", "gpu_memcpy", None);
        b.slice(k, 200, 20, "gemm", "kernel", None);
        let (name, category) = (b.intern("ac2g"), b.intern("ac2g"));
        for (track, ts_ns, phase) in [(t, 190, b's'), (k, 200, b'f')] {
            let (id, args) = (LinkValue::Number(1), ArgsId::NONE);
            b.link(LinkEvent { track, ts_ns, phase, name, category, args, id, binds_enclosing: true });
        }
        let profile = b.finish(Diagnostics::new());
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let found = idle_gaps(&profile, &works, &flows, None, 10);
        assert_eq!((found.total, found.idle_ns, found.gaps.len()), (1, 140, 1));
        let gap = &found.gaps[0];
        assert_eq!((gap.of.as_str(), gap.span.start.0, gap.span.end.0, gap.was_late), ("GPU 0", 60, 200, true));
        let meanwhile = gap.meanwhile.as_ref().unwrap();
        assert_eq!((meanwhile.name.as_str(), meanwhile.ns), ("load data", 120));
        assert_eq!(profile.slices().start(gap.started_by.unwrap()).0, 190);
    }
}
