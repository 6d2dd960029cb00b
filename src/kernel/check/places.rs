//! Places that can be read and changed: variables, memory behind pointers, elements through accessors.

use super::convert::{numbers, to_scalar, to_type};
use super::{Checker, mismatch, refusal};
use crate::parse::ast::{self, BinaryOp, SyntaxExprKind as Syntax, UnaryOp};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::program::{Expr, ExprKind, Place};
use crate::types::{Scalar, Type};
use crate::value::Value;

/// A place, its type, and the reason if it cannot be changed.
pub(crate) struct CheckedPlace {
    pub place: Place,
    pub ty: Type,
    pub fixed: Option<Problem>,
}

const INDEX: &str = "an index";

impl Checker<'_> {
    /// The place that an expression names.
    pub(crate) fn place(&mut self, e: &ast::SyntaxExpr) -> Result<CheckedPlace, Diagnostic> {
        match &e.kind {
            Syntax::Name(name) => {
                let Some(v) = self.scopes.find(name) else { return Err(self.unknown(e.pos, name)) };
                let constant = || Problem::constant(&format!("'{name}'"), "remove const, or use another variable");
                let fixed = match v.ty {
                    Type::Array { .. } => {
                        return Err(refusal(e.pos, "an array as a whole", "change its elements one by one"));
                    }
                    _ => v.constant.then(constant),
                };
                Ok(CheckedPlace { place: Place::Local(v.slot, name.clone()), ty: v.ty, fixed })
            }
            Syntax::Index(base, index) => self.indexed(e.pos, base, index),
            Syntax::Unary(UnaryOp::Deref, pointer) => {
                let pointer = self.expression(pointer)?;
                memory(pointer)
            }
            _ => Err(refusal(e.pos, "an assignment to a value", "assign to a variable, an element or *pointer")),
        }
    }

    fn indexed(
        &mut self,
        pos: Pos,
        base: &ast::SyntaxExpr,
        index: &ast::SyntaxExpr,
    ) -> Result<CheckedPlace, Diagnostic> {
        let base = self.expression(base)?;
        let index = self.expression(index)?;
        match base.ty {
            Type::Accessor { of, dims: 1, constant } => {
                let index = to_scalar(integer(index, INDEX)?, Scalar::I64, INDEX)?;
                let hint = "take the accessor of a tensor that is not const";
                let fixed = constant.then(|| Problem::constant("the accessor's tensor", hint));
                Ok(CheckedPlace { place: Place::Element(Box::new(base), Box::new(index)), ty: Type::Scalar(of), fixed })
            }
            Type::Accessor { dims, .. } => Err(mismatch(
                pos,
                "an access to an element",
                &format!("one index for each dimension: {dims} of them"),
                base.ty,
            )),
            Type::Pointer { .. } | Type::Array { .. } => memory(self.offset(pos, base, index, 1)?),
            Type::Sizes => Err(refusal(pos, "a change of a tensor's sizes", "create a tensor of the sizes needed")),
            other => Err(mismatch(pos, "an index in brackets", "an array, a pointer or an accessor", other)),
        }
    }

    /// `pointer + index` or, with sign -1, `pointer - index`.
    pub(crate) fn offset(&mut self, pos: Pos, pointer: Expr, index: Expr, sign: i64) -> Result<Expr, Diagnostic> {
        let (to, constant) = match pointer.ty {
            Type::Pointer { to, constant } => (to, constant),
            Type::Array { of, .. } => (of, false),
            other => return Err(mismatch(pos, "pointer arithmetic", "a pointer to numbers", other)),
        };
        let index = to_scalar(integer(index, INDEX)?, Scalar::I64, INDEX)?;
        let stride = sign * to.bytes().cast_signed();
        let kind = ExprKind::Offset { pointer: Box::new(pointer), index: Box::new(index), stride };
        Ok(Expr { pos, ty: Type::Pointer { to, constant }, kind })
    }

    /// `target = value` and `target op= value`.
    pub(crate) fn assign(
        &mut self,
        pos: Pos,
        op: Option<BinaryOp>,
        target: &ast::SyntaxExpr,
        value: &ast::SyntaxExpr,
    ) -> Result<Expr, Diagnostic> {
        let found = self.place(target)?;
        if let Some(problem) = found.fixed {
            return Err(Diagnostic::new(target.pos, problem));
        }
        let value = self.expression(value)?;
        let ty = found.ty;
        let (op, value) = match op {
            None => (None, to_type(value, ty, "an assignment")?),
            Some(op) if matches!(ty, Type::Pointer { .. }) => return self.move_pointer(pos, found, op, value),
            Some(op) => compound(pos, op, ty, value)?,
        };
        let kind = ExprKind::Store { place: found.place, of: ty, op, value: Box::new(value) };
        Ok(Expr { pos: target.pos, ty, kind })
    }

    /// `p += n` as `p = p + n`.
    fn move_pointer(&mut self, pos: Pos, found: CheckedPlace, op: BinaryOp, by: Expr) -> Result<Expr, Diagnostic> {
        let sign = match op {
            BinaryOp::Add => 1,
            BinaryOp::Sub => -1,
            _ => return Err(mismatch(pos, &format!("operator {}=", op.sign()), "a number", found.ty)),
        };
        let old = Expr { pos, ty: found.ty, kind: ExprKind::Load(found.place.clone()) };
        let value = Box::new(self.offset(pos, old, by, sign)?);
        let kind = ExprKind::Store { place: found.place, of: found.ty, op: None, value };
        Ok(Expr { pos, ty: found.ty, kind })
    }

    /// `++` and `--`.
    pub(crate) fn step(
        &mut self,
        pos: Pos,
        target: &ast::SyntaxExpr,
        change: i8,
        after: bool,
    ) -> Result<Expr, Diagnostic> {
        let found = self.place(target)?;
        if let Some(problem) = found.fixed {
            return Err(Diagnostic::new(target.pos, problem));
        }
        let change = match found.ty {
            Type::Pointer { to, .. } => i64::from(change) * to.bytes().cast_signed(),
            Type::Scalar(s) if s != Scalar::Bool => i64::from(change),
            other => return Err(mismatch(pos, "++ and --", "a number or a pointer", other)),
        };
        let kind = ExprKind::Step { place: found.place, of: found.ty, change, after };
        Ok(Expr { pos, ty: found.ty, kind })
    }
}

