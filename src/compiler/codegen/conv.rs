//! Convolution as matrix products, and pooling.
//!
//! Channels are on the partitions. A convolution is one product for each tap of its kernel, accumulated in PSUM; where
//! there are few channels the taps of a kernel row share one pass. An input of very few channels (an image) would leave
//! the array nearly empty: its patches are gathered by DMA first, row by row, before the convolution starts.

use super::chain::plan_eviction;
use super::code::Code;
use super::elementwise::run_apart;
use super::emitter::{Purpose, Transfer};
use super::layout::{element_bytes, is_gathered, is_input, resident_bytes, slices};
use super::places::Places;
use super::plan::Plan;
use super::product::{Columns, Eviction, Product, ProductWithEpilogue, Stationary, product};
use super::spill::take;
use super::turn::in_layout;
use super::value::{Layout, Resident, Value, blocks, partitions_used};
use super::weights::WeightMatrix;
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_machine::cost::decisions::{POOL_CHUNK_ELEMENTS, STRIDED_ELEMENTS};
use ns_machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};
use ns_tensor::kernels::WindowDim;

/// Passes over the elements under all windows that the gradient of a maximum takes: one compares, one adds.
const PASSES_OF_SELECTION: u32 = 2;

/// Sizes of a convolution.
struct ConvShape<'w> {
    window: &'w [WindowDim; 2],
    image: InstrId,
    /// The kernel, and the view through which it is read.
    weight: (InstrId, InstrId),
    /// Input channels that each result channel reads.
    channels: u64,
    /// Columns of the result: its channels.
    columns: u64,
    /// Images, rows and columns of the result.
    out: [u64; 3],
    /// Rows of the product.
    pixels: u64,
}

/// Emits a convolution with its epilogue.
pub(super) fn convolution(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    (window, groups): (&[WindowDim; 2], u64),
    evicted: &ProductWithEpilogue<'_>,
) -> Result<(), StageError> {
    let &ProductWithEpilogue { id, result, epilogue } = evicted;
    if !matches!(places.value(plan, plan.operand(id, 1)?)?, Value::Weight { .. }) {
        return kernel_gradient(plan, places, code, evicted);
    }
    let shape = ConvShape::of(plan, places, id, window, groups)?;
    let depth = shape.channels * window[0].size * window[1].size;
    let image = in_layout(plan, places, code, shape.image, id, Layout::FeatureMajor)?;
    let image_slices = slices(plan.core, &image, element_bytes(plan, shape.image));
    let mut rows_ready = image.ready;
    let few = is_gathered(shape.channels, window);
    if few {
        rows_ready = vec![gather_patches(plan, code, id, &shape, depth, &rows_ready)];
    }
    let mut resident = Resident::of(Layout::FeatureMajor, shape.out.iter().product(), shape.columns);
    let element_bytes = element_bytes(plan, result);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes);
    let room = take(plan, places, code, result, resident.bytes)?;
    let (steps, apart) = plan_eviction(plan, places, code, epilogue, id, &resident)?;
    let nest = Product {
        own_columns: false,
        rows: shape.pixels,
        columns: shape.columns,
        array_passes: plan.array_passes(id),
        passes: passes(shape.channels, window, few, u64::from(plan.precision.contracted)),
        depth,
        stationary: Stationary::Columns,
        rows_ready,
        batch: 1,
        row_groups: 1,
        slices: slices(plan.core, &resident, element_bytes).max(image_slices),
    };
    code.flops += 2 * shape.pixels * depth * shape.columns;
    let (parameter, via) = shape.weight;
    let matrix = Columns::Weight(WeightMatrix { parameter, via, depth, columns: shape.columns });
    let eviction = Eviction { steps: &steps, purpose: evicted.purpose(code), room: &room };
    let purpose = code.execution(id);
    resident.ready = product(plan, places, code, &nest, &matrix, purpose, &eviction)?;
    let purpose = Purpose::execution(code.sources.of(result));
    run_apart(plan.core.partitions, code, &apart, &mut resident, purpose);
    places.set_resident(result, resident);
    Ok(())
}

