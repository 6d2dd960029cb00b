//! What stands beside the figures of a simulated row: what AWS published for its configuration, and the interval in which
//! the figure of a real device lies in most cases. Whoever has the published rows fills both in.

use serde::{Deserialize, Serialize};

use super::report::Report;
use super::verdict::bests;
use ns_base::stats::round_to;
use ns_base::units::{format_count, format_number};
use ns_device::EstimateMark;
use ns_machine::arch::instance;

/// How often the figure of a device lies in an [`Interval`], in words.
pub const INTERVAL_CASES: &str = "in 8 of 10 cases";

/// The figures that AWS published for the configuration of a row.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublishedFigures {
    /// Samples per second.
    pub throughput: f64,
    /// Median latency.
    pub latency_ms_p50: Option<f64>,
    /// 99th percentile of the latency.
    pub latency_ms_p99: Option<f64>,
    /// The framework and its release that ran: `PyTorch 2.5`.
    pub release: String,
    /// Simulated over published throughput.
    pub ratio: f64,
}

impl PublishedFigures {
    pub(super) fn rounded(&self) -> Self {
        let thousandths = |value: f64| round_to(value, 3);
        Self {
            throughput: thousandths(self.throughput),
            latency_ms_p50: self.latency_ms_p50.map(thousandths),
            latency_ms_p99: self.latency_ms_p99.map(thousandths),
            release: self.release.clone(),
            ratio: thousandths(self.ratio),
        }
    }

    /// The published throughput, its release and the ratio: `1,219/s (PyTorch 2.5), ratio 1.00`.
    pub fn in_short(&self) -> String {
        format!("{}/s ({}), ratio {:.2}", rate_text(self.throughput), self.release, self.ratio)
    }
}

/// A published figure beside the simulated one: `AWS 1,219/s (PyTorch 2.5), here 1,216/s, ratio 1.00`. `text` writes a figure with
/// its unit.
pub fn beside_text(published: f64, release: &str, here: f64, text: impl Fn(f64) -> String) -> String {
    format!("AWS {} ({release}), here {}, ratio {:.2}", text(published), text(here), here / published)
}

/// A rate with all digits before the point, because published and simulated rates often differ only in the fourth.
fn rate_text(rate: f64) -> String {
    if rate >= 100.0 { format_count(ns_base::convert::f64_to_u64(libm::round(rate))) } else { format_number(rate) }
}

/// The interval in which the throughput and the latency of a device lie in eight of ten cases, by the error of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Interval {
    /// Samples per second.
    pub throughput_low: f64,
    pub throughput_high: f64,
    /// Median latency.
    pub latency_ms_p50_low: Option<f64>,
    pub latency_ms_p50_high: Option<f64>,
}

/// What is said of a part of which no row is published.
const NO_PUBLISHED_ROW: &str = "no published row to compare";

/// Generation of the NeuronCores of the published rows: Inf2 and Trn1. The error on others is not known.
pub const PUBLISHED_CORE: u8 = 2;

/// What is said of an instance with later cores than those of the published rows.
pub fn no_published_row(instance_type: &str) -> Option<&'static str> {
    instance(instance_type).filter(|size| size.core_version > PUBLISHED_CORE).map(|_| NO_PUBLISHED_ROW)
}

impl Interval {
    pub(super) fn rounded(self) -> Self {
        let thousandths = |value: f64| round_to(value, 3);
        Self {
            throughput_low: thousandths(self.throughput_low),
            throughput_high: thousandths(self.throughput_high),
            latency_ms_p50_low: self.latency_ms_p50_low.map(thousandths),
            latency_ms_p50_high: self.latency_ms_p50_high.map(thousandths),
        }
    }

    /// Both ends: `1,150 to 1,290`.
    pub fn in_short(self) -> String {
        format!("{} to {}", format_number(self.throughput_low), format_number(self.throughput_high))
    }
}

/// What files of timers keep beside the figures of a simulated row, because it does not follow from them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beside {
    #[serde(skip_serializing_if = "Option::is_none")]
    estimated_ops: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<EstimateMark>,
    #[serde(skip_serializing_if = "Option::is_none")]
    published: Option<PublishedFigures>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval: Option<Interval>,
    #[serde(skip_serializing_if = "Option::is_none")]
    interval_unknown: Option<String>,
}

impl Beside {
    /// That of a row.
    pub fn of(report: &Report) -> Self {
        let Report { estimated_ops, estimate, published, interval, interval_unknown, .. } = report.clone();
        Self { estimated_ops, estimate, published, interval, interval_unknown }
    }

    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Puts it beside the figures that were computed from the file.
    pub(crate) fn put(self, report: &mut Report) {
        let Self { estimated_ops, estimate, published, interval, interval_unknown } = self;
        (report.estimated_ops, report.estimate, report.published) = (estimated_ops, estimate, published);
        (report.interval, report.interval_unknown) = (interval, interval_unknown);
    }
}

