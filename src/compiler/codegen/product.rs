//! The loop nest of every matrix product: stationary blocks of 128, moving chunks of 512, accumulation in PSUM, and
//! eviction of each finished tile by the epilogue.

use super::code::Code;
use super::emitter::{Purpose, latest};
use super::places::Places;
use super::plan::{Members, Plan};
use super::tiles::{InFlight, TileStep, TileStream};
use super::value::{Layout, blocks, grouped_blocks};
use super::weights::{WeightMatrix, load_block, load_matrix};
use crate::error::StageError;
use crate::hlo::InstrId;
use ns_base::convert::u64_to_u32;
use ns_machine::isa::{Engine, Op, Wait};

/// The operand that has the result's columns.
pub(super) enum Columns {
    /// A weight, loaded block by block, and either kept in SBUF or released after its use.
    Weight(WeightMatrix),
    /// A value in SBUF, with what must be complete before it is read.
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

/// The operand that sits in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stationary {
    /// The columns' operand: the result has its columns on the partitions.
    Columns,
    /// The rows' operand: the result has its rows on the partitions.
    Rows,
}

impl Stationary {
    /// The stationary operand for a result in this layout.
    pub fn for_layout(layout: Layout) -> Self {
        match layout {
            Layout::FeatureMajor => Self::Columns,
            Layout::RowMajor => Self::Rows,
        }
    }
}

/// One product of `rows` by `columns`, contracted in `passes` through the array's 128 rows.
pub(super) struct Product {
    pub rows: u64,
    pub columns: u64,
    pub passes: u64,
    /// Passes through the array of each of these: several for single precision.
    pub array_passes: u32,
    /// Contracted size over all passes.
    pub depth: u64,
    pub stationary: Stationary,
    /// What must be complete before the rows' operand is read.
    pub rows_ready: Vec<Wait>,
    /// Independent products of this size: heads of attention.
    pub batch: u64,
    /// Whether each product of the batch has columns of its own, so that none serves another.
    pub own_columns: bool,
    /// Equal parts of the rows that each start a block of their own when the rows are stationary.
    pub row_groups: u64,
    /// Slices of the batch in which it runs, one after the other.
    pub slices: u64,
}

impl Product {
    /// The parts of the product: slices of the batch if there is a batch, else whole groups of rows, else the rows in
    /// whole moving chunks or stationary blocks of `step`.
    fn parts(&self, step: u32) -> Vec<Self> {
        let part =
            |batch, rows, row_groups| Self { batch, rows, row_groups, rows_ready: self.rows_ready.clone(), ..*self };
        let shares = |total: u64| {
            let each = total.div_ceil(self.slices.max(1)).max(1);
            blocks(total, u64_to_u32(each)).map(u64::from)
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
            blocks(self.rows, u64_to_u32(each)).map(|rows| part(1, rows.into(), 1)).collect()
        }
    }
}

/// A product of HLO with its epilogue: the members of the fusion or elementwise instruction that alone reads it.
pub(super) struct ProductWithEpilogue<'m> {
    pub id: InstrId,
    /// The owner of its result: the epilogue, or the product itself.
    pub result: InstrId,
    /// `None` when the product is only copied to SBUF.
    pub epilogue: &'m Members<'m>,
}

impl ProductWithEpilogue<'_> {
    /// Moving a product without epilogue out of PSUM is data transfer; an epilogue is arithmetic of its own
    /// operation.
    pub fn purpose(&self, code: &mut Code<'_>) -> Purpose {
        if self.epilogue.is_empty() {
            Purpose::data_transfer(code.sources.of(self.id))
        } else {
            Purpose::execution(code.sources.of(self.result))
        }
    }
}

/// Destination of a product's tiles.
pub(super) struct Eviction<'s> {
    pub steps: &'s [TileStep],
    pub purpose: Purpose,
    /// What must be complete before there is room for the result.
    pub room: &'s [Wait],
}

/// What must be complete before each side of a tile is read. The stationary side can load while the moving side is
/// still on its way, or while PSUM is still full.
#[derive(Clone, Copy)]
struct Operands<'w> {
    stationary: &'w [Wait],
    moving: &'w [Wait],
}

/// A block of columns with what must be complete before it is read.
struct Block {
    columns: u32,
    ready: Vec<Wait>,
    /// SBUF to release when the block has been used.
    bytes: u64,
}

