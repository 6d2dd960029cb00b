//! Speed-ups over a baseline.

use super::backend::Backend;
use super::batches::Batches;
use super::measure::Measure;
use super::store::{Aggregator, Models};
use ns_base::{Order, Refusal, refuse, stats};

/// The times of the baseline backend that make the baseline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Baseline {
    /// The oldest time of each model and batch size.
    #[default]
    Oldest,
    /// The times of the newest timestamp.
    Latest,
}

impl Baseline {
    /// Its name in headings.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Oldest => "Oldest",
            Self::Latest => "Latest",
        }
    }
}

/// Speed-ups of one backend at one timestamp.
#[derive(Clone, Debug, PartialEq)]
pub struct BackendSpeedups {
    /// Each model's geometric mean over its batch sizes, in order of first appearance.
    pub models: Vec<(String, Measure)>,
    /// Geometric mean over the models.
    pub gmean: Measure,
    /// The 95th, 50th and 5th percentile of the models.
    pub percentiles: [f64; 3],
}

/// Percentiles of [`BackendSpeedups::percentiles`].
pub(super) const PERCENTILES: [f64; 3] = [95.0, 50.0, 5.0];

/// Speed-ups at one timestamp.
#[derive(Clone, Debug, PartialEq)]
pub struct TimeSpeedups {
    /// Seconds since 1970.
    pub timestamp: f64,
    /// Speed-ups of each chosen backend; `None` when none of its models has a baseline.
    pub backends: Vec<Option<BackendSpeedups>>,
}

/// Speed-ups of the chosen backends over the first of them, at every timestamp in order. Fails when the baseline is the newest
/// timestamp's, and the baseline backend has no record with it.
pub fn speedups(records: &Aggregator, backends: &[Backend], baseline: Baseline) -> Result<Vec<TimeSpeedups>, Refusal> {
    let Some(first) = backends.first().copied() else { return Ok(Vec::new()) };
    let base = baseline_times(records, first, baseline)?;
    let at = |point: &super::store::TimePoint| TimeSpeedups {
        timestamp: point.timestamp,
        backends: backends.iter().map(|b| of_backend(records, &point.backends[b.index()], &base)).collect(),
    };
    Ok(records.points().map(at).collect())
}

fn baseline_times(records: &Aggregator, backend: Backend, baseline: Baseline) -> Result<Models, Refusal> {
    let of = |point: &super::store::TimePoint| point.backends[backend.index()].clone();
    match baseline {
        Baseline::Latest => {
            let newest = records.points().next_back().map(of).unwrap_or_default();
            if newest.is_empty() && !records.is_empty() {
                return Err(refuse!(
                    "the newest timestamp has no {} record for the baseline; use --baseline oldest or name another backend first",
                    backend.name()
                ));
            }
            Ok(newest)
        }
        Baseline::Oldest => {
            let mut oldest = Models::default();
            for point in records.points() {
                for (model, batches) in &point.backends[backend.index()] {
                    let known = oldest.entry(*model).or_default();
                    for (batch, measure) in batches.iter() {
                        known.keep_first(batch, measure);
                    }
                }
            }
            Ok(oldest)
        }
    }
}

fn of_backend(records: &Aggregator, models: &Models, base: &Models) -> Option<BackendSpeedups> {
    let of_model = |(model, batches): (&u32, &Batches)| {
        let base = base.get(model)?;
        let ratios: Vec<Measure> =
            batches.iter().filter_map(|(batch, time)| Some(base.get(batch)?.over(time))).collect();
        Some((records.model_name(*model), Measure::geometric_mean(&ratios)?))
    };
    let models: Vec<(String, Measure)> = models.iter().filter_map(of_model).collect();
    // In order of names, so that the last bits do not depend on the order of the lines.
    let mut sorted: Vec<&(String, Measure)> = models.iter().collect();
    sorted.order_by(|a, b| a.0.cmp(&b.0));
    let measures: Vec<Measure> = sorted.iter().map(|m| m.1).collect();
    let gmean = Measure::geometric_mean(&measures)?;
    let mut ratios: Vec<f64> = measures.iter().map(|m| m.avg).collect();
    let is_nan = ratios.iter().any(|r| r.is_nan());
    ratios.order_by(f64::total_cmp);
    let percentile = |p| if is_nan { f64::NAN } else { stats::percentile_sorted(&ratios, p).unwrap_or(f64::NAN) };
    Some(BackendSpeedups { models, gmean, percentiles: PERCENTILES.map(percentile) })
}
