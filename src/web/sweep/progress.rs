//! Brings the page up to date with a sweep.

use gloo_timers::callback::Timeout;

use super::runner::{Runnable, Runner};
use crate::platform::machine::wall_ms;
use crate::platform::page;
use ns_base::convert::{f64_to_u64, u64_to_u32};
use ns_page::sweep::SweepNews;

/// Events of a sweep are shown together, this long after the first of them: a sweep can have thousands of rows, and each update
/// rebuilds the table.
const SHOW_MS: f64 = 100.0;
/// A slow machine shows them less often, so that an update takes at most a part of its time.
const PAUSE_PER_UPDATE: f64 = 3.0;
const LONGEST_PAUSE_MS: f64 = 1_000.0;

impl<K: Runnable> Runner<K> {
    /// Brings the page up to date a moment later. Behind its stored example nobody sees the page before the sweep has ended.
    pub(super) fn show_later(&self) {
        if page::is_behind_example() || std::mem::replace(&mut self.0.core.borrow_mut().is_show_due, true) {
            return;
        }
        let runner = self.clone();
        let pause_ms = (PAUSE_PER_UPDATE * self.0.core.borrow().update_ms).clamp(SHOW_MS, LONGEST_PAUSE_MS);
        Timeout::new(u64_to_u32(f64_to_u64(pause_ms)), move || runner.show_timed()).forget();
    }

    /// Brings the page up to date, and notes how long that takes.
    fn show_timed(&self) {
        let began_ms = wall_ms();
        self.show();
        let runner = self.clone();
        // The page is drawn before the next timer.
        Timeout::new(0, move || runner.0.core.borrow_mut().update_ms = wall_ms() - began_ms).forget();
    }

    /// Brings the page up to date.
    pub(super) fn show(&self) {
        let (news, sweep) = {
            let mut core = self.0.core.borrow_mut();
            core.is_show_due = false;
            (K::results(&mut core.run), core.run.sweep().cloned())
        };
        if let Some(news) = news {
            self.0.dispatch.dispatch(news);
        }
        K::show_more(self);
        let Some(sweep) = sweep else { return };
        let (view, progress) = {
            let core = self.0.core.borrow();
            let view = core.run.look(&sweep);
            let progress = core.run.progress(&view, wall_ms());
            (view, progress)
        };
        if let Some(progress) = progress {
            self.tell(SweepNews::Progress(progress));
        }
        self.tell(SweepNews::Ran(view));
    }
}
