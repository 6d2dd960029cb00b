//! Opcodes of HLO and what they mean.

use super::raw::{IndexDims, RawInstruction, Settings};
use crate::attribute::AttributeError;
use crate::program::{Binary, Comparison, ConvolutionDims, Foreign, GatherDims, Op, ScatterDims, Unary, WindowDim};

/// The operation of an instruction; constants and parameters are made elsewhere.
///
/// # Errors
/// When a required setting is missing or negative.
pub(super) fn op_of(raw: &RawInstruction) -> Result<Op, AttributeError> {
    if let Some(unary) = unary(&raw.opcode) {
        return Ok(Op::Unary(unary));
    }
    if let Some(binary) = binary(&raw.opcode) {
        return Ok(Op::Binary(binary));
    }
    let s = &raw.settings;
    Ok(match raw.opcode.as_str() {
        "compare" => Op::Compare(comparison(&s.direction)?),
        "select" => Op::Select,
        "clamp" => Op::Clamp,
        "convert" => Op::Convert,
        "bitcast-convert" => Op::BitcastConvert,
        "reduce-precision" => {
            Op::ReducePrecision { exponent_bits: natural(s.precision.0)?, mantissa_bits: natural(s.precision.1)? }
        }
        "tuple" => Op::Tuple,
        "get-tuple-element" => Op::GetTupleElement(natural(s.tuple_index)?),
        "call" | "fusion" => Op::Call,
        "while" => Op::While,
        "conditional" => Op::Conditional,
        "map" => Op::Map,
        "copy" | "optimization-barrier" | "opt-barrier" | "after-all" | "domain" => Op::Barrier,
        "custom-call" => Op::CustomCall(Foreign { name: s.target.clone(), config: s.config.clone() }),
        "dot" => Op::Dot(s.dot.clone().ok_or(AttributeError::Missing("dimensions of a product"))?),
        "convolution" => convolution(s)?,
        "reduce" => Op::Reduce { dimensions: naturals(&s.dimensions)? },
        "reduce-window" => Op::ReduceWindow { window: s.window.clone() },
        "select-and-scatter" => Op::SelectAndScatter { window: s.window.clone() },
        "sort" => Op::Sort { dimension: first(&s.dimensions)?, is_stable: s.is_stable },
        "topk" => Op::TopK { k: size(s.k)?, is_largest: !s.is_smallest },
        "gather" => Op::Gather(gather(&s.index_dims, &s.sizes)?),
        "scatter" => Op::Scatter(scatter(&s.index_dims)?),
        "fft" => Op::Fft { kind: s.fft_kind.clone(), length: sizes(&s.fft_length)? },
        "rng" => Op::Rng { distribution: s.distribution.clone() },
        "rng-bit-generator" => Op::RngBitGenerator { algorithm: s.algorithm.clone() },
        "get-dimension-size" => Op::GetDimensionSize { dimension: first(&s.dimensions)? },
        name if is_collective(name) => Op::Collective(Foreign { name: name.to_owned(), config: s.config.clone() }),
        _ => return layout(raw),
    })
}

/// Operations that move elements, normalisations, and unknown operations.
fn layout(raw: &RawInstruction) -> Result<Op, AttributeError> {
    let s = &raw.settings;
    Ok(match raw.opcode.as_str() {
        "iota" => Op::Iota { dimension: first(&s.dimensions)? },
        "broadcast" => Op::Broadcast { dimensions: naturals(&s.dimensions)? },
        "reshape" => Op::Reshape,
        "bitcast" if raw.is_row_major => Op::Reshape,
        "transpose" => Op::Transpose { permutation: naturals(&s.dimensions)? },
        "reverse" => Op::Reverse { dimensions: naturals(&s.dimensions)? },
        "concatenate" => Op::Concatenate { dimension: first(&s.dimensions)? },
        "slice" => Op::Slice { starts: sizes(&s.starts)?, limits: sizes(&s.limits)?, strides: sizes(&s.strides)? },
        "pad" => {
            let side = |i: usize| s.padding.iter().map(|p| p[i]).collect::<Vec<i64>>();
            Op::Pad { low: side(0), high: side(1), interior: sizes(&side(2))? }
        }
        "dynamic-slice" => Op::DynamicSlice { sizes: sizes(&s.sizes)? },
        "dynamic-update-slice" => Op::DynamicUpdateSlice,
        "batch-norm-inference" => Op::BatchNormInference { epsilon: s.epsilon, feature: natural(s.feature_index)? },
        "batch-norm-training" => Op::BatchNormTraining { epsilon: s.epsilon, feature: natural(s.feature_index)? },
        "batch-norm-grad" => Op::BatchNormGrad { epsilon: s.epsilon, feature: natural(s.feature_index)? },
        name => Op::Opaque(Foreign { name: name.to_owned(), config: s.config.clone() }),
    })
}

