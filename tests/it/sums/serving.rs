//! Benchmarks and language models: what is offered, what is served, what a call is made of.

use super::*;

pub(super) fn bench(draw: &mut Draw, found: &mut Found) {
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

pub(super) fn generate(draw: &mut Draw, found: &mut Found) {
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