/// Emits a product; returns the completion of its last evictions.
///
/// The compiler runs the layers around a large value slice by slice of the batch. Here each operation is emitted with
/// all of its slices, and slices have their costs: each slice reads the weights again unless all of the model's weights
/// stay in SBUF, and starts only when the slice before it has left PSUM.
pub(super) fn product(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    product: &Product,
    columns: &Columns,
    purpose: Purpose,
    eviction: &Eviction<'_>,
) -> Result<Vec<Wait>, StageError> {
    let step = match product.stationary {
        Stationary::Columns => plan.core.moving_free_max,
        Stationary::Rows => plan.core.partitions,
    };
    let mut done = Vec::new();
    for mut part in product.parts(step) {
        part.rows_ready.extend(done);
        let tiles = TileStream::new(eviction.steps, eviction.purpose);
        let nest = Nest { plan, product: &part, purpose, room: eviction.room, tiles };
        done = nest.emit(places, code, columns)?;
    }
    Ok(done)
}

/// The loops of one slice of a product.
struct Nest<'p> {
    plan: &'p Plan<'p>,
    product: &'p Product,
    purpose: Purpose,
    /// What must be complete before there is room for the result.
    room: &'p [Wait],
    /// Tiles on their way out of PSUM.
    tiles: TileStream<'p>,
}

