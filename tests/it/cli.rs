//! The command line as users and scripts run it: only JSON on stdout, messages on stderr, exit codes.

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

use serde_json::Value;

use crate::folder::Folder;

fn neuronscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = neuronscope(args);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {stderr}");
    let only_notes = stderr.lines().all(|line| ["note: ", "INFO:", "ERROR:"].iter().any(|p| line.starts_with(p)));
    assert!(only_notes, "{args:?}: only notes belong on stderr, found {stderr}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[cfg(unix)]
#[test]
fn a_script_runs_where_python_has_the_package_and_is_explained_elsewhere() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new("run");
    let python = folder.join("python3");
    // Stands for a Python with the package: it prints its arguments, and ends as the script does.
    std::fs::write(&python, "#!/bin/sh\n[ \"$1\" = -c ] && exit 0\necho \"$@\"\nexit 3\n").unwrap();
    std::fs::set_permissions(&python, PermissionsExt::from_mode(0o755)).unwrap();
    let run = |path: &std::path::Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
        command.args(["run", "--instance", "inf2.xlarge", "mine.py", "--n_models", "True"]).env("PATH", path);
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, out, err) = run(&folder);
    assert_eq!((code, &*out), (Some(1), "-m neuronscope --instance inf2.xlarge mine.py --n_models True\n"), "{err}");
    assert!(err.contains("the script ended with exit status: 3"), "{err}");
    let (code, _, err) = run(&folder.join("empty"));
    assert!(code == Some(1) && err.contains("no Python here (python3, python) has the package neuronscope"), "{err}");
}

/// The message of a run that must fail with exit code 1.
fn failure(args: &[&str]) -> String {
    let output = neuronscope(args);
    assert_eq!(output.status.code(), Some(1), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}: a failed run prints nothing on stdout");
    String::from_utf8(output.stderr).unwrap()
}

/// `2>&1 | head -1` closes what a command has more to say to.
#[test]
fn whoever_closes_stderr_or_stdout_ends_no_command_in_a_panic() {
    for words in [&["open", "nothing.json"][..], &["bench", "--model", "none"], &["bench", "nn", "--duration", "1"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
        let mut child = command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        (child.stdout, child.stderr) = (None, None);
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 1)), "{words:?}: {code:?}");
    }
}

fn fixture(name: &str) -> String {
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests", "it", "fixtures", "traces", name].iter().collect();
    path.to_str().unwrap().to_owned()
}

#[test]
fn bench_json_has_the_four_default_rows_and_repeats_to_the_byte() {
    let args = ["bench", "--model", "nn", "--duration", "2", "--json"];
    let reports = json(&args)["reports"].as_array().unwrap().clone();
    let of = |r: &Value| (r["n_models"].as_u64().unwrap(), r["workers_per_model"].as_u64().unwrap());
    assert_eq!(reports.iter().map(of).collect::<Vec<_>>(), [(1, 1), (2, 1), (1, 2), (2, 2)]);
    for r in &reports {
        assert_eq!(r["status"], "finished");
        assert_eq!(r["instance_type"], "trn1.2xlarge");
        assert!(r["throughput_avg"].as_f64().unwrap() > 0.0);
        assert!(r["latency_ms_p50"].as_f64() <= r["latency_ms_p99"].as_f64());
        assert_eq!((&r["cpu_avg_percent"], &r["mem_avg_percent"]), (&Value::Null, &Value::Null));
    }
    assert_eq!(neuronscope(&args).stdout, neuronscope(&args).stdout);
    let other_seed = neuronscope(&["bench", "--model", "nn", "--duration", "2", "--seed", "1", "--json"]).stdout;
    assert_ne!(neuronscope(&args).stdout, other_seed);
}

#[test]
fn a_configuration_that_cannot_run_is_a_row_with_its_error() {
    let args =
        ["bench", "--model", "nn", "--n-models", "1,64", "--workers-per-model", "1", "--duration", "1", "--json"];
    let reports = json(&args)["reports"].clone();
    assert_eq!(reports[0]["status"], "finished");
    assert_eq!(reports[1]["status"], "error");
    assert!(reports[1]["error"].as_str().unwrap().contains("trn1.2xlarge has 2"), "{}", reports[1]["error"]);
    // No row of this run finished: its rows are printed, and the exit code says so.
    let too_big = ["bench", "--model", "matmult:n=16384,loop_count=50", "--duration", "1", "--json"];
    let output = neuronscope(&too_big);
    assert_eq!(output.status.code(), Some(1));
    let reports: Value = serde_json::from_slice(&output.stdout).unwrap();
    let error = reports["reports"][0]["error"].as_str().unwrap();
    assert!(error.contains("instructions") && error.contains("loop count"), "{error}");
}

