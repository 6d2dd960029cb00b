//! Products of matrices and convolutions.

use crate::onnx::site::{FIXED, Failure, Results, Site};
use ns_base::refuse;
use ns_program::OperatorKind::Product;
use ns_program::builder::ConvolutionSpec;
use ns_program::compose::{Attention, attention, einsum};
use ns_program::{Binary, ElementType, InstructionId};

use super::Operator;
use super::window::{positive, windows};

pub(super) const OPS: &[Operator] = &[
    ("MatMul", Product, matmul),
    ("Gemm", Product, gemm),
    ("Einsum", Product, summation),
    ("Conv", Product, |site| {
        let bias = site.option(2);
        Ok(vec![convolution(site, 0, 1, bias)?])
    }),
    ("ConvTranspose", Product, transposed_convolution),
    ("Attention", Product, attend),
];

/// Operations of a matrix product: two for each element of the result times each element of the contracted dimension.
pub(super) fn count_matmul(site: &mut Site<'_, '_>, x: InstructionId, result: InstructionId) {
    let k = site.dims(x).last().copied().unwrap_or(1);
    let dims = site.dims(result);
    site.count(dims.into_iter().chain([k]));
}

fn matmul(site: &mut Site<'_, '_>) -> Results {
    let (x, y) = (site.x(0)?, site.x(1)?);
    let result = site.b().matmul(x, y)?;
    count_matmul(site, x, result);
    Ok(vec![result])
}

/// `alpha A' B' + beta C`.
pub(super) fn gemm(site: &mut Site<'_, '_>) -> Results {
    let (a, b) = (site.x(0)?, site.x(1)?);
    let (a_dims, b_dims) = (site.dims(a), site.dims(b));
    if a_dims.len() != 2 || b_dims.len() != 2 {
        return Err(site.fault(refuse!("multiplies matrices, not {a_dims:?} and {b_dims:?}")));
    }
    let a = if site.int("transA", 0)? != 0 { site.b().transpose(a, &[1, 0])? } else { a };
    let is_turned = site.int("transB", 0)? != 0;
    let product = if is_turned { site.b().linear(a, b, None)? } else { site.b().matmul(a, b)? };
    count_matmul(site, a, product);
    let scaled = scale(site, product, "alpha")?;
    let Some(c) = site.option(2) else { return Ok(vec![scaled]) };
    let c = scale(site, c, "beta")?;
    Ok(vec![site.b().add(scaled, c)?])
}

/// A value times the number in an attribute.
fn scale(site: &mut Site<'_, '_>, x: InstructionId, attribute: &str) -> Result<InstructionId, Failure> {
    let factor = site.float(attribute, 1.0)?;
    if factor == 1.0 {
        return Ok(x);
    }
    Ok(site.b().with_number(Binary::Mul, x, factor)?)
}

fn summation(site: &mut Site<'_, '_>) -> Results {
    let equation = site.text("equation", "")?;
    let operands: Vec<InstructionId> = site.inputs.iter().flatten().copied().collect();
    let result = einsum(site.b(), &equation, &operands)?;
    let letters = equation.split("->").next().unwrap_or_default();
    // Letters and the dimensions of an ellipsis, each once with its size.
    let mut sizes: Vec<(String, u64)> = Vec::new();
    for (part, &x) in letters.split(',').zip(&operands) {
        let dims = site.dims(x);
        let part: String = part.chars().filter(|c| !c.is_whitespace()).collect();
        let named: Vec<char> = part.chars().filter(|&c| c != '.').collect();
        let hidden = dims.len().saturating_sub(named.len());
        let front = part.find('.').unwrap_or(part.len());
        for (at, &size) in dims.iter().enumerate() {
            let name = match at {
                at if at < front => named.get(at).map(|c| c.to_string()),
                at if at < front + hidden => Some(format!("...{}", front + hidden - at)),
                at => named.get(at - hidden).map(|c| c.to_string()),
            };
            let name = name.unwrap_or_default();
            match sizes.iter_mut().find(|(n, _)| *n == name) {
                Some((_, known)) => *known = (*known).max(size),
                None => sizes.push((name, size)),
            }
        }
    }
    site.count(sizes.into_iter().map(|(_, size)| size));
    Ok(vec![result])
}

