//! `neuronscope matmult`: the guide's figure, its flags and log lines, its pitfalls and their effects, sweeps, bad input.

use std::process::{Command, Output};

use neuronscope::bench::matmult::matmult_cols;
use serde_json::Value;

use crate::folder::Folder;

fn matmult(line: &str) -> Output {
    let args = std::iter::once("matmult").chain(line.split_whitespace());
    Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap()
}

fn stdout(line: &str) -> String {
    let output = matmult(line);
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn reports(line: &str) -> Vec<Value> {
    let json: Value = serde_json::from_str(&stdout(&format!("{line} --json"))).unwrap();
    assert_eq!(json["neuronscope_matmult"], 1);
    json["reports"].as_array().unwrap().clone()
}

fn report(line: &str) -> Value {
    reports(line).remove(0)
}

fn number(report: &Value, key: &str) -> f64 {
    report[key].as_f64().unwrap_or_else(|| panic!("{key} in {report}"))
}

fn finding<'a>(report: &'a Value, pitfall: &str) -> &'a Value {
    let found = report["findings"].as_array().unwrap();
    found.iter().find(|f| f["pitfall"] == pitfall).unwrap_or_else(|| panic!("{pitfall} in {found:?}"))
}

#[test]
fn the_default_is_the_guides_example_and_within_two_percent_of_its_figure() {
    let r = report("");
    assert!((number(&r, "tops") / 77.64 - 1.0).abs() < 0.02, "{}", r["tops"]);
    assert!((number(&r, "peak_tops") - 91.75).abs() < 0.01, "{}", r["peak_tops"]);
    assert_eq!((&r["products_asked"], &r["products_computed"]), (&1_000.into(), &1_000.into()));
    assert_eq!((&r["limit"]["by"], &r["findings"]), (&"Tensor".into(), &Value::Array(vec![])));
    let parts = number(&r, "host_s") + number(&r, "link_s") - number(&r, "hidden_s") + number(&r, "device_s");
    assert!((parts / number(&r, "iteration_s") - 1.0).abs() < 1e-9);
    // The guide: 236.53 s; the model was calibrated on it.
    assert!((number(&r, "modelled_compile_s") / 236.53 - 1.0).abs() < 0.01);
    // A warm-up of eight calls takes as long as eight calls plus the extra time of the first.
    assert!(number(&r, "warmup_s") > 7.9 * number(&r, "iteration_s"));
    let v = &r["verification"];
    assert_eq!((v["tops"].as_array().unwrap().len(), &v["same_seed_repeats"]), (3, &true.into()));
    assert!((0.0..2.5).contains(&number(v, "spread_percent")), "{v}");
}

/// `UPDATE_DOCS=1 cargo test` writes the table. The guide's figures are those of its row of published figures.
#[test]
fn the_table_of_the_guides_example_is_what_is_printed() {
    let example = "-b 1 -n 1024 -l 1000 -w 2 -i 1000 --add_bias";
    let (r, sync) = (report(example), report(&format!("{example} --sync")));
    let table = format!(
        "| | guide | here |\n|---|---|---|\n| PE TOPS of the example | 77.64 | {:.2} |\n| one iteration, ms | 27.660 | {:.3} |\n\
         | PE TOPS with `--sync` | | {:.2} |\n",
        number(&r, "tops"),
        number(&r, "iteration_s") * 1e3,
        number(&sync, "tops"),
    );
    crate::doc_tables::assert_written("docs/benchmark.md", "the guide's example", &table);
}

#[test]
fn the_log_has_the_scripts_lines_in_both_ways_of_writing_flags() {
    let snake = "--batch_size 1 --matrix_dim 256 --loop_count 100 --num_warmup_iterations 2 --num_timed_iterations 1000 --add_bias -v";
    let log = stdout(snake);
    insta::assert_snapshot!("log", log);
    let kebab = "-b 1 -n 256 -l 100 -w 2 --num-timed-iterations 1000 --add-bias --verbose";
    assert_eq!(stdout(kebab), log);
    // A value that begins with dashes keeps its meaning.
    let args = [
        "matmult",
        "-n",
        "128",
        "-l",
        "2",
        "--neuron_cc_flags",
        "--auto-cast matmult --auto-cast-type fp8_e4m3",
        "--json",
    ];
    let output = Command::new(env!("CARGO_BIN_EXE_neuronscope")).args(args).output().unwrap();
    let json: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["reports"][0]["dtype"], "fp8_e4m3");
    let skipped = stdout("-n 128 -l 2 --skip_compilation --skip_verification --num_verification_iterations 5");
    assert!(skipped.contains("compilation skipped") && skipped.contains("compilation was skipped, warmup took"));
    assert!(!skipped.contains("verification done"), "{skipped}");
}

