//! The event loop.

use std::ops::Deref;

use super::Observer;
use super::core::{Core, Program};
use super::prices::{Prices, prices};
use ns_base::{Refusal, SimTime};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_machine::isa::Engine;

/// The result of one execution.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SimOutcome {
    /// From the first item's start to the last completion.
    pub window: SimTime,
    /// Instructions and DMAs that ran.
    pub items: u64,
    /// Sum of the engines' initiation intervals, in the order of [`Engine::ALL`].
    pub engine_busy: [SimTime; Engine::ALL.len()],
    /// Sum of the DMAs' data phases.
    pub dma_busy: SimTime,
    /// Bytes moved by DMA.
    pub dma_bytes: u64,
}

/// The progress of a simulation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SimProgress {
    /// There is more to do; `items` of `total` are done.
    More {
        /// Items that ran.
        items: u64,
        /// Items in total.
        total: u64,
    },
    /// Every item ran.
    Done,
}

/// One execution of an [`Executable`], run in steps so that a caller can show progress and stop. It borrows or shares
/// the executable and the costs: `E` and `C` are references or `Rc`s.
pub struct Simulator<E, C> {
    executable: E,
    costs: C,
    prices: Prices,
    core: Core,
}

impl<E: Deref<Target = Executable>, C: Deref<Target = CostTable>> Simulator<E, C> {
    /// A simulation at its start.
    pub fn new(executable: E, costs: C) -> Self {
        let prices = prices(&costs, &executable.ops);
        let core = Core::new(Program { executable: &executable, costs: &costs, prices: &prices });
        Self { executable, costs, prices, core }
    }

    /// Runs at most `budget` items. Fails when no unit can continue and some are not finished.
    pub fn step(&mut self, budget: u64, observer: &mut impl Observer) -> Result<SimProgress, Refusal> {
        let Self { executable, costs, prices, core } = self;
        let program = Program { executable, costs, prices };
        if observer.listens() { core.run_observed(program, budget, observer) } else { core.run_alone(program, budget) }
    }

    /// The result so far.
    pub fn outcome(&self) -> &SimOutcome {
        &self.core.outcome
    }
}

/// Runs a whole execution. Fails as [`Simulator::step`].
pub fn simulate(
    executable: &Executable,
    costs: &CostTable,
    observer: &mut impl Observer,
) -> Result<SimOutcome, Refusal> {
    let mut simulator = Simulator::new(executable, costs);
    while simulator.step(u64::MAX, observer)? != SimProgress::Done {}
    Ok(simulator.core.outcome)
}
