//! Models on the reference and on a device: shares, errors, experiments, metrics.

use super::*;
use crate::folder::Folder;

pub(super) fn inspect(draw: &mut Draw, found: &mut Found) {
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

pub(super) fn numerics(draw: &mut Draw, found: &mut Found) {
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

pub(super) fn experiment(draw: &mut Draw, found: &mut Found) {
    // Records are appended to a file, which is never one in memory.
    let folder = Folder::new("sums");
    let repeat = draw.of(&[1, 2, 3, 7]);
    let iterations = draw.of(&[1, 2, 5]);
    let line = format!(
        "experiment --suite-name {} --filter {} --accelerator {} --xla PJRT --dynamo {} --test {} --repeat {repeat} --iterations-per-run {iterations} --timestamp 1 --output-dirname {}",
        draw.of(&["zoo", "torchbench"]),
        draw.of(&["^resnet18$", "^alexnet$", "^nn$"]),
        draw.of(&["trn1", "inf2", "trn2"]),
        draw.of(&["None", "openxla"]),
        draw.of(&["eval", "train"]),
        folder.display(),
    );
    found.line.clone_from(&line);
    if found.print(&line).is_none() {
        return;
    }
    let lines = folder.read("results.jsonl");
    found.holds("a run writes records", !lines.is_empty(), &lines);
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

/// Metrics of a table that is drawn, against one another and against the records.
pub(super) fn evaluate(draw: &mut Draw, found: &mut Found) {
    let (records, classes) = (draw.of(&[1, 2, 9, 40, 300]), draw.of(&[1, 2, 2, 3, 7]));
    let mut table = format!("{},target\n", (0..classes).map(|c| format!("out{c}")).collect::<Vec<_>>().join(","));
    let mut lines = Vec::new();
    for _ in 0..records {
        let scores: Vec<String> = (0..classes).map(|_| format!("{}", draw.of(&[0, 10, 25, 50, 75, 99]))).collect();
        let target = draw.0.next_u32() % u32::max(classes, 2);
        lines.push(format!("{},{target}", scores.iter().map(|s| format!("0.{s:0>2}")).collect::<Vec<_>>().join(",")));
    }
    table += &lines.join("\n");
    found.files.borrow_mut().insert(PathBuf::from("answers.csv"), Arc::new(table.into_bytes()));
    found.line = format!("evaluate answers.csv of {records} records with {classes} outputs");
    let metrics: &[&str] = match classes {
        1 => &["MeanAbsoluteError", "MeanSquaredError"],
        2 => &[],
        _ => &["topk_1", "topk_2", "topk_3", "topk_100"],
    };
    let rates = [
        "TruePositiveRate",
        "TrueNegativeRate",
        "PositivePredictiveValue",
        "NegativePredictiveValue",
        "FalseNegativeRate",
        "FalsePositiveRate",
        "FalseDiscoveryRate",
        "FalseOmissionRate",
        "ThreatScore",
        "F1Score",
    ];
    let rates: &[&str] = if classes <= 2 { &rates } else { &[] };
    let names = [&["Accuracy"], metrics, rates].concat();
    let read = |found: &Found| {
        let text = found.print(&format!("evaluate answers.csv --metrics {}", names.join(",")))?;
        let text = String::from_utf8(text).unwrap();
        // The table of the metrics comes last.
        let rows = text.lines().skip_while(|line| !line.starts_with("Metric ")).skip(1);
        let values = rows.filter_map(|line| line.rsplit_once(' '));
        Some(
            values.map(|(name, value)| (name.trim().to_owned(), value.parse::<f64>().ok())).collect::<BTreeMap<_, _>>(),
        )
    };
    let Some(values) = read(found) else { return found.holds("a table is read", false, &names) };
    lines.reverse();
    let turned = format!("a,{}target\n{}", "b,".repeat(classes as usize - 1), lines.join("\n"));
    found.files.borrow_mut().insert(PathBuf::from("answers.csv"), Arc::new(turned.into_bytes()));
    let again = read(found);
    found.ran += 1;
    found.holds("the order of records is nothing", again.as_ref() == Some(&values), (&values, &again));
    let value = |name: &str| values.get(name).copied().flatten();
    for (name, value) in &values {
        found.holds("a share is between 0 and 1", value.is_none_or(|v| (0.0..=1.0).contains(&v)), (name, value));
    }
    for (one, other) in [
        ("TruePositiveRate", "FalseNegativeRate"),
        ("TrueNegativeRate", "FalsePositiveRate"),
        ("PositivePredictiveValue", "FalseDiscoveryRate"),
        ("NegativePredictiveValue", "FalseOmissionRate"),
    ] {
        let sum = value(one).zip(value(other)).map(|(a, b)| a + b);
        found.holds("a rate and its opposite are 1", sum.is_none_or(|sum| is_near(sum, 1.0, 1e-5, 0.0)), (one, sum));
    }
    if let (Some(recall), Some(precision), Some(f1)) =
        (value("TruePositiveRate"), value("PositivePredictiveValue"), value("F1Score"))
    {
        let mean = 2.0 * recall * precision / (recall + precision).max(1e-12);
        found.holds("F1 is the harmonic mean of recall and precision", is_near(f1, mean, 1e-5, 1e-9), (f1, mean));
        let threat = value("ThreatScore").unwrap();
        found.holds("the threat score is F1 / (2 - F1)", is_near(threat, f1 / (2.0 - f1), 1e-5, 1e-9), (threat, f1));
    }
    if let (Some(mean), Some(square)) = (value("MeanAbsoluteError"), value("MeanSquaredError")) {
        found.holds(
            "a squared mean is no more than the mean of squares",
            mean * mean <= square * 1.000_01,
            (mean, square),
        );
    }
    if let (Some(accuracy), Some(first)) = (value("Accuracy"), value("topk_1")) {
        let ranks = [first, value("topk_2").unwrap(), value("topk_3").unwrap(), value("topk_100").unwrap()];
        found.holds("accuracy is the best one", is_near(accuracy, first, 1e-6, 0.0), (accuracy, first));
        found.holds("more places never hold less", ranks.is_sorted() && ranks[3] == 1.0, ranks);
    }
}
