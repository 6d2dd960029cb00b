//! The instructions of an engine.

use super::Observer;
use super::agenda::{Readiness, Turn};
use super::core::{Core, Program};
use super::prices::Price;
use ns_base::{Interval, SimTime};
use ns_machine::cost::InstructionCost;
use ns_machine::isa::{Engine, Instruction, Op};

/// An engine between two instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EngineState {
    /// When it can start another instruction, unless that is a load.
    free_at: SimTime,
    /// When its last instruction completes.
    completed_at: SimTime,
    /// Its last instruction, which is cut where the next one starts.
    last: Option<Interval<SimTime>>,
    /// Sum of its intervals.
    busy: SimTime,
}

impl EngineState {
    /// When the engine can start `op`. A stationary tile loads while the matmul before it still streams, so it may
    /// start that much earlier; it never delays the next matmul.
    #[inline]
    pub fn free_for(&self, op: &Op, price: &Price) -> SimTime {
        match (op, self.last) {
            (Op::LdWeights { .. }, Some(before)) => self.free_at.saturating_sub(price.interval).max(before.start),
            _ => self.free_at,
        }
    }

    /// Runs `op` from `start`; returns when it runs.
    #[inline]
    fn run(&mut self, op: &Op, start: SimTime, cost: InstructionCost) -> Interval<SimTime> {
        // The array reads a stationary tile after the matmuls before it; an idle array waits for it.
        let idle = self.last.is_none() || start > self.free_at;
        let exposed = idle && matches!(op, Op::LdWeights { .. });
        let held = if exposed { cost.latency } else { cost.interval };
        let end = start + cost.latency;
        self.free_at = self.free_at.max(start + held);
        self.completed_at = self.completed_at.max(end);
        self.busy += cost.interval;
        Interval::new(start, end)
    }

    /// Tells the observer about the last instruction, the one before `index`, cut where the next one starts.
    #[inline]
    pub fn flush<O: Observer + ?Sized>(&mut self, engine: Engine, index: usize, next_start: SimTime, observer: &mut O) {
        if let Some(span) = self.last.take() {
            let end = span.end.min(next_start.max(span.start));
            observer.instruction(engine, index.saturating_sub(1), Interval::new(span.start, end));
        }
    }
}

impl Core {
    /// Runs instructions of an engine until its turn ends; returns how many.
    pub fn run_engine<O: Observer + ?Sized>(
        &mut self,
        program: Program<'_>,
        engine: Engine,
        mut turn: Turn,
        budget: u64,
        observer: &mut O,
    ) -> u64 {
        let Program { executable, costs } = program;
        let (unit, instructions) = (turn.unit, &executable.engines[engine.index()]);
        let mut index = self.semaphores.done(unit);
        // An engine that is due has an instruction.
        let Some(mut instruction) = instructions.get(index) else { return 0 };
        let mut slot = self.prices[engine.index()].find(costs, engine, &instruction.op);
        // A copy, which stays in registers.
        let mut state = self.engines[engine.index()];
        let (mut due, mut ran) = (turn.start, 0);
        let readiness = loop {
            let (start, cost) = self.begin(engine, instruction, slot, due, observer);
            let span = state.run(&instruction.op, start, cost);
            state.flush(engine, index, start, observer);
            state.last = Some(span);
            self.semaphores.complete(unit, state.completed_at);
            index += 1;
            ran += 1;
            if self.agenda.is_awaited(unit, index) {
                self.wake(program, &mut turn);
            }
            let Some(next) = instructions.get(index) else { break Readiness::Finished };
            let prices = &mut self.prices[engine.index()];
            slot = prices.find(costs, engine, &next.op);
            let free_at = state.free_for(&next.op, prices.at(slot));
            let waits = executable.waits(next.waits_start, next.waits_len);
            match self.semaphores.readiness(unit, waits, free_at) {
                Readiness::At(start) if ran < budget && turn.holds(start) => (due, instruction) = (start, next),
                readiness => break readiness,
            }
        };
        self.engines[engine.index()] = state;
        self.outcome.engine_busy[engine.index()] = state.busy;
        self.extend_window(state.completed_at);
        self.agenda.set(unit, readiness);
        ran
    }

    /// When an instruction starts that is due, and what it costs: another engine may hold the port of PSUM, and the clock of the
    /// tensor engine may be limited.
    #[inline]
    fn begin<O: Observer + ?Sized>(
        &mut self,
        engine: Engine,
        instruction: &Instruction,
        slot: usize,
        due: SimTime,
        observer: &mut O,
    ) -> (SimTime, InstructionCost) {
        let price = self.prices[engine.index()].at(slot);
        let start = if instruction.from_psum { self.psum.read(due, price.psum) } else { due };
        let mut cost = price.paces[0];
        if engine != Engine::Tensor {
            return (start, cost);
        }
        if let Some(clock) = &mut self.tensor_clock {
            let eighths;
            (cost, eighths) = clock.pace(start, &price.paces);
            match instruction.op {
                Op::LdWeights { rows, columns } => clock.load(rows, columns),
                _ => clock.work(start, cost.interval),
            }
            if eighths != self.eighths {
                self.eighths = eighths;
                observer.clock_limit(start, eighths);
            }
        }
        match instruction.op {
            Op::LdWeights { .. } => self.crossing = price.crossing,
            Op::Matmul { .. } => cost.latency += self.crossing,
            _ => {}
        }
        (start, cost)
    }
}
