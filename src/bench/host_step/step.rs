//! Work on the host around a call: a few steps whose cost follows from the size of the data, expressions, and custom
//! costs.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::expression::Expression;
use ns_base::convert::usize_to_f32;
use ns_base::{Order, Refusal, SimTime, refuse};
use ns_machine::cost::decisions;

/// Work on an input before the call, or on an output after it.
///
/// In NeuronPerf these are the user's functions. Here they are costs: data size divided by the rate at which one
/// core of a host does the work, or a time that the user measured.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum HostStep {
    /// No step.
    #[default]
    None,
    /// Scale and shift each element: `(x - mean) / std`, `x / 255`.
    Normalize,
    /// The largest element of the data: `x.argmax()`.
    Argmax,
    /// The five largest elements.
    Topk,
    /// Exponentials and their sum.
    Softmax,
    /// A time in milliseconds, whatever the data.
    Custom(f64),
    /// The user's function, as an expression over the data.
    Expression(Expression),
}

/// Bytes of one element on the host: fp32.
const ELEMENT_BYTES: u64 = 4;

fn names() -> String {
    HostStep::NAMED.iter().map(|s| s.to_string()).collect::<Vec<_>>().join(", ")
}

impl HostStep {
    /// The steps with a name.
    pub const NAMED: [Self; 5] = [Self::None, Self::Normalize, Self::Argmax, Self::Topk, Self::Softmax];

    /// Picoseconds for one element (measured: plain loops over 2^20 fp32 elements on one core of an x86-64 server,
    /// rounded). They only give the order of magnitude for a host: give a custom time where it matters.
    pub const fn ps_per_element(&self) -> u64 {
        match self {
            // An expression counts its own passes.
            Self::None | Self::Custom(_) | Self::Expression(_) => 0,
            Self::Normalize => decisions::NORMALIZE_PS,
            Self::Argmax => decisions::ARGMAX_PS,
            Self::Topk => decisions::TOPK_PS,
            Self::Softmax => decisions::SOFTMAX_PS,
        }
    }

    /// The given time of a custom step.
    pub const fn custom_ms(&self) -> Option<f64> {
        match self {
            Self::Custom(ms) => Some(*ms),
            _ => None,
        }
    }

    /// Does the step on the tensors of a call: returns the result, so that the work cannot be optimised away. An expression names the
    /// tensors by their order, every other step is done on each tensor.
    pub fn work_on(&self, tensors: &[&[f32]]) -> f32 {
        match self {
            Self::Expression(expression) => {
                let results = expression.compute(tensors);
                results.iter().filter_map(|r| r.last()).sum()
            }
            step => tensors.iter().map(|data| step.work(data)).sum(),
        }
    }

    /// How many tensors the step needs: up to the last one that an expression names.
    pub fn tensors(&self) -> usize {
        match self {
            Self::Expression(expression) => expression.inputs(),
            _ => 0,
        }
    }

    /// Does the step on the data of one tensor. A custom step is a time and does nothing here.
    pub fn work(&self, data: &[f32]) -> f32 {
        match self {
            Self::None | Self::Custom(_) => 0.0,
            Self::Expression(_) => self.work_on(&[data]),
            Self::Normalize => {
                let scaled: Vec<f32> = data.iter().map(|x| (x - 0.45) / 0.225).collect();
                scaled.last().copied().unwrap_or(0.0)
            }
            Self::Argmax => {
                let largest = data
                    .iter()
                    .enumerate()
                    .fold((0, f32::NEG_INFINITY), |best, (i, x)| if *x > best.1 { (i, *x) } else { best });
                usize_to_f32(largest.0)
            }
            Self::Topk => {
                let mut best = [f32::NEG_INFINITY; 5];
                for x in data {
                    if *x > best[4] {
                        best[4] = *x;
                        best.order_by(|a, b| b.total_cmp(a));
                    }
                }
                best[4]
            }
            Self::Softmax => {
                let largest = data.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let powers: Vec<f32> = data.iter().map(|x| libm::expf(x - largest)).collect();
                let sum: f32 = powers.iter().sum();
                powers.first().map_or(0.0, |p| p / sum)
            }
        }
    }

