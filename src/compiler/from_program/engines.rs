//! Which part of a NeuronCore does a kind of work.

use crate::import::OperatorKind;

/// Which part of a NeuronCore does a kind of work, in words. What an operator makes of it, a profile shows.
#[must_use]
pub const fn engine_of(kind: OperatorKind) -> &'static str {
    match kind {
        OperatorKind::Product => "tensor engine",
        OperatorKind::Function => "scalar engine",
        OperatorKind::Elementwise | OperatorKind::Reduction | OperatorKind::Quantisation => "vector engine",
        OperatorKind::Norm => "vector and scalar engines",
        OperatorKind::Window => "vector engine, a pass for each element of the window",
        OperatorKind::Movement => "views are free; else DMA, or the tensor engine for a turn",
        OperatorKind::Indexing => "DMA, a descriptor for each row",
        OperatorKind::Order => "GpSimd engine",
        OperatorKind::Creation => "computed when the model is loaded; random numbers on the vector engine",
        OperatorKind::Recurrence => "tensor, vector and scalar engines, each step written out",
        OperatorKind::Control => "written out when the model is read",
        OperatorKind::Collective => "DMA through device memory",
    }
}
