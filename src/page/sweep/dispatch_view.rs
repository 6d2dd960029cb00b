//! The view of a running sweep for the page.

use std::rc::Rc;

use super::dispatch::{Dispatch, WorkerSweep};
use super::lane::{Running, Worker};
use super::view::{SweepView, overall_share};
use crate::RunState;
use ns_base::convert::f64_to_u64;
use ns_bench::{SweepOf, SweepRow};

impl<W: Worker, K: WorkerSweep> Dispatch<W, K> {
    /// The current view of a sweep: the running one, or a listed one.
    pub fn look(&self, sweep: &Rc<SweepOf<K>>) -> SweepView<K> {
        let running = || self.lanes.iter().filter_map(|l| l.running.as_ref());
        let shares = running().map(|r: &Running| (r.row, r.share)).collect();
        let is_settled = running().all(|r| r.is_resting);
        SweepView::new(Rc::clone(sweep), shares, self.lanes.len(), is_settled)
    }

    /// The rows that ended since the last call, in order.
    pub(super) fn take_fresh(&mut self) -> Vec<(u32, Rc<SweepRow<K>>)> {
        let fresh = std::mem::take(&mut self.fresh);
        let Some(sweep) = &self.sweep else { return Vec::new() };
        let rows = fresh.into_iter().filter_map(|at| Some((at, Rc::clone(sweep.rows().get(at as usize)?))));
        rows.filter(|(_, row)| row.result().is_some()).collect()
    }

    /// Progress of the run at a time in milliseconds, for a view; `None` while nothing runs.
    pub fn progress(&self, view: &SweepView<K>, now_ms: f64) -> Option<RunState> {
        if !self.is_running {
            return None;
        }
        let share = overall_share(view.sweep(), view.shares());
        let mut label = view.run_label(share, (now_ms - self.started_ms) / 1e3);
        if K::says_doing(&view.sweep().config) {
            label = format!("{label}. {}", self.doing);
        }
        #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "0 to 1000")]
        let done = f64_to_u64(share * 1e3);
        Some(RunState::Running { done, total: 1_000, label })
    }
}
