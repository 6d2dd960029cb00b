//! Serving with continuous batching: requests arrive at random, join a running batch after their prompt, and leave it.
//!
//! The executables have one shape: a step serves as many sequences as the batch has places, and costs the same with fewer. A prompt
//! runs between two steps, so the others wait for it.

use std::collections::VecDeque;
use std::fmt;

use ns_base::Order;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::stats::percentile_sorted;
use ns_base::units::format_number;
use ns_base::{Refusal, Rng, SimTime, refuse};
use serde::Serialize;

use super::costs::LlmCalibration;
use super::generate::{prompt_of, step_of};
use super::request::Request;
use super::step::Decoder;

/// Limits that a served request keeps to count as good.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Limits {
    /// Time to the first token, milliseconds.
    pub ttft_ms: Option<f64>,
    /// Mean time of the other tokens, milliseconds.
    pub tpot_ms: Option<f64>,
}

impl Limits {
    /// Whether a request keeps the limits.
    pub fn keeps(&self, ttft_ms: f64, tpot_ms: f64) -> bool {
        self.misses(ttft_ms, tpot_ms).is_empty()
    }

    /// The limits that times break.
    pub fn misses(&self, ttft_ms: f64, tpot_ms: f64) -> Vec<LimitMiss> {
        let all = [("first token", ttft_ms, self.ttft_ms), ("token", tpot_ms, self.tpot_ms)];
        let miss = |(what, ms, limit): (&'static str, f64, Option<f64>)| {
            let limit_ms = limit.filter(|most| ms > *most)?;
            Some(LimitMiss { what, limit_ms, above_ms: ms - limit_ms })
        };
        all.into_iter().filter_map(miss).collect()
    }

    /// Checks that the limits are times.
    /// An error names the flag of the limit that is none.
    pub fn check(&self) -> Result<(), Refusal> {
        for (flag, ms) in [("--max-ttft-ms", self.ttft_ms), ("--max-tpot-ms", self.tpot_ms)] {
            if let Some(ms) = ms.filter(|ms| !(ms.is_finite() && *ms > 0.0)) {
                return Err(refuse!("{flag} {ms} is not possible; use milliseconds above 0"));
            }
        }
        Ok(())
    }

    pub const fn is_none(&self) -> bool {
        self.ttft_ms.is_none() && self.tpot_ms.is_none()
    }
}

/// A limit in words: `first token within 500 ms, each token within 20 ms`.
impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = [("first token", self.ttft_ms), ("each token", self.tpot_ms)];
        let given: Vec<String> =
            all.iter().filter_map(|(what, ms)| Some(format!("{what} within {} ms", (*ms)?))).collect();
        f.write_str(&given.join(", "))
    }
}

/// A limit that a result breaks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LimitMiss {
    /// `first token` or `token`.
    pub what: &'static str,
    pub limit_ms: f64,
    /// Milliseconds beyond the limit.
    pub above_ms: f64,
}

impl fmt::Display for LimitMiss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ms above the limit of {} ms", self.what, format_number(self.above_ms), self.limit_ms)
    }
}

/// Requests that arrive at random.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traffic {
    /// Mean rate; the times between arrivals are exponential.
    pub requests_per_s: f64,
    pub requests: u32,
    pub seed: u64,
    pub limits: Limits,
    /// Tokens of a prompt that run between two steps; all where it is absent, so that the other sequences wait for a whole prompt.
    pub chunk: Option<u64>,
}

/// `neuronscope generate --request-rate --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServeReport {
    pub requests: u32,
    /// From the first arrival to the last token, seconds.
    pub time_s: f64,
    /// Percentiles 50, 90 and 99.
    pub ttft_ms: [f64; 3],
    /// The same of the mean time of a request's tokens after the first.
    pub tpot_ms: [f64; 3],
    pub throughput_tokens_per_s: f64,
    pub requests_per_s: f64,
    /// Requests within the limits, a second.
    pub goodput_requests_per_s: f64,
    /// Sequences in a step, on average.
    pub mean_batch: f64,
    /// The highest rate at which 9 of 10 requests keep the limits; without limits, at which half of the first tokens come within twice the time of
    /// a prompt. Absent where no rate does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee_requests_per_s: Option<f64>,
    /// The same requests, at most 500 of them, at other rates, the lowest first.
    pub rates: Vec<RateFigures>,
    /// The command of a server that runs it.
    pub serve_command: String,
    /// What the model's configuration says and the figures leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// What requests see at one rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RateFigures {
    /// Requests a second that arrive.
    pub rate: f64,
    pub requests_per_s: f64,
    pub goodput_requests_per_s: f64,
    /// Median and 99th percentile of the time to the first token, milliseconds.
    pub ttft_ms: [f64; 2],
    /// Median of the mean time of a request's tokens after the first, milliseconds.
    pub tpot_ms: f64,
    pub throughput_tokens_per_s: f64,
}

