//! Conversions, constant folding, and the narrowing of arithmetic in double precision.
//!
//! `x > 0.0` compares a float with a double, so C++ converts `x`. Compilers compare in single precision where that gives
//! the same result. The cases are a comparison with a constant that is exact in single precision, a choice between these
//! values, and one operation whose result is converted back to a float (double has more than twice the digits of single,
//! so rounding twice equals rounding once). The same is done here, because it decides the cost of the operation.

use super::mismatch;
use crate::arithmetic;
use crate::parse::ast::BinaryOp;
use crate::problem::{Diagnostic, Pos};
use crate::program::{Expr, ExprKind};
use crate::types::{Scalar, Type};
use crate::value::Value;
use ns_base::convert::f64_to_f32;

pub(crate) const fn constant(pos: Pos, scalar: Scalar, value: Value) -> Expr {
    Expr { pos, ty: Type::Scalar(scalar), kind: ExprKind::Const(value) }
}

/// An integer of type int.
pub(crate) const fn int(pos: Pos, value: i64) -> Expr {
    constant(pos, Scalar::I32, Value::Int(value))
}

/// The constant's value, if the expression is a constant.
pub(crate) const fn constant_of(e: &Expr) -> Option<Value> {
    match e.kind {
        ExprKind::Const(value) => Some(value),
        _ => None,
    }
}

/// The same value in single precision, if it is exact.
fn as_single(e: &Expr) -> Option<Expr> {
    let single = |kind| Some(Expr { pos: e.pos, ty: Type::Scalar(Scalar::F32), kind });
    match &e.kind {
        ExprKind::Convert { from: Scalar::F32, to: Scalar::F64, value } => Some((**value).clone()),
        ExprKind::Const(Value::F64(x)) if f64::from(f64_to_f32(*x)) == *x => {
            single(ExprKind::Const(Value::F32(f64_to_f32(*x))))
        }
        ExprKind::Neg(Scalar::F64, inner) => single(ExprKind::Neg(Scalar::F32, Box::new(as_single(inner)?))),
        ExprKind::Select(condition, yes, no) if e.ty == Type::Scalar(Scalar::F64) => {
            let (yes, no) = (Box::new(as_single(yes)?), Box::new(as_single(no)?));
            single(ExprKind::Select(condition.clone(), yes, no))
        }
        _ => None,
    }
}

/// A number as another arithmetic type. Fails when the expression is not a number, or a constant does not fit.
pub(crate) fn to_scalar(e: Expr, to: Scalar, context: &str) -> Result<Expr, Diagnostic> {
    let from = match e.ty {
        Type::Scalar(s) => s,
        Type::Pointer { .. } | Type::VoidPointer | Type::Null if to == Scalar::Bool => return Ok(truth(e)),
        other => return Err(mismatch(e.pos, context, to.name(), other)),
    };
    if from == to {
        return Ok(e);
    }
    if let Some(value) = constant_of(&e) {
        let value = arithmetic::convert(value, from, to).map_err(|p| Diagnostic::new(e.pos, p))?;
        return Ok(constant(e.pos, to, value));
    }
    if (from, to) == (Scalar::F64, Scalar::F32) {
        if let Some(single) = as_single(&e) {
            return Ok(single);
        }
        if let ExprKind::Binary(op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div), _, l, r) = &e.kind
            && let (Some(l), Some(r)) = (as_single(l), as_single(r))
        {
            let kind = ExprKind::Binary(*op, Scalar::F32, Box::new(l), Box::new(r));
            return Ok(Expr { pos: e.pos, ty: Type::Scalar(Scalar::F32), kind });
        }
    }
    Ok(Expr { pos: e.pos, ty: Type::Scalar(to), kind: ExprKind::Convert { from, to, value: Box::new(e) } })
}

/// A pointer as a bool.
fn truth(e: Expr) -> Expr {
    let null = Expr { pos: e.pos, ty: Type::Null, kind: ExprKind::Const(Value::NULL) };
    let pos = e.pos;
    let kind = ExprKind::ComparePointers(BinaryOp::Ne, Box::new(e), Box::new(null));
    Expr { pos, ty: Type::Scalar(Scalar::Bool), kind }
}

