//! Plots that compare configurations: throughput against latency, throughput as bars.

use super::finder::{Requirements, cores_of};
use super::series::SeriesColours;
use ns_base::Order;
use ns_base::units::{format_number, format_plural};
use ns_bench::{Measure, Report};
use ns_view::plot::{Bars, Scatter, XLimit};

/// Most bars: more cannot be compared by eye; the table sorts them.
const MOST_BARS: usize = 24;

/// A configuration in words: `2 models, 1 worker each, batch 4`.
pub fn configuration_text(r: &Report) -> String {
    let mut text = format!(
        "{}, {} each, batch {}",
        format_plural(r.n_models, "model"),
        format_plural(r.workers_per_model, "worker"),
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

/// What the text of a row names besides its configuration, because rows differ in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowNames {
    has_models: bool,
    has_instances: bool,
}

impl RowNames {
    pub fn of(reports: &[&Report]) -> Self {
        let differs = |name: fn(&Report) -> &str| reports.windows(2).any(|pair| name(pair[0]) != name(pair[1]));
        Self { has_models: differs(|r| &r.model_name), has_instances: differs(|r| &r.instance_type) }
    }

    /// A row in words: `bert on inf2.xlarge: 2 models, 1 worker each, batch 4`.
    pub fn text(self, r: &Report) -> String {
        let configuration = configuration_text(r);
        match (self.has_models, self.has_instances) {
            (true, true) => format!("{} on {}: {configuration}", r.model_name, r.instance_type),
            (true, false) => format!("{}: {configuration}", r.model_name),
            (false, true) => format!("{}: {configuration}", r.instance_type),
            (false, false) => configuration,
        }
    }

    /// A row in words with its figures.
    pub fn with_figures(self, r: &Report) -> String {
        let figure =
            |bound: &str, value: Option<f64>, unit: &str| value.map(|v| format!("{bound}{} {unit}", format_number(v)));
        let (rate, time) = r.estimate.map_or(("", ""), |mark| (mark.before_rate(), mark.before_time()));
        let figures = [
            Some(self.text(r)),
            figure(rate, r.throughput_avg, "inf/s"),
            figure(time, r.latency_ms_p99, "ms p99"),
            figure(time, r.cost_per_1m_inf, "US$ per million"),
            Some(format_plural(cores_of(r), "core")),
        ];
        figures.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}

/// Throughput against median latency, with the Pareto front and, as rings, what AWS published. Also returns the position of the
/// report of each point; the rings come after them.
pub fn throughput_latency(reports: &[&Report]) -> (Scatter, Vec<usize>) {
    let titles = ("Latency p50 (ms)", "Throughput avg (inf/s)");
    let published = |r: &Report| {
        let figures = r.published.as_ref()?;
        Some((figures.latency_ms_p50?, figures.throughput))
    };
    let (plot, of, rings) = scatter(reports, titles, |r| Some((r.latency_ms_p50?, r.throughput_avg?)), published);
    (plot.with_front(THROUGHPUT_FRONT).with_rings(PUBLISHED, rings), of)
}

/// The trades of the two fronts; a row's cell has the first word of each.
const THROUGHPUT_FRONT: &str = "throughput and p50 latency";
const COST_FRONT: &str = "cost and p99 latency";

/// The name of the rings.
const PUBLISHED: &str = "Published by AWS";

/// The price of a million inferences against p99 latency: a line through the best rows of each series with their intervals, the longest
/// p99 that is wanted, and, as rings, what AWS published, at the price of the row's instance. Rows that break a limit are faint. Also returns
/// the position of the report of each point.
pub fn cost_latency(reports: &[&Report], wanted: &Requirements) -> (Scatter, Vec<usize>) {
    let titles = ("Latency p99 (ms)", "US$ per million inferences");
    let published = |r: &Report| {
        let figures = r.published.as_ref()?;
        Some((figures.latency_ms_p99?, r.cost_per_1m_inf? * r.throughput_avg? / figures.throughput))
    };
    let (mut plot, of, rings) = scatter(reports, titles, |r| Some((r.latency_ms_p99?, r.cost_per_1m_inf?)), published);
    for (point, r) in plot.points.iter_mut().zip(of.iter().filter_map(|i| reports.get(*i))) {
        let misses = wanted.misses(r);
        if !misses.is_empty() {
            point.is_outside = true;
            point.label = format!("{}: {}", point.label, misses.join(", "));
        }
        let ends = r.interval_of(point.x, Measure::Time).zip(r.interval_of(point.y, Measure::Time));
        point.interval = ends.map(|((x_low, x_high), (y_low, y_high))| [(x_low, y_low), (x_high, y_high)]);
    }
    let plot = plot.with_low_front(COST_FRONT).with_series_lines(false).with_rings(PUBLISHED, rings).with_ratios();
    (plot.with_limit(wanted.p99_ms.map(|value| XLimit { value, is_least: false })), of)
}

/// Points of reports in their series, the position of the report of each point, and the rings.
type Points = (Scatter, Vec<usize>, Vec<(f64, f64, String)>);

fn scatter(
    reports: &[&Report],
    (x, y): (&str, &str),
    place: impl Fn(&Report) -> Option<(f64, f64)>,
    published: impl Fn(&Report) -> Option<(f64, f64)>,
) -> Points {
    let (names, colours) = (RowNames::of(reports), SeriesColours::of(reports.iter().copied()));
    let is_drawn = |r: &Report| place(r).filter(|(x, y)| x.is_finite() && y.is_finite());
    let drawn = || reports.iter().enumerate().filter_map(|(i, r)| Some((i, *r, is_drawn(r)?)));
    let mut plot = Scatter::new(x, y, drawn().map(|(_, r, (x, y))| (colours.name_of(r), x, y, names.text(r))));
    for (point, (_, r, _)) in plot.points.iter().zip(drawn()) {
        if let Some((_, fill, _)) = plot.series.get_mut(point.series) {
            *fill = colours.of_report(r);
        }
    }
    let ring = |r: &&Report| {
        let (x, y) = published(r)?;
        let release = r.published.as_ref().map(|p| p.release.as_str()).unwrap_or_default();
        Some((x, y, format!("{}, {release}", names.text(r))))
    };
    (plot, drawn().map(|(i, ..)| i).collect(), reports.iter().filter_map(ring).collect())
}

/// For each report, the Pareto fronts that it is on, those of the two plots: `cost`, `throughput` or both.
pub fn fronts(reports: &[&Report]) -> Vec<Option<String>> {
    let mut found: Vec<Option<String>> = vec![None; reports.len()];
    for (plot, of) in [cost_latency(reports, &Requirements::default()), throughput_latency(reports)] {
        let name = plot.front_of.split(' ').next().unwrap_or_default();
        for i in plot.front.iter().filter_map(|point| of.get(*point)) {
            let before = found[*i].take().map_or_else(String::new, |other| format!("{other}, "));
            found[*i] = Some(before + name);
        }
    }
    found
}

/// The fastest configurations as bars, and the positions of all reports, the fastest first.
pub fn throughput_by_configuration(reports: &[&Report]) -> (Bars, Vec<usize>) {
    let (names, colours) = (RowNames::of(reports), SeriesColours::of(reports.iter().copied()));
    let rate = |r: &Report| r.throughput_avg.filter(|t| t.is_finite() && *t >= 0.0);
    let mut all: Vec<(usize, f64)> = reports.iter().enumerate().filter_map(|(i, r)| Some((i, rate(r)?))).collect();
    all.order_by(|a, b| b.1.total_cmp(&a.1));
    let drawn = || all.iter().take(MOST_BARS).map(|(i, rate)| (reports[*i], *rate));
    let mut plot = Bars::new(drawn().map(|(r, rate)| (names.text(r), colours.name_of(r), rate)));
    for (bar, (r, _)) in plot.bars.iter_mut().zip(drawn()) {
        bar.fill = colours.of_report(r);
    }
    (plot, all.into_iter().map(|(i, _)| i).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_bench::PublishedFigures;
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
        assert_eq!(fronts(&reports), [Some("throughput".to_owned()), None]);
        assert_eq!(throughput_by_configuration(&reports).0.bars.len(), 1);
        assert_eq!(configuration_text(reports[0]), "1 model, 1 worker each, batch 1");
    }

    #[test]
    fn published_figures_are_rings_beside_the_points() {
        let published = PublishedFigures {
            throughput: 400.0,
            latency_ms_p50: Some(2.0),
            release: "PyTorch 2.5".into(),
            ..PublishedFigures::default()
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
        assert_eq!(fronts(&reports), [(); 2].map(|()| Some("throughput".to_owned())));
    }

    #[test]
    fn cost_is_drawn_over_p99_with_the_limit_and_the_cheapest_as_front() {
        let row = |batch, p99, cost| Report {
            latency_ms_p99: Some(p99),
            cost_per_1m_inf: Some(cost),
            ..report(1, 1, batch, Some(100.0))
        };
        let reports = [row(1, 1.0, 0.9), row(4, 2.0, 0.5), row(8, 4.0, 0.6), report(1, 1, 16, Some(1.0))];
        let reports: Vec<&Report> = reports.iter().collect();
        let wanted = Requirements { p99_ms: Some(5.0), ..Requirements::default() };
        let (plot, of) = cost_latency(&reports, &wanted);
        assert_eq!(
            (plot.points.len(), of, plot.front.clone(), plot.limit.map(|l| l.value)),
            (3, vec![0, 1, 2], vec![0, 1], Some(5.0))
        );
        assert!(plot.x.max >= 5.0);
        // The two plots have fronts of different trades, and the column says which.
        assert_eq!(
            fronts(&reports).into_iter().flatten().collect::<Vec<_>>(),
            ["cost, throughput", "cost, throughput", "throughput"]
        );
    }

    #[test]
    fn bars_are_the_fastest_and_name_the_model_where_several_are() {
        let mut all: Vec<Report> = (1..=30).map(|n| report(n, 1, 1, Some(f64::from(n)))).collect();
        let reports: Vec<&Report> = all.iter().collect();
        let (bars, of) = throughput_by_configuration(&reports);
        assert_eq!((bars.bars.len(), of.len(), of[0], bars.bars[0].value), (24, 30, 29, 30.0));
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
