//! Matrix products of HLO: which operand sits in the array, and which layout the result gets.

use super::chain::{plan_eviction, plan_steps};
use super::code::Code;
use super::elementwise::run_apart;
use super::emitter::Purpose;
use super::idioms::Softmax;
use super::layout::{element_bytes, exceeds_sbuf, resident_bytes, row_groups, slices, wanted_layout};
use super::places::Places;
use super::plan::Plan;
use super::product::{Columns, Eviction, Product, ProductWithEpilogue, Stationary, product};
use super::rows::{absorb_softmax, softmax_steps};
use super::spill::{save, take};
use super::tiles::{StepKind, TileStep};
use super::turn::in_layout;
use super::value::{Layout, Resident, Value, blocks, grouped_blocks};
use super::weights::WeightMatrix;
use crate::error::StageError;
use crate::hlo::{DotDims, InstrId};

/// Sizes of a dot.
struct DotShape {
    lhs: InstrId,
    rhs: InstrId,
    batch: u64,
    /// Heads that lie side by side in the columns of the result.
    heads: u64,
    rows: u64,
    depth: u64,
    columns: u64,
    /// Layout in which the contracted dimension of each side is on the partitions.
    lhs_layout: Layout,
    rhs_layout: Layout,
}

/// Emits a dot with its epilogue. The result belongs to the epilogue, or to the dot if there is none.
pub(super) fn dot(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    dims: &DotDims,
    evicted: &ProductWithEpilogue<'_>,
) -> Result<(), StageError> {
    let &ProductWithEpilogue { id, result, .. } = evicted;
    let shape = DotShape::of(plan, id, dims)?;
    let lhs = in_layout(plan, places, code, shape.lhs, id, shape.lhs_layout)?;
    let lhs_slices = slices(plan.core, &lhs, element_bytes(plan, shape.lhs));
    let columns = columns_of(plan, places, code, &shape, id)?;
    let layout = product_layout(plan, &shape, result, &columns);
    let mut resident = shape.result(plan, id, result, layout);
    // Scores that do not fit in SBUF as a whole wait for their softmax in device memory.
    let leaves =
        plan.idioms.softmax_of.contains_key(&result) && exceeds_sbuf(plan.core, &resident, plan.value_bytes(result));
    let softmax = softmax_on(plan, result, shape.columns).filter(|_| !leaves);
    let element_bytes = element_bytes(plan, softmax.map_or(result, |s| s.result));
    resident.bytes = resident_bytes(plan.core, &resident, element_bytes);
    let room = take(plan, places, code, result, resident.bytes)?;
    let (steps, apart) = eviction_steps(plan, places, code, evicted, &columns, softmax, &resident)?;
    let nest = Product {
        rows: shape.rows,
        columns: shape.columns,
        array_passes: plan.array_passes(id),
        passes: shape.depth.div_ceil(u64::from(plan.precision.contracted)),
        depth: shape.depth,
        stationary: Stationary::for_layout(layout),
        rows_ready: lhs.ready,
        batch: shape.batch,
        own_columns: shape.batch > 1,
        row_groups: if shape.batch > 1 { 1 } else { resident.groups },
        slices: slices(plan.core, &resident, element_bytes).max(lhs_slices),
    };
    code.flops += 2 * shape.batch * shape.rows * shape.depth * shape.columns;
    let eviction = Eviction { steps: &steps, purpose: evicted.purpose(code), room: &room };
    let purpose = code.execution(id);
    resident.ready = product(plan, places, code, &nest, &columns, purpose, &eviction)?;
    let purpose = Purpose::execution(code.sources.of(result));
    run_apart(plan.core.partitions, code, &apart, &mut resident, purpose);
    if let Some(softmax) = softmax {
        absorb_softmax(places, softmax, &resident);
        places.set_resident(softmax.result, resident.clone());
        resident.bytes = 0;
    }
    places.set_resident(result, resident);
    if leaves {
        // Each head is a matrix of its own there, so each of its rows is a line.
        save(plan, places, code, result, shape.rows * shape.batch);
    }
    Ok(())
}

impl DotShape {
    fn of(plan: &Plan<'_>, id: InstrId, dims: &DotDims) -> Result<Self, StageError> {
        let (lhs, rhs) = (plan.operand(id, 0)?, plan.operand(id, 1)?);
        let (l, r) = (&plan.instruction(lhs)?.shape, &plan.instruction(rhs)?.shape);
        let out = &plan.instruction(id)?.shape;
        let batch: u64 = out.dims.iter().take(dims.batch as usize).product();
        let Some(&depth) = l.dims.get(dims.lhs_contracting as usize) else {
            return Err(plan.unsupported(id, "a dot that contracts a dimension its left side doesn't have"));
        };
        let rows = l.elements() / (batch * depth).max(1);
        let columns = out.elements() / (batch * rows).max(1);
        // Heads lie side by side: a result [b, h, s, d] has h x d columns.
        let heads = match out.dims.as_slice() {
            [_, heads, _, _] if dims.batch == 2 => *heads,
            _ => 1,
        };
        let layout_of = |contracted: u32, rank: usize| {
            if contracted as usize + 1 == rank { Layout::FeatureMajor } else { Layout::RowMajor }
        };
        let (lhs_layout, rhs_layout) =
            (layout_of(dims.lhs_contracting, l.rank()), layout_of(dims.rhs_contracting, r.rank()));
        Ok(Self { lhs, rhs, batch, heads, rows, depth, columns, lhs_layout, rhs_layout })
    }

