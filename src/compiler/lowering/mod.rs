//! From aten ops to HLO, as PyTorch/XLA does it.
//!
//! Order and names are those of a lazy graph walked from its result. Instructions come in post-order, and the operands
//! of an op are visited last to first: bias, then weight, then input. So parameters are numbered from the last layer to the
//! first and the input comes last (`%p4` in the profiling tutorial's network), the last layer's weight transpose and bias
//! broadcast come first, and the first product is `%dot = dot(%p4, %transpose.1)`. Names are opcodes, made unique by `.1`,
//! `.2`, ... in that order. Ops whose result nothing reads are lowered after all others: removing them is a pass's work.

mod builder;
mod layers;
mod ops;
#[cfg(test)]
mod tests;
mod walk;

use ns_base::{Refusal, refuse};
use ns_model::Graph;

use super::Workflow;
use super::hlo::HloModule;

/// Lowers a traced graph. The result is verified. Fails when the graph is damaged; a traced one is not.
pub fn lower(graph: &Graph, workflow: Workflow) -> Result<HloModule, Refusal> {
    let module = walk::lower_graph(graph, workflow)?;
    super::hlo::verify(&module).map_err(|e| refuse!("lowering made an invalid module: {e}"))?;
    Ok(module)
}
