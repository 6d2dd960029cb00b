//! Custom calls whose names are known.

use super::program::{Foreign, Op, Type, Unary};

/// Calls of the Neuron frameworks whose meaning is known by name; the compiler of a NeuronCore has a kernel for each.
const NEURON: [&str; 20] = [
    "AwsNeuronErf",
    "AwsNeuronGelu",
    "AwsNeuronGeluApprxTanh",
    "AwsNeuronGeluBackward",
    "AwsNeuronSilu",
    "AwsNeuronSiluBackward",
    "AwsNeuronRmsNorm",
    "AwsNeuronSoftmax",
    "AwsNeuronSoftmaxBackward",
    "AwsNeuronCollectiveMatmul",
    "AwsNeuronIntMatmult",
    "AwsNeuronArgMax",
    "AwsNeuronArgMin",
    "AwsNeuronTopK",
    "AwsNeuronDropoutMaskV1",
    "AwsNeuronDropout",
    "AwsNeuronResizeNearest",
    "AwsNeuronResizeBilinear",
    "AwsNeuronResizeNearestGrad",
    "AwsNeuronResizeBilinearGrad",
];

/// Calls that return their operands: marks of modules, of shardings, of transfers.
const MARKS: [&str; 10] = [
    "AwsNeuronTransferWithStaticRing",
    "AwsNeuronModuleMarker",
    "ModuleMarker",
    "NeuronBoundaryMarker",
    "AwsNeuronNeuronBoundaryMarker",
    "Sharding",
    "SPMDFullToShardShape",
    "SPMDShardToFullShape",
    "annotate_device_placement",
    "optimization_barrier",
];

/// Functions of one operand that JAX and torch_xla write as calls.
const FUNCTIONS: [(&str, Unary); 17] = [
    ("erf", Unary::Erf),
    ("erf_inv", Unary::ErfInv),
    ("erfc", Unary::Erfc),
    ("tan", Unary::Tan),
    ("acos", Unary::Acos),
    ("acosh", Unary::Acosh),
    ("asin", Unary::Asin),
    ("asinh", Unary::Asinh),
    ("atan", Unary::Atan),
    ("atanh", Unary::Atanh),
    ("cosh", Unary::Cosh),
    ("sinh", Unary::Sinh),
    ("square", Unary::Square),
    ("digamma", Unary::Digamma),
    ("lgamma", Unary::Lgamma),
    ("is_inf", Unary::IsInf),
    ("is_nan", Unary::IsNan),
];

/// The function with this name in CHLO and MHLO.
pub(super) fn function(name: &str) -> Option<Unary> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, f)| *f)
}

/// CHLO's name for a function without an HLO opcode.
pub(super) fn function_name(f: Unary) -> &'static str {
    FUNCTIONS.iter().find(|(_, known)| *known == f).map_or("unknown", |(name, _)| name)
}

/// The operation that a call stands for, if there is one.
pub(super) fn meaning(name: &str, config: &str, operands: &[&Type], result: &Type) -> Op {
    let call = || Op::CustomCall(Foreign { name: name.to_owned(), config: config.to_owned() });
    if passes_on(name) {
        let is_same = match operands {
            [one] => *one == result,
            many => matches!(result, Type::Tuple(parts) if parts.iter().eq(many.iter().copied())),
        };
        return if is_same { Op::Barrier } else { call() };
    }
    let bare = name.strip_prefix("mhlo.").or_else(|| name.strip_prefix("chlo.")).unwrap_or(name);
    match (bare, operands, result) {
        ("TopK" | "topk" | "top_k", [_], Type::Tuple(parts)) => match parts.first().and_then(Type::array) {
            Some(values) => Op::TopK { k: values.dims.last().copied().unwrap_or(0), is_largest: true },
            None => call(),
        },
        (_, [_], Type::Array(_)) if bare != name => function(bare).map_or_else(call, Op::Unary),
        _ => call(),
    }
}

/// Whether a call returns its operands.
pub(super) fn passes_on(name: &str) -> bool {
    MARKS.iter().any(|mark| name.starts_with(mark))
}

/// Whether the meaning of a call is known by its name.
pub(super) fn is_known(name: &str) -> bool {
    NEURON.contains(&name)
}
