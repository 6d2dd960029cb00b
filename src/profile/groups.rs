//! Slices grouped by anything, with the distribution of their durations.

use serde::{Deserialize, Serialize};

use super::opstats::self_times;
use super::scope::Scopes;
use super::{Profile, SliceFlags, SliceId, TrackId};
use crate::base::{FxHashMap, Interval, StrId, TraceNs, stats};

/// What slices are grouped by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum GroupKey {
    /// Their name.
    #[default]
    Name,
    /// Their category.
    Category,
    /// The module they belong to.
    Module,
    /// Their process, which is a device or a core where the profile has those as processes.
    Process,
    /// Their thread.
    Thread,
}

impl GroupKey {
    /// All, in the order of a selector.
    pub const ALL: [Self; 5] = [Self::Name, Self::Category, Self::Module, Self::Process, Self::Thread];

    /// Its name in links and in the query language.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Name => "name",
            Self::Category => "category",
            Self::Module => "module",
            Self::Process => "process",
            Self::Thread => "thread",
        }
    }

    /// The key of a name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|k| k.name() == name)
    }
}

/// Which slices, and how they are grouped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupQuery {
    /// By what.
    pub by: GroupKey,
    /// Only slices that touch this span; each counts whole.
    pub within: Option<Interval<TraceNs>>,
    /// Only slices of these tracks.
    pub tracks: Option<Vec<TrackId>>,
}

/// One group.
#[derive(Clone, Debug, PartialEq)]
pub struct Group {
    /// Its name; empty where slices have none.
    pub key: String,
    /// Number of slices.
    pub count: u64,
    /// Sum of durations, ns.
    pub total_ns: i64,
    /// Sum of self times, ns.
    pub self_ns: i64,
    /// Shortest duration, ns.
    pub min_ns: i64,
    /// Longest duration, ns.
    pub max_ns: i64,
    /// Median duration, ns.
    pub p50_ns: f64,
    /// 99th percentile of the durations, ns.
    pub p99_ns: f64,
    /// The longest slice, the first of equals.
    pub longest: SliceId,
}

impl Group {
    /// Mean duration, ns.
    #[must_use]
    pub fn mean_ns(&self) -> f64 {
        self.total_ns as f64 / self.count.max(1) as f64
    }
}

/// Gives each slice the position of its group.
struct Keys<'a> {
    profile: &'a Profile,
    by: GroupKey,
    scopes: Scopes<'a>,
    of_str: FxHashMap<StrId, u32>,
    of_text: FxHashMap<String, u32>,
    of_track: FxHashMap<TrackId, u32>,
    texts: Vec<String>,
}

impl<'a> Keys<'a> {
    fn new(profile: &'a Profile, by: GroupKey) -> Self {
        Self {
            profile,
            by,
            scopes: Scopes::new(profile),
            of_str: FxHashMap::default(),
            of_text: FxHashMap::default(),
            of_track: FxHashMap::default(),
            texts: Vec::new(),
        }
    }

    fn of_text(&mut self, text: String) -> u32 {
        if let Some(known) = self.of_text.get(&text) {
            return *known;
        }
        let new = self.texts.len() as u32;
        self.texts.push(text.clone());
        self.of_text.insert(text, new);
        new
    }

    fn of(&mut self, id: SliceId, track: TrackId) -> u32 {
        let slices = self.profile.slices();
        match self.by {
            GroupKey::Name => self.of_str(slices.name(id)),
            GroupKey::Category => self.of_str(slices.category(id)),
            GroupKey::Module => {
                let module = self.scopes.of(id).unwrap_or_default();
                self.of_text(module)
            }
            GroupKey::Process | GroupKey::Thread => {
                if let Some(known) = self.of_track.get(&track) {
                    return *known;
                }
                let process = self.profile.process_label(self.profile.tracks()[track].process);
                let text = match self.by {
                    GroupKey::Thread => format!("{process} / {}", self.profile.track_label(track)),
                    _ => process,
                };
                let group = self.of_text(text);
                self.of_track.insert(track, group);
                group
            }
        }
    }

    fn of_str(&mut self, id: StrId) -> u32 {
        if let Some(known) = self.of_str.get(&id) {
            return *known;
        }
        let group = self.of_text(self.profile.str(id).to_owned());
        self.of_str.insert(id, group);
        group
    }
}

