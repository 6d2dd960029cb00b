//! The controls of a page that can be used, by its state.

use super::RunState;
use super::bench::BenchState;
use super::profile::ProfileState;
use super::study::StudyState;
use super::sweep::SweepView;
use ns_bench::SweepKind;

/// Text of the Pause button.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseLabel {
    /// The run is going on and can be paused.
    Pause,
    /// The run is paused and can be resumed.
    Resume,
}

impl PauseLabel {
    /// The text on the button.
    pub const fn text(self) -> &'static str {
        match self {
            Self::Pause => "Pause",
            Self::Resume => "Resume",
        }
    }
}

/// The controls of a page that can be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Controls {
    pub run: bool,
    /// Cancel, and Pause if the page has it.
    pub stop: bool,
    /// Text of the Pause button.
    pub pause: PauseLabel,
    /// Whether there is something to retry.
    pub retry: bool,
    /// Saving the results of the run.
    pub save: bool,
}

impl Controls {
    pub(crate) fn of(run: &RunState, save: bool) -> Self {
        let is_running = run.is_running();
        Self { run: !is_running, stop: is_running, pause: PauseLabel::Pause, retry: false, save }
    }

    /// Those of a run of a sweep: it can be paused, and its failed and cancelled rows tried again once it has ended.
    pub(crate) fn of_sweep<K: SweepKind>(run: &RunState, sweep: Option<&SweepView<K>>, save: bool) -> Self {
        let is_paused = sweep.is_some_and(|view| view.is_paused_in(run));
        let pause = if is_paused { PauseLabel::Resume } else { PauseLabel::Pause };
        let retry = !run.is_running() && sweep.is_some_and(SweepView::has_failed);
        Self { pause, retry, ..Self::of(run, save) }
    }
}

impl BenchState {
    /// The controls that can be used.
    pub fn controls(&self) -> Controls {
        Controls::of_sweep(&self.run, self.sweep.as_ref(), !self.rows.is_empty())
    }
}

impl<Worker> ProfileState<Worker> {
    /// The controls that can be used.
    pub fn controls(&self) -> Controls {
        Controls::of(&self.run, self.current.is_some())
    }
}

impl StudyState {
    /// The controls that can be used.
    pub fn controls(&self) -> Controls {
        Controls::of(&self.run, self.result.is_some())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::rc::Rc;

    use super::*;
    use crate::bench::BenchAction;
    use crate::profile::ProfileAction;
    use crate::study::StudyAction;
    use ns_bench::{BenchConfig, SweepState};
    use ns_session::JobId;
    use ns_session::studies::{StudyKind, StudySpec};

    /// Whether run, stop and retry can be used.
    fn used(state: &BenchState) -> (bool, bool, bool) {
        let controls = state.controls();
        (controls.run, controls.stop, controls.retry)
    }

    fn look(sweep: &SweepState) -> BenchAction {
        BenchAction::Ran(SweepView::new(Rc::new(sweep.clone()), BTreeMap::new(), 1, true))
    }

    #[test]
    fn a_benchmark_is_run_paused_cancelled_and_retried() {
        let idle = BenchState::default();
        assert_eq!(used(&idle), (true, false, false));
        assert!(!idle.controls().save);

        let config = BenchConfig { model: "nn".to_owned(), ..BenchConfig::default() };
        let mut sweep = SweepState::new(config.clone()).unwrap();
        let asked = idle.after(BenchAction::TakeUp(Box::new(config.clone())));
        let running = asked.after(BenchAction::Start(Box::new(config), vec![])).after(look(&sweep));
        assert_eq!((used(&running), running.controls().pause), ((false, true, false), PauseLabel::Pause));

        sweep.pause();
        let paused = running.after(look(&sweep));
        assert_eq!((used(&paused), paused.controls().pause.text()), ((false, true, false), "Resume"));

        sweep.cancel();
        // Cancelled rows can be retried once the run has ended, not before.
        let stopping = paused.after(look(&sweep));
        assert_eq!(used(&stopping), (false, true, false));
        assert_eq!(used(&stopping.after(BenchAction::End(RunState::Cancelled))), (true, false, true));
    }

    #[test]
    fn other_pages_run_or_stop() {
        let rows = [
            (RunState::Idle, true),
            (RunState::started("x"), false),
            (RunState::Done, true),
            (RunState::Cancelled, true),
            (RunState::Failed("x".to_owned()), true),
        ];
        for (run, can_run) in rows {
            let kind = StudyKind::Matmult;
            let started = StudyState::new(kind).after(StudyAction::Start(JobId(1), Box::new(StudySpec::new(kind))));
            let study = started.after(StudyAction::Run(JobId(1), run.clone())).controls();
            let profile = ProfileState::<u8>::default().after(ProfileAction::End(run.clone())).controls();
            for controls in [study, profile] {
                let expected = Controls { run: can_run, stop: !can_run, ..Controls::of(&RunState::Idle, false) };
                assert_eq!(controls, expected, "{run:?}");
            }
        }
    }
}
