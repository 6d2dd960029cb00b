//! Rows of language models as they are served today: one time each, of a step or of a first token, with or without the host.

use csv::{ReaderBuilder, StringRecord};
use ns_base::{Refusal, refuse};
use ns_llm::{
    DecoderConfig, LlmCalibration, Request, Route, Weights, degrees, is_known_name, llm_instance, median_program,
    named_config, prompt_of, read_config,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use super::Decoders;

/// What a row measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServedTime {
    Step,
    /// A step without the host.
    DeviceStep,
    /// From the prompt to the first token.
    FirstToken,
    /// A prompt without the host.
    DevicePrompt,
}

/// A row of a table of served models.
#[derive(Clone, Debug)]
pub struct ServedRow {
    pub set: String,
    pub model: String,
    /// Published time, milliseconds.
    pub value_ms: f64,
    /// What is compared, or why nothing is.
    pub case: Result<ServedCase, Refusal>,
}

/// A row, ready to be predicted.
#[derive(Clone, Debug)]
pub struct ServedCase {
    pub request: Request,
    pub time: ServedTime,
    /// Whether the published figure is a median or a mean; one of few that took longest counts in no error.
    pub is_typical: bool,
}

/// Published and predicted time of a row: an element of `validate --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ServedAnswer {
    pub set: String,
    pub model: String,
    pub value_ms: Option<f64>,
    pub predicted_ms: Option<f64>,
    pub low_ms: Option<f64>,
    pub high_ms: Option<f64>,
    pub skipped: Option<String>,
    /// The rows with which it counts; `None` for a row that counts in no error.
    #[serde(skip)]
    pub group: Option<&'static str>,
}

/// The rows of a table of served models. Fails with the line that is not CSV.
pub fn read_served(table: &[u8]) -> Result<Vec<ServedRow>, Refusal> {
    let text = String::from_utf8_lossy(table.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(table));
    let mut reader = ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let wrong = |e: csv::Error| refuse!("line {}: {e}", e.position().map_or(0, csv::Position::line));
    let headers = reader.headers().map_err(wrong)?.clone();
    let row = |record: Result<StringRecord, csv::Error>| {
        let record = record.map_err(wrong)?;
        let cell = |name: &str| {
            let at = headers.iter().position(|h| h.trim().eq_ignore_ascii_case(name));
            at.and_then(|at| record.get(at)).unwrap_or_default().trim().to_owned()
        };
        let value_ms = cell("value_ms").parse().ok().filter(|ms: &f64| ms.is_finite() && *ms > 0.0);
        let no_time = || refuse!("value_ms '{}' is not a time", cell("value_ms"));
        let case = value_ms.ok_or_else(no_time).and_then(|_| ServedCase::of(&cell));
        Ok(ServedRow { set: cell("set"), model: cell("model"), value_ms: value_ms.unwrap_or(f64::NAN), case })
    };
    reader.records().map(row).collect()
}

impl ServedCase {
    fn of(cell: &dyn Fn(&str) -> String) -> Result<Self, Refusal> {
        let number = |name: &str| {
            let text = cell(name);
            let number = text.parse().ok().filter(|n: &f64| *n >= 1.0 && *n < 1e9).map(ns_base::convert::f64_to_u64);
            if text.is_empty() {
                Ok(None)
            } else {
                number.map(Some).ok_or_else(|| refuse!("{name} is '{text}', not a number above 0"))
            }
        };
        let needed = |name: &str| number(name)?.ok_or_else(|| refuse!("{name} is empty"));
        let metric = cell("metric");
        let time = match metric.as_str() {
            "TPOT" => ServedTime::Step,
            "decode step, device" => ServedTime::DeviceStep,
            "TTFT" => ServedTime::FirstToken,
            "prompt, device" => ServedTime::DevicePrompt,
            _ => {
                return Err(refuse!(
                    "metric '{metric}' is not known; use TPOT, TTFT, decode step, device or prompt, device"
                ));
            }
        };
        let (instance, batch) = (llm_instance(&cell("instance"))?, needed("batch")?);
        let degree = u32::try_from(needed("tp")?).unwrap_or(u32::MAX);
        // Today's libraries take groups of four on Trn1 too.
        let is_four = instance.name.starts_with("trn1") && degree == 4;
        if !is_four && !degrees(instance, None).contains(&degree) {
            return Err(refuse!("{} has no groups of {degree} cores", instance.name));
        }
        let buckets: Result<Vec<u64>, Refusal> = cell("buckets")
            .split(',')
            .filter(|text| !text.trim().is_empty())
            .map(|text| text.trim().parse().map_err(|_| refuse!("buckets has '{text}', not a number")))
            .collect();
        let buckets = buckets?;
        let input = needed("input")?;
        let longest = buckets.iter().copied().max().unwrap_or(0);
        let output = number("output")?.unwrap_or_else(|| longest.saturating_sub(input)).max(1);
        let weights = cell("weights_dtype").parse::<Weights>().unwrap_or_default();
        let config = config_of(&cell("model"), &cell("config"))?;
        let route = route_of(&format!("{} {}", cell("set"), cell("note")), time);
        let request =
            Request { degree, weights, batch, input, output, buckets, route, ..Request::of(config, instance) };
        Ok(Self { request, time, is_typical: !cell("note").contains("p99") })
    }

