//! Data for a configuration's plots, small enough to send and to keep: a histogram and a cumulative curve of latencies,
//! and samples of each second.

use serde::{Deserialize, Serialize};

use ns_base::SimTime;
use ns_base::convert::{f64_to_usize, usize_to_f64};

use crate::config::configuration::Configuration;
use crate::measured::measurement::Measurement;

/// Percents of the cumulative curve.
pub const CURVE_PERCENTS: [f64; 25] = [
    0.0, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 40.0, 50.0, 60.0, 70.0, 75.0, 80.0, 85.0, 90.0, 92.5, 95.0, 97.0,
    98.0, 99.0, 99.5, 99.9, 100.0,
];

/// Bars of the histogram.
const BARS: usize = 60;

/// Latencies of one configuration, and its throughput over time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunCharts {
    /// Cumulative curve: percent of inferences, and the most milliseconds that they took.
    pub curve: Vec<(f64, f64)>,
    /// Left edge of the first bar, milliseconds.
    pub first_ms: f64,
    /// Width of a bar, milliseconds; zero when all latencies are the same.
    pub bar_ms: f64,
    /// Inferences of each bar; the last bar also holds the slowest 0.1 %.
    pub bars: Vec<u64>,
    /// Samples that ended in each second of the window, empty seconds included.
    pub samples_per_second: Vec<u64>,
}

impl RunCharts {
    /// The charts of a measurement; empty for a measurement without inferences. Latencies are reordered.
    pub fn of(configuration: &Configuration, measurement: &mut Measurement) -> Self {
        let Some(values) = measurement.latency_percentiles_ms(CURVE_PERCENTS) else { return Self::default() };
        let (first_ms, last_ms) = (values[0], values[CURVE_PERCENTS.len() - 2]);
        let bar_ms = (last_ms - first_ms) / usize_to_f64(BARS);
        let mut bars = vec![0; if bar_ms > 0.0 { BARS } else { 1 }];
        let last = bars.len() - 1;
        for ps in measurement.latencies_ps() {
            let above = SimTime(*ps).to_ms_f64() - first_ms;
            // A cast of a float saturates, so a negative or huge one stays in the first or the last bar.
            let bar = if bar_ms > 0.0 { f64_to_usize(above / bar_ms) } else { 0 };
            bars[bar.min(last)] += 1;
        }
        Self {
            curve: CURVE_PERCENTS.into_iter().zip(values).collect(),
            first_ms,
            bar_ms,
            bars,
            samples_per_second: samples_per_second(measurement, u64::from(configuration.batch_size)),
        }
    }
}

fn samples_per_second(measurement: &Measurement, batch: u64) -> Vec<u64> {
    let seconds = measurement.seconds();
    let last = seconds.last().map_or(0, |s| s.second);
    let mut out = vec![0; usize::try_from(last + 1).unwrap_or(0)];
    for s in seconds {
        if let Some(slot) = usize::try_from(s.second).ok().and_then(|i| out.get_mut(i)) {
            *slot = s.count * batch;
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BenchConfig, Scheduler, ServiceTimes, SimulatedExecutor, expand};

    #[test]
    fn bars_hold_every_inference_and_the_curve_ascends() {
        let config = BenchConfig { duration_s: 5.0, batch_sizes: vec![2], ..BenchConfig::default() };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        let times = ServiceTimes { device: vec![SimTime::from_us(1_700_000)], ..ServiceTimes::default() };
        let mut run = Scheduler::new(&configuration, SimulatedExecutor::new(&configuration, &times), 0).unwrap();
        run.run_to_end().unwrap();
        let mut m = run.into_measurement();
        let charts = RunCharts::of(&configuration, &mut m);
        assert_eq!(charts.bars.iter().sum::<u64>(), m.inferences());
        assert!(charts.curve.is_sorted_by(|a, b| a.1 <= b.1));
        assert_eq!(charts.samples_per_second, [0, 2, 0, 2, 0, 2]);
    }
}
