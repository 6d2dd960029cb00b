//! Look-ups for the user: search by name, and everything about one slice.

use serde::{Deserialize, Serialize};

use super::self_time::self_time_of;
use ns_base::Idx;
use ns_base::Order;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId};

/// Slices that the profiling tutorial names, their names here, where fusions have other numbers (docs/porting.md says why), and whether they
/// are of the traced model.
pub const TUTORIAL_NAMES: [(&str, &str, bool); 5] = [
    ("SyncTensorsGraph.53", "SyncTensorsGraph.18", false),
    ("fused_16", "fused_5", false),
    ("fused_18", "fused_4", false),
    ("fused_23", "fused_4", false),
    ("fused_19", "fused_3", true),
];

/// The name in a text that only the tutorial's own profile has, and the name here.
pub fn tutorial_name(profile: &Profile, text: &str) -> Option<(&'static str, &'static str)> {
    let strings = profile.strings();
    let has = |start: &str| (0..strings.len()).any(|i| strings.get(ns_base::StrId::from_usize(i)).starts_with(start));
    let text = text.to_lowercase();
    let (theirs, ours, of_traced) =
        *TUTORIAL_NAMES.iter().find(|(theirs, ..)| text.contains(&theirs.to_lowercase()))?;
    (has("NN[model]") && has(ours) && has("SyncTensorsGraph") != of_traced).then_some((theirs, ours))
}

/// The slices whose name contains a text, by time.
#[derive(Clone, Debug, Default)]
pub struct NameSearch {
    hits: Vec<SliceId>,
}

impl NameSearch {
    /// Searches names, ignoring letter case. The empty text finds nothing.
    #[must_use]
    pub fn new(profile: &Profile, text: &str) -> Self {
        let wanted = text.to_lowercase();
        if wanted.is_empty() {
            return Self::default();
        }
        let strings = profile.strings();
        let matching: Vec<bool> = (0..strings.len())
            .map(|i| strings.get(ns_base::StrId::from_usize(i)).to_lowercase().contains(&wanted))
            .collect();
        let slices = profile.slices();
        let is_hit = |id: &SliceId| matching.get(slices.name(*id).index()).copied().unwrap_or(false);
        let mut hits: Vec<_> = slices.ids().filter(is_hit).collect();
        hits.order_by_key(|&id| slices.start(id));
        Self { hits }
    }

    /// All hits by start, ties track by track.
    pub fn hits(&self) -> &[SliceId] {
        &self.hits
    }

    /// The hit after a slice, by time; the first hit after the last one, or if nothing is selected.
    pub fn next(&self, profile: &Profile, after: Option<SliceId>) -> Option<SliceId> {
        let at = after.map_or(0, |id| self.hits.partition_point(|&hit| key(profile, hit) <= key(profile, id)));
        self.hits.get(at).or(self.hits.first()).copied()
    }

    /// The hit before a slice, by time; the last hit before the first one, or if nothing is selected.
    pub fn previous(&self, profile: &Profile, before: Option<SliceId>) -> Option<SliceId> {
        let at = before.map_or(0, |id| self.hits.partition_point(|&hit| key(profile, hit) < key(profile, id)));
        at.checked_sub(1).map_or(self.hits.last(), |i| self.hits.get(i)).copied()
    }

    /// The position of a slice among the hits, from 0.
    pub fn position(&self, profile: &Profile, id: SliceId) -> Option<usize> {
        self.hits.binary_search_by_key(&key(profile, id), |&hit| key(profile, hit)).ok()
    }
}

fn key(profile: &Profile, id: SliceId) -> (i64, SliceId) {
    (profile.slices().start(id).0, id)
}

/// Everything about one slice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SliceDetails {
    /// The slice.
    pub id: SliceId,
    /// Its name.
    pub name: String,
    /// Its category, empty when it has none.
    pub category: String,
    /// Its track.
    pub track: TrackId,
    /// Name of the track.
    pub track_label: String,
    /// Name of the process.
    pub process_label: String,
    /// Start, relative to the profile's origin.
    pub start_ns: i64,
    /// Duration.
    pub dur_ns: i64,
    /// Self time ([`super::self_time`]); absent when it never ended.
    pub self_ns: Option<i64>,
    /// The row in which it is drawn.
    pub depth: u16,
    /// Whether it began and never ended.
    pub unclosed: bool,
    /// Whether it begins inside the slice before it and ends after it.
    pub overlaps: bool,
    /// Its arguments as text, in the order of the file. Arguments that are not an object have the key `args`.
    pub args: Vec<(String, String)>,
    /// The slices that contain it, innermost first.
    pub parents: Vec<(SliceId, String)>,
}

