//! The loop nest of every matrix product: stationary blocks of 128, moving chunks of 512, accumulation in PSUM, and
//! eviction of each finished tile by the epilogue.

use super::CodegenError;
use super::emitter::Purpose;
use super::program::{Generator, latest};
use super::tiles::{InFlight, Pipeline, Step};
use super::transfer::WeightMatrix;
use super::value::{blocks, grouped_blocks};
use crate::machine::isa::{Engine, Op, Wait};

/// The operand with the result's columns.
pub(super) enum Columns {
    /// A weight, loaded block by block and either kept in SBUF or given back after its use.
    Weight(WeightMatrix),
    /// A value in SBUF: complete when these are.
    Resident(Vec<Wait>),
}

impl Columns {
    /// What must be complete before a value in SBUF is read.
    fn resident(&self) -> &[Wait] {
        match self {
            Self::Weight(_) => &[],
            Self::Resident(ready) => ready,
        }
    }
}

/// Which operand sits in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stationary {
    /// The columns' operand: the result has its columns on the partitions.
    Columns,
    /// The rows' operand: the result has its rows on the partitions.
    Rows,
}

/// One product of `rows` by `columns`, contracted in `passes` through the array's 128 rows.
pub(super) struct Product {
    pub rows: u64,
    pub columns: u64,
    pub passes: u64,
    /// Contracted size over all passes.
    pub depth: u64,
    pub stationary: Stationary,
    /// Complete when the rows' operand is in SBUF.
    pub rows_ready: Vec<Wait>,
    /// Independent products of this size: heads of attention.
    pub batch: u64,
    /// Equal parts of the rows that each start a block of their own when the rows are stationary.
    pub row_groups: u64,
    /// Slices of the batch in which it is run, one after the other.
    pub slices: u64,
}

impl Product {
    /// The product slice by slice: of the batch where there is one, else of whole groups of rows, else of the rows in
    /// whole moving chunks or stationary blocks of `step`.
    fn parts(&self, step: u32) -> Vec<Self> {
        let part =
            |batch, rows, row_groups| Self { batch, rows, row_groups, rows_ready: self.rows_ready.clone(), ..*self };
        let shares = |total: u64| {
            let each = total.div_ceil(self.slices.max(1)).max(1);
            blocks(total, u32::try_from(each).unwrap_or(u32::MAX)).map(u64::from)
        };
        if self.slices <= 1 {
            vec![part(self.batch, self.rows, self.row_groups)]
        } else if self.batch > 1 {
            shares(self.batch).map(|batch| part(batch, self.rows, self.row_groups)).collect()
        } else if self.row_groups > 1 {
            let rows = self.rows.div_ceil(self.row_groups);
            shares(self.row_groups).map(|groups| part(1, groups * rows, groups)).collect()
        } else {
            let each = self.rows.div_ceil(self.slices).next_multiple_of(u64::from(step.max(1)));
            blocks(self.rows, u32::try_from(each).unwrap_or(u32::MAX)).map(|rows| part(1, rows.into(), 1)).collect()
        }
    }
}

/// Where the tiles of a product go.
pub(super) struct Eviction<'s> {
    pub steps: &'s [Step],
    pub purpose: Purpose,
    /// Complete when there is room for the result.
    pub room: &'s [Wait],
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

    /// The bank that is next.
    pub fn next(&self) -> usize {
        self.next
    }

    /// The next bank and the eviction that must be complete before it is written.
    pub fn take(&mut self) -> (usize, Option<Wait>) {
        let bank = self.next;
        self.next = (self.next + 1) % self.evicted.len();
        (bank, self.evicted[bank])
    }

    pub fn set_evicted(&mut self, bank: usize, by: Wait) {
        self.evicted[bank] = Some(by);
    }
}

/// What must be complete before each side of a tile is read. The stationary side loads while the moving one is still on
/// its way, or PSUM still full.
#[derive(Clone, Copy)]
struct Operands<'w> {
    stationary: &'w [Wait],
    moving: &'w [Wait],
}

/// A block of columns with what must be complete before it is read.
struct Block {
    columns: u32,
    ready: Vec<Wait>,
    /// SBUF to give back when the block has been used.
    bytes: u64,
}

