//! Expressions.

use super::convert::{constant, constant_of, numbers, to_bool, to_scalar, to_type};
use super::places::{integer, known_bool, memory};
use super::{Checker, mismatch, refusal, written_type};
use crate::arithmetic;
use crate::parse::ast::{self, BinaryOp, SyntaxExprKind as Syntax, TypeName, UnaryOp};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::program::{Expr, ExprKind, Intrinsic, Place};
use crate::types::{Scalar, Type};
use crate::value::Value;
use ns_base::convert::f64_to_f32;

impl Checker<'_> {
    /// An expression with its type.
    pub(crate) fn expression(&mut self, e: &ast::SyntaxExpr) -> Result<Expr, Diagnostic> {
        let pos = e.pos;
        match &e.kind {
            Syntax::Int(value, scalar) => Ok(constant(pos, *scalar, Value::Int(value.cast_signed()))),
            Syntax::Float(value, Scalar::F32) => Ok(constant(pos, Scalar::F32, Value::F32(f64_to_f32(*value)))),
            Syntax::Float(value, _) => Ok(constant(pos, Scalar::F64, Value::F64(*value))),
            Syntax::Bool(value) => Ok(known_bool(pos, *value)),
            Syntax::Null => Ok(Expr { pos, ty: Type::Null, kind: ExprKind::Const(Value::NULL) }),
            Syntax::Text => Ok(Expr { pos, ty: Type::Text, kind: ExprKind::Const(Value::Void) }),
            Syntax::Name(name) => self.name(pos, name),
            Syntax::List(_) => Err(refusal(pos, "a list in braces", "use one where sizes or an array's values stand")),
            Syntax::Unary(op, operand) => self.unary(pos, *op, operand),
            Syntax::Step { target, change, after } => self.step(pos, target, *change, *after),
            Syntax::Binary(op, l, r) => {
                let (l, r) = (self.expression(l)?, self.expression(r)?);
                self.binary(pos, *op, l, r)
            }
            Syntax::Assign(op, target, value) => self.assign(pos, *op, target, value),
            Syntax::Ternary(condition, yes, no) => {
                let condition = to_bool(self.expression(condition)?)?;
                let (yes, no) = (self.expression(yes)?, self.expression(no)?);
                select(pos, condition, yes, no)
            }
            Syntax::Cast(ty, value) => {
                let value = self.expression(value)?;
                cast(pos, ty, value)
            }
            Syntax::Call { name, template, arguments } => self.call(pos, name, template, arguments),
            Syntax::Method { object, name, template, arguments } => self.method(pos, object, name, template, arguments),
            Syntax::Index(base, index) => self.index(e, base, index),
            Syntax::SizeOf(ty) => size_of(pos, written_type(ty)?),
            Syntax::SizeOfValue(value) => size_of(pos, self.expression(value)?.ty),
            Syntax::Comma(first, second) => {
                let (first, second) = (Box::new(self.expression(first)?), Box::new(self.expression(second)?));
                Ok(Expr { pos, ty: second.ty, kind: ExprKind::Comma(first, second) })
            }
        }
    }

    /// A name that stands for a value.
    fn name(&mut self, pos: Pos, name: &str) -> Result<Expr, Diagnostic> {
        if let Some(v) = self.scopes.find(name) {
            let kind = match v.constant_value {
                Some(value) => ExprKind::Const(value),
                None => ExprKind::Load(Place::Local(v.slot, name.to_owned())),
            };
            return Ok(Expr { pos, ty: v.ty, kind });
        }
        let last = name.rsplit("::").next().unwrap_or(name);
        if let Some((_, value)) = self.constants.iter().find(|(n, _)| n == last) {
            return Ok(Expr { pos, ..value.clone() });
        }
        known_name(last)
            .map(|(ty, value)| Expr { pos, ty, kind: ExprKind::Const(value) })
            .ok_or_else(|| self.unknown(pos, name))
    }

    /// A name that is not declared.
    pub(crate) fn unknown(&self, pos: Pos, name: &str) -> Diagnostic {
        let hint = if self.signatures.iter().any(|s| s.name == name) {
            "it is a function: call it with (...)"
        } else {
            "declare it before its first use, or correct the spelling"
        };
        Diagnostic::new(pos, Problem::unknown(name, hint))
    }

    fn unary(&mut self, pos: Pos, op: UnaryOp, operand: &ast::SyntaxExpr) -> Result<Expr, Diagnostic> {
        if op == UnaryOp::Deref {
            let pointer = self.expression(operand)?;
            let found = memory(pointer)?;
            return Ok(Expr { pos, ty: found.ty, kind: ExprKind::Load(found.place) });
        }
        if op == UnaryOp::Address {
            return match self.place(operand)?.place {
                Place::Memory(pointer, _) => Ok(*pointer),
                _ => Err(refusal(pos, "the address of a variable", "use an array of one element")),
            };
        }
        let e = self.expression(operand)?;
        if op == UnaryOp::Not {
            let e = to_bool(e)?;
            return Ok(match constant_of(&e) {
                Some(value) => known_bool(pos, !value.is_true()),
                None => Expr { pos, ty: e.ty, kind: ExprKind::Not(Box::new(e)) },
            });
        }
        let Some(scalar) = e.ty.scalar() else { return Err(mismatch(pos, "the operator", "a number", e.ty)) };
        let scalar = scalar.promoted();
        let e = to_scalar(e, scalar, "the operator")?;
        match op {
            UnaryOp::Plus => Ok(e),
            UnaryOp::BitNot => {
                let e = integer(e, "operator ~")?;
                Ok(Expr { pos, ty: e.ty, kind: ExprKind::BitNot(scalar, Box::new(e)) })
            }
            _ => match constant_of(&e) {
                Some(value) => {
                    let value = arithmetic::negate(scalar, value).map_err(|p| Diagnostic::new(pos, p))?;
                    Ok(constant(pos, scalar, value))
                }
                None => Ok(Expr { pos, ty: e.ty, kind: ExprKind::Neg(scalar, Box::new(e)) }),
            },
        }
    }

    fn binary(&mut self, pos: Pos, op: BinaryOp, l: Expr, r: Expr) -> Result<Expr, Diagnostic> {
        let is_pointer =
            |e: &Expr| matches!(e.ty, Type::Pointer { .. } | Type::VoidPointer | Type::Null | Type::Array { .. });
        match op {
            BinaryOp::LogicAnd | BinaryOp::LogicOr => {
                let (l, r) = (Box::new(to_bool(l)?), Box::new(to_bool(r)?));
                let kind = ExprKind::Logic { and: op == BinaryOp::LogicAnd, l, r };
                Ok(Expr { pos, ty: Type::Scalar(Scalar::Bool), kind })
            }
            BinaryOp::Eq | BinaryOp::Ne if l.ty == r.ty && matches!(l.ty, Type::Sizes | Type::DType) => {
                let what = if l.ty == Type::Sizes { Intrinsic::SizesEqual } else { Intrinsic::DTypesEqual };
                let equal = Expr { pos, ty: Type::Scalar(Scalar::Bool), kind: ExprKind::Intrinsic(what, vec![l, r]) };
                let kind = if op == BinaryOp::Eq { return Ok(equal) } else { ExprKind::Not(Box::new(equal)) };
                Ok(Expr { pos, ty: Type::Scalar(Scalar::Bool), kind })
            }
            _ if op.compares() && (is_pointer(&l) || is_pointer(&r)) => {
                let (l, r) = (pointer_operand(l)?, pointer_operand(r)?);
                let kind = ExprKind::ComparePointers(op, Box::new(l), Box::new(r));
                Ok(Expr { pos, ty: Type::Scalar(Scalar::Bool), kind })
            }
            BinaryOp::Sub if is_pointer(&l) && is_pointer(&r) => {
                let stride = match l.ty {
                    Type::Pointer { to, .. } | Type::Array { of: to, .. } => to.bytes().cast_signed(),
                    other => return Err(mismatch(pos, "a distance", "two pointers to numbers", other)),
                };
                let kind = ExprKind::Distance { l: Box::new(l), r: Box::new(r), stride };
                Ok(Expr { pos, ty: Type::Scalar(Scalar::I64), kind })
            }
            BinaryOp::Add | BinaryOp::Sub if is_pointer(&l) => {
                self.offset(pos, l, r, if op == BinaryOp::Add { 1 } else { -1 })
            }
            BinaryOp::Add if is_pointer(&r) => self.offset(pos, r, l, 1),
            _ => numbers(pos, op, l, r),
        }
    }

    /// An element that is read, or an accessor with one dimension less.
    fn index(
        &mut self,
        e: &ast::SyntaxExpr,
        base: &ast::SyntaxExpr,
        index: &ast::SyntaxExpr,
    ) -> Result<Expr, Diagnostic> {
        let checked = self.expression(base)?;
        match checked.ty {
            Type::Accessor { of, dims, constant } if dims > 1 => {
                let index = to_scalar(integer(self.expression(index)?, "an index")?, Scalar::I64, "an index")?;
                let ty = Type::Accessor { of, dims: dims - 1, constant };
                Ok(Expr { pos: e.pos, ty, kind: ExprKind::Index(Box::new(checked), Box::new(index)) })
            }
            Type::Sizes => {
                let index = to_scalar(integer(self.expression(index)?, "an index")?, Scalar::I64, "an index")?;
                let kind = ExprKind::Intrinsic(Intrinsic::Size, vec![checked, index]);
                Ok(Expr { pos: e.pos, ty: Type::Scalar(Scalar::I64), kind })
            }
            _ => {
                let found = self.place(e)?;
                Ok(Expr { pos: e.pos, ty: found.ty, kind: ExprKind::Load(found.place) })
            }
        }
    }
}

