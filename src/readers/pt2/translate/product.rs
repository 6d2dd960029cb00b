//! Products of matrices and convolutions.

use super::super::argument::Argument;
use super::call::{Call, CallOutcome, Row, one};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Product;
use ns_program::builder::ConvolutionSpec;
use ns_program::compose::einsum;
use ns_program::{Binary, DotDims, InstructionId};

pub const OPS: &[Row] = &[
    (&["linear"], Product, |c| {
        let (x, weight) = (c.x(0)?, c.x(1)?);
        let bias = c.tensor("bias")?;
        one(c.b().linear(x, weight, bias)?)
    }),
    (&["matmul", "mm", "bmm", "mv", "dot", "vdot"], Product, |c| {
        let (a, b) = (c.x(0)?, c.x(1)?);
        one(c.b().matmul(a, b)?)
    }),
    (&["outer", "ger"], Product, |c| {
        let (a, b) = (c.x(0)?, c.x(1)?);
        one(c.b().dot(a, b, DotDims::default())?)
    }),
    (&["addmm", "baddbmm", "addmv"], Product, |c| {
        let (sum, a, b) = (c.x(0)?, c.x(1)?, c.x(2)?);
        let product = c.b().matmul(a, b)?;
        let product = scaled(c, product, c.float_or("alpha", 1.0))?;
        if c.float_or("beta", 1.0) == 0.0 {
            return one(product);
        }
        let sum = scaled(c, sum, c.float_or("beta", 1.0))?;
        one(c.b().add(product, sum)?)
    }),
    (&["einsum"], Product, |c| {
        let equation = c.text("equation").or(match c.at(0)? {
            Argument::Text(text) => Some(text.get()),
            _ => None,
        });
        let equation = equation.ok_or_else(|| c.missing("equation"))?;
        let operands = c.tensors(1)?;
        one(einsum(c.b(), equation, &operands)?)
    }),
    (&["conv1d", "conv2d", "conv3d", "convolution", "_convolution", "_convolution_mode"], Product, convolution),
    (&["conv_transpose1d", "conv_transpose2d", "conv_transpose3d"], Product, convolution),
];

fn scaled(c: &mut Call<'_, '_, '_>, x: InstructionId, factor: f64) -> Result<InstructionId, Refusal> {
    if factor == 1.0 { Ok(x) } else { c.b().with_number(Binary::Mul, x, factor) }
}

fn convolution(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (mut x, kernel) = (c.x(0)?, c.x(1)?);
    let bias = c.tensor("bias")?;
    let kernel_dims = c.b().dims(kernel);
    let spatial = kernel_dims.len().saturating_sub(2);
    // An input without a batch.
    let is_single = c.b().rank(x) == spatial + 1;
    if is_single {
        x = c.b().unsqueeze(x, 0)?;
    }
    let is_transposed = c.op.contains("transpose") || c.flag_or("transposed", false);
    let numbers = |argument: &'static str, default: i64| -> Result<Vec<i64>, Refusal> {
        let given = c.ints(argument).unwrap_or_default();
        match given.as_slice() {
            [] => Ok(vec![default; spatial]),
            [single] => Ok(vec![*single; spatial]),
            all if all.len() == spatial => Ok(all.to_vec()),
            all => Err(refuse!("{argument} has {} numbers for {spatial} dimensions", all.len())),
        }
    };
    let counts = |argument: &'static str, default: i64| -> Result<Vec<u64>, Refusal> {
        let each = |n: i64| u64::try_from(n).map_err(|_| refuse!("{argument} is {n} and must not be negative"));
        numbers(argument, default)?.into_iter().map(each).collect()
    };
    let dilation = counts("dilation", 1)?;
    let padding = match c.text("padding") {
        Some("valid") => vec![(0, 0); spatial],
        Some("same") => kernel_dims
            .get(2..)
            .unwrap_or_default()
            .iter()
            .zip(&dilation)
            .map(|(&k, &d)| {
                let total = i64::try_from(k.saturating_sub(1).saturating_mul(d)).unwrap_or(i64::MAX);
                (total / 2, total - total / 2)
            })
            .collect(),
        _ => numbers("padding", 0)?.into_iter().map(|p| (p, p)).collect(),
    };
    let spec = ConvolutionSpec {
        strides: counts("stride", 1)?,
        padding,
        dilation,
        groups: u64::try_from(c.int_or("groups", 1)).unwrap_or(0),
        output_padding: counts("output_padding", 0)?,
        is_transposed,
    };
    let result = c.b().convolution(x, kernel, bias, &spec)?;
    one(if is_single { c.b().squeeze(result, 0)? } else { result })
}
