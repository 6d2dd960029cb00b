//! The operators that `torch.nn.MultiheadAttention` and `TransformerEncoderLayer` call in inference, each a whole layer.

use super::call::{Call, OpResult, Row, one};
use ns_base::{Refusal, refuse};
use ns_program::OperatorKind::Product;
use ns_program::compose::{Affine, Attention, attention_and_shares, gelu_erf, layer_norm};
use ns_program::{Binary, Builder, Built, Comparison, InstructionId};

/// Whole layers of attention.
pub const OPS: &[Row] = &[
    (&["_native_multi_head_attention"], Product, |c| {
        let inputs = [c.x(0)?, c.x(1)?, c.x(2)?];
        let heads = Heads { count: c.positive("num_head")?, weights: required(c, PROJECTIONS)? };
        let mask = mask(c)?;
        let (value, shares) = heads.attend(c.b(), inputs, mask)?;
        if !c.flag_or("need_weights", true) {
            return Ok(OpResult::Many(vec![Some(value), None]));
        }
        let is_mean = c.flag_or("average_attn_weights", true);
        let shares = if is_mean { c.b().mean(shares, &[1], false)? } else { shares };
        Ok(OpResult::Many(vec![Some(value), Some(shares)]))
    }),
    (&["_transformer_encoder_layer_fwd"], Product, |c| {
        let value = layer(c)?;
        one(value)
    }),
];

/// Names of the weights of an attention: those of queries, keys and values in one array, and those of the result.
const PROJECTIONS: [&str; 4] = ["qkv_weight", "qkv_bias", "proj_weight", "proj_bias"];

fn required<const N: usize>(c: &mut Call<'_, '_, '_>, names: [&'static str; N]) -> Result<[InstructionId; N], Refusal> {
    let mut found = [InstructionId(0); N];
    for (place, name) in found.iter_mut().zip(names) {
        *place = c.tensor(name)?.ok_or_else(|| c.missing(name))?;
    }
    Ok(found)
}

/// The mask as the attention takes it: false for the keys that a query must not see, with sizes that fit `[batch, heads, queries, keys]`.
fn mask(c: &mut Call<'_, '_, '_>) -> Result<Option<InstructionId>, Refusal> {
    let Some(mask) = c.tensor("mask")? else { return Ok(None) };
    let (kind, b) = (c.int("mask_type"), c.b());
    // Type 1 is a row for each sample, type 0 one matrix for all samples; other types have a mask for each head of each sample.
    let is_of_keys = kind == Some(1) && b.rank(mask) == 2;
    let mask = if is_of_keys { b.unsqueeze(mask, 1).and_then(|m| b.unsqueeze(m, 1))? } else { mask };
    Ok(Some(b.compare_number(Comparison::Eq, mask, 0.0)?))
}

/// The heads of an attention.
struct Heads {
    count: u64,
    weights: [InstructionId; 4],
}

impl Heads {
    /// Attention over `[batch, length, size]`, projected; and the share of each key, `[batch, heads, queries, keys]`.
    fn attend(
        &self,
        b: &mut Builder,
        inputs: [InstructionId; 3],
        mask: Option<InstructionId>,
    ) -> Result<(InstructionId, InstructionId), Refusal> {
        let [qkv_weight, qkv_bias, proj_weight, proj_bias] = self.weights;
        let [q, k, v] = if inputs[1] == inputs[0] && inputs[2] == inputs[0] {
            let all = b.linear(inputs[0], qkv_weight, Some(qkv_bias))?;
            self.thirds(b, all, 2)?
        } else {
            let (weights, biases) = (self.thirds(b, qkv_weight, 0)?, self.thirds(b, qkv_bias, 0)?);
            let mut apart = inputs;
            for (x, (weight, bias)) in apart.iter_mut().zip(weights.into_iter().zip(biases)) {
                *x = b.linear(*x, weight, Some(bias))?;
            }
            apart
        };
        let (q, k, v) = (self.apart(b, q)?, self.apart(b, k)?, self.apart(b, v)?);
        let (value, shares) = attention_and_shares(b, q, k, v, Attention { mask, ..Attention::default() })?;
        let rows = b.swap_dims(value, 1, 2)?;
        let dims = b.dims(rows);
        let joined = b.reshape(rows, &[dims[0], dims[1], dims[2].saturating_mul(dims[3])])?;
        Ok((b.linear(joined, proj_weight, Some(proj_bias))?, shares))
    }

    /// Queries, keys and values of an array that holds them one after the other.
    fn thirds(&self, b: &mut Builder, x: InstructionId, dimension: usize) -> Result<[InstructionId; 3], Refusal> {
        let size = b.size(x, dimension)? / 3;
        let mut part = |at: u64| b.slice_dim(x, dimension, at * size, (at + 1) * size, 1);
        Ok([part(0)?, part(1)?, part(2)?])
    }

    /// `[batch, length, size]` as `[batch, heads, length, size of a head]`.
    fn apart(&self, b: &mut Builder, x: InstructionId) -> Built {
        let dims = b.dims(x);
        let [batch, length, size] = dims[..] else {
            let op = "_native_multi_head_attention".to_owned();
            return Err(refuse!("{op} needs an operand of rank 3, not {}", dims.len()));
        };
        let split = b.reshape(x, &[batch, length, self.count, size / self.count])?;
        b.swap_dims(split, 1, 2)
    }
}

/// A layer of an encoder: attention and two linear layers, each added to its input, with a norm before each of the two or after each sum.
fn layer(c: &mut Call<'_, '_, '_>) -> Built {
    let heads = Heads { count: c.positive("num_heads")?, weights: required(c, PROJECTIONS)? };
    let norms = ["norm_weight_1", "norm_bias_1", "norm_weight_2", "norm_bias_2"];
    let norms = required(c, norms)?;
    let [weight_1, bias_1, weight_2, bias_2] =
        required(c, ["ffn_weight_1", "ffn_bias_1", "ffn_weight_2", "ffn_bias_2"])?;
    let (is_first, epsilon) = (c.flag_or("norm_first", false), c.float_or("eps", 1e-5));
    let (mask, source) = (mask(c)?, c.x(0)?);
    let is_gelu = c.flag_or("use_gelu", false);
    let b = c.b();
    let norm = |b: &mut Builder, x: InstructionId, at: usize, when: bool| -> Built {
        if when != is_first {
            return Ok(x);
        }
        let affine = Affine { weight: Some(norms[2 * at]), bias: Some(norms[2 * at + 1]) };
        let [normal, ..] = layer_norm(b, x, 1, affine, epsilon)?;
        Ok(normal)
    };
    let x = norm(b, source, 0, true)?;
    let (attended, _) = heads.attend(b, [x, x, x], mask)?;
    let sum = b.add(attended, source)?;
    let middle = norm(b, sum, 0, false)?;
    let x = norm(b, middle, 1, true)?;
    let x = b.linear(x, weight_1, Some(bias_1))?;
    let x = if is_gelu { gelu_erf(b, x)? } else { b.with_number(Binary::Max, x, 0.0)? };
    let x = b.linear(x, weight_2, Some(bias_2))?;
    let sum = b.add(x, middle)?;
    norm(b, sum, 1, false)
}
