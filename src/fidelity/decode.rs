//! Rows of text generation: tensor parallel decoders, by the time to the first token, the time of a step and the throughput.
//!
//! The time of a step is that of the whole batch. Rows in `output tokens/s` divide all new tokens by the whole time. Older rows, in
//! `tokens/s`, count the tokens of the prompt too, and their latency is the whole time over these tokens.

use ns_base::convert::u64_to_f64;
use ns_base::{FxHashMap, Refusal, refuse};
use ns_llm::{Decoder, FITTED, LlmCalibration, Request, Route, Weights, degrees, generate_with, named_config};
use serde::Serialize;

use super::predict::instance_of;
use super::row::{PublishedRow, read_rows};
use super::served::{ServedRow, ServedTime};
use super::tables::DECODE;
use super::{PlacementBasis, Validation, interval_of_tpot, shipped_served_rows};

/// The rows of text generation that ship with the crate, in their order.
pub fn shipped_decode_rows() -> Vec<PublishedRow> {
    read_rows(DECODE.as_bytes()).unwrap_or_default()
}

/// Whether a row is of text generation.
pub fn is_generation(row: &PublishedRow) -> bool {
    row.task.to_ascii_lowercase().starts_with("text generation")
}

/// Published and predicted times of a row of text generation, milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct GenerationTimes {
    pub published_tpot_ms: Option<f64>,
    pub predicted_tpot_ms: f64,
    pub tpot_ratio: Option<f64>,
    pub published_ttft_ms: Option<f64>,
    pub predicted_ttft_ms: f64,
    pub ttft_ratio: Option<f64>,
}

/// A row of text generation, ready to be predicted.
#[derive(Clone, Debug)]
pub struct DecodeCase {
    pub request: Request,
    /// Whether throughput and latency count the tokens of the prompt too.
    pub counts_input: bool,
    pub published_tpot_ms: Option<f64>,
    pub published_ttft_ms: Option<f64>,
    /// Published throughput, unless the notes say that it contradicts the row's other figures.
    pub published_throughput: Option<f64>,
}

/// What a case is predicted to do, in the row's own units.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecodePrediction {
    pub tpot_ms: f64,
    pub ttft_ms: f64,
    pub throughput: f64,
}

impl DecodeCase {
    /// A row as a request.
    /// An error says what the row does not say, or says of a model or an instance that are not known.
    pub fn of(row: &PublishedRow) -> Result<Self, Refusal> {
        let config = named_config(&row.model)?;
        let instance = instance_of(&row.instance)?;
        let degree = tp_of(row).ok_or_else(|| refuse!("no tensor parallel degree"))?;
        if !degrees(instance, None).contains(&degree) {
            return Err(refuse!("{} has no groups of {degree} cores", instance.name));
        }
        let batch = row.batch_size.ok_or_else(|| refuse!("no batch size"))?;
        let length = |name: &str| note(&row.notes, name).ok_or_else(|| refuse!("the notes do not say {name}"));
        let (input, output) = (positive_count(length("Input Length")?)?, positive_count(length("Output Length")?)?);
        let weights = if row.dtype.contains("int8") { Weights::Int8 } else { Weights::Bf16 };
        let contradicts = row.notes.contains("throughput contradicts");
        Ok(Self {
            request: Request {
                degree,
                weights,
                batch: batch.into(),
                input,
                output,
                route: Some(Route::Tnx),
                ..Request::of(config, instance)
            },
            counts_input: !row.throughput_unit.to_ascii_lowercase().starts_with("output"),
            published_tpot_ms: row.latency_p50_ms,
            published_ttft_ms: note(&row.notes, "TTFT_p50_ms"),
            published_throughput: row.published.filter(|_| !contradicts),
        })
    }
}

/// A published row of the model of a request, at any place, batch size and length.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedDecode {
    pub request: Request,
    pub tpot_ms: f64,
    /// New tokens of a second.
    pub throughput: f64,
    /// What measured it: `Transformers NeuronX`.
    pub framework: String,
}

/// Rows whose prompts or answers are longer or shorter than those of a request by more than this do not stand beside it.
const LENGTHS_APART: u64 = 4;

/// The published rows of the model of a request, with the same weights and similar lengths, that say the time of a token and the throughput of
/// new tokens.
pub fn published_decodes(own: &Request) -> Vec<PublishedDecode> {
    let is_same = |row: &Request| {
        let mut config = row.config.clone();
        config.name.clone_from(&own.config.name);
        let is_near = |a: u64, b: u64| a.max(b) <= a.min(b).saturating_mul(LENGTHS_APART);
        let is_as_long = is_near(row.input, own.input) && is_near(row.output, own.output);
        config == own.config && row.weights == own.weights && is_as_long
    };
    let of_row = |row: PublishedRow| {
        let case = DecodeCase::of(&row).ok().filter(|case| !case.counts_input && is_same(&case.request))?;
        let (tpot_ms, throughput) = (case.published_tpot_ms?, case.published_throughput?);
        Some(PublishedDecode { request: case.request, tpot_ms, throughput, framework: row.framework })
    };
    let served = |row: ServedRow| {
        let case = row.case.ok().filter(|case| case.time == ServedTime::Step && case.is_typical)?;
        let framework = case.request.route().to_string();
        // What is published is the step; all of the batch give a token in it.
        let throughput = u64_to_f64(case.request.batch) * 1e3 / row.value_ms;
        let is_own = is_same(&case.request);
        is_own.then_some(PublishedDecode { request: case.request, tpot_ms: row.value_ms, throughput, framework })
    };
    let old = shipped_decode_rows().into_iter().filter_map(of_row);
    old.chain(shipped_served_rows().into_iter().filter_map(served)).collect()
}