/// The memory that a pointer points to.
pub(crate) fn memory(pointer: Expr) -> Result<CheckedPlace, Diagnostic> {
    let (to, constant) = match pointer.ty {
        Type::Pointer { to, constant } => (to, constant),
        Type::Array { of, .. } => (of, false),
        Type::VoidPointer => {
            return Err(mismatch(pointer.pos, "an access", "a typed pointer; write the cast", pointer.ty));
        }
        other => return Err(mismatch(pointer.pos, "operator *", "a pointer", other)),
    };
    let hint = "remove const from the pointer's type";
    let fixed = constant.then(|| Problem::constant("what the pointer points to", hint));
    Ok(CheckedPlace { place: Place::Memory(Box::new(pointer), to), ty: Type::Scalar(to), fixed })
}

/// The common type of an assignment operator, and its right operand converted to that type.
fn compound(pos: Pos, op: BinaryOp, ty: Type, value: Expr) -> Result<(Option<(BinaryOp, Scalar)>, Expr), Diagnostic> {
    let Some(target) = ty.scalar() else {
        return Err(mismatch(pos, &format!("operator {}=", op.sign()), "a number", ty));
    };
    // A placeholder for the old value: its type decides the common type. It is not a constant, so nothing is folded.
    let old = Expr { pos, ty, kind: ExprKind::Load(Place::Local(0, String::new())) };
    // As with `x = x op value`, whose conversion back narrows unnecessary arithmetic in double precision.
    let whole = to_scalar(numbers(pos, op, old, value)?, target, "an assignment")?;
    let operation = match whole.kind {
        ExprKind::Convert { value, .. } => value.kind,
        other => other,
    };
    match operation {
        ExprKind::Binary(op, meet, _, right) => Ok((Some((op, meet)), *right)),
        _ => Err(mismatch(pos, &format!("operator {}=", op.sign()), "a number", ty)),
    }
}

pub(crate) fn integer(e: Expr, context: &str) -> Result<Expr, Diagnostic> {
    match e.ty.scalar() {
        Some(s) if !s.is_float() => Ok(e),
        _ => Err(mismatch(e.pos, context, "an integer", e.ty)),
    }
}

pub(crate) const fn known_bool(pos: Pos, value: bool) -> Expr {
    Expr { pos, ty: Type::Scalar(Scalar::Bool), kind: ExprKind::Const(Value::bool(value)) }
}
