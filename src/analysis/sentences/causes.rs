//! Why devices were idle: the call of the host that was on the stack for most of it, and how much of the work was started late.

use std::collections::BTreeMap;

use super::say::{percent, quoted, text_of};
use super::tally::Tally;
use crate::Threads;
use crate::grouping::thread_text;
use crate::idle::IdleGaps;
use crate::on_stack::{Call, Stretches, calls, explaining, is_call};
use crate::self_time::Order;
use crate::work::Works;
use ns_base::units::format_share;
use ns_base::{Interval, TraceNs};
use ns_profile::{Profile, SliceId, TrackId};

/// The most gaps that are searched for a cause, the longest first. The cost of a gap's search grows with its slices. In
/// real traces these gaps hold nearly all idle time.
pub(super) const GAPS_LOOKED_INTO: usize = 4096;

/// From this share of the idle time, in percent, one call is its cause. Chosen: below it, ending that call would leave most
/// of the idle time.
const ONE_CAUSE_PERCENT: f64 = 20.0;

/// Why devices were idle, as far as the profile says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdleReason {
    /// Time in which no device works, from the first to the last step, or work of devices, in ns.
    pub idle_ns: i64,
    /// What the host does during most of it.
    pub cause: Option<Cause>,
    /// The part of it that ended only when the host started the next work, which it did after the gap began, in ns.
    pub started_late_ns: i64,
}

/// What the host does during most idle time of devices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// Name of the calls of the host.
    pub name: String,
    /// Process and thread.
    pub thread: String,
    /// Idle time in which one of these calls is on the stack of the thread, in ns: in itself or in what it calls.
    pub ns: i64,
    /// The call with the most idle time.
    pub longest: SliceId,
    /// What the user can do, if a name says enough.
    pub remedy: Option<&'static str>,
}

impl IdleReason {
    /// Finds it. The thread is the one that explains the most time in the gaps of devices; the call on it is chosen by the rules
    /// of `on_stack`.
    pub(super) fn of(profile: &Profile, works: &Works, tally: &Tally, found: &IdleGaps) -> Self {
        let Some(window) = tally.window.filter(|_| !tally.device.is_empty()) else { return Self::default() };
        let idle = Stretches::without(window, &tally.device);
        let late = found.gaps.iter().filter(|gap| gap.was_late).map(|gap| gap.span);
        let late: i64 = Interval::merge(late.collect()).into_iter().map(|span| idle.ns_in(span)).sum();
        let cause = responsible(found).and_then(|track| cause_on(profile, works, track, window, &idle));
        let cause = cause.filter(|cause| percent(cause.ns, idle.total_ns) >= ONE_CAUSE_PERCENT);
        Self { idle_ns: idle.total_ns, cause, started_late_ns: late }
    }

    /// Whether the host started a large part of the work only after the device had run out of it.
    pub fn is_late(&self) -> bool {
        percent(self.started_late_ns, self.idle_ns) >= ONE_CAUSE_PERCENT
    }

    /// What the host does during the idle time, and what shortens it: sentences with a space before each; empty if nothing is known.
    pub fn text(&self) -> String {
        let part = |ns| format!("{} of it ({})", text_of(ns), format_share(percent(ns, self.idle_ns)));
        let mut text = String::new();
        if let Some(cause) = &self.cause {
            text.push_str(&format!(" During {}, {} is in {}.", part(cause.ns), cause.thread, quoted(&cause.name)));
        }
        match self.cause.as_ref().and_then(|cause| cause.remedy) {
            Some(remedy) => text.push_str(&format!(" {remedy}.")),
            None if self.is_late() => text.push_str(&format!(
                " In {} the host started the next work only after the device had run out of it: fewer and larger \
                 operations, or graphs, shorten that.",
                part(self.started_late_ns)
            )),
            None => {}
        }
        text
    }
}

