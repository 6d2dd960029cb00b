//! Every command that reads a file, on changed files: an answer or a sentence, soon, in little memory; never a crash.

#![cfg(target_os = "linux")]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use neuronscope::base::Rng;

use crate::folder::{Folder, run};
use crate::import_mutants::changed;

/// How long a run may take: a debug build on a busy machine.
const MOST_TIME: Duration = Duration::from_secs(60);

/// Files that commands make, and what makes them.
const MADE: [(&str, &str); 6] = [
    ("run.json", "profile --model nn --output run.json"),
    ("run.pftrace", "profile --model nn --export perfetto --output run.pftrace"),
    ("run.xplane.pb", "profile --model nn --export xplane --output run.xplane.pb"),
    ("reports.json", "bench --model nn --duration 1 --n-models 1 --json-file reports.json"),
    ("reports.csv", "bench --model nn --duration 1 --n-models 1 --csv-file reports.csv"),
    (
        "timers.json",
        "bench --model nn --duration 1 --n-models 1 --batch-sizes 64 --jitter 0 --max-inferences 40 --return-timers timers.json",
    ),
];

const TEXTS: [(&str, &str); 11] = [
    (
        "config.json",
        r#"{"model_type": "llama", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
        "intermediate_size": 128, "vocab_size": 256, "max_position_embeddings": 2048, "attention_bias": true, "torch_dtype": "bfloat16"}"#,
    ),
    (
        "model.hlo.txt",
        "HloModule m\n\nENTRY e {\n  x = f32[4,8] parameter(0)\n  w = f32[8,8] parameter(1)\n  d = f32[4,8] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n  ROOT t = f32[4,8] tanh(d)\n}\n",
    ),
    (
        "model.mlir",
        "module @m {\n  func.func public @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>) -> tensor<4x8xf32> {\n    %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>\n    return %d : tensor<4x8xf32>\n  }\n}\n",
    ),
    (
        "relu.cpp",
        "#include <torch/torch.h>\nusing namespace torch;\nTensor relu(const Tensor& t) {\n  Tensor out = torch::zeros(t.sizes(), torch::kFloat);\n  auto a = t.accessor<float, 2>();\n  auto b = out.accessor<float, 2>();\n  for (int i = 0; i < t.size(0); i++) {\n    for (int j = 0; j < t.size(1); j++) {\n      b[i][j] = a[i][j] > 0.0 ? a[i][j] : 0.0;\n    }\n  }\n  return out;\n}\n",
    ),
    ("columns.csv", "output,target\n1,1\n0,1\n"),
    (
        "cases.json",
        r#"[{"id": "a", "eager1": [1.0, 2.0], "eager2": [1.0, 2.0], "test": [1.0, 2.5], "tolerance": 0.01}]"#,
    ),
    ("kernel.py", include_str!("../nki/language/own_call.py")),
    ("kernel.json", include_str!("../nki/lists/own_call-main.json")),
    ("stacks.folded", "main;work;dot 30\nmain;io 12.5\nmain 3\n"),
    ("options.json", r#"{"model": "nn", "duration": 1, "n_models": [1, 2], "batch_sizes": [1, 2], "jitter": 0.1}"#),
    ("published.csv", "model,instance,batch,throughput\nbert-base-uncased,inf2.xlarge,1,100\n"),
];

/// Commands and the file that each reads, `F`.
const COMMANDS: &[(&str, &str)] = &[
    ("run.json run.pftrace run.xplane.pb stacks.folded", "open F --json"),
    ("run.json run.pftrace run.xplane.pb stacks.folded", "open F --summary"),
    ("run.json run.xplane.pb", "open F --html page.html"),
    ("run.json run.pftrace", "open F --export perfetto --output out.pftrace"),
    ("run.json run.pftrace run.xplane.pb", "operators F --csv"),
    ("run.json stacks.folded", "flame F"),
    ("run.json", "histogram F aten__addmm_dot"),
    ("run.json run.pftrace", "idle F"),
    ("run.json run.xplane.pb", "critical-path F"),
    ("run.json", "counters F"),
    ("run.json stacks.folded", "compare F F"),
    ("run.json", "query F 'group by name'"),
    ("run.json", "parquet F --table slices --output out.parquet"),
    ("reports.json reports.csv timers.json", "report F --json"),
    ("reports.json reports.csv", "parquet F --table reports --output out.parquet"),
    ("published.csv", "validate F"),
    ("index.json", "index append F F --output sum.json"),
    ("index.json", "index show F"),
    ("index.json", "bench F --duration 1"),
    ("columns.csv", "evaluate F"),
    ("options.json", "bench --config F"),
    ("config.json", "fit --model-config F"),
    ("config.json", "generate --model-config F --instance inf2.xlarge --input 64 --output 64"),
    ("records.jsonl", "aggregate F --accelerator a6000 --lenient"),
    ("records.jsonl", "records F --json"),
    ("records.jsonl", "parquet F --table records --output out.parquet"),
    ("records.jsonl", "analyze --output-dirname . --database db.csv"),
    ("cases.json", "verify --cases F"),
    ("model.hlo.txt model.mlir", "inspect F --instance inf2.xlarge"),
    ("model.hlo.txt model.mlir", "profile F"),
    ("model.hlo.txt model.mlir", "compile F --filename made"),
    ("model.hlo.txt model.mlir", "bench F --duration 1 --n-models 1"),
    ("model.hlo.txt model.mlir", "numerics F"),
    ("model.hlo.txt", "matmult F"),
    ("kernel.py kernel.json", "nki F"),
    ("kernel.py kernel.json", "nki F --json --report report.md"),
    ("relu.cpp", "customop --kernel F --layers 8,8,4 --batch 2"),
];

