//! A step of decode: simulated segments, and the collectives between them.

use std::rc::Rc;

use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, SimTime, refuse};
use ns_machine::Executable;
use ns_machine::arch::Instance;
use ns_machine::cost::{Collective, CostTable};

use super::config::DecoderConfig;
use super::costs::LlmCalibration;
use super::request::Request;
use super::route::Route;
use super::segment::{Scores, Segment};
use super::shard::{Cut, KvRule, Shard};
use super::weights::Weights;
use super::windows::{KnownTimes, Windows};

/// Bytes of an element of activations, caches and weights: bf16 or fp16.
pub const ELEMENT_BYTES: u64 = 2;

/// Most tokens of a segment that are simulated together; more take proportionally longer.
pub(super) const MOST_ROWS: u64 = 4_096;

/// The longest prompt and the longest cache whose scores are simulated, tokens; longer ones follow from it and its half.
const LONGEST: u64 = 16_384;

/// A step by its parts. They add up to its time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepParts {
    /// Streaming the weights that all tokens use.
    pub weights: SimTime,
    /// Streaming the routers that choose experts.
    pub router: SimTime,
    /// Streaming keys and values.
    pub cache: SimTime,
    /// Streaming the experts that the tokens chose.
    pub experts: SimTime,
    pub collectives: SimTime,
    /// What no transfer hides: norms, softmax, the start and the end of each segment.
    pub compute: SimTime,
    pub host: SimTime,
}

impl StepParts {
    /// The same with each part changed alike.
    pub fn map(self, change: impl Fn(SimTime) -> SimTime) -> Self {
        Self {
            weights: change(self.weights),
            router: change(self.router),
            cache: change(self.cache),
            experts: change(self.experts),
            collectives: change(self.collectives),
            compute: change(self.compute),
            host: change(self.host),
        }
    }

    /// What the cores do between their exchanges.
    pub fn device(&self) -> SimTime {
        self.weights + self.router + self.cache + self.experts + self.compute
    }

    pub fn time(&self) -> SimTime {
        self.device() + self.collectives + self.host
    }
}

/// A decoder on some cores of an instance.
pub struct Decoder {
    pub config: DecoderConfig,
    pub instance: &'static Instance,
    /// One core's part of each kind of layers.
    pub shards: Vec<Shard>,
    pub weights: Weights,
    pub route: Route,
    pub calibration: LlmCalibration,
    windows: Windows,
}

impl Decoder {
    /// A decoder shared by `degree` cores.
    /// Fails when it cannot be shared by so many, or the instance's cores cannot be simulated.
    pub fn new(
        config: &DecoderConfig,
        instance: &'static Instance,
        degree: u32,
        lnc: Option<u32>,
        calibration: LlmCalibration,
    ) -> Result<Self, Refusal> {
        let route = Route::of_instance(instance);
        let windows = Windows::new(config, instance, lnc)?;
        let shards = shards_of(config, degree.into(), route)?;
        Ok(Self { config: config.clone(), instance, shards, weights: Weights::Bf16, route, calibration, windows })
    }

    /// The same for a request, with its route and the storage of its weights.
    /// Fails as [`Self::new`].
    pub fn of_request(request: &Request, calibration: LlmCalibration) -> Result<Self, Refusal> {
        let mut made = Self::new(&request.config, request.instance, request.degree, request.lnc, calibration)?;
        (made.route, made.weights) = (request.route(), request.weights);
        made.shards = request.shards()?;
        Ok(made)
    }

    /// The same with times of segments that decoders share.
    pub(super) fn with_times(mut self, times: &KnownTimes) -> Self {
        self.windows.share(times);
        self
    }

    pub(super) fn degree(&self) -> u64 {
        self.shards.first().map_or(1, |shard| shard.degree)
    }

    pub(super) fn all_reduce(&self, rows: u64, is_prompt: bool) -> SimTime {
        let bytes = rows * self.config.hidden * ELEMENT_BYTES;
        let costs = self.calibration.collectives(self.instance, self.route, is_prompt);
        costs.time(Collective::AllReduce, bytes, self.degree())
    }

