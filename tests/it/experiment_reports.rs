//! Reports of experiments, compared with the output of PyTorch/XLA's own scripts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use neuronscope::experiment::aggregate::{
    AcceleratorChoice, Aggregator, Backend, BackendNames, Baseline, Metric, Report, ReportKind, Selection, Table,
    speedups,
};
use neuronscope::experiment::plan::{ModelFilter, Test};
use neuronscope::session::ExperimentView;
use proptest::prelude::*;
use serde_json::Value;

use crate::experiment_plan::xla;
use crate::folder::Folder;

fn manifest(name: &str) -> Vec<Value> {
    let text = fs::read(xla(name)).unwrap();
    serde_json::from_slice::<Value>(&text).unwrap().as_array().unwrap().clone()
}

fn argv(case: &Value) -> Vec<&str> {
    case["argv"].as_array().unwrap().iter().map(|a| a.as_str().unwrap()).collect()
}

fn neuronscope(command: &str, args: &[&str], folder: impl AsRef<Path>) -> Output {
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).arg(command).args(args).current_dir(folder).output().unwrap()
}

/// What `aggregate` prints of the suite's own two files.
pub fn aggregated(flags: &[&str], backends: &[&str]) -> String {
    let args = [flags, &["--backends"], backends, &["--", "v100.jsonl", "a6000.jsonl"]].concat();
    String::from_utf8(neuronscope("aggregate", &args, xla("upstream/inputs")).stdout).unwrap()
}

#[test]
fn every_aggregate_is_the_suites_to_the_byte() {
    for case in manifest("manifest_aggregate.json") {
        let output = neuronscope("aggregate", &argv(&case), xla(case["cwd"].as_str().unwrap()));
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(i64::from(output.status.code().unwrap()), case["rc"].as_i64().unwrap(), "{case}: {stderr}");
        let expected = fs::read(xla(case["stdout"].as_str().unwrap())).unwrap();
        assert_eq!(String::from_utf8(output.stdout), String::from_utf8(expected), "{case}");
        if case["peer_crash"].as_bool().unwrap() {
            assert!(stderr.starts_with("neuronscope: v100.jsonl:5: metrics.total_time must be a list"), "{stderr}");
        }
    }
}

#[test]
fn every_analysis_is_the_suites_to_the_byte_where_that_works() {
    for case in manifest("manifest_result_analyzer.json") {
        let id = case["id"].as_str().unwrap().replace('/', "-");
        let folder = Folder::new(&id);
        fs::create_dir_all(folder.join("out")).unwrap();
        for (name, source) in case["inputs"].as_object().unwrap() {
            fs::copy(xla(source.as_str().unwrap()), folder.join(name)).unwrap();
        }
        let output = neuronscope("analyze", &argv(&case), &folder);
        assert!(output.status.success(), "{id}: {}", String::from_utf8_lossy(&output.stderr));
        for name in case["outputs"].as_array().unwrap() {
            let name = name.as_str().unwrap();
            let golden = id.replace("result_analyzer-", "result_analyzer/cases/");
            let expected = fs::read_to_string(xla(&format!("{golden}/{name}"))).unwrap();
            let place = if name == "db.csv" { folder.join(name) } else { folder.join("out").join(name) };
            assert_eq!(fs::read_to_string(place).unwrap(), expected, "{id}: {name}");
        }
    }
}

#[test]
fn records_that_stop_the_suites_analyzer_are_analysed() {
    let folder = Folder::new("analyzer_better");
    for input in ["result_analyzer/inputs/real_cpu_dynamo_counters.jsonl", "upstream/inputs/a6000.jsonl"] {
        let name = input.rsplit('/').next().unwrap();
        fs::copy(xla(input), folder.join(name)).unwrap();
    }
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    fs::write(folder.join("bad.jsonl"), "{\n\n[1]\n{\"model\": {}}\n").unwrap();
    let args = ["--output-dirname=.", "--database=db.csv"];
    let output = neuronscope("analyze", &args, &folder);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{stderr}");
    assert!(stderr.contains("1 metrics are not lists of numbers"), "{stderr}");
    assert!(
        stderr.contains("./bad.jsonl:1: not a record")
            && stderr.contains("./bad.jsonl:4: not a record: it has no experiment"),
        "{stderr}"
    );
    let report = fs::read_to_string(folder.join("metric_report.csv")).unwrap();
    assert_eq!(report.lines().count(), 1 + 6);
    // A second run appends rows and no heading, and the JSON report is not read as a record.
    let jsonl = ["--output-dirname=.", "--output-format=jsonl"];
    assert!(neuronscope("analyze", &jsonl, &folder).status.success());
    assert!(neuronscope("analyze", &args, &folder).status.success());
    assert_eq!(fs::read_to_string(folder.join("db.csv")).unwrap().lines().count(), 1 + 2 * 6);
    let missing = neuronscope("analyze", &["--output-dirname=nowhere"], &folder);
    assert_eq!(missing.status.code(), Some(1));
}

