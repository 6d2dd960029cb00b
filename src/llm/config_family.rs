//! Which part of a `config.json` is the decoder, and of which family it is.

use serde_json::{Map, Value};

use super::config_fields::{LAYERS, TEXT_PARTS};
use super::config_values::whole;
use super::families::{DEFAULTS, FAMILIES, Family, family};
use super::linear::{linear_layers, refusal};
use ns_base::{Refusal, refuse};

/// The fields of the decoder: those of the part for text, where the model has other parts. What that part leaves out of the types of weights and
/// of the head is taken from the whole file, and sizes from its class in transformers, which omits them. Returns the sizes of the class too.
pub(super) fn text_part(whole: &Map<String, Value>) -> (Map<String, Value>, Vec<String>) {
    let mut fields = whole.clone();
    let mut is_part = false;
    while let Some((key, Value::Object(part))) =
        TEXT_PARTS.iter().find_map(|key| fields.get_key_value(*key)).map(|(key, part)| (key.clone(), part.clone()))
    {
        fields.remove(&key);
        let keeps = |field: &str| {
            matches!(
                field,
                "model_type"
                    | "architectures"
                    | "tie_word_embeddings"
                    | "quantization_config"
                    | "vision_config"
                    | "audio_config"
            )
        };
        fields.retain(|field, _| keeps(field));
        fields.extend(part);
        is_part = true;
    }
    let model_type = fields.get("model_type").and_then(Value::as_str).and_then(family);
    let of_class = DEFAULTS.iter().find(|(name, _)| is_part && model_type.is_some_and(|family| family.name == *name));
    let of_class: Map<String, Value> =
        of_class.and_then(|(_, text)| serde_json::from_str(text).ok()).unwrap_or_default();
    let absent: Vec<_> = of_class.into_iter().filter(|(field, _)| !fields.contains_key(field)).collect();
    let names = absent.iter().map(|(field, value)| format!("{field} {value}")).collect();
    fields.extend(absent);
    (fields, names)
}

/// Encoders, and encoders with a decoder.
const NOT_DECODERS: &str = "bert distilbert roberta xlm-roberta electra albert deberta deberta-v2 mpnet modernbert vit clip siglip t5 mt5 umt5 bart mbart marian pegasus whisper m2m_100";

fn is_no_decoder(model_type: &str) -> bool {
    NOT_DECODERS.split(' ').any(|known| known == model_type)
}

/// Whether a file names a decoder of a family that is not known.
pub(super) fn is_of_no_family(fields: &Map<String, Value>) -> bool {
    let model_type = fields.get("model_type").and_then(Value::as_str);
    model_type.is_some_and(|name| family(name).is_none() && !is_no_decoder(name)) && linear_layers(fields).is_none()
}

/// The family of a file: that of its `model_type`, or of the class that it names.
pub(super) fn family_of(fields: &Map<String, Value>) -> Result<(&'static Family, Option<String>), Refusal> {
    let model_type = match fields.get("model_type") {
        Some(Value::String(text)) => Some(text.as_str()),
        Some(Value::Null) | None => None,
        Some(other) => return Err(refuse!("model_type is {other}, not a name")),
    };
    if let Some((count, what)) = linear_layers(fields) {
        let all = whole(fields, LAYERS)?.unwrap_or_default();
        return Err(refusal(&format!("model_type '{}'", model_type.unwrap_or_default()), count, what, all));
    }
    let families: Vec<&str> = FAMILIES.iter().map(|f| f.name).collect();
    if let Some(model_type) = model_type {
        return family(model_type).map(|family| (family, None)).ok_or_else(|| {
            if is_no_decoder(model_type) {
                return refuse!(
                    instead = "neuronscope bench times a call of such a model: bert-base-uncased and others by name, or the file of torch.export.save",
                    "model_type '{model_type}' is not supported: only decoders write a text token by token"
                );
            }
            refuse!("model_type '{model_type}' is not supported; these are: {}", families.join(", "))
        });
    }
    if let Some(base) = fields.get("base_model_name_or_path").filter(|_| fields.contains_key("peft_type")) {
        return Err(refuse!(
            "it is an adapter of {base}, which has no sizes of its own; give that model or its config.json"
        ));
    }
    let class = fields.get("architectures").and_then(|a| a.get(0)).and_then(Value::as_str).unwrap_or_default();
    let bare = class.split("For").next().unwrap_or_default().to_ascii_lowercase();
    let is_params = fields.contains_key(PARAMS.0) && !fields.contains_key("moe");
    let (by, bare) = if class.is_empty() && is_params { PARAMS } else { (class, bare.as_str()) };
    let found = FAMILIES.iter().find(|f| f.name.replace('_', "") == bare).filter(|_| !bare.is_empty());
    let found =
        found.ok_or_else(|| refuse!("the field model_type is missing; it is one of {}", families.join(", ")))?;
    let remark = format!("The field model_type is missing; {by} says that it is \"{}\".", found.name);
    Ok((found, Some(remark)))
}

/// A field that only the `params.json` of Mistral has, and the family of its models.
const PARAMS: (&str, &str) = ("hidden_dim", "mistral");
