//! A profile of a Neuron device in its main figures: worked out from its rows, and as the file itself says.

use ns_base::convert::{f64_to_i64, i64_to_f64};
use ns_profile::Profile;
use ns_profile::device::{DeviceEngine, DeviceTimes};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The property of a profile that holds the summary of its file.
const SUMMARY: &str = "summary";

/// Times of a device, worked out from its rows. Its JSON is a contract: keys are only ever added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceFigures {
    /// Time in which any engine or DMA queue was active.
    pub total_active_time_ns: i64,
    /// Time in which any DMA queue was active.
    pub dma_active_time_ns: i64,
    /// Time without any activity before the first work of the model.
    pub idle_head_ns: i64,
    /// Each engine.
    pub engines: EngineFigures,
}

/// The engines by name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFigures {
    /// Matrix products.
    pub tensor: EngineFigure,
    /// Vectors.
    pub vector: EngineFigure,
    /// Activation functions.
    pub scalar: EngineFigure,
    /// General processors.
    pub gpsimd: EngineFigure,
    /// Synchronisation.
    pub sync: EngineFigure,
}

/// An engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EngineFigure {
    /// Time in which it executed an instruction that is not a wait for a semaphore.
    pub active_time_ns: i64,
}

impl DeviceFigures {
    /// The figures of a profile; `None` if it is not of a device.
    #[must_use]
    pub fn of(profile: &Profile) -> Option<Self> {
        let times = DeviceTimes::of(profile)?;
        let of = |engine: DeviceEngine| EngineFigure { active_time_ns: times.engine_active_ns[engine as usize] };
        Some(Self {
            total_active_time_ns: times.total_active_ns,
            dma_active_time_ns: times.dma_active_ns,
            idle_head_ns: times.idle_head_ns,
            engines: EngineFigures {
                tensor: of(DeviceEngine::Tensor),
                vector: of(DeviceEngine::Vector),
                scalar: of(DeviceEngine::Scalar),
                gpsimd: of(DeviceEngine::GpSimd),
                sync: of(DeviceEngine::Sync),
            },
        })
    }
}

/// The summary that the file of a device profile holds: figures by name. Times are seconds, shares fractions of 1.
#[derive(Clone, Debug, PartialEq)]
pub struct FileSummary(pub Value);

impl FileSummary {
    /// The summary of a profile; `None` if its file has none.
    #[must_use]
    pub fn of(profile: &Profile) -> Option<Self> {
        let (_, json) = profile.meta().properties.iter().find(|(key, _)| key == SUMMARY)?;
        let summary = match serde_json::from_str(json).ok()? {
            Value::Array(list) => list.into_iter().next()?,
            other => other,
        };
        summary.as_object().is_some_and(|s| !s.is_empty()).then_some(Self(summary))
    }

    /// A figure.
    pub fn number(&self, key: &str) -> Option<f64> {
        self.0.get(key)?.as_f64()
    }

    /// A time, in ns.
    pub fn ns(&self, key: &str) -> Option<i64> {
        self.number(key).map(|s| f64_to_i64(libm::round(s * 1e9)))
    }

    /// A rate as the summary has it, as a share of the total time, and the same as a share of the active time.
    pub fn rate(&self, key: &str, times: &DeviceTimes) -> Option<(f64, Option<f64>)> {
        let rate = self.number(key)?;
        let total = self.number("total_time").unwrap_or(i64_to_f64(times.span_ns) / 1e9);
        let active = self.number("total_active_time").unwrap_or(i64_to_f64(times.total_active_ns) / 1e9);
        Some((rate, (active > 0.0).then(|| rate * total / active)))
    }

    /// How long the tensor engine was throttled, in ns, and the lowest average limit, as a share of its rate.
    pub fn throttle(&self) -> Option<(i64, Option<f64>)> {
        let all = |start: &str, middle: &str, end: &str| -> Vec<f64> {
            let is = |key: &str| key.starts_with(start) && key.contains(middle) && key.ends_with(end);
            let figures = self.0.as_object().into_iter().flatten().filter(|(key, _)| is(key));
            figures.filter_map(|(_, value)| value.as_f64()).collect()
        };
        let times = all("throttle_active_", "", "_time_ns");
        let limits = all("throttle_activity_", "_avg_util_limit_", "_percent");
        (!times.is_empty()).then(|| (f64_to_i64(times.iter().sum()), limits.into_iter().reduce(f64::min)))
    }
}
