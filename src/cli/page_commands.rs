//! Tests that the command line's parser reads every command the page prints, with the meaning that the page shows.

use crate::shell::Shell;
use clap::{CommandFactory, Parser};

use super::args::{Args, Command};
use super::commands::{profile_spec, request_of};
use super::driver::Driver;
use ns_bench::{BenchConfig, Dataset, Processes};
use ns_session::commands::{bench_command, experiment_command, inspect_command, profile_command};
use ns_session::guide::CHAPTERS;
use ns_session::options::{BENCH_OPTIONS, BenchOption, PlanOption, default_experiments};
use ns_session::share::{ProfileLink, Tool};
use ns_session::studies::{NumericsStudy, StudySpec};
use ns_session::{
    AutoCast, ExperimentField, ExperimentSpec, InspectField, InspectSpec, JobRequest, Message, NumericsSpec, OptLevel,
    ProfileOrigin, ProfileSpec, QuestionRequest, RecordsAsk, RecordsKey, RecordsSource, Reply,
};

/// The words of a line, as a POSIX shell splits it.
fn split_line(line: &str) -> Vec<String> {
    let (mut words, mut word, mut is_word, mut is_quoted) = (Vec::new(), String::new(), false, false);
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\'' => (is_quoted, is_word) = (!is_quoted, true),
            '\\' if !is_quoted => word.extend(chars.next()),
            ' ' if !is_quoted => {
                if std::mem::take(&mut is_word) {
                    words.push(std::mem::take(&mut word));
                }
            }
            c => {
                word.push(c);
                is_word = true;
            }
        }
    }
    assert!(!is_quoted, "{line}: a quote is not closed");
    if is_word {
        words.push(word);
    }
    words
}

fn command(line: &str) -> Command {
    let words = super::flags::plain(split_line(line).into_iter().map(Into::into).collect(), &Args::command()).unwrap();
    Args::try_parse_from(words).unwrap_or_else(|e| panic!("{line}\n{e}")).command
}

fn bench(config: &BenchConfig) -> BenchConfig {
    let line = bench_command(config).unwrap();
    match command(&line) {
        Command::Bench(args) => args.config(&Shell::default()).unwrap_or_else(|e| panic!("{line}\n{e:#}")),
        other => panic!("{line}: {other:?}"),
    }
}

fn set(config: &mut BenchConfig, key: &str, text: &str) {
    BenchOption::find(key).unwrap().set(config, text).unwrap();
}

#[test]
fn a_benchmark_is_the_one_of_the_form_whatever_its_fields_hold() {
    assert_eq!(bench(&BenchConfig::default()), BenchConfig::default());
    for (key, text) in [
        ("model", "matmult:n=64,loop_count=10"),
        ("name", "it's mine; $HOME"),
        ("instance", "inf2.xlarge"),
        ("batch_sizes", "1,8"),
        ("n_models", "1,2"),
        ("workers_per_model", "3"),
        ("pipeline_sizes", "1,2"),
        ("duration", "2.5"),
        ("seed", "18446744073709551615"),
        ("warmup", "0"),
        ("jitter", "0.25"),
        ("performance_level", "0,3"),
        ("cost_per_hour", "1.5"),
        ("auto_cast", "none,all"),
        ("auto_cast_type", "fp16"),
        ("optlevel", "1,3"),
        ("lnc", "1"),
        ("sdk_generation", "pt1"),
        ("workflow", "mark_step"),
        ("inputs", "1x4"),
        ("device_type", "cpu"),
        ("processes", "shared"),
        ("processes", "fresh"),
        ("preprocess", "normalize"),
        ("postprocess", "0.25ms"),
        ("env_setup_ms", "1.5"),
        ("setup_ms", "2"),
        ("dataset", "500,loop"),
        ("dataset", "500"),
        ("accounting", "original"),
        ("scenario", "Offline"),
    ] {
        let mut config = BenchConfig::default();
        set(&mut config, key, text);
        assert_eq!(bench(&config), config, "{key}: {text}");
    }
    let mut config = BenchConfig::default();
    config.options.dataset = Some(Dataset { length: 9, looped: true });
    config.options.processes = Processes::Fresh;
    set(&mut config, "scenario", "SingleStream");
    set(&mut config, "min_duration", "60");
    set(&mut config, "min_queries", "7");
    let read = bench(&config);
    for option in BENCH_OPTIONS {
        assert_eq!(option.text(&read), option.text(&config), "{}", option.key());
    }
}

