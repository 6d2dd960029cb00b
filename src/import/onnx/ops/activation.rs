//! Activation functions.

use crate::onnx::site::{Failure, Results, Site};
use crate::program::compose::{
    Elu, celu, elu, gelu_erf, gelu_tanh, hard_sigmoid, hard_swish, leaky_relu, mish, relu, softplus, softsign,
};
use crate::program::{Binary, Comparison, InstructionId, Unary};
use ns_base::refuse;

/// The results of an activation function; `None` for other operators.
pub(super) fn run(site: &mut Site<'_, '_>, name: &str) -> Option<Results> {
    let known = [
        "Relu",
        "LeakyRelu",
        "PRelu",
        "ThresholdedRelu",
        "Elu",
        "Selu",
        "Celu",
        "Softplus",
        "Softsign",
        "Mish",
        "Gelu",
        "HardSigmoid",
        "HardSwish",
        "Shrink",
        "Swish",
    ];
    known.contains(&name).then(|| Ok(vec![activate(site, name)?]))
}

fn activate(site: &mut Site<'_, '_>, name: &str) -> Result<InstructionId, Failure> {
    let x = site.x(0)?;
    Ok(match name {
        "Relu" => relu(site.b(), x)?,
        "LeakyRelu" => {
            let (element, alpha) = (site.element(x), site.float("alpha", 0.01)?);
            let slope = site.b().number(element, alpha)?;
            leaky_relu(site.b(), x, slope)?
        }
        "PRelu" => {
            let slope = site.x(1)?;
            leaky_relu(site.b(), x, slope)?
        }
        "ThresholdedRelu" => {
            let alpha = site.float("alpha", 1.0)?;
            let above = site.b().compare_number(Comparison::Gt, x, alpha)?;
            where_else_zero(site, above, x)?
        }
        "Elu" => {
            let alpha = site.float("alpha", 1.0)?;
            elu(site.b(), x, Elu { alpha, scale: 1.0, inner: 1.0 })?
        }
        "Selu" => {
            let (alpha, scale) = (site.float("alpha", 1.673_263_2)?, site.float("gamma", 1.050_701)?);
            elu(site.b(), x, Elu { alpha, scale, inner: 1.0 })?
        }
        "Celu" => {
            let alpha = site.float("alpha", 1.0)?;
            celu(site.b(), x, alpha)?
        }
        "Softplus" => softplus(site.b(), x, 1.0)?,
        "Softsign" => softsign(site.b(), x)?,
        "Mish" => mish(site.b(), x)?,
        "Gelu" => match site.text("approximate", "none")?.as_str() {
            "none" => gelu_erf(site.b(), x)?,
            "tanh" => gelu_tanh(site.b(), x)?,
            other => return Err(site.fault(refuse!("has the unknown approximation {other:?}"))),
        },
        "HardSigmoid" => {
            let (alpha, beta) = (site.float("alpha", 0.2)?, site.float("beta", 0.5)?);
            hard_sigmoid(site.b(), x, alpha, beta)?
        }
        "HardSwish" => hard_swish(site.b(), x)?,
        "Swish" => {
            let alpha = site.float("alpha", 1.0)?;
            swish(site, x, alpha)?
        }
        _ => shrink(site, x)?,
    })
}

/// `x / (1 + exp(-alpha x))`.
pub(super) fn swish(site: &mut Site<'_, '_>, x: InstructionId, alpha: f64) -> Result<InstructionId, Failure> {
    let inner = if alpha == 1.0 { x } else { site.b().with_number(Binary::Mul, x, alpha)? };
    let gate = site.b().unary(Unary::Logistic, inner)?;
    Ok(site.b().mul(x, gate)?)
}

fn where_else_zero(site: &mut Site<'_, '_>, flags: InstructionId, x: InstructionId) -> Result<InstructionId, Failure> {
    let element = site.element(x);
    let zero = site.b().number(element, 0.0)?;
    Ok(site.b().select(flags, x, zero)?)
}

/// `x + bias` below `-lambd`, `x - bias` above `lambd`, else 0.
fn shrink(site: &mut Site<'_, '_>, x: InstructionId) -> Result<InstructionId, Failure> {
    let (lambd, bias) = (site.float("lambd", 0.5)?, site.float("bias", 0.0)?);
    let below = site.b().compare_number(Comparison::Lt, x, -lambd)?;
    let raised = site.b().with_number(Binary::Add, x, bias)?;
    let above = site.b().compare_number(Comparison::Gt, x, lambd)?;
    let lowered = site.b().with_number(Binary::Sub, x, bias)?;
    let upper = where_else_zero(site, above, lowered)?;
    Ok(site.b().select(below, raised, upper)?)
}