    /// Of the tokens of a step or a prompt: the loads of experts that a core makes in a layer, and the tokens of each. Loads are not shared
    /// between tokens until they are as many as the experts of the core; then each of those is loaded once. Groups of experts are chosen alike.
    pub(super) fn loads(&self, rows: u64) -> (u64, u64) {
        let Some(experts) = self.config.experts else { return (0, 0) };
        let groups = self.shards.iter().map(|shard| shard.expert_groups).max().unwrap_or(1);
        let (chosen, own) = ((rows * experts.per_token).div_ceil(groups), experts.count / groups);
        if chosen < own { (chosen, 1) } else { (own, chosen.div_ceil(own.max(1))) }
    }

    /// The two segments of a layer of a kind in a step.
    pub(super) fn layer(&self, kind: usize, batch: u64, bucket: u64) -> [Segment; 2] {
        let window = self.config.kinds.get(kind).and_then(|kind| kind.window).unwrap_or(u64::MAX);
        [Segment::Decode { batch, bucket: bucket.min(window) }, self.feed_forward(kind, batch)]
    }

    pub(super) fn feed_forward(&self, kind: usize, rows: u64) -> Segment {
        let (loads, each) = self.loads(rows);
        let expert_rows = self.shards.get(kind).map_or(0, Shard::expert_rows);
        match self.config.kinds.get(kind) {
            Some(kind) if kind.has_experts => Segment::Sparse {
                rows,
                loads,
                each,
                lines: expert_rows * self.row_ps() / self.windows.costs.dma.descriptor_ps.max(1),
            },
            _ => Segment::FeedForward { rows },
        }
    }

    /// Whether the cores are those of Trn2 or later.
    pub(super) const fn is_later(&self) -> bool {
        self.instance.core_version >= 3
    }

    /// Time of a row of a matrix beside its bytes, picoseconds.
    const fn row_ps(&self) -> u64 {
        if self.is_later() { self.windows.costs.dma.descriptor_ps } else { self.calibration.row_ps }
    }

    /// What a layer takes that its segments do not have: short rows and the chain of a core that waits for no other, with today's libraries.
    /// The first is of streaming weights.
    pub(super) fn beside(&self, shard: &Shard) -> [SimTime; 2] {
        if self.route == Route::Tnx || self.is_later() {
            return [SimTime::ZERO; 2];
        }
        let heads = if shard.degree == 1 { shard.kv_heads } else { 0 };
        [SimTime(shard.fetched_rows() * self.row_ps()), SimTime::from_ns(self.calibration.kv_head_ns).times(heads)]
    }

    /// Exchanges of all layers for `rows` tokens: two sums each, and what goes to experts and back on Trn2, and wherever experts are in groups.
    pub(super) fn exchanges(&self, rows: u64, is_prompt: bool) -> SimTime {
        let sum = self.all_reduce(rows, is_prompt);
        let sums = sum.times(2 * self.config.layers);
        let sparse = self.config.kinds.iter().filter(|kind| kind.has_experts).map(|kind| kind.count).sum::<u64>();
        let dispatch = SimTime::from_ns(self.calibration.trn2_all_reduce_ns).times(2 * sparse);
        let has_groups = self.shards.iter().any(|shard| shard.expert_groups > 1);
        match (self.is_later(), has_groups) {
            (true, _) => sums + dispatch,
            (false, true) => sums + sum.times(2 * sparse),
            (false, false) => sums,
        }
    }

    /// A segment's simulated time in a layer of a kind; a long one is simulated in part.
    pub(super) fn window(&mut self, kind: usize, segment: Segment) -> Result<SimTime, Refusal> {
        let (part, times) = match segment {
            Segment::Prefill { batch, tokens, scores } if batch > 1 => {
                return Ok(self.window(kind, Segment::Prefill { batch: 1, tokens, scores })?.times(batch));
            }
            Segment::Prefill { tokens, scores: scores @ (Scores::Pieces | Scores::Causal), .. } if tokens > LONGEST => {
                return self.longer(kind, tokens, scores);
            }
            Segment::Decode { batch, bucket } if bucket > LONGEST => {
                let mut at = |bucket| self.window(kind, Segment::Decode { batch, bucket });
                let (half, whole) = (at(LONGEST / 2)?, at(LONGEST)?);
                // Each further position takes as long as those before it.
                let more = whole.saturating_sub(half).0.saturating_mul(bucket - LONGEST) / (LONGEST / 2);
                return Ok(whole + SimTime(more));
            }
            Segment::Prefill { tokens, scores: Scores::Measured, .. } if tokens > MOST_ROWS => {
                (Segment::Prefill { batch: 1, tokens: MOST_ROWS, scores: Scores::Measured }, (tokens, MOST_ROWS))
            }
            Segment::FeedForward { rows } if rows > MOST_ROWS => {
                (Segment::FeedForward { rows: MOST_ROWS }, (rows, MOST_ROWS))
            }
            Segment::Sparse { rows, .. } if rows > MOST_ROWS => (self.feed_forward(kind, MOST_ROWS), (rows, MOST_ROWS)),
            whole => (whole, (1, 1)),
        };
        let shard = self.shard(kind)?;
        let window = self.windows.of(&shard, part)?;
        Ok(SimTime(window.0.saturating_mul(times.0) / times.1))
    }

