//! Operations of StableHLO and CHLO whose meaning is one operation of a program.

use super::attributes::{convolution_dims, convolution_window, dot_dims, gather_dims, plain_window, scatter_dims};
use super::syntax::Operation;
use crate::attribute::AttributeError;
use crate::calls;
use crate::hlo::comparison;
use crate::program::{Binary, DotDims, Foreign, Op, Type, Unary};
use ns_base::convert::{narrow, signed_len};

/// The operation for these operand types; `None` if more than one operation is needed.
pub(super) fn op_of(operation: &Operation<'_>, operands: &[&Type]) -> Result<Option<Op>, AttributeError> {
    let (dialect, name) = operation.name.split_once('.').unwrap_or(("", &operation.name));
    if !matches!(dialect, "stablehlo" | "mhlo" | "chlo") {
        return Ok(Some(foreign(operation)));
    }
    if let Some(f) = unary(name, operands) {
        return Ok(Some(Op::Unary(f)));
    }
    if let Some(f) = binary(name) {
        return Ok(Some(Op::Binary(f)));
    }
    Ok(Some(match name {
        "compare" => Op::Compare(comparison(&direction(operation))?),
        "select" => Op::Select,
        "clamp" => Op::Clamp,
        "convert" => Op::Convert,
        "bitcast_convert" => Op::BitcastConvert,
        "reduce_precision" => reduce_precision(operation)?,
        "tuple" => Op::Tuple,
        "get_tuple_element" => Op::GetTupleElement(tuple_index(operation)?),
        "optimization_barrier" | "copy" | "after_all" | "create_token" => Op::Barrier,
        "dot_general" => Op::Dot(dot_dims(operation)?),
        "dot" => Op::Dot(plain_dot(operands)?),
        "convolution" => convolution(operation, operands)?,
        "reduce" => Op::Reduce { dimensions: operation.naturals("dimensions")? },
        "reduce_window" => Op::ReduceWindow { window: plain_window(operation, rank(operands, 0))? },
        "select_and_scatter" => Op::SelectAndScatter { window: plain_window(operation, rank(operands, 0))? },
        "sort" => sort(operation, operands)?,
        "top_k" => Op::TopK { k: u64::from(operation.number("k")?), is_largest: true },
        "gather" => Op::Gather(gather_dims(operation, operation.sizes("slice_sizes")?)?),
        "scatter" => Op::Scatter(scatter_dims(operation)?),
        "fft" => Op::Fft { kind: fft_kind(operation), length: fft_length(operation)? },
        "rng" => Op::Rng { distribution: distribution(operation) },
        "rng_bit_generator" => Op::RngBitGenerator { algorithm: algorithm(operation) },
        "get_dimension_size" => Op::GetDimensionSize { dimension: dimension(operation, &["dimension", "dim"])? },
        "map" => Op::Map,
        "all_reduce"
        | "all_gather"
        | "all_to_all"
        | "reduce_scatter"
        | "collective_permute"
        | "collective_broadcast"
        | "partition_id"
        | "replica_id" => Op::Collective(Foreign { name: name.replace('_', "-"), config: String::new() }),
        _ => return layout(name, operation, operands),
    }))
}

/// Operations that move elements, and normalisations.
fn layout(name: &str, operation: &Operation<'_>, operands: &[&Type]) -> Result<Option<Op>, AttributeError> {
    let epsilon =
        || operation.attribute("epsilon").and_then(|e| e.split(' ').next()?.parse::<f32>().ok()).unwrap_or(0.0);
    let feature = || operation.number("feature_index");
    Ok(Some(match name {
        "iota" => Op::Iota { dimension: dimension(operation, &["dim", "iota_dimension"])? },
        "broadcast_in_dim" => Op::Broadcast { dimensions: either(operation, "dims", "broadcast_dimensions")? },
        "broadcast" => {
            let name = if operation.attribute("sizes").is_some() { "sizes" } else { "broadcast_sizes" };
            let added = narrow(operation.sizes(name)?.len());
            Op::Broadcast { dimensions: (added..added + narrow(rank(operands, 0))).collect() }
        }
        "reshape" => Op::Reshape,
        "transpose" => Op::Transpose { permutation: either(operation, "dims", "permutation")? },
        "reverse" => Op::Reverse { dimensions: either(operation, "dims", "dimensions")? },
        "concatenate" => Op::Concatenate { dimension: dimension(operation, &["dim", "dimension"])? },
        "slice" => slice(operation)?,
        "pad" => {
            let side = |short: &str, long: &str| match operation.list(short) {
                found if found.is_empty() => operation.list(long),
                found => found,
            };
            let interior = super::attributes::sizes(&side("interior", "interior_padding"))?;
            Op::Pad { low: side("low", "edge_padding_low"), high: side("high", "edge_padding_high"), interior }
        }
        "dynamic_slice" => Op::DynamicSlice {
            sizes: match operation.sizes("sizes")? {
                found if found.is_empty() => operation.sizes("slice_sizes")?,
                found => found,
            },
        },
        "dynamic_update_slice" => Op::DynamicUpdateSlice,
        "batch_norm_inference" => Op::BatchNormInference { epsilon: epsilon(), feature: feature()? },
        "batch_norm_training" => Op::BatchNormTraining { epsilon: epsilon(), feature: feature()? },
        "batch_norm_grad" => Op::BatchNormGrad { epsilon: epsilon(), feature: feature()? },
        "constant" | "while" | "case" | "if" | "custom_call" | "composite" => return Ok(None),
        _ => foreign(operation),
    }))
}

