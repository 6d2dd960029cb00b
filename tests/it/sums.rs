//! Sums hold: whatever a command is asked for, its figures agree with one another. Random configurations, drawn from a seed, run in this process.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use neuronscope::base::Rng;
use ns_cli::host::{Host, Memory, call};
use serde_json::Value;

/// Configurations of each command, in the test of every day and in that of the night.
const DAILY: [(Sums, u64); 8] = [
    (Sums::Bench, 300),
    (Sums::Profile, 24),
    (Sums::Generate, 80),
    (Sums::Matmult, 60),
    (Sums::CustomOp, 120),
    (Sums::Inspect, 30),
    (Sums::Numerics, 24),
    (Sums::Experiment, 24),
];
const NIGHTLY_TIMES: u64 = 12;

#[derive(Clone, Copy, Debug)]
enum Sums {
    Bench,
    Profile,
    Generate,
    Matmult,
    CustomOp,
    Inspect,
    Numerics,
    Experiment,
}

/// In a thread with the stack of a program's first one.
fn check(which: usize, times: u64) {
    let thread = std::thread::Builder::new().stack_size(8 << 20).spawn(move || check_here(which, times)).unwrap();
    if let Err(panic) = thread.join() {
        std::panic::resume_unwind(panic);
    }
}

fn check_here(which: usize, times: u64) {
    let (command, configurations) = DAILY[which];
    let mut found = Found::default();
    for seed in 0..configurations * times {
        let mut draw = Draw(Rng::new(seed, which as u64));
        match command {
            Sums::Bench => bench(&mut draw, &mut found),
            Sums::Profile => profile(&mut draw, &mut found, times > 1),
            Sums::Generate => generate(&mut draw, &mut found),
            Sums::Matmult => matmult(&mut draw, &mut found),
            Sums::CustomOp => customop(&mut draw, &mut found),
            Sums::Inspect => inspect(&mut draw, &mut found),
            Sums::Numerics => numerics(&mut draw, &mut found),
            Sums::Experiment => experiment(&mut draw, &mut found),
        }
    }
    let (ran, wrong) = (found.ran, &found.wrong);
    assert!(ran * 2 > configurations * times, "{command:?}: only {ran} configurations ran");
    let first: Vec<&String> = wrong.iter().take(12).collect();
    assert!(wrong.is_empty(), "{command:?}: {} of {ran} runs: {first:#?}", wrong.len());
}

#[test]
fn figures_of_benchmarks_agree() {
    check(0, 1);
}

#[test]
fn figures_of_profiles_agree() {
    check(1, 1);
}

#[test]
fn figures_of_language_models_agree() {
    check(2, 1);
}

#[test]
fn figures_of_the_microbenchmark_agree() {
    check(3, 1);
}

#[test]
fn figures_of_custom_operators_agree() {
    check(4, 1);
}

#[test]
fn shares_of_inspected_models_agree() {
    check(5, 1);
}

#[test]
fn figures_of_numerics_agree() {
    check(6, 1);
}

#[test]
fn figures_of_experiments_agree() {
    check(7, 1);
}

#[test]
#[ignore = "nightly: 7,000 configurations"]
fn figures_agree_in_thousands_of_configurations() {
    (0..DAILY.len()).for_each(|which| check(which, NIGHTLY_TIMES));
}

/// What was wrong, each with the command that shows it.
#[derive(Default)]
struct Found {
    ran: u64,
    wrong: Vec<String>,
    line: String,
    files: Rc<RefCell<BTreeMap<PathBuf, Arc<Vec<u8>>>>>,
}

impl Found {
    fn holds(&mut self, what: &str, does: bool, figures: impl Debug) {
        if !does {
            self.wrong.push(format!("{what}: {figures:?} of {}", self.line));
        }
    }

    /// The document of a command; `None` where it refuses.
    fn run(&mut self, line: &str) -> Option<Value> {
        line.clone_into(&mut self.line);
        self.print(line).map(|json| serde_json::from_slice(&json).unwrap_or_else(|e| panic!("{line}: {e}")))
    }

    fn print(&self, line: &str) -> Option<Vec<u8>> {
        let out = Rc::new(RefCell::new(Vec::new()));
        let host = Kept { out: Rc::clone(&out), files: Rc::clone(&self.files) };
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        call(Box::new(host), &mut Memory::default(), &words).ok()?;
        Some(out.take())
    }
}

