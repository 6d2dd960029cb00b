//! Member functions of tensors and accessors.

use super::calls::{arity, intrinsic};
use super::convert::{to_scalar, to_type};
use super::{Checker, mismatch, refusal, written_type};
use crate::parse::ast::{self, TemplateArg};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::program::{Expr, Intrinsic};
use crate::types::{Scalar, Type};
use ns_base::convert::low8;

/// A call as written.
struct Call<'a> {
    pos: Pos,
    name: &'a str,
    template: &'a [TemplateArg],
    arguments: &'a [ast::SyntaxExpr],
}

const INT64: Type = Type::Scalar(Scalar::I64);

impl Checker<'_> {
    /// `object.name<template>(arguments)`
    pub(crate) fn method(
        &mut self,
        pos: Pos,
        object: &ast::SyntaxExpr,
        name: &str,
        template: &[TemplateArg],
        arguments: &[ast::SyntaxExpr],
    ) -> Result<Expr, Diagnostic> {
        let object = self.expression(object)?;
        let call = Call { pos, name, template, arguments };
        match object.ty {
            Type::Tensor { constant } => self.tensor_method(&call, object, constant),
            Type::Sizes => self.sizes_method(&call, object),
            Type::TcmAccessor { constant } => self.tcm_method(&call, object, constant),
            Type::ReadStream(of) | Type::WriteStream(of) => self.stream_method(&call, object, of),
            Type::Accessor { .. } if name == "size" => {
                arity(pos, "size()", 1, arguments)?;
                let index = to_scalar(self.expression(&arguments[0])?, Scalar::I64, "size()")?;
                Ok(intrinsic(pos, INT64, Intrinsic::AccessorSize, vec![object, index]))
            }
            Type::Accessor { dims, .. } if name == "sizes" => {
                let what = format!("sizes() of an accessor of {dims} dimension(s)");
                Err(refusal(pos, &what, "call it on the tensor"))
            }
            other => Err(mismatch(pos, &format!("the member function {name}()"), "a tensor or an accessor", other)),
        }
    }

    fn tensor_method(&mut self, call: &Call<'_>, object: Expr, constant: bool) -> Result<Expr, Diagnostic> {
        let pos = call.pos;
        let none = |ty, what| {
            arity(pos, &format!("{}()", call.name), 0, call.arguments)?;
            Ok(intrinsic(pos, ty, what, vec![object.clone()]))
        };
        match call.name {
            "numel" => none(INT64, Intrinsic::Numel),
            "dim" | "ndimension" => none(INT64, Intrinsic::Dim),
            "sizes" => {
                arity(pos, "sizes()", 0, call.arguments)?;
                Ok(Expr { pos, ty: Type::Sizes, ..object })
            }
            "dtype" | "scalar_type" | "options" => none(Type::DType, Intrinsic::DTypeOf),
            "size" => {
                arity(pos, "size()", 1, call.arguments)?;
                let index = to_scalar(self.expression(&call.arguments[0])?, Scalar::I64, "size()")?;
                Ok(intrinsic(pos, INT64, Intrinsic::Size, vec![object, index]))
            }
            "accessor" => accessor(call, object, constant),
            "tcm_accessor" => none(Type::TcmAccessor { constant }, Intrinsic::TcmAccessor),
            "read_stream_accessor" => {
                let of = element_type(call)?;
                none(Type::ReadStream(of), Intrinsic::OpenStream { of, writes: false })
            }
            "write_stream_accessor" => {
                let of = element_type(call)?;
                writable(call, constant)?;
                none(Type::WriteStream(of), Intrinsic::OpenStream { of, writes: true })
            }
            "fill_" | "zero_" => {
                let zero = call.name == "zero_";
                writable(call, constant)?;
                arity(pos, &format!("{}()", call.name), usize::from(!zero), call.arguments)?;
                let value = match call.arguments.first() {
                    Some(e) => self.expression(e)?,
                    None => super::convert::int(pos, 0),
                };
                let value = to_scalar(value, Scalar::F64, "a fill value")?;
                Ok(intrinsic(pos, object.ty, Intrinsic::Fill, vec![object, value]))
            }
            "set_accessor_coherence_policy" => {
                arity(pos, &format!("{}()", call.name), 1, call.arguments)?;
                let policy = to_scalar(self.expression(&call.arguments[0])?, Scalar::I32, "the policy")?;
                Ok(intrinsic(pos, Type::Void, Intrinsic::SetPolicy, vec![object, policy]))
            }
            "data_ptr" | "item" => Err(refusal(
                pos,
                &format!("{}()", call.name),
                "tensor data lies in device memory: use accessor<T, N>(), a streaming accessor or tcm_accessor()",
            )),
            _ => {
                Err(unknown(call, "a tensor has numel(), dim(), size(i), sizes(), dtype(), fill_() and its accessors"))
            }
        }
    }

    fn sizes_method(&mut self, call: &Call<'_>, object: Expr) -> Result<Expr, Diagnostic> {
        match call.name {
            "size" => {
                arity(call.pos, "size()", 0, call.arguments)?;
                Ok(intrinsic(call.pos, Type::Scalar(Scalar::U64), Intrinsic::Dim, vec![object]))
            }
            _ => Err(unknown(call, "sizes have [i] and size()")),
        }
    }

    fn tcm_method(&mut self, call: &Call<'_>, object: Expr, constant: bool) -> Result<Expr, Diagnostic> {
        let pos = call.pos;
        let to_tcm = match call.name {
            "tensor_to_tcm" => true,
            "tcm_to_tensor" => false,
            _ => return Err(unknown(call, "a TCM accessor has tensor_to_tcm<T>() and tcm_to_tensor<T>()")),
        };
        if !to_tcm {
            writable(call, constant)?;
        }
        arity(pos, &format!("{}()", call.name), 3, call.arguments)?;
        let pointer = self.expression(&call.arguments[0])?;
        let of = match (call.template, pointer.ty) {
            ([], Type::Pointer { to, .. } | Type::Array { of: to, .. }) => to,
            _ => element_type(call)?,
        };
        let wanted = Type::Pointer { to: of, constant: !to_tcm };
        let pointer = to_type(pointer, wanted, &format!("{}<{}>()", call.name, of.name()))?;
        let offset = self.count(&call.arguments[1], "the offset")?;
        let count = self.count(&call.arguments[2], "the number of elements")?;
        let what = if to_tcm { Intrinsic::TensorToTcm(of) } else { Intrinsic::TcmToTensor(of) };
        Ok(intrinsic(pos, Type::Void, what, vec![object, pointer, offset, count]))
    }

    fn stream_method(&mut self, call: &Call<'_>, object: Expr, of: Scalar) -> Result<Expr, Diagnostic> {
        let pos = call.pos;
        let writes = matches!(object.ty, Type::WriteStream(_));
        match call.name {
            "read" if !writes => {
                arity(pos, "read()", 0, call.arguments)?;
                Ok(intrinsic(pos, Type::Scalar(of), Intrinsic::ReadStream, vec![object]))
            }
            "write" if writes => {
                arity(pos, "write()", 1, call.arguments)?;
                let value = to_scalar(self.expression(&call.arguments[0])?, of, "write()")?;
                Ok(intrinsic(pos, Type::Void, Intrinsic::WriteStream, vec![object, value]))
            }
            "close" => {
                arity(pos, "close()", 0, call.arguments)?;
                Ok(intrinsic(pos, Type::Scalar(Scalar::I32), Intrinsic::CloseStream, vec![object]))
            }
            _ => {
                let has = if writes { "write(value) and close()" } else { "read() and close()" };
                Err(unknown(call, &format!("this streaming accessor has {has}")))
            }
        }
    }
}

