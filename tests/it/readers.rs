//! Real files of formats other than Chrome's, compared with known facts, and every reader on damaged files.

use std::fs;

use neuronscope::analysis::summary::OpenSummary;
use neuronscope::formats::{ChunkedReader, ProfileReader, read_bytes};
use neuronscope::profile::{Profile, TrackKind};

use crate::formats::{fixtures, large_traces};

fn open(name: &str) -> Profile {
    read_bytes(name, &fs::read(fixtures().join(name)).unwrap()).unwrap()
}

/// Count, total and self time of a name.
fn op(profile: &Profile, name: &str) -> (u64, i64, i64) {
    let operators = OpenSummary::of(profile).operators;
    let found = operators.iter().find(|op| op.name == name).unwrap_or_else(|| panic!("no {name}"));
    (found.count, found.total_ns.whole().unwrap(), found.self_ns.whole().unwrap())
}

fn facts(profile: &Profile) -> (String, u64, i64) {
    let summary = OpenSummary::of(profile);
    (summary.format, summary.events, summary.span_ns.whole().unwrap())
}

#[test]
fn a_cpuprofile_has_its_samples_and_its_span() {
    let profile = open("fxprofiler_hello.cjs-20231120T211435.cpuprofile");
    assert_eq!(facts(&profile), ("cpuprofile".into(), 150, 190_704_000));
    // All time is of functions at the root: their totals are the span from the first sample to the end.
    let slices = profile.slices();
    let roots: i64 = slices.ids().filter(|&id| slices.depth(id) == 0).map(|id| slices.dur_ns(id)).sum();
    let first = slices.ids().next().map(|id| slices.start(id).0).unwrap();
    assert_eq!(roots, 190_704_000 - first);
}

#[test]
fn speedscope_profiles_have_their_weights() {
    let profile = open("speedscope_speedscope_0.6.0_two-sampled.speedscope.json");
    assert_eq!(facts(&profile), ("speedscope".into(), 10, 14_000_000_000));
    assert_eq!(profile.tracks().len(), 2);
    assert_eq!(op(&profile, "a"), (2, 28_000_000_000, 0));
    assert_eq!(op(&profile, "d"), (2, 8_000_000_000, 8_000_000_000));
}

#[test]
fn collapsed_stacks_in_utf16() {
    let profile = open("speedscope_stackcollapse_simple-utf16-le.txt");
    assert_eq!(facts(&profile), ("collapsed-stacks".into(), 5, 14));
    assert_eq!([op(&profile, "a"), op(&profile, "b"), op(&profile, "c")], [(1, 14, 0), (1, 14, 5), (2, 5, 5)]);
    assert_eq!(profile.diagnostics().items()[0].code, "weights_are_no_times");
}

#[test]
fn pprof_shows_its_default_value() {
    let profile = open("speedscope_pprof_simple.prof");
    let (format, events, span) = facts(&profile);
    assert_eq!(format, "pprof");
    assert!(events > 0 && span > 0, "{events} samples, {span} ns");
    let total: i64 = OpenSummary::of(&profile).operators.iter().filter_map(|op| op.self_ns.whole()).sum();
    assert_eq!(total, span, "all time is someone's own");
}

#[test]
fn firefox_profiles_of_both_kinds() {
    let samply = open("samply_ls-profile.json");
    let summary = OpenSummary::of(&samply);
    assert_eq!((summary.format.as_str(), summary.events, summary.by_phase.get("P")), ("firefox-profile", 5130, 5130));
    let gecko = open("speedscope_Firefox_63_simple-firefox.json");
    assert_eq!(OpenSummary::of(&gecko).by_phase.get("P"), 39);
    assert!(gecko.span_ns() < 60_000_000, "{} ns: markers count from another time", gecko.span_ns());
    assert_eq!(op(&gecko, "alpha").0, 1);
}

