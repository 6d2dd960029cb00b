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
            1.0168, 1.0086, 0.9932, 0.981, 1.014, 1.008, 1.0957, 1.0905, 1.0221, 1.0207, 0.9749, 1.0905, 1.0807, 1.1593,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0185, 1.0555, 0.9005, 0.9079, 1.0894, 1.0105] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            0.9989, 1.0409, 0.9987, 1.0, 0.947, 0.9157, 1.0002, 0.9464, 0.9674, 0.911, 0.97, 0.9755, 0.9666, 0.9391,
            0.9568, 1.0117,
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
