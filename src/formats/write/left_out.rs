//! What a format cannot hold of a profile: counted, with the first example, so that an export can say it.

use super::WriteFormat::{self, Perfetto, SlicesCsv, Speedscope, XPlane};
use super::lanes::{Change, lanes, own_tracks};
use ns_base::{Diagnostics, FxHashSet, StrId};
use ns_profile::asyncs::AsyncTable;
use ns_profile::flows::FlowIndex;
use ns_profile::{Profile, SliceFlags, SliceId, TrackId, Unit};

/// A thing that some formats cannot hold.
struct Thing {
    code: &'static str,
    /// The formats without it.
    without: &'static [WriteFormat],
    /// How many a profile has, and what becomes of the first.
    find: fn(&Profile) -> Found,
}

/// A number, and a sentence about the first.
type Found = (u64, String);

/// Later XPlane offsets are more picoseconds than 64 bits hold.
const LAST_XPLANE_NS: i64 = i64::MAX / 1_000;

const TABLES: &[WriteFormat] = &[Speedscope, XPlane, SlicesCsv];
const TRACKS: &[WriteFormat] = &[Perfetto, Speedscope, XPlane];
const ALL: &[WriteFormat] = &[Perfetto, Speedscope, XPlane, SlicesCsv];

const THINGS: &[Thing] = &[
    Thing { code: "instants", without: TABLES, find: instants },
    Thing { code: "counters", without: TABLES, find: counters },
    Thing { code: "flows", without: TABLES, find: flows },
    Thing { code: "async_operations", without: TABLES, find: |p| asyncs(p, "is left out") },
    Thing { code: "async_operations", without: &[Perfetto], find: |p| asyncs(p, "is a slice of a track of its own") },
    Thing { code: "objects", without: ALL, find: objects },
    Thing { code: "samples", without: ALL, find: samples },
    Thing { code: "overlaps", without: TRACKS, find: overlaps },
    Thing { code: "unclosed", without: TRACKS, find: unclosed },
    Thing { code: "span", without: &[Perfetto], find: |p| span(p, true) },
    Thing { code: "span", without: &[XPlane], find: |p| span(p, false) },
    Thing { code: "span", without: &[Speedscope], find: empty },
    Thing { code: "late", without: &[XPlane], find: late },
    Thing { code: "unit", without: &WriteFormat::ALL, find: unit },
    Thing { code: "processes", without: &[Speedscope], find: processes },
    Thing { code: "processes", without: &[XPlane], find: same_names },
    Thing { code: "categories", without: &[Speedscope], find: categories },
    Thing { code: "categories", without: &[XPlane], find: category_arguments },
    Thing { code: "arguments", without: &[Speedscope], find: arguments },
    Thing { code: "names", without: &[Speedscope], find: nameless },
    Thing { code: "neuron_cores", without: ALL, find: neuron_cores },
    Thing { code: "labels", without: ALL, find: labels },
    Thing { code: "metadata", without: ALL, find: metadata },
    Thing { code: "properties", without: ALL, find: properties },
];

pub(super) fn left_out(profile: &Profile, format: WriteFormat) -> Diagnostics {
    let mut said = Diagnostics::new();
    for thing in THINGS.iter().filter(|thing| thing.without.contains(&format)) {
        let (count, first) = (thing.find)(profile);
        said.add_many(thing.code, count, None, || format!("{} cannot hold all: {first}", format.name()));
    }
    said
}

fn count<T>(mut all: impl Iterator<Item = T>, say: impl FnOnce(T) -> String) -> Found {
    all.next().map_or_else(|| (0, String::new()), |first| (1 + all.count() as u64, say(first)))
}

fn own_slices(profile: &Profile) -> impl Iterator<Item = SliceId> {
    own_tracks(profile).into_iter().flat_map(|track| profile.slices().of_track(track))
}

fn slice_name(profile: &Profile, id: SliceId) -> &str {
    profile.str(profile.slices().name(id))
}

fn instants(profile: &Profile) -> Found {
    let table = profile.instants();
    count(table.ids(), |id| format!("the instant \"{}\" is left out", profile.str(table.name(id))))
}

fn counters(profile: &Profile) -> Found {
    let table = profile.counters();
    let name = |series: &ns_profile::Series| profile.str(table.counters()[series.counter].name);
    let first = table.series().iter().next().map_or("", name);
    (table.sample_count() as u64, format!("a value of the counter \"{first}\" is left out"))
}