#[test]
fn a_memory_timeline_has_a_sample_for_each_row() {
    let profile = open("hta_memory_timeline.raw.gz");
    let (format, events, _) = facts(&profile);
    assert_eq!((format.as_str(), events), ("memory-timeline", 16_845));
    // The counters begin with the sum of the memory that was allocated before the start.
    let counters = profile.counters();
    let before: f64 = counters
        .series()
        .ids()
        .map(|id| counters.samples(id).take_while(|(t, _)| t.0 == 0).map(|(_, v)| v).fold(0.0, f64::max))
        .sum();
    assert!(before >= 332_060_904.0, "{before} bytes of parameters and others were there");
    let actions = &profile.meta().properties[0];
    assert_eq!(actions.1, r#"{"preexisting":645,"create":3345,"increment version":9510,"destroy":3345}"#);
}

#[test]
fn xplanes_have_the_events_of_each_plane() {
    for name in ["tracelens_jax_conv_legacy.xplane.pb", "tracelens_jax_te_fused_attn.xplane.pb"] {
        let facts = fs::read_to_string(fixtures().join(format!("{name}.facts.json"))).unwrap();
        let facts: serde_json::Value = serde_json::from_str(&facts).unwrap();
        let profile = open(name);
        assert_eq!(profile.meta().events, facts["n_events"].as_u64().unwrap(), "{name}");
        let slices = profile.slices();
        for plane in facts["planes"].as_array().unwrap().iter().filter(|p| p[2] != 0) {
            let process =
                profile.processes().iter_enumerated().find(|(_, p)| profile.str(p.pid) == plane[0]).unwrap().0;
            let tracks: Vec<_> = profile.tracks_in_order(process);
            let lines = tracks.iter().filter(|t| profile.tracks()[**t].kind == TrackKind::Thread).count();
            let events: Vec<_> = tracks.iter().flat_map(|&t| slices.of_track(t)).collect();
            let total_ns: i64 = events.iter().map(|&id| slices.dur_ns(id)).sum();
            assert_eq!((lines as u64, events.len() as u64), (plane[1].as_u64().unwrap(), plane[2].as_u64().unwrap()));
            let want_ns = plane[3].as_f64().unwrap() * 1e3;
            assert!((total_ns as f64 - want_ns).abs() < 1.0, "{name} {}: {total_ns} ns, should be {want_ns}", plane[0]);
        }
    }
}

/// The systrace page.
#[test]
#[ignore = "needs NEURONSCOPE_TRACES"]
fn large_traces_of_systrace_have_their_lines() {
    let page = fs::read(large_traces().join("catapult_android_systrace.html")).unwrap();
    let systrace = read_bytes("catapult_android_systrace.html", &page).unwrap();
    let summary = OpenSummary::of(&systrace);
    // 31,479 lines of the page are events; one of them names the clock.
    let phases = &summary.by_phase;
    assert_eq!((phases.get("sched_switch"), phases.get("i"), phases.get("clock_sync")), (11_074, 6_827, 1));
    let marks = ["B", "E", "C", "S", "F"].map(|ph| phases.get(ph)).iter().sum::<u64>();
    assert_eq!(marks, 13_577);
}

/// Every fixture cut at many places and with bytes changed: reading ends, gives the existing part or an error, and never
/// panics.
#[test]
fn damaged_files_of_every_format_end() {
    let mut rng = neuronscope::base::Rng::new(11, 5);
    for entry in fs::read_dir(fixtures()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let bytes = fs::read(&path).unwrap();
        if name.ends_with(".facts.json") || bytes.len() > 40_000 {
            continue;
        }
        for round in 0..40u32 {
            let mut damaged = bytes.clone();
            if round % 2 == 0 {
                damaged.truncate(rng.next_u32() as usize % (bytes.len() + 1));
            }
            for _ in 0..(round % 5) {
                if !damaged.is_empty() {
                    let at = rng.next_u32() as usize % damaged.len();
                    damaged[at] = rng.next_u32() as u8;
                }
            }
            let whole = read_bytes("whole", &damaged).map(|p| OpenSummary::of(&p));
            let mut reader = Box::new(ProfileReader::new("whole"));
            let pushed = damaged.chunks(97).try_for_each(|piece| reader.push(piece));
            let pieces = pushed.and_then(|()| reader.finish()).map(|p| OpenSummary::of(&p));
            assert_eq!(pieces, whole, "{name} round {round}");
        }
    }
}

#[test]
fn the_front_of_a_cut_file_is_read() {
    for (name, kept) in [
        ("samply_ls-profile.json", 1000),
        ("speedscope_speedscope_0.6.0_two-sampled.speedscope.json", 5),
        ("hta_memory_timeline.raw.gz", 5000),
    ] {
        let bytes = fs::read(fixtures().join(name)).unwrap();
        let profile = read_bytes(name, &bytes[..bytes.len() * 8 / 10]).unwrap_or_else(|e| panic!("{name}: {e}"));
        let whole = read_bytes(name, &bytes).unwrap();
        let events = profile.meta().events;
        assert!(events >= kept && events <= whole.meta().events, "{name}: {events} of {}", whole.meta().events);
        assert!(!profile.diagnostics().is_empty(), "{name}");
    }
}
