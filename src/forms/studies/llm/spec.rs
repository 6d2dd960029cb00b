//! The specification of the study, and the request that it makes.

use serde::{Deserialize, Serialize};

use crate::options::command_line;
use ns_base::{Refusal, refuse};
use ns_llm::{
    DecoderConfig, Limits, Request, Route, Speculation, Traffic, Weights, config_of_gguf, degrees, is_gguf,
    llm_instance, named_config, read_config,
};

/// A language model, where it runs, and how much it reads and writes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LlmStudy {
    pub model: String,
    /// What the user typed for it, where that is another name: a server loads it. With a text of its own, the name of that text's file.
    #[serde(default)]
    pub typed: Option<String>,
    /// The text of a config.json, which stands for the model; empty for none.
    pub config: String,
    pub instance: String,
    /// The instance's most where it is absent.
    pub tp: Option<u32>,
    pub lnc: Option<u32>,
    #[serde(with = "as_text")]
    pub weights: Option<Weights>,
    #[serde(with = "as_text")]
    pub route: Option<Route>,
    pub batch: u64,
    pub input: u64,
    pub output: u64,
    pub expert_groups: Option<u32>,
    pub active: Option<u64>,
    pub buckets: Vec<u64>,
    pub guesses: Option<u64>,
    pub acceptance: Option<f64>,
    pub max_ttft_ms: Option<f64>,
    pub max_tpot_ms: Option<f64>,
    /// Requests a second that arrive at random; none where it is absent.
    pub request_rate: Option<f64>,
    pub requests: u32,
    pub prefill_chunk: Option<u64>,
}

/// The name on the hub that a config.json says.
fn hub_name_of(config: &str) -> Option<String> {
    let fields: serde_json::Value = serde_json::from_str(config).ok()?;
    let name = fields.get("_name_or_path")?.as_str()?;
    is_on_hub(name).then(|| name.to_owned())
}

/// The name that a model file has where no other is known.
const CONFIG: &str = "config.json";

/// Whether a name of a model is that of a file.
pub(super) fn is_config_name(name: &str) -> bool {
    let end = name.rsplit('.').next().unwrap_or_default();
    name.contains('.') && ["json", "gguf"].iter().any(|ending| end.eq_ignore_ascii_case(ending))
}

/// The name of a file without its folders; a `config.json` has that of its folder too.
fn label_of(path: &str) -> String {
    let mut parts: Vec<&str> = path.rsplit(['/', '\\']).take(2).collect();
    if parts.first() != Some(&CONFIG) || matches!(parts.get(1), Some(&("" | "." | ".."))) {
        parts.truncate(1);
    }
    parts.reverse();
    parts.join("/")
}

/// Whether a name is one that a server loads from the hub: no path, no name of another tool's, no GGUF.
fn is_on_hub(name: &str) -> bool {
    let is_other = name.starts_with(['/', '.']) || name.contains(':') || name.to_ascii_lowercase().contains("gguf");
    name.contains('/') && !is_other
}

/// A value that may be absent, by its text.
mod as_text {
    use std::fmt::Display;
    use std::str::FromStr;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(super) fn serialize<T: Display, S: Serializer>(value: &Option<T>, to: S) -> Result<S::Ok, S::Error> {
        value.as_ref().map(ToString::to_string).serialize(to)
    }

    pub(super) fn deserialize<'de, T: FromStr<Err: Display>, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<T>, D::Error> {
        let text = Option::<String>::deserialize(from)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

pub(super) const INPUT: u64 = 128;
pub(super) const OUTPUT: u64 = 1_024;
pub(super) const REQUESTS: u32 = 200;
/// The share of guesses that the model agrees with, where the form does not say it.
const ACCEPTANCE: f64 = 0.7;

impl Default for LlmStudy {
    fn default() -> Self {
        Self {
            model: "llama-3-8b".to_owned(),
            typed: None,
            config: String::new(),
            instance: "inf2.48xlarge".to_owned(),
            tp: None,
            lnc: None,
            weights: None,
            route: None,
            batch: 1,
            input: INPUT,
            output: OUTPUT,
            expert_groups: None,
            active: None,
            buckets: Vec::new(),
            guesses: None,
            acceptance: None,
            max_ttft_ms: None,
            max_tpot_ms: None,
            request_rate: None,
            requests: REQUESTS,
            prefill_chunk: None,
        }
    }
}

impl LlmStudy {
    /// Reads the model of the study from a `config.json` or a GGUF file. Fails with what is wrong with the file.
    pub fn set_file(&mut self, path: &str, bytes: &[u8]) -> Result<(), Refusal> {
        let text =
            if is_gguf(bytes) { config_of_gguf(path, bytes)? } else { String::from_utf8_lossy(bytes).into_owned() };
        read_config(path, text.as_bytes())?;
        (self.typed, self.config) = (Some(label_of(path)), text);
        Ok(())
    }

