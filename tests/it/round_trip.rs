//! Writing a profile and reading it again changes nothing, and neither does the size of the chunks.

use std::fs;

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::base::Refusal;
use neuronscope::base::{Diagnostics, StrId};
use neuronscope::formats::chrome::write_to_string;
use neuronscope::formats::{ChunkedReader, ProfileReader, read_bytes};
use neuronscope::profile::{ArgsId, LinkEvent, LinkValue, NeuronCoreId, Profile, ProfileBuilder, TrackId};
use proptest::prelude::*;

use crate::formats::fixtures;

/// Everything a profile holds as text, one row per line, with names in place of ids.
pub fn content(profile: &Profile) -> Vec<String> {
    let text = |id: StrId| profile.str(id).to_owned();
    let args = |id: ArgsId| profile.args().get(id).to_owned();
    let mut out = vec![format!("origin {} span {:?}", profile.meta().origin_ns, profile.span())];
    for p in profile.processes().iter() {
        let labels = (text(p.pid), text(p.name), text(p.labels));
        out.push(format!("process {labels:?} {} {:?}", p.sort_index, p.neuron_core));
    }
    for (id, t) in profile.tracks().iter_enumerated() {
        let rows = profile.slices().rows(id);
        out.push(format!("track {:?} {:?} {} {rows} rows", t.process, (text(t.tid), text(t.name)), t.sort_index));
    }
    for row in profile.metadata() {
        out.push(format!("metadata {:?} {:?}", row.process, (text(row.tid), text(row.name), args(row.args))));
    }
    let s = profile.slices();
    for id in s.ids() {
        let names = (text(s.name(id)), text(s.category(id)), args(s.args(id)));
        let place = (s.track(id), s.interval(id), s.depth(id), s.stack_parent(id), s.flags(id));
        out.push(format!("slice {names:?} {place:?}"));
    }
    let i = profile.instants();
    for id in i.ids() {
        let names = (text(i.name(id)), text(i.category(id)), args(i.args(id)));
        out.push(format!("instant {names:?} {:?}", (i.track(id), i.ts(id), i.phase(id), i.scope(id))));
    }
    let l = profile.links();
    for id in l.ids() {
        let joined = match l.id(id) {
            LinkValue::Text(id) => format!("text {}", text(id)),
            other => format!("{other:?}"),
        };
        let names = (text(l.name(id)), text(l.category(id)), args(l.args(id)), joined);
        out.push(format!("link {names:?} {:?}", (l.track(id), l.ts(id), l.phase(id), l.binds_enclosing(id))));
    }
    let c = profile.counters();
    for (id, series) in c.series().iter_enumerated() {
        let counter = &c.counters()[series.counter];
        let names = (text(counter.name), text(counter.id), text(series.key));
        let samples: Vec<_> = c.samples(id).map(|(t, v)| (t, v.to_bits())).collect();
        out.push(format!("series {names:?} {:?} {samples:?}", counter.process));
    }
    out
}

fn read_in_chunks(bytes: &[u8], sizes: &[usize]) -> Result<Profile, Refusal> {
    let mut reader = Box::new(ProfileReader::new("chunks"));
    let (mut rest, mut sizes) = (bytes, sizes.iter().cycle());
    while !rest.is_empty() {
        let (chunk, tail) = rest.split_at(sizes.next().copied().unwrap_or(1).clamp(1, rest.len()));
        reader.push(chunk)?;
        rest = tail;
    }
    assert_eq!(reader.progress().file_bytes, bytes.len() as u64);
    reader.finish()
}

/// Content and summary, or the error.
fn outcome(read: Result<Profile, Refusal>) -> Result<(Vec<String>, OpenSummary), Refusal> {
    read.map(|profile| (content(&profile), OpenSummary::of(&profile)))
}

fn all_fixtures() -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(fixtures()).unwrap().map(|e| e.unwrap().path());
    let files = entries.filter(|p| !p.to_string_lossy().ends_with(".facts.json"));
    let mut files: Vec<_> =
        files.map(|p| (p.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&p).unwrap())).collect();
    files.sort();
    files
}

