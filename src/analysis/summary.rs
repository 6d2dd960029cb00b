//! The output of `open FILE --json` about a file.

use serde::{Deserialize, Serialize};

use super::device::{DeviceFigures, FileSummary};
use super::memory::{DeviceMemory, memory};
use super::operators::{OpQuery, OpStats, OpTable, operator_stats};
use ns_base::Diagnostic;
use ns_base::Order;
use ns_profile::levels::Level;
use ns_profile::{PhaseCounts, Profile, Unit};

/// A file in a few numbers. Its JSON is a contract: keys are only ever added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OpenSummary {
    /// `chrome-trace-object` (an object with `traceEvents`), `chrome-trace-array` (the array alone), or `simulated`.
    pub format: String,
    /// Number of objects in the event array, including broken ones.
    pub events: u64,
    /// Events by their `ph`, most frequent first, ties by text.
    pub by_phase: PhaseCounts,
    /// From the first event to the end of the last, metadata not counted.
    pub span_ns: Length,
    /// Distinct pids of events, metadata not counted.
    pub processes: u64,
    /// Distinct pairs of pid and tid of events, metadata not counted.
    pub tracks: u64,
    /// Slices by name, greatest total first, ties by name. Slices that never end are not counted.
    pub operators: Vec<OperatorSummary>,
    /// The levels that have slices; by construction, slices of one level do not show the same work.
    pub levels: Vec<Level>,
    /// The default level of lists.
    pub default_level: String,
    /// The problems, by kind, in order of first appearance.
    pub diagnostics: Vec<Diagnostic>,
    /// Memory of each device, if the profile has the memory events of PyTorch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub memory: Vec<DeviceMemory>,
    /// Of a Neuron device: times worked out from its rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceFigures>,
    /// Of a Neuron device: the figures of the file's own summary, as it writes them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<serde_json::Value>,
}

/// A length along the axis of a profile: whole nanoseconds or counts, or a count with its fraction.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Length {
    /// As it is stored.
    Whole(i64),
    /// Of a profile whose counts have fractions.
    Fraction(f64),
}

impl Length {
    fn of(unit: &Unit, stored: i64) -> Self {
        unit.fraction(stored).map_or(Self::Whole(stored), Self::Fraction)
    }

    /// The number, if it has no fraction.
    pub const fn whole(self) -> Option<i64> {
        match self {
            Self::Whole(ns) => Some(ns),
            Self::Fraction(_) => None,
        }
    }
}

/// All slices of one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct OperatorSummary {
    /// The name; empty for slices without one.
    pub name: String,
    /// Number of slices.
    pub count: u64,
    /// Sum of durations.
    pub total_ns: Length,
    /// Sum of self times: at each instant of a thread the time belongs to the slice that began last.
    pub self_ns: Length,
}

impl OpenSummary {
    /// The summary of a profile.
    #[must_use]
    pub fn of(profile: &Profile) -> Self {
        let used: Vec<_> = profile.tracks().iter().filter(|t| t.events > 0).collect();
        let mut processes: Vec<_> = used.iter().map(|t| t.process).collect();
        processes.sort_unstable();
        processes.dedup();
        let OpTable { grouping, mut stats, .. } = operator_stats(profile, &OpQuery::default());
        let name = |op: &OpStats| grouping.label(profile, op.group);
        let length = |stored| Length::of(&profile.meta().unit, stored);
        let (levels, meta, device) = (profile.levels(), profile.meta(), DeviceFigures::of(profile));
        // Waits of a device are longer than all its work, and so are its layers, which wait too.
        let is_last = |op: &OpStats| device.is_some() && op.wraps;
        stats.order_by(|a, b| {
            is_last(a).cmp(&is_last(b)).then(b.total_ns.cmp(&a.total_ns)).then_with(|| name(a).cmp(name(b)))
        });
        Self {
            format: meta.format.clone(),
            events: meta.events,
            by_phase: meta.by_phase.clone(),
            span_ns: length(profile.span_ns()),
            processes: processes.len() as u64,
            tracks: used.len() as u64,
            operators: stats
                .iter()
                .map(|op| OperatorSummary {
                    name: name(op).to_owned(),
                    count: op.count,
                    total_ns: length(op.total_ns),
                    self_ns: length(op.self_ns),
                })
                .collect(),
            levels: levels.used().map(|(_, level)| level.clone()).collect(),
            default_level: levels.name(levels.default_level()).to_owned(),
            diagnostics: profile.diagnostics().items().to_vec(),
            memory: memory(profile),
            summary: device.as_ref().and_then(|_| FileSummary::of(profile)).map(|s| s.0),
            device,
        }
    }
}
