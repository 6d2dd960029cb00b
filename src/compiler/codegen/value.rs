//! Where a value is while code is generated.

use crate::compiler::hlo::InstrId;
use crate::machine::isa::Wait;
use crate::tensor::Shape;

/// How a matrix lies in SBUF. A shape `[.., C]` is a matrix of `rows` (all leading dimensions) by `C` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Columns on the partitions: what a matmul reads and writes.
    FeatureMajor,
    /// Rows on the partitions: what reductions over the last dimension read.
    RowMajor,
}

/// A matrix in SBUF.
#[derive(Clone, Debug)]
pub(super) struct Resident {
    pub layout: Layout,
    /// Elements along the partitions, over all blocks of 128.
    pub partition_elements: u64,
    /// Elements along the free dimension of a partition.
    pub free_elements: u64,
    /// SBUF it takes.
    pub bytes: u64,
    /// Complete when the value is there.
    pub ready: Vec<Wait>,
    /// The same for each block of 128 partitions, where elementwise work made it; else empty. Elementwise work goes on
    /// block by block with what elementwise work has made; products wait for the whole.
    pub tiles: Vec<Vec<Wait>>,
}

impl Resident {
    /// A matrix of `rows` by `columns` in a layout, with nothing known yet of its space and its completion.
    pub fn of(layout: Layout, rows: u64, columns: u64) -> Self {
        let (partition_elements, free_elements) = match layout {
            Layout::FeatureMajor => (columns, rows),
            Layout::RowMajor => (rows, columns),
        };
        Self { layout, partition_elements, free_elements, bytes: 0, ready: Vec::new(), tiles: Vec::new() }
    }

    /// Blocks of partitions it takes.
    pub fn blocks(&self, partitions: u32) -> usize {
        self.partition_elements.div_ceil(u64::from(partitions.max(1))) as usize
    }

    /// What must be complete before a block is read.
    pub fn ready_block(&self, block: usize) -> &[Wait] {
        self.tiles.get(block).map_or(&self.ready, Vec::as_slice)
    }
}

/// A value of the module.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A weight in device memory, loaded where it is used.
    Weight {
        /// The parameter.
        parameter: InstrId,
        /// Whether the use reads it transposed (it is stored that way: weights are laid out when the model is loaded).
        via: InstrId,
    },
    /// One number everywhere.
    Splat,
    /// A value repeated along other dimensions; not materialised.
    Broadcast {
        /// What is repeated.
        of: InstrId,
        /// The broadcast instruction.
        via: InstrId,
        /// Whether it runs along the columns (a bias) or along the rows (a row statistic).
        along_columns: bool,
    },
    /// In SBUF.
    Resident(Resident),
}

/// Rows and columns of a shape seen as a matrix.
pub(super) fn matrix_of(shape: &Shape) -> (u64, u64) {
    let columns = shape.dims.last().copied().unwrap_or(1);
    let rows: u64 = shape.dims.iter().rev().skip(1).product();
    (rows.max(1), columns.max(1))
}

/// Blocks of at most `block` that cover `total`, largest first.
pub(super) fn blocks(total: u64, block: u32) -> impl Iterator<Item = u32> {
    let block = u64::from(block.max(1));
    (0..total.div_ceil(block)).map(move |i| u32::try_from((total - i * block).min(block)).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_cover_everything_once() {
        assert_eq!(blocks(784, 128).collect::<Vec<_>>(), [128, 128, 128, 128, 128, 128, 16]);
        assert_eq!(blocks(4, 128).collect::<Vec<_>>(), [4]);
        assert_eq!(matrix_of(&Shape::f32([2, 3, 5])), (6, 5));
        assert_eq!(matrix_of(&Shape::f32([])), (1, 1));
    }
}
