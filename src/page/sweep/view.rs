//! A sweep as it was at one moment.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::RunState;
use ns_base::convert::{u64_to_f64, usize_to_f64};
use ns_bench::{Benchmarks, RowState, SweepKind, SweepOf};

#[derive(Clone, Debug)]
pub struct SweepView<K: SweepKind = Benchmarks> {
    sweep: Rc<SweepOf<K>>,
    shares: BTreeMap<u32, f64>,
    workers: usize,
    is_settled: bool,
}

impl<K: SweepKind> PartialEq for SweepView<K> {
    /// Whether nothing changed between both: a sweep that changes becomes another one, and views keep the first.
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.sweep, &other.sweep)
            && (&self.shares, self.workers, self.is_settled) == (&other.shares, other.workers, other.is_settled)
    }
}

impl<K: SweepKind> SweepView<K> {
    /// A view of a sweep: `shares` has the progress of the running rows, 0 to 1; `is_settled` says whether all of them are paused.
    pub fn new(sweep: Rc<SweepOf<K>>, shares: BTreeMap<u32, f64>, workers: usize, is_settled: bool) -> Self {
        Self { sweep, shares, workers, is_settled }
    }

    pub fn sweep(&self) -> &SweepOf<K> {
        &self.sweep
    }

    /// Progress of the running rows.
    pub fn shares(&self) -> &BTreeMap<u32, f64> {
        &self.shares
    }

    /// Whether this is the sweep of a run that is paused.
    pub fn is_paused_in(&self, run: &RunState) -> bool {
        run.is_running() && self.sweep.is_paused()
    }

    /// Whether a row failed or was cancelled.
    pub fn has_failed(&self) -> bool {
        let progress = self.sweep.progress();
        progress.failed + progress.cancelled > 0
    }

    /// Progress in words: `7 of 24 configurations, 2 workers, about 12 s left`.
    pub fn run_label(&self, share: f64, elapsed_s: f64) -> String {
        let sweep = &self.sweep;
        let p = sweep.progress();
        let (done, all) = (p.finished + p.failed, sweep.rows().len());
        let workers = if self.workers == 1 { "1 worker".to_owned() } else { format!("{} workers", self.workers) };
        let mut text = format!("{done} of {all} {}, {workers}", K::ROWS);
        if sweep.is_paused() {
            let state = if self.is_settled { "Paused" } else { "Pausing" };
            return format!("{state}: {text}");
        }
        // The remaining time of a run that has just begun is not known.
        if elapsed_s >= 1.0 && share > 0.02 && share < 1.0 {
            text.push_str(&format!(", about {} left", duration_text(elapsed_s * (1.0 - share) / share)));
        }
        text
    }
}

fn duration_text(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{:.0} s", s.max(1.0)),
        s if s < 5_400.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3_600.0),
    }
}

/// Share of a sweep that is done, 0 to 1: rows are weighted by their expected events, rows without an estimate like an average one.
pub fn overall_share<K: SweepKind>(sweep: &SweepOf<K>, shares: &BTreeMap<u32, f64>) -> f64 {
    let known: Vec<f64> = sweep.rows().iter().filter_map(|r| K::events(&r.planned)).map(u64_to_f64).collect();
    let average = if known.is_empty() { 1.0 } else { known.iter().sum::<f64>() / usize_to_f64(known.len()) };
    let (mut done, mut all) = (0.0, 0.0);
    for (i, row) in (0_u32..).zip(sweep.rows()) {
        let weight = K::events(&row.planned).map_or(average, u64_to_f64);
        all += weight;
        done += match row.state {
            RowState::Done(_) | RowState::Cancelled => weight,
            RowState::Running => weight * shares.get(&i).copied().unwrap_or(0.0),
            RowState::Waiting => 0.0,
        };
    }
    if all > 0.0 { done / all } else { 1.0 }
}
