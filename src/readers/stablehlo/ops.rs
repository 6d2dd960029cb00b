//! Operations of StableHLO and CHLO whose meaning is one operation of a program.

use std::sync::LazyLock;

use super::attributes::{convolution_dims, convolution_window, dot_dims, gather_dims, plain_window, scatter_dims};
use super::dynamic;
use super::syntax::{Attribute, Operation};
use super::values::attribute;
use crate::hlo::comparison;
use ns_base::convert::{i64_to_f32, usize_to_i64, usize_to_u32};
use ns_base::{Refusal, refuse};
use ns_program::{Binary, DotDims, Foreign, Op, OperatorKind as Kind, Type, Unary};

/// Makes the operation for these operand types.
type Read = fn(&Operation<'_>, &[&Type]) -> Result<Op, Refusal>;

/// Operations that are no function of one or two operands.
const OPS: &[(&str, Kind, Read)] = &[
    ("after_all", Kind::Control, |_, _| Ok(Op::Barrier)),
    ("all_gather", Kind::Collective, collective),
    ("all_reduce", Kind::Collective, collective),
    ("all_to_all", Kind::Collective, collective),
    ("batch_norm_grad", Kind::Norm, |o, _| {
        Ok(Op::BatchNormGrad { epsilon: epsilon(o), feature: o.number("feature_index")? })
    }),
    ("batch_norm_inference", Kind::Norm, |o, _| {
        Ok(Op::BatchNormInference { epsilon: epsilon(o), feature: o.number("feature_index")? })
    }),
    ("batch_norm_training", Kind::Norm, |o, _| {
        Ok(Op::BatchNormTraining { epsilon: epsilon(o), feature: o.number("feature_index")? })
    }),
    ("bitcast_convert", Kind::Elementwise, |_, _| Ok(Op::BitcastConvert)),
    ("broadcast", Kind::Movement, |o, operands| {
        let name = if o.attribute("sizes").is_some() { "sizes" } else { "broadcast_sizes" };
        let added = usize_to_u32(o.sizes(name)?.len());
        Ok(Op::Broadcast { dimensions: (added..added + usize_to_u32(rank(operands, 0))).collect() })
    }),
    ("broadcast_in_dim", Kind::Movement, |o, _| {
        Ok(Op::Broadcast { dimensions: either(o, "dims", "broadcast_dimensions")? })
    }),
    ("clamp", Kind::Elementwise, |_, _| Ok(Op::Clamp)),
    ("collective_broadcast", Kind::Collective, collective),
    ("collective_permute", Kind::Collective, collective),
    ("compare", Kind::Elementwise, |o, _| Ok(Op::Compare(comparison(direction(o))?))),
    ("concatenate", Kind::Movement, |o, _| Ok(Op::Concatenate { dimension: dimension(o, &["dim", "dimension"])? })),
    ("convert", Kind::Elementwise, |_, _| Ok(Op::Convert)),
    ("convolution", Kind::Product, convolution),
    ("copy", Kind::Control, |_, _| Ok(Op::Barrier)),
    ("create_token", Kind::Control, |_, _| Ok(Op::Barrier)),
    ("dot", Kind::Product, |_, operands| Ok(Op::Dot(plain_dot(operands)?))),
    ("dot_general", Kind::Product, |o, _| Ok(Op::Dot(dot_dims(o)?))),
    ("dynamic_slice", Kind::Indexing, |o, _| {
        let sizes = o.sizes("sizes")?;
        Ok(Op::DynamicSlice { sizes: if sizes.is_empty() { o.sizes("slice_sizes")? } else { sizes } })
    }),
    ("dynamic_update_slice", Kind::Indexing, |_, _| Ok(Op::DynamicUpdateSlice)),
    ("fft", Kind::Function, |o, _| Ok(Op::Fft { kind: fft_kind(o), length: fft_length(o)? })),
    ("gather", Kind::Indexing, |o, _| Ok(Op::Gather(gather_dims(o, o.sizes("slice_sizes")?)?))),
    ("get_dimension_size", Kind::Control, |o, _| {
        Ok(Op::GetDimensionSize { dimension: dimension(o, &["dimension", "dim"])? })
    }),
    ("get_tuple_element", Kind::Control, |o, _| Ok(Op::GetTupleElement(tuple_index(o)?))),
    ("iota", Kind::Creation, |o, _| Ok(Op::Iota { dimension: dimension(o, &["dim", "iota_dimension"])? })),
    ("map", Kind::Elementwise, |_, _| Ok(Op::Map)),
    ("optimization_barrier", Kind::Control, |_, _| Ok(Op::Barrier)),
    ("pad", Kind::Movement, |o, _| {
        let side = |short: &str, long: &str| {
            let numbers = o.list(short);
            if numbers.is_empty() { o.list(long) } else { numbers }
        };
        let interior = super::attributes::sizes(&side("interior", "interior_padding"))?;
        Ok(Op::Pad { low: side("low", "edge_padding_low"), high: side("high", "edge_padding_high"), interior })
    }),
    ("partition_id", Kind::Collective, collective),
    ("reduce", Kind::Reduction, |o, _| Ok(Op::Reduce { dimensions: o.naturals("dimensions")? })),
    ("reduce_precision", Kind::Elementwise, |o, _| reduce_precision(o)),
    ("reduce_scatter", Kind::Collective, collective),
    ("reduce_window", Kind::Window, |o, operands| Ok(Op::ReduceWindow { window: plain_window(o, rank(operands, 0))? })),
    ("replica_id", Kind::Collective, collective),
    ("reshape", Kind::Movement, |_, _| Ok(Op::Reshape)),
    ("reverse", Kind::Movement, |o, _| Ok(Op::Reverse { dimensions: either(o, "dims", "dimensions")? })),
    ("rng", Kind::Creation, |o, _| Ok(Op::Rng { distribution: random(o, ["distribution", "rng_distribution"]) })),
    ("rng_bit_generator", Kind::Creation, |o, _| {
        Ok(Op::RngBitGenerator { algorithm: random(o, ["algorithm", "rng_algorithm"]) })
    }),
    ("scatter", Kind::Indexing, |o, _| Ok(Op::Scatter(scatter_dims(o)?))),
    ("select", Kind::Elementwise, |_, _| Ok(Op::Select)),
    ("select_and_scatter", Kind::Window, |o, operands| {
        Ok(Op::SelectAndScatter { window: plain_window(o, rank(operands, 0))? })
    }),
    ("slice", Kind::Movement, |o, _| slice(o)),
    ("sort", Kind::Order, sort),
    ("top_k", Kind::Order, |o, _| Ok(Op::TopK { k: u64::from(o.number("k")?), is_largest: true })),
    ("transpose", Kind::Movement, |o, _| Ok(Op::Transpose { permutation: either(o, "dims", "permutation")? })),
    ("tuple", Kind::Control, |_, _| Ok(Op::Tuple)),
];

/// Operations that take more than one operation of a program, and are made elsewhere.
const COMPOSED: [(&str, Kind); 6] = [
    ("case", Kind::Control),
    ("composite", Kind::Control),
    ("constant", Kind::Creation),
    ("custom_call", Kind::Control),
    ("if", Kind::Control),
    ("while", Kind::Control),
];

/// Functions of one and two operands: their names are those of HLO with `_` for `-`.
static FUNCTIONS: LazyLock<Vec<(String, Op)>> = LazyLock::new(|| {
    let unary = Unary::ALL.into_iter().map(|f| (f.name(), Op::Unary(f)));
    let binary = Binary::ALL.map(|f| (f.name(), Op::Binary(f)));
    unary.chain(binary).map(|(name, op)| (name.replace('-', "_"), op)).collect()
});

/// The operations that are read, each with its kind of work.
pub(crate) fn operators() -> impl Iterator<Item = (&'static str, Kind)> {
    let functions = FUNCTIONS.iter().filter_map(|(name, op)| Some((name.as_str(), Kind::of(op)?)));
    let others = OPS.iter().map(|(name, kind, _)| (*name, *kind)).chain(COMPOSED);
    functions.chain(others).chain(dynamic::OPS.iter().map(|(name, kind, _)| (*name, *kind)))
}

/// The operation for these operand types; `None` if more than one operation is needed.
pub(super) fn op_of(operation: &Operation<'_>, operands: &[&Type]) -> Result<Option<Op>, Refusal> {
    let (dialect, name) = operation.name.split_once('.').unwrap_or(("", &operation.name));
    if !matches!(dialect, "stablehlo" | "mhlo" | "chlo") {
        return Ok(Some(foreign(operation)));
    }
    if COMPOSED.iter().any(|(known, _)| *known == name) {
        return Ok(None);
    }
    if let Some((.., read)) = OPS.iter().find(|(known, ..)| *known == name) {
        return read(operation, operands).map(Some);
    }
    let function = FUNCTIONS.iter().find(|(known, _)| known == name).map(|(_, op)| op.clone());
    Ok(Some(function.unwrap_or_else(|| foreign(operation))))
}

fn collective(operation: &Operation<'_>, _: &[&Type]) -> Result<Op, Refusal> {
    let name = operation.name.split_once('.').map_or("", |(_, name)| name);
    Ok(Op::Collective(Foreign { name: name.replace('_', "-"), config: String::new() }))
}

fn epsilon(operation: &Operation<'_>) -> f32 {
    match operation.attribute("epsilon") {
        Some(Attribute::Real(epsilon)) => *epsilon,
        // `0 : f32`
        Some(&Attribute::Whole(n)) => i64_to_f32(n),
        _ => 0.0,
    }
}

fn foreign(operation: &Operation<'_>) -> Op {
    Op::Opaque(Foreign { name: operation.name.clone(), config: String::new() })
}

fn rank(operands: &[&Type], i: usize) -> usize {
    operands.get(i).and_then(|t| t.array()).map_or(0, |a| a.dims.len())
}

pub(super) fn either(operation: &Operation<'_>, short: &str, long: &str) -> Result<Vec<u32>, Refusal> {
    operation.naturals(if operation.attribute(short).is_some() { short } else { long })
}

pub(super) fn dimension(operation: &Operation<'_>, names: &[&'static str]) -> Result<u32, Refusal> {
    let name = names.iter().find(|name| operation.attribute(name).is_some()).unwrap_or(&names[0]);
    operation.number(name)
}

