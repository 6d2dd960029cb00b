//! How far a simulated time of a token may be from that of a device: the errors of models that were predicted by a fit without them.

use super::search::factors_inside;
use ns_bench::PUBLISHED_CORE;
use ns_machine::arch::Instance;

/// A model whose rows were predicted by a fit without them.
pub struct DecodeHeldOut {
    pub model: &'static str,
    /// Predicted over published time of a step, in the order of the table.
    pub ratios: &'static [f64],
}

/// The result of `neuronscope validate src/fidelity/decode.csv --calibrate` for each model that is left out; a test compares.
pub const DECODE_HELD_OUT: &[DecodeHeldOut] = &[
    DecodeHeldOut {
        model: "Llama-3-8B",
        ratios: &[
            1.0198, 1.0116, 0.9939, 0.9817, 1.0142, 1.0083, 1.0962, 1.091, 1.01, 1.0086, 0.9694, 1.0891, 1.0794, 1.1485,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0202, 1.0594, 0.9033, 0.9099, 1.0776, 1.012] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            0.9989, 1.0444, 1.0013, 1.0009, 0.9477, 0.9171, 1.004, 0.9492, 0.9681, 0.9124, 0.9729, 0.9768, 0.9632,
            0.938, 0.9581, 1.005,
        ],
    },
];

/// One of this many rows may lie outside on each side: nine of ten are between.
const OUTSIDE_ON_A_SIDE: usize = 20;

/// The least and the most that published over predicted times are once the farthest rows on each side are left out.
#[must_use]
pub fn decode_factors() -> (f64, f64) {
    factors_inside(DECODE_HELD_OUT.iter().flat_map(|held| held.ratios), OUTSIDE_ON_A_SIDE)
}

/// The interval of a time of a token on an instance; `None` where no row tells the error.
#[must_use]
pub fn interval_of_tpot(tpot_ms: f64, instance: &Instance) -> Option<(f64, f64)> {
    let (low, high) = decode_factors();
    (instance.core_version == PUBLISHED_CORE).then_some((tpot_ms * low, tpot_ms * high))
}