impl Generator<'_> {
    /// Emits a product; the completion of its last evictions.
    ///
    /// The compiler runs the layers around a large value slice by slice of the batch. Here each operation is emitted with
    /// all of its slices, but at what that costs: a slice reads its weights again unless all of the model's weights stay
    /// in SBUF, and it begins when the one before has left PSUM, as it would wait for the layer before on the same slice.
    pub(super) fn product(
        &mut self,
        product: &Product,
        columns: &Columns,
        purpose: Purpose,
        eviction: &Eviction<'_>,
    ) -> Result<Vec<Wait>, CodegenError> {
        let step = match product.stationary {
            Stationary::Columns => self.core.moving_free_max,
            Stationary::Rows => self.core.partitions,
        };
        let mut done = Vec::new();
        for mut part in product.parts(step) {
            part.rows_ready.extend(done);
            done = self.slice(&part, columns, purpose, eviction)?;
        }
        Ok(done)
    }

    /// Emits one slice of a product; the completion of its last evictions.
    fn slice(
        &mut self,
        product: &Product,
        columns: &Columns,
        purpose: Purpose,
        eviction: &Eviction<'_>,
    ) -> Result<Vec<Wait>, CodegenError> {
        let width = match product.stationary {
            Stationary::Columns => self.core.partitions,
            Stationary::Rows => self.core.moving_free_max,
        };
        let mut tiles = Pipeline::default();
        let together = self.products_in_tile(product, columns);
        if together > 1 {
            let ready = columns.resident();
            let mut left = product.batch;
            while left > 0 {
                self.shared_tile(product, left.min(together), ready, purpose, eviction, &mut tiles);
                left = left.saturating_sub(together);
                self.emitter.check_size()?;
            }
            self.drain(&mut tiles, eviction.steps, eviction.purpose);
            return Ok(latest(tiles.ready));
        }
        for _ in 0..product.batch {
            for (n, columns_here) in blocks(product.columns, width).enumerate() {
                // The columns are the outer loop, so that a weight is read from device memory once.
                let block = self.column_block(columns, n, columns_here)?;
                let used = match product.stationary {
                    Stationary::Columns => self.columns_stationary(product, &block, purpose, eviction, &mut tiles),
                    Stationary::Rows => self.rows_stationary(product, &block, purpose, eviction, &mut tiles),
                };
                self.ring.release(block.bytes, used.into_iter().collect());
            }
            self.emitter.check_size()?;
        }
        self.drain(&mut tiles, eviction.steps, eviction.purpose);
        Ok(latest(tiles.ready))
    }

    /// How many small products of a batch share a bank of PSUM and its eviction, side by side along the free dimension.
    /// Rows of different products never share a tile: each head's scores are reduced on their own.
    fn products_in_tile(&self, product: &Product, columns: &Columns) -> u64 {
        let small = product.stationary == Stationary::Columns && product.columns <= u64::from(self.core.partitions);
        match columns {
            Columns::Resident(_) if product.batch > 1 && small => {
                u64::from(self.core.moving_free_max) / product.rows.max(1)
            }
            _ => 1,
        }
    }

    /// Several products of a batch into one tile of PSUM.
    fn shared_tile(
        &mut self,
        product: &Product,
        count: u64,
        columns_ready: &[Wait],
        purpose: Purpose,
        eviction: &Eviction<'_>,
        tiles: &mut Pipeline,
    ) {
        let narrow = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
        let (bank, evicted) = self.bank(tiles, eviction);
        let mut after = product.rows_ready.clone();
        after.extend(evicted);
        let mut done = Vec::new();
        for _ in 0..count * product.passes {
            let load = Op::LdWeights { rows: self.array_rows(product), columns: narrow(product.columns) };
            self.emitter.instruction(Engine::Tensor, load, purpose, columns_ready);
            let op = Op::Matmul { free: narrow(product.rows), passes: self.precision.passes };
            done = vec![self.emitter.instruction(Engine::Tensor, op, purpose, &after)];
        }
        done.extend_from_slice(eviction.room);
        self.enter(
            tiles,
            InFlight::new(narrow(product.rows * count), Some(bank), done),
            eviction.steps,
            eviction.purpose,
        );
    }

    /// The next bank of PSUM, once what evicts it is emitted, and that eviction.
    fn bank(&mut self, tiles: &mut Pipeline, eviction: &Eviction<'_>) -> (usize, Option<Wait>) {
        while tiles.occupies(self.psum.next()) {
            self.advance(tiles, eviction.steps, eviction.purpose);
        }
        self.psum.take()
    }

    /// Rows of the array that a pass uses.
    fn array_rows(&self, product: &Product) -> u32 {
        let depth = product.depth.div_ceil(product.passes.max(1));
        u32::try_from(depth).unwrap_or(u32::MAX).min(self.precision.contracted)
    }

    fn column_block(&mut self, columns: &Columns, n: usize, width: u32) -> Result<Block, CodegenError> {
        match columns {
            Columns::Resident(ready) => Ok(Block { columns: width, ready: ready.clone(), bytes: 0 }),
            Columns::Weight(matrix) if self.weights_stay => {
                let blocks = self.load_matrix(matrix)?;
                let whole = matrix.columns.div_ceil(u64::from(width)) as usize != blocks.len();
                // Loaded in blocks of another width by an earlier use: wait for all of them.
                let ready = if whole { latest(blocks) } else { blocks.get(n..=n).unwrap_or(&[]).to_vec() };
                Ok(Block { columns: width, ready, bytes: 0 })
            }
            Columns::Weight(matrix) => {
                let (wait, bytes) = self.load_block(matrix, width)?;
                Ok(Block { columns: width, ready: vec![wait], bytes })
            }
        }
    }

    fn columns_stationary(
        &mut self,
        product: &Product,
        block: &Block,
        purpose: Purpose,
        eviction: &Eviction<'_>,
        tiles: &mut Pipeline,
    ) -> Option<Wait> {
        let chunks: Vec<u32> = blocks(product.rows, self.core.moving_free_max).collect();
        let mut last = None;
        // Half of the banks accumulate while the other half is evicted.
        for group in chunks.chunks((self.core.psum_banks / 2).max(1) as usize) {
            last = self.tile(
                block.columns,
                group,
                product,
                Operands { stationary: &block.ready, moving: &product.rows_ready },
                purpose,
                eviction,
                tiles,
            );
        }
        last
    }

    fn rows_stationary(
        &mut self,
        product: &Product,
        block: &Block,
        purpose: Purpose,
        eviction: &Eviction<'_>,
        tiles: &mut Pipeline,
    ) -> Option<Wait> {
        let mut last = None;
        for rows in grouped_blocks(product.rows, product.row_groups, self.core.partitions) {
            let operands = Operands { stationary: &product.rows_ready, moving: &block.ready };
            last = self.tile(rows, &[block.columns], product, operands, purpose, eviction, tiles);
        }
        last
    }

    /// One stationary block against a group of moving chunks; the completion of the last matmul.
    #[allow(clippy::too_many_arguments, reason = "the block, the chunks and what they wait for")]
    fn tile(
        &mut self,
        stationary: u32,
        moving: &[u32],
        product: &Product,
        operands: Operands<'_>,
        purpose: Purpose,
        eviction: &Eviction<'_>,
        tiles: &mut Pipeline,
    ) -> Option<Wait> {
        let mut banks: Vec<(usize, Option<Wait>)> = Vec::with_capacity(moving.len());
        for _ in moving {
            banks.push(self.bank(tiles, eviction));
        }
        let mut after = operands.moving.to_vec();
        after.extend(banks.iter().filter_map(|(_, evicted)| *evicted));
        let mut done = vec![None; moving.len()];
        let rows = self.array_rows(product);
        for _ in 0..product.passes {
            let load = Op::LdWeights { rows, columns: stationary };
            self.emitter.instruction(Engine::Tensor, load, purpose, operands.stationary);
            for (free, done) in moving.iter().zip(&mut done) {
                let op = Op::Matmul { free: *free, passes: self.precision.passes };
                *done = Some(self.emitter.instruction(Engine::Tensor, op, purpose, &after));
            }
        }
        for ((free, done), (bank, _)) in moving.iter().zip(&done).zip(&banks) {
            let mut after: Vec<Wait> = done.iter().copied().collect();
            after.extend_from_slice(eviction.room);
            self.enter(tiles, InFlight::new(*free, Some(*bank), after), eviction.steps, eviction.purpose);
        }
        done.pop().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn product(rows: u64, batch: u64, row_groups: u64, slices: u64) -> Product {
        Product {
            rows,
            columns: 64,
            passes: 1,
            depth: 64,
            stationary: Stationary::Rows,
            rows_ready: Vec::new(),
            batch,
            row_groups,
            slices,
        }
    }

    #[test]
    fn slices_cover_a_product_once_and_never_cut_a_group() {
        let parts = |p: Product| p.parts(128).iter().map(|p| (p.batch, p.rows, p.row_groups)).collect::<Vec<_>>();
        assert_eq!(parts(product(1_000, 1, 1, 1)), [(1, 1_000, 1)]);
        assert_eq!(parts(product(1_000, 1, 1, 3)), [(1, 384, 1), (1, 384, 1), (1, 232, 1)]);
        // Eight sequences of 197 tokens: whole sequences go together.
        assert_eq!(parts(product(8 * 197, 1, 8, 3)), [(1, 591, 3), (1, 591, 3), (1, 394, 2)]);
        assert_eq!(parts(product(128, 12, 1, 5)), [(3, 128, 1), (3, 128, 1), (3, 128, 1), (3, 128, 1)]);
        // No more slices than there are blocks.
        assert_eq!(parts(product(100, 1, 1, 9)), [(1, 100, 1)]);
    }
}
