//! The main activity of a thread in a span.

use super::Meanwhile;
use crate::grouping::thread_text;
use crate::on_stack::{Stretches, calls, explaining, is_call, is_root};
use crate::self_time::slices_in;
use crate::work::Works;
use ns_base::{Interval, TraceNs};
use ns_profile::device::{engine_of, is_dma};
use ns_profile::{Profile, TrackId};

/// The main activity of a thread in a span, by time on the stack, and whether it tells more than that the thread waits or runs.
pub(super) fn meanwhile(
    profile: &Profile,
    works: &Works,
    track: TrackId,
    span: Interval<TraceNs>,
) -> Option<(bool, Meanwhile)> {
    // A device that is idle does not wait for its own units.
    if engine_of(profile, track).is_some() || is_dma(profile, track) {
        return None;
    }
    let always = Interval::new(TraceNs(i64::MIN), TraceNs(i64::MAX));
    let (gap, whole_ns) = (Stretches::new([span]), profile.span_ns());
    let ids = slices_in(profile, track, span).into_iter().filter(|id| is_call(profile, works, track, *id));
    let all = calls(profile, ids, &gap, always);
    let call = *explaining(&all, gap.total_ns, whole_ns).first()?;
    let tells = !is_root(&call, whole_ns)
        && !profile.levels().waits(profile, call.longest)
        && call.ns.saturating_mul(5) >= gap.total_ns;
    let name = profile.str(call.name).to_owned();
    let (thread, ns, longest) = (thread_text(profile, track), call.ns, call.longest);
    Some((tells, Meanwhile { name, track, thread, ns, longest }))
}
