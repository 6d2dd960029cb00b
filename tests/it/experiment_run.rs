//! The runner: experiments split over machines, processes that die, and the flags beside the records.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::folder::Folder;

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
    command.arg("experiment").arg(format!("--output-dirname={}", folder.display())).args(args);
    command
}

fn run(folder: &Path, args: &[&str]) -> String {
    let Output { status, stderr, .. } = command(folder, args).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{args:?}: {stderr}");
    stderr
}

fn records(folder: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(folder.join("results.jsonl")).unwrap();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_model_file_stands_for_a_model_of_the_suite() {
    let folder = Folder::new("model_file");
    let file = format!("hf_T5={}/tests/it/fixtures/models/onnx/nn-442--torch2.9.1.onnx", env!("CARGO_MANIFEST_DIR"));
    let flags = [
        "--suite-name=torchbench",
        "--model-file",
        &file,
        "-k",
        "^hf_T5$",
        "--xla=PJRT",
        "--dynamo=openxla",
        "--test=eval",
    ];
    run(&folder, &[&flags[..], &["--accelerator=trn1", "--accelerator=cpu", "--repeat=2"]].concat());
    let found = records(&folder);
    assert_eq!(found[0]["model"]["model_name"], "hf_T5");
    // The file's own batch size, and a second run without the compiler.
    assert_eq!(found[0]["experiment"]["batch_size"], 4);
    let times = found[0]["metrics"]["total_time"].as_array().unwrap();
    assert!(times[0].as_f64() > times[1].as_f64() && times[1].as_f64() > Some(0.0));
    assert_eq!(found[1]["metrics"]["error"], "SKIP");
    // Another name has no file, and says how it could.
    let output =
        command(&folder, &["--suite-name=torchbench", "--models=hf_T5", "--accelerator=trn1"]).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        !output.status.success() && said.contains("--model-file hf_T5=FILE lets a model file stand for it"),
        "{said}"
    );
}

#[test]
fn parts_of_a_sweep_put_together_are_the_whole() {
    let sweep = [
        "--suite-name=zoo",
        "--models=matmult,mlp,nn",
        "--accelerator=trn1",
        "--accelerator=inf2",
        "--test=eval",
        "--repeat=4",
        "--timestamp=1000.5",
    ];
    let whole = Folder::new("sweep_whole");
    run(&whole, &sweep);
    let mut parts = Vec::new();
    for id in ["0", "1", "2"] {
        let part = Folder::new(&format!("sweep_part_{id}"));
        let id = format!("--partition-id={id}");
        run(&part, &[&sweep[..], &["--total-partitions=3", &id]].concat());
        parts.extend(std::fs::read(part.join("results.jsonl")).unwrap());
    }
    let whole = std::fs::read(whole.join("results.jsonl")).unwrap();
    assert_eq!(String::from_utf8(parts), String::from_utf8(whole.clone()));
    assert_eq!(whole.iter().filter(|b| **b == b'\n').count(), 3 * 2 * 2);
}

#[test]
#[cfg(target_os = "linux")]
fn a_process_that_is_killed_takes_no_other_experiment_with_it() {
    use std::time::Duration;

    let folder = Folder::new("killed_child");
    let args =
        ["--suite-name=zoo", "--models=nn,nn", "--accelerator=cpu", "--xla=None", "--dynamo=None", "--test=eval"];
    let mut parent = command(&folder, &[&args[..], &["--repeat=4", "--iterations-per-run=3000"]].concat())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let mut waits = 0;
    let child = loop {
        assert!(waits < 60_000, "no child began in a minute");
        waits += 1;
        std::thread::sleep(Duration::from_millis(1));
        match std::fs::read_to_string(&children).unwrap_or_default().split_whitespace().next() {
            Some(child) => break child.to_owned(),
            None => assert!(parent.try_wait().unwrap().is_none(), "the parent ended"),
        }
    };
    assert!(Command::new("kill").args(["-9", &child]).status().unwrap().success());
    assert!(parent.wait().unwrap().success());
    let records = records(&folder);
    assert_eq!(records.len(), 2);
    assert_eq!(records[0]["metrics"]["error"], "the experiment's process died without a message");
    assert_eq!(records[0]["verification_code"], "VERIFIER_DIDNT_RUN");
    assert_eq!(records[1]["metrics"]["total_time"].as_array().unwrap().len(), 4);
}

