//! A step of decode and a prompt of prefill: simulated segments, and the collectives between them.

use std::rc::Rc;

use ns_base::{Refusal, SimTime};
use ns_machine::Executable;
use ns_machine::arch::Instance;
use ns_machine::cost::{Collective, CostTable};

use super::config::DecoderConfig;
use super::costs::{HOST_STEP_ON_DEVICE_US, HOST_STEP_US, INT8_STREAM_TENTHS, LlmCalibration};
use super::request::Weights;
use super::segment::Segment;
use super::shard::{KvRule, Shard};
use super::windows::Windows;

/// Bytes of an element of activations, caches and weights: bf16 or fp16.
pub const ELEMENT_BYTES: u64 = 2;

/// Most tokens of a segment that are simulated together; more take proportionally longer.
const MOST_ROWS: u64 = 4_096;

/// A step by its parts. They add up to its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepParts {
    /// Streaming the weights.
    pub weights: SimTime,
    /// Streaming keys and values.
    pub cache: SimTime,
    pub collectives: SimTime,
    /// What no transfer hides: norms, softmax, the start and the end of each segment.
    pub compute: SimTime,
    pub host: SimTime,
}

impl StepParts {
    #[must_use]
    pub fn time(&self) -> SimTime {
        self.weights + self.cache + self.collectives + self.compute + self.host
    }
}

/// A decoder on some cores of an instance.
pub struct Decoder {
    pub config: DecoderConfig,
    pub instance: &'static Instance,
    pub shard: Shard,
    pub weights: Weights,
    pub calibration: LlmCalibration,
    windows: Windows,
}

impl Decoder {
    /// A decoder shared by `degree` cores.
    ///
    /// # Errors
    /// When it cannot be shared by so many, or the instance's cores cannot be simulated.
    pub fn new(
        config: &DecoderConfig,
        instance: &'static Instance,
        degree: u32,
        lnc: Option<u32>,
        calibration: LlmCalibration,
    ) -> Result<Self, Refusal> {
        let shard = Shard::of(config, degree, KvRule::of_core(instance.core_version))?;
        let windows = Windows::new(config, shard, instance, lnc)?;
        Ok(Self { config: config.clone(), instance, shard, weights: Weights::Bf16, calibration, windows })
    }

    pub(super) fn all_reduce(&self, rows: u64) -> SimTime {
        let bytes = rows * self.shard.hidden * ELEMENT_BYTES;
        self.calibration.collectives().time(Collective::AllReduce, bytes, self.shard.degree)
    }

    /// A segment's simulated time; a long one is simulated in part.
    pub(super) fn window(&mut self, segment: Segment) -> Result<SimTime, Refusal> {
        let (part, times) = match segment {
            Segment::Prefill { batch, tokens } if batch > 1 => (Segment::Prefill { batch: 1, tokens }, (batch, 1)),
            Segment::FeedForward { rows } if rows > MOST_ROWS => {
                (Segment::FeedForward { rows: MOST_ROWS }, (rows, MOST_ROWS))
            }
            whole => (whole, (1, 1)),
        };
        let window = self.windows.of(part)?;
        Ok(SimTime(window.0.saturating_mul(times.0) / times.1))
    }

    /// The code of a segment.
    pub(super) fn executable(&self, segment: Segment) -> Result<Rc<Executable>, Refusal> {
        self.windows.executable(segment)
    }

    pub(super) const fn costs(&self) -> &CostTable {
        &self.windows.costs
    }

    /// Host time of a step.
    #[must_use]
    pub fn host_step(&self) -> SimTime {
        let on_device = KvRule::of_core(self.instance.core_version) == KvRule::PerCore;
        SimTime::from_us(if on_device { HOST_STEP_ON_DEVICE_US } else { HOST_STEP_US })
    }

