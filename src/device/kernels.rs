//! The user's kernels for operators of a model file that have no known meaning.

use std::collections::BTreeMap;
use std::rc::Rc;

use ns_base::convert::f64_to_f32;
use ns_base::{Refusal, refuse};
use ns_compiler::UnknownOpPolicy;
use ns_kernel::ModelKernel;
use ns_program::{ArrayType, Numbers, Value};

/// Kernels by the name of their operator.
#[derive(Clone, Debug, Default)]
pub struct OperatorKernels(BTreeMap<String, ModelKernel>);

impl OperatorKernels {
    /// Those of a model file's settings. Fails when a kernel is wrong.
    pub fn of(assumed: &BTreeMap<String, UnknownOpPolicy>) -> Result<Self, Refusal> {
        let kernels = assumed.iter().filter_map(|(operator, policy)| match policy {
            UnknownOpPolicy::Kernel(text) => Some((operator, text)),
            _ => None,
        });
        let found = kernels.map(|(operator, text)| Ok((operator.clone(), ModelKernel::find(text)?)));
        Ok(Self(found.collect::<Result<_, Refusal>>()?))
    }

    /// The kernels as a program's evaluation takes them.
    pub fn outside(&self) -> impl Fn(&str, &[Rc<Value>], &ArrayType) -> Option<Result<Value, Refusal>> + '_ {
        |operator, operands, ty| self.call(operator, operands, ty)
    }

    /// What a kernel computes, in single precision as the processors do; `None` for an operator without a kernel.
    pub fn call(&self, operator: &str, operands: &[Rc<Value>], ty: &ArrayType) -> Option<Result<Value, Refusal>> {
        let kernel = self.0.get(operator)?;
        Some(values(kernel, operator, operands, ty))
    }
}

fn values(kernel: &ModelKernel, operator: &str, operands: &[Rc<Value>], ty: &ArrayType) -> Result<Value, Refusal> {
    let mut all = Vec::new();
    for x in operands {
        let Numbers::Real(numbers) = &x.numbers else {
            return Err(refuse!(
                "{operator} takes {}; a kernel of a model takes real numbers, so convert it to them",
                x.ty
            ));
        };
        if x.ty.dims != ty.dims {
            return Err(refuse!("{operator} takes {} and gives {ty}; pass tensors of the shape that it gives", x.ty));
        }
        all.push(numbers.iter().map(|n| f64_to_f32(*n)).collect::<Vec<f32>>());
    }
    let all: Vec<&[f32]> = all.iter().map(Vec::as_slice).collect();
    let found = kernel.values(&ty.dims, &all)?;
    Ok(Value { ty: ty.clone(), numbers: Numbers::Real(found.into_iter().map(f64::from).collect()) })
}
