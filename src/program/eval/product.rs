//! Products of matrices.

use super::pick::{count, pick, reals, strided, strides};
use crate::{ArrayType, DotDims, ElementType, Numbers, Value, round};
use ns_base::convert::usize_to_u32;
use ns_base::{Refusal, refuse};

/// A map of positions with the operand's dimensions in the order batch, free, contracted, and the sizes of the three groups.
fn arranged(x: &Value, batch: &[u32], contracted: &[u32]) -> Result<(Vec<usize>, [usize; 3]), Refusal> {
    let rank = x.ty.dims.len();
    if batch.iter().chain(contracted).any(|&d| d as usize >= rank) {
        return Err(refuse!("{} has no such dimension to multiply along", x.ty));
    }
    let free = (0..usize_to_u32(rank)).filter(|d| !batch.contains(d) && !contracted.contains(d));
    let order: Vec<usize> =
        batch.iter().copied().chain(free.clone()).chain(contracted.iter().copied()).map(|d| d as usize).collect();
    let own = strides(&x.ty.dims);
    let dims: Vec<u64> = order.iter().map(|&d| x.ty.dims[d]).collect();
    let steps: Vec<i64> = order.iter().map(|&d| own[d]).collect();
    let sizes = |from: usize, to: usize| count(&dims[from..to]);
    let (b, f) = (batch.len(), batch.len() + free.count());
    Ok((strided(&dims, &steps, 0)?, [sizes(0, b)?, sizes(b, f)?, sizes(f, dims.len())?]))
}

pub(super) fn dot(a: &Value, b: &Value, dims: &DotDims, ty: &ArrayType) -> Result<Value, Refusal> {
    let (left, [batch, m, k]) = arranged(a, &dims.lhs_batch, &dims.lhs_contracting)?;
    let (right, [batch_b, n, k_b]) = arranged(b, &dims.rhs_batch, &dims.rhs_contracting)?;
    if batch != batch_b || k != k_b || count(&ty.dims)? != batch * m * n {
        return Err(refuse!("{} and {} have no product {ty}", a.ty, b.ty));
    }
    let is_whole = matches!((&a.numbers, &b.numbers), (Numbers::Whole(_), Numbers::Whole(_)));
    if is_whole && !ty.element.is_float() {
        return whole_product(a, b, (&left, &right), [batch, m, n, k], ty);
    }
    let (a, b) = (reals(a)?, reals(b)?);
    let (a, b) = (Numbers::Real(a.into_owned()), Numbers::Real(b.into_owned()));
    let (Numbers::Real(a), Numbers::Real(b)) = (pick(&a, None, &left)?, pick(&b, None, &right)?) else {
        return Err(refuse!("the operands are not real numbers"));
    };
    let mut result = Vec::with_capacity(batch * m * n);
    for at in 0..batch {
        for row in 0..m {
            let x = &a[(at * m + row) * k..][..k];
            for column in 0..n {
                let y = &b[(at * n + column) * k..][..k];
                result.push(round::real(ty.element, sum_of_products(x, y)));
            }
        }
    }
    Ok(Value { ty: ty.clone(), numbers: Numbers::Real(result) })
}

/// In double precision, in four sums: products of single-precision numbers are exact in double precision.
fn sum_of_products(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (mut xs, mut ys) = (x.chunks_exact(4), y.chunks_exact(4));
    for (x, y) in xs.by_ref().zip(ys.by_ref()) {
        for i in 0..4 {
            sums[i] += x[i] * y[i];
        }
    }
    let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| x * y).sum();
    (sums[0] + sums[1]) + (sums[2] + sums[3]) + rest
}

fn whole_product(
    a: &Value,
    b: &Value,
    (left, right): (&[usize], &[usize]),
    [batch, m, n, k]: [usize; 4],
    ty: &ArrayType,
) -> Result<Value, Refusal> {
    let (Numbers::Whole(a), Numbers::Whole(b)) = (pick(&a.numbers, None, left)?, pick(&b.numbers, None, right)?) else {
        return Err(refuse!("the operands are not whole numbers"));
    };
    let mut result = Vec::with_capacity(batch * m * n);
    for at in 0..batch {
        for row in 0..m {
            for column in 0..n {
                let x = &a[(at * m + row) * k..][..k];
                let y = &b[(at * n + column) * k..][..k];
                let sum = x.iter().zip(y).fold(0i64, |s, (&x, &y)| s.wrapping_add(x.wrapping_mul(y)));
                let sum = if ty.element == ElementType::Pred { i64::from(sum != 0) } else { sum };
                result.push(round::whole(ty.element, sum));
            }
        }
    }
    Ok(Value { ty: ty.clone(), numbers: Numbers::Whole(result) })
}
