//! The best row of each figure, the rows that failed, and the sentence that weighs them: what stands above results.

use super::finder::Requirements;
use super::plots::RowNames;
use ns_base::units::format_range;
use ns_bench::{INTERVAL_CASES, Measure, Report, best, verdict};
use ns_device::EstimateMark;

/// A figure of the best row.
#[derive(Clone, Debug, PartialEq)]
pub struct BestFigure {
    pub title: &'static str,
    pub unit: &'static str,
    pub value: f64,
    /// What stands before the value: `at most ` if the cost of an operator is not known.
    pub before: &'static str,
    /// The configuration that has it.
    pub of: String,
    /// The interval of its value on a device, and what AWS published for this configuration, a line each.
    pub beside: Vec<String>,
}

/// What stands above some rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct BestFigures {
    /// The figures that at least one row has.
    pub figures: Vec<BestFigure>,
    pub failed: usize,
    pub sentence: Option<String>,
}

/// A figure: its title and unit, its value in a row, how that depends on the throughput, and what is published for it.
struct Figure {
    title: &'static str,
    unit: &'static str,
    value: fn(&Report) -> Option<f64>,
    measure: Measure,
    published: fn(&Report) -> Option<String>,
}

const FIGURES: [Figure; 3] = [
    Figure {
        title: "Best throughput",
        unit: "inf/s",
        value: |r| r.throughput_avg,
        measure: Measure::Rate,
        published: Report::published_throughput_text,
    },
    Figure {
        title: "Lowest p99 latency",
        unit: "ms",
        value: |r| r.latency_ms_p99,
        measure: Measure::Time,
        published: Report::published_p99_text,
    },
    Figure {
        title: "Lowest cost",
        unit: "US$ per million",
        value: |r| r.cost_per_1m_inf,
        measure: Measure::Time,
        published: |_| None,
    },
];

impl BestFigures {
    pub const TITLES: [&str; 3] = [FIGURES[0].title, FIGURES[1].title, FIGURES[2].title];

    /// The best of the rows within the limits.
    pub fn of(reports: &[&Report], wanted: Requirements) -> Self {
        let counted: Vec<&Report> = reports.iter().copied().filter(|r| wanted.counts(r)).collect();
        let names = RowNames::of(&counted);
        let row = |figure: &Figure| {
            let &Figure { title, unit, value: value_of, measure, published } = figure;
            let (report, value) = best(counted.iter().copied(), value_of, measure == Measure::Rate)?;
            let interval = report.interval_of(value, measure);
            let interval = interval.map(|(low, high)| format!("{} {INTERVAL_CASES}", format_range(low, high, unit)));
            let mark = report.estimate;
            let before = mark.map_or(
                "",
                if measure == Measure::Rate { EstimateMark::before_rate } else { EstimateMark::before_time },
            );
            let beside = interval
                .into_iter()
                .chain(published(report))
                .chain(report.interval_unknown.clone())
                .chain(mark.map(EstimateMark::note))
                .collect();
            Some(BestFigure { title, unit, value, before, of: names.text(report), beside })
        };
        let weighed = reports.iter().copied().filter(|r| !r.is_finished() || wanted.counts(r));
        Self {
            figures: FIGURES.iter().filter_map(row).collect(),
            failed: reports.iter().filter(|r| r.error.is_some()).count(),
            sentence: verdict(&weighed.cloned().collect::<Vec<_>>()),
        }
    }
}
