//! Diagonals, rotations and flips, and the named functions that join and split tensors.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use super::views::{Look, ViewId, Views};
use ns_base::convert::{i64_to_f64, u64_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Movement;
use ns_program::compose::dimension;
use ns_program::{ArrayType, Binary, Builder, Built, Comparison, ElementType, InstructionId, Numbers, Value};

/// Most elements of a triangle whose indices are computed here.
const MOST_PLACES: u64 = 1 << 20;

/// Diagonals, rotations, joins and splits.
pub const OPS: &[Row] = &[
    (&["diagonal", "diagonal_copy", "linalg_diagonal"], Movement, |c| {
        let plane = plane(c, 0)?;
        let parent = c.view(0)?;
        Ok(OpResult::Views(vec![looked(c.b_and_views(), parent, plane)?]))
    }),
    (&["diagonal_scatter"], Movement, scattered),
    (&["fill_diagonal"], Movement, filled),
    (&["diag", "diag_embed", "diagflat"], Movement, diagonal_matrix),
    (&["trace"], Movement, |c| {
        let x = c.x(0)?;
        let (mut views, plane) = (Views::default(), Plane { first: 0, second: 1, offset: 0 });
        let whole = views.fresh(x);
        let diagonal = looked((c.b(), &mut views), whole, plane)?;
        let diagonal = views.get(c.b(), diagonal)?;
        one(c.b().reduce(Binary::Add, diagonal, &[0], false)?)
    }),
    (&["rot90"], Movement, turned),
    (&["fliplr", "flipud"], Movement, |c| {
        let (x, along) = (c.x(0)?, usize::from(c.op == "fliplr"));
        one(c.b().reverse(x, &[along])?)
    }),
    (&["column_stack", "row_stack", "dstack"], Movement, stacked),
    (&["hsplit", "vsplit", "dsplit"], Movement, parted),
    (&["block_diag"], Movement, blocks),
    (&["cartesian_prod"], Movement, pairs),
    (&["tril_indices", "triu_indices"], Movement, triangle_places),
    (&["sum_to_size"], Movement, summed),
];

/// A matrix with one number on its diagonal. In a tall matrix `wrap` would begin the diagonal again: that is not known here.
fn filled(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let ty = c.b().array(x)?.clone();
    let [rows, columns] = ty.dims[..] else { return Ok(OpResult::Unknown) };
    if c.flag_or("wrap", false) && rows > columns {
        return Ok(OpResult::Unknown);
    }
    let value = c.operand(1, ty.element)?;
    let row = c.b().iota(ElementType::S32, &ty.dims, 0)?;
    let column = c.b().iota(ElementType::S32, &ty.dims, 1)?;
    let is_diagonal = c.b().compare(Comparison::Eq, row, column)?;
    one(c.b().select(is_diagonal, value, x)?)
}

/// Two dimensions and the offset of the diagonal.
#[derive(Clone, Copy, Debug)]
struct Plane {
    first: usize,
    second: usize,
    offset: i64,
}

/// The dimensions of a diagonal of the tensor at a position.
fn plane(c: &mut Call<'_, '_, '_>, place: usize) -> Result<Plane, Refusal> {
    let x = c.x(place)?;
    let rank = c.b().rank(x);
    let (first, second) = if c.op.starts_with("linalg") { (-2, -1) } else { (0, 1) };
    let (first, second) = (c.dimension("dim1", first, rank)?, c.dimension("dim2", second, rank)?);
    if first == second || rank < 2 {
        return Err(refuse!("dimensions {first} and {second} of {rank} have no diagonal"));
    }
    Ok(Plane { first, second, offset: c.int_or("offset", 0) })
}

/// A diagonal as the last dimension: in row-major order, each of its elements is one row and one element after the previous one.
fn looked((b, views): (&mut Builder, &mut Views), parent: ViewId, plane: Plane) -> Result<ViewId, Refusal> {
    let array = views.get(b, parent)?;
    let dims = b.dims(array);
    let others = (0..dims.len()).filter(|d| *d != plane.first && *d != plane.second);
    let order: Vec<usize> = others.chain([plane.first, plane.second]).collect();
    let (rows, columns) = (dims[plane.first], dims[plane.second]);
    let mut flat: Vec<u64> = order[..order.len() - 2].iter().map(|&d| dims[d]).collect();
    flat.push(rows.saturating_mul(columns));
    let moved = plane.offset.unsigned_abs();
    let (start, count) = if plane.offset >= 0 {
        (moved, rows.min(columns.saturating_sub(moved)))
    } else {
        (moved.saturating_mul(columns), rows.saturating_sub(moved).min(columns))
    };
    let step = columns.saturating_add(1);
    let (start, limit) = match count.checked_sub(1) {
        Some(steps) => (start, start.saturating_add(steps.saturating_mul(step)).saturating_add(1)),
        None => (0, 0),
    };
    let last = flat.len() - 1;
    let turned = views.look(b, parent, Look::Transpose(order))?;
    let row = views.look(b, turned, Look::Reshape(flat))?;
    views.look(b, row, Look::Slice(last, start, limit, step))
}

/// A copy with a diagonal replaced.
fn scattered(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, part) = (c.x(0)?, c.x(1)?);
    let plane = plane(c, 0)?;
    let mut views = Views::default();
    let whole = views.fresh(x);
    let diagonal = looked((c.b(), &mut views), whole, plane)?;
    views.set(c.b(), diagonal, part)?;
    one(views.get(c.b(), whole)?)
}

