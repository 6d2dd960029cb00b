//! The command `customop`: what it prints, compares and refuses, kernels in other commands, libraries of the tutorial.

use std::process::Command;

use neuronscope::fidelity::published_steps_per_s;
use neuronscope::kernel::BUILT_IN;
use neuronscope::neuron::gpsimd::CustomOpSpec;
use neuronscope::session::studies::{StudyKind, StudySpec};
use neuronscope::session::{Event, JobId, JobRequest, JobResult, Message, Request, Session, StepResult};
use serde_json::Value;

use crate::folder::Folder;

fn customop(args: &[&str]) -> (bool, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).arg("customop").args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.success(), text(&output.stdout), text(&output.stderr))
}

const SMALL: [&str; 2] = ["--layers", "16,40,8"];

#[test]
fn the_command_prints_its_contract() {
    let (ok, out, _) = customop(
        &[&["--kernel", "relu-element", "--input", "1000,3", "--fill", "ramp", "--json"], &SMALL[..]].concat(),
    );
    let json: Value = serde_json::from_str(&out).unwrap();
    assert!(ok && json["iterations_per_s"].as_f64().unwrap() > 0.0 && json["ns_per_element"].as_f64().unwrap() > 0.0);
    assert_eq!((json["max_abs_error"].as_f64(), json["diagnostics"].as_array().unwrap().len()), (Some(0.0), 0));
    assert_eq!(json["output"].as_array().unwrap().len(), 64);
    assert!(json["lines"].as_array().unwrap().iter().any(|l| l["count"] == 3_000));
    assert!(json["breakdown_ns"]["hbm_access"].as_f64().unwrap() > 0.0);
}

#[test]
fn the_command_teaches() {
    let (ok, out, _) = customop(&[&["--kernel", "relu-element"], &SMALL[..]].concat());
    assert!(ok && out.contains("Where the time goes") && out.contains("| torch::Tensor relu_forward"), "{out}");
    let (ok, out, err) = customop(&[&["--kernel", "tests/it/fixtures/kernels/overrun.cpp"], &SMALL[..]].concat());
    assert!(!ok && out.contains("overrun.cpp:10:5: error: the array of line 8 is out of bounds"), "{out}{err}");
    assert!(err.contains("does not finish"), "{err}");
    let (ok, _, err) = customop(&["--kernel", "no-such-kernel"]);
    assert!(
        !ok && err
            .contains("not a kernel (relu-element, relu-tcm, relu-multicore, relu-multicore-fixed, relu-any-type)"),
        "{err}"
    );
    let (ok, _, err) = customop(&["--kernel", "relu-tcm", "--batch", "0"]);
    assert!(!ok && err.contains("batch 0 is outside 1 to 65536"), "{err}");
    let (ok, out, _) = customop(&["--list"]);
    assert!(ok && out.contains("relu-multicore-fixed"));
}

#[test]
fn kernels_are_compared_as_steps() {
    let kernels = ["--kernel", "relu-element", "--kernel", "relu-tcm"];
    let (ok, out, err) = customop(&[&kernels[..], &["--batch", "64", "--layers", "16,512,8"]].concat());
    assert!(ok, "{err}");
    let lines: Vec<&str> = out.lines().collect();
    assert!(
        lines[1].contains("single elements of device memory") && lines[2].contains("instructions and TCM"),
        "{out}"
    );
    let set = ["--kernel", "relu-tcm", "--set", "buffer_size=64,1024,9000", "--json"];
    let (ok, out, err) = customop(&[&set[..], &SMALL[..]].concat());
    let json: Value = serde_json::from_str(&out).unwrap();
    let dma = |i: usize| json[i]["breakdown_ns"]["dma"].as_f64().unwrap();
    assert!(dma(0) > dma(1) && json[2]["diagnostics"][0]["code"] == "tcm_exhausted");
    assert!(!ok && err.contains("relu-tcm buffer_size=9000: the values are wrong: off by "), "{err}");
    let (ok, _, err) = customop(&["--kernel", "relu-tcm", "--set", "size=1"]);
    assert!(!ok && err.contains("has no line"), "{err}");
}