/// A convolution whose kernel is a value: the gradient of a weight, for which images and channels changed places. It is one product
/// that contracts all pixels, which both operands have on the partitions.
fn kernel_gradient(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    evicted: &ProductWithEpilogue<'_>,
) -> Result<(), StageError> {
    let &ProductWithEpilogue { id, result, epilogue } = evicted;
    let (image_id, kernel_id) = (plan.operand(id, 0)?, plan.operand(id, 1)?);
    let out = &plan.instruction(id)?.shape;
    let columns = out.dims.get(1).copied().unwrap_or(1).max(1);
    let rows = out.elements() / columns;
    let depth: u64 = plan.instruction(kernel_id)?.shape.dims.iter().skip(1).product();
    let image = in_layout(plan, places, code, image_id, id, Layout::RowMajor)?;
    let kernel = in_layout(plan, places, code, kernel_id, id, Layout::RowMajor)?;
    let image_slices = slices(plan.core, &image, element_bytes(plan, image_id));
    let mut resident = Resident::of(Layout::FeatureMajor, rows, columns);
    let element_bytes = element_bytes(plan, result);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes);
    let room = take(plan, places, code, result, resident.bytes)?;
    let (steps, apart) = plan_eviction(plan, places, code, epilogue, id, &resident)?;
    let nest = Product {
        own_columns: false,
        rows,
        columns,
        array_passes: plan.array_passes(id),
        passes: depth.div_ceil(u64::from(plan.precision.contracted)),
        depth,
        stationary: Stationary::Columns,
        rows_ready: image.ready,
        batch: 1,
        row_groups: 1,
        slices: slices(plan.core, &resident, element_bytes).max(image_slices),
    };
    code.flops += 2 * rows * depth * columns;
    let eviction = Eviction { steps: &steps, purpose: evicted.purpose(code), room: &room };
    let purpose = code.execution(id);
    resident.ready = product(plan, places, code, &nest, &Columns::Resident(kernel.ready), purpose, &eviction)?;
    let purpose = Purpose::execution(code.sources.of(result));
    run_apart(plan.core.partitions, code, &apart, &mut resident, purpose);
    places.set_resident(result, resident);
    Ok(())
}

impl<'w> ConvShape<'w> {
    fn of(
        plan: &Plan<'_>,
        places: &Places,
        id: InstrId,
        window: &'w [WindowDim; 2],
        groups: u64,
    ) -> Result<Self, StageError> {
        let (image_id, weight_id) = (plan.operand(id, 0)?, plan.operand(id, 1)?);
        let &Value::Weight { parameter, via } = places.value(plan, weight_id)? else {
            return Err(plan.unsupported(id, "a convolution whose kernel is not a weight"));
        };
        let (image, out) = (&plan.instruction(image_id)?.shape.dims, &plan.instruction(id)?.shape.dims);
        let (&[n, channels, in_h, in_w], &[_, columns, out_h, out_w]) = (image.as_slice(), out.as_slice()) else {
            return Err(plan.unsupported(id, "a convolution of other than four dimensions"));
        };
        // A transposed convolution spreads each input pixel over its taps.
        let transposed = window[0].base_dilation > 1 || window[1].base_dilation > 1;
        Ok(Self {
            window,
            image: image_id,
            weight: (parameter, via),
            channels: channels / groups.max(1),
            columns,
            out: [n, out_h, out_w],
            pixels: if transposed { n * in_h * in_w } else { n * out_h * out_w },
        })
    }
}

