//! The functions of whole tensors in the custom operator interface, plain and as `_out`: `torch::exp(t)`,
//! `torch::add_out(result, a, b)`. There is no broadcasting.

use super::calls::{arity, intrinsic};
use super::convert::to_scalar;
use super::{Checker, math, mismatch, refusal};
use crate::parse::ast::{self, BinaryOp};
use crate::problem::{Diagnostic, Pos, Problem};
use crate::program::{Expr, Intrinsic, MathFunction, TensorFunction};
use crate::types::{Scalar, Type};

/// A function by its name without `_out`: those that the API reference lists.
pub(crate) fn tensor_function(name: &str) -> Option<TensorFunction> {
    Some(match name {
        "abs" => TensorFunction::Abs,
        "ceil" | "floor" | "sin" | "cos" | "tan" | "log" | "log2" | "log10" | "exp" => {
            TensorFunction::Math(math::function(name)?.0)
        }
        "pow" => TensorFunction::Math(math::function(name)?.0),
        "clamp" => TensorFunction::Clamp,
        "add" => TensorFunction::Arithmetic(BinaryOp::Add),
        "sub" => TensorFunction::Arithmetic(BinaryOp::Sub),
        "mul" => TensorFunction::Arithmetic(BinaryOp::Mul),
        "div" => TensorFunction::Arithmetic(BinaryOp::Div),
        "bitwise_and" => TensorFunction::Arithmetic(BinaryOp::And),
        "bitwise_or" => TensorFunction::Arithmetic(BinaryOp::Or),
        "bitwise_not" => TensorFunction::BitNot,
        _ => return None,
    })
}

/// Whether a name belongs to a function of tensors and not to a function of numbers.
pub(crate) fn is_of_tensors(name: &str) -> bool {
    let plain = name.strip_suffix("_out");
    tensor_function(plain.unwrap_or(name)).is_some() && (plain.is_some() || math::function(name).is_none())
}

/// Fewest and most operands.
const fn operands(function: TensorFunction) -> (usize, usize) {
    match function {
        TensorFunction::Abs | TensorFunction::BitNot | TensorFunction::Math(MathFunction::One(..)) => (1, 1),
        TensorFunction::Arithmetic(BinaryOp::Add | BinaryOp::Sub) => (2, 3),
        TensorFunction::Arithmetic(_) | TensorFunction::Math(MathFunction::Two(..) | MathFunction::Three(..)) => (2, 2),
        TensorFunction::Clamp => (3, 3),
    }
}

const fn is_tensor(e: &Expr) -> bool {
    matches!(e.ty, Type::Tensor { .. })
}

impl Checker<'_> {
    /// A function of tensors, whose arguments have been checked.
    pub(crate) fn elementwise(
        &self,
        pos: Pos,
        name: &str,
        last: &str,
        mut arguments: Vec<Expr>,
    ) -> Result<Expr, Diagnostic> {
        let plain = last.strip_suffix("_out");
        let Some(function) = tensor_function(plain.unwrap_or(last)) else {
            let instead = "write a loop over the elements with an accessor";
            return Err(refusal(pos, &format!("the tensor operation {name}()"), instead));
        };
        let first = usize::from(plain.is_some());
        let (fewest, most) = operands(function);
        if !(fewest + first..=most + first).contains(&arguments.len()) {
            return arity(pos, &format!("{name}()"), fewest + first, &arguments).map(|()| arguments.remove(0));
        }
        let context = format!("an argument of {name}()");
        for (i, e) in arguments.iter_mut().enumerate() {
            // The result and the first operand are tensors; the second of two operands may be a tensor; alpha and
            // bounds are numbers.
            if i <= first && !is_tensor(e) {
                return Err(mismatch(e.pos, &context, "a tensor", e.ty));
            }
            let may_be_tensor = i == first + 1 && !matches!(function, TensorFunction::Clamp);
            if i > first && !(may_be_tensor && is_tensor(e)) {
                *e = to_scalar(e.clone(), Scalar::F64, &context)?;
            }
        }
        if first == 1 && matches!(arguments.first().map(|e| e.ty), Some(Type::Tensor { constant: true })) {
            let hint = "write to a tensor that the kernel made, or to torch::neuron::get_dst_tensor()";
            return Err(Diagnostic::new(pos, Problem::constant(&format!("the result of {name}()"), hint)));
        }
        let what = Intrinsic::Elementwise { function, out: first == 1 };
        Ok(intrinsic(pos, Type::Tensor { constant: false }, what, arguments))
    }

    /// `torch::eye(n, dtype)` and `torch::eye(n, m, dtype)`
    pub(crate) fn eye(&mut self, pos: Pos, arguments: &[ast::SyntaxExpr]) -> Result<Expr, Diagnostic> {
        let Some((last, sizes)) = arguments.split_last().filter(|(_, sizes)| matches!(sizes.len(), 1 | 2)) else {
            return arity(pos, "torch::eye()", 2, arguments).map(|()| super::convert::int(pos, 0));
        };
        let mut checked = Vec::new();
        for size in sizes {
            checked.push(to_scalar(self.expression(size)?, Scalar::I64, "a size")?);
        }
        let dtype = self.dtype(last)?;
        if checked.len() == 1 {
            checked.extend(checked.first().cloned());
        }
        checked.push(dtype);
        Ok(intrinsic(pos, Type::Tensor { constant: false }, Intrinsic::Eye, checked))
    }
}

#[cfg(test)]
mod tests {
    use crate::compile;

    fn code(statement: &str) -> String {
        let source = format!(
            "torch::Tensor f(const torch::Tensor& t, const torch::Tensor& u) {{ torch::Tensor r = torch::zeros(t.sizes(), torch::kFloat); {statement} return r; }}"
        );
        compile(&source).map_or_else(|d| format!("{} {}", d[0].problem.code(), d[0].pos), |_| "fine".to_owned())
    }

    #[test]
    fn the_functions_of_the_reference_are_taken_plain_and_with_a_result() {
        for plain in ["abs", "ceil", "floor", "sin", "cos", "tan", "log", "log2", "log10", "exp", "bitwise_not"] {
            assert_eq!(code(&format!("r = torch::{plain}(t);")), "fine", "{plain}");
            assert_eq!(code(&format!("torch::{plain}_out(r, t);")), "fine", "{plain}");
        }
        for two in ["pow", "add", "sub", "mul", "div", "bitwise_and", "bitwise_or"] {
            assert_eq!(code(&format!("r = torch::{two}(t, u);")), "fine", "{two}");
            assert_eq!(code(&format!("torch::{two}_out(r, t, 2);")), "fine", "{two}");
        }
        assert_eq!(
            code("r = torch::clamp(t, -1.0, 1); r = torch::add(t, u, 0.5); r = torch::eye(4, torch::kFloat);"),
            "fine"
        );
    }

    #[test]
    fn wrong_arguments_are_refused_with_their_position() {
        assert!(code("r = torch::tanh(t);").starts_with("not_supported"));
        assert!(code("r = torch::exp(t, u);").starts_with("arguments"));
        assert!(code("r = torch::add(t);").starts_with("arguments"));
        assert!(code("r = torch::mul(t, u, 2);").starts_with("arguments"));
        assert!(code("r = torch::add(2, t);").starts_with("type"));
        assert!(code("r = torch::clamp(t, u, 1);").starts_with("type"));
        assert!(code("torch::exp_out(t, u);").starts_with("const"));
        assert!(code("r = torch::eye(4);").starts_with("arguments"));
    }
}
