//! What is said of a `config.json`: fields that the figures leave out.

use serde_json::{Map, Value};

use super::config::DecoderConfig;
use super::config_fields::{ACTIVATION, EXPERTS, ONE_VALUE, QUANTIZATION, WINDOW, known_fields};
use super::config_values::{activation_of, stored_of, whole};
use super::families::{FAMILIES, Family};

/// A sentence for each field that says what is not simulated, and one for those that are not known.
pub fn remarks_of(fields: &Map<String, Value>, config: &DecoderConfig, family: &Family) -> Vec<String> {
    let [(_, used), _, (_, without_effect)] = known_fields();
    let (mut remarks, mut unknown) = (Vec::new(), Vec::new());
    for (field, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
        let field = field.as_str();
        let known = ONE_VALUE.iter().find(|(name, ..)| *name == field);
        let is_switch = FAMILIES.iter().any(|f| f.switches.iter().any(|(name, _)| *name == field));
        let is_own = family.switches.iter().any(|(name, _)| *name == field);
        let instead = match known {
            _ if QUANTIZATION.contains(&field) && stored_of(fields).is_some() => {
                ["kv_cache_scheme", "kv_cache_quant_algo"]
                    .iter()
                    .any(|of_cache| value.get(*of_cache).is_some_and(|scheme| !scheme.is_null()))
                    .then_some("keys and values have 16 bits in the cache")
            }
            _ if is_switch && !is_own && value == &Value::Bool(true) => Some("the family has no such part"),
            Some((_, values, instead)) => (!values.contains(&value.to_string().as_str())).then_some(*instead),
            None if ACTIVATION.contains(&field) && activation_of(fields).is_some_and(|(_, known)| known.is_none()) => {
                Some("the feed-forward part computes the function of the family")
            }
            None if WINDOW.contains(&field) && config.kinds.iter().all(|kind| kind.window.is_none()) => {
                let leaves_out = whole(fields, &[field]).ok().flatten().is_some_and(|w| w < config.max_positions);
                let is_on = fields.get("use_sliding_window") != Some(&Value::Bool(false));
                (leaves_out && is_on).then_some("every position stays in the cache and is read")
            }
            None => {
                if !used.contains(&field) && !without_effect.contains(&field) && field != "cross_attention_layers" {
                    unknown.push(field);
                }
                None
            }
        };
        let method =
            value.get("quant_method").and_then(Value::as_str).map(|method| format!(" ({method})")).unwrap_or_default();
        remarks.extend(
            instead.map(|instead| format!("The field {field}{method} of the config.json is not used: {instead}.")),
        );
    }
    if !unknown.is_empty() {
        remarks.push(format!("Fields of the config.json that are not known are not used: {}.", unknown.join(", ")));
    }
    remarks.extend(experts_without_family(fields, family));
    remarks
}

/// What is said of experts that the family of a file does not have: the family is what runs, as elsewhere.
fn experts_without_family(fields: &Map<String, Value>, family: &Family) -> Option<String> {
    let count = |field: &&str| whole(fields, &[*field]).ok().flatten().is_some_and(|count| count > 1);
    let field = EXPERTS.iter().find(|field| count(field)).filter(|_| family.experts.is_none())?;
    let all: Vec<&str> = FAMILIES.iter().filter(|f| f.experts.is_some()).map(|f| f.name).collect();
    Some(format!(
        "The field {field} of the config.json is not used: model_type '{}' has no experts, so the dense model is run; families with experts are {}.",
        family.name,
        all.join(", ")
    ))
}
