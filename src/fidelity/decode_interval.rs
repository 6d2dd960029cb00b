//! How far a simulated time of a token may be from that of a device: the errors of models that were predicted by a fit without them.

use std::cmp::Ordering;

use super::search::factors_inside;
use super::served_fit::ServedGroup;
use ns_llm::{Request, Route};

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
            1.0137, 1.0056, 0.9869, 0.9748, 1.053, 1.0468, 1.0464, 1.0414, 1.0094, 1.008, 0.9623, 1.011, 1.0019, 0.9773,
        ],
    },
    DecodeHeldOut { model: "Llama-2-7b", ratios: &[1.0142, 1.0541, 0.8991, 0.9576, 1.0779, 0.9815] },
    DecodeHeldOut {
        model: "Llama-2-13b",
        ratios: &[
            1.0015, 1.0467, 1.0031, 1.0011, 1.0077, 0.9946, 1.0075, 0.9518, 1.0315, 0.9921, 0.9749, 0.9803, 0.9919,
            0.9444, 0.9636, 1.0449,
        ],
    },
];

/// One of this many rows may lie outside on each side: nine of ten are between.
const OUTSIDE_ON_A_SIDE: usize = 20;

/// The least and the most that published over predicted times are once the farthest rows on each side are left out.
pub fn decode_factors() -> (f64, f64) {
    factors_inside(DECODE_HELD_OUT.iter().flat_map(|row| row.ratios), OUTSIDE_ON_A_SIDE)
}

/// The interval of a time of a token of a request; `None` where no row tells the error.
pub fn interval_of_tpot(tpot_ms: f64, request: &Request) -> Option<(f64, f64)> {
    let group = ServedGroup::of(request, false);
    let has_rows = match request.instance.core_version.cmp(&LATEST_CORE) {
        Ordering::Less => true,
        Ordering::Equal => request.lnc != Some(1),
        Ordering::Greater => false,
    };
    if !has_rows {
        return None;
    }
    if group == ServedGroup::Step && request.route() == Route::Tnx {
        let (low, high) = decode_factors();
        return Some((tpot_ms * low, tpot_ms * high));
    }
    Some((tpot_ms / group.factor(), tpot_ms * group.factor()))
}

/// The latest cores that have published rows, of two physical cores each.
const LATEST_CORE: u8 = 3;
