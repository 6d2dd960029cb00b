//! The units of the core by busy time, and how far the work of the others is hidden behind the busiest one.
//!
//! What limits the execution is another question, which simulations without a limit answer ([`crate::Insights::set_limits`]). The overview,
//! findings, bounds and exports quote both, and [`Limiter::saving_ns`] is the most that a remedy for something else may promise.

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::SliceRange;
use super::run::{Item, Run, UnitRun, Work};
use super::spans::{Spans, length_ns, merge, percent, without};
use ns_base::Order;
use ns_base::convert::u64_to_f64;
use ns_base::units::{capital, format_ns, format_share};
use ns_base::{Interval, names};
use ns_machine::cost::Limit;
use ns_machine::isa::Engine;

/// Share of the device window from which a unit works for most of it, percent. Chosen: most is more than half; no document gives a
/// threshold.
const MOST_PERCENT: f64 = 50.0;

names! {
    /// A unit that works by itself: an engine, or all DMA queues together, because they share device memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Resource {
        Dma = "Data transfer",
        Tensor = "Tensor engine",
        Vector = "Vector engine",
        Scalar = "Scalar engine",
        GpSimd = "GpSimd engine",
    }

    /// DMA first: of two units with the same busy time, the first limits.
    pub const ALL: [Self; _];
    /// Name in tables and tiles: `Data transfer`, `Vector engine`.
    pub const fn name(self) -> &'static str;
}

impl Resource {
    /// Name within a sentence: `data transfer`, `the Vector engine`.
    pub const fn phrase(self) -> &'static str {
        match self {
            Self::Dma => "data transfer",
            Self::Tensor => "the Tensor engine",
            Self::Vector => "the Vector engine",
            Self::Scalar => "the Scalar engine",
            Self::GpSimd => "the GpSimd engine",
        }
    }

    /// The limit that is its rate.
    pub const fn limit(self) -> Limit {
        match self {
            Self::Dma => Limit::DmaRate,
            Self::Tensor => Limit::Tensor,
            Self::Vector => Limit::Vector,
            Self::Scalar => Limit::Scalar,
            Self::GpSimd => Limit::GpSimd,
        }
    }

    /// The unit of an engine; `None` is a DMA queue.
    pub const fn of(engine: Option<Engine>) -> Self {
        match engine {
            None => Self::Dma,
            Some(Engine::Tensor) => Self::Tensor,
            Some(Engine::Vector) => Self::Vector,
            Some(Engine::Scalar) => Self::Scalar,
            Some(Engine::GpSimd) => Self::GpSimd,
        }
    }
}

/// The time of one unit within the device window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ResourceTime {
    pub resource: Resource,
    /// Time in which it works, nanoseconds.
    pub busy_ns: u64,
    /// The part of it in which no unit with a longer busy time works, nanoseconds. The exposed times of all units and
    /// [`Limiter::idle_ns`] add up to the device window.
    pub exposed_ns: u64,
    /// What most of its time is for: the kind of data with the most bytes, or the framework operator with the most time.
    pub mostly: String,
    /// Its longest slices, one for each operation.
    #[serde(skip)]
    pub longest: Vec<SliceRange>,
}

impl ResourceTime {
    /// Time in which it works beside a unit with a longer busy time, nanoseconds.
    pub const fn hidden_ns(&self) -> u64 {
        self.busy_ns - self.exposed_ns
    }
}

/// The busy times of an execution.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limiter {
    /// Length of the device window, nanoseconds.
    pub window_ns: u64,
    /// Units that work, the longest busy time first.
    pub resources: Vec<ResourceTime>,
    /// Time in which no unit works, nanoseconds.
    pub idle_ns: u64,
}

impl Limiter {
    pub fn of(run: &Run<'_>) -> Self {
        let spans = |resource| (resource, merge(items_of(run, resource).map(|(_, item)| item.time)));
        let mut units: Vec<(Resource, Spans)> =
            Resource::ALL.into_iter().map(spans).filter(|(_, spans)| !spans.is_empty()).collect();
        // The sort is stable: of equal times, the order of `Resource::ALL`.
        units.order_by_key(|(_, spans)| std::cmp::Reverse(length_ns(spans)));
        let mut longer = Spans::new();
        let mut resources = Vec::with_capacity(units.len());
        for (resource, spans) in units {
            let items = || items_of(run, resource);
            resources.push(ResourceTime {
                resource,
                busy_ns: length_ns(&spans),
                exposed_ns: length_ns(&without(&spans, &longer)),
                mostly: mostly(run, items().map(|(_, item)| item)),
                longest: SliceRange::longest(run, items()),
            });
            longer = merge(longer.into_iter().chain(spans));
        }
        let window_ns = run.window_ns().unsigned_abs();
        Self { window_ns, resources, idle_ns: window_ns.saturating_sub(length_ns(&longer)) }
    }

