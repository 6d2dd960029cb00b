//! Models read by another program: the bytes that arrive hold the model that was read, and a session uses it the same way.

use std::fs;
use std::path::{Path, PathBuf};

use neuronscope::bench::{BenchConfig, RunDetail, expand};
use neuronscope::container::ByteSource;
use neuronscope::program::file::gunzip;
use neuronscope::program::{ImportError, ImportOptions, ImportedModel, ReadModel, read_elsewhere};
use neuronscope::readers::{read_carried, read_model};
use neuronscope::session::protocol::wire::{Decoder, Encoder, decode_event, encode_event};
use neuronscope::session::{
    Event, JobId, JobRequest, JobResult, Message, OpenedModel, Request, RunRequest, Session, StepResult,
};

const FORMATS: [&str; 5] = ["hlo", "onnx", "pt2", "stablehlo", "torchscript"];

fn models() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models")
}

/// Every model file of the fixtures, packed ones unpacked.
fn model_files() -> Vec<(String, Vec<u8>)> {
    let mut found = Vec::new();
    for format in FORMATS {
        let mut paths: Vec<_> = fs::read_dir(models().join(format)).unwrap().map(|e| e.unwrap().path()).collect();
        paths.sort();
        for path in paths.into_iter().filter(|path| path.is_file()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bytes = fs::read(&path).unwrap();
            found.push((name.clone(), if name.ends_with(".gz") { gunzip(&bytes).unwrap() } else { bytes }));
        }
    }
    found
}

/// As the page does it: the readers get a name, options as bytes and slices of the file, and answer with bytes.
fn read_through_bytes(
    name: &str,
    bytes: &dyn ByteSource,
    options: &ImportOptions,
) -> Result<ImportedModel, ImportError> {
    read_elsewhere(options, |options| Ok(read_carried(name, bytes, options)))
}

/// Whether two answers are the same, including NaNs.
fn is_same(a: &Result<ImportedModel, ImportError>, b: &Result<ImportedModel, ImportError>) -> bool {
    a == b || format!("{a:?}") == format!("{b:?}")
}

#[test]
fn every_model_and_every_error_arrives_as_it_was() {
    let own = ImportOptions::default();
    let (mut read, mut refused) = (0, 0);
    for (name, bytes) in model_files() {
        // A file that is cut off in the middle is usually an error.
        for bytes in [bytes[..bytes.len() / 2].to_vec(), bytes] {
            let direct = read_model(&name, &bytes, &own);
            assert!(is_same(&direct, &read_through_bytes(&name, &bytes, &own)), "{name}, {} bytes", bytes.len());
            *if direct.is_ok() { &mut read } else { &mut refused } += 1;
        }
    }
    assert!(read > 80 && refused > 80, "{read} read, {refused} refused");
}

#[test]
fn weights_of_a_packed_file_and_chosen_sizes_arrive() {
    let packed = fs::read(models().join("onnx/bert-base-b1-s128--torch2.9.1.onnx.gz")).unwrap();
    let open = fs::read(models().join("onnx/dynamic-batch-mlp--torch2.9.1.onnx")).unwrap();
    let own = ImportOptions::default();
    let direct = read_model("bert.onnx.gz", &packed, &own);
    assert!(is_same(&direct, &read_through_bytes("bert.onnx.gz", &packed, &own)));
    let dimension = read_model("mlp.onnx", &open, &own).unwrap().inspection.open_dimensions.remove(0).name;
    let chosen = ImportOptions { dims: [(dimension, 7)].into(), display_only: false };
    let carried = read_through_bytes("mlp.onnx", &open, &chosen).unwrap();
    assert_eq!(carried, read_model("mlp.onnx", &open, &chosen).unwrap());
    assert_eq!((carried.inspection.inputs[0].shape[0], carried.inspection.open_dimensions[0].used), (7, 7));
}

/// All that a session answers.
fn ask(session: &mut Session, request: Request, file: Option<&[u8]>) -> Vec<Event> {
    session.handle(request, file.map(|bytes| Box::new(bytes.to_vec()) as _));
    let mut events = Vec::new();
    while session.step(1_000_000, &mut |event| events.push(event)) == StepResult::More {}
    events
}

