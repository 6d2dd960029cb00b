//! Matrix products: tiles for the array, accumulation in PSUM, eviction by the epilogue.

use super::CodegenError;
use super::emitter::Purpose;
use super::program::{Generator, latest};
use super::transfer::WeightMatrix;
use super::value::{Layout, Resident, Value, blocks, matrix_of};
use crate::compiler::hlo::{DotDims, HloInstruction, InstrId};
use crate::machine::isa::{Engine, Op, Wait};

/// The stationary operand.
enum Stationary {
    /// A weight that stays in SBUF: one completion per block of 128 result columns.
    Kept(Vec<Wait>),
    /// A weight that is loaded for this use alone, block by block, with the space each takes.
    Streamed {
        /// The parameter's bytes per column.
        matrix: WeightMatrix,
    },
    /// A value in SBUF: one completion for all.
    Whole(Vec<Wait>),
}

/// Banks of PSUM in rotation, with the eviction that frees each.
pub(super) struct PsumBanks {
    evicted: Vec<Option<Wait>>,
    next: usize,
}

impl PsumBanks {
    pub fn new(banks: u32) -> Self {
        Self { evicted: vec![None; banks.max(1) as usize], next: 0 }
    }

    /// The next bank and the eviction that must be complete before it is written.
    fn take(&mut self) -> (usize, Option<Wait>) {
        let bank = self.next;
        self.next = (self.next + 1) % self.evicted.len();
        (bank, self.evicted[bank])
    }
}

