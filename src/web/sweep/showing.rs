//! Brings the page up to date with a sweep.

use std::rc::Rc;

use gloo_timers::callback::Timeout;

use super::runner::{Sweep, SweepRunner};
use crate::bench::{RowResult, SweepState};
use crate::page::RunState;
use crate::page::bench::{BenchAction, RowId, ScenarioRow, SweepView, overall_share};
use crate::web::platform::machine::wall_ms;

/// What happened is shown so long after it, together: a sweep can have thousands of rows, and the table is built anew.
const SHOW_MS: u32 = 100;

impl SweepRunner {
    pub(super) fn view_of(&self, sweep: &Sweep) -> SweepView {
        let mut core = self.0.core.borrow_mut();
        core.version += 1;
        let running = core.lanes.iter().filter_map(|l| l.running.as_ref());
        let shares = running.map(|r| (r.row, r.share)).collect();
        let is_settled = core.lanes.iter().filter_map(|l| l.running.as_ref()).all(|r| r.is_resting);
        SweepView::new(Rc::clone(sweep), core.version, shares, core.lanes.len(), is_settled)
    }

    pub(super) fn show_later(&self) {
        if std::mem::replace(&mut self.0.core.borrow_mut().is_show_due, true) {
            return;
        }
        let runner = self.clone();
        Timeout::new(SHOW_MS, move || runner.show()).forget();
    }

    /// Brings the page up to date.
    pub(super) fn show(&self) {
        let (fresh, sweep, is_running, started_ms) = {
            let mut core = self.0.core.borrow_mut();
            core.is_show_due = false;
            let fresh = std::mem::take(&mut core.fresh);
            (fresh, core.sweep.clone(), core.is_running, core.started_ms)
        };
        if !fresh.is_empty() {
            let is_scenario = sweep.as_ref().is_some_and(|sweep| sweep.borrow().config.mlperf.is_some());
            self.0.dispatch.dispatch(match sweep.as_ref().filter(|_| is_scenario) {
                Some(sweep) => BenchAction::Scenario(scenario_rows(&sweep.borrow(), &fresh)),
                None => BenchAction::Results(fresh),
            });
        }
        self.show_preview();
        let Some(sweep) = sweep else { return };
        let view = self.view_of(&sweep);
        if is_running {
            let share = overall_share(&sweep.borrow(), view.shares());
            let mut label = view.run_label(share, (wall_ms() - started_ms) / 1e3);
            if sweep.borrow().config.mlperf.is_some() {
                let doing = &self.0.core.borrow().doing;
                label = format!("{label}. {doing}");
            }
            #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
            let done = (share * 1e3) as u64;
            self.0.dispatch.dispatch(BenchAction::Progress(RunState::Running { done, total: 1_000, label }));
        }
        self.0.dispatch.dispatch(BenchAction::Ran(view));
    }
}

/// What a scenario gave on configurations of a sweep.
fn scenario_rows(sweep: &SweepState, fresh: &[(RowId, Rc<RowResult>)]) -> Vec<ScenarioRow> {
    let row = |(id, result): &(RowId, Rc<RowResult>)| {
        let RowId::Own(at) = *id else { return None };
        let label = sweep.rows().get(at as usize)?.planned.configuration.label();
        let failure = || result.report.error.clone().unwrap_or_default();
        Some(ScenarioRow { row: at, label, result: result.mlperf.as_deref().cloned().ok_or_else(failure) })
    };
    fresh.iter().filter_map(row).collect()
}