#[test]
fn chunk_boundaries_change_nothing() {
    for (name, bytes) in all_fixtures() {
        let whole = outcome(read_bytes("chunks", &bytes));
        for sizes in [&[1][..], &[2, 3, 61], &[4096, 1, 977]] {
            assert_eq!(outcome(read_in_chunks(&bytes, sizes)), whole, "{name} in chunks of {sizes:?}");
        }
    }
}

#[test]
fn real_traces_survive_being_written() {
    for (name, bytes) in all_fixtures() {
        let Ok(first) = read_bytes(&name, &bytes) else { continue };
        let text = write_to_string(&first);
        let again = read_bytes(&name, text.as_bytes()).unwrap();
        serde_json::from_str::<serde::de::IgnoredAny>(&text).unwrap_or_else(|e| panic!("{name}: {e}"));
        let (a, b) = (content(&first), content(&again));
        if let Some((a, b)) = a.iter().zip(&b).find(|(a, b)| a != b) {
            panic!("{name}\nread    {a}\nagain   {b}");
        }
        assert_eq!(a.len(), b.len(), "{name}");
        assert_eq!(write_to_string(&again), text, "{name}: writing twice");
    }
}

#[derive(Clone, Debug)]
enum Row {
    Slice { track: usize, start: i64, dur: Option<i64>, name: String, category: String, args: Option<String> },
    Begin { track: usize, ts: i64, name: String },
    End { track: usize, ts: i64 },
    Instant { track: usize, ts: i64, scope: u8, name: String },
    Link { track: usize, ts: i64, phase: u8, id: LinkIdText },
    Counter { track: usize, ts: i64, name: String, values: Vec<(String, f64)> },
}

#[derive(Clone, Debug)]
enum LinkIdText {
    None,
    Number(u64),
    Hex(u64),
    Text(String),
}