#[test]
fn an_artifact_is_kept_and_found() {
    let folder = Folder::new("artifacts");
    let line = format!("-b 1 -n 64 -l 4 --compiler_workdir {}", folder.display());
    let before = matmult(&format!("{line} --skip_compilation"));
    let said = String::from_utf8(before.stderr).unwrap();
    assert!(!before.status.success() && said.contains("was never compiled: there is no "), "{said}");
    let output = matmult(&line);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.contains("matmult_linear.py, which adds one only with --add_bias"),
        "{said}"
    );
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|e| e.unwrap().path()).collect();
    let artifact: Value = serde_json::from_str(&std::fs::read_to_string(&files[0]).unwrap()).unwrap();
    assert_eq!((files.len(), &artifact["batch_size"]), (1, &1.into()));
    assert!(stdout(&format!("{line} --skip_compilation")).contains("compilation skipped"));
    // Another case was not compiled.
    assert!(!matmult(&format!("{line} --skip_compilation --add-bias")).status.success());
    std::fs::write(&files[0], "{}").unwrap();
    let said = String::from_utf8(matmult(&format!("{line} --skip_compilation")).stderr).unwrap();
    assert!(said.contains("is not an artifact; remove it and compile again"), "{said}");
}

#[test]
fn an_unchained_loop_loses_all_products_but_the_last_and_says_so() {
    let r = report("-n 256 -l 50 --unchained");
    assert_eq!((&r["products_asked"], &r["products_computed"]), (&50.into(), &1.into()));
    assert!((number(&r, "tops") / number(&r, "tops_computed") - 50.0).abs() < 1e-6);
    let found = finding(&r, "products_removed");
    let sentence = found["sentence"].as_str().unwrap();
    assert!(sentence.starts_with("the compiler removed 49 of 50 products (pass dce)"), "{sentence}");
    assert!(number(found, "tops_without") > number(&r, "tops_computed"));
}

#[test]
fn one_product_a_call_is_mostly_overhead() {
    let r = report("-n 256 --no-loop");
    let found = finding(&r, "overheads_dominate");
    assert!(found["sentence"].as_str().unwrap().contains("a call of one product"), "{found}");
    assert!(number(found, "tops_without") > 20.0 * number(&r, "tops"), "{found}");
    assert_eq!(r["limit"]["by"], "host");
    assert_eq!(number(&r, "tops"), number(&report("-n 256 --loop_count 1"), "tops"));
}

#[test]
fn without_a_warm_up_the_first_call_is_in_the_figure() {
    let (cold, warm) =
        (report("-n 256 -l 50 --no-warmup -i 10 --jitter 0"), report("-n 256 -l 50 -w 1 -i 10 --jitter 0"));
    let first_call = number(&warm, "warmup_s") - number(&warm, "iteration_s");
    assert!((number(&cold, "benchmark_s") - number(&warm, "benchmark_s") - first_call).abs() < 1e-9);
    assert!((number(finding(&cold, "no_warmup"), "tops_without") / number(&warm, "tops") - 1.0).abs() < 1e-9);
    assert_eq!(number(&cold, "warmup_s"), 0.0);
}

#[test]
fn without_a_bias_the_product_where_values_vanish_is_computed() {
    let r = report("-n 32 -l 300 --no-bias");
    let (ranges, sentence) = (&r["ranges"], finding(&r, "no_bias")["sentence"].as_str().unwrap().to_owned());
    let zero = ranges["first_zero"].as_u64().unwrap();
    assert!(ranges["first_subnormal"].as_u64().unwrap() < zero && zero < 300, "{ranges}");
    assert!(sentence.contains(&format!("0 / 0 from product {zero} on")), "{sentence}");
    assert_eq!(report("-n 32 -l 300")["ranges"], Value::Null);
}

#[test]
fn a_lazy_step_moves_its_inputs_in_the_step() {
    let (lazy, traced) =
        (report("-n 256 -l 100 --workflow mark_step --sync"), report("-n 256 -l 100 --workflow trace --sync"));
    assert!(number(&lazy, "device_s") > number(&traced, "device_s"));
    assert!(number(finding(&lazy, "lazy_execution"), "tops_without") > number(&lazy, "tops"));
}

