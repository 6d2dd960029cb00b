//! Rules of matrix products.

use ns_base::Refusal;

use super::rules::{Gradients, Site};
use super::tape::Tape;
use crate::NodeId;

/// `x @ w`: `g @ w^T` and `x^T @ g`, over the last two dimensions.
pub(super) fn matmul(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let &[a, b, ..] = site.inputs else { return Ok(Gradients::new()) };
    // `mm` of matrices, `matmul` of batches of them: the gradients are the same op.
    let op = match site.op {
        crate::AtenOp::Matmul => crate::AtenOp::Matmul,
        _ => crate::AtenOp::Mm,
    };
    let mut all = Gradients::new();
    let first = |t: &mut Tape| {
        let turned = t.turned(b)?;
        t.op(op.clone(), &[g, turned])
    };
    site.needed(0, || first(tape), &mut all)?;
    let second = |t: &mut Tape| {
        let turned = t.turned(a)?;
        t.op(op.clone(), &[turned, g])
    };
    site.needed(1, || second(tape), &mut all)?;
    Ok(all)
}

/// The same, with a bias that is added to each row.
pub(super) fn addmm(tape: &mut Tape, site: &Site<'_>, g: NodeId) -> Result<Gradients, Refusal> {
    let mut all = matmul(tape, site, g)?;
    site.needed(2, || tape.sum(g, &[0], false), &mut all)?;
    Ok(all)
}
