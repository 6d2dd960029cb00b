//! Values that several rules need, computed once.

use crate::run::{Item, Run, Transfer, UnitRun};
use crate::spans::{Spans, length_ns, merge, percent, without};
use crate::{Limiter, Summary};
use ns_base::convert::{i64_to_f64, u64_to_f64};

/// A run with values derived from it.
pub(super) struct Context<'a> {
    pub run: &'a Run<'a>,
    pub summary: &'a Summary,
    pub limiter: &'a Limiter,
    /// Merged times of all engines.
    pub engines: Spans,
    /// Merged times of all DMAs.
    pub dma: Spans,
}

impl<'a> Context<'a> {
    pub fn new(run: &'a Run<'a>, summary: &'a Summary, limiter: &'a Limiter) -> Self {
        let engines = merge(run.engine_items().map(|i| i.time));
        let dma = merge(run.transfers().map(|(i, _)| i.time));
        Self { run, summary, limiter, engines, dma }
    }

    /// A time as a share of the device window, percent.
    pub fn share(&self, ns: u64) -> f64 {
        percent(u64_to_f64(ns), i64_to_f64(self.run.window_ns()))
    }

    /// Time in which one of these items runs and no engine is active, nanoseconds.
    pub fn exposed_ns<'i>(&self, items: impl Iterator<Item = &'i Item>) -> u64 {
        length_ns(&without(&merge(items.map(|i| i.time)), &self.engines))
    }

    /// Items of the engines, each with its unit.
    pub fn engine_items(&self) -> impl Iterator<Item = (&'a UnitRun, &'a Item)> {
        items(self.run.units.iter().filter(|u| u.engine.is_some()))
    }

    /// DMAs, each with its queue and its transfer.
    pub fn transfers(&self) -> impl Iterator<Item = (&'a UnitRun, &'a Item, Transfer)> {
        let queues = self.run.units.iter().filter(|u| u.engine.is_none());
        items(queues).filter_map(|(u, i)| i.transfer().map(|t| (u, i, t)))
    }
}

fn items<'a>(units: impl Iterator<Item = &'a UnitRun>) -> impl Iterator<Item = (&'a UnitRun, &'a Item)> {
    units.flat_map(|u| u.items.iter().map(move |i| (u, i)))
}
