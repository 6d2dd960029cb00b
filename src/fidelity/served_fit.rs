//! Fits the numbers of today's libraries to rows of served models, and says how far a prediction may be off.

use ns_base::convert::{f64_to_u64, u64_to_f64, usize_to_f64};
use ns_llm::{FITTED, LlmCalibration, Request};
use serde::Serialize;

use super::search::{models_in_order, pattern_search};
use super::served::{ServedAnswer, ServedCase, ServedRow, ServedTime, read_served};
use super::tables::SERVED;
use super::{Decoders, Summary};

/// The starting point of every search.
const START: LlmCalibration =
    LlmCalibration { kv_head_ns: 4_000, row_ps: 1_400, trn2_all_reduce_ns: 40_000, vllm_host_us: 5_000, ..FITTED };
const FIRST_STEP: [f64; 4] = [0.2; 4];
const HALVINGS: u32 = 4;

/// The most that one row counts, as the logarithm of its ratio: some rows contradict one another.
const MOST_ERROR: f64 = 0.4;

/// Rows whose errors are alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ServedGroup {
    Step,
    LargeBatch,
    Prompt,
    Experts,
    Trn2,
    Trn2Prompt,
    Trn2Experts,
}

impl ServedGroup {
    /// All groups, in the order of tables.
    pub const ALL: [Self; 7] =
        [Self::Step, Self::LargeBatch, Self::Prompt, Self::Experts, Self::Trn2, Self::Trn2Prompt, Self::Trn2Experts];

    /// Its name in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Step => "a token, Inf2 and Trn1, batch below 16",
            Self::LargeBatch => "a token, batch 16 and more",
            Self::Prompt => "first token, Inf2 and Trn1",
            Self::Experts => "a token, experts, Inf2 and Trn1",
            Self::Trn2 => "a token, Trn2",
            Self::Trn2Prompt => "first token, Trn2",
            Self::Trn2Experts => "a token, experts, Trn2",
        }
    }

    /// The group of a time of a request.
    pub fn of(request: &Request, is_prompt: bool) -> Self {
        let (is_trn2, has_experts) = (request.instance.core_version >= 3, request.config.experts.is_some());
        match (is_trn2, has_experts, is_prompt) {
            (false, _, true) => Self::Prompt,
            (true, _, true) => Self::Trn2Prompt,
            (false, true, _) => Self::Experts,
            (true, true, _) => Self::Trn2Experts,
            (_, false, _) if request.batch >= 16 => Self::LargeBatch,
            (false, ..) => Self::Step,
            (true, ..) => Self::Trn2,
        }
    }

    /// The interval of a prediction, as a factor above and below it. It holds 9 of 10 rows of a model that the fit leaves out.
    pub fn factor(self) -> f64 {
        let (_, rows, rms) = SERVED_HELD_OUT.into_iter().find(|(group, ..)| *group == self).unwrap_or((self, 0, 0.0));
        let measured = student(rows) * rms;
        libm::exp(if self == Self::Trn2Experts { measured.max(EXPERTS_ELSEWHERE) } else { measured })
    }
}

/// Rows of each group, and the root mean square of the logarithms of their ratios by fits without their models: the result of
/// `neuronscope validate src/fidelity/served.csv --calibrate`; a test compares.
pub const SERVED_HELD_OUT: [(ServedGroup, usize, f64); 7] = [
    (ServedGroup::Step, 26, 0.0609),
    (ServedGroup::LargeBatch, 5, 0.0644),
    (ServedGroup::Prompt, 25, 0.2034),
    (ServedGroup::Experts, 4, 0.0708),
    (ServedGroup::Trn2, 2, 0.0688),
    (ServedGroup::Trn2Prompt, 1, 0.0394),
    (ServedGroup::Trn2Experts, 7, 0.0983),
];

/// What a model of two numbers missed of 23 rows of ten models with experts on Trn2, each model left out: the 90th percentile. Of these rows
/// seven are here.
const EXPERTS_ELSEWHERE: f64 = 0.43;

/// How many root mean squares hold 9 of 10 values of which so many were seen (Student's distribution).
fn student(rows: usize) -> f64 {
    const FEW: [f64; 10] = [6.31, 2.92, 2.35, 2.13, 2.02, 1.94, 1.89, 1.86, 1.83, 1.81];
    rows.checked_sub(1).and_then(|at| FEW.get(at)).copied().unwrap_or_else(|| 1.645 + 1.7 / usize_to_f64(rows.max(1)))
}

/// Errors of a group, and how many rows lie in their intervals.
#[derive(Clone, Debug, Serialize)]
pub struct ServedErrors {
    pub group: &'static str,
    #[serde(flatten)]
    pub summary: Summary,
    /// Rows in their intervals.
    pub inside: usize,
}

/// The rows of served models that ship with the crate.
pub fn shipped_served_rows() -> Vec<ServedRow> {
    read_served(SERVED.as_bytes()).unwrap_or_default()
}

/// Predicts rows, one after another.
#[derive(Default)]
pub struct ServedValidator {
    decoders: Decoders,
    ratios: Vec<(ServedGroup, f64)>,
}

