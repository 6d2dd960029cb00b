//! Operators as torch exports them, with the values that torch gave: `tests/it/fixtures/models/pt2/operators/`.

use std::fs;
use std::path::Path;

use neuronscope::program::eval::evaluate;
use neuronscope::program::file::gunzip;
use neuronscope::program::{ArrayType, ElementType, Numbers, Value};
use serde_json::Value as Json;

use super::super::import_npz::distance;
use super::{archive, import};

/// Largest allowed distance from torch's results, over the largest number of the result.
const TOLERANCE: f64 = 2e-5;

/// An array of the fixture: `[element type, sizes, numbers]`; numbers that JSON cannot express are written as text.
fn array(json: &Json) -> Value {
    let element = match json[0].as_str().unwrap() {
        "s64" => ElementType::S64,
        "s32" => ElementType::S32,
        "pred" => ElementType::Pred,
        "f64" => ElementType::F64,
        _ => ElementType::F32,
    };
    let dims: Vec<u64> = json[1].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
    let real = |n: &Json| match n.as_str() {
        Some("inf") => f64::INFINITY,
        Some("-inf") => f64::NEG_INFINITY,
        Some(_) => f64::NAN,
        // The shortest digits of a single precision number give that number only in single precision.
        None if element == ElementType::F32 => f64::from(n.as_f64().unwrap() as f32),
        None => n.as_f64().unwrap(),
    };
    let all = json[2].as_array().unwrap();
    let numbers = if element.is_float() {
        Numbers::Real(all.iter().map(real).collect())
    } else {
        Numbers::Whole(all.iter().map(|n| n.as_i64().unwrap()).collect())
    };
    Value { ty: ArrayType::new(element, dims), numbers }
}

/// What is wrong with a case; nothing if its values agree with torch.
fn wrong(case: &Json) -> Option<String> {
    let name = case["name"].as_str().unwrap();
    let model = case["model"].to_string();
    let imported = import(&archive(&[("m/models/model.json", model.as_bytes())]));
    if !imported.inspection.unsupported.is_empty() {
        return Some(format!("{name}: {:?} {:?}", imported.inspection.unsupported, imported.inspection.notes));
    }
    let inputs = case["inputs"].as_array().unwrap().iter().map(array).collect();
    let given = match evaluate(&imported.program, inputs, 10_000_000) {
        Ok(run) => run.outputs,
        Err(e) => return Some(format!("{name}: {e}")),
    };
    let wanted: Vec<Value> = case["outputs"].as_array().unwrap().iter().map(array).collect();
    if given.len() != wanted.len() {
        return Some(format!("{name}: {} results, not {}", given.len(), wanted.len()));
    }
    for (given, wanted) in given.iter().zip(&wanted) {
        let far = if given.ty == wanted.ty { distance(given, wanted) } else { f64::INFINITY };
        if far > TOLERANCE {
            return Some(format!("{name}: {far} from {wanted:?}: {given:?}"));
        }
    }
    None
}

/// Compares all cases of a file, which must have more than a minimum number of them.
fn compare_all(file: &str, more_than: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/fixtures/models/pt2/operators");
    let bytes = gunzip(&fs::read(folder.join(file)).unwrap()).unwrap();
    let cases: Vec<Json> = serde_json::from_slice(&bytes).unwrap();
    assert!(cases.len() > more_than, "{} cases", cases.len());
    let all: Vec<String> = cases.iter().filter_map(wrong).collect();
    assert!(all.is_empty(), "{} of {}:\n{}", all.len(), cases.len(), all.join("\n"));
}

#[test]
fn every_operator_gives_the_values_of_torch() {
    compare_all("operators.json.gz", 100);
}

#[test]
fn systems_of_equations_samples_of_volumes_and_others_give_the_values_of_torch() {
    compare_all("more_operators.json.gz", 75);
}

#[test]
fn whole_layers_of_attention_give_the_values_of_torch() {
    compare_all("encoder_layers.json.gz", 12);
}
