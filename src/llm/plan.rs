//! The cheapest place for a model under limits, and what is said of a result without a published row beside it.

use ns_machine::arch::{INSTANCES, Instance};
use serde::Serialize;

use super::costs::LlmCalibration;
use super::generate::generate;
use super::request::Request;
use super::serve::Limits;
use super::shard::degrees;

/// A place that keeps the limits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    pub instance: &'static str,
    pub tp: u32,
    pub ttft_ms: f64,
    pub tpot_ms: f64,
    pub usd_per_million_tokens: Option<f64>,
}

/// The place with the lowest cost of a token that keeps the limits; places without a price come last.
#[must_use]
pub fn cheapest_plan(request: &Request, limits: &Limits, calibration: LlmCalibration) -> Option<Plan> {
    let mut plans = Vec::new();
    for instance in INSTANCES {
        for degree in degrees(instance, request.lnc) {
            let at = Request { instance, degree, ..request.clone() };
            if at.check().is_err() {
                continue;
            }
            let Ok(made) = generate(&at, calibration) else { continue };
            if limits.keeps(made.ttft_ms, made.tpot_p50_ms) {
                plans.push(Plan {
                    instance: instance.name,
                    tp: degree,
                    ttft_ms: made.ttft_ms,
                    tpot_ms: made.tpot_p50_ms,
                    usd_per_million_tokens: made.cost_usd_per_million_tokens,
                });
            }
        }
    }
    let cost = |plan: &Plan| plan.usd_per_million_tokens.unwrap_or(f64::INFINITY);
    plans.into_iter().min_by(|a, b| cost(a).total_cmp(&cost(b)))
}

/// What is said of a result on an instance without published rows of text generation.
#[must_use]
pub fn note_of(instance: &Instance) -> Option<&'static str> {
    (instance.core_version > 2).then_some(
        "No published row of text generation is beside this result: collectives and host are those of Inf2 and Trn1.",
    )
}
