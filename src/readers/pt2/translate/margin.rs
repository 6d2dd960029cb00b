//! Losses of similarity and margins, and similarity itself.

use super::call::{Call, CallOutcome, OpResult, Row, one};
use super::loss::reduced;
use ns_base::convert::usize_to_i64;
use ns_base::refuse;
use ns_program::OperatorKind::Reduction;
use ns_program::compose::norm;
use ns_program::{Binary, Built, Comparison, InstructionId, Unary};

/// Losses of similarity and margins, and similarity itself.
pub const OPS: &[Row] = &[
    (&["cosine_similarity"], Reduction, likeness),
    (&["pairwise_distance"], Reduction, |c| {
        let keeps = c.flag_or("keepdim", false);
        let (x, y) = (c.x(0)?, c.x(1)?);
        one(distance(c, x, y, keeps)?)
    }),
    (&["dist"], Reduction, |c| {
        let (x, y, p) = (c.x(0)?, c.x(1)?, c.float_or("p", 2.0));
        let gap = c.b().sub(x, y)?;
        let all: Vec<usize> = (0..c.b().rank(gap)).collect();
        one(norm(c.b(), gap, p, &all, false)?)
    }),
    (&["binary_cross_entropy"], Reduction, |c| loss(c, crossed)),
    (&["kl_div"], Reduction, |c| loss(c, divergence)),
    (&["poisson_nll_loss"], Reduction, poisson_loss),
    (&["cosine_embedding_loss"], Reduction, |c| loss(c, cosine)),
    (&["margin_ranking_loss"], Reduction, |c| loss(c, ranking)),
    (&["triplet_margin_loss"], Reduction, |c| loss(c, triplet)),
    (&["hinge_embedding_loss"], Reduction, |c| loss(c, hinge)),
    (&["soft_margin_loss"], Reduction, |c| loss(c, soft_margin)),
];

/// The losses of all elements, reduced as the call says.
fn loss(c: &mut Call<'_, '_, '_>, losses: fn(&mut Call<'_, '_, '_>) -> Built) -> CallOutcome {
    let losses = losses(c)?;
    let how = c.int_or("reduction", 1);
    one(reduced(c.b(), losses, how)?)
}

fn soft_margin(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let b = c.b();
    let product = b.mul(x, y)?;
    let minus = b.unary(Unary::Neg, product)?;
    let power = b.unary(Unary::Exp, minus)?;
    b.unary(Unary::Log1p, power)
}

/// The cosine of the angle between vectors along a dimension.
fn likeness(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    let (x, y, least) = (c.x(0)?, c.x(1)?, c.float_or("eps", 1e-8));
    let rank = c.b().rank(x).max(c.b().rank(y));
    let along = c.dimension("dim", 1, rank)?;
    let mut units = Vec::with_capacity(2);
    for side in [x, y] {
        let own = c.b().rank(side);
        let missing = refuse!("an array of rank {own} has no dimension {}", usize_to_i64(along));
        let d = along.checked_sub(rank - own).ok_or(missing)?;
        let length = norm(c.b(), side, 2.0, &[d], true)?;
        let length = c.b().with_number(Binary::Max, length, least)?;
        units.push(c.b().div(side, length)?);
    }
    let product = c.b().mul(units[0], units[1])?;
    one(c.b().reduce(Binary::Add, product, &[along], false)?)
}

/// The norm of a difference along the last dimension; a small number is added to each element, as torch does.
fn distance(c: &mut Call<'_, '_, '_>, x: InstructionId, y: InstructionId, keeps: bool) -> Built {
    let (p, small) = (c.float_or("p", 2.0), c.float_or("eps", 1e-6));
    let gap = c.b().sub(x, y)?;
    let gap = c.b().with_number(Binary::Add, gap, small)?;
    let last = c.b().rank(gap).saturating_sub(1);
    norm(c.b(), gap, p, &[last], keeps)
}

/// `-(y log x + (1 - y) log(1 - x))`, with logarithms of at least -100.
fn crossed(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let weight = c.tensor("weight")?;
    let b = c.b();
    let log = b.unary(Unary::Log, x)?;
    let log = b.with_number(Binary::Max, log, -100.0)?;
    let minus = b.unary(Unary::Neg, x)?;
    let rest = b.unary(Unary::Log1p, minus)?;
    let rest = b.with_number(Binary::Max, rest, -100.0)?;
    // y (rest - log) - rest
    let gap = b.sub(rest, log)?;
    let part = b.mul(y, gap)?;
    let losses = b.sub(part, rest)?;
    match weight {
        Some(weight) => b.mul(losses, weight),
        None => Ok(losses),
    }
}

