//! Weights and times of samples that are not what most files have.

use crate::read_bytes;
use ns_profile::{Profile, Unit};

fn read(name: &str, text: &str) -> Profile {
    read_bytes(name, text.as_bytes()).unwrap_or_else(|e| panic!("{name}: {e}"))
}

/// The time of all slices of a name.
fn total(profile: &Profile, name: &str) -> i64 {
    let slices = profile.slices();
    let of_name = slices.ids().filter(|id| profile.str(slices.name(*id)) == name);
    of_name.map(|id| slices.dur_ns(id)).sum()
}

#[test]
fn counts_with_fractions_are_millionths() {
    let folded = read("a.folded", "main;whole 3\nmain;load 0.125\nmain;fit 0.0000005\nmain;load 1e1\n");
    let totals = ["main", "whole", "load"].map(|name| total(&folded, name));
    assert_eq!(totals, [13_125_000, 3_000_000, 10_125_000]);
    assert_eq!(folded.meta().unit, Unit::millionths_of("samples"));
    assert_eq!(folded.diagnostics().count("weights_have_fractions"), 1);
    let whole = read("a.folded", "main;whole 3\nmain;load 2.0\n");
    assert_eq!((total(&whole, "main"), whole.meta().unit.clone()), (5, Unit::count_of("samples")));
    let speedscope = |unit: &str, second: &str| {
        let profile = |weights: &str| {
            format!(
                r#"{{"type":"sampled","unit":"{unit}","startValue":0,"endValue":3,"samples":[[0],[0,1]],"weights":{weights}}}"#
            )
        };
        let frames = r#""shared":{"frames":[{"name":"main"},{"name":"work"}]}"#;
        let schema = "https://www.speedscope.app/file-format-schema.json";
        let profiles = [profile("[1,2]"), profile(second)].join(",");
        read("a.speedscope.json", &format!(r#"{{"$schema":"{schema}",{frames},"profiles":[{profiles}]}}"#))
    };
    assert_eq!(total(&speedscope("bytes", "[1.5,2.75]"), "work"), 4_750_000);
    assert_eq!(total(&speedscope("bytes", "[1,2]"), "work"), 4);
    assert_eq!(total(&speedscope("nanoseconds", "[1,2]"), "work"), 4);
    let too_many = speedscope("nanoseconds", "[1,2,3,4]");
    assert_eq!(too_many.diagnostics().count("more_values_than_samples"), 2);
}

#[test]
fn a_count_too_large_for_the_axis_is_said() {
    let profile = read("a.folded", "main;a 9223372036854775807\nmain;b 7\n");
    assert_eq!((total(&profile, "main"), profile.diagnostics().count("bad_sample")), (7, 1));
}

#[test]
fn a_negative_difference_does_not_move_what_follows() {
    let node = |id: u32, name: &str| format!(r#"{{"id":{id},"callFrame":{{"functionName":"{name}"}},"children":[]}}"#);
    let nodes = [node(1, "a"), node(2, "b"), node(3, "c")].join(",");
    let text = format!(
        r#"{{"nodes":[{nodes}],"startTime":0,"endTime":500,"samples":[1,2,1,3],"timeDeltas":[0,200,-150,150],"more":1}}"#
    );
    let profile = read("a.cpuprofile", &text);
    assert_eq!(["a", "b", "c"].map(|name| total(&profile, name)), [200_000, 0, 300_000]);
    assert_eq!(profile.diagnostics().count("time_backwards"), 1);
    let longer = read("a.cpuprofile", &text.replace("150],", "150,9,9],"));
    assert_eq!(longer.diagnostics().count("more_values_than_samples"), 2);
    let columns = r#""stack":[0,1,0,2],"timeDeltas":[0,0.2,-0.15,0.15]"#;
    let profile = read("a.json", &firefox(columns));
    assert_eq!(["work", "io", "other"].map(|name| total(&profile, name)), [200_000, 0, 1_000_000]);
}

/// A profile of Firefox with three functions and these columns of samples.
fn firefox(columns: &str) -> String {
    format!(
        r#"{{"meta":{{"version":27,"preprocessedProfileVersion":48,"interval":1,"startTime":0}},"threads":[{{"name":"T","pid":"1","tid":1,
        "stringArray":["work","io","other"],"frameTable":{{"length":3,"func":[0,1,2]}},"funcTable":{{"length":3,"name":[0,1,2]}},
        "stackTable":{{"length":3,"frame":[0,1,2],"prefix":[null,null,null]}},"markers":{{"length":0,"name":[]}},
        "samples":{{"length":4,{columns}}}}}]}}"#
    )
}

