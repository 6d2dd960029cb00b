//! A profile as the timeline shows it.

use crate::profile::Profile;
use crate::view::timeline::{Outline, Section, Track, TrackId, TrackKind};

/// Sections and tracks in the order they are shown.
pub(super) fn outline(profile: &Profile) -> Outline {
    let mut processes: Vec<_> = profile.processes().iter_enumerated().collect();
    processes.sort_by_key(|(id, p)| (p.sort_index, *id));
    let sections = processes
        .into_iter()
        .map(|(process, _)| Section { name: profile.process_label(process), tracks: tracks_of(profile, process) })
        .filter(|s| !s.tracks.is_empty())
        .collect();
    Outline { span: profile.span(), sections }
}

fn tracks_of(profile: &Profile, process: crate::profile::ProcessId) -> Vec<Track> {
    let mut tracks: Vec<_> =
        profile.tracks().iter_enumerated().filter(|(_, t)| t.process == process && t.events > 0).collect();
    tracks.sort_by_key(|(id, t)| (t.sort_index, *id));
    tracks
        .into_iter()
        .map(|(id, _)| {
            let rows = u16::try_from(profile.slices().rows(id).max(1)).unwrap_or(u16::MAX);
            Track { id: TrackId(id.0), name: profile.track_label(id), kind: TrackKind::Slices { rows } }
        })
        .collect()
}
