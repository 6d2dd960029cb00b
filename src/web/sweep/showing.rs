//! Brings the page up to date with a sweep.

use gloo_timers::callback::Timeout;

use super::runner::{Runnable, Runner};
use crate::platform::machine::wall_ms;
use ns_page::sweep::SweepNews;

/// Events of a sweep are shown together, at most this long after they happened: a sweep can have thousands of rows, and
/// each update rebuilds the table.
const SHOW_MS: u32 = 100;

impl<K: Runnable> Runner<K> {
    pub(super) fn show_later(&self) {
        if std::mem::replace(&mut self.0.core.borrow_mut().is_show_due, true) {
            return;
        }
        let runner = self.clone();
        Timeout::new(SHOW_MS, move || runner.show()).forget();
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