    /// Attention of a long prompt: what grows with its tokens and what grows with their square.
    fn longer(&mut self, kind: usize, tokens: u64, scores: Scores) -> Result<SimTime, Refusal> {
        let mut at =
            |tokens| self.window(kind, Segment::Prefill { batch: 1, tokens, scores }).map(SimTime::to_secs_f64);
        let (half, whole) = (at(LONGEST / 2)?, at(LONGEST)?);
        let square = (2.0 * (whole - 2.0 * half)).clamp(0.0, whole);
        let times = u64_to_f64(tokens) / u64_to_f64(LONGEST);
        Ok(SimTime::from_secs_f64(times * (whole - square + square * times)))
    }

    pub(super) fn shard(&self, kind: usize) -> Result<Shard, Refusal> {
        self.shards.get(kind).copied().ok_or_else(|| refuse!("{}: it has no layers of kind {kind}", self.config.name))
    }

    /// The code of a segment of a layer of a kind.
    pub(super) fn executable(&self, kind: usize, segment: Segment) -> Result<Rc<Executable>, Refusal> {
        self.windows.executable(&self.shard(kind)?, segment)
    }

    pub(super) const fn costs(&self) -> &CostTable {
        &self.windows.costs
    }

    pub const fn host_step(&self) -> SimTime {
        SimTime::from_us(self.calibration.host_step_us(self.instance, self.route))
    }

    /// Host and change of executables around a prompt.
    pub fn first_token(&self) -> SimTime {
        SimTime::from_us(self.calibration.first_token_us(self.instance, self.route))
    }

    /// One token of each of `batch` sequences, with a cache of `bucket` positions.
    /// Fails when a segment cannot be compiled.
    pub fn decode(&mut self, batch: u64, bucket: u64) -> Result<StepParts, Refusal> {
        let head = self.window(0, Segment::Head { rows: batch })?;
        let (rate, row_ps) = (self.windows.costs.dma.aggregate_bytes_per_us, self.row_ps());
        let moving = |bytes: u64| SimTime::from_ns(bytes.saturating_mul(1_000) / rate.max(1));
        let loads = self.loads(batch).0;
        let (mut device, mut cache, mut experts, mut short) = (head, SimTime::ZERO, SimTime::ZERO, SimTime::ZERO);
        let (mut shared, mut loaded) = (self.config.word_features * self.shard(0)?.words, 0);
        let mut router = SimTime::ZERO;
        for (kind, known) in self.config.kinds.clone().into_iter().enumerate() {
            let [attention, feed_forward] = self.layer(kind, batch, bucket);
            let shard = self.shard(kind)?;
            let positions = bucket.min(known.window.unwrap_or(u64::MAX));
            let own = moving(shard.cache_bytes(1, positions));
            cache += own.times(batch * known.count);
            let further = own.times((batch - 1) * self.calibration.further_cache_permille);
            let [rows, chain] = self.beside(&shard);
            short += rows.times(known.count);
            let segments = self.window(kind, attention)? + self.window(kind, feed_forward)?;
            device += (segments + SimTime(further.0 / 1_000) + rows + chain).times(known.count);
            shared += known.count * shard.shared_elements();
            router += moving(shard.hidden * shard.experts * ELEMENT_BYTES).times(known.count);
            if known.has_experts {
                loaded += known.count * loads * shard.expert_elements();
                let rows = SimTime(shard.expert_rows() * row_ps);
                experts += (moving(shard.expert_elements() * ELEMENT_BYTES) + rows).times(known.count * loads);
            }
        }
        // Segments stream 16 bits.
        let tenths = self.weights.stream_tenths(self.instance.core_version);
        let fewer = |elements: u64| moving(elements * (10 * ELEMENT_BYTES - tenths) / 10);
        let head_elements = self.config.word_features * self.shard(0)?.words;
        let saved = fewer(shared - head_elements);
        let saved_experts = fewer(loaded);
        let device = device.saturating_sub(saved + saved_experts);
        let weights = (moving(shared * ELEMENT_BYTES) + short).saturating_sub(saved).min(device);
        let experts = experts.saturating_sub(saved_experts).min(device.saturating_sub(weights));
        let cache = cache.min(device.saturating_sub(weights + experts));
        let router = router.min(weights);
        Ok(StepParts {
            weights: weights.saturating_sub(router),
            router,
            cache,
            experts,
            collectives: self.exchanges(batch, false),
            compute: device.saturating_sub(weights + cache + experts),
            host: self.host_step(),
        })
    }
}

