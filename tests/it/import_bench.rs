//! Model files of users, through a session: opened, benchmarked, compiled and profiled like models of the zoo.

use std::fs;
use std::path::Path;

use neuronscope::analysis::Instances;
use neuronscope::bench::{BenchConfig, CompileConfig, EntryStatus, Report, RunDetail, expand, verdict};
use neuronscope::device::EstimateMark;
use neuronscope::readers::read_model;
use neuronscope::session::{
    BatchRule, Event, ExportKind, ExportedFile, JobId, JobRequest, JobResult, Message, ModelFileSettings, OpenedModel,
    OperatorKind, ProfileInfo, ProfileQuestion, ProfileSpec, Reply, Request, ResultPart, RunRequest, Session,
    StepResult,
};

use crate::folder::Folder;

/// Everything that answers a request, or the message of its failure.
fn ask(session: &mut Session, request: Request, file: Option<Vec<u8>>) -> Result<Vec<Event>, String> {
    session.handle(request, file.map(|bytes| Box::new(bytes) as _));
    let (mut events, mut failed) = (Vec::new(), None);
    while session.step(1_000_000, &mut |event| match event {
        Event::Message(_, Message::Failed(message)) => failed = Some(message),
        other => events.push(other),
    }) == StepResult::More
    {}
    failed.map_or(Ok(events), Err)
}

fn open_bytes(session: &mut Session, name: &str, bytes: Vec<u8>, settings: &str) -> Result<OpenedModel, String> {
    let (job, size) = (JobId(1), bytes.len() as u64);
    let settings: Box<ModelFileSettings> = Box::new(settings.parse().unwrap());
    let events =
        ask(session, Request::new(job, JobRequest::OpenModel { name: name.to_owned(), size, settings }), Some(bytes))?;
    let found = events.into_iter().find_map(|e| match e {
        Event::Message(_, Message::Done(JobResult::Model(found))) => Some(found.0),
        _ => None,
    });
    Ok(found.unwrap())
}

/// Opens a file of the fixtures.
fn open(session: &mut Session, path: &str, settings: &str) -> OpenedModel {
    let whole = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models").join(path);
    let name = whole.file_name().unwrap().to_string_lossy().into_owned();
    open_bytes(session, &name, fs::read(&whole).unwrap(), settings).unwrap()
}

/// Runs the configurations of a benchmark one after another.
fn run(session: &mut Session, config: &BenchConfig) -> Vec<Report> {
    let configurations = expand(config).unwrap().configurations;
    let report = |configuration| {
        let run = RunRequest { row: 0, configuration, times: None, detail: RunDetail::default() };
        let events = ask(session, Request::new(JobId(2), JobRequest::RunConfiguration(Box::new(run))), None).unwrap();
        let row = events.into_iter().find_map(|event| match event {
            Event::Message(_, Message::Done(JobResult::Row { result, .. })) => Some(result.report),
            _ => None,
        });
        row.unwrap()
    };
    configurations.into_iter().map(report).collect()
}

fn bench(session: &mut Session, model: &str, batch_sizes: &[u32]) -> Vec<Report> {
    let config = BenchConfig {
        model: model.to_owned(),
        instance_type: "inf2.xlarge".to_owned(),
        batch_sizes: batch_sizes.to_vec(),
        n_models: Some(vec![1]),
        workers_per_model: Some(vec![1]),
        duration_s: 2.0,
        ..BenchConfig::default()
    };
    run(session, &config)
}

fn profile(session: &mut Session, model: &str, batch_size: Option<u32>) -> ProfileInfo {
    let spec = ProfileSpec { model: model.to_owned(), batch_size, ..ProfileSpec::default() };
    let events = ask(session, Request::new(JobId(3), JobRequest::Profile(spec)), None).unwrap();
    let info = events.into_iter().find_map(|e| match e {
        Event::Message(_, Message::Done(JobResult::Profile(info))) => Some(*info),
        _ => None,
    });
    info.unwrap()
}

