//! Operators that onnxruntime's optimisers make by fusing several ONNX operators (domain `com.microsoft`).

use crate::onnx::site::{FIXED, Failure, Results, Site};
use ns_base::refuse;
use ns_program::OperatorKind::{Elementwise, Function, Movement, Norm, Product};
use ns_program::builder::RowGather;
use ns_program::compose::{Affine, Attention, gelu_erf, gelu_tanh, layer_norm, relu, rms_norm};
use ns_program::{Binary, Builder, Built, Comparison, ElementType, InstructionId, Unary};

use super::Operator;
use super::activation::swish;
use super::grouped_query_attention::grouped_attention;
use super::nbits::matmul_of_bits;
use super::product::{apart, attend_heads, convolution, count_matmul, gemm, joined};
use super::rotary::{ONNXRUNTIME, rotary};

/// Operators of onnxruntime that ONNX does not have, or has with other operands.
pub(super) const OPS: &[Operator] = &[
    ("Gelu", Function, |site| biased(site, gelu_erf)),
    ("BiasGelu", Function, |site| biased(site, gelu_erf)),
    ("FastGelu", Function, |site| biased(site, gelu_tanh)),
    ("QuickGelu", Function, |site| swish(site, 1.702)),
    ("SkipLayerNormalization", Norm, |site| skip_norm(site, true)),
    ("SkipSimplifiedLayerNormalization", Norm, |site| skip_norm(site, false)),
    ("EmbedLayerNormalization", Norm, embed_norm),
    ("FusedMatMul", Product, fused_matmul),
    ("TransposeMatMul", Product, fused_matmul),
    ("FusedGemm", Product, |site| {
        let product = gemm(site)?;
        Ok(vec![activated(site, product[0])?])
    }),
    ("FusedConv", Product, fused_convolution),
    ("Attention", Product, packed_attention),
    ("MultiHeadAttention", Product, attention_of_heads),
    ("GroupQueryAttention", Product, grouped_attention),
    ("MatMulNBits", Product, matmul_of_bits),
    ("RotaryEmbedding", Movement, |site| rotary(site, ONNXRUNTIME)),
    ("BiasAdd", Elementwise, bias_add),
];

/// A function of the sum of an operand and a bias.
fn biased(site: &mut Site<'_, '_>, function: fn(&mut Builder, InstructionId) -> Built) -> Results {
    let x = site.x(0)?;
    let x = site.plus(x, 1)?;
    Ok(vec![function(site.b(), x)?])
}

fn bias_add(site: &mut Site<'_, '_>) -> Results {
    let (x, bias, skip) = (site.x(0)?, site.x(1)?, site.x(2)?);
    let sum = site.b().add(x, bias)?;
    Ok(vec![site.b().add(sum, skip)?])
}

/// A norm of a sum; the fourth result is the sum.
fn skip_norm(site: &mut Site<'_, '_>, is_centred: bool) -> Results {
    let (x, skip, weight) = (site.x(0)?, site.x(1)?, site.x(2)?);
    let sum = site.b().add(x, skip)?;
    let sum = site.plus(sum, if is_centred { 4 } else { 3 })?;
    let epsilon = site.float("epsilon", 1e-12)?;
    if !is_centred {
        let result = rms_norm(site.b(), sum, 1, Some(weight), epsilon)?;
        return Ok(vec![result, sum, sum, sum]);
    }
    let affine = Affine { weight: Some(weight), bias: site.option(3) };
    let [result, mean, factor] = layer_norm(site.b(), sum, 1, affine, epsilon)?;
    Ok(vec![result, mean, factor, sum])
}

/// The norm of the sum of each token's word, position and segment embeddings, and the number of tokens that a mask keeps.
fn embed_norm(site: &mut Site<'_, '_>) -> Results {
    let (tokens, words, positions) = (site.x(0)?, site.x(2)?, site.x(3)?);
    let rows = |site: &mut Site<'_, '_>, table, at| {
        site.b().take(table, at, RowGather { dimension: 0, wraps: false }).map_err(Failure::from)
    };
    let dims = site.dims(tokens);
    let length = dims.last().copied().unwrap_or(1);
    let mut sum = rows(site, words, tokens)?;
    let places = match site.option(8) {
        Some(places) => rows(site, positions, places)?,
        None => site.b().slice_dim(positions, 0, 0, length, 1)?,
    };
    sum = site.b().add(sum, places)?;
    if let (Some(kinds), Some(table)) = (site.option(1), site.option(4)) {
        let kinds = rows(site, table, kinds)?;
        sum = site.b().add(sum, kinds)?;
    }
    let affine = Affine { weight: site.option(5), bias: site.option(6) };
    let epsilon = site.float("epsilon", 1e-12)?;
    let [result, ..] = layer_norm(site.b(), sum, 1, affine, epsilon)?;
    let counts = match site.option(7) {
        Some(mask) => {
            let mask = site.b().convert(mask, ElementType::S32)?;
            site.b().reduce(Binary::Add, mask, &[1], false)?
        }
        None => site.b().full(ElementType::S32, &dims[..1.min(dims.len())], 0.0)?,
    };
    Ok(vec![result, counts, sum])
}

