//! The critical path: one chain of slices from the start of a span to its end, each of which held up the next.
//!
//! The walk goes backwards from the slice that ends last. At a slice, the time since its start belongs to it, and what
//! held up its start is whichever of these came last:
//!
//! * the end of the slice before it on its track (threads are walked at their innermost slices, so a
//!   slice is left for the last one inside it);
//! * an arrow that leads to it: the work was handed over when the slice at the other end of the arrow ended, or when this
//!   slice started if that was earlier;
//! * for a slice of the host that no arrow leads to and that starts after a pause of its thread: the slice that another
//!   thread of the host was running then or ended last before, if that is later. Profiles of Neuron devices have no arrows:
//!   there this rule holds for every row of work, of the host and of devices.
//!
//! A slice of the host that waits for the device ([`Work::Wait`](crate::work::Work::Wait), or a copy that blocks) passes its time to the device:
//! the walk continues from the device slice that ended last within it, if there is one. Annotations are never on the path. Idle time on the chain
//! is a separate part, without a slice. The parts follow one another without a gap or an overlap, so their lengths add up
//! to the span.

mod pass;
mod path;
mod scan;
mod threads;
mod walk;

pub use pass::CriticalPass;
pub use path::{CriticalPath, PathPart, PathReason, PathShare};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::work::Works;
    use ns_base::{Diagnostics, Interval, TraceNs};
    use ns_profile::flows::FlowIndex;
    use ns_profile::neuron::{EXECUTION_PROCESS, HLO_TRACK};
    use ns_profile::{ArgsId, LinkEvent, LinkValue, Profile, ProfileBuilder, TrackId};

    fn arrow(b: &mut ProfileBuilder, id: u64, from: (TrackId, i64), to: (TrackId, i64)) {
        let (name, category) = (b.intern("ac2g"), b.intern("ac2g"));
        for ((track, ts_ns), phase) in [(from, b's'), (to, b'f')] {
            let (id, args) = (LinkValue::Number(id), ArgsId::NONE);
            b.link(LinkEvent { track, ts_ns, phase, name, category, args, id, binds_enclosing: true });
        }
    }

    #[test]
    fn rows_of_a_neuron_profile_wait_for_one_another_without_arrows() {
        let mut b = ProfileBuilder::new("test");
        let (run, copy, host) =
            (b.process("1", EXECUTION_PROCESS), b.process("2", "Process Data Transfer"), b.process("3", "Overview"));
        let (ops, data) = (b.thread(run, "1", HLO_TRACK), b.thread(copy, "1", HLO_TRACK));
        let setup = b.thread(host, "1", "Neuron Runtime Setup");
        b.slice(setup, 0, 10, "setup", "", None);
        b.slice(data, 10, 20, "weights", "", None);
        b.slice(ops, 32, 8, "dot", "", None);
        b.slice(data, 40, 5, "output", "", None);
        b.slice(setup, 45, 5, "teardown", "", None);
        let profile = b.finish(Diagnostics::new());
        let path = CriticalPath::of(&profile, &Works::of(&profile), &FlowIndex::new(&profile), None);
        let expected = [
            ("setup", 0, 10, PathReason::Thread),
            ("weights", 10, 30, PathReason::Thread),
            ("", 30, 32, PathReason::Idle),
            ("dot", 32, 40, PathReason::Thread),
            ("output", 40, 45, PathReason::Thread),
            ("teardown", 45, 50, PathReason::Last),
        ];
        assert_eq!(brief(&profile, &path), expected.map(|(n, a, z, c)| (n.to_owned(), a, z, c)));
    }

    #[test]
    fn a_range_that_outlives_the_call_that_began_it_hides_nothing() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 100, "main", "cpu_op", None);
        b.slice(t, 5, 5, "enter", "cpu_op", None);
        b.slice(t, 8, 80, "range", "user_annotation", None);
        b.slice(t, 20, 30, "mm", "cpu_op", None);
        b.slice(t, 60, 20, "relu", "cpu_op", None);
        let profile = b.finish(Diagnostics::new());
        let path = CriticalPath::of(&profile, &Works::of(&profile), &FlowIndex::new(&profile), None);
        let ns =
            |name: &str| path.shares(&profile, &crate::Names::default()).iter().find(|s| s.name == name).map(|s| s.ns);
        assert_eq!((ns("mm"), ns("relu"), ns("range")), (Some(30), Some(20), None), "{:?}", brief(&profile, &path));
    }

    /// Deeper than what is climbed one by one, and than a block.
    #[test]
    fn a_deep_stack_is_walked_down_and_up_again() {
        for levels in [10, 300, 3_000] {
            let mut b = ProfileBuilder::new("test");
            let p = b.process("1", "python");
            let t = b.thread(p, "1", "main");
            for level in 0..levels {
                b.slice(t, level, 2 * (levels - level), &level.to_string(), "cpu_op", None);
            }
            let profile = b.finish(Diagnostics::new());
            let path = CriticalPath::of(&profile, &Works::of(&profile), &FlowIndex::new(&profile), None);
            let found: Vec<_> =
                brief(&profile, &path).into_iter().map(|(name, from, to, _)| (name, from, to)).collect();
            let down = (0..levels - 1).map(|level| (level.to_string(), level, level + 1));
            let deepest = ((levels - 1).to_string(), levels - 1, levels + 1);
            let up = (0..levels - 1).rev().map(|level| (level.to_string(), 2 * levels - level - 1, 2 * levels - level));
            assert_eq!(found, down.chain([deepest]).chain(up).collect::<Vec<_>>());
        }
    }

    fn brief(profile: &Profile, path: &CriticalPath) -> Vec<(String, i64, i64, PathReason)> {
        let name = |p: &PathPart| p.slice.map_or(String::new(), |id| profile.str(profile.slices().name(id)).to_owned());
        path.parts.iter().map(|p| (name(p), p.span.start.0, p.span.end.0, p.cause)).collect()
    }

    #[test]
    fn the_path_goes_through_launches_queues_and_waits() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        let (t, k) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"));
        b.slice(t, 0, 40, "aten::mm", "cpu_op", None);
        b.slice(t, 4, 10, "aten::empty", "cpu_op", None);
        b.slice(t, 6, 8, "malloc", "cuda_runtime", None);
        b.slice(t, 20, 10, "launch", "cuda_runtime", None);
        b.slice(t, 40, 5, "launch", "cuda_runtime", None);
        b.slice(t, 50, 130, "cudaDeviceSynchronize", "cuda_runtime", None);
        b.slice(t, 180, 20, "print", "cpu_op", None);
        b.slice(k, 35, 65, "gemm", "kernel", None);
        b.slice(k, 102, 70, "relu", "kernel", None);
        arrow(&mut b, 1, (t, 25), (k, 35));
        arrow(&mut b, 2, (t, 42), (k, 102));
        let profile = b.finish(Diagnostics::new());
        let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
        let path = CriticalPath::of(&profile, &works, &flows, None);
        let expected = [
            ("aten::mm", 0, 4, PathReason::Track),
            ("aten::empty", 4, 6, PathReason::Track),
            ("malloc", 6, 14, PathReason::Track),
            ("aten::mm", 14, 20, PathReason::Track),
            ("launch", 20, 30, PathReason::Arrow),
            ("", 30, 35, PathReason::Idle),
            ("gemm", 35, 100, PathReason::Track),
            ("", 100, 102, PathReason::Idle),
            ("relu", 102, 172, PathReason::Wait),
            ("cudaDeviceSynchronize", 172, 180, PathReason::Track),
            ("print", 180, 200, PathReason::Last),
        ];
        assert_eq!(brief(&profile, &path), expected.map(|(n, s, e, c)| (n.to_owned(), s, e, c)));
        assert_eq!(path.length_ns(), 200);
        let shares: Vec<_> =
            path.shares(&profile, &crate::Names::default()).into_iter().map(|s| (s.name, s.ns)).collect();
        assert_eq!(shares[..2], [("relu".to_owned(), 70), ("gemm".to_owned(), 65)]);
        assert_eq!(shares.iter().map(|s| s.1).sum::<i64>(), 200);
        let part = CriticalPath::of(&profile, &works, &flows, Some(Interval::new(TraceNs(50), TraceNs(110))));
        assert_eq!(part.length_ns(), 60);
        assert!(
            CriticalPath::of(&Profile::default(), &Works::of(&Profile::default()), &FlowIndex::default(), None)
                .parts
                .is_empty()
        );
    }
}
