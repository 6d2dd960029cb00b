//! Device memory of one core: weights, cache at the largest bucket, scratch.

use serde::Serialize;

use super::config::DecoderConfig;
use super::shard::Shard;
use super::step::ELEMENT_BYTES;
use super::weights::Weights;

/// Bytes of one core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Memory {
    pub weight_bytes: u64,
    /// Keys and values of the whole batch at the largest bucket.
    pub cache_bytes: u64,
    /// Activations of the largest prompt, logits, and the code of the executables.
    pub scratch_bytes: u64,
    pub needed_bytes: u64,
    pub core_bytes: u64,
    pub fits: bool,
}

/// Code and buffers of the runtime for the executables of one model, bytes: not published; half a gigabyte is what 40 unrolled
/// layers of ten thousand instructions take.
const CODE_BYTES: u64 = 512 << 20;

impl Memory {
    /// Memory of a core with `positions` positions in the cache of each sequence.
    pub fn of(
        config: &DecoderConfig,
        shards: &[Shard],
        weights: Weights,
        (batch, positions, prompt): (u64, u64, u64),
        core_bytes: u64,
    ) -> Self {
        let kinds = || config.kinds.iter().zip(shards);
        let elements: u64 = kinds().map(|(kind, shard)| kind.count * shard.layer_elements()).sum();
        let words: u64 = shards.first().map_or(0, |shard| shard.words);
        // The table of words is cut like the head, of which it may be the same matrix.
        let tables = if config.tied { 1 } else { 2 };
        let weight_bytes = weights.bytes(elements) + tables * words * config.word_features * ELEMENT_BYTES;
        let cache = kinds().map(|(kind, shard)| {
            let positions = positions.min(kind.window.unwrap_or(u64::MAX));
            kind.count.saturating_mul(shard.cache_bytes(batch, positions))
        });
        let cache_bytes = cache.fold(0, u64::saturating_add);
        // The residual, a part's result and its widest inner value, in single precision.
        let widest = shards.iter().map(|shard| shard.columns.max(shard.heads * shard.head_size)).max();
        let widths = 2 * config.hidden + widest.unwrap_or(0);
        let product = |sizes: [u64; 3]| sizes.into_iter().fold(4, u64::saturating_mul);
        let activations = product([batch, prompt, widths]).saturating_add(product([batch, words, 1]));
        let scratch_bytes = activations.saturating_add(CODE_BYTES);
        let needed_bytes = [weight_bytes, cache_bytes, scratch_bytes].into_iter().fold(0, u64::saturating_add);
        Self { weight_bytes, cache_bytes, scratch_bytes, needed_bytes, core_bytes, fits: needed_bytes <= core_bytes }
    }

    /// Bytes that are missing; 0 when it fits.
    pub const fn missing_bytes(&self) -> u64 {
        self.needed_bytes.saturating_sub(self.core_bytes)
    }
}
