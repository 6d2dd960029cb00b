//! What a run tells while it goes on, for whoever wants to see it as a timeline. The room itself makes no profile.

use crate::base::{Interval, SimTime};

use super::executor::{SetupStep, Stage};

/// Hears of every step of a run, in the order in which the steps end.
pub trait RunObserver {
    /// Whether it wants to hear anything; a run without a listener does no work for it.
    const LISTENS: bool = true;

    /// A step of bringing up a copy was done. Times count from the start of bringing up, which all copies share.
    fn setup(&mut self, model: u32, step: SetupStep, span: Interval<SimTime>);

    /// All copies are warm, so long after bringing up began. Times told after this count from here.
    fn window_opens(&mut self, after: SimTime);

    /// A worker (numbered over all copies) was in a stage: from when it was served, waits not included.
    fn stage(&mut self, worker: u32, stage: Stage, span: Interval<SimTime>);

    /// A worker finished an inference, whose stages were told before: from when it was asked for to its end.
    fn inference(&mut self, worker: u32, span: Interval<SimTime>);
}

/// Nobody listens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unobserved;

impl RunObserver for Unobserved {
    const LISTENS: bool = false;

    fn setup(&mut self, _model: u32, _step: SetupStep, _span: Interval<SimTime>) {}

    fn window_opens(&mut self, _after: SimTime) {}

    fn stage(&mut self, _worker: u32, _stage: Stage, _span: Interval<SimTime>) {}

    fn inference(&mut self, _worker: u32, _span: Interval<SimTime>) {}
}
