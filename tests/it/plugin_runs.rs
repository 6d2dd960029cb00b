//! Log directories of TensorBoard's Neuron plugin: read, written, and read again.

use std::io::Write as _;

use neuronscope::base::Diagnostics;
use neuronscope::base::Refusal;
use neuronscope::formats::{ChunkedReader, ProfileReader, WriteFormat};
use neuronscope::profile::neuron::{EXECUTION_PROCESS, FRAMEWORK_TRACK, HLO_TRACK, OperatorView, operator_table};
use neuronscope::profile::{Profile, ProfileBuilder};
use neuronscope::session::BundleLayout;

/// The figures of the plugin's own tutorial, with an operator of another core and unknown keys.
const HLO: &str = r#"{"ops": [
  {"op_name": "dot", "op_occurrences": 2, "op_device": 0, "op_core": 0, "op_time": 279, "op_note": "kept"},
  {"op_name": "maximum", "op_occurrences": 1, "op_device": 0, "op_core": 0, "op_time": 276},
  {"op_name": "tanh", "op_occurrences": 1, "op_device": 0, "op_core": 0, "op_time": 159}
], "total_time": 714}"#;
const FRAMEWORK: &str = r#"{"ops":[{"op_name":"aten__addmm_dot","op_occurrences":2,"op_device":1,"op_core":3,"op_time":279}],"total_time":279}"#;
const TIMELINE: &str = r#"{"displayTimeUnit":"ns","neuronStartTimestampNs":1665775336000000123,"traceEvents":[
{"ph":"M","name":"process_name","pid":1,"args":{"name":"Process Execution"}},
{"ph":"M","name":"thread_name","pid":1,"tid":2,"args":{"name":"HLO Ops"}},
{"ph":"X","name":"%dot.1","cat":"dot","pid":1,"tid":2,"ts":8.72,"dur":0.036,"args":{"fused":"NN[model]/input,\nNN[model]/ReLU[nl1]"}},
{"ph":"X","name":"%tanh.1","cat":"tanh","pid":1,"tid":2,"ts":9.5,"dur":0.159}]}"#;
const TRACE: &str = r#"{"displayTimeUnit":"ns","neuronStartTimestampNs":1665775336000000000,"traceEvents":[
{"ph":"X","name":"StepMarker","cat":"","pid":"/host:CPU","tid":"python#24","ts":5,"dur":40,"tts":0,"args":null},
{"ph":"X","name":"model","cat":"","pid":"4736","tid":"NeuronDevice Execution","ts":20,"dur":9,"args":null}]}"#;

fn archive(files: &[(&str, &str)]) -> Vec<u8> {
    let sized: Vec<_> = files.iter().map(|(name, text)| ((*name).to_owned(), text.len() as u64)).collect();
    let layout = BundleLayout::new(&sized).unwrap();
    let mut out = Vec::new();
    for (header, (_, text)) in layout.headers().zip(files) {
        out.write_all(header).unwrap();
        out.write_all(text.as_bytes()).unwrap();
    }
    out
}

fn read(bytes: &[u8]) -> Result<Vec<Profile>, Refusal> {
    let mut reader = ProfileReader::new("logs.zip");
    bytes.chunks(1000).try_for_each(|chunk| reader.push(chunk))?;
    reader.finish_all()
}

fn open(files: &[(&str, &str)]) -> Vec<Profile> {
    read(&archive(files)).unwrap()
}

fn table(profile: &Profile, view: OperatorView) -> Vec<(String, u64, u32, u32, i64)> {
    let rows = operator_table(profile, view);
    rows.into_iter().map(|r| (r.name, r.occurrences, r.device, r.core, r.time_ns)).collect()
}

fn said(profile: &Profile, code: &str) -> String {
    let found = profile.diagnostics().items().iter().find(|d| d.code == code);
    found.map(|d| format!("{} x{}", d.first_example, d.count)).unwrap_or_default()
}

/// One execution on a NeuronCore, as the simulator makes them, but small.
fn execution() -> Profile {
    let mut b = ProfileBuilder::new("simulated");
    b.set_title("nn mark_step");
    let process = b.process("exec", EXECUTION_PROCESS);
    let (hlo, framework) = (b.thread(process, "1", HLO_TRACK), b.thread(process, "2", FRAMEWORK_TRACK));
    for at in [100, 300] {
        b.slice(hlo, at, 140, "%dot.1 = dot(..)", "dot", None);
        b.slice(framework, at, 140, "aten__addmm_dot.1", "aten__addmm_dot", None);
    }
    b.slice(hlo, 500, 159, "%tanh = tanh(..)", "tanh", None);
    b.finish(Diagnostics::new())
}

#[test]
fn two_run_directories_are_two_runs_with_the_tables_of_their_files() {
    let runs = open(&[
        ("logs/plugins/neuron/2022_10_14_19_22_22_16_7/neuron_framework_op.json", FRAMEWORK),
        ("logs/plugins/neuron/markstep_version/neuron_hlo_op.json", HLO),
        ("logs/plugins/neuron/markstep_version/neuron_framework_op.json", FRAMEWORK),
        ("logs/plugins/neuron/markstep_version/neuron_op_timeline.json", TIMELINE),
        ("logs/plugins/neuron/markstep_version/neuron_op_timeline_split.json", TIMELINE),
        ("logs/plugins/neuron/2022_10_14_19_22_22_16_7/neuron_hlo_op.json", HLO),
        ("logs/plugins/neuron/2022_10_14_19_22_22_16_7/neuron_op_timeline.json", TIMELINE),
    ]);
    let titles: Vec<_> = runs.iter().map(|p| p.meta().title.as_str()).collect();
    assert_eq!(titles, ["2022_10_14_19_22_22_16_7", "markstep_version"]);
    for run in &runs {
        assert_eq!(run.own_slice_count(), 2, "the timeline is the file's");
        let dot = ("dot".to_owned(), 2, 0, 0, 279);
        assert_eq!(table(run, OperatorView::Hlo)[0], dot, "and the table too: the timeline has one");
        assert_eq!(table(run, OperatorView::Framework), [("aten__addmm_dot".to_owned(), 2, 1, 3, 279)]);
        assert_eq!(run.plugin_run().unwrap().tables[1].total_time_ns, Some(714));
        assert!(run.diagnostics().is_empty(), "{:?}", run.diagnostics());
    }
    let shares: Vec<_> = operator_table(&runs[0], OperatorView::Hlo).iter().map(|r| r.time_percent).collect();
    assert!((shares[0] - 39.08).abs() < 0.005 && (shares[2] - 22.27).abs() < 0.005, "{shares:?}");
}

