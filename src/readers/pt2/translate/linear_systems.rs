//! Determinants, inverses and solutions of systems of equations.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::refuse;
use ns_program::OperatorKind::Product;
use ns_program::compose::{Elimination, cholesky, eliminate, identity_like, solve_triangle};
use ns_program::{Binary, Built, Comparison, ElementType, InstructionId, Unary};

/// Operations that elimination computes. Matrices with more rows than can be unrolled stay without a known meaning.
pub const OPS: &[Row] = &[
    (&["det", "linalg_det", "_linalg_det", "logdet"], Product, determinant),
    (&["slogdet", "linalg_slogdet", "_linalg_slogdet"], Product, determinant),
    (&["inverse", "linalg_inv", "linalg_inv_ex"], Product, |c| {
        let x = c.x(0)?;
        let unit = identity_like(c.b(), x)?;
        let inverse = eliminate(c.b(), x, unit)?.solution;
        checked(c, inverse, "linalg_inv_ex")
    }),
    (&["linalg_solve", "linalg_solve_ex", "_linalg_solve_ex"], Product, solution),
    (&["linalg_cholesky", "linalg_cholesky_ex", "cholesky"], Product, |c| {
        let x = c.x(0)?;
        let is_upper = c.flag_or("upper", false);
        let x = if is_upper { turned(c, x)? } else { x };
        let root = cholesky(c.b(), x)?;
        let root = if is_upper { turned(c, root)? } else { root };
        checked(c, root, "linalg_cholesky_ex")
    }),
    (&["cholesky_solve"], Product, |c| {
        let (right, root) = (c.x(0)?, c.x(1)?);
        one(by_root(c, root, right)?)
    }),
    (&["cholesky_inverse"], Product, |c| {
        let root = c.x(0)?;
        let unit = identity_like(c.b(), root)?;
        one(by_root(c, root, unit)?)
    }),
    (&["linalg_solve_triangular"], Product, triangle),
    (&["triangular_solve"], Product, |c| {
        let (right, a) = (c.x(0)?, c.x(1)?);
        let is_turned = c.flag_or("transpose", false);
        let upper = c.flag_or("upper", true) != is_turned;
        let used = if is_turned { turned(c, a)? } else { a };
        let is_unit = c.flag_or("unitriangular", false);
        let found = solve_triangle(c.b(), used, right, upper, is_unit)?;
        Ok(OpResult::Many(vec![Some(found), Some(a)]))
    }),
];

/// A matrix with rows and columns exchanged.
fn turned(c: &mut Call<'_, '_, '_>, x: InstructionId) -> Built {
    let rank = c.b().rank(x);
    if rank < 2 {
        return Err(refuse!("{} needs an operand of rank 2 or more, not {rank}", c.op));
    }
    c.b().swap_dims(x, rank - 2, rank - 1)
}

/// A result; for the operator `with_check`, also an error code of 0 for each matrix.
fn checked(c: &mut Call<'_, '_, '_>, value: InstructionId, with_check: &str) -> CallOutcome {
    if c.op != with_check {
        return one(value);
    }
    let faults = faults(c, value)?;
    Ok(OpResult::Many(vec![Some(value), Some(faults)]))
}

/// An error code of 0 for each matrix.
fn faults(c: &mut Call<'_, '_, '_>, value: InstructionId) -> Built {
    let dims = c.b().dims(value);
    c.b().full(ElementType::S32, &dims[..dims.len().saturating_sub(2)], 0.0)
}

fn determinant(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let x = c.x(0)?;
    let unit = identity_like(c.b(), x)?;
    let none = c.b().rank(unit) - 1;
    let unit = c.b().slice_dim(unit, none, 0, 1, 1)?;
    let Elimination { pivots, sign, .. } = eliminate(c.b(), x, unit)?;
    let last = c.b().rank(pivots) - 1;
    if matches!(c.op, "det" | "linalg_det" | "_linalg_det") {
        let product = c.b().reduce(Binary::Mul, pivots, &[last], false)?;
        let value = c.b().mul(product, sign)?;
        return if c.op == "_linalg_det" { Ok(OpResult::Many(vec![Some(value), None, None])) } else { one(value) };
    }
    let signs = c.b().unary(Unary::Sign, pivots)?;
    let signs = c.b().reduce(Binary::Mul, signs, &[last], false)?;
    let sign = c.b().mul(signs, sign)?;
    let size = c.b().unary(Unary::Abs, pivots)?;
    let logs = c.b().unary(Unary::Log, size)?;
    let log = c.b().reduce(Binary::Add, logs, &[last], false)?;
    match c.op {
        "logdet" => {
            let is_below = c.b().compare_number(Comparison::Lt, sign, 0.0)?;
            let none = c.t.b.number(c.t.b.element(log), f64::NAN)?;
            one(c.b().select(is_below, none, log)?)
        }
        "_linalg_slogdet" => Ok(OpResult::Many(vec![Some(sign), Some(log), None, None])),
        _ => Ok(OpResult::Many(vec![Some(sign), Some(log)])),
    }
}

/// Solves `a x = right`, or `x a = right` if `left` is false; the right side may be a vector for each matrix.
fn solution(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, right) = (c.x(0)?, c.x(1)?);
    let (own, other) = (c.b().dims(a), c.b().dims(right));
    let is_left = c.flag_or("left", true);
    // torch's rule that tells vectors from matrices.
    let is_vector = other.len() == 1 || (own.len() == other.len() + 1 && own[..own.len() - 1] == other[..]);
    let right = if is_vector { c.b().unsqueeze(right, other.len())? } else { right };
    let (used, right) = if is_left { (a, right) } else { (turned(c, a)?, turned(c, right)?) };
    let mut found = eliminate(c.b(), used, right)?.solution;
    if !is_left {
        found = turned(c, found)?;
    }
    let faults = faults(c, found)?;
    if is_vector {
        let last = c.b().rank(found) - 1;
        found = c.b().squeeze(found, last)?;
    }
    match c.op {
        "linalg_solve" => one(found),
        "linalg_solve_ex" => Ok(OpResult::Many(vec![Some(found), Some(faults)])),
        _ => Ok(OpResult::Many(vec![Some(found), None, None, Some(faults)])),
    }
}

/// Solves `a x = right` where `root` is the Cholesky factor of `a`.
fn by_root(c: &mut Call<'_, '_, '_>, root: InstructionId, right: InstructionId) -> Built {
    let lower = if c.flag_or("upper", false) { turned(c, root)? } else { root };
    let upper = turned(c, lower)?;
    let between = solve_triangle(c.b(), lower, right, false, false)?;
    solve_triangle(c.b(), upper, between, true, false)
}

fn triangle(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (a, right) = (c.x(0)?, c.x(1)?);
    let (is_upper, is_unit) = (c.flag_or("upper", false), c.flag_or("unitriangular", false));
    if c.flag_or("left", true) {
        return one(solve_triangle(c.b(), a, right, is_upper, is_unit)?);
    }
    let (a, right) = (turned(c, a)?, turned(c, right)?);
    let found = solve_triangle(c.b(), a, right, !is_upper, is_unit)?;
    one(turned(c, found)?)
}
