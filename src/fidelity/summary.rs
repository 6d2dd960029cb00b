//! The rows of a table with their predictions, and a summary of the errors.

use serde::Serialize;

use super::decode::GenerationTimes;
use super::predict::{configuration, instance_of};
use super::search::mean_of_ratios;
use super::{PlacementBasis, PublishedRow, interval_of_rate, predict, unknown_error};
use ns_base::Order;
use ns_base::convert::usize_to_f64;
use ns_base::stats::percentile_sorted;
use ns_bench::SdkGeneration;

/// The result for one row of the table, in the table's order.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Validation {
    /// Model as the table names it.
    pub model: String,
    /// Instance as the table writes it.
    pub instance: String,
    /// Samples of one inference.
    pub batch_size: Option<u32>,
    /// Published throughput.
    pub published: Option<f64>,
    /// Predicted throughput.
    pub predicted: Option<f64>,
    /// The interval in which the throughput of a device lies in 8 of 10 cases, of text generation in 9 of 10.
    pub throughput_low: Option<f64>,
    pub throughput_high: Option<f64>,
    /// Predicted over published throughput.
    pub ratio: Option<f64>,
    /// The reason why the row has no prediction.
    pub skipped: Option<String>,
    /// Model copies, each on a core of its own.
    pub n_models: Option<u32>,
    /// Workers of each copy.
    pub workers_per_model: Option<u32>,
    /// How the copies and workers were found.
    pub placed_by: Option<PlacementBasis>,
    /// The constant of the cost table that was solved from this row; the row is then not part of the errors.
    pub solved: Option<String>,
    /// Times of a row of text generation.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub generation: Option<GenerationTimes>,
}

impl Validation {
    /// Whether the row tests the predictions: it has a prediction, and no constant was solved from it.
    pub fn judges(&self) -> bool {
        self.ratio.is_some() && self.solved.is_none()
    }

    /// Whether the published throughput lies in the interval of the prediction.
    pub fn is_inside(&self) -> Option<bool> {
        let (low, high) = self.throughput_low.zip(self.throughput_high)?;
        self.published.map(|published| (low..=high).contains(&published))
    }
}

/// Errors over the rows that were not skipped and from which no constant was solved; an error is `|ratio - 1|`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Rows that were not skipped and from which no constant was solved.
    pub n: usize,
    pub median_abs_error: Option<f64>,
    /// 90th percentile of the error, linear.
    pub p90_abs_error: Option<f64>,
    /// Geometric mean of the ratios: the bias.
    pub geomean_ratio: Option<f64>,
    /// Share of the rows whose published throughput lies in the interval of the prediction.
    pub inside_share: Option<f64>,
}

impl Summary {
    /// The errors of some rows.
    pub fn of<'a>(rows: impl Iterator<Item = &'a Validation>) -> Self {
        let rows: Vec<&Validation> = rows.filter(|r| r.judges()).collect();
        let ratios: Vec<f64> = rows.iter().filter_map(|r| r.ratio).collect();
        let inside = rows.iter().filter_map(|r| r.is_inside()).filter(|inside| *inside).count();
        let known = rows.iter().filter(|r| r.is_inside().is_some()).count();
        let inside_share = (known > 0).then(|| usize_to_f64(inside) / usize_to_f64(known));
        Self { inside_share, ..Self::of_ratios(&ratios) }
    }

    /// The errors of some ratios of predicted to published.
    pub fn of_ratios(ratios: &[f64]) -> Self {
        let mut errors: Vec<f64> = ratios.iter().map(|r| (r - 1.0).abs()).collect();
        errors.order_by(f64::total_cmp);
        Self {
            n: ratios.len(),
            median_abs_error: percentile_sorted(&errors, 50.0),
            p90_abs_error: percentile_sorted(&errors, 90.0),
            geomean_ratio: (!ratios.is_empty()).then(|| mean_of_ratios(ratios)),
            inside_share: None,
        }
    }
}

/// Predicts one row and compares it with the published throughput.
pub fn validate(row: &PublishedRow) -> Validation {
    let outcome = match row.published {
        None => Err("no published throughput".to_owned()),
        Some(_) => predict(row).map_err(|error| error.to_string()),
    };
    let (prediction, skipped) = match outcome {
        Ok(prediction) => (Some(prediction), None),
        Err(reason) => (None, Some(reason)),
    };
    let predicted = prediction.as_ref().map(|p| p.throughput);
    let is_known = configuration(row).map_or(true, |configuration| unknown_error(&configuration).is_none());
    let generation = SdkGeneration::of_framework(&row.framework);
    let known = predicted.filter(|_| is_known);
    let interval = known.and_then(|rate| interval_of_rate(rate, instance_of(&row.instance).ok()?.name, generation));
    let placement = prediction.as_ref().map(|p| p.placement);
    Validation {
        model: row.model.clone(),
        instance: row.instance.clone(),
        batch_size: row.batch_size,
        published: row.published,
        predicted,
        throughput_low: interval.map(|(low, _)| low),
        throughput_high: interval.map(|(_, high)| high),
        ratio: row.published.zip(predicted).map(|(published, predicted)| predicted / published),
        skipped,
        n_models: placement.map(|p| p.n_models),
        workers_per_model: placement.map(|p| p.workers_per_model),
        placed_by: placement.map(|p| p.basis),
        solved: prediction.and_then(|p| p.solved).map(str::to_owned),
        generation: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_throughput_reaches_no_prediction() {
        let row = PublishedRow {
            model: "nn".into(),
            instance: "TRN1.2xlarge".into(),
            batch_size: Some(1),
            published: Some(100.0),
            outstanding_requests: Some(2),
            ..PublishedRow::default()
        };
        let (first, scaled) = (validate(&row), validate(&PublishedRow { published: Some(700.0), ..row.clone() }));
        assert!(first.predicted.is_some());
        assert_eq!(first.predicted, scaled.predicted);
        assert!((first.ratio.unwrap() / scaled.ratio.unwrap() - 7.0).abs() < 1e-9);
    }

    #[test]
    fn errors_count_only_predicted_rows() {
        let row = |ratio: Option<f64>| Validation {
            model: String::new(),
            instance: String::new(),
            batch_size: None,
            published: None,
            predicted: None,
            throughput_low: None,
            throughput_high: None,
            ratio,
            skipped: None,
            n_models: None,
            workers_per_model: None,
            placed_by: None,
            solved: None,
            generation: None,
        };
        let solved = Validation { solved: Some("hbm_access_ns".to_owned()), ..row(Some(7.0)) };
        let rows = [row(Some(0.9)), row(None), row(Some(1.0 / 0.9)), row(Some(1.0)), solved];
        let summary = Summary::of(rows.iter());
        assert_eq!(summary.n, 3);
        assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 1e-12);
        assert!((summary.median_abs_error.unwrap() - 0.1).abs() < 1e-12);
    }
}
