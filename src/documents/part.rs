//! A part of a profile as a profile.

use ns_analysis::Selection;
use ns_base::Diagnostics;
use ns_profile::{Profile, ProfileBuilder, TrackId};

/// The selected slices, whole and at their times, on the threads that have any. Instants, counters and arrows are left out.
pub fn part_of(profile: &Profile, selection: &Selection) -> Profile {
    let mut part = ProfileBuilder::new(&profile.meta().format);
    part.allow_overlaps();
    for track in selection.tracks_of(profile) {
        let mut copy: Option<TrackId> = None;
        for id in profile.slices().of_track(track).filter(|id| selection.counted_part(profile, *id).is_some()) {
            let to = *copy.get_or_insert_with(|| {
                let thread = &profile.tracks()[track];
                let process = &profile.processes()[thread.process];
                let process = part.process(profile.str(process.pid), profile.str(process.name));
                part.thread(process, profile.str(thread.tid), profile.str(thread.name))
            });
            let slices = profile.slices();
            let (name, category) = (profile.str(slices.name(id)), profile.str(slices.category(id)));
            let args = profile.args().get(slices.args(id));
            let args = (!args.is_empty()).then_some(args);
            part.slice(to, slices.start(id).0, slices.dur_ns(id), name, category, args);
        }
    }
    part.finish(Diagnostics::new())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::{Interval, TraceNs};

    #[test]
    fn the_slices_of_an_area_keep_their_threads_times_and_arguments() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("7", "host");
        let (one, two) = (b.thread(p, "1", "one"), b.thread(p, "2", "two"));
        b.slice(one, 0, 10, "before", "", None);
        b.slice(one, 100, 50, "inside", "cat", Some("{\"a\":1}"));
        b.slice(two, 100, 50, "elsewhere", "", None);
        let profile = b.finish(Diagnostics::new());
        let within = Some(Interval::new(TraceNs(120), TraceNs(130)));
        let part = part_of(&profile, &Selection { within, ..Selection::of_tracks(vec![one]) });
        let slices = part.slices();
        assert_eq!(slices.len(), 1);
        let id = slices.ids().next().expect("a slice");
        assert_eq!((part.str(slices.name(id)), slices.dur_ns(id)), ("inside", 50));
        assert_eq!(part.args().get(slices.args(id)), "{\"a\":1}");
        assert_eq!(part.tracks().iter().map(|t| part.str(t.name)).collect::<Vec<_>>(), ["one"]);
    }
}
