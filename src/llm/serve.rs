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
use super::generate::prompt_of;
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
    ///
    /// # Errors
    /// Names the flag of the limit that is none.
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
    /// What the model's configuration says and the figures leave out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
}

/// Most requests of a run.
const MOST_REQUESTS: u32 = 100_000;

struct Active {
    arrival: Moment,
    first: Moment,
    left: u64,
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

/// Serves requests with the lengths and the batch of `request`, which [`Request::check`] accepts.
///
/// # Errors
/// When the rate or the number of requests is not possible, or a part of the model cannot be compiled.
pub fn serve(request: &Request, traffic: &Traffic, calibration: LlmCalibration) -> Result<ServeReport, Refusal> {
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
    traffic.limits.check()?;
    let mut decoder = Decoder::of_request(request, calibration)?;
    decoder.weights = request.weights;
    let prompt = prompt_of(&mut decoder, request, 1)?.time();
    let step = decoder.decode(request.batch, request.positions())?.time();
    Ok(run(request, traffic, prompt, step))
}

fn run(request: &Request, traffic: &Traffic, prompt: SimTime, step: SimTime) -> ServeReport {
    let mut waiting = arrivals(traffic);
    let first_arrival = waiting.front().copied().unwrap_or_default();
    let (mut now, mut steps, mut served) = (first_arrival, 0u64, 0u64);
    let mut active: Vec<Active> = Vec::new();
    let mut finished = RequestTimes::default();
    while !waiting.is_empty() || !active.is_empty() {
        let has_place = (active.len() as u64) < request.batch;
        if let Some(arrival) =
            waiting.front().copied().filter(|arrival| has_place && (*arrival <= now || active.is_empty()))
        {
            waiting.pop_front();
            now = now.max(arrival).after(prompt);
            active.push(Active { arrival, first: now, left: request.output - 1 });
        } else {
            now = now.after(step);
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
        mean_batch: u64_to_f64(served) / u64_to_f64(steps.max(1)),
        remarks: request.config.remarks.clone(),
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
    use crate::{Weights, llm_instance, named_config};

    #[test]
    fn requests_wait_when_they_come_too_fast() {
        let request = Request {
            config: named_config("llama-2-7b").unwrap(),
            instance: llm_instance("inf2.48xlarge").unwrap(),
            degree: 24,
            lnc: None,
            weights: Weights::Bf16,
            batch: 4,
            input: 128,
            output: 101,
            buckets: Vec::new(),
            continuous: true,
            route: None,
        };
        let (prompt, step) = (SimTime::from_us(20_000), SimTime::from_us(10_000));
        let at = |requests_per_s| {
            let limits = Limits { ttft_ms: Some(100.0), tpot_ms: Some(20.0) };
            run(&request, &Traffic { requests_per_s, requests: 200, seed: 1, limits }, prompt, step)
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
}
