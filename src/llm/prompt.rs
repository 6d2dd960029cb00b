//! A prompt of prefill: its segments, how its scores are made, and the exchanges between.

use ns_base::{Refusal, SimTime};

use super::costs::{SHARED_MEMORY_PERMILLE, kernel_permille};
use super::route::Route;
use super::segment::{Scores, Segment};
use super::shard::Shard;
use super::step::Decoder;

/// Physical cores of a chip of Trn2.
const CORES_OF_CHIP: u64 = 8;

/// A prompt by its parts. They add up to its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptParts {
    pub attention: SimTime,
    /// Feed-forward parts, experts, and the head.
    pub feed_forward: SimTime,
    pub collectives: SimTime,
    pub host: SimTime,
}

impl PromptParts {
    pub fn time(&self) -> SimTime {
        self.device() + self.host
    }

    /// Without the host.
    pub fn device(&self) -> SimTime {
        self.attention + self.feed_forward + self.collectives
    }
}

impl Decoder {
    /// Tokens of a tile of the attention kernel of Trn2 in a prompt of so many; others have tiles of the array.
    pub(super) const fn kernel_tile(&self, tokens: u64) -> u64 {
        match (self.is_later(), tokens) {
            (true, 1_024..) => 512,
            (true, 256..) => 256,
            _ => 128,
        }
    }

    /// How the scores of a prompt are made. Today's library has a kernel for prompts of 4,096 tokens and more, and on Trn2 for all that fill
    /// its tiles (`get_flash_attention_strategy` of NeuronX Distributed Inference).
    const fn scores(&self, tokens: u64) -> Scores {
        let has_kernel = match self.is_later() {
            false => tokens >= 4_096,
            true => tokens >= 256 && tokens.is_multiple_of(self.kernel_tile(tokens)),
        };
        match self.route {
            Route::Tnx => Scores::Whole,
            _ if has_kernel && self.is_later() => Scores::Measured,
            _ if has_kernel => Scores::Causal,
            _ => Scores::Pieces,
        }
    }

    /// A prompt of `tokens` tokens in each of `batch` sequences, from its arrival to the first new token.
    /// Fails when a segment cannot be compiled.
    pub fn prefill(&mut self, batch: u64, tokens: u64) -> Result<PromptParts, Refusal> {
        let mut parts = PromptParts {
            feed_forward: self.window(0, Segment::Head { rows: batch })?,
            collectives: self.exchanges(batch * tokens, true),
            host: self.first_token(),
            ..PromptParts::default()
        };
        let whole = self.shards.clone();
        // On Trn2 each core norms its part of the tokens, which the others get with the sum, and kernels read them once for all products.
        let is_split = self.is_later() && (batch * tokens).is_multiple_of(self.degree());
        if is_split {
            let norms = self.window(0, Segment::Norms { rows: batch * tokens / self.degree() })?;
            parts.attention += norms.times(self.config.layers);
            self.shards.iter_mut().for_each(|shard| shard.is_fused = true);
        }
        let made = self.layers_of_prompt(batch, tokens, &mut parts);
        self.shards = whole;
        made.map(|()| parts)
    }

    fn layers_of_prompt(&mut self, batch: u64, tokens: u64, parts: &mut PromptParts) -> Result<(), Refusal> {
        let scores = self.scores(tokens);
        for (kind, known) in self.config.kinds.clone().into_iter().enumerate() {
            let attention = self.window(kind, Segment::Prefill { batch, tokens, scores })?;
            let feed_forward = self.window(kind, self.feed_forward(kind, batch * tokens))?;
            let [rows, chain] = self.beside(&self.shard(kind)?);
            let measured = match scores {
                Scores::Measured => self.kernel(&self.shard(kind)?, tokens, known.window).times(batch),
                _ => SimTime::ZERO,
            };
            parts.attention += (self.shared(attention) + measured + chain).times(known.count);
            parts.feed_forward += (self.shared(feed_forward) + rows).times(known.count);
        }
        Ok(())
    }

    /// The scores of a prompt of one sequence by the attention kernel of Trn2, of the pairs of a token and those before it.
    fn kernel(&self, shard: &Shard, tokens: u64, window: Option<u64>) -> SimTime {
        let features = shard.latent.map_or(2 * shard.head_size, |l| l.query() + l.value);
        let read = tokens.min(window.unwrap_or(u64::MAX));
        let pairs = u128::from(tokens * read - read * read / 2);
        let core = &self.costs().core;
        let peak = 2 * u64::from(core.partitions).pow(2) * u64::from(core.tensor_mhz) * u64::from(core.physical_cores);
        let operations = pairs * u128::from(2 * features * shard.heads);
        let per_us = u128::from(peak * kernel_permille(tokens) / 1_000).max(1);
        SimTime(u64::try_from(operations * 1_000_000 / per_us).unwrap_or(u64::MAX))
    }

    /// A segment of a prompt whose products the other cores of a chip slow down, because they share its memory.
    fn shared(&self, segment: SimTime) -> SimTime {
        let cores = self.degree() * u64::from(self.costs().core.physical_cores);
        let is_shared = self.is_later() && cores >= CORES_OF_CHIP;
        if is_shared { SimTime(segment.0.saturating_mul(SHARED_MEMORY_PERMILLE) / 1_000) } else { segment }
    }
}
