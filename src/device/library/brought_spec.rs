//! The text that names a brought model: `file:resnet50.onnx@k3x9q2ab:seq=128,aten.foo=sort`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use ns_compiler::Stand;
use ns_kernel::without_source;

/// The prefix of names of brought models.
pub const BROUGHT_PREFIX: &str = "file:";

/// Most characters of a file's name that are kept.
const MOST_NAME: usize = 128;

/// The user's settings for a model file: sizes of its open dimensions, and how operators without a known meaning are placed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BroughtSettings {
    /// Sizes of open dimensions, by their names in the file.
    pub dims: BTreeMap<String, u64>,
    /// How operators are placed, by their names in the file.
    pub assumed: BTreeMap<String, Stand>,
}

/// A model file by name, with the user's settings. Its text is used like the name of a model of the zoo in
/// configurations, requests and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroughtSpec {
    /// The name of the file, with `_` for every character that is not a letter, digit, `.`, `_` or `-`.
    pub name: String,
    /// Eight characters that identify its content; without them, the only open file of that name is meant.
    pub digest: Option<String>,
    /// Its settings.
    pub settings: BroughtSettings,
}

/// A text that does not name a model file, or that has settings that cannot be read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum BroughtSpecError {
    /// It does not begin with the prefix of model files.
    #[error("{text:?} is not the name of a model file: it begins with {BROUGHT_PREFIX}, as in file:resnet50.onnx")]
    NotAFile {
        /// The given text.
        text: String,
    },
    /// A setting without its two parts.
    #[error(
        "{text:?}: write NAME=SIZE for an open dimension, as in seq=128, or OPERATOR=PLACE, as in aten.foo=elementwise"
    )]
    Malformed {
        /// The given text.
        text: String,
    },
    /// A setting that is neither a size nor a place.
    #[error("{name}={value}: use a size from 1 up for an open dimension, or {} for an operator", Stand::names())]
    BadValue {
        /// The dimension or the operator.
        name: String,
        /// The given value.
        value: String,
    },
}

impl BroughtSettings {
    /// Whether no setting is given.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty() && self.assumed.is_empty()
    }

    /// Adds one setting: `seq=128` or `aten.foo=elementwise`.
    ///
    /// # Errors
    /// When it does not have two parts, or its value is neither a size nor a place.
    pub fn set(&mut self, text: &str) -> Result<(), BroughtSpecError> {
        let malformed = || BroughtSpecError::Malformed { text: text.to_owned() };
        let (name, value) = text.rsplit_once('=').ok_or_else(malformed)?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return Err(malformed());
        }
        if let Some(size) = value.parse().ok().filter(|size| *size > 0) {
            self.dims.insert(name.to_owned(), size);
        } else if let Some(stand) = Stand::from_name(value) {
            self.assumed.insert(name.to_owned(), stand);
        } else {
            return Err(BroughtSpecError::BadValue { name: name.to_owned(), value: value.to_owned() });
        }
        Ok(())
    }
}

impl FromStr for BroughtSettings {
    type Err = BroughtSpecError;

    fn from_str(text: &str) -> Result<Self, BroughtSpecError> {
        let mut settings = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            settings.set(part)?;
        }
        Ok(settings)
    }
}

impl fmt::Display for BroughtSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims = self.dims.iter().map(|(name, size)| format!("{name}={size}"));
        let assumed = self.assumed.iter().map(|(op, stand)| format!("{op}={}", stand.name()));
        f.write_str(&dims.chain(assumed).collect::<Vec<_>>().join(","))
    }
}

impl BroughtSpec {
    /// A specification that names a file.
    #[must_use]
    pub fn new(file_name: &str, digest: &str, settings: BroughtSettings) -> Self {
        let file = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
        let keep = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
        let name: String = file.chars().take(MOST_NAME).map(keep).collect();
        Self { name, digest: Some(digest.to_owned()), settings }
    }

    /// Whether a model's text names a file.
    #[must_use]
    pub fn is_meant(model: &str) -> bool {
        model.trim_start().starts_with(BROUGHT_PREFIX)
    }

    /// The text for display: the file's name and the settings.
    #[must_use]
    pub fn label(&self) -> String {
        if self.settings.is_empty() { self.name.clone() } else { format!("{}:{}", self.name, self.settings) }
    }
}

impl fmt::Display for BroughtSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{BROUGHT_PREFIX}{}", self.name)?;
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        if !self.settings.is_empty() {
            write!(f, ":{}", self.settings)?;
        }
        Ok(())
    }
}

impl FromStr for BroughtSpec {
    type Err = BroughtSpecError;

    fn from_str(text: &str) -> Result<Self, BroughtSpecError> {
        let named = text.trim().strip_prefix(BROUGHT_PREFIX).filter(|rest| !rest.is_empty());
        let rest = named.ok_or_else(|| BroughtSpecError::NotAFile { text: text.to_owned() })?;
        let (file, settings) = rest.split_once(':').unwrap_or((rest, ""));
        let (name, digest) = file.split_once('@').map_or((file, None), |(name, digest)| (name, Some(digest)));
        Ok(Self { name: name.to_owned(), digest: digest.map(str::to_owned), settings: settings.parse()? })
    }
}

/// A model's text for display: a file by its name alone, a kernel of the user's own without its source.
#[must_use]
pub fn model_label(model: &str) -> Cow<'_, str> {
    match model.parse::<BroughtSpec>() {
        Ok(spec) => Cow::Owned(spec.label()),
        Err(_) => without_source(model),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_with_its_settings_reads_back() {
        let mut settings: BroughtSettings = "seq=128, batch=2".parse().unwrap();
        settings.set("aten::foo.Tensor=sort").unwrap();
        let spec = BroughtSpec::new("folder/my model, v2:a.onnx", "k3x9q2ab", settings);
        assert_eq!(spec.to_string(), "file:my_model__v2_a.onnx@k3x9q2ab:batch=2,seq=128,aten::foo.Tensor=sort");
        assert_eq!(spec.to_string().parse::<BroughtSpec>().unwrap(), spec);
        assert_eq!(model_label(&spec.to_string()), "my_model__v2_a.onnx:batch=2,seq=128,aten::foo.Tensor=sort");
        assert_eq!((model_label("file:a.pt2@12345678"), model_label("nn")), ("a.pt2".into(), "nn".into()));
        assert_eq!("file:a.pt2".parse::<BroughtSpec>().unwrap().digest, None);
    }

    #[test]
    fn a_wrong_setting_says_what_is_allowed() {
        let error = |text: &str| text.parse::<BroughtSettings>().unwrap_err().to_string();
        assert!(error("seq").contains("NAME=SIZE"));
        assert_eq!(
            error("seq=0"),
            "seq=0: use a size from 1 up for an open dimension, or elementwise, move or sort for an operator"
        );
        assert!("nn".parse::<BroughtSpec>().unwrap_err().to_string().contains("file:resnet50.onnx"));
        assert!("file:".parse::<BroughtSpec>().is_err());
    }

    proptest! {
        #[test]
        fn any_file_name_reads_back(name in "\\PC{1,40}", size in 1u64..1_000) {
            let settings: BroughtSettings = format!("n={size}").parse().unwrap();
            let spec = BroughtSpec::new(&name, "abcdefgh", settings);
            prop_assume!(!spec.name.is_empty());
            prop_assert_eq!(spec.to_string().parse::<BroughtSpec>().unwrap(), spec);
        }
    }
}