/// The sample table of NeuronPerf's benchmark guide: models, workers, throughput, p50, p99.
const GUIDE: [(u64, u64, f64, f64, f64); 4] = [
    (1, 1, 307.25, 3.251, 3.277),
    (16, 1, 2746.0, 5.641, 6.82),
    (1, 2, 329.5, 6.053, 6.108),
    (16, 2, 2809.0, 10.246, 12.52),
];

#[test]
fn the_guides_system_gives_the_guides_rows() {
    // By its parts, and by what one copy measures and the size of its input.
    for system in [
        "--device-ms 2.895 --host-ms 0.216 --transfer-ms 0.140",
        "--device-ms 3.035 --host-ms 0.216 --inputs 1x3x224x224",
    ] {
        let args = format!("bench --model fixed {system} --instance inf1.6xlarge --json");
        rows_are_the_guides(json(&args.split(' ').collect::<Vec<_>>())["reports"].as_array().unwrap());
    }
}

fn rows_are_the_guides(reports: &[Value]) {
    assert_eq!(reports.len(), 4);
    for (report, (n_models, workers, throughput, p50, p99)) in reports.iter().zip(GUIDE) {
        assert_eq!((&report["n_models"], &report["workers_per_model"]), (&n_models.into(), &workers.into()));
        for (key, published, within) in
            [("throughput_avg", throughput, 0.05), ("latency_ms_p50", p50, 0.15), ("latency_ms_p99", p99, 0.25)]
        {
            let ours = report[key].as_f64().unwrap();
            let off = (ours / published - 1.0).abs();
            assert!(off < within, "{n_models} x {workers} {key}: {ours} against {published}");
        }
    }
}

#[test]
fn parameters_in_neuronperfs_names_change_the_run() {
    let run = |more: &str| {
        let base =
            "bench --model fixed --device-ms 1 --n-models 2 --workers-per-model 1 --duration 4 --jitter 0 --json";
        let line = format!("{base} {more}");
        json(&line.split_whitespace().collect::<Vec<_>>())["reports"][0].clone()
    };
    let number = |report: &Value, key: &str| report[key].as_f64().unwrap();
    assert_eq!(number(&run(""), "throughput_window"), 2_000.0);
    assert_eq!(number(&run("--postprocess 1ms"), "throughput_window"), 1_000.0);
    let shared = run("--postprocess 1ms --multiprocess false");
    assert!((number(&shared, "throughput_window") - 1_000.0).abs() < 1.0 && shared["multiprocess"] == false);
    let bound = run("--postprocess 3ms --multiprocess false");
    assert!((number(&bound, "throughput_window") - 333.3).abs() < 1.0, "{}", bound["throughput_window"]);
    let dataset = run("--dataset 500");
    assert_eq!((number(&dataset, "total_infs"), number(&dataset, "total_s")), (1_002.0, 0.5));
    let original = run("--load-ms 1000 --duration-accounting original");
    // Two copies, in 4 s less a second of load and a warm-up inference of 1 ms.
    assert_eq!((number(&original, "total_infs"), number(&original, "total_s")), (2.0 * 2_999.0 + 2.0, 4.0));
    assert!(failure(&["bench", "--device-ms", "3"]).contains("needs --model fixed"));
    assert!(failure(&["bench", "--preprocess", "resize"]).contains("--preprocess: 'resize' is not a step"));
    assert!(failure(&["bench", "--device-type", "gpu"]).contains("use neuron or cpu"));
    let wrong = neuronscope(&["bench", "--model", "nn", "--inputs", "1x3", "--duration", "2", "--json"]);
    let reports: Value = serde_json::from_slice(&wrong.stdout).unwrap();
    let error = reports["reports"][0]["error"].as_str().unwrap();
    assert!(wrong.status.code() == Some(1) && error.starts_with("inputs: nn at batch size 1 takes"), "{error}");
}

#[test]
fn profile_json_is_the_contract() {
    for workflow in ["mark_step", "trace"] {
        let profile = json(&["profile", "--model", "nn", "--workflow", workflow, "--json"]);
        let keys: Vec<&String> = profile.as_object().unwrap().keys().collect();
        let contract = [
            "device_window_ns",
            "framework_ops",
            "hlo_ops",
            "modelled_compile_s",
            "modelled_load_ms",
            "step",
            "timeline_events",
        ];
        assert_eq!(keys, contract);
        let ops = profile["hlo_ops"].as_array().unwrap();
        assert_eq!(ops.len(), 3);
        let total: f64 = ops.iter().map(|o| o["time_percent"].as_f64().unwrap()).sum();
        assert!((total - 100.0).abs() < 0.05, "{total}");
        let keys: Vec<&String> = ops[0].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["core", "device", "name", "occurrences", "time_ns", "time_percent"]);
    }
}

