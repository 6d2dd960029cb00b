//! The rows of a timeline. A thread's slices, its instants and each series of a counter are tracks of their own.

use ns_base::{FxHashMap, Idx, IndexVec, Order};
use ns_profile::asyncs::{AsyncId, AsyncTable};
use ns_profile::{InstantId, ProcessId, Profile, SeriesId, TrackId};
use ns_view::timeline::{Outline, Section, Track, TrackId as ViewTrackId, TrackKind};

/// The content of one track of the view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackContent {
    /// Slices of a thread.
    Slices(TrackId),
    /// A series of a counter.
    Series(SeriesId),
    /// Instants of a thread.
    Instants(TrackId),
    /// Async spans of a process, by position of their group.
    Async(usize),
}

/// The tracks of a view by their number, with their content.
#[derive(Debug, Default)]
pub struct ViewTracks {
    content: Vec<TrackContent>,
    outline: Outline,
    /// Instants of each thread, by time.
    instants: IndexVec<TrackId, Vec<InstantId>>,
    /// Where the slices of each thread are shown.
    slices_at: IndexVec<TrackId, ViewTrackId>,
    /// Where the instants of each thread are shown.
    instants_at: IndexVec<TrackId, ViewTrackId>,
    asyncs: AsyncTable,
    /// Where each group of async spans is shown.
    asyncs_at: Vec<ViewTrackId>,
}

/// The position of tracks that are not shown.
const NO_TRACK: ViewTrackId = ViewTrackId(u32::MAX);

/// The tracks of one process.
#[derive(Default)]
struct Contents {
    /// In the order in which they are shown.
    threads: Vec<TrackId>,
    /// Positions of groups.
    asyncs: Vec<usize>,
    series: Vec<SeriesId>,
}

impl Contents {
    /// The tracks of every process: files can have as many processes as events.
    fn of(profile: &Profile, asyncs: &AsyncTable) -> IndexVec<ProcessId, Self> {
        let mut all: IndexVec<ProcessId, Self> = profile.processes().iter().map(|_| Self::default()).collect();
        let mut threads: Vec<TrackId> = profile.tracks().ids().collect();
        threads.order_by_key(|id| (profile.tracks()[*id].sort_index, *id));
        for id in threads {
            all[profile.tracks()[id].process].threads.push(id);
        }
        for (group, of) in asyncs.groups().iter().enumerate() {
            all[of.process].asyncs.push(group);
        }
        for (series, data) in profile.counters().series().iter_enumerated() {
            all[profile.counters().counters()[data.counter].process].series.push(series);
        }
        all
    }
}

impl ViewTracks {
    pub fn of(profile: &Profile) -> Self {
        let mut instants: IndexVec<TrackId, Vec<InstantId>> = profile.tracks().iter().map(|_| Vec::new()).collect();
        for id in profile.instants().ids() {
            if let Some(of_track) = instants.get_mut(profile.instants().track(id)) {
                of_track.push(id);
            }
        }
        let nowhere = || profile.tracks().iter().map(|_| NO_TRACK).collect();
        let asyncs = AsyncTable::new(profile);
        let asyncs_at = vec![NO_TRACK; asyncs.groups().len()];
        let mut tracks =
            Self { instants, slices_at: nowhere(), instants_at: nowhere(), asyncs, asyncs_at, ..Self::default() };
        let contents = Contents::of(profile, &tracks.asyncs);
        let mut processes: Vec<ProcessId> = profile.processes().ids().collect();
        processes.order_by_key(|id| (profile.processes()[*id].sort_index, *id));
        let sections: Vec<Section> = processes
            .into_iter()
            .map(|process| {
                let mut name = profile.process_label(process);
                let labels = profile.str(profile.processes()[process].labels);
                if !labels.is_empty() && !name.contains(labels) {
                    name = format!("{name} ({labels})");
                }
                Section { name, tracks: tracks.tracks_of(profile, &contents[process]) }
            })
            .filter(|s| !s.tracks.is_empty())
            .collect();
        tracks.outline = Outline { span: profile.span(), unit: profile.meta().unit.clone(), sections };
        tracks
    }

    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    pub fn content_of(&self, id: ViewTrackId) -> Option<TrackContent> {
        self.content.get(id.0 as usize).copied()
    }

    /// The track of the view that shows a thread's slices.
    pub fn view_of(&self, track: TrackId) -> ViewTrackId {
        self.slices_at.get(track).copied().unwrap_or(NO_TRACK)
    }

    /// The track of the view that shows a thread's instants.
    pub fn view_of_instants(&self, track: TrackId) -> ViewTrackId {
        self.instants_at.get(track).copied().unwrap_or(NO_TRACK)
    }

    /// Async spans.
    pub fn asyncs(&self) -> &AsyncTable {
        &self.asyncs
    }

