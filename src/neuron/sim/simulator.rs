//! The event loop.

use std::ops::Deref;

use super::Observer;
use super::state::{Readiness, UNITS, UnitState, unit_name};
use super::throttle::TensorClock;
use ns_base::{Interval, Refusal, SimTime, refuse};
use ns_machine::Executable;
use ns_machine::cost::{CostTable, InstructionCost, instruction_cost, psum_time};
use ns_machine::isa::{DmaQueue, Engine, Op, Unit};

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

/// When a unit is due that has nothing to do.
const NEVER: (SimTime, usize) = (SimTime(u64::MAX), usize::MAX);

/// A slice whose end the engine's next instruction may cut.
#[derive(Clone, Copy)]
struct Pending {
    index: usize,
    span: Interval<SimTime>,
}

/// One execution of an [`Executable`], run in steps so that a caller can show progress and stop. It borrows or shares
/// the executable and the costs: `E` and `C` are references or `Rc`s.
pub struct Simulator<E, C> {
    executable: E,
    costs: C,
    units: [UnitState; Unit::COUNT],
    pending: [Option<Pending>; Engine::ALL.len()],
    /// Cost of the last op of each engine, because tiles repeat.
    last_cost: [Option<(Op, InstructionCost)>; Engine::ALL.len()],
    /// The same of the last load of a stationary tile, between which there are matmuls.
    last_load: Option<(Op, InstructionCost)>,
    dma_pool_free_at: SimTime,
    /// When an engine that shares the port of PSUM with another can read again.
    psum_free_at: SimTime,
    tensor_clock: TensorClock,
    /// The limit of its last instruction; 8 is none.
    eighths: u32,
    outcome: SimOutcome,
    first_start: Option<SimTime>,
}

impl<E: Deref<Target = Executable>, C: Deref<Target = CostTable>> Simulator<E, C> {
    /// A simulation at its start.
    #[must_use]
    pub fn new(executable: E, costs: C) -> Self {
        let units = UNITS.map(|unit| {
            UnitState::new(match unit {
                Unit::Engine(e) => executable.engines[e.index()].len(),
                Unit::Queue(q) => executable.queues[q.index()].len(),
            })
        });
        let tensor_clock = TensorClock::new(costs.core.partitions);
        let mut simulator = Self {
            executable,
            costs,
            units,
            pending: [None; Engine::ALL.len()],
            last_cost: [None; Engine::ALL.len()],
            last_load: None,
            dma_pool_free_at: SimTime::ZERO,
            psum_free_at: SimTime::ZERO,
            tensor_clock,
            eighths: 8,
            outcome: SimOutcome::default(),
            first_start: None,
        };
        for unit in UNITS {
            simulator.update_readiness(unit);
        }
        simulator
    }

    /// Runs at most `budget` items.
    ///
    /// # Errors
    /// When no unit can continue and some are not finished.
    pub fn step(&mut self, budget: u64, observer: &mut impl Observer) -> Result<SimProgress, Refusal> {
        let mut left = budget;
        while left > 0 {
            let Some((mut start, unit, mut next)) = self.earliest() else { return self.finish(observer) };
            // The unit goes on until another one is due.
            loop {
                match unit {
                    Unit::Engine(engine) => self.run_instruction(engine, start, observer),
                    Unit::Queue(queue) => self.run_dma(queue, start, observer),
                }
                self.outcome.items += 1;
                left -= 1;
                self.update_readiness(unit);
                next = next.min(self.wake(unit));
                match self.units[unit.index()].readiness {
                    Readiness::At(time) if left > 0 && (time, unit.index()) < next => start = time,
                    _ => break,
                }
            }
        }
        Ok(SimProgress::More { items: self.outcome.items, total: self.executable.item_count() as u64 })
    }

    /// The result so far.
    #[must_use]
    pub fn outcome(&self) -> &SimOutcome {
        &self.outcome
    }

    /// When the first unit can start, that unit, and when the next one of the others can: its time and its index.
    fn earliest(&self) -> Option<(SimTime, Unit, (SimTime, usize))> {
        let (mut best, mut next) = (NEVER, NEVER);
        for (index, state) in self.units.iter().enumerate() {
            if let Readiness::At(time) = state.readiness {
                let due = (time, index);
                if due < best {
                    (best, next) = (due, best);
                } else if due < next {
                    next = due;
                }
            }
        }
        UNITS.get(best.1).map(|unit| (best.0, *unit, next))
    }