/// The thread whose calls explain the most time in gaps.
fn responsible(found: &IdleGaps) -> Option<TrackId> {
    let mut of_track: BTreeMap<TrackId, i64> = BTreeMap::new();
    for meanwhile in found.gaps.iter().filter_map(|gap| gap.meanwhile.as_ref()) {
        *of_track.entry(meanwhile.track).or_default() += meanwhile.ns;
    }
    of_track.into_iter().max_by_key(|(track, ns)| (*ns, std::cmp::Reverse(*track))).map(|(track, _)| track)
}

/// The call of a thread that explains the idle time of a window.
fn cause_on(
    profile: &Profile,
    works: &Works,
    track: TrackId,
    window: Interval<TraceNs>,
    idle: &Stretches,
) -> Option<Cause> {
    let lanes = Threads::of(profile).lanes_with(profile, track);
    let ids = Order::of(profile, &lanes).filter(|id| is_call(profile, works, profile.slices().track(*id), *id));
    let all = calls(profile, ids, idle, window);
    let explaining = explaining(&all, idle.total_ns, window.end.0 - window.start.0);
    let call = explaining.first()?;
    let name = |call: &Call| profile.str(call.name);
    Some(Cause {
        name: name(call).to_owned(),
        thread: thread_text(profile, track),
        ns: call.ns,
        longest: call.longest,
        remedy: explaining.iter().find_map(|call| remedy(name(call))),
    })
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
    use super::super::idle_reason;
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;
    use proptest::prelude::*;

    /// A device with these kernels, and a thread of the host with these calls.
    fn profile(kernels: &[(i64, i64)], calls: &[(i64, i64, &str)]) -> Profile {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        b.set_process_labels(gpu, "GPU 0");
        let (t, k) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"));
        kernels.iter().for_each(|&(at, dur)| b.slice(k, at, dur, "gemm", "kernel", None));
        calls.iter().for_each(|&(at, dur, name)| b.slice(t, at, dur, name, "cpu_op", None));
        b.finish(Diagnostics::new())
    }

    #[test]
    fn a_cause_has_the_time_of_the_calls_inside_it() {
        let calls = [
            (0, 1_000, "script"),
            (10, 500, "enumerate(DataLoader)"),
            (20, 200, "decode"),
            (230, 200, "resize"),
            (520, 400, "train"),
        ];
        let reason = idle_reason(&profile(&[(0, 10), (500, 500)], &calls));
        let cause = reason.cause.as_ref().unwrap();
        assert_eq!((cause.name.as_str(), cause.ns, reason.idle_ns), ("enumerate(DataLoader)", 490, 490));
        assert!(cause.remedy.is_some_and(|r| r.contains("loader")));
        assert!(reason.text().contains("During 490 ns of it (100.0 %), python / main is in"), "{}", reason.text());
        assert_eq!(idle_reason(&profile(&[(0, 10)], &calls)).cause, None);
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

    proptest! {
        /// Nanosecond by nanosecond from the slices as they were written.
        #[test]
        fn the_time_of_a_cause_is_that_of_the_raw_slices(
            kernels in prop::collection::vec((0i64..200, 1i64..20), 2..8),
            written in prop::collection::vec((0i64..200, 1i64..60, 0usize..3), 1..20),
        ) {
            let names = ["load", "decode", "launch"];
            let written: Vec<_> = written.into_iter().map(|(at, dur, name)| (at, dur, names[name])).collect();
            let reason = idle_reason(&profile(&kernels, &written));
            let (first, last) = (
                kernels.iter().map(|k| k.0).min().unwrap(),
                kernels.iter().map(|k| k.0 + k.1).max().unwrap(),
            );
            let works = |now: i64| kernels.iter().any(|k| (k.0..k.0 + k.1).contains(&now));
            let idle: Vec<i64> = (first..last).filter(|now| !works(*now)).collect();
            prop_assert_eq!(reason.idle_ns, idle.len() as i64);
            if let Some(cause) = reason.cause {
                let runs = |now: i64| written.iter().any(|w| w.2 == cause.name && (w.0..w.0 + w.1).contains(&now));
                prop_assert_eq!(cause.ns, idle.iter().filter(|now| runs(**now)).count() as i64);
            }
        }
    }
}
