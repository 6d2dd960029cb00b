//! Matrix products of HLO: which operand sits in the array, and in which layout the result is wanted.

use super::CodegenError;
use super::emitter::Purpose;
use super::idioms::Softmax;
use super::product::{Columns, Eviction, Product, Stationary};
use super::program::{Generator, latest};
use super::tiles::StepKind;
use super::transfer::WeightMatrix;
use super::value::{Layout, Resident, Value, blocks, grouped_blocks};
use crate::compiler::hlo::{DotDims, HloInstruction, InstrId};
use crate::machine::isa::{Engine, Op, Wait};

/// Sizes of a dot.
struct DotShape {
    lhs: InstrId,
    rhs: InstrId,
    batch: u64,
    rows: u64,
    depth: u64,
    columns: u64,
    /// Layout in which the contracted dimension of each side is on the partitions.
    lhs_layout: Layout,
    rhs_layout: Layout,
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
        let shape = self.dot_shape(id, dims)?;
        let lhs = self.in_layout(shape.lhs, id, shape.lhs_layout)?;
        let lhs_slices = self.slices(&lhs, self.element_bytes(shape.lhs));
        let rows_ready = lhs.ready;
        let columns = self.columns_of(&shape, id)?;
        let softmax = self.softmax_on(result, shape.columns);
        let layout = self.product_layout(&shape, result, &columns);
        let stationary = match layout {
            Layout::FeatureMajor => Stationary::Columns,
            Layout::RowMajor => Stationary::Rows,
        };
        // Heads lie side by side: a result [b, h, s, d] has h x d columns.
        let heads = match self.instruction(id)?.shape.dims.as_slice() {
            [_, heads, _, _] if dims.batch == 2 => *heads,
            _ => 1,
        };
        let (all_rows, all_columns) = match layout {
            Layout::FeatureMajor => (shape.rows * shape.batch / heads, shape.columns * heads),
            Layout::RowMajor => (shape.rows * shape.batch, shape.columns),
        };
        let mut resident = Resident::of(layout, all_rows, all_columns);
        resident.groups = match layout {
            Layout::FeatureMajor => 1,
            Layout::RowMajor if shape.batch > 1 => shape.batch,
            Layout::RowMajor => self.row_groups(result),
        };
        let kept = softmax.as_ref().map_or(result, |s| s.result);
        resident.bytes =
            self.resident_bytes(resident.partition_elements, resident.free_elements, self.element_bytes(kept));
        let room = self.take(result, resident.bytes)?;
        let (mut steps, apart) = match columns {
            Columns::Weight(_) => self.plan_eviction(epilogue, id, &resident)?,
            Columns::Resident(_) => (self.plan_steps(epilogue, id, &resident)?, Vec::new()),
        };
        if let Some(softmax) = &softmax {
            // The exponential scales its operand for free, and reads PSUM.
            steps.pop_if(|s| s.is_scalars() || s.kind == StepKind::Copy);
            steps.extend(self.softmax_steps(softmax));
        }
        let product = Product {
            rows: shape.rows,
            columns: shape.columns,
            passes: shape.depth.div_ceil(u64::from(self.precision.contracted)),
            depth: shape.depth,
            stationary,
            rows_ready,
            batch: shape.batch,
            row_groups: if shape.batch > 1 { 1 } else { resident.groups },
            slices: self.slices(&resident, self.element_bytes(kept)).max(lhs_slices),
        };
        self.flops += 2 * shape.batch * shape.rows * shape.depth * shape.columns;
        let eviction = Eviction { steps: &steps, purpose: self.eviction_purpose(id, result, epilogue), room: &room };
        let purpose = Purpose::execution(self.sources.of(id));
        resident.ready = self.product(&product, &columns, purpose, &eviction)?;
        let purpose = Purpose::execution(self.sources.of(result));
        self.run_apart(&apart, &mut resident, purpose);
        if let Some(softmax) = &softmax {
            self.absorb_softmax(softmax, &resident);
            self.set_resident(softmax.result, resident.clone());
            resident.bytes = 0;
        }
        self.set_resident(result, resident);
        Ok(())
    }

    /// The layout of a product's result: what its readers want, unless the rows fill their blocks so badly that it is
    /// cheaper to let them stream and to turn the result afterwards.
    fn product_layout(&self, shape: &DotShape, result: InstrId, columns: &Columns) -> Layout {
        let wanted = self.wanted_layout(result);
        if wanted == Layout::FeatureMajor || matches!(columns, Columns::Resident(_)) || shape.batch > 1 {
            return wanted;
        }
        let (partitions, moving) = (self.core.partitions, self.core.moving_free_max);
        let passes = shape.depth.div_ceil(u64::from(partitions));
        let shortest = self.costs.engine.min_interval_cycles;
        let streamed = |n: u64| blocks(n, moving).map(|b| u64::from(b.max(shortest))).sum::<u64>();
        let row_blocks = grouped_blocks(shape.rows, self.row_groups(result), partitions).count() as u64;
        let column_blocks = shape.columns.div_ceil(u64::from(partitions));
        let rows_stay = row_blocks * streamed(shape.columns) * passes;
        let turned = row_blocks * column_blocks * u64::from(partitions);
        let columns_stay = column_blocks * streamed(shape.rows) * passes + turned;
        if columns_stay < rows_stay { Layout::FeatureMajor } else { Layout::RowMajor }
    }

    /// The softmax of a product whose rows are whole in a bank of PSUM.
    fn softmax_on(&self, scores: InstrId, columns: u64) -> Option<Softmax> {
        let softmax = self.idioms.softmax_of.get(&scores).cloned()?;
        (columns <= u64::from(self.core.moving_free_max)).then_some(softmax)
    }

    /// Moving a bare product out of PSUM is data transfer; an epilogue is arithmetic of its own operation.
    pub(super) fn eviction_purpose(
        &mut self,
        id: InstrId,
        result: InstrId,
        epilogue: &[(InstrId, &HloInstruction)],
    ) -> Purpose {
        if epilogue.is_empty() {
            Purpose::data_transfer(self.sources.of(id))
        } else {
            Purpose::execution(self.sources.of(result))
        }
    }

    fn dot_shape(&self, id: InstrId, dims: &DotDims) -> Result<DotShape, CodegenError> {
        let (lhs, rhs) = (self.operand(id, 0)?, self.operand(id, 1)?);
        let (l, r) = (&self.instruction(lhs)?.shape, &self.instruction(rhs)?.shape);
        let out = &self.instruction(id)?.shape;
        let batch: u64 = out.dims.iter().take(dims.batch as usize).product();
        let Some(&depth) = l.dims.get(dims.lhs_contracting as usize) else {
            return Err(self.unsupported(id, "a dot that contracts a dimension its left side doesn't have"));
        };
        let rows = l.elements() / (batch * depth).max(1);
        let columns = out.elements() / (batch * rows).max(1);
        let layout_of = |contracted: u32, rank: usize| {
            if contracted as usize + 1 == rank { Layout::FeatureMajor } else { Layout::RowMajor }
        };
        let (lhs_layout, rhs_layout) =
            (layout_of(dims.lhs_contracting, l.rank()), layout_of(dims.rhs_contracting, r.rank()));
        Ok(DotShape { lhs, rhs, batch, rows, depth, columns, lhs_layout, rhs_layout })
    }

    fn columns_of(&mut self, shape: &DotShape, user: InstrId) -> Result<Columns, CodegenError> {
        match self.value(shape.rhs)?.clone() {
            Value::Weight { parameter, via } => {
                let (depth, columns) = (shape.depth, shape.columns);
                Ok(Columns::Weight(WeightMatrix { parameter, via, depth, columns }))
            }
            Value::Resident(_) => Ok(Columns::Resident(self.in_layout(shape.rhs, user, shape.rhs_layout)?.ready)),
            Value::Splat | Value::Broadcast { .. } => Err(self.unsupported(shape.rhs, "a dot with a constant")),
        }
    }

    /// The value in a layout, transposed block by block through the array if it lies the other way.
    pub(super) fn in_layout(&mut self, id: InstrId, user: InstrId, layout: Layout) -> Result<Resident, CodegenError> {
        let resident = match self.value(id)?.clone() {
            Value::Resident(resident) => resident,
            Value::Weight { parameter, via } => self.load_whole(parameter, via, layout)?,
            Value::Splat | Value::Broadcast { .. } => {
                return Err(self.unsupported(user, "an operand that is a constant"));
            }
        };
        if resident.layout == layout || resident.free_elements == 1 {
            return Ok(resident);
        }
        if let Some(turned) = self.turned.get(&id) {
            return Ok(turned.clone());
        }
        let purpose = Purpose::data_transfer(self.sources.of(user));
        let element_bytes = self.element_bytes(id);
        let bytes = self.resident_bytes(resident.free_elements, resident.partition_elements, element_bytes);
        let mut after = resident.ready.clone();
        after.extend(self.take(user, bytes)?);
        let mut turns = Vec::new();
        for rows in resident.partition_blocks(self.core.partitions) {
            turns.extend(blocks(resident.free_elements, self.core.partitions).map(|columns| (rows, columns)));
        }
        let ready = latest(self.turn_blocks(&turns, purpose, &after));
        self.emitter.check_size()?;
        let turned = Resident {
            layout,
            partition_elements: resident.free_elements,
            free_elements: resident.partition_elements,
            bytes,
            ready,
            groups: 1,
        };
        self.turned.insert(id, turned.clone());
        Ok(turned)
    }

    /// Transposes blocks of rows and columns (at most 128 each) through the array, as many into a bank of PSUM as it
    /// holds; the completion of each bank's eviction.
    pub(super) fn turn_blocks(&mut self, turns: &[(u32, u32)], purpose: Purpose, after: &[Wait]) -> Vec<Wait> {
        let mut ready = Vec::new();
        let together = (self.core.moving_free_max / self.core.partitions.max(1)).max(1) as usize;
        for bank_full in turns.chunks(together) {
            let (bank, evicted) = self.psum.take();
            let mut after = after.to_vec();
            after.extend(evicted);
            let mut done = Vec::new();
            for &(rows, columns) in bank_full {
                self.emitter.instruction(Engine::Tensor, Op::LdWeights { rows, columns }, purpose, &after);
                let op = Op::Matmul { free: rows, passes: 1 };
                done = vec![self.emitter.instruction(Engine::Tensor, op, purpose, &[])];
            }
            let free = bank_full.iter().map(|(rows, _)| rows).sum();
            let (engine, copy) = (self.less_loaded(), Op::TensorCopy { free });
            self.count_load(engine, &copy);
            let copied = self.emitter.instruction(engine, copy, purpose, &done);
            self.psum.set_evicted(bank, copied);
            ready.push(copied);
        }
        ready
    }
}