/// `y (log y - x)`, for probabilities `y` or their logarithms.
fn divergence(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let is_log = c.flag_or("log_target", false);
    let b = c.b();
    if is_log {
        let gap = b.sub(y, x)?;
        let share = b.unary(Unary::Exp, y)?;
        return b.mul(share, gap);
    }
    let log = b.unary(Unary::Log, y)?;
    let own = b.mul(y, log)?;
    let is_none = b.compare_number(Comparison::Eq, y, 0.0)?;
    let none = b.number(b.element(y), 0.0)?;
    let own = b.select(is_none, none, own)?;
    let both = b.mul(y, x)?;
    b.sub(own, both)
}

/// Stirling's term of the whole loss is not computed.
fn poisson_loss(c: &mut Call<'_, '_, '_>) -> CallOutcome {
    if c.flag_or("full", false) { Ok(OpResult::Unknown) } else { loss(c, poisson) }
}

fn poisson(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y) = (c.x(0)?, c.x(1)?);
    let (is_log, small) = (c.flag_or("log_input", true), c.float_or("eps", 1e-8));
    let b = c.b();
    let (rate, log) = if is_log {
        (b.unary(Unary::Exp, x)?, x)
    } else {
        let moved = b.with_number(Binary::Add, x, small)?;
        (x, b.unary(Unary::Log, moved)?)
    };
    let part = b.mul(y, log)?;
    b.sub(rate, part)
}

/// `other` where a target is 1, `own` where it is -1.
fn by_target(c: &mut Call<'_, '_, '_>, target: InstructionId, like: InstructionId, unlike: InstructionId) -> Built {
    let b = c.b();
    let none = b.number(b.element(like), 0.0)?;
    let is_like = b.compare_number(Comparison::Eq, target, 1.0)?;
    let is_unlike = b.compare_number(Comparison::Eq, target, -1.0)?;
    let like = b.select(is_like, like, none)?;
    let unlike = b.select(is_unlike, unlike, none)?;
    b.add(like, unlike)
}

fn cosine(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y, target, margin) = (c.x(0)?, c.x(1)?, c.x(2)?, c.float_or("margin", 0.0));
    let b = c.b();
    let last = b.rank(x).saturating_sub(1);
    let mut sums = Vec::with_capacity(3);
    for (one, other) in [(x, y), (x, x), (y, y)] {
        let product = b.mul(one, other)?;
        sums.push(b.reduce(Binary::Add, product, &[last], false)?);
    }
    // The number that torch adds to squares.
    let (first, second) = (b.with_number(Binary::Add, sums[1], 1e-12)?, b.with_number(Binary::Add, sums[2], 1e-12)?);
    let squares = b.mul(first, second)?;
    let length = b.unary(Unary::Sqrt, squares)?;
    let angle = b.div(sums[0], length)?;
    let minus = b.unary(Unary::Neg, angle)?;
    let like = b.with_number(Binary::Add, minus, 1.0)?;
    let over = b.with_number(Binary::Sub, angle, margin)?;
    let unlike = b.with_number(Binary::Max, over, 0.0)?;
    by_target(c, target, like, unlike)
}

fn ranking(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, y, target, margin) = (c.x(0)?, c.x(1)?, c.x(2)?, c.float_or("margin", 0.0));
    let b = c.b();
    let gap = b.sub(y, x)?;
    let signed = b.mul(gap, target)?;
    let moved = b.with_number(Binary::Add, signed, margin)?;
    b.with_number(Binary::Max, moved, 0.0)
}

fn triplet(c: &mut Call<'_, '_, '_>) -> Built {
    let (anchor, near, far) = (c.x(0)?, c.x(1)?, c.x(2)?);
    let margin = c.float_or("margin", 1.0);
    let to_near = distance(c, anchor, near, false)?;
    let mut to_far = distance(c, anchor, far, false)?;
    if c.flag_or("swap", false) {
        let between = distance(c, near, far, false)?;
        to_far = c.b().binary(Binary::Min, to_far, between)?;
    }
    let gap = c.b().sub(to_near, to_far)?;
    let moved = c.b().with_number(Binary::Add, gap, margin)?;
    c.b().with_number(Binary::Max, moved, 0.0)
}

fn hinge(c: &mut Call<'_, '_, '_>) -> Built {
    let (x, target, margin) = (c.x(0)?, c.x(1)?, c.float_or("margin", 1.0));
    let minus = c.b().unary(Unary::Neg, x)?;
    let moved = c.b().with_number(Binary::Add, minus, margin)?;
    let unlike = c.b().with_number(Binary::Max, moved, 0.0)?;
    by_target(c, target, x, unlike)
}
