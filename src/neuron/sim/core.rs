//! The state of a core during a simulation.

use super::agenda::{Agenda, Readiness, Turn};
use super::array::Array;
use super::engine::EngineState;
use super::prices::Prices;
use super::psum::PsumPort;
use super::queue::DmaEngines;
use super::semaphores::Semaphores;
use super::{NoObserver, Observer, SimOutcome, SimProgress};
use ns_base::{Refusal, SimTime, refuse};
use ns_machine::Executable;
use ns_machine::cost::CostTable;
use ns_machine::isa::{DmaQueue, Engine, Unit};

/// What a core runs, and what it costs.
#[derive(Clone, Copy)]
pub(super) struct Program<'a> {
    /// The instructions and DMAs.
    pub executable: &'a Executable,
    pub costs: &'a CostTable,
    /// The prices of the operations at these costs.
    pub prices: &'a Prices,
}

/// A core between two items.
pub(super) struct Core {
    pub agenda: Agenda,
    pub semaphores: Semaphores,
    pub engines: [EngineState; Engine::ALL.len()],
    /// When each queue can start another DMA.
    pub queues_free_at: [SimTime; DmaQueue::ALL.len()],
    pub dma_pool_free_at: SimTime,
    /// The engines of kernels, which serve their own partitions.
    pub dma_engines: DmaEngines,
    pub psum: PsumPort,
    pub array: Array,
    pub outcome: SimOutcome,
    /// When the first item was due.
    pub first_start: SimTime,
    /// When the last one ends.
    pub last_end: SimTime,
}

impl Core {
    /// A core before its first item.
    pub fn new(program: Program<'_>) -> Self {
        let Program { executable, costs, .. } = program;
        let mut core = Self {
            agenda: Agenda::new(),
            semaphores: Semaphores::new(executable, costs),
            engines: [EngineState::default(); Engine::ALL.len()],
            queues_free_at: [SimTime::ZERO; DmaQueue::ALL.len()],
            dma_pool_free_at: SimTime::ZERO,
            dma_engines: DmaEngines::new(costs),
            psum: PsumPort::new(costs),
            array: Array::new(costs),
            outcome: SimOutcome::default(),
            first_start: SimTime(u64::MAX),
            last_end: SimTime::ZERO,
        };
        for unit in Unit::ALL {
            core.update_readiness(program, unit);
        }
        core
    }

    /// Runs at most `budget` items that nobody observes. This and its sibling are the two forms of the loop: it is compiled with this
    /// crate, for speed, and not once more with each caller, for size. Fails when no unit can continue and some are not finished.
    #[inline(never)]
    pub fn run_alone(&mut self, program: Program<'_>, budget: u64) -> Result<SimProgress, Refusal> {
        self.run(program, budget, &mut NoObserver)
    }

    /// Runs at most `budget` items. Fails when no unit can continue and some are not finished.
    #[inline(never)]
    pub fn run_observed(
        &mut self,
        program: Program<'_>,
        budget: u64,
        observer: &mut dyn Observer,
    ) -> Result<SimProgress, Refusal> {
        self.run(program, budget, observer)
    }

    fn run<O: Observer + ?Sized>(
        &mut self,
        program: Program<'_>,
        budget: u64,
        observer: &mut O,
    ) -> Result<SimProgress, Refusal> {
        let mut left = budget;
        while left > 0 {
            let Some(turn) = self.agenda.first() else { return self.finish(observer) };
            left -= self.take_turn(program, turn, left, observer);
        }
        Ok(SimProgress::More { items: self.outcome.items, total: program.executable.item_count() as u64 })
    }

    /// Runs at most `budget` items of a unit whose turn it is; returns how many.
    pub fn take_turn<O: Observer + ?Sized>(
        &mut self,
        program: Program<'_>,
        turn: Turn,
        budget: u64,
        observer: &mut O,
    ) -> u64 {
        self.first_start = self.first_start.min(turn.start);
        let ran = match turn.unit {
            // Two forms of the loop: only one looks after the array.
            Unit::Engine(Engine::Tensor) => self.run_engine(program, Engine::Tensor, turn, budget, observer),
            Unit::Engine(engine) => self.run_engine(program, engine, turn, budget, observer),
            Unit::Queue(queue) => self.run_queue(program, queue, turn, budget, observer),
        };
        self.outcome.items += ran;
        ran
    }

    /// Sets the readiness of the units that wait for the one whose turn it is; the turn ends when one of them comes first.
    #[inline(never)]
    pub fn wake(&mut self, program: Program<'_>, turn: &mut Turn) {
        for waiter in self.agenda.release(turn.unit) {
            let readiness = self.update_readiness(program, waiter);
            turn.share(waiter, readiness);
        }
    }

    /// Something ends at `end`.
    pub fn extend_window(&mut self, end: SimTime) {
        self.last_end = self.last_end.max(end);
        self.outcome.window = self.last_end.saturating_sub(self.first_start);
    }

    fn finish<O: Observer + ?Sized>(&mut self, observer: &mut O) -> Result<SimProgress, Refusal> {
        if let Some((unit, wait)) = self.agenda.first_blocked() {
            return Err(refuse!(
                "deadlock at item {item} of {unit}: it waits for {awaited} to complete {count} items, which it never does",
                item = self.semaphores.done(unit),
                unit = unit.name(),
                awaited = wait.unit.name(),
                count = wait.count
            ));
        }
        for engine in Engine::ALL {
            let done = self.semaphores.done(Unit::Engine(engine));
            self.engines[engine.index()].flush(engine, done, SimTime(u64::MAX), observer);
        }
        Ok(SimProgress::Done)
    }

    /// Finds out whether a unit's next item can start.
    #[inline(never)]
    fn update_readiness(&mut self, program: Program<'_>, unit: Unit) -> Readiness {
        let readiness = match unit {
            Unit::Engine(engine) => {
                let instructions = &program.executable.engines[engine.index()];
                instructions.get(self.semaphores.done(unit)).map(|instruction| {
                    let free_at = self.engines[engine.index()].free_for(&program.prices[instruction.op]);
                    let waits = program.executable.waits(instruction.waits_start, instruction.waits_len);
                    self.semaphores.readiness(unit, waits, free_at, self.psum.is_needed(instruction))
                })
            }
            Unit::Queue(queue) => {
                let ring = &program.executable.queues[queue.index()];
                ring.get(self.semaphores.done(unit)).map(|dma| {
                    let waits = program.executable.waits(dma.waits_start, dma.waits_len);
                    self.semaphores.readiness(unit, waits, self.queues_free_at[queue.index()], true)
                })
            }
        };
        let readiness = readiness.unwrap_or(Readiness::Finished);
        self.agenda.set(unit, readiness);
        readiness
    }
}