fn direction<'a>(operation: &Operation<'a>) -> &'a str {
    operation.text("comparison_direction").or(operation.words.first().copied()).unwrap_or("")
}

/// Whether a comparison uses the total order.
pub(super) fn is_total_order(operation: &Operation<'_>) -> bool {
    operation.text("compare_type") == Some("TOTALORDER") || operation.words.contains(&"TOTALORDER")
}

/// `format = e5m10`.
fn reduce_precision(operation: &Operation<'_>) -> Result<Op, Refusal> {
    if let Some((exponent, mantissa)) =
        operation.text("format").and_then(|f| f.strip_prefix('e')).and_then(|f| f.split_once('m'))
    {
        let bits = |text: &str| text.parse().map_err(|_| refuse!("its format has {text:?} bits"));
        return Ok(Op::ReducePrecision { exponent_bits: bits(exponent)?, mantissa_bits: bits(mantissa)? });
    }
    Ok(Op::ReducePrecision {
        exponent_bits: operation.number("exponent_bits")?,
        mantissa_bits: operation.number("mantissa_bits")?,
    })
}

fn tuple_index(operation: &Operation<'_>) -> Result<u32, Refusal> {
    if operation.attribute("index").is_some() {
        return operation.number("index");
    }
    let word = operation.words.iter().find(|w| w.starts_with('[')).copied().unwrap_or("");
    super::attributes::naturals(&attribute(word).numbers())?.first().copied().ok_or_else(|| refuse!("it has no index"))
}

