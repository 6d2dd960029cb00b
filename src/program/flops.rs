//! Operations of a program's products: two for each multiply-add of matrix products and convolutions.

use super::{Computation, Instruction, Op, Program, TripCounts};
use ns_base::Idx;
use ns_base::units::format_plural;

/// Operations of a program's products, and how sure the count is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgramFlops {
    /// Saturates.
    pub count: u64,
    /// Loops with products in them whose number of turns depends on data: their bodies count once.
    pub open_loops: u64,
    /// Branches with different counts among which data decides: the largest counts.
    pub open_branches: u64,
}

/// Operations of a program's products. A computation counts at every call, and the body of a loop at every turn.
///
/// A convolution counts the elements of its result times the kernel's elements for one of them, including zeros of a dilated input.
pub fn flops(program: &Program) -> ProgramFlops {
    let mut totals: Vec<ProgramFlops> = Vec::with_capacity(program.computations.len());
    let trips = TripCounts::of(program);
    for (id, computation) in program.computations.iter_enumerated() {
        let mut sum = ProgramFlops::default();
        for instruction in computation.instructions.iter() {
            let called = instruction.called.iter().filter_map(|id| totals.get(id.index()).copied());
            match instruction.op {
                Op::Call | Op::CustomCall(_) => called.for_each(|part| sum.add(part, 1)),
                Op::Conditional => sum.add_branches(&called.collect::<Vec<_>>(), trips.branch(id, instruction)),
                Op::While => {
                    let parts: Vec<ProgramFlops> = called.collect();
                    let turns = trips.count(id, instruction);
                    sum.open_loops += u64::from(turns.is_none() && parts.iter().any(|part| part.count > 0));
                    parts.into_iter().for_each(|part| sum.add(part, turns.unwrap_or(1)));
                }
                _ => sum.count = sum.count.saturating_add(instruction_flops(computation, instruction)),
            }
        }
        totals.push(sum);
    }
    totals.get(program.entry.index()).copied().unwrap_or_default()
}

impl ProgramFlops {
    fn add(&mut self, part: Self, times: u64) {
        self.count = self.count.saturating_add(part.count.saturating_mul(times));
        self.open_loops = self.open_loops.saturating_add(part.open_loops);
        self.open_branches = self.open_branches.saturating_add(part.open_branches);
    }

    fn add_branches(&mut self, branches: &[Self], chosen: Option<usize>) {
        if let Some(branch) = chosen.and_then(|n| branches.get(n)) {
            return self.add(*branch, 1);
        }
        self.open_branches += u64::from(branches.iter().any(|b| b.count != branches[0].count));
        if let Some(largest) = branches.iter().max_by_key(|b| b.count) {
            self.add(*largest, 1);
        }
    }

    /// What a reader of the count must know about it.
    pub fn notes(self) -> impl Iterator<Item = String> {
        let loops = (self.open_loops > 0).then(|| {
            format!(
                "FLOPs count the body of {} once: data decides how often it runs",
                format_plural(self.open_loops, "loop")
            )
        });
        let branches = (self.open_branches > 0).then(|| {
            format!(
                "FLOPs count the largest branch of {}: data decides which one runs",
                format_plural(self.open_branches, "conditional")
            )
        });
        loops.into_iter().chain(branches)
    }
}

/// Operations of one instruction if it is a product, else 0; saturates.
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