    /// The result in a layout, with no space taken yet.
    fn result(&self, plan: &Plan<'_>, id: InstrId, result: InstrId, layout: Layout) -> Resident {
        let (rows, columns, groups) = match layout {
            Layout::FeatureMajor => (self.rows * self.batch / self.heads, self.columns * self.heads, 1),
            Layout::RowMajor if plan.has_few_rows(id) => (self.rows * self.batch, self.columns, 1),
            Layout::RowMajor if self.batch > 1 => (self.rows * self.batch, self.columns, self.batch),
            Layout::RowMajor => (self.rows * self.batch, self.columns, row_groups(plan, result)),
        };
        Resident { groups, ..Resident::of(layout, rows, columns) }
    }
}

/// The steps of a product's tile on its way out of PSUM, and the steps that follow when the whole product is in SBUF.
fn eviction_steps(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    evicted: &ProductWithEpilogue<'_>,
    columns: &Columns,
    softmax: Option<&Softmax>,
    resident: &Resident,
) -> Result<(Vec<TileStep>, Vec<TileStep>), StageError> {
    let (id, epilogue) = (evicted.id, evicted.epilogue);
    let (mut steps, apart) = match columns {
        Columns::Weight(_) => plan_eviction(plan, places, code, epilogue, id, resident)?,
        Columns::Resident(_) => (plan_steps(plan, places, code, epilogue, id, resident)?, Vec::new()),
    };
    if let Some(softmax) = softmax {
        // The exponential scales its operand for free, and reads PSUM.
        steps.pop_if(|s| s.is_scalars() || s.kind == StepKind::Copy);
        steps.extend(softmax_steps(&mut code.sources, softmax));
    }
    Ok((steps, apart))
}

/// The layout of a product's result: the one its readers want, unless the rows fill their blocks so badly that it is
/// cheaper to stream them and to transpose the result afterwards.
fn product_layout(plan: &Plan<'_>, shape: &DotShape, result: InstrId, columns: &Columns) -> Layout {
    let wanted = wanted_layout(plan, result);
    if wanted == Layout::FeatureMajor || matches!(columns, Columns::Resident(_)) || shape.batch > 1 {
        return wanted;
    }
    let (partitions, moving) = (plan.core.partitions, plan.core.moving_free_max);
    let passes = shape.depth.div_ceil(u64::from(partitions));
    let shortest = plan.costs.engine.min_interval_cycles;
    let streamed = |n: u64| blocks(n, moving).map(|b| u64::from(b.max(shortest))).sum::<u64>();
    let row_blocks = grouped_blocks(shape.rows, row_groups(plan, result), partitions).count() as u64;
    let column_blocks = shape.columns.div_ceil(u64::from(partitions));
    let rows_stay = row_blocks * streamed(shape.columns) * passes;
    let turned = row_blocks * column_blocks * u64::from(partitions);
    let columns_stay = column_blocks * streamed(shape.rows) * passes + turned;
    if columns_stay < rows_stay { Layout::FeatureMajor } else { Layout::RowMajor }
}

/// The softmax of a product whose whole rows fit in a bank of PSUM.
fn softmax_on<'p>(plan: &'p Plan<'_>, scores: InstrId, columns: u64) -> Option<&'p Softmax> {
    let softmax = plan.idioms.softmax_of.get(&scores)?;
    (columns <= u64::from(plan.core.moving_free_max)).then_some(softmax)
}

fn columns_of(
    plan: &Plan<'_>,
    places: &mut Places,
    code: &mut Code<'_>,
    shape: &DotShape,
    user: InstrId,
) -> Result<Columns, StageError> {
    match *places.value(plan, shape.rhs)? {
        Value::Weight { parameter, via } => {
            let (depth, columns) = (shape.depth, shape.columns);
            Ok(Columns::Weight(WeightMatrix { parameter, via, depth, columns }))
        }
        Value::Resident(_) | Value::Splat | Value::Broadcast { .. } => {
            Ok(Columns::Resident(in_layout(plan, places, code, shape.rhs, user, shape.rhs_layout)?.ready))
        }
    }
}