    /// The track of the view that shows a group of async spans.
    pub fn view_of_asyncs(&self, group: u32) -> ViewTrackId {
        self.asyncs_at.get(group as usize).copied().unwrap_or(NO_TRACK)
    }

    /// The threads whose slices these tracks of the view show.
    pub fn threads_of(&self, tracks: &[ViewTrackId]) -> Vec<TrackId> {
        let thread = |id: &ViewTrackId| match self.content_of(*id)? {
            TrackContent::Slices(track) => Some(track),
            TrackContent::Series(_) | TrackContent::Instants(_) | TrackContent::Async(_) => None,
        };
        tracks.iter().filter_map(thread).collect()
    }

    /// Instants of a thread by time.
    pub fn instants(&self, track: TrackId) -> &[InstantId] {
        self.instants.get(track).map_or(&[], Vec::as_slice)
    }

    fn tracks_of(&mut self, profile: &Profile, process: &Contents) -> Vec<Track> {
        let mut tracks = Vec::new();
        for &id in &process.threads {
            let label = profile.track_label(id);
            if !profile.slices().range_of(id).is_empty() {
                let rows = u16::try_from(profile.slices().rows(id).max(1)).unwrap_or(u16::MAX);
                tracks.push(self.add(TrackContent::Slices(id), label.clone(), TrackKind::Slices { rows }));
            }
            if !self.instants(id).is_empty() {
                tracks.push(self.add(TrackContent::Instants(id), format!("{label}: instants"), TrackKind::Instants));
            }
        }
        for &group in &process.asyncs {
            let of = &self.asyncs.groups()[group];
            let category = profile.str(of.category);
            let name = if category.is_empty() { "async".to_owned() } else { format!("async: {category}") };
            let rows = u16::try_from(of.rows.len()).unwrap_or(u16::MAX);
            tracks.push(self.add(TrackContent::Async(group), name, TrackKind::Slices { rows }));
        }
        for &series in &process.series {
            let data = &profile.counters().series()[series];
            let counter = &profile.counters().counters()[data.counter];
            let (mut min, mut max) = (f64::INFINITY, f64::NEG_INFINITY);
            for (_, value) in profile.counters().samples(series) {
                (min, max) = (min.min(value), max.max(value));
            }
            let name = [profile.str(counter.name), profile.str(counter.id), profile.str(data.key)];
            let name: Vec<&str> = name.into_iter().filter(|n| !n.is_empty()).collect();
            tracks.push(self.add(TrackContent::Series(series), name.join(" "), TrackKind::Counter { min, max }));
        }
        number_repeated(&mut tracks);
        tracks
    }

    fn add(&mut self, content: TrackContent, name: String, kind: TrackKind) -> Track {
        let id = ViewTrackId(u32::try_from(self.content.len()).unwrap_or(u32::MAX));
        self.content.push(content);
        match content {
            TrackContent::Slices(track) => self.slices_at[track] = id,
            TrackContent::Instants(track) => self.instants_at[track] = id,
            TrackContent::Async(group) => self.asyncs_at[group] = id,
            TrackContent::Series(_) => {}
        }
        Track { id, name, kind }
    }
}

/// Adjacent tracks with one name are distinguished by a number: `qSyncWeights0 #1`, `qSyncWeights0 #2`.
fn number_repeated(tracks: &mut [Track]) {
    let mut counts: FxHashMap<String, u32> = FxHashMap::default();
    for track in tracks.iter() {
        *counts.entry(track.name.clone()).or_default() += 1;
    }
    let mut numbers: FxHashMap<String, u32> = FxHashMap::default();
    for track in tracks.iter_mut().filter(|t| !t.name.is_empty()) {
        if counts.get(&track.name).is_some_and(|count| *count > 1) {
            let number = numbers.entry(track.name.clone()).or_default();
            *number += 1;
            track.name = format!("{} #{number}", track.name);
        }
    }
}

/// Slices, instants and async spans share one range of numbers in the view, in this order.
pub(super) fn instant_ref(profile: &Profile, id: InstantId) -> u32 {
    u32::try_from(profile.slices().len() + id.index()).unwrap_or(u32::MAX)
}

/// The number of an async span in the view.
pub(super) fn async_ref(profile: &Profile, id: AsyncId) -> u32 {
    u32::try_from(profile.slices().len() + profile.instants().len() + id.index()).unwrap_or(u32::MAX)
}

/// The instant with a number of the view; `None` if the number is not an instant's.
pub(super) fn instant_of_ref(profile: &Profile, number: u32) -> Option<InstantId> {
    let i = (number as usize).checked_sub(profile.slices().len())?;
    (i < profile.instants().len()).then(|| InstantId::from_usize(i))
}

/// The async span with a number of the view; `None` if the number is not a span's.
pub(super) fn async_of_ref(profile: &Profile, number: u32) -> Option<AsyncId> {
    let i = (number as usize).checked_sub(profile.slices().len() + profile.instants().len())?;
    Some(AsyncId::from_usize(i))
}
