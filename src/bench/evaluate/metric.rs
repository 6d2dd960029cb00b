//! The metrics by their names, over records of an output and its target.

use super::Confusion;
use ns_base::convert::{f64_to_usize, usize_to_f64};
use ns_base::{Refusal, refuse};

/// One answer of a model: its output and the correct answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Record<'a> {
    /// The output: scores of the classes, or one value.
    pub output: &'a [f32],
    /// The class, or the value.
    pub target: f64,
}

/// How a metric is computed.
#[derive(Clone, Copy)]
pub enum Metric {
    /// The share of records whose highest score is the target's.
    Accuracy,
    /// A rate of a two-class problem. With one score, above 0.5 is positive; with two, the second being higher is positive.
    Rate(fn(&Confusion) -> Option<f64>),
    /// The mean absolute error of one value.
    MeanAbsoluteError,
    /// The mean squared error of one value.
    MeanSquaredError,
    /// The share of records whose target is among the k highest scores.
    TopK(usize),
}

/// A metric with its names.
#[derive(Clone, Copy)]
pub struct MetricInfo {
    /// Its name in NeuronPerf.
    pub name: &'static str,
    /// Other names of the metric.
    pub aliases: &'static [&'static str],
    /// Its definition, as a formula.
    pub description: &'static str,
    /// How it is computed.
    pub metric: Metric,
}

const fn rate(
    name: &'static str,
    aliases: &'static [&'static str],
    description: &'static str,
    of: fn(&Confusion) -> Option<f64>,
) -> MetricInfo {
    MetricInfo { name, aliases, description, metric: Metric::Rate(of) }
}

/// Every metric, in NeuronPerf's order.
pub const METRICS: &[MetricInfo] = &[
    MetricInfo {
        name: "Accuracy",
        aliases: &[],
        description: "(TP + TN) / (TP + TN + FP + FN)",
        metric: Metric::Accuracy,
    },
    rate("TruePositiveRate", &["Sensitivity", "Recall", "Hit Rate"], "TP / (TP + FN)", Confusion::true_positive_rate),
    rate("TrueNegativeRate", &["Specificity", "Selectivity"], "TN / (TN + FP)", Confusion::true_negative_rate),
    rate("PositivePredictiveValue", &["Precision"], "TP / (TP + FP)", Confusion::positive_predictive_value),
    rate("NegativePredictiveValue", &[], "TN / (TN + FN)", Confusion::negative_predictive_value),
    rate("FalseNegativeRate", &[], "FN / (FN + TP)", Confusion::false_negative_rate),
    rate("FalsePositiveRate", &[], "FP / (FP + TN)", Confusion::false_positive_rate),
    rate("FalseDiscoveryRate", &[], "FP / (FP + TP)", Confusion::false_discovery_rate),
    rate("FalseOmissionRate", &[], "FN / (FN + TN)", Confusion::false_omission_rate),
    rate("PositiveLikelihoodRatio", &[], "TPR / FPR", Confusion::positive_likelihood_ratio),
    rate("NegativeLikelihoodRatio", &[], "FNR / TNR", Confusion::negative_likelihood_ratio),
    rate("PrevalenceThreshold", &[], "sqrt(FPR) / (sqrt(TPR) + sqrt(FPR))", Confusion::prevalence_threshold),
    rate("ThreatScore", &[], "TP / (TP + FN + FP)", Confusion::threat_score),
    rate("F1Score", &[], "2TP / (2TP + FP + FN)", Confusion::f1_score),
    MetricInfo {
        name: "MeanAbsoluteError",
        aliases: &[],
        description: "sum(|output - target|) / n",
        metric: Metric::MeanAbsoluteError,
    },
    MetricInfo {
        name: "MeanSquaredError",
        aliases: &[],
        description: "sum((output - target)^2) / n",
        metric: Metric::MeanSquaredError,
    },
    MetricInfo {
        name: "topk",
        aliases: &[],
        description: "share of records whose target is among the k highest outputs; topk_3 for k = 3",
        metric: Metric::TopK(1),
    },
];

/// The metric with a name or an alias, ignoring case; `topk_3` is topk with k = 3. Fails when the metric is unknown; the message
/// lists the known ones.
pub fn find_metric(name: &str) -> Result<Metric, Refusal> {
    let named = |m: &&MetricInfo| {
        m.name.eq_ignore_ascii_case(name) || m.aliases.iter().any(|alias| alias.eq_ignore_ascii_case(name))
    };
    if let Some(info) = METRICS.iter().find(named) {
        return Ok(info.metric);
    }
    let k = name.to_ascii_lowercase().strip_prefix("topk_").and_then(|k| k.parse().ok()).filter(|k| *k > 0);
    k.map(Metric::TopK).ok_or_else(|| {
        refuse!(
            "unknown metric '{name}'; the metrics are {}",
            METRICS.iter().map(|m| m.name).collect::<Vec<_>>().join(", ")
        )
    })
}

/// The table `list_metrics` prints.
pub fn metrics_to_text() -> String {
    let name = |m: &MetricInfo| match m.aliases {
        [] => m.name.to_owned(),
        aliases => format!("{} ({})", m.name, aliases.join(", ")),
    };
    let width = METRICS.iter().map(|m| name(m).len()).max().unwrap_or(0);
    METRICS.iter().map(|m| format!("{:<width$}  {}\n", name(m), m.description)).collect()
}

