//! Scaled dot-product attention.

use super::super::{Binary, Builder, Built, Comparison, DotDims, ElementType, InstructionId};
use super::softmax;
use ns_base::convert::{u64_to_f64, usize_to_u32};
use ns_base::{Refusal, refuse};

/// Settings of an attention.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Attention {
    /// Mask: numbers are added to the products; booleans say which keys count.
    pub mask: Option<InstructionId>,
    /// Whether a query sees only the keys up to its own place.
    pub is_causal: bool,
    /// Number of keys from earlier calls, which come before the first query's own key.
    pub past: u64,
    /// Factor of the products; by default 1 over the square root of a key's length.
    pub scale: Option<f64>,
}

/// `softmax(scale q k^T + mask) v` of arrays `[.., heads, length, size]`. If there are fewer heads of keys and values than of queries,
/// several query heads share each of them. Fails when sizes do not fit.
pub fn attention(b: &mut Builder, q: InstructionId, k: InstructionId, v: InstructionId, how: Attention) -> Built {
    Ok(attention_and_shares(b, q, k, v, how)?.0)
}

/// An attention, and the share that each key has in each query's result: `softmax(scale q k^T + mask)`. Fails when sizes do not
/// fit.
pub fn attention_and_shares(
    b: &mut Builder,
    q: InstructionId,
    k: InstructionId,
    v: InstructionId,
    how: Attention,
) -> Result<(InstructionId, InstructionId), Refusal> {
    let rank = b.rank(q);
    let (keys, values) = (b.rank(k), b.rank(v));
    if rank < 2 || keys != rank || values != rank {
        return Err(refuse!(
            "queries, keys and values of attention have ranks {rank}, {keys} and {values}: they need the same rank, 2 or more"
        ));
    }
    let (k, v) = (shared_heads(b, q, k)?, shared_heads(b, q, v)?);
    let size = b.size(q, rank - 1)?.max(1);
    let scale = how.scale.unwrap_or_else(|| 1.0 / u64_to_f64(size).sqrt());
    let batch: Vec<u32> = (0..usize_to_u32(rank) - 2).collect();
    let last = usize_to_u32(rank) - 1;
    let by_size = DotDims {
        lhs_contracting: vec![last],
        rhs_contracting: vec![last],
        lhs_batch: batch.clone(),
        rhs_batch: batch.clone(),
    };
    let products = b.dot(q, k, by_size)?;
    let scores = b.with_number(Binary::Mul, products, scale)?;
    let scores = masked(b, scores, how)?;
    let shares = softmax(b, scores, rank - 1)?;
    let by_key = DotDims {
        lhs_contracting: vec![last],
        rhs_contracting: vec![last - 1],
        lhs_batch: batch.clone(),
        rhs_batch: batch,
    };
    Ok((b.dot(shares, v, by_key)?, shares))
}

/// Keys or values repeated for each head of the queries.
fn shared_heads(b: &mut Builder, q: InstructionId, x: InstructionId) -> Built {
    let (wanted, mut dims) = (b.dims(q), b.dims(x));
    let batch = wanted.len() - 2;
    if wanted[..batch] == dims[..batch] {
        return Ok(x);
    }
    // The heads dimension is repeated together with the dimensions in front of it.
    let at = batch - 1;
    let times = wanted[at].checked_div(dims[at]).filter(|t| t * dims[at] == wanted[at]);
    match times {
        Some(times) if times > 1 && dims[at] > 1 => {
            let apart = b.unsqueeze(x, at + 1)?;
            let mut repeated = b.dims(apart);
            repeated[at + 1] = times;
            let many = b.broadcast_to(apart, &repeated)?;
            dims[at] = wanted[at];
            let joined = b.reshape(many, &dims)?;
            dims[..at].copy_from_slice(&wanted[..at]);
            b.broadcast_to(joined, &dims)
        }
        _ => {
            dims[..batch].copy_from_slice(&wanted[..batch]);
            b.broadcast_to(x, &dims)
        }
    }
}

/// The products, with minus infinity for keys that a query must not see.
fn masked(b: &mut Builder, scores: InstructionId, how: Attention) -> Built {
    let mut scores = scores;
    let element = b.element(scores);
    if let Some(mask) = how.mask {
        scores = if b.element(mask) == ElementType::Pred {
            let never = b.number(element, f64::NEG_INFINITY)?;
            let dims = b.dims(scores);
            let mask = b.broadcast_to(mask, &dims)?;
            b.select(mask, scores, never)?
        } else {
            let mask = b.convert(mask, element)?;
            b.add(scores, mask)?
        };
    }
    if how.is_causal {
        let dims = b.dims(scores);
        let matrix = dims[dims.len() - 2..].to_vec();
        let mut row = b.iota(ElementType::S32, &matrix, 0)?;
        if how.past > 0 {
            row = b.with_number(Binary::Add, row, u64_to_f64(how.past))?;
        }
        let column = b.iota(ElementType::S32, &matrix, 1)?;
        let seen = b.compare(Comparison::Ge, row, column)?;
        let never = b.number(element, f64::NEG_INFINITY)?;
        scores = b.select(seen, scores, never)?;
    }
    Ok(scores)
}
