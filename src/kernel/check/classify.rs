//! What kind a float is (`std::isnan`), and `std::clamp`.

use super::calls::{arity, intrinsic};
use super::convert::to_scalar;
use super::{Checker, mismatch};
use crate::kernel::parse::ast;
use crate::kernel::problem::{Diagnostic, Pos};
use crate::kernel::program::{Expr, FloatKind, Intrinsic};
use crate::kernel::types::{Scalar, Type};

impl Checker<'_> {
    /// `std::isnan(x)` and the like; an integer is asked as a double.
    pub(super) fn classify(&mut self, pos: Pos, name: &str, arguments: &[ast::Expr]) -> Result<Expr, Diagnostic> {
        arity(pos, &format!("std::{name}()"), 1, arguments)?;
        let e = self.expression(&arguments[0])?;
        let scalar = if e.ty == Type::Scalar(Scalar::F32) { Scalar::F32 } else { Scalar::F64 };
        let e = to_scalar(e, scalar, &format!("std::{name}()"))?;
        let kind = match name {
            "isnan" => FloatKind::NotANumber,
            "isinf" => FloatKind::Infinite,
            "isfinite" => FloatKind::Finite,
            _ => FloatKind::Negative,
        };
        Ok(intrinsic(pos, Type::Scalar(Scalar::Bool), Intrinsic::Classify(kind, scalar), vec![e]))
    }

    /// `std::clamp(x, low, high)` of numbers of one type, or `torch::clamp(t, low, high)`.
    pub(super) fn clamp(&mut self, pos: Pos, name: &str, arguments: &[ast::Expr]) -> Result<Expr, Diagnostic> {
        let checked = arguments.iter().map(|e| self.expression(e)).collect::<Result<Vec<_>, _>>()?;
        if checked.iter().any(|e| matches!(e.ty, Type::Tensor { .. })) {
            return self.elementwise(pos, name, "clamp", checked);
        }
        let [x, low, high] =
            <[Expr; 3]>::try_from(checked).map_err(|_| mismatch(pos, name, "3 numbers", Type::Void))?;
        let ty = x.ty;
        let Some(scalar) = ty.scalar() else { return Err(mismatch(pos, &format!("{name}()"), "numbers", ty)) };
        for other in [&low, &high] {
            if other.ty != ty {
                let expected = "three operands of one type; write a cast";
                return Err(mismatch(pos, &format!("{name}() with {ty}"), expected, other.ty));
            }
        }
        let raised = intrinsic(pos, ty, Intrinsic::Max(scalar), vec![x, low]);
        Ok(intrinsic(pos, ty, Intrinsic::Min(scalar), vec![raised, high]))
    }
}
