//! Kinds of work: what works while an operation runs.

use serde::{Deserialize, Serialize};

use super::operation_of;
use crate::palette::{GREY, SHADES, distinct_fills, shade};
use ns_base::convert::low8;
use ns_base::digest64;

/// What works. The order is that of the legend.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Kind {
    /// Products of matrices and convolutions: the Tensor engine.
    Matrix,
    /// Elementwise work and reductions: the Vector engine.
    Vector,
    /// Activations: the Scalar engine.
    Activation,
    /// The GpSimd engine, and fused operations, which several engines execute.
    Mixed,
    /// DMA and copies.
    Transfer,
    /// Collective communication.
    Collective,
    /// Code of the host.
    Host,
    /// Waiting for something else.
    Wait,
    /// Nothing runs, or what runs only surrounds operations.
    Idle,
}

/// Each kind with its text in the legend, the engine of a NeuronCore that does such work, and its place in [`crate::palette::HUES`].
const KINDS: [(Kind, &str, &str, u8); 9] = [
    (Kind::Matrix, "products, convolutions", "Tensor", 0),
    (Kind::Vector, "elementwise, reductions", "Vector", 2),
    (Kind::Activation, "activations", "Scalar", 4),
    (Kind::Mixed, "fused, gathers, sorts", "GpSimd", 5),
    (Kind::Transfer, "transfer", "", 1),
    (Kind::Collective, "collective", "", 3),
    (Kind::Host, "host", "", 6),
    (Kind::Wait, "wait", "", 7),
    (Kind::Idle, "modules, steps, idle", "", GREY),
];

/// Operations by their whole names, in lower case.
const WHOLE: [(Kind, &[&str]); 5] = [
    (Kind::Matrix, &["dot", "convolution", "dgrad", "wgrad", "attention", "einsum", "conv2d", "ragged-dot"]),
    (
        Kind::Vector,
        &[
            "abs",
            "add",
            "addcdiv",
            "addcmul",
            "and",
            "batch-norm-inference",
            "batch-norm-training",
            "bernoulli",
            "bitcast-convert",
            "broadcast",
            "broadcast_in_dim",
            "cat",
            "clamp",
            "clone",
            "compare",
            "concatenate",
            "constant",
            "convert",
            "cumsum",
            "divide",
            "dropout",
            "eq",
            "expand",
            "fill",
            "floor",
            "layernorm",
            "map",
            "max",
            "maximum",
            "mean",
            "min",
            "minimum",
            "multiply",
            "neg",
            "negate",
            "normalisation",
            "not",
            "or",
            "pad",
            "permute",
            "pow",
            "reduce",
            "reduce-window",
            "reshape",
            "reverse",
            "round",
            "select",
            "sign",
            "slice",
            "subtract",
            "sum",
            "tensor_copy",
            "tensor_scalar",
            "tensor_tensor",
            "transpose",
            "var",
            "where",
            "xor",
            "zero",
        ],
    ),
    (
        Kind::Activation,
        &[
            "act_table_load",
            "activate",
            "activation",
            "cosine",
            "erf",
            "exp",
            "exponential",
            "exponential-minus-one",
            "gelu",
            "log",
            "log-plus-one",
            "logistic",
            "power",
            "relu",
            "rsqrt",
            "sigmoid",
            "silu",
            "sine",
            "softmax",
            "softplus",
            "sqrt",
            "tanh",
        ],
    ),
    (
        Kind::Mixed,
        &[
            "argmax",
            "custom-call",
            "custom_call",
            "custom_op",
            "dynamic-slice",
            "dynamic-update-slice",
            "embedding",
            "fusion",
            "gather",
            "gpsimd",
            "index_select",
            "iota",
            "rng",
            "scatter",
            "sort",
            "topk",
            "while",
        ],
    ),
    (Kind::Transfer, &["copy", "dma", "infeed", "load", "outfeed", "parameter", "save", "spill", "tuple"]),
];

/// Operations by a part of their names, in lower case; the first that matches. The last rows are kernels of which nothing else is known: calls
/// that launch one are code of the host.
const PARTS: [(Kind, &[&str]); 9] = [
    (Kind::Collective, &["collective", "all-to-all", "all_to_all", "alltoall", "broadcast_coalesced", "send", "recv"]),
    (Kind::Wait, &["synchron", "wait", "sleep", "barrier", "semaphore", "futex", "to_block", "acquire", "limit "]),
    (Kind::Transfer, &["dma", "memcpy", "memset", "_to_copy", "copy_"]),
    (Kind::Matrix, &["xmma", "cutlass", "mma_", "einsum"]),
    (Kind::Activation, &["softmax", "sigmoid", "gelu", "silu", "tanh", "threshold"]),
    (
        Kind::Vector,
        &["elementwise", "reduce", "norm", "moments", "gammabeta", "bn_", "pool", "multi_tensor", "adam", "catarray"],
    ),
    (Kind::Mixed, &["fused", "triton", "topk", "gather", "scatter", "sort", "embedding", "indexselect"]),
    (Kind::Host, &["launch"]),
    (Kind::Vector, &["kernel"]),
];

