//! Lines over the batch size: the cost on each instance, or the throughput of each set of configurations on one.

use std::collections::{BTreeMap, BTreeSet};

use super::plots::RowNames;
use super::series::SeriesColours;
use ns_base::Order;
use ns_base::convert::usize_to_u8;
use ns_base::units::format_plural;
use ns_bench::Report;
use ns_view::palette::{distinct_fills, shade};
use ns_view::plot::{LineStyle, Lines};

/// The most lines of throughput: more cannot be told apart.
const MOST_LINES: usize = 6;

/// Lines over the batch size.
#[derive(Clone, Debug, PartialEq)]
pub struct BatchLines {
    pub title: &'static str,
    pub plot: Lines,
    /// The position of the report of each point.
    pub of: Vec<Vec<usize>>,
    /// The place of the best report.
    pub best: Option<(f64, f64)>,
    /// Whether instances were run with several numbers of models, which are lines of their own when they are asked for.
    pub has_copies: bool,
}

/// Points by the batch size, each with the position of its report.
type Points = BTreeMap<u32, (f64, usize)>;
/// A line: its name, its colour, its points.
type Found = (String, u8, Points);
type Figure = fn(&Report) -> Option<f64>;

impl BatchLines {
    /// The lines of these reports, with the best one among them. Of one model on several instances: what a million inferences cost on each, in
    /// the cheapest way at each batch size; with copies, a line for each number of models. Else: the throughput of each set of configurations
    /// that differ only in the batch size, the fastest ones. `None` if no line has two batch sizes.
    pub fn of(reports: &[&Report], best: Option<usize>, with_copies: bool) -> Option<Self> {
        let differs = |name: fn(&Report) -> &str| reports.windows(2).any(|pair| name(pair[0]) != name(pair[1]));
        let is_priced = reports.iter().any(|r| cost(r).is_some());
        if differs(|r| &r.instance_type) && !differs(|r| &r.model_name) && is_priced {
            let mut copies: Vec<(&str, u32)> = reports.iter().map(|r| (r.instance_type.as_str(), r.n_models)).collect();
            copies.order();
            copies.dedup();
            let has_copies = copies.windows(2).any(|pair| pair[0].0 == pair[1].0);
            let titles = ("US$ per million inferences by batch size", "US$ per million inferences");
            return Self::new(titles, (reports, cost), costs(reports, with_copies), best, has_copies);
        }
        let titles = ("Throughput by batch size", "Throughput avg (inf/s)");
        Self::new(titles, (reports, rate), throughputs(reports, best), best, false)
    }

