//! Losses: distances between a model's results and their targets.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use ns_base::convert::{i64_to_f64, u64_to_f64, usize_to_u32};
use ns_base::refuse;
use ns_program::OperatorKind::Reduction;
use ns_program::builder::RowGather;
use ns_program::compose::log_softmax;
use ns_program::{Binary, Builder, Built, Comparison, InstructionId, Unary};

/// Losses.
pub const OPS: &[Row] = &[
    (&["mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"], Reduction, distance),
    (&["binary_cross_entropy_with_logits"], Reduction, logits),
    (&["cross_entropy_loss", "nll_loss", "nll_loss_nd", "nll_loss2d"], Reduction, classes),
    (&["nll_loss_forward", "nll_loss2d_forward"], Reduction, classes),
];

/// Reduces the losses of all elements: 0 keeps them, 1 is their mean, 2 their sum. Fails when the reduction is not known.
pub fn reduced(b: &mut Builder, losses: InstructionId, how: i64) -> Built {
    let all: Vec<usize> = (0..b.rank(losses)).collect();
    match how {
        0 => Ok(losses),
        1 => b.mean(losses, &all, false),
        2 => b.reduce(Binary::Add, losses, &all, false),
        _ => Err(refuse!("the reduction {how} is not known here")),
    }
}

/// Losses of differences. Where the loss has a threshold, differences below it count by their squares.
fn distance(c: &mut Call<'_, '_, '_>) -> CallOutcome {
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
            // Half the square, then a line with the same slope; huber_loss is `border` times smooth_l1_loss.
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

/// `(1 - y) x + log(1 + exp(-x))`, where the exponential never gets a positive number; positive targets and elements may be weighted.
fn logits(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let (weight, of_right) = (c.tensor("weight")?, c.tensor("pos_weight")?);
    let how = c.int_or("reduction", 1);
    let b = c.b();
    let size = b.unary(Unary::Abs, x)?;
    let size = b.unary(Unary::Neg, size)?;
    let small = b.unary(Unary::Exp, size)?;
    let small = b.unary(Unary::Log1p, small)?;
    let minus = b.unary(Unary::Neg, x)?;
    let below = b.with_number(Binary::Max, minus, 0.0)?;
    let mut log = b.add(below, small)?;
    if let Some(of_right) = of_right {
        let more = b.with_number(Binary::Sub, of_right, 1.0)?;
        let more = b.mul(more, y)?;
        let factor = b.with_number(Binary::Add, more, 1.0)?;
        log = b.mul(log, factor)?;
    }
    let both = b.mul(x, y)?;
    let rest = b.sub(x, both)?;
    let mut losses = b.add(rest, log)?;
    if let Some(weight) = weight {
        losses = b.mul(losses, weight)?;
    }
    one(reduced(b, losses, how)?)
}

/// The negative logarithm of the target class's probability; the operand holds log probabilities, or is converted to them.
fn classes(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, target) = (c.x(0)?, c.x(1)?);
    let is_logits = c.op == "cross_entropy_loss";
    let channel = usize::from(c.b().rank(x) > 1);
    let shares = if is_logits { log_softmax(c.b(), x, channel)? } else { x };
    if !c.b().element(target).is_integer() {
        return of_shares(c, shares, target, channel);
    }
    let (how, ignored) = (c.int_or("reduction", 1), c.int_or("ignore_index", -100));
    let (smoothing, weight) = (c.float_or("label_smoothing", 0.0), c.tensor("weight")?);
    let gives_count = c.op.ends_with("forward");
    let b = c.b();
    let counts = b.compare_number(Comparison::Ne, target, i64_to_f64(ignored))?;
    let index = b.with_number(Binary::Max, target, 0.0)?;
    let count = match weight {
        Some(weight) => b.take(weight, index, RowGather { dimension: 0, wraps: false })?,
        None => b.full(b.element(shares), &b.dims(target), 1.0)?,
    };
    let none = b.number(b.element(shares), 0.0)?;
    let count = b.select(counts, count, none)?;
    let column = b.unsqueeze(index, channel)?;
    let found = b.take_along(shares, column, channel)?;
    let found = b.squeeze(found, channel)?;
    let found = b.unary(Unary::Neg, found)?;
    let losses = b.mul(found, count)?;
    let total = reduced(b, count, 2)?;
    let mean = |b: &mut Builder, losses: InstructionId| match how {
        1 => {
            let sum = reduced(b, losses, 2)?;
            b.div(sum, total)
        }
        _ => reduced(b, losses, how),
    };
    let mut loss = mean(b, losses)?;
    if smoothing != 0.0 {
        // Label smoothing: a part of the loss weighs all classes alike.
        let all = weighed(b, shares, weight, channel)?;
        let all = b.unary(Unary::Neg, all)?;
        let all = b.reduce(Binary::Add, all, &[channel], false)?;
        let all = b.select(counts, all, none)?;
        let all = mean(b, all)?;
        let classes = u64_to_f64(b.size(shares, channel)?);
        let all = b.with_number(Binary::Mul, all, smoothing / classes)?;
        let own = b.with_number(Binary::Mul, loss, 1.0 - smoothing)?;
        loss = b.add(own, all)?;
    }
    if gives_count { Ok(OpResult::Many(vec![Some(loss), Some(total)])) } else { one(loss) }
}

/// The same for targets that are a probability for each class.
fn of_shares(c: &mut Call<'_, '_, '_>, logs: InstructionId, target: InstructionId, channel: usize) -> CallOutcome {
    let (how, smoothing, weight) = (c.int_or("reduction", 1), c.float_or("label_smoothing", 0.0), c.tensor("weight")?);
    let b = c.b();
    let classes = u64_to_f64(b.size(logs, channel)?);
    let mut target = target;
    if smoothing != 0.0 {
        let kept = b.with_number(Binary::Mul, target, 1.0 - smoothing)?;
        target = b.with_number(Binary::Add, kept, smoothing / classes)?;
    }
    let logs = weighed(b, logs, weight, channel)?;
    let product = b.mul(logs, target)?;
    let losses = b.reduce(Binary::Add, product, &[channel], false)?;
    let losses = b.unary(Unary::Neg, losses)?;
    one(reduced(b, losses, how)?)
}

/// `x` with each class multiplied by its weight.
fn weighed(b: &mut Builder, x: InstructionId, weight: Option<InstructionId>, channel: usize) -> Built {
    let Some(weight) = weight else { return Ok(x) };
    let dims = b.dims(x);
    let weight = b.broadcast_in(weight, &dims, vec![usize_to_u32(channel)])?;
    b.mul(x, weight)
}
