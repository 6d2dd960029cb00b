//! Slices as a table, one on a line, in the order of the profile.

use ns_profile::Profile;
use ns_profile::SliceFlags;

/// The whole file. Times are nanoseconds; the start counts from the start of the profile.
pub(super) fn write(profile: &Profile) -> Vec<u8> {
    let mut out = csv::Writer::from_writer(Vec::new());
    let header = ["process", "thread", "name", "category", "start_ns", "duration_ns", "depth", "unclosed", "args"];
    // Writing to memory cannot fail.
    let _ = out.write_record(header);
    let slices = profile.slices();
    for (track, row) in profile.tracks().iter_enumerated().filter(|(_, t)| t.kind.is_own()) {
        let (process, thread) = (profile.process_label(row.process), profile.track_label(track));
        for id in slices.of_track(track) {
            let _ = out.write_record([
                process.as_str(),
                thread.as_str(),
                profile.str(slices.name(id)),
                profile.str(slices.category(id)),
                &slices.start(id).0.to_string(),
                &slices.dur_ns(id).to_string(),
                &slices.depth(id).to_string(),
                if slices.flags(id).has(SliceFlags::UNCLOSED) { "true" } else { "false" },
                profile.args().get(slices.args(id)),
            ]);
        }
    }
    out.into_inner().unwrap_or_default()
}