/// The groups, greatest total first, equal ones by name. Unclosed slices are left out.
#[must_use]
pub fn groups(profile: &Profile, query: &GroupQuery) -> Vec<Group> {
    let own = self_times(profile);
    let slices = profile.slices();
    let mut keys = Keys::new(profile, query.by);
    let mut groups: Vec<Group> = Vec::new();
    let mut durations: Vec<(u32, i64)> = Vec::new();
    let all: Vec<TrackId> = profile.tracks().ids().collect();
    for &track in query.tracks.as_ref().unwrap_or(&all) {
        for id in slices.of_track(track) {
            let time = slices.interval(id);
            let is_inside = query.within.is_none_or(|w| time.start < w.end && w.start <= time.end);
            if !is_inside || slices.flags(id).has(SliceFlags::UNCLOSED) {
                continue;
            }
            let key = keys.of(id, track);
            let dur = slices.dur_ns(id);
            if key as usize >= groups.len() {
                groups.push(Group {
                    key: keys.texts[key as usize].clone(),
                    count: 0,
                    total_ns: 0,
                    self_ns: 0,
                    min_ns: i64::MAX,
                    max_ns: -1,
                    p50_ns: 0.0,
                    p99_ns: 0.0,
                    longest: id,
                });
            }
            let group = &mut groups[key as usize];
            group.count += 1;
            group.total_ns = group.total_ns.saturating_add(dur);
            group.self_ns = group.self_ns.saturating_add(own[id.0 as usize]);
            group.min_ns = group.min_ns.min(dur);
            if dur > group.max_ns {
                group.max_ns = dur;
                group.longest = id;
            }
            durations.push((key, dur));
        }
    }
    fill_percentiles(&mut groups, durations);
    groups.sort_by(|a, b| b.total_ns.cmp(&a.total_ns).then_with(|| a.key.cmp(&b.key)));
    groups
}

fn fill_percentiles(groups: &mut [Group], mut durations: Vec<(u32, i64)>) {
    durations.sort_unstable();
    for part in durations.chunk_by(|a, b| a.0 == b.0) {
        let at = |p: f64| {
            stats::percentile_ranks(part.len(), p)
                .map_or(0.0, |(low, high, f)| stats::lerp(part[low].1 as f64, part[high].1 as f64, f))
        };
        if let Some(group) = groups.get_mut(part[0].0 as usize) {
            (group.p50_ns, group.p99_ns) = (at(50.0), at(99.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Diagnostics;
    use crate::profile::ProfileBuilder;
    use crate::profile::opstats::{OpQuery, operator_stats};

    fn sample() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "host");
        let (t, u) = (b.thread(p, "1", "main"), b.thread(p, "2", "io"));
        b.slice(t, 0, 100, "step", "user", None);
        b.slice(t, 10, 20, "dot", "op", None);
        b.slice(t, 40, 40, "dot", "op", None);
        b.slice(u, 0, 10, "read", "", None);
        b.finish(Diagnostics::new())
    }

    #[test]
    fn groups_by_name_are_the_operator_statistics() {
        let profile = sample();
        let found = groups(&profile, &GroupQuery::default());
        let stats = operator_stats(&profile, &OpQuery { percentiles: true, ..OpQuery::default() });
        assert_eq!(found.len(), stats.len());
        for (g, s) in found.iter().zip(&stats) {
            let percentiles = s.percentiles.expect("were asked for");
            assert_eq!((g.key.as_str(), g.count, g.total_ns), (profile.str(s.key), s.count, s.total_ns));
            assert_eq!((g.self_ns, g.min_ns, g.max_ns), (s.self_ns, s.min_ns, s.max_ns));
            assert_eq!((g.p50_ns, g.p99_ns, g.mean_ns()), (percentiles.p50_ns, percentiles.p99_ns, s.mean_ns()));
        }
        assert_eq!(found[1].longest, SliceId(2));
    }

    #[test]
    fn other_keys_spans_and_tracks() {
        let profile = sample();
        let brief = |query: &GroupQuery| {
            groups(&profile, query).into_iter().map(|g| format!("{} {}", g.key, g.total_ns)).collect::<Vec<_>>()
        };
        let by = |by| GroupQuery { by, ..GroupQuery::default() };
        assert_eq!(brief(&by(GroupKey::Category)), ["user 100", "op 60", " 10"]);
        assert_eq!(brief(&by(GroupKey::Thread)), ["host / main 160", "host / io 10"]);
        assert_eq!(brief(&by(GroupKey::Process)), ["host 170"]);
        let within = Some(Interval::new(TraceNs(31), TraceNs(45)));
        assert_eq!(brief(&GroupQuery { within, ..GroupQuery::default() }), ["step 100", "dot 40"]);
        let tracks = Some(vec![TrackId(1)]);
        assert_eq!(brief(&GroupQuery { tracks, ..GroupQuery::default() }), ["read 10"]);
    }
}
