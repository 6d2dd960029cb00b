//! The text that names a model file: `file:resnet50.onnx@k3x9q2ab:seq=128,aten.foo=sort`.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, refuse};
use ns_compiler::UnknownOpPolicy;

/// The prefix of names of model files.
pub(super) const MODEL_FILE_PREFIX: &str = "file:";

/// Most characters of a file's name that are kept.
const MOST_NAME: usize = 128;

/// The user's settings for a model file: sizes of its open dimensions, and how operators without a known meaning are placed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFileSettings {
    /// Sizes of open dimensions, by their names in the file.
    pub dims: BTreeMap<String, u64>,
    /// How operators are placed, by their names in the file.
    pub assumed: BTreeMap<String, UnknownOpPolicy>,
}

/// A model file by name, with the user's settings. Its text is used like the name of a model of the zoo in
/// configurations, requests and links.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFileRef {
    /// The name of the file, with `_` for every character that is not a letter, digit, `.`, `_` or `-`.
    pub name: String,
    /// Eight characters that identify its content; without them, the only open file of that name is meant.
    pub digest: Option<String>,
    pub settings: ModelFileSettings,
}

impl ModelFileSettings {
    /// Whether no setting is given.
    pub fn is_empty(&self) -> bool {
        self.dims.is_empty() && self.assumed.is_empty()
    }

    /// Adds one setting: `seq=128` or `aten.foo=elementwise`. Fails when it does not have two parts, or its value is neither a size
    /// nor a place.
    pub fn set(&mut self, text: &str) -> Result<(), Refusal> {
        let malformed = || {
            refuse!(
                "{text:?}: write NAME=SIZE for an open dimension, as in seq=128, or OPERATOR=PLACE, as in aten.foo=elementwise"
            )
        };
        let (name, value) = text.rsplit_once('=').ok_or_else(malformed)?;
        let (name, value) = (name.trim(), value.trim());
        if name.is_empty() {
            return Err(malformed());
        }
        if let Some(size) = value.parse().ok().filter(|size| *size > 0) {
            self.dims.insert(name.to_owned(), size);
        } else if let Some(policy) = UnknownOpPolicy::from_name(value) {
            self.assumed.insert(name.to_owned(), policy);
        } else {
            return Err(refuse!(
                "{name}={value}: use a size from 1 up for an open dimension, or {} for an operator",
                UnknownOpPolicy::names()
            ));
        }
        Ok(())
    }
}

impl FromStr for ModelFileSettings {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let mut settings = Self::default();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            settings.set(part)?;
        }
        Ok(settings)
    }
}

impl fmt::Display for ModelFileSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dims = self.dims.iter().map(|(name, size)| format!("{name}={size}"));
        let assumed = self.assumed.iter().map(|(op, policy)| format!("{op}={policy}"));
        f.write_str(&dims.chain(assumed).collect::<Vec<_>>().join(","))
    }
}

impl ModelFileRef {
    /// A specification that names a file.
    pub fn new(file_name: &str, digest: &str, settings: ModelFileSettings) -> Self {
        let file = file_name.rsplit(['/', '\\']).next().unwrap_or(file_name);
        let keep = |c: char| if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') { c } else { '_' };
        let name: String = file.chars().take(MOST_NAME).map(keep).collect();
        Self { name, digest: Some(digest.to_owned()), settings }
    }

    /// The file that a model's text names, if it names one; settings that cannot be read are left out.
    pub fn of(model: &str) -> Option<Self> {
        let without_settings = || model.splitn(3, ':').take(2).collect::<Vec<_>>().join(":").parse();
        model.parse().or_else(|_| without_settings()).ok()
    }

    /// The text for display: the file's name and the settings.
    pub fn label(&self) -> String {
        if self.settings.is_empty() { self.name.clone() } else { format!("{}:{}", self.name, self.settings) }
    }
}

impl fmt::Display for ModelFileRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{MODEL_FILE_PREFIX}{}", self.name)?;
        if let Some(digest) = &self.digest {
            write!(f, "@{digest}")?;
        }
        if !self.settings.is_empty() {
            write!(f, ":{}", self.settings)?;
        }
        Ok(())
    }
}

impl FromStr for ModelFileRef {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let named = text.trim().strip_prefix(MODEL_FILE_PREFIX).filter(|rest| !rest.is_empty());
        let rest = named.ok_or_else(|| {
            refuse!(
                "{text:?} is not the name of a model file: it begins with {MODEL_FILE_PREFIX}, as in file:resnet50.onnx"
            )
        })?;
        let (file, settings) = rest.split_once(':').unwrap_or((rest, ""));
        let (name, digest) = file.split_once('@').map_or((file, None), |(name, digest)| (name, Some(digest)));
        Ok(Self { name: name.to_owned(), digest: digest.map(str::to_owned), settings: settings.parse()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_file_with_its_settings_reads_back() {
        let mut settings: ModelFileSettings = "seq=128, batch=2".parse().unwrap();
        settings.set("aten::foo.Tensor=sort").unwrap();
        settings.set("my_ops::relu=mine~eJw").unwrap();
        let spec = ModelFileRef::new("folder/my model, v2:a.onnx", "k3x9q2ab", settings);
        assert_eq!(
            spec.to_string(),
            "file:my_model__v2_a.onnx@k3x9q2ab:batch=2,seq=128,aten::foo.Tensor=sort,my_ops::relu=mine~eJw"
        );
        assert_eq!(spec.to_string().parse::<ModelFileRef>().unwrap(), spec);
        assert_eq!("file:a.pt2".parse::<ModelFileRef>().unwrap().digest, None);
        assert_eq!(
            ModelFileRef::of(&format!("{spec},seq")),
            Some(ModelFileRef { settings: Default::default(), ..spec })
        );
        assert_eq!((ModelFileRef::of("nn"), ModelFileRef::of("file:")), (None, None));
    }

    #[test]
    fn a_wrong_setting_error_lists_the_allowed_ones() {
        let error = |text: &str| text.parse::<ModelFileSettings>().unwrap_err().to_string();
        assert!(error("seq").contains("NAME=SIZE"));
        assert_eq!(
            error("seq=0"),
            "seq=0: use a size from 1 up for an open dimension, or elementwise, move or sort, or a kernel (FILE.cpp or build.py) for an operator"
        );
        assert!("nn".parse::<ModelFileRef>().unwrap_err().to_string().contains("file:resnet50.onnx"));
        assert!("file:".parse::<ModelFileRef>().is_err());
    }

    proptest! {
        #[test]
        fn any_file_name_reads_back(name in "\\PC{1,40}", size in 1u64..1_000) {
            let settings: ModelFileSettings = format!("n={size}").parse().unwrap();
            let spec = ModelFileRef::new(&name, "abcdefgh", settings);
            prop_assume!(!spec.name.is_empty());
            prop_assert_eq!(spec.to_string().parse::<ModelFileRef>().unwrap(), spec);
        }
    }
}
