//! The best throughput, the lowest latency and the lowest cost of the shown rows, each with its configuration, and the
//! sentence that weighs them.

use super::ResultRow;
use ns_base::units::{format_figures, format_number};
use ns_bench::{Report, verdict};
use ns_session::results::{are_of_several_models, row_text};

/// A figure of the best row.
#[derive(Clone, Debug, PartialEq)]
pub struct Tile {
    pub title: &'static str,
    /// Its value, rounded for reading.
    pub value: String,
    /// Its value with more digits.
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
            tile(&scored, (throughput, "inf/s"), |r| r.throughput_avg, true),
            tile(&scored, (latency, "ms"), |r| r.latency_ms_p99, false),
            tile(&scored, (cost, "US$ per million"), |r| r.cost_per_1m_inf, false),
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

/// The row with the largest or the smallest value of a figure.
fn tile(
    scored: &[&Report],
    (title, unit): (&'static str, &'static str),
    measure: fn(&Report) -> Option<f64>,
    is_largest: bool,
) -> Option<Tile> {
    let (report, value) = ns_bench::best(scored.iter().copied(), measure, is_largest)?;
    let of = row_text(report, are_of_several_models(scored));
    Some(Tile { title, value: format_number(value), exact: format_figures(value), unit, of })
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::bench::RowId;
    use ns_bench::{BenchConfig, Configuration, ConfigurationRun, RowResult, RunDetail, SweepState, service_times};
    use ns_session::bench_page;

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

    /// On one instance the row with the highest throughput has the lowest cost, also where thousandths of a dollar are equal.
    #[test]
    fn the_lowest_cost_is_that_of_the_exact_costs() {
        for (model, batch_sizes) in [("bert-base-uncased", vec![8, 16, 32]), ("resnet50", vec![1, 2, 4, 8])] {
            let config = BenchConfig {
                model: model.to_owned(),
                instance_type: "inf2.xlarge".to_owned(),
                batch_sizes,
                n_models: Some(vec![2]),
                workers_per_model: Some(vec![2]),
                duration_s: 10.0,
                ..BenchConfig::default()
            };
            let mut rows = Vec::new();
            for planned in SweepState::new(config.clone()).unwrap().rows() {
                let configuration = planned.planned.configuration.clone();
                let times = service_times(&configuration, &Default::default()).unwrap();
                let mut run = ConfigurationRun::new(configuration, Ok(&times));
                while !run.step(100_000).done {}
                let result = run.finish_with(RunDetail::default());
                rows.push(ResultRow::new(RowId::Own(rows.len().try_into().unwrap()), Rc::new(result)));
            }
            let reports: Vec<Report> = rows.iter().map(|row| row.report().clone()).collect();
            let in_files: Vec<_> = reports.iter().map(|r| r.in_file_decimals().cost_per_1m_inf).collect();
            assert!((1..in_files.len()).any(|i| in_files[..i].contains(&in_files[i])), "{model}: {in_files:?}");
            let rate = |r: &Report| r.throughput_avg.unwrap();
            let fastest = reports.iter().max_by(|a, b| rate(a).total_cmp(&rate(b))).unwrap();

            let tiles = Tiles::of(&rows, |_| true);
            let lowest = tiles.best.iter().find(|tile| tile.title == "Lowest cost").unwrap();
            assert_eq!(lowest.of, row_text(fastest, false), "{model}");
            let sentence = tiles.sentence.unwrap().to_lowercase();
            let expected = format!("highest throughput and lowest cost: {}", fastest.label());
            assert!(sentence.contains(&expected), "{sentence} {expected}");
            let saved = bench_page(Some(&config), &reports, "").unwrap();
            let (_, after) = saved.split_once("Lowest cost").unwrap();
            let (tile, _) = after.split_once("Throughput over latency").unwrap();
            assert!(tile.contains(&row_text(fastest, false)) && tile.contains(&lowest.value), "{tile}");
        }
    }

    #[test]
    fn rows_beyond_the_limits_are_not_the_best_and_still_fail() {
        let rows = [row(0, 1, Some((100.0, 2.0))), row(1, 2, Some((300.0, 5.0))), row(2, 4, None)];
        let tiles = Tiles::of(&rows, |r| r.latency_ms_p99.is_some_and(|ms| ms < 3.0));
        assert_eq!((tiles.best[0].exact.as_str(), tiles.failed), ("100", 1));
        assert_eq!(Tiles::of(&[], |_| true), Tiles::default());
    }
}
