//! A table's rows with their predictions, and the errors in a few numbers.

use serde::Serialize;

use super::{PublishedRow, predict};
use crate::base::stats::percentile_sorted;

/// One row of the answer; one for each row of the table, in its order.
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
    /// Predicted over published.
    pub ratio: Option<f64>,
    /// Why there is no prediction.
    pub skipped: Option<String>,
}

/// Errors over the rows that were not skipped; an error is `|ratio - 1|`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Summary {
    /// Rows that were not skipped.
    pub n: usize,
    /// Median error.
    pub median_abs_error: Option<f64>,
    /// 90th percentile of the error, linear.
    pub p90_abs_error: Option<f64>,
    /// Geometric mean of the ratios: the bias.
    pub geomean_ratio: Option<f64>,
}

impl Summary {
    /// The errors of some rows.
    #[must_use]
    pub fn of<'a>(rows: impl Iterator<Item = &'a Validation>) -> Self {
        let ratios: Vec<f64> = rows.filter_map(|r| r.ratio).collect();
        Self::of_ratios(&ratios)
    }

    /// The errors of some ratios of predicted to published.
    #[must_use]
    pub fn of_ratios(ratios: &[f64]) -> Self {
        let mut errors: Vec<f64> = ratios.iter().map(|r| (r - 1.0).abs()).collect();
        errors.sort_by(f64::total_cmp);
        let logs: f64 = ratios.iter().map(|r| libm::log(*r)).sum();
        Self {
            n: ratios.len(),
            median_abs_error: percentile_sorted(&errors, 50.0),
            p90_abs_error: percentile_sorted(&errors, 90.0),
            geomean_ratio: (!ratios.is_empty()).then(|| libm::exp(logs / ratios.len() as f64)),
        }
    }
}

/// Predicts one row and compares.
#[must_use]
pub fn validate(row: &PublishedRow) -> Validation {
    let outcome = match row.published {
        None => Err("no published throughput".to_owned()),
        Some(published) => predict(row).map(|p| (published, p.throughput)),
    };
    let (published, predicted, skipped) = match outcome {
        Ok((published, predicted)) => (Some(published), Some(predicted), None),
        Err(reason) => (row.published, None, Some(reason)),
    };
    Validation {
        model: row.model.clone(),
        instance: row.instance.clone(),
        batch_size: row.batch_size,
        published,
        predicted,
        ratio: published.zip(predicted).map(|(published, predicted)| predicted / published),
        skipped,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_measured_reaches_a_prediction() {
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
    fn errors_are_of_the_rows_that_were_predicted() {
        let row = |ratio: Option<f64>| Validation {
            model: String::new(),
            instance: String::new(),
            batch_size: None,
            published: None,
            predicted: None,
            ratio,
            skipped: None,
        };
        let rows = [row(Some(0.9)), row(None), row(Some(1.0 / 0.9)), row(Some(1.0))];
        let summary = Summary::of(rows.iter());
        assert_eq!(summary.n, 3);
        assert!((summary.geomean_ratio.unwrap() - 1.0).abs() < 1e-12);
        assert!((summary.median_abs_error.unwrap() - 0.1).abs() < 1e-12);
    }
}
