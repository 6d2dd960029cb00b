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

/// Each kind with its text in the legend and its place in [`crate::palette::HUES`].
const KINDS: [(Kind, &str, u8); 9] = [
    (Kind::Matrix, "matrix products (Tensor)", 0),
    (Kind::Vector, "elementwise, reductions (Vector)", 2),
    (Kind::Activation, "activations (Scalar)", 4),
    (Kind::Mixed, "fused, GpSimd", 5),
    (Kind::Transfer, "transfer", 1),
    (Kind::Collective, "collective", 3),
    (Kind::Host, "host", 6),
    (Kind::Wait, "wait", 7),
    (Kind::Idle, "modules, steps, idle", GREY),
];

/// Operations by their whole names, in lower case.
const WHOLE: [(Kind, &[&str]); 5] = [
    (Kind::Matrix, &["dot", "convolution", "attention", "einsum", "conv2d", "ragged-dot"]),
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

/// Operations by a part of their names, in lower case; the first that matches.
const PARTS: [(Kind, &[&str]); 7] = [
    (Kind::Collective, &["collective", "all-to-all", "all_to_all", "alltoall", "broadcast_coalesced", "send", "recv"]),
    (Kind::Wait, &["synchron", "wait", "sleep", "barrier", "semaphore", "futex", "to_block", "acquire", "limit "]),
    (Kind::Transfer, &["dma", "memcpy", "memset", "_to_copy", "copy_"]),
    (Kind::Matrix, &["dgrad", "wgrad", "winograd", "xmma", "cutlass", "implicit_", "conv", "mma_", "einsum"]),
    (Kind::Activation, &["softmax", "sigmoid", "gelu", "silu", "tanh", "threshold"]),
    (Kind::Vector, &["elementwise", "reduce", "norm", "bn_", "pool", "multi_tensor", "adam"]),
    (Kind::Mixed, &["fused", "triton", "topk", "gather", "scatter", "sort", "embedding"]),
];

/// Units whose name a lane or a bar bears, by the beginning of the name, in lower case.
const UNITS: [(Kind, &[&str]); 8] = [
    (Kind::Matrix, &["tensor", "pe ", "device", "compute"]),
    (Kind::Vector, &["vector"]),
    (Kind::Activation, &["scalar", "activation"]),
    (Kind::Mixed, &["gpsimd", "pool"]),
    (Kind::Transfer, &["dma", "data transfer", "transfer", "link", "hbm"]),
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
    #[must_use]
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
    #[must_use]
    pub fn of_unit(name: &str) -> Option<Self> {
        let small = name.to_ascii_lowercase();
        UNITS.iter().find(|(_, names)| names.iter().any(|n| small.starts_with(n))).map(|(kind, _)| *kind)
    }

    /// Its text in the legend.
    #[must_use]
    pub fn title(self) -> &'static str {
        KINDS[self as usize].1
    }

    /// The place of its hue in [`crate::palette::HUES`].
    #[must_use]
    pub fn fill(self) -> u8 {
        KINDS[self as usize].2
    }
}

/// The place of the colour of a name: the hue of its kind, in a shade that depends only on its operation.
#[must_use]
pub fn fill_of(name: &str) -> u8 {
    let fill = Kind::of(name).fill();
    match operation_of(name).filter(|_| fill != GREY) {
        Some(operation) => shade(fill, low8(digest64(&operation) % u64::from(SHADES))),
        None => fill,
    }
}

/// Places in the palette for names that are shown together, some of them units such as `Tensor engine` or `host`, whose hue is that of
/// their kind.
#[must_use]
pub fn unit_fills<'a>(names: impl Iterator<Item = &'a str>) -> Vec<u8> {
    let names: Vec<&str> = names.collect();
    let distinct = distinct_fills(names.iter().copied());
    names.into_iter().zip(distinct).map(|(name, fill)| Kind::of_unit(name).map_or(fill, Kind::fill)).collect()
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
            ("BertModel[model]", Kind::Idle),
        ] {
            assert_eq!(Kind::of(name), kind, "{name}");
            assert_eq!(fill_of(name) % (GREY + 1), kind.fill(), "{name}");
        }
        assert_eq!(Kind::of_unit("Tensor engine"), Some(Kind::Matrix));
        assert_eq!(Kind::of_unit("Eager"), None);
    }

    #[test]
    fn each_kind_has_its_own_hue() {
        let mut fills = Kind::ALL.map(Kind::fill);
        fills.sort_unstable();
        assert_eq!(fills, [0, 1, 2, 3, 4, 5, 6, 7, GREY]);
        assert!(KINDS.iter().zip(0_usize..).all(|((kind, ..), i)| *kind as usize == i));
    }
}
