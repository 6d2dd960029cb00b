//! Reductions.

use crate::onnx::site::{Results, Site};
use ns_program::OperatorKind::Reduction;
use ns_program::compose::logsumexp;
use ns_program::{Binary, Builder, Built, InstructionId, Unary};

use super::Operator;

pub(super) const OPS: &[Operator] = &[
    ("ReduceSum", Reduction, |site| reduce(site, |b, x, axes, keeps| b.reduce(Binary::Add, x, axes, keeps))),
    ("ReduceMean", Reduction, |site| reduce(site, Builder::mean)),
    ("ReduceMax", Reduction, |site| reduce(site, |b, x, axes, keeps| b.reduce(Binary::Max, x, axes, keeps))),
    ("ReduceMin", Reduction, |site| reduce(site, |b, x, axes, keeps| b.reduce(Binary::Min, x, axes, keeps))),
    ("ReduceProd", Reduction, |site| reduce(site, |b, x, axes, keeps| b.reduce(Binary::Mul, x, axes, keeps))),
    ("ReduceL1", Reduction, |site| reduce(site, l1)),
    ("ReduceL2", Reduction, |site| reduce(site, l2)),
    ("ReduceLogSum", Reduction, |site| reduce(site, log_sum)),
    ("ReduceLogSumExp", Reduction, |site| reduce(site, logsumexp)),
    ("ReduceSumSquare", Reduction, |site| reduce(site, sum_of_squares)),
];

/// A reduction of some dimensions, which keep the size 1 if the last argument says so.
type Reduce = fn(&mut Builder, InstructionId, &[usize], bool) -> Built;

fn reduce(site: &mut Site<'_, '_>, how: Reduce) -> Results {
    let x = site.x(0)?;
    let rank = site.dims(x).len();
    let keeps = site.int("keepdims", 1)? != 0;
    let axes = site.ints_of(1, "axes")?.unwrap_or_default();
    let axes = match axes.as_slice() {
        [] if site.int("noop_with_empty_axes", 0)? != 0 => return Ok(vec![x]),
        [] => (0..rank).collect(),
        axes => site.axes(axes, rank)?,
    };
    Ok(vec![how(site.b(), x, &axes, keeps)?])
}

fn l1(b: &mut Builder, x: InstructionId, axes: &[usize], keeps: bool) -> Built {
    let sizes = b.unary(Unary::Abs, x)?;
    b.reduce(Binary::Add, sizes, axes, keeps)
}

fn l2(b: &mut Builder, x: InstructionId, axes: &[usize], keeps: bool) -> Built {
    let sum = sum_of_squares(b, x, axes, keeps)?;
    b.unary(Unary::Sqrt, sum)
}

fn log_sum(b: &mut Builder, x: InstructionId, axes: &[usize], keeps: bool) -> Built {
    let sum = b.reduce(Binary::Add, x, axes, keeps)?;
    b.unary(Unary::Log, sum)
}

fn sum_of_squares(b: &mut Builder, x: InstructionId, axes: &[usize], keeps: bool) -> Built {
    let squares = b.mul(x, x)?;
    b.reduce(Binary::Add, squares, axes, keeps)
}