/// Units whose name a lane or a bar bears, by the beginning of the name, in lower case.
const UNITS: [(Kind, &[&str]); 8] = [
    (Kind::Matrix, &["tensor", "pe ", "device", "compute"]),
    (Kind::Vector, &["vector"]),
    (Kind::Activation, &["scalar", "activation"]),
    (Kind::Mixed, &["gpsimd", "pool"]),
    (Kind::Transfer, &["dma", "data transfer", "transfer", "link", "hbm", "qsync", "qgpsimd"]),
    (Kind::Collective, &["collective", "cc-core"]),
    (Kind::Host, &["host", "the host"]),
    (Kind::Wait, &["wait"]),
];

impl Kind {
    /// The kinds in the order of the legend.
    pub const ALL: [Self; 9] = {
        let mut all = [Self::Idle; 9];
        let mut i = 0;
        while i < all.len() {
            all[i] = KINDS[i].0;
            i += 1;
        }
        all
    };

    /// The kind of what a name indicates.
    pub fn of(name: &str) -> Self {
        match (operation_of(name), name.strip_suffix(" Busy").and_then(Self::of_unit)) {
            (Some(operation), _) => Self::of_operation(&operation),
            // A call that waits for another one surrounds no work, and is not idle either.
            (None, unit) => unit.or_else(|| Self::waits(name).then_some(Self::Wait)).unwrap_or(Self::Idle),
        }
    }

    fn waits(name: &str) -> bool {
        let small = name.to_ascii_lowercase();
        PARTS.iter().any(|(kind, parts)| *kind == Self::Wait && parts.iter().any(|part| small.contains(part)))
    }

    fn of_operation(operation: &str) -> Self {
        let small = operation.to_ascii_lowercase();
        let whole = WHOLE.iter().find(|(_, names)| names.contains(&small.as_str()));
        let found = whole.or_else(|| PARTS.iter().find(|(_, parts)| parts.iter().any(|part| small.contains(part))));
        found.map_or(Self::Host, |(kind, _)| *kind)
    }

    /// The kind of a unit, such as `Tensor engine` or `host`; `None` for other names.
    pub fn of_unit(name: &str) -> Option<Self> {
        let small = name.to_ascii_lowercase();
        UNITS.iter().find(|(_, names)| names.iter().any(|n| small.starts_with(n))).map(|(kind, _)| *kind)
    }

    /// Its text in a legend, with the engine if the profile is of NeuronCores.
    pub fn title(self, is_neuron: bool) -> String {
        match KINDS[self as usize] {
            (_, title, engine, _) if is_neuron && !engine.is_empty() => format!("{title} ({engine})"),
            (_, title, ..) => title.to_owned(),
        }
    }

    /// The place of its hue in [`crate::palette::HUES`].
    pub fn fill(self) -> u8 {
        KINDS[self as usize].3
    }
}

/// The place of the colour of a name: the hue of its kind, in a shade that depends only on its operation.
pub fn fill_of(name: &str) -> u8 {
    match operation_of(name) {
        Some(operation) => fill_of_operation(&operation),
        None => Kind::of(name).fill(),
    }
}

/// The place of the colour of an operation.
pub(super) fn fill_of_operation(operation: &str) -> u8 {
    match Kind::of_operation(operation).fill() {
        GREY => GREY,
        fill => shade(fill, low8(digest64(operation) % u64::from(SHADES))),
    }
}

/// Places in the palette for names that are shown together, some of them units such as `Tensor engine` or `host`, whose hue is that of
/// their kind.
pub fn unit_fills<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let names: Vec<&str> = names.collect();
    let distinct = distinct_fills(names.iter().copied());
    let mut fills: Vec<u8> = Vec::new();
    for (name, fill) in names.iter().zip(distinct) {
        let fill = Kind::of_unit(name).map_or(fill, Kind::fill);
        // A second unit of the same kind, such as another queue, has another shade.
        let again = names.iter().zip(&fills).find(|(other, _)| *other == name).map(|(_, known)| *known);
        fills.push(again.unwrap_or_else(|| free_shade(fill, 0, |at| fills.contains(&at))));
    }
    fills
}

/// A shade of a hue that is not taken, from a wanted one on; the wanted one if all are.
pub(super) fn free_shade(fill: u8, wanted: u8, is_taken: impl Fn(u8) -> bool) -> u8 {
    let shades = (0..SHADES).map(|i| shade(fill, wanted + i));
    shades.filter(|_| fill != GREY).find(|at| !is_taken(*at)).unwrap_or_else(|| shade(fill, wanted))
}

