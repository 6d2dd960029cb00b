//! The instructions of an engine.

use super::Observer;
use super::agenda::{Readiness, Turn};
use super::core::{Core, Program};
use super::prices::{Pace, Price};
use ns_base::{Interval, SimTime};
use ns_machine::isa::Engine;

/// An engine between two instructions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct EngineState {
    /// When it can start another instruction, unless that is a load.
    free_at: SimTime,
    /// When its last instruction completes.
    completed_at: SimTime,
    /// When its last instruction started.
    last_start: SimTime,
    /// Its last instruction, which is cut where the next one starts.
    last: Option<Interval<SimTime>>,
    /// Sum of its intervals.
    busy: SimTime,
}

impl EngineState {
    /// When the engine can start an instruction of this price, which is not before the start of the one before it.
    #[inline]
    pub fn free_for(&self, price: &Price) -> SimTime {
        self.free_at.saturating_sub(price.overlap).max(self.last_start)
    }

    /// Runs an instruction from `start`, whose results leave the array that much later; returns when it runs.
    #[inline]
    fn run(&mut self, start: SimTime, pace: &Pace, crossing: SimTime) -> Interval<SimTime> {
        let is_idle = self.last.is_none() || start > self.free_at;
        let interval = if is_idle { pace.idle_interval } else { pace.interval };
        let end = start + pace.latency + crossing;
        self.free_at = self.free_at.max(start + interval);
        self.completed_at = self.completed_at.max(end);
        self.last_start = start;
        self.busy += pace.interval;
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
    #[inline(always)]
    pub fn run_engine<O: Observer + ?Sized>(
        &mut self,
        program: Program<'_>,
        engine: Engine,
        mut turn: Turn,
        budget: u64,
        observer: &mut O,
    ) -> u64 {
        let Program { executable, prices, .. } = program;
        let (unit, instructions) = (turn.unit, &executable.engines[engine.index()]);
        let mut index = self.semaphores.done(unit);
        // An engine that is due has an instruction.
        let Some(mut instruction) = instructions.get(index) else { return 0 };
        // A copy, which stays in registers.
        let mut state = self.engines[engine.index()];
        let (mut due, mut ran) = (turn.start, 0);
        let readiness = loop {
            let price = &prices[instruction.op];
            // Another engine may hold the port of PSUM.
            let start = if self.psum.is_needed(instruction) { self.psum.read(due, price.psum) } else { due };
            let (pace, crossing) = if engine == Engine::Tensor {
                self.array.run(start, price, observer)
            } else {
                (&price.paces[0], SimTime::ZERO)
            };
            let span = state.run(start, pace, crossing);
            state.flush(engine, index, start, observer);
            state.last = Some(span);
            self.semaphores.complete(unit, state.completed_at);
            index += 1;
            ran += 1;
            if self.agenda.is_awaited(unit, index) {
                self.wake(program, &mut turn);
            }
            let Some(next) = instructions.get(index) else { break Readiness::Finished };
            let free_at = state.free_for(&prices[next.op]);
            let waits = executable.waits(next.waits_start, next.waits_len);
            match self.semaphores.readiness(unit, waits, free_at, self.psum.is_needed(next)) {
                Readiness::At { time, is_shared } if ran < budget && turn.holds(time, is_shared) => {
                    (due, instruction) = (time, next);
                }
                readiness => break readiness,
            }
        };
        self.engines[engine.index()] = state;
        self.outcome.engine_busy[engine.index()] = state.busy;
        self.extend_window(state.completed_at);
        self.agenda.set(unit, readiness);
        ran
    }
}