/// Rates that are tried for the knee, as shares of what a full batch serves.
const SHARES: [f64; 14] = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0, 1.2];

/// Most requests of each rate that is tried.
const MOST_AT_A_RATE: u32 = 500;

/// Most requests of a run.
const MOST_REQUESTS: u32 = 100_000;

struct Active {
    arrival: Moment,
    first: Moment,
    left: u64,
}

/// What the server's executables take.
struct Times {
    /// Pieces of a prompt, and the time of each.
    pieces: u64,
    piece: SimTime,
    /// A step by the positions of its cache, the shortest first.
    steps: Vec<(u64, SimTime)>,
}

impl Times {
    /// The step that has room for so many positions.
    fn step(&self, positions: u64) -> SimTime {
        let fits = self.steps.iter().find(|(bucket, _)| *bucket >= positions);
        fits.or(self.steps.last()).map_or(SimTime::ZERO, |(_, time)| *time)
    }

    fn longest(&self) -> SimTime {
        self.steps.last().map_or(SimTime::ZERO, |(_, time)| *time)
    }
}

/// A time since the start of a run, which may last longer than [`SimTime`] reaches: picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Moment(u128);

const PS_PER_S: u128 = 1_000_000_000_000;

impl Moment {
    fn from_secs(secs: f64) -> Self {
        let whole = f64_to_u64(secs);
        match whole < 1_000_000 {
            true => Self(SimTime::from_secs_f64(secs).0.into()),
            false => Self(u128::from(whole) * PS_PER_S),
        }
    }

    fn after(self, time: SimTime) -> Self {
        Self(self.0.saturating_add(time.0.into()))
    }

    fn ms_since(self, earlier: Self) -> f64 {
        let ps = u64::try_from(self.0.saturating_sub(earlier.0));
        ps.map_or_else(|_| self.secs_since(earlier) * 1e3, |ps| SimTime(ps).to_ms_f64())
    }

    fn secs_since(self, earlier: Self) -> f64 {
        let ps = self.0.saturating_sub(earlier.0);
        let whole = |_| u64_to_f64(u64::try_from(ps / PS_PER_S).unwrap_or(u64::MAX));
        u64::try_from(ps).map_or_else(whole, |ps| SimTime(ps).to_secs_f64())
    }
}

/// The finished requests: their times to the first token and of a token, milliseconds.
#[derive(Default)]
struct RequestTimes {
    ttft_ms: Vec<f64>,
    tpot_ms: Vec<f64>,
    good: u32,
}

/// An error names the option that is not possible, and what is.
fn check(request: &Request, traffic: &Traffic) -> Result<(), Refusal> {
    if !(traffic.requests_per_s > 0.0 && traffic.requests_per_s <= 1e6) {
        return Err(refuse!(
            "--request-rate {} is not possible; it must be above 0 and at most 1000000",
            traffic.requests_per_s
        ));
    }
    if traffic.requests == 0 || traffic.requests > MOST_REQUESTS {
        return Err(refuse!(
            "--requests {} is not possible; it must be between 1 and {MOST_REQUESTS}",
            traffic.requests
        ));
    }
    if request.active.is_some() {
        return Err(refuse!(
            "--active is of a step; with --request-rate as many sequences run as arrive, so leave --active out"
        ));
    }
    if traffic.chunk == Some(0) {
        return Err(refuse!("--prefill-chunk 0 is not possible; use tokens above 0"));
    }
    traffic.limits.check()
}

