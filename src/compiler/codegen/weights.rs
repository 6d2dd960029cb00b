//! Weights: loaded into SBUF on their own queue as early as there is room, and only once if they stay there.

use super::code::Code;
use super::emitter::Transfer;
use super::layout::sbuf_bytes;
use super::places::{Places, SbufWeight};
use super::plan::Plan;
use super::spill::take;
use super::value::{Layout, Resident, blocks, matrix_of, partitions_used};
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_machine::isa::{DmaDirection, DmaQueue, Wait};

/// A weight as the stationary operand of a dot.
pub(super) struct WeightMatrix {
    pub parameter: InstrId,
    /// The view through which the dot reads it.
    pub via: InstrId,
    /// Contracted size.
    pub depth: u64,
    /// Result columns.
    pub columns: u64,
}

/// Loads a weight matrix in blocks of result columns, once; returns the completion of each block.
pub(super) fn load_matrix(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    matrix: &WeightMatrix,
) -> Result<Vec<Wait>, StageError> {
    if let Some(loaded) = places.loaded.get(&matrix.parameter) {
        return Ok(loaded.blocks.clone());
    }
    let mut loaded = SbufWeight::default();
    for block in blocks(matrix.columns, plan.core.partitions) {
        let (wait, bytes) = load_block(plan, places, code, matrix, block)?;
        loaded.blocks.push(wait);
        loaded.bytes += bytes;
    }
    let blocks = loaded.blocks.clone();
    places.loaded.insert(matrix.parameter, loaded);
    Ok(blocks)
}

/// Loads one block of a weight matrix for the product that reads it; returns its completion and the SBUF it takes.
pub(super) fn load_block(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    matrix: &WeightMatrix,
    columns: u32,
) -> Result<(Wait, u64), StageError> {
    let element_bytes = plan.operand_bytes(matrix.parameter);
    let sbuf_bytes = sbuf_bytes(plan.core, matrix.depth, u64::from(columns), element_bytes);
    let after = take(plan, places, code, matrix.via, sbuf_bytes)?;
    let (elements, bytes) = (matrix.depth, matrix.depth * u64::from(columns) * element_bytes);
    let lines = u64::from(partitions_used(elements, plan.core.partitions));
    let descriptors = share_of_lines(lines, columns, matrix.columns);
    let wait = load(plan, places, code, matrix.via, (elements, bytes, descriptors), after);
    Ok((wait, sbuf_bytes))
}

/// Descriptors of a block of a matrix. The matrix lies in device memory as the partitions read it, a line for each; its blocks share the
/// lines.
fn share_of_lines(lines: u64, columns: u32, of: u64) -> u64 {
    lines * u64::from(columns) / of.max(1)
}

/// A weight that is used as it is, like a table of positions: loaded whole, once.
pub(super) fn load_whole(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    (parameter, via): (InstrId, InstrId),
    layout: Layout,
) -> Result<Resident, StageError> {
    let (rows, columns) = matrix_of(&plan.instruction(via)?.shape);
    let mut resident = Resident::of(layout, rows, columns);
    resident.ready = vec![load_vector(plan, places, code, parameter, via)?];
    Ok(resident)
}

/// Loads a vector (a bias) with one element per partition, once.
pub(super) fn load_vector(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    parameter: InstrId,
    via: InstrId,
) -> Result<Wait, StageError> {
    if let Some(wait) = places.loaded.get(&parameter).and_then(|l| l.blocks.last()) {
        return Ok(*wait);
    }
    let elements = plan.instruction(parameter)?.shape.elements();
    let element_bytes = plan.io_bytes(parameter);
    let sbuf_bytes = sbuf_bytes(plan.core, elements, 1, element_bytes);
    let after = take(plan, places, code, via, sbuf_bytes)?;
    let lines = u64::from(partitions_used(elements, plan.core.partitions));
    let wait = load(plan, places, code, via, (elements, elements * element_bytes, lines), after);
    places.loaded.insert(parameter, SbufWeight { blocks: vec![wait], bytes: sbuf_bytes });
    Ok(wait)
}

/// The transfer of a weight with a given number of elements along the partitions, of bytes and of descriptors.
fn load(
    plan: &Plan<'_>,
    places: &Places,
    code: &mut Code<'_>,
    via: InstrId,
    (elements, bytes, descriptors): (u64, u64, u64),
    mut after: Vec<Wait>,
) -> Wait {
    after.extend_from_slice(&places.staged);
    let transfer = Transfer {
        queue: DmaQueue::Weights,
        direction: DmaDirection::HbmToSbuf,
        bytes,
        partitions: partitions_used(elements, plan.core.partitions),
        descriptors,
    };
    let source = code.sources.of_reader(via);
    code.emitter.dma(transfer, source, &after)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn blocks_share_the_lines_of_their_matrix(lines in 1u64..=128, columns in 1u64..60_000) {
            let shares: Vec<u64> = blocks(columns, 128).map(|block| share_of_lines(lines, block, columns)).collect();
            let all: u64 = shares.iter().sum();
            prop_assert!(all <= lines && lines < all + shares.len() as u64 + 1, "{shares:?}");
        }
    }
}