    /// The name of the model whose `config.json` stands for the chosen one; `None` without one.
    pub fn own_model(&self) -> Option<String> {
        (!self.config.is_empty()).then(|| self.decoder().map(|config| config.name).ok()).flatten()
    }

    /// The name of the file of the own model, as the command line takes it.
    pub(super) fn file(&self) -> &str {
        self.typed.as_deref().filter(|name| is_config_name(name)).unwrap_or(CONFIG)
    }

    fn decoder(&self) -> Result<DecoderConfig, Refusal> {
        let model = self.typed.as_deref().unwrap_or(&self.model);
        match &self.config {
            text if !text.is_empty() => {
                let hub = || hub_name_of(text).filter(|_| self.file() == CONFIG);
                read_config(&hub().unwrap_or_else(|| self.file().to_owned()), text.as_bytes())
            }
            _ => named_config(model).map_err(|refusal| match is_config_name(model) {
                true => refuse!("there is no file {model} here, and no language model of that name"),
                false => refusal,
            }),
        }
    }

    /// Requests that arrive at random; `None` where the form says no rate.
    pub fn traffic(&self) -> Option<Traffic> {
        let (requests, chunk, limits) = (self.requests, self.prefill_chunk, self.limits());
        self.request_rate.map(|requests_per_s| Traffic { requests_per_s, requests, seed: 0, limits, chunk })
    }

    pub fn limits(&self) -> Limits {
        Limits { ttft_ms: self.max_ttft_ms, tpot_ms: self.max_tpot_ms }
    }

    /// The request of the form, which may not be possible. Fails when the model or the instance is not known.
    pub fn request(&self) -> Result<Request, Refusal> {
        let instance = llm_instance(&self.instance)?;
        let own = Request::of(self.decoder()?, instance);
        let most = degrees(instance, self.lnc).last().copied().unwrap_or(1);
        let acceptance = self.acceptance.unwrap_or(ACCEPTANCE);
        Ok(Request {
            degree: self.tp.unwrap_or(most),
            expert_groups: self.expert_groups.unwrap_or(1),
            lnc: self.lnc,
            weights: self.weights.unwrap_or(own.weights),
            batch: self.batch,
            active: self.active,
            input: self.input,
            output: self.output,
            buckets: self.buckets.clone(),
            route: self.route,
            served_as: if self.config.is_empty() {
                self.typed.clone().filter(|name| is_on_hub(name))
            } else {
                hub_name_of(&self.config)
            },
            speculation: self.guesses.map(|guesses| Speculation { guesses, acceptance }),
            ..own
        })
    }

    /// The command that prints what the page shows of a request.
    pub fn command(&self, command: &str, own: &Request) -> String {
        /// Options that a command names whatever they are.
        const NAMED: [&str; 7] = ["model", "instance", "tp", "batch", "input", "output", "requests"];
        let (model, instance) = (own.config.name.clone(), own.instance.name.to_owned());
        let typed = self.typed.clone().filter(|_| model == self.model);
        let of = Self { model, typed, instance, tp: Some(own.degree), ..self.clone() };
        let line = command_line(command, &of, &Self::default(), &NAMED, |line, option, text| match option.key() {
            "model" if !self.config.is_empty() => line,
            "config" => line.option("model-config", self.file()),
            _ => option.on(line, text),
        });
        line.print()
    }
}