#[test]
fn a_batch_is_swept_where_the_file_or_its_graph_says_how() {
    let mut session = Session::new().with_model_reader(read_model);
    let open_model = open(&mut session, "onnx/dynamic-batch-mlp--torch2.9.1.onnx", "");
    assert!(matches!(open_model.batch, BatchRule::Open { .. }), "{:?}", open_model.batch);
    let rows = bench(&mut session, &open_model.id, &[1, 16, 4_096]);
    assert!(rows.iter().all(Report::is_finished), "{rows:?}");
    let rate: Vec<f64> = rows.iter().filter_map(|r| r.throughput_window).collect();
    assert!(rate[1] > 4.0 * rate[0] && rate[2] > rate[1], "{rate:?}");
    assert_eq!(rows[0].model_name, "dynamic-batch-mlp--torch2.9.1.onnx");

    let derived = open(&mut session, "onnx/nn-442--torch2.9.1.onnx", "");
    assert_eq!(derived.batch, BatchRule::Derived { exported: 4 });
    let rows = bench(&mut session, &derived.id, &[4, 3, 64]);
    assert!(rows.iter().all(Report::is_finished), "{rows:?}");

    let fixed = open(&mut session, "onnx/tiny-bert--ort-dynamic-quant.onnx.gz", "");
    let own = fixed.batch.own();
    let rows = bench(&mut session, &fixed.id, &[u32::try_from(own).unwrap(), 3]);
    assert!(rows[0].is_finished(), "{:?}", rows[0].error);
    let error = rows[1].error.as_deref().unwrap();
    assert!(error.contains("not 3") && error.contains("dynamic_axes"), "{error}");

    // A size that a person gave stays.
    let named = match &open_model.batch {
        BatchRule::Open { dimension, .. } => dimension.clone(),
        rule => unreachable!("{rule:?}"),
    };
    let chosen = open(&mut session, "onnx/dynamic-batch-mlp--torch2.9.1.onnx", &format!("{named}=5"));
    assert_eq!(chosen.batch, BatchRule::Fixed { size: 5 });
    let rows = bench(&mut session, &chosen.id, &[5, 6]);
    assert!(rows[0].is_finished() && rows[1].error.as_deref().unwrap().contains(&format!("leave {named} out")));
}

#[test]
fn wrong_files_and_files_that_are_not_open_are_messages() {
    let mut session = Session::new().with_model_reader(read_model);
    for (name, bytes) in
        [("empty.onnx", Vec::new()), ("text.pt2", b"not a model".to_vec()), ("cut.pt2", b"PK\x03\x04".to_vec())]
    {
        let error = open_bytes(&mut session, name, bytes, "").unwrap_err();
        assert!(error.starts_with(name), "{error}");
    }
    let rows = bench(&mut session, "file:gone.onnx@abcdefgh", &[1]);
    let error = rows[0].error.as_deref().unwrap();
    assert!(error.contains("gone.onnx") && error.contains("not open"), "{error}");
    // Once it is open, the same name runs.
    let opened = open(&mut session, "onnx/nn-442--torch2.9.1.onnx", "");
    let batch = u32::try_from(opened.batch.own()).unwrap();
    let mut other = Session::new().with_model_reader(read_model);
    assert!(!bench(&mut other, &opened.id, &[batch])[0].is_finished());
    open(&mut other, "onnx/nn-442--torch2.9.1.onnx", "");
    assert!(bench(&mut other, &opened.id, &[batch])[0].is_finished());
}

#[test]
fn estimates_are_named_wherever_they_count() {
    let mut session = Session::new().with_model_reader(read_model);
    let plain = open(&mut session, "pt2/custom-op--torch2.9.1.pt2.gz", "");
    let op = plain.inspection.unsupported[0].op.clone();
    let batch = u32::try_from(plain.batch.own()).unwrap();
    let row = bench(&mut session, &plain.id, &[batch]).remove(0);
    assert!(row.estimated_ops.as_deref().is_some_and(|ops| ops.contains(&op)), "{:?}", row.estimated_ops);
    let info = profile(&mut session, &plain.id, None);
    let facts = info.facts;
    // Every view of its times says so, and so do its files.
    let note = "Times are at least these: 1 operator without a known cost.";
    assert_eq!(info.note_of_times.as_deref(), Some(note));
    for kind in [ExportKind::SummaryJson, ExportKind::ProfileJson] {
        let question = ProfileQuestion::Export { kind, marks: Vec::new() }.of(info.profile);
        let events = ask(&mut session, Request::new(JobId(5), question), None).unwrap();
        let file =
            events.into_iter().find_map(|e| if let Event::Message(_, Message::File(f)) = e { Some(f) } else { None });
        let json: serde_json::Value = serde_json::from_slice(&file.unwrap().bytes).unwrap();
        assert_eq!(json["estimate"], serde_json::json!({"unknown": 1, "estimated": 0}));
    }
    assert!(facts.iter().any(|(name, value)| name == "Cost is not known" && value.contains(&op)), "{facts:?}");
    // Nothing is known about the cost: every figure is a bound.
    assert_eq!(row.estimate.map(EstimateMark::note).as_deref(), Some("1 operator without a known cost"));
    assert_eq!(row.interval, None, "the error of such a figure is not known");
    assert!(facts.iter().any(|(name, value)| name == "Device window" && value.starts_with("at least ")), "{facts:?}");
    let sentence = verdict(std::slice::from_ref(&row)).unwrap();
    assert!(sentence.contains("p99 at least ") && sentence.contains("at most "), "{sentence}");
    // The user decides the estimate, which makes another model.
    let sorted = open(&mut session, "pt2/custom-op--torch2.9.1.pt2.gz", &format!("{op}=sort"));
    assert_ne!(sorted.id, plain.id);
    let slower = bench(&mut session, &sorted.id, &[batch]).remove(0);
    assert_ne!(slower.latency_ms_p50, row.latency_ms_p50);
    assert_eq!(slower.estimate.map(EstimateMark::note).as_deref(), Some("estimated, 1 operator"));
    assert!(bench(&mut session, "nn", &[1])[0].estimated_ops.is_none());
}