/// A convolution of operand `x` with the kernel `w`.
pub(super) fn convolution(
    site: &mut Site<'_, '_>,
    x: usize,
    w: usize,
    bias: Option<InstructionId>,
) -> Result<InstructionId, Failure> {
    let (x, w) = (site.x(x)?, site.x(w)?);
    convolve(site, x, w, bias)
}

/// A convolution with the settings of the node.
pub(super) fn convolve(
    site: &mut Site<'_, '_>,
    x: InstructionId,
    w: InstructionId,
    bias: Option<InstructionId>,
) -> Result<InstructionId, Failure> {
    let (from, kernel) = (site.dims(x), site.dims(w));
    if from.len() < 3 || kernel.len() != from.len() {
        return Err(site.fault(refuse!("cannot apply a kernel of {kernel:?} to {from:?}")));
    }
    let how = windows(site, &from[2..], kernel[2..].to_vec())?;
    let groups = site.int("group", 1)?;
    let groups = u64::try_from(groups).map_err(|_| site.fault(refuse!("has {groups} groups")))?;
    let spec = ConvolutionSpec {
        strides: how.strides,
        padding: how.padding,
        dilation: how.dilation,
        groups,
        ..ConvolutionSpec::default()
    };
    let result = site.b().convolution(x, w, bias, &spec)?;
    let dims = site.dims(result);
    site.count(dims.into_iter().chain(kernel[1..].iter().copied()));
    Ok(result)
}

fn transposed_convolution(site: &mut Site<'_, '_>) -> Results {
    let (x, w) = (site.x(0)?, site.x(1)?);
    let (from, kernel) = (site.dims(x), site.dims(w));
    let n = from.len().saturating_sub(2);
    if n == 0 || kernel.len() != from.len() {
        return Err(site.fault(refuse!("cannot apply a kernel of {kernel:?} to {from:?}")));
    }
    let strides = positive(site, "strides", n)?;
    let dilation = positive(site, "dilations", n)?;
    let more = site.ints("output_padding")?.unwrap_or_else(|| vec![0; n]);
    let more = super::layout::sizes(&more)?;
    let auto = site.text("auto_pad", "NOTSET")?;
    let wanted = match site.ints("output_shape")? {
        Some(shape) => Some(super::layout::sizes(&shape[shape.len().saturating_sub(n)..])?),
        None if auto.starts_with("SAME") => Some((0..n).map(|i| from[2 + i].saturating_mul(strides[i])).collect()),
        None => None,
    };
    let pads = site.ints("pads")?.unwrap_or_else(|| vec![0; 2 * n]);
    if pads.len() != 2 * n || more.len() != n || wanted.as_ref().is_some_and(|w| w.len() != n) {
        return Err(site.fault(refuse!("has pads {pads:?} for {n} dimensions")));
    }
    let padding = (0..n)
        .map(|i| match &wanted {
            None => (pads[i], pads[n + i]),
            Some(wanted) => {
                let reach = i128::from(kernel[2 + i].saturating_sub(1)) * i128::from(dilation[i]) + 1;
                let full = i128::from(strides[i]) * (i128::from(from[2 + i]) - 1) + i128::from(more[i]) + reach;
                let total = i64::try_from(full - i128::from(wanted[i])).unwrap_or(i64::MAX);
                // A result larger than the kernel reaches has zeros at the end.
                if total < 0 {
                    return (0, total);
                }
                let half = total / 2;
                if auto == "SAME_UPPER" { (half, total - half) } else { (total - half, half) }
            }
        })
        .collect();
    let groups = u64::try_from(site.int("group", 1)?).unwrap_or(0);
    if groups == 0 || kernel[0] % groups != 0 {
        return Err(site.fault(refuse!("cannot divide [{}] into {groups} groups of channels", kernel[0])));
    }
    let spec = ConvolutionSpec { strides, padding, dilation, groups, output_padding: more, is_transposed: true };
    let bias = site.option(2);
    let result = site.b().convolution(x, w, bias, &spec)?;
    site.count(from.into_iter().chain(kernel[1..].iter().copied()));
    Ok(vec![result])
}

