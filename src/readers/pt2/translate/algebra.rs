//! Products composed of other products: of several matrices, of vectors, with normalised weights.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Product;
use ns_program::builder::{ConvolutionSpec, RowGather, broadcast_dims};
use ns_program::compose::{einsum, identity_like, norm};
use ns_program::{Binary, Comparison, DotDims, ElementType, InstructionId, Unary};

/// Largest power of a matrix that is unrolled.
const MOST_POWER: i64 = 64;

/// Up to which column sum the series of ten terms is exact in single precision, and how often a larger matrix is halved at most.
const EXACT_UP_TO: f64 = 0.5;
const MOST_SQUARES: usize = 10;

/// Products that are composed of others.
pub const OPS: &[Row] = &[
    (&["addbmm", "addr"], Product, added),
    (&["bilinear"], Product, |c| {
        let (x, y, weight) = (c.x(0)?, c.x(1)?, c.x(2)?);
        let product = einsum(c.b(), "...i,oij,...j->...o", &[x, weight, y])?;
        match c.tensor("bias")? {
            Some(bias) => one(c.b().add(product, bias)?),
            None => one(product),
        }
    }),
    (&["_trilinear"], Product, three),
    (&["linalg_multi_dot", "chain_matmul"], Product, |c| {
        let mut rest = c.tensors(0)?.into_iter();
        let mut product = rest.next().ok_or_else(|| refuse!("there is nothing to multiply"))?;
        for next in rest {
            product = c.b().matmul(product, next)?;
        }
        one(product)
    }),
    (&["linalg_matmul"], Product, |c| {
        let (a, b) = (c.x(0)?, c.x(1)?);
        one(c.b().matmul(a, b)?)
    }),
    (&["linalg_vecdot"], Product, |c| {
        let (a, b) = (c.x(0)?, c.x(1)?);
        let product = c.b().mul(a, b)?;
        let rank = c.b().rank(product);
        let along = c.dimension("dim", -1, rank)?;
        one(c.b().reduce(Binary::Add, product, &[along], false)?)
    }),
    (&["inner"], Product, inner),
    (&["tensordot"], Product, contracted),
    (&["cross", "linalg_cross"], Product, cross),
    (&["kron"], Product, kronecker),
    (&["matrix_power", "linalg_matrix_power"], Product, power),
    (&["conv_tbc"], Product, time_first),
    (&["matrix_exp", "linalg_matrix_exp"], Product, exponential),
    (&["_int_mm"], Product, super::quantise::whole_product),
    (&["_weight_int8pack_mm"], Product, super::quantise::scaled_product),
    (&["_scaled_mm"], Product, super::quantise::product_of_scaled),
    (&["_weight_norm", "_weight_norm_interface"], Product, weight_norm),
    (&["norm_except_dim"], Product, |c| {
        let (v, p) = (c.x(0)?, c.float_or("pow", 2.0));
        one(norm_but(c, v, p)?)
    }),
];

/// `beta x + alpha product`, where the product is summed over a batch or is of two vectors.
fn added(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, a, b) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let product = if c.op == "addr" {
        c.b().dot(a, b, DotDims::default())?
    } else {
        let each = c.b().matmul(a, b)?;
        c.b().reduce(Binary::Add, each, &[0], false)?
    };
    let (alpha, beta) = (c.float_or("alpha", 1.0), c.float_or("beta", 1.0));
    let product = if alpha == 1.0 { product } else { c.b().with_number(Binary::Mul, product, alpha)? };
    if beta == 0.0 {
        return one(product);
    }
    let x = if beta == 1.0 { x } else { c.b().with_number(Binary::Mul, x, beta)? };
    one(c.b().add(x, product)?)
}

/// Three tensors, multiplied after inserting dimensions, and summed over dimensions.
fn three(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let operands = [c.x(0)?, c.x(1)?, c.x(2)?];
    let rank = c.b().rank(operands[0]) + c.ints("expand1").unwrap_or_default().len();
    // The dimensions that a list does not name, as letters.
    let rest = |name: &str| -> String {
        let named = c.ints(name).unwrap_or_default();
        let is_named = |d: usize| named.iter().any(|&n| usize::try_from(n) == Ok(d));
        ('a'..='z').take(rank).enumerate().filter(|(d, _)| !is_named(*d)).map(|(_, letter)| letter).collect()
    };
    let equation = format!("{},{},{}->{}", rest("expand1"), rest("expand2"), rest("expand3"), rest("sumdim"));
    one(einsum(c.b(), &equation, &operands)?)
}

