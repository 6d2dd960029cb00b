//! Shared helpers of the tests of readers: a text is opened, and the result is described in text.

use neuronscope::formats::read_bytes;
use neuronscope::profile::Profile;

/// The profile of a text.
pub fn open(text: &str) -> Profile {
    read_bytes("made", text.as_bytes()).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// `process/thread name start+duration` of every slice, in nanoseconds.
pub fn rows(profile: &Profile) -> Vec<String> {
    let s = profile.slices();
    let row = |id| {
        let track = s.track(id);
        let process = profile.process_label(profile.tracks()[track].process);
        let name = profile.str(s.name(id));
        format!("{process}/{} {name} {}+{}", profile.track_label(track), s.start(id).0, s.dur_ns(id))
    };
    s.ids().map(row).collect()
}

/// Name of the format, and events.
pub fn format(profile: &Profile) -> (String, u64) {
    (profile.meta().format.clone(), profile.meta().events)
}

/// Diagnostics and how often each was met.
pub fn codes(profile: &Profile) -> Vec<(String, u64)> {
    profile.diagnostics().items().iter().map(|d| (d.code.clone(), d.count)).collect()
}