/// Computes a metric over records; `None` when it has no value, such as a rate over no records. An error names the first record
/// that the metric cannot judge.
pub fn evaluate(metric: Metric, records: &[Record]) -> Result<Option<f64>, Refusal> {
    if records.is_empty() {
        return Ok(None);
    }
    let mut counts = Confusion::default();
    let mut sum = 0.0;
    for (i, record) in records.iter().enumerate() {
        let judged = match metric {
            Metric::Rate(_) => positive(record).map(|(predicted, target)| counts.add(predicted, target)),
            Metric::Accuracy if record.output.len() == 1 => {
                positive(record).map(|(predicted, target)| sum += f64::from(u8::from(predicted == target)))
            }
            Metric::Accuracy => rank_of_target(record).map(|rank| sum += f64::from(u8::from(rank == 0))),
            Metric::TopK(k) => rank_of_target(record).map(|rank| sum += f64::from(u8::from(rank < k))),
            Metric::MeanAbsoluteError => distance(record).map(|d| sum += d.abs()),
            Metric::MeanSquaredError => distance(record).map(|d| sum += d * d),
        };
        judged.map_err(|problem| refuse!("record {}: {problem}", i + 1))?;
    }
    Ok(match metric {
        Metric::Rate(of) => of(&counts),
        _ => Some(sum / usize_to_f64(records.len())),
    })
}

pub(super) fn positive(record: &Record) -> Result<(bool, bool), Refusal> {
    let predicted = match record.output {
        [score] => *score > 0.5,
        [negative, positive] => positive > negative,
        other => return Err(refuse!("a two-class metric needs one or two outputs, but there are {}", other.len())),
    };
    let is = |class: f64| (record.target - class).abs() < 1e-9;
    match (is(0.0), is(1.0)) {
        (true, _) => Ok((predicted, false)),
        (_, true) => Ok((predicted, true)),
        _ => Err(refuse!("the target of a two-class metric must be 0 or 1, not {}", record.target)),
    }
}

/// How many classes have a higher score than the target's; of equal scores, the first class counts as the higher one, as in
/// `argmax`.
fn rank_of_target(record: &Record) -> Result<usize, Refusal> {
    let classes = record.output.len();
    let index =
        (record.target >= 0.0 && libm::floor(record.target) == record.target && record.target < usize_to_f64(classes))
            .then_some(f64_to_usize(record.target));
    let score = index.and_then(|i| record.output.get(i).map(|score| (i, *score)));
    let Some((index, score)) = score else {
        return Err(refuse!("the target {} is not a class of {classes} outputs", record.target));
    };
    let above = |(i, s): &(usize, &f32)| **s > score || (**s == score && *i < index);
    Ok(record.output.iter().enumerate().filter(above).count())
}

fn distance(record: &Record) -> Result<f64, Refusal> {
    match record.output {
        [value] => Ok(f64::from(*value) - record.target),
        other => Err(refuse!("an error metric needs one output, but there are {}", other.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(name: &str, records: &[(&[f32], f64)]) -> Option<f64> {
        let records: Vec<Record> = records.iter().map(|(output, target)| Record { output, target: *target }).collect();
        evaluate(find_metric(name).unwrap(), &records).unwrap()
    }

    #[test]
    fn classes_values_and_the_best_k() {
        let scores: [(&[f32], f64); 4] =
            [(&[0.1, 0.7, 0.2], 1.0), (&[0.5, 0.2, 0.3], 2.0), (&[0.4, 0.4, 0.2], 0.0), (&[0.9, 0.06, 0.04], 2.0)];
        assert_eq!(value("accuracy", &scores), Some(0.5));
        assert_eq!((value("topk_2", &scores), value("topk_3", &scores)), (Some(0.75), Some(1.0)));
        let values: [(&[f32], f64); 2] = [(&[1.5], 1.0), (&[2.0], 4.0)];
        assert_eq!(
            (value("MeanAbsoluteError", &values), value("meansquarederror", &values)),
            (Some(1.25), Some(2.125))
        );
    }

    #[test]
    fn two_classes_by_one_score_or_two() {
        let one: [(&[f32], f64); 4] = [(&[0.9], 1.0), (&[0.6], 0.0), (&[0.4], 1.0), (&[0.1], 0.0)];
        let two: [(&[f32], f64); 4] = [(&[0.1, 0.9], 1.0), (&[0.4, 0.6], 0.0), (&[0.6, 0.4], 1.0), (&[0.9, 0.1], 0.0)];
        for name in ["Recall", "Precision", "Hit Rate", "specificity", "Accuracy"] {
            assert_eq!((value(name, &one), value(name, &two)), (Some(0.5), Some(0.5)), "{name}");
        }
        assert_eq!(value("Recall", &one[1..2]), None);
        assert_eq!(value("Recall", &[]), None);
    }

    #[test]
    fn what_can_not_be_judged_is_named() {
        let judge = |name: &str, output: &[f32], target| {
            evaluate(find_metric(name).unwrap(), &[Record { output, target }]).unwrap_err().to_string()
        };
        assert!(judge("Recall", &[1.0, 2.0, 3.0], 1.0).contains("record 1: a two-class metric"));
        assert!(judge("Recall", &[1.0], 3.0).contains("0 or 1, not 3"));
        assert!(judge("topk", &[1.0, 2.0], 2.0).contains("not a class of 2 outputs"));
        assert!(judge("MeanSquaredError", &[1.0, 2.0], 2.0).contains("one output"));
        assert!(find_metric("speed").is_err() && find_metric("topk_0").is_err());
        assert_eq!(metrics_to_text().lines().count(), METRICS.len());
    }
}