    /// One token of each of `batch` sequences, with a cache of `bucket` positions.
    ///
    /// # Errors
    /// When a segment cannot be compiled.
    pub fn decode(&mut self, batch: u64, bucket: u64) -> Result<StepParts, Refusal> {
        let layers = self.config.layers;
        let attention = self.window(Segment::Decode { batch, bucket })?;
        let feed_forward = self.window(Segment::FeedForward { rows: batch })?;
        let head = self.window(Segment::Head { rows: batch })?;
        let further = SimTime::from_ns(self.calibration.sequence_ns).times(batch.saturating_sub(1));
        let device = (attention + feed_forward + further).times(layers) + head;
        let elements = layers * self.shard.layer_elements(self.config.mlp);
        let rate = self.windows.costs.dma.aggregate_bytes_per_us;
        let moving = |bytes: u64| SimTime::from_ns(bytes.saturating_mul(1_000) / rate.max(1));
        // Segments stream 16 bits.
        let saved = match self.weights {
            Weights::Bf16 => SimTime::ZERO,
            Weights::Int8 => moving(elements * (10 * ELEMENT_BYTES - INT8_STREAM_TENTHS) / 10),
        };
        let device = device.saturating_sub(saved);
        let weights = moving((elements + self.shard.head_elements()) * ELEMENT_BYTES).saturating_sub(saved).min(device);
        let cache = moving(layers * self.shard.cache_bytes(batch, bucket)).min(device.saturating_sub(weights));
        Ok(StepParts {
            weights,
            cache,
            collectives: self.all_reduce(batch).times(2 * layers),
            compute: device.saturating_sub(weights + cache),
            host: self.host_step(),
        })
    }

    /// A prompt of `tokens` tokens in each of `batch` sequences, from its arrival to the first new token.
    ///
    /// # Errors
    /// When a segment cannot be compiled.
    pub fn prefill(&mut self, batch: u64, tokens: u64) -> Result<SimTime, Refusal> {
        let layers = self.config.layers;
        let attention = self.window(Segment::Prefill { batch, tokens })?;
        let feed_forward = self.window(Segment::FeedForward { rows: batch * tokens })?;
        let head = self.window(Segment::Head { rows: batch })?;
        let exchanged = self.all_reduce(batch * tokens).times(2 * layers);
        let around = SimTime::from_us(self.calibration.first_token_us(self.instance));
        Ok((attention + feed_forward).times(layers) + head + exchanged + around)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, llm_instance, named_config};
    use ns_base::convert::u64_to_f64;

    fn decoder(model: &str, host: &str, degree: u32) -> Decoder {
        Decoder::new(&named_config(model).unwrap(), llm_instance(host).unwrap(), degree, None, FITTED).unwrap()
    }

    /// Milliseconds by the analytical model: weights at 248 GB/s, 63 us of exposed collectives and chains a layer, the slower of cache
    /// and 8.8 ns a position, 6 us for each further sequence, half a millisecond of host.
    fn by_formula(d: &Decoder, batch: u64, bucket: u64) -> f64 {
        let layers = u64_to_f64(d.config.layers);
        let us = |bytes: u64| u64_to_f64(bytes) / 248e3;
        let elements = d.config.layers * d.shard.layer_elements(d.config.mlp) + d.shard.head_elements();
        let attention = us(d.shard.cache_bytes(batch, bucket)).max(8.8e-3 * u64_to_f64(bucket));
        (500.0 + us(2 * elements) + layers * (63.0 + attention + 6.0 * u64_to_f64(batch - 1))) / 1e3
    }

    #[test]
    fn a_simulated_step_is_near_the_formula() {
        for (model, host, degree) in [
            ("llama-2-7b", "inf2.48xlarge", 24),
            ("llama-2-13b", "trn1.32xlarge", 32),
            ("llama-2-70b", "inf2.48xlarge", 24),
        ] {
            let mut d = decoder(model, host, degree);
            for (batch, bucket) in [(1, 2048), (1, 4096), (1, 8192), (4, 4096), (8, 4096), (8, 8192)] {
                let here = d.decode(batch, bucket).unwrap().time().to_ms_f64();
                let formula = by_formula(&d, batch, bucket);
                assert!((here / formula - 1.0).abs() < 0.15, "{model} {batch} {bucket}: {here} and {formula} ms");
            }
        }
    }

    #[test]
    fn a_step_grows_with_the_cache_and_one_core_exchanges_nothing() {
        let mut d = decoder("llama-2-7b", "inf2.48xlarge", 24);
        let steps = [128, 1024, 4096, 8192].map(|bucket| d.decode(1, bucket).unwrap().time());
        assert!(steps.is_sorted() && steps[0] < steps[3], "{steps:?}");
        let mut one = decoder("llama-2-7b", "inf2.xlarge", 1);
        let parts = one.decode(1, 128).unwrap();
        assert_eq!(parts.collectives, SimTime::ZERO);
        // Half the memory of a core: 13.2 GB at 272 GB/s.
        assert!((48.0..60.0).contains(&parts.time().to_ms_f64()), "{parts:?}");
    }
}
