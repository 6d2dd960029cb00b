//! The statement of a rule, with its evidence.

use serde::{Deserialize, Serialize};

use crate::run::{Item, Run, UnitRun};
use crate::{Metric, MetricValue, Resource, Unit};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::{FxHashSet, names};
use ns_machine::SourceId;
use ns_machine::cost::Limit;

/// Most slices that one finding names.
const MAX_SLICES: usize = 8;

names! {
    /// The rule behind a finding; the order breaks ties of rank.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Rule {
        /// The compiler removed products whose results nothing reads.
        ProductsRemoved = "products_removed",
        /// The limit of the core that costs most.
        LimitingUnit = "limiting_unit",
        /// The tensor engine's clock is limited by its utilisation.
        ClockLimit = "clock_limit",
        /// SBUF was full and values were saved to device memory.
        Spills = "spills",
        /// Engines wait for a long time for one another or for DMA.
        EngineWaits = "engine_waits",
        /// DMAs are too small for the full rate.
        SmallTransfers = "small_transfers",
        /// Inputs are moved as part of the step.
        InputsInStep = "inputs_in_step",
        /// The array spends a large part of its operations on transposes.
        Transposes = "transposes",
        /// Elementwise operations in a row are separate instructions.
        UnfusedElementwise = "unfused_elementwise",
        /// A table of activation functions is loaded only when its function is due.
        TableLoadedLate = "table_loaded_late",
        /// A table of activation functions is loaded beside weights, before it is needed.
        TablePreloaded = "table_preloaded",
        /// Units work at the same time.
        OverlapSavesTime = "overlap_saves_time",
        /// Constants are set in memory before the operation that reads them.
        ConstantsSetEarly = "constants_set_early",
        /// The execution is a training step with its parts.
        TrainingParts = "training_parts",
    }

    /// Name in files: `data_transfer_dominates`.
    pub const fn code(self) -> &'static str;
}

impl Rule {
    /// The units whose work a remedy takes away; empty if the finding is not about work that could be left out.
    pub(super) const fn touches(self) -> &'static [Resource] {
        match self {
            Self::InputsInStep => &[Resource::Dma],
            Self::Transposes => &[Resource::Tensor],
            Self::UnfusedElementwise => &[Resource::Vector, Resource::Scalar],
            Self::TableLoadedLate => &[Resource::Scalar],
            _ => &[],
        }
    }

    /// The limits of the core whose cost a remedy lowers; empty if the finding is about something else.
    pub(super) const fn limits(self) -> &'static [Limit] {
        match self {
            Self::ClockLimit => &[Limit::Throttle],
            Self::Spills => &[Limit::Sbuf],
            Self::SmallTransfers => &[Limit::DmaRate, Limit::DmaIssue],
            _ => &[],
        }
    }
}

names! {
    /// The effect of a finding; findings are listed in this order.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Effect {
        /// The finding costs time.
        Cost = "cost",
        /// The other side of a cost: a unit is idle because another one takes time.
        Symptom = "symptom",
        /// The finding saves time.
        Saving = "saving",
        /// The finding explains the timeline.
        Note = "note",
    }

    /// Name in files: `cost`.
    pub const fn code(self) -> &'static str;
}

/// One finding.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Finding {
    pub rule: Rule,
    /// Whether it costs time.
    pub effect: Effect,
    /// The time that the finding concerns, nanoseconds. It is not the time that a change saves.
    pub time_ns: u64,
    /// For a cost, the most that fixing it alone can save, nanoseconds. Of what a limit of the core costs: what a simulation without it
    /// saves; absent until that is computed. Of work that could be left out: its own time, but not more than the device window less the
    /// longest busy time of a unit that the remedy does not touch.
    pub saves_ns: Option<u64>,
    /// One sentence with the main number.
    pub title: String,
    /// The meaning and what to do.
    pub detail: String,
    /// The numbers that support it.
    pub evidence: Vec<Metric>,
    /// Slices that show it, the most telling first.
    pub slices: Vec<SliceRange>,
}

/// A slice of the engine rows of the timeline.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceRange {
    /// Engine or DMA queue: `Tensor`, `qSyncIO0`.
    pub row: String,
    /// Framework path of its operation.
    pub path: String,
    /// Start on the timeline, nanoseconds.
    pub start_ns: i64,
    /// End on the timeline, nanoseconds.
    pub end_ns: i64,
}

impl Finding {
    pub(super) fn new(rule: Rule, effect: Effect, time_ns: u64, title: String, detail: &str) -> Self {
        let (evidence, slices, saves_ns) = (Vec::new(), Vec::new(), None);
        Self { rule, effect, time_ns, saves_ns, title, detail: detail.to_owned(), evidence, slices }
    }

    pub(super) fn time(self, name: &str, ns: u64) -> Self {
        self.with(name, MetricValue::Real(u64_to_f64(ns)), Unit::Nanoseconds)
    }

    pub(super) fn share(self, name: &str, percent: f64) -> Self {
        self.with(name, MetricValue::Real(percent), Unit::Percent)
    }

    pub(super) fn bytes(self, name: &str, bytes: f64) -> Self {
        self.with(name, MetricValue::Real(bytes), Unit::Bytes)
    }

    pub(super) fn count(self, name: &str, n: u64) -> Self {
        self.with(name, MetricValue::Count(n), Unit::Count)
    }

    fn with(mut self, name: &str, value: MetricValue, unit: Unit) -> Self {
        self.evidence.push(Metric { name: name.to_owned(), value, unit });
        self
    }

    /// Whether it says that the model computes something else than was meant, which is no question of time.
    pub fn is_warning(&self) -> bool {
        self.rule == Rule::ProductsRemoved
    }

    /// Whether its saving is that of a limit of the core.
    pub fn is_of_limit(&self) -> bool {
        self.rule == Rule::LimitingUnit || !self.rule.limits().is_empty()
    }

    /// Adds these slices, up to a limit.
    pub(super) fn showing(mut self, slices: impl Iterator<Item = SliceRange>) -> Self {
        let room = MAX_SLICES.saturating_sub(self.slices.len());
        self.slices.extend(slices.take(room));
        self
    }

    /// Adds the longest of these items, one for each operation.
    pub(super) fn longest<'i>(self, run: &Run<'_>, items: impl Iterator<Item = (&'i UnitRun, &'i Item)>) -> Self {
        self.showing(SliceRange::longest(run, items).into_iter())
    }
}

impl SliceRange {
    pub(super) fn of(run: &Run<'_>, unit: &UnitRun, item: &Item) -> Self {
        Self {
            row: unit.name.clone(),
            path: run.path(item).to_owned(),
            start_ns: item.time.start,
            end_ns: item.time.end,
        }
    }

    /// The longest of these items, one for each operation.
    pub(crate) fn longest<'i>(run: &Run<'_>, items: impl Iterator<Item = (&'i UnitRun, &'i Item)>) -> Vec<Self> {
        let mut items: Vec<_> = items.collect();
        // The sort is stable: of equal items the earlier comes first.
        items.order_by_key(|(_, i)| i.time.start - i.time.end);
        let mut seen: FxHashSet<SourceId> = FxHashSet::default();
        let first = items.into_iter().filter(|(_, i)| seen.insert(i.source)).take(MAX_SLICES);
        first.map(|(unit, item)| Self::of(run, unit, item)).collect()
    }
}
