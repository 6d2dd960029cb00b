//! Texts of options.

use super::{BENCH_OPTIONS, BenchOption};
use crate::share::{BenchLink, Link};
use ns_bench::mlperf::{MlperfSettings, Scenario};
use ns_bench::{
    Accounting, BenchConfig, Dataset, DeviceType, HostStep, Processes, RunOptions, SdkGeneration, parse_inputs,
};
use ns_compiler::Workflow;

fn of(key: &str) -> &'static BenchOption {
    BenchOption::find(key).unwrap()
}

#[test]
fn what_was_chosen_is_written_and_reads_back() {
    let mut config = BenchConfig { inputs: parse_inputs("1x4;(2x3,2)").unwrap(), ..BenchConfig::default() };
    config.options = RunOptions {
        device_type: DeviceType::Cpu,
        processes: Processes::Shared,
        preprocess: HostStep::Normalize,
        postprocess: HostStep::Custom(0.25),
        env_setup_ms: 1.5,
        setup_ms: 2.0,
        dataset: Some(Dataset { length: 500, looped: true }),
        accounting: Accounting::Original,
        sdk_generation: SdkGeneration::Pt1,
        workflow: Workflow::MarkStep,
        ..config.options
    };
    let mut read = BenchConfig::default();
    for option in BENCH_OPTIONS {
        option.set(&mut read, &option.text(&config)).unwrap();
        assert_eq!(option.text(&read), option.text(&config));
    }
    assert_eq!(read, config);
    for option in BENCH_OPTIONS {
        option.set(&mut read, &option.text(&BenchConfig::default())).unwrap();
    }
    assert_eq!(read, BenchConfig::default());
}

#[test]
fn wrong_texts_are_named() {
    let message = |key: &str, text: &str| of(key).set(&mut BenchConfig::default(), text).unwrap_err();
    assert!(message("device_type", "gpu").contains("use neuron or cpu"));
    assert!(message("processes", "two").contains("per_model or shared or fresh"));
    assert!(message("dataset", "many").contains("500,loop"));
    assert!(message("dataset", "0").contains("dataset"));
    assert!(message("preprocess", "resize").contains("preprocess: 'resize' is not a step"));
    assert!(message("workflow", "eager").contains("workflow: 'eager' is not trace or mark_step"));
    assert!(message("sdk_generation", "pt3").contains("sdk_generation: 'pt3' is not pt1 or pt2"));
    assert!(message("setup_ms", "-1").contains("setup_ms"));
    assert!(message("inputs", "axb").contains("'axb' is not a shape"));
}

#[test]
fn a_scenario_survives_a_link() {
    let settings = MlperfSettings {
        min_duration_s: 60.5,
        min_queries: 500,
        samples_per_query: 4,
        latency_bound_ms: Some(15.0),
        target_qps: Some(250.25),
        ..MlperfSettings::official(Scenario::Server)
    };
    for mlperf in [None, Some(settings), Some(MlperfSettings::official(Scenario::Offline))] {
        let link = Link::Benchmark(Box::new(BenchLink {
            config: BenchConfig { mlperf, ..BenchConfig::default() },
            ..BenchLink::default()
        }));
        assert_eq!(Link::parse(&link.print()), (link, vec![]));
    }
}

#[test]
fn what_is_missing_or_wrong_is_said_beside_its_field() {
    let mut config = BenchConfig::default();
    let mut said = |key: &str, text: &str| of(key).set(&mut config, text).err().unwrap_or_default();
    assert_eq!(said("target_qps", "nonsense without a scenario"), "");
    assert!(said("scenario", "Batch").contains("SingleStream, MultiStream, Server or Offline"));
    assert_eq!(said("scenario", "server"), "");
    assert!(said("latency_bound_ms", "").contains("the Server scenario needs a latency bound"));
    assert!(said("min_duration", "-1").contains("min_duration_s: -1 is not allowed"));
    assert_eq!(said("latency_bound_ms", "15"), "");
    assert!(BENCH_OPTIONS.iter().all(|f| f.set(&mut config.clone(), &f.text(&config)).is_ok()));
}