    /// The busiest unit; `None` if nothing ran.
    pub fn first(&self) -> Option<&ResourceTime> {
        self.resources.first()
    }

    /// The times of a unit; `None` if it does nothing.
    pub fn unit(&self, resource: Resource) -> Option<&ResourceTime> {
        self.resources.iter().find(|r| r.resource == resource)
    }

    /// The longest busy time among the units that a change does not touch: a time that the change cannot beat, nanoseconds.
    pub fn next_bound(&self, touched: &[Resource]) -> Option<&ResourceTime> {
        self.resources.iter().find(|r| !touched.contains(&r.resource))
    }

    /// The most that a change can save, nanoseconds: what it takes away, and not more than the window less the busy time of any
    /// unit that it does not touch.
    pub fn saving_ns(&self, claim_ns: u64, touched: &[Resource]) -> u64 {
        let bound = self.next_bound(touched).map_or(0, |r| r.busy_ns);
        claim_ns.min(self.window_ns.saturating_sub(bound))
    }

    /// The most that is saved when units have less work, nanoseconds: `less` gives each unit's time that goes away. The window
    /// cannot become shorter than the longest busy time that is left.
    pub fn saving_of_ns(&self, claim_ns: u64, less: impl Fn(Resource) -> u64) -> u64 {
        let left = self.resources.iter().map(|r| r.busy_ns.saturating_sub(less(r.resource))).max().unwrap_or(0);
        claim_ns.min(self.window_ns.saturating_sub(left))
    }

    /// Share of the device window, percent.
    pub fn share(&self, ns: u64) -> f64 {
        percent(u64_to_f64(ns), u64_to_f64(self.window_ns))
    }

    /// The unit that works for most of the window; `None` if none does, so that the units wait for one another.
    pub fn dominant(&self) -> Option<&ResourceTime> {
        self.first().filter(|r| self.share(r.busy_ns) > MOST_PERCENT)
    }

    /// The statement: `Data transfer is busy longest: it takes 710 us of the device window (99.3 %), mostly for weights.` `None` if
    /// nothing ran.
    pub fn sentence(&self) -> Option<String> {
        let first = self.first()?;
        let (busy, share) = (format_ns(u64_to_f64(first.busy_ns)), format_share(self.share(first.busy_ns)));
        let name = first.resource.phrase();
        if self.dominant().is_none() {
            return Some(format!(
                "Units wait for one another: the busiest, {name}, works for {busy} of the device window ({share})."
            ));
        }
        let mostly = if first.mostly.is_empty() { String::new() } else { format!(", mostly for {}", first.mostly) };
        Some(format!("{} is busy longest: it takes {busy} of the device window ({share}){mostly}.", capital(name)))
    }

    /// What works behind the busiest unit: `Behind it are hidden: Tensor engine 389 us of 389 us, ...`; `None` if nothing is.
    pub fn hidden_text(&self) -> Option<String> {
        let part = |r: &ResourceTime| {
            let [hidden, busy] = [r.hidden_ns(), r.busy_ns].map(|ns| format_ns(u64_to_f64(ns)));
            if hidden == busy {
                format!("{} {busy}", r.resource.name())
            } else {
                format!("{} {hidden} of {busy}", r.resource.name())
            }
        };
        let parts: Vec<String> = self.resources.iter().skip(1).filter(|r| r.hidden_ns() > 0).map(part).collect();
        (!parts.is_empty()).then(|| format!("Hidden behind longer work: {}.", parts.join(", ")))
    }
}

/// The items of a unit.
fn items_of<'r>(run: &'r Run<'_>, resource: Resource) -> impl Iterator<Item = (&'r UnitRun, &'r Item)> {
    let units = run.units.iter().filter(move |u| Resource::of(u.engine) == resource);
    units.flat_map(|u| u.items.iter().map(move |i| (u, i)))
}