#[test]
fn records_of_two_accelerators_are_each_compared_with_their_own() {
    let folder = Folder::new("two_accelerators");
    for name in ["v100.jsonl", "a6000.jsonl"] {
        fs::copy(xla(&format!("upstream/inputs/{name}")), folder.join(name)).unwrap();
    }
    let report = |args: &[&str]| {
        let output = neuronscope("aggregate", &[&["--report=latest"], args].concat(), &folder);
        (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    let (both, said) = report(&["--lenient", "v100.jsonl", "a6000.jsonl"]);
    assert!(said.contains("records of 2 accelerators are mixed, and each is compared with itself"), "{said}");
    // The speed-ups of a row are those that its accelerator has alone.
    let mut rows = 0;
    for line in both.lines().skip(1) {
        let cells: Vec<&str> = line.split(',').collect();
        let Some((model, accelerator)) = cells.get(3).and_then(|name| name.rsplit_once(" on ")) else { continue };
        let accelerator = format!("--accelerator={accelerator}");
        let (alone, _) = report(&[&accelerator, "v100.jsonl", "a6000.jsonl"]);
        assert!(alone.contains(&format!(",{},{},{model},", cells[1], cells[2])), "{line}: {alone}");
        rows += 1;
    }
    assert!(rows > 1, "{both}");
}

#[test]
fn bad_lines_are_fatal_or_counted() {
    let folder = Folder::new("aggregate_bad");
    let good = fs::read_to_string(xla("upstream/inputs/v100.jsonl")).unwrap();
    let first = good.lines().next().unwrap();
    let records = [
        first,
        "{\"cut",
        "",
        &first.replace("\"timestamp\"", "\"time\""),
        &first.replace("One of Tesla V100", "Tesla V100"),
        &first.replace("\"dynamo\": \"openxla\"", "\"dynamo\": \"aot\""),
        &first.replace("0.055821777787059546", "NaN"),
    ];
    fs::write(folder.join("bad.jsonl"), records.join("\n")).unwrap();
    fs::write(folder.join("empty.jsonl"), "").unwrap();
    let training = "--test=training";
    let plain = neuronscope("aggregate", &[training, "bad.jsonl"], &folder);
    let stderr = String::from_utf8(plain.stderr).unwrap();
    assert_eq!((plain.status.code(), plain.stdout.is_empty()), (Some(1), true));
    assert!(stderr.starts_with("neuronscope: bad.jsonl:2: not JSON: EOF while parsing a string"), "{stderr}");
    let args = ["--lenient", training, "--backends", "openxla+dynamo", "--", "."];
    let lenient = neuronscope("aggregate", &args, &folder);
    let stderr = String::from_utf8(lenient.stderr).unwrap();
    assert!(lenient.status.success(), "{stderr}");
    for part in [
        "4 lines cannot be used",
        "./bad.jsonl:3: the line is blank",
        "missing field `timestamp`",
        "dynamo=aot with xla=PJRT",
    ] {
        assert!(stderr.contains(part), "{part}: {stderr}");
    }
    assert!(stderr.contains("1 files are empty") && stderr.contains("accelerators are mixed"), "{stderr}");
    assert!(String::from_utf8(lenient.stdout).unwrap().ends_with(",nan,nan\n"));
    for (args, code) in [
        (vec!["empty.jsonl"], 1),
        (vec!["."], 1),
        (vec!["nowhere.jsonl"], 1),
        (vec!["--accelerator=tpu", "empty.jsonl"], 2),
        (vec!["--backends", "gcc", "--", "empty.jsonl"], 1),
        (vec!["--report=all", "empty.jsonl"], 2),
    ] {
        assert_eq!(neuronscope("aggregate", &args, &folder).status.code(), Some(code), "{args:?}");
    }
}

#[test]
fn where_no_record_is_left_the_refusal_says_what_they_are() {
    let folder = Folder::new("aggregate_left");
    let good = fs::read_to_string(xla("upstream/inputs/v100.jsonl")).unwrap();
    let of_training = good.lines().find(|line| line.contains("\"test\": \"train\"")).unwrap();
    fs::write(folder.join("train.jsonl"), of_training).unwrap();
    fs::write(folder.join("short.jsonl"), line(0, 1, 0, 1, &[]).replace("[1, 1, 1, ]", "[1, 1]")).unwrap();
    for (args, expected) in [
        (["--test=inference", "train.jsonl"], "no results found: 1 records are of --test train"),
        (["--test=training", "short.jsonl"], "no results found: 1 records are of --test eval"),
        (["--accelerator=a100", "train.jsonl"], "no results found: 1 records are of another accelerator"),
        (["--filter=^x$", "short.jsonl"], "no results found: 1 records are of models that the filters leave out"),
        (
            ["--metric=exec", "short.jsonl"],
            "no results found: 1 records have 3 repeats or fewer, which are the warm-up: run them with --repeat 4 or more",
        ),
    ] {
        let output = neuronscope("aggregate", &args, &folder);
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.trim_end().ends_with(expected), "{args:?}: {stderr}");
    }
}

fn report(lines: &[String], kind: ReportKind, baseline: Baseline, backends: &[Backend]) -> Option<Table> {
    let mut records = Aggregator::new(Selection {
        accelerator: AcceleratorChoice::Any,
        models: ModelFilter::default(),
        test: Test::Eval,
        metric: Metric::Execution,
        lenient: false,
    });
    for line in lines {
        records.push_line(line.as_bytes(), String::new).unwrap();
    }
    let times = speedups(&records, backends, baseline).ok()?;
    Report { kind, times: &times, backends, baseline, names: BackendNames::Suite }.table()
}

fn line(timestamp: u8, backend: usize, model: u8, batch: u8, times: &[f64]) -> String {
    let (xla, dynamo) = [("null", "null"), ("null", "\"inductor\""), ("\"PJRT\"", "\"openxla\"")][backend];
    format!(
        r#"{{"model": {{"model_name": "m{model}"}}, "experiment": {{"accelerator_model": "x", "xla": {xla}, "dynamo": {dynamo}, "test": "eval", "batch_size": {batch}}}, "metrics": {{"total_time": [1, 1, 1, {}]}}, "timestamp": {timestamp}}}"#,
        times.iter().map(f64::to_string).collect::<Vec<_>>().join(", ")
    )
}

const KINDS: [ReportKind; 5] =
    [ReportKind::Latest, ReportKind::LatestGrouped, ReportKind::Histogram, ReportKind::Speedup, ReportKind::Changes];

proptest! {
    /// Records of distinct series give the same reports in any order of lines or files, and the speed-up of the baseline over
    /// itself is 1.
    #[test]
    fn order_changes_nothing_and_the_baseline_is_one(
        series in prop::collection::btree_map((0u8..3, 0usize..3, 0u8..4, 1u8..3), prop::collection::vec(0.01f64..10.0, 1..4), 1..24),
        seed in any::<u64>(),
    ) {
        let lines: Vec<String> = series.iter().map(|((t, b, m, n), times)| line(*t, *b, *m, *n, times)).collect();
        let mut shuffled = lines.clone();
        shuffled.sort_by_key(|line| line.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3)));
        let backends = [Backend::Inductor, Backend::Eager, Backend::OpenxlaDynamo];
        for kind in KINDS {
            for baseline in [Baseline::Oldest, Baseline::Latest] {
                let table = report(&lines, kind, baseline, &backends).map(|t| (t.to_csv(), t.to_framed()));
                let again = report(&shuffled, kind, baseline, &backends).map(|t| (t.to_csv(), t.to_framed()));
                prop_assert_eq!(table, again);
            }
        }
        // At its first date the baseline has only its oldest times.
        let speedup = report(&lines, ReportKind::Speedup, Baseline::Oldest, &backends[..1]).unwrap().to_csv();
        if let Some(first) = speedup.lines().nth(1) {
            prop_assert_eq!(first.split(',').nth(1), Some("1.0"));
        }
        if let Some(latest) = report(&lines, ReportKind::Latest, Baseline::Latest, &backends[..1]) {
            for row in latest.to_csv().lines().skip(1) {
                prop_assert_eq!(row.split(',').nth(1), Some("1.0"));
            }
        }
    }
}

