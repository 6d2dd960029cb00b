//! Losses: distances between what a model gives and what it should give.

use super::call::{Call, Done, Made, one};
use crate::import::program::compose::log_softmax;
use crate::import::program::{Binary, BuildError, Builder, Built, Comparison, InstructionId, Unary};

/// Translates losses.
///
/// # Errors
/// When arguments do not fit.
pub fn translate(c: &mut Call<'_, '_, '_>) -> Made {
    match c.op {
        "mse_loss" | "l1_loss" | "smooth_l1_loss" | "huber_loss" => distance(c),
        "binary_cross_entropy_with_logits" => logits(c),
        "cross_entropy_loss" | "nll_loss" | "nll_loss_nd" | "nll_loss_forward" | "nll_loss2d"
        | "nll_loss2d_forward" => classes(c),
        _ => Ok(Done::Unknown),
    }
}

/// What becomes of the losses of all elements: 0 keeps them, 1 is their mean, 2 their sum.
fn reduced(b: &mut Builder, losses: InstructionId, how: i64) -> Built {
    let all: Vec<usize> = (0..b.rank(losses)).collect();
    match how {
        0 => Ok(losses),
        1 => b.mean(losses, &all, false),
        2 => b.reduce(Binary::Add, losses, &all, false),
        _ => Err(BuildError(format!("a loss has the reduction {how}"))),
    }
}

/// Losses of differences. Small ones count by their squares where the loss has a border.
fn distance(c: &mut Call<'_, '_, '_>) -> Made {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let how = c.int_or("reduction", 1);
    let border = c.float_or(if c.op == "huber_loss" { "delta" } else { "beta" }, 1.0);
    let op = c.op;
    let b = c.b();
    let difference = b.sub(x, y)?;
    let losses = if op == "mse_loss" {
        b.mul(difference, difference)?
    } else {
        let size = b.unary(Unary::Abs, difference)?;
        if op == "l1_loss" || border == 0.0 {
            size
        } else {
            // Half the square, then a line that goes on with the same slope; huber_loss is `border` times smooth_l1_loss.
            let factor = if op == "huber_loss" { 1.0 } else { 1.0 / border };
            let square = b.mul(size, size)?;
            let near = b.with_number(Binary::Mul, square, 0.5 * factor)?;
            let off = b.with_number(Binary::Sub, size, 0.5 * border)?;
            let far = b.with_number(Binary::Mul, off, border * factor)?;
            let is_near = b.compare_number(Comparison::Lt, size, border)?;
            b.select(is_near, near, far)?
        }
    };
    one(reduced(b, losses, how)?)
}

/// `(1 - y) x + log(1 + exp(-x))`, with the exponential of no positive number.
fn logits(c: &mut Call<'_, '_, '_>) -> Made {
    if c.tensor("weight")?.is_some() || c.tensor("pos_weight")?.is_some() {
        return Ok(Done::Unknown);
    }
    let (x, y) = (c.x(0)?, c.x(1)?);
    let how = c.int_or("reduction", 1);
    let b = c.b();
    let largest = b.with_number(Binary::Max, x, 0.0)?;
    let both = b.mul(x, y)?;
    let linear = b.sub(largest, both)?;
    let size = b.unary(Unary::Abs, x)?;
    let size = b.unary(Unary::Neg, size)?;
    let small = b.unary(Unary::Exp, size)?;
    let small = b.unary(Unary::Log1p, small)?;
    let losses = b.add(linear, small)?;
    one(reduced(b, losses, how)?)
}

/// The negative logarithm of the share of the right class, of numbers that are such logarithms already or become them.
fn classes(c: &mut Call<'_, '_, '_>) -> Made {
    let (x, target) = (c.x(0)?, c.x(1)?);
    let is_plain = c.tensor("weight")?.is_none() && c.float_or("label_smoothing", 0.0) == 0.0;
    if !is_plain || c.b().rank(x) < 2 || !c.b().element(target).is_integer() {
        return Ok(Done::Unknown);
    }
    let (how, ignored) = (c.int_or("reduction", 1), c.int_or("ignore_index", -100));
    let (is_logits, gives_count) = (c.op == "cross_entropy_loss", c.op.ends_with("forward"));
    let b = c.b();
    let shares = if is_logits { log_softmax(b, x, 1)? } else { x };
    let element = b.element(shares);
    let counts = b.compare_number(Comparison::Ne, target, ignored as f64)?;
    let index = b.with_number(Binary::Max, target, 0.0)?;
    let index = b.unsqueeze(index, 1)?;
    let found = b.take_along(shares, index, 1)?;
    let found = b.squeeze(found, 1)?;
    let found = b.unary(Unary::Neg, found)?;
    let none = b.number(element, 0.0)?;
    let losses = b.select(counts, found, none)?;
    let counts = b.convert(counts, element)?;
    let count = reduced(b, counts, 2)?;
    let loss = match how {
        1 => {
            let sum = reduced(b, losses, 2)?;
            b.div(sum, count)?
        }
        _ => reduced(b, losses, how)?,
    };
    if gives_count { Ok(Done::Many(vec![Some(loss), Some(count)])) } else { one(loss) }
}