/// A product of the left side's last dimension and the right side's first dimension after the batches.
fn plain_dot(operands: &[&Type]) -> Result<DotDims, Refusal> {
    let left = rank(operands, 0).checked_sub(1).ok_or_else(|| refuse!("its left side is one number"))?;
    Ok(DotDims { lhs_contracting: vec![usize_to_u32(left)], rhs_contracting: vec![0], ..DotDims::default() })
}

pub(super) fn convolution(operation: &Operation<'_>, operands: &[&Type]) -> Result<Op, Refusal> {
    let dims = convolution_dims(operation)?;
    let kernel = operands.get(1).and_then(|t| t.array()).ok_or_else(|| refuse!("it has no kernel"))?;
    let size = |&d: &u32| kernel.dims.get(d as usize).copied().unwrap_or(1);
    let window = convolution_window(operation, &dims.kernel.2.iter().map(size).collect::<Vec<u64>>())?;
    let groups = |name: &'static str| match operation.attribute(name) {
        Some(_) => operation.number(name).map(u64::from),
        None => Ok(1),
    };
    Ok(Op::Convolution {
        window,
        dims,
        feature_group_count: groups("feature_group_count")?,
        batch_group_count: groups("batch_group_count")?,
    })
}

fn sort(operation: &Operation<'_>, operands: &[&Type]) -> Result<Op, Refusal> {
    let last = usize_to_i64(rank(operands, 0)) - 1;
    let dimension = match operation.list("dimension").first().copied() {
        None | Some(-1) => last,
        Some(d) => d,
    };
    let dimension = u32::try_from(dimension).map_err(|_| refuse!("it sorts along dimension {dimension}"))?;
    Ok(Op::Sort { dimension, is_stable: operation.list("is_stable").first() == Some(&1) })
}

