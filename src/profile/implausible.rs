//! Times that a profiler lost: they are shown as the file has them, and said.

use super::{Profile, SliceFlags, SliceId};
use ns_base::{Diagnostics, FxHashMap, Idx};

/// Before this many nanoseconds (eleven days) no profile of this century has events, if its times count from 1970.
const LOST_NS: i64 = 1_000_000_000_000_000;
/// After this many nanoseconds (2001) times count from 1970.
const EPOCH_NS: i64 = 1_000_000_000_000_000_000;
/// Fewest later kernels of a stream that begin in a kernel whose duration cannot be right. Two may overlap at their ends.
const FEWEST: u32 = 3;

/// Adds what cannot be: events at zero in a profile since 1970, and kernels that run over the next ones of their stream.
pub(super) fn note(profile: &Profile, diagnostics: &mut Diagnostics) {
    let (slices, origin) = (profile.slices(), profile.meta().origin_ns);
    if (0..LOST_NS).contains(&origin) && origin.saturating_add(profile.span_ns()) >= EPOCH_NS {
        let is_lost = |id: &SliceId| slices.start(*id).0.saturating_add(origin) < LOST_NS;
        let lost = slices.ids().filter(is_lost).count() as u64;
        diagnostics.add_many("time_lost", lost, None, || {
            let name = slices.ids().find(is_lost).map_or("", |id| profile.str(slices.name(id)));
            format!("\"{name}\" begins decades before the other events, as events do whose time was lost: the span and idle times are too long")
        });
    }
    let Some(kernel) = profile.strings().lookup("kernel") else { return };
    let is_kernel = |id: SliceId| slices.category(id) == kernel && !slices.flags(id).has(SliceFlags::UNCLOSED);
    let mut inside: FxHashMap<SliceId, u32> = FxHashMap::default();
    for id in slices.ids().filter(|id| is_kernel(*id)) {
        if let Some(around) = slices.stack_parent(id).filter(|around| is_kernel(*around)) {
            *inside.entry(around).or_default() += 1;
        }
    }
    let mut found: Vec<(SliceId, u32)> = inside.into_iter().filter(|(_, later)| *later >= FEWEST).collect();
    found.sort_unstable_by_key(|(id, _)| id.index());
    let Some((first, later)) = found.first() else { return };
    diagnostics.add_many("kernels_overlap", found.len() as u64, None, || {
        let (name, ns) = (profile.str(slices.name(*first)), slices.dur_ns(*first));
        format!("kernel \"{name}\" lasts {ns} ns, in which {later} later kernels of its stream begin: its duration cannot be right, and totals hold it")
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ProfileBuilder;

    /// The codes about kernels of one stream, given by their starts and durations.
    fn said(kernels: &[(i64, i64)]) -> Vec<(String, u64)> {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("0", "GPU 0");
        let t = b.thread(p, "7", "stream 7");
        kernels.iter().for_each(|(start, dur)| b.slice(t, *start, *dur, "sgemm", "kernel", None));
        let profile = b.finish(Diagnostics::new());
        profile.diagnostics().items().iter().map(|d| (d.code.clone(), d.count)).collect()
    }

    #[test]
    fn a_kernel_at_zero_among_times_since_1970_is_said() {
        let epoch = 1_700_000_000_000_000_000;
        assert_eq!(said(&[(epoch, 50), (epoch + 100, 50), (0, 0)]), [("time_lost".to_owned(), 1)]);
        assert_eq!(said(&[(epoch, 50), (epoch + 100, 50)]), []);
        assert_eq!(said(&[(0, 50), (100, 50)]), []);
    }

    #[test]
    fn a_kernel_that_runs_over_the_next_ones_of_its_stream_is_said() {
        let others = [(120, 100), (240, 100), (360, 100), (480, 100)];
        assert_eq!(said(&[&[(0, 9_000)], &others[..]].concat()), [("kernels_overlap".to_owned(), 1)]);
        assert_eq!(said(&[&[(0, 100)], &others[..]].concat()), []);
        assert_eq!(said(&[(0, 200), (120, 80), (240, 100)]), []);
    }
}