#[test]
fn lists_are_swept_and_a_case_that_can_not_run_keeps_its_row() {
    let line = "-n 128,256 -l 4,8 --dtype bf16,fp32 --instance trn1,inf1.xlarge";
    let rows = reports(line);
    assert_eq!(rows.len(), 16);
    assert_eq!(rows.iter().filter(|r| r["status"] == "error").count(), 8);
    let of = |dtype: &str| {
        let all = rows.iter().filter(|r| r["dtype"] == dtype && r["status"] == "finished");
        all.map(|r| (number(r, "peak_tops"), number(r, "device_s"))).next_back().unwrap()
    };
    let (bf16, fp32) = (of("bf16"), of("fp32"));
    assert!((bf16.0 / fp32.0 - 4.0).abs() < 1e-9 && fp32.1 > bf16.1, "{bf16:?} {fp32:?}");
    let csv = stdout(&format!("{line} --csv"));
    assert_eq!(csv.lines().next().unwrap(), matmult_cols().collect::<Vec<_>>().join(","));
    assert_eq!(csv.lines().count(), 17);
    let table = stdout(line);
    assert!(
        table.starts_with("Instance") && table.contains("failed: n 128, batch 1, loop 4, bf16, inf1.xlarge: "),
        "{table}"
    );
}

#[test]
fn bad_input_names_the_flag_and_what_to_write() {
    let message = |line: &str| {
        let output = matmult(line);
        assert!(!output.status.success() && output.stdout.is_empty(), "{line}");
        String::from_utf8(output.stderr).unwrap()
    };
    for (line, said) in [
        ("-n 0", "--matrix_dim: '0' is not a whole number from 1"),
        ("-n 20000", "--matrix_dim: 20000 is not possible; use a whole number from 1 to 16384"),
        ("-l 1,,2", "--loop_count: entry 2 of '1,,2' is empty"),
        ("-i 0", "--num_timed_iterations: 0 is not possible"),
        ("--dtype int4", "--dtype: 'int4' is not a format of the array"),
        ("--instance trn9", "--instance: 'trn9' is not an instance type or family; the nearest are trn"),
        ("--instance inf1", "no case could run: "),
        ("--jitter -1", "--jitter: -1 is not possible"),
        ("--neuron_cc_flags=--auto-cast=half", "--neuron_cc_flags: --auto-cast: "),
        ("--dtype bf16 --neuron_cc_flags=--auto-cast=none", "give only one of them"),
        ("--no-loop --loop_count 3", "cannot be used with"),
        ("-b 64 -n 16384 -l 4", "no case could run: "),
        ("-b 1-2000", "the lists make 2000 cases"),
    ] {
        assert!(message(line).contains(said), "{line}: {}", message(line));
    }
}

#[test]
fn waiting_for_each_result_adds_the_hosts_time_to_the_devices() {
    let (ahead, sync) = (report("-n 512 -l 100 -i 4 --jitter 0"), report("-n 512 -l 100 -i 4 --jitter 0 --sync"));
    assert_eq!((number(&sync, "hidden_s"), number(&sync, "device_s")), (0.0, number(&ahead, "device_s")));
    let host = number(&ahead, "host_s") + number(&ahead, "link_s");
    let longer = number(&sync, "iteration_s") - number(&ahead, "iteration_s");
    assert!(longer > 0.0 && (longer / host.min(number(&ahead, "device_s")) - 1.0).abs() < 1e-9, "{longer} {host}");
}

