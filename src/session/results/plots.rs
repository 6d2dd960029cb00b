//! Plots that compare configurations: throughput against latency, throughput as bars.

use super::series::{SeriesColours, series_text};
use ns_base::Order;
use ns_bench::Report;
use ns_view::plot::{Bars, Scatter};

/// Most bars: more cannot be compared by eye; the table sorts them.
const MOST_BARS: usize = 24;

/// A configuration in words: `2 models, 1 worker each, batch 4`.
#[must_use]
pub fn configuration_text(r: &Report) -> String {
    let plural = |n: u32, noun: &str| format!("{n} {noun}{}", if n == 1 { "" } else { "s" });
    let mut text = format!(
        "{}, {} each, batch {}",
        plural(r.n_models, "model"),
        plural(r.workers_per_model, "worker"),
        r.batch_size
    );
    if r.pipeline_size > 1 {
        text.push_str(&format!(", pipeline {}", r.pipeline_size));
    }
    if let Some(flags) = r.unusual_compiler_args() {
        text.push_str(&format!(", {flags}"));
    }
    text
}

/// The configuration with its model, if rows have several models.
#[must_use]
pub fn row_text(r: &Report, several_models: bool) -> String {
    if several_models { format!("{}: {}", r.model_name, configuration_text(r)) } else { configuration_text(r) }
}

/// Whether reports have more than one model.
#[must_use]
pub fn are_of_several_models(reports: &[&Report]) -> bool {
    reports.windows(2).any(|pair| pair[0].model_name != pair[1].model_name)
}

/// Throughput against median latency, with the Pareto front and, as rings, what AWS published. Also returns the position of the
/// report of each point; the rings come after them.
#[must_use]
pub fn throughput_latency(reports: &[&Report]) -> (Scatter, Vec<usize>) {
    let several = are_of_several_models(reports);
    let is_drawn =
        |r: &Report| Some((r.latency_ms_p50?, r.throughput_avg?)).filter(|(x, y)| x.is_finite() && y.is_finite());
    let drawn = || reports.iter().enumerate().filter_map(|(i, r)| Some((i, *r, is_drawn(r)?)));
    let points = drawn().map(|(_, r, (ms, rate))| (series_text(r), ms, rate, row_text(r, several)));
    let mut plot = Scatter::new("Latency p50 (ms)", "Throughput avg (inf/s)", points).with_front();
    let colours = SeriesColours::of(reports.iter().copied());
    for (point, (_, r, _)) in plot.points.iter().zip(drawn()) {
        if let Some((_, fill, _)) = plot.series.get_mut(point.series) {
            *fill = colours.of_report(r);
        }
    }
    let published = reports.iter().filter_map(|r| {
        let figures = r.published.as_ref()?;
        let label = format!("{}, {}", row_text(r, several), figures.release);
        Some((figures.latency_ms_p50?, figures.throughput, label))
    });
    (plot.with_rings("Published by AWS", published), drawn().map(|(i, ..)| i).collect())
}

/// For each report, whether it is on the Pareto front: no other has both a shorter median latency and more throughput.
#[must_use]
pub fn on_front(reports: &[&Report]) -> Vec<bool> {
    let (plot, of) = throughput_latency(reports);
    let mut found = vec![false; reports.len()];
    for point in &plot.front {
        if let Some(is_on) = of.get(*point).and_then(|i| found.get_mut(*i)) {
            *is_on = true;
        }
    }
    found
}

