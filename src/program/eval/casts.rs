//! Single-precision numbers rounded to narrower formats, as a NeuronCore reads and stores them.

use std::rc::Rc;

use crate::{ArrayType, ElementType, Numbers, Op, Value};
use ns_base::Refusal;
use ns_base::convert::f64_to_f32;
use ns_tensor::FloatFormat;

/// The formats that single-precision numbers are cast to. Numbers of other types stay unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Casts {
    /// The format in which matrix products and convolutions read their operands.
    pub products: FloatFormat,
    /// The format in which values are kept between operations; results of the program stay in single precision.
    pub values: FloatFormat,
}

impl Casts {
    /// No cast.
    pub const NONE: Self = Self { products: FloatFormat::Fp32, values: FloatFormat::Fp32 };

    /// Rounds an operand as a product reads it.
    pub(super) fn product_operand(self, value: &Rc<Value>) -> Rc<Value> {
        cast(self.products, Rc::clone(value))
    }

    /// Rounds the result of an operation for storage; operations that only move numbers pass on numbers that are cast already.
    pub(super) fn round_for_storage(self, op: &Op, value: Rc<Value>) -> Rc<Value> {
        let moves = matches!(
            op,
            Op::Transpose { .. }
                | Op::Broadcast { .. }
                | Op::Reshape
                | Op::Slice { .. }
                | Op::Concatenate { .. }
                | Op::Gather(_)
                | Op::DynamicSlice { .. }
                | Op::DynamicUpdateSlice
                | Op::Reverse { .. }
        );
        if moves { value } else { cast(self.values, value) }
    }
}

/// What an operator computes whose meaning is not in the program, by its name; `None` for one that it does not know either.
pub type Outside<'a> = dyn Fn(&str, &[Rc<Value>], &ArrayType) -> Option<Result<Value, Refusal>> + 'a;

/// How a program's numbers are computed.
#[derive(Clone, Copy)]
pub struct Arithmetic<'a> {
    pub casts: Casts,
    pub outside: Option<&'a Outside<'a>>,
}

impl From<Casts> for Arithmetic<'_> {
    fn from(casts: Casts) -> Self {
        Self { casts, outside: None }
    }
}

/// Single-precision numbers rounded to the nearest number of a format.
fn cast(format: FloatFormat, mut value: Rc<Value>) -> Rc<Value> {
    if format == FloatFormat::Fp32 || value.ty.element != ElementType::F32 {
        return value;
    }
    if let Numbers::Real(numbers) = &mut Rc::make_mut(&mut value).numbers {
        numbers.iter_mut().for_each(|n| *n = f64::from(format.round_nearest(f64_to_f32(*n))));
    }
    value
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::{evaluate, evaluate_with};
    use crate::{ArrayType, Builder, Program, ProgramParameter, Role, WeightData};

    /// `((x + x) x) x` of one number, with a matrix product in the middle.
    fn product() -> Program {
        let mut b = Builder::new();
        let ty = ArrayType::new(ElementType::F32, [1, 1]);
        let x = ProgramParameter { name: "x".to_owned(), ty, role: Role::Input, data: WeightData::Absent };
        let x = b.parameter(x).unwrap();
        let sum = b.add(x, x).unwrap();
        let dot = b.matmul(sum, x).unwrap();
        let result = b.mul(dot, x).unwrap();
        b.finish("m", &[result]).unwrap()
    }

    fn run(casts: Casts) -> f64 {
        let program = product();
        let x = Value { ty: program.parameters[0].ty.clone(), numbers: Numbers::Real(vec![EXACT]) };
        let found = evaluate_with(&program, vec![x.clone()], 100, casts).unwrap();
        if casts == Casts::NONE {
            assert_eq!(found, evaluate(&program, vec![x], 100).unwrap());
        }
        let Numbers::Real(numbers) = &found.outputs[0].numbers else { panic!("no number") };
        numbers[0]
    }

    /// A number that bf16 does not have: it rounds to the next bf16 number; the nearest fp16 number lies between the two.
    const EXACT: f64 = 1.0 + 1.0 / 256.0 + 1.0 / 4096.0;

    #[test]
    fn products_read_the_cast_type_and_results_are_not_cast() {
        let single = |x: f64| f64::from(x as f32);
        let (bf16, fp16) = (1.0 + 1.0 / 128.0, 1.0 + 1.0 / 256.0);
        assert_eq!(run(Casts::NONE), single(single(2.0 * EXACT * EXACT) * EXACT));
        let products = |to| Casts { products: to, values: FloatFormat::Fp32 };
        assert_eq!(run(products(FloatFormat::Bf16)), single(2.0 * bf16 * bf16 * EXACT));
        assert_eq!(run(products(FloatFormat::Fp16)), single(2.0 * fp16 * fp16 * EXACT));
        // Values are also stored in the type: the product is rounded, but the result of the program is not.
        let kept = f64::from(FloatFormat::Bf16.round_nearest((2.0 * bf16 * bf16) as f32));
        let all = Casts { products: FloatFormat::Bf16, values: FloatFormat::Bf16 };
        assert_eq!(run(all), single(kept * bf16));
        assert_ne!(kept, 2.0 * bf16 * bf16);
    }
}
