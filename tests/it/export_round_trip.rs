//! A profile that is written in another format and read again is the same, as far as the format can express it.

use std::collections::BTreeMap;
use std::fs;

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::base::Diagnostics;
use neuronscope::formats::{ChunkedReader, ProfileReader, WriteFormat, read_bytes};
use neuronscope::profile::asyncs::AsyncTable;
use neuronscope::profile::flows::FlowIndex;
use neuronscope::profile::{ArgsId, Profile, ProfileBuilder, SliceId, TrackId};
use neuronscope::session::BundleLayout;
use proptest::prelude::*;

use crate::formats::fixtures;

/// Name, start, duration and depth of every slice by process and thread, names of threads as people see them.
fn slices(profile: &Profile) -> Vec<(String, String, String, i64, i64, u16)> {
    let s = profile.slices();
    let mut rows: Vec<_> = s
        .ids()
        .filter(|&id| profile.tracks()[s.track(id)].kind.is_own())
        .map(|id| {
            let track = s.track(id);
            let process = profile.process_label(profile.tracks()[track].process);
            let (name, label) = (profile.str(s.name(id)).to_owned(), profile.track_label(track));
            (process, label, name, s.start(id).0, s.dur_ns(id), s.depth(id))
        })
        .collect();
    rows.sort();
    rows
}

/// Slices without their process: speedscope has no processes.
fn times(profile: &Profile) -> Vec<(String, i64, i64)> {
    let mut rows: Vec<_> = slices(profile).into_iter().map(|(_, _, name, start, dur, _)| (name, start, dur)).collect();
    rows.sort();
    rows
}

fn samples(profile: &Profile) -> Vec<(i64, u64)> {
    let c = profile.counters();
    let mut rows: Vec<_> =
        c.series().ids().flat_map(|id| c.samples(id).map(|(t, v)| (t.0, v.to_bits())).collect::<Vec<_>>()).collect();
    rows.sort_unstable();
    rows
}

fn again(profile: &Profile, format: WriteFormat) -> Profile {
    read_bytes("again", &format.write(profile)).unwrap_or_else(|e| panic!("{}: {e}", format.name()))
}

/// A profile of slices that nest, with a counter sample and an instant for each of its rows.
fn nested(rows: &[(u8, u16, u16, u8)]) -> Profile {
    let mut b = ProfileBuilder::new("test");
    let mut ends = [0i64; 3];
    let process = b.process("7", "host");
    let tracks: Vec<TrackId> = (0..3).map(|i| b.thread(process, &i.to_string(), &format!("thread {i}"))).collect();
    for &(track, gap, dur, depth) in rows {
        let (track, depth) = (usize::from(track % 3), i64::from(depth % 4));
        let start = ends[track] + i64::from(gap);
        let dur = i64::from(dur) + 2 * depth;
        for level in 0..=depth {
            let name = format!("op {level}");
            b.slice(tracks[track], start + level, dur - 2 * level, &name, "cat", Some("{\"id\":7,\"text\":\"a b\"}"));
        }
        ends[track] = start + dur;
        let (name, key) = (b.intern("memory"), b.intern("value"));
        b.counter(tracks[track], start, name, neuronscope::base::StrId::EMPTY, &[(key, f64::from(gap))]);
        b.instant(tracks[track], start, b'i', b't', name, key, ArgsId::NONE);
    }
    b.finish(Diagnostics::new())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn nested_slices_survive_every_format(
        rows in proptest::collection::vec((any::<u8>(), any::<u16>(), 1u16.., any::<u8>()), 1..40),
    ) {
        let profile = nested(&rows);
        for format in [WriteFormat::Chrome, WriteFormat::Perfetto, WriteFormat::XPlane] {
            prop_assert_eq!(slices(&again(&profile, format)), slices(&profile), "{}", format.name());
        }
        prop_assert_eq!(times(&again(&profile, WriteFormat::Speedscope)), times(&profile));
        prop_assert_eq!(silent_differences("nested", &profile), Vec::<String>::new());
        let perfetto = again(&profile, WriteFormat::Perfetto);
        prop_assert_eq!(samples(&perfetto), samples(&profile));
        prop_assert_eq!(perfetto.instants().len(), profile.instants().len());
        prop_assert_eq!(perfetto.meta().origin_ns, profile.meta().origin_ns);
    }
}

