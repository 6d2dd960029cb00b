//! HLO of real frameworks, compared with facts about it: see `fixtures/models/hlo/README.md`.
//!
//! `NAME.npz` beside a file has its parameters (`arg0` ..) and the results that the framework gave for them (`out0` ..).
//!
//! With `NEURONSCOPE_MODELS` set to a folder of models, facts and expected values, every HLO file in it is read.

use std::path::{Path, PathBuf};

use neuronscope::program;
use neuronscope::program::eval::Casts;
use neuronscope::program::file::gunzip;
use neuronscope::program::{
    ArrayType, ElementType, ImportError, ImportOptions, ImportedModel, Numbers, Op, Verdict, compare,
};
use neuronscope::readers::{read_hlo_proto, read_hlo_text, read_mlir_bytecode, read_stablehlo, refuse_undecided};
use serde_json::Value;

use super::import_npz;

/// Reads a file by the ending of its name; a file with an open size or a custom operator is refused.
fn read(path: &Path) -> Result<ImportedModel, ImportError> {
    let found = read_whatever(path)?;
    refuse_undecided(&found.inspection, |_| false).map(|()| found)
}

fn read_whatever(path: &Path) -> Result<ImportedModel, ImportError> {
    let bytes = std::fs::read(path).unwrap();
    let options = ImportOptions::default();
    let name = path.file_name().unwrap().to_string_lossy().into_owned();
    if name.ends_with(".pb") || name.ends_with(".pb.gz") {
        return read_hlo_proto(&bytes, &options);
    }
    let bytes = if name.ends_with(".gz") { gunzip(&bytes).unwrap() } else { bytes };
    if name.contains(".mlirbc") || name.contains(".jax_export") {
        return read_mlir_bytecode(&bytes, &options);
    }
    if name.contains(".mlir") {
        return read_stablehlo(&String::from_utf8_lossy(&bytes), &options);
    }
    read_hlo_text(&String::from_utf8_lossy(&bytes), &options)
}

/// Files and their facts.
fn corpus(format: &str) -> Vec<(PathBuf, Value)> {
    let mut out = Vec::new();
    let mut add = |file: PathBuf, facts: Value| {
        if file.exists() {
            out.push((file, facts));
        }
    };
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models").join(format);
    if let Ok(text) = std::fs::read_to_string(fixtures.join("facts.json")) {
        let facts: serde_json::Map<String, Value> = serde_json::from_str(&text).unwrap();
        for (name, facts) in facts {
            add(fixtures.join(name), facts);
        }
    }
    if let Ok(root) = std::env::var("NEURONSCOPE_MODELS") {
        let mut names: Vec<_> =
            std::fs::read_dir(Path::new(&root).join("facts")).unwrap().flatten().map(|e| e.path()).collect();
        names.sort();
        for path in names {
            let facts: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
            let file = facts["file"].as_str().unwrap();
            let is_bad_hlo = file.starts_with("bad/") && file.contains(".hlo.");
            if file.starts_with(&format!("{format}/")) || format == "hlo" && is_bad_hlo {
                add(Path::new(&root).join(file), facts.clone());
            }
        }
    }
    out
}

/// The role of a parameter of the entry, its element type and its sizes: an object, or a list of the three.
fn is_what(parameter: &Value) -> &str {
    parameter["is"].as_str().or_else(|| parameter[0].as_str()).unwrap()
}

fn elements(ty: &Value) -> Option<(String, Vec<u64>)> {
    let dtype = ty["dtype"].as_str().or_else(|| ty[1].as_str())?;
    let shape = ty["shape"].as_array().or_else(|| ty[2].as_array())?;
    let name = match dtype {
        "float32" => "f32",
        "float16" => "f16",
        "bfloat16" => "bf16",
        "float64" => "f64",
        "int64" => "s64",
        "int32" => "s32",
        "bool" => "pred",
        other => other,
    };
    Some((name.to_owned(), shape.iter().map(|d| d.as_u64().unwrap_or(0)).collect()))
}

fn types(list: &Value) -> Vec<(String, Vec<u64>)> {
    list.as_array().map(|l| l.iter().filter_map(elements).collect()).unwrap_or_default()
}

/// Inputs of a model for which its file has a parameter: torch_xla leaves out inputs on which no result depends.
fn inputs_of_file(facts: &Value) -> Vec<(String, Vec<u64>)> {
    let listed = facts["parameters_of_entry"].as_array().map(|l| l.iter());
    listed.into_iter().flatten().filter(|p| is_what(p).starts_with("input")).filter_map(elements).collect()
}

