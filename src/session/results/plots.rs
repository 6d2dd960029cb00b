//! Plots that compare configurations: throughput against latency, throughput as bars.

use std::collections::{BTreeMap, BTreeSet};

use super::finder::Requirements;
use super::series::SeriesColours;
use ns_base::Order;
use ns_base::units::format_plural;
use ns_bench::Report;
use ns_view::plot::{Bars, LineStyle, Lines, Scatter};

/// Most bars: more cannot be compared by eye; the table sorts them.
const MOST_BARS: usize = 24;

/// A configuration in words: `2 models, 1 worker each, batch 4`.
#[must_use]
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
    #[must_use]
    pub fn of(reports: &[&Report]) -> Self {
        let differs = |name: fn(&Report) -> &str| reports.windows(2).any(|pair| name(pair[0]) != name(pair[1]));
        Self { has_models: differs(|r| &r.model_name), has_instances: differs(|r| &r.instance_type) }
    }

    /// A row in words: `bert on inf2.xlarge: 2 models, 1 worker each, batch 4`.
    #[must_use]
    pub fn text(self, r: &Report) -> String {
        let configuration = configuration_text(r);
        match (self.has_models, self.has_instances) {
            (true, true) => format!("{} on {}: {configuration}", r.model_name, r.instance_type),
            (true, false) => format!("{}: {configuration}", r.model_name),
            (false, true) => format!("{}: {configuration}", r.instance_type),
            (false, false) => configuration,
        }
    }
}

/// Throughput against median latency, with the Pareto front and, as rings, what AWS published. Also returns the position of the
/// report of each point; the rings come after them.
#[must_use]
pub fn throughput_latency(reports: &[&Report]) -> (Scatter, Vec<usize>) {
    let titles = ("Latency p50 (ms)", "Throughput avg (inf/s)");
    let published = |r: &Report| {
        let figures = r.published.as_ref()?;
        Some((figures.latency_ms_p50?, figures.throughput))
    };
    let (plot, of, rings) = scatter(reports, titles, |r| Some((r.latency_ms_p50?, r.throughput_avg?)), published);
    (plot.with_front().with_rings(PUBLISHED, rings), of)
}

/// The name of the rings.
const PUBLISHED: &str = "Published by AWS";

/// The price of a million inferences against p99 latency, with the Pareto front, the longest p99 that is wanted, and, as rings, what
/// AWS published, at the price of the row's instance. Also returns the position of the report of each point.
#[must_use]
pub fn cost_latency(reports: &[&Report], wanted: &Requirements) -> (Scatter, Vec<usize>) {
    let titles = ("Latency p99 (ms)", "US$ per million inferences");
    let published = |r: &Report| {
        let figures = r.published.as_ref()?;
        Some((figures.latency_ms_p99?, r.cost_per_1m_inf? * r.throughput_avg? / figures.throughput))
    };
    let (plot, of, rings) = scatter(reports, titles, |r| Some((r.latency_ms_p99?, r.cost_per_1m_inf?)), published);
    (plot.with_low_front().with_rings(PUBLISHED, rings).with_ratios().with_limit(wanted.p99_ms), of)
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

/// The most lines over batch sizes: more cannot be told apart.
const MOST_LINES: usize = 6;

/// Throughput over the batch size, a line for each set of configurations that differ only in that, the fastest ones. `None` if no set
/// has two batch sizes.
#[must_use]
pub fn throughput_by_batch(reports: &[&Report]) -> Option<Lines> {
    let (names, colours) = (RowNames::of(reports), SeriesColours::of(reports.iter().copied()));
    let mut sets: BTreeMap<String, (Vec<(f64, f64)>, u8)> = BTreeMap::new();
    for r in reports {
        let Some(rate) = r.throughput_avg.filter(|t| t.is_finite()) else { continue };
        let all_alike = Report { batch_size: 0, ..(*r).clone() };
        let name = names.text(&all_alike).replace(", batch 0", "");
        sets.entry(name).or_insert_with(|| (Vec::new(), colours.of_report(r))).0.push((f64::from(r.batch_size), rate));
    }
    let peak = |points: &[(f64, f64)]| points.iter().map(|p| p.1).fold(0.0, f64::max);
    let mut lines: Vec<_> = sets.into_iter().filter(|(_, (points, _))| points.len() > 1).collect();
    lines.order_by(|a, b| peak(&b.1.0).total_cmp(&peak(&a.1.0)));
    lines.truncate(MOST_LINES);
    for (_, (points, _)) in &mut lines {
        points.order_by(|a, b| a.0.total_cmp(&b.0));
    }
    let series = lines.iter().map(|(name, (points, _))| (name.clone(), LineStyle::Solid, points.clone()));
    let mut plot = Lines::new("Batch size", "Throughput avg (inf/s)", series, true).with_counted_x();
    // Their colours in the other plots, if those tell them apart.
    let fills: BTreeSet<u8> = lines.iter().map(|(_, (_, fill))| *fill).collect();
    if fills.len() == lines.len() {
        plot.lines.iter_mut().zip(&lines).for_each(|(line, (_, (_, fill)))| line.fill = *fill);
    }
    (!plot.lines.is_empty()).then_some(plot)
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
    let (names, colours) = (RowNames::of(reports), SeriesColours::of(reports.iter().copied()));
    let rate = |r: &Report| r.throughput_avg.filter(|t| t.is_finite() && *t >= 0.0);
    let mut drawn: Vec<(&Report, f64)> = reports.iter().filter_map(|r| Some((*r, rate(r)?))).collect();
    drawn.order_by(|a, b| b.1.total_cmp(&a.1));
    let all = drawn.len();
    drawn.truncate(MOST_BARS);
    let mut plot = Bars::new(drawn.iter().map(|(r, rate)| (names.text(r), colours.name_of(r), *rate)));
    for (bar, (r, _)) in plot.bars.iter_mut().zip(&drawn) {
        bar.fill = colours.of_report(r);
    }
    (plot, all)
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
        assert_eq!(on_front(&reports), [true, false]);
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
        assert_eq!(on_front(&reports), [true, true]);
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
        assert_eq!((plot.points.len(), of, plot.front.clone(), plot.limit), (3, vec![0, 1, 2], vec![0, 1], Some(5.0)));
        assert!(plot.x.max >= 5.0);
    }

    #[test]
    fn lines_over_the_batch_size_are_of_configurations_that_differ_in_nothing_else() {
        let mut all: Vec<Report> =
            [4, 1, 8].into_iter().map(|batch| report(2, 1, batch, Some(100.0 * f64::from(batch)))).collect();
        all.push(report(1, 1, 1, Some(60.0)));
        let lines = throughput_by_batch(&all.iter().collect::<Vec<_>>()).unwrap();
        assert_eq!((lines.lines.len(), lines.lines[0].name.as_str()), (1, "2 models, 1 worker each"));
        assert_eq!(lines.lines[0].points, [(1.0, 100.0), (4.0, 400.0), (8.0, 800.0)]);
        assert_eq!(throughput_by_batch(&[&all[0], &all[3]]), None);
        all[0].instance_type = "trn1.2xlarge".into();
        let names = RowNames::of(&all.iter().collect::<Vec<_>>());
        assert_eq!(names.text(&all[0]), "trn1.2xlarge: 2 models, 1 worker each, batch 4");
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