#[test]
fn steps_and_regressions_are_those_of_asv() {
    use neuronscope::experiment::regression::{detect_steps, find_regressions};
    let file: Value = serde_json::from_slice(&fs::read(xla("regression/asv_step_detect.json")).unwrap()).unwrap();
    let near =
        |found: f64, expected: &Value| (found - expected.as_f64().unwrap()).abs() <= 1e-12 * found.abs().max(1.0);
    for case in file["cases"].as_array().unwrap() {
        let id = &case["id"];
        let series: Vec<Option<f64>> = case["y"].as_array().unwrap().iter().map(Value::as_f64).collect();
        let steps = detect_steps(&series);
        assert_eq!(steps.len(), case["steps"].as_array().unwrap().len(), "{id}: {steps:?}");
        for (found, expected) in steps.iter().zip(case["steps"].as_array().unwrap()) {
            assert_eq!(
                (Value::from(found.start), Value::from(found.end)),
                (expected[0].clone(), expected[1].clone()),
                "{id}"
            );
            assert!(near(found.median, &expected[2]) && near(found.min, &expected[3]), "{id}: {found:?}");
            assert!(near(found.deviation, &expected[4]), "{id}: {found:?} {expected}");
        }
        for (threshold, expected) in case["regressions_by_threshold"].as_object().unwrap() {
            let found = find_regressions(&steps, threshold.parse().unwrap());
            let Some(found) = found else {
                assert!(expected[0].is_null(), "{id} at {threshold}");
                continue;
            };
            assert!(near(found.now, &expected[0]) && near(found.best, &expected[1]), "{id} at {threshold}: {found:?}");
            assert_eq!(found.steps.len(), expected[2].as_array().unwrap().len());
            for (step, expected) in found.steps.iter().zip(expected[2].as_array().unwrap()) {
                assert_eq!(
                    (Value::from(step.last_good), Value::from(step.first_bad)),
                    (expected[0].clone(), expected[1].clone())
                );
                assert!(near(step.before, &expected[2]) && near(step.after, &expected[3]), "{id}");
            }
        }
    }
}