/// Output and files in memory.
struct Kept {
    out: Rc<RefCell<Vec<u8>>>,
    files: Rc<RefCell<BTreeMap<PathBuf, Arc<Vec<u8>>>>>,
}

impl Host for Kept {
    fn print(&mut self, bytes: &[u8]) {
        self.out.borrow_mut().extend_from_slice(bytes);
    }

    fn say(&mut self, _: &str) {}

    fn progress(&mut self, _: u64, _: u64, _: &str) {}

    fn file(&self, path: &Path) -> Option<Arc<Vec<u8>>> {
        self.files.borrow().get(path).cloned()
    }

    fn write(&mut self, path: &Path, content: &[u8]) -> bool {
        self.files.borrow_mut().insert(path.to_owned(), Arc::new(content.to_vec()));
        true
    }
}

struct Draw(Rng);

impl Draw {
    fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.0.next_u32() as usize % choices.len()]
    }

    /// One of the flags in some of ten cases.
    fn sometimes(&mut self, tenths: u32, flags: &[&str]) -> String {
        let is_given = self.0.next_u32() % 10 < tenths;
        let flag = self.of(flags);
        if is_given { format!(" {flag}") } else { String::new() }
    }
}

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

fn rows<'a>(of: &'a Value, key: &str) -> &'a [Value] {
    of[key].as_array().unwrap_or_else(|| panic!("{key} of {of}"))
}

fn is_near(a: f64, b: f64, share: f64, least: f64) -> bool {
    (a - b).abs() <= least.max(share * a.abs().max(b.abs()))
}

const INSTANCES: &[&str] =
    &["trn1.2xlarge", "trn1.32xlarge", "inf2.xlarge", "inf2.24xlarge", "trn2.48xlarge", "trn3-ultraserver-gen1"];

fn bench(draw: &mut Draw, found: &mut Found) {
    let models = [
        "fixed --device-ms 7 --host-ms 3 --input-ms 1",
        "fixed --device-ms 90 --host-ms 20",
        "nn",
        "matmult:n=256,loop_count=40",
        "resnet18",
    ];
    let mut line = format!(
        "bench --json --verbosity 0 --model {} --instance {} --duration {} --n-models {} --workers-per-model {} --batch-sizes {} --seed {}",
        draw.of(&models),
        draw.of(INSTANCES),
        draw.of(&[1, 2, 3, 5]),
        draw.of(&[1, 1, 2]),
        draw.of(&[1, 2, 3, 4]),
        draw.of(&[1, 2, 4, 8]),
        draw.of(&[0, 1, 2]),
    );
    line += &draw.sometimes(2, &["--pipeline-sizes 2", "--pipeline-sizes 3"]);
    line += &draw.sometimes(3, &["--preprocess 0.25ms", "--preprocess normalize"]);
    line += &draw.sometimes(3, &["--postprocess softmax", "--postprocess 0.1ms"]);
    line += &draw.sometimes(3, &["--jitter 0", "--jitter 0.2", "--jitter 0.5"]);
    line += &draw.sometimes(2, &["--workflow mark_step"]);
    line += &draw.sometimes(3, &["--duration-accounting original"]);
    line += &draw.sometimes(3, &["--multiprocess false"]);
    line += &draw.sometimes(2, &["--max-inferences 50", "--dataset 200"]);
    line += &draw.sometimes(2, &["--cost-per-hour 3"]);
    let Some(document) = found.run(&line) else { return };
    found.ran += 1;
    for r in rows(&document, "reports").iter().filter(|r| r["status"] == "finished") {
        let p = [0, 50, 90, 95, 99, 100].map(|k| number(r, &format!("latency_ms_p{k}")));
        found.holds("percentiles in order", p[0] > 0.0 && p.is_sorted(), p);
        let e2e = number(r, "e2e_avg_ms");
        let parts =
            ["input", "preprocess", "infer", "postprocess", "wait"].map(|part| number(r, &format!("{part}_avg_ms")));
        found.holds("parts of an inference add up", is_near(parts.iter().sum(), e2e, 0.002, 0.004), (parts, e2e));
        let call = ["host", "link", "device", "wait"].map(|part| number(r, &format!("call_{part}_ms")));
        let infer = number(r, "infer_avg_ms");
        // Jitter may make the mean of few calls shorter than the parts of one.
        found.holds(
            "parts of a call add up",
            is_near(call.iter().sum(), infer, 0.002, 0.004) || line.contains("jitter") || !line.contains("nn"),
            (call, infer),
        );
        let average = number(r, "throughput_avg");
        if let Some(peak) = r["throughput_peak"].as_f64() {
            found.holds("the average is at most the peak", average <= peak, (average, peak));
        }
        if let Some(low) = r["throughput_ci95_low"].as_f64() {
            let high = number(r, "throughput_ci95_high");
            found.holds("an interval holds its mean", low <= average && average <= high, (low, average, high));
        }
        if let Some(low) = r["latency_ms_p50_ci95_low"].as_f64() {
            let high = number(r, "latency_ms_p50_ci95_high");
            found.holds("an interval holds its median", low <= p[1] && p[1] <= high, (low, p[1], high));
        }
        if let Some(low) = r["interval"]["throughput_low"].as_f64() {
            let high = number(&r["interval"], "throughput_high");
            found.holds("8 of 10 cases are around the figure", low <= average && average <= high, (low, average, high));
        }
        if line.contains("--cost-per-hour 3") {
            let cost = number(r, "cost_per_1m_inf");
            found.holds(
                "cost is price over rate",
                is_near(cost, 3e6 / 3_600.0 / average, 0.002, 0.0006),
                (cost, average),
            );
        }
        for key in ["host_busy_percent", "path_busy_percent"] {
            let busy = r[key].as_f64().unwrap_or(0.0);
            found.holds(key, (0.0..=100.0).contains(&busy), busy);
        }
        // Little's law, but for the inferences that the ends of the window cut.
        let (batch, window) = (number(r, "batch_size"), number(r, "throughput_window"));
        let at_once = number(r, "n_models") * number(r, "workers_per_model");
        let inside = window * e2e / 1e3 / batch;
        if !line.contains("--dataset") && !line.contains("--max-inferences") && !line.contains("original") {
            let seconds: f64 = r["duration"].as_str().unwrap().parse().unwrap();
            let cut = at_once * (0.03 + 1.5 * p[5] / 1e3 / seconds);
            found.holds("Little's law", (inside - at_once).abs() <= cut, (inside, at_once, cut));
        }
    }
}

