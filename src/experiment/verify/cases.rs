//! Files of cases: outputs of runs, to be verified by one set of rules.

use serde::Serialize;
use serde_json::{Map, Value};

use super::element::ElementType;
use super::mean_relative_error::{MreCode, MreOutcome, mean_relative_error_rules};
use super::read::read_outcome;
use super::same::{SameCode, SameSettings, same_rules};
use super::value::Outcome;
use ns_base::{Refusal, refuse};

/// The rules of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rules {
    /// The mean relative error of the README.
    MeanRelativeError,
    /// The rules in force.
    Current,
}

/// The verdict on one case.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CaseVerdict {
    /// Name of the case.
    pub id: Value,
    pub code: Value,
    /// Under the mean relative error: the error, `"nan"` or `"inf"` if it is not finite, or null. Under the current
    /// rules: the kind of the exception, or null.
    pub error: Value,
}

fn not_a_case(index: usize) -> Refusal {
    refuse!("the file must hold a list of cases, or an object with the key 'cases'; entry {index} is not an object")
}

/// Verifies every case of a file: a list of objects with `id`, `eager1`, `eager2`, `test`, and `fp64`, `tolerance`, `dtype`,
/// `test_dtype`, `use_cosine_similarity`, `noop` if the rules use them. An error names the first case that cannot be read.
pub fn verify_cases(text: &str, rules: Rules) -> Result<Vec<CaseVerdict>, Refusal> {
    let file: Value = serde_json::from_str(text).map_err(|e| refuse!("the file is not JSON: {e}"))?;
    let cases = file.get("cases").unwrap_or(&file);
    let cases = cases.as_array().ok_or_else(|| not_a_case(0))?;
    let judge = |(index, case): (usize, &Value)| {
        let case = Case { fields: case.as_object().ok_or_else(|| not_a_case(index))? };
        match rules {
            Rules::MeanRelativeError => case.by_mean_relative_error(),
            Rules::Current => case.by_current_rules(),
        }
    };
    cases.iter().enumerate().map(judge).collect()
}

struct Case<'a> {
    fields: &'a Map<String, Value>,
}

impl Case<'_> {
    fn id(&self) -> Value {
        self.fields.get("id").cloned().unwrap_or(Value::Null)
    }

    fn name(&self) -> String {
        self.fields.get("id").map_or_else(String::new, |id| id.as_str().map_or_else(|| id.to_string(), str::to_owned))
    }

    fn flag(&self, key: &str) -> bool {
        self.fields.get(key).and_then(Value::as_bool).unwrap_or(false)
    }

    fn number(&self, key: &str) -> Option<f64> {
        self.fields.get(key).and_then(Value::as_f64)
    }

    fn element(&self, field: &'static str, otherwise: ElementType) -> Result<ElementType, Refusal> {
        let Some(name) = self.fields.get(field).and_then(Value::as_str) else { return Ok(otherwise) };
        let unknown = || {
            refuse!(
                "case '{}', field '{field}': '{name}' is not an element type; use one such as f32, bf16, f16, f64, i64, bool",
                self.name()
            )
        };
        ElementType::from_name(name).ok_or_else(unknown)
    }

    fn outcome(&self, field: &'static str, element: ElementType) -> Result<Outcome, Refusal> {
        let value = self.fields.get(field).unwrap_or(&Value::Null);
        read_outcome(value, element).map_err(|source| refuse!("case '{}', field '{field}': {source}", self.name()))
    }

    /// The threshold of the README is 2 %.
    fn by_mean_relative_error(&self) -> Result<CaseVerdict, Refusal> {
        const TOLERANCE: f64 = 0.02;
        let element = self.element("dtype", ElementType::F32)?;
        let test_element = self.element("test_dtype", element)?;
        let (first, second) = (self.outcome("eager1", element)?, self.outcome("eager2", element)?);
        let test = self.outcome("test", test_element)?;
        let tolerance = self.number("tolerance").unwrap_or(TOLERANCE);
        let judged = if self.flag("noop") {
            MreOutcome::of(MreCode::SkipVerification)
        } else if !self.fields.contains_key("test") {
            MreOutcome::of(MreCode::CannotProceedWithVerification)
        } else {
            mean_relative_error_rules([&first, &second], &test, tolerance)
        };
        Ok(CaseVerdict {
            id: self.id(),
            code: code_of(judged.code),
            error: judged.error.map_or(Value::Null, number_of),
        })
    }

    /// The tolerance of inference is 1 %.
    fn by_current_rules(&self) -> Result<CaseVerdict, Refusal> {
        const TOLERANCE: f64 = 1e-2;
        let element = self.element("dtype", ElementType::F32)?;
        let test_element = self.element("test_dtype", element)?;
        let eager = [self.outcome("eager1", element)?, self.outcome("eager2", element)?];
        let (fp64, test) = (self.outcome("fp64", ElementType::F64)?, self.outcome("test", test_element)?);
        let tolerance = self.number("tolerance").unwrap_or(TOLERANCE);
        let settings = SameSettings { tolerance, cosine: self.flag("use_cosine_similarity") };
        let code = if self.flag("noop") {
            SameCode::VerifierSkipped
        } else {
            same_rules([&eager[0], &eager[1]], &fp64, &test, settings)
        };
        // The kind of exception that is reported for a run that raises.
        let raised = matches!(code, SameCode::EagerFailed | SameCode::ExceptionRaised);
        let error = if raised { Value::from("RuntimeError") } else { Value::Null };
        Ok(CaseVerdict { id: self.id(), code: code_of(code), error })
    }
}

fn code_of<T: Serialize>(code: T) -> Value {
    serde_json::to_value(code).unwrap_or(Value::Null)
}

fn number_of(x: f64) -> Value {
    serde_json::Number::from_f64(x).map_or_else(|| Value::from(crate::python::repr(x)), Value::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_of_a_file_are_named() {
        let error = |text: &str| verify_cases(text, Rules::Current).unwrap_err().to_string();
        assert!(error("[").starts_with("the file is not JSON: EOF"));
        assert!(error("[1]").contains("entry 0"));
        assert!(error(r#"[{"id": "x", "dtype": "f13"}]"#).contains("'f13' is not an element type"));
        let ragged = error(r#"[{"id": "x", "eager1": [[1], 2]}]"#);
        assert!(ragged.starts_with("case 'x', field 'eager1'"), "{ragged}");
    }

    #[test]
    fn cases_that_never_ran() {
        let codes = |text: &str, rules| -> Vec<Value> {
            verify_cases(text, rules).unwrap().into_iter().map(|v| v.code).collect()
        };
        let text = r#"[{"id": 1, "noop": true}, {"id": 2, "eager1": [1.0], "eager2": [1.0]}]"#;
        assert_eq!(codes(text, Rules::MeanRelativeError), ["SKIP_VERIFICATION", "CANNOT_PROCEED_WITH_VERIFICATION"]);
        assert_eq!(codes(r#"{"cases": [{"noop": true}]}"#, Rules::Current), ["VERIFIER_SKIPPED"]);
    }
}