impl Nest<'_> {
    /// Emits the slice; returns the completion of its last evictions.
    fn emit(mut self, places: &mut Places, code: &mut Code<'_>, columns: &Columns) -> Result<Vec<Wait>, StageError> {
        let together = self.products_in_tile(columns);
        if together > 1 {
            let mut left = self.product.batch;
            while left > 0 {
                self.shared_tile(code, left.min(together), columns.resident());
                left = left.saturating_sub(together);
                code.emitter.check_size()?;
            }
            return Ok(latest(self.tiles.drain(code)));
        }
        let width = match self.product.stationary {
            Stationary::Columns => self.plan.core.partitions,
            Stationary::Rows => self.plan.core.moving_free_max,
        };
        for _ in 0..self.product.batch {
            for (n, columns_here) in blocks(self.product.columns, width).enumerate() {
                // The columns are the outer loop, so that a weight is read from device memory once.
                let block =
                    column_block(self.plan, places, code, columns, (n, columns_here), self.product.own_columns)?;
                let used = match self.product.stationary {
                    Stationary::Columns => self.columns_stationary(code, &block),
                    Stationary::Rows => self.rows_stationary(code, &block),
                };
                places.ring.release(block.bytes, used.into_iter().collect());
            }
            code.emitter.check_size()?;
        }
        Ok(latest(self.tiles.drain(code)))
    }

    /// How many small products of a batch share a bank of PSUM and its eviction, side by side along the free dimension.
    /// Rows of different products never share a tile: each head's scores are reduced on their own.
    fn products_in_tile(&self, columns: &Columns) -> u64 {
        let (product, core) = (self.product, self.plan.core);
        let small = product.stationary == Stationary::Columns && product.columns <= u64::from(core.partitions);
        match columns {
            Columns::Resident(_) if product.batch > 1 && small => u64::from(core.moving_free_max) / product.rows.max(1),
            _ => 1,
        }
    }

    /// Several products of a batch into one tile of PSUM.
    fn shared_tile(&mut self, code: &mut Code<'_>, count: u64, columns_ready: &[Wait]) {
        let product = self.product;
        let (bank, evicted) = self.bank(code);
        let mut after = product.rows_ready.clone();
        after.extend(evicted);
        let mut done = Vec::new();
        for _ in 0..count * product.passes {
            let load = Op::LdWeights { rows: self.array_rows(), columns: u64_to_u32(product.columns) };
            code.emitter.instruction(Engine::Tensor, load, self.purpose, columns_ready);
            let op = Op::Matmul { free: u64_to_u32(product.rows), passes: self.product.array_passes };
            done = vec![code.emitter.instruction(Engine::Tensor, op, self.purpose, &after)];
        }
        done.extend_from_slice(self.room);
        self.tiles.enter(code, InFlight::new(u64_to_u32(product.rows * count), Some(bank), done));
    }

    /// Takes the next bank of PSUM, after emitting the eviction of its contents; returns the bank and that eviction.
    fn bank(&mut self, code: &mut Code<'_>) -> (usize, Option<Wait>) {
        while self.tiles.occupies(code.psum.next()) {
            self.tiles.advance(code);
        }
        code.psum.take()
    }

    /// Rows of the array that a pass uses.
    fn array_rows(&self) -> u32 {
        let depth = self.product.depth.div_ceil(self.product.passes.max(1));
        u64_to_u32(depth).min(self.plan.precision.contracted)
    }

    fn columns_stationary(&mut self, code: &mut Code<'_>, block: &Block) -> Option<Wait> {
        let core = self.plan.core;
        let chunks: Vec<u32> = blocks(self.product.rows, core.moving_free_max).collect();
        let operands = Operands { stationary: &block.ready, moving: &self.product.rows_ready };
        let mut last = None;
        // Half of the banks accumulate while the other half is evicted.
        for group in chunks.chunks((core.psum_banks / 2).max(1) as usize) {
            last = self.tile(code, block.columns, group, operands);
        }
        last
    }

    fn rows_stationary(&mut self, code: &mut Code<'_>, block: &Block) -> Option<Wait> {
        let operands = Operands { stationary: &self.product.rows_ready, moving: &block.ready };
        let mut last = None;
        for rows in grouped_blocks(self.product.rows, self.product.row_groups, self.plan.core.partitions) {
            last = self.tile(code, rows, &[block.columns], operands);
        }
        last
    }

    /// One stationary block against a group of moving chunks; returns the completion of the last matmul.
    fn tile(&mut self, code: &mut Code<'_>, stationary: u32, moving: &[u32], operands: Operands<'_>) -> Option<Wait> {
        let mut banks: Vec<(usize, Option<Wait>)> = Vec::with_capacity(moving.len());
        for _ in moving {
            banks.push(self.bank(code));
        }
        let mut after = operands.moving.to_vec();
        after.extend(banks.iter().filter_map(|(_, evicted)| *evicted));
        let mut done = vec![None; moving.len()];
        let rows = self.array_rows();
        for _ in 0..self.product.passes {
            let load = Op::LdWeights { rows, columns: stationary };
            code.emitter.instruction(Engine::Tensor, load, self.purpose, operands.stationary);
            for (free, done) in moving.iter().zip(&mut done) {
                let op = Op::Matmul { free: *free, passes: self.product.array_passes };
                *done = Some(code.emitter.instruction(Engine::Tensor, op, self.purpose, &after));
            }
        }
        for ((free, done), (bank, _)) in moving.iter().zip(&done).zip(&banks) {
            let mut after: Vec<Wait> = done.iter().copied().collect();
            after.extend_from_slice(self.room);
            self.tiles.enter(code, InFlight::new(*free, Some(*bank), after));
        }
        done.pop().flatten()
    }
}

/// The next block of columns, loaded into SBUF if it is a weight. Each product of a batch has a matrix of its own.
fn column_block(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    columns: &Columns,
    (n, width): (usize, u32),
    own_columns: bool,
) -> Result<Block, StageError> {
    match columns {
        Columns::Resident(ready) => Ok(Block { columns: width, ready: ready.clone(), bytes: 0 }),
        Columns::Weight(matrix) if plan.weights_stay && !own_columns => {
            let blocks = load_matrix(plan, places, code, matrix)?;
            let whole = matrix.columns.div_ceil(u64::from(width)) != blocks.len() as u64;
            // Loaded in blocks of another width by an earlier use: wait for all of them.
            let ready = if whole { latest(blocks) } else { blocks.get(n..=n).unwrap_or(&[]).to_vec() };
            Ok(Block { columns: width, ready, bytes: 0 })
        }
        Columns::Weight(matrix) => {
            let (wait, bytes) = load_block(plan, places, code, matrix, width)?;
            Ok(Block { columns: width, ready: vec![wait], bytes })
        }
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
            array_passes: 1,
            depth: 64,
            stationary: Stationary::Rows,
            rows_ready: Vec::new(),
            batch,
            own_columns: batch > 1,
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
        // No more slices than blocks.
        assert_eq!(parts(product(100, 1, 1, 9)), [(1, 100, 1)]);
    }
}
