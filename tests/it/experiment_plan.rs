//! Plans of experiments and the verifier, compared with the results of PyTorch/XLA's own code.

use std::path::PathBuf;
use std::process::Command;

use neuronscope::experiment::plan::{ModelFilter, partition};
use serde_json::Value;

use crate::folder::Folder;

/// A file of the suite's fixtures.
pub fn xla(path: &str) -> PathBuf {
    [env!("CARGO_MANIFEST_DIR"), "tests", "it", "fixtures", "xla", path].iter().collect()
}

fn json_file(path: &str) -> Value {
    serde_json::from_slice(&std::fs::read(xla(path)).unwrap()).unwrap()
}

fn run(args: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn strings(value: &Value) -> Vec<&str> {
    value.as_array().unwrap().iter().map(|v| v.as_str().unwrap()).collect()
}

/// Configurations as sorted lines: their order is not defined.
fn as_set(configs: &Value) -> Vec<String> {
    let mut lines: Vec<String> = configs.as_array().unwrap().iter().map(Value::to_string).collect();
    lines.sort();
    lines
}

#[test]
fn every_expansion_is_the_suites() {
    for rules in ["seed", "head"] {
        for case in json_file(&format!("runner/expansion_{rules}.json"))["expansion"].as_array().unwrap() {
            let devices = strings(&case["xla_devices"]).join(",");
            let mut args = vec!["experiment", "--dry-run", "--json", "--rules", rules, "--xla-devices", &devices];
            args.extend(strings(&case["argv"]));
            let found = run(&args);
            assert_eq!(found["error"], case["error"], "{args:?}");
            if case["configs"].is_null() {
                assert!(found["configs"].is_null());
            } else {
                assert_eq!(as_set(&found["configs"]), as_set(&case["configs"]), "{args:?}");
            }
        }
    }
}

#[test]
fn partitions_and_filters_are_the_suites() {
    for rules in ["seed", "head"] {
        let file = json_file(&format!("runner/expansion_{rules}.json"));
        let number = |case: &Value, key: &str| usize::try_from(case[key].as_u64().unwrap()).unwrap();
        for case in file["partitions"].as_array().unwrap() {
            let part =
                partition(number(case, "length"), number(case, "total_partitions"), number(case, "partition_id"));
            let (start, end) = (number(case, "start"), number(case, "end"));
            assert_eq!((part.start, part.end), (start, end), "{case}");
        }
        for case in file["filters"].as_array().unwrap() {
            let owned = |key: &str| strings(&case[key]).into_iter().map(str::to_owned).collect::<Vec<_>>();
            let tiers =
                |key: &str| case[key].as_array().unwrap().iter().map(|t| t.as_i64().unwrap()).collect::<Vec<_>>();
            let (wanted, unwanted) = (tiers("filter_by_tier"), tiers("exclude_by_tier"));
            let filter = ModelFilter::new(&owned("filter"), &owned("exclude"), &wanted, &unwanted).unwrap();
            let kept: Vec<&str> = strings(&case["names"]).into_iter().filter(|n| filter.keeps(n)).collect();
            assert_eq!(kept, strings(&case["selected"]), "{case}");
        }
    }
}

#[test]
fn every_verdict_is_the_suites_to_the_last_bit() {
    for (rules, file, error_key) in
        [("mre", "mean_rel_error_cases", "verification_mean_rel_error"), ("current", "same_cases", "exception")]
    {
        let path = xla(&format!("verifier/{file}.json"));
        let found = run(&["verify", "--cases", path.to_str().unwrap(), "--rules", rules, "--json"]);
        let cases = json_file(&format!("verifier/{file}.json"));
        assert_eq!(found.as_array().unwrap().len(), cases.as_array().unwrap().len());
        for (found, case) in found.as_array().unwrap().iter().zip(cases.as_array().unwrap()) {
            assert_eq!(found["id"], case["id"]);
            assert_eq!(found["code"], case["expect"]["verification_code"], "{}", case["id"]);
            assert_eq!(found["error"], case["expect"][error_key], "{}", case["id"]);
        }
    }
}

#[test]
fn a_dry_run_names_models_and_configurations() {
    let args = [
        "experiment",
        "--dry-run",
        "--suite-name=torchbench",
        "-k",
        "^resnet",
        "-x",
        "152",
        "--accelerator=inf2",
        "--test=eval",
        "--dynamo=openxla",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[..2], ["Number of selected experiment configs: 1", "Number of selected model configs: 2"]);
    let expected = r#"Run with --model-config={"model_name": "resnet18"} --experiment-config={"accelerator": "inf2", "xla": "PJRT", "xla_flags": null, "dynamo": "openxla", "torch_xla2": null, "test": "eval", "enable_functionalization": false}"#;
    assert_eq!(lines[2], expected);
    assert_eq!(lines.len(), 4);
}

#[test]
fn a_run_is_taken_up_where_it_stopped_and_failures_can_be_tried_again() {
    let folder = Folder::new("experiment_run");
    let output_dir = format!("--output-dirname={}", folder.display());
    let go = |more: &[&str]| {
        let mut args = vec![
            "experiment",
            &output_dir,
            "--timestamp=1000.5",
            "--repeat=4",
            "--accelerator=trn1",
            "--accelerator=cpu",
        ];
        args.extend(more);
        let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.success(), "{stderr}");
        let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap();
        let records: Vec<Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
        (stderr, records)
    };
    let (stderr, records) = go(&[]);
    assert!(stderr.ends_with("12 experiments ran\n"), "{stderr}");
    for record in &records {
        assert_eq!(record["metrics"]["total_time"].as_array().unwrap().len(), 4, "{record}");
        assert_eq!(
            (&record["timestamp"], &record["verification_code"]),
            (&Value::from(1000.5), &Value::from("VERIFIER_SKIPPED"))
        );
    }
    assert!(
        go(&[]).0.ends_with(
            "0 experiments ran, 12 have their records already and were skipped: --no-resume runs them again\n"
        )
    );
    assert!(
        go(&["--retry-failed"]).0.ends_with(
            "0 experiments ran, 12 have their records already and were skipped: --no-resume runs them again\n"
        )
    );
    // Another number of iterations is another experiment; one that takes too long fails, and is tried again on demand.
    let hang = [
        "--iterations-per-run=100000",
        "--accelerator=cpu",
        "--test=eval",
        "--dynamo=inductor",
        "--subprocess-timeout=0.2",
    ];
    let (stderr, records) = go(&hang);
    assert!(stderr.contains("the experiment timed out after 0.2 seconds"), "{stderr}");
    assert_eq!(records.len(), 13);
    assert_eq!(records[12]["verification_code"], "VERIFIER_DIDNT_RUN");
    assert!(
        go(&hang)
            .0
            .ends_with("0 experiments ran, 1 has its record already and was skipped: --no-resume runs it again\n")
    );
    let (stderr, records) = go(&[&hang[..], &["--retry-failed"]].concat());
    assert!(stderr.ends_with("1 experiment ran\n"), "{stderr}");
    assert_eq!(records.len(), 14);
    let (_, records) = go(&["--no-resume", "--test=eval", "--xla=PJRT", "--verify"]);
    assert_eq!(records.len(), 4);
    assert!(records.iter().all(|r| r["verification_code"] == "PASS" && r["metrics"] == serde_json::json!({})));
}

#[test]
fn products_are_timed_against_a_baseline() {
    let args = [
        "matmul-bench",
        "--from=256",
        "--to=512",
        "--step=256",
        "--dtypes=float32,bfloat16",
        "--baseline=trn1",
        "--device=trn2",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().count(), 4);
    assert!(text.starts_with("matmul-float32-lhs256x256-rhs256x256: speedup="), "{text}");
    let same =
        ["matmul-bench", "--from=64", "--to=64", "--dtypes=float32", "--baseline=inf2", "--device=inf2", "--json"];
    assert_eq!(run(&same)["speedup"], 1.0);
}

#[test]
fn a_plan_that_the_suite_ends_with_an_exception_is_a_sentence() {
    let args = [
        "experiment",
        "--rules=head",
        "--accelerator=cuda",
        "--xla=PJRT",
        "--dynamo=openxla",
        "--test=eval",
        "--dry-run",
    ];
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("neuronscope: --rules head: the suite has no XLA device for a GPU"), "{said}");
    assert!(!output.status.success() && said.contains("use --rules seed or neuron"), "{said}");
}