#[test]
fn a_profile_is_of_the_batch_size_that_was_asked_for() {
    let flops = |batch: &[&str]| {
        let args = [&["profile", "--model", "distilbert-base-uncased", "--summary", "--json"], batch].concat();
        json(&args)["model_flops"].as_u64().unwrap()
    };
    assert_eq!(flops(&["--batch-size", "8"]), 8 * flops(&[]));
}

#[test]
fn summary_json_is_the_contract() {
    let args = ["profile", "--model", "nn", "--workflow", "trace", "--summary", "--json"];
    let text = String::from_utf8(neuronscope(&args).stdout).unwrap();
    // The parsed object sorts its keys; the text has them in the documented order.
    let documented = [
        "\"total_time\"",
        "\"model_flops\"",
        "\"mfu_estimated_percent\"",
        "\"hbm_read_bytes\"",
        "\"tflops\"",
        "\"ns_per_layer\"",
        "\"bounds\"",
        "\"findings\"",
        "\"roofline\"",
        "\"utilisation\"",
    ];
    let places: Vec<usize> =
        documented.iter().map(|key| text.find(key).unwrap_or_else(|| panic!("no {key}"))).collect();
    assert!(places.is_sorted(), "{places:?}");
    let summary = json(&args);
    let window_ns = json(&["profile", "--model", "nn", "--workflow", "trace", "--json"])["device_window_ns"].clone();
    // Two layers.
    assert_eq!(summary["ns_per_layer"].as_f64().map(|ns| ns * 2.0), window_ns.as_f64());
    assert_eq!(summary["spill_reload_bytes"], 0);
    let first = &summary["findings"][0];
    let keys: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["detail", "effect", "evidence", "rule", "saves_ns", "slices", "time_ns", "title"]);
    assert_eq!((&first["rule"], &first["effect"]), (&"limiting_unit".into(), &"cost".into()));
    assert!(first["evidence"][0]["value"].is_number() && first["slices"].is_array());
    let has_slice = |finding: &Value| finding["slices"][0]["path"].is_string();
    assert!(summary["findings"].as_array().unwrap().iter().any(has_slice));
    assert_eq!(text.as_bytes(), neuronscope(&args).stdout);
    let table = String::from_utf8(neuronscope(&args[..args.len() - 1]).stdout).unwrap();
    for part in ["Metrics\n", "Performance bounds", "Lost time\n", "Findings\n1. Bound by "] {
        assert!(table.contains(part), "{table}");
    }
}

#[test]
fn the_written_timeline_opens_again_with_the_same_operators() {
    let folder = Folder::new("timeline");
    let file = folder.join("nn.json");
    let path = file.to_str().unwrap();
    let profile = json(&["profile", "--model", "nn", "--json", "--output", path]);
    let opened = json(&["open", path, "--json"]);
    assert_eq!(opened["by_phase"]["X"], profile["timeline_events"]);
    let dot = opened["operators"].as_array().unwrap().iter().find(|o| o["name"] == "aten__addmm_dot").cloned();
    assert!(dot.is_some_and(|d| d["count"].as_u64() >= Some(2)));
}

#[test]
fn open_json_is_the_contract() {
    let summary = json(&["open", &fixture("catapult_simple_trace.json"), "--json"]);
    assert_eq!(summary["format"], "chrome-trace-object");
    assert_eq!(summary["events"], 37);
    assert_eq!(summary["by_phase"]["B"], 8);
    assert_eq!(summary["span_ns"], 62_000);
    assert_eq!(
        summary["operators"][0],
        serde_json::json!({"name": "A", "count": 1, "total_ns": 27_000, "self_ns": 27_000})
    );
    assert_eq!(summary["diagnostics"][0]["code"], "end_name_mismatch");
}