/// The unchanged files by name.
fn originals(folder: &Folder) -> BTreeMap<&'static str, Vec<u8>> {
    for (_, line) in MADE.iter().chain(&[("index.json", "compile --model nn --batch-sizes 1 --filename index")]) {
        let output = run(folder, line);
        assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    }
    TEXTS.iter().for_each(|(name, text)| folder.write(name, text));
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/fixtures/bench/ptxla_bench_a6000.jsonl");
    let records = std::fs::read_to_string(fixture).unwrap();
    folder.write("records.jsonl", records.split_inclusive('\n').take(6).collect::<String>());
    for (name, command) in
        COMMANDS.iter().flat_map(|(names, command)| names.split(' ').map(move |name| (name, command)))
    {
        assert_eq!(outcome(folder, &command.replace('F', name)), Ok("an answer"), "{command} on {name}");
    }
    let made = MADE.iter().map(|(name, _)| *name).chain(["index.json", "records.jsonl"]);
    made.chain(TEXTS.iter().map(|(name, _)| *name))
        .map(|name| (name, std::fs::read(folder.join(name)).unwrap()))
        .collect()
}

/// Runs with 1 GiB of memory: how it ended, or what is wrong with that.
fn outcome(folder: &Path, line: &str) -> Result<&'static str, String> {
    let words = format!("ulimit -d 1048576; exec \"$N\" {line}");
    let begun = Instant::now();
    let mut child = Command::new("timeout")
        .args([&MOST_TIME.as_secs().to_string(), "sh", "-c", &words])
        .env("N", env!("CARGO_BIN_EXE_neuronscope"))
        .current_dir(folder)
        .stdout(Stdio::null())
        .stderr(std::fs::File::create(folder.join("said")).unwrap())
        .spawn()
        .unwrap();
    let status = child.wait().unwrap();
    let said = String::from_utf8_lossy(&std::fs::read(folder.join("said")).unwrap()).into_owned();
    match status.code() {
        Some(0) => Ok("an answer"),
        Some(1 | 2) if said.contains("panicked") => Err(said),
        Some(1) if said.trim().is_empty() => Err("failed without a word".to_owned()),
        Some(1) => Ok("a refusal"),
        Some(2) => Ok("wrong usage"),
        code => Err(format!("ended with {code:?} after {:?}: {said}", begun.elapsed())),
    }
}

/// So many runs, spread over all commands; prints how they ended.
fn runs(count: u64, seed: u64) {
    let folder = Folder::new("mutated");
    let files = originals(&folder);
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for n in 0..count {
        let (names, command) = COMMANDS[usize::try_from(n).unwrap() % COMMANDS.len()];
        let mut rng = Rng::from_seed(seed + n);
        let names: Vec<&str> = names.split(' ').collect();
        let name = names[rng.next_u32() as usize % names.len()];
        let (how, bytes) = changed(&mut rng, &files[name]);
        std::fs::write(folder.join(name), &bytes).unwrap();
        let ended = outcome(&folder, &command.replace('F', name));
        match ended {
            Ok(ended) => *counts.entry((command.split(' ').next().unwrap(), ended)).or_default() += 1,
            Err(problem) => {
                let copy = folder.join(format!("../failing-{name}"));
                std::fs::write(&copy, &bytes).unwrap();
                panic!("{command} on {name}, {how} of seed {}, kept as {}: {problem}", seed + n, copy.display());
            }
        }
        std::fs::write(folder.join(name), &files[name]).unwrap();
    }
    for ((command, ended), runs) in counts {
        println!("{command}: {runs} times {ended}");
    }
}

#[test]
fn changed_files_get_an_answer_or_a_sentence() {
    runs(2 * COMMANDS.len() as u64, 1);
}

#[test]
#[ignore = "nightly: 30,000 runs"]
fn thirty_thousand_changed_files_get_an_answer_or_a_sentence() {
    // Another seed every night, which a failure prints.
    let days = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs() / 86_400;
    runs(30_000, days * 100_000);
}