/// The product over the last dimensions of both.
fn inner(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, b) = (c.x(0)?, c.x(1)?);
    let (left, right) = (c.b().rank(a), c.b().rank(b));
    if left == 0 || right == 0 {
        return one(c.b().mul(a, b)?);
    }
    let dims = DotDims {
        lhs_contracting: vec![usize_to_u32(left) - 1],
        rhs_contracting: vec![usize_to_u32(right) - 1],
        ..DotDims::default()
    };
    one(c.b().dot(a, b, dims)?)
}

/// The product over the dimensions that are named for both.
fn contracted(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, b) = (c.x(0)?, c.x(1)?);
    let (left, right) = (c.b().rank(a), c.b().rank(b));
    let numbers = |c: &Call<'_, '_, '_>, name: &str, rank: usize| -> Result<Vec<u32>, Refusal> {
        let all = c.ints(name).unwrap_or_default();
        let each = |d: i64| ns_program::compose::dimension(rank, d).map(usize_to_u32);
        all.into_iter().map(each).collect()
    };
    let dims = DotDims {
        lhs_contracting: numbers(c, "dims_self", left)?,
        rhs_contracting: numbers(c, "dims_other", right)?,
        ..DotDims::default()
    };
    one(c.b().dot(a, b, dims)?)
}

/// Cross product: `a1 b2 - a2 b1` for the three elements in turn.
fn cross(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, b) = (c.x(0)?, c.x(1)?);
    let dims = broadcast_dims(&c.b().dims(a), &c.b().dims(b))?;
    let (a, b) = (c.b().broadcast_to(a, &dims)?, c.b().broadcast_to(b, &dims)?);
    let along = match (c.int("dim"), c.op) {
        (None, "cross") => dims.iter().position(|&n| n == 3),
        _ => Some(c.dimension("dim", -1, dims.len())?),
    };
    let Some(dimension) = along.filter(|&d| dims.get(d) == Some(&3)) else {
        return Err(refuse!("{} is not possible with sizes {dims:?}", c.op));
    };
    let (next, last) = (c.b().whole_row(ElementType::S64, &[1, 2, 0])?, c.b().whole_row(ElementType::S64, &[2, 0, 1])?);
    let how = RowGather { dimension, wraps: false };
    let (a1, b2) = (c.b().take(a, next, how)?, c.b().take(b, last, how)?);
    let (a2, b1) = (c.b().take(a, last, how)?, c.b().take(b, next, how)?);
    let (forth, back) = (c.b().mul(a1, b2)?, c.b().mul(a2, b1)?);
    one(c.b().sub(forth, back)?)
}

/// The outer product: each element of the first times the whole second.
fn kronecker(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, b) = (c.x(0)?, c.x(1)?);
    let (mut left, mut right) = (c.b().dims(a), c.b().dims(b));
    let rank = left.len().max(right.len());
    left.splice(0..0, vec![1; rank - left.len()]);
    right.splice(0..0, vec![1; rank - right.len()]);
    let outer: Vec<u64> = left.iter().flat_map(|&n| [n, 1]).collect();
    let inside: Vec<u64> = right.iter().flat_map(|&n| [1, n]).collect();
    let (a, b) = (c.b().reshape(a, &outer)?, c.b().reshape(b, &inside)?);
    let product = c.b().mul(a, b)?;
    let dims: Vec<u64> = left.iter().zip(&right).map(|(&m, &n)| m.saturating_mul(n)).collect();
    one(c.b().reshape(product, &dims)?)
}

/// A power of a matrix by repeated products.
fn power(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, n) = (c.x(0)?, c.int_or("n", 0));
    if !(1..=MOST_POWER).contains(&n) {
        return Ok(OpResult::Unknown);
    }
    let mut product = x;
    for _ in 1..n {
        product = c.b().matmul(product, x)?;
    }
    one(product)
}

