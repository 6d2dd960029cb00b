//! Products with weights of a few bits, packed into bytes.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::convert::u64_to_f64;
use ns_base::refuse;
use ns_program::{Binary, ElementType, InstructionId};

use super::product::count_matmul;

/// The note for every file with packed weights.
const NOTE: &str = "Weights of a few bits are unpacked when the model is loaded: a NeuronCore multiplies no numbers of fewer than 8 bits.";

/// Whether a node's groups are in the order of its rows; any other order is estimated.
fn is_known(site: &Site<'_, '_>) -> bool {
    site.option(4).is_none_or(|order| site.dims(order) == [0])
}

/// `MatMulNBits`: the weight is `[columns, blocks, bytes]`, each block with a scale and, perhaps, a zero point.
pub(super) fn matmul_of_bits(site: &mut Site<'_, '_>) -> Results {
    if !is_known(site) {
        return Err(Failure::Unknown);
    }
    let (x, packed, scales) = (site.x(0)?, site.x(1)?, site.x(2)?);
    site.importer.notes.insert(NOTE.to_owned());
    let [rows, columns, bits, block] = sizes(site)?;
    let blocks = rows.div_ceil(block);
    let element = site.element(scales);
    let steps = unpacked(site, packed, bits)?;
    let wanted = [columns, blocks, block];
    let steps = site.b().reshape(steps, &wanted)?;
    let steps = site.b().convert(steps, element)?;
    let column = [columns, blocks, 1];
    let centred = match site.option(3) {
        None => site.b().with_number(Binary::Sub, steps, u64_to_f64(1u64 << (bits - 1)))?,
        Some(zeros) => {
            let zeros = zero_points(site, zeros, bits, [columns, blocks])?;
            let zeros = site.b().reshape(zeros, &column)?;
            let zeros = site.b().convert(zeros, element)?;
            site.b().sub(steps, zeros)?
        }
    };
    let scales = site.b().reshape(scales, &column)?;
    let weight = site.b().mul(centred, scales)?;
    let weight = site.b().reshape(weight, &[columns, blocks.saturating_mul(block)])?;
    let weight = site.b().slice_dim(weight, 1, 0, rows, 1)?;
    let own = site.element(x);
    let weight = site.b().convert(weight, own)?;
    let weight = site.b().swap_dims(weight, 0, 1)?;
    let product = site.b().matmul(x, weight)?;
    count_matmul(site, x, product);
    Ok(vec![site.plus(product, 5)?])
}

/// Rows and columns of the weight, bits of a number, numbers of a block.
fn sizes(site: &Site<'_, '_>) -> Result<[u64; 4], Failure> {
    let mut found = [0; 4];
    for (slot, (name, default)) in found.iter_mut().zip([("K", 0), ("N", 0), ("bits", 4), ("block_size", 0)]) {
        let n = site.int(name, default)?;
        let n = u64::try_from(n).ok().filter(|&n| n > 0 && n < 1 << 31);
        *slot = n.ok_or_else(|| site.fault(refuse!("has no usable attribute {name}")))?;
    }
    if !matches!(found[2], 2 | 4 | 8) {
        return Err(site.fault(refuse!("of {} bits is not known", found[2])));
    }
    Ok(found)
}

/// The numbers in the bytes of an array, the lowest bits first, along its last dimension.
fn unpacked(site: &mut Site<'_, '_>, packed: InstructionId, bits: u64) -> Result<InstructionId, Failure> {
    let packed = site.b().convert(packed, ElementType::S32)?;
    let mut dims = site.dims(packed);
    let each = 8 / bits;
    let mut parts = Vec::new();
    for i in 0..each {
        let moved = site.b().with_number(Binary::ShiftRightLogical, packed, u64_to_f64(i * bits))?;
        parts.push(site.b().with_number(Binary::And, moved, u64_to_f64((1u64 << bits) - 1))?);
    }
    let stacked = site.b().stack(&parts, dims.len())?;
    if let Some(last) = dims.last_mut() {
        *last = last.saturating_mul(each);
    }
    Ok(site.b().reshape(stacked, &dims)?)
}

/// Zero points of the blocks: numbers as they are, or packed, each column's with whole bytes.
fn zero_points(
    site: &mut Site<'_, '_>,
    zeros: InstructionId,
    bits: u64,
    [columns, blocks]: [u64; 2],
) -> Result<InstructionId, Failure> {
    if !site.element(zeros).is_integer() {
        return Ok(zeros);
    }
    let bytes = blocks.saturating_mul(bits).div_ceil(8);
    let zeros = site.b().reshape(zeros, &[columns, bytes])?;
    let zeros = unpacked(site, zeros, bits)?;
    Ok(site.b().slice_dim(zeros, 1, 0, blocks, 1)?)
}
