//! One call of a custom operator: its values, its problems and its time on every processor.

use super::meter::{CoreMeter, Kind, LineCost};
use crate::{HbmTensor, KernelFunction, KernelRun, Outcome, RunOptions};
use ns_machine::cost::GpsimdCosts;

/// The cost of an operator's calls. The calls of one step are added up.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CallCost {
    /// Elements of the results.
    pub elements: u64,
    /// Sum over the calls of the time from the start until the slowest processor is done, picoseconds.
    pub time_ps: u64,
    /// Time of the slowest processor by kind, in the order of [`Kind::ALL`].
    pub kinds_ps: [u64; Kind::ALL.len()],
    /// Starting the engine.
    pub start_ps: u64,
    /// Time of each processor.
    pub cores_ps: Vec<u64>,
    /// Count and time of each line, for all processors together; entry 0 is unused.
    pub lines: Vec<LineCost>,
}

impl CallCost {
    /// The cost of one call from the meters of its processors.
    pub fn of(elements: u64, meters: &[CoreMeter], costs: &GpsimdCosts) -> Self {
        let start_ps = costs.cycles_ps(costs.start_cycles);
        let slowest = meters.iter().max_by_key(|m| m.total_ps());
        let mut lines: Vec<LineCost> = Vec::new();
        for meter in meters {
            add_lines(&mut lines, meter.lines());
        }
        Self {
            elements,
            time_ps: start_ps + slowest.map_or(0, CoreMeter::total_ps),
            kinds_ps: Kind::ALL.map(|kind| slowest.map_or(0, |m| m.kind_ps(kind))),
            start_ps,
            cores_ps: meters.iter().map(CoreMeter::total_ps).collect(),
            lines,
        }
    }

    /// Adds another call that runs after this one.
    pub fn add(&mut self, other: &Self) {
        self.elements += other.elements;
        self.time_ps += other.time_ps;
        self.start_ps += other.start_ps;
        for (sum, more) in self.kinds_ps.iter_mut().zip(other.kinds_ps) {
            *sum += more;
        }
        if self.cores_ps.len() < other.cores_ps.len() {
            self.cores_ps.resize(other.cores_ps.len(), 0);
        }
        for (sum, more) in self.cores_ps.iter_mut().zip(&other.cores_ps) {
            *sum += more;
        }
        add_lines(&mut self.lines, &other.lines);
    }
}

fn add_lines(sum: &mut Vec<LineCost>, more: &[LineCost]) {
    if sum.len() < more.len() {
        sum.resize(more.len(), LineCost::default());
    }
    for (line, other) in sum.iter_mut().zip(more) {
        line.count += other.count;
        line.time_ps += other.time_ps;
        line.bytes += other.bytes;
    }
}

#[derive(Clone, Debug)]
pub struct OperatorRun {
    /// Values and problems.
    pub outcome: Outcome,
    /// Its cost; if it did not finish, the cost of the part that ran.
    pub cost: CallCost,
    /// The meters of its processors.
    pub meters: Vec<CoreMeter>,
}

/// A call that runs in parts.
pub struct OperatorCall {
    run: KernelRun<CoreMeter>,
    elements: u64,
    costs: GpsimdCosts,
}

impl OperatorCall {
    /// A call on these inputs, by `cores` processors when it is a kernel for all of them.
    pub fn new(
        kernel: KernelFunction<'_>,
        inputs: Vec<HbmTensor>,
        multicore: bool,
        cores: u32,
        costs: &GpsimdCosts,
    ) -> Self {
        let elements = inputs.first().map_or(0, HbmTensor::elements);
        let options = RunOptions {
            multicore,
            cores,
            tcm_pool_bytes: costs.tcm_pool_bytes,
            step_limit: RunOptions::step_limit_for(elements),
        };
        let meters = vec![CoreMeter::new(costs); options.active_cores() as usize];
        Self { run: KernelRun::new(kernel, inputs, &options, meters), elements, costs: costs.clone() }
    }

    /// Runs about `statements` more statements; returns whether the call has ended.
    pub fn advance(&mut self, statements: u64) -> bool {
        self.run.advance(statements)
    }

    pub fn finish(self) -> OperatorRun {
        let (outcome, meters) = self.run.finish();
        OperatorRun { outcome, cost: CallCost::of(self.elements, &meters, &self.costs), meters }
    }
}