fn unknown(call: &Call<'_>, hint: &str) -> Diagnostic {
    Diagnostic::new(call.pos, Problem::unknown(&format!("{}()", call.name), hint))
}

/// The type in `<T>`.
fn element_type(call: &Call<'_>) -> Result<Scalar, Diagnostic> {
    if let Some(TemplateArg::Type(ty)) = call.template.first()
        && let Type::Scalar(s) = written_type(ty)?
    {
        return Ok(s);
    }
    let problem = Problem::syntax(&format!("{}<float>(...)", call.name), &format!("{}(...)", call.name));
    Err(Diagnostic::new(call.pos, problem))
}

fn accessor(call: &Call<'_>, object: Expr, constant: bool) -> Result<Expr, Diagnostic> {
    arity(call.pos, "accessor()", 0, call.arguments)?;
    let of = element_type(call)?;
    let dims = match call.template.get(1) {
        Some(TemplateArg::Int(n @ 1..=8)) => low8(*n),
        _ => {
            let problem = Problem::syntax("accessor<float, N>() with N from 1 to 8", "another N");
            return Err(Diagnostic::new(call.pos, problem));
        }
    };
    let ty = Type::Accessor { of, dims, constant };
    Ok(intrinsic(call.pos, ty, Intrinsic::Accessor { of, dims }, vec![object]))
}