#[test]
fn tables_alone_are_a_run_without_a_timeline() {
    let runs = open(&[("r/neuron_hlo_op.json", HLO), ("r/neuron_framework_op.json", FRAMEWORK)]);
    assert_eq!((runs.len(), runs[0].slices().len(), runs[0].meta().events), (1, 0, 4));
    assert_eq!(table(&runs[0], OperatorView::Hlo).len(), 3);
    let missing = said(&runs[0], "missing_file");
    assert_eq!(missing, "r has no neuron_op_timeline.json: it is not known when operators ran x1");
}

#[test]
fn missing_and_broken_files_are_named_and_the_rest_opens() {
    let runs = open(&[
        ("r/neuron_hlo_op.json", r#"{"ops":[{"op_name":"dot","op_time":5},{"op_na"#),
        ("r/neuron_framework_op.json", "\u{0}\u{1} nothing"),
        ("r/neuron_op_timeline.json", TIMELINE),
    ]);
    assert_eq!((runs.len(), runs[0].own_slice_count()), (1, 2));
    assert!(said(&runs[0], "not_closed").starts_with("r/neuron_hlo_op.json: "));
    assert!(said(&runs[0], "unread_file").contains("r/neuron_framework_op.json: "));
    let missing = said(&runs[0], "missing_file");
    assert!(missing.contains("neuron_framework_op.json") && missing.contains("counted from the timeline"), "{missing}");
    assert_eq!(table(&runs[0], OperatorView::Hlo), [("dot".to_owned(), 1, 0, 0, 5)]);
    // Nothing can be read: an error, not a panic.
    read(&archive(&[("r/neuron_hlo_op.json", ""), ("r/neuron_op_timeline.json", "")])).unwrap_err();
    // Names that lie.
    let lies = open(&[("r/neuron_hlo_op.json", TIMELINE), ("r/neuron_op_timeline.json", TIMELINE)]);
    assert!(said(&lies[0], "unread_file").contains("r/neuron_hlo_op.json"));
}

#[test]
fn a_trace_stands_beside_the_operators_of_its_directory() {
    let runs = open(&[
        ("r/neuron_trace.json", TRACE),
        ("r/neuron_hlo_op.json", HLO),
        ("r/neuron_framework_op.json", FRAMEWORK),
        ("r/neuron_op_timeline.json", TIMELINE),
    ]);
    let titles: Vec<_> = runs.iter().map(|p| (p.meta().title.as_str(), p.own_slice_count())).collect();
    assert_eq!(titles, [("r", 2), ("r trace", 2)]);
    let alone = open(&[("2022_10_14_19_22_22_16/neuron_trace.json", TRACE)]);
    assert_eq!(alone[0].meta().title, "2022_10_14_19_22_22_16");
    assert!(alone[0].diagnostics().is_empty(), "a trace run lacks no operators: {:?}", alone[0].diagnostics());
}

#[test]
fn written_runs_are_named_by_their_date() {
    let zip = WriteFormat::NeuronPlugin.write(&execution());
    let runs = read(&zip).unwrap();
    let name = &runs[0].meta().title;
    assert!(name.starts_with("2024_01_01_00_00_00_00_") && name.ends_with("_1"), "{name}");
    let dated = open(&[("neuron_trace.json", TRACE)]);
    let back = read(&WriteFormat::NeuronPlugin.write(&dated[0])).unwrap();
    assert_eq!(back[0].meta().title, "2022_10_14_19_22_22_16");
}

#[test]
fn written_files_survive_reading_and_writing() {
    let made: [&[(&str, &str)]; 5] = [
        &[("a/b/neuron_hlo_op.json", HLO)],
        &[("neuron_framework_op.json", FRAMEWORK), ("neuron_hlo_op.json", HLO)],
        &[("plugins/neuron/r s/neuron_op_timeline.json", TIMELINE), ("plugins/neuron/r s/neuron_hlo_op.json", HLO)],
        &[("r/neuron_trace.json", TRACE)],
        &[("r/neuron_hlo_op.json", r#"{"ops":[{"op_name":"dot","op_time":5},{"op_na"#)],
    ];
    let profiles = made.into_iter().map(|files| open(files).remove(0)).chain([execution()]);
    for (i, profile) in profiles.enumerate() {
        for format in [WriteFormat::NeuronPlugin, WriteFormat::TensorBoard] {
            let first = format.write(&profile);
            let runs = read(&first).unwrap();
            assert_eq!(runs.len(), 1, "{i} {format:?}: the directory is one run");
            let again = format.write(&runs[0]);
            assert!(first == again, "{i} {format:?}: {} and {} bytes", first.len(), again.len());
            for view in [OperatorView::Framework, OperatorView::Hlo] {
                assert_eq!(operator_table(&runs[0], view), operator_table(&profile, view), "{i} {format:?}");
            }
        }
    }
}