fn flows(profile: &Profile) -> Found {
    let index = FlowIndex::new(profile);
    count(index.arrows().iter(), |arrow| {
        let [from, to] = [arrow.from, arrow.to].map(|id| slice_name(profile, id));
        format!("the arrow from \"{from}\" to \"{to}\" is left out")
    })
}

fn asyncs(profile: &Profile, fate: &str) -> Found {
    let table = AsyncTable::new(profile);
    count(table.iter(), |(_, span)| format!("the asynchronous operation \"{}\" {fate}", profile.str(span.name)))
}

fn objects(profile: &Profile) -> Found {
    let links = profile.links();
    let objects = links.ids().filter(|id| matches!(links.phase(*id), 'N' | 'O' | 'D'));
    count(objects, |id| format!("the object \"{}\" is left out", profile.str(links.name(id))))
}

fn samples(profile: &Profile) -> Found {
    let derived = profile.tracks().iter_enumerated().filter(|(_, track)| !track.kind.is_own());
    let slices = derived.flat_map(|(track, _)| profile.slices().of_track(track));
    count(slices, |id| format!("\"{}\" of a sampled stack is left out", slice_name(profile, id)))
}

fn overlaps(profile: &Profile) -> Found {
    let opened = |change: Change| match change {
        Change::Open(id, _) => Some(id),
        Change::Close(..) => None,
    };
    let moved = |track: TrackId| lanes(profile, track).into_iter().skip(1).flatten().filter_map(opened);
    count(own_tracks(profile).into_iter().flat_map(moved), |id| {
        let name = slice_name(profile, id);
        format!("\"{name}\" ends after a slice in which it begins: it is in a track of its own, and self times differ")
    })
}

fn unclosed(profile: &Profile) -> Found {
    let never_ends = |id: &SliceId| profile.slices().flags(*id).has(SliceFlags::UNCLOSED);
    count(own_slices(profile).filter(never_ends), |id| {
        format!("\"{}\" never ends: it is written to the end of its track, and counts", slice_name(profile, id))
    })
}

/// In a file of such a format, the first event begins the span and the last one ends it.
fn span(profile: &Profile, holds_points: bool) -> Found {
    let slices = profile.slices();
    let mut times: Vec<i64> = own_slices(profile).flat_map(|id| [slices.start(id).0, slices.end(id).0]).collect();
    if holds_points {
        let (instants, counters) = (profile.instants(), profile.counters());
        times.extend(instants.ids().map(|id| instants.ts(id).0));
        times.extend(counters.series().ids().flat_map(|id| counters.samples(id).map(|(at, _)| at.0)));
        times.extend(AsyncTable::new(profile).iter().flat_map(|(_, a)| [a.time.start.0, a.time.end.0]));
    }
    let inside = times.iter().max().zip(times.iter().min()).map_or(0, |(end, start)| end.saturating_sub(*start));
    let whole = profile.span_ns();
    let length = |ns| profile.meta().unit.exact(ns);
    (
        u64::from(inside != whole),
        format!("of the span of {}, {} are between its first event and its last", length(whole), length(inside)),
    )
}

fn empty(profile: &Profile) -> Found {
    let is_lost = own_slices(profile).next().is_none() && profile.span_ns() > 0;
    (u64::from(is_lost), "there is no slice, so nothing is left".to_owned())
}

fn late(profile: &Profile) -> Found {
    let is_late = |id: &SliceId| profile.slices().end(*id).0 > LAST_XPLANE_NS;
    count(own_slices(profile).filter(is_late), |id| {
        format!("\"{}\" ends more than {LAST_XPLANE_NS} ns after the start: it ends then", slice_name(profile, id))
    })
}

fn unit(profile: &Profile) -> Found {
    let unit = &profile.meta().unit;
    (u64::from(*unit != Unit::Ns), format!("lengths in {} are written as nanoseconds", unit.name()))
}

fn processes(profile: &Profile) -> Found {
    let mut with_slices = FxHashSet::default();
    let tracks = own_tracks(profile).into_iter().filter(|track| profile.slices().of_track(*track).next().is_some());
    let processes = tracks.map(|track| profile.tracks()[track].process).filter(|process| with_slices.insert(*process));
    count(processes, |id| {
        format!("the process \"{}\" is only a part of the names of its threads", profile.process_label(id))
    })
}

