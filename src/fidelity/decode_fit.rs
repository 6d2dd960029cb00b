//! Fits the numbers of collectives and of the first token to rows of text generation.

use ns_base::convert::u64_to_f64;
use ns_llm::{FITTED, LlmCalibration};

use super::decode::{DecodeCase, DecodePrediction, Decoders};
use super::search::{models_in_order, pattern_search, squares_of_ratios};
use super::{PublishedRow, Summary};

/// The starting point of every search.
const START: LlmCalibration = LlmCalibration {
    all_reduce_ns: 25_000,
    further_cache_permille: 300,
    first_token_inf2_us: 16_000,
    first_token_trn_us: 8_000,
    ..FITTED
};
const FIRST_STEP: [f64; 4] = [0.2; 4];
const HALVINGS: u32 = 5;

/// Weight of the error of a first token beside that of a step: these times scatter four times as much.
const TTFT_WEIGHT: f64 = 1.0 / 16.0;

/// Longest prompts whose first tokens count in a fit; longer ones fall into two classes that no document tells apart.
const LONGEST_PROMPT: u64 = 1_024;

/// Parameters, and the ratios of predicted to published of the rows they were fitted to.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodeFit {
    pub calibration: LlmCalibration,
    pub tpot: Vec<f64>,
    /// First tokens of prompts that count in a fit.
    pub ttft: Vec<f64>,
    /// First tokens of longer prompts.
    pub long_ttft: Vec<f64>,
    pub throughput: Vec<f64>,
}

/// A model's rows, predicted with parameters fitted without them.
#[derive(Clone, Debug, PartialEq)]
pub struct DecodeLeftOut {
    pub model: String,
    pub calibration: LlmCalibration,
    /// Predicted over published time of a step of each of these rows.
    pub tpot: Vec<f64>,
}

/// Rows whose segments are simulated once.
pub struct DecodeCalibrator {
    cases: Vec<(String, DecodeCase)>,
    decoders: Decoders,
}

impl DecodeCalibrator {
    /// The rows of text generation that can be predicted; others are left out.
    pub fn new(rows: &[PublishedRow]) -> Self {
        let generation = rows.iter().filter(|row| super::is_generation(row));
        let cases = generation.filter_map(|row| Some((row.model.clone(), DecodeCase::of(row).ok()?))).collect();
        Self { cases, decoders: Decoders::default() }
    }

    /// Whether there is a row to fit to.
    pub fn is_empty(&self) -> bool {
        self.cases.is_empty()
    }

    fn predictions(
        &mut self,
        calibration: LlmCalibration,
        keep: &impl Fn(&str) -> bool,
    ) -> Vec<(DecodeCase, DecodePrediction)> {
        let mut made = Vec::with_capacity(self.cases.len());
        for (_, case) in self.cases.iter().filter(|(model, _)| keep(model)) {
            if let Ok(prediction) = self.decoders.predict(case, calibration) {
                made.push((case.clone(), prediction));
            }
        }
        made
    }

    /// The ratios of the rows whose model `keep` accepts.
    pub fn ratios(&mut self, calibration: LlmCalibration, keep: impl Fn(&str) -> bool) -> DecodeFit {
        let made = self.predictions(calibration, &keep);
        let of = |published: &dyn Fn(&DecodeCase) -> Option<f64>, here: &dyn Fn(&DecodePrediction) -> f64| {
            made.iter().filter_map(|(case, p)| Some(here(p) / published(case)?)).collect()
        };
        DecodeFit {
            calibration,
            tpot: of(&|c| c.published_tpot_ms, &|p| p.tpot_ms),
            ttft: of(&|c| c.published_ttft_ms.filter(|_| c.request.input <= LONGEST_PROMPT), &|p| p.ttft_ms),
            long_ttft: of(&|c| c.published_ttft_ms.filter(|_| c.request.input > LONGEST_PROMPT), &|p| p.ttft_ms),
            throughput: of(&|c| c.published_throughput, &|p| p.throughput),
        }
    }

    fn error(&mut self, calibration: LlmCalibration, keep: &impl Fn(&str) -> bool) -> f64 {
        let ratios = self.ratios(calibration, keep);
        squares_of_ratios(&ratios.tpot) + TTFT_WEIGHT * squares_of_ratios(&ratios.ttft)
    }

    /// Fits the parameters to the rows whose model `keep` accepts.
    pub fn fit(&mut self, keep: impl Fn(&str) -> bool) -> DecodeFit {
        let best = pattern_search(START, FIRST_STEP, HALVINGS, scaled, |c| self.error(*c, &keep));
        self.ratios(rounded(best), keep)
    }

    /// Fits with each model left out in turn, in the order in which the rows name them.
    pub fn leave_one_model_out(&mut self) -> Vec<DecodeLeftOut> {
        let mut left_out = Vec::new();
        for model in models_in_order(self.cases.iter().map(|(model, _)| model.as_str())) {
            let calibration = self.fit(|m| m != model).calibration;
            let tpot = self.ratios(calibration, |m| m == model).tpot;
            left_out.push(DecodeLeftOut { model, calibration, tpot });
        }
        left_out
    }
}

impl DecodeFit {
    /// Errors of steps, first tokens and throughputs.
    pub fn summaries(&self) -> [(&'static str, Summary); 4] {
        let of = |ratios: &[f64]| Summary::of_ratios(ratios);
        [
            ("TPOT", of(&self.tpot)),
            ("TTFT, prompts up to 1,024 tokens", of(&self.ttft)),
            ("TTFT, longer prompts", of(&self.long_ttft)),
            ("throughput", of(&self.throughput)),
        ]
    }
}

/// A calibration with one parameter multiplied.
fn scaled(calibration: &LlmCalibration, parameter: usize, factor: f64) -> LlmCalibration {
    let mut c = *calibration;
    let of = |x: u64| ns_base::convert::f64_to_u64(libm::round(u64_to_f64(x) * factor));
    match parameter {
        0 => c.all_reduce_ns = of(c.all_reduce_ns),
        1 => c.further_cache_permille = of(c.further_cache_permille),
        2 => c.first_token_inf2_us = of(c.first_token_inf2_us),
        _ => c.first_token_trn_us = of(c.first_token_trn_us),
    }
    c
}

/// Rounds to two or three digits: the rows do not determine more.
fn rounded(c: LlmCalibration) -> LlmCalibration {
    let to = |x: u64, unit: u64| (x + unit / 2) / unit * unit;
    LlmCalibration {
        all_reduce_ns: to(c.all_reduce_ns, 100),
        further_cache_permille: to(c.further_cache_permille, 10),
        first_token_inf2_us: to(c.first_token_inf2_us, 100),
        first_token_trn_us: to(c.first_token_trn_us, 100),
        ..c
    }
}
