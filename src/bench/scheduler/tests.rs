//! Schedules worked out by hand, the published rows, and laws that every schedule obeys.

use proptest::prelude::*;

use crate::*;
use ns_base::{SimTime, stats};

fn us(us: u64) -> SimTime {
    SimTime::from_us(us)
}

fn configuration(n_models: u32, workers_per_model: u32, pipeline_size: u32, duration: SimTime) -> Configuration {
    let config = BenchConfig {
        instance_type: "inf1.24xlarge".into(),
        n_models: Some(vec![n_models]),
        workers_per_model: Some(vec![workers_per_model]),
        pipeline_sizes: vec![pipeline_size],
        duration_s: duration.to_secs_f64(),
        ..BenchConfig::default()
    };
    expand(&config).unwrap().configurations.remove(0)
}

fn run(configuration: &Configuration, executor: impl Executor) -> Measurement {
    let mut scheduler = Scheduler::new(configuration, executor, 0).unwrap();
    assert!(scheduler.run_to_end().unwrap().done);
    scheduler.into_measurement()
}

fn simulate(configuration: &Configuration, times: &ServiceTimes) -> Measurement {
    run(configuration, SimulatedExecutor::new(configuration, times))
}

fn latencies_us(m: &Measurement) -> Vec<u64> {
    m.latencies_ps().iter().map(|ps| ps / 1_000_000).collect()
}

fn fixed(host: u64, transfer: u64, device: u64) -> ServiceTimes {
    ServiceTimes { host: us(host), transfer: us(transfer), device: vec![us(device)], ..ServiceTimes::default() }
}

#[test]
fn one_worker_goes_through_every_stage_in_order() {
    let times = ServiceTimes {
        env_setup: us(1),
        load: us(100),
        load_beside: SimTime::ZERO,
        setup: us(2),
        warmup: us(30),
        input: us(1),
        preprocess: us(2),
        record: SimTime::ZERO,
        call: SimTime::ZERO,
        host: us(3),
        link: SimTime::ZERO,
        transfer: us(4),
        device: vec![us(5)],
        postprocess: us(6),
        weight_bytes: 0,
        removed: None,
        estimated_ops: Vec::new(),
    };
    let configuration = configuration(1, 1, 1, us(40));
    let mut scheduler = Scheduler::new(&configuration, MockExecutor::new(vec![vec![times]]), 0).unwrap();
    scheduler.run_to_end().unwrap();
    let m = scheduler.into_measurement();
    // 21 us each: the second ends at 42; it began in the window and is kept, but is not counted as inside it.
    assert_eq!(latencies_us(&m), [21, 21]);
    assert_eq!((m.in_window, m.elapsed, m.bring_up, m.warmups), (1, us(42), us(133), 1));
    assert_eq!(m.timers.infer[0], Timer { total: us(24), count: 2 });
    assert_eq!(m.timers.input[0].total + m.timers.preprocess[0].total + m.timers.postprocess[0].total, us(18));
    assert_eq!(m.timers.worker[0], Timer { total: us(42), count: 1 });
}

#[test]
fn two_workers_share_a_core_and_the_host() {
    // Both ask for the host at 0: worker 0 has it 0-1, worker 1 1-2, and worker 0's transfer comes after it, 2-4,
    // device 4-14. Worker 1 gets the core at 14: transfer 14-16, device 16-26. Worker 0, handing the core on before it
    // begins again at 14, has the host 16-17, the core at 26, transfer 26-28, device 28-38.
    let m = run(&configuration(1, 2, 1, us(20)), MockExecutor::new(vec![vec![fixed(1, 2, 10)]; 2]));
    assert_eq!(latencies_us(&m), [14, 26, 24]);
    assert_eq!(m.elapsed, us(38));
}

#[test]
fn two_models_share_only_the_host() {
    // Host is 3 us of each call. Model 0: host 0-3, device 3-13. Model 1: host 3-6, device 6-16.
    let m = run(&configuration(2, 1, 1, us(14)), MockExecutor::new(vec![vec![fixed(3, 0, 10)]; 2]));
    assert_eq!(latencies_us(&m), [13, 16, 13]);
}