/// The degree: `24` in `TP=24; DP=1`.
fn tp_of(row: &PublishedRow) -> Option<u32> {
    let stated = note(&row.n_models_text, "TP").and_then(|n| positive_count(n).ok());
    stated.and_then(|n| u32::try_from(n).ok())
}

/// A number of a text of `name=number` parts.
fn note(text: &str, name: &str) -> Option<f64> {
    let parts = text.split(';').filter_map(|part| part.split_once('='));
    parts.filter(|(key, _)| key.trim().eq_ignore_ascii_case(name)).find_map(|(_, value)| value.trim().parse().ok())
}

fn positive_count(x: f64) -> Result<u64, Refusal> {
    if (1.0..=1e9).contains(&x) { Ok(ns_base::convert::f64_to_u64(x)) } else { Err(refuse!("{x} is not a length")) }
}

/// Decoders whose segments are simulated once, for any number of rows.
#[derive(Default)]
pub struct Decoders {
    of: FxHashMap<(String, &'static str, u32, Route), Decoder>,
}

impl Decoders {
    /// The decoder of a request, with these costs. Fails when its model cannot be shared by so many cores, or the cores cannot be
    /// simulated.
    pub(super) fn of(&mut self, request: &Request, calibration: LlmCalibration) -> Result<&mut Decoder, Refusal> {
        let key = (request.config.name.clone(), request.instance.name, request.degree, request.route());
        let decoder = match self.of.entry(key) {
            std::collections::hash_map::Entry::Occupied(found) => found.into_mut(),
            std::collections::hash_map::Entry::Vacant(place) => {
                place.insert(Decoder::of_request(request, calibration)?)
            }
        };
        decoder.calibration = calibration;
        Ok(decoder)
    }

    /// Predicts a case. Fails when its model cannot be simulated.
    pub fn predict(&mut self, case: &DecodeCase, calibration: LlmCalibration) -> Result<DecodePrediction, Refusal> {
        let request = &case.request;
        let decoder = self.of(request, calibration)?;
        let made = generate_with(decoder, request)?;
        let (ttft_ms, tpot_ms, throughput) = (made.ttft_ms, made.tpot_p50_ms, made.throughput_tokens_per_s);
        if !case.counts_input {
            return Ok(DecodePrediction { tpot_ms, ttft_ms, throughput });
        }
        let total_ms = u64_to_f64(request.batch * request.output) / throughput * 1e3;
        let tokens = u64_to_f64(request.positions());
        let throughput = tokens * u64_to_f64(request.batch) / total_ms * 1e3;
        Ok(DecodePrediction { tpot_ms: total_ms / tokens, ttft_ms, throughput })
    }
}

/// Predicts a row of text generation and compares it with the published figures.
pub fn validate_generation(row: &PublishedRow, decoders: &mut Decoders) -> Validation {
    let outcome = DecodeCase::of(row).and_then(|case| {
        let predicted = decoders.predict(&case, FITTED)?;
        Ok((case, predicted))
    });
    let base = Validation {
        model: row.model.clone(),
        instance: row.instance.clone(),
        batch_size: row.batch_size,
        published: row.published,
        predicted: None,
        throughput_low: None,
        throughput_high: None,
        ratio: None,
        skipped: None,
        n_models: Some(1),
        workers_per_model: Some(1),
        placed_by: Some(PlacementBasis::Stated),
        solved: None,
        generation: None,
    };
    match outcome {
        Err(reason) => {
            let skipped = Some(reason.to_string());
            Validation { skipped, n_models: None, workers_per_model: None, placed_by: None, ..base }
        }
        Ok((case, predicted)) => {
            let ratio = |published: Option<f64>, here: f64| published.filter(|p| *p > 0.0).map(|p| here / p);
            let generation = GenerationTimes {
                published_tpot_ms: case.published_tpot_ms,
                predicted_tpot_ms: predicted.tpot_ms,
                tpot_ratio: ratio(case.published_tpot_ms, predicted.tpot_ms),
                published_ttft_ms: case.published_ttft_ms,
                predicted_ttft_ms: predicted.ttft_ms,
                ttft_ratio: ratio(case.published_ttft_ms, predicted.ttft_ms),
            };
            // A step that takes longer gives as much fewer tokens.
            let interval = interval_of_tpot(predicted.tpot_ms, &case.request);
            let at = |tpot_ms: f64| predicted.throughput * predicted.tpot_ms / tpot_ms;
            Validation {
                predicted: Some(predicted.throughput),
                throughput_low: interval.map(|(_, slowest)| at(slowest)),
                throughput_high: interval.map(|(fastest, _)| at(fastest)),
                ratio: ratio(case.published_throughput, predicted.throughput),
                generation: Some(generation),
                ..base
            }
        }
    }
}