impl ServedValidator {
    /// A row with its prediction.
    pub fn answer(&mut self, row: &ServedRow) -> ServedAnswer {
        let made = row.case.clone().and_then(|case| {
            let ms = case.predict(&mut self.decoders, FITTED)?;
            Ok((case, ms))
        });
        let (set, model) = (row.set.clone(), row.model.clone());
        let value_ms = Some(row.value_ms).filter(|ms| ms.is_finite());
        match made {
            Ok((case, ms)) => {
                let group = group_of(&case);
                self.ratios.extend(case.is_typical.then_some((group, ms / row.value_ms)));
                let (low_ms, high_ms) = (Some(ms / group.factor()), Some(ms * group.factor()));
                let (skipped, group) = (None, case.is_typical.then_some(group.name()));
                ServedAnswer { set, model, value_ms, predicted_ms: Some(ms), low_ms, high_ms, skipped, group }
            }
            Err(reason) => {
                let skipped = Some(reason.to_string());
                let group = None;
                ServedAnswer { set, model, value_ms, predicted_ms: None, low_ms: None, high_ms: None, skipped, group }
            }
        }
    }

    /// The errors of each group that has rows.
    pub fn errors(&self) -> Vec<ServedErrors> {
        errors_of(&self.ratios)
    }
}

fn group_of(case: &ServedCase) -> ServedGroup {
    ServedGroup::of(&case.request, matches!(case.time, ServedTime::FirstToken | ServedTime::DevicePrompt))
}

/// Errors of each group that has rows.
pub fn errors_of(ratios: &[(ServedGroup, f64)]) -> Vec<ServedErrors> {
    let of = |group: ServedGroup| {
        let own: Vec<f64> = ratios.iter().filter(|(of, _)| *of == group).map(|(_, ratio)| *ratio).collect();
        let is_inside = |ratio: &&f64| (1.0 / group.factor()..=group.factor()).contains(*ratio);
        let inside = own.iter().filter(is_inside).count();
        (!own.is_empty()).then(|| ServedErrors { group: group.name(), summary: Summary::of_ratios(&own), inside })
    };
    ServedGroup::ALL.into_iter().filter_map(of).collect()
}

/// A model's rows, predicted with numbers fitted without them.
#[derive(Clone, Debug)]
pub struct ServedLeftOut {
    pub model: String,
    pub calibration: LlmCalibration,
    /// Predicted over published time of each of its rows.
    pub ratios: Vec<(ServedGroup, f64)>,
}

/// Rows whose segments are simulated once.
pub struct ServedCalibrator {
    rows: Vec<(String, ServedCase, f64)>,
    decoders: Decoders,
}

impl ServedCalibrator {
    /// The rows that can be predicted; others are left out.
    pub fn new(rows: &[ServedRow]) -> Self {
        let row = |row: &ServedRow| Some((row.model.clone(), row.case.clone().ok()?, row.value_ms));
        Self { rows: rows.iter().filter_map(row).collect(), decoders: Decoders::default() }
    }

    /// Predicted over published times of the rows whose model `keep` accepts.
    pub fn ratios(&mut self, calibration: LlmCalibration, keep: impl Fn(&str) -> bool) -> Vec<(ServedGroup, f64)> {
        let mut ratios = Vec::new();
        for (_, case, value_ms) in self.rows.iter().filter(|(model, case, _)| case.is_typical && keep(model)) {
            if let Ok(ms) = case.predict(&mut self.decoders, calibration) {
                ratios.push((group_of(case), ms / value_ms));
            }
        }
        ratios
    }

    /// Fits the numbers of today's libraries to the steps of the rows whose model `keep` accepts.
    pub fn fit(&mut self, keep: impl Fn(&str) -> bool) -> LlmCalibration {
        let steps =
            |(_, case, _): &&(String, ServedCase, f64)| matches!(case.time, ServedTime::Step | ServedTime::DeviceStep);
        let rows: Vec<_> = self.rows.iter().filter(steps).filter(|(model, ..)| keep(model)).cloned().collect();
        let decoders = &mut self.decoders;
        let error = |c: &LlmCalibration| {
            let of = |(_, case, value_ms): &(String, ServedCase, f64)| {
                let ms = case.predict(decoders, *c).unwrap_or(*value_ms);
                let error = libm::fabs(libm::log(ms / value_ms)).min(MOST_ERROR);
                error * libm::sqrt(error)
            };
            rows.iter().map(of).sum()
        };
        pattern_search(START, FIRST_STEP, HALVINGS, scaled, error)
    }

    /// Fits with each model left out in turn.
    pub fn leave_one_model_out(&mut self) -> Vec<ServedLeftOut> {
        let models = models_in_order(self.rows.iter().map(|(model, ..)| model.as_str()));
        let mut left_out = Vec::new();
        for model in models {
            let calibration = self.fit(|m| m != model);
            let ratios = self.ratios(calibration, |m| m == model);
            left_out.push(ServedLeftOut { model, calibration, ratios });
        }
        left_out
    }
}

/// A calibration with one number multiplied, in steps that the rows can tell apart.
fn scaled(calibration: &LlmCalibration, parameter: usize, factor: f64) -> LlmCalibration {
    let mut c = *calibration;
    let to = |x: u64, unit: u64| f64_to_u64(libm::round(u64_to_f64(x) * factor / u64_to_f64(unit))).max(1) * unit;
    match parameter {
        0 => c.kv_head_ns = to(c.kv_head_ns, 100),
        1 => c.row_ps = to(c.row_ps, 20),
        2 => c.trn2_all_reduce_ns = to(c.trn2_all_reduce_ns, 100),
        _ => c.vllm_host_us = to(c.vllm_host_us, 100),
    }
    c
}