#[test]
fn the_suites_flags_do_what_they_say_or_say_why_not() {
    let folder = Folder::new("suite_flags");
    let traced = ["--accelerator=trn1", "--dynamo=openxla", "--test=eval", "--repeat=4"];
    let quiet =
        ["--dump-hlo", "--profile-xla", "--log-level=critical", "--randomize-input", "--no-skip", "--disable-tf32"];
    let said = run(&folder, &[&traced[..], &quiet].concat());
    assert!(said.lines().all(|line| line.contains("xplane cannot hold all: ")), "{said}");
    let of = |kind: &str, file: &str| {
        folder.join(format!("dummy/{kind}-trn1-openxla-False-eval-None-PJRT-None-dummy/{file}"))
    };
    let hlo = std::fs::read_to_string(of("hlo", "module.hlo.txt")).unwrap();
    assert!(hlo.starts_with("HloModule") && hlo.contains("ENTRY"), "{hlo}");
    let profile = of("xplane", "neuronscope.xplane.pb");
    let opened = Command::new(env!("CARGO_BIN_EXE_neuronscope")).arg("open").arg(profile).output().unwrap();
    assert!(opened.status.success() && String::from_utf8(opened.stdout).unwrap().contains("aten__addmm_dot"));
    for (flag, reason) in [
        ("--collect-dynamo-counters", "TorchDynamo"),
        ("--profile-cuda-cpu", "no GPU"),
        ("--dump-pytorch-profiles", "--profile-xla"),
        ("--matmul-precision=high", "float32"),
        ("--save-ir-format=stablehlo", "hlo"),
        ("--save-output", "--verify"),
    ] {
        let refused = command(&folder, &[flag]).output().unwrap();
        let stderr = String::from_utf8(refused.stderr).unwrap();
        assert!(
            !refused.status.success() && stderr.contains("has no meaning here") && stderr.contains(reason),
            "{stderr}"
        );
    }
}

#[test]
fn outputs_that_are_wrong_have_a_reason_and_an_exit_code() {
    let folder = Folder::new("unverified");
    let model = ["--suite-name=torchbench", "--filter=^resnet18$", "--no-resume"];
    let core = ["--accelerator=trn1", "--dynamo=openxla", "--test=eval", "--verify", "--verify-rules=current"];
    for (more, ok) in [(&[][..], true), (&["--strict"][..], false)] {
        let output = command(&folder, &[&model[..], &core, more].concat()).output().unwrap();
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.success(), ok, "{stderr}");
        let reasons: Vec<&str> = stderr.lines().filter(|line| line.contains("the mean relative error is")).collect();
        assert!(
            reasons.len() == 1 && reasons[0].starts_with("note: resnet18: the outputs are wrong (FAIL)"),
            "{stderr}"
        );
        let record = records(&folder).remove(0);
        let (error, limit) = (&record["verification_mean_rel_error"], &record["verification_limit"]);
        assert!(error.as_f64().unwrap() >= limit.as_f64().unwrap() && *limit == 0.01, "{record}");
    }
    // By the rule of the README, which is the default, the same outputs pass, with the same error.
    let core = &core[..core.len() - 1];
    let readme = run(&folder, &[&model[..], core, &["--strict"]].concat());
    assert!(!readme.contains("the outputs are"), "{readme}");
    let record = records(&folder).remove(0);
    assert!(record["verification_code"] == "PASS" && record["verification_limit"] == 0.02, "{record}");
    assert!(!command(&folder, &["--strict"]).output().unwrap().status.success(), "there is nothing to be strict about");
}

#[test]
fn verification_with_several_seeds_and_least_times_are_runs_of_their_own() {
    let folder = Folder::new("own_runs");
    let fused = ["--accelerator=cpu", "--dynamo=inductor", "--test=eval", "--repeat=1"];
    let go = |more: &[&str]| run(&folder, &[&fused[..], more].concat());
    assert!(go(&[]).ends_with("1 experiment ran\n"));
    assert!(go(&["--pure-wall-time"]).ends_with("1 experiment ran\n"));
    assert!(go(&["--verify", "--verify-iterations=2"]).ends_with("1 experiment ran\n"));
    assert!(
        go(&["--verify", "--verify-iterations=2"])
            .ends_with("0 experiments ran, 1 has its record already and was skipped: --no-resume runs it again\n")
    );
    let records = records(&folder);
    assert_eq!(records[1]["request"]["pure_wall_time"], true);
    assert!(records[1]["metrics"]["total_time"][0].as_f64().unwrap() > 0.0);
    assert_eq!(records[2]["verification_code"], "PASS");
    assert_eq!(records[2]["request"]["verify_iterations"], 2);
    // Nothing changes from call to call on a simulated core.
    run(&folder, &["--accelerator=trn1", "--dynamo=openxla", "--test=eval", "--repeat=1", "--pure-wall-time"]);
    assert_eq!(self::records(&folder).pop().unwrap()["metrics"]["error"], "SKIP");
}