/// A matrix with the last dimension on a diagonal; for a matrix `diag` gives its diagonal.
fn diagonal_matrix(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let mut x = c.x(0)?;
    let offset = c.int("diagonal").or_else(|| c.int("offset")).unwrap_or(0);
    let rank = c.b().rank(x);
    if c.op == "diag" && rank == 2 {
        let parent = c.view(0)?;
        let plane = Plane { first: 0, second: 1, offset };
        return Ok(OpResult::Views(vec![looked(c.b_and_views(), parent, plane)?]));
    }
    if c.op == "diagflat" {
        let all = c.b().array(x)?.elements().unwrap_or(0);
        x = c.b().reshape(x, &[all])?;
    }
    let matrix = embedded(c.b(), x, offset)?;
    if c.op != "diag_embed" {
        return one(matrix);
    }
    let (first, second) = (c.dimension("dim1", -2, rank + 1)?, c.dimension("dim2", -1, rank + 1)?);
    let mut front = 0..rank - 1;
    let order: Vec<usize> = (0..=rank)
        .filter_map(|d| match d {
            d if d == first => Some(rank - 1),
            d if d == second => Some(rank),
            _ => front.next(),
        })
        .collect();
    one(c.b().transpose(matrix, &order)?)
}

/// `x` on a diagonal of the last two dimensions, zeros elsewhere.
fn embedded(b: &mut Builder, x: InstructionId, offset: i64) -> Built {
    let (mut dims, element, rank) = (b.dims(x), b.element(x), b.rank(x));
    let Some(last) = rank.checked_sub(1) else {
        return Err(refuse!("a diagonal needs an operand of rank 1 or more, not 0"));
    };
    let moved = offset.unsigned_abs();
    let size = dims[last].saturating_add(moved);
    let behind =
        i64::try_from(moved).map_err(|_| refuse!("a diagonal of {moved} elements is longer than 63 bits count"))?;
    let mut edges = vec![(0, 0); rank];
    edges[last] = (0, behind);
    let padded = b.pad(x, 0.0, &edges)?;
    dims[last] = size;
    dims.push(size);
    // Above the main diagonal, the index of an element is its row; below, its column.
    let along = if offset >= 0 { last } else { rank };
    let places = (0..last).chain([along]).map(usize_to_u32).collect();
    let spread = b.broadcast_in(padded, &dims, places)?;
    let (row, column) = (b.iota(ElementType::S64, &dims[last..], 0)?, b.iota(ElementType::S64, &dims[last..], 1)?);
    let wanted = b.with_number(Binary::Add, row, i64_to_f64(offset))?;
    let is_on = b.compare(Comparison::Eq, column, wanted)?;
    let zero = b.number(element, 0.0)?;
    b.select(is_on, spread, zero)
}

/// Rotates a plane by quarter turns.
fn turned(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let along = match c.ints("dims") {
        Some(all) => all.iter().map(|&d| dimension(rank, d)).collect::<Result<Vec<_>, _>>()?,
        None => vec![0, 1],
    };
    let &[first, second] = along.as_slice() else {
        return Err(refuse!("dims has {} numbers for 2 dimensions", along.len()));
    };
    match c.int_or("k", 1).rem_euclid(4) {
        0 => one(x),
        2 => one(c.b().reverse(x, &[first, second])?),
        turns => {
            let flipped = c.b().reverse(x, &[if turns == 1 { second } else { first }])?;
            one(c.b().swap_dims(flipped, first, second)?)
        }
    }
}

/// Tensors joined along the first, second or third dimension, which is added to those that lack it.
fn stacked(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    // Only `dstack` joins numbers of different types.
    let element = if c.op == "dstack" { Some(c.result()?.element) } else { None };
    let mut parts = Vec::new();
    for x in c.tensors(0)? {
        let x = element.map_or(Ok(x), |element| c.b().convert(x, element))?;
        let dims = c.b().dims(x);
        let wanted = match (c.op, dims.as_slice()) {
            ("row_stack", []) => vec![1, 1],
            ("row_stack", [n]) => vec![1, *n],
            ("column_stack", []) => vec![1, 1],
            ("column_stack", [n]) => vec![*n, 1],
            ("dstack", []) => vec![1, 1, 1],
            ("dstack", [n]) => vec![1, *n, 1],
            ("dstack", [m, n]) => vec![*m, *n, 1],
            (_, dims) => dims.to_vec(),
        };
        parts.push(c.b().reshape(x, &wanted)?);
    }
    let along = match c.op {
        "row_stack" => 0,
        "column_stack" => 1,
        _ => 2,
    };
    one(c.b().concatenate(&parts, along)?)
}