#[test]
fn a_run_is_simulated_with_what_the_page_simulates() {
    let mut spec =
        ProfileSpec { model: "mlp:hidden1=8".into(), batch_size: Some(4), seed: 9, ..ProfileSpec::default() };
    (spec.options.auto_cast, spec.options.opt_level) = (AutoCast::None, OptLevel::O1);
    spec.instance = "inf2.xlarge".into();
    let origin = ProfileOrigin::Simulated(spec.clone());
    let link = ProfileLink { tool: Tool::Summary, ..ProfileLink::default() };
    match command(&profile_command(&origin, None, &link).unwrap()) {
        Command::Profile(args) => assert_eq!(profile_spec(&mut Driver::new(&Shell::default()), &args).unwrap(), spec),
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_tool_prints_a_command_that_is_one() {
    let simulated = ProfileOrigin::Simulated(ProfileSpec::default());
    let file = ProfileOrigin::File { name: "it's a trace.json".into(), bytes: 5, format: "Chrome trace".into() };
    let mut count = 0;
    for origin in [&simulated, &file] {
        for tool in Tool::ALL {
            let mut link =
                ProfileLink { tool, ask: "where dur > 10us".into(), in_view: true, ..ProfileLink::default() };
            link.span = Some(ns_base::Interval::new(ns_base::TraceNs(0), ns_base::TraceNs(9)));
            if let Some(line) = profile_command(origin, Some(origin), &link) {
                command(&line);
                count += 1;
            }
        }
    }
    assert_eq!(count, 26, "all tools but the engines' rows and a benchmark's timeline, of both");
}

#[test]
fn values_and_models_print_commands_that_are_ones() {
    let compared = NumericsSpec { tolerance: 1e-5, batch_size: Some(2), ..NumericsSpec::default() };
    let study = NumericsStudy { compared, ..NumericsStudy::default() };
    let result = Driver::new(&Shell::default()).study(StudySpec::Numerics(study)).unwrap();
    command(result.document.command().unwrap());
    let spec = InspectSpec::default()
        .with(InspectField::Model, "bert-base-uncased")
        .with(InspectField::Instance, "inf2.xlarge");
    for view in ["graph", "table", "passes"] {
        command(&inspect_command(&spec.clone().with(InspectField::View, view)).unwrap());
    }
}

#[test]
fn experiments_are_those_of_the_form() {
    let mut request = default_experiments();
    for (key, text) in [
        ("run_suite", "zoo"),
        ("run_models", "nn,mlp"),
        ("run_filter", "^n ^m$"),
        ("run_exclude", "bert"),
        ("run_accelerator", "trn1,cuda"),
        ("run_test", "eval,train"),
        ("run_dynamo", "None,openxla"),
        ("run_xla", "PJRT"),
        ("run_batch", "4"),
        ("run_repeat", "8"),
        ("run_iterations", "3"),
        ("run_verify", "current"),
        ("run_verify_iterations", "2"),
        ("run_seed", "3"),
        ("run_timestamp", "-1.5"),
    ] {
        PlanOption::find(key).unwrap().set(&mut request, text).unwrap();
        match command(&experiment_command(&request)) {
            Command::Experiment(args) => assert_eq!(request_of(&args).unwrap(), request, "{key}: {text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_view_of_records_prints_the_command_that_shows_it() {
    let shell = Shell::default();
    let (mut driver, set) = (Driver::new(&shell), RecordsKey::default());
    driver.run(JobRequest::ReadRecords(set, RecordsSource::Link("sample".into())), None).unwrap();
    let request =
        ExperimentSpec::default().with(ExperimentField::View, "changes").with(ExperimentField::Filter, "^hf_ x");
    let ask = QuestionRequest::Records(set, RecordsAsk::Show(Box::new(request.clone())));
    let Some(Message::Answer(Reply::Records(result))) = driver.run(ask, None).unwrap() else { panic!() };
    match command(result.document.command().unwrap()) {
        Command::Records(args) => {
            let mut spec = ExperimentSpec::default();
            args.options.put_into(&mut spec, &[]).unwrap();
            assert_eq!((spec, args.files), (request, vec!["sample.jsonl".into()]));
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_command_of_the_guide_is_one() {
    for example in CHAPTERS.iter().flat_map(|c| c.examples).filter(|e| !e.command.is_empty()) {
        command(example.command);
    }
}
