//! Weights of samples: how long a sample is, instead of the time to the next one.

use super::table::rows;
use crate::decimal::TimeUnit;
use crate::json::Value;
use crate::sampled::frames::WeightUnit;
use ns_base::convert::i64_to_f64;

/// What the weights of a file count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Weights {
    /// Samples are as long as the time to the next one: there are no weights, or they say the same.
    None,
    /// Milliseconds from the time of each sample on.
    Ms,
    /// Samples or bytes: the lengths of a profile without times.
    Counts(WeightUnit, &'static str),
}

/// Greatest part by which the weights of a thread may differ from its times and still say the same.
const SAME: f64 = 0.1;

impl Weights {
    /// The weights of these threads. A file has one unit: that of the first thread whose weights are not its times.
    pub fn of<'a>(threads: impl Iterator<Item = Value<'a>> + Clone, interval_ns: i64) -> Self {
        let tables = threads.filter_map(|thread| thread.get("samples")).filter(|samples| samples.is_object());
        let kind = |samples: Value<'a>| match samples.get("weightType").and_then(Value::str).as_deref() {
            Some("tracing-ms") => Self::Ms,
            Some("bytes") => Self::Counts(WeightUnit::Count, "bytes"),
            _ => Self::Counts(WeightUnit::Count, "samples"),
        };
        let found = tables.clone().find(|samples| !says_the_times(*samples, interval_ns)).map_or(Self::None, kind);
        let Self::Counts(unit, name) = found else { return found };
        let weights = tables.filter_map(|samples| samples.get("weight")).flat_map(Value::items);
        Self::Counts(unit.of_counts(weights), name)
    }

    /// The length of a sample. A sample without a weight counts once.
    pub fn ns(self, weight: Option<Value<'_>>) -> Option<i64> {
        match (self, weight) {
            (Self::None, _) | (Self::Ms, None) => None,
            (Self::Ms, Some(weight)) => weight.ns(TimeUnit::Ms),
            (Self::Counts(unit, _), None) => Some(unit.scale(1)),
            (Self::Counts(unit, _), Some(weight)) => unit.ns(weight),
        }
    }
}

/// Whether a table of samples has no weights, each is 1, or they count the intervals to the next sample, as samply's do.
fn says_the_times(samples: Value<'_>, interval_ns: i64) -> bool {
    let (mut sum, mut count, mut ones, mut first, mut last) = (0.0, 0i64, true, None, 0);
    rows(Some(samples), ["weight", "time", "timeDeltas"], |_, [weight, time, delta]| {
        let weight = weight.and_then(|w| w.ns(TimeUnit::Ns)).map_or(1.0, |_| number(weight));
        ones &= (weight - 1.0).abs() < 1e-9;
        sum += weight;
        count += 1;
        let at = time.or(delta).and_then(|v| v.ns(TimeUnit::Ms)).unwrap_or(0);
        last = if time.is_some() { at } else { at.saturating_add(last) };
        first = first.or(Some(last));
    });
    let by_time = i64_to_f64(last.saturating_sub(first.unwrap_or(0)).saturating_add(interval_ns));
    let by_weight = sum * i64_to_f64(interval_ns);
    let is_samples = samples.get("weightType").and_then(Value::str).is_none_or(|kind| kind == "samples");
    samples.get("weight").is_none() || (is_samples && (ones || (by_weight - by_time).abs() <= by_time * SAME))
}

fn number(value: Option<Value<'_>>) -> f64 {
    value.and_then(Value::scalar).and_then(|text| text.parse().ok()).unwrap_or(1.0)
}
