//! Profiles: sums of a run, and the same sums after an export comes back.

use super::*;

pub(super) fn profile(draw: &mut Draw, found: &mut Found, has_time: bool) {
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
        found.holds("a finding saves at most the time", (0.0..=total * 1e9).contains(&saves), finding);
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
