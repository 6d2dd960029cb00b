//! What the command line prints of a generation, and the page saves: the figures, what a device would show, and what has no published row.

use ns_base::Refusal;
use ns_base::units::format_number;
use ns_llm::{FITTED, Generation, KnownTimes, Request, generate, note_of};
use serde::Serialize;

use super::decode_interval::interval_of_tpot;

/// `neuronscope generate --json`.
#[derive(Clone, Debug, Serialize)]
pub struct GenerationReport {
    #[serde(flatten)]
    pub made: Generation,
    /// What a device would show for the time of a token in 9 of 10 cases; absent where no row tells the error.
    pub interval: Option<TpotInterval>,
    /// The same place with more sequences, beside a request of one: a single sequence leaves most of a core idle.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub larger_batch: Option<LargerBatch>,
    /// Said where no published row is beside the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<&'static str>,
    /// What the model's configuration says and the figures leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct TpotInterval {
    pub tpot_low_ms: f64,
    pub tpot_high_ms: f64,
}

/// A request of one sequence, with many of them.
#[derive(Clone, Debug, Serialize)]
pub struct LargerBatch {
    pub batch: u64,
    pub tpot_p50_ms: f64,
    pub cost_usd_per_million_tokens: f64,
}

/// The batch that is named beside a batch of 1.
const LARGER_BATCH: u64 = 32;

impl LargerBatch {
    /// `2.04 US$ at batch 32, a token 15.6 ms`
    pub fn text(&self) -> String {
        let (usd, ms) = (format_number(self.cost_usd_per_million_tokens), format_number(self.tpot_p50_ms));
        format!("{usd} US$ at batch {}, a token {ms} ms", self.batch)
    }

    fn beside(request: &Request, times: &KnownTimes) -> Option<Self> {
        let larger = Request { batch: LARGER_BATCH, ..request.clone() };
        let made = (request.batch == 1 && larger.check().is_ok()).then(|| generate(&larger, FITTED, times))?.ok()?;
        let cost_usd_per_million_tokens = made.cost_usd_per_million_tokens?;
        Some(Self { batch: LARGER_BATCH, tpot_p50_ms: made.tpot_p50_ms, cost_usd_per_million_tokens })
    }
}

impl GenerationReport {
    /// The same as [`Self::of`], with the cost of a larger batch beside that of a single sequence. Fails as [`Self::of`].
    pub fn with_larger_batch(request: &Request, times: &KnownTimes) -> Result<Self, Refusal> {
        let report = Self::of(request, times)?;
        Ok(Self { larger_batch: LargerBatch::beside(request, times), ..report })
    }

    /// Checks and simulates a request; segments of the model that are known are not simulated again.
    /// An error says what is not possible, and the nearest that is.
    pub fn of(request: &Request, times: &KnownTimes) -> Result<Self, Refusal> {
        request.check()?;
        let made = generate(request, FITTED, times)?;
        let interval = interval_of_tpot(made.tpot_p50_ms, request);
        let interval = interval.map(|(tpot_low_ms, tpot_high_ms)| TpotInterval { tpot_low_ms, tpot_high_ms });
        let remarks = request.remarks();
        Ok(Self { made, interval, larger_batch: None, note: note_of(request.instance), remarks })
    }
}
