//! Places of values while code is generated.

use crate::hlo::InstrId;
use ns_base::convert::u64_to_u32;
use ns_machine::isa::Wait;
use ns_tensor::Shape;

/// How a matrix lies in SBUF. A shape `[.., C]` is a matrix of `rows` (all leading dimensions) by `C` columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// Columns on the partitions: the layout that a matmul reads and writes.
    FeatureMajor,
    /// Rows on the partitions: the layout that reductions over the last dimension read.
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
    /// What must be complete before the value is read.
    pub ready: Vec<Wait>,
    /// Equal parts along the partitions that each start at a block of their own: one for each head of attention.
    pub groups: u64,
}

impl Resident {
    /// A matrix of `rows` by `columns` in a layout; its space and its completion are not known yet.
    pub fn of(layout: Layout, rows: u64, columns: u64) -> Self {
        let (partition_elements, free_elements) = match layout {
            Layout::FeatureMajor => (columns, rows),
            Layout::RowMajor => (rows, columns),
        };
        Self { layout, partition_elements, free_elements, bytes: 0, ready: Vec::new(), groups: 1 }
    }

    /// Partitions it takes on the core.
    pub fn partitions_used(&self, partitions: u32) -> u32 {
        partitions_used(self.partition_elements, partitions)
    }

    /// Blocks of partitions it takes, as the number of partitions used in each.
    pub fn partition_blocks(&self, partitions: u32) -> impl Iterator<Item = u32> + use<> {
        let (groups, each) = (self.groups.max(1), self.partition_elements.div_ceil(self.groups.max(1)));
        (0..groups).flat_map(move |_| blocks(each, partitions))
    }
}

/// A value of the module.
#[derive(Clone, Debug)]
pub(super) enum Value {
    /// A weight in device memory, loaded when it is used.
    Weight {
        parameter: InstrId,
        /// Whether the reader wants it transposed (it is stored that way: weights are laid out when the model is
        /// loaded).
        via: InstrId,
    },
    /// One number in every element.
    Splat,
    /// A value repeated along other dimensions; not materialised.
    Broadcast {
        of: InstrId,
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

/// How many of the core's partitions a number of elements takes.
pub(super) fn partitions_used(elements: u64, partitions: u32) -> u32 {
    u64_to_u32(elements).min(partitions)
}

/// Blocks of at most `block` that cover `total`, largest first.
pub(super) fn blocks(total: u64, block: u32) -> impl Iterator<Item = u32> + use<> {
    let block = u64::from(block.max(1));
    (0..total.div_ceil(block)).map(move |i| u64_to_u32((total - i * block).min(block)))
}

/// How many groups of `each` partitions share a block: an operand of the array starts at a quarter or a half of a
/// block.
fn groups_in_block(each: u64, partitions: u32) -> u64 {
    let partitions = u64::from(partitions);
    if each * 4 <= partitions {
        4
    } else if each * 2 <= partitions {
        2
    } else {
        1
    }
}

/// Blocks of stationary rows: `total` rows in equal groups, each of which must start where the array can read.
pub(super) fn grouped_blocks(total: u64, groups: u64, partitions: u32) -> impl Iterator<Item = u32> + use<> {
    let groups = groups.max(1);
    let each = total.div_ceil(groups);
    let together = if groups > 1 { groups_in_block(each, partitions) } else { 1 };
    let stride = u64::from(partitions) / together;
    (0..groups.div_ceil(together)).flat_map(move |first| {
        let here = (groups - first * together).min(together);
        blocks((here - 1) * stride + each, partitions)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_groups_share_a_block_at_quarters_and_halves() {
        assert_eq!(grouped_blocks(3 * 197, 3, 128).collect::<Vec<_>>(), [128, 69, 128, 69, 128, 69]);
        assert_eq!(grouped_blocks(5 * 9, 5, 128).collect::<Vec<_>>(), [105, 9]);
        assert_eq!(grouped_blocks(3 * 50, 3, 128).collect::<Vec<_>>(), [114, 50]);
        assert_eq!(grouped_blocks(150, 1, 128).collect::<Vec<_>>(), [128, 22]);
    }

    #[test]
    fn blocks_cover_everything_once() {
        assert_eq!(blocks(784, 128).collect::<Vec<_>>(), [128, 128, 128, 128, 128, 128, 16]);
        assert_eq!(blocks(4, 128).collect::<Vec<_>>(), [4]);
        assert_eq!(matrix_of(&Shape::f32([2, 3, 5])), (6, 5));
        assert_eq!(matrix_of(&Shape::f32([])), (1, 1));
    }
}
