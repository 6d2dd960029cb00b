//! The best throughput, the lowest latency and the lowest cost of the shown rows, each with its configuration, and the
//! sentence that weighs them.

use super::ResultRow;
use ns_base::units::{format_figures, format_number};
use ns_bench::Report;
use ns_session::results::{BestFigure, BestFigures, Requirements};

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
    /// The interval of its value on a device, and what AWS published for this configuration, a line each.
    pub beside: Vec<String>,
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
    pub const TITLES: [&str; 3] = BestFigures::TITLES;

    /// Figures and sentence of the rows within the limits.
    pub fn of(rows: &[ResultRow], wanted: Requirements) -> Self {
        let reports: Vec<&Report> = rows.iter().map(ResultRow::report).collect();
        let best = BestFigures::of(&reports, wanted);
        let tile = |BestFigure { title, unit, value, before, of, beside }| Tile {
            title,
            value: format!("{before}{}", format_number(value)),
            exact: format_figures(value),
            unit,
            of,
            beside,
        };
        Self {
            best: best.figures.into_iter().map(tile).collect(),
            failed: best.failed,
            all: rows.len(),
            sentence: best.sentence,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use super::*;
    use crate::bench::RowId;
    use ns_base::NeverCancel;
    use ns_bench::{BenchConfig, Configuration, ConfigurationRun, RowResult, RunDetail, SweepState, service_times};
    use ns_session::bench_page;
    use ns_session::results::{WantedTexts, configuration_text};
    use ns_session::share::ResultsView;

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
        let tiles = Tiles::of(&rows, Requirements::default());
        // Without a price there is no tile for the cost.
        let expected = "Best throughput: 300 inf/s (2 models, 1 worker each, batch 1)\n\
                        Lowest p99 latency: 2.00 ms (1 model, 1 worker each, batch 1)\n\
                        1 of 4 failed";
        assert_eq!(text(&tiles), expected);
        assert_eq!(tiles.best[0].of, Tiles::of(&rows[..2], Requirements::default()).best[0].of, "of equals the first");
        assert!(tiles.sentence.is_some());
    }

    /// On one instance the row with the highest throughput has the lowest cost, also where thousandths of a dollar are equal.
    #[test]
    fn the_lowest_cost_is_that_of_the_exact_costs() {
        for (model, batch_sizes) in [("bert-base-uncased", vec![8, 16, 32]), ("resnet50", vec![1, 2, 6, 8])] {
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
                let run = ConfigurationRun::new(configuration, Ok(&times));
                let result = run.run(&NeverCancel, RunDetail::default());
                rows.push(ResultRow::new(RowId::Own(rows.len().try_into().unwrap()), Rc::new(result)));
            }
            let reports: Vec<Report> = rows.iter().map(|row| row.report().clone()).collect();
            let in_files: Vec<_> = reports.iter().map(|r| r.in_file_decimals().cost_per_1m_inf).collect();
            assert!((1..in_files.len()).any(|i| in_files[..i].contains(&in_files[i])), "{model}: {in_files:?}");
            let rate = |r: &Report| r.throughput_avg.unwrap();
            let fastest = reports.iter().reduce(|best, r| if rate(r) > rate(best) { r } else { best }).unwrap();

            let tiles = Tiles::of(&rows, Requirements::default());
            let lowest = tiles.best.iter().find(|tile| tile.title == "Lowest cost").unwrap();
            assert_eq!(lowest.of, configuration_text(fastest), "{model}");
            let sentence = tiles.sentence.unwrap().to_lowercase();
            let expected = format!("highest throughput and lowest cost: {}", fastest.label());
            assert!(sentence.contains(&expected), "{sentence} {expected}");
            let saved = bench_page(Some(&config), &ResultsView::default(), &reports, "").unwrap();
            let (_, after) = saved.split_once("Lowest cost").unwrap();
            let (tile, _) = after.split_once("Throughput over latency").unwrap();
            assert!(tile.contains(&configuration_text(fastest)) && tile.contains(&lowest.value), "{tile}");
        }
    }

    #[test]
    fn a_saved_page_has_the_limits_of_the_page() {
        let rows = [row(0, 1, Some((850.0, 2.0))), row(1, 2, Some((1_010.0, 25.0))), row(2, 4, None)];
        let reports: Vec<Report> = rows.iter().map(|row| row.report().clone()).collect();
        let wanted = WantedTexts { p99_ms: "20".to_owned(), ..WantedTexts::default() };
        assert_eq!(Tiles::of(&rows, Requirements::read(&wanted).0).best[0].value, "850");
        let view = ResultsView { wanted, columns: Some(vec!["n_models", "status"]), ..ResultsView::default() };
        let saved =
            |view: &ResultsView| bench_page(Some(&BenchConfig::default()), view, &reports, "https://x/").unwrap();
        let (page, whole) = (saved(&view), saved(&ResultsView::default()));
        let figures = |page: &str| page.split_once("Throughput over latency").unwrap().0.to_owned();
        assert!(figures(&whole).contains("1,010 inf/s") && !figures(&page).contains("1,010 inf/s"));
        assert!(figures(&page).contains("850 inf/s") && figures(&page).contains("p99 at most 20.0 ms"));
        assert!(page.contains("p99_at_most=20") && page.contains("columns=n_models,status"));
        assert!(whole.contains("Workers/model") && !page.contains("Workers/model"));
        let filtered = saved(&ResultsView { filter: "models=1".to_owned(), ..ResultsView::default() });
        assert!(
            figures(&filtered).contains("850 inf/s") && filtered.contains("1 of 3 configurations match the filter")
        );
    }

    #[test]
    fn rows_beyond_the_limits_are_not_the_best_and_still_fail() {
        let rows = [row(0, 1, Some((100.0, 2.0))), row(1, 2, Some((300.0, 5.0))), row(2, 4, None)];
        let tiles = Tiles::of(&rows, Requirements { p99_ms: Some(3.0), ..Requirements::default() });
        assert_eq!((tiles.best[0].exact.as_str(), tiles.failed), ("100", 1));
        assert_eq!(Tiles::of(&[], Requirements::default()), Tiles::default());
    }
}