/// Bytes of a value of a type.
fn size_of(pos: Pos, ty: Type) -> Result<Expr, Diagnostic> {
    let bytes = match ty {
        Type::Scalar(s) => s.bytes(),
        Type::Array { of, len } => of.bytes() * len,
        Type::Pointer { .. } | Type::VoidPointer => 8,
        other => return Err(mismatch(pos, "sizeof", "a number or an array of numbers", other)),
    };
    Ok(constant(pos, Scalar::U64, Value::Int(bytes.cast_signed())))
}

fn pointer_operand(e: Expr) -> Result<Expr, Diagnostic> {
    match e.ty {
        Type::Pointer { .. } | Type::VoidPointer | Type::Null | Type::Array { .. } => Ok(e),
        _ => to_type(e, Type::VoidPointer, "a comparison with a pointer"),
    }
}

fn select(pos: Pos, condition: Expr, yes: Expr, no: Expr) -> Result<Expr, Diagnostic> {
    let (yes, no) = match (yes.ty.scalar(), no.ty.scalar()) {
        (Some(a), Some(b)) => {
            let meet = if a == b { a } else { a.common(b) };
            (to_scalar(yes, meet, "? :")?, to_scalar(no, meet, "? :")?)
        }
        _ if no.ty == Type::Null => {
            let want = yes.ty;
            (yes, to_type(no, want, "? :")?)
        }
        _ => {
            let want = no.ty;
            (to_type(yes, want, "? :")?, no)
        }
    };
    let ty = yes.ty;
    Ok(Expr { pos, ty, kind: ExprKind::Select(Box::new(condition), Box::new(yes), Box::new(no)) })
}