    fn new(
        (title, y_title): (&'static str, &str),
        (reports, value): (&[&Report], Figure),
        found: Vec<Found>,
        best: Option<usize>,
        has_copies: bool,
    ) -> Option<Self> {
        let points = |points: &Points| points.iter().map(|(b, (y, _))| (f64::from(*b), *y)).collect();
        let series = found.iter().map(|(name, _, all)| (name.clone(), LineStyle::Solid, points(all)));
        let mut plot = Lines::new("Batch size", y_title, series, true).with_doublings().with_ratios();
        plot.lines.iter_mut().zip(&found).for_each(|(line, (_, fill, _))| line.fill = *fill);
        let of = found.into_iter().map(|(.., points)| points.into_values().map(|(_, i)| i).collect()).collect();
        let best = best.and_then(|i| reports.get(i)).and_then(|r| Some((f64::from(r.batch_size), value(r)?)));
        (!plot.lines.is_empty()).then_some(Self { title, plot, of, best, has_copies })
    }
}

impl BatchLines {
    /// The place on the axes of the point of a report, if a line has it.
    pub fn place_of(&self, report: usize) -> Option<(f64, f64)> {
        let mut points = self.plot.lines.iter().zip(&self.of).flat_map(|(line, of)| line.points.iter().zip(of));
        points.find(|(_, of)| **of == report).map(|(place, _)| *place)
    }
}

fn cost(r: &Report) -> Option<f64> {
    r.cost_per_1m_inf.filter(|cost| cost.is_finite())
}

fn rate(r: &Report) -> Option<f64> {
    r.throughput_avg.filter(|rate| rate.is_finite())
}

/// A line for each instance, or for each number of models on it, in shades of one hue: the cheapest first.
fn costs(reports: &[&Report], with_copies: bool) -> Vec<Found> {
    let colours = SeriesColours::of(reports.iter().copied());
    let mut lines: BTreeMap<(&str, u32), (u8, Points)> = BTreeMap::new();
    for (i, r) in reports.iter().enumerate() {
        let Some(cost) = cost(r) else { continue };
        let key = (r.instance_type.as_str(), if with_copies { r.n_models } else { 0 });
        let points = &mut lines.entry(key).or_insert_with(|| (colours.of_report(r), Points::new())).1;
        let cheapest = points.entry(r.batch_size).or_insert((cost, i));
        if cost < cheapest.0 {
            *cheapest = (cost, i);
        }
    }
    let keys: Vec<(&str, u32)> = lines.keys().copied().collect();
    let mut found: Vec<Found> = lines
        .into_iter()
        .map(|((instance, models), (fill, points))| {
            let before = keys.iter().filter(|(i, m)| *i == instance && *m < models).count();
            let copies = if with_copies { format!(", {}", format_plural(models, "model")) } else { String::new() };
            (format!("{instance}{copies}"), shade_after(fill, before), points)
        })
        .filter(|(.., points)| points.len() > 1)
        .collect();
    let least = |points: &Points| points.values().map(|p| p.0).fold(f64::INFINITY, f64::min);
    found.order_by(|a, b| least(&a.2).total_cmp(&least(&b.2)));
    found
}

/// The shade of a hue that is this many behind it.
fn shade_after(fill: u8, by: usize) -> u8 {
    shade(fill, usize_to_u8(by % 4))
}

/// A line for each set of configurations that differ only in the batch size: the fastest ones, and that of the best report.
fn throughputs(reports: &[&Report], best: Option<usize>) -> Vec<Found> {
    let (names, colours) = (RowNames::of(reports), SeriesColours::of(reports.iter().copied()));
    let mut sets: BTreeMap<String, (u8, Points)> = BTreeMap::new();
    for (i, r) in reports.iter().enumerate() {
        let Some(rate) = rate(r) else { continue };
        let all_alike = Report { batch_size: 0, ..(*r).clone() };
        let name = names.text(&all_alike).replace(", batch 0", "");
        let set = sets.entry(name).or_insert_with(|| (colours.of_report(r), Points::new()));
        set.1.insert(r.batch_size, (rate, i));
    }
    let peak = |points: &Points| points.values().map(|p| p.0).fold(0.0, f64::max);
    let mut lines: Vec<Found> = sets.into_iter().map(|(name, (fill, points))| (name, fill, points)).collect();
    lines.retain(|(.., points)| points.len() > 1);
    lines.order_by(|a, b| peak(&b.2).total_cmp(&peak(&a.2)));
    let has_best = |(.., points): &Found| points.values().any(|(_, i)| Some(*i) == best);
    if let Some(at) = lines.iter().position(has_best).filter(|at| *at >= MOST_LINES) {
        lines.swap(at, MOST_LINES - 1);
    }
    lines.truncate(MOST_LINES);
    // Their colours in the other plots, if those tell them apart.
    let fills: BTreeSet<u8> = lines.iter().map(|(_, fill, _)| *fill).collect();
    if fills.len() < lines.len() {
        let own = distinct_fills(lines.iter().map(|(name, ..)| name.as_str()));
        lines.iter_mut().zip(own).for_each(|(line, fill)| line.1 = fill);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(instance: &str, n_models: u32, batch: u32, throughput: f64, cost: Option<f64>) -> Report {
        Report {
            instance_type: instance.to_owned(),
            n_models,
            workers_per_model: 1,
            batch_size: batch,
            throughput_avg: Some(throughput),
            cost_per_1m_inf: cost,
            ..Report::default()
        }
    }

    #[test]
    fn lines_of_one_instance_are_of_configurations_that_differ_in_nothing_else() {
        let of = |models, batch, rate| report("inf2.xlarge", models, batch, rate, Some(1.0));
        let all = [of(2, 4, 400.0), of(2, 1, 100.0), of(2, 8, 800.0), of(1, 1, 60.0)];
        let found = BatchLines::of(&all.iter().collect::<Vec<_>>(), Some(2), false).unwrap();
        assert_eq!((found.plot.lines.len(), found.plot.lines[0].name.as_str()), (1, "2 models, 1 worker each"));
        assert_eq!(found.plot.lines[0].points, [(1.0, 100.0), (4.0, 400.0), (8.0, 800.0)]);
        assert_eq!((found.place_of(0), found.place_of(3)), (Some((4.0, 400.0)), None));
        assert_eq!((found.of, found.best), (vec![vec![1, 0, 2]], Some((8.0, 800.0))));
        assert_eq!(BatchLines::of(&[&all[0], &all[3]], None, false), None);
    }

    #[test]
    fn each_instance_has_a_line_of_its_lowest_costs_and_copies_have_theirs_when_asked_for() {
        let mut all = Vec::new();
        for (instance, cores) in [("inf2.48xlarge", 24), ("inf2.xlarge", 2), ("trn1.2xlarge", 2), ("trn1.32xlarge", 32)]
        {
            for batch in [1, 8, 64] {
                all.push(report(instance, 1, batch, 100.0, Some(0.1 * f64::from(cores))));
                all.push(report(instance, cores, batch, 100.0 * f64::from(cores), Some(0.09 + 0.1 / f64::from(batch))));
            }
        }
        all.push(report("inf2.8xlarge", 1, 1, 9.0, None));
        let reports: Vec<&Report> = all.iter().collect();
        let found = BatchLines::of(&reports, Some(11), false).unwrap();
        let names: Vec<&str> = found.plot.lines.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["inf2.48xlarge", "inf2.xlarge", "trn1.2xlarge", "trn1.32xlarge"]);
        let fills: BTreeSet<u8> = found.plot.lines.iter().map(|l| l.fill).collect();
        assert_eq!(
            (fills.len(), found.has_copies, found.best),
            (4, true, Some((64.0, all[11].cost_per_1m_inf.unwrap())))
        );
        assert!(found.of.iter().flatten().all(|i| all[*i].n_models > 1 || all[*i].batch_size == 1), "{:?}", found.of);
        let copies = BatchLines::of(&reports, None, true).unwrap();
        assert_eq!(copies.plot.lines.len(), 8);
        let fills: BTreeSet<u8> = copies.plot.lines.iter().map(|l| l.fill).collect();
        assert_eq!(fills.len(), 8);
    }

    #[test]
    fn the_line_of_the_best_report_is_never_left_out() {
        let of = |models: u32, batch| report("inf2.xlarge", models, batch, f64::from(models * batch), None);
        let all: Vec<Report> = (1..=9).flat_map(|models| [of(models, 1), of(models, 2)]).collect();
        let found = BatchLines::of(&all.iter().collect::<Vec<_>>(), Some(0), false).unwrap();
        assert_eq!((found.plot.lines.len(), found.of[0][0], found.of[5][0]), (MOST_LINES, 16, 0));
    }
}
