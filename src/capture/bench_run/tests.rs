//! Schedules worked out by hand, and properties of every run.

use super::*;
use ns_analysis::sentences::{SentencesPass, Topic};
use ns_analysis::work::Works;
use ns_base::SimTime;
use ns_bench::{BenchConfig, Configuration, ConfigurationRun, RunDetail, ServiceTimes, expand};
use ns_profile::Profile;
use ns_profile::flows::FlowIndex;

fn us(us: u64) -> SimTime {
    SimTime::from_us(us)
}

fn configuration(n_models: u32, workers: u32, pipeline_size: u32, duration: SimTime) -> Configuration {
    let config = BenchConfig {
        n_models: Some(vec![n_models]),
        workers_per_model: Some(vec![workers]),
        pipeline_sizes: vec![pipeline_size],
        duration_s: duration.to_secs_f64(),
        jitter: 0.0,
        ..BenchConfig::default()
    };
    expand(&config).unwrap().configurations.remove(0)
}

/// The profile, and the end-to-end time of the whole run in nanoseconds.
fn traced(configuration: &Configuration, times: &ServiceTimes, part: SimTime) -> (Profile, u64) {
    recorded(configuration, times, part, false)
}

/// The same for lazy tensors or for a traced model.
fn recorded(configuration: &Configuration, times: &ServiceTimes, part: SimTime, is_lazy: bool) -> (Profile, u64) {
    let mut run = ConfigurationRun::observed(configuration.clone(), Ok(times), BenchRecorder::new(part));
    while !run.step(1_000).done {}
    let (row, recorder) = run.finish(RunDetail { timers: true, ..RunDetail::default() });
    let measurement = row.measurement.unwrap();
    let trace = BenchTrace { configuration, compile: Some(us(1_000)), is_lazy, elapsed: measurement.elapsed };
    let e2e = measurement.timers.e2e.iter().map(|t| t.total.to_ns()).sum();
    (build_bench_profile(&trace, &recorder.unwrap()), e2e)
}

/// Name, start and duration in microseconds of every slice of a track.
fn slices<'p>(profile: &'p Profile, track_name: &str) -> Vec<(&'p str, i64, i64)> {
    let mut found = Vec::new();
    for (id, track) in profile.tracks().iter_enumerated() {
        if profile.str(track.name) == track_name {
            let s = profile.slices();
            found.extend(s.of_track(id).map(|i| (profile.str(s.name(i)), s.start(i).0 / 1_000, s.dur_ns(i) / 1_000)));
        }
    }
    found
}

fn times() -> ServiceTimes {
    ServiceTimes {
        load: us(100),
        warmup: us(30),
        input: us(1),
        host: us(3),
        transfer: us(4),
        device: vec![us(5)],
        postprocess: us(6),
        ..ServiceTimes::default()
    }
}

#[test]
fn a_run_is_compile_then_load_and_warm_up_then_inferences() {
    let (profile, _) = traced(&configuration(1, 1, 1, us(10)), &times(), us(10));
    assert_eq!(
        slices(&profile, "neuronperf#0"),
        [("compile", 0, 1_000), ("load and warm-up", 1_000, 130), ("benchmark", 1_130, 19)]
    );
    assert_eq!(slices(&profile, "model 0#1"), [("load", 1_000, 100), ("warmup", 1_100, 30)]);
    assert_eq!(
        slices(&profile, "model 0 worker 0#2"),
        [
            ("e2e", 1_130, 19),
            ("input", 1_130, 1),
            ("infer", 1_131, 12),
            ("host", 1_131, 3),
            ("transfer", 1_134, 4),
            ("device", 1_138, 5),
            ("postprocess", 1_143, 6),
        ]
    );
    assert_eq!(slices(&profile, "IO Data Transfer"), [("transfer", 1_134, 4)]);
    assert_eq!(slices(&profile, "NeuronDevice Execution"), [("ExecuteComputation", 1_138, 5)]);
    assert_eq!(FlowIndex::new(&profile).len(), 1);
    assert!(profile.diagnostics().is_empty(), "all of it is shown");
}

