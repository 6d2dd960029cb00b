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
            1.0172, 1.009, 0.9929, 0.9806, 1.013, 1.007, 1.0943, 1.0891, 1.0226, 1.0212, 0.9755, 1.0886, 1.0788, 1.1564,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0182, 1.0559, 0.9012, 0.9084, 1.0899, 1.0108] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            0.9986, 1.0413, 0.999, 0.9988, 0.9461, 0.9156, 1.0007, 0.9468, 0.9665, 0.9109, 0.9702, 0.9755, 0.9663,
            0.9394, 0.9572, 1.0118,
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