impl Generator<'_> {
    /// A dot with its epilogue: the members of the fusion or elementwise instruction that alone reads it. Without one
    /// the product is copied to SBUF. The result belongs to `result`, the epilogue's id or the dot's own.
    pub(super) fn dot(
        &mut self,
        id: InstrId,
        dims: &DotDims,
        result: InstrId,
        epilogue: &[(InstrId, &HloInstruction)],
    ) -> Result<(), CodegenError> {
        let (lhs_id, rhs_id, rows, depth, columns) = self.dot_shape(id, dims)?;
        let lhs = self.feature_major(lhs_id, id)?;
        let stationary = self.stationary(rhs_id, depth, columns)?;
        let bytes = self.resident_bytes(columns, rows, self.element_bytes(result));
        let room = self.take(result, bytes)?;
        let steps = self.plan_steps(epilogue, id, Layout::FeatureMajor)?;
        let product = Purpose::execution(self.sources.of(id));
        // Moving a bare product out of PSUM is data transfer; an epilogue is arithmetic of its own operation.
        let evict = if epilogue.is_empty() {
            Purpose::data_transfer(product.source)
        } else {
            Purpose::execution(self.sources.of(result))
        };
        self.flops += 2 * rows * depth * columns;
        let row_blocks: Vec<u32> = blocks(rows, self.core.moving_free_max).collect();
        let mut ready = Vec::new();
        // Half of the banks accumulate while the other half is evicted.
        for group in row_blocks.chunks((self.core.psum_banks / 2).max(1) as usize) {
            for (n, stationary_columns) in blocks(columns, self.core.partitions).enumerate() {
                let (loaded, streamed_bytes) = match &stationary {
                    Stationary::Kept(waits) => (waits.get(n..=n).unwrap_or(&[]).to_vec(), 0),
                    Stationary::Whole(waits) => (waits.clone(), 0),
                    Stationary::Streamed { matrix } => {
                        let (wait, bytes) = self.load_block(matrix, stationary_columns)?;
                        (vec![wait], bytes)
                    }
                };
                let banks: Vec<(usize, Option<Wait>)> = group.iter().map(|_| self.psum.take()).collect();
                let mut after: Vec<Wait> = lhs.ready.clone();
                after.extend(loaded);
                after.extend(banks.iter().filter_map(|(_, evicted)| *evicted));
                let mut products = vec![None; group.len()];
                for rows in blocks(depth, self.core.partitions) {
                    let op = Op::LdWeights { rows, columns: stationary_columns };
                    self.emitter.instruction(Engine::Tensor, op, product, &after);
                    for (free, done) in group.iter().zip(&mut products) {
                        let op = Op::Matmul { free: *free, passes: 1 };
                        *done = Some(self.emitter.instruction(Engine::Tensor, op, product, &[]));
                    }
                }
                self.ring.release(streamed_bytes, products.iter().rev().flatten().take(1).copied().collect());
                for ((free, done), (bank, _)) in group.iter().zip(products).zip(&banks) {
                    let mut after: Vec<Wait> = done.into_iter().collect();
                    after.extend_from_slice(&room);
                    let evicted = self.emit_tile(&steps, *free, true, evict, &after);
                    self.psum.evicted[*bank] = Some(evicted);
                    ready.push(evicted);
                }
            }
            self.emitter.check_size()?;
        }
        let resident = Resident {
            layout: Layout::FeatureMajor,
            partition_elements: columns,
            free_elements: rows,
            bytes,
            ready: latest(ready),
        };
        self.set_resident(result, resident);
        Ok(())
    }

    fn dot_shape(&self, id: InstrId, dims: &DotDims) -> Result<(InstrId, InstrId, u64, u64, u64), CodegenError> {
        let instruction = self.instruction(id)?;
        let (Some(&lhs_id), Some(&rhs_id)) = (instruction.operands.first(), instruction.operands.get(1)) else {
            return Err(self.unsupported(id, "a dot without two operands"));
        };
        let lhs = &self.instruction(lhs_id)?.shape;
        if dims.batch > 0 {
            return Err(self.unsupported(id, "a batched dot"));
        }
        if dims.lhs_contracting as usize + 1 != lhs.rank() {
            return Err(self.unsupported(id, "a dot that doesn't contract the last dimension of its left side"));
        }
        let (rows, depth) = matrix_of(lhs);
        let (_, columns) = matrix_of(&instruction.shape);
        Ok((lhs_id, rhs_id, rows, depth, columns))
    }

    fn stationary(&mut self, rhs: InstrId, depth: u64, columns: u64) -> Result<Stationary, CodegenError> {
        match self.value(rhs)?.clone() {
            Value::Weight { parameter, via } => {
                let matrix = WeightMatrix { parameter, via, depth, columns };
                if self.weights_stay {
                    Ok(Stationary::Kept(self.load_matrix(&matrix)?))
                } else {
                    Ok(Stationary::Streamed { matrix })
                }
            }
            Value::Resident(r) => Ok(Stationary::Whole(r.ready)),
            Value::Splat | Value::Broadcast { .. } => Err(self.unsupported(rhs, "a dot with a constant")),
        }
    }

    /// The value with its columns on the partitions, transposed through the array if it lies the other way.
    pub(super) fn feature_major(&mut self, id: InstrId, user: InstrId) -> Result<Resident, CodegenError> {
        self.in_layout(id, user, Layout::FeatureMajor)
    }

    /// The value in a layout, transposed block by block through the array if it lies the other way.
    pub(super) fn in_layout(&mut self, id: InstrId, user: InstrId, layout: Layout) -> Result<Resident, CodegenError> {
        let Value::Resident(resident) = self.value(id)?.clone() else {
            return Err(self.unsupported(user, "an operand that is a weight or a constant"));
        };
        if resident.layout == layout {
            return Ok(resident);
        }
        let purpose = Purpose::data_transfer(self.sources.of(user));
        let bytes = self.resident_bytes(resident.free_elements, resident.partition_elements, self.element_bytes(id));
        let mut after = resident.ready.clone();
        after.extend(self.take(user, bytes)?);
        let mut ready = Vec::new();
        for rows in blocks(resident.partition_elements, self.core.partitions) {
            ready.extend(self.turn_rows(rows, resident.free_elements, purpose, &after));
        }
        let ready = latest(ready);
        self.ring.release(resident.bytes, ready.clone());
        let turned = Resident {
            layout,
            partition_elements: resident.free_elements,
            free_elements: resident.partition_elements,
            bytes,
            ready,
        };
        self.values.insert(id, Value::Resident(turned.clone()));
        Ok(turned)
    }

    /// Transposes `rows` (at most 128) by `columns` through the array, block by block; the completion of each block.
    pub(super) fn turn_rows(&mut self, rows: u32, columns: u64, purpose: Purpose, after: &[Wait]) -> Vec<Wait> {
        let mut ready = Vec::new();
        for columns in blocks(columns, self.core.partitions) {
            let (bank, evicted) = self.psum.take();
            let mut after = after.to_vec();
            after.extend(evicted);
            self.emitter.instruction(Engine::Tensor, Op::LdWeights { rows, columns }, purpose, &after);
            let op = Op::Matmul { free: rows, passes: 1 };
            let done = self.emitter.instruction(Engine::Tensor, op, purpose, &[]);
            let copied = self.emitter.instruction(Engine::Vector, Op::TensorCopy { free: rows }, purpose, &[done]);
            self.psum.evicted[bank] = Some(copied);
            ready.push(copied);
        }
        ready
    }
}