/// How a measure of a row depends on the throughput.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    /// It grows with it.
    Rate,
    /// It falls as the throughput grows: a latency, a cost.
    Time,
}

impl Report {
    /// The interval of a measure of this row whose value is `value`; `None` where the error of the simulation is not known.
    pub fn interval_of(&self, value: f64, measure: Measure) -> Option<(f64, f64)> {
        let (interval, rate) = (self.interval?, self.throughput_avg.filter(|rate| *rate > 0.0)?);
        let (low, high) = (interval.throughput_low / rate, interval.throughput_high / rate);
        let ends = if measure == Measure::Rate { (value * low, value * high) } else { (value / high, value / low) };
        (ends.0.is_finite() && ends.1.is_finite()).then_some(ends)
    }

    /// The published throughput beside that of the row.
    pub fn published_throughput_text(&self) -> Option<String> {
        let (published, here) = (self.published.as_ref()?, self.throughput_avg?);
        Some(beside_text(published.throughput, &published.release, here, |rate| format!("{}/s", rate_text(rate))))
    }

    /// The published 99th percentile of the latency beside that of the row.
    pub fn published_p99_text(&self) -> Option<String> {
        let (published, here) = (self.published.as_ref()?, self.latency_ms_p99?);
        let text = |ms: f64| format!("{} ms", format_number(ms));
        Some(beside_text(published.latency_ms_p99?, &published.release, here, text))
    }
}

/// Lines about some reports: each published row beside its configuration, then the interval of the highest throughput.
pub fn beside_lines(reports: &[Report]) -> Vec<String> {
    let published = |r: &Report| Some(format!("{}: {}", r.label(), r.published_throughput_text()?));
    let mut lines: Vec<String> = reports.iter().filter_map(published).collect();
    let highest = bests(reports).into_iter().find(|best| best.measure == Measure::Rate);
    lines.extend(highest.and_then(|best| {
        let (rate, interval) = (best.report.throughput_avg?, best.report.interval?);
        Some(format!(
            "Error of the simulation: {}/s means {}/s {INTERVAL_CASES}",
            format_number(rate),
            interval.in_short()
        ))
    }));
    if let Some((row, text)) = reports.iter().find_map(|r| Some((r, r.interval_unknown.as_deref()?))) {
        lines.push(format!("Error of the simulation on {}: not known, {text}", row.instance_type));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Report {
        Report {
            status: "finished".into(),
            n_models: 1,
            workers_per_model: 1,
            batch_size: 1,
            pipeline_size: 1,
            throughput_avg: Some(1_220.0),
            latency_ms_p99: Some(0.829),
            interval: Some(Interval { throughput_low: 1_098.0, throughput_high: 1_281.0, ..Interval::default() }),
            published: Some(PublishedFigures {
                throughput: 1_218.875,
                latency_ms_p99: Some(0.846),
                release: "PyTorch 2.5".into(),
                ratio: 1_220.0 / 1_218.875,
                ..PublishedFigures::default()
            }),
            ..Report::default()
        }
    }

    #[test]
    fn published_figures_stand_beside_the_simulated_ones() {
        let row = row();
        assert_eq!(row.published_throughput_text().unwrap(), "AWS 1,219/s (PyTorch 2.5), here 1,220/s, ratio 1.00");
        assert_eq!(row.published_p99_text().unwrap(), "AWS 0.846 ms (PyTorch 2.5), here 0.829 ms, ratio 0.98");
        assert_eq!(row.published.as_ref().unwrap().in_short(), "1,219/s (PyTorch 2.5), ratio 1.00");
        assert_eq!(
            beside_lines(std::slice::from_ref(&row)),
            [
                "1 model x 1 worker: AWS 1,219/s (PyTorch 2.5), here 1,220/s, ratio 1.00",
                "Error of the simulation: 1,220/s means 1,100 to 1,280/s in 8 of 10 cases"
            ]
        );
        let without = Report { published: None, interval: None, ..row };
        assert!(beside_lines(std::slice::from_ref(&without)).is_empty());
        let later = Report {
            instance_type: "trn2.48xlarge".into(),
            interval_unknown: no_published_row("trn2.48xlarge").map(str::to_owned),
            ..without
        };
        assert_eq!(
            beside_lines(&[later]),
            ["Error of the simulation on trn2.48xlarge: not known, no published row to compare"]
        );
    }

    #[test]
    fn a_time_is_long_where_the_throughput_is_low() {
        let near = |ends: Option<(f64, f64)>, low: f64, high: f64| {
            let (a, b) = ends.unwrap();
            assert!((a - low).abs() < 1e-9 && (b - high).abs() < 1e-9, "{a} {b}");
        };
        let row = row();
        near(row.interval_of(610.0, Measure::Rate), 549.0, 640.5);
        near(row.interval_of(0.9, Measure::Time), 0.9 / 1.05, 1.0);
        assert_eq!(Report { interval: None, ..row }.interval_of(1.0, Measure::Rate), None);
    }
}