/// Attention since version 23; it may take keys and values of earlier calls, and then returns them too.
fn attend(site: &mut Site<'_, '_>) -> Results {
    if site.option(6).is_some() || site.float("softcap", 0.0)? != 0.0 {
        return Err(site.fault(refuse!(instead = FIXED, "uses lengths of sequences or a soft cap")));
    }
    let mut parts = [site.x(0)?, site.x(1)?, site.x(2)?];
    let is_flat = site.dims(parts[0]).len() == 3;
    if is_flat {
        let heads = [site.int("q_num_heads", 0)?, site.int("kv_num_heads", 0)?, site.int("kv_num_heads", 0)?];
        for (part, heads) in parts.iter_mut().zip(heads) {
            *part = apart(site, *part, heads)?;
        }
    }
    let scale = Some(site.float("scale", 0.0)?).filter(|&s| s != 0.0);
    let own = site.dims(parts[1])[2];
    parts[1] = super::grouped_query_attention::behind(site, 4, parts[1])?;
    parts[2] = super::grouped_query_attention::behind(site, 5, parts[2])?;
    let past = site.dims(parts[1])[2].saturating_sub(own);
    let how = Attention { mask: site.option(3), is_causal: site.int("is_causal", 0)? != 0, past, scale };
    let result = attend_heads(site, parts, how)?;
    Ok(vec![if is_flat { joined(site, result)? } else { result }, parts[1], parts[2]])
}

/// Converts `[batch, length, heads x size]` to `[batch, heads, length, size]`.
pub(super) fn apart(site: &mut Site<'_, '_>, x: InstructionId, heads: i64) -> Result<InstructionId, Failure> {
    let dims = site.dims(x);
    let count = heads;
    let heads = u64::try_from(heads).ok().filter(|&h| h > 0);
    let (&[batch, length, size], Some(heads)) = (dims.as_slice(), heads) else {
        return Err(site.fault(refuse!("cannot divide {dims:?} into {count} heads")));
    };
    let x = site.b().reshape(x, &[batch, length, heads, size / heads])?;
    Ok(site.b().transpose(x, &[0, 2, 1, 3])?)
}

/// Converts `[batch, heads, length, size]` to `[batch, length, heads x size]`.
pub(super) fn joined(site: &mut Site<'_, '_>, x: InstructionId) -> Result<InstructionId, Failure> {
    let dims = site.dims(x);
    let &[batch, heads, length, size] = dims.as_slice() else {
        return Err(site.fault(refuse!("does not take {dims:?}")));
    };
    let x = site.b().transpose(x, &[0, 2, 1, 3])?;
    Ok(site.b().reshape(x, &[batch, length, heads.saturating_mul(size)])?)
}

/// Attention of heads, with a count of its operations.
pub(super) fn attend_heads(
    site: &mut Site<'_, '_>,
    [q, k, v]: [InstructionId; 3],
    how: Attention,
) -> Result<InstructionId, Failure> {
    let result = attention(site.b(), q, k, v, how)?;
    let (queries, keys, values) = (site.dims(q), site.dims(k), site.dims(v));
    let (length, size) = (keys[keys.len() - 2], values[values.len() - 1]);
    site.count(queries.iter().copied().chain([length]));
    site.count(queries[..queries.len() - 1].iter().copied().chain([length, size]));
    Ok(result)
}

/// A product of 8-bit integers with a 32-bit result.
pub(super) fn widened(site: &mut Site<'_, '_>, x: InstructionId) -> Result<InstructionId, Failure> {
    Ok(site.b().convert(x, ElementType::S32)?)
}