#[test]
fn a_kernel_with_a_fault_fails_and_is_not_compared() {
    // No element is computed when the buffers do not fit, so this kernel would be the fastest.
    let set = ["--kernel", "relu-tcm", "--set", "buffer_size=1024,9000", "--batch", "64", "--layers", "16,512,8"];
    let (ok, out, err) = customop(&set);
    let lines: Vec<Vec<&str>> = out.lines().map(|line| line.split_whitespace().collect()).collect();
    assert!(!ok && err.contains("the values are wrong"), "{err}");
    assert!(lines[1][4].parse::<f64>().unwrap() > 0.0 && lines[2][4] == "-" && out.contains("off by"), "{out}");

    let (ok, out, err) = customop(&[&["--kernel", "relu-multicore", "--input", "1003"], &SMALL[..]].concat());
    assert!(!ok && out.contains("error:") && !out.contains("Every processor works"), "{out}");
    assert!(err.contains("relu-multicore: the result is wrong: line "), "{err}");
    let (ok, out, _) = customop(&[&["--kernel", "relu-multicore", "--input", "1000"], &SMALL[..]].concat());
    assert!(ok && out.contains("Every processor works"), "{out}");

    let folder = Folder::new("bufer");
    let path = folder.join("bufer.cpp");
    let source = "torch::Tensor f(const torch::Tensor& t) {\n  return bufer;\n}\n";
    std::fs::write(&path, source).unwrap();
    let (ok, out, err) = customop(&[&["--kernel", path.to_str().unwrap()], &SMALL[..]].concat());
    assert!(!ok && err.contains("the kernel does not compile: line 2: 'bufer' is not declared"), "{out}{err}");
}

#[test]
fn the_timeline_of_the_processors_can_be_opened() {
    let folder = Folder::new("customop");
    let path = folder.join("timeline.json");
    let path = path.to_str().unwrap();
    let (ok, _, err) = customop(&[&["--kernel", "relu-multicore", "--output", path], &SMALL[..]].concat());
    assert!(ok, "{err}");
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(["operators", path]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("instructions") && text.contains("copy"), "{text}");
}