#[test]
fn a_step_of_lazy_tensors_is_recorded_marked_and_moved() {
    let times = ServiceTimes {
        record: us(6),
        call: us(2),
        link: us(2),
        device: vec![us(5)],
        load: us(100),
        ..ServiceTimes::default()
    };
    let (profile, _) = recorded(&configuration(1, 1, 1, us(10)), &times, us(10), true);
    assert_eq!(
        slices(&profile, "model 0 worker 0#2"),
        [
            ("e2e", 1_100, 15),
            ("infer", 1_100, 15),
            ("record ops", 1_100, 6),
            ("StepMarker", 1_106, 2),
            ("SyncLiveTensorsGraph", 1_106, 2),
            ("SyncTensorsGraph", 1_106, 2),
            ("SyncTensorsGraphInternal", 1_106, 2),
            ("TransferToServer", 1_108, 2),
            ("device", 1_110, 5),
        ]
    );
    assert_eq!(slices(&profile, "CC Synchronization"), [("CC Synchronization", 1_100, 0)]);
    let traced_times = ServiceTimes { record: SimTime::ZERO, ..times.clone() };
    let (traced, _) = traced(&configuration(1, 1, 1, us(10)), &traced_times, us(10));
    assert_eq!(slices(&traced, "CC Synchronization"), []);
    // The second worker of the process records when the first has recorded.
    let (both, _) = recorded(&configuration(1, 2, 1, us(10)), &times, us(10), true);
    let second = slices(&both, "model 0 worker 1#3");
    assert_eq!(second[2..4], [("wait for process", 1_100, 6), ("record ops", 1_106, 6)]);
}

#[test]
fn a_worker_that_waits_says_for_what() {
    let times = ServiceTimes { device: vec![us(10)], ..ServiceTimes::default() };
    let (profile, _) = traced(&configuration(1, 2, 1, us(20)), &times, us(20));
    let second = slices(&profile, "model 0 worker 1#3");
    assert_eq!(
        second[..4],
        [("e2e", 1_000, 20), ("infer", 1_000, 20), ("wait for NeuronCore", 1_000, 10), ("device", 1_010, 10)]
    );
}

#[test]
fn stages_of_a_pipeline_run_on_cores_of_their_own() {
    let times = times().with_even_pipeline(2);
    let (profile, _) = traced(&configuration(1, 1, 2, us(10)), &times, us(10));
    let cores: Vec<&str> = profile.processes().iter().map(|p| profile.str(p.name)).collect();
    assert_eq!(cores, ["/host:CPU", "NeuronDevice 0 NeuronCore 0", "NeuronDevice 0 NeuronCore 1"]);
    assert_eq!(slices(&profile, "NeuronDevice Execution").len(), 2);
    assert_eq!(FlowIndex::new(&profile).len(), 2);
}

#[test]
fn everything_is_shown_once_and_nothing_overlaps() {
    let configuration = configuration(2, 3, 1, us(5_000));
    let (profile, e2e_ns) = traced(&configuration, &times(), us(10_000));
    let s = profile.slices();
    let traced: i64 = s.ids().filter(|i| profile.str(s.name(*i)) == "e2e").map(|i| s.dur_ns(i)).sum();
    assert_eq!(u64::try_from(traced).unwrap(), e2e_ns);
    assert!(profile.diagnostics().is_empty(), "{:?}", profile.diagnostics());
}

#[test]
fn a_long_run_is_shown_in_part_and_says_so() {
    let configuration = configuration(1, 1, 1, us(100_000));
    let (profile, _) = traced(&configuration, &times(), us(190));
    assert_eq!(slices(&profile, "NeuronDevice Execution").len(), 10, "19 us each");
    let note = &profile.diagnostics().items()[0];
    assert_eq!(note.code, "part_of_window_shown");
    assert!(note.first_example.contains("first 0.00019 s of the window"), "{}", note.first_example);
}

#[test]
fn a_fast_run_is_cut_at_a_number_of_inferences() {
    let times = ServiceTimes { device: vec![SimTime::from_ns(100)], ..ServiceTimes::default() };
    let (profile, _) = traced(&configuration(1, 2, 1, us(10_000)), &times, us(10_000));
    let s = profile.slices();
    let traced = s.ids().filter(|i| profile.str(s.name(*i)) == "e2e").count();
    assert_eq!(traced, MOST_TRACED_INFERENCES);
    assert!(!profile.diagnostics().is_empty());
}

#[test]
fn compiling_and_loading_are_not_idleness_of_the_devices() {
    let (profile, _) = traced(&configuration(1, 1, 1, us(1_000)), &times(), us(1_000));
    let (works, flows) = (Works::of(&profile), FlowIndex::new(&profile));
    let mut pass = SentencesPass::new(&profile);
    while !pass.advance(&profile, &works, &flows, 1_000) {}
    let said = pass.finish(&profile, &works);
    let verdict = said.iter().find(|s| s.topic == Topic::Verdict).unwrap();
    // 1 ms of compiling, 130 us of loading, and 4 us of input and host work come before the first work of a device.
    let window = verdict.spans[0];
    assert_eq!(window.start.0, 1_134_000, "{}", verdict.text);
    assert!(window.end.0 <= 1_130_000 + 1_100_000, "{}", verdict.text);
}
