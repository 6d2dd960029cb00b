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
#[allow(clippy::approx_constant, reason = "ratios, one of which happens to be near a constant")]
pub const DECODE_HELD_OUT: &[DecodeHeldOut] = &[
    DecodeHeldOut {
        model: "Llama-3-8B",
        ratios: &[
            1.0198, 1.0116, 0.9939, 0.9817, 1.0165, 1.0105, 1.1024, 1.0971, 1.0158, 1.0143, 0.9699, 1.0697, 1.0602,
            1.1283,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0192, 1.0585, 0.9118, 0.9144, 1.0827, 0.9967] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            0.998, 1.0435, 1.0007, 1.0117, 0.9535, 0.9201, 1.0043, 0.9494, 0.9742, 0.9155, 0.9713, 0.9767, 0.9643,
            0.9406, 0.9598, 1.0132,
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