#[test]
fn reports_are_drawn() {
    let inputs = xla("upstream/inputs");
    for report in ["latest", "latest_grouped", "histogram", "speedup"] {
        let report_flag = format!("--report={report}");
        let args = ["--format=svg", &report_flag, "--title=A <title>", "a6000.jsonl", "v100.jsonl"];
        let output = neuronscope("aggregate", &args, inputs.clone());
        let svg = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && svg.contains("A &lt;title&gt;") && !svg.contains("NaN"), "{report}");
        insta::assert_snapshot!(format!("xla_{report}_svg"), svg);
    }
}

#[test]
fn a_model_that_became_slower_and_stays_so_is_listed() {
    let lines: Vec<String> = (0..16)
        .flat_map(|day| {
            let slow = if day < 8 { 1.0 } else { 1.3 };
            let noise = 1.0 + f64::from(day % 3) * 0.002;
            [line(day, 1, 0, 1, &[0.5 * noise]), line(day, 2, 0, 1, &[slow * noise]), line(day, 2, 1, 1, &[1.0])]
        })
        .collect();
    let table = report(&lines, ReportKind::Changes, Baseline::Oldest, &[Backend::Inductor, Backend::OpenxlaDynamo]);
    let csv = table.unwrap().to_csv();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 2, "{csv}");
    assert!(rows[1].starts_with("1970-01-01 00:00:08,XLA+Dynamo,m0,2."), "{csv}");
}

