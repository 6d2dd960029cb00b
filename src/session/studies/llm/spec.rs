//! The fields of the study as text, and the request that they make.

use std::rc::Rc;

use serde::{Deserialize, Serialize};

use super::run::LlmRun;
use crate::studies::StudyRun;
use ns_base::Refusal;
use ns_llm::{DecoderConfig, Limits, Request, Weights, degrees, llm_instance, named_config, read_config};

/// A language model, where it runs, and how much it reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlmStudy {
    model: String,
    /// The text of a config.json, which stands for the model; empty for none.
    config: String,
    instance: String,
    /// The instance's most where it is absent.
    tp: Option<u32>,
    lnc: Option<u32>,
    is_int8: bool,
    batch: u64,
    input: u64,
    output: u64,
    max_ttft_ms: Option<f64>,
    max_tpot_ms: Option<f64>,
    /// Requests a second that arrive at random; none where it is absent.
    request_rate: Option<f64>,
    requests: u32,
}

/// Requests that are served where the form does not say it, as on the command line.
const REQUESTS: u32 = 200;

impl Default for LlmStudy {
    fn default() -> Self {
        Self {
            model: "llama-3-8b".to_owned(),
            config: String::new(),
            instance: "inf2.48xlarge".to_owned(),
            tp: None,
            lnc: None,
            is_int8: false,
            batch: 1,
            input: 128,
            output: 1_024,
            max_ttft_ms: None,
            max_tpot_ms: None,
            request_rate: None,
            requests: REQUESTS,
        }
    }
}

/// A JSON text without the spaces between its parts, as a field of one line and a link hold it.
fn one_line(json: &str) -> String {
    serde_json::from_str(json).map_or_else(|_| json.to_owned(), |value: serde_json::Value| value.to_string())
}

impl LlmStudy {
    /// The text of a field; empty if nothing is given.
    pub fn text(&self, key: &str) -> String {
        let optional = |n: Option<u32>| n.map(|n| n.to_string()).unwrap_or_default();
        let limit = |ms: Option<f64>| ms.map(|ms| ms.to_string()).unwrap_or_default();
        match key {
            "model" => self.model.clone(),
            "config" => self.config.clone(),
            "instance" => self.instance.clone(),
            "tp" => optional(self.tp),
            "lnc" => optional(self.lnc),
            "weights" => self.weights().to_string(),
            "batch" => self.batch.to_string(),
            "input" => self.input.to_string(),
            "output" => self.output.to_string(),
            "max_ttft_ms" => limit(self.max_ttft_ms),
            "max_tpot_ms" => limit(self.max_tpot_ms),
            "request_rate" => limit(self.request_rate),
            "requests" => self.requests.to_string(),
            _ => String::new(),
        }
    }

    /// Puts a text into a field. A text that cannot be used leaves it as it was.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        let wrong = |wanted: &str| format!("{key}: '{text}' is not {wanted}");
        let number = || match text {
            "" => Ok(None),
            text => text.parse().ok().filter(|n: &u32| *n > 0).map(Some).ok_or_else(|| wrong("a whole number above 0")),
        };
        let limit = || match text {
            "" => Ok(None),
            text => {
                let ms = text.parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0);
                ms.map(Some).ok_or_else(|| wrong("a number of milliseconds above 0"))
            }
        };
        let tokens = |own: u64| number().map(|n| n.map_or(own, u64::from));
        let default = Self::default();
        match key {
            "model" => self.model = named_config(text).map_err(|e| format!("{key}: {e}"))?.name,
            "config" if text.is_empty() => self.config.clear(),
            "config" => {
                read_config("config.json", text.as_bytes()).map_err(|e| e.to_string())?;
                self.config = one_line(text);
            }
            "instance" => {
                self.instance = llm_instance(text).map_err(|e| format!("{key}: {e}"))?.name.to_owned();
            }
            "tp" => self.tp = number()?,
            "lnc" => self.lnc = number()?,
            "weights" => self.is_int8 = text.parse::<Weights>().map_err(|e| e.to_string())? == Weights::Int8,
            "batch" => self.batch = tokens(default.batch)?,
            "input" => self.input = tokens(default.input)?,
            "output" => self.output = tokens(default.output)?,
            "max_ttft_ms" => self.max_ttft_ms = limit()?,
            "max_tpot_ms" => self.max_tpot_ms = limit()?,
            "request_rate" => {
                self.request_rate = limit().map_err(|_| wrong("a number of requests a second above 0"))?
            }
            "requests" => self.requests = number()?.unwrap_or(REQUESTS),
            _ => return Err(format!("language models have no field '{key}'")),
        }
        Ok(())
    }

    /// The name of the model whose `config.json` stands for the chosen one; `None` without one.
    pub fn own_model(&self) -> Option<String> {
        (!self.config.is_empty()).then(|| self.decoder().map(|config| config.name).ok()).flatten()
    }

    const fn weights(&self) -> Weights {
        if self.is_int8 { Weights::Int8 } else { Weights::Bf16 }
    }

    fn decoder(&self) -> Result<DecoderConfig, Refusal> {
        if self.config.is_empty() {
            named_config(&self.model)
        } else {
            read_config("config.json", self.config.as_bytes())
        }
    }

    pub(super) const fn request_rate(&self) -> Option<f64> {
        self.request_rate
    }

    pub(super) const fn requests(&self) -> u32 {
        self.requests
    }

    pub(super) const fn limits(&self) -> Limits {
        Limits { ttft_ms: self.max_ttft_ms, tpot_ms: self.max_tpot_ms }
    }

    /// The request of the form, which may not be possible.
    ///
    /// # Errors
    /// When the model or the instance is not known.
    pub(super) fn request(&self) -> Result<Request, Refusal> {
        let instance = llm_instance(&self.instance)?;
        let most = degrees(instance, self.lnc).last().copied().unwrap_or(1);
        Ok(Request {
            config: self.decoder()?,
            instance,
            degree: self.tp.unwrap_or(most),
            lnc: self.lnc,
            weights: self.weights(),
            batch: self.batch,
            input: self.input,
            output: self.output,
            buckets: Vec::new(),
            continuous: false,
            route: None,
        })
    }

    /// Begins the study.
    ///
    /// # Errors
    /// When the model or the instance is not known.
    pub(in crate::studies) fn start(self) -> Result<Box<dyn StudyRun>, String> {
        let request = self.request().map_err(|e| e.to_string())?;
        Ok(Box::new(LlmRun::new(Rc::new(self), request)))
    }
}
