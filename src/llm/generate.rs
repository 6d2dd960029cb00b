//! One batch from its prompts to its last tokens: the figures of published tables.

use std::collections::BTreeMap;

use ns_base::convert::u64_to_f64;
use ns_base::{Refusal, SimTime};
use serde::Serialize;

use super::costs::LlmCalibration;
use super::memory::Memory;
use super::prompt::PromptParts;
use super::request::Request;
use super::route::Route;
use super::step::{Decoder, MOST_ROWS, StepParts};
use super::windows::KnownTimes;

/// A step by its parts, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Breakdown {
    pub weights: f64,
    /// Only of a model with experts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub router: Option<f64>,
    pub cache: f64,
    /// Only of a model with experts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experts: Option<f64>,
    pub collectives: f64,
    pub compute: f64,
    pub host: f64,
}

impl From<StepParts> for Breakdown {
    fn from(parts: StepParts) -> Self {
        Self {
            weights: parts.weights.to_ms_f64(),
            router: (parts.router > SimTime::ZERO).then(|| parts.router.to_ms_f64()),
            cache: parts.cache.to_ms_f64(),
            experts: (parts.experts > SimTime::ZERO).then(|| parts.experts.to_ms_f64()),
            collectives: parts.collectives.to_ms_f64(),
            compute: parts.compute.to_ms_f64(),
            host: parts.host.to_ms_f64(),
        }
    }
}

/// `neuronscope generate --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Generation {
    /// From the prompts of the batch to its first tokens, milliseconds.
    pub ttft_ms: f64,
    /// The step of the bucket with the median token, milliseconds; a step writes a token of each sequence.
    pub tpot_p50_ms: f64,
    pub tpot_mean_ms: f64,
    /// New tokens of all sequences over the whole time.
    pub throughput_tokens_per_s: f64,
    /// Milliseconds of a step, by the positions of its cache; the last has room for the whole sequence.
    pub step_ms_by_bucket: BTreeMap<u64, f64>,
    /// The step of the bucket with the median token.
    pub breakdown_ms: Breakdown,
    /// The first token by its parts.
    pub ttft_breakdown_ms: PromptBreakdown,
    /// Experts that a core loads in a layer of a step; only of a model with experts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expert_loads: Option<ExpertLoads>,
    pub memory: Memory,
    /// US dollars for a million new tokens, with as many copies as the instance has cores for; absent where no price is published.
    pub cost_usd_per_million_tokens: Option<f64>,
    /// The command of a server that runs it.
    pub serve_command: String,
}

/// A first token by its parts, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PromptBreakdown {
    pub attention: f64,
    /// Feed-forward parts, experts, and the head.
    pub feed_forward: f64,
    pub collectives: f64,
    pub host: f64,
}

impl From<PromptParts> for PromptBreakdown {
    fn from(parts: PromptParts) -> Self {
        Self {
            attention: parts.attention.to_ms_f64(),
            feed_forward: parts.feed_forward.to_ms_f64(),
            collectives: parts.collectives.to_ms_f64(),
            host: parts.host.to_ms_f64(),
        }
    }
}

/// The rule of loads of a model with experts: each token loads its own until all are loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ExpertLoads {
    pub loads: u64,
    /// Experts of a core's group, which are the most loads.
    pub most: u64,
    /// The batch from which a further sequence loads nothing more.
    pub all_from_batch: u64,
}

impl ExpertLoads {
    fn of(decoder: &Decoder, request: &Request) -> Option<Self> {
        let experts = decoder.config.experts?;
        let most = experts.count / u64::from(request.expert_groups.max(1));
        let rows = request.speculation.map_or(1, |speculation| speculation.guesses + 1);
        let all_from_batch = experts.count.div_ceil(experts.per_token.max(1) * rows);
        Some(Self { loads: decoder.loads(request.batch * rows).0, most, all_from_batch })
    }
}

