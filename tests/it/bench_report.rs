//! Results of other tools in our table: real files, through the library and through `neuronscope report`.

use std::path::PathBuf;
use std::process::{Command, Output};

use neuronscope::bench::export::{CSV_COLS, TableOptions, to_csv, to_table};
use neuronscope::bench::import::read_reports;
use neuronscope::bench::verdict;

use crate::folder::Folder;

fn fixture(name: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "it", "fixtures", "bench", name].iter().collect()
}

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(fixture(name)).unwrap()
}

fn neuronscope(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap()
}

fn stdout(args: &[&str]) -> String {
    let output = neuronscope(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn neuronperfs_sample_table() {
    let read = read_reports("neuronperf_model_neuron_b1.csv", &bytes("neuronperf_model_neuron_b1.csv")).unwrap();
    insta::assert_snapshot!(to_table(&read.reports, &TableOptions::default()));
    let workers: Vec<u32> = read.reports.iter().map(|r| r.workers_per_model).collect();
    assert_eq!(workers, [1, 1, 2, 2], "the older table counts the workers of all copies");
    assert!(read.reports.iter().all(|r| r.source == "imported" && r.multiprocess && !r.multiinterpreter));
    assert_eq!(read.reports[3].load_avg_ms, Some(303.916));
    insta::assert_snapshot!(verdict(&read.reports).unwrap());
}

#[test]
fn pytorch_xlas_results() {
    let read = read_reports("ptxla_bench_a6000.jsonl", &bytes("ptxla_bench_a6000.jsonl")).unwrap();
    let cols =
        ["model_name", "device_type", "batch_size", "status", "throughput_avg", "latency_ms_p50", "warmup_avg_ms"];
    insta::assert_snapshot!(to_csv(&read.reports, &cols).unwrap());
}

#[test]
fn imported_and_own_rows_stand_side_by_side() {
    let folder = Folder::new("side-by-side");
    let own = folder.join("own.json");
    let line = "bench --model fixed --device-ms 0.03 --instance inf1.6xlarge --duration 3 --verbosity 0 --json";
    std::fs::write(&own, stdout(&line.split(' ').collect::<Vec<_>>())).unwrap();
    let sample = fixture("neuronperf_model_neuron_b1.csv");
    let args = ["report", sample.to_str().unwrap(), own.to_str().unwrap(), "--csv", "--sort-by", "throughput_avg"];
    let csv = stdout(&[&args[..], &["--reverse", "--cols", "source,n_models,throughput_avg"]].concat());
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!((rows[0], rows.len()), ("source,n_models,throughput_avg", 9));
    assert_eq!(rows[1..].iter().filter(|r| r.starts_with("imported,")).count(), 8);
    let json = stdout(&["report", own.to_str().unwrap(), "--json"]);
    assert!(json.contains("\"source\": \"imported\"") && !json.contains("NaN"));
}

#[test]
fn timers_become_the_reports_of_their_run() {
    let folder = Folder::new("timers");
    let file = folder.join("timers.json");
    let base = [
        "bench",
        "--model",
        "fixed",
        "--device-ms",
        "1",
        "--instance",
        "inf1.xlarge",
        "--duration",
        "3",
        "--seed",
        "9",
    ];
    std::fs::write(&file, stdout(&[&base[..], &["--return-timers"]].concat())).unwrap();
    let run = stdout(&[&base[..], &["--csv"]].concat());
    assert_eq!(stdout(&["report", file.to_str().unwrap(), "--csv"]), run);
    assert!(run.starts_with(&CSV_COLS.join(",")));
}

#[test]
fn a_sweep_goes_on_where_it_was_left() {
    let folder = Folder::new("resume");
    let kept = folder.join("kept.json");
    let base = ["bench", "--model", "fixed", "--device-ms", "1", "--duration", "2", "--verbosity", "1", "--csv"];
    let resume = ["--resume", kept.to_str().unwrap()];
    let first = stdout(&[&base[..], &resume].concat());
    let again = neuronscope(&[&base[..], &resume].concat());
    assert_eq!(String::from_utf8(again.stdout).unwrap(), first);
    let said = String::from_utf8(again.stderr).unwrap();
    assert!(said.contains("4 configurations finished in an earlier run") && !said.contains("Benchmarking"), "{said}");
}

#[test]
fn log_lines_are_neuronperfs() {
    let line = "bench --model fixed --device-ms 1 --n-models 1 --workers-per-model 2 --duration 2 --verbosity 2";
    let said = String::from_utf8(neuronscope(&line.split(' ').collect::<Vec<_>>()).stderr).unwrap();
    assert!(
        said.contains("INFO:neuronperf.benchmarking - Benchmarking 'fixed:device_ms=1', ~2 seconds remaining."),
        "{said}"
    );
    assert!(said.contains("DEBUG:neuronperf.benchmarking - Benchmarker 0, Worker 1 finished after "), "{said}");
    let silent = line.replace("--verbosity 2", "--verbosity 0");
    assert!(neuronscope(&silent.split(' ').collect::<Vec<_>>()).stderr.is_empty());
}

#[test]
fn wrong_files_and_keys_say_so() {
    let said = |args: &[&str]| String::from_utf8(neuronscope(args).stderr).unwrap();
    assert!(said(&["report", "no/such.csv"]).contains("no/such.csv: cannot be read"));
    let license = concat!(env!("CARGO_MANIFEST_DIR"), "/LICENSE");
    assert!(said(&["report", license]).contains("no benchmark results were found"));
    assert!(said(&["bench", "--cols", "speed"]).contains("no report has the key 'speed'"));
}