/// The last ones take long.
const MODELS: &[&str] = &[
    "nn",
    "mlp:hidden1=120,hidden2=84",
    "matmult:n=300,loop_count=5",
    "alexnet",
    "resnet18",
    "bert-base-uncased:seq=32",
    "gpt2:seq=16",
    "openai/clip-vit-base-patch32",
];

fn profile(draw: &mut Draw, found: &mut Found, has_time: bool) {
    let batch = draw.of(&[1, 2, 4]);
    let line = format!(
        "profile --model {} --instance {} --workflow {}{}{}",
        draw.of(if has_time { MODELS } else { &MODELS[..4] }),
        draw.of(&["trn1.2xlarge", "inf2.xlarge", "trn2.48xlarge", "trn3-ultraserver-gen1"]),
        draw.of(&["trace", "mark_step"]),
        draw.sometimes(
            4,
            &["--auto-cast none", "--auto-cast all", "--auto-cast all --auto-cast-type fp8_e4m3", "--training"]
        ),
        draw.sometimes(3, &["-O 1", "-O 3"]),
    );
    let with_batch = |batch: u32| format!("{line} --batch-size {batch} --json");
    let Some(made) = found.run(&format!("{} --output p.json", with_batch(batch))) else { return };
    found.ran += 1;
    let window = number(&made, "device_window_ns");
    for key in ["framework_ops", "hlo_ops"] {
        let shares: f64 = rows(&made, key).iter().map(|row| number(row, "time_percent")).sum();
        found.holds("shares are 100 %", (shares - 100.0).abs() <= 0.01 * (rows(&made, key).len() + 1) as f64, shares);
    }
    let opened = found.run("operators p.json --by name --level framework-ops --top 100000 --json").unwrap();
    let opened = opened.as_array().map_or_else(|| rows(&opened, "rows"), Vec::as_slice);
    let times = |rows: &[Value], key: &str| -> BTreeMap<String, u64> {
        rows.iter().map(|row| (row["name"].as_str().unwrap().to_owned(), row[key].as_u64().unwrap())).collect()
    };
    let (mine, theirs) = (times(rows(&made, "framework_ops"), "time_ns"), times(opened, "self_ns"));
    found.line = with_batch(batch);
    found.holds("profile and the trace it wrote have the same times", mine == theirs, (mine.len(), theirs.len()));
    let summary = found.run(&format!("{} --summary", with_batch(batch))).unwrap();
    of_summary(&summary, window, found);
    round_trip(draw.of(&["chrome", "perfetto", "xplane", "speedscope", "neuron-plugin", "tensorboard"]), found);
    found.line = with_batch(batch);
    if let Some(larger) = found.run(&with_batch(batch * 2)) {
        let larger = number(&larger, "device_window_ns");
        found.holds("a larger batch is never faster", larger >= window * 0.999, (window, larger));
    }
}