fn neuronscope(args: &[&str]) -> (Option<i32>, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// The kernel inside the network takes as long as the kernel alone, on the engine on which it runs.
#[test]
fn a_kernel_in_a_model_takes_its_own_time() {
    let (ok, out, _) = customop(&["--kernel", "relu-tcm", "--layers", "784,512,256,10", "--batch", "4", "--json"]);
    assert!(ok);
    let json: Value = serde_json::from_str(&out).unwrap();
    let b = &json["breakdown_ns"];
    let parts = ["hbm_access", "dma", "tensor_move", "compute", "start"];
    let expected: f64 = parts.iter().map(|part| b[part].as_f64().unwrap()).sum();
    let model = "mlp:kernel=relu-tcm,hidden1=512,hidden2=256";
    let (code, out, err) = neuronscope(&["profile", "--model", model, "--batch-size", "4", "--summary", "--json"]);
    assert_eq!(code, Some(0), "{err}");
    let summary: Value = serde_json::from_str(&out).unwrap();
    let text = summary.to_string();
    let found = find_number(&summary, "gpsimd_engine_active_time").unwrap_or_else(|| panic!("{text}"));
    // In seconds; the operator is the only work of this engine.
    let found_ns = found * 1e9;
    assert!((found_ns / expected - 1.0).abs() < 0.01, "{found_ns} against {expected}");
}

fn find_number(value: &Value, key: &str) -> Option<f64> {
    match value {
        Value::Object(map) => {
            map.get(key).and_then(Value::as_f64).or_else(|| map.values().find_map(|v| find_number(v, key)))
        }
        Value::Array(list) => list.iter().find_map(|v| find_number(v, key)),
        _ => None,
    }
}

#[test]
fn a_user_written_kernel_runs_in_every_command() {
    let folder = Folder::new("own-kernel");
    let path = folder.join("own-kernel.cpp");
    let source = BUILT_IN.iter().find(|k| k.name == "relu-multicore").unwrap().source;
    std::fs::write(&path, source).unwrap();
    let file = path.to_str().unwrap();
    let model = |rest: &str| format!("mlp:kernel={file},multicore=true,{rest}");
    // 15 elements do not divide by 8 processors: eight are never written, which the comparison finds.
    let (wrong, right) = (model("hidden1=15,hidden2=15"), model("hidden1=16,hidden2=16"));
    let (code, out, err) = neuronscope(&["numerics", "--model", &right, "--batch-size", "1", "--json"]);
    assert_eq!(code, Some(0), "{out}{err}");
    let (code, out, _) = neuronscope(&["numerics", "--model", &wrong, "--batch-size", "1", "--json"]);
    assert_eq!(code, Some(1), "{out}");
    let bench = ["bench", "--model", &right, "--batch-sizes", "1", "--n-models", "1", "--duration", "1", "--csv"];
    let (code, out, err) = neuronscope(&bench);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("mlp:kernel=own-kernel.cpp,"), "{out}");
    let (code, _, err) = neuronscope(&["profile", "--model", &right, "--batch-size", "1", "--summary"]);
    assert_eq!(code, Some(0), "{err}");
    std::fs::write(&path, "torch::Tensor f(const torch::Tensor& t) {\n  while (true) { }\n  return t;\n}").unwrap();
    let (code, _, err) = neuronscope(&["profile", "--model", &right, "--batch-size", "1"]);
    assert!(code == Some(1) && err.contains("line 2, column"), "{err}");
    std::fs::write(&path, "torch::Tensor f(const torch::Tensor& t) {\n  return u;\n}").unwrap();
    let (code, _, err) = neuronscope(&["numerics", "--model", &right]);
    assert!(code == Some(1) && err.contains("line 2, column 10"), "{err}");
}

/// An operator of two tensors is the function of its name, or the one that is named.
#[test]
fn a_gradient_runs_as_a_kernel_of_two_tensors() {
    let folder = Folder::new("gradient");
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    for (file, kernel) in [("element.cpp", BUILT_IN[0]), ("tcm.cpp", BUILT_IN[1])] {
        std::fs::write(folder.join(file), kernel.source).unwrap();
    }
    let program = |operator: &str, second: &str| {
        format!(
            "HloModule m\n\nENTRY main {{\n  g = f32[32,120]{{1,0}} parameter(0)\n  x = {second} parameter(1)\n  \
             ROOT r = f32[32,120]{{1,0}} custom-call(g, x), custom_call_target=\"{operator}\"\n}}\n"
        )
    };
    std::fs::write(folder.join("m.hlo"), program("my_ops::relu_backward", "f32[32,120]{1,0}")).unwrap();
    let model = path("m.hlo");
    let with = |command: &str, kernel: &str| {
        let assumed = format!("my_ops::relu_backward={}", path(kernel));
        neuronscope(&[command, "--model", &model, "--assume", &assumed, "--json"])
    };
    let device_ns = |kernel: &str| {
        let (code, out, err) = with("profile", kernel);
        assert_eq!(code, Some(0), "{err}");
        find_number(&serde_json::from_str(&out).unwrap(), "device_window_ns").unwrap()
    };
    assert!(device_ns("element.cpp") > 3.0 * device_ns("tcm.cpp"));
    assert_eq!(device_ns("tcm.cpp:relu_backward").to_bits(), device_ns("tcm.cpp").to_bits());
    let (code, out, err) = with("numerics", "tcm.cpp");
    assert!(code == Some(0) && out.contains("PASS"), "{out}{err}");
    for (command, kernel, said) in [
        (
            "profile",
            "tcm.cpp:relu_forward",
            "relu_forward takes 1 tensor and its operator gives it 2 tensors; name the function",
        ),
        (
            "numerics",
            "tcm.cpp:gelu",
            "no function gelu that takes only tensors and returns one: name one of relu_forward, relu_backward",
        ),
    ] {
        let (code, _, err) = with(command, kernel);
        // The packed source of a kernel is for links.
        assert!(code == Some(1) && err.contains(said) && err.len() < 400, "{err}");
    }
    std::fs::write(folder.join("m.hlo"), program("my_ops::relu_backward", "f32[32]{0}")).unwrap();
    let (code, _, err) = with("profile", "tcm.cpp");
    assert!(code == Some(1) && err.contains("takes one of f32[32]; pass a tensor of that shape"), "{err}");
}

