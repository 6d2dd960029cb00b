//! Opcodes of HLO and what they mean.

use super::raw::{IndexDims, RawInstruction, Settings};
use ns_base::{Refusal, refuse};
use ns_program::{
    Binary, Comparison, ConvolutionDims, Foreign, GatherDims, Op, OperatorKind as Kind, ScatterDims, Unary, WindowDim,
};

/// Makes the operation of an instruction.
type Read = fn(&RawInstruction) -> Result<Op, Refusal>;

/// Opcodes that are no function of one or two operands.
const OPS: &[(&str, Kind, Read)] = &[
    ("after-all", Kind::Control, |_| Ok(Op::Barrier)),
    ("all-gather", Kind::Collective, collective),
    ("all-reduce", Kind::Collective, collective),
    ("all-to-all", Kind::Collective, collective),
    ("batch-norm-grad", Kind::Norm, |i| {
        let (epsilon, feature) = norm(&i.settings)?;
        Ok(Op::BatchNormGrad { epsilon, feature })
    }),
    ("batch-norm-inference", Kind::Norm, |i| {
        let (epsilon, feature) = norm(&i.settings)?;
        Ok(Op::BatchNormInference { epsilon, feature })
    }),
    ("batch-norm-training", Kind::Norm, |i| {
        let (epsilon, feature) = norm(&i.settings)?;
        Ok(Op::BatchNormTraining { epsilon, feature })
    }),
    // In another layout, the elements of a bitcast have another order.
    ("bitcast", Kind::Movement, |i| Ok(if i.is_row_major { Op::Reshape } else { unknown(i) })),
    ("bitcast-convert", Kind::Elementwise, |_| Ok(Op::BitcastConvert)),
    ("broadcast", Kind::Movement, |i| Ok(Op::Broadcast { dimensions: naturals(&i.settings.dimensions)? })),
    ("call", Kind::Control, |_| Ok(Op::Call)),
    ("clamp", Kind::Elementwise, |_| Ok(Op::Clamp)),
    ("collective-broadcast", Kind::Collective, collective),
    ("collective-permute", Kind::Collective, collective),
    ("compare", Kind::Elementwise, |i| Ok(Op::Compare(comparison(&i.settings.direction)?))),
    ("concatenate", Kind::Movement, |i| Ok(Op::Concatenate { dimension: first(&i.settings.dimensions)? })),
    ("conditional", Kind::Control, |_| Ok(Op::Conditional)),
    ("convert", Kind::Elementwise, |_| Ok(Op::Convert)),
    ("convolution", Kind::Product, |i| convolution(&i.settings)),
    ("copy", Kind::Control, |_| Ok(Op::Barrier)),
    ("custom-call", Kind::Function, |i| Ok(Op::CustomCall(foreign(&i.settings.target, i)))),
    ("domain", Kind::Control, |_| Ok(Op::Barrier)),
    ("dot", Kind::Product, |i| {
        i.settings.dot.clone().map(Op::Dot).ok_or_else(|| refuse!("it has no dimensions of a product"))
    }),
    ("dynamic-slice", Kind::Indexing, |i| Ok(Op::DynamicSlice { sizes: sizes(&i.settings.sizes)? })),
    ("dynamic-update-slice", Kind::Indexing, |_| Ok(Op::DynamicUpdateSlice)),
    ("fft", Kind::Function, |i| {
        Ok(Op::Fft { kind: i.settings.fft_kind.clone(), length: sizes(&i.settings.fft_length)? })
    }),
    ("fusion", Kind::Control, |_| Ok(Op::Call)),
    ("gather", Kind::Indexing, |i| Ok(Op::Gather(gather(&i.settings.index_dims, &i.settings.sizes)?))),
    ("get-dimension-size", Kind::Control, |i| Ok(Op::GetDimensionSize { dimension: first(&i.settings.dimensions)? })),
    ("get-tuple-element", Kind::Control, |i| Ok(Op::GetTupleElement(natural(i.settings.tuple_index)?))),
    ("iota", Kind::Creation, |i| Ok(Op::Iota { dimension: first(&i.settings.dimensions)? })),
    ("map", Kind::Elementwise, |_| Ok(Op::Map)),
    ("opt-barrier", Kind::Control, |_| Ok(Op::Barrier)),
    ("optimization-barrier", Kind::Control, |_| Ok(Op::Barrier)),
    ("pad", Kind::Movement, |i| {
        let side = |n: usize| i.settings.padding.iter().map(|p| p[n]).collect::<Vec<i64>>();
        Ok(Op::Pad { low: side(0), high: side(1), interior: sizes(&side(2))? })
    }),
    ("partition-id", Kind::Collective, collective),
    ("ragged-all-to-all", Kind::Collective, collective),
    ("reduce", Kind::Reduction, |i| Ok(Op::Reduce { dimensions: naturals(&i.settings.dimensions)? })),
    ("reduce-precision", Kind::Elementwise, |i| {
        let (exponent, mantissa) = i.settings.precision;
        Ok(Op::ReducePrecision { exponent_bits: natural(exponent)?, mantissa_bits: natural(mantissa)? })
    }),
    ("reduce-scatter", Kind::Collective, collective),
    ("reduce-window", Kind::Window, |i| Ok(Op::ReduceWindow { window: i.settings.window.clone() })),
    ("replica-id", Kind::Collective, collective),
    ("reshape", Kind::Movement, |_| Ok(Op::Reshape)),
    ("reverse", Kind::Movement, |i| Ok(Op::Reverse { dimensions: naturals(&i.settings.dimensions)? })),
    ("rng", Kind::Creation, |i| Ok(Op::Rng { distribution: i.settings.distribution.clone() })),
    ("rng-bit-generator", Kind::Creation, |i| Ok(Op::RngBitGenerator { algorithm: i.settings.algorithm.clone() })),
    ("scatter", Kind::Indexing, |i| Ok(Op::Scatter(scatter(&i.settings.index_dims)?))),
    ("select", Kind::Elementwise, |_| Ok(Op::Select)),
    ("select-and-scatter", Kind::Window, |i| Ok(Op::SelectAndScatter { window: i.settings.window.clone() })),
    ("slice", Kind::Movement, |i| {
        let s = &i.settings;
        Ok(Op::Slice { starts: sizes(&s.starts)?, limits: sizes(&s.limits)?, strides: sizes(&s.strides)? })
    }),
    ("sort", Kind::Order, |i| {
        Ok(Op::Sort { dimension: first(&i.settings.dimensions)?, is_stable: i.settings.is_stable })
    }),
    ("topk", Kind::Order, |i| Ok(Op::TopK { k: size(i.settings.k)?, is_largest: !i.settings.is_smallest })),
    ("transpose", Kind::Movement, |i| Ok(Op::Transpose { permutation: naturals(&i.settings.dimensions)? })),
    ("tuple", Kind::Control, |_| Ok(Op::Tuple)),
    ("while", Kind::Control, |_| Ok(Op::While)),
];