fn fused_matmul(site: &mut Site<'_, '_>) -> Results {
    let (mut a, mut b) = (site.x(0)?, site.x(1)?);
    for (x, name, of_batch) in [(&mut a, "transA", "transBatchA"), (&mut b, "transB", "transBatchB")] {
        let rank = site.dims(*x).len();
        if site.int(of_batch, 0)? != 0 && rank > 2 {
            // The first dimension goes behind the dimensions of the batch.
            let order: Vec<usize> = (1..rank - 1).chain([0, rank - 1]).collect();
            *x = site.b().transpose(*x, &order)?;
        }
        if site.int(name, 0)? != 0 && rank > 1 {
            *x = site.b().swap_dims(*x, rank - 2, rank - 1)?;
        }
    }
    let product = site.b().matmul(a, b)?;
    count_matmul(site, a, product);
    let alpha = site.float("alpha", 1.0)?;
    Ok(vec![if alpha == 1.0 { product } else { site.b().with_number(Binary::Mul, product, alpha)? }])
}

/// The activation that an optimiser fused into a node.
fn activated(site: &mut Site<'_, '_>, x: InstructionId) -> Result<InstructionId, Failure> {
    let parameters = site.floats("activation_params")?.unwrap_or_default();
    let number = |at: usize, default: f64| parameters.get(at).copied().unwrap_or(default);
    Ok(match site.text("activation", "")?.as_str() {
        "" => x,
        "Relu" => relu(site.b(), x)?,
        "Sigmoid" => site.b().unary(Unary::Logistic, x)?,
        "Tanh" => site.b().unary(Unary::Tanh, x)?,
        "Clip" => site.b().clamp_numbers(x, Some(number(0, f64::NEG_INFINITY)), Some(number(1, f64::INFINITY)))?,
        "LeakyRelu" => {
            let (element, slope) = (site.element(x), site.float("leaky_relu_alpha", number(0, 0.01))?);
            let slope = site.b().number(element, slope)?;
            ns_program::compose::leaky_relu(site.b(), x, slope)?
        }
        "HardSigmoid" => ns_program::compose::hard_sigmoid(site.b(), x, number(0, 0.2), number(1, 0.5))?,
        other => return Err(site.fault(refuse!("has the unknown activation {other:?}"))),
    })
}

fn fused_convolution(site: &mut Site<'_, '_>) -> Results {
    let bias = site.option(2);
    let result = convolution(site, 0, 1, bias)?;
    let result = site.plus(result, 3)?;
    Ok(vec![activated(site, result)?])
}

/// A mask of keys as numbers that are added to the products: `[batch]` lengths, `[batch, keys]` or `[batch, queries, keys]` flags.
fn key_mask(site: &mut Site<'_, '_>, mask: InstructionId, keys: u64, batch: u64) -> Result<InstructionId, Failure> {
    let dims = site.dims(mask);
    let filter = site.float("mask_filter_value", -10000.0)?;
    let flags = match dims.as_slice() {
        [n] if *n == batch => {
            let places = site.b().iota(ElementType::S32, &[batch, keys], 1)?;
            let lengths = site.b().unsqueeze(mask, 1)?;
            let lengths = site.b().convert(lengths, ElementType::S32)?;
            let seen = site.b().compare(Comparison::Lt, places, lengths)?;
            site.b().reshape(seen, &[batch, 1, 1, keys])?
        }
        [b, k] if *k == keys => {
            let seen = site.b().convert(mask, ElementType::Pred)?;
            site.b().reshape(seen, &[*b, 1, 1, *k])?
        }
        [b, q, k] if *k == keys => {
            let seen = site.b().convert(mask, ElementType::Pred)?;
            site.b().reshape(seen, &[*b, 1, *q, *k])?
        }
        _ => return Err(site.fault(refuse!("has a mask of {dims:?} for {keys} keys"))),
    };
    let first = site.x(0)?;
    let element = site.element(first);
    let (zero, never) = (site.b().number(element, 0.0)?, site.b().number(element, filter)?);
    Ok(site.b().select(flags, zero, never)?)
}

