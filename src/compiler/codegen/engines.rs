//! The work given to each engine for the current operation, and the choice of an engine for work that several can do.

use super::plan::Plan;
use crate::Workflow;
use ns_machine::cost::{CostTable, instruction_cost};
use ns_machine::isa::{Engine, Op};

/// The loads of the vector and the scalar engine, and the table of the scalar engine.
pub(super) struct Engines<'p> {
    /// At published clocks. A fitted slow-down holds for all engines alike and does not change their balance, so
    /// fitting it changes no program.
    costs: &'p CostTable,
    /// Load of the vector and of the scalar engine, picoseconds.
    loads: [u64; 2],
    /// The activation function whose table is in place.
    table: Option<&'static str>,
    /// Whether the first table is loaded before anything else, as in a traced model.
    preloads: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableLoad {
    /// At the start, beside the first weights.
    AtStart,
    /// When the operand of the function is ready.
    WithOperand,
}

impl<'p> Engines<'p> {
    /// Engines without any work.
    pub fn new(plan: &'p Plan<'_>) -> Self {
        Self { costs: &plan.costs, loads: [0; 2], table: None, preloads: plan.module.workflow == Workflow::Trace }
    }

    /// The costs of instructions at published clocks.
    pub fn costs(&self) -> &'p CostTable {
        self.costs
    }

    /// Operations wait for one another, so both engines start each operation without work.
    pub fn begin_operation(&mut self) {
        self.loads = [0; 2];
    }

    /// Chooses the less loaded of the vector and the scalar engine, for work that either can do.
    pub fn less_loaded(&self) -> Engine {
        if self.loads[1] < self.loads[0] { Engine::Scalar } else { Engine::Vector }
    }

    /// Adds work to an engine's load: the time for which the simulator will hold the engine.
    pub fn count(&mut self, engine: Engine, op: &Op) {
        let slot = match engine {
            Engine::Vector => 0,
            Engine::Scalar => 1,
            Engine::Tensor | Engine::GpSimd => return,
        };
        self.loads[slot] += instruction_cost(self.costs, engine, op).interval.0;
    }

    /// Makes `function`'s table the current one; returns when to load it, or `None` if it is already in place.
    pub fn change_table(&mut self, function: &'static str) -> Option<TableLoad> {
        if self.table == Some(function) {
            return None;
        }
        let is_first = self.table.replace(function).is_none();
        Some(if is_first && self.preloads { TableLoad::AtStart } else { TableLoad::WithOperand })
    }
}