fn natural(n: i64) -> Result<u32, AttributeError> {
    u32::try_from(n).map_err(|_| AttributeError::Natural(n))
}

fn naturals(list: &[i64]) -> Result<Vec<u32>, AttributeError> {
    list.iter().map(|&n| natural(n)).collect()
}

fn first(list: &[i64]) -> Result<u32, AttributeError> {
    natural(list.first().copied().unwrap_or(0))
}

fn size(n: i64) -> Result<u64, AttributeError> {
    u64::try_from(n).map_err(|_| AttributeError::Size(n))
}

fn sizes(list: &[i64]) -> Result<Vec<u64>, AttributeError> {
    list.iter().map(|&n| size(n)).collect()
}

/// The comparison for `EQ`, `NE`, `GE`, `GT`, `LE`, `LT`.
pub(crate) fn comparison(direction: &str) -> Result<Comparison, AttributeError> {
    Ok(match direction {
        "EQ" => Comparison::Eq,
        "NE" => Comparison::Ne,
        "GE" => Comparison::Ge,
        "GT" => Comparison::Gt,
        "LE" => Comparison::Le,
        "LT" => Comparison::Lt,
        other => return Err(AttributeError::Direction(other.to_owned())),
    })
}

fn convolution(s: &Settings) -> Result<Op, AttributeError> {
    let side =
        |(a, b, rest): &(i64, i64, Vec<i64>)| Ok::<_, AttributeError>((natural(*a)?, natural(*b)?, naturals(rest)?));
    let dims = ConvolutionDims {
        input: side(&s.convolution.input)?,
        kernel: side(&s.convolution.kernel)?,
        output: side(&s.convolution.output)?,
    };
    let spatial = dims.kernel.2.len();
    let window = if s.window.is_empty() { vec![WindowDim::ONE; spatial] } else { s.window.clone() };
    // In files from before 2019, XLA writes a group count of 0 for one group.
    let groups = |n: Option<i64>| size(n.filter(|&n| n != 0).unwrap_or(1));
    Ok(Op::Convolution {
        window,
        dims,
        feature_group_count: groups(s.feature_groups)?,
        batch_group_count: groups(s.batch_groups)?,
    })
}

fn gather(dims: &IndexDims, slices: &[i64]) -> Result<GatherDims, AttributeError> {
    Ok(GatherDims {
        offset_dims: naturals(&dims.window)?,
        collapsed_slice_dims: naturals(&dims.dropped)?,
        start_index_map: naturals(&dims.map)?,
        index_vector_dim: natural(dims.vector)?,
        operand_batching_dims: naturals(&dims.batch)?,
        start_indices_batching_dims: naturals(&dims.indices_batch)?,
        slice_sizes: sizes(slices)?,
    })
}

fn scatter(dims: &IndexDims) -> Result<ScatterDims, AttributeError> {
    Ok(ScatterDims {
        update_window_dims: naturals(&dims.window)?,
        inserted_window_dims: naturals(&dims.dropped)?,
        scatter_dims_to_operand_dims: naturals(&dims.map)?,
        index_vector_dim: natural(dims.vector)?,
        input_batching_dims: naturals(&dims.batch)?,
        scatter_indices_batching_dims: naturals(&dims.indices_batch)?,
    })
}

