//! A small sweep, and the table, CSV and JSON it gives.
#![allow(clippy::expect_used, reason = "a helper of tests may fail like a test")]

use neuronscope::base::{NeverCancel, SimTime};
use neuronscope::bench::export::{CSV_COLS, TableOptions, to_csv, to_json, to_table};
use neuronscope::bench::{BenchConfig, ConfigurationRun, Report, RunDetail, ServiceTimes, expand, verdict};

/// The benchmark guide's system for 3 s, with one configuration that does not fit.
fn reports(seed: u64) -> Vec<Report> {
    let config = BenchConfig {
        model: "fixed:name=a,b".to_owned(),
        instance_type: "inf1.xlarge".to_owned(),
        n_models: Some(vec![1, 4, 5]),
        duration_s: 3.0,
        seed,
        ..BenchConfig::default()
    };
    let times = ServiceTimes {
        load: SimTime::from_us(62_217),
        warmup: SimTime::from_us(3_251),
        host: SimTime::from_us(216),
        transfer: SimTime::from_us(140),
        device: vec![SimTime::from_us(2_895)],
        ..ServiceTimes::default()
    };
    let sweep = expand(&config).expect("valid");
    let run = |c| ConfigurationRun::new(c, Ok(&times)).run(&NeverCancel, RunDetail::default()).report;
    sweep.configurations.into_iter().map(run).collect()
}

#[test]
fn table() {
    insta::assert_snapshot!(to_table(&reports(0), &TableOptions::default()));
}

#[test]
fn csv() {
    insta::assert_snapshot!(to_csv(&reports(0), CSV_COLS).expect("text"));
}

#[test]
fn json() {
    insta::assert_snapshot!(to_json(&reports(0)[2..4]).expect("text"));
}

#[test]
fn verdict_sentence() {
    insta::assert_snapshot!(verdict(&reports(0)).expect("finished rows"));
}

#[test]
fn same_seed_same_bytes_other_seed_others() {
    let text = |seed| to_json(&reports(seed)).expect("text");
    assert_eq!(text(7), text(7));
    assert_ne!(text(7), text(8));
}