fn of_summary(u: &Value, window: f64, found: &mut Found) {
    let limiter = &u["limiter"];
    let exposed: f64 = rows(limiter, "resources").iter().map(|r| number(r, "exposed_ns")).sum();
    let whole = number(limiter, "window_ns");
    found.holds(
        "what limits adds up to the window",
        exposed + number(limiter, "idle_ns") == whole && whole == window,
        (exposed, whole, window),
    );
    let queues = ["spill_save", "spill_reload", "input_queue", "output_queue", "weight_queue", "custom_queue"];
    let queues: f64 = queues.iter().map(|queue| u[format!("{queue}_bytes")].as_f64().unwrap_or(0.0)).sum();
    let total = number(u, "dma_transfer_total_bytes");
    found.holds("bytes of the queues add up", queues == total, (queues, total));
    let of = |key: &str| u[key].as_f64().unwrap_or(0.0);
    let (least, read) = (of("mbu_min_read_util_percent"), of("mbu_estimated_percent"));
    found.holds("what must be read is at most what is read", least <= read * 1.001, (least, read));
    for (key, value) in u.as_object().unwrap().iter().filter(|(key, _)| key.ends_with("_percent")) {
        let percent = value.as_f64().unwrap_or(0.0);
        found.holds(key, (-1e-9..=100.0001).contains(&percent), percent);
    }
    let bounds: BTreeMap<&str, f64> =
        rows(&u["bounds"], "bounds").iter().map(|b| (b["name"].as_str().unwrap(), number(b, "seconds"))).collect();
    for (ideal, real) in [
        ("memory_bound_ideal", "memory_bound"),
        ("memory_bound_ideal_no_reloads", "memory_bound_ideal"),
        ("compute_bound_ideal_flops", "compute_bound"),
        ("compute_bound_ideal_useful_flops", "compute_bound_ideal_flops"),
    ] {
        let both = (bounds.get(ideal).copied().unwrap_or(0.0), bounds.get(real).copied().unwrap_or(f64::MAX));
        found.holds(ideal, both.0 <= both.1 * 1.0001, both);
    }
    let total = number(u, "total_time");
    found.holds(
        "no bound is above the time",
        bounds.values().all(|seconds| *seconds <= total * 1.0001),
        (&bounds, total),
    );
    for point in rows(&u["roofline"], "points") {
        let (rate, roof) = (number(point, "flops_per_s"), number(point, "attainable_flops_per_s"));
        found.holds("nothing is above its roof", rate <= roof * 1.001, point);
    }
    for finding in rows(u, "findings") {
        let saves = finding["saves_ns"].as_f64().unwrap_or(0.0);
        found.holds("a finding saves at most the window", (0.0..=window).contains(&saves), finding);
    }
}

/// The trace that was written, in another format and back: the same, or said.
fn round_trip(format: &str, found: &mut Found) {
    let figures = |document: &Value| -> Value {
        let keys = ["span_ns", "operators", "levels", "default_level"];
        keys.iter().map(|key| document[*key].clone()).collect()
    };
    let before = figures(&found.run("open p.json --json").unwrap());
    // The plugins' formats are folders, and a file only by this name.
    let again = if matches!(format, "neuron-plugin" | "tensorboard") { "again.zip" } else { "again" };
    let written = found.run(&format!("open p.json --export {format} --output {again} --json")).unwrap();
    let is_said = written["remarks"].as_array().is_some_and(|all| all.iter().any(|r| r["profile"] == again));
    let after = figures(&found.run(&format!("open {again} --json")).unwrap());
    found.holds("what an export changes is said", is_said || before == after, format);
}