#[test]
fn the_input_lock_is_one_for_each_model() {
    let times = ServiceTimes { input: us(4), device: vec![us(1)], ..ServiceTimes::default() };
    // Two workers of one model fetch in turn: 0-4 and 4-8. Worker 0 is back at 5 and waits until 8.
    let m = run(&configuration(1, 2, 1, us(6)), MockExecutor::new(vec![vec![times.clone()]; 2]));
    assert_eq!(latencies_us(&m), [5, 9, 8]);
    let apart = run(&configuration(2, 1, 1, us(4)), MockExecutor::new(vec![vec![times]; 2]));
    assert_eq!(latencies_us(&apart), [5, 5]);
}

#[test]
fn pipeline_stages_overlap() {
    let times = ServiceTimes { device: vec![us(4), us(6)], ..ServiceTimes::default() };
    // Stage 0: 0-4 (w0), 4-8 (w1), 10-14 (w0). Stage 1: 4-10 (w0), 10-16 (w1), 16-22 (w0).
    let m = run(&configuration(1, 2, 2, us(12)), MockExecutor::new(vec![vec![times]; 2]));
    assert_eq!(latencies_us(&m), [10, 16, 12]);
}

#[test]
fn scripts_change_from_inference_to_inference() {
    let script = vec![fixed(0, 0, 5), fixed(0, 0, 7)];
    let m = run(&configuration(1, 1, 1, us(18)), MockExecutor::new(vec![script]));
    assert_eq!(latencies_us(&m), [5, 7, 5, 7]);
}

#[test]
fn an_inference_of_no_length_is_an_error_and_not_a_hang() {
    let configuration = configuration(1, 1, 1, us(10));
    let mut scheduler = Scheduler::new(&configuration, MockExecutor::new(vec![vec![fixed(0, 0, 0)]]), 0).unwrap();
    let error = scheduler.run_to_end().unwrap_err();
    assert!(error.what().starts_with("worker 0 finished an inference in zero time"), "{error}");
}

#[test]
fn steps_give_what_one_run_gives_and_progress_only_grows() {
    let configuration = configuration(16, 2, 1, us(500_000));
    let times = fixed(216, 140, 2_895);
    let whole = simulate(&configuration, &times);
    let mut stepped = Scheduler::new(&configuration, SimulatedExecutor::new(&configuration, &times), 0).unwrap();
    let mut before = stepped.progress();
    while !before.done {
        let after = stepped.step(97).unwrap();
        assert!(after.percent >= before.percent && after.now >= before.now);
        assert!(after.done == (after.percent >= 100.0));
        before = after;
    }
    assert_eq!(stepped.into_measurement(), whole);
}

#[test]
fn a_stopped_run_keeps_what_it_has() {
    let configuration = configuration(1, 1, 1, us(1_000));
    let mut scheduler = Scheduler::new(&configuration, MockExecutor::new(vec![vec![fixed(0, 0, 10)]]), 0).unwrap();
    scheduler.step(5).unwrap();
    let m = scheduler.into_measurement();
    assert_eq!((m.finished, m.inferences(), m.in_window, m.window), (false, 5, 5, us(50)));
}

/// (n_models, workers, throughput, p50, p99) of the benchmark guide's sample, inf1.6xlarge.
const PUBLISHED: [(u32, u32, f64, f64, f64); 4] = [
    (1, 1, 307.25, 3.251, 3.277),
    (16, 1, 2746.0, 5.641, 6.82),
    (1, 2, 329.5, 6.053, 6.108),
    (16, 2, 2809.0, 10.246, 12.52),
];

#[test]
fn published_rows_come_out_within_their_bounds() {
    for (n_models, workers, throughput, p50, p99) in PUBLISHED {
        let configuration = configuration(n_models, workers, 1, SimTime::from_secs(60));
        let mut m = simulate(&configuration, &fixed(216, 140, 2_895));
        let rate = m.in_window as f64 / 60.0;
        let [low, at50, at99] = m.latency_percentiles_ms([0.0, 50.0, 99.0]).unwrap();
        println!("{n_models} x {workers}: {rate:.2}/s p0 {low:.3} p50 {at50:.3} p99 {at99:.3}");
        assert!((rate / throughput - 1.0).abs() < 0.05, "throughput {rate} against {throughput}");
        assert!((at50 / p50 - 1.0).abs() < 0.15, "p50 {at50} against {p50}");
        assert!((at99 / p99 - 1.0).abs() < 0.25, "p99 {at99} against {p99}");
    }
}