#[test]
fn single_operators_are_put_in_the_same_harness_with_their_shapes() {
    let two = reports("--op softmax --op layer_norm --shape 256x256 --shape 512x512");
    let what: Vec<&str> = two.iter().map(|r| r["case"]["model"].as_str().unwrap()).collect();
    assert_eq!(what[..2], ["op:name=softmax,shapes=256x256", "op:name=softmax,shapes=512x512"]);
    assert_eq!((what.len(), what[3]), (4, "op:name=layer_norm,shapes=512x512"));
    for r in &two {
        // There is no product to give a rate for, but there are bytes that move.
        assert_eq!((&r["tops"], &r["products_asked"], &r["status"]), (&Value::Null, &0.into(), &"finished".into()));
        assert!(number(r, "dma_gb_per_s") > 0.0 && number(r, "dma_gb_per_s") <= number(r, "peak_gb_per_s"), "{r}");
        assert!(finding(r, "overheads_dominate")["sentence"].as_str().unwrap().contains("the operator itself takes"));
    }
    // Four times the elements take longer.
    assert!(number(&two[1], "device_s") > number(&two[0], "device_s"));
    let product = report("--op matmul --shape 512x512,512x512");
    assert_eq!((&product["products_asked"], &product["products_computed"]), (&1.into(), &1.into()));
    let rate = 2.0 * 512.0_f64.powi(3) / number(&product, "iteration_s") / 1e12;
    assert!((number(&product, "tops") / rate - 1.0).abs() < 1e-9);
    // A convolution is counted as a product: its rate is not zero.
    assert!(number(&report("--op conv2d:padding=1"), "peak_percent") > 0.0);
    // A loop keeps the core busy for longer, so that the operator is a larger part of a call.
    let looped = report("--op matmul:loop_count=64 --shape 512x512,512x512");
    assert!(number(&looped, "tops") > 5.0 * number(&product, "tops"));
    let log = stdout("--op gelu --shape 128x128");
    assert!(log.contains("PE TOPS: none") && log.contains("GB/s between device memory and the core"), "{log}");
    assert_eq!(stdout("--op gelu;add --csv").lines().count(), 3);
}

#[test]
fn operators_that_cannot_be_measured_say_what_would_do() {
    let error = |line: &str| {
        let output = matmult(line);
        assert!(!output.status.success(), "{line}");
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(error("--op convolve").contains("use matmul, linear, conv2d"));
    assert!(error("--op matmul --shape 8x8").contains("takes 2 input(s), 1 were given"));
    assert!(error("--op matmul --shape 8x").contains("--shape: '8x' is not a shape"));
    assert!(error("--op matmul --shape 8x8,9x9").contains("does not match"));
    assert!(error("--shape 8x8").contains("--op"));
    assert!(error("--op gelu --model nn").contains("cannot be used with"));
}

/// The rates that a finding compares are of the same kind: executing with executing, whole calls with whole calls.
#[test]
fn small_matrices_are_compared_with_large_ones_by_the_same_rates() {
    let (small, large) = (report("-n 256 -l 10"), report("-n 1024 -l 10"));
    let executing = |r: &Value, n: f64| {
        // Shares of the engines are of the execution; its time follows from the bytes and their rate.
        let window_s = number(r, "dma_bytes") / number(r, "dma_gb_per_s") / 1e9;
        2.0 * n.powi(3) * 10.0 / window_s / 1e12
    };
    let found = finding(&small, "small_matrices");
    let sentence = found["sentence"].as_str().unwrap();
    for said in [
        format!("while it executes, the core reaches {:.2} TOPS", executing(&small, 256.0)),
        format!("With --matrix_dim 1024 it reaches {:.2} TOPS while it executes", executing(&large, 1_024.0)),
        format!("and {:.2} instead of {:.2} in a whole call", number(&large, "tops"), number(&small, "tops")),
    ] {
        assert!(sentence.contains(&said), "{said} in {sentence}");
    }
    assert_eq!(number(found, "tops_without"), number(&large, "tops_computed"));
    // A loop that is shortened, so that the large case ends soon, is named.
    let long = report("-n 64 -b 2 -l 600");
    let sentence = finding(&long, "small_matrices")["sentence"].as_str().unwrap().to_owned();
    assert!(sentence.contains("With --matrix_dim 1024 and --loop_count 500 it reaches"), "{sentence}");
}

/// A busy array is not at its peak: the sentence says what the rest is, and the parts multiply to the share of the peak.
#[test]
fn what_limits_the_array_says_what_keeps_it_from_its_peak() {
    for instance in ["trn1.2xlarge", "inf2.xlarge", "trn2.48xlarge"] {
        let r = report(&format!("-l 100 --jitter 0 --instance {instance}"));
        let sentence = r["limit"]["sentence"].as_str().unwrap();
        let percents: Vec<f64> = sentence
            .split(' ')
            .zip(sentence.split(' ').skip(1))
            .filter(|(_, unit)| unit.starts_with('%'))
            .map(|(n, _)| n.parse().unwrap())
            .collect();
        let [_, of_call, reached, sustained] = percents[..] else { panic!("{sentence}") };
        assert!(
            (of_call * reached / 100.0 - number(&r, "peak_percent")).abs() < 0.1,
            "{sentence}: {}",
            r["peak_percent"]
        );
        assert!(reached < sustained && sentence.contains("the rest goes to loads of weights"), "{sentence}");
        assert_eq!(sentence.contains("slow start"), instance.starts_with("trn2"), "{sentence}");
    }
}