    fn run_instruction(&mut self, engine: Engine, due: SimTime, observer: &mut impl Observer) {
        let index = self.units[engine.index()].next;
        let instruction = &self.executable.engines[engine.index()][index];
        let (op, from_psum) = (instruction.op, instruction.from_psum);
        let start = if from_psum { self.psum_read(engine, op, due) } else { due };
        let mut cost = self.cost_of(engine, op);
        if let (Engine::Tensor, Some(throttle)) = (engine, self.costs.engine.tensor_throttle) {
            if let Op::LdWeights { rows, .. } = op {
                self.tensor_clock.load(rows);
            }
            let eighths;
            (cost, eighths) = self.tensor_clock.stretch(throttle, start, cost);
            if eighths != self.eighths {
                self.eighths = eighths;
                observer.clock_limit(start, eighths);
            }
        }
        // The array reads a stationary tile after the matmuls before it; an idle array waits for it.
        let idle = self.pending[engine.index()].is_none() || start > self.units[engine.index()].free_at;
        let exposed = idle && matches!(op, Op::LdWeights { .. });
        let held = if exposed { cost.latency } else { cost.interval };
        self.flush(engine, start, observer);
        let state = &mut self.units[engine.index()];
        state.free_at = state.free_at.max(start + held);
        let end = start + cost.latency;
        state.complete(end);
        self.pending[engine.index()] = Some(Pending { index, span: Interval::new(start, end) });
        self.outcome.engine_busy[engine.index()] += cost.interval;
        self.extend_window(start, end);
    }

    /// When an instruction that is due can read PSUM; it holds the port from then on.
    fn psum_read(&mut self, engine: Engine, op: Op, due: SimTime) -> SimTime {
        if self.costs.engine.psum_readers > 1 {
            return due;
        }
        let start = due.max(self.psum_free_at);
        self.psum_free_at = start + psum_time(&self.costs, engine, &op);
        start
    }

    fn run_dma(&mut self, queue: DmaQueue, triggered: SimTime, observer: &mut impl Observer) {
        let unit = Unit::Queue(queue);
        let index = self.units[unit.index()].next;
        let dma = &self.executable.queues[queue.index()][index];
        let d = &self.costs.dma;
        let engines = u64::from(dma.partitions.div_ceil(d.partitions_per_engine).clamp(1, self.costs.core.dma_engines));
        let own = transfer_time(dma.bytes, engines * d.engine_bytes_per_us).max(SimTime::from_ns(d.min_data_ns));
        let descriptors = SimTime(dma.short_descriptors.saturating_mul(d.short_descriptor_ps));
        let shared = transfer_time(dma.bytes, d.aggregate_bytes_per_us) + descriptors;
        let start = (triggered + SimTime::from_ns(d.trigger_to_data_ns)).max(self.dma_pool_free_at);
        let end = start + own.max(shared);
        self.dma_pool_free_at = start + shared;
        let state = &mut self.units[unit.index()];
        state.free_at = triggered + SimTime::from_ns(d.issue_interval_ns);
        state.complete(end + SimTime::from_ns(d.completion_ns));
        self.outcome.dma_busy += end - start;
        self.outcome.dma_bytes += dma.bytes;
        observer.dma(queue, index, triggered, Interval::new(start, end));
        self.extend_window(triggered, end);
    }

    fn cost_of(&mut self, engine: Engine, op: Op) -> InstructionCost {
        let is_load = matches!(op, Op::LdWeights { .. });
        let last = if is_load { &mut self.last_load } else { &mut self.last_cost[engine.index()] };
        match *last {
            Some((last, cost)) if last == op => cost,
            _ => {
                let cost = instruction_cost(&self.costs, engine, &op);
                *last = Some((op, cost));
                cost
            }
        }
    }

    fn extend_window(&mut self, start: SimTime, end: SimTime) {
        // Items run in order of their start, so the first one is the earliest.
        let first = *self.first_start.get_or_insert(start);
        self.outcome.window = self.outcome.window.max(end.saturating_sub(first));
    }

