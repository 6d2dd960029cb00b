//! The values of a `config.json`: numbers, switches and names, with the field at fault in a refusal.

use serde_json::{Map, Value};

use super::config::Activation;
use super::config_fields::{ACTIVATION, QUANTIZATION};
use super::weights::Weights;
use ns_base::convert::f64_to_u64;
use ns_base::{Refusal, refuse};

/// The storage of weights that a file names.
pub(super) fn stored_of(fields: &Map<String, Value>) -> Option<Weights> {
    Weights::of_file(QUANTIZATION.iter().find_map(|field| fields.get(*field))?)
}

/// The function of the feed-forward part as the file names it; `None` beside the name where it is not known.
pub(super) fn activation_of(fields: &Map<String, Value>) -> Option<(&str, Option<Activation>)> {
    let name = ACTIVATION.iter().find_map(|field| fields.get(*field)?.as_str())?;
    let known = match name {
        "silu" | "swish" => Some(Activation::Silu),
        "relu" => Some(Activation::Relu),
        "relu2" => Some(Activation::SquaredRelu),
        name if name.contains("gelu") => Some(Activation::Gelu),
        _ => None,
    };
    Some((name, known))
}

/// The first of these fields, which must be there and above 0.
pub(super) fn needed(fields: &Map<String, Value>, names: &[&str]) -> Result<u64, Refusal> {
    match whole(fields, names)? {
        Some(0) => Err(refuse!("{} is 0; it must be at least 1", names[0])),
        Some(n) => Ok(n),
        None => Err(missing(names)),
    }
}

/// The refusal of a file without any of these fields.
pub(super) fn missing(names: &[&str]) -> Refusal {
    refuse!("the field {} is missing", names.join(" or "))
}

/// The first of these fields, if it is there and not null. A number may be written as `4096.0`, or once for each layer.
pub(super) fn whole(fields: &Map<String, Value>, names: &[&str]) -> Result<Option<u64>, Refusal> {
    match names.iter().find_map(|name| Some((name, fields.get(*name).filter(|value| !value.is_null())?))) {
        None => Ok(None),
        Some((name, value)) => {
            let value = match value {
                Value::Array(all) if all.windows(2).all(|two| two[0] == two[1]) => all.first().unwrap_or(value),
                _ => value,
            };
            let float = || value.as_f64().filter(|n| *n >= 0.0 && *n < 9e15 && libm::trunc(*n) == *n).map(f64_to_u64);
            let number = value.as_u64().or_else(float);
            number.map(Some).ok_or_else(|| refuse!("{name} is {value}; it must be a whole number"))
        }
    }
}

/// A switch, if it is there and not null.
pub(super) fn flag(fields: &Map<String, Value>, name: &str) -> Result<Option<bool>, Refusal> {
    match fields.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Bool(yes)) => Ok(Some(*yes)),
        Some(other) => Err(refuse!("{name} is {other}; it must be true or false")),
    }
}