/// Copies the patches of an image next to one another, in short rows. A row holds the elements that one tap of the kernel reads
/// along a row of the result, or that one row of the kernel reads for a pixel of the result, whichever makes fewer
/// rows.
fn gather_patches(
    plan: &Plan<'_>,
    code: &mut Code<'_>,
    id: InstrId,
    shape: &ConvShape<'_>,
    depth: u64,
    after: &[Wait],
) -> Wait {
    let [n, out_h, out_w] = shape.out;
    let image = shape.image;
    let gathered_bytes = if is_input(plan, image) { plan.io_bytes(image) } else { plan.operand_bytes(image) };
    let row_descriptors = if shape.window[1].stride > 1 { out_w.div_ceil(STRIDED_ELEMENTS) } else { 1 };
    let by_tap = n * out_h * depth * row_descriptors;
    let by_kernel_row = n * out_h * out_w * depth / shape.window[1].size.max(1);
    let transfer = Transfer {
        queue: DmaQueue::Io,
        direction: DmaDirection::HbmToSbuf,
        bytes: n * out_h * out_w * depth * gathered_bytes,
        partitions: partitions_used(depth, plan.core.partitions),
        descriptors: by_tap.min(by_kernel_row),
    };
    let source = code.sources.of(id);
    code.emitter.dma(transfer, source, after)
}

/// Pooling over windows: an element is read once for each window that covers it.
pub(super) fn reduce_window(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    window: &[WindowDim; 2],
) -> Result<(), StageError> {
    let operand = in_layout(plan, places, code, plan.operand(id, 0)?, id, Layout::FeatureMajor)?;
    let shape = &plan.instruction(id)?.shape;
    let channels = shape.dims.get(1).copied().unwrap_or(1).max(1);
    let mut resident = Resident::of(Layout::FeatureMajor, shape.elements() / channels, channels);
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, id));
    let mut after = operand.ready;
    after.extend(take(plan, places, code, id, resident.bytes)?);
    let purpose = code.execution(id);
    let read = resident.free_elements * window[0].size * window[1].size;
    let pieces =
        blocks(resident.partition_elements, plan.core.partitions).flat_map(|_| blocks(read, POOL_CHUNK_ELEMENTS));
    let reductions = pieces.map(|free| (Engine::Vector, Op::TensorReduce { free }));
    resident.ready = code.run(reductions, purpose, &after);
    places.set_resident(id, resident);
    Ok(())
}

/// The gradient of a maximum over windows: each window's elements are compared with its maximum, then added to.
pub(super) fn select_and_scatter(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    id: InstrId,
    window: &[WindowDim; 2],
) -> Result<(), StageError> {
    let operand = in_layout(plan, places, code, plan.operand(id, 0)?, id, Layout::FeatureMajor)?;
    let gradient = in_layout(plan, places, code, plan.operand(id, 1)?, id, Layout::FeatureMajor)?;
    let mut resident = Resident { ready: Vec::new(), ..operand.clone() };
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes(plan, id));
    let mut after = operand.ready;
    after.extend(gradient.ready);
    after.extend(take(plan, places, code, id, resident.bytes)?);
    let purpose = code.execution(id);
    let read = gradient.free_elements * window[0].size * window[1].size;
    for _ in 0..PASSES_OF_SELECTION {
        let pieces =
            blocks(resident.partition_elements, plan.core.partitions).flat_map(|_| blocks(read, POOL_CHUNK_ELEMENTS));
        let compared = pieces.map(|free| (Engine::Vector, Op::TensorReduce { free }));
        after = code.run(compared, purpose, &after);
    }
    resident.ready = after;
    places.set_resident(id, resident);
    Ok(())
}

/// Passes through the array: taps times blocks of channels, or fewer where taps share the rows of the array.
fn passes(channels: u64, window: &[WindowDim; 2], gathered: bool, partitions: u64) -> u64 {
    let (height, width) = (window[0].size, window[1].size);
    if gathered {
        (channels * height * width).div_ceil(partitions)
    } else if channels < partitions {
        // The taps of one kernel row lie side by side in the image, so they fill the array together.
        height * (channels * width).div_ceil(partitions)
    } else {
        height * width * channels.div_ceil(partitions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn taps_of_few_channels_share_passes() {
        let three = [WindowDim::new(3, 1, 1), WindowDim::new(3, 1, 1)];
        assert_eq!(passes(64, &three, false, 128), 6);
        assert_eq!(passes(256, &three, false, 128), 18);
        let seven = [WindowDim::new(7, 2, 3), WindowDim::new(7, 2, 3)];
        assert_eq!(passes(3, &seven, true, 128), 2);
    }
}