#[test]
fn a_folder_of_runs_opens_with_their_tables() {
    let folder = Folder::new("runs");
    let run = folder.join("plugins/neuron/2022_10_14_19_22_22_16_7");
    std::fs::create_dir_all(&run).unwrap();
    std::fs::write(folder.join("events.out.tfevents.1"), "not a profile").unwrap();
    let table =
        r#"{"ops":[{"op_name":"dot","op_occurrences":2,"op_device":0,"op_core":0,"op_time":279}],"total_time":279}"#;
    std::fs::write(run.join("neuron_hlo_op.json"), table).unwrap();
    let output = neuronscope(&["open", &folder.to_string_lossy()]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success() && text.contains("operator-hlo"), "{text}");
    let row = text.lines().find(|line| line.starts_with("dot")).unwrap();
    assert_eq!(row.split_whitespace().take(5).collect::<Vec<_>>(), ["dot", "2", "0", "0", "279"]);
    assert!(text.contains("no neuron_framework_op.json and no neuron_op_timeline.json"), "{text}");
}

#[test]
fn messages_say_what_was_wrong_and_what_to_do() {
    assert!(failure(&["open", "no/such/file.json"]).contains("no/such/file.json: cannot be opened"));
    assert!(failure(&["open", concat!(env!("CARGO_MANIFEST_DIR"), "/LICENSE")]).contains("expected"));
    assert!(failure(&["profile", "--model", "resnet9000"]).contains("unknown model"));
    assert!(failure(&["profile", "--model", "matmult:n=0"]).contains("n=0"));
    assert!(failure(&["profile", "--model", "nn", "--instance", "trn9.huge"]).contains("trn1.2xlarge"));
    assert!(failure(&["bench", "--duration", "-1"]).contains("duration"));
    assert!(failure(&["bench", "--n-models", "0"]).contains("--n-models"));
    assert!(
        failure(&["open", "https://host/trace.json"])
            .ends_with("nothing is fetched: download the file and name it here\n")
    );
    assert!(failure(&["open", "no-such-*.json"]).contains("no-such-*.json: no file has a name like this"));
    assert!(failure(&["matmult", "1024"]).contains("--matrix_dim 1024 gives matrices of this size"));
    assert_eq!(neuronscope(&["bench", "--no-such-flag"]).status.code(), Some(2));
}

#[test]
fn models_are_listed_with_their_parameters() {
    let models = json(&["models", "--json"]);
    let names: Vec<&str> = models.as_array().unwrap().iter().map(|m| m["name"].as_str().unwrap()).collect();
    assert_eq!(names[0], "nn");
    assert!(names.contains(&"matmult") && names.contains(&"mlp"), "{names:?}");
}

#[test]
fn numerics_prints_both_sides_and_its_verdict() {
    let text = String::from_utf8(neuronscope(&["numerics", "--model", "nn"]).stdout).unwrap();
    for part in ["\nPASS The output keeps within", "\nOutput 0: f32[4,2] ", "\nCPU, output 0\n", "\nDevice, output 0\n"]
    {
        assert!(text.contains(part), "{part}: {text}");
    }
    let report = json(&["numerics", "--model", "nn", "--auto-cast", "all", "--rounding", "stochastic", "--json"]);
    assert_eq!((&report["status"], &report["core"]), (&"PASS".into(), &"NeuronCore-v2".into()));
    let without = ["numerics", "--model", "matmult:n=16,loop_count=200,add_bias=false,normalize=true", "--json"];
    let failed = neuronscope(&without);
    let report: Value = serde_json::from_slice(&failed.stdout).unwrap();
    assert!(report["first_nan"]["path"].as_str().unwrap().starts_with("Matmult[model]/"));
    assert_eq!((failed.status.code(), &report["status"]), (Some(1), &"FAIL".into()));
    assert!(failure(&["numerics", "--model", "llama-2-7b"]).contains("at most"));
}

#[test]
fn compiler_flags_reach_profile_and_bench() {
    let window = |flags: &[&str]| {
        let args = [&["profile", "--model", "matmult:n=512,loop_count=4", "--json"], flags].concat();
        json(&args)["device_window_ns"].as_u64().unwrap()
    };
    let default = window(&[]);
    assert_eq!(window(&["--instance", "trn2"]), window(&["--instance", "trn2.3xlarge"]));
    assert_eq!(default, window(&["--auto-cast", "matmult", "--auto-cast-type", "bf16", "-O2"]));
    assert!(window(&["--auto-cast", "none"]) > 2 * default);
    let throughput = |flags: &[&str]| {
        let common = ["bench", "--model", "resnet18", "--n-models", "1", "--workers-per-model", "1", "--json"];
        let args = [&common[..], &["--duration", "2"], flags].concat();
        json(&args)["reports"][0]["throughput_avg"].as_f64().unwrap()
    };
    assert!(throughput(&["--auto-cast", "none"]) < throughput(&[]));
    assert!(failure(&["profile", "--lnc", "2"]).contains("--lnc 2"));
    let cores = |lnc| json(&["bench", "--instance", "trn2.48xlarge", "--duration", "1", "--json", "--lnc", lnc]);
    let most = |reports: Value| reports["reports"].as_array().unwrap().iter().map(|r| r["n_models"].as_u64()).max();
    assert_eq!((most(cores("1")), most(cores("2"))), (Some(Some(128)), Some(Some(64))));
}

