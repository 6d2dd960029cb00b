//! Scaling with the number of models: a small plot for each kind of configuration, so that lines can be distinguished.

use std::collections::BTreeMap;

use super::series::SeriesColours;
use ns_base::Order;
use ns_base::units::format_plural;
use ns_bench::Report;
use ns_view::plot::{LineStyle, Lines, Series};

/// Most lines in one plot.
const MOST_LINES: usize = 4;
/// Most plots side by side.
const MOST_PLOTS: usize = 6;

/// Scaling of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Scaling {
    /// Plots with their titles, beginning with the plot of the fastest line. All have the same axes.
    pub plots: Vec<(String, Lines)>,
    /// Number of lines in the plots.
    pub lines_drawn: usize,
    /// Number of all lines; the omitted ones are slower than all others of their plot, or in slower plots.
    pub all: usize,
}

/// The values that are constant along a line of the scaling plot.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Family {
    model: String,
    instance: String,
    workers: u32,
    batch: u32,
    pipeline: u32,
    level: Option<u8>,
    compiler: Option<String>,
    origin: String,
}

/// A line: its family and its points by the number of models.
type MeasuredFamily = (Family, BTreeMap<u32, f64>);

/// Throughput over the number of models, a line for each set of configurations that differ only in that. Lines that differ
/// only in the number of workers share a plot. Each plot has an ideal line: the best throughput of one model in it, as many
/// times as there are models. `None` if no set was run with two numbers of models.
pub fn scaling<'a>(reports: impl Iterator<Item = &'a Report> + Clone) -> Option<Scaling> {
    let colours = SeriesColours::of(reports.clone());
    let lines = measured_lines(reports);
    let all = lines.len();
    let mut plots: Vec<(Family, Vec<MeasuredFamily>)> = Vec::new();
    for line in lines {
        let of = Family { workers: 0, ..line.0.clone() };
        match plots.iter().position(|(family, _)| *family == of) {
            Some(i) if plots[i].1.len() < MOST_LINES => plots[i].1.push(line),
            None if plots.len() < MOST_PLOTS => plots.push((of, vec![line])),
            _ => {}
        }
    }
    let lines_drawn = plots.iter().map(|(_, lines)| lines.len()).sum();
    let titles = distinct_names(plots.iter().map(|(family, _)| family));
    let most = plots.iter().flat_map(|(_, lines)| lines).filter_map(|(_, p)| p.keys().next_back()).max().copied()?;
    let mut drawn: Vec<(String, Lines)> =
        titles.into_iter().zip(plots.iter().map(|(_, lines)| plot_of(lines, most, &colours))).collect();
    // Plots are compared, so they have the same axes.
    let highest = drawn.iter().map(|(_, plot)| plot.y.max).fold(0.0, f64::max);
    for (_, plot) in &mut drawn {
        *plot = plot.clone().up_to(highest).with_counted_x();
    }
    Some(Scaling { plots: drawn, lines_drawn, all })
}

/// Lines with at least two points, the fastest first.
fn measured_lines<'a>(reports: impl Iterator<Item = &'a Report>) -> Vec<MeasuredFamily> {
    let mut families: BTreeMap<Family, BTreeMap<u32, f64>> = BTreeMap::new();
    for r in reports {
        let Some(throughput) = r.throughput_avg.filter(|t| t.is_finite()) else { continue };
        families.entry(Family::of(r)).or_default().insert(r.n_models, throughput);
    }
    families.retain(|_, points| points.len() > 1);
    let peak = |points: &BTreeMap<u32, f64>| points.values().copied().fold(0.0, f64::max);
    let mut lines: Vec<MeasuredFamily> = families.into_iter().collect();
    lines.order_by(|a, b| peak(&b.1).total_cmp(&peak(&a.1)));
    lines
}

fn plot_of(lines: &[MeasuredFamily], most: u32, colours: &SeriesColours) -> Lines {
    let one_model = lines.iter().flat_map(|(_, points)| points).map(|(n, t)| t / f64::from((*n).max(1)));
    let one_model = one_model.fold(0.0, f64::max);
    let ideal = (0..=1).map(|end| (f64::from(most * end), one_model * f64::from(most * end))).collect();
    let line = |(family, points): &MeasuredFamily| -> Series {
        let workers = format_plural(family.workers, "worker");
        (workers, LineStyle::Solid, points.iter().map(|(n, t)| (f64::from(*n), *t)).collect())
    };
    let mut in_order: Vec<&MeasuredFamily> = lines.iter().collect();
    in_order.order_by_key(|(family, _)| family.workers);
    let fills: Vec<u8> = in_order.iter().map(|(f, _)| colours.of_setting(f.workers, f.compiler.as_deref())).collect();
    let series: Vec<Series> =
        in_order.into_iter().map(line).chain([("ideal".to_owned(), LineStyle::Dashed, ideal)]).collect();
    let mut plot = Lines::new("Models", "Throughput avg (inf/s)", series, true);
    for (line, fill) in plot.lines.iter_mut().zip(fills) {
        line.fill = fill;
    }
    plot
}

