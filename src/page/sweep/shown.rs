//! The view of a running sweep for the page.

use std::rc::Rc;

use super::dispatch::{Dispatch, Sweep};
use super::lane::{Running, Worker};
use crate::RunState;
use crate::bench::{BenchAction, RowId, ScenarioRow, SweepView, overall_share};
use ns_base::convert::f64_to_u64;
use ns_bench::{RowResult, SweepState};

impl<W: Worker> Dispatch<W> {
    /// The current view of a sweep: the running one, or a listed one.
    pub fn look(&mut self, sweep: &Sweep) -> SweepView {
        self.version += 1;
        let running = || self.lanes.iter().filter_map(|l| l.running.as_ref());
        let shares = running().map(|r: &Running| (r.row, r.share)).collect();
        let is_settled = running().all(|r| r.is_resting);
        SweepView::new(Rc::clone(sweep), self.version, shares, self.lanes.len(), is_settled)
    }

    /// The action that brings the rows since the last call to the page; `None` if there are none.
    pub fn news(&mut self) -> Option<BenchAction> {
        let fresh = std::mem::take(&mut self.fresh);
        if fresh.is_empty() {
            return None;
        }
        let sweep = self.sweep.as_ref().filter(|sweep| sweep.borrow().config.mlperf.is_some());
        Some(match sweep {
            Some(sweep) => BenchAction::Scenario(scenario_rows(&sweep.borrow(), &fresh)),
            None => BenchAction::Results(fresh),
        })
    }

    /// Progress of the run at a time in milliseconds, for a view; `None` while nothing runs.
    #[must_use]
    pub fn progress(&self, view: &SweepView, now_ms: f64) -> Option<RunState> {
        if !self.is_running {
            return None;
        }
        let share = overall_share(&view.sweep(), view.shares());
        let mut label = view.run_label(share, (now_ms - self.started_ms) / 1e3);
        if view.sweep().config.mlperf.is_some() {
            label = format!("{label}. {}", self.doing);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let done = f64_to_u64(share * 1e3);
        Some(RunState::Running { done, total: 1_000, label })
    }
}

/// Results of a scenario for configurations of a sweep.
fn scenario_rows(sweep: &SweepState, fresh: &[(RowId, Rc<RowResult>)]) -> Vec<ScenarioRow> {
    let row = |(id, result): &(RowId, Rc<RowResult>)| {
        let RowId::Own(at) = *id else { return None };
        let label = sweep.rows().get(at as usize)?.planned.configuration.label();
        let failure = || result.report.error.clone().unwrap_or_default();
        Some(ScenarioRow { row: at, label, result: result.mlperf.as_deref().cloned().ok_or_else(failure) })
    };
    fresh.iter().filter_map(row).collect()
}
