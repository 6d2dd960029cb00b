//! The timeline in words: for screen readers, and for the table twin of the canvas.

use super::{NO_SLICE, Outline, SliceDetails, SliceRef, TimelineTile, TrackId, Viewport};

/// A slice in one sentence.
pub fn describe_slice(details: &SliceDetails, outline: &Outline) -> String {
    let link = &details.link;
    let place = outline.find(link.track).map_or_else(String::new, |(section, track)| {
        if track.name.is_empty() {
            format!(", in {}", section.name)
        } else {
            format!(", {} in {}", track.name, section.name)
        }
    });
    let members = match details.members.len() {
        0 => String::new(),
        n => format!(", {n} fused members"),
    };
    format!(
        "{}{place}, starts at {}, lasts {}{members}",
        link.title,
        outline.unit.exact(link.start_ns),
        outline.unit.exact(i64::try_from(link.duration_ns).unwrap_or(i64::MAX))
    )
}

/// One line of the table twin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SliceInView {
    /// The slice; [`NO_SLICE`] if several are merged at this zoom.
    pub slice: SliceRef,
    /// Its name, or how many are merged.
    pub title: String,
    /// Section and track.
    pub place: String,
    pub track: TrackId,
    /// Start, nanoseconds from the origin of the profile.
    pub start_ns: i64,
    /// Duration in nanoseconds.
    pub duration_ns: u64,
}

/// The slices on the screen as lines, in the order of the picture, at most `limit`; also their total number.
pub fn slices_in_view(
    outline: &Outline,
    tile: &TimelineTile,
    view: &Viewport,
    limit: usize,
) -> (Vec<SliceInView>, usize) {
    let seen = view.interval();
    let mut lines = Vec::new();
    let mut total = 0;
    for track in &tile.tracks {
        let place = outline.find(track.track).map_or_else(String::new, |(section, t)| {
            if t.name.is_empty() { section.name.clone() } else { format!("{} / {}", section.name, t.name) }
        });
        for i in 0..track.len() {
            let start = track.start_ns[i];
            if start > seen.end.0 || start.saturating_add_unsigned(track.duration_ns[i]) < seen.start.0 {
                continue;
            }
            total += 1;
            if lines.len() == limit {
                continue;
            }
            let name = tile.name_of(track, i);
            let merged = track.count[i] > 1 || track.slice[i] == NO_SLICE;
            let title = if merged { format!("{} slices, longest {name}", track.count[i]) } else { name.to_owned() };
            lines.push(SliceInView {
                slice: if merged { NO_SLICE } else { track.slice[i] },
                title,
                place: place.clone(),
                track: track.track,
                start_ns: start,
                duration_ns: track.duration_ns[i],
            });
        }
    }
    (lines, total)
}

#[cfg(test)]
mod tests {
    use super::super::{SliceLink, sample};
    use super::*;
    use ns_base::{Interval, TraceNs};

    #[test]
    fn a_fused_operator_in_words() {
        let outline = sample::outline();
        let track = outline.sections[3].tracks[1].id;
        let details = SliceDetails {
            link: SliceLink {
                slice: sample::FUSED_16,
                track,
                row: 0,
                title: "fused_16".into(),
                start_ns: 11_452,
                duration_ns: 153,
            },
            category: "other".into(),
            self_ns: None,
            args: vec![],
            members: vec!["a".into(), "b".into(), "c".into()],
            parents: vec![],
            predecessors: vec![],
            successors: vec![],
            notes: vec![],
        };
        assert_eq!(
            describe_slice(&details, &outline),
            "fused_16, Framework Ops in Process Data Transfer, starts at 11,452 ns, lasts 153 ns, 3 fused members"
        );
    }

    #[test]
    fn the_table_lists_the_visible_slices() {
        let view = Viewport::new(Interval::new(TraceNs(11_460), TraceNs(11_470)), 500.0);
        let (lines, total) = slices_in_view(&sample::outline(), &sample::tile(), &view, 100);
        assert_eq!(lines.len(), total);
        assert!(lines.iter().any(|l| l.title == "fused_16" && l.place == "Process Data Transfer / Framework Ops"));
        assert!(!lines.iter().any(|l| l.title.contains("fused_15")));
        let (cut, all) = slices_in_view(&sample::outline(), &sample::tile(), &view, 1);
        assert_eq!((cut.len(), all), (1, total));
    }
}
