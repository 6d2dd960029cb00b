//! Custom calls whose names are known.

use crate::{Foreign, Op, Type, Unary};

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

/// The operation that a call stands for, if there is one.
pub fn meaning(name: &str, config: &str, operands: &[&Type], result: &Type) -> Op {
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
        (_, [_], Type::Array(_)) if bare != name => {
            Unary::from_name(&bare.replace('_', "-")).map_or_else(call, Op::Unary)
        }
        _ => call(),
    }
}

/// Whether a call returns its operands.
pub fn passes_on(name: &str) -> bool {
    MARKS.iter().any(|mark| name.starts_with(mark))
}

/// Whether the meaning of a call is known by its name.
pub fn is_known(name: &str) -> bool {
    NEURON.contains(&name)
}