/// Serves requests with the lengths and the batch of `request`, which [`Request::check`] accepts.
/// Fails when the rate or the number of requests is not possible, or a part of the model cannot be compiled.
pub fn serve(request: &Request, traffic: &Traffic, calibration: LlmCalibration) -> Result<ServeReport, Refusal> {
    check(request, traffic)?;
    let mut decoder = Decoder::of_request(request, calibration)?;
    decoder.weights = request.weights;
    let whole = prompt_of(&mut decoder, request, 1)?.time();
    let chunk = traffic.chunk.filter(|chunk| *chunk < request.input);
    let pieces = chunk.map_or(1, |chunk| request.input.div_ceil(chunk));
    // A piece has its own host and weights, and no less than its part of the whole prompt.
    let piece = match chunk {
        Some(chunk) => {
            prompt_of(&mut decoder, &Request { input: chunk, buckets: vec![chunk], ..request.clone() }, 1)?.time()
        }
        None => whole,
    };
    let piece = piece.max(SimTime(whole.0 / pieces));
    let mut steps = Vec::new();
    for bucket in request.cache_buckets() {
        steps.push((bucket, step_of(&mut decoder, request, bucket)?.time()));
    }
    let times = Times { pieces, piece, steps };
    let report = run(request, traffic, &times);
    let full = u64_to_f64(request.batch)
        / (u64_to_f64(request.batch * pieces) * piece.to_secs_f64()
            + u64_to_f64(request.output) * times.longest().to_secs_f64())
        .max(1e-12);
    let at = |share: f64| {
        let requests_per_s = (full * share).clamp(1e-6, 1e6);
        let requests = traffic.requests.min(MOST_AT_A_RATE);
        (requests_per_s, run(request, &Traffic { requests_per_s, requests, ..*traffic }, &times))
    };
    let all: Vec<(f64, ServeReport)> = SHARES.into_iter().map(at).collect();
    let idle_ms = u64_to_f64(pieces) * piece.to_ms_f64();
    let is_good = |report: &ServeReport| match traffic.limits.is_none() {
        true => report.ttft_ms[0] <= 2.0 * idle_ms,
        false => report.goodput_requests_per_s >= 0.9 * report.requests_per_s,
    };
    let knee_requests_per_s = all.iter().take_while(|(_, report)| is_good(report)).last().map(|(rate, _)| *rate);
    let rates = all.iter().map(|(rate, report)| RateFigures {
        rate: *rate,
        requests_per_s: report.requests_per_s,
        goodput_requests_per_s: report.goodput_requests_per_s,
        ttft_ms: [report.ttft_ms[0], report.ttft_ms[2]],
        tpot_ms: report.tpot_ms[0],
        throughput_tokens_per_s: report.throughput_tokens_per_s,
    });
    Ok(ServeReport { knee_requests_per_s, rates: rates.collect(), ..report })
}

fn run(request: &Request, traffic: &Traffic, times: &Times) -> ServeReport {
    let mut waiting = arrivals(traffic);
    let first_arrival = waiting.front().copied().unwrap_or_default();
    let (mut now, mut steps, mut served) = (first_arrival, 0u64, 0u64);
    let mut active: Vec<Active> = Vec::new();
    let mut finished = RequestTimes::default();
    // The prompt that is read, and its pieces that are left.
    let mut read: Option<(Moment, u64)> = None;
    let mut was_piece = false;
    while !waiting.is_empty() || !active.is_empty() || read.is_some() {
        let has_place = (active.len() as u64) < request.batch;
        if read.is_none()
            && let Some(arrival) =
                waiting.front().copied().filter(|arrival| has_place && (*arrival <= now || active.is_empty()))
        {
            waiting.pop_front();
            now = now.max(arrival);
            read = Some((arrival, times.pieces));
            was_piece = false;
        }
        // A whole prompt runs at once; between two pieces of one the others have a step.
        if let Some((arrival, left)) = read.filter(|_| !was_piece || active.is_empty()) {
            now = now.after(times.piece);
            was_piece = true;
            read = (left > 1).then_some((arrival, left - 1));
            if read.is_none() {
                was_piece = false;
                active.push(Active { arrival, first: now, left: request.output - 1 });
            }
        } else {
            let longest = active.iter().map(|a| request.positions() - a.left.min(request.output)).max().unwrap_or(0);
            now = now.after(times.step(longest));
            was_piece = false;
            steps += 1;
            served += active.len() as u64;
            active.iter_mut().for_each(|a| a.left = a.left.saturating_sub(1));
        }
        active.retain(|a| {
            if a.left == 0 {
                let ttft_ms = a.first.ms_since(a.arrival);
                let tpot_ms = now.ms_since(a.first) / u64_to_f64((request.output - 1).max(1));
                finished.good += u32::from(traffic.limits.keeps(ttft_ms, tpot_ms));
                finished.ttft_ms.push(ttft_ms);
                finished.tpot_ms.push(tpot_ms);
            }
            a.left > 0
        });
    }
    let time_s = now.secs_since(first_arrival).max(1e-12);
    report_of(request, traffic, finished, time_s, u64_to_f64(served) / u64_to_f64(steps.max(1)))
}

fn report_of(
    request: &Request,
    traffic: &Traffic,
    finished: RequestTimes,
    time_s: f64,
    mean_batch: f64,
) -> ServeReport {
    let percentiles = |mut values: Vec<f64>| {
        values.order_by(f64::total_cmp);
        [50.0, 90.0, 99.0].map(|p| percentile_sorted(&values, p).unwrap_or(0.0))
    };
    let rate = |n: f64| n / time_s;
    ServeReport {
        requests: traffic.requests,
        time_s,
        ttft_ms: percentiles(finished.ttft_ms),
        tpot_ms: percentiles(finished.tpot_ms),
        throughput_tokens_per_s: rate(f64::from(traffic.requests) * u64_to_f64(request.output)),
        requests_per_s: rate(f64::from(traffic.requests)),
        goodput_requests_per_s: rate(f64::from(finished.good)),
        mean_batch,
        knee_requests_per_s: None,
        rates: Vec::new(),
        serve_command: request.serve_command(),
        remarks: request.remarks(),
    }
}