impl Family {
    fn of(r: &Report) -> Self {
        Self {
            model: r.model_name.clone(),
            instance: r.instance_type.clone(),
            workers: r.workers_per_model,
            batch: r.batch_size,
            pipeline: r.pipeline_size,
            level: r.performance_level,
            compiler: r.unusual_compiler_args(),
            origin: r.device_type.clone(),
        }
    }
}

/// Names with only the values that differ between plots; the batch size if none differs.
fn distinct_names<'a>(families: impl Iterator<Item = &'a Family> + Clone) -> Vec<String> {
    let differs = |f: &dyn Fn(&Family) -> String| {
        let mut values: Vec<String> = families.clone().map(f).collect();
        values.order();
        values.dedup();
        values.len() > 1
    };
    let (model, instance) = (differs(&|f| f.model.clone()), differs(&|f| f.instance.clone()));
    let (batch, pipeline) = (differs(&|f| f.batch.to_string()), differs(&|f| f.pipeline.to_string()));
    let (level, device) = (differs(&|f| level_text(f.level)), differs(&|f| f.origin.clone()));
    let compiler = differs(&|f| f.compiler.clone().unwrap_or_default());
    let batch = batch || !(model || instance || pipeline || level || device || compiler);
    families
        .map(|f| {
            let mut parts = Vec::new();
            let mut add = |is_drawn: bool, text: String| {
                if is_drawn {
                    parts.push(text);
                }
            };
            add(model, f.model.clone());
            add(instance, f.instance.clone());
            add(batch, format!("batch {}", f.batch));
            add(pipeline, format!("pipeline {}", f.pipeline));
            add(level, format!("level {}", level_text(f.level)));
            add(compiler, f.compiler.clone().unwrap_or_else(|| "compiled as usual".to_owned()));
            add(device, f.origin.clone());
            parts.join(", ")
        })
        .collect()
}

/// A performance level as text; imported rows need not have one.
fn level_text(level: Option<u8>) -> String {
    level.map_or_else(|| "unknown".to_owned(), |level| level.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(n_models: u32, workers: u32, batch: u32, throughput: Option<f64>) -> Report {
        Report {
            n_models,
            workers_per_model: workers,
            batch_size: batch,
            pipeline_size: 1,
            throughput_avg: throughput,
            ..Report::default()
        }
    }

    #[test]
    fn lines_of_one_batch_share_a_plot_under_their_ideal() {
        let reports = [
            report(1, 1, 1, Some(300.0)),
            report(16, 1, 1, Some(2_746.0)),
            report(1, 2, 1, Some(330.0)),
            report(16, 2, 1, Some(2_809.0)),
            report(16, 4, 1, Some(9.0)),
            report(8, 1, 1, None),
        ];
        let found = scaling(reports.iter()).unwrap();
        assert_eq!((found.plots.len(), found.lines_drawn, found.all), (1, 2, 2));
        let (title, plot) = &found.plots[0];
        let names: Vec<&str> = plot.lines.iter().map(|l| l.name.as_str()).collect();
        assert_eq!((title.as_str(), names), ("batch 1", vec!["1 worker", "2 workers", "ideal"]));
        assert_eq!(plot.lines[2].points, [(0.0, 0.0), (16.0, 330.0 * 16.0)]);
        assert_eq!(plot.lines[0].points, [(1.0, 300.0), (16.0, 2_746.0)]);
        for line in &plot.lines[..2] {
            assert!(line.points.iter().all(|(n, t)| *t <= 330.0 * n), "nothing lies above the ideal line");
        }
        assert_eq!(scaling(reports[..1].iter()), None);
    }

    #[test]
    fn the_fastest_line_is_never_left_out_and_axes_agree() {
        let mut reports = Vec::new();
        for batch in 1..=8_u32 {
            for workers in 1..=6_u32 {
                for n in [1, 2] {
                    let throughput = f64::from(n * workers * batch) * 100.0;
                    reports.push(report(n, workers, batch, Some(throughput)));
                }
            }
        }
        let found = scaling(reports.iter()).unwrap();
        assert_eq!((found.plots.len(), found.lines_drawn, found.all), (6, 24, 48));
        assert_eq!(found.plots[0].0, "batch 8");
        let fastest = found.plots[0].1.lines.iter().flat_map(|l| &l.points).map(|p| p.1).fold(0.0, f64::max);
        assert!(fastest >= 2.0 * 6.0 * 8.0 * 100.0);
        assert!(found.plots.iter().all(|(_, plot)| plot.y == found.plots[0].1.y));
        let ticks: Vec<f64> = found.plots[0].1.x.ticks.iter().map(|t| t.value).collect();
        assert!(ticks.iter().all(|t| t.fract() == 0.0), "there is no half of a model: {ticks:?}");
    }

    #[test]
    fn plots_are_named_by_their_differences() {
        let reports = [
            report(1, 1, 1, Some(3.0)),
            report(2, 1, 1, Some(5.0)),
            report(1, 1, 8, Some(9.0)),
            report(2, 1, 8, Some(17.0)),
        ];
        let titles: Vec<String> = scaling(reports.iter()).unwrap().plots.into_iter().map(|(title, _)| title).collect();
        assert_eq!(titles, ["batch 8", "batch 1"]);
    }
}