    /// Predicted time, milliseconds. Fails when its model cannot be simulated.
    pub fn predict(&self, decoders: &mut Decoders, calibration: LlmCalibration) -> Result<f64, Refusal> {
        let request = &self.request;
        let decoder = decoders.of(request, calibration)?;
        decoder.weights = request.weights;
        if matches!(self.time, ServedTime::FirstToken | ServedTime::DevicePrompt) {
            let prompt = prompt_of(decoder, request, request.batch)?;
            let time = if self.time == ServedTime::FirstToken { prompt.time() } else { prompt.device() };
            return Ok(time.to_ms_f64());
        }
        // The compiled cache that is said serves every step.
        let half = request.input + request.output / 2;
        let bucket = match request.buckets.iter().filter(|bucket| **bucket >= half.min(request.buckets[0])).min() {
            Some(bucket) => *bucket,
            None => median_program(decoder, request)?,
        };
        let step = decoder.decode(request.batch, bucket)?;
        let host = if self.time == ServedTime::DeviceStep { step.host } else { ns_base::SimTime::ZERO };
        Ok(step.time().saturating_sub(host).to_ms_f64())
    }
}

/// The route of a row, by what its set and its note say; `None` where they say nothing.
fn route_of(text: &str, time: ServedTime) -> Option<Route> {
    let says = |words: &[&str]| words.iter().any(|word| text.contains(word));
    match time {
        _ if says(&["SDK 2.14", "transformers-neuronx", "Transformers NeuronX"]) => Some(Route::Tnx),
        ServedTime::DeviceStep | ServedTime::DevicePrompt => Some(Route::Nxdi),
        _ if says(&["HTTP", "max-num-seqs", "max_num_seqs", "optimum-neuron", "contrib vLLM"]) => Some(Route::Vllm),
        _ if says(&["NxDI", "AWS tutorials"]) => Some(Route::Nxdi),
        _ => None,
    }
}

/// The decoder of a row: by its name, or by the sizes of its column `config`.
fn config_of(model: &str, sizes: &str) -> Result<DecoderConfig, Refusal> {
    if sizes.is_empty() || is_known_name(model) {
        return named_config(model);
    }
    let sizes: Map<String, Value> =
        serde_json::from_str(sizes).map_err(|e| refuse!("config is not a JSON object: {e}"))?;
    let size = |name: &str| sizes.get(name).and_then(Value::as_u64);
    let experts = size("experts").unwrap_or(0);
    let kind = |part: &str| {
        let of = |key: &str| sizes.get(key).and_then(Value::as_str).is_some_and(|kind| kind.contains(part));
        of("kind") || of("extra")
    };
    let family = FAMILIES_OF_KINDS.iter().find(|(part, _)| kind(part)).map_or("llama", |(_, family)| family);
    let mut fields = json!({
        "model_type": if experts > 0 && family == "llama" { "qwen3_moe" } else { family },
        "num_hidden_layers": size("layers"),
        "hidden_size": size("hidden"),
        "num_attention_heads": size("heads"),
        "num_key_value_heads": size("kv_heads"),
        "head_dim": size("head_dim"),
        "intermediate_size": size("intermediate").or(size("dense_intermediate").filter(|n| *n > 0)).or(size("expert_intermediate")),
        "vocab_size": size("vocab"),
        "max_position_embeddings": 1 << 20,
        "tie_word_embeddings": sizes.get("tied").cloned().unwrap_or(Value::Bool(false)),
    });
    if let (true, Some(fields)) = (experts > 0, fields.as_object_mut()) {
        let more = json!({
            "num_experts": experts,
            "num_experts_per_tok": size("experts_per_token"),
            "moe_intermediate_size": size("expert_intermediate"),
            "shared_expert_intermediate_size": size("shared_intermediate"),
            "first_k_dense_replace": size("dense_layers"),
            "q_lora_rank": 1_536,
            "kv_lora_rank": 512,
            "qk_nope_head_dim": 128,
            "qk_rope_head_dim": 64,
            "v_head_dim": 128,
        });
        fields.extend(more.as_object().cloned().unwrap_or_default());
    }
    let config = read_config(model, fields.to_string().as_bytes())?;
    Ok(DecoderConfig { remarks: Vec::new(), ..config })
}

/// What a row says of its architecture, and the family that is like it.
const FAMILIES_OF_KINDS: &[(&str, &str)] = &[
    ("mla", "deepseek_v3"),
    ("gate", "afmoe"),
    ("OPT", "opt"),
    ("ReLU^2", "arcee"),
    ("parallel", "cohere"),
    ("post-norm", "olmo2"),
    ("learned positions", "gpt_bigcode"),
    ("plain", "starcoder2"),
];
