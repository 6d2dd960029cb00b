//! The best throughput, the lowest latency and the lowest cost of the shown rows, each with its configuration, and the
//! sentence that weighs them.

use super::ResultRow;
use ns_base::units::format_number;
use ns_bench::{Report, verdict};
use ns_session::results::{are_of_several_models, row_text};

/// A figure of the best row.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub title: &'static str,
    /// Its value, rounded for reading.
    pub value: String,
    /// Its value with all digits.
    pub exact: String,
    pub unit: &'static str,
    /// The configuration that has it.
    pub of: String,
}

/// The tiles above the results.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tiles {
    /// The figures that at least one row has.
    pub best: Vec<Tile>,
    /// How many rows failed.
    pub failed: usize,
    /// Number of rows.
    pub all: usize,
    /// The sentence that weighs them.
    pub sentence: Option<String>,
}

impl Tiles {
    /// Titles of the figures.
    pub const TITLES: [&str; 3] = ["Best throughput", "Lowest p99 latency", "Lowest cost"];

    /// Figures and sentence; `admits` says which rows are within the chosen limits.
    #[must_use]
    pub fn of(rows: &[ResultRow], admits: impl Fn(&Report) -> bool) -> Self {
        let reports = || rows.iter().map(ResultRow::report);
        let scored: Vec<&Report> = reports().filter(|r| r.is_finished() && admits(r)).collect();
        let [throughput, latency, cost] = Self::TITLES;
        let best = [
            best(&scored, (throughput, "inf/s"), |r| r.throughput_avg, true),
            best(&scored, (latency, "ms"), |r| r.latency_ms_p99, false),
            best(&scored, (cost, "US$ per million"), |r| r.cost_per_1m_inf, false),
        ];
        let weighed: Vec<Report> = reports().filter(|r| !r.is_finished() || admits(r)).cloned().collect();
        Self {
            best: best.into_iter().flatten().collect(),
            failed: reports().filter(|r| r.error.is_some()).count(),
            all: rows.len(),
            sentence: verdict(&weighed),
        }
    }
}

/// The row with the largest or the smallest value of a figure; in a tie the first, as in the sentence.
fn best(
    scored: &[&Report],
    (title, unit): (&'static str, &'static str),
    value: fn(&Report) -> Option<f64>,
    largest: bool,
) -> Option<Tile> {
    let known = scored.iter().filter_map(|r| value(r).map(|v| (v, *r)));
    let (value, report) = known.reduce(|a, b| if (b.0 > a.0) == largest && b.0 != a.0 { b } else { a })?;
    let of = row_text(report, are_of_several_models(scored));
    Some(Tile { title, value: format_number(value), exact: value.to_string(), unit, of })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::bench::RowId;
    use ns_bench::{BenchConfig, Configuration, RowResult, SweepState};

    fn row(at: u32, n_models: u32, figures: Option<(f64, f64)>) -> ResultRow {
        let config = BenchConfig { model: "nn".to_owned(), ..BenchConfig::default() };
        let sweep = SweepState::new(config).unwrap();
        let configuration = Configuration { n_models, ..sweep.rows()[0].planned.configuration.clone() };
        let mut report = Report::failed(&configuration, "out of memory");
        if let Some((throughput, p99)) = figures {
            (report.status, report.error) = ("finished".to_owned(), None);
            (report.throughput_avg, report.latency_ms_p99) = (Some(throughput), Some(p99));
        }
        ResultRow::new(RowId::Own(at), Rc::new(RowResult { report, ..RowResult::default() }))
    }

    /// The text that a screen reader reads.
    fn text(tiles: &Tiles) -> String {
        let lines = tiles.best.iter().map(|t| format!("{}: {} {} ({})\n", t.title, t.value, t.unit, t.of));
        lines.chain([format!("{} of {} failed", tiles.failed, tiles.all)]).collect()
    }

    #[test]
    fn the_best_of_each_figure_and_what_failed() {
        let rows = [
            row(0, 1, Some((100.0, 2.0))),
            row(1, 2, Some((300.0, 5.0))),
            row(2, 4, None),
            row(3, 8, Some((300.0, 9.0))),
        ];
        let tiles = Tiles::of(&rows, |_| true);
        // Without a price there is no tile for the cost.
        let expected = "Best throughput: 300 inf/s (2 models, 1 worker each, batch 1)\n\
                        Lowest p99 latency: 2.00 ms (1 model, 1 worker each, batch 1)\n\
                        1 of 4 failed";
        assert_eq!(text(&tiles), expected);
        assert_eq!(tiles.best[0].of, Tiles::of(&rows[..2], |_| true).best[0].of, "of equals the first");
        assert!(tiles.sentence.is_some());
    }

    #[test]
    fn rows_beyond_the_limits_are_not_the_best_and_still_fail() {
        let rows = [row(0, 1, Some((100.0, 2.0))), row(1, 2, Some((300.0, 5.0))), row(2, 4, None)];
        let tiles = Tiles::of(&rows, |r| r.latency_ms_p99.is_some_and(|ms| ms < 3.0));
        assert_eq!((tiles.best[0].exact.as_str(), tiles.failed), ("100", 1));
        assert_eq!(Tiles::of(&[], |_| true), Tiles::default());
    }
}