#[test]
fn weights_of_firefox_are_the_lengths() {
    let columns = r#""stack":[0,1,0,2],"time":[0,1,2,3]"#;
    let totals = |weights: &str| {
        let profile = read("a.json", &firefox(&format!("{columns},{weights}")));
        (["work", "io", "other"].map(|name| total(&profile, name)), profile.meta().unit.clone())
    };
    let samples = Unit::count_of("samples");
    assert_eq!(totals(r#""weight":[1,10,3,0],"weightType":"samples""#), ([4, 10, 0], samples.clone()));
    assert_eq!(totals(r#""weight":[64,512,8,1],"weightType":"bytes""#), ([72, 512, 1], Unit::count_of("bytes")));
    let parts = Unit::millionths_of("samples");
    assert_eq!(totals(r#""weight":[0.5,10,3,0],"weightType":"samples""#), ([3_500_000, 10_000_000, 0], parts));
    let ms = totals(r#""weight":[0.75,0.25,3,1],"weightType":"tracing-ms""#);
    assert_eq!(ms, ([3_750_000, 250_000, 1_000_000], Unit::Ns));
    // Weights that only say how far the next sample is.
    for weights in [r#""weight":null"#, r#""weight":[1,1,1,1]"#, r#""weight":[1,1,1,1],"weightType":"samples""#] {
        assert_eq!(totals(weights), ([2_000_000, 1_000_000, 1_000_000], Unit::Ns), "{weights}");
    }
    let gaps = r#""stack":[0,1,0,2],"time":[0,10,20,22],"weight":[10,10,2,1],"weightType":"samples""#;
    let samply = read("a.json", &firefox(gaps));
    assert_eq!((total(&samply, "work"), samply.meta().unit.clone()), (12_000_000, Unit::Ns));
}

#[test]
fn a_perf_script_without_stacks_has_a_slice_for_each_sample() {
    let text = "trainer  7 1.0001:  250000 cycles:u:   55d0 matmul+0x31 (/opt/t)\n\
                trainer  7 1.0011:  250000 cycles:u:   55d1 matmul+0x42 (/opt/t)\n\
                trainer  7 1.0021:  250000 cycles:u:   55d2 softmax+0x1 (/opt/t)\n\
                trainer  8 1.0026:  250000 cycles:u:   7f00 memcpy (/lib/c.so)\n";
    for text in [text.to_owned(), text.replace("trainer", "  trainer")] {
        let profile = read("out.perf", &text);
        assert_eq!(
            ["matmul", "softmax", "memcpy"].map(|name| total(&profile, name)),
            [2_000_000, 1_000_000, 1_000_000]
        );
        assert_eq!((profile.slices().len(), profile.meta().format.as_str()), (4, "perf-script"));
    }
}

#[test]
fn stacks_with_two_counts_are_refused_as_what_they_are() {
    let refused = read_bytes("d.folded", b"main;parse 120 80\nmain;solve;dot 300 900\n").unwrap_err().to_string();
    assert!(refused.contains("two counts") && refused.contains("compare"), "{refused}");
    assert_eq!(total(&read("a.folded", "main;layer 1 80\nmain;dot 9\n"), "layer 1"), 80);
}