/// A condition. Fails when it is neither a number nor a pointer.
pub(crate) fn to_bool(e: Expr) -> Result<Expr, Diagnostic> {
    to_scalar(e, Scalar::Bool, "a condition")
}

/// A value converted to the type of its destination: a variable, a parameter or a result. Fails when C++ has no implicit
/// conversion.
pub(crate) fn to_type(e: Expr, to: Type, context: &str) -> Result<Expr, Diagnostic> {
    match (e.ty, to) {
        (_, Type::Scalar(scalar)) => to_scalar(e, scalar, context),
        (a, b) if a == b => Ok(e),
        (Type::Array { of, .. }, Type::Pointer { to: want, .. }) if of == want => Ok(Expr { ty: to, ..e }),
        (Type::Pointer { to: a, constant }, Type::Pointer { to: b, constant: wanted })
            if a == b && (wanted || !constant) =>
        {
            Ok(Expr { ty: to, ..e })
        }
        (Type::Pointer { .. } | Type::Array { .. }, Type::VoidPointer)
        | (Type::Null, Type::Pointer { .. } | Type::VoidPointer) => Ok(Expr { ty: to, ..e }),
        // `NULL` is nullptr here; a literal 0 is a null pointer in C++ too.
        (Type::Scalar(_), Type::Pointer { .. } | Type::VoidPointer) if constant_of(&e) == Some(Value::Int(0)) => {
            Ok(Expr { pos: e.pos, ty: to, kind: ExprKind::Const(Value::NULL) })
        }
        // A copy of a tensor's handle may be written through, as in ATen, unless it is the const input.
        (Type::Tensor { .. }, Type::Tensor { .. }) => Ok(e),
        (found, _) => {
            let mut expected = to.to_string();
            if found == Type::VoidPointer {
                expected.push_str(" (write the cast)");
            }
            Err(mismatch(e.pos, context, &expected, found))
        }
    }
}

/// An operator on two numbers of any types, which are converted to their common type; constants are folded. Fails when an operand
/// is not a number, an integer operator meets a float, or a constant result does not fit.
pub(crate) fn numbers(pos: Pos, op: BinaryOp, l: Expr, r: Expr) -> Result<Expr, Diagnostic> {
    let context = format!("operator {}", op.sign());
    let scalar_of = |e: &Expr| e.ty.scalar().ok_or_else(|| mismatch(e.pos, &context, "numbers", e.ty));
    let (a, b) = (scalar_of(&l)?, scalar_of(&r)?);
    let shift = matches!(op, BinaryOp::Shl | BinaryOp::Shr);
    let integers_only = shift || matches!(op, BinaryOp::Rem | BinaryOp::And | BinaryOp::Or | BinaryOp::Xor);
    for (e, scalar) in [(&l, a), (&r, b)] {
        if integers_only && scalar.is_float() {
            let hint = if op == BinaryOp::Rem { "integers (write fmodf for floats)" } else { "integers" };
            return Err(mismatch(e.pos, &context, hint, e.ty));
        }
    }
    let mut meet = if shift { a.promoted() } else { a.common(b) };
    let (mut l, mut r) = (to_scalar(l, meet, &context)?, to_scalar(r, meet, &context)?);
    if meet == Scalar::F64
        && op.compares()
        && let (Some(single_l), Some(single_r)) = (as_single(&l), as_single(&r))
    {
        (meet, l, r) = (Scalar::F32, single_l, single_r);
    }
    let result = if op.compares() { Scalar::Bool } else { meet };
    if let (Some(x), Some(y)) = (constant_of(&l), constant_of(&r)) {
        let value = arithmetic::binary(op, meet, x, y).map_err(|p| Diagnostic::new(pos, p))?;
        return Ok(constant(pos, result, value));
    }
    Ok(Expr { pos, ty: Type::Scalar(result), kind: ExprKind::Binary(op, meet, Box::new(l), Box::new(r)) })
}
