//! What the command line prints of a generation, and the page saves: the figures, what a device would show, and what has no published row.

use ns_base::Refusal;
use ns_llm::{FITTED, Generation, Request, generate, note_of};
use serde::Serialize;

use super::decode_interval::interval_of_tpot;

/// `neuronscope generate --json`.
#[derive(Clone, Debug, Serialize)]
pub struct GenerationReport {
    #[serde(flatten)]
    pub made: Generation,
    /// What a device would show for the time of a token in 9 of 10 cases; absent where no row tells the error.
    pub interval: Option<TpotInterval>,
    /// Said where no published row is beside the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct TpotInterval {
    pub tpot_low_ms: f64,
    pub tpot_high_ms: f64,
}

impl GenerationReport {
    /// Checks and simulates a request.
    ///
    /// # Errors
    /// What is not possible, and the nearest that is.
    pub fn of(request: &Request) -> Result<Self, Refusal> {
        request.check()?;
        let made = generate(request, FITTED)?;
        let interval = interval_of_tpot(made.tpot_p50_ms, request.instance);
        let interval = interval.map(|(tpot_low_ms, tpot_high_ms)| TpotInterval { tpot_low_ms, tpot_high_ms });
        Ok(Self { made, interval, note: note_of(request.instance) })
    }
}