fn foreign(operation: &Operation<'_>) -> Op {
    Op::Opaque(Foreign { name: operation.name.clone(), config: String::new() })
}

fn rank(operands: &[&Type], i: usize) -> usize {
    operands.get(i).and_then(|t| t.array()).map_or(0, |a| a.dims.len())
}

fn either(operation: &Operation<'_>, short: &str, long: &str) -> Result<Vec<u32>, AttributeError> {
    operation.naturals(if operation.attribute(short).is_some() { short } else { long })
}

fn dimension(operation: &Operation<'_>, names: &[&'static str]) -> Result<u32, AttributeError> {
    let name = names.iter().find(|name| operation.attribute(name).is_some()).unwrap_or(&names[0]);
    operation.number(name)
}

/// The last word of an enumeration: `#stablehlo<comparison_direction LT>` or `LT`.
fn last_word(value: &str) -> String {
    value.trim_end_matches('>').rsplit([' ', '<']).next().unwrap_or("").to_owned()
}

fn direction(operation: &Operation<'_>) -> String {
    match operation.attribute("comparison_direction") {
        Some(value) => last_word(value),
        None => operation.words.first().map(|w| (*w).to_owned()).unwrap_or_default(),
    }
}

/// Whether a comparison uses the total order.
pub(super) fn is_total_order(operation: &Operation<'_>) -> bool {
    let compared = operation.attribute("compare_type").is_some_and(|value| last_word(value) == "TOTALORDER");
    compared || operation.words.contains(&"TOTALORDER")
}

/// `format = e5m10`.
fn reduce_precision(operation: &Operation<'_>) -> Result<Op, AttributeError> {
    if let Some((exponent, mantissa)) =
        operation.attribute("format").and_then(|f| f.strip_prefix('e')).and_then(|f| f.split_once('m'))
    {
        let bits = |text: &str| text.parse().map_err(|_| AttributeError::Format(text.to_owned()));
        return Ok(Op::ReducePrecision { exponent_bits: bits(exponent)?, mantissa_bits: bits(mantissa)? });
    }
    Ok(Op::ReducePrecision {
        exponent_bits: operation.number("exponent_bits")?,
        mantissa_bits: operation.number("mantissa_bits")?,
    })
}

fn tuple_index(operation: &Operation<'_>) -> Result<u32, AttributeError> {
    if operation.attribute("index").is_some() {
        return operation.number("index");
    }
    let word = operation.words.iter().find(|w| w.starts_with('[')).copied().unwrap_or("");
    super::attributes::naturals(&super::attributes::list(word))?
        .first()
        .copied()
        .ok_or(AttributeError::Missing("index"))
}

/// A product of the left side's last dimension and the right side's first dimension after the batches.
fn plain_dot(operands: &[&Type]) -> Result<DotDims, AttributeError> {
    let left = rank(operands, 0).checked_sub(1).ok_or(AttributeError::NumberOnTheLeft)?;
    Ok(DotDims { lhs_contracting: vec![narrow(left)], rhs_contracting: vec![0], ..DotDims::default() })
}

pub(super) fn convolution(operation: &Operation<'_>, operands: &[&Type]) -> Result<Op, AttributeError> {
    let dims = convolution_dims(operation)?;
    let kernel = operands.get(1).and_then(|t| t.array()).ok_or(AttributeError::Missing("kernel"))?;
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

fn sort(operation: &Operation<'_>, operands: &[&Type]) -> Result<Op, AttributeError> {
    let last = signed_len(rank(operands, 0)) - 1;
    let dimension = match operation.list("dimension").first().copied() {
        None | Some(-1) => last,
        Some(d) => d,
    };
    let dimension = u32::try_from(dimension).map_err(|_| AttributeError::SortDimension(dimension))?;
    Ok(Op::Sort { dimension, is_stable: operation.attribute("is_stable").is_some_and(|v| v.starts_with("true")) })
}

/// `[0:2, 1:16:2]`, or lists of starts, limits and strides.
fn slice(operation: &Operation<'_>) -> Result<Op, AttributeError> {
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
            _ => return Err(AttributeError::Text { name: "range", text: range.to_owned() }),
        };
        starts.push(start);
        limits.push(limit);
        strides.push(stride);
    }
    Ok(Op::Slice { starts, limits, strides })
}