/// Times of slices, counters, flows and async operations of real traces; slices that overlap move to lanes.
#[test]
fn real_traces_survive_other_formats() {
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(profile) = read_bytes(&name, &fs::read(&path).unwrap()) else { continue };
        let named =
            |rows: Vec<(String, i64, i64)>| -> Vec<(i64, i64)> { rows.into_iter().map(|r| (r.1, r.2)).collect() };
        // Where the first event is not a slice, times begin at another.
        let shifted = |p: &Profile| {
            let rows = times(p);
            let first = rows.iter().map(|r| r.1).min().unwrap_or(0);
            let mut rows = named(rows.into_iter().map(|(n, s, d)| (n, s - first, d)).collect());
            rows.sort_unstable();
            rows
        };
        let perfetto = again(&profile, WriteFormat::Perfetto);
        if profile.slices().len() + profile.instants().len() + profile.counters().sample_count() == 0 {
            continue;
        }
        let asyncs = AsyncTable::new(&profile).len();
        if asyncs == 0 {
            assert_eq!(shifted(&perfetto), shifted(&profile), "{name} as perfetto");
        } else {
            assert_eq!(perfetto.slices().len() as u64, profile.own_slice_count() + asyncs as u64, "{name}");
        }
        assert_eq!(perfetto.counters().sample_count(), profile.counters().sample_count(), "{name} as perfetto");
        assert_eq!(FlowIndex::new(&perfetto).len(), FlowIndex::new(&profile).len(), "{name} as perfetto");
        if profile.own_slice_count() > 0 {
            assert_eq!(shifted(&again(&profile, WriteFormat::Speedscope)), shifted(&profile), "{name} as speedscope");
            assert_eq!(shifted(&again(&profile, WriteFormat::XPlane)), shifted(&profile), "{name} as xplane");
        }
        let csv = String::from_utf8(WriteFormat::SlicesCsv.write(&profile)).unwrap();
        let rows = csv::Reader::from_reader(csv.as_bytes()).records().count();
        assert_eq!(rows as u64, profile.own_slice_count(), "{name} as csv");
    }
}

fn read_all(zip: &[u8], piece: usize) -> Vec<(String, String, u64)> {
    let mut reader = ProfileReader::new("archive.zip");
    zip.chunks(piece).for_each(|bytes| reader.push(bytes).unwrap());
    let profiles = reader.finish_all().unwrap();
    profiles.iter().map(|p| (p.meta().title.clone(), p.meta().format.clone(), p.own_slice_count())).collect()
}

#[test]
fn every_file_of_an_archive_is_a_profile() {
    let profile = nested(&[(0, 3, 40, 2), (1, 5, 9, 0)]);
    let zip = two_traces(&profile);
    let whole = read_all(&zip, zip.len());
    assert_eq!(whole, ["a.json", "b.json"].map(|name| (name.to_owned(), "chrome-trace-object".to_owned(), 4)));
    for piece in [1, 7, 1000] {
        assert_eq!(read_all(&zip, piece), whole, "in pieces of {piece}");
    }
    // Cut off: what comes before the cut is there.
    let cut = &zip[..zip.len() * 2 / 3];
    let first = read_bytes("cut.zip", cut).unwrap();
    assert_eq!(first.own_slice_count(), 4);
}

/// An archive of a trace under two names.
fn two_traces(profile: &Profile) -> Vec<u8> {
    let trace = WriteFormat::Chrome.write(profile);
    let files = ["a.json", "b.json"].map(|name| (name.to_owned(), trace.len() as u64));
    let layout = BundleLayout::new(&files).unwrap();
    layout.headers().flat_map(|header| [header, trace.as_slice()].concat()).collect()
}

#[test]
fn the_files_of_the_plugin_read_again() {
    let profile = nested(&[(0, 3, 40, 2), (1, 5, 9, 0)]);
    for format in [WriteFormat::NeuronPlugin, WriteFormat::TensorBoard] {
        let zip = format.write(&profile);
        assert_eq!(zip, format.write(&profile), "the same bytes each time");
        assert!(zip.starts_with(b"PK\x03\x04"));
        // It has no NeuronCore, so it has no operator tables.
        for (name, is_there) in [("neuron_hlo_op.json", false), ("neuron_trace.json", true)] {
            assert_eq!(zip.windows(name.len()).any(|w| w == name.as_bytes()), is_there, "{name}");
        }
    }
}