fn session_with(read: ReadModel) -> Session {
    Session::new().with_model_reader(read)
}

fn open(name: &str, bytes: &[u8]) -> Request {
    let open = JobRequest::OpenModel { name: name.to_owned(), size: bytes.len() as u64, settings: Box::default() };
    Request::new(JobId(1), open)
}

fn opened(events: &[Event]) -> OpenedModel {
    let found = events.iter().find_map(|event| match event {
        Event::Message(_, Message::Done(JobResult::Model(found))) => Some(found.0.clone()),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("{events:?}"))
}

fn bench(model: &str, batch_size: u64) -> Request {
    let config = BenchConfig {
        model: model.to_owned(),
        batch_sizes: vec![u32::try_from(batch_size).unwrap()],
        n_models: Some(vec![1]),
        workers_per_model: Some(vec![1]),
        duration_s: 0.2,
        ..BenchConfig::default()
    };
    let configuration = expand(&config).unwrap().configurations.remove(0);
    let run = RunRequest { row: 0, configuration, times: None, detail: RunDetail::default() };
    Request::new(JobId(2), JobRequest::RunConfiguration(Box::new(run)))
}

#[test]
fn a_session_answers_the_same_wherever_models_are_read() {
    for (name, bytes) in model_files().into_iter().filter(|(name, _)| name.contains("nn-442") || name.contains("mlp")) {
        let (mut direct, mut carried) = (session_with(read_model), session_with(read_through_bytes));
        let (mine, other) = (ask(&mut direct, open(&name, &bytes), None), ask(&mut carried, open(&name, &bytes), None));
        assert_eq!(mine, other, "{name}: without its file");
        let mine = ask(&mut direct, open(&name, &bytes), Some(&bytes));
        assert_eq!(mine, ask(&mut carried, open(&name, &bytes), Some(&bytes)), "{name}");
        if mine.iter().any(|event| matches!(event, Event::Message(_, Message::Failed(_)))) {
            continue;
        }
        let model = opened(&mine);
        // A third session was only given the file, like the other workers of the page.
        let mut kept = session_with(read_through_bytes);
        let keep = Request::new(JobId(3), JobRequest::KeepModel { name: name.clone(), size: bytes.len() as u64 });
        assert_eq!(ask(&mut kept, keep, Some(&bytes)), [Event::Message(JobId(3), Message::Done(JobResult::ModelKept))]);
        let run = bench(&model.id, model.batch.own());
        let rows = ask(&mut direct, run.clone(), None);
        assert!(
            rows.iter().any(|event| matches!(event, Event::Message(_, Message::Done(JobResult::Row { .. })))),
            "{name}: {rows:?}"
        );
        assert_eq!(rows, ask(&mut carried, run.clone(), None), "{name}");
        assert_eq!(rows, ask(&mut kept, run, None), "{name}: kept");
    }
}

#[test]
fn findings_about_a_model_reach_the_page() {
    for (name, bytes) in model_files().into_iter().filter(|(name, _)| name.contains("nn-442") || name.contains("mlp")) {
        for event in ask(&mut session_with(read_model), open(&name, &bytes), Some(&bytes)) {
            let sent = encode_event(event.clone(), Encoder::<Message>::BENCHMARKS).unwrap();
            assert_eq!(decode_event(&sent, Decoder::<Message>::ALL).unwrap(), event, "{name}");
        }
    }
}

#[test]
fn a_session_without_a_reader_opens_no_file_and_says_where_one_is_opened() {
    let events = ask(&mut Session::new(), open("m.onnx", b"x"), Some(b"x"));
    let Some(Event::Message(_, Message::Failed(message))) = events.last() else { panic!("{events:?}") };
    assert!(message.starts_with("m.onnx: model files are not read here; open it on the page"), "{message}");
    let keep = Request::new(JobId(1), JobRequest::KeepModel { name: "m.onnx".to_owned(), size: 1 });
    let events = ask(&mut Session::new(), keep, None);
    assert!(
        matches!(&events[..], [Event::Message(_, Message::Failed(message))] if message.contains("did not come")),
        "{events:?}"
    );
}
