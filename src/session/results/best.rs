//! The best row of each figure, the rows that failed, and the sentence that weighs them: what stands above results.

use super::finder::Requirements;
use super::plots::{are_of_several_models, row_text};
use ns_bench::{Report, best, verdict};

/// A figure of the best row.
#[derive(Clone, Debug, PartialEq)]
pub struct BestFigure {
    pub title: &'static str,
    pub unit: &'static str,
    pub value: f64,
    /// The configuration that has it.
    pub of: String,
}

/// What stands above some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestFigures {
    /// The figures that at least one row has.
    pub figures: Vec<BestFigure>,
    pub failed: usize,
    pub sentence: Option<String>,
}

/// A figure: title, unit, its value in a row, and whether more is better.
type Figure = (&'static str, &'static str, fn(&Report) -> Option<f64>, bool);

const FIGURES: [Figure; 3] = [
    ("Best throughput", "inf/s", |r| r.throughput_avg, true),
    ("Lowest p99 latency", "ms", |r| r.latency_ms_p99, false),
    ("Lowest cost", "US$ per million", |r| r.cost_per_1m_inf, false),
];

impl BestFigures {
    /// Titles of the figures.
    pub const TITLES: [&str; 3] = [FIGURES[0].0, FIGURES[1].0, FIGURES[2].0];

    /// The best of the rows within the limits.
    #[must_use]
    pub fn of(reports: &[&Report], wanted: Requirements) -> Self {
        let counted: Vec<&Report> = reports.iter().copied().filter(|r| wanted.counts(r)).collect();
        let several = are_of_several_models(&counted);
        let row = |(title, unit, measure, is_largest): Figure| {
            let (report, value) = best(counted.iter().copied(), measure, is_largest)?;
            Some(BestFigure { title, unit, value, of: row_text(report, several) })
        };
        let weighed = reports.iter().copied().filter(|r| !r.is_finished() || wanted.counts(r));
        Self {
            figures: FIGURES.into_iter().filter_map(row).collect(),
            failed: reports.iter().filter(|r| r.error.is_some()).count(),
            sentence: verdict(&weighed.cloned().collect::<Vec<_>>()),
        }
    }
}
