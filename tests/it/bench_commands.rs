//! `neuronscope compile`, `index`, `bench` of an index, MLPerf scenarios and the measured processor, as users run them.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::folder::Folder;

/// Runs in a folder of its own, so that relative paths are those that a user would see.
fn run(folder: &Path, line: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(line.split_whitespace()).current_dir(folder).output().unwrap()
}

fn stdout(folder: &Path, line: &str) -> String {
    let output = run(folder, line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn stderr(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).stderr).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn index(folder: &Path, name: &str) -> Value {
    json(&std::fs::read_to_string(folder.join(name)).unwrap())
}

#[test]
fn compile_writes_an_index_that_bench_runs() {
    let f = Folder::new("compile");
    let line = "compile --model nn --batch-sizes 1,2 --pipeline-sizes 1,9 --model-name tiny --filename tiny";
    assert_eq!(stdout(&f, line), "tiny.json\n");
    let made = index(&f, "tiny.json");
    assert_eq!(made["model_name"], "tiny");
    let entries = made["model_configs"].as_array().unwrap();
    let status: Vec<&str> = entries.iter().map(|e| e["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["finished", "error", "finished", "error"]);
    for entry in entries {
        match entry["filename"].as_str() {
            Some(file) => assert!(f.join(file).is_file() && entry["compile_s"].is_number(), "{entry}"),
            None => assert!(entry["error"].as_str().unwrap().contains("2 NeuronCores"), "{entry}"),
        }
    }
    let reports = json(&stdout(&f, "bench tiny.json --duration 2 --n-models 1 --workers-per-model 1 --json"));
    let rows = reports["reports"].as_array().unwrap();
    assert_eq!(rows.iter().map(|r| r["batch_size"].as_u64().unwrap()).collect::<Vec<_>>(), [1, 2]);
    assert_eq!(rows[0]["model_filename"], entries[0]["filename"]);
    // The same model without an index gives the same figures.
    let direct = json(&stdout(&f, "bench --model nn --duration 2 --n-models 1 --workers-per-model 1 --json"));
    assert_eq!(rows[0]["throughput_avg"], direct["reports"][0]["throughput_avg"]);
    let filtered = json(&stdout(&f, "bench tiny.json --batch-sizes 2 --duration 2 --n-models 1 --json"));
    assert!(filtered["reports"].as_array().unwrap().iter().all(|r| r["batch_size"] == 2));
    assert!(stderr(&f, "bench tiny.json --batch-sizes 7").contains("none of its 4 entries"));
}

#[test]
fn indexes_are_created_appended_filtered_copied_moved_and_deleted() {
    let f = Folder::new("index");
    stdout(&f, "compile --model nn --batch-sizes 1,4 --filename made");
    let name = |at: usize| index(&f, "made.json")["model_configs"][at]["filename"].as_str().unwrap().to_owned();
    let (one, four) = (name(0), name(1));
    stdout(&f, &format!("index create {four} --batch-size 4 --model nn --model-name first -o a.json"));
    stdout(&f, &format!("index create {one} --model nn --model-name second -o b.json"));
    stdout(&f, "index append a.json b.json -o both.json");
    assert_eq!(index(&f, "both.json")["model_configs"].as_array().unwrap().len(), 2);
    let kept = json(&stdout(&f, "index filter both.json batch_sizes=4"));
    assert_eq!(kept["model_configs"][0]["filename"], four);
    assert!(stderr(&f, "index filter both.json colour=red").contains("cannot be filtered by 'colour'"));
    stdout(&f, "index copy both.json copy.json there");
    let there = |name: &str| name.replace("models/", "there/");
    assert!(f.join(there(&four)).is_file() && f.join(&four).is_file());
    assert_eq!(index(&f, "copy.json")["model_configs"][1]["filename"], there(&one));
    let said = stderr(&f, "index move both.json moved.json elsewhere");
    let elsewhere = one.replace("models/", "elsewhere/");
    assert!(said.contains(&format!("{one} is copied to {elsewhere}")) && said.contains(&format!("{one} is removed")));
    assert!(f.join(&elsewhere).is_file() && !f.join(&one).exists() && !f.join("both.json").exists());
    let said = stderr(&f, "index delete moved.json");
    assert!(said.contains(&format!("{elsewhere} is removed")) && said.contains("moved.json is removed"), "{said}");
    assert!(!f.join(&elsewhere).exists() && !f.join("moved.json").exists());
    assert!(stderr(&f, "index delete moved.json").contains("does not exist"));
    // An index of a real artifact cannot be run, and says what to do.
    std::fs::write(f.join("old.json"), r#"{"version": "0.0.0.0+0bc220a", "model_configs": [{"filename": "m.pt", "input_idx": 0, "batch_size": 1, "pipeline_size": 1, "compile_s": 57.0}]}"#).unwrap();
    assert!(stderr(&f, "bench old.json --duration 2").contains("does not say which model this is"));
    assert!(run(&f, "bench old.json --model nn --duration 2 --n-models 1").status.success());
    f.write("a.pt", "a");
    assert!(stderr(&f, "bench a.pt --duration 2").contains("choose a .pt2, .onnx, TorchScript"));
    f.write("a.index", "a");
    assert!(stderr(&f, "bench a.index --duration 2").contains("is not a model index"));
}

/// An older index of NeuronPerf with a model for each entry, or without.
fn older_index(folder: &Path, name: &str, model: &str) {
    let entry = |file: &str, input: u32, batch: u32, cast: &str| {
        format!(
            r#"{{"filename": "models/{file}.pt", {model} "input_idx": {input}, "batch_size": {batch}, "pipeline_size": 1, "cast_mode": {cast}}}"#
        )
    };
    let entries = [entry("a", 0, 1, "null"), entry("b", 1, 2, "\"all\"")].join(", ");
    std::fs::write(folder.join(name), format!(r#"{{"version": "0", "model_configs": [{entries}]}}"#)).unwrap();
}

#[test]
fn an_index_is_named_filtered_and_logged_with_the_older_keys() {
    let f = Folder::new("older");
    older_index(&f, "npi.json", r#""model": "nn","#);
    let base = "bench npi.json --duration 2 --n_models 1 --workers_per_model 1 --verbosity 2";
    let said = stderr(&f, &format!("{base} --batch_sizes [1]"));
    let cast = "DEBUG:neuronperf.benchmarking - Cast mode was not specified, assuming default.\n";
    let begin = "INFO:neuronperf.benchmarking - Benchmarking 'npi.json', ~2 seconds remaining.\n";
    assert!(said.starts_with(&format!("{cast}{begin}")), "{said}");
    assert!(said.contains("'device_type': 'neuron', 'input_idx': 0, 'batch_size': 1,"), "{said}");
    let said = stderr(&f, base);
    assert!(!said.contains("Cast mode") && said.contains("'input_idx': 1, ") && said.contains("'cast_mode': 'all', "));
    let kept = json(&stdout(&f, "index filter npi.json input_idx=1 cast_mode=all"));
    assert_eq!(kept["model_configs"].as_array().unwrap().len(), 1);
    assert_eq!(kept["model_configs"][0]["filename"], "models/b.pt");
    // Without a model there is one reason, said once.
    older_index(&f, "none.json", "");
    let said = stderr(&f, "bench none.json --duration 2");
    assert_eq!((said.lines().count(), said.matches("does not say which model this is").count()), (1, 1), "{said}");
}

#[test]
fn python_values_are_taken_as_the_guide_writes_them() {
    let f = Folder::new("python");
    older_index(&f, "npi.json", r#""model": "nn","#);
    let one = "--n_models 1 --workers_per_model 1 --json";
    let whole =
        json(&stdout(&f, &format!("bench npi.json --batch_sizes [1] --dataset 100 --loop_dataset False {one}")));
    assert_eq!(whole["reports"][0]["total_infs"], 101);
    let looped = json(&stdout(
        &f,
        &format!("bench npi.json --batch_sizes [1] --dataset 100 --loop_dataset True --duration 2 {one}"),
    ));
    assert!(looped["reports"][0]["total_infs"].as_u64() > Some(1_000));
    let shared = json(&stdout(
        &f,
        &format!("bench --model nn --multiprocess False --multiinterpreter False --duration 2 {one}"),
    ));
    assert_eq!(
        (&shared["reports"][0]["multiprocess"], &shared["reports"][0]["multiinterpreter"]),
        (&false.into(), &false.into())
    );
    let shapes = json(&stdout(
        &f,
        &format!("bench --model bert-base-uncased --inputs [(6x128,6x128),(1x64,1x64)] --duration 2 {one}"),
    ));
    let batches: Vec<u64> =
        shapes["reports"].as_array().unwrap().iter().map(|r| r["batch_size"].as_u64().unwrap()).collect();
    assert_eq!(batches, [6, 1]);
    // The time that remains is that of the records.
    let said = stderr(&f, "bench --model nn --dataset 10 --n_models 1 --workers_per_model 1");
    assert!(said.contains("Benchmarking 'nn', ~0 seconds remaining."), "{said}");
}

#[test]
fn a_dataset_is_what_torchvision_and_numpy_save() {
    let f = Folder::new("datasets");
    let header = [[0, 0, 8, 3], [0, 0, 0, 5], [0, 0, 0, 28], [0, 0, 0, 28]].concat();
    std::fs::write(f.join("t10k-images-idx3-ubyte"), [header, vec![0; 5 * 784]].concat()).unwrap();
    let run = "bench --model mlp --n_models 1 --workers_per_model 1 --json --dataset";
    let read = json(&stdout(&f, &format!("{run} t10k-images-idx3-ubyte")));
    assert_eq!(read["reports"][0]["total_infs"], 6);
    let npz = fixture_model("nn-442--torch2.9.1.onnx.npz");
    let said = stderr(&f, &format!("{run} {npz}"));
    assert!(said.contains("it holds the arrays ") || said.contains("a record has "), "{said}");
    assert!(stderr(&f, &format!("{run} {npz}:nothing")).contains("there is no array 'nothing'"));
}

fn fixture_model(name: &str) -> String {
    format!("{}/tests/it/fixtures/models/onnx/{name}", env!("CARGO_MANIFEST_DIR"))
}

#[test]
fn a_preprocess_function_takes_all_inputs_of_its_model() {
    let f = Folder::new("typeerror");
    let run = |step: &str| {
        let args =
            ["bench", "--model", "bert-base-uncased", "--n-models", "1", "--duration", "2", "--preprocess", step];
        let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).current_dir(&f).output().unwrap();
        (output.status.success(), String::from_utf8(output.stderr).unwrap())
    };
    let (ran, said) = run("x * 5");
    assert!(!ran && said.contains("'x * 5' takes 1 of the 3 inputs of bert-base-uncased"), "{said}");
    // Two configurations fail for one reason, which the log says once.
    assert_eq!(said.matches("Failure benchmarking config").count(), 1, "{said}");
    assert!(run("def preprocess_fn(x, y, z): return x, y, z").0 && run("x, y, z").0);
}

#[test]
fn a_model_file_is_measured_on_this_processor() {
    let f = Folder::new("cpu_file");
    let file = fixture_model("nn-442--torch2.9.1.onnx");
    let line = format!("bench {file} --device_type cpu --duration 0.2 --n_models 2 --workers_per_model 1 --json");
    let report = json(&stdout(&f, &line))["reports"][0].clone();
    assert_eq!((&report["source"], &report["status"]), (&"measured".into(), &"finished".into()));
    assert!(report["machine"].as_str().unwrap().contains("one operation after another in double precision"));
    assert!(report["throughput_avg"].as_f64() > Some(0.0));
}

#[test]
fn mlperf_scenarios_give_a_verdict() {
    let f = Folder::new("mlperf");
    let base = "bench --model fixed --device-ms 10 --instance inf1.6xlarge --n-models 4 --workers-per-model 1";
    let run_json = |more: &str| json(&stdout(&f, &format!("{base} {more} --json")))["results"][0].clone();
    let single = run_json("--scenario SingleStream --min-duration 60");
    assert_eq!((single["result"].as_str(), single["verdict"]["min_duration"].as_bool()), (Some("VALID"), Some(true)));
    let server = run_json("--scenario server --latency-bound-ms 40 --min-duration 60");
    assert_eq!(server["result"], "VALID");
    assert!(server["latency_ms"][4].as_f64().unwrap() <= 40.0 && server["value"].as_f64().unwrap() > 250.0, "{server}");
    let text = stdout(&f, &format!("{base} --scenario offline --min-duration 60"));
    assert!(text.contains("Samples per second : ") && text.contains("Result is : VALID"), "{text}");
    assert!(stderr(&f, &format!("{base} --scenario server")).contains("needs a latency bound"));
    assert!(stderr(&f, &format!("{base} --scenario sometimes")).contains("'sometimes' is not an MLPerf scenario"));
}

#[test]
fn the_processor_is_measured_and_says_so() {
    let f = Folder::new("cpu");
    let line = "bench --model nn --device-type cpu --n-models 1,2 --workers-per-model 1 --duration 0.3 --json";
    let reports = json(&stdout(&f, line))["reports"].as_array().unwrap().clone();
    assert_eq!(reports.len(), 2);
    for r in &reports {
        assert_eq!(
            (&r["source"], &r["device_type"], &r["status"]),
            (&"measured".into(), &"cpu".into(), &"finished".into()),
            "{r}"
        );
        assert!(
            r["latency_samples"].as_u64().unwrap() > 10 && r["machine"].as_str().unwrap().contains("clock resolution")
        );
        assert!(r["warmup_avg_ms"].as_f64().unwrap() > 0.0 && r["total_s"].as_f64().unwrap() >= 0.3);
    }
    assert!(
        stderr(&f, "bench --model fixed --device-ms 1 --device-type cpu --duration 0.1").contains("nothing to run")
    );
}

#[test]
fn a_run_is_written_as_a_timeline_that_opens_with_its_figures() {
    let f = Folder::new("trace");
    let line = "bench --model nn --n-models 2 --workers-per-model 1,2 --duration 0.02 --trace run.json --json";
    let reports = json(&stdout(&f, line));
    for (row, workers) in [(0, 1), (1, 2)] {
        let opened = json(&stdout(&f, &format!("open run.{row}.json --json")));
        let of = |name: &str| {
            let found = opened["operators"].as_array().unwrap().iter().find(|op| op["name"] == name);
            found.map_or((0, 0), |op| (op["count"].as_u64().unwrap(), op["total_ns"].as_u64().unwrap()))
        };
        // A run this short is in the trace completely: the report counts warm-ups, and they have slices of their own.
        let inferences = reports["reports"][row]["total_infs"].as_u64().unwrap();
        let (shown, e2e_ns) = of("e2e");
        assert_eq!((shown + of("warmup").0, of("warmup").0, of("compile").0), (inferences, 2, 1));
        assert_eq!(of("ExecuteComputation").0, shown);
        let mean_ms = e2e_ns as f64 / shown as f64 / 1e6;
        let reported = reports["reports"][row]["e2e_avg_ms"].as_f64().unwrap();
        assert!((mean_ms - reported).abs() < 0.002, "{workers} workers: {mean_ms} ms shown, {reported} ms reported");
    }
    assert!(!f.join("run.json").exists(), "several rows have files of their own");
    let same = std::fs::read(f.join("run.1.json")).unwrap();
    stdout(&f, line);
    assert_eq!(std::fs::read(f.join("run.1.json")).unwrap(), same);

    let message = stderr(&f, "bench --device-type cpu --trace x.json");
    assert!(message.contains("--trace shows simulated runs"), "{message}");
}

#[test]
fn a_marked_step_records_its_ops_and_moves_its_inputs_in_each_call() {
    let f = Folder::new("workflow");
    let one = "--model nn --n-models 1 --workers-per-model 1 --duration 0.5 --jitter 0";
    let row = |line: &str| json(&stdout(&f, line))["reports"][0].clone();
    let (traced, marked) =
        (row(&format!("bench {one} --json")), row(&format!("bench {one} --workflow mark_step --json")));
    assert_eq!(traced, row(&format!("bench {one} --workflow trace --json")));
    assert_eq!((traced["workflow"].as_str(), marked["workflow"].as_str()), (Some("trace"), Some("mark_step")));
    assert_ne!(traced["model_filename"], marked["model_filename"]);
    let infer_ms = |row: &serde_json::Value| row["infer_avg_ms"].as_f64().unwrap();
    let ops = "nn".parse::<neuronscope::model::ModelSpec>().unwrap().trace(1).unwrap().recorded_ops();
    let costs = neuronscope::machine::cost::CostTable::neuroncore_v2();
    // The call of a traced model is an op, too.
    let recording_ms = ((ops - 1) * costs.runtime.record_op_ns) as f64 / 1e6;
    let more = infer_ms(&marked) - infer_ms(&traced);
    assert!((recording_ms..recording_ms + 0.05).contains(&more), "{more} ms, {recording_ms} ms of them recording");
    let part = |row: &serde_json::Value, key: &str| row[key].as_f64().unwrap();
    for row in [&traced, &marked] {
        let parts: f64 = ["host", "link", "device", "wait"].iter().map(|p| part(row, &format!("call_{p}_ms"))).sum();
        assert!((parts - infer_ms(row)).abs() < 0.002, "{row}");
    }
    assert!((part(&marked, "call_host_ms") - part(&traced, "call_host_ms") - recording_ms).abs() < 0.002);

    std::fs::write(f.join("run.json"), r#"{"model": "nn", "n_models": [1], "workers_per_model": [1], "duration": 0.5, "jitter": 0, "workflow": "mark_step"}"#).unwrap();
    assert_eq!(row("bench --config run.json --json"), marked);
    stdout(&f, &format!("bench {one} --workflow mark_step --trace trace.json"));
    let trace = std::fs::read_to_string(f.join("trace.json")).unwrap();
    for name in ["StepMarker", "SyncTensorsGraph", "TransferToServer", "CC Synchronization", "record ops"] {
        assert!(trace.contains(&format!("\"name\":\"{name}\"")), "{name}");
    }
    let message = stderr(&f, &format!("bench {one} --workflow eager"));
    assert!(message.contains("--workflow") && message.contains("mark_step, trace"), "{message}");
}

#[test]
fn casts_are_swept_compiled_into_an_index_and_run_from_it() {
    let f = Folder::new("casts");
    let one = "--model nn --n-models 1 --workers-per-model 1 --duration 0.5";
    let flags = |line: &str| -> Vec<(String, f64)> {
        let reports = json(&stdout(&f, line))["reports"].as_array().unwrap().clone();
        let row = |r: &serde_json::Value| {
            (r["compiler_args"].as_str().unwrap().to_owned(), r["throughput_window"].as_f64().unwrap())
        };
        reports.iter().map(row).collect()
    };
    let swept = flags(&format!("bench {one} --auto-cast none,matmult --auto-cast-type bf16,fp16 -O 1,2 --json"));
    let names: Vec<&str> = swept.iter().map(|(flags, _)| flags.as_str()).collect();
    assert_eq!(names.len(), 6, "{names:?}");
    assert_eq!((names[0], names[1]), ("--auto-cast none -O1", "--auto-cast none -O2"));
    let table = stdout(&f, &format!("bench {one} --auto-cast none,matmult"));
    assert!(table.lines().next().unwrap().ends_with("compiler_args"), "{table}");
    // A row of a sweep is the row of that configuration alone.
    let alone = flags(&format!("bench {one} --auto-cast matmult --auto-cast-type fp16 -O 1 --json"));
    assert_eq!(swept[4], alone[0]);
    stdout(&f, "compile --model nn --auto-cast none,all --filename casts.json");
    let index = json(&std::fs::read_to_string(f.join("casts.json")).unwrap());
    let casts: Vec<_> = index["model_configs"].as_array().unwrap().iter().map(|e| e["auto_cast"].clone()).collect();
    assert_eq!(casts, ["none", "all"]);
    let run = flags("bench casts.json --n-models 1 --workers-per-model 1 --duration 0.5 --json");
    let run: Vec<&str> = run.iter().map(|(flags, _)| flags.as_str()).collect();
    assert_eq!(run, ["--auto-cast none -O2", "--auto-cast all --auto-cast-type bf16 -O2"]);
    assert!(stderr(&f, &format!("bench {one} --auto-cast some")).contains("use none, matmult or all"));
    assert!(stderr(&f, "report casts.json").contains("is a model index, not results"));
}

#[test]
fn user_metrics_and_a_system_of_given_times_are_listed() {
    let f = Folder::new("own-metrics");
    std::fs::write(f.join("a.csv"), "score,target\n0.9,1\n0.6,0\n0.4,1\n0.1,0\n").unwrap();
    let said =
        stdout(&f, "evaluate a.csv --register balanced=(TPR+TNR)/2 --register hits=recall --metrics balanced,hits");
    let rows = "How good the answers are\nMetric    Value\nbalanced  0.5\nhits      0.5\n";
    assert_eq!(said, format!("Answers in a.csv: 4 records of 1 output\n\n{rows}"));
    // The study of values judges the same answers, and its page shows the same table.
    let judged = stdout(&f, "numerics --dataset a.csv --eval-metrics recall --answers");
    assert!(judged.contains("recall  0.5\n") && judged.contains("# with the data set above"), "{judged}");
    let none = stderr(&f, "numerics --dataset a.csv --answers");
    assert!(none.contains("--eval-metrics"), "{none}");
    std::fs::write(f.join("b.csv"), "score,target\n0.9,1\nx,0\n").unwrap();
    let wrong = stderr(&f, "evaluate b.csv");
    assert_eq!(wrong, "neuronscope: b.csv: cannot be evaluated: line 3: value 1 is 'x', not a number\n");
    let wrong = stderr(&f, "evaluate a.csv --register x=TP+ --metrics x");
    assert!(wrong.contains("--register") && wrong.contains("something is missing"), "{wrong}");
    assert!(stdout(&f, "models").contains("fixed: a system given by its stage times"));
    let berts = stdout(&f, "models BERT");
    assert!(berts.starts_with("bert-base-uncased: ") && !berts.contains("resnet50"), "{berts}");
    let row =
        "bench --model nn --device-type cpu --n-models 1 --workers-per-model 1 --duration 0.2 --preprocess 2ms --json";
    let report = json(&stdout(&f, row))["reports"][0].clone();
    assert!(report["preprocess_avg_ms"].as_f64().unwrap() >= 2.0 && report["latency_ms_p0"].as_f64().unwrap() >= 2.0);
}
