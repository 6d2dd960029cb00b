//! The main activity of a thread in a span.

use super::Meanwhile;
use crate::grouping::thread_text;
use crate::self_time::self_times_in;
use crate::work::{Work, Works};
use ns_base::{FxHashMap, Interval, StrId, TraceNs};
use ns_profile::device::{engine_of, is_dma};
use ns_profile::levels::Family;
use ns_profile::{Profile, SliceId, TrackId};

/// The main activity of a thread in a span, by self time. Markers and rows that repeat the work of others do not count.
pub(super) fn meanwhile(
    profile: &Profile,
    works: &Works,
    track: TrackId,
    span: Interval<TraceNs>,
) -> Option<Meanwhile> {
    // A device that is idle does not wait for its own units.
    if engine_of(profile, track).is_some() || is_dma(profile, track) {
        return None;
    }
    let slices = profile.slices();
    let mut by_name: FxHashMap<StrId, (i64, i64, SliceId)> = FxHashMap::default();
    let rows_are_known = matches!(works.family(), Family::Neuron | Family::Xla);
    let is_work = |id| match works.of_slice(profile, track, id) {
        None => !rows_are_known,
        Some(work) => work != Work::Marker,
    };
    for (id, own) in self_times_in(profile, track, span) {
        if own > 0 && is_work(id) {
            let entry = by_name.entry(slices.name(id)).or_insert((0, 0, id));
            entry.0 += own;
            if own > entry.1 {
                (entry.1, entry.2) = (own, id);
            }
        }
    }
    let most = by_name.into_iter().max_by_key(|(name, (own, _, _))| (*own, std::cmp::Reverse(*name)));
    most.map(|(name, (self_ns, _, longest))| Meanwhile {
        name: profile.str(name).to_owned(),
        thread: thread_text(profile, track),
        self_ns,
        longest,
    })
}
