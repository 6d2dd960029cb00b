//! What the engines were given of the operation at hand, and which engine takes what either could do.

use super::plan::Plan;
use crate::compiler::Workflow;
use crate::machine::cost::{CostTable, instruction_cost};
use crate::machine::isa::{Engine, Op};

/// The loads of the vector and the scalar engine, and the table of the scalar engine.
pub(super) struct Engines<'p> {
    /// At published clocks: a slow-down that was fitted holds for all engines alike; it decides no balance, so that
    /// fitting it changes no program.
    costs: &'p CostTable,
    /// Of the vector and the scalar engine, picoseconds.
    loads: [u64; 2],
    /// The activation function whose table is in place.
    table: Option<&'static str>,
    /// Whether the first table is loaded before anything else, as in a traced model.
    preloads: bool,
}

/// When a table is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TableLoad {
    /// At the start, beside the first weights.
    AtStart,
    /// When the operand of the function is there.
    WithOperand,
}

impl<'p> Engines<'p> {
    /// Engines that were given nothing.
    pub fn new(plan: &'p Plan<'_>) -> Self {
        Self { costs: &plan.costs, loads: [0; 2], table: None, preloads: plan.module.workflow == Workflow::Trace }
    }

    /// Operations wait for one another, so the engines start each without work.
    pub fn begin_operation(&mut self) {
        self.loads = [0; 2];
    }

    /// Work that either the vector or the scalar engine can do goes to the one that was given less of this operation.
    pub fn less_loaded(&self) -> Engine {
        if self.loads[1] < self.loads[0] { Engine::Scalar } else { Engine::Vector }
    }

    /// Counts what an engine was given: the time for which the simulator will hold it.
    pub fn count(&mut self, engine: Engine, op: &Op) {
        let slot = match engine {
            Engine::Vector => 0,
            Engine::Scalar => 1,
            Engine::Tensor | Engine::GpSimd => return,
        };
        self.loads[slot] += instruction_cost(self.costs, engine, op).interval.0;
    }

    /// Puts the table of a function in place; when it has to be loaded, unless it is there already.
    pub fn change_table(&mut self, function: &'static str) -> Option<TableLoad> {
        if self.table == Some(function) {
            return None;
        }
        let is_first = self.table.replace(function).is_none();
        Some(if is_first && self.preloads { TableLoad::AtStart } else { TableLoad::WithOperand })
    }
}
