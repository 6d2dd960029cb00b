//! The analysis of an execution: summary metrics, performance bounds, a roofline, utilisation over time, and ranked
//! findings.
//!
//! Everything is computed from a [`Run`]: the activity of each engine and DMA queue, with times, and for which operation of the
//! model. A simulated execution provides a run; a profile with the same detail can too. Start with [`Insights::of`], which has all parts, or
//! with one of them: [`Summary`], [`Bounds`], [`Roofline`], [`Utilisation`], [`findings`]. A finding names the slices that it is about.

#![cfg_attr(test, allow(clippy::pedantic, reason = "tests may tell a longer story, with small numbers"))]

mod attribution;
mod bounds;
mod findings;
mod insights;
mod limiter;
mod metrics;
mod roofline;
mod run;
mod spans;
mod summary;
#[cfg(test)]
pub(crate) mod testing;
mod utilisation;

pub use attribution::{OperatorTime, SourceTime, parts_of, time_by_operator, time_by_source};
pub use bounds::{Bound, Bounds, CAVEAT, LostTime};
pub use findings::{Effect, Finding, Rule, SliceRange, findings};
pub use insights::{Insights, LIMITS_TITLE, UTILISATION_BUCKETS};
pub use limiter::{Limiter, Resource, ResourceTime};
pub use metrics::{Metric, MetricValue, Unit};
pub use roofline::{Roofline, RooflinePoint};
pub use run::{ClockLimit, Item, ItemRef, Role, Run, Transfer, UnitRun, Work};
pub use summary::Summary;
pub use utilisation::{Utilisation, UtilisationRow};
