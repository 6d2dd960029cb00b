//! Calls of functions: those of the file, of the interface of custom operators, and of the mathematical library.

use super::convert::{int, to_bool, to_scalar, to_type};
use super::{Checker, math, mismatch, refusal, tensor_functions};
use crate::parse::ast::{self, SyntaxExprKind as Syntax, TemplateArg};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::program::{Expr, ExprKind, FloatKind, Intrinsic};
use crate::types::{Scalar, Type};
use ns_base::convert::usize_to_u8;

/// The most dimensions of a tensor.
const MAX_DIMS: usize = 8;

/// A call of the interface.
pub(crate) const fn intrinsic(pos: Pos, ty: Type, what: Intrinsic, arguments: Vec<Expr>) -> Expr {
    Expr { pos, ty, kind: ExprKind::Intrinsic(what, arguments) }
}

/// Checks the number of arguments.
pub(crate) fn arity<T>(pos: Pos, name: &str, expected: usize, arguments: &[T]) -> Result<(), Diagnostic> {
    if arguments.len() == expected {
        return Ok(());
    }
    Err(Diagnostic::new(pos, Problem::arguments(name, expected, arguments.len())))
}

impl Checker<'_> {
    /// A call by name.
    pub(crate) fn call(
        &mut self,
        pos: Pos,
        name: &str,
        template: &[TemplateArg],
        arguments: &[ast::SyntaxExpr],
    ) -> Result<Expr, Diagnostic> {
        let last = name.rsplit("::").next().unwrap_or(name);
        if let Some(index) = self.signatures.iter().position(|s| s.name == last) {
            return self.own_function(pos, index, arguments);
        }
        match last {
            "zeros" | "empty" | "ones" => self.factory(pos, last, arguments),
            "full" => self.full(pos, arguments),
            "eye" => self.eye(pos, arguments),
            "zeros_like" | "empty_like" | "ones_like" => self.like(pos, last, arguments),
            "dtype" | "TensorOptions" => {
                arity(pos, last, 1, arguments)?;
                self.dtype(&arguments[0])
            }
            "tcm_malloc" => {
                arity(pos, last, 1, arguments)?;
                let bytes = to_scalar(self.expression(&arguments[0])?, Scalar::U64, "tcm_malloc()")?;
                Ok(intrinsic(pos, Type::VoidPointer, Intrinsic::TcmMalloc, vec![bytes]))
            }
            "tcm_free" => {
                arity(pos, last, 1, arguments)?;
                let pointer = to_type(self.expression(&arguments[0])?, Type::VoidPointer, "tcm_free()")?;
                Ok(intrinsic(pos, Type::Void, Intrinsic::TcmFree, vec![pointer]))
            }
            "get_dst_tensor" => {
                arity(pos, last, 0, arguments)?;
                Ok(intrinsic(pos, Type::Tensor { constant: false }, Intrinsic::DstTensor, Vec::new()))
            }
            "get_cpu_id" | "get_cpu_count" => {
                arity(pos, last, 0, arguments)?;
                let what = if last == "get_cpu_id" { Intrinsic::CpuId } else { Intrinsic::CpuCount };
                self.divides |= last == "get_cpu_id";
                Ok(intrinsic(pos, Type::Scalar(Scalar::U32), what, Vec::new()))
            }
            "printf" => self.printf(pos, arguments),
            "assert" | "static_assert" | "TORCH_CHECK" => {
                let Some(first) = arguments.first() else {
                    return arity(pos, last, 1, arguments).map(|()| int(pos, 0));
                };
                let condition = to_bool(self.expression(first)?)?;
                Ok(intrinsic(pos, Type::Void, Intrinsic::Assert, vec![condition]))
            }
            "max" | "min" => self.extreme(pos, last, template, arguments),
            "isnan" | "isinf" | "isfinite" | "signbit" => self.classify(pos, last, arguments),
            "clamp" if arguments.len() == 3 => self.clamp(pos, name, arguments),
            "abs" | "fabs" | "fabsf" => self.absolute(pos, last, arguments),
            "malloc" | "calloc" | "free" | "memcpy" | "memset" => {
                let instead = "use torch::neuron::tcm_malloc() and tcm_free(), and a loop to copy or fill";
                Err(refusal(pos, &format!("{last}()"), instead))
            }
            _ => self.mathematics(pos, name, last, arguments),
        }
    }

    fn own_function(&mut self, pos: Pos, index: usize, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        let signature = &self.signatures[index];
        arity(pos, &format!("{}()", signature.name), signature.parameters.len(), arguments)?;
        let mut checked = Vec::with_capacity(arguments.len());
        for (e, ty) in arguments.iter().zip(&signature.parameters) {
            let context = format!("an argument of {}()", signature.name);
            checked.push(to_type(self.expression(e)?, *ty, &context)?);
        }
        Ok(Expr { pos, ty: signature.returns, kind: ExprKind::Call(index, checked) })
    }

    /// `torch::zeros(sizes, dtype)`
    fn factory(&mut self, pos: Pos, name: &str, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        if arguments.len() == 1 {
            let instead = format!("write the element type: torch::{name}(sizes, torch::kFloat)");
            return Err(refusal(pos, &format!("torch::{name}() without an element type"), &instead));
        }
        arity(pos, &format!("torch::{name}()"), 2, arguments)?;
        let fill = match name {
            "zeros" => Some(int(pos, 0)),
            "ones" => Some(int(pos, 1)),
            _ => None,
        };
        let dtype = self.dtype(&arguments[1])?;
        self.tensor_of(pos, &arguments[0], dtype, fill)
    }

    fn full(&mut self, pos: Pos, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        arity(pos, "torch::full()", 3, arguments)?;
        let value = self.expression(&arguments[1])?;
        let dtype = self.dtype(&arguments[2])?;
        self.tensor_of(pos, &arguments[0], dtype, Some(value))
    }

    fn like(&mut self, pos: Pos, name: &str, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        arity(pos, &format!("torch::{name}()"), 1, arguments)?;
        let tensor = self.expression(&arguments[0])?;
        if !matches!(tensor.ty, Type::Tensor { .. }) {
            return Err(mismatch(tensor.pos, &format!("torch::{name}()"), "a tensor", tensor.ty));
        }
        let dtype = intrinsic(pos, Type::DType, Intrinsic::DTypeOf, vec![tensor.clone()]);
        let mut checked = vec![tensor, dtype];
        let filled = name != "empty_like";
        if filled {
            let fill = int(pos, i64::from(name == "ones_like"));
            checked.push(to_scalar(fill, Scalar::F64, "a fill value")?);
        }
        Ok(intrinsic(pos, Type::Tensor { constant: false }, Intrinsic::NewLike { filled }, checked))
    }

    fn tensor_of(
        &mut self,
        pos: Pos,
        sizes: &ast::SyntaxExpr,
        dtype: Expr,
        fill: Option<Expr>,
    ) -> Result<Expr, Diagnostic> {
        let filled = fill.is_some();
        let mut checked = Vec::new();
        let what = if let Syntax::List(items) = &sizes.kind {
            if items.is_empty() || items.len() > MAX_DIMS {
                let found = items.len();
                return Err(refusal(sizes.pos, &format!("a tensor of {found} dimensions"), "use 1 to 8 dimensions"));
            }
            for item in items {
                checked.push(to_scalar(self.expression(item)?, Scalar::I64, "a size")?);
            }
            Intrinsic::New { dims: usize_to_u8(items.len()), filled }
        } else {
            checked.push(to_type(self.expression(sizes)?, Type::Sizes, "the sizes of a tensor")?);
            Intrinsic::NewLike { filled }
        };
        checked.push(dtype);
        if let Some(fill) = fill {
            checked.push(to_scalar(fill, Scalar::F64, "a fill value")?);
        }
        Ok(intrinsic(pos, Type::Tensor { constant: false }, what, checked))
    }

    /// An element type: `torch::kFloat`, `torch::dtype(...)`, `t.options()`.
    pub(crate) fn dtype(&mut self, e: &ast::SyntaxExpr) -> Result<Expr, Diagnostic> {
        if let Syntax::Name(name) = &e.kind
            && name.ends_with("Half") | name.ends_with("BFloat16")
        {
            let instead = "use torch::kFloat; 16-bit floats are not simulated";
            return Err(refusal(e.pos, name, instead));
        }
        let found = self.expression(e)?;
        if found.ty == Type::DType {
            Ok(found)
        } else {
            Err(mismatch(e.pos, "the element type", "torch::kFloat or the like", found.ty))
        }
    }

    fn printf(&mut self, pos: Pos, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        let Some((format, rest)) = arguments.split_first() else {
            return arity(pos, "printf()", 1, arguments).map(|()| int(pos, 0));
        };
        let format = self.expression(format)?;
        if format.ty != Type::Text {
            return Err(mismatch(format.pos, "printf()", "a text in quotes", format.ty));
        }
        let checked = rest.iter().map(|e| self.expression(e)).collect::<Result<_, _>>()?;
        Ok(intrinsic(pos, Type::Scalar(Scalar::I32), Intrinsic::Printf, checked))
    }

    /// `std::max` and `std::min`, which need two operands of one type.
    fn extreme(
        &mut self,
        pos: Pos,
        name: &str,
        template: &[TemplateArg],
        arguments: &[ast::SyntaxExpr],
    ) -> Result<Expr, Diagnostic> {
        arity(pos, &format!("std::{name}()"), 2, arguments)?;
        let (l, r) = (self.expression(&arguments[0])?, self.expression(&arguments[1])?);
        let scalar = match template.first() {
            Some(TemplateArg::Type(ty)) => super::written_type(ty)?.scalar(),
            _ if l.ty == r.ty => l.ty.scalar(),
            _ => {
                let expected = format!("two operands of one type; write std::{name}<T>(a, b) or a cast");
                return Err(mismatch(pos, &format!("std::{name}() with {}", l.ty), &expected, r.ty));
            }
        };
        let Some(scalar) = scalar else { return Err(mismatch(pos, &format!("std::{name}()"), "numbers", l.ty)) };
        let (l, r) = (to_scalar(l, scalar, "an operand")?, to_scalar(r, scalar, "an operand")?);
        let what = if name == "max" { Intrinsic::Max(scalar) } else { Intrinsic::Min(scalar) };
        Ok(intrinsic(pos, Type::Scalar(scalar), what, vec![l, r]))
    }

    fn absolute(&mut self, pos: Pos, name: &str, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        arity(pos, &format!("{name}()"), 1, arguments)?;
        let e = self.expression(&arguments[0])?;
        if matches!(e.ty, Type::Tensor { .. }) {
            return self.elementwise(pos, name, name, vec![e]);
        }
        let Some(found) = e.ty.scalar() else { return Err(mismatch(pos, &format!("{name}()"), "a number", e.ty)) };
        let scalar = match (name, found) {
            ("fabsf", _) => Scalar::F32,
            ("fabs", s) if !s.is_float() => Scalar::F64,
            (_, s) => s.promoted(),
        };
        let e = to_scalar(e, scalar, "an operand")?;
        Ok(intrinsic(pos, Type::Scalar(scalar), Intrinsic::Abs(scalar), vec![e]))
    }

    fn mathematics(
        &mut self,
        pos: Pos,
        name: &str,
        last: &str,
        arguments: &[ast::SyntaxExpr],
    ) -> Result<Expr, Diagnostic> {
        let known = math::function(last);
        if known.is_none() && !tensor_functions::is_of_tensors(last) {
            return Err(unknown_function(pos, name));
        }
        let checked = arguments.iter().map(|e| self.expression(e)).collect::<Result<Vec<_>, _>>()?;
        let of_tensors = checked.iter().any(|e| matches!(e.ty, Type::Tensor { .. }));
        let Some((function, single)) = known.filter(|_| !of_tensors) else {
            return self.elementwise(pos, name, last, checked);
        };
        let takes = function.operands();
        arity(pos, &format!("{name}()"), takes, arguments)?;
        // The overloads of <cmath>: float for floats, double for everything else.
        let all_single = checked.iter().all(|e| e.ty == Type::Scalar(Scalar::F32));
        let scalar = if single || all_single { Scalar::F32 } else { Scalar::F64 };
        let checked = checked.into_iter().map(|e| to_scalar(e, scalar, name)).collect::<Result<_, _>>()?;
        Ok(intrinsic(pos, Type::Scalar(scalar), Intrinsic::Math(function, scalar), checked))
    }

    /// An offset or a count of elements.
    pub(crate) fn count(&mut self, e: &ast::SyntaxExpr, context: &str) -> Result<Expr, Diagnostic> {
        to_scalar(super::places::integer(self.expression(e)?, context)?, Scalar::U64, context)
    }
}