/// The sum of a mask of keys and a bias of the products.
fn mask_of(
    site: &mut Site<'_, '_>,
    mask: Option<InstructionId>,
    bias: Option<InstructionId>,
    keys: u64,
    batch: u64,
) -> Result<Option<InstructionId>, Failure> {
    let mask = match mask {
        Some(mask) => Some(key_mask(site, mask, keys, batch)?),
        None => None,
    };
    Ok(match (mask, bias) {
        (Some(mask), Some(bias)) => Some(site.b().add(mask, bias)?),
        (mask, bias) => mask.or(bias),
    })
}

/// Attention in which one product gives queries, keys and values.
fn packed_attention(site: &mut Site<'_, '_>) -> Results {
    let (x, weight) = (site.x(0)?, site.x(1)?);
    if site.option(4).is_some() || site.int("do_rotary", 0)? != 0 {
        return Err(site.fault(refuse!(instead = FIXED, "uses keys of earlier calls or rotary places")));
    }
    let (dims, width) = (site.dims(x), site.dims(weight));
    let (&[batch, length, _], &[_, all]) = (dims.as_slice(), width.as_slice()) else {
        return Err(site.fault(refuse!("cannot apply weights of {width:?} to {dims:?}")));
    };
    let parts = match site.ints("qkv_hidden_sizes")? {
        Some(sizes) => super::layout::sizes(&sizes)?,
        None => vec![all / 3; 3],
    };
    let product = site.b().matmul(x, weight)?;
    count_matmul(site, x, product);
    let product = site.plus(product, 2)?;
    let parts = site.b().split(product, 2, &parts)?;
    let [q, k, v] = parts[..] else { return Err(site.fault(refuse!("needs queries, keys and values"))) };
    let heads = site.int("num_heads", 0)?;
    let parts = [apart(site, q, heads)?, apart(site, k, heads)?, apart(site, v, heads)?];
    let mask = mask_of(site, site.option(3), site.option(5), length, batch)?;
    let how = Attention { mask, is_causal: site.int("unidirectional", 0)? != 0, past: 0, scale: scale(site)? };
    let result = attend_heads(site, parts, how)?;
    Ok(vec![joined(site, result)?])
}

fn scale(site: &Site<'_, '_>) -> Result<Option<f64>, Failure> {
    Ok(Some(site.float("scale", 0.0)?).filter(|&s| s != 0.0))
}

/// Attention of queries, keys and values of `[batch, length, size]`; also returns the keys and values of all calls so far.
fn attention_of_heads(site: &mut Site<'_, '_>) -> Results {
    let mut parts = [site.x(0)?, site.x(1)?, site.x(2)?];
    if let Some(bias) = site.option(3) {
        let sizes: Vec<u64> = parts.iter().map(|&p| site.dims(p).last().copied().unwrap_or(0)).collect();
        let biases = site.b().split(bias, 0, &sizes)?;
        for (part, bias) in parts.iter_mut().zip(biases) {
            *part = site.b().add(*part, bias)?;
        }
    }
    let heads = site.int("num_heads", 0)?;
    for part in &mut parts {
        *part = if site.dims(*part).len() == 4 { *part } else { apart(site, *part, heads)? };
    }
    let own = site.dims(parts[1])[2];
    // Keys and values of earlier calls come first.
    for (part, earlier) in parts[1..].iter_mut().zip([6, 7]) {
        if let Some(earlier) = site.option(earlier) {
            *part = site.b().concatenate(&[earlier, *part], 2)?;
        }
    }
    let keys = site.dims(parts[1]);
    let mask = mask_of(site, site.option(4), site.option(5), keys[2], keys[0])?;
    let past = keys[2].saturating_sub(own);
    let how = Attention { mask, is_causal: site.int("unidirectional", 0)? != 0, past, scale: scale(site)? };
    let result = attend_heads(site, parts, how)?;
    Ok(vec![joined(site, result)?, parts[1], parts[2]])
}