fn cast(pos: Pos, ty: &TypeName, value: Expr) -> Result<Expr, Diagnostic> {
    let to = if ty.base == ast::BaseType::Void && !ty.pointer { Type::Void } else { written_type(ty)? };
    match (value.ty, to) {
        (Type::Scalar(_), Type::Scalar(s)) => to_scalar(value, s, "the cast"),
        (
            Type::Pointer { .. } | Type::VoidPointer | Type::Null | Type::Array { .. },
            Type::Pointer { .. } | Type::VoidPointer,
        ) => Ok(Expr { pos, ty: to, ..value }),
        // `(void)x` marks x as unused.
        (_, Type::Void) => Ok(Expr { pos, ty: Type::Void, ..value }),
        (Type::Pointer { .. } | Type::VoidPointer, Type::Scalar(_)) => {
            Err(refusal(pos, "a pointer as a number", "compare pointers, or subtract them"))
        }
        (found, to) => Err(mismatch(pos, "the cast", &format!("a value that can become {to}"), found)),
    }
}

/// Names of headers: element types, policies, limits.
fn known_name(last: &str) -> Option<(Type, Value)> {
    let dtype = |s| Some((Type::DType, Value::DType(s)));
    let number = |s, v| Some((Type::Scalar(s), v));
    match last {
        "kFloat" | "kFloat32" => dtype(Scalar::F32),
        "kInt" | "kInt32" => dtype(Scalar::I32),
        "kLong" | "kInt64" => dtype(Scalar::I64),
        "kShort" | "kInt16" => dtype(Scalar::I16),
        "kChar" | "kInt8" => dtype(Scalar::I8),
        "kByte" | "kUInt8" => dtype(Scalar::U8),
        "COHERENT" => number(Scalar::I32, Value::Int(0)),
        "INCOHERENT_VERBOSE" => number(Scalar::I32, Value::Int(1)),
        "INCOHERENT_QUIET" => number(Scalar::I32, Value::Int(2)),
        "INFINITY" => number(Scalar::F32, Value::F32(f32::INFINITY)),
        "NAN" => number(Scalar::F32, Value::F32(f32::NAN)),
        "FLT_MAX" => number(Scalar::F32, Value::F32(f32::MAX)),
        "FLT_MIN" => number(Scalar::F32, Value::F32(f32::MIN_POSITIVE)),
        "FLT_EPSILON" => number(Scalar::F32, Value::F32(f32::EPSILON)),
        "M_PI" => number(Scalar::F64, Value::F64(std::f64::consts::PI)),
        "M_SQRT1_2" => number(Scalar::F64, Value::F64(std::f64::consts::FRAC_1_SQRT_2)),
        "INT_MAX" | "INT32_MAX" => number(Scalar::I32, Value::Int(i64::from(i32::MAX))),
        "INT_MIN" | "INT32_MIN" => number(Scalar::I32, Value::Int(i64::from(i32::MIN))),
        "UINT32_MAX" => number(Scalar::U32, Value::Int(i64::from(u32::MAX))),
        "SIZE_MAX" => number(Scalar::U64, Value::Int(-1)),
        _ => None,
    }
}
