//! The main facts about a profile, in sentences with their numbers.
//!
//! A sentence appears only if the profile holds its subject. It carries its figures, and the slices and
//! spans that show it.

mod breakdown;
mod causes;
mod overview;
mod pass;
mod say;
mod tally;
mod types;

use super::work::Works;
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;

pub use breakdown::{Breakdown, Part};
pub use causes::{Cause, IdleReason};
pub use overview::{EXAMINED, Operation, Overview, Step};
pub use pass::SentencesPass;
pub use types::{Figure, FigureUnit, Sentence, Topic};

/// Why the devices of a profile were idle.
#[cfg(test)]
fn idle_reason(profile: &Profile) -> IdleReason {
    let (works, flows) = (Works::of(profile), FlowIndex::new(profile));
    let mut pass = SentencesPass::new(profile);
    while !pass.advance(profile, &works, &flows, usize::MAX) {}
    pass.finish_overview(profile, &works).idle
}

/// The sentences about a profile: first its kind, then the most important ones first.
pub fn sentences(profile: &Profile, works: &Works, flows: &FlowIndex) -> Vec<Sentence> {
    let mut pass = SentencesPass::new(profile);
    while !pass.advance(profile, works, flows, usize::MAX) {}
    pass.finish(profile, works)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn say(profile: &Profile) -> Vec<(Topic, String)> {
        let found = sentences(profile, &Works::of(profile), &FlowIndex::new(profile));
        found.into_iter().map(|s| (s.topic, s.text)).collect()
    }

    #[test]
    fn nothing_is_said_that_the_profile_does_not_hold() {
        assert_eq!(say(&Profile::default()), [(Topic::Profile, "A profile: 0 slices over 0 ns.".to_owned())]);
        // A profile of the host alone has no devices that could be idle.
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 100, "aten::mm", "cpu_op", None);
        let topics: Vec<_> = say(&b.finish(Diagnostics::new())).into_iter().map(|s| s.0).collect();
        assert_eq!(topics, [Topic::Profile, Topic::Host]);
        // A profile with compute and without transfer has no sentence about transfer.
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "gpu");
        let t = b.thread(p, "1", "stream");
        b.slice(t, 0, 100, "gemm", "kernel", None);
        let topics: Vec<_> = say(&b.finish(Diagnostics::new())).into_iter().map(|s| s.0).collect();
        assert_eq!(topics, [Topic::Profile, Topic::Verdict, Topic::Compute, Topic::Operator]);
    }

    #[test]
    fn what_dominates_is_what_has_the_most_time() {
        let mut b = ProfileBuilder::new("test");
        let (host, gpu) = (b.process("1", "python"), b.process("2", "gpu"));
        b.set_process_labels(gpu, "GPU 0");
        let (t, k, m) = (b.thread(host, "1", "main"), b.thread(gpu, "7", "stream 7"), b.thread(gpu, "8", "stream 8"));
        b.slice(t, 0, 1000, "load", "cpu_op", None);
        b.slice(k, 100, 100, "gemm", "kernel", None);
        b.slice(k, 500, 100, "gemm", "kernel", None);
        b.slice(m, 150, 100, "Memcpy HtoD", "gpu_memcpy", None);
        let said = say(&b.finish(Diagnostics::new()));
        // The host's slice before the first work of the device is not idle time: the device had no work yet.
        assert_eq!(
            said[1],
            (
                Topic::Verdict,
                "Devices are idle for 250 ns of 500 ns (50.0 %) from their first to their last work. During 250 ns of \
                 it (100.0 %), python / main is in \"load\"."
                    .to_owned()
            )
        );
        assert!(
            said.contains(&(Topic::Transfer, "50 ns of that, 50.0 %, overlaps with computing.".to_owned())),
            "{said:?}"
        );
        let idle = said.iter().find(|s| s.0 == Topic::Idle).unwrap();
        assert!(
            idle.1.contains("The longest wait of GPU 0 is 250 ns, before \"gemm\"") && idle.1.contains("\"load\""),
            "{idle:?}"
        );
    }
}