/// The fastest configurations as bars, and the number of all configurations.
#[must_use]
pub fn throughput_by_configuration(reports: &[&Report]) -> (Bars, usize) {
    let several = are_of_several_models(reports);
    let colours = SeriesColours::of(reports.iter().copied());
    let rate = |r: &Report| r.throughput_avg.filter(|t| t.is_finite() && *t >= 0.0);
    let mut drawn: Vec<(&Report, f64)> = reports.iter().filter_map(|r| Some((*r, rate(r)?))).collect();
    drawn.order_by(|a, b| b.1.total_cmp(&a.1));
    let all = drawn.len();
    drawn.truncate(MOST_BARS);
    let mut plot = Bars::new(drawn.iter().map(|(r, rate)| (row_text(r, several), series_text(r), *rate)));
    for (bar, (r, _)) in plot.bars.iter_mut().zip(&drawn) {
        bar.fill = colours.of_report(r);
    }
    (plot, all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_bench::Published;
    use ns_view::plot::Mark;

    fn report(n_models: u32, workers: u32, batch: u32, throughput: Option<f64>) -> Report {
        Report {
            n_models,
            workers_per_model: workers,
            batch_size: batch,
            pipeline_size: 1,
            throughput_avg: throughput,
            latency_ms_p50: throughput.map(|t| f64::from(n_models * workers) / t * 1e3),
            ..Report::default()
        }
    }

    #[test]
    fn failed_configurations_are_on_no_plot() {
        let reports = [report(1, 1, 1, Some(300.0)), report(64, 1, 1, None)];
        let reports: Vec<&Report> = reports.iter().collect();
        let (plot, of) = throughput_latency(&reports);
        assert_eq!((plot.points.len(), of), (1, vec![0]));
        assert_eq!(on_front(&reports), [true, false]);
        assert_eq!(throughput_by_configuration(&reports).0.bars.len(), 1);
        assert_eq!(configuration_text(reports[0]), "1 model, 1 worker each, batch 1");
    }

    #[test]
    fn published_figures_are_rings_beside_the_points() {
        let published = Published {
            throughput: 400.0,
            latency_ms_p50: Some(2.0),
            release: "PyTorch 2.5".into(),
            ..Published::default()
        };
        let reports =
            [report(1, 1, 1, Some(300.0)), Report { published: Some(published), ..report(2, 1, 1, Some(390.0)) }];
        let reports: Vec<&Report> = reports.iter().collect();
        let (plot, of) = throughput_latency(&reports);
        assert_eq!((plot.points.len(), of), (3, vec![0, 1]));
        assert_eq!(
            (plot.series.last().unwrap().0.as_str(), plot.series.last().unwrap().2),
            ("Published by AWS", Mark::Ring)
        );
        assert_eq!(plot.points[2].label, "2 models, 1 worker each, batch 1, PyTorch 2.5");
        assert!(plot.y.max >= 400.0 && !plot.is_on_front(2));
        assert_eq!(on_front(&reports), [true, true]);
    }

    #[test]
    fn bars_are_the_fastest_and_name_the_model_where_several_are() {
        let mut all: Vec<Report> = (1..=30).map(|n| report(n, 1, 1, Some(f64::from(n)))).collect();
        let reports: Vec<&Report> = all.iter().collect();
        let (bars, of) = throughput_by_configuration(&reports);
        assert_eq!((bars.bars.len(), of, bars.bars[0].value), (24, 30, 30.0));
        assert_eq!(bars.bars[0].name, "30 models, 1 worker each, batch 1");
        // Sorted by throughput, the second series comes first, but keeps its colour of the scatter plot.
        let two = [report(1, 1, 1, Some(10.0)), report(1, 2, 1, Some(20.0))];
        let two: Vec<&Report> = two.iter().collect();
        let (bars, scatter) = (throughput_by_configuration(&two).0, throughput_latency(&two).0);
        assert_eq!(bars.bars.iter().map(|b| b.fill).collect::<Vec<_>>(), [1, 0]);
        assert_eq!(scatter.series.iter().map(|s| s.1).collect::<Vec<_>>(), [0, 1]);
        all[0].model_name = "bert".to_owned();
        let reports: Vec<&Report> = all[..2].iter().collect();
        assert_eq!(throughput_by_configuration(&reports).0.bars[1].name, "bert: 1 model, 1 worker each, batch 1");
    }
}