/// Steps of decode with each bucket, the shortest bucket first: the first token comes from the prompt, and a token at position `p`
/// needs a cache of `p + 1`. The last bucket has room for the whole sequence, whether a step needs it or not.
fn steps_by_bucket(request: &Request) -> Vec<(u64, u64)> {
    let (first, last) = (request.input + 1, request.positions().saturating_sub(1));
    let mut from = first;
    let mut steps = Vec::new();
    for bucket in request.cache_buckets() {
        let to = bucket.min(last);
        if to >= from {
            steps.push((bucket, to - from + 1));
            from = to + 1;
        } else if bucket > last {
            let has_room = steps.last().is_some_and(|(longest, _)| *longest > last);
            steps.extend((!has_room).then_some((bucket, 0)));
            break;
        }
    }
    steps
}

/// The positions in whose program a step runs that needs a cache of `bucket` positions: a longer cache has room too, and the compiler may pad
/// one to whole tiles, so the fastest of the programs serves, and a larger bucket is never the faster one.
fn program_of(decoder: &mut Decoder, request: &Request, bucket: u64) -> Result<u64, Refusal> {
    let longer = steps_by_bucket(request).into_iter().map(|(longer, _)| longer).filter(|longer| *longer >= bucket);
    let mut best = None;
    for positions in longer.flat_map(|longer| padded(longer, [TILE])) {
        let time = step_of(decoder, request, positions)?.time();
        if best.is_none_or(|(fastest, _)| time < fastest) {
            best = Some((time, positions));
        }
    }
    Ok(best.map_or(bucket, |(_, positions)| positions))
}

/// A step by its parts, for each token that it gives: with guesses, all rows of a sequence are computed and its cache is read once.
/// Fails when a segment cannot be compiled.
pub fn step_of(decoder: &mut Decoder, request: &Request, positions: u64) -> Result<StepParts, Refusal> {
    let own = decoder.decode(request.batch, positions)?;
    let Some(speculation) = &request.speculation else { return Ok(own) };
    let wide = decoder.decode(request.batch * (speculation.guesses + 1), positions)?;
    let parts = StepParts { cache: own.cache, host: own.host, ..wide };
    let of_token = |time: SimTime| SimTime::from_secs_f64(time.to_secs_f64() / speculation.tokens_of_step());
    Ok(parts.map(of_token))
}

/// Positions of a tile.
const TILE: u64 = 128;

/// A size, and the same rounded up to whole tiles of some sizes.
fn padded<const N: usize>(size: u64, tiles: [u64; N]) -> impl Iterator<Item = u64> {
    let larger = tiles.into_iter().map(move |tile| size.next_multiple_of(tile)).filter(move |larger| *larger > size);
    std::iter::once(size).chain(larger)
}

/// The prompts of a request, of one sequence or of its batch: in the graph of its length, or of one that is padded to whole tiles or to those of
/// an attention kernel, whichever is faster.
/// On Trn2 a long one is always padded, because the kernel serves it.
/// Fails when a segment cannot be compiled.
pub fn prompt_of(decoder: &mut Decoder, request: &Request, sequences: u64) -> Result<PromptParts, Refusal> {
    let (tokens, tile) = (request.prompt_bucket(), decoder.kernel_tile(request.prompt_bucket()));
    let is_long = decoder.is_later() && tokens > MOST_ROWS;
    let refused = |error: Refusal| {
        let place = format!("{} on {} cores of {}", request.config.name, request.degree, request.instance.name);
        let error = error.within(|what| format!("{place}: a prompt of {tokens} tokens: {what}"));
        error.advise(match request.route() {
            Route::Tnx => "use a shorter prompt, more cores or --route nxdi",
            _ => "use a shorter prompt or more cores",
        })
    };
    let mut best: Option<PromptParts> = None;
    for tokens in padded(if is_long { tokens.next_multiple_of(tile) } else { tokens }, [TILE, tile]) {
        let made = decoder.prefill(sequences, tokens).map_err(refused)?;
        best = Some(best.filter(|best| best.time() <= made.time()).unwrap_or(made));
    }
    Ok(best.unwrap_or_default())
}

