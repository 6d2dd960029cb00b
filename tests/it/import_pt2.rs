//! Files of `torch.export.save`, compared with known facts: verdicts, inputs, results, parameters, operators, products, module
//! paths, values.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use neuronscope::container::ByteSource;
use neuronscope::program::eval::evaluate;
use neuronscope::program::file::{ModelFormat, sniff};
use neuronscope::program::{ImportOptions, ImportedModel, Program, TensorInfo, Value, Verdict, load_parameter};
use neuronscope::readers::{read_model, refuse_undecided};
use proptest::prelude::*;
use serde_json::Value as Json;

use super::import_npz;
use super::model_cases::{Case, corpus, dtype, fixtures, unpacked};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/pt2")
}

/// All files of the format in the folder that `NEURONSCOPE_MODELS` names.
fn corpus_of_torch() -> Vec<Case> {
    let is_ours = |part: &str, name: &str| part == "pt2" || !name.contains(".onnx") && !name.contains(".hlo");
    corpus(&["pt2", "bad", "torchscript", "other"], is_ours)
}

/// Whether tensors agree with the facts.
fn compare_tensors(what: &str, given: &[TensorInfo], facts: &Json, wrong: &mut Vec<String>) {
    let Some(facts) = facts.as_array() else { return };
    let show = |t: &TensorInfo| format!("{}{:?}", t.dtype, t.shape);
    let want: Vec<String> = facts
        .iter()
        // Inputs that are numbers have no element type.
        .filter(|f| f["dtype"].is_string())
        .map(|f| {
            let shape: Vec<u64> = f["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
            format!("{}{shape:?}", dtype(f["dtype"].as_str().unwrap()))
        })
        .collect();
    let given: Vec<String> = given.iter().map(show).collect();
    if given != want {
        wrong.push(format!("{what} {given:?}, not {want:?}"));
    }
}

/// The differences from the facts.
fn differences(case: &Case, imported: &ImportedModel) -> Vec<String> {
    let (facts, given) = (&case.facts, &imported.inspection);
    let mut wrong = Vec::new();
    let verdict = match given.verdict {
        Verdict::Import => "import",
        Verdict::Partial => "partial",
    };
    if facts["expect"]["verdict"] != verdict {
        wrong.push(format!("verdict {verdict}, not {}: {:?} {:?}", facts["expect"], given.unsupported, given.notes));
    }
    compare_tensors("inputs", &given.inputs, &facts["inputs"], &mut wrong);
    compare_tensors("outputs", &given.outputs, &facts["outputs"], &mut wrong);
    // Freezing folds weights into others, and the facts describe the model before freezing.
    if facts["parameters"] != given.parameters && facts["format"] != "ts-frozen" {
        wrong.push(format!("parameters {}, not {}", given.parameters, facts["parameters"]));
    }
    if let Some(ops) = facts["op_histogram"].as_object() {
        let want: Vec<(String, u64)> = ops.iter().map(|(k, v)| (k.clone(), v.as_u64().unwrap())).collect();
        for (op, count) in &want {
            if given.ops.get(op) != Some(count) {
                wrong.push(format!("{op} {:?} times, not {count}", given.ops.get(op)));
            }
        }
        if given.ops.len() != want.len() {
            wrong.push(format!("{} operators, not {}", given.ops.len(), want.len()));
        }
    }
    let want = facts["flops"]["products"].as_f64().unwrap_or(0.0);
    if (given.flops as f64 - want).abs() > want * 0.01 {
        wrong.push(format!("flops {}, not {want}", given.flops));
    }
    for path in facts["module_hierarchy"]["sample"].as_array().into_iter().flatten() {
        if !given.modules.iter().any(|m| path == m) {
            wrong.push(format!("no module {path}"));
        }
    }
    wrong
}

/// The results of the program for the weights of the file and the inputs in the archive of expected values.
fn values(case: &Case, imported: &ImportedModel, expected: &[u8]) -> Result<f64, String> {
    let arrays = import_npz::arrays(expected);
    let mut inputs = arrays.iter().filter(|(name, _)| name.starts_with("in")).map(|(_, v)| v);
    let mut parameters: Vec<Value> = Vec::new();
    for parameter in &imported.program.parameters {
        let value = match parameter.role {
            neuronscope::program::Role::Input => inputs.next().cloned(),
            _ => load_parameter(&case.bytes, parameter).map_err(|e| e.to_string())?,
        };
        let mut value = value.ok_or_else(|| format!("no numbers for {}", parameter.name))?;
        // NumPy has no bfloat16: such inputs are kept in single precision.
        value.ty = parameter.ty.clone();
        parameters.push(value);
    }
    let given = evaluate(&imported.program, parameters, 200_000_000).map_err(|e| e.to_string())?.outputs;
    let wanted: Vec<&Value> = arrays.iter().filter(|(name, _)| name.starts_with("out")).map(|(_, v)| v).collect();
    if given.len() < wanted.len() {
        return Err(format!("{} results, not {}", given.len(), wanted.len()));
    }
    let mut most = 0.0f64;
    for (given, want) in given.iter().zip(wanted) {
        let given = Value { ty: want.ty.clone(), numbers: given.numbers.clone() };
        most = most.max(import_npz::distance(&given, want));
    }
    Ok(most)
}

/// Whether a program is well-formed: operands before their users, all names of a computation different.
fn check_form(program: &Program) {
    for computation in program.computations.iter() {
        let mut names = std::collections::BTreeSet::new();
        for (id, instruction) in computation.instructions.iter_enumerated() {
            assert!(instruction.operands.iter().all(|o| o.0 < id.0), "{}", instruction.name);
            assert!(names.insert(&instruction.name), "{} twice", instruction.name);
        }
    }
}

/// Sizes given for a frozen model, because its file does not have them.
fn sizes(case: &Case) -> BTreeMap<String, u64> {
    let mut dims = BTreeMap::new();
    if case.facts["format"] == "ts-frozen" {
        for (d, n) in case.facts["inputs"][0]["shape"].as_array().into_iter().flatten().enumerate() {
            dims.insert(format!("x.{d}"), n.as_u64().unwrap());
        }
    }
    dims
}

/// All differences of a file from its facts.
fn check(case: &Case) -> Vec<String> {
    let should_fail = case.facts["expect"]["verdict"] == "refuse";
    let found = read_model(&case.name, &case.bytes, &ImportOptions { dims: sizes(case), display_only: false });
    match found.and_then(|found| refuse_undecided(&found.inspection, |_| false).map(|()| found)) {
        Ok(imported) => {
            check_form(&imported.program);
            let mut wrong = differences(case, &imported);
            if let (Some(expected), true) = (&case.expected, imported.inspection.unsupported.is_empty()) {
                match values(case, &imported, expected) {
                    Ok(distance) => {
                        let is_narrow = case.name.contains("bf16") || case.name.contains("mixed-dtypes");
                        let limit = if is_narrow { 2e-2 } else { 1e-4 };
                        if distance.is_nan() || distance > limit {
                            wrong.push(format!("values differ by {distance:e} of the largest"));
                        }
                    }
                    Err(error) => wrong.push(format!("no values: {error}")),
                }
            }
            wrong
        }
        Err(error) if should_fail => {
            let text = error.to_string();
            if text.len() > 600 { vec![format!("a message of {} bytes", text.len())] } else { Vec::new() }
        }
        Err(error) => vec![format!("refused: {error}")],
    }
}

pub(super) fn check_all(cases: &[Case]) {
    let mut failed = Vec::new();
    for case in cases {
        let wrong = check(case);
        if !wrong.is_empty() {
            failed.push(format!("{}:\n    {}", case.name, wrong.join("\n    ")));
        }
    }
    assert!(failed.is_empty(), "{} of {} files differ:\n{}", failed.len(), cases.len(), failed.join("\n"));
}

#[test]
fn the_files_of_the_tests_are_as_known() {
    let cases = fixtures(&folder());
    assert!(cases.len() >= 10, "{} files", cases.len());
    check_all(&cases);
}

#[test]
fn the_files_of_a_folder_are_as_known() {
    check_all(&corpus_of_torch());
}

/// The file of the tests of a name.
fn fixture(name: &str) -> Vec<u8> {
    unpacked(&folder().join(format!("{name}.gz")))
}

fn read(bytes: &dyn ByteSource, dims: &[(&str, u64)]) -> Result<ImportedModel, String> {
    let dims = dims.iter().map(|&(name, size)| (name.to_owned(), size)).collect();
    read_model("file", bytes, &ImportOptions { dims, display_only: false }).map_err(|e| e.to_string())
}

#[test]
fn refusals_name_the_cause_with_advice() {
    let cases = [
        ("empty.pt2", "empty", "again"),
        ("git-lfs-pointer.onnx", "Git LFS", "git lfs pull"),
        ("pickle-that-calls.pt", "pickle", "torch.export.save"),
        ("picture-named.onnx", "PNG", "torch.export.save"),
        ("schema-major-99.pt2", "99.", "between"),
        ("truncated-60-percent.pt2", "cut off", "again"),
        ("zip-without-model.pt2", "without a model", "torch.export.save"),
        ("nn-442--torch2.9.1-aotinductor.pt2", "AOTInductor", "torch.export.save"),
        ("nn-442--torch2.9.1-fx-graphmodule.pt", "fx.GraphModule", "torch.export.save"),
        ("nn-442--torch2.9.1-pickled-module.pt", "pickled module", "torch.export.save"),
        ("nn-442--torch2.9.1-state-dict.pth", "weights without a graph", "torch.export.save"),
        ("nn-442--torch2.9.1.safetensors", "safetensors", "torch.export.save"),
        ("control-flow-cond--torch2.9.1.pt2", "torch.cond", "torch.where"),
        ("data-dependent-nonzero--torch2.9.1.pt2", "nonzero: the size of the result of aten.nonzero", "fixed size"),
    ];
    for (name, what, instead) in cases {
        let error = read(&fixture(name), &[]).expect_err(name);
        assert!(error.contains(what) && error.contains(instead), "{name}: {error}");
    }
}

#[test]
fn kinds_are_recognised_by_first_bytes() {
    let texts: [(&str, ModelFormat); 5] = [
        ("\u{feff}\n// a comment\nHloModule m\n", ModelFormat::HloText),
        ("module @jit_f {\n}", ModelFormat::StableHlo),
        ("#loc = loc(unknown)\nmodule {", ModelFormat::StableHlo),
        ("func.func @main() {", ModelFormat::StableHlo),
        ("\u{8}\u{a}\u{12}\u{7}pytorch", ModelFormat::Onnx),
    ];
    for (text, kind) in texts {
        assert_eq!(sniff(&text.as_bytes().to_vec()), Ok(kind), "{text}");
    }
    let others = ["{\"irVersion\": 8}", "name: \"m\"\nentry_computation_name: \"e\"", "<!DOCTYPE html>", "hello", "\n"];
    for text in others {
        assert!(sniff(&text.as_bytes().to_vec()).is_err(), "{text}");
    }
}

#[test]
fn a_trace_is_not_taken_for_a_model() {
    // A line feed is also the tag of a module's first field, and a bracket a length.
    let start = "\n{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [";
    let padding = "  \n".repeat(60);
    for text in [format!("{start}{padding}],\"traceEvents\": []}}"), "[{\"ph\": \"X\", \"ts\": 0}]".to_owned()] {
        let error = sniff(&text.as_bytes().to_vec()).unwrap_err();
        assert!(error.what().contains("a trace") && error.instead().contains("neuronscope open"), "{error:?}");
    }
}

#[test]
fn an_open_dimension_is_asked_for() {
    let bytes = fixture("dynamic-batch-mlp--torch2.9.1.pt2");
    let open = read(&bytes, &[]).unwrap().inspection;
    assert_eq!((open.verdict, open.inputs[0].shape[0]), (Verdict::Partial, 3));
    assert!(open.notes.iter().any(|n| n.contains("s77") && n.contains("2 to 64")), "{:?}", open.notes);
    for name in ["s77", "batch", "x.0"] {
        let chosen = read(&bytes, &[(name, 8)]).unwrap().inspection;
        assert_eq!((chosen.verdict, chosen.inputs[0].shape[0]), (Verdict::Import, 8));
        assert_eq!((chosen.outputs[0].shape[0], chosen.flops), (8, open.flops / 3 * 8));
    }
    assert!(read(&bytes, &[("s77", 65)]).unwrap_err().contains("2 to 64"));
    assert!(read(&bytes, &[("seq", 8)]).unwrap_err().contains("s77"));
}

#[test]
fn an_operator_that_is_not_known_is_opaque_and_listed() {
    let given = read(&fixture("custom-op--torch2.9.1.pt2"), &[]).unwrap();
    let [unsupported] = given.inspection.unsupported.as_slice() else { panic!("{:?}", given.inspection) };
    assert_eq!((unsupported.op.as_str(), unsupported.count), ("byom::fancy_act", 1));
    let entry = &given.program.computations[given.program.entry];
    let opaque = |i: &&neuronscope::program::Instruction| matches!(i.op, neuronscope::program::Op::Opaque(_));
    assert_eq!(entry.instructions.iter().filter(opaque).count(), 1);
}

#[test]
fn a_packed_file_keeps_its_weights() {
    let plain = fixture("nn-442--torch2.9.1.pt2");
    let packed = fs::read(folder().join("nn-442--torch2.9.1.pt2.gz")).unwrap();
    let (plain_model, packed_model) = (read(&plain, &[]).unwrap(), read(&packed, &[]).unwrap());
    assert_eq!(plain_model.inspection, packed_model.inspection);
    for (a, b) in plain_model.program.parameters.iter().zip(&packed_model.program.parameters) {
        assert_eq!(load_parameter(&plain, a), load_parameter(&packed, b));
    }
}

/// The graph of a small file with a part of its text replaced, back in its archive. The lengths stay the same.
fn with_text(name: &str, from: &str, to: &str) -> Vec<u8> {
    assert_eq!(from.len(), to.len());
    let mut bytes = fixture(name);
    let found: Vec<usize> =
        (0..bytes.len() - from.len()).filter(|&at| bytes[at..].starts_with(from.as_bytes())).collect();
    assert!(!found.is_empty(), "{from}");
    for at in found {
        bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
    }
    bytes
}

#[test]
fn damaged_graphs_are_refused_by_name() {
    let name = "nn-442--torch2.9.1.pt2";
    let cases = [
        // A value that no node produces.
        ("\"arg\": {\"as_tensor\": {\"name\": \"relu\"}}", "\"arg\": {\"as_tensor\": {\"name\": \"rolu\"}}", "rolu"),
        // Negative sizes, sizes beyond 64 bits.
        ("\"sizes\": [{\"as_int\": 2}, {\"as_int\": 4}]", "\"sizes\": [{\"as_int\":-2}, {\"as_int\": 4}]", "negative"),
        ("\"major\": 8", "\"major\": 9", "version 9"),
        ("\"graph_module\"", "\"groph_module\"", "graph_module"),
    ];
    for (from, to, want) in cases {
        let error = read(&with_text(name, from, to), &[]).expect_err(to);
        assert!(error.contains(want), "{to}: {error}");
    }
    // An operator that gets too few arguments, or that is unknown, is listed.
    let odd = read(&with_text(name, "aten.tanh.default", "aten.tonh.default"), &[]).unwrap();
    assert_eq!(odd.inspection.unsupported[0].op, "aten::tonh");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn nothing_of_bytes_ends_the_reader(which in 0usize..4, cut in 0.0f64..1.0, at in prop::collection::vec((0.0f64..1.0, any::<u8>()), 0..6)) {
        let names = ["nn-442--torch2.9.1.pt2", "nn-442--torch2.4.1.pt2", "in-place--torch2.9.1.pt2", "tiny-gru--torch2.9.1.pt2"];
        let mut bytes = fixture(names[which]);
        if cut < 0.3 {
            let keep = (bytes.len() as f64 * cut / 0.3) as usize;
            bytes.truncate(keep);
        }
        for (place, byte) in at {
            let place = (bytes.len() as f64 * place) as usize;
            if let Some(old) = bytes.get_mut(place) {
                *old = byte;
            }
        }
        if let Ok(imported) = read_model("x", &bytes, &ImportOptions::default()) {
            check_form(&imported.program);
        }
    }
}
