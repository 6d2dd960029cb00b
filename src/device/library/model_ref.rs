//! What the text of a model names: a model of the zoo, a model file, or a system given by its times.

use std::borrow::Cow;
use std::str::FromStr;

use super::fixed::{FIXED_MODEL, FixedModel};
use super::model_file_ref::{MODEL_FILE_PREFIX, ModelFileRef};
use ns_base::Refusal;
use ns_kernel::without_source;
use ns_model::zoo::ModelSpec;

/// A model, as a text names it in configurations, requests and links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ModelRef {
    /// A model of the zoo with its parameters.
    Zoo(ModelSpec),
    /// A model file with the user's settings.
    File(ModelFileRef),
    /// A system given by the times of its stages.
    Fixed(FixedModel),
}

/// The kind of model that a text names. It is known while the rest of the text is still being typed, or is wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelKind {
    /// A model of the zoo, or no model at all.
    Zoo,
    File,
    /// A system given by the times of its stages.
    Fixed,
}

impl ModelKind {
    /// The kind of model that a text names.
    pub fn of(text: &str) -> Self {
        let text = text.trim();
        if text.starts_with(MODEL_FILE_PREFIX) {
            Self::File
        } else if text.split(':').next().is_some_and(|name| name.trim_end() == FIXED_MODEL) {
            Self::Fixed
        } else {
            Self::Zoo
        }
    }
}

impl FromStr for ModelRef {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        Ok(match ModelKind::of(text) {
            ModelKind::Zoo => Self::Zoo(text.parse()?),
            ModelKind::File => Self::File(text.parse()?),
            ModelKind::Fixed => Self::Fixed(text.parse()?),
        })
    }
}

/// A model's text for display: a file by its name and settings, a custom operator without its source.
pub fn model_label(model: &str) -> Cow<'_, str> {
    match model.parse::<ModelFileRef>() {
        Ok(file) => Cow::Owned(without_source(&file.label()).into_owned()),
        Err(_) => without_source(model),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_names_one_kind_of_model() {
        let kinds = [" fixed:x", "fixed", "fixed2", "file:a.onnx@x:n", " file:", "nn", ""].map(ModelKind::of);
        let (zoo, file, fixed) = (ModelKind::Zoo, ModelKind::File, ModelKind::Fixed);
        assert_eq!(kinds, [fixed, fixed, zoo, file, file, zoo, zoo]);
        assert!(matches!("mlp".parse(), Ok(ModelRef::Zoo(spec)) if spec.id() == "mlp"));
        assert!(matches!("file:a.pt2".parse(), Ok(ModelRef::File(file)) if file.name == "a.pt2"));
        assert!(matches!("fixed:device_ms=2".parse(), Ok(ModelRef::Fixed(_))));
        assert!("file:".parse::<ModelRef>().unwrap_err().what().contains("is not the name of a model file"));
        assert!("fixed".parse::<ModelRef>().unwrap_err().to_string().contains("device_ms"));
    }

    #[test]
    fn a_file_is_displayed_without_its_digest() {
        assert_eq!(
            model_label("file:my_model.onnx@k3x9q2ab:batch=2,aten::foo.Tensor=sort"),
            "my_model.onnx:batch=2,aten::foo.Tensor=sort"
        );
        assert_eq!((model_label("file:a.pt2@12345678"), model_label("nn")), ("a.pt2".into(), "nn".into()));
        assert_eq!(model_label("file:a.pt2:my::op=mine~AwA~function-f,batch=2"), "a.pt2:batch=2,my::op=mine");
    }
}