fn fft_kind(operation: &Operation<'_>) -> String {
    operation.attribute("type").or_else(|| operation.attribute("fft_type")).map(last_word).unwrap_or_default()
}

fn fft_length(operation: &Operation<'_>) -> Result<Vec<u64>, AttributeError> {
    operation.sizes(if operation.attribute("length").is_some() { "length" } else { "fft_length" })
}

fn distribution(operation: &Operation<'_>) -> String {
    let word = operation.attribute("distribution").or_else(|| operation.attribute("rng_distribution")).map(last_word);
    format!("rng_{}", word.unwrap_or_default().to_lowercase())
}

fn algorithm(operation: &Operation<'_>) -> String {
    let word = operation.attribute("algorithm").or_else(|| operation.attribute("rng_algorithm")).map(last_word);
    format!("rng_{}", word.unwrap_or_default().to_lowercase())
}

fn binary(name: &str) -> Option<Binary> {
    Some(match name {
        "add" => Binary::Add,
        "subtract" => Binary::Sub,
        "multiply" => Binary::Mul,
        "divide" => Binary::Div,
        "remainder" => Binary::Rem,
        "maximum" => Binary::Max,
        "minimum" => Binary::Min,
        "power" => Binary::Pow,
        "atan2" => Binary::Atan2,
        "and" => Binary::And,
        "or" => Binary::Or,
        "xor" => Binary::Xor,
        "shift_left" => Binary::ShiftLeft,
        "shift_right_arithmetic" => Binary::ShiftRightArithmetic,
        "shift_right_logical" => Binary::ShiftRightLogical,
        "complex" => Binary::Complex,
        _ => return None,
    })
}

fn unary(name: &str, operands: &[&Type]) -> Option<Unary> {
    Some(match name {
        "abs" => Unary::Abs,
        "cbrt" => Unary::Cbrt,
        "ceil" => Unary::Ceil,
        "cosine" => Unary::Cos,
        "count_leading_zeros" => Unary::Clz,
        "exponential" => Unary::Exp,
        "exponential_minus_one" => Unary::ExpM1,
        "floor" => Unary::Floor,
        "imag" => Unary::Imag,
        "is_finite" => Unary::IsFinite,
        "log" => Unary::Log,
        "log_plus_one" => Unary::Log1p,
        "logistic" => Unary::Logistic,
        "negate" => Unary::Neg,
        "not" => Unary::Not,
        "popcnt" => Unary::PopulationCount,
        "real" => Unary::Real,
        "round_nearest_afz" => Unary::RoundHalfAway,
        "round_nearest_even" => Unary::RoundHalfEven,
        "rsqrt" => Unary::Rsqrt,
        "sign" => Unary::Sign,
        "sine" => Unary::Sin,
        "sqrt" => Unary::Sqrt,
        "tanh" => Unary::Tanh,
        "conj" if operands.first()?.array()?.element.is_float() => return None,
        _ => return calls::function(name),
    })
}

/// The kind of work of an operation; `None` if it is unknown. The operation is tried without attributes; if it then lacks an attribute, its
/// kind is the kind of the same opcode in HLO.
#[cfg(test)]
pub(crate) fn kind_of_operation(name: &str) -> Option<crate::OperatorKind> {
    use super::syntax::Location;
    use crate::OperatorKind;
    let operation = Operation {
        name: format!("stablehlo.{name}"),
        results: Vec::new(),
        operands: Vec::new(),
        attributes: Vec::new(),
        words: Vec::new(),
        regions: Vec::new(),
        types: Vec::new(),
        location: Location::default(),
        at: 0,
    };
    let plain = match name {
        "dynamic_conv" => "convolution",
        "real_dynamic_slice" => "dynamic_slice",
        _ => name.trim_start_matches("dynamic_").trim_end_matches("_in_dim").trim_end_matches("_general"),
    };
    let of_hlo = || crate::hlo::kind_of_opcode(&plain.replace('_', "-"));
    match op_of(&operation, &[]) {
        Ok(Some(Op::Opaque(_))) if super::dynamic::is_known(&operation) => of_hlo(),
        Ok(Some(op)) => OperatorKind::of(&op),
        Ok(None) => Some(if name == "constant" { OperatorKind::Creation } else { OperatorKind::Control }),
        Err(_) => of_hlo(),
    }
}
