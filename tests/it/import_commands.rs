//! The commands that take a model, with a model file.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use neuronscope::program::file::is_model_head;
use neuronscope::program::{ImportOptions, Numbers, load_parameter};
use neuronscope::readers::{SUPPORTED_FORMATS, read_model};
use neuronscope::session::{BundleLayout, files_to_open};
use serde_json::Value;

use crate::folder::Folder;

const OPEN: &str = "onnx/dynamic-batch-mlp--torch2.9.1.onnx";
const FIXED: &str = "onnx/nn-442--torch2.9.1.onnx";
/// Its graph mixes samples, so that it has no other batch size than its own.
const MIXED: &str = "onnx/tiny-bert--ort-dynamic-quant.onnx.gz";

fn neuronscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = neuronscope(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn failure(args: &[&str]) -> String {
    let output = neuronscope(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn model(path: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models");
    root.join(path).to_str().unwrap().to_owned()
}

#[test]
fn bench_takes_a_file_with_and_without_its_flag() {
    let file = model(OPEN);
    let run = ["--n-models", "1", "--workers-per-model", "1", "--duration", "1", "--json"];
    let by_flag = json(&[&["bench", "--model", &file, "--batch-sizes", "1,4"], &run[..]].concat());
    let rows = by_flag["reports"].as_array().unwrap();
    let of = |r: &Value| (r["batch_size"].as_u64().unwrap(), r["status"].as_str().unwrap().to_owned());
    assert_eq!(rows.iter().map(of).collect::<Vec<_>>(), [(1, "finished".to_owned()), (4, "finished".to_owned())]);
    let alone = json(&[&["bench", &file, "--batch-sizes", "1,4"], &run[..]].concat());
    assert_eq!(by_flag["reports"], alone["reports"]);
    // Without a list a file runs at its own batch size.
    let own = json(&[&["bench", &model(FIXED)], &run[..]].concat());
    let row = &own["reports"][0];
    assert_eq!((row["status"].as_str(), row["batch_size"].as_u64()), (Some("finished"), Some(4)));
    let other = json(&[&["bench", &model(FIXED), "--batch-sizes", "3"], &run[..]].concat());
    assert_eq!(other["reports"][0]["batch_size"].as_u64(), Some(3));
    let error = failure(&[&["bench", &model(MIXED), "--batch-sizes", "3"], &run[..]].concat());
    assert!(
        error.contains("exported for a batch size of 2, not 3")
            && error.contains("it mixes samples")
            && error.contains("dynamic_axes"),
        "{error}"
    );
}

#[test]
fn wrong_flags_and_files_say_what_is_wrong() {
    assert!(failure(&["bench", "--model", "nn", "--dim", "seq=3"]).contains("nn is not one"));
    assert!(failure(&["bench", "--model", &model(OPEN), "--dim", "seq"]).contains("NAME=SIZE"));
    assert!(
        failure(&["profile", "--model", &model(OPEN), "--assume", "aten.foo=fast"])
            .contains("elementwise, move or sort")
    );
    assert!(failure(&["profile", "--model", "gone.onnx"]).contains("gone.onnx"));
    assert!(failure(&["bench", &model(OPEN), "--model", "nn"]).contains("names another model"));
    let folder = Folder::new("wrong-model");
    let text = folder.join("text.pt2");
    fs::write(&text, "this is not an archive").unwrap();
    let error = failure(&["compile", "--model", text.to_str().unwrap()]);
    assert!(error.contains("text.pt2"), "{error}");
    assert!(failure(&["numerics", "--model", &model(FIXED), "--rounding", "stochastic"]).contains("to the nearest"));
}

#[test]
fn a_file_is_profiled_and_analysed() {
    let file = model(FIXED);
    let profile = json(&["profile", &file, "--workflow", "trace", "--json"]);
    let names: Vec<&str> =
        profile["framework_ops"].as_array().unwrap().iter().filter_map(|op| op["name"].as_str()).collect();
    assert!(names.contains(&"Gemm_dot"), "{names:?}");
    let named = format!("sim:{file}?workflow=trace");
    let output = neuronscope(&["operators", &named]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let output = neuronscope(&["matmult", "--model", &file, "--csv"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_compiled_index_runs_with_the_file_beside_it() {
    let folder = Folder::new("brought-index");
    let index = folder.join("index.json");
    let (index, models) = (index.to_str().unwrap(), folder.join("models"));
    let file = model(OPEN);
    let made = neuronscope(&[
        "compile",
        "--model",
        &file,
        "--batch-sizes",
        "2",
        "--filename",
        index,
        "--models-dir",
        models.to_str().unwrap(),
    ]);
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let run = ["--n-models", "1", "--workers-per-model", "1", "--duration", "1", "--json"];
    let with = json(&[&["bench", index, "--model", &file], &run[..]].concat());
    assert_eq!(with["reports"][0]["status"], "finished");
    let without = failure(&[&["bench", index], &run[..]].concat());
    assert!(without.contains("not open") && without.contains("--model FILE"), "{without}");
}

#[test]
fn values_of_a_file_are_compared_by_two_commands_alike() {
    let (file, arrays) = (model(FIXED), model(&format!("{FIXED}.npz")));
    let values = |command: &str| {
        json(&[command, "--model", &file, "--inputs", &arrays, "--expect", &arrays, "--json"])["values"].clone()
    };
    assert_eq!(values("numerics"), values("inspect"));
    assert_eq!(values("numerics")[0]["passed"], true);
}

#[test]
fn results_of_a_core_are_written_and_are_what_it_computes_again() {
    let (file, arrays) = (model(FIXED), model(&format!("{FIXED}.npz")));
    let folder = Folder::new("results");
    let written = folder.join("results.npz");
    let written = written.to_str().unwrap();
    let done = neuronscope(&["numerics", "--model", &file, "--inputs", &arrays, "--results", written]);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let again = ["numerics", "--model", &file, "--inputs", &arrays, "--expect", written, "--tolerance", "1", "--json"];
    let cast = json(&[&again[..], &["--auto-cast", "matmult"]].concat());
    assert_eq!(cast["values"][0]["relative_error"], 0.0);
    assert!(json(&again)["values"][0]["relative_error"].as_f64().unwrap() > 1e-6);
    let alone = failure(&["numerics", "--model", &file, "--inputs", &arrays]);
    assert!(alone.contains("--inputs needs --expect"), "{alone}");
}

#[test]
fn a_file_is_computed_with_the_casts_of_a_core() {
    let file = model(FIXED);
    let errors = |extra: &[&str]| {
        // Some of the few results are near zero, where a small difference is a large share.
        let report = json(&[&["numerics", "--model", &file, "--json", "--tolerance", "0.5"], extra].concat());
        assert_eq!(report["status"], "PASS", "{report}");
        report["outputs"][0]["mean_relative_error"].as_f64().unwrap()
    };
    // As for models of the zoo, products are cast to bf16 by default.
    let bf16 = errors(&[]);
    assert_eq!(bf16, errors(&["--auto-cast", "matmult", "--auto-cast-type", "bf16"]));
    assert_eq!(errors(&["--auto-cast", "none"]), 0.0);
    let fp16 = errors(&["--auto-cast-type", "fp16"]);
    assert!(0.0 < fp16 && fp16 < bf16, "{fp16} and {bf16}");
    assert_ne!(bf16, errors(&["--seed", "1"]));
    let rough = failure(&["numerics", "--model", &file, "--auto-cast-type", "fp8_e4m3", "--tolerance", "0.0001"]);
    assert!(rough.contains("1 of 1 outputs are not within the tolerance"), "{rough}");
    let inf1 = failure(&["numerics", "--model", &file, "--instance", "inf1.xlarge", "--auto-cast-type", "tf32"]);
    assert!(inf1.contains("does not compute in tf32"), "{inf1}");
    // Compared with the framework's results: the file's own types, and those of a core.
    let arrays = model(&format!("{FIXED}.npz"));
    let beside = |extra: &[&str]| {
        let found = json(
            &[&["numerics", "--model", &file, "--inputs", &arrays, "--expect", &arrays, "--json"], extra].concat(),
        );
        found["values"][0]["relative_error"].as_f64().unwrap()
    };
    let cast = beside(&["--auto-cast", "all"]);
    assert!(beside(&[]) < 1e-6 && beside(&["--auto-cast", "none"]) < 1e-6 && 1e-4 < cast && cast < 0.02, "{cast}");
}

#[test]
fn flags_decide_open_sizes_and_unknown_operators() {
    let custom = model("pt2/custom-op--torch2.9.1.pt2.gz");
    let placed = ["--assume", "byom::fancy_act=sort"];
    for command in ["inspect", "compile", "profile", "numerics"] {
        let error = failure(&[command, "--model", &custom]);
        for part in ["byom::fancy_act is unknown", "--assume byom::fancy_act=", "torch.export.save"] {
            assert!(error.contains(part), "{command}: {error}");
        }
    }
    let found = json(&[&["inspect", "--model", &custom, "--json"], &placed[..]].concat());
    assert_eq!((found["verdict"].as_str(), found["parameters"].as_u64()), (Some("partial"), Some(676)));
    // What it holds is shown all the same.
    assert!(neuronscope(&["inspect", "--model", &custom, "--view", "tree"]).status.success());
    let symbol = model("stablehlo/flax-mlp-small--jax0.10.2-symbolic-batch.jax_export");
    let error = failure(&["inspect", "--model", &symbol, "--json"]);
    assert!(error.contains("the batch size is a symbol (batch)") && error.contains("--dim batch="), "{error}");
    let found = json(&["inspect", "--model", &symbol, "--dim", "batch=8", "--json"]);
    assert_eq!(found["outputs"][0]["shape"], serde_json::json!([8, 4]));
    // A list of batch sizes says it too.
    let run = ["--batch-sizes", "2", "--n-models", "1", "--workers-per-model", "1", "--duration", "1", "--json"];
    let rows = json(&[&["bench", "--model", &symbol], &run[..]].concat());
    assert_eq!(rows["reports"][0]["status"].as_str(), Some("finished"));
}

/// The operator of the file `custom-op`, as a kernel: `where(x > 0, x, 0.5 * expm1(x))`.
const ELU: &str = "#include <torch/torch.h>
static constexpr float alpha = 0.5;
torch::Tensor elu_forward(const torch::Tensor& t_in) {
  torch::Tensor t_out = torch::zeros(t_in.sizes(), torch::kFloat);
  auto in = t_in.accessor<float, 2>();
  auto out = t_out.accessor<float, 2>();
  for (size_t i = 0; i < t_in.size(0); i++) {
    for (size_t j = 0; j < t_in.size(1); j++) {
      out[i][j] = in[i][j] > 0.0 ? in[i][j] : alpha * (expf(in[i][j]) - 1.0);
    }
  }
  return t_out;
}
";

#[test]
fn a_kernel_computes_an_operator_of_a_file() {
    let folder = Folder::new("kernel-of-a-file");
    let kernel = folder.join("elu.cpp");
    fs::write(&kernel, ELU).unwrap();
    let (custom, arrays) = (model("pt2/custom-op--torch2.9.1.pt2.gz"), model("pt2/custom-op--torch2.9.1.pt2.npz"));
    let assume = format!("byom::fancy_act={}", kernel.display());
    // The values are those of PyTorch, and no cost is a guess.
    let files = ["--inputs", &arrays, "--expect", &arrays];
    let values = json(&[&["numerics", "--model", &custom, "--assume", &assume, "--json"], &files[..]].concat());
    assert!(values["values"][0]["relative_error"].as_f64().unwrap() < 1e-6, "{values}");
    let kernel_ns = |assume: &str| {
        let report = json(&["profile", "--model", &custom, "--assume", assume, "--json"]);
        let ops = report["framework_ops"].as_array().unwrap().clone();
        let of = |op: &&serde_json::Value| op["name"].as_str().unwrap().starts_with("byom__fancy_act");
        (ops.iter().find(of).unwrap()["time_ns"].as_f64().unwrap(), report["estimate"]["estimated"].clone())
    };
    let (on_kernel, estimates) = kernel_ns(&assume);
    assert!(estimates.is_null() || estimates == 0, "{estimates}");
    assert!(on_kernel > 2.0 * kernel_ns("byom::fancy_act=elementwise").0, "{on_kernel}");
    // A build.py names the source, and says whether all processors run it.
    let build = folder.join("build.py");
    let script = "custom_op.load(name='elu', compute_srcs=['elu.cpp'], shape_srcs=[], multicore=False)\n";
    fs::write(&build, format!("from torch_neuronx.xla_impl import custom_op\n{script}")).unwrap();
    assert_eq!(kernel_ns(&format!("byom::fancy_act={}", build.display())).0, on_kernel);
    fs::write(&kernel, ELU.replace("alpha *", "beta *")).unwrap();
    let error = failure(&["profile", "--model", &custom, "--assume", &assume]);
    assert!(error.contains("kernel elu.cpp, line 9") && error.contains("beta"), "{error}");
    let missing = failure(&["profile", "--model", &custom, "--assume", "byom::fancy_act=missing.cpp"]);
    assert!(missing.contains("--assume") && missing.contains("missing.cpp"), "{missing}");
}

#[test]
fn answers_of_a_file_are_evaluated() {
    let folder = Folder::new("evaluated-file");
    let data = folder.join("records.csv");
    let row = |n: usize| (0..32).map(|i| ((i * n) % 7).to_string()).collect::<Vec<_>>().join(",") + ",1\n";
    fs::write(&data, (1..5).map(row).collect::<String>()).unwrap();
    let (file, data) = (model(OPEN), data.to_str().unwrap().to_owned());
    let run = ["--n-models", "1", "--workers-per-model", "1", "--json", "--eval-metrics", "Accuracy"];
    let args = |file: &str| {
        [&["bench", "--model", file, "--batch-sizes", "1", "--dataset", &data], &run[..]]
            .concat()
            .into_iter()
            .map(str::to_owned)
            .collect::<Vec<String>>()
    };
    let strings = args(&file);
    let found = json(&strings.iter().map(String::as_str).collect::<Vec<_>>());
    let share = found["eval_metrics"]["Accuracy"].as_f64().unwrap();
    assert!([0.0, 0.25, 0.5, 0.75, 1.0].contains(&share), "{found}");
    // A file with one batch size cannot answer a single record.
    let strings = args(&model(MIXED));
    let error = failure(&strings.iter().map(String::as_str).collect::<Vec<_>>());
    assert!(error.contains("--eval-metrics") && error.contains("not 1"), "{error}");
}

#[test]
fn operators_that_are_read_are_listed_by_format() {
    let all = json(&["operators-supported", "--json"]);
    let onnx = json(&["operators-supported", "--format", "onnx", "--json"]);
    let (all, onnx) = (all.as_array().unwrap(), onnx.as_array().unwrap());
    assert!(onnx.len() > 100 && all.len() > 2 * onnx.len(), "{} of {}", onnx.len(), all.len());
    let gemm = onnx.iter().find(|row| row["operator"] == "Gemm").unwrap();
    assert_eq!((gemm["engine"].as_str(), gemm["format"].as_str()), (Some("tensor engine"), Some("onnx")));
    let text = neuronscope(&["operators-supported", "--format", "pt2"]).stdout;
    assert!(String::from_utf8(text).unwrap().contains("layer_norm"));
}

/// The lists of `docs/operators.md`: for each format, kinds of operators with their engine.
fn operators_markdown() -> String {
    let rows = json(&["operators-supported", "--json"]);
    let mut kinds: BTreeMap<[&str; 3], Vec<&str>> = BTreeMap::new();
    for row in rows.as_array().unwrap() {
        let of = ["format", "kind", "engine"].map(|key| row[key].as_str().unwrap());
        kinds.entry(of).or_default().push(row["operator"].as_str().unwrap());
    }
    let mut out = String::new();
    for (format, title) in SUPPORTED_FORMATS {
        let count = rows.as_array().unwrap().iter().filter(|row| row["format"] == format).count();
        out.push_str(&format!(
            "\n## {format}: {count} {title}\n\n| Kind | Engine | Operators |\n| --- | --- | --- |\n"
        ));
        for ([_, kind, engine], operators) in kinds.iter().filter(|([of, ..], _)| *of == format) {
            let names: Vec<String> = operators.iter().map(|name| format!("`{name}`")).collect();
            out.push_str(&format!("| {kind} | {engine} | {} |\n", names.join(" ")));
        }
    }
    out + "\n"
}

/// `UPDATE_DOCS=1 cargo test` writes the lists.
#[test]
fn the_lists_of_operators_are_what_is_printed() {
    super::doc_tables::assert_written("docs/operators.md", "neuronscope operators-supported", &operators_markdown());
}

#[test]
fn inspect_takes_a_batch_size() {
    let file = model(FIXED);
    let at = |batch: &str| json(&["inspect", &file, "--instance", "inf2.xlarge", "--batch", batch, "--json"]);
    let (own, large) = (at("4"), at("4096"));
    assert_eq!(large["flops"].as_u64().unwrap(), own["flops"].as_u64().unwrap() * 1024);
    assert_eq!(large["inputs"][0]["shape"][0], 4096);
    assert!(large["device"]["core_ms"].as_f64() > own["device"]["core_ms"].as_f64());
    assert!(failure(&["inspect", &model(MIXED), "--batch", "3"]).contains("exported for a batch size of 2, not 3"));
}

/// A message of protocol buffers: fields that are numbers or bytes.
fn message(fields: &[(u8, Result<u64, Vec<u8>>)]) -> Vec<u8> {
    let mut out = Vec::new();
    let varint = |out: &mut Vec<u8>, mut n: u64| {
        while n > 0x7f {
            out.push(n as u8 | 0x80);
            n >>= 7;
        }
        out.push(n as u8);
    };
    for (field, value) in fields {
        match value {
            Ok(number) => {
                out.push(field << 3);
                varint(&mut out, *number);
            }
            Err(bytes) => {
                out.push(field << 3 | 2);
                varint(&mut out, bytes.len() as u64);
                out.extend_from_slice(bytes);
            }
        }
    }
    out
}

/// `y = x w` in ONNX, x of 3 x 8 and w of 8 x 4, with the numbers of w in another file.
fn product_with_data_beside(place: &[(&str, &str)]) -> Vec<u8> {
    let text = |text: &str| Err(text.as_bytes().to_vec());
    let dims = |dims: &[u64]| message(&dims.iter().map(|&d| (1, Err(message(&[(1, Ok(d))])))).collect::<Vec<_>>());
    let value = |name: &str, of: &[u64]| {
        let array = message(&[(1, Ok(1)), (2, Err(dims(of)))]);
        Err(message(&[(1, text(name)), (2, Err(message(&[(1, Err(array))])))]))
    };
    let pair = |(key, value): &(&str, &str)| (13, Err(message(&[(1, text(key)), (2, text(value))])));
    let mut weight = vec![(1, Ok(8)), (1, Ok(4)), (2, Ok(1)), (8, text("w"))];
    weight.extend(place.iter().map(pair));
    weight.push((14, Ok(1)));
    let node = message(&[(1, text("x")), (1, text("w")), (2, text("y")), (4, text("MatMul"))]);
    let graph = message(&[
        (1, Err(node)),
        (2, text("g")),
        (5, Err(message(&weight))),
        (11, value("x", &[3, 8])),
        (12, value("y", &[3, 4])),
    ]);
    message(&[(1, Ok(8)), (7, Err(graph)), (8, Err(message(&[(1, text("")), (2, Ok(17))])))])
}

#[test]
fn weights_in_a_file_beside_the_model_are_read_or_named() {
    let folder = Folder::new("beside");
    fs::create_dir(folder.join("weights")).unwrap();
    let numbers: Vec<u8> = (0..40u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    fs::write(folder.join("weights/w.bin"), &numbers).unwrap();
    let run = |place: &[(&str, &str)]| {
        fs::write(folder.join("m.onnx"), product_with_data_beside(place)).unwrap();
        let path = folder.join("m.onnx");
        let path = path.to_str().unwrap();
        let (values, look) = (neuronscope(&["numerics", path]), neuronscope(&["inspect", path]));
        let said = String::from_utf8(values.stderr).unwrap();
        let looked = String::from_utf8([look.stdout, look.stderr].concat()).unwrap();
        (values.status.code(), said, looked)
    };
    for place in ["weights/w.bin", "./weights/w.bin", "weights\\w.bin"] {
        let (code, said, looked) = run(&[("location", place)]);
        assert_eq!(
            (code, said.contains("at random"), looked.contains("without numbers")),
            (Some(0), false, false),
            "{said}"
        );
    }
    for (place, reason) in [
        (
            &[("location", "gone.bin")][..],
            "w: its numbers are in gone.bin, which is not beside the model; put it there",
        ),
        (&[("location", "../w.bin")], "which is outside of the model's folder; move it beside the model"),
        (&[("location", "weights/w.bin"), ("offset", "100")], "run past the end of that file, which has 160"),
        (&[("location", "weights/w.bin"), ("length", "100")], "needs 128 bytes and 100 are in weights/w.bin"),
    ] {
        let (code, said, looked) = run(place);
        assert_eq!(code, Some(1));
        assert!(said.contains(reason), "{said}");
        assert!(looked.contains(reason.trim_start_matches("w: ")), "{looked}");
    }
}

#[test]
fn a_model_and_its_files_are_read_as_one_archive() {
    let numbers: Vec<u8> = (0..40u8).flat_map(|n| f32::from(n).to_le_bytes()).collect();
    let model = product_with_data_beside(&[("location", "weights/w.bin"), ("offset", "32")]);
    let loaded = |files: &[(&str, &[u8])]| {
        let sized: Vec<(String, u64)> = files.iter().map(|(n, c)| ((*n).to_owned(), c.len() as u64)).collect();
        let layout = BundleLayout::new(&sized).unwrap();
        let bytes: Vec<u8> = layout.headers().zip(files).flat_map(|(h, (_, c))| [h, c].concat()).collect();
        assert!(is_model_head(&bytes[..bytes.len().min(4096)]));
        let imported = read_model("m.onnx", &bytes, &ImportOptions::default()).unwrap();
        let weight = imported.program.parameters.iter().find(|p| p.name == "w").unwrap();
        load_parameter(&bytes, weight).map(|value| value.unwrap().numbers).map_err(|e| e.to_string())
    };
    let wanted = Numbers::Real((8..40).map(f64::from).collect());
    // A folder, and files that were dropped without theirs.
    assert_eq!(
        loaded(&[("d/m.onnx", &model), ("d/weights/other", b"x"), ("d/weights/w.bin", &numbers)]).unwrap(),
        wanted
    );
    assert_eq!(loaded(&[("m.onnx", &model), ("w.bin", &numbers)]).unwrap(), wanted);
    assert!(
        loaded(&[("m.onnx", &model), ("v.bin", &numbers)])
            .unwrap_err()
            .contains("w.bin, which is not beside the model")
    );
    let paths = ["d/a.bin", "d/m.onnx", "d/w.bin"].map(str::to_owned);
    assert_eq!(files_to_open(&paths), [1, 0, 2]);
}