    /// Tells the observer about the engine's last instruction, cut where the next one starts.
    fn flush(&mut self, engine: Engine, next_start: SimTime, observer: &mut impl Observer) {
        if let Some(p) = self.pending[engine.index()].take() {
            let end = p.span.end.min(next_start.max(p.span.start));
            observer.instruction(engine, p.index, Interval::new(p.span.start, end));
        }
    }

    fn finish(&mut self, observer: &mut impl Observer) -> Result<SimProgress, Refusal> {
        for (state, unit) in self.units.iter().zip(UNITS) {
            if let Readiness::Blocked(wait) = state.readiness {
                return Err(refuse!(
                    "deadlock at item {item} of {unit}: it waits for {awaited} to complete {count} items, which it never does",
                    item = state.next,
                    unit = unit_name(unit),
                    awaited = unit_name(wait.unit),
                    count = wait.count
                ));
            }
        }
        for engine in Engine::ALL {
            self.flush(engine, SimTime(u64::MAX), observer);
        }
        Ok(SimProgress::Done)
    }

    /// Checks the units that wait for `completed` again; returns when the first of them that need not wait any more can start.
    fn wake(&mut self, completed: Unit) -> (SimTime, usize) {
        let done = self.units[completed.index()].next;
        let mut first = NEVER;
        for (index, unit) in UNITS.into_iter().enumerate() {
            if let Readiness::Blocked(wait) = self.units[index].readiness
                && wait.unit == completed
                && wait.count as usize <= done
            {
                self.update_readiness(unit);
                if let Readiness::At(time) = self.units[index].readiness {
                    first = first.min((time, index));
                }
            }
        }
        first
    }

    fn update_readiness(&mut self, unit: Unit) {
        self.units[unit.index()].readiness = self.readiness(unit);
    }

    fn readiness(&mut self, unit: Unit) -> Readiness {
        let state = &self.units[unit.index()];
        if state.next >= state.len {
            return Readiness::Finished;
        }
        let (waits_start, waits_len, free_at) = match unit {
            Unit::Engine(engine) => {
                let instruction = self.executable.engines[engine.index()][state.next];
                (instruction.waits_start, instruction.waits_len, self.engine_free_at(engine, instruction.op))
            }
            Unit::Queue(queue) => {
                let dma = &self.executable.queues[queue.index()][state.next];
                (dma.waits_start, dma.waits_len, state.free_at)
            }
        };
        let mut start = free_at;
        for wait in self.executable.waits(waits_start, waits_len) {
            let Some(done) = self.units[wait.unit.index()].completion_of(wait.count) else {
                return Readiness::Blocked(*wait);
            };
            start = start.max(done + self.semaphore_delay(wait.unit, unit));
        }
        Readiness::At(start)
    }

    /// When the engine can start `op`. A stationary tile loads while the matmul before it still streams, so it may
    /// start that much earlier; it never delays the next matmul.
    fn engine_free_at(&mut self, engine: Engine, op: Op) -> SimTime {
        let free_at = self.units[engine.index()].free_at;
        match (op, self.pending[engine.index()]) {
            (Op::LdWeights { .. }, Some(before)) => {
                free_at.saturating_sub(self.cost_of(engine, op).interval).max(before.span.start)
            }
            _ => free_at,
        }
    }

    fn semaphore_delay(&self, from: Unit, to: Unit) -> SimTime {
        if from == to {
            return SimTime::ZERO;
        }
        SimTime::from_ns(match from {
            Unit::Engine(_) => self.costs.engine.semaphore_ns,
            Unit::Queue(_) => self.costs.dma.semaphore_to_engine_ns,
        })
    }
}

fn transfer_time(bytes: u64, bytes_per_us: u64) -> SimTime {
    let ps = u128::from(bytes) * 1_000_000 / u128::from(bytes_per_us.max(1));
    SimTime(u64::try_from(ps).unwrap_or(u64::MAX))
}

/// Runs a whole execution.
///
/// # Errors
/// As [`Simulator::step`].
pub fn simulate(
    executable: &Executable,
    costs: &CostTable,
    observer: &mut impl Observer,
) -> Result<SimOutcome, Refusal> {
    let mut simulator = Simulator::new(executable, costs);
    while simulator.step(u64::MAX, observer)? != SimProgress::Done {}
    Ok(simulator.outcome)
}
