//! How values are computed and stored: as the reference does, or as a device does.

use std::rc::Rc;

use crate::hlo::{HloInstruction, InstrId};
use ns_tensor::Tensor;
use ns_tensor::kernels::Accumulation;

/// The position of a value in a module.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The instruction, or the member of a fusion.
    pub id: InstrId,
    /// Whether it is a result of the module.
    pub is_result: bool,
    /// Whether it depends on weights alone, so that it is computed when the model is loaded.
    pub known_at_load: bool,
}

/// How an evaluation computes. By default, every method but the last does as the reference does.
pub trait Arithmetic {
    /// The order in which products are summed.
    fn accumulation(&self) -> Accumulation {
        Accumulation::Sequential
    }

    /// The value of instruction `id` as a product reads it.
    fn product_operand(&mut self, id: InstrId, value: &Rc<Tensor>) -> Rc<Tensor> {
        let _ = id;
        Rc::clone(value)
    }

    /// A value as it is stored: a given parameter, or the result of an instruction.
    fn store(&mut self, place: Place, instruction: &HloInstruction, value: Rc<Tensor>) -> Rc<Tensor> {
        let _ = (place, instruction);
        value
    }

    /// No instruction reads the value of `id` any more.
    fn forget(&mut self, id: InstrId);
}

/// Single precision throughout, sums over ascending indices: the reference on a host processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reference;

impl Arithmetic for Reference {
    fn forget(&mut self, _: InstrId) {}
}

/// Sees every value that an instruction or a member of a fusion computes.
pub trait Watch {
    /// `instruction` computed `value` from `operands`.
    fn produced(&mut self, instruction: &HloInstruction, operands: &[Rc<Tensor>], value: &Tensor);
}

/// An observer that does nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NoWatch;

impl Watch for NoWatch {
    fn produced(&mut self, _: &HloInstruction, _: &[Rc<Tensor>], _: &Tensor) {}
}