/// The exponential of a matrix: of one that is halved until a polynomial is exact, and then squared as often. How often is data, so each of the
/// possible squares is computed and taken or left.
fn exponential(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    if rank < 2 || !c.b().element(x).is_float() {
        return Ok(OpResult::Unknown);
    }
    let sizes = c.b().unary(Unary::Abs, x)?;
    let sums = c.b().reduce(Binary::Add, sizes, &[rank - 2], true)?;
    let size = c.b().reduce(Binary::Max, sums, &[rank - 1], true)?;
    let mut halved = x;
    let mut is_large = Vec::with_capacity(MOST_SQUARES);
    let dims = c.b().dims(x);
    let mut most = EXACT_UP_TO;
    for _ in 0..MOST_SQUARES {
        let large = c.b().compare_number(Comparison::Gt, size, most)?;
        most *= 2.0;
        let large = c.b().broadcast_to(large, &dims)?;
        let half = c.b().with_number(Binary::Mul, halved, 0.5)?;
        halved = c.b().select(large, half, halved)?;
        is_large.push(large);
    }
    let mut found = polynomial(c, halved)?;
    for large in is_large {
        let square = c.b().matmul(found, found)?;
        found = c.b().select(large, square, found)?;
    }
    one(found)
}

/// The first ten terms of the exponential's series, in four products.
fn polynomial(c: &mut Call<'_, '_, '_>, x: InstructionId) -> Result<InstructionId, Refusal> {
    let unit = identity_like(c.b(), x)?;
    let square = c.b().matmul(x, x)?;
    let cube = c.b().matmul(square, x)?;
    let term = |n: i32| 1.0 / (1..=n).map(f64::from).product::<f64>();
    let mut found = c.b().with_number(Binary::Mul, cube, term(9))?;
    for first in [6, 3, 0] {
        if first < 6 {
            found = c.b().matmul(found, cube)?;
        }
        for (n, power) in [(first, unit), (first + 1, x), (first + 2, square)] {
            let part = c.b().with_number(Binary::Mul, power, term(n))?;
            found = c.b().add(found, part)?;
        }
    }
    Ok(found)
}

/// A convolution of `[time, batch, channels]` with a kernel of `[time, input, output]`.
fn time_first(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, kernel) = (c.x(0)?, c.x(1)?);
    let bias = c.tensor("bias")?;
    let padding = c.int_or("pad", 0);
    let x = c.b().transpose(x, &[1, 2, 0])?;
    let kernel = c.b().transpose(kernel, &[2, 1, 0])?;
    let spec = ConvolutionSpec {
        strides: vec![1],
        padding: vec![(padding, padding)],
        dilation: vec![1],
        groups: 1,
        output_padding: vec![0],
        is_transposed: false,
    };
    let result = c.b().convolution(x, kernel, bias, &spec)?;
    one(c.b().transpose(result, &[2, 0, 1])?)
}

/// Norms over all dimensions except one, keeping every dimension; over all dimensions if that one is -1.
fn norm_but(c: &mut Call<'_, '_, '_>, v: InstructionId, p: f64) -> Result<InstructionId, Refusal> {
    let rank = c.b().rank(v);
    let kept = match c.int_or("dim", 0) {
        -1 => rank,
        _ => c.dimension("dim", 0, rank)?,
    };
    let along: Vec<usize> = (0..rank).filter(|&d| d != kept).collect();
    norm(c.b(), v, p, &along, true)
}

/// A weight whose norm is stored as a separate weight.
fn weight_norm(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (v, g) = (c.x(0)?, c.x(1)?);
    let length = norm_but(c, v, 2.0)?;
    let factor = c.b().div(g, length)?;
    let weight = c.b().mul(v, factor)?;
    if c.op == "_weight_norm" { one(weight) } else { Ok(OpResult::Many(vec![Some(weight), Some(length)])) }
}

/// Elements whose norm is limited to a maximum. Fails when arguments do not fit.
pub fn limited(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let rank = c.b().rank(x);
    let (p, most, kept) = (c.float_or("p", 2.0), c.float_or("maxnorm", 1.0), c.dimension("dim", 0, rank)?);
    let along: Vec<usize> = (0..rank).filter(|&d| d != kept).collect();
    let length = norm(c.b(), x, p, &along, true)?;
    let is_long = c.b().compare_number(Comparison::Gt, length, most)?;
    // As in torch: a small number keeps the quotient finite.
    let divisor = c.b().with_number(Binary::Add, length, 1e-7)?;
    let most = c.t.b.number(c.t.b.element(x), most)?;
    let factor = c.b().div(most, divisor)?;
    let unit = c.t.b.number(c.t.b.element(x), 1.0)?;
    let factor = c.b().select(is_long, factor, unit)?;
    one(c.b().mul(x, factor)?)
}
