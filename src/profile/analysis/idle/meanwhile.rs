//! What a thread did in a span.

use super::Meanwhile;
use crate::base::{FxHashMap, IndexVec, Interval, StrId, TraceNs};
use crate::profile::analysis::grouping::thread_text;
use crate::profile::analysis::work::{Family, Work, Works};
use crate::profile::flows::{first_starting, running_at};
use crate::profile::{Profile, SliceFlags, SliceId, TrackId};

/// What a thread did most in a span, by self time; markers do nothing, nor do rows that show the work of others once more.
pub(super) fn meanwhile(
    profile: &Profile,
    works: &Works,
    track: TrackId,
    span: Interval<TraceNs>,
) -> Option<Meanwhile> {
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

/// The slices of a track that share an instant with a span, with their self time in it. Costs the slices in the span, and
/// the depth of the stack at its start.
pub(super) fn self_times_in(profile: &Profile, track: TrackId, span: Interval<TraceNs>) -> Vec<(SliceId, i64)> {
    let slices = profile.slices();
    let mut found: Vec<SliceId> =
        std::iter::successors(running_at(profile, track, span.start), |id| slices.stack_parent(*id)).collect();
    found.reverse();
    found.retain(|id| slices.start(*id) < span.start);
    let starting = first_starting(profile, track, span.start)..first_starting(profile, track, span.end);
    found.extend(starting.map(|i| SliceId(i as u32)));
    let clip = |from: TraceNs, to: TraceNs| to.min(span.end).0.saturating_sub(from.max(span.start).0).max(0);
    let place: FxHashMap<SliceId, usize> = found.iter().enumerate().map(|(i, id)| (*id, i)).collect();
    let mut own: IndexVec<SliceId, i64> = IndexVec::new();
    for &id in &found {
        let closed = !slices.flags(id).has(SliceFlags::UNCLOSED);
        own.push(if closed { clip(slices.start(id), slices.end(id)) } else { 0 });
    }
    for &id in &found {
        let parent = slices.stack_parent(id).and_then(|p| place.get(&p).map(|at| (p, *at)));
        if let Some((parent, at)) = parent {
            own[SliceId(at as u32)] -= clip(slices.start(id), slices.end(id).min(slices.end(parent)));
        }
    }
    found.into_iter().zip(own.iter().copied()).collect()
}
