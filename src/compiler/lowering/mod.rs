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

use thiserror::Error;

use ns_model::Graph;

use super::Workflow;
use super::hlo::{HloModule, VerifyError};

/// A graph that cannot be lowered.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LowerError {
    /// A node reads a node that does not come before it.
    #[error("{path} reads a value that is not computed before it: the graph is damaged, trace the model again")]
    Order { path: String },
    /// A node has the wrong number of operands for its op.
    #[error("{path} has {found} operands: the graph is damaged, trace the model again")]
    Operands {
        path: String,
        /// How many it has.
        found: usize,
    },
    /// An op names a dimension its operand does not have.
    #[error(
        "{path} names dimension {dim} of an operand of {rank} dimensions: the graph is damaged, trace the model again"
    )]
    Dimension {
        path: String,
        dim: u32,
        /// The number of dimensions of the operand.
        rank: usize,
    },
    /// The graph's result is not one of its nodes.
    #[error("the result is node {node} of {nodes}: the graph is damaged, trace the model again")]
    Output {
        /// The node of the result.
        node: u32,
        /// The number of nodes.
        nodes: usize,
    },
    /// The result is not well formed.
    #[error("lowering made an invalid module: {0}")]
    Invalid(#[from] VerifyError),
}

/// Lowers a traced graph. The result is verified.
///
/// # Errors
/// When the graph is damaged; a traced one is not.
pub fn lower(graph: &Graph, workflow: Workflow) -> Result<HloModule, LowerError> {
    let module = walk::lower_graph(graph, workflow)?;
    super::hlo::verify(&module)?;
    Ok(module)
}