/// The bucket in whose program the median token is written.
/// Fails when a segment cannot be compiled.
pub fn median_program(decoder: &mut Decoder, request: &Request) -> Result<u64, Refusal> {
    program_of(decoder, request, median_bucket(request))
}

/// The bucket whose step writes the median token. If the prompt gives the only token, that of the shortest cache that would hold the next.
fn median_bucket(request: &Request) -> u64 {
    let steps = steps_by_bucket(request);
    let all: u64 = steps.iter().map(|(_, count)| count).sum();
    let mut until = 0;
    let has_median = |(_, count): &&(u64, u64)| {
        until += count;
        until * 2 >= all
    };
    steps.iter().find(has_median).map_or(request.positions(), |(bucket, _)| *bucket)
}

/// Simulates a request that [`Request::check`] accepts, but for the segments whose times are known. Fails when a part of the model cannot be
/// compiled.
pub fn generate(request: &Request, calibration: LlmCalibration, times: &KnownTimes) -> Result<Generation, Refusal> {
    generate_with(&mut Decoder::of_request(request, calibration)?.with_times(times), request)
}

/// The same with a decoder whose segments may be known already.
/// Fails as [`generate`].
pub fn generate_with(decoder: &mut Decoder, request: &Request) -> Result<Generation, Refusal> {
    decoder.weights = request.weights;
    let prompt = prompt_of(decoder, request, request.sequences())?;
    let ttft = prompt.time();
    let mut steps = Vec::new();
    for (bucket, count) in steps_by_bucket(request) {
        let program = program_of(decoder, request, bucket)?;
        steps.push((bucket, count, step_of(decoder, request, program)?));
    }
    let median_bucket = median_bucket(request);
    let all: u64 = steps.iter().map(|(_, count, _)| count).sum();
    let total = steps.iter().fold(SimTime::ZERO, |sum, (_, count, parts)| sum + parts.time().times(*count));
    let median = steps.iter().find(|(bucket, ..)| *bucket == median_bucket);
    let median = median.map(|(_, _, parts)| *parts).unwrap_or_default();
    let time_s = (ttft + total).to_secs_f64();
    let throughput = u64_to_f64(request.sequences() * request.output) / time_s.max(1e-12);
    Ok(Generation {
        ttft_ms: ttft.to_ms_f64(),
        tpot_p50_ms: median.time().to_ms_f64(),
        tpot_mean_ms: if all == 0 { median.time().to_ms_f64() } else { total.to_ms_f64() / u64_to_f64(all) },
        throughput_tokens_per_s: throughput,
        step_ms_by_bucket: steps.iter().map(|(bucket, _, parts)| (*bucket, parts.time().to_ms_f64())).collect(),
        breakdown_ms: median.into(),
        ttft_breakdown_ms: prompt.into(),
        expert_loads: ExpertLoads::of(decoder, request),
        serve_command: request.serve_command(),
        memory: request.memory()?,
        cost_usd_per_million_tokens: request.usd_per_million_tokens(throughput),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, Speculation, Weights, llm_instance, named_config};

    /// A longer context never gives more tokens.
    #[test]
    fn throughput_falls_with_the_context() {
        for (model, host, degree) in [
            ("llama-3.1-8b", "inf2.48xlarge", 8),
            ("qwen3-30b-a3b", "trn2.48xlarge", 4),
            ("deepseek-v2-lite", "trn1.32xlarge", 8),
        ] {
            let rates = [128, 512, 2_048, 8_192]
                .map(|input| made(model, host, [degree, 4, input, 128]).throughput_tokens_per_s);
            assert!(rates.windows(2).all(|two| two[1] < two[0]), "{model}: {rates:?}");
        }
    }

    /// With every guess kept, a step of `k + 1` rows gives `k + 1` tokens; with none kept it gives one.
    #[test]
    fn guesses_give_the_tokens_that_are_kept() {
        let own = Request {
            degree: 8,
            ..Request::of(named_config("llama-3.1-8b").unwrap(), llm_instance("inf2.48xlarge").unwrap())
        };
        let mut decoder = Decoder::of_request(&own, FITTED).unwrap();
        let mut at = |acceptance| {
            let request = Request { speculation: Some(Speculation { guesses: 3, acceptance }), ..own.clone() };
            step_of(&mut decoder, &request, 2_048).unwrap().time().to_ms_f64()
        };
        let (all, half, none) = (at(1.0), at(0.5), at(0.0));
        // 1 + a + a^2 + a^3 tokens.
        assert!((none / all - 4.0).abs() < 1e-6 && (none / half - 1.875).abs() < 1e-6, "{all} {half} {none}");
        let plain = decoder.decode(1, 2_048).unwrap().time().to_ms_f64();
        assert!(none > plain && none < 1.3 * plain, "{none} {plain}");
    }

    /// The library of old keeps the scores of all tokens; the kernels of today's do not.
    #[test]
    fn a_long_prompt_is_timed_or_says_what_would_be() {
        let prompt = |host: &str, route, input| {
            let own = Request::of(named_config("llama-3.1-8b").unwrap(), llm_instance(host).unwrap());
            let own = Request { degree: 8, output: 8, input, route, ..own };
            generate(&own, FITTED, &KnownTimes::default()).map(|made| made.ttft_ms)
        };
        for (host, route) in [("trn2.48xlarge", Route::Nxdi), ("inf2.48xlarge", Route::Nxdi)] {
            let times = [16_000, 32_001, 64_003, 131_001].map(|input| prompt(host, Some(route), input).unwrap());
            // Each has twice the tokens and up to four times the pairs.
            assert!(times.windows(2).all(|two| (1.8..4.2).contains(&(two[1] / two[0]))), "{host}: {times:?}");
        }
        let error = prompt("inf2.48xlarge", Some(Route::Tnx), 64_000).unwrap_err().to_string();
        assert!(error.starts_with("llama-3.1-8b on 8 cores of inf2.48xlarge: a prompt of 64000 tokens: "), "{error}");
        assert!(error.ends_with("; use a shorter prompt, more cores or --route nxdi"), "{error}");
    }

    /// A step with guesses has the rows of all of them, and loads experts for each.
    #[test]
    fn guesses_load_experts_too() {
        let own = Request::of(named_config("gpt-oss-20b").unwrap(), llm_instance("trn2.48xlarge").unwrap());
        let own = Request { degree: 4, speculation: Some(Speculation { guesses: 3, acceptance: 0.7 }), ..own };
        let loads = generate(&own, FITTED, &KnownTimes::default()).unwrap().expert_loads;
        assert_eq!(loads, Some(ExpertLoads { loads: 16, most: 32, all_from_batch: 2 }));
    }

    fn made(model: &str, host: &str, [degree, batch, input, output]: [u64; 4]) -> Generation {
        let request = Request {
            degree: degree as u32,
            weights: Weights::Int8,
            batch,
            input,
            output,
            ..Request::of(named_config(model).unwrap(), llm_instance(host).unwrap())
        };
        generate(&request, FITTED, &KnownTimes::default()).unwrap()
    }

    #[test]
    fn a_larger_bucket_is_never_faster_and_the_last_has_room_for_the_sequence() {
        for (model, host, numbers) in [
            ("qwen2.5-7b", "trn3-ultraserver-gen1", [2, 8, 100, 1_024]),
            ("qwen2.5-7b", "inf2.48xlarge", [4, 1, 16, 128]),
            ("llama-2-13b", "trn1.32xlarge", [32, 16, 1, 128]),
            ("qwen2.5-7b", "inf2.48xlarge", [4, 1, 16, 1]),
        ] {
            let made = made(model, host, numbers);
            let steps: Vec<f64> = made.step_ms_by_bucket.values().copied().collect();
            assert!(steps.is_sorted() && steps.contains(&made.tpot_p50_ms), "{model} {numbers:?}: {steps:?}");
            assert!(steps[0] <= made.tpot_mean_ms && made.tpot_mean_ms <= steps[steps.len() - 1], "{steps:?}");
            assert_eq!(made.step_ms_by_bucket.keys().last(), Some(&(numbers[2] + numbers[3])), "{model}");
        }
    }
}
