//! How far a simulated figure may be from that of a device: the errors of rows that were predicted by a calibration without their
//! model.

use ns_bench::{Configuration, Interval, PUBLISHED_CORE, PublishedFigures, Report};
use ns_machine::arch::instance;
use ns_machine::cost::Calibration;

use super::published::published_benchmark;
use super::search::factors_inside;

/// A model whose rows were predicted by a calibration without them.
pub struct HeldOut {
    pub model: &'static str,
    /// The calibration without the model's rows.
    pub calibration: Calibration,
    /// Predicted over published throughput of the model's rows, in the order of the table.
    pub ratios: &'static [f64],
}

/// The result of `neuronscope validate --calibrate` for each model that is left out; tests compare.
pub const HELD_OUT: &[HeldOut] = &[
    HeldOut {
        model: "bert-base-uncased",
        calibration: Calibration { host_call_ns: 155_000, host_copy_bytes_per_us: 4_100, torch_1_permille: 1_113 },
        ratios: &[1.0249, 1.0336, 0.9835, 0.9727],
    },
    HeldOut {
        model: "roberta-large",
        calibration: Calibration { host_call_ns: 165_000, host_copy_bytes_per_us: 4_400, torch_1_permille: 1_113 },
        ratios: &[1.0086, 0.9827, 0.9972, 1.0499],
    },
    HeldOut {
        model: "google/vit-base-patch16-224",
        calibration: Calibration { host_call_ns: 180_000, host_copy_bytes_per_us: 4_200, torch_1_permille: 1_113 },
        ratios: &[0.9028, 0.9529, 1.0629, 0.9875],
    },
    HeldOut {
        model: "resnet50",
        calibration: Calibration { host_call_ns: 135_000, host_copy_bytes_per_us: 4_100, torch_1_permille: 1_126 },
        ratios: &[1.0747, 1.0321, 0.9009, 0.986],
    },
    HeldOut {
        model: "vgg16",
        calibration: Calibration { host_call_ns: 160_000, host_copy_bytes_per_us: 4_100, torch_1_permille: 1_100 },
        ratios: &[1.0694, 1.0056, 1.007, 1.0068],
    },
    HeldOut {
        model: "openai/clip-vit-base-patch32",
        calibration: Calibration { host_call_ns: 160_000, host_copy_bytes_per_us: 4_100, torch_1_permille: 1_105 },
        ratios: &[0.9774, 1.069],
    },
    HeldOut {
        model: "UNet",
        calibration: Calibration { host_call_ns: 155_000, host_copy_bytes_per_us: 4_000, torch_1_permille: 1_113 },
        ratios: &[0.9657],
    },
];

/// Part of the rows that may lie below the interval, and as many above it: one of this many.
const OUTSIDE_ON_A_SIDE: usize = 10;

/// The least and the most that published over predicted throughput is once a tenth of the rows on each side is left out, so at least
/// eight of ten rows lie between the two. All families of models count together, because none has the rows for an interval of its own.
#[must_use]
pub fn device_factors() -> (f64, f64) {
    factors_inside(HELD_OUT.iter().flat_map(|held| held.ratios), OUTSIDE_ON_A_SIDE)
}

/// The interval of a throughput on an instance; `None` where no row tells the error.
#[must_use]
pub fn interval_of_rate(rate: f64, instance_type: &str) -> Option<(f64, f64)> {
    let (low, high) = device_factors();
    instance(instance_type).filter(|size| size.core_version == PUBLISHED_CORE).map(|_| (rate * low, rate * high))
}

/// The interval of a time on an instance, as [`interval_of_rate`].
#[must_use]
pub fn interval_of_time(time: f64, instance_type: &str) -> Option<(f64, f64)> {
    interval_of_rate(1.0, instance_type).map(|(low, high)| (time / high, time / low))
}

/// Puts beside the figures of a row what AWS published for its configuration, and the interval of its throughput. A row with
/// estimated operators has no interval: their error is not known.
pub fn put_beside(report: &mut Report, configuration: &Configuration) {
    let Some(here) = report.throughput_avg.filter(|_| report.is_finished() && configuration.is_compiled()) else {
        return;
    };
    report.published = published_benchmark(configuration).and_then(|row| {
        let throughput = row.published?;
        Some(PublishedFigures {
            throughput,
            latency_ms_p50: row.latency_p50_ms,
            latency_ms_p99: row.latency_p99_ms,
            release: row.framework.clone(),
            ratio: here / throughput,
        })
    });
    if report.estimated_ops.is_none() {
        let interval = interval_of_rate(here, &configuration.instance_type);
        let latency = report.latency_ms_p50.and_then(|time| interval_of_time(time, &configuration.instance_type));
        report.interval = interval.map(|(throughput_low, throughput_high)| Interval {
            throughput_low,
            throughput_high,
            latency_ms_p50_low: latency.map(|(low, _)| low),
            latency_ms_p50_high: latency.map(|(_, high)| high),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_has_the_figure_and_is_known_where_rows_are() {
        for instance in ["inf2.xlarge", "trn1.32xlarge"] {
            let (low, high) = interval_of_rate(1_220.0, instance).unwrap();
            assert!(low < 1_220.0 && 1_220.0 < high, "{low} {high}");
            let (short, long) = interval_of_time(2.0, instance).unwrap();
            assert!((short * high / 1_220.0 - 2.0).abs() < 1e-9 && (long * low / 1_220.0 - 2.0).abs() < 1e-9);
        }
        for instance in ["trn2.48xlarge", "inf1.xlarge", "m5.large"] {
            assert_eq!(interval_of_rate(1_220.0, instance), None, "{instance}");
        }
    }
}
