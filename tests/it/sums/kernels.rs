//! The microbenchmark and custom operators.

use super::*;

pub(super) fn matmult(draw: &mut Draw, found: &mut Found) {
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

pub(super) fn customop(draw: &mut Draw, found: &mut Found) {
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