/// One core's part of each kind of layers.
/// Fails when the model cannot be shared by so many cores.
pub(super) fn shards_of(config: &DecoderConfig, cut: Cut, route: Route) -> Result<Vec<Shard>, Refusal> {
    cut.check(config)?;
    let rule = KvRule::of_route(route);
    config.kinds.iter().map(|kind| Shard::of_kind(config, kind, cut, rule)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, llm_instance, named_config};

    fn decoder(model: &str, host: &str, degree: u32) -> Decoder {
        Decoder::new(&named_config(model).unwrap(), llm_instance(host).unwrap(), degree, None, FITTED).unwrap()
    }

    /// Milliseconds by the analytical model: weights at 248 GB/s, 63 us of exposed collectives and chains a layer, the slower of cache
    /// and 8.8 ns a position, 6 us for each further sequence, half a millisecond of host.
    fn by_formula(d: &Decoder, batch: u64, bucket: u64) -> f64 {
        let layers = u64_to_f64(d.config.layers);
        let us = |bytes: u64| u64_to_f64(bytes) / 248e3;
        let shard = d.shards[0];
        let elements = d.config.layers * shard.layer_elements() + shard.head_elements();
        let attention = us(shard.cache_bytes(batch, bucket)).max(8.8e-3 * u64_to_f64(bucket));
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

    #[test]
    fn a_long_cache_takes_what_its_positions_take() {
        for (model, host, degree) in [("llama-3.1-8b", "trn2.48xlarge", 8), ("llama-3.1-8b", "inf2.48xlarge", 8)] {
            let mut d = decoder(model, host, degree);
            let steps = [8_192, 16_384, 32_768, 65_536, 131_072].map(|n| d.decode(1, n).unwrap().time().to_ms_f64());
            let each: Vec<f64> =
                steps.windows(2).zip([1.0, 2.0, 4.0, 8.0]).map(|(two, n)| (two[1] - two[0]) / n).collect();
            assert!(each.iter().all(|ms| (ms / each[0] - 1.0).abs() < 0.01), "{host}: {steps:?}");
        }
    }

    /// With experts a sequence more loads its own until all are loaded, which `loads` of a step says.
    #[test]
    fn no_batch_is_a_cliff() {
        for (model, host, degree, bucket) in [
            ("llama-3.1-8b", "inf2.48xlarge", 8, 2_048),
            ("llama-3.1-8b", "inf2.48xlarge", 2, 1_024),
            ("llama-3.1-8b", "trn2.48xlarge", 4, 2_048),
            ("opt-13b", "trn1.32xlarge", 8, 128),
            ("gpt2", "inf2.xlarge", 1, 256),
            ("qwen3-30b-a3b", "trn2.48xlarge", 4, 512),
            ("mixtral-8x7b", "trn1.32xlarge", 8, 512),
        ] {
            let mut d = decoder(model, host, degree);
            // Around the batches at which passes and pieces change, and some between.
            let mut batches: Vec<u64> =
                (0..9).flat_map(|n| [(1 << n) - 1, 1 << n]).chain([24, 25, 26, 50, 98]).collect();
            batches.retain(|batch| (1..256).contains(batch));
            for batch in batches {
                let (own, next) = (d.decode(batch, bucket).unwrap(), d.decode(batch + 1, bucket).unwrap());
                let (time, later) = (own.time().to_ms_f64(), next.time().to_ms_f64());
                let loaded = next.experts.to_ms_f64() - own.experts.to_ms_f64();
                assert!(time <= later * 1.001, "{model} {host} {batch}: {time} and {later} ms");
                let is_new_load = d.loads(batch + 1).0 > d.loads(batch).0;
                let most = time * 1.15 + if is_new_load { loaded * 1.1 } else { 0.0 };
                assert!(later <= most, "{model} {host} {batch}: {time} and {later} ms");
            }
        }
    }

    #[test]
    fn one_expert_of_one_is_the_dense_model_and_more_loads_take_longer() {
        let made = |experts: u64, per_token: u64| {
            let mut config = named_config("mixtral-8x7b").unwrap();
            config.experts = config.experts.map(|e| crate::Experts { count: experts, per_token, ..e });
            config
        };
        let instance = llm_instance("trn1.32xlarge").unwrap();
        let step = |config: &DecoderConfig, batch| {
            let mut d = Decoder::new(config, instance, 8, None, FITTED).unwrap();
            d.decode(batch, 512).unwrap()
        };
        let dense = named_config("mistral-7b").unwrap();
        let (one, same) = (step(&made(1, 1), 1).time().to_ms_f64(), step(&dense, 1).time().to_ms_f64());
        assert!((one / same - 1.0).abs() < 0.12, "{one} and {same} ms");
        // Until every expert is loaded, each sequence loads its own.
        let loads = |batch| step(&made(8, 2), batch).experts.to_ms_f64();
        let all = [1, 2, 4, 8].map(loads);
        assert!((all[1] / all[0] - 2.0).abs() < 0.01 && (all[2] / all[0] - 4.0).abs() < 0.01, "{all:?}");
        assert_eq!(all[2], all[3]);
    }

    #[test]
    fn groups_of_experts_have_their_own_and_one_group_is_none() {
        let request = |groups| Request {
            degree: 8,
            expert_groups: groups,
            batch: 4,
            ..Request::of(named_config("mixtral-8x7b").unwrap(), llm_instance("trn2.48xlarge").unwrap())
        };
        let step = |groups| Decoder::of_request(&request(groups), FITTED).unwrap().decode(4, 512).unwrap();
        let plain =
            Decoder::new(&request(1).config, request(1).instance, 8, None, FITTED).unwrap().decode(4, 512).unwrap();
        assert_eq!(step(1), plain);
        // The bytes are the same, in longer rows.
        let (one, four) = (step(1).experts.to_ms_f64(), step(4).experts.to_ms_f64());
        assert!(four < one && four > one * 0.8, "{one} and {four} ms");
        let weights = |groups| request(groups).memory().unwrap().weight_bytes;
        assert_eq!(weights(1), weights(4));
        let error = request(3).shards().unwrap_err().to_string();
        assert!(error.ends_with("which must divide both; the nearest is --ep 2"), "{error}");
        let dense =
            Request { expert_groups: 2, ..Request::of(named_config("llama-3-8b").unwrap(), request(1).instance) };
        assert!(dense.shards().unwrap_err().to_string().contains("has no experts"));
    }

    #[test]
    fn every_published_model_can_be_simulated() {
        for name in crate::model_names() {
            let config = named_config(name).unwrap();
            let config = DecoderConfig {
                kinds: config.kinds.iter().map(|k| crate::LayerKind { count: 1, ..*k }).collect(),
                ..config
            };
            let degree = if config.heads >= 16 { 32 } else { 8 };
            let mut d = Decoder::new(&config, llm_instance("trn2.48xlarge").unwrap(), degree, None, FITTED).unwrap();
            let step = d.decode(2, 256).unwrap_or_else(|e| panic!("{name}: {e}"));
            let prompt = d.prefill(1, 64).unwrap_or_else(|e| panic!("{name}: {e}"));
            assert!(step.time() > SimTime::ZERO && prompt.time() > SimTime::ZERO);
            assert_eq!(step.experts > SimTime::ZERO, config.experts.is_some(), "{name}");
        }
    }
}