#[test]
fn the_command_line_marks_every_figure_with_a_guessed_cost() {
    let folder = Folder::new("guessed");
    let fixture = "tests/it/fixtures/models/pt2/custom-op--torch2.9.1.pt2.gz";
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(fixture);
    let file = file.to_str().unwrap();
    let stdout = |args: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neuronscope"));
        let output = command.current_dir(&folder).args(args).output().unwrap();
        assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    // The command line asks for an estimate of an operator that nobody knows.
    let note = "Times hold guesses: estimated, 1 operator.";
    let assume = ["--assume", "byom::fancy_act=sort"];
    let guessed = |args: &[&str]| stdout(&[args, &assume].concat());
    let profile = guessed(&["profile", "--model", file]);
    assert_eq!(profile.matches(note).count(), 2, "framework and HLO operators: {profile}");
    assert!(guessed(&["profile", "--model", file, "--summary"]).starts_with(note));
    let matmult = guessed(&["matmult", "--model", file]);
    assert!(matmult.contains(note), "{matmult}");
    let swept = guessed(&["matmult", "--model", file, "--instance", "inf2.xlarge,trn1.2xlarge"]);
    assert_eq!(swept.matches(": estimated, 1 operator").count(), 2, "{swept}");
    let scenario =
        ["bench", "--model", file, "--scenario", "SingleStream", "--min-duration", "1", "--min-queries", "100"];
    let scenario = guessed(&[&scenario[..], &["--n-models", "1", "--workers-per-model", "1"]].concat());
    assert!(scenario.contains(note), "{scenario}");
}

#[test]
fn a_profile_has_framework_operators_by_module() {
    let mut session = Session::new().with_model_reader(read_model);
    let opened = open(&mut session, "pt2/bert-base-b1-s128--torch2.9.1.pt2.gz", "");
    let info = profile(&mut session, &opened.id, None);
    let ask_ops = ProfileQuestion::Operators {
        kind: OperatorKind::Framework,
        range: None,
        level: None,
        instances: Instances::Merged,
    };
    let events = ask(&mut session, Request::new(JobId(4), ask_ops.of(info.profile)), None).unwrap();
    let Some(Event::Message(_, Message::Answer(Reply::Operators(table)))) = events.into_iter().next() else {
        panic!("no table")
    };
    let names: Vec<&str> = table.rows.iter().map(|row| row.name.as_str()).collect();
    assert!(names.contains(&"aten__linear_dot"), "{names:?}");
    let export = Request::new(
        JobId(5),
        ProfileQuestion::Export { kind: ExportKind::ChromeJson, marks: Vec::new() }.of(info.profile),
    );
    let events = ask(&mut session, export, None).unwrap();
    let Some(Event::Message(_, Message::File(ExportedFile { bytes, .. }))) = events.into_iter().next() else {
        panic!("no trace")
    };
    let trace = String::from_utf8(bytes).unwrap();
    assert!(trace.contains("BertEmbeddings[model.embeddings]"), "no row of a module");
    assert!(info.name.starts_with("bert-base-b1-s128--torch2.9.1.pt2"), "{}", info.name);
}

#[test]
fn a_file_is_compiled_to_an_index_that_runs() {
    let mut session = Session::new().with_model_reader(read_model);
    let opened = open(&mut session, "onnx/dynamic-batch-mlp--torch2.9.1.onnx", "");
    let config = CompileConfig { model: opened.id.clone(), batch_sizes: vec![1, 4], ..CompileConfig::default() };
    let index = config.plan().unwrap().index;
    let events = ask(&mut session, Request::new(JobId(5), JobRequest::Compile(Box::new(config))), None).unwrap();
    let entries: Vec<_> = events
        .into_iter()
        .filter_map(|e| match e {
            Event::Message(_, Message::Part(ResultPart::Compiled { compiled, .. })) => Some(compiled.entry),
            _ => None,
        })
        .collect();
    assert!(entries.len() == 2 && entries.iter().all(|e| e.status == EntryStatus::Finished), "{entries:?}");
    assert_eq!(index.model_name, "dynamic-batch-mlp--torch2.9.1.onnx");
    let index = Some(neuronscope::bench::ModelIndex { model_configs: entries, ..index });
    let config =
        BenchConfig { model: String::new(), index, n_models: Some(vec![1]), duration_s: 1.0, ..BenchConfig::default() };
    let rows = run(&mut session, &config);
    assert!(rows.len() == 2 && rows.iter().all(Report::is_finished), "{rows:?}");
}