#[test]
fn unlike_batch_sizes_are_named_and_change_no_report() {
    let folder = Folder::new("unlike_batches");
    let product =
        |line: String| line.replace("\"accelerator_model\": \"x\"", "\"accelerator_model\": \"NVIDIA A100-SXM4-40GB\"");
    // The first model has no batch size in common with the baseline, the second has one of two, the third has all.
    let lines = [
        line(1, 1, 0, 8, &[1.0]),
        line(1, 2, 0, 4, &[0.5]),
        line(1, 1, 1, 8, &[1.0]),
        line(1, 2, 1, 8, &[0.5]),
        line(1, 2, 1, 16, &[0.9]),
        line(1, 1, 2, 2, &[1.0]),
        line(1, 2, 2, 2, &[0.5]),
    ];
    std::fs::write(folder.join("results.jsonl"), lines.map(product).join("\n")).unwrap();
    let args = ["--accelerator=a100", "--report=latest", "results.jsonl"];
    let output = neuronscope("aggregate", &args, &folder);
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert_eq!(
        stderr,
        "note: 2 models have different batch sizes in a backend and the baseline\n\
         note:   m0: openxla+dynamo has 4, the baseline 8; it is left out\n\
         note:   m1: openxla+dynamo has 16, the baseline 8; only the common ones count\n"
    );
    let csv = String::from_utf8(output.stdout).unwrap();
    assert_eq!(csv.lines().nth(1), Some("0,1.0,0.0,m0,2.0,0.0,m1"));
    let of_folder = neuronscope("aggregate", &["--accelerator=a100", "--report=latest", "."], &folder);
    assert_eq!(String::from_utf8(of_folder.stdout).unwrap(), csv, "the files of a folder are those that it holds");
    for results in [".", "results.jsonl"] {
        let analysed = neuronscope("analyze", &[results, "--database=own.csv"], &folder);
        assert!(analysed.status.success() && folder.join("metric_report.csv").is_file(), "{results}");
        fs::remove_file(folder.join("metric_report.csv")).unwrap();
    }
    let analysed = neuronscope("analyze", &["--output-dirname=.", "--database=db.csv"], &folder);
    let stderr = String::from_utf8(analysed.stderr).unwrap();
    assert!(stderr.starts_with("note: 2 models have different batch sizes, which must not be compared\n"), "{stderr}");
    assert!(
        stderr.contains(
            "m0 on NVIDIA A100-SXM4-40GB, eval: 4 with xla=PJRT dynamo=openxla; 8 with xla=None dynamo=inductor"
        ),
        "{stderr}"
    );
}

#[test]
fn the_views_of_the_page_are_printed() {
    let f = Folder::new("records");
    let sample = concat!(env!("CARGO_MANIFEST_DIR"), "/src/documents/experiments/sample.jsonl");
    f.write("results.jsonl", fs::read_to_string(sample).unwrap());
    let go = |words: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
        let output = program.arg("records").args(words.split(' ')).current_dir(&f).output().unwrap();
        let [out, said] = [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap());
        (output.status.code(), out, said)
    };
    let mut views = String::new();
    for view in ExperimentView::ALL.map(ExperimentView::key) {
        let (code, out, said) = go(&format!("results.jsonl --view {view} --filter bert"));
        assert_eq!((code, said.lines().count()), (Some(0), 1), "{view}: {said}");
        views += &format!("--view {view}\n{out}\n");
    }
    insta::assert_snapshot!("views_of_records", views);
    // The same choices in JSON and in a page, whose link opens the view with its records.
    let (_, json, _) = go("results.jsonl --view changes --filter bert --json --html page.html");
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["tables"]["changes"].as_array().unwrap().len(), 4, "{json}");
    let page = f.read("page.html");
    assert!(page.contains("What the newest run changed") && page.contains("#/experiments?v=1&amp;view=changes"));
    assert!(page.contains("&amp;data="), "the records are in the link");
    // A folder stands for its files, and twice the same records are no other ones.
    assert!(go(". --view lines").1.contains("results.jsonl"));
    let (code, out, said) = go("results.jsonl --filter zzz[");
    assert!(code == Some(1) && out.contains("A choice cannot be used."), "{out}");
    assert!(said.contains("--filter: 'zzz[' is not a valid regular expression"), "{said}");
    let (_, out, _) = go("results.jsonl --test training");
    assert!(out.contains("There is no record of training on inf2."), "{out}");
}