/// Perfetto's trace processor stops at a null that is written as JSON.
#[test]
fn a_null_argument_is_an_annotation_without_a_value() {
    let json = r#"[{"ph":"X","name":"a","pid":1,"tid":1,"ts":0,"dur":1,"args":{"none":null,"list":[null,1]}}]"#;
    let profile = read_bytes("null", json.as_bytes()).unwrap();
    let written = WriteFormat::Perfetto.write(&profile);
    // Field 9 of an annotation, legacy_json_value, with four bytes.
    assert!(!written.windows(6).any(|w| w == b"\x4a\x04null"));
    let back = again(&profile, WriteFormat::Perfetto);
    let args = back.slices().ids().map(|id| back.args().get(back.slices().args(id)).to_owned()).next().unwrap();
    assert_eq!(args, r#"{"none":null,"list":[null,1]}"#);
}

/// What tools show of a profile, by kind, each as rows in a fixed order.
fn figures(profile: &Profile) -> BTreeMap<&'static str, Vec<String>> {
    let s = profile.slices();
    let own: Vec<_> = s.ids().filter(|&id| profile.tracks()[s.track(id)].kind.is_own()).collect();
    let name = |id| profile.str(s.name(id));
    let process = |id| profile.process_label(profile.tracks()[s.track(id)].process);
    let of_slices = |fact: &dyn Fn(SliceId) -> String| own.iter().map(|&id| fact(id)).collect::<Vec<_>>();
    let (i, c, asyncs) = (profile.instants(), profile.counters(), AsyncTable::new(profile));
    let summary = OpenSummary::of(profile);
    let mut figures = BTreeMap::from([
        ("span", vec![profile.span_ns().to_string()]),
        ("slices", of_slices(&|id| format!("{} {}", name(id), s.dur_ns(id)))),
        ("processes", of_slices(&|id| format!("{} {}", process(id), name(id)))),
        ("threads", of_slices(&|id| format!("{} {}", profile.track_label(s.track(id)), name(id)))),
        ("categories", of_slices(&|id| format!("{} {}", profile.str(s.category(id)), name(id)))),
        ("instants", i.ids().map(|id| profile.str(i.name(id)).to_owned()).collect()),
        ("counters", c.series().ids().flat_map(|id| c.samples(id)).map(|(_, value)| value.to_string()).collect()),
        (
            "flows",
            FlowIndex::new(profile).arrows().iter().map(|a| format!("{} {}", name(a.from), name(a.to))).collect(),
        ),
        ("asyncs", asyncs.iter().map(|(_, a)| format!("{} {:?}", profile.str(a.name), a.time)).collect()),
        ("totals", summary.operators.iter().map(|o| format!("{} {} {:?}", o.name, o.count, o.total_ns)).collect()),
        ("self times", summary.operators.iter().map(|o| format!("{} {:?}", o.name, o.self_ns)).collect()),
        ("levels", summary.levels.iter().map(|l| format!("{l:?}")).chain([summary.default_level]).collect()),
        ("unit", vec![profile.meta().unit.name().to_owned()]),
    ]);
    figures.values_mut().for_each(|rows| rows.sort());
    figures
}

/// The remarks that may explain a figure that comes back different.
const EXPLANATIONS: &[(&str, &[&str])] = &[
    ("span", &["span"]),
    ("slices", &["async_operations", "names"]),
    ("processes", &["async_operations", "names", "processes"]),
    ("threads", &["async_operations", "names", "processes", "overlaps"]),
    ("categories", &["async_operations", "names", "categories"]),
    ("instants", &["instants"]),
    ("counters", &["counters"]),
    ("flows", &["flows", "overlaps", "unclosed"]),
    ("asyncs", &["async_operations"]),
    ("totals", &["async_operations", "names", "unclosed", "arguments", "samples"]),
    ("self times", &["async_operations", "names", "unclosed", "arguments", "samples", "overlaps"]),
    ("levels", &["async_operations", "processes", "categories", "properties", "overlaps", "samples"]),
    ("unit", &["unit"]),
];

/// The formats that are read again, and what differs afterwards without a remark that explains it.
fn silent_differences(name: &str, profile: &Profile) -> Vec<String> {
    let (before, mut silent) = (figures(profile), Vec::new());
    for format in WriteFormat::ALL.into_iter().filter(|format| *format != WriteFormat::SlicesCsv) {
        let left_out = format.leaves_out(profile);
        let after = match read_bytes("again", &format.write(profile)) {
            Ok(again) => figures(&again),
            // Nothing was written but what the format cannot hold.
            Err(_) if !left_out.is_empty() && profile.own_slice_count() == 0 => continue,
            Err(e) => panic!("{name} as {}: {e}", format.name()),
        };
        for (kind, explanations) in EXPLANATIONS {
            if before[kind] != after[kind] && explanations.iter().all(|code| left_out.count(code) == 0) {
                let first = before[kind].iter().find(|row| !after[kind].contains(row));
                let other = after[kind].iter().find(|row| !before[kind].contains(row));
                silent.push(format!("{name} as {}: {kind}: {first:?} became {other:?}", format.name()));
            }
        }
    }
    silent
}

#[test]
fn what_a_format_cannot_hold_is_said() {
    let mut silent = Vec::new();
    for entry in fs::read_dir(std::env::var("TRACES").map_or_else(|_| fixtures(), Into::into)).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let Ok(bytes) = fs::read(&path) else { continue };
        if let Ok(profile) = read_bytes(&name, &bytes) {
            silent.extend(silent_differences(&name, &profile));
        }
    }
    assert!(silent.is_empty(), "{silent:#?}");
}