/// Elements of the model's weights for which its file has a parameter.
fn weights_of_file(facts: &Value) -> f64 {
    const BUFFERS: [&str; 8] =
        ["input", "unnamed constant", "running_", "_ids", "num_batches", "batch_stats", ".sin", ".cos"];
    let listed = facts["parameters_of_entry"].as_array().map(|l| l.iter());
    let weights = listed.into_iter().flatten().filter(|p| !BUFFERS.iter().any(|b| is_what(p).contains(b)));
    weights.filter_map(elements).map(|(_, dims)| dims.iter().product::<u64>() as f64).sum()
}

/// What differs between a file and its facts.
fn differences(path: &Path, facts: &Value) -> Vec<String> {
    let read = read(path);
    let verdict = facts["expect"]["verdict"].as_str().unwrap();
    let mut out = Vec::new();
    let imported = match (&read, verdict) {
        (Err(_), "refuse") => return out,
        (Err(e), _) => return vec![format!("refused: {e}")],
        (Ok(_), "refuse") => return vec!["is to be refused".to_owned()],
        (Ok(imported), _) => imported,
    };
    let inspection = &imported.inspection;
    let expected = if verdict == "partial" { Verdict::Partial } else { Verdict::Import };
    if inspection.verdict != expected {
        out.push(format!("verdict {:?}, {:?}", inspection.verdict, inspection.unsupported));
    }
    let hist =
        if facts["op_histogram_live"].is_object() { &facts["op_histogram_live"] } else { &facts["op_histogram"] };
    let mut wanted: Vec<(String, u64)> =
        hist.as_object().unwrap().iter().map(|(op, n)| (op.clone(), n.as_u64().unwrap())).collect();
    wanted.sort();
    // Facts of files that MLIR cannot parse were counted by dialect names, which a return does not have.
    let is_parsed = facts["format_details"]["parse_error"].is_null();
    let ops = inspection.ops.iter().filter(|(op, _)| is_parsed || *op != "func.return");
    let found: Vec<(String, u64)> = ops.map(|(op, n)| (op.clone(), *n)).collect();
    if wanted != found {
        out.push(format!("operators {found:?} are to be {wanted:?}"));
    }
    let flops = facts["flops"]["products"].as_f64().unwrap_or(0.0);
    if (inspection.flops as f64 - flops).abs() > 0.01 * flops {
        out.push(format!("{} flops are to be {flops}", inspection.flops));
    }
    let parameters = weights_of_file(facts);
    // Of the 320 tied weights the file has 220, and a constant of 30 that looks like a weight: it does not say which is which.
    let is_told = !path.to_string_lossy().contains("mlp-tied-weights");
    if is_told && (inspection.parameters as f64 - parameters).abs() > 0.01 * parameters {
        out.push(format!("{} parameters are to be {parameters}", inspection.parameters));
    }
    if types(&facts["outputs"])
        != inspection.outputs.iter().map(|t| (t.dtype.clone(), t.shape.clone())).collect::<Vec<_>>()
    {
        out.push(format!("outputs {:?}", inspection.outputs));
    }
    let mut inputs: Vec<_> = inspection.inputs.iter().map(|t| (t.dtype.clone(), t.shape.clone())).collect();
    let mut wanted = inputs_of_file(facts);
    inputs.sort();
    wanted.sort();
    if inputs != wanted {
        out.push(format!("inputs {inputs:?} are to be {wanted:?}"));
    }
    out
}

#[test]
fn hlo_files_match_their_facts() {
    check("hlo");
}

#[test]
fn stablehlo_files_match_their_facts() {
    check("stablehlo");
}

fn check(format: &str) {
    let mut wrong = 0;
    let corpus = corpus(format);
    for (path, facts) in &corpus {
        let differences = differences(path, facts);
        wrong += usize::from(!differences.is_empty());
        for difference in differences {
            println!("{}: {difference}", path.file_name().unwrap().to_string_lossy());
        }
    }
    println!("{} of {} files agree", corpus.len() - wrong, corpus.len());
    assert_eq!(wrong, 0);
}

/// Parameters and results of a file, if they are known.
fn expected(path: &Path, facts: &Value) -> Option<Vec<u8>> {
    let beside = path.with_file_name(format!("{}.npz", path.file_name()?.to_string_lossy()));
    let message = || {
        let root = std::env::var("NEURONSCOPE_MODELS").ok()?;
        std::fs::read(Path::new(&root).join(facts["expected"].as_str()?)).ok()
    };
    std::fs::read(beside).ok().or_else(message)
}