/// Everything about a slice; `None` if the profile does not have the id.
pub fn slice_details(profile: &Profile, id: SliceId) -> Option<SliceDetails> {
    let slices = profile.slices();
    if id.index() >= slices.len() {
        return None;
    }
    let track = slices.track(id);
    let process = profile.tracks().get(track)?.process;
    let flags = slices.flags(id);
    let unclosed = flags.has(SliceFlags::UNCLOSED);
    let parents = std::iter::successors(slices.enclosing(id), |&parent| slices.enclosing(parent));
    Some(SliceDetails {
        id,
        name: profile.str(slices.name(id)).to_owned(),
        category: profile.str(slices.category(id)).to_owned(),
        track,
        track_label: profile.track_label(track),
        process_label: profile.process_label(process),
        start_ns: slices.start(id).0,
        dur_ns: slices.dur_ns(id),
        self_ns: self_time_of(profile, id),
        depth: slices.depth(id),
        unclosed,
        overlaps: flags.has(SliceFlags::OVERLAPS),
        args: parse_args(profile.args().get(slices.args(id))),
        parents: parents.map(|parent| (parent, profile.str(slices.name(parent)).to_owned())).collect(),
    })
}

/// The members of an object as text: strings without quotes, the rest as JSON. Anything else has the key `args`.
pub fn parse_args(json: &str) -> Vec<(String, String)> {
    if json.is_empty() {
        return Vec::new();
    }
    // An ordered list of members; serde_json's own map is not ordered.
    let Ok(members) = serde_json::from_str::<OrderedMembers>(json) else {
        return vec![("args".to_owned(), json.to_owned())];
    };
    members.0
}

struct OrderedMembers(Vec<(String, String)>);

impl<'de> Deserialize<'de> for OrderedMembers {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(MembersVisitor)
    }
}

struct MembersVisitor;

impl<'de> serde::de::Visitor<'de> for MembersVisitor {
    type Value = OrderedMembers;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: serde::de::MapAccess<'de>>(self, mut map: A) -> Result<OrderedMembers, A::Error> {
        let mut members = Vec::new();
        while let Some((key, value)) = map.next_entry::<String, Box<serde_json::value::RawValue>>()? {
            let text = serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned());
            members.push((key, text));
        }
        Ok(OrderedMembers(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::self_time::self_times;
    use ns_base::Diagnostics;
    use ns_profile::ProfileBuilder;

    fn sample() -> Profile {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("7", "Process Execution");
        let (t, u) = (b.thread(p, "1", "HLO Ops"), b.thread(p, "2", ""));
        b.slice(t, 0, 100, "Outer", "x", Some(r#"{"z":"text","a":{"n":[1,2]},"b":1.50}"#));
        b.slice(t, 10, 50, "DOT.1", "", Some("[1]"));
        b.slice(t, 20, 10, "inner", "", None);
        b.slice(u, 5, 10, "dot.2", "", None);
        b.finish(Diagnostics::new())
    }

    #[test]
    fn search_walks_by_time_and_wraps() {
        let profile = sample();
        let search = NameSearch::new(&profile, "Dot");
        let names: Vec<_> = search.hits().iter().map(|&id| profile.str(profile.slices().name(id))).collect();
        assert_eq!(names, ["dot.2", "DOT.1"]);
        let (first, second) = (search.hits()[0], search.hits()[1]);
        assert_eq!(search.next(&profile, None), Some(first));
        assert_eq!(search.next(&profile, Some(first)), Some(second));
        assert_eq!(search.next(&profile, Some(second)), Some(first));
        assert_eq!(search.previous(&profile, Some(first)), Some(second));
        assert_eq!(search.previous(&profile, None), Some(second));
        // Starting at a slice that is not a hit.
        assert_eq!(search.next(&profile, Some(SliceId(0))), Some(first));
        assert_eq!(search.position(&profile, second), Some(1));
        assert!(NameSearch::new(&profile, "").hits().is_empty());
        assert_eq!(NameSearch::new(&profile, "zzz").next(&profile, None), None);
    }

    #[test]
    fn details_of_a_slice() {
        let profile = sample();
        let outer = slice_details(&profile, SliceId(0)).unwrap();
        let args: Vec<_> = outer.args.iter().map(|(k, v)| (k.as_str(), v.as_str())).collect();
        assert_eq!(args, [("z", "text"), ("a", r#"{"n":[1,2]}"#), ("b", "1.50")]);
        assert_eq!((outer.self_ns, outer.process_label.as_str()), (Some(50), "Process Execution"));
        let inner = slice_details(&profile, SliceId(2)).unwrap();
        let parents: Vec<_> = inner.parents.iter().map(|(_, name)| name.as_str()).collect();
        assert_eq!((parents, inner.depth), (vec!["DOT.1", "Outer"], 2));
        assert_eq!(slice_details(&profile, SliceId(1)).unwrap().args, [("args".to_owned(), "[1]".to_owned())]);
        assert_eq!(slice_details(&profile, SliceId(3)).unwrap().track_label, "Thread 2");
        assert_eq!(slice_details(&profile, SliceId(4)), None);
        let own = self_times(&profile);
        for id in profile.slices().ids() {
            assert_eq!(slice_details(&profile, id).unwrap().self_ns, Some(own[id.index()]));
        }
    }
}