/// The figures of docs/customop.md are those that the command prints, beside the published ones.
#[test]
fn the_rates_of_the_document_are_those_printed() {
    let mut table = "| kernel | published iterations/s | simulated | ratio |\n|---|---|---|---|\n".to_owned();
    for kernel in &BUILT_IN[..3] {
        let (ok, out, err) = customop(&["--kernel", kernel.name, "--print", "tutorial"]);
        let lines: Vec<&str> = out.lines().collect();
        let [rate, "----------End Inference ---------------"] = lines[..] else { panic!("{out}{err}") };
        let rate: f64 = rate.strip_prefix("Inf throughput (iter/sec): ").unwrap().parse().unwrap();
        let spec = CustomOpSpec::new(kernel.name, kernel.source, kernel.multicore);
        let published = published_steps_per_s(&spec).unwrap();
        assert!(ok && (rate / published - 1.0).abs() < 0.05, "{}: {rate} against {published}", kernel.name);
        table.push_str(&format!("| {} | {published:.3} | {rate:.3} | {:.3} |\n", kernel.name, rate / published));
    }
    crate::doc_tables::assert_written("docs/customop.md", "rates of the custom operator tutorial", &table);
    let (_, out, _) =
        customop(&["--kernel", "relu-tcm", "--kernel", "relu-element", "--layers", "784,4096,2048,10", "--json"]);
    let json: Value = serde_json::from_str(&out).unwrap();
    let published: Vec<&Value> =
        json.as_array().unwrap().iter().map(|report| &report["published_iterations_per_s"]).collect();
    assert!(published.iter().all(|rate| rate.is_f64()), "{published:?}");
}

/// A library as the tutorial builds it: `build.py`, its kernel and its shape function, in a folder.
fn library(name: &str, shape: &str) -> Folder {
    let folder = Folder::new(&format!("library-{name}"));
    let script = "from torch_neuronx.xla_impl import custom_op\n\ncustom_op.load(\n    name='relu',\n    \
                  compute_srcs=['relu.cpp'],\n    shape_srcs=['shape.cpp'],\n    multicore=True)\n";
    let registered = "NEURON_LIBRARY(my_ops, m) {\n  m.def(\"relu_forward\", &relu_fwd_shape, \"relu_forward\");\n}\n";
    let shape = format!("torch::Tensor relu_fwd_shape(torch::Tensor t_in) {{\n  return {shape};\n}}\n\n{registered}");
    for (file, text) in [("build.py", script), ("relu.cpp", BUILT_IN[2].source), ("shape.cpp", &shape)] {
        std::fs::write(folder.join(file), text).unwrap();
    }
    folder
}

#[test]
fn a_library_is_read_from_its_build_script() {
    let folder = library("right", "torch::zeros(t_in.sizes(), torch::kFloat)");
    let script = folder.join("build.py");
    let (ok, out, err) = customop(&[&["--kernel", script.to_str().unwrap()], &SMALL[..]].concat());
    assert!(ok && out.contains("relu.cpp on 8 processors") && out.contains("reference: 0"), "{out}{err}");
    std::fs::write(&script, "custom_op.load(name='relu', compute_srcs=['missing.cpp'])").unwrap();
    let (ok, _, err) = customop(&["--kernel", script.to_str().unwrap()]);
    assert!(!ok && err.contains("build.py: compute_srcs: ") && err.contains("missing.cpp"), "{err}");
    std::fs::write(&script, "import torch_neuronx\n").unwrap();
    let (ok, _, err) = customop(&["--kernel", script.to_str().unwrap()]);
    assert!(!ok && err.contains("is a Python script: python -m neuronscope"), "{err}");
}

