//! From the row and the span that a finding names to the slice.

use ns_insight::SliceRange;
use ns_profile::{Profile, SliceId};
use ns_view::timeline::SliceRef;

/// The slice of a row with this name that has exactly this span. Overlapping DMAs of a queue are on several tracks with one
/// name.
pub fn locate(profile: &Profile, range: &SliceRange) -> Option<SliceRef> {
    let slices = profile.slices();
    let rows = profile.tracks().iter_enumerated().filter(|(_, t)| profile.str(t.name) == range.row);
    rows.into_iter().find_map(|(track, _)| {
        let of_track = slices.range_of(track);
        let id = |i: usize| SliceId(u32::try_from(i).unwrap_or(u32::MAX));
        let (mut low, mut high) = (of_track.start, of_track.end);
        while low < high {
            let middle = usize::midpoint(low, high);
            if slices.start(id(middle)).0 < range.start_ns {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        let starting = (low..of_track.end).map(id).take_while(|s| slices.start(*s).0 == range.start_ns);
        starting.into_iter().find(|s| slices.end(*s).0 == range.end_ns).map(|s| SliceRef(s.0))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    #[test]
    fn a_span_is_found_on_any_track_of_its_row() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "engines");
        let (one, two) = (b.thread(p, "q", "qSyncIO0"), b.thread(p, "q.2", "qSyncIO0"));
        b.slice(one, 0, 10, "DMA", "", None);
        b.slice(one, 10, 10, "DMA", "", None);
        b.slice(two, 5, 10, "DMA", "", None);
        let profile = b.finish(Diagnostics::new());
        let at = |row: &str, start_ns, end_ns| {
            locate(&profile, &SliceRange { row: row.into(), path: String::new(), start_ns, end_ns })
        };
        assert_eq!(at("qSyncIO0", 10, 20), Some(SliceRef(1)));
        assert_eq!(at("qSyncIO0", 5, 15), Some(SliceRef(2)));
        assert_eq!(at("qSyncIO0", 5, 16), None);
        assert_eq!(at("Tensor", 5, 15), None);
    }
}