fn row() -> impl Strategy<Value = Row> {
    let track = 0usize..4;
    let ts = prop_oneof![0i64..200, -1_000_000_000_000..1_700_000_000_000_000_000i64];
    let name = prop_oneof![Just(String::new()), Just("dot".to_owned()), "\\PC{0,12}", any::<String>()];
    let args = proptest::option::of(prop_oneof![
        Just(r#"{"a":[1,{"b":"}\""}],"c":null}"#.to_owned()),
        any::<String>().prop_map(|s| serde_json::json!({ "text": s }).to_string()),
    ]);
    let dur = proptest::option::weighted(0.9, prop_oneof![0i64..100, 0..1_000_000_000_000i64]);
    let id = prop_oneof![
        Just(LinkIdText::None),
        any::<u64>().prop_map(LinkIdText::Number),
        any::<u64>().prop_map(LinkIdText::Hex),
        Just(LinkIdText::Text(r#"{"local":"0x1"}"#.to_owned())),
        "[g-z]{1,4}".prop_map(LinkIdText::Text),
        Just(LinkIdText::Text("12".to_owned())),
    ];
    let key = prop_oneof![Just("x".to_owned()), any::<String>()];
    let values = proptest::collection::vec((key, any::<f64>()), 1..3);
    let phase = proptest::sample::select(b"stfbneSTpFNOD".to_vec());
    prop_oneof![
        6 => (track.clone(), ts.clone(), dur, name.clone(), name.clone(), args).prop_map(
            |(track, start, dur, name, category, args)| Row::Slice { track, start, dur, name, category, args }
        ),
        1 => (track.clone(), ts.clone(), name.clone()).prop_map(|(track, ts, name)| Row::Begin { track, ts, name }),
        1 => (track.clone(), ts.clone()).prop_map(|(track, ts)| Row::End { track, ts }),
        1 => (track.clone(), ts.clone(), proptest::sample::select(b"gpt ".to_vec()), name.clone())
            .prop_map(|(track, ts, scope, name)| Row::Instant { track, ts, scope, name }),
        1 => (track.clone(), ts.clone(), phase, id).prop_map(|(track, ts, phase, id)| Row::Link { track, ts, phase, id }),
        1 => (track, ts, name, values).prop_map(|(track, ts, name, values)| Row::Counter { track, ts, name, values }),
    ]
}

fn build(rows: &[Row], labels: &[String]) -> Profile {
    let label = |i: usize| labels.get(i).map_or("", String::as_str);
    let mut b = ProfileBuilder::new("test");
    let one = b.process("1", label(0));
    let two = b.process(&format!("p{}", label(1)), "");
    b.set_process_labels(two, label(2));
    b.set_process_sort_index(two, -3);
    b.set_neuron_core(two, NeuronCoreId { device: 1, core: 7 });
    let tracks =
        [b.thread(one, "1", ""), b.thread(one, "-2", label(3)), b.thread(two, "01", label(4)), b.thread(two, "", "")];
    b.set_track_sort_index(tracks[1], i64::MAX);
    // Tracks exist only through their rows; one event at a fixed time keeps the origin and the last track's end.
    for row in rows {
        add(&mut b, &tracks, row);
    }
    b.finish(Diagnostics::new())
}

fn add(b: &mut ProfileBuilder, tracks: &[TrackId], row: &Row) {
    match row {
        Row::Slice { track, start, dur, name, category, args } => {
            let (name, category) = (b.intern(name), b.intern(category));
            let args = args.as_ref().map_or(ArgsId::NONE, |json| b.add_args(json));
            b.slice_of(tracks[*track], *start, *dur, name, category, args);
        }
        Row::Begin { track, ts, name } => {
            let name = b.intern(name);
            b.begin(tracks[*track], *ts, name, StrId::EMPTY, ArgsId::NONE, 0);
        }
        // An end that finds no begin leaves only its time, which is not written: put an instant there.
        Row::End { track, ts } => {
            b.end(tracks[*track], *ts, StrId::EMPTY, ArgsId::NONE, 0);
            b.instant(tracks[*track], *ts, b'i', b't', StrId::EMPTY, StrId::EMPTY, ArgsId::NONE);
        }
        Row::Instant { track, ts, scope, name } => {
            let name = b.intern(name);
            b.instant(tracks[*track], *ts, b'i', *scope, name, StrId::EMPTY, ArgsId::NONE);
        }
        Row::Link { track, ts, phase, id } => {
            let id = match id {
                LinkIdText::None => LinkValue::None,
                LinkIdText::Number(n) => LinkValue::Number(*n),
                LinkIdText::Hex(n) => LinkValue::Hex(*n),
                LinkIdText::Text(text) => LinkValue::Text(b.intern(text)),
            };
            let name = b.intern("flow");
            let binds_enclosing = *phase == b'f';
            let (track, ts_ns, category, args) = (tracks[*track], *ts, StrId::EMPTY, ArgsId::NONE);
            b.link(LinkEvent { track, ts_ns, phase: *phase, name, category, id, binds_enclosing, args });
        }
        Row::Counter { track, ts, name, values } => {
            let name = b.intern(name);
            let values: Vec<_> = values.iter().map(|(key, value)| (b.intern(key), *value)).collect();
            b.counter(tracks[*track], *ts, name, StrId::EMPTY, &values);
        }
    }
}

proptest! {
    #[test]
    fn writing_and_reading_is_the_identity(
        rows in proptest::collection::vec(row(), 0..40),
        labels in proptest::collection::vec(any::<String>(), 5),
    ) {
        let profile = build(&rows, &labels);
        let text = write_to_string(&profile);
        serde_json::from_str::<serde::de::IgnoredAny>(&text).expect("what is written is JSON");
        let again = read_bytes("test", text.as_bytes()).unwrap();
        prop_assert_eq!(content(&profile), content(&again), "{}", text);
    }

    #[test]
    fn damaged_text_never_panics_and_chunks_change_nothing(
        rows in proptest::collection::vec(row(), 1..12),
        damage in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0u8..3), 1..6),
        sizes in proptest::collection::vec(1usize..200, 1..4),
    ) {
        let mut bytes = write_to_string(&build(&rows, &[])).into_bytes();
        for (at, byte, kind) in damage {
            let at = at.index(bytes.len().max(1));
            match kind {
                0 | 1 if bytes.len() < 2 => {}
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.truncate(at.max(1)),
            }
        }
        let whole = outcome(read_bytes("chunks", &bytes));
        prop_assert_eq!(outcome(read_in_chunks(&bytes, &sizes)), whole);
    }
}