#[test]
fn a_shape_function_that_differs_is_an_error_at_its_line() {
    let folder = library("wrong", "torch::zeros({t_in.numel()}, torch::kFloat)");
    let (script, shape) = (folder.join("build.py"), folder.join("shape.cpp"));
    let (ok, _, err) = customop(&[&["--kernel", script.to_str().unwrap()], &SMALL[..]].concat());
    assert!(!ok && err.contains("shape.cpp:1:1: error: relu_fwd_shape returns float[1280]"), "{err}");
    let by_flag = ["--kernel", "relu-tcm", "--shape", shape.to_str().unwrap()];
    let (ok, _, err) = customop(&[&by_flag, &SMALL[..]].concat());
    assert!(!ok && err.contains("the operator's result is float[32, 40]"), "{err}");
    let (ok, _, err) = customop(&["--kernel", "relu-multicore", "--cores", "64"]);
    assert!(!ok && err.contains("cores 64 is outside 1 to 8"), "{err}");
}

/// The page's study saves what the command line prints: also the tutorial's rate, though the form's source has no line break at its end.
#[test]
fn the_page_and_the_command_line_have_one_answer() {
    for kernel in ["relu-multicore", "relu-tcm"] {
        let mut spec = StudySpec::new(StudyKind::Customop);
        spec.set("kernel", kernel).unwrap();
        let mut session = Session::new();
        session.handle(Request::new(JobId(1), JobRequest::Study(Box::new(spec), String::new())), None);
        let mut files = Vec::new();
        let mut keep = |event| {
            if let Event::Message(_, Message::Done(JobResult::Study(result))) = event {
                files = result.files;
            }
        };
        while session.step(1_000_000, &mut keep) != StepResult::Idle {}
        let (ok, printed, _) = customop(&["--kernel", kernel, "--json"]);
        let saved: Value = serde_json::from_str(&files[0].text).unwrap();
        let printed: Value = serde_json::from_str(&printed).unwrap();
        assert!(ok && printed["published_iterations_per_s"].is_number());
        assert_eq!(saved["published_iterations_per_s"], printed["published_iterations_per_s"], "{kernel}");
    }
}

#[test]
fn a_kernel_of_three_dimensions_runs_without_the_network() {
    let folder = Folder::new("three-dimensions");
    let source = "#include <torch/torch.h>
torch::Tensor scale(const torch::Tensor& t) {
    auto a = t.accessor<float, 3>();
    torch::Tensor r = torch::zeros(t.sizes(), torch::kFloat);
    auto o = r.accessor<float, 3>();
    for (int64_t i = 0; i < t.size(0); i++)
        for (int64_t j = 0; j < t.size(1); j++)
            for (int64_t k = 0; k < t.size(2); k++) o[i][j][k] = a[i][j][k] * 2;
    return r;
}
";
    let file = folder.join("three.cpp");
    std::fs::write(&file, source).unwrap();
    let run = |reference: &str| {
        customop(&[
            "--kernel",
            file.to_str().unwrap(),
            "--input",
            "2,3,4",
            "--fill",
            "ramp",
            "--reference",
            reference,
            "--json",
        ])
    };
    let (ok, out, err) = run("x * 2");
    let json: Value = serde_json::from_str(&out).unwrap();
    assert!(ok, "{err}");
    assert_eq!((json["max_abs_error"].as_f64(), json["iterations_per_s"].as_f64()), (Some(0.0), None));
    assert!(json["ns_per_element"].as_f64().unwrap() > 0.0);
    assert!(!run("x * 3").0);
}
