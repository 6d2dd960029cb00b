//! The cheapest place for a model under limits, and what is said of a result without a published row beside it.

use ns_base::units::format_number;
use ns_machine::arch::{INSTANCES, Instance};
use serde::Serialize;

use super::costs::LlmCalibration;
use super::generate::{Generation, generate};
use super::request::Request;
use super::serve::{LimitMiss, Limits};
use super::shard::degrees;
use super::windows::KnownTimes;

/// The cheapest place that keeps the limits, or the nearest if none does.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub instance: &'static str,
    pub tp: u32,
    pub ttft_ms: f64,
    pub tpot_ms: f64,
    pub usd_per_million_tokens: Option<f64>,
    /// The limits that it breaks; empty for a place that keeps them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misses: Vec<LimitMiss>,
}

impl Plan {
    pub fn of(request: &Request, made: &Generation, limits: &Limits) -> Self {
        Self {
            instance: request.instance.name,
            tp: request.degree,
            ttft_ms: made.ttft_ms,
            tpot_ms: made.tpot_p50_ms,
            usd_per_million_tokens: made.cost_usd_per_million_tokens,
            misses: limits.misses(made.ttft_ms, made.tpot_p50_ms),
        }
    }

    /// The limits that it breaks, in words.
    pub fn missed(&self) -> String {
        self.misses.iter().map(LimitMiss::to_string).collect::<Vec<_>>().join(", ")
    }

    /// The largest miss as a share of its limit.
    fn excess(&self) -> f64 {
        self.misses.iter().map(|miss| miss.above_ms / miss.limit_ms.max(1e-12)).fold(0.0, f64::max)
    }

    /// What is said of the place.
    pub fn title(&self, limits: &Limits) -> String {
        let place = format!("{} at TP {}", self.instance, self.tp);
        match (limits.is_none(), self.misses.is_empty()) {
            (true, _) => format!("The cheapest place is {place}."),
            (false, true) if self.usd_per_million_tokens.is_none() => {
                format!("Only places without a published price keep the limits. The first is {place}.")
            }
            (false, true) => format!("The cheapest within the limits is {place}."),
            (false, false) => format!("No place keeps the limits. The nearest is {place}: {}.", self.missed()),
        }
    }

    pub fn figures(&self) -> String {
        let cost = self.usd_per_million_tokens;
        let cost = cost.map_or_else(String::new, |usd| format!(", {} US$ for a million tokens", format_number(usd)));
        format!("First token {} ms, each token {} ms{cost}.", format_number(self.ttft_ms), format_number(self.tpot_ms))
    }
}

/// The cheapest of the places that keep the limits, where those without a price come last; if none does, the one whose largest miss is the
/// smallest share of its limit.
pub fn best_plan(plans: impl IntoIterator<Item = Plan>) -> Option<Plan> {
    let rank = |plan: &Plan| (plan.excess(), plan.usd_per_million_tokens.unwrap_or(f64::INFINITY));
    plans.into_iter().min_by(|a, b| {
        let (a, b) = (rank(a), rank(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

/// The best place of all, by [`best_plan`].
pub fn cheapest_plan(request: &Request, limits: &Limits, calibration: LlmCalibration) -> Option<Plan> {
    let (mut plans, times) = (Vec::new(), KnownTimes::default());
    for instance in INSTANCES {
        for degree in degrees(instance, request.lnc) {
            let at = Request { instance, degree, ..request.clone() };
            if at.check().is_err() {
                continue;
            }
            plans.extend(generate(&at, calibration, &times).ok().map(|made| Plan::of(&at, &made, limits)));
        }
    }
    best_plan(plans)
}

/// What is said of a result on an instance of Trn3, which has one published row of text generation, in the README of
/// `KevGomes1403/nki-moe-megakernel`. A test compares.
pub fn note_of(instance: &Instance) -> Option<&'static str> {
    (instance.core_version > 3).then_some(
        "Trn3 has one published row: a token of Qwen3-30B-A3B on 4 cores takes 14.4 ms, and 9.43 ms with a kernel for its experts. \
         Collectives and host are those of Trn2.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FITTED, llm_instance, named_config};

    #[test]
    fn the_row_of_trn3_is_near() {
        let instance = llm_instance("trn3-ultraserver-gen2").unwrap();
        let own = Request { degree: 4, output: 640, ..Request::of(named_config("qwen3-30b-a3b").unwrap(), instance) };
        let made = generate(&own, FITTED, &KnownTimes::default()).unwrap().tpot_p50_ms;
        assert!((made / 14.37 - 1.0).abs() < 0.15, "{made}");
        assert!(note_of(instance).unwrap().contains("takes 14.4 ms"));
    }

    #[test]
    fn the_cheapest_keeps_the_limits_and_else_the_nearest_says_what_it_misses() {
        let plan = |instance, ttft_ms, tpot_ms, usd, limits: &Limits| Plan {
            instance,
            tp: 2,
            ttft_ms,
            tpot_ms,
            usd_per_million_tokens: usd,
            misses: limits.misses(ttft_ms, tpot_ms),
        };
        let best = |limits: Limits| {
            let all = [
                plan("slow", 100.0, 60.0, Some(1.0), &limits),
                plan("good", 100.0, 40.0, Some(3.0), &limits),
                plan("dear", 100.0, 30.0, Some(9.0), &limits),
                plan("unpriced", 100.0, 10.0, None, &limits),
            ];
            best_plan(all).unwrap().title(&limits)
        };
        let within = |tpot_ms| Limits { ttft_ms: Some(500.0), tpot_ms: Some(tpot_ms) };
        assert_eq!(best(Limits::default()), "The cheapest place is slow at TP 2.");
        assert_eq!(best(within(50.0)), "The cheapest within the limits is good at TP 2.");
        let unpriced = "Only places without a published price keep the limits. The first is unpriced at TP 2.";
        assert_eq!(best(within(20.0)), unpriced);
        let nearest =
            "No place keeps the limits. The nearest is unpriced at TP 2: token 2.00 ms above the limit of 8 ms.";
        assert_eq!(best(within(8.0)), nearest);
    }
}