/// Operations between cores.
fn is_collective(opcode: &str) -> bool {
    let base = opcode.trim_end_matches("-start").trim_end_matches("-done");
    matches!(
        base,
        "all-reduce"
            | "all-gather"
            | "all-to-all"
            | "reduce-scatter"
            | "collective-permute"
            | "collective-broadcast"
            | "ragged-all-to-all"
            | "partition-id"
            | "replica-id"
    )
}

/// Functions of one operand under HLO's names.
const UNARY: &[(&str, Unary)] = &[
    ("abs", Unary::Abs),
    ("acos", Unary::Acos),
    ("acosh", Unary::Acosh),
    ("asin", Unary::Asin),
    ("asinh", Unary::Asinh),
    ("atan", Unary::Atan),
    ("atanh", Unary::Atanh),
    ("cbrt", Unary::Cbrt),
    ("ceil", Unary::Ceil),
    ("cosh", Unary::Cosh),
    ("sinh", Unary::Sinh),
    ("cosine", Unary::Cos),
    ("count-leading-zeros", Unary::Clz),
    ("erf", Unary::Erf),
    ("exponential", Unary::Exp),
    ("exponential-minus-one", Unary::ExpM1),
    ("floor", Unary::Floor),
    ("imag", Unary::Imag),
    ("is-finite", Unary::IsFinite),
    ("log", Unary::Log),
    ("log-plus-one", Unary::Log1p),
    ("logistic", Unary::Logistic),
    ("negate", Unary::Neg),
    ("not", Unary::Not),
    ("popcnt", Unary::PopulationCount),
    ("real", Unary::Real),
    ("round-nearest-afz", Unary::RoundHalfAway),
    ("round-nearest-even", Unary::RoundHalfEven),
    ("rsqrt", Unary::Rsqrt),
    ("sign", Unary::Sign),
    ("sine", Unary::Sin),
    ("sqrt", Unary::Sqrt),
    ("tan", Unary::Tan),
    ("tanh", Unary::Tanh),
];

/// Functions of two operands under HLO's names.
const BINARY: &[(&str, Binary)] = &[
    ("add", Binary::Add),
    ("subtract", Binary::Sub),
    ("multiply", Binary::Mul),
    ("divide", Binary::Div),
    ("remainder", Binary::Rem),
    ("maximum", Binary::Max),
    ("minimum", Binary::Min),
    ("power", Binary::Pow),
    ("atan2", Binary::Atan2),
    ("and", Binary::And),
    ("or", Binary::Or),
    ("xor", Binary::Xor),
    ("shift-left", Binary::ShiftLeft),
    ("shift-right-arithmetic", Binary::ShiftRightArithmetic),
    ("shift-right-logical", Binary::ShiftRightLogical),
    ("complex", Binary::Complex),
];

fn unary(opcode: &str) -> Option<Unary> {
    UNARY.iter().find(|(name, _)| *name == opcode).map(|(_, f)| *f)
}

fn binary(opcode: &str) -> Option<Binary> {
    BINARY.iter().find(|(name, _)| *name == opcode).map(|(_, f)| *f)
}

/// HLO's name of a function of one operand.
pub(super) fn unary_name(f: Unary) -> Option<&'static str> {
    UNARY.iter().find(|(_, g)| *g == f).map(|(name, _)| *name)
}

/// HLO's name of a function of two operands.
pub(super) fn binary_name(f: Binary) -> &'static str {
    BINARY.iter().find(|(_, g)| *g == f).map_or("", |(name, _)| *name)
}

/// The kind of work of an opcode; `None` if it is unknown. The opcode is tried with empty settings.
#[cfg(test)]
pub(crate) fn kind_of_opcode(opcode: &str) -> Option<crate::OperatorKind> {
    use crate::Place;
    use crate::program::Type;
    let settings =
        Settings { dot: Some(crate::program::DotDims::default()), direction: "EQ".to_owned(), ..Settings::default() };
    let raw = RawInstruction {
        name: String::new(),
        opcode: opcode.to_owned(),
        ty: Type::Token,
        is_row_major: true,
        operands: Vec::new(),
        called: Vec::new(),
        settings,
        op_type: String::new(),
        op_name: String::new(),
        place: Place::File,
    };
    crate::OperatorKind::of(&op_of(&raw).ok()?)
}
