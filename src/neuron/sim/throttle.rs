//! The limit of the tensor engine's clock by its recent utilisation.

use ns_base::SimTime;
use ns_machine::cost::{InstructionCost, Throttle};

use super::prices::Pace;

/// The clock limit of a tensor engine. Time is cut into windows; the utilisation of one decides the limit of the next.
#[derive(Clone, Copy, Debug)]
pub struct TensorClock {
    throttle: Throttle,
    /// Processing elements of the array: a utilisation of one uses all of them.
    elements: u64,
    /// Length of a window, picoseconds.
    length: u64,
    /// Start of the window that `used` belongs to.
    window: u64,
    /// Time of products in this window, picoseconds times processing elements in use.
    used: u64,
    /// Whether the window before was dense.
    is_dense: bool,
    /// The limit in this window, eighths of the published clock.
    eighths: u32,
}

/// The cost of an instruction after a window of light work and after one of dense work: longer by the limit of the clock.
pub(super) fn paces(throttle: Throttle, cost: InstructionCost) -> [InstructionCost; 2] {
    [false, true].map(|is_dense| {
        let interval = SimTime(cost.interval.0.saturating_mul(8) / u64::from(eighths(throttle, is_dense)));
        // The limit leaves pauses between instructions; a single one is not later.
        InstructionCost { interval, latency: cost.latency.max(interval) }
    })
}

/// The limit after a window of light or of dense work.
fn eighths(throttle: Throttle, is_dense: bool) -> u32 {
    if is_dense { throttle.dense_eighths } else { throttle.light_eighths }.clamp(1, 8)
}

impl TensorClock {
    /// The clock of an idle engine whose array has this many rows and as many columns.
    pub fn new(throttle: Throttle, side: u32) -> Self {
        let (is_dense, side) = (false, u64::from(side));
        Self {
            throttle,
            elements: side * side,
            length: SimTime::from_ns(throttle.window_ns.max(1)).0,
            window: 0,
            used: 0,
            is_dense,
            eighths: eighths(throttle, is_dense),
        }
    }

    /// The cost of an instruction at `start` with a stationary tile of so many elements, by the work before it.
    pub fn run(&mut self, start: SimTime, cost: InstructionCost, elements: u64) -> InstructionCost {
        if start.0.saturating_sub(self.window) >= self.length {
            self.advance(start.0 - start.0 % self.length);
        }
        let cost = paces(self.throttle, cost)[usize::from(self.is_dense)];
        self.work(start, cost.interval, elements);
        cost
    }

    /// The limit in the window of the last instruction, eighths of the published clock.
    #[inline]
    pub const fn eighths(&self) -> u32 {
        self.eighths
    }

