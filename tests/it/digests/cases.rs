//! The commands whose output is digested: models by commands, fixture traces, model files, and commands without
//! either.

use std::fs;
use std::path::Path;

use neuronscope::formats::WriteFormat;
use neuronscope::model::zoo::MODELS;

/// A command.
pub struct Case {
    /// Its arguments, with paths from the root of the repository.
    pub args: Vec<String>,
    /// Whether it writes a file; if so, the bytes of the file are digested.
    pub writes: bool,
}

impl Case {
    /// The command as it stands in the stored file.
    pub fn name(&self) -> String {
        self.args.join(" ")
    }
}

/// Model files above this size are inspected once.
const LARGE_FILE: u64 = 150_000;
/// Models that are also written in every format, and compiled in every way.
const SMALL_MODELS: [&str; 2] = ["nn", "matmult:n=256,loop_count=3"];

/// Every command, in the order of the stored file.
pub fn all() -> Vec<Case> {
    let mut cases = Vec::new();
    of_models(&mut cases);
    of_traces(&mut cases);
    of_model_files(&mut cases);
    of_nothing(&mut cases);
    cases
}

fn push(cases: &mut Vec<Case>, command: &str) {
    let args: Vec<String> = command.split(' ').map(str::to_owned).collect();
    let writes = args.iter().any(|arg| arg == "--export");
    cases.push(Case { args, writes });
}

/// The whole loop of the microbenchmark is a thousand products: a shorter one stands for it.
fn models() -> Vec<String> {
    let small = SMALL_MODELS.iter().map(|model| (*model).to_owned());
    let is_small = |id: &str| SMALL_MODELS.iter().any(|small| small.split(':').next() == Some(id));
    let others = MODELS.iter().filter(|info| !is_small(info.id)).map(|info| info.id.to_owned());
    small.chain(others).collect()
}

fn of_models(cases: &mut Vec<Case>) {
    for model in models() {
        push(cases, &format!("profile --model {model}"));
        push(cases, &format!("profile --model {model} --workflow trace --instance inf2.xlarge --summary --json"));
        push(cases, &format!("bench --model {model} --duration 0.2 --instance inf2.xlarge --csv"));
    }
    for model in SMALL_MODELS {
        push(cases, &format!("bench --model {model} --duration 0.2 --batch-sizes 1,4 --json"));
        push(cases, &format!("inspect --model {model} --instance trn2.48xlarge --json"));
        for format in WriteFormat::ALL {
            push(cases, &format!("profile --model {model} --export {}", format.name()));
        }
        for opt_level in ["1", "3"] {
            push(cases, &format!("profile --model {model} -O {opt_level} --auto-cast all --json"));
        }
        push(cases, &format!("numerics --model {model} --json"));
    }
}

/// Traces written in other formats are read again by `written.rs`, and what the analyses add up is compared with facts by `analysis.rs`.
fn of_traces(cases: &mut Vec<Case>) {
    for (path, _) in files_of("traces", |name| !name.ends_with(".facts.json") && name != "ORIGINS.md") {
        push(cases, &format!("open {path} --json"));
        push(cases, &format!("open {path} --summary"));
    }
}

fn of_model_files(cases: &mut Vec<Case>) {
    for folder in ["pt2", "onnx", "hlo", "stablehlo"] {
        let is_model = |name: &str| ![".npz", ".md", "facts.json"].iter().any(|end| name.ends_with(end));
        for (path, bytes) in files_of(&format!("models/{folder}"), is_model) {
            push(cases, &format!("inspect {path} --json"));
            if bytes <= LARGE_FILE {
                push(cases, &format!("inspect {path} --instance inf2.xlarge"));
            }
        }
    }
}

fn of_nothing(cases: &mut Vec<Case>) {
    for command in ["devices", "devices --json", "devices --costs", "models", "models --json", "operators-supported"] {
        push(cases, command);
    }
    for kernel in ["relu", "relu-tcm", "relu-multicore"] {
        push(cases, &format!("customop --kernel {kernel} --json"));
    }
    push(cases, "matmult -n 256 -l 20 --json");
    push(cases, "matmult --op softmax --shape 128x128 --json");
    push(cases, "validate src/fidelity/published.csv");
    push(cases, "validate src/fidelity/instructions.csv");
    push(cases, "compare sim:nn sim:nn?workflow=trace --csv");
    push(cases, "bench --model fixed --device-ms 2.895 --host-ms 0.216 --duration 0.2 --json");
}

/// Files of a folder of fixtures by name, with their sizes.
fn files_of(folder: &str, wanted: impl Fn(&str) -> bool) -> Vec<(String, u64)> {
    let relative = format!("tests/it/fixtures/{folder}");
    let entries = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(&relative)).unwrap();
    let mut files: Vec<(String, u64)> = entries
        .map(Result::unwrap)
        .filter(|entry| wanted(entry.file_name().to_str().unwrap()))
        .map(|entry| (format!("{relative}/{}", entry.file_name().to_str().unwrap()), entry.metadata().unwrap().len()))
        .collect();
    files.sort();
    files
}
