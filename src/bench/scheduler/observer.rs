//! Observers of a run in progress, for showing it as a timeline. This module itself makes no profile.

use ns_base::{Interval, SimTime};

use super::executor::{SetupStep, Stage};

/// Receives every step of a run, in the order in which the steps end.
pub trait RunObserver {
    /// Whether it wants any reports; a run without a listener does no work for it.
    const LISTENS: bool = true;

    /// A step of a copy's bring-up was done. Times count from the start of the bring-up, which all copies share.
    fn setup(&mut self, model: u32, step: SetupStep, span: Interval<SimTime>);

    /// All copies are warm; the argument is the time since the bring-up began. Times reported after this count from here.
    fn window_opens(&mut self, after: SimTime);

    /// A worker (numbered over all copies) finished a stage: its start and end, without waiting.
    fn stage(&mut self, worker: u32, stage: Stage, span: Interval<SimTime>);

    /// A worker finished an inference whose stages were reported before: from its request to its end.
    fn inference(&mut self, worker: u32, span: Interval<SimTime>);
}

/// No observer.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl RunObserver for NoObserver {
    const LISTENS: bool = false;

    fn setup(&mut self, _model: u32, _step: SetupStep, _span: Interval<SimTime>) {}

    fn window_opens(&mut self, _after: SimTime) {}

    fn stage(&mut self, _worker: u32, _stage: Stage, _span: Interval<SimTime>) {}

    fn inference(&mut self, _worker: u32, _span: Interval<SimTime>) {}
}