/// The three commands of the suite's document, as they are printed, but for the name of this program and the folder.
#[test]
fn the_commands_of_the_document_leave_a_record_for_each_configuration() {
    let folder = Folder::new("document");
    let cuda = ["--suite-name=torchbench", "--accelerator=cuda", "--print-subprocess", "--no-resume"];
    let first = [
        "--dynamo=openxla",
        "--dynamo=inductor",
        "--xla=PJRT",
        "--xla=None",
        "--test=eval",
        "--test=train",
        "--repeat=5",
        "--filter=^alexnet$",
    ];
    let stderr = run(&folder, &[&first[..], &cuda].concat());
    assert!(stderr.contains("0 experiments ran"), "{stderr}");
    assert!(stderr.contains("note: 4 of 4 cannot run here") && stderr.contains("a GPU cannot be run"), "{stderr}");
    let all = records(&folder);
    assert!(all.iter().all(|r| r["metrics"]["error"] == "SKIP"), "{all:?}");
    assert!(all.iter().all(|r| r["experiment"]["accelerator_model"] == "no cuda on this machine"), "{all:?}");
    let combinations: Vec<String> = all
        .iter()
        .map(|r| ["dynamo", "xla", "test"].map(|key| r["experiment"][key].as_str().unwrap_or("None")).join(" "))
        .collect();
    let listed = ["openxla PJRT eval", "openxla PJRT train", "inductor None eval", "inductor None train"];
    assert!(listed.iter().all(|c| combinations.iter().any(|found| found == c)), "{combinations:?}");

    let model = r#"--model-config={"model_name":"BERT_pytorch"}"#;
    let config = r#"--experiment-config={"accelerator":"cuda","xla":"PJRT","xla_flags":null,"dynamo":"openxla","torch_xla2":null,"test":"train","keep_model_data_on_cuda":false,"enable_functionalization":false}"#;
    let single =
        ["--suite-name=torchbench", "--progress-bar", model, config, "--repeat", "1", "--output-basename=one.jsonl"];
    let stderr = run(&folder, &single);
    assert!(stderr.contains("BERT_pytorch: a GPU cannot be run: use cpu (measured)"), "{stderr}");

    let third = [
        "--xla=PJRT",
        "--dynamo=openxla",
        "--test=eval",
        "--filter=BERT_pytorch$",
        "--progress-bar",
        "--repeat=2",
        "--verify",
    ];
    let stderr = run(&folder, &[&third[..], &cuda].concat());
    assert!(stderr.contains("BERT_pytorch: bert-base-uncased of the zoo"), "{stderr}");
    assert_eq!(records(&folder).len(), 1);
}

#[test]
fn options_that_leave_nothing_to_run_are_an_error() {
    let folder = Folder::new("nothing");
    for (flags, reason) in [
        (["--filter=^alexnt$", "--accelerator=trn1", "--dynamo=openxla"], "the nearest are alexnet"),
        (["--filter=^alexnet$", "--accelerator=trn1", "--dynamo=inductor"], "inductor needs --xla None"),
    ] {
        for more in [&[][..], &["--dry-run"]] {
            let flags = [&["--suite-name=torchbench"][..], &flags, more].concat();
            let output = command(&folder, &flags).output().unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert!(output.status.code() == Some(1) && stderr.contains(reason), "{stderr}");
        }
    }
}

#[test]
fn what_one_just_ran_is_aggregated_without_flags() {
    let folder = Folder::new("aggregated");
    let options =
        ["--suite-name=torchbench", "--filter=^(alexnet|resnet18)$", "--accelerator=trn1", "--test=eval", "--repeat=5"];
    for day in 0..2 {
        let timestamp = format!("--timestamp={}", 1_700_000_000 + day * 86_400);
        run(
            &folder,
            &[&options[..], &["--output-basename=results.jsonl", &timestamp, "--seed", ["1", "2"][day]]].concat(),
        );
    }
    let aggregate = |format: &str| {
        let mut program = Command::new(env!("CARGO_BIN_EXE_neuronscope"));
        let output = program.current_dir(&folder).args(["aggregate", format, "results.jsonl"]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let table = aggregate("--format=csv");
    assert!(table.contains("XLA+Dynamo") && table.contains("XLA+LazyTensor") && table.lines().count() == 3, "{table}");
    insta::assert_snapshot!("aggregate_in_characters", aggregate("--format=ascii"));
}