/// Gives parts that stand beside each other in one colour another shade of their hue.
pub fn part_neighbours(fills: &mut [u8], touch: impl Fn(usize, usize) -> bool) {
    for i in 0..fills.len() {
        let beside: Vec<u8> = (0..i).filter(|j| touch(*j, i)).map(|j| fills[j]).collect();
        let (fill, own) = (fills[i] % (GREY + 1), fills[i] / (GREY + 1));
        fills[i] = free_shade(fill, own, |at| beside.contains(&at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_of_the_kind_that_works() {
        for (name, kind) in [
            ("%dot.7", Kind::Matrix),
            ("aten__addmm_dot", Kind::Matrix),
            ("void cudnn::cnn::wgrad_alg0_engine<float, 512>(int)", Kind::Matrix),
            ("aten__add_add", Kind::Vector),
            ("aten__relu_maximum", Kind::Vector),
            ("void at::native::vectorized_elementwise_kernel<4>(int)", Kind::Vector),
            ("aten__tanh_tanh", Kind::Activation),
            ("fused_13", Kind::Mixed),
            ("DMA_DIRECT2D", Kind::Transfer),
            ("Memcpy HtoD (Pageable -> Device)", Kind::Transfer),
            ("ncclKernel_AllReduce_RING_LL", Kind::Collective),
            ("pthread_cond_timedwait", Kind::Wait),
            ("DMA Busy", Kind::Transfer),
            ("RunTask", Kind::Host),
            ("cudaLaunchKernel", Kind::Host),
            ("input", Kind::Transfer),
            ("attention", Kind::Matrix),
            ("feed-forward", Kind::Matrix),
            ("layer", Kind::Idle),
            ("%dot.7 = dot(%p4, %transpose.3)", Kind::Matrix),
            ("%dot.7 = dot(%fused_4, %transpose.3)", Kind::Matrix),
            ("ACTIVATE", Kind::Activation),
            ("TENSOR_TENSOR", Kind::Vector),
            ("LDWEIGHTS", Kind::Matrix),
            ("cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1", Kind::Matrix),
            ("void cudnn::ops::nchwToNhwcKernel<float, float>(cudnn::ops::nchw2nhwc_params_t<float>)", Kind::Vector),
            (
                "void gemvNSP_kernel<float, float, 1, 16, cublasGemvParams<float>>(cublasGemvParams<float>)",
                Kind::Matrix,
            ),
            (
                "void at::native::(anonymous namespace)::CatArrayBatchedCopy<float, unsigned int, 1, 128, 1>(float*)",
                Kind::Vector,
            ),
            ("BertModel[model]", Kind::Idle),
        ] {
            assert_eq!(Kind::of(name), kind, "{name}");
            assert_eq!(fill_of(name) % (GREY + 1), kind.fill(), "{name}");
        }
        assert_eq!(Kind::of_unit("Tensor engine"), Some(Kind::Matrix));
        assert_eq!(Kind::of_unit("Eager"), None);
        assert_eq!(Kind::of_unit("qSyncWeights0"), Some(Kind::Transfer));
    }

    #[test]
    fn a_legend_speaks_of_engines_only_where_there_are_some() {
        assert_eq!(Kind::Activation.title(true), "activations (Scalar)");
        assert_eq!(Kind::Activation.title(false), "activations");
        assert_eq!(Kind::Host.title(true), "host");
    }

    #[test]
    fn neighbours_of_one_kind_differ_in_shade() {
        let mut fills = [0, 0, 0, 9, GREY, GREY, 0];
        let last = fills.len() - 1;
        part_neighbours(&mut fills, |a, b| a + 1 == b || (a == 0 && b == last));
        assert!((0..last).all(|i| fills[i] != fills[i + 1] || fills[i] == GREY), "{fills:?}");
        assert_ne!(fills[0], fills[last]);
        assert_eq!(fills.map(|f| f % (GREY + 1)), [0, 0, 0, 0, GREY, GREY, 0]);
        let queues = unit_fills(["qSyncIO0", "Tensor", "qSyncWeights0", "qSyncIO0"].into_iter());
        assert_eq!((queues[0], queues[1], queues[0] % (GREY + 1)), (queues[3], 0, queues[2] % (GREY + 1)));
        assert_ne!(queues[0], queues[2]);
    }

    #[test]
    fn each_kind_has_its_own_hue() {
        let mut fills = Kind::ALL.map(Kind::fill);
        fills.sort_unstable();
        assert_eq!(fills, [0, 1, 2, 3, 4, 5, 6, 7, GREY]);
        assert!(KINDS.iter().zip(0_usize..).all(|((kind, ..), i)| *kind as usize == i));
    }
}
