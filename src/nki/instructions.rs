//! What each instruction of NKI is for a core: a row of a table.

use ns_machine::isa::{Engine, KernelOpcode};

use crate::kernel::Choice;

/// What the compiler may do with an instruction whose engine the author left open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An instruction of an engine.
    Compute(KernelOpcode, Choice),
    Product,
    Transpose,
    /// A partition that all others get.
    Broadcast,
    /// A transfer; `true` transposes.
    Transfer(bool),
    /// Nothing that takes time: registers, and a barrier, which passes its tensor on as it is.
    Free,
}

const VECTOR: Choice = Choice::Only(Engine::Vector);
const SCALAR: Choice = Choice::Only(Engine::Scalar);
const GPSIMD: Choice = Choice::Only(Engine::GpSimd);

/// The instructions by their names in `nki.isa`.
const INSTRUCTIONS: [(&str, Kind); 55] = [
    ("nc_matmul", Kind::Product),
    ("nc_matmul_mx", Kind::Product),
    ("nc_transpose", Kind::Transpose),
    ("partition_broadcast", Kind::Broadcast),
    ("dma_copy", Kind::Transfer(false)),
    ("dma_transpose", Kind::Transfer(true)),
    ("dma_compute", Kind::Transfer(false)),
    ("sendrecv", Kind::Transfer(false)),
    ("activation", Kind::Compute(KernelOpcode::Activate, SCALAR)),
    ("activate2", Kind::Compute(KernelOpcode::Activate, SCALAR)),
    ("activation_reduce", Kind::Compute(KernelOpcode::ActivateReduce, SCALAR)),
    ("tensor_scalar", Kind::Compute(KernelOpcode::TensorScalar, Choice::VectorOrScalar)),
    ("tensor_scalar_reduce", Kind::Compute(KernelOpcode::TensorScalar, VECTOR)),
    ("tensor_scalar_cumulative", Kind::Compute(KernelOpcode::Scan, VECTOR)),
    ("tensor_tensor", Kind::Compute(KernelOpcode::TensorTensor, VECTOR)),
    ("scalar_tensor_tensor", Kind::Compute(KernelOpcode::ScalarTensorTensor, VECTOR)),
    ("tensor_reduce", Kind::Compute(KernelOpcode::Reduce, VECTOR)),
    ("all_reduce", Kind::Compute(KernelOpcode::PartitionReduce, GPSIMD)),
    ("tensor_partition_reduce", Kind::Compute(KernelOpcode::PartitionReduce, GPSIMD)),
    ("tensor_tensor_scan", Kind::Compute(KernelOpcode::Scan, VECTOR)),
    ("tensor_copy", Kind::Compute(KernelOpcode::Copy, Choice::VectorOrScalar)),
    ("tensor_copy_predicated", Kind::Compute(KernelOpcode::TensorTensor, VECTOR)),
    ("tensor_copy_dynamic_src", Kind::Compute(KernelOpcode::Copy, VECTOR)),
    ("tensor_copy_dynamic_dst", Kind::Compute(KernelOpcode::Copy, VECTOR)),
    ("reciprocal", Kind::Compute(KernelOpcode::Reciprocal, VECTOR)),
    ("exponential", Kind::Compute(KernelOpcode::Activate, VECTOR)),
    ("quantize_mx", Kind::Compute(KernelOpcode::Copy, VECTOR)),
    ("memset", Kind::Compute(KernelOpcode::Memset, GPSIMD)),
    ("iota", Kind::Compute(KernelOpcode::Select, GPSIMD)),
    ("affine_select", Kind::Compute(KernelOpcode::Select, GPSIMD)),
    ("select", Kind::Compute(KernelOpcode::Select, VECTOR)),
    ("range_select", Kind::Compute(KernelOpcode::Select, VECTOR)),
    ("select_reduce", Kind::Compute(KernelOpcode::Select, VECTOR)),
    ("sequence_bounds", Kind::Compute(KernelOpcode::Select, GPSIMD)),
    ("bn_stats", Kind::Compute(KernelOpcode::BnStats, VECTOR)),
    ("bn_aggr", Kind::Compute(KernelOpcode::BnAggregate, VECTOR)),
    ("max8", Kind::Compute(KernelOpcode::Max8, VECTOR)),
    ("nc_find_index8", Kind::Compute(KernelOpcode::Max8, VECTOR)),
    ("nc_match_replace8", Kind::Compute(KernelOpcode::Max8, VECTOR)),
    ("nc_stream_shuffle", Kind::Compute(KernelOpcode::Shuffle, VECTOR)),
    ("local_gather", Kind::Compute(KernelOpcode::Gather, GPSIMD)),
    ("nc_n_gather", Kind::Compute(KernelOpcode::Gather, GPSIMD)),
    ("topk", Kind::Compute(KernelOpcode::Gather, GPSIMD)),
    ("dropout", Kind::Compute(KernelOpcode::Random, VECTOR)),
    ("rng", Kind::Compute(KernelOpcode::Random, GPSIMD)),
    ("rand2", Kind::Compute(KernelOpcode::Random, GPSIMD)),
    ("rand_get_state", Kind::Compute(KernelOpcode::Random, GPSIMD)),
    ("rand_set_state", Kind::Compute(KernelOpcode::Random, GPSIMD)),
    ("set_rng_seed", Kind::Compute(KernelOpcode::Random, GPSIMD)),
    ("nonzero_with_count", Kind::Compute(KernelOpcode::Gather, GPSIMD)),
    ("core_barrier", Kind::Free),
    ("register_alloc", Kind::Free),
    ("register_move", Kind::Free),
    ("register_load", Kind::Free),
    ("register_store", Kind::Free),
];