#[test]
fn devices_lists_every_figure_with_its_source() {
    let all = json(&["devices", "--json"]);
    let cores = all["cores"].as_array().unwrap();
    assert_eq!(cores.iter().map(|c| c["simulated"].as_bool().unwrap()).collect::<Vec<_>>(), [false, true, true, true]);
    for figure in cores.iter().chain(all["devices"].as_array().unwrap()).flat_map(|c| c["figures"].as_array().unwrap())
    {
        assert_eq!(figure["value"].is_null(), figure["status"] == "unpublished", "{figure}");
        assert!(figure["source"].as_str().is_some_and(|s| s.len() > 5), "{figure}");
    }
    assert!(String::from_utf8(neuronscope(&["devices"]).stdout).unwrap().contains("trn1.2xlarge"));
    let some = json(&["devices", "trn3", "--json"]);
    let count = |key: &str| some[key].as_array().unwrap().len();
    assert_eq!((count("cores"), count("devices"), count("instances")), (1, 1, 2));
    assert!(failure(&["devices", "p5"]).contains("unknown instance type 'p5'"));
}

#[test]
fn counters_are_listed_and_one_is_given_over_time() {
    let file = fixture("catapult_simple_trace.json");
    // An end of the file names another event than the open one, which is a remark beside the rows.
    let rows_of = |answer: serde_json::Value| {
        assert!(!answer["remarks"].as_array().unwrap().is_empty());
        answer["rows"].clone()
    };
    let rows = rows_of(json(&["counters", &file, "--json"]));
    assert_eq!(rows.as_array().unwrap().len(), 1);
    let name = rows[0]["counter"].as_str().unwrap();
    assert_eq!(
        (rows[0]["samples"].as_u64(), rows[0]["min"].as_f64(), rows[0]["max"].as_f64()),
        (Some(5), Some(1.0), Some(10.0))
    );
    // 10 from 8 us, 1 from 14, 5 from 21, 1 from 30 and 10 from 36 until the trace ends at 62.
    let curve = rows_of(json(&["counters", &file, "--curve", name, "--json"]));
    let points =
        curve.as_array().unwrap().iter().map(|p| (p["time_ns"].as_f64().unwrap(), p["value"].as_f64().unwrap()));
    let expected = [(8e3, 10.0), (14e3, 1.0), (21e3, 5.0), (30e3, 1.0), (36e3, 10.0), (62e3, 10.0)];
    assert_eq!(points.collect::<Vec<_>>(), expected);
    let part = rows_of(json(&["counters", &file, "--range", "15000..40000", "--json"]));
    assert_eq!((part[0]["samples"].as_u64(), part[0]["max"].as_f64()), (Some(3), Some(10.0)));
    let csv = neuronscope(&["counters", &file, "--curve", name, "--csv"]).stdout;
    assert!(String::from_utf8(csv).unwrap().starts_with("time_ns,value\n8000,10\n"));
    let text = String::from_utf8(neuronscope(&["counters", &file]).stdout).unwrap();
    assert!(text.contains("counter") && text.contains("10.000"), "{text}");
    assert!(failure(&["counters", &file, "--curve", "nothing"]).contains("there is no counter 'nothing'"));
}

#[test]
fn listings_have_all_rows_as_csv_and_say_how_many_there_are_as_text() {
    let folder = Folder::new("listing");
    let file = folder.join("many.json");
    let count = 10_050;
    let events: Vec<String> =
        (0..count).map(|i| format!(r#"{{"ph":"X","pid":1,"tid":1,"name":"mm","ts":{},"dur":1}}"#, i * 2)).collect();
    std::fs::write(&file, format!("[{}]", events.join(","))).unwrap();
    let file = file.to_str().unwrap();
    let lines = |args: &[&str]| String::from_utf8(neuronscope(args).stdout).unwrap().lines().count();
    assert_eq!(lines(&["operators", file, "--members", "mm", "--csv"]), 1 + count);
    assert_eq!(lines(&["idle", file, "--csv"]), count);
    assert_eq!(lines(&["query", file, "where dur > 0ns", "--csv"]), 1 + count);
    let text = String::from_utf8(neuronscope(&["operators", file, "--members", "mm", "--top", "5"]).stdout).unwrap();
    assert!(text.contains("... and 10045 more"), "{text}");
}