/// `[0:2, 1:16:2]`, or lists of starts, limits and strides.
fn slice(operation: &Operation<'_>) -> Result<Op, Refusal> {
    let Some(ranges) = operation.words.iter().find(|w| w.starts_with('[')) else {
        let (starts, limits) = (operation.sizes("start_indices")?, operation.sizes("limit_indices")?);
        return Ok(Op::Slice { starts, limits, strides: operation.sizes("strides")? });
    };
    let (mut starts, mut limits, mut strides) = (Vec::new(), Vec::new(), Vec::new());
    for range in ranges.trim_matches(['[', ']']).split(',').filter(|r| !r.trim().is_empty()) {
        let numbers: Option<Vec<u64>> = range.split(':').map(|n| n.trim().parse().ok()).collect();
        let (start, limit, stride) = match numbers.as_deref() {
            Some([start, limit]) => (*start, *limit, 1),
            Some([start, limit, stride]) => (*start, *limit, *stride),
            _ => return Err(refuse!("its range is {range:?}")),
        };
        starts.push(start);
        limits.push(limit);
        strides.push(stride);
    }
    Ok(Op::Slice { starts, limits, strides })
}

fn fft_kind(operation: &Operation<'_>) -> String {
    operation.text("type").or_else(|| operation.text("fft_type")).unwrap_or_default().to_owned()
}

fn fft_length(operation: &Operation<'_>) -> Result<Vec<u64>, Refusal> {
    operation.sizes(if operation.attribute("length").is_some() { "length" } else { "fft_length" })
}

/// `rng_uniform`, `rng_three_fry`: the word under the short or the long name of the attribute.
fn random(operation: &Operation<'_>, names: [&str; 2]) -> String {
    let word = names.iter().find_map(|name| operation.text(name));
    format!("rng_{}", word.unwrap_or_default().to_lowercase())
}
