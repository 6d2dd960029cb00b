//! The view of a running sweep for the page.

use std::rc::Rc;

use super::dispatch::Dispatch;
use super::lane::{Running, Worker};
use crate::RunState;
use crate::bench::{BenchAction, RowId, ScenarioRow, SweepView, overall_share};
use ns_base::convert::f64_to_u64;
use ns_bench::{RowResult, SweepRow, SweepState};

impl<W: Worker> Dispatch<W> {
    /// The current view of a sweep: the running one, or a listed one.
    #[must_use]
    pub fn look(&self, sweep: &Rc<SweepState>) -> SweepView {
        let running = || self.lanes.iter().filter_map(|l| l.running.as_ref());
        let shares = running().map(|r: &Running| (r.row, r.share)).collect();
        let is_settled = running().all(|r| r.is_resting);
        SweepView::new(Rc::clone(sweep), shares, self.lanes.len(), is_settled)
    }

    /// The action that brings the rows since the last call to the page; `None` if there are none.
    pub fn news(&mut self) -> Option<BenchAction> {
        let fresh = std::mem::take(&mut self.fresh);
        let sweep = self.sweep.as_ref()?;
        let ended = |at: u32| {
            let row = sweep.rows().get(at as usize)?;
            Some((at, row, row.result()?))
        };
        let ended: Vec<_> = fresh.into_iter().filter_map(ended).collect();
        if ended.is_empty() {
            return None;
        }
        Some(if sweep.config.mlperf.is_some() {
            BenchAction::Scenario(ended.into_iter().map(|(at, row, result)| scenario_row(at, row, result)).collect())
        } else {
            BenchAction::Results(ended.into_iter().map(|(at, _, result)| (RowId::Own(at), Rc::clone(result))).collect())
        })
    }

    /// Progress of the run at a time in milliseconds, for a view; `None` while nothing runs.
    #[must_use]
    pub fn progress(&self, view: &SweepView, now_ms: f64) -> Option<RunState> {
        if !self.is_running {
            return None;
        }
        let share = overall_share(view.sweep(), view.shares());
        let mut label = view.run_label(share, (now_ms - self.started_ms) / 1e3);
        if view.sweep().config.mlperf.is_some() {
            label = format!("{label}. {}", self.doing);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let done = f64_to_u64(share * 1e3);
        Some(RunState::Running { done, total: 1_000, label })
    }
}

/// The result of a scenario for a configuration of a sweep.
fn scenario_row(at: u32, row: &SweepRow, result: &RowResult) -> ScenarioRow {
    let failure = || result.report.error.clone().unwrap_or_default();
    let verdict = result.mlperf.as_deref().cloned().ok_or_else(failure);
    ScenarioRow { row: at, label: row.planned.configuration.label(), result: verdict }
}
