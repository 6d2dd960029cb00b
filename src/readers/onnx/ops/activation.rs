//! Activation functions.

use crate::onnx::site::{Failure, Results, Site};
use ns_base::refuse;
use ns_program::OperatorKind::Function;
use ns_program::compose::{
    Elu, celu, elu, gelu_erf, gelu_tanh, hard_sigmoid, hard_swish, leaky_relu, mish, relu, softplus, softsign,
};
use ns_program::{Binary, Builder, Built, Comparison, InstructionId, Unary};

use super::Operator;

pub(super) const OPS: &[Operator] = &[
    ("Relu", Function, |site| function(site, relu)),
    ("LeakyRelu", Function, leaky),
    ("PRelu", Function, |site| {
        let (x, slope) = (site.x(0)?, site.x(1)?);
        Ok(vec![leaky_relu(site.b(), x, slope)?])
    }),
    ("ThresholdedRelu", Function, |site| {
        let (x, alpha) = (site.x(0)?, site.float("alpha", 1.0)?);
        let above = site.b().compare_number(Comparison::Gt, x, alpha)?;
        Ok(vec![where_else_zero(site, above, x)?])
    }),
    ("Elu", Function, |site| exponential(site, 1.0, 1.0)),
    ("Selu", Function, |site| {
        let scale = site.float("gamma", 1.050_701)?;
        exponential(site, 1.673_263_2, scale)
    }),
    ("Celu", Function, |site| {
        let (x, alpha) = (site.x(0)?, site.float("alpha", 1.0)?);
        Ok(vec![celu(site.b(), x, alpha)?])
    }),
    ("Softplus", Function, |site| function(site, |b, x| softplus(b, x, 1.0))),
    ("Softsign", Function, |site| function(site, softsign)),
    ("Mish", Function, |site| function(site, mish)),
    ("Gelu", Function, gelu),
    ("HardSigmoid", Function, |site| {
        let (x, alpha, beta) = (site.x(0)?, site.float("alpha", 0.2)?, site.float("beta", 0.5)?);
        Ok(vec![hard_sigmoid(site.b(), x, alpha, beta)?])
    }),
    ("HardSwish", Function, |site| function(site, hard_swish)),
    ("Shrink", Function, shrink),
    ("Swish", Function, |site| swish(site, 1.0)),
];

/// A function of one operand, without settings.
fn function(site: &mut Site<'_, '_>, of: fn(&mut Builder, InstructionId) -> Built) -> Results {
    let x = site.x(0)?;
    Ok(vec![of(site.b(), x)?])
}

fn leaky(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let (element, alpha) = (site.element(x), site.float("alpha", 0.01)?);
    let slope = site.b().number(element, alpha)?;
    Ok(vec![leaky_relu(site.b(), x, slope)?])
}

fn exponential(site: &mut Site<'_, '_>, alpha: f64, scale: f64) -> Results {
    let (x, alpha) = (site.x(0)?, site.float("alpha", alpha)?);
    Ok(vec![elu(site.b(), x, Elu { alpha, scale, inner: 1.0 })?])
}

fn gelu(site: &mut Site<'_, '_>) -> Results {
    match site.text("approximate", "none")?.as_str() {
        "none" => function(site, gelu_erf),
        "tanh" => function(site, gelu_tanh),
        other => Err(site.fault(refuse!("has the unknown approximation {other:?}"))),
    }
}

/// `x / (1 + exp(-alpha x))`.
pub(super) fn swish(site: &mut Site<'_, '_>, default: f64) -> Results {
    let (x, alpha) = (site.x(0)?, site.float("alpha", default)?);
    let inner = if alpha == 1.0 { x } else { site.b().with_number(Binary::Mul, x, alpha)? };
    let gate = site.b().unary(Unary::Logistic, inner)?;
    Ok(vec![site.b().mul(x, gate)?])
}

fn where_else_zero(site: &mut Site<'_, '_>, flags: InstructionId, x: InstructionId) -> Result<InstructionId, Failure> {
    let element = site.element(x);
    let zero = site.b().number(element, 0.0)?;
    Ok(site.b().select(flags, x, zero)?)
}

/// `x + bias` below `-lambd`, `x - bias` above `lambd`, else 0.
fn shrink(site: &mut Site<'_, '_>) -> Results {
    let x = site.x(0)?;
    let (lambd, bias) = (site.float("lambd", 0.5)?, site.float("bias", 0.0)?);
    let below = site.b().compare_number(Comparison::Lt, x, -lambd)?;
    let raised = site.b().with_number(Binary::Add, x, bias)?;
    let above = site.b().compare_number(Comparison::Gt, x, lambd)?;
    let lowered = site.b().with_number(Binary::Sub, x, bias)?;
    let upper = where_else_zero(site, above, lowered)?;
    Ok(vec![site.b().select(below, raised, upper)?])
}