/// Functions that only CHLO has.
const WITHOUT_OPCODE: [Unary; 7] =
    [Unary::Digamma, Unary::ErfInv, Unary::Erfc, Unary::IsInf, Unary::IsNan, Unary::Lgamma, Unary::Square];

/// The opcodes that are read, each with its kind of work.
pub(crate) fn operators() -> impl Iterator<Item = (&'static str, Kind)> {
    let unary = Unary::ALL.into_iter().filter(|f| !WITHOUT_OPCODE.contains(f));
    let unary = unary.filter_map(|f| Some((f.name(), Kind::of(&Op::Unary(f))?)));
    let binary = Binary::ALL.map(|f| (f.name(), Kind::Elementwise));
    unary.chain(binary).chain(OPS.iter().map(|(name, kind, _)| (*name, *kind)))
}

/// The operation of an instruction; constants and parameters are made elsewhere. Fails when a required setting is missing or
/// negative.
pub(super) fn op_of(raw: &RawInstruction) -> Result<Op, Refusal> {
    let opcode = raw.opcode.as_str();
    if let Some(f) = Unary::from_name(opcode).filter(|f| !WITHOUT_OPCODE.contains(f)) {
        return Ok(Op::Unary(f));
    }
    if let Some(f) = Binary::from_name(opcode) {
        return Ok(Op::Binary(f));
    }
    // Two instructions may stand for the begin and the end of an operation between cores.
    let base = opcode.trim_end_matches("-start").trim_end_matches("-done");
    let named = |name: &str| OPS.iter().find(|(known, ..)| *known == name);
    match named(opcode).or_else(|| named(base).filter(|(_, kind, _)| *kind == Kind::Collective)) {
        Some((.., read)) => read(raw),
        None => Ok(unknown(raw)),
    }
}

fn unknown(raw: &RawInstruction) -> Op {
    Op::Opaque(foreign(&raw.opcode, raw))
}

fn collective(raw: &RawInstruction) -> Result<Op, Refusal> {
    Ok(Op::Collective(foreign(&raw.opcode, raw)))
}

fn foreign(name: &str, raw: &RawInstruction) -> Foreign {
    Foreign { name: name.to_owned(), config: raw.settings.config.clone() }
}

fn norm(s: &Settings) -> Result<(f32, u32), Refusal> {
    Ok((s.epsilon, natural(s.feature_index)?))
}

fn natural(n: i64) -> Result<u32, Refusal> {
    u32::try_from(n).map_err(|_| refuse!("it has the dimension or count {n}"))
}

fn naturals(list: &[i64]) -> Result<Vec<u32>, Refusal> {
    list.iter().map(|&n| natural(n)).collect()
}

fn first(list: &[i64]) -> Result<u32, Refusal> {
    natural(list.first().copied().unwrap_or(0))
}

fn size(n: i64) -> Result<u64, Refusal> {
    u64::try_from(n).map_err(|_| refuse!("it has the size or bound {n}"))
}

fn sizes(list: &[i64]) -> Result<Vec<u64>, Refusal> {
    list.iter().map(|&n| size(n)).collect()
}

/// The comparison for `EQ`, `NE`, `GE`, `GT`, `LE`, `LT`.
pub(crate) fn comparison(direction: &str) -> Result<Comparison, Refusal> {
    Ok(match direction {
        "EQ" => Comparison::Eq,
        "NE" => Comparison::Ne,
        "GE" => Comparison::Ge,
        "GT" => Comparison::Gt,
        "LE" => Comparison::Le,
        "LT" => Comparison::Lt,
        other => return Err(refuse!("it compares by {other:?}, which is none of EQ, NE, GE, GT, LE and LT")),
    })
}

fn convolution(s: &Settings) -> Result<Op, Refusal> {
    let side = |(a, b, rest): &(i64, i64, Vec<i64>)| Ok::<_, Refusal>((natural(*a)?, natural(*b)?, naturals(rest)?));
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

fn gather(dims: &IndexDims, slices: &[i64]) -> Result<GatherDims, Refusal> {
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

fn scatter(dims: &IndexDims) -> Result<ScatterDims, Refusal> {
    Ok(ScatterDims {
        update_window_dims: naturals(&dims.window)?,
        inserted_window_dims: naturals(&dims.dropped)?,
        scatter_dims_to_operand_dims: naturals(&dims.map)?,
        index_vector_dim: natural(dims.vector)?,
        input_batching_dims: naturals(&dims.batch)?,
        scatter_indices_batching_dims: naturals(&dims.indices_batch)?,
    })
}
