//! Plots of single configurations: latencies as a histogram and as cumulative curves, throughput over time.

use ns_base::convert::{u64_to_f64, usize_to_f64};
use ns_bench::RunCharts;
use ns_view::plot::{LineStyle, Lines, averaged};

/// Most points of a line; more seconds than this are averaged.
const MOST_SECONDS: usize = 600;

/// Latencies as a histogram.
pub fn latency_histogram(charts: &RunCharts) -> Lines {
    // All latencies are the same: draw a visible bar.
    let width = if charts.bar_ms > 0.0 { charts.bar_ms } else { (charts.first_ms * 0.01).max(1e-6) };
    let edge = |i: usize| charts.first_ms + width * usize_to_f64(i);
    let bars = charts.bars.iter().enumerate().map(|(i, n)| (edge(i), u64_to_f64(*n)));
    let end = (edge(charts.bars.len()), 0.0);
    let points = if charts.bars.is_empty() { Vec::new() } else { bars.chain([end]).collect() };
    Lines::new("Latency (ms)", "Inferences", [("Latencies".to_owned(), LineStyle::Steps, points)], false)
        .with_counted_y()
}

/// Cumulative curves of latencies, a line for each of these configurations.
pub fn latency_curves<'a>(configurations: impl Iterator<Item = (String, &'a RunCharts)>) -> Lines {
    let line = |(name, charts): (String, &RunCharts)| {
        (name, LineStyle::Solid, charts.curve.iter().map(|(percent, ms)| (*ms, *percent)).collect())
    };
    Lines::new("Latency (ms)", "Inferences (%)", configurations.map(line), false)
}

/// Samples of each second; for a long run, averages of neighbouring seconds.
pub fn throughput_over_time(charts: &RunCharts) -> Lines {
    let seconds: Vec<(f64, f64)> =
        charts.samples_per_second.iter().enumerate().map(|(i, n)| (usize_to_f64(i), u64_to_f64(*n))).collect();
    let points = averaged(&seconds, MOST_SECONDS);
    Lines::new("Second of the run", "Throughput (inf/s)", [("Throughput".to_owned(), LineStyle::Solid, points)], true)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn charts() -> RunCharts {
        RunCharts {
            curve: vec![(0.0, 3.0), (50.0, 3.25), (100.0, 4.0)],
            first_ms: 3.0,
            bar_ms: 0.5,
            bars: vec![7, 3],
            samples_per_second: (0..2_000).collect(),
        }
    }

    #[test]
    fn histograms_end_with_the_edge_of_the_last_bar() {
        assert_eq!(latency_histogram(&charts()).lines[0].points, [(3.0, 7.0), (3.5, 3.0), (4.0, 0.0)]);
        let same = RunCharts { bar_ms: 0.0, bars: vec![10], ..charts() };
        let points = latency_histogram(&same).lines[0].points.clone();
        assert!(points.len() == 2 && points[1].0 > points[0].0);
        assert!(latency_histogram(&RunCharts::default()).lines.is_empty());
    }

    #[test]
    fn curves_rise_from_zero_to_a_hundred() {
        let charts = charts();
        let plot = latency_curves([("a".to_owned(), &charts)].into_iter());
        assert_eq!(plot.lines[0].points, [(3.0, 0.0), (3.25, 50.0), (4.0, 100.0)]);
    }

    #[test]
    fn long_runs_keep_their_mean() {
        let plot = throughput_over_time(&charts());
        assert!(plot.lines[0].points.len() <= MOST_SECONDS);
        assert_eq!(plot.lines[0].points[0], (0.0, 1.5));
    }
}
