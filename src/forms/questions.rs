//! Choices that a model file leaves to the user: sizes of its open dimensions, and places of operators without a known meaning. The
//! answers are part of the model's text, `file:bert.onnx@k3x9q2ab:seq=128,aten.foo=sort`, and so of every link.

use ns_compiler::UnknownOpPolicy;
use ns_device::{BatchRule, ModelFileRef, ModelFileSettings, OpenedModel};
use ns_program::occurrence;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SizeQuestion {
    /// Its name in the file.
    pub name: String,
    /// The sizes that the file allows, in words: `from 2 to 512`.
    pub range: String,
    /// The default size, from the export.
    pub exported: u64,
    /// The size that was given; empty if none was.
    pub given: String,
    /// Whether it is the batch, which lists of batch sizes set too.
    pub is_batch: bool,
    least: u64,
    most: Option<u64>,
}

/// An operator without a known meaning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperatorQuestion {
    /// Its name in the file.
    pub op: String,
    /// A text on how often it occurs, and where first.
    pub place: String,
    /// How its time is estimated.
    pub policy: &'static str,
}

/// Choices that a model file leaves to the user.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelQuestions {
    /// Open dimensions, in the order of the file.
    pub sizes: Vec<SizeQuestion>,
    /// Operators without a known meaning, in the order of the file.
    pub operators: Vec<OperatorQuestion>,
    /// The only batch size of a file that allows no other.
    pub fixed_batch: Option<u64>,
}

/// How an operator without a known meaning can be placed: its name in settings, and its meaning. The first is the default.
pub const OPERATOR_PLACES: [(&str, &str); UnknownOpPolicy::ALL.len()] = [
    ("elementwise", "elementwise: one pass of the vector engine"),
    ("move", "move: out to device memory and back"),
    ("sort", "sort: passes of the GpSimd engine"),
];

impl ModelQuestions {
    /// The questions of a file that is open, with the answers that a model's text holds.
    pub fn of(opened: &OpenedModel, model: &str) -> Self {
        let given = settings_of(model);
        let (batch, fixed_batch) = match &opened.batch {
            BatchRule::Open { dimension, .. } => (Some(dimension), None),
            BatchRule::Derived { exported: size } | BatchRule::Fixed { size } => (None, Some(*size)),
        };
        let sizes = opened.inspection.open_dimensions.iter().map(|d| {
            let least = d.min.unwrap_or(1).max(1);
            SizeQuestion {
                name: d.name.clone(),
                range: range(least, d.max),
                exported: d.used,
                given: given.dims.get(&d.name).map(u64::to_string).unwrap_or_default(),
                is_batch: batch == Some(&d.name),
                least,
                most: d.max,
            }
        });
        let operators = opened.inspection.unsupported.iter().map(|unknown| {
            let occurs = occurrence(unknown.count, &unknown.first);
            let policy = given.assumed.get(&unknown.op).unwrap_or(&UnknownOpPolicy::Elementwise);
            let place = format!("It occurs {occurs}. Its time is an estimate.");
            OperatorQuestion { op: unknown.op.clone(), place, policy: policy.name() }
        });
        Self { sizes: sizes.collect(), operators: operators.collect(), fixed_batch }
    }

    /// The model's text without the size of its batch, and that size if it was given or is the only one; for forms with a field for
    /// batch sizes.
    pub fn without_batch(&self, model: &str) -> (String, Option<String>) {
        let given = self.sizes.iter().find(|size| size.is_batch && !size.given.is_empty());
        let without = given.and_then(|size| Some((size.answered(model, "").ok()?, Some(size.given.clone()))));
        without.unwrap_or_else(|| (model.to_owned(), self.fixed_batch.map(|size| size.to_string())))
    }
}

impl SizeQuestion {
    /// The model's text with an answer; an empty one leaves the size to the file. Fails when the answer is not a size that the file
    /// allows.
    pub fn answered(&self, model: &str, text: &str) -> Result<String, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(changed(model, |settings| {
                settings.dims.remove(&self.name);
            }));
        }
        let is_allowed = |n: &u64| *n >= self.least && self.most.is_none_or(|most| *n <= most);
        let size = text.parse().ok().filter(is_allowed);
        let wrong = || {
            format!(
                "{}: '{text}' is not a size of this dimension; the file allows whole numbers {}.",
                self.name, self.range
            )
        };
        let size = size.ok_or_else(wrong)?;
        Ok(changed(model, |settings| {
            settings.dims.insert(self.name.clone(), size);
        }))
    }
}