/// Times of arrival, in order.
fn arrivals(traffic: &Traffic) -> VecDeque<Moment> {
    let mut rng = Rng::new(traffic.seed, 0);
    let mut at = 0.0;
    (0..traffic.requests)
        .map(|_| {
            at += rng.exponential_f64() / traffic.requests_per_s;
            Moment::from_secs(at)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{llm_instance, named_config};

    #[test]
    fn requests_wait_when_they_come_too_fast() {
        let request = Request {
            batch: 4,
            output: 101,
            continuous: true,
            ..Request::of(named_config("llama-2-7b").unwrap(), llm_instance("inf2.48xlarge").unwrap())
        };
        let (prompt, step) = (SimTime::from_us(20_000), SimTime::from_us(10_000));
        let at = |requests_per_s| {
            let limits = Limits { ttft_ms: Some(100.0), tpot_ms: Some(20.0) };
            let times = Times { pieces: 1, piece: prompt, steps: vec![(request.positions(), step)] };
            run(&request, &Traffic { requests_per_s, requests: 200, seed: 1, limits, chunk: None }, &times)
        };
        let (slow, fast) = (at(0.1), at(100.0));
        assert!((slow.ttft_ms[0] - 20.0).abs() < 0.1 && (slow.tpot_ms[0] - 10.0).abs() < 0.1, "{slow:?}");
        assert!(slow.mean_batch < 1.5 && fast.mean_batch > 3.5);
        assert!(fast.ttft_ms[0] > 1_000.0 && fast.tpot_ms[0] > slow.tpot_ms[0]);
        assert!(fast.throughput_tokens_per_s > slow.throughput_tokens_per_s);
        assert!(fast.goodput_requests_per_s < fast.requests_per_s);
        assert_eq!(at(3.0), at(3.0));
        // Requests that come once in centuries are served one by one.
        for rate in [1e-4, 1e-9, 1e-12] {
            let alone = at(rate);
            assert!((alone.mean_batch - 1.0).abs() < 1e-9 && (alone.ttft_ms[2] - 20.0).abs() < 1e-6, "{alone:?}");
            assert!((alone.requests_per_s / rate - 1.0).abs() < 0.2, "{alone:?}");
        }
    }

    #[test]
    fn pieces_of_prompts_let_the_others_go_on_and_shorter_caches_are_faster() {
        let request = Request {
            batch: 4,
            output: 101,
            continuous: true,
            ..Request::of(named_config("llama-2-7b").unwrap(), llm_instance("inf2.48xlarge").unwrap())
        };
        let limits = Limits::default();
        let traffic = Traffic { requests_per_s: 2.0, requests: 200, seed: 1, limits, chunk: None };
        let some = serve(&Request { active: Some(2), ..request.clone() }, &traffic, crate::FITTED).unwrap_err();
        assert!(some.to_string().ends_with("leave --active out"), "{some}");
        let ms = |ms: u64| SimTime::from_us(ms * 1_000);
        let at = |pieces, piece, steps: &[(u64, SimTime)]| {
            run(&request, &traffic, &Times { pieces, piece, steps: steps.to_vec() })
        };
        let one = [(229, ms(10))];
        let (whole, pieces) = (at(1, ms(200), &one), at(4, ms(50), &one));
        // Two requests in four meet a prompt: tokens wait less for a piece, first tokens wait for the steps between.
        assert!(pieces.ttft_ms[0] > whole.ttft_ms[0], "{whole:?} {pieces:?}");
        assert!((pieces.throughput_tokens_per_s / whole.throughput_tokens_per_s - 1.0).abs() < 0.05);
        // By hand: a lone request of four pieces has no step between them, and each of its 100 further tokens takes a step.
        let lone = Traffic { requests_per_s: 1e-6, requests: 3, ..traffic };
        let alone = run(&request, &lone, &Times { pieces: 4, piece: ms(50), steps: one.to_vec() });
        assert!((alone.ttft_ms[0] - 200.0).abs() < 1e-3 && (alone.tpot_ms[0] - 10.0).abs() < 1e-3, "{alone:?}");
        let short = at(1, ms(200), &[(160, ms(6)), (229, ms(10))]);
        assert!(short.tpot_ms[0] < whole.tpot_ms[0]);
    }
}