fn unknown_function(pos: Pos, name: &str) -> Diagnostic {
    let hint = "define it in this file, or use a function of the custom operator interface or of <cmath>";
    Diagnostic::new(pos, Problem::unknown(&format!("{name}()"), hint))
}

impl Checker<'_> {
    /// `std::isnan(x)` and similar tests; an integer is tested as a double.
    pub(super) fn classify(&mut self, pos: Pos, name: &str, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
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
    pub(super) fn clamp(&mut self, pos: Pos, name: &str, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
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

#[cfg(test)]
mod tests {
    use crate::compile;

    fn code(expression: &str) -> String {
        let source = format!(
            "float twice(float x) {{ return 2 * x; }}\nfloat f(const torch::Tensor& t, float x, int i, size_t n) {{ return {expression}; }}"
        );
        compile(&source).map_or_else(|d| format!("{} {}", d[0].problem.code(), d[0].pos), |_| "fine".to_owned())
    }

    #[test]
    fn calls_are_checked() {
        assert_eq!(
            code("twice(i) + std::exp(x) + expf(x) + std::max(x, 0.0f) + std::max<float>(i, x) + abs(i)"),
            "fine"
        );
        assert_eq!(code("twice(x, x)"), "arguments 2:68");
        assert!(code("std::max(x, 0.0)").starts_with("type"));
        assert!(code("gamma(x)").starts_with("unknown_name"));
        assert!(code("torch::erf(t)").starts_with("not_supported"));
        assert!(code("torch::exp(t)").starts_with("type"));
        assert!(code("malloc(4)").starts_with("not_supported"));
        assert!(code("pow(x)").starts_with("arguments"));
        assert!(code("t + x").starts_with("type"));
        assert!(code("x % 2").starts_with("type"));
        assert!(code("y").starts_with("unknown_name"));
        assert!(code("twice").starts_with("unknown_name"));
    }
}