    /// How long the step takes on data of this size; `None` when the time depends on a size that is not known.
    pub fn time(&self, bytes: Option<u64>) -> Option<SimTime> {
        match self {
            Self::None => Some(SimTime::ZERO),
            Self::Custom(ms) => Some(SimTime::from_ns_f64(ms * 1e6)),
            Self::Expression(expression) => bytes.map(|b| SimTime(expression.ps(b / ELEMENT_BYTES))),
            step => bytes.map(|b| SimTime((b / ELEMENT_BYTES).saturating_mul(step.ps_per_element()))),
        }
    }
}

impl fmt::Display for HostStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Normalize => f.write_str("normalize"),
            Self::Argmax => f.write_str("argmax"),
            Self::Topk => f.write_str("topk"),
            Self::Softmax => f.write_str("softmax"),
            Self::Custom(ms) => write!(f, "{ms}ms"),
            Self::Expression(expression) => expression.fmt(f),
        }
    }
}

impl FromStr for HostStep {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let text = text.trim();
        if let Some(step) = Self::NAMED.into_iter().find(|s| s.to_string() == text) {
            return Ok(step);
        }
        if let Ok(ms) = text.strip_suffix("ms").unwrap_or(text).trim().parse::<f64>() {
            let unusable = refuse!("'{text}' is not a time; write milliseconds, such as 0.25ms");
            return if ms.is_finite() { Ok(Self::Custom(ms)) } else { Err(unusable) };
        }
        match text.parse::<Expression>() {
            Ok(expression) => Ok(Self::Expression(expression)),
            // A single word is taken as the name of a step.
            Err(_) if text.chars().all(|c| c.is_ascii_alphabetic()) => Err(refuse!(
                "'{text}' is not a step; use one of {}, a time such as 0.25ms, or an expression over the data such as x / 255",
                names()
            )),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_step_agree() {
        let scaled = HostStep::Expression("(x - 0.5) * 2".parse().unwrap());
        for step in HostStep::NAMED.into_iter().chain([HostStep::Custom(0.25), scaled]) {
            assert_eq!(step.to_string().parse(), Ok(step));
        }
        assert_eq!("1.5".parse(), Ok(HostStep::Custom(1.5)));
        let error = "resize".parse::<HostStep>().unwrap_err().to_string();
        assert!(error.contains("'resize' is not a step; use one of none, normalize"), "{error}");
        assert!("NaNms".parse::<HostStep>().unwrap_err().to_string().contains("'NaNms' is not a time"));
        let error = "x / 255 +".parse::<HostStep>().unwrap_err().to_string();
        assert_eq!(error, "'x / 255 +': something is missing at character 10");
        assert!("".parse::<HostStep>().is_err());
    }

    #[test]
    fn named_steps_do_what_they_say() {
        let data = [1.0, 9.0, -4.0, 9.0, 2.0, 3.0, 8.0];
        assert_eq!((HostStep::Argmax.work(&data), HostStep::Topk.work(&data)), (1.0, 2.0));
        assert_eq!(HostStep::Normalize.work(&[0.45]), 0.0);
        assert!((HostStep::Softmax.work(&[1.0, 1.0]) - 0.5).abs() < 1e-6);
        assert_eq!(HostStep::NAMED.map(|s| s.work_on(&[&[]])).into_iter().filter(|x| x.is_nan()).count(), 0);
    }

    #[test]
    fn cost_follows_the_data() {
        assert_eq!(HostStep::Normalize.time(Some(8_000)), Some(SimTime(2_000 * 300)));
        assert_eq!(HostStep::Normalize.time(None), None);
        assert_eq!(HostStep::Custom(0.5).time(None), Some(SimTime::from_us(500)));
        assert_eq!(HostStep::None.time(None), Some(SimTime::ZERO));
        let expression: HostStep = "(x - 0.5) * 2".parse().unwrap();
        assert_eq!((expression.time(Some(8_000)), expression.time(None)), (Some(SimTime(2_000 * 600)), None));
        assert_eq!((expression.work_on(&[&[0.5, 1.0]]), expression.tensors()), (1.0, 1));
    }
}
