//! Reductions.

use crate::onnx::site::{Results, Site};
use crate::program::compose::logsumexp;
use crate::program::{Binary, Unary};
use ns_base::refuse;

/// The results of a reduction; `None` for other operators.
pub(super) fn run(site: &mut Site<'_, '_>, name: &str) -> Option<Results> {
    let kind = name.strip_prefix("Reduce")?;
    let known = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"];
    known.contains(&kind).then(|| reduce(site, kind))
}

fn reduce(site: &mut Site<'_, '_>, kind: &str) -> Results {
    let x = site.x(0)?;
    let rank = site.dims(x).len();
    let keeps = site.int("keepdims", 1)? != 0;
    let axes = site.ints_of(1, "axes")?.unwrap_or_default();
    let axes = match axes.as_slice() {
        [] if site.int("noop_with_empty_axes", 0)? != 0 => return Ok(vec![x]),
        [] => (0..rank).collect(),
        axes => site.axes(axes, rank)?,
    };
    let b = site.b();
    let result = match kind {
        "Sum" => b.reduce(Binary::Add, x, &axes, keeps)?,
        "Max" => b.reduce(Binary::Max, x, &axes, keeps)?,
        "Min" => b.reduce(Binary::Min, x, &axes, keeps)?,
        "Prod" => b.reduce(Binary::Mul, x, &axes, keeps)?,
        "Mean" => b.mean(x, &axes, keeps)?,
        "LogSumExp" => logsumexp(b, x, &axes, keeps)?,
        "L1" => {
            let sizes = b.unary(Unary::Abs, x)?;
            b.reduce(Binary::Add, sizes, &axes, keeps)?
        }
        "LogSum" => {
            let sum = b.reduce(Binary::Add, x, &axes, keeps)?;
            b.unary(Unary::Log, sum)?
        }
        "L2" | "SumSquare" => {
            let squares = b.mul(x, x)?;
            let sum = b.reduce(Binary::Add, squares, &axes, keeps)?;
            if kind == "L2" { b.unary(Unary::Sqrt, sum)? } else { sum }
        }
        other => {
            return Err(site.fault(refuse!("has the unknown reduction {other:?}")));
        }
    };
    Ok(vec![result])
}