/// What an instruction is; one that no row names (a list that was written by hand) is work of the GpSimd engine.
pub(crate) fn kind(op: &str) -> Kind {
    let row = INSTRUCTIONS.iter().find(|(name, _)| *name == op);
    row.map_or(Kind::Compute(KernelOpcode::Other, GPSIMD), |(_, kind)| *kind)
}

/// The engine that the author asked for.
pub(crate) fn engine(name: &str) -> Option<Engine> {
    Engine::ALL.into_iter().find(|engine| engine.name().eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_has_one_row() {
        for (at, (name, _)) in INSTRUCTIONS.iter().enumerate() {
            assert_eq!(INSTRUCTIONS.iter().position(|(other, _)| other == name), Some(at), "{name}");
        }
        assert_eq!(kind("no_such"), Kind::Compute(KernelOpcode::Other, GPSIMD));
        assert!(INSTRUCTIONS.iter().all(|(_, kind)| !matches!(kind, Kind::Compute(KernelOpcode::Other, _))));
        // Every instruction that the recorder writes has one.
        let recorder = concat!(
            include_str!("../python/python/neuronscope/nki_recorder/instructions.py"),
            include_str!("../python/python/neuronscope/nki_recorder/language.py"),
            include_str!("../python/python/neuronscope/nki_recorder/packages.py"),
        );
        let after = |begin: &'static str| recorder.split(begin).skip(1).filter_map(|rest| rest.split_once('"'));
        let rows = after("\n    \"").filter(|(_, rest)| rest.starts_with(": (\"")).map(|(name, _)| name);
        let calls = ["emit(\"", "compute(\"", "dma(\""].into_iter().flat_map(after).map(|(name, _)| name);
        let names: Vec<&str> = rows.chain(calls).collect();
        assert!(names.len() > 50, "{names:?}");
        for name in names {
            assert!(INSTRUCTIONS.iter().any(|(known, _)| *known == name), "{name}");
        }
        assert_eq!((engine("vector"), engine("any")), (Some(Engine::Vector), None));
    }
}
