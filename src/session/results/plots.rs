//! Plots that compare configurations: throughput against latency, scaling with the number of models.

use std::collections::BTreeMap;

use crate::bench::Report;
use crate::view::plot::{Bars, LineStyle, Lines, Scatter, Series};

/// More bars than this are not compared by eye; the table sorts them.
const MOST_BARS: usize = 24;

/// More lines than this are not told apart.
const MOST_LINES: usize = 8;

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

/// The series of a report in plots: `2 workers per model`, and how it was compiled where that is not the default.
#[must_use]
pub fn series_text(r: &Report) -> String {
    let workers =
        format!("{} worker{} per model", r.workers_per_model, if r.workers_per_model == 1 { "" } else { "s" });
    r.unusual_compiler_args().map_or(workers.clone(), |flags| format!("{workers}, {flags}"))
}

/// Throughput against median latency, with the Pareto front.
#[must_use]
pub fn throughput_latency<'a>(reports: impl Iterator<Item = &'a Report>) -> Scatter {
    let point = |r: &Report| Some((series_text(r), r.latency_ms_p50?, r.throughput_avg?, configuration_text(r)));
    Scatter::new("Latency p50 (ms)", "Throughput avg (inf/s)", reports.filter_map(point)).with_front()
}

/// Throughput of the first configurations as bars.
#[must_use]
pub fn throughput_by_configuration<'a>(reports: impl Iterator<Item = &'a Report>) -> Bars {
    let bar = |r: &Report| Some((configuration_text(r), series_text(r), r.throughput_avg?));
    Bars::new(reports.filter_map(bar).take(MOST_BARS))
}

/// What is the same along a line of the scaling plot.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
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

/// Throughput over the number of models, a line for each set of configurations that differ in nothing else, with the ideal
/// line of the first one: as many times the throughput as there are times the models. `None` when nothing was run with
/// two numbers of models.
#[must_use]
pub fn scaling<'a>(reports: impl Iterator<Item = &'a Report>) -> Option<Lines> {
    let mut families: BTreeMap<Family, BTreeMap<u32, f64>> = BTreeMap::new();
    for r in reports {
        let Some(throughput) = r.throughput_avg else { continue };
        let family = Family {
            model: r.model_name.clone(),
            instance: r.instance_type.clone(),
            workers: r.workers_per_model,
            batch: r.batch_size,
            pipeline: r.pipeline_size,
            level: r.performance_level,
            compiler: r.unusual_compiler_args(),
            origin: r.device_type.clone(),
        };
        families.entry(family).or_default().insert(r.n_models, throughput);
    }
    families.retain(|_, points| points.len() > 1);
    let (_, first) = families.first_key_value()?;
    let most = families.values().filter_map(|p| p.keys().next_back()).max().copied()?;
    let (fewest, throughput) = first.first_key_value()?;
    let ideal = |n: u32| (f64::from(n), throughput * f64::from(n) / f64::from(*fewest));
    let ideal: Series = ("Ideal".to_owned(), LineStyle::Dashed, vec![ideal(*fewest), ideal(most.max(*fewest))]);
    let names = distinct_names(families.keys());
    let measured =
        families.iter().zip(names).take(MOST_LINES).map(|((_, points), name)| {
            (name, LineStyle::Solid, points.iter().map(|(n, t)| (f64::from(*n), *t)).collect())
        });
    let series: Vec<Series> = measured.chain([ideal]).collect();
    Some(Lines::new("Models", "Throughput avg (inf/s)", series, true))
}

/// Names that say what differs between the families and nothing else.
fn distinct_names<'a>(families: impl Iterator<Item = &'a Family> + Clone) -> Vec<String> {
    let differs = |f: &dyn Fn(&Family) -> String| {
        let mut values: Vec<String> = families.clone().map(f).collect();
        values.sort_unstable();
        values.dedup();
        values.len() > 1
    };
    let (model, instance) = (differs(&|f| f.model.clone()), differs(&|f| f.instance.clone()));
    let (batch, pipeline) = (differs(&|f| f.batch.to_string()), differs(&|f| f.pipeline.to_string()));
    let (level, device) = (differs(&|f| level_text(f.level)), differs(&|f| f.origin.clone()));
    let compiler = differs(&|f| f.compiler.clone().unwrap_or_default());
    families
        .map(|f| {
            let mut name = format!("{} worker{} per model", f.workers, if f.workers == 1 { "" } else { "s" });
            let mut add = |shown: bool, text: String| {
                if shown {
                    name.push_str(&text);
                }
            };
            add(model, format!(", {}", f.model));
            add(instance, format!(", {}", f.instance));
            add(batch, format!(", batch {}", f.batch));
            add(pipeline, format!(", pipeline {}", f.pipeline));
            add(level, format!(", level {}", level_text(f.level)));
            add(compiler, f.compiler.as_ref().map_or_else(String::new, |flags| format!(", {flags}")));
            add(device, format!(", {}", f.origin));
            name
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
            latency_ms_p50: throughput.map(|t| f64::from(n_models * workers) / t * 1e3),
            ..Report::default()
        }
    }

    #[test]
    fn scaling_has_a_line_for_each_family_and_the_ideal_one() {
        let reports = [
            report(1, 1, 1, Some(300.0)),
            report(16, 1, 1, Some(2_746.0)),
            report(1, 2, 1, Some(330.0)),
            report(16, 2, 1, Some(2_809.0)),
            report(16, 4, 1, Some(9.0)),
            report(8, 1, 1, None),
        ];
        let plot = scaling(reports.iter()).unwrap();
        let names: Vec<&str> = plot.lines.iter().map(|l| l.name.as_str()).collect();
        assert_eq!(names, ["1 worker per model", "2 workers per model", "Ideal"]);
        assert_eq!(plot.lines[2].points, [(1.0, 300.0), (16.0, 4_800.0)]);
        assert_eq!(plot.lines[0].points, [(1.0, 300.0), (16.0, 2_746.0)]);
        assert_eq!(scaling(reports[..1].iter()), None);
    }

    #[test]
    fn lines_are_named_by_what_differs() {
        let reports = [
            report(1, 1, 1, Some(3.0)),
            report(2, 1, 1, Some(5.0)),
            report(1, 1, 8, Some(9.0)),
            report(2, 1, 8, Some(17.0)),
        ];
        let plot = scaling(reports.iter()).unwrap();
        assert_eq!(plot.lines[1].name, "1 worker per model, batch 8");
    }

    #[test]
    fn failed_configurations_are_on_no_plot() {
        let reports = [report(1, 1, 1, Some(300.0)), report(64, 1, 1, None)];
        assert_eq!(throughput_latency(reports.iter()).points.len(), 1);
        assert_eq!(throughput_by_configuration(reports.iter()).bars.len(), 1);
        assert_eq!(configuration_text(&reports[0]), "1 model, 1 worker each, batch 1");
    }
}
