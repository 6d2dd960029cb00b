//! Figures and outcomes of benchmarks that can be checked by hand, from the command line.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::folder::{Folder, command, run};

fn stderr(folder: &Path, line: &str) -> String {
    String::from_utf8(run(folder, line).stderr).unwrap()
}

/// The rows that a command prints, whether they finished or not.
fn rows(folder: &Path, line: &str) -> Vec<Value> {
    let output = run(folder, &format!("{line} --json"));
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{line}: {e}: {said}"));
    json["reports"].as_array().unwrap().clone()
}

fn row(folder: &Path, line: &str) -> Value {
    rows(folder, line).remove(0)
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

const ONE: &str = "--n-models 1 --workers-per-model 1 --jitter 0";

#[test]
fn a_warm_up_holds_the_inference_it_runs() {
    let f = Folder::new("warm-up");
    let matmult = row(&f, &format!("bench --model matmult:n=512,loop_count=40 {ONE} --duration 1"));
    let (warmup, infer) = (number(&matmult, "warmup_avg_ms"), number(&matmult, "infer_avg_ms"));
    assert!(infer > 0.5 && (warmup - infer - 2.6).abs() < 0.002, "{warmup} ms against {infer} ms and 2.6 ms more");
    // For a system given by its times, a warm-up takes as long as an inference unless a flag says otherwise; bring-up and
    // the rest of the original duration follow from it.
    let fixed = format!("bench --model fixed --device-ms 100 --host-ms 20 --load-ms 1000 {ONE} --duration 4");
    let window = row(&f, &fixed);
    assert_eq!((number(&window, "warmup_avg_ms"), number(&window, "total_s")), (120.0, 5.2));
    let given = row(&f, &format!("{fixed} --warmup-ms 500"));
    assert_eq!((number(&given, "warmup_avg_ms"), number(&given, "total_s")), (500.0, 5.58));
    // 4 s minus a second of load and 0.12 s of warm-up are 24 inferences; a warm-up of a second leaves 17.
    let original = row(&f, &format!("{fixed} --duration-accounting original"));
    assert_eq!((number(&original, "total_infs"), number(&original, "total_s")), (25.0, 4.0));
    let late = row(&f, &format!("{fixed} --duration-accounting original --warmup-ms 1000"));
    assert_eq!(number(&late, "total_infs"), 18.0);
}

#[test]
fn a_pipeline_keeps_all_of_its_cores_at_work_by_default() {
    let f = Folder::new("pipeline");
    let base = "bench --model fixed --instance inf1.6xlarge --n-models 1 --duration 4 --jitter 0";
    let even = rows(&f, &format!("{base} --device-ms 3 --pipeline-sizes 2"));
    // Without jitter a request in each stage is enough; what was tried is in the report.
    assert_eq!((even.len(), &even[0]["workers_per_model"]), (1, &2.into()));
    let tried = even[0]["workers_tried"].as_str().unwrap();
    assert!(tried.starts_with("1: 33") && tried.contains(", 2: 66") && tried.contains(", 3: 66"), "{tried}");
    let given = row(&f, &format!("{base} --device-ms 3 --pipeline-sizes 2 --workers-per-model 3"));
    assert_eq!((&given["workers_per_model"], &given["workers_tried"]), (&3.into(), &Value::Null));
    // Work of 6 ms on the host before stages of 1.5 ms: six workers, more than one for each stage and one on the host.
    let hosted = format!("{base} --device-ms 3 --pipeline-sizes 2 --preprocess 6ms");
    let deep = row(&f, &hosted);
    assert_eq!(deep["workers_per_model"], 6, "{deep}");
    assert!((number(&deep, "throughput_window") - 666.7).abs() < 2.0, "{}", deep["throughput_window"]);
    // The timers of both forms are those of the workers that ran.
    for format in ["neuronscope", "neuronperf"] {
        let printed = run(&f, &format!("{hosted} --return-timers --json-format {format}"));
        let timers: Value = serde_json::from_slice(&printed.stdout).unwrap();
        let results = if format == "neuronscope" { &timers["results"][0]["results"] } else { &timers[0][1] };
        let e2e = results["timers"]["e2e"].as_array().unwrap();
        assert_eq!((e2e.len(), &results["workers_per_model"]), (6, &6.into()), "{format}");
    }
    assert!((number(&even[0], "throughput_window") - 666.7).abs() < 1.0, "{}", even[0]["throughput_window"]);
    // Stages may differ: the slowest one sets the pace.
    let uneven = row(&f, &format!("{base} --device-ms 2+0.5+0.5 --pipeline-sizes 3"));
    assert!((number(&uneven, "throughput_window") - 500.0).abs() < 1.0, "{}", uneven["throughput_window"]);
    let wrong = row(&f, &format!("{base} --device-ms 2+1 --pipeline-sizes 3"));
    let error = wrong["error"].as_str().unwrap();
    assert!(error.starts_with("the model has device times for 2 pipeline stages"), "{error}");
}

#[test]
fn the_host_limits_many_workers_and_a_sentence_says_so() {
    let f = Folder::new("host");
    let line =
        "bench --model nn --preprocess 5ms --instance inf2.xlarge --n-models 1,2 --workers-per-model 8 --duration 4";
    let both = rows(&f, line);
    // Two cores for 5.17 ms of work each, however many copies there are.
    for row in &both {
        let (rate, busy) = (number(row, "throughput_window"), number(row, "host_busy_percent"));
        assert!((385.0..=389.0).contains(&rate) && busy > 99.0, "{rate}/s, {busy} %");
    }
    let said = String::from_utf8(run(&f, line).stdout).unwrap();
    assert!(said.contains("the 4 vCPUs (2 cores) of inf2.xlarge are busy 100 %. Shorten the host's work"), "{said}");
    assert!(said.contains("inf2.8xlarge has 32 vCPUs for 2 NeuronCores"), "{said}");
    let linear = "bench --model resnet50 --instance inf2.48xlarge --workers-per-model 2 --duration 3";
    let said = String::from_utf8(run(&f, linear).stdout).unwrap();
    assert!(said.contains("24.0 times the throughput of one copy. The simulated copies share the 192 vCPUs"), "{said}");
    assert!(said.contains("That they share nothing else is assumed"), "{said}");
}

#[test]
fn a_measured_row_is_of_this_machine_today_and_costs_nothing() {
    let f = Folder::new("measured");
    let line = "bench --model nn --device-type cpu --n-models 1 --workers-per-model 1 --duration 0.2";
    let measured = row(&f, line);
    let (instance, began) = (measured["instance_type"].as_str().unwrap(), measured["start_dts"].as_str().unwrap());
    assert!(!instance.contains("trn1") && instance.contains(" x "), "{instance}");
    assert!(measured["machine"].as_str().unwrap().contains("processors"), "{measured}");
    assert!(began > "20260101-000000" && Some(began) <= measured["stop_dts"].as_str(), "{measured}");
    assert!(measured["cost_per_1m_inf"].is_null() && measured["compiler_args"].is_null());
    assert!(number(&row(&f, &format!("{line} --cost-per-hour 0.5")), "cost_per_1m_inf") > 0.0);
    let note = stderr(&f, &format!("{line} --instance inf2.xlarge"));
    assert!(note.contains("note: --instance inf2.xlarge is not used"), "{note}");
    let scenario = stderr(&f, "bench --model nn --device-type cpu --n-models 1 --scenario SingleStream");
    assert!(scenario.contains("a processor is measured and has no simulated times"), "{scenario}");
    // A pipeline is one of NeuronCores.
    let both = rows(&f, &format!("{line} --pipeline-sizes 1,2"));
    assert_eq!((both.len(), &both[0]["pipeline_size"], &both[0]["source"]), (1, &1.into(), &"measured".into()));
    let note = stderr(&f, &format!("{line} --pipeline-sizes 2"));
    assert!(note.contains("on the processor each model runs whole"), "{note}");
}

#[test]
fn a_dataset_is_records_and_an_inference_takes_a_batch_of_them() {
    let f = Folder::new("dataset");
    let base = format!("bench --model fixed --device-ms 1 {ONE}");
    let whole = row(&f, &format!("{base} --batch-sizes 8 --dataset 10000"));
    // 1,250 inferences of a millisecond; the warm-up is another inference of 8 samples.
    assert_eq!((number(&whole, "latency_samples"), number(&whole, "total_infs")), (1_250.0, 10_008.0));
    let without = row(&f, &format!("{base} --batch-sizes 8 --dataset 10000 --warmup-inferences 0"));
    assert_eq!((number(&without, "total_infs"), number(&without, "total_s")), (10_000.0, 1.25));
    let rest = format!("{base} --batch-sizes 8 --dataset 10001");
    assert_eq!(number(&row(&f, &rest), "latency_samples"), 1_251.0);
    assert!(stderr(&f, &rest).contains("note: dataset: 10001 records at batch size 8 are 1251 inferences"));
}

#[test]
fn an_index_runs_as_compiled_and_refuses_contradictions() {
    let f = Folder::new("index");
    assert!(
        run(&f, "compile --model nn --instance inf2.xlarge --performance-levels 0,3 --filename bi2").status.success()
    );
    let text = std::fs::read_to_string(f.join("bi2.json")).unwrap();
    let index: Value = serde_json::from_str(&text).unwrap();
    let entry = |i: usize| index["model_configs"][i].clone();
    assert_eq!((&entry(0)["auto_cast"], &entry(0)["auto_cast_type"]), (&"none".into(), &Value::Null));
    assert_eq!((&entry(1)["auto_cast"], &entry(1)["instance_type"]), (&"matmult".into(), &"inf2.xlarge".into()));
    // The compile time is the modelled one of the real compiler, and the output says so.
    assert_eq!(entry(1)["compile_s_source"], "modelled");
    let profile: Value =
        serde_json::from_slice(&run(&f, "profile --model nn --workflow trace --instance inf2.xlarge --json").stdout)
            .unwrap();
    assert_eq!(entry(1)["compile_s"], profile["modelled_compile_s"]);

    let line = "bench bi2.json --duration 2 --n-models 1 --workers-per-model 1";
    let output = run(&f, line);
    assert!(output.status.success() && !String::from_utf8_lossy(&output.stderr).contains("not used"));
    let ran = rows(&f, line);
    assert!(ran.iter().all(|r| r["instance_type"] == "inf2.xlarge"), "{ran:?}");
    assert_eq!(ran[0]["compiler_args"], "--auto-cast none -O2");
    for (flags, said) in [
        ("--instance trn1.2xlarge", "--instance trn1.2xlarge: models/nn_b1_p1_"),
        ("--model mlp", "--model mlp: "),
        ("--performance-levels 3 --auto-cast all", "was compiled with matmult; leave --auto-cast out"),
        ("--performance-levels 3 --auto-cast-type fp16", "was compiled with bf16"),
        ("-O 1", "--optlevel 1: "),
        ("--inputs 7x7", "was compiled with inputs of 4x4"),
    ] {
        let message = stderr(&f, &format!("{line} {flags}"));
        assert!(message.contains("bi2.json: cannot be run so: ") && message.contains(said), "{flags}: {message}");
    }
    let agreed = "--instance INF2.xlarge --model nn -O 2 --inputs 4x4 --performance-levels 3 --auto-cast matmult";
    assert!(run(&f, &format!("{line} {agreed}")).status.success());
}

#[test]
fn numbers_that_differ_fail_the_command() {
    let f = Folder::new("numerics");
    let good = run(&f, "numerics --model nn");
    assert_eq!(good.status.code(), Some(0), "{}", String::from_utf8_lossy(&good.stderr));
    for line in ["numerics --model nn --tolerance 1e-12", "numerics --model nn --tolerance 1e-12 --json"] {
        let bad = run(&f, line);
        let said = String::from_utf8_lossy(&bad.stderr).into_owned();
        assert!(bad.status.code() == Some(1) && said.contains("1 of 1 outputs are not within the tolerance"), "{said}");
        assert!(String::from_utf8_lossy(&bad.stdout).contains("FAIL"));
    }
}

#[test]
fn names_that_do_not_exist_are_answered_once_with_the_nearest_three() {
    let f = Folder::new("names");
    for (line, start) in [
        ("bench --model resnet --duration 1", "neuronscope: unknown model \"resnet\": the nearest are resnet"),
        ("compile --model resnet", "neuronscope: unknown model \"resnet\": the nearest are resnet"),
        ("bench --instance trn9.huge", "neuronscope: instance_type: 'trn9.huge' is not a known size; the nearest are "),
        ("profile --model nn --instance trn9", "neuronscope: unknown instance type 'trn9': the nearest are "),
    ] {
        let output = run(&f, line);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), output.stdout.len()), (Some(1), 0), "{line}: {said}");
        assert!(said.starts_with(start) && said.lines().count() == 1 && said.len() < 250, "{line}: {said}");
    }
    // A reason that several rows share is given once.
    let table = String::from_utf8(run(&f, "bench --model nn --instance inf1.xlarge").stdout).unwrap();
    assert_eq!(table.matches("failed: ").count(), 1, "{table}");
}