    /// The cost of an instruction that starts at `start`, of the two that it may have.
    #[inline]
    pub(super) fn pace<'p>(&mut self, start: SimTime, paces: &'p [Pace; 2]) -> &'p Pace {
        if start.0.saturating_sub(self.window) >= self.length {
            self.advance(start.0 - start.0 % self.length);
        }
        &paces[usize::from(self.is_dense)]
    }

    /// Work of `time` from `start` with a stationary tile of so many elements: what reaches beyond the window counts in those after it.
    #[inline]
    pub fn work(&mut self, start: SimTime, time: SimTime, elements: u64) {
        let (mut at, mut left) = (start.0, time.0);
        loop {
            let room = self.window + self.length - at;
            let part = left.min(room);
            self.used += part * elements;
            left -= part;
            if left == 0 {
                return;
            }
            at += part;
            self.advance(self.window + self.length);
        }
    }

    /// Goes on to the later window that starts at `window`.
    #[cold]
    fn advance(&mut self, window: u64) {
        let full = u128::from(self.length) * u128::from(self.elements);
        let dense = u128::from(self.used) * 1_000 >= full * u128::from(self.throttle.threshold_permille);
        // A window without work follows when one is skipped.
        self.is_dense = dense && window == self.window + self.length;
        self.eighths = eighths(self.throttle, self.is_dense);
        self.window = window;
        self.used = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sim::prices::Price;
    use ns_machine::EngineOp;
    use ns_machine::cost::CostTable;
    use ns_machine::isa::{Engine, Op};

    const NS: u64 = 1_000;

    /// The costs of an instruction that takes `time_ns` at the published clock.
    fn costs(throttle: Throttle, op: Op, time_ns: u64) -> [Pace; 2] {
        let mut costs = CostTable::inferentia2();
        costs.engine.tensor_throttle = Some(throttle);
        let time = SimTime(time_ns * NS);
        let entry = EngineOp { engine: Engine::Tensor, op };
        Price::of_cost(&costs, entry, InstructionCost { interval: time, latency: time }).paces
    }

    fn load(throttle: Throttle, time_ns: u64) -> [Pace; 2] {
        costs(throttle, Op::LdWeights { rows: 128, columns: 128 }, time_ns)
    }

    fn product(throttle: Throttle, time_ns: u64) -> [Pace; 2] {
        costs(throttle, Op::Matmul { free: 512, passes: 1 }, time_ns)
    }

    /// Time that the engine is active and time in total, of `count` bursts of work with `gap_ns` between them.
    fn run(throttle: Throttle, rows: u32, work_ns: u64, gap_ns: u64, count: u32) -> (f64, f64) {
        let mut clock = TensorClock::new(throttle, 128);
        let (product, elements) = (product(throttle, work_ns), u64::from(rows) * 128);
        let (mut start, mut active) = (SimTime::ZERO, 0.0);
        for _ in 0..count {
            let interval = clock.pace(start, &product).interval;
            clock.work(start, interval, elements);
            active += interval.to_secs_f64();
            start = start + interval + SimTime(gap_ns * NS);
        }
        (active, start.to_secs_f64())
    }

    fn limit(dense: u32, light: u32, threshold_permille: u32) -> Throttle {
        Throttle { light_eighths: light, dense_eighths: dense, threshold_permille, window_ns: 3_000 }
    }

    #[test]
    fn dense_work_is_held_back_after_the_first_window() {
        let inf2 = limit(5, 7, 625);
        let (active, _) = run(inf2, 128, 200, 0, 10_000);
        assert!((0.002 / active - 0.625).abs() < 0.001, "{active}");
        let (first, _) = run(inf2, 128, 200, 0, 10);
        assert!((first - 10.0 * 200e-9 * 8.0 / 7.0).abs() < 2e-9, "{first}");
    }

    #[test]
    fn light_work_keeps_the_light_limit() {
        let (active, _) = run(limit(5, 7, 625), 128, 200, 300, 1_000);
        assert!((active - 1_000.0 * 200e-9 * 8.0 / 7.0).abs() < 1e-9, "{active}");
        // Rows that are not in use do not count.
        let (few, _) = run(limit(5, 7, 625), 32, 200, 0, 1_000);
        assert!((few - active).abs() < 1e-9, "{few}");
    }

    #[test]
    fn columns_that_are_not_in_use_and_loads_do_not_count() {
        let inf2 = limit(5, 7, 625);
        let last_eighths = |columns: u32, is_load: bool| {
            let next = if is_load { load(inf2, 200) } else { product(inf2, 200) };
            let mut clock = TensorClock::new(inf2, 128);
            let mut start = SimTime::ZERO;
            for _ in 0..1_000 {
                let pace = clock.pace(start, &next);
                clock.work(start, pace.work, 128 * u64::from(columns));
                start += pace.interval;
            }
            clock.eighths()
        };
        assert_eq!([32, 64, 79, 81, 96, 128].map(|columns| last_eighths(columns, false)), [7, 7, 7, 5, 5, 5]);
        assert_eq!(last_eighths(128, true), 7);
    }

    #[test]
    fn below_half_utilisation_the_third_generation_stays_at_half() {
        let v3 = limit(8, 4, 500);
        let (one_row, _) = run(v3, 1, 200, 0, 1_000);
        assert!((one_row - 2.0 * 1_000.0 * 200e-9).abs() < 1e-9, "{one_row}");
        let (dense, _) = run(v3, 128, 200, 0, 10_000);
        assert!((dense / (10_000.0 * 200e-9) - 1.0).abs() < 0.002, "{dense}");
        // A pause of more than a window starts again at the light limit.
        let (bursts, _) = run(v3, 128, 2_000, 7_000, 100);
        assert!((bursts - 2.0 * 100.0 * 2e-6).abs() < 1e-9, "{bursts}");
    }

    #[test]
    fn more_work_never_takes_less_time() {
        let mut last = 0.0;
        for work in (20..2_000).step_by(20) {
            let (_, total) = run(limit(5, 7, 625), 128, work, 500, 400);
            assert!(total >= last, "{work} ns: {total} after {last}");
            last = total;
        }
    }
}