/// The largest distance of a file's results from those of its framework.
fn value_distance(path: &Path, archive: &[u8]) -> Result<f64, String> {
    let imported = read(path).map_err(|e| e.to_string())?;
    let arrays = import_npz::arrays(archive);
    // Weights are parameters of these files: nothing is read from them.
    let results = compare(&imported, &Vec::new(), &arrays, &arrays, Casts::NONE).map_err(|e| e.to_string())?;
    let outputs = arrays.iter().filter(|(name, _)| name.starts_with("out")).count();
    if results.len() != outputs {
        return Err(format!("{} results were compared, not {outputs}", results.len()));
    }
    Ok(results.iter().map(|r| r.relative_error).fold(0.0, f64::max))
}

#[test]
fn values_are_those_that_the_frameworks_gave() {
    let (mut wrong, mut compared) = (Vec::new(), 0);
    for (path, facts) in corpus("hlo").into_iter().chain(corpus("stablehlo")) {
        let is_refused = facts["expect"]["verdict"] == "refuse";
        let Some(archive) = expected(&path, &facts).filter(|_| !is_refused) else { continue };
        let name = path.file_name().unwrap().to_string_lossy();
        match value_distance(&path, &archive) {
            Ok(distance) if distance <= 1e-4 => compared += 1,
            Ok(distance) => wrong.push(format!("{name}: {distance:e}")),
            Err(e) => wrong.push(format!("{name}: {e}")),
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(compared >= 20, "{compared}");
}

#[test]
fn expected_results_are_found_by_the_names_of_results_too() {
    let text = "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n  ROOT sum = f32[2] add(x, x)\n}";
    let double = read_hlo_text(text, &ImportOptions::default()).unwrap();
    let row = |name: &str, numbers: [f64; 2]| {
        let ty = ArrayType::new(ElementType::F32, [2]);
        (name.to_owned(), program::Value { ty, numbers: Numbers::Real(numbers.to_vec()) })
    };
    let input = [row("x", [1.0, 2.0])];
    for name in ["out0", "sum"] {
        let results = compare(&double, &Vec::new(), &input, &[row(name, [2.0, 4.0])], Casts::NONE).unwrap();
        assert_eq!(results[0].max_abs_error, 0.0, "{name}");
    }
    let other = compare(&double, &Vec::new(), &input, &[row("total", [2.0, 4.0])], Casts::NONE).unwrap_err();
    let wanted = "no array holds an expected result: name it sum, or out0; the file has total";
    assert_eq!(other.to_string(), wanted);
}

/// A file of the StableHLO folder, in any form.
fn stablehlo(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/stablehlo").join(name)
}

#[test]
fn bytecode_is_the_program_of_the_text() {
    let pairs = [
        ("nn-442--torchxla2.9.0.mlirbc", "nn-442--torchxla2.9.0.mlir"),
        ("tiny-cnn--torchxla2.9.0.mlirbc", "tiny-cnn--torchxla2.9.0.mlir"),
        ("flax-nn-442--jax0.10.2.mlirbc", "flax-nn-442--jax0.10.2.mlir"),
        ("flax-nn-442--jax0.10.2.jax_export", "flax-nn-442--jax0.10.2.mlir"),
        ("flax-tiny-resnet--jax0.10.2.mlirbc", "flax-tiny-resnet--jax0.10.2.mlir"),
    ];
    for (bytecode, text) in pairs {
        let (bytecode, text) = (read(&stablehlo(bytecode)).unwrap(), read(&stablehlo(text)).unwrap());
        let operations = |imported: &ImportedModel| -> Vec<Vec<String>> {
            let computations = imported.program.computations.iter();
            // An export of JAX holds equal constants once, its text repeats them at each use.
            let plain = computations.map(|c| c.instructions.iter().filter(|i| !matches!(i.op, Op::Constant(_))));
            plain.map(|all| all.map(|i| format!("{:?} {:?}", i.op, i.ty)).collect()).collect()
        };
        let counts = |imported: &ImportedModel| {
            let mut ops = imported.inspection.ops.clone();
            ops.remove("stablehlo.constant");
            ops
        };
        assert_eq!(operations(&bytecode), operations(&text));
        assert_eq!(bytecode.inspection.flops, text.inspection.flops);
        assert_eq!(counts(&bytecode), counts(&text));
    }
}

#[test]
fn an_open_size_of_bytecode_is_asked_for() {
    let bytes = std::fs::read(stablehlo("flax-mlp-small--jax0.10.2-symbolic-batch.jax_export")).unwrap();
    let open = read_mlir_bytecode(&bytes, &ImportOptions::default()).unwrap().inspection;
    assert_eq!(open.verdict, Verdict::Partial);
    assert_eq!(open.open_dimensions.iter().map(|d| d.name.as_str()).collect::<Vec<_>>(), ["batch"]);
    let options = ImportOptions { dims: [("batch".to_owned(), 8)].into_iter().collect(), display_only: false };
    let chosen = read_mlir_bytecode(&bytes, &options).unwrap().inspection;
    assert_eq!((chosen.outputs[0].shape.clone(), chosen.format.as_str()), (vec![8, 4], "jax-export"));
    assert_eq!(chosen.flops, 8 * 2 * (32 * 16 + 16 * 12 + 12 * 4));
}

#[test]
fn two_open_sizes_of_bytecode_have_their_names() {
    let bytes = std::fs::read(stablehlo("flax-tied--jax0.10.2-symbolic-two.jax_export")).unwrap();
    let options = ImportOptions { dims: [("s".to_owned(), 7)].into_iter().collect(), display_only: false };
    let found = read_mlir_bytecode(&bytes, &options).unwrap().inspection;
    let open: Vec<(&str, u64)> = found.open_dimensions.iter().map(|d| (d.name.as_str(), d.used)).collect();
    assert_eq!(open, [("b", 1), ("s", 7)]);
    assert_eq!((found.inputs[0].open[&0].as_str(), found.inputs[0].open[&1].as_str()), ("b", "s"));
    assert_eq!(found.outputs[0].shape, [1, 7, 50]);
}

#[test]
fn a_loop_that_reads_its_step_and_its_limit_from_around_it_is_counted() {
    let bytecode = std::fs::read(stablehlo("flax-scan-blocks--jax0.10.2.jax_export")).unwrap();
    let bytecode = read_mlir_bytecode(&bytecode, &ImportOptions::default()).unwrap();
    let text = read(&stablehlo("flax-scan-blocks--jax0.10.2.mlir")).unwrap();
    // Four blocks of Dense(24) and Dense(12) with a norm, and a Dense(3) behind them, at a batch of 2.
    let block = 12 * 24 + 24 + 24 * 12 + 12 + 2 * 12;
    for found in [&bytecode.inspection, &text.inspection] {
        assert_eq!(found.parameters, 4 * block + 12 * 3 + 3, "{}", found.format);
        assert_eq!(found.inputs.len(), 1, "{}", found.format);
        assert_eq!(found.inputs[0].shape, [2, 12], "a stack of layers is no input: {}", found.format);
    }
    assert_eq!(bytecode.inspection.flops, text.inspection.flops);
}

#[test]
fn cut_bytecode_errors_name_the_section() {
    let bytes = std::fs::read(stablehlo("truncated-half.mlirbc")).unwrap();
    let error = read_mlir_bytecode(&bytes, &ImportOptions::default()).unwrap_err().to_string();
    assert!(error.contains("section 4 of the bytecode runs past the end of the file"), "{error}");
    assert!(error.contains("copy the whole file"), "{error}");
}

/// Each multiply-add of a grouped convolution is one of the gradient of its input and one of that of its kernel.
#[test]
fn the_products_of_a_grouped_convolution_and_of_its_gradients_count_alike() {
    let of = |name: &str, parameters: [&str; 2], result: &str, settings: &str| {
        let [a, b] = parameters;
        let text = format!(
            "HloModule m\n\nENTRY e {{\n  a = f32[{a}] parameter(0)\n  b = f32[{b}] parameter(1)\n  ROOT r = f32[{result}] convolution(a, b), {settings}\n}}\n"
        );
        let model = read_hlo_text(&text, &ImportOptions::default());
        neuronscope::program::flops(&model.unwrap_or_else(|e| panic!("{name}: {e}")).program).count
    };
    // 2 images of 8 channels, 4 groups, 16 results: 2 x 16 x 64 results of 2 x 9 multiply-adds.
    let wanted = 2 * (2 * 16 * 64) * (2 * 9);
    let small = "window={size=3x3 pad=1_1x1_1}";
    let forward = format!("{small}, dim_labels=bf01_oi01->bf01, feature_group_count=4");
    assert_eq!(of("forward", ["2,8,8,8", "16,2,3,3"], "2,16,8,8", &forward), wanted);
    assert_eq!(of("input", ["2,16,8,8", "8,4,3,3"], "2,8,8,8", &forward), wanted);
    let kernel = "window={size=8x8 pad=1_1x1_1}, dim_labels=fb01_io01->bf01, batch_group_count=4";
    assert_eq!(of("kernel", ["2,8,8,8", "2,16,8,8"], "2,16,3,3", kernel), wanted);
}