fn same_names(profile: &Profile) -> Found {
    let mut names = FxHashSet::default();
    let again = profile.processes().ids().filter(|id| !names.insert(profile.process_label(*id)));
    count(again, |id| format!("processes with the name \"{}\" become one", profile.process_label(id)))
}

fn categories(profile: &Profile) -> Found {
    let category = |id: SliceId| profile.slices().category(id);
    count(own_slices(profile).filter(|id| category(*id) != StrId::EMPTY), |id| {
        let (name, category) = (slice_name(profile, id), profile.str(category(id)));
        format!("the category \"{category}\" of \"{name}\" is left out, and with it its level")
    })
}

/// The format has categories as an argument of this name.
fn category_arguments(profile: &Profile) -> Found {
    let slices = profile.slices();
    let is_taken = |id: &SliceId| profile.args().get(slices.args(*id)).contains("\"category\":");
    count(own_slices(profile).filter(is_taken), |id| {
        format!("\"{}\" has an argument \"category\", which is its category there", slice_name(profile, id))
    })
}

fn arguments(profile: &Profile) -> Found {
    let has_some = |id: &SliceId| !profile.slices().args(*id).is_none();
    count(own_slices(profile).filter(has_some), |id| {
        let name = slice_name(profile, id);
        format!("of the arguments of \"{name}\" only the place in a source is kept, so what they say of counts is lost")
    })
}

fn nameless(profile: &Profile) -> Found {
    let is_nameless = |id: &SliceId| profile.slices().name(*id) == StrId::EMPTY;
    count(own_slices(profile).filter(is_nameless), |_| "a slice without a name has the name \"(no name)\"".to_owned())
}

fn neuron_cores(profile: &Profile) -> Found {
    let of_core = profile.processes().iter_enumerated().filter(|(_, process)| process.neuron_core.is_some());
    count(of_core, |(id, _)| format!("the NeuronCore of the process \"{}\" is left out", profile.process_label(id)))
}

fn labels(profile: &Profile) -> Found {
    let labels = profile.processes().iter().map(|process| process.labels).filter(|labels| *labels != StrId::EMPTY);
    count(labels, |labels| format!("the label \"{}\" of a process is left out", profile.str(labels)))
}

fn metadata(profile: &Profile) -> Found {
    count(profile.metadata().iter(), |row| format!("the metadata \"{}\" are left out", profile.str(row.name)))
}

fn properties(profile: &Profile) -> Found {
    let properties = profile.meta().properties.iter().filter(|(key, _)| key != "displayTimeUnit");
    count(properties, |(key, _)| format!("the property \"{key}\" of the file is left out"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_profile::{ArgsId, ProfileBuilder};

    #[test]
    fn what_a_format_cannot_hold_is_counted_with_the_first_example() {
        let mut b = ProfileBuilder::new("test");
        let p = b.process("1", "python");
        let t = b.thread(p, "1", "main");
        b.slice(t, 0, 10, "outer", "op", None);
        b.slice(t, 5, 10, "late", "op", None);
        for at in [20, 30] {
            let name = b.intern("mark");
            b.instant(t, at, b'i', b't', name, name, ArgsId::NONE);
        }
        let profile = b.finish(Diagnostics::new());
        let said = |format: WriteFormat| -> Vec<String> {
            format.leaves_out(&profile).items().iter().map(|d| format!("{} {d}", d.code)).collect()
        };
        assert_eq!(said(WriteFormat::Chrome), [""; 0]);
        let overlap = "overlaps perfetto cannot hold all: \"late\" ends after a slice in which it begins: it is in a track of its own, and self times differ";
        assert_eq!(said(Perfetto), [overlap]);
        let xplane = said(XPlane);
        assert_eq!(
            xplane[0],
            "instants xplane cannot hold all: the instant \"mark\" is left out (2 times; this is the first)"
        );
        assert_eq!(
            xplane[2],
            "span xplane cannot hold all: of the span of 30 ns, 15 ns are between its first event and its last"
        );
        assert_eq!(XPlane.leaves_out(&profile).items().len(), 3);
        let codes: Vec<String> = Speedscope.leaves_out(&profile).items().iter().map(|d| d.code.clone()).collect();
        assert_eq!(codes, ["instants", "overlaps", "processes", "categories"]);
    }
}
