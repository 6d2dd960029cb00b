//! Convolution as matrix products, and pooling.
//!
//! Channels are on the partitions. A convolution is one product for each tap of its kernel, accumulated in PSUM; where
//! there are few channels the taps of a kernel row share one pass. An input of very few channels (an image) would leave
//! the array nearly empty: its patches are gathered by DMA first, row by row, before the convolution starts.

use super::CodegenError;
use super::emitter::{Purpose, Transfer};
use super::product::{Columns, Eviction, Product, Stationary};
use super::program::{Generator, latest};
use super::transfer::WeightMatrix;
use super::value::{Layout, Resident, Value, blocks};
use crate::compiler::hlo::{HloInstruction, InstrId, Opcode};
use crate::machine::cost::decisions::{FEW_CHANNELS, POOL_CHUNK_ELEMENTS};
use crate::machine::isa::{DmaDirection, DmaQueue, Engine, Op, Wait};
use crate::tensor::kernels::WindowDim;

impl Generator<'_> {
    /// A convolution with its epilogue.
    pub(super) fn convolution(
        &mut self,
        id: InstrId,
        window: &[WindowDim; 2],
        groups: u64,
        result: InstrId,
        epilogue: &[(InstrId, &HloInstruction)],
    ) -> Result<(), CodegenError> {
        let (image_id, weight_id) = (self.operand(id, 0)?, self.operand(id, 1)?);
        let Value::Weight { parameter, via } = self.value(weight_id)?.clone() else {
            return Err(self.unsupported(id, "a convolution whose kernel is not a weight"));
        };
        let image = self.instruction(image_id)?.shape.dims.clone();
        let out = self.instruction(id)?.shape.dims.clone();
        let ([n, channels, in_h, in_w], [_, columns, out_h, out_w]) = (image.as_slice(), out.as_slice()) else {
            return Err(self.unsupported(id, "a convolution of other than four dimensions"));
        };
        let channels = channels / groups.max(1);
        let transposed = window[0].base_dilation > 1 || window[1].base_dilation > 1;
        let taps = window[0].size * window[1].size;
        // A transposed convolution spreads each input pixel over its taps.
        let pixels = if transposed { n * in_h * in_w } else { n * out_h * out_w };
        let image = self.in_layout(image_id, id, Layout::FeatureMajor)?;
        let image_slices = self.slices(&image, self.element_bytes(image_id));
        let mut rows_ready = image.ready;
        let few = is_gathered(channels, window);
        if few {
            rows_ready = vec![self.gather_patches(id, [*n, *out_h, *out_w], channels * taps, window, &rows_ready)];
        }
        let depth = channels * taps;
        let mut resident = Resident::of(Layout::FeatureMajor, n * out_h * out_w, *columns);
        let element_bytes = self.element_bytes(result);
        resident.bytes = self.resident_bytes(resident.partition_elements, resident.free_elements, element_bytes);
        let room = self.take(result, resident.bytes)?;
        let (steps, apart) = self.plan_eviction(epilogue, id, &resident)?;
        let product = Product {
            rows: pixels,
            columns: *columns,
            passes: passes(channels, window, few, u64::from(self.precision.contracted)),
            depth,
            stationary: Stationary::Columns,
            rows_ready,
            batch: 1,
            row_groups: 1,
            slices: self.slices(&resident, element_bytes).max(image_slices),
        };
        self.flops += 2 * pixels * depth * columns;
        let matrix = Columns::Weight(WeightMatrix { parameter, via, depth, columns: *columns });
        let eviction = Eviction { steps: &steps, purpose: self.eviction_purpose(id, result, epilogue), room: &room };
        let purpose = Purpose::execution(self.sources.of(id));
        resident.ready = self.product(&product, &matrix, purpose, &eviction)?;
        let purpose = Purpose::execution(self.sources.of(result));
        self.run_apart(&apart, &mut resident, purpose);
        self.set_resident(result, resident);
        Ok(())
    }

    /// Whether only convolutions of few channels read an input, which gather it from device memory, in whatever order its dimensions
    /// lie there.
    pub(super) fn only_gathered(&self, id: InstrId) -> bool {
        let gathers = |user: &InstrId| match &self.module.instructions[*user].opcode {
            Opcode::Convolution { window, feature_group_count } => {
                let channels = self.module.instructions[id].shape.dims.get(1).copied().unwrap_or(0);
                is_gathered(channels / feature_group_count.max(&1), window)
            }
            Opcode::Transpose { .. } => self.only_gathered(*user),
            _ => false,
        };
        !self.users[id].is_empty() && self.users[id].iter().all(gathers)
    }

    /// Copies the patches of an image next to one another, in short rows: what one tap of the kernel meets along a row of
    /// the result, or, where that makes fewer, what one row of the kernel meets for a pixel of the result.
    fn gather_patches(
        &mut self,
        id: InstrId,
        [n, out_h, out_w]: [u64; 3],
        depth: u64,
        window: &[WindowDim; 2],
        after: &[Wait],
    ) -> Wait {
        let by_tap = n * out_h * depth;
        let by_kernel_row = n * out_h * out_w * depth / window[1].size.max(1);
        let source = self.sources.of(id);
        let transfer = Transfer {
            queue: DmaQueue::Io,
            direction: DmaDirection::HbmToSbuf,
            bytes: n * out_h * out_w * depth * self.precision.operand_bytes,
            partitions: u32::try_from(depth).unwrap_or(u32::MAX).min(self.core.partitions),
            short_descriptors: by_tap.min(by_kernel_row),
        };
        self.emitter.dma(transfer, source, after)
    }

    /// Pooling over windows: every element under a window is read once for it.
    pub(super) fn reduce_window(&mut self, id: InstrId, window: &[WindowDim; 2]) -> Result<(), CodegenError> {
        let operand_id = self.operand(id, 0)?;
        let operand = self.in_layout(operand_id, id, Layout::FeatureMajor)?;
        let shape = &self.instruction(id)?.shape;
        let channels = shape.dims.get(1).copied().unwrap_or(1).max(1);
        let mut resident = Resident::of(Layout::FeatureMajor, shape.elements() / channels, channels);
        let element_bytes = self.element_bytes(id);
        resident.bytes = self.resident_bytes(resident.partition_elements, resident.free_elements, element_bytes);
        let mut after = operand.ready.clone();
        after.extend(self.take(id, resident.bytes)?);
        let purpose = Purpose::execution(self.sources.of(id));
        let read = resident.free_elements * window[0].size * window[1].size;
        let mut ready = Vec::new();
        for _ in blocks(resident.partition_elements, self.core.partitions) {
            for free in blocks(read, POOL_CHUNK_ELEMENTS) {
                ready.push(self.emitter.instruction(Engine::Vector, Op::TensorReduce { free }, purpose, &after));
            }
        }
        resident.ready = latest(ready);
        self.set_resident(id, resident);
        Ok(())
    }
}

fn is_gathered(channels: u64, window: &[WindowDim; 2]) -> bool {
    let transposed = window.iter().any(|w| w.base_dilation > 1);
    channels < FEW_CHANNELS && window[0].size * window[1].size > 1 && !transposed
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