/// What most of a unit's time is for. A copy serves the operation whose result it moves, which may be the work of another engine.
fn mostly<'r>(run: &Run<'_>, items: impl Iterator<Item = &'r Item>) -> String {
    let mut amounts: IndexMap<(&str, &str), u64> = IndexMap::new();
    for item in items {
        let before = if item.work == Work::Copy { "copies of the results of " } else { "" };
        let (name, amount) = match item.transfer() {
            Some(transfer) => (transfer.role.words(), transfer.bytes),
            None => (run.source(item).map_or("", |s| s.framework_op.as_str()), length(item.time)),
        };
        *amounts.entry((before, name)).or_default() += amount;
    }
    let first_longest = amounts.into_iter().rev().max_by_key(|(_, amount)| *amount);
    first_longest.map_or_else(String::new, |((before, name), _)| format!("{before}{name}"))
}

fn length(time: Interval<i64>) -> u64 {
    (time.end - time.start).unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{TestRun, dma};
    use crate::{Role, Work};
    use proptest::prelude::*;

    /// A run of up to five units, each with items one after another.
    fn runs() -> impl Strategy<Value = TestRun> {
        let unit = prop::collection::vec((0_i64..60, 1_i64..60), 0..6);
        prop::collection::vec(unit, 5).prop_map(|units| {
            let mut t = TestRun::new(0, 1_000);
            let source = t.source("m/op", "add");
            for (resource, items) in Resource::ALL.into_iter().zip(units) {
                let mut at = 0;
                for (gap, length) in items {
                    let time = (at + gap, at + gap + length);
                    at = time.1;
                    match Engine::ALL.into_iter().find(|e| Resource::of(Some(*e)) == resource) {
                        Some(engine) => t.item(engine, time, source, Work::Elementwise),
                        None => t.queue("q", time, source, dma(Role::Weight, 1, 1)),
                    };
                }
            }
            t
        })
    }

    /// An engine that only carries a product's results away does not compute it.
    #[test]
    fn an_engine_that_copies_says_so() {
        let mut t = TestRun::new(0, 1_000);
        let (dot, add) = (t.source("m/dot", "dot"), t.source("m/add", "add"));
        t.item(Engine::Vector, (0, 700), dot, Work::Copy);
        t.item(Engine::Vector, (700, 1_000), add, Work::Elementwise);
        let sentence = Limiter::of(&t.run()).sentence().unwrap();
        assert!(sentence.ends_with(", mostly for copies of the results of dot."), "{sentence}");
    }

    proptest! {
        #[test]
        fn exposed_times_and_idle_time_add_up_to_the_window(t in runs()) {
            let limiter = Limiter::of(&t.run());
            let exposed: u64 = limiter.resources.iter().map(|r| r.exposed_ns).sum();
            prop_assert_eq!(exposed + limiter.idle_ns, limiter.window_ns);
            prop_assert!(limiter.resources.is_sorted_by_key(|r| std::cmp::Reverse(r.busy_ns)));
            prop_assert!(limiter.first().is_none_or(|r| r.exposed_ns == r.busy_ns));
        }

        #[test]
        fn no_saving_beats_a_bound_that_it_does_not_touch(t in runs(), claim in 0_u64..2_000, touched in 0_usize..5) {
            let limiter = Limiter::of(&t.run());
            let touched = [Resource::ALL[touched]];
            let saved = limiter.saving_ns(claim, &touched);
            prop_assert!(saved <= claim);
            for other in limiter.resources.iter().filter(|r| r.resource != touched[0]) {
                prop_assert!(limiter.window_ns - saved >= other.busy_ns);
            }
            prop_assert!(limiter.saving_of_ns(claim, |_| 0) <= limiter.saving_ns(claim, &touched));
        }

        #[test]
        fn findings_promise_no_more_than_the_limiter_allows(t in runs()) {
            let run = t.run();
            let summary = crate::Summary::of(&run, &ns_machine::arch::NEURONCORE_V2);
            let limiter = Limiter::of(&run);
            for finding in crate::findings(&run, &summary, &limiter) {
                prop_assert!(finding.saves_ns.unwrap_or(0) <= limiter.window_ns, "{finding:?}");
                prop_assert!(finding.saves_ns.unwrap_or(0) <= finding.time_ns, "{finding:?}");
                for share in finding.evidence.iter().filter(|e| e.unit == crate::Unit::Percent) {
                    let crate::MetricValue::Real(share) = share.value else { continue };
                    prop_assert!(share <= 100.0, "{finding:?}");
                }
            }
        }
    }
}