#[test]
fn a_seed_is_a_result() {
    let times = fixed(216, 140, 2_895);
    let one = configuration(4, 2, 1, us(400_000));
    let other = Configuration { seed: 1, ..one.clone() };
    assert_eq!(simulate(&one, &times), simulate(&one, &times));
    assert_ne!(simulate(&one, &times).latencies_ps(), simulate(&other, &times).latencies_ps());
    let still = Configuration { jitter: 0.0, ..one.clone() };
    let still_other = Configuration { jitter: 0.0, ..other };
    assert_eq!(simulate(&still, &times), simulate(&still_other, &times));
    let longer = Configuration { duration_s: 0.8, ..one.clone() };
    let (short, long) = (simulate(&one, &times), simulate(&longer, &times));
    let same = usize::try_from(short.in_window).unwrap();
    assert_eq!(short.latencies_ps()[..same], long.latencies_ps()[..same]);
}

fn any_times() -> impl Strategy<Value = (u32, u32, ServiceTimes)> {
    let stage = || prop_oneof![Just(0u64), 1u64..3_000];
    (1u32..6, 1u32..4, (stage(), stage(), stage(), stage(), stage(), stage()), prop::collection::vec(1u64..3_000, 1..4))
        .prop_map(|(models, workers, (input, pre, host, link, transfer, post), device)| {
            let times = ServiceTimes {
                input: us(input),
                preprocess: us(pre),
                host: us(host),
                link: us(link),
                transfer: us(transfer),
                device: device.into_iter().map(us).collect(),
                postprocess: us(post),
                ..ServiceTimes::default()
            };
            (models, workers, times)
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Each worker is always inside exactly one inference, so latencies fill its life without gap or overlap.
    #[test]
    fn workers_are_never_idle_and_inferences_are_conserved((models, workers, times) in any_times(), seed: u64) {
        let mut configuration = configuration(models, workers, times.device.len() as u32, us(200_000));
        configuration.seed = seed;
        let m = simulate(&configuration, &times);
        for (e2e, life) in m.timers.e2e.iter().zip(&m.timers.worker) {
            prop_assert_eq!(e2e.total, life.total);
            prop_assert!(life.total >= configuration.duration());
        }
        let counted: u64 = m.timers.e2e.iter().map(|t| t.count).sum();
        prop_assert_eq!(counted, m.inferences());
        prop_assert_eq!(m.seconds().iter().map(|s| s.count).sum::<u64>(), m.inferences());
        prop_assert_eq!(m.timers.e2e.iter().map(|t| t.total).sum::<SimTime>().0, m.latencies_ps().iter().sum::<u64>());
        // At the end of the window, at most every worker has an inference in flight.
        prop_assert!(m.inferences() - m.in_window <= configuration.workers());
        prop_assert!(m.finished && m.elapsed >= configuration.duration());
    }

    /// Little's law: mean number in flight = throughput x mean latency, and here it is the number of workers.
    #[test]
    fn littles_law((models, workers, times) in any_times()) {
        let configuration = configuration(models, workers, times.device.len() as u32, us(4_000_000));
        let m = simulate(&configuration, &times);
        let latencies: Vec<f64> = m.latencies_ps().iter().map(|ps| SimTime(*ps).to_secs_f64()).collect();
        let in_flight = m.inferences() as f64 / m.elapsed.to_secs_f64() * stats::mean(&latencies).unwrap();
        let expected = configuration.workers() as f64;
        // Only the drain after the window keeps it from being exact.
        prop_assert!(in_flight <= expected * (1.0 + 1e-9) && in_flight > expected * 0.96, "{in_flight} of {expected}");
    }

    /// No latency is shorter than its stages, and no throughput above the tightest resource.
    #[test]
    fn bounds_hold((models, workers, times) in any_times()) {
        let mut configuration = configuration(models, workers, times.device.len() as u32, us(1_000_000));
        configuration.jitter = 0.0;
        let m = simulate(&configuration, &times);
        prop_assert!(m.latencies_ps().iter().all(|ps| *ps >= times.unloaded().0));
        prop_assert!(m.inferences() <= estimate(&configuration, &times).inferences);
    }
}

fn with_options(base: &Configuration, options: RunOptions) -> Configuration {
    Configuration { options, ..base.clone() }
}

#[test]
fn in_one_process_only_one_worker_at_a_time_does_its_own_work() {
    let times = ServiceTimes { preprocess: us(4), device: vec![us(1)], postprocess: us(2), ..ServiceTimes::default() };
    let apart = configuration(2, 1, 1, us(6));
    let m = run(&apart, MockExecutor::new(vec![vec![times.clone()]; 2]));
    assert_eq!(latencies_us(&m), [7, 7]);
    let shared = with_options(&apart, RunOptions { processes: Processes::Shared, ..RunOptions::default() });
    // w0: pre 0-4, device 4-5, waits for the interpreter until 8, post 8-10. w1: pre 4-8, device 8-9, post 10-12.
    let m = run(&shared, MockExecutor::new(vec![vec![times]; 2]));
    assert_eq!(latencies_us(&m), [10, 12]);
}

#[test]
fn a_dataset_is_run_through_once_by_each_copy_whatever_the_duration() {
    let dataset = |looped| RunOptions { dataset: Some(Dataset { length: 7, looped }), ..RunOptions::default() };
    let base = configuration(2, 2, 1, us(20));
    let m = simulate(&with_options(&base, dataset(false)), &fixed(0, 0, 10));
    assert_eq!((m.inferences(), m.in_window, m.finished), (14, 14, true));
    assert_eq!(m.window, m.elapsed);
    assert!(m.elapsed > us(60), "{:?}", m.elapsed);
    let looped = simulate(&with_options(&base, dataset(true)), &fixed(0, 0, 10));
    assert_eq!(looped, simulate(&base, &fixed(0, 0, 10)));
}

#[test]
fn the_original_accounting_takes_the_load_from_the_duration() {
    let times = ServiceTimes { load: us(60), warmup: us(10), ..fixed(0, 0, 10) };
    let original = RunOptions { accounting: Accounting::Original, ..RunOptions::default() };
    let base = Configuration { jitter: 0.0, ..configuration(1, 1, 1, us(100)) };
    assert_eq!(simulate(&base, &times).inferences(), 10);
    let m = simulate(&with_options(&base, original.clone()), &times);
    assert_eq!((m.inferences(), m.window, m.bring_up), (3, us(30), us(70)));
    let short = with_options(&Configuration { duration_s: 60e-6, ..base }, original);
    let Err(error) = Scheduler::new(&short, SimulatedExecutor::new(&short, &times), 0) else { panic!("too short") };
    assert!(error.to_string().contains("over before the models are loaded and warm"), "{error}");
}

/// Requests a second of a configuration, measured over its whole window.
fn per_second(configuration: &Configuration, times: &ServiceTimes) -> f64 {
    let m = simulate(configuration, times);
    m.in_window as f64 / m.window.to_secs_f64()
}

#[test]
fn each_device_has_a_link_of_its_own_to_the_host() {
    // A link that takes as long as four cores need together: two cores of a device wait for it, devices do not.
    let times = ServiceTimes { link: us(100), device: vec![us(50)], ..ServiceTimes::default() };
    let rate = |instance: &str, n_models| {
        let configuration =
            Configuration { instance_type: instance.into(), ..configuration(n_models, 4, 1, us(100_000)) };
        (configuration.links(), per_second(&configuration, &times))
    };
    let (one_device, one) = rate("trn1.2xlarge", 2);
    let (all_devices, all) = rate("trn1.32xlarge", 32);
    assert_eq!((one_device, all_devices), (1, 16));
    assert!((one - 10_000.0).abs() < 50.0 && (all / one - 16.0).abs() < 0.1, "{one} and {all} a second");
}

#[test]
fn host_work_waits_for_a_core_of_the_host() {
    // inf2.xlarge has 4 vCPUs, which are 2 cores. Three workers of one copy: 0-5, 0-5, 5-10, then the device, 1 us each.
    let times = ServiceTimes { preprocess: us(5), device: vec![us(1)], ..ServiceTimes::default() };
    let on = |instance: &str, n_models, workers, duration| Configuration {
        instance_type: instance.into(),
        ..configuration(n_models, workers, 1, duration)
    };
    let m = run(&on("inf2.xlarge", 1, 3, us(4)), MockExecutor::new(vec![vec![times.clone()]; 3]));
    assert_eq!(latencies_us(&m), [6, 7, 11]);
    let busy = |m: &Measurement| m.host_busy.unwrap().to_secs_f64() / m.elapsed.to_secs_f64();
    assert!((busy(&m) - 7.5 / 11.0).abs() < 1e-9, "15 us of work on two cores in 11 us: {}", busy(&m));
    // A larger host lets all three work at once.
    let m = run(&on("inf2.8xlarge", 1, 3, us(4)), MockExecutor::new(vec![vec![times]; 3]));
    assert_eq!(latencies_us(&m), [6, 7, 8]);
}

#[test]
fn the_host_bounds_throughput_and_its_load_says_so() {
    let times = ServiceTimes { preprocess: us(4_000), call: us(900), device: vec![us(100)], ..ServiceTimes::default() };
    let at = |instance: &str, n_models, workers| {
        let c = Configuration {
            instance_type: instance.into(),
            ..configuration(n_models, workers, 1, SimTime::from_secs(2))
        };
        let mut m = simulate(&c, &times);
        assert!(m.inferences() <= estimate(&c, &times).inferences, "the estimate is a bound");
        Report::of(&c, &mut m, ReportDetail::Summary)
    };
    let (one, full) = (at("inf2.xlarge", 1, 1), at("inf2.xlarge", 2, 8));
    let (rate, busy) = (full.throughput_window.unwrap(), full.host_busy_percent.unwrap());
    // Two cores, 4.9 ms of work each.
    assert!((rate / (2.0 / 4.9e-3) - 1.0).abs() < 0.01, "{rate}");
    assert!((99.0..=100.0).contains(&busy), "{busy}");
    let alone = one.host_busy_percent.unwrap();
    assert!((alone - 49.0).abs() < 0.5, "one worker keeps one of two cores busy for 4.9 of 5 ms: {alone}");
    // Sixteen cores for sixteen workers: each is bound by its own 5 ms.
    let large = at("inf2.8xlarge", 2, 8);
    assert!((large.throughput_window.unwrap() / (16.0 / 5e-3) - 1.0).abs() < 0.01, "{large:?}");
    assert!(large.latency_ms_p50 < full.latency_ms_p50);
    assert_eq!(at("fast.1xlarge", 2, 8).host_busy_percent, None, "an unknown host has no limit");
}

#[test]
fn a_worker_with_the_interpreter_still_needs_a_core() {
    // One process on two cores: preprocessing takes turns (4 us each), calls run beside it (10 us each) and fill the cores.
    let times = ServiceTimes { preprocess: us(4), call: us(10), device: vec![us(1)], ..ServiceTimes::default() };
    let shared = RunOptions { processes: Processes::Shared, ..RunOptions::default() };
    let base = Configuration { instance_type: "inf2.xlarge".into(), ..configuration(2, 2, 1, us(1)) };
    let m = run(&with_options(&base, shared), MockExecutor::new(vec![vec![times]; 4]));
    // Preprocessing: w0 0-4, w1 4-8, w2 8-12. w0's call is 4-14, so w1's call waits for w2's core: 12-22. w3 has the interpreter
    // at 12 and waits for a core until 14: 14-18. Then w2's call is 18-28 and w3's 22-32.
    assert_eq!(latencies_us(&m), [15, 23, 29, 33]);
}

#[test]
fn a_process_records_one_lazy_step_at_a_time() {
    // Recording takes 10 us, the call 1 us, the device 2 us.
    let times = ServiceTimes { record: us(10), call: us(1), device: vec![us(2)], ..ServiceTimes::default() };
    let rate = |n_models, workers, processes| {
        let options = RunOptions { processes, ..RunOptions::default() };
        let c = with_options(&configuration(n_models, workers, 1, us(100_000)), options);
        let m = simulate(&c, &times);
        assert!(m.inferences() <= estimate(&c, &times).inferences, "the estimate is a bound");
        m.inferences() as f64 / m.elapsed.to_secs_f64()
    };
    let (separate, shared) = (Processes::PerModel, Processes::Shared);
    let near = |rate: f64, expected: f64| assert!((rate / expected - 1.0).abs() < 0.01, "{rate} of {expected}");
    near(rate(1, 1, separate), 1e6 / 13.0);
    // A second worker hides all but the recording, and a third hides nothing more.
    near(rate(1, 2, separate), 1e6 / 10.0);
    near(rate(1, 3, separate), 1e6 / 10.0);
    // Copies in processes of their own record side by side; copies in one process do not.
    near(rate(3, 2, separate), 3e6 / 10.0);
    near(rate(3, 2, shared), 1e6 / 10.0);
    let m = run(&configuration(1, 2, 1, us(1)), MockExecutor::new(vec![vec![times.clone()]; 2]));
    assert_eq!(latencies_us(&m), [13, 23]);
}

/// NeuronPerf's sample results of a toy model, whose calls are host work alone: 16 and 32 threads on 24 vCPUs (inf1.6xlarge).
#[test]
fn the_host_explains_the_sample_results_of_a_toy_model() {
    const ONE: f64 = 31_346.0;
    let times = ServiceTimes {
        call: SimTime::from_secs_f64(1.0 / ONE) - us(1),
        device: vec![us(1)],
        ..ServiceTimes::default()
    };
    for (workers, published) in [(1, 380_604.75), (2, 381_098.75)] {
        let c = Configuration {
            instance_type: "inf1.6xlarge".into(),
            ..configuration(16, workers, 1, SimTime::from_secs(1))
        };
        let rate = per_second(&c, &times);
        assert!((rate / published - 1.0).abs() < 0.03, "16 x {workers}: {rate} of {published}");
    }
}

/// The times of the guide's one-copy rows, with the image that its model takes: the rows of sixteen copies follow from the
/// path that copies share on an Inf1 instance.
#[test]
fn the_guides_rows_follow_from_one_copy() {
    let models = ns_device::ModelLibrary::default();
    for (n_models, workers, throughput, p50, _) in PUBLISHED {
        let c = Configuration {
            model: "fixed:device_ms=3.035,host_ms=0.216".into(),
            instance_type: "inf1.6xlarge".into(),
            inputs: Some("1x3x224x224".parse().unwrap()),
            ..configuration(n_models, workers, 1, SimTime::from_secs(20))
        };
        let times = service_times(&c, &models).unwrap();
        assert_eq!(times.unloaded(), us(3_251), "what one copy measures does not change");
        let mut m = simulate(&c, &times);
        let rate = m.in_window as f64 / 20.0;
        let [at50] = m.latency_percentiles_ms([50.0]).unwrap();
        assert!((rate / throughput - 1.0).abs() < 0.03, "{n_models} x {workers}: {rate}/s of {throughput}");
        assert!((at50 / p50 - 1.0).abs() < 0.12, "{n_models} x {workers}: p50 {at50} of {p50}");
    }
    let other = |change: fn(&mut Configuration)| {
        let mut c = Configuration {
            model: "fixed:device_ms=3.035,host_ms=0.216".into(),
            instance_type: "inf1.6xlarge".into(),
            inputs: Some("1x3x224x224".parse().unwrap()),
            ..configuration(1, 1, 1, us(10))
        };
        change(&mut c);
        service_times(&c, &models).unwrap()
    };
    let is_plain = |t: &ServiceTimes| t.transfer == SimTime::ZERO && t.host == us(216) && t.device == [us(3_035)];
    assert!(is_plain(&other(|c| c.inputs = None)) && is_plain(&other(|c| c.instance_type = "trn1.32xlarge".into())));
    let own = other(|c| c.model = "fixed:device_ms=2.895,host_ms=0.216,transfer_ms=0.1".into());
    assert_eq!((own.transfer, own.device), (us(100), vec![us(2_895)]));
}

/// The default number of workers of a pipeline is the best of all for its throughput.
#[test]
fn default_workers_of_a_pipeline_are_the_best() {
    for (stages, host, device) in [
        (2, 0, vec![3_000, 3_000]),
        (2, 900, vec![1_000, 1_000]),
        (3, 500, vec![400, 1_000, 700]),
        (4, 0, vec![250; 4]),
        (2, 6_000, vec![1_000, 500]),
        (2, 30_000, vec![1_000, 1_000]),
    ] {
        let times =
            ServiceTimes { call: us(host), device: device.into_iter().map(us).collect(), ..ServiceTimes::default() };
        let config = BenchConfig {
            instance_type: "inf1.6xlarge".into(),
            pipeline_sizes: vec![stages],
            n_models: Some(vec![1]),
            duration_s: 2.0,
            ..BenchConfig::default()
        };
        let rows = expand(&config).unwrap().configurations;
        assert_eq!(rows.len(), 1, "one count is run");
        let decided = decide_workers(rows[0].clone(), &times);
        let chosen = per_second(&decided, &times);
        for workers_per_model in 1..=decided.workers_per_model + stages + 2 {
            let other = per_second(&Configuration { workers_per_model, ..rows[0].clone() }, &times);
            assert!(
                chosen > other * 0.998,
                "{stages} stages: {chosen}/s with {}, {other}/s with {workers_per_model}",
                decided.workers_per_model
            );
        }
    }
}
