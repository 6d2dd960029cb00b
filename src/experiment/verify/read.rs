//! Outputs written as JSON: lists of numbers are tensors, objects name anything else.

use serde_json::Value;

use super::element::ElementType;
use super::value::{Outcome, Output, Scalar, TensorValue};
use ns_base::{Refusal, refuse};

/// The outcome that a JSON value describes: `"RAISE"`, `null` for no output, a list for a tensor of `element`s, a number for
/// a scalar, or an object `{"tuple": [...]}`, `{"list": [...]}`, `{"dict": {...}}`, `{"scalar": 3}`, `{"tensor": [...],
/// "dtype": "f32", "shape": [2, 3]}`. `"nan"`, `"inf"` and `"-inf"` are numbers. An error names the part that does not fit.
pub fn read_outcome(value: &Value, element: ElementType) -> Result<Outcome, Refusal> {
    if value.as_str() == Some("RAISE") {
        return Ok(Outcome::Raised);
    }
    output(value, element).map(Outcome::Returned)
}

fn output(value: &Value, element: ElementType) -> Result<Output, Refusal> {
    match value {
        Value::Array(_) => tensor(value, element, None).map(Output::Tensor),
        Value::Object(fields) => {
            if let Some(items) = fields.get("tuple").or_else(|| fields.get("list")).and_then(Value::as_array) {
                return items.iter().map(|i| output(i, element)).collect::<Result<_, _>>().map(Output::Sequence);
            }
            if let Some(entries) = fields.get("dict").and_then(Value::as_object) {
                let entry = |(key, v): (&String, &Value)| Ok((key.clone(), output(v, element)?));
                return entries.iter().map(entry).collect::<Result<_, Refusal>>().map(Output::Dict);
            }
            if let Some(scalar) = fields.get("scalar") {
                return Ok(Output::Scalar(plain(scalar)));
            }
            if let Some(values) = ["tensor", "values", "data"].iter().find_map(|k| fields.get(*k)) {
                let named = fields.get("dtype").and_then(Value::as_str).and_then(ElementType::from_name);
                return tensor(values, named.unwrap_or(element), fields.get("shape")).map(Output::Tensor);
            }
            Err(refuse!("an object must have one key of tuple, list, dict, scalar, tensor; found {}", shortened(value)))
        }
        other => Ok(Output::Scalar(plain(other))),
    }
}

fn plain(value: &Value) -> Scalar {
    match value {
        Value::Bool(b) => Scalar::Bool(*b),
        Value::Number(n) => Scalar::Number(n.as_f64().unwrap_or(f64::NAN)),
        Value::String(text) => number(value).map_or_else(|| Scalar::Text(text.clone()), Scalar::Number),
        _ => Scalar::None,
    }
}

fn number(value: &Value) -> Option<f64> {
    match value {
        Value::Number(n) => n.as_f64(),
        Value::Bool(b) => Some(f64::from(u8::from(*b))),
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "nan" => Some(f64::NAN),
            "inf" | "infinity" => Some(f64::INFINITY),
            "-inf" | "-infinity" => Some(f64::NEG_INFINITY),
            _ => None,
        },
        _ => None,
    }
}

fn tensor(value: &Value, element: ElementType, shape: Option<&Value>) -> Result<TensorValue, Refusal> {
    let wrong =
        || refuse!("a tensor must be a list of numbers, or of lists of equal length; found {}", shortened(value));
    let mut tensor = TensorValue { element, shape: Vec::new(), values: Vec::new() };
    // The first element at each depth gives the shape; all others must agree with it.
    let mut first = value;
    while let Value::Array(items) = first {
        tensor.shape.push(items.len());
        let Some(inner) = items.first() else { break };
        first = inner;
    }
    flatten(value, &tensor.shape, element, &mut tensor.values).ok_or_else(wrong)?;
    if let Some(sizes) = shape.and_then(Value::as_array) {
        let sizes: Option<Vec<usize>> =
            sizes.iter().map(|s| s.as_u64().and_then(|s| usize::try_from(s).ok())).collect();
        tensor.shape = sizes.ok_or_else(wrong)?;
        let total = tensor.shape.iter().try_fold(1usize, |n, s| n.checked_mul(*s)).ok_or_else(wrong)?;
        if total != tensor.values.len() {
            return Err(wrong());
        }
    }
    Ok(tensor)
}

fn flatten(value: &Value, shape: &[usize], element: ElementType, out: &mut Vec<f64>) -> Option<()> {
    match (value, shape.split_first()) {
        (Value::Array(items), Some((size, inner))) if items.len() == *size => {
            items.iter().try_for_each(|item| flatten(item, inner, element, out))
        }
        (Value::Array(_), _) => None,
        (_, Some(_)) => None,
        (leaf, None) => {
            out.push(element.round(number(leaf)?));
            Some(())
        }
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    if text.chars().count() <= 60 { text } else { text.chars().take(60).collect::<String>() + " ..." }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_output_is_read() {
        let read = |v: Value| read_outcome(&v, ElementType::F32);
        assert_eq!(read(json!("RAISE")), Ok(Outcome::Raised));
        assert_eq!(read(json!(null)), Ok(Outcome::Returned(Output::Scalar(Scalar::None))));
        let Ok(Outcome::Returned(Output::Tensor(t))) = read(json!([[1, "inf"], [3, 0.1]])) else { panic!() };
        assert_eq!((t.shape, t.values), (vec![2, 2], vec![1.0, f64::INFINITY, 3.0, f64::from(0.1f32)]));
        let Ok(Outcome::Returned(Output::Sequence(s))) = read(json!({"tuple": [[1.0], {"scalar": 3}]})) else {
            panic!()
        };
        assert_eq!(s[1], Output::Scalar(Scalar::Number(3.0)));
        assert!(read(json!([[1], [1, 2]])).unwrap_err().what().starts_with("a tensor must be a list of numbers"));
        assert!(read(json!({"what": 1})).unwrap_err().what().starts_with("an object must have one key"));
    }
}