fn generate(draw: &mut Draw, found: &mut Found) {
    let (input, output) = (draw.of(&[1, 16, 100, 128, 512]), draw.of(&[1, 2, 50, 128, 400]));
    let size = |batch: u64, input: u64, weights: &str| {
        format!("--batch {batch} --input {input} --output {output} --weights {weights} --json")
    };
    let (batch, weights) = (draw.of(&[1, 2, 8, 16]), draw.of(&["bf16", "int8"]));
    let model = draw.of(&["gpt2", "llama-3-8b", "mistral-7b", "qwen2.5-7b", "opt-13b", "gpt-neox-20b"]);
    let instance = draw.of(&["inf2.48xlarge", "trn1.32xlarge", "trn2.48xlarge", "inf2.xlarge"]);
    let tp = draw.of(&[1, 2, 4, 8, 12, 32]);
    let at = |batch, input| {
        format!("generate --model {model} --instance {instance} --tp {tp} {}", size(batch, input, weights))
    };
    let Some(made) = found.run(&at(batch, input)) else { return };
    found.ran += 1;
    let memory = made["memory"].clone();
    let parts: f64 = ["weight_bytes", "cache_bytes", "scratch_bytes"].iter().map(|part| number(&memory, part)).sum();
    found.holds("memory adds up", parts == number(&memory, "needed_bytes"), &memory);
    let (median, mean) = (number(&made, "tpot_p50_ms"), number(&made, "tpot_mean_ms"));
    let parts: f64 = made["breakdown_ms"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
    found.holds("parts of a step add up", is_near(parts, median, 1e-6, 1e-6), (parts, median));
    let by_bucket = made["step_ms_by_bucket"].as_object().unwrap();
    let mut steps: Vec<(u64, f64)> =
        by_bucket.iter().map(|(bucket, ms)| (bucket.parse().unwrap(), ms.as_f64().unwrap())).collect();
    steps.sort_by_key(|(bucket, _)| *bucket);
    found.holds("a larger bucket is never faster", steps.is_sorted_by_key(|(_, ms)| *ms), &steps);
    let (first, last) = (steps[0], steps[steps.len() - 1]);
    found.holds("the largest bucket reaches the sequence", last.0 >= input + output, (last.0, input + output));
    found.holds("the median step is one of the steps", steps.iter().any(|(_, ms)| *ms == median), (median, &steps));
    found.holds(
        "the mean step is between them",
        first.1 * 0.999_999 <= mean && mean <= last.1 * 1.000_001,
        (mean, &steps),
    );
    let seconds = (number(&made, "ttft_ms") + (output - 1) as f64 * mean) / 1e3;
    let rate = number(&made, "throughput_tokens_per_s");
    found.holds(
        "tokens over time is the throughput",
        is_near(rate, (batch * output) as f64 / seconds, 1e-6, 0.0),
        (rate, seconds),
    );
    for (what, larger) in [("batch", at(batch * 2, input)), ("prompt", at(batch, input * 2))] {
        if let Some(larger) = found.run(&larger) {
            for key in ["ttft_ms", "tpot_p50_ms"] {
                let both = (number(&made, key), number(&larger, key));
                // The order of instructions that is best for one size may be half a percent worse for another.
                found.holds("more work is never faster", both.1 >= both.0 * 0.99, (what, key, both));
            }
        }
    }
    let fit = found.run(&format!("fit --model {model} {}", size(batch, input, weights))).unwrap();
    let row = rows(&fit, "rows").iter().find(|row| row["instance"] == instance && row["tp"] == tp);
    found.holds("fit is generate", row.is_none_or(|row| row["memory"] == memory), (row, memory));
}

fn matmult(draw: &mut Draw, found: &mut Found) {
    let line = format!(
        "matmult --json -n {} -l {} -b {} -i {} --instance {} --dtype {}{}{}",
        draw.of(&[64, 128, 250, 512]),
        draw.of(&[1, 10, 30]),
        draw.of(&[1, 2, 4]),
        draw.of(&[1, 3, 10]),
        draw.of(&["trn1.2xlarge", "inf2.xlarge", "trn2.48xlarge"]),
        draw.of(&["bf16", "fp32", "fp16", "fp8_e4m3"]),
        draw.sometimes(3, &["--sync"]),
        draw.sometimes(3, &["--add-bias"]),
    );
    let Some(document) = found.run(&line) else { return };
    found.ran += 1;
    for r in rows(&document, "reports").iter().filter(|r| r["status"] == "finished") {
        let case = &r["case"]["run"];
        let seconds = number(r, "iteration_s");
        let order = ["iteration_min_s", "iteration_p50_s", "iteration_max_s"].map(|key| number(r, key));
        let holds_mean = order[0] <= seconds * 1.000_001 && seconds <= order[2] * 1.000_001;
        found.holds("iterations in order", order.is_sorted() && holds_mean, (order, seconds));
        let all = number(r, "benchmark_s");
        found.holds(
            "iterations add up",
            is_near(all, seconds * number(case, "timed_iterations"), 1e-6, 0.0),
            (all, seconds),
        );
        if let Some(percent) = r["peak_percent"].as_f64() {
            let both = (number(r, "tops"), number(r, "peak_tops"));
            found.holds(
                "a share of the peak",
                is_near(percent, 100.0 * both.0 / both.1, 1e-3, 0.0) && percent <= 100.01,
                both,
            );
        }
        found.holds("a share of the limit", (0.0..=100.01).contains(&number(&r["limit"], "percent")), &r["limit"]);
    }
}

fn customop(draw: &mut Draw, found: &mut Found) {
    let kernel = draw.of(&["relu-element", "relu-tcm", "relu-multicore", "relu-multicore-fixed"]);
    let layers = format!("{},{},{},10", draw.of(&[8, 40, 100]), draw.of(&[8, 16, 100]), draw.of(&[8, 64]));
    let workload = draw.of(&["inference", "training"]);
    let at = |batch: u32| {
        format!("customop --json --kernel {kernel} --layers {layers} --workload {workload} --batch {batch}")
    };
    let batch = draw.of(&[1, 2, 8]);
    let Some(made) = found.run(&at(batch)) else { return };
    found.ran += 1;
    let step = number(&made, "step_ns");
    let rate = number(&made, "iterations_per_s");
    found.holds("steps a second", is_near(rate, 1e9 / step, 1e-6, 0.0), (rate, step));
    let looped = made["loop"].clone();
    let (device, host) = (number(&looped, "device_ns"), number(&looped, "host_ns"));
    let breakdown = made["breakdown_ns"].as_object().unwrap();
    let parts: f64 = breakdown.iter().filter(|(key, _)| *key != "host").filter_map(|(_, ns)| ns.as_f64()).sum();
    found.holds("parts of the device add up", is_near(parts, device, 1e-6, 0.0), (parts, device));
    found.holds("a step is as long as the slower side", is_near(device.max(host), step, 1e-6, 0.0), (&looped, step));
    let wait = number(&looped, "wait_ns");
    found.holds("the host waits for the device", is_near(wait, (device - host).max(0.0), 1e-6, 1e-3), &looped);
    if let Some(larger) = found.run(&at(batch * 2)) {
        let larger = number(&larger["loop"], "device_ns");
        found.holds("a larger batch is never faster", larger >= device * 0.999, (device, larger));
    }
}

fn inspect(draw: &mut Draw, found: &mut Found) {
    let line = format!(
        "inspect --model {} --instance {} --batch {} --json",
        draw.of(&[
            "nn",
            "mlp:hidden1=120,hidden2=84",
            "matmult:n=300,loop_count=5",
            "alexnet",
            "resnet18",
            "gpt2:seq=16"
        ]),
        draw.of(INSTANCES),
        draw.of(&[1, 2, 4]),
    );
    let Some(document) = found.run(&line) else { return };
    found.ran += 1;
    let tree = rows(&document, "tree");
    let share = |node: &Value| number(node, "share");
    let depth = |node: &Value| node["depth"].as_u64().unwrap();
    let whole: f64 = tree.iter().filter(|node| depth(node) == 0).map(share).sum();
    found.holds("shares of a model are 1", is_near(whole, 1.0, 0.0, 1e-9), whole);
    for (at, parent) in tree.iter().enumerate().filter(|(_, node)| node["is_open"] == true) {
        let inside = tree[at + 1..].iter().take_while(|node| depth(node) > depth(parent));
        let parts: f64 = inside.filter(|node| depth(node) == depth(parent) + 1).map(share).sum();
        found.holds("parts of a module add up", is_near(parts, share(parent), 1e-9, 1e-12), (&parent["id"], parts));
    }
}

fn numerics(draw: &mut Draw, found: &mut Found) {
    let mut line = format!(
        "numerics --model {} --instance {} --seed {} --json",
        draw.of(&["nn", "mlp:hidden1=120,hidden2=84", "matmult:n=96,loop_count=3"]),
        draw.of(&["trn1.2xlarge", "inf2.xlarge", "trn2.48xlarge"]),
        draw.of(&[0, 1, 2, 3]),
    );
    line += &draw.sometimes(5, &["--batch-size 1", "--batch-size 3"]);
    line += &draw.sometimes(5, &["--auto-cast none", "--auto-cast all", "--auto-cast all --auto-cast-type tf32"]);
    line += &draw.sometimes(3, &["--tolerance 0.0001", "--tolerance 0.3"]);
    let Some(document) = found.run(&line) else { return };
    found.ran += 1;
    let outputs = rows(&document, "outputs");
    let is_passed = |output: &Value| output["passed"] == true;
    found.holds(
        "the verdict is that of all outputs",
        (document["status"] == "PASS") == outputs.iter().all(is_passed),
        &document["status"],
    );
    for output in outputs {
        let (error, tolerance) = (number(output, "mean_relative_error"), number(output, "tolerance"));
        found.holds(
            "an output passes within its tolerance",
            is_passed(output) == (error <= tolerance),
            (error, tolerance),
        );
        let sample = &output["sample"];
        let (reference, device) = (rows(sample, "reference"), rows(sample, "device"));
        let cells = number(sample, "rows") * number(sample, "columns");
        found.holds("a sample has its cells", reference.len() as f64 == cells && device.len() as f64 == cells, cells);
        let most = reference.iter().zip(device).map(|(a, b)| (a.as_f64().unwrap() - b.as_f64().unwrap()).abs());
        let (most, named) = (most.fold(0.0, f64::max), number(output, "max_abs_error"));
        // The sample has the digits of f32.
        found.holds("the largest error is no less than the sample's", most <= named * 1.000_01 + 1e-6, (most, named));
    }
}

fn experiment(draw: &mut Draw, found: &mut Found) {
    let repeat = draw.of(&[1, 2, 3, 7]);
    let iterations = draw.of(&[1, 2, 5]);
    let line = format!(
        "experiment --suite-name {} --filter {} --accelerator {} --xla PJRT --dynamo {} --test {} --repeat {repeat} --iterations-per-run {iterations} --timestamp 1 --output-dirname e",
        draw.of(&["zoo", "torchbench"]),
        draw.of(&["^resnet18$", "^alexnet$", "^nn$"]),
        draw.of(&["trn1", "inf2", "trn2"]),
        draw.of(&["None", "openxla"]),
        draw.of(&["eval", "train"]),
    );
    found.line.clone_from(&line);
    if found.print(&line).is_none() {
        return;
    }
    let lines = found.files.borrow_mut().remove(Path::new("e/results.jsonl"));
    let lines = lines.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).unwrap_or_default();
    found.ran += 1;
    for line in lines.lines() {
        let record: Value = serde_json::from_str(line).unwrap();
        let metrics = &record["metrics"];
        let list = |key: &str| -> Vec<f64> { rows(metrics, key).iter().map(|x| x.as_f64().unwrap()).collect() };
        if metrics["error"].is_string() {
            continue;
        }
        let (total, each) = (list("total_time"), list("per_iter_time"));
        found.holds("a time for each run", total.len() == repeat && each.len() == repeat, total.len());
        let is_mean = |(total, each): (&f64, &f64)| is_near(*total, each * iterations as f64, 1e-6, 1e-9);
        found.holds("a run is its iterations", total.iter().zip(&each).all(is_mean), (&total, &each));
        let traced = list("trace_total_time");
        found.holds("tracing is a part of a run", traced.iter().zip(&total).all(|(a, b)| a <= b), (&traced, &total));
        found.holds("the first run compiles", total.iter().all(|t| *t <= total[0]), &total);
    }
}