/// Splits the first, second or third dimension into parts of the sizes in the file.
fn parted(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let along = match c.op {
        "vsplit" => 0,
        "dsplit" => 2,
        _ => usize::from(rank > 1),
    };
    let parent = c.view(0)?;
    let (mut start, mut views) = (0u64, Vec::new());
    for ty in c.results()? {
        let limit = start.saturating_add(ty.dims.get(along).copied().unwrap_or(1));
        views.push(c.t.views.look(&mut c.t.b, parent, Look::Slice(along, start, limit, 1))?);
        start = limit;
    }
    Ok(OpResult::Views(views))
}

/// Matrices on the diagonal of a block matrix.
fn blocks(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let mut parts = Vec::new();
    for x in c.tensors(0)? {
        let dims = c.b().dims(x);
        let matrix = match dims.as_slice() {
            [] => vec![1, 1],
            [n] => vec![1, *n],
            other => other.to_vec(),
        };
        parts.push(c.b().reshape(x, &matrix)?);
    }
    let mut widths = Vec::new();
    for &part in &parts {
        widths.push(i64::try_from(c.b().size(part, 1)?).unwrap_or(i64::MAX));
    }
    let total = widths.iter().fold(0i64, |sum, &n| sum.saturating_add(n));
    let (mut rows, mut front) = (Vec::new(), 0i64);
    for (part, width) in parts.into_iter().zip(widths) {
        rows.push(c.b().pad(part, 0.0, &[(0, 0), (front, total - front - width)])?);
        front += width;
    }
    one(c.b().concatenate(&rows, 0)?)
}

/// The Cartesian product of the rows' elements.
fn pairs(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let rows = c.tensors(0)?;
    let mut dims = Vec::new();
    for &row in &rows {
        dims.push(c.b().size(row, 0)?);
    }
    let mut spread = Vec::new();
    for (at, &row) in rows.iter().enumerate() {
        spread.push(c.b().broadcast_in(row, &dims, vec![usize_to_u32(at)])?);
    }
    if spread.len() == 1 {
        return one(spread[0]);
    }
    let all = c.b().stack(&spread, dims.len())?;
    let count = dims.iter().fold(1u64, |all, &n| all.saturating_mul(n));
    one(c.b().reshape(all, &[count, dims.len() as u64])?)
}

/// Rows and columns of the elements of a triangle.
fn triangle_places(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let natural = |name: &str| c.int(name).and_then(|n| u64::try_from(n).ok());
    let (Some(rows), Some(columns)) = (natural("row"), natural("col")) else {
        return Err(c.missing("row or col"));
    };
    if rows.saturating_mul(columns) > MOST_PLACES {
        let sizes = [rows, columns];
        return Err(refuse!("a triangle of sizes {sizes:?} is too large: the limit is {MOST_PLACES}"));
    }
    let (offset, is_lower) = (c.int_or("offset", 0), c.op == "tril_indices");
    let is_in = |row: i64, column: i64| {
        let edge = row.saturating_add(offset);
        if is_lower { column <= edge } else { column >= edge }
    };
    let all = || (0..u64_to_i64(rows)).flat_map(|row| (0..u64_to_i64(columns)).map(move |column| (row, column)));
    let places: Vec<(i64, i64)> = all().filter(|&(row, column)| is_in(row, column)).collect();
    let numbers: Vec<i64> = places.iter().map(|p| p.0).chain(places.iter().map(|p| p.1)).collect();
    let ty = ArrayType::new(ElementType::S64, [2, places.len() as u64]);
    one(c.b().constant(Value { ty, numbers: Numbers::Whole(numbers) })?)
}

/// Sums over the dimensions that the wanted sizes lack or have with size one.
fn summed(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let dims = c.b().dims(x);
    let wanted = c.ints("size").unwrap_or_default();
    let Some(front) = dims.len().checked_sub(wanted.len()) else { return Ok(OpResult::Unknown) };
    let is_summed = |d: &usize| *d < front || (wanted[*d - front] == 1 && dims[*d] != 1);
    let along: Vec<usize> = (0..dims.len()).filter(is_summed).collect();
    let sum = if along.is_empty() { x } else { c.b().reduce(Binary::Add, x, &along, true)? };
    let kept = c.b().dims(sum)[front..].to_vec();
    one(c.b().reshape(sum, &kept)?)
}
