//! Operations of a program's products: two for each multiply-add of matrix products and convolutions.

use super::{Computation, Instruction, Op, Program, TripCounts};
use ns_base::Idx;

/// How often the body of a loop is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoopBodies {
    /// Once, as XLA's own count does.
    Once,
    /// As often as the body runs if that is known, else once.
    EachTrip,
}

/// Operations of a program's products; saturates. A computation counts at every call.
///
/// A convolution counts the elements of its result times the kernel's elements for one of them, including zeros of a dilated input.
#[must_use]
pub fn flops(program: &Program, bodies: LoopBodies) -> u64 {
    let mut totals: Vec<u64> = Vec::with_capacity(program.computations.len());
    let trips = (bodies == LoopBodies::EachTrip).then(|| TripCounts::of(program));
    for (id, computation) in program.computations.iter_enumerated() {
        let total = computation.instructions.iter().fold(0u64, |sum, instruction| {
            let called = instruction.called.iter().filter_map(|id| totals.get(id.index()));
            let called = called.fold(0u64, |sum, &n| sum.saturating_add(n));
            let own = match instruction.op {
                Op::Call | Op::Conditional | Op::CustomCall(_) => called,
                Op::While => {
                    let known = trips.as_ref().and_then(|trips| trips.count(id, instruction));
                    called.saturating_mul(known.unwrap_or(1))
                }
                _ => instruction_flops(computation, instruction),
            };
            sum.saturating_add(own)
        });
        totals.push(total);
    }
    totals.get(program.entry.index()).copied().unwrap_or(0)
}

/// Operations of one instruction if it is a product, else 0; saturates.
#[must_use]
pub fn instruction_flops(computation: &Computation, instruction: &Instruction) -> u64 {
    let operand = |i: usize| {
        let id = instruction.operands.get(i)?;
        computation.instructions.get(*id)?.ty.array()
    };
    let result = instruction.ty.array().and_then(super::ArrayType::elements).unwrap_or(0);
    match &instruction.op {
        Op::Dot(dims) => {
            let Some(lhs) = operand(0) else { return 0 };
            let sizes = dims.lhs_contracting.iter().map(|&d| lhs.dims.get(d as usize).copied().unwrap_or(1));
            sizes.fold(result.saturating_mul(2), u64::saturating_mul)
        }
        Op::Convolution { dims, .. } => {
            let Some(kernel) = operand(1) else { return 0 };
            let features = kernel.dims.get(dims.kernel.1 as usize).copied().unwrap_or(1).max(1);
            let per_result = kernel.elements().unwrap_or(u64::MAX) / features;
            result.saturating_mul(2).saturating_mul(per_result)
        }
        _ => 0,
    }
}
