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
            1.0154, 1.0073, 0.9889, 0.9768, 1.0159, 1.0099, 1.1015, 1.0962, 1.0112, 1.0098, 0.9645, 1.0688, 1.0592,
            1.127,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0162, 1.0558, 0.9121, 0.9146, 1.0798, 0.997] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            0.998, 1.0435, 1.0007, 1.0117, 0.9535, 0.9201, 1.0043, 0.9494, 0.9742, 0.9155, 0.9713, 0.9767, 0.9892,
            0.9406, 0.9598, 1.0419,
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