impl OperatorQuestion {
    /// The model's text with another place for an operator: a name of [`OPERATOR_PLACES`].
    pub fn answered(&self, model: &str, place: &str) -> String {
        changed(model, |settings| match UnknownOpPolicy::from_name(place) {
            // The default stays out of links.
            Some(UnknownOpPolicy::Elementwise) | None => {
                settings.assumed.remove(&self.op);
            }
            Some(policy) => {
                settings.assumed.insert(self.op.clone(), policy);
            }
        })
    }
}

fn settings_of(model: &str) -> ModelFileSettings {
    ModelFileRef::of(model).map(|file| file.settings).unwrap_or_default()
}

/// A model's text with other settings. A text that does not name a file is returned unchanged; settings that cannot be read are left out.
fn changed(model: &str, change: impl FnOnce(&mut ModelFileSettings)) -> String {
    let Some(mut file) = ModelFileRef::of(model) else { return model.to_owned() };
    change(&mut file.settings);
    file.to_string()
}

fn range(least: u64, most: Option<u64>) -> String {
    most.map_or_else(|| format!("from {least}"), |most| format!("from {least} to {most}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_program::{Inspection, OpenDimension, UnsupportedOp};

    const ID: &str = "file:bert.onnx@k3x9q2ab";

    fn open_model() -> OpenedModel {
        let dimension =
            |name: &str, min, max, used| OpenDimension { name: name.to_owned(), min, max, used, is_chosen: false };
        let open_dimensions = vec![dimension("n", None, None, 1), dimension("seq", Some(2), Some(512), 128)];
        let unsupported = vec![UnsupportedOp {
            op: "mine::gate.out".to_owned(),
            count: 3,
            first: "gate_1".to_owned(),
            why: String::new(),
        }];
        OpenedModel {
            id: ID.to_owned(),
            batch: BatchRule::Open { dimension: "n".to_owned(), exported: 1 },
            inspection: Inspection { open_dimensions, unsupported, ..Inspection::default() },
        }
    }

    #[test]
    fn size_questions_have_the_range_of_the_file() {
        let asked = ModelQuestions::of(&open_model(), ID);
        let [batch, seq] = asked.sizes.as_slice() else { panic!("{asked:?}") };
        assert!(batch.is_batch && !seq.is_batch);
        assert_eq!((batch.range.as_str(), seq.range.as_str(), seq.exported), ("from 1", "from 2 to 512", 128));
        let with = seq.answered(ID, " 64 ").unwrap();
        assert_eq!(with, format!("{ID}:seq=64"));
        assert_eq!(ModelQuestions::of(&open_model(), &with).sizes[1].given, "64");
        assert_eq!(batch.answered(&with, "8").unwrap(), format!("{ID}:n=8,seq=64"));
        assert_eq!(seq.answered(&with, "").unwrap(), ID);
        let both =
            ModelQuestions::of(&open_model(), &format!("{ID}:n=8,seq=64")).without_batch(&format!("{ID}:n=8,seq=64"));
        assert_eq!(both, (format!("{ID}:seq=64"), Some("8".to_owned())));
        assert_eq!(asked.without_batch(ID), (ID.to_owned(), None));
        let fixed = OpenedModel { batch: BatchRule::Fixed { size: 8 }, ..open_model() };
        assert_eq!(ModelQuestions::of(&fixed, ID).without_batch(ID), (ID.to_owned(), Some("8".to_owned())));
        for wrong in ["0", "1", "513", "-2", "many", "18446744073709551616"] {
            let said = seq.answered(ID, wrong).unwrap_err();
            assert!(said.contains("from 2 to 512") && said.contains(wrong), "{said}");
        }
    }

    #[test]
    fn the_user_chooses_the_placement_of_operators() {
        let asked = ModelQuestions::of(&open_model(), ID);
        let [gate] = asked.operators.as_slice() else { panic!("{asked:?}") };
        assert_eq!((gate.policy, gate.place.contains("3 times, first at gate_1")), ("elementwise", true));
        let sorted = gate.answered(&format!("{ID}:seq=64"), "sort");
        assert_eq!(sorted, format!("{ID}:seq=64,mine::gate.out=sort"));
        assert_eq!(ModelQuestions::of(&open_model(), &sorted).operators[0].policy, "sort");
        assert_eq!(gate.answered(&sorted, "elementwise"), format!("{ID}:seq=64"));
        let names = OPERATOR_PLACES.map(|(name, _)| UnknownOpPolicy::from_name(name));
        assert_eq!(names, UnknownOpPolicy::ALL.map(Some));
    }

    #[test]
    fn a_text_that_cannot_be_read_is_not_lost() {
        let seq = &ModelQuestions::of(&open_model(), ID).sizes[1];
        assert_eq!(seq.answered("bert-base-uncased", "4").unwrap(), "bert-base-uncased");
        assert_eq!(seq.answered(&format!("{ID}:seq=many"), "4").unwrap(), format!("{ID}:seq=4"));
    }
}