#[test]
fn texts_hold_no_codes_and_floats_are_short() {
    let f = Folder::new("texts");
    std::fs::write(f.join("old.csv"), "n_models,workers_per_model,throughput_avg,status\n2,4,100.5,finished\n")
        .unwrap();
    let output = run(&f, "report old.csv");
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!said.contains(" x1:") && !said.contains("N/A/s") && !said.contains("N/A ms"), "{said}");
    assert!(said.contains("(100/s)"), "{said}");
    std::fs::write(f.join("a.csv"), "value,target\n0.64,1\n0.64,1\n").unwrap();
    let error = run(&f, "evaluate a.csv --metrics MeanAbsoluteError");
    assert!(String::from_utf8(error.stdout).unwrap().ends_with("MeanAbsoluteError  0.36\n"));
}

#[test]
fn levels_that_compile_the_same_say_so() {
    let f = Folder::new("levels");
    let line = format!("bench --model nn {ONE} --duration 2 --performance-levels 0,1,2,3");
    assert_eq!(stderr(&f, &line).matches("note: performance_levels: levels 1, 2 and 3 compile the same").count(), 1);
    let by_level = rows(&f, &line);
    let throughput = |i: usize| number(&by_level[i], "throughput_window");
    assert!(throughput(1) == throughput(3) && throughput(2) == throughput(3));
    assert_ne!(by_level[0]["compiler_args"], by_level[3]["compiler_args"]);
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_the_finished_rows_and_says_how_to_go_on() {
    let f = Folder::new("ctrl-c");
    let line = "bench --model nn --device-type cpu --n-models 1 --workers-per-model 1,2,3,4,5,6 --duration 0.6 --json --resume kept.json";
    let child = command(&f, line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // Until the line of the first row, below the head; for a minute at most.
    for _ in 0..3_000 {
        if std::fs::read_to_string(f.join("kept.json")).is_ok_and(|kept| kept.lines().count() > 1) {
            break;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{said}");
    let printed: Value = serde_json::from_slice(&output.stdout).unwrap();
    let printed = printed["reports"].as_array().unwrap().clone();
    assert!((1..6).contains(&printed.len()) && printed.iter().all(|r| r["status"] == "finished"), "{printed:?}");
    let expected = format!("stopped after {} of 6 configurations; run the same command again to go on", printed.len());
    assert!(said.contains(&expected), "{said}");
    let again = run(&f, line);
    let said = String::from_utf8(again.stderr).unwrap();
    let kept = printed.len();
    assert!(
        again.status.success() && said.contains(&format!("note: {kept} configurations finished in an earlier run")),
        "{said}"
    );
    let all: Value = serde_json::from_slice(&again.stdout).unwrap();
    assert_eq!(all["reports"].as_array().unwrap().len(), 6);
    assert_eq!(all["reports"][0], printed[0], "what was kept is what was printed");
}

#[test]
fn every_command_reports_removed_products() {
    let f = Folder::new("removed");
    let (model, chained) = ("matmult:n=128,loop_count=8,chained=false", "matmult:n=128,loop_count=8");
    let message = |line: &str| stderr(&f, line).matches("the compiler removed 7 of 8 products").count();
    // Two rows of one model are reported once.
    let bench = format!("bench --n-models 1 --workers-per-model 1,2 --jitter 0 --duration 2 --model {model}");
    assert_eq!((message(&bench), message(&bench.replace(model, chained))), (1, 0), "{}", stderr(&f, &bench));
    let compile = format!("compile --hlo --model-name loop --model {model}");
    assert_eq!((message(&compile), message(&format!("compile --model {chained}"))), (1, 0), "{}", stderr(&f, &compile));
    let products = |when: &str| {
        let files = std::fs::read_dir(f.join("models")).unwrap().map(|e| e.unwrap().path());
        let mut files = files.filter(|p| p.to_str().unwrap().ends_with(&format!("{when}.hlo.txt")));
        let text = std::fs::read_to_string(files.next().unwrap()).unwrap();
        text.matches(" dot(").count()
    };
    assert_eq!((products("before"), products("after")), (8, 1));
    let summary =
        |model: &str| String::from_utf8(run(&f, &format!("profile --summary --model {model}")).stdout).unwrap();
    let said = summary(model);
    assert!(said.contains("The compiler removed 7 of the model\u{2019}s 8 matrix products"), "{said}");
    assert!(!summary(chained).contains("removed"));
}
