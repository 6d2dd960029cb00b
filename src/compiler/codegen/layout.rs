//! In which layout, how often and how wide a value is wanted, by what reads it.

use super::program::Generator;
use super::value::{Layout, matrix_of};
use crate::compiler::hlo::{InstrId, Opcode};
use crate::machine::cost::decisions::{IMAGE_RANK, LAYOUT_LOOKAHEAD};
use crate::tensor::Shape;

impl Generator<'_> {
    /// Rows and columns of a shape, the columns of an image being its channels.
    pub(super) fn rows_and_columns(&self, shape: &Shape) -> (u64, u64) {
        match shape.dims.as_slice() {
            [n, c, pixels @ ..] if shape.rank() == IMAGE_RANK => (n * pixels.iter().product::<u64>(), (*c).max(1)),
            _ => matrix_of(shape),
        }
    }

    /// The layout in which a result is wanted: rows on the partitions where a reduction over the last dimension or a
    /// product that contracts the rows reads it, columns on the partitions otherwise.
    pub(super) fn wanted_layout(&self, id: InstrId) -> Layout {
        if self.wants_row_major(id, LAYOUT_LOOKAHEAD) { Layout::RowMajor } else { Layout::FeatureMajor }
    }

    /// How many equal parts of a value's rows must start a block of partitions of their own: one for each sequence when a
    /// product contracts the tokens of each sequence.
    pub(super) fn row_groups(&self, id: InstrId) -> u64 {
        let Ok(instruction) = self.instruction(id) else { return 1 };
        let dims = &instruction.shape.dims;
        let leading: u64 = dims.iter().rev().skip(2).product();
        if leading > 1 && self.rows_contracted(id, LAYOUT_LOOKAHEAD) { leading } else { 1 }
    }

    fn rows_contracted(&self, id: InstrId, depth: u32) -> bool {
        let contracts = |user: &InstrId| {
            let Some(instruction) = self.module.instructions.get(*user) else { return false };
            match &instruction.opcode {
                Opcode::Dot(dims) => {
                    let rank = self.module.instructions[id].shape.rank() as u32;
                    instruction.operands.get(1) == Some(&id) && dims.rhs_contracting + 1 != rank
                }
                Opcode::Reshape | Opcode::Transpose { .. } => self.rows_contracted(*user, depth - 1),
                _ => false,
            }
        };
        depth > 0 && self.users.get(id).is_some_and(|users| users.iter().any(contracts))
    }

    fn wants_row_major(&self, id: InstrId, depth: u32) -> bool {
        let Some(rank) = self.module.instructions.get(id).map(|i| i.shape.rank()) else { return false };
        let last = rank.saturating_sub(1) as u32;
        depth > 0
            && self.users[id].iter().any(|user| {
                let instruction = &self.module.instructions[*user];
                match &instruction.opcode {
                    Opcode::Reduce { dimensions, .. } => dimensions.as_slice() == [last] && rank > 1,
                    Opcode::Dot(dims) => instruction.operands.get(1) == Some(&id) && dims.rhs_contracting != last,
                    Opcode::Reshape => self.wants_row_major(*user, depth - 1),
                    Opcode::Transpose { permutation } => {
                        permutation.last() == Some(&last) && self.wants_row_major(*user, depth - 1)
                    }
                    Opcode::Fusion(_) => self.wants_row_major(*user, depth - 1),
                    opcode => opcode.is_elementwise() && self.wants_row_major(*user, depth - 1),
                }
            })
    }

    /// Bytes of an element of a value, by the cast of what reads it.
    pub(super) fn element_bytes(&self, id: InstrId) -> u64 {
        if self.only_matmuls_read(id) { self.precision.operand_bytes } else { self.precision.value_bytes }
    }

    pub(super) fn only_matmuls_read(&self, id: InstrId) -> bool {
        let users = &self.users[id];
        let is_matmul = |user: &InstrId| match self.module.instructions[*user].opcode {
            Opcode::Dot(_) | Opcode::Convolution { .. } => true,
            Opcode::Reshape | Opcode::Transpose { .. } => *user != self.module.root && self.only_matmuls_read(*user),
            _ => false,
        };
        !users.is_empty() && users.iter().all(is_matmul)
    }
}