fn writable(call: &Call<'_>, constant: bool) -> Result<(), Diagnostic> {
    if !constant {
        return Ok(());
    }
    let hint = "write to the result: torch::zeros(), torch::empty() or get_dst_tensor()";
    Err(Diagnostic::new(call.pos, Problem::constant("the tensor", hint)))
}

#[cfg(test)]
mod tests {
    use crate::compile;

    fn code(statement: &str) -> String {
        let source = format!("void f(const torch::Tensor& t, torch::Tensor out, float* p) {{ {statement} }}");
        compile(&source).map_or_else(|d| d[0].problem.code().to_owned(), |_| "fine".to_owned())
    }

    #[test]
    fn member_functions_are_checked() {
        for fine in [
            "auto a = t.accessor<float, 2>(); auto o = out.accessor<float, 2>(); o[0][1] = a[0][1];",
            "auto s = t.sizes(); size_t n = s[0] * t.size(1) + s.size() + t.dim();",
            "auto a = t.tcm_accessor(); a.tensor_to_tcm<float>(p, 0, 4); a.tensor_to_tcm(p, 0, 4);",
            "auto r = t.read_stream_accessor<float>(); auto w = out.write_stream_accessor<float>(); w.write(r.read()); w.close();",
            "out.fill_(1.5); out.zero_(); t.set_accessor_coherence_policy(torch::CoherencyEnforcer::Policy::INCOHERENT_QUIET);",
            "torch::Tensor z = torch::zeros({2, 3}, torch::kFloat); auto e = torch::empty(t.sizes(), t.options());",
        ] {
            assert_eq!(code(fine), "fine", "{fine}");
        }
        for (wrong, expected) in [
            ("auto a = t.accessor<float, 2>(); a[0][1] = 1;", "const"),
            ("auto a = t.accessor<float, 2>(); float x = a[0];", "type"),
            ("auto a = t.accessor<float>();", "syntax"),
            ("t.tcm_accessor().tcm_to_tensor<float>(p, 0, 4);", "const"),
            ("out.tcm_accessor().tensor_to_tcm<int>(p, 0, 4);", "type"),
            ("t.write_stream_accessor<float>();", "const"),
            ("t.data_ptr<float>();", "not_supported"),
            ("t.transpose(0, 1);", "unknown_name"),
            ("auto r = t.read_stream_accessor<float>(); r.write(1);", "unknown_name"),
            ("torch::zeros({2}, torch::kHalf);", "not_supported"),
            ("torch::zeros({2});", "not_supported"),
        ] {
            assert_eq!(code(wrong), expected, "{wrong}");
        }
    }
}
