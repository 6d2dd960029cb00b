//! The subjects of studies.

use serde::{Deserialize, Serialize};

use super::customop::{self, CustomopStudy, pack_source};
use super::fidelity::{self, FidelityStudy};
use super::form::{StudyExample, StudyForm};
use super::llm::{self, LlmStudy};
use super::matmult::{self, MatmultStudy};
use super::nki::{self, NkiStudy};
use super::numerics::{self, NumericsStudy};
use crate::options::Options as _;

/// The studies: a row each, with its options, the path of its page in links, and its form. The path is apart from the form: who only
/// reads links has no code for forms.
macro_rules! studies {
    ($($(#[$doc:meta])* $name:ident($study:ty): $path:literal, $form:expr;)*) => {
        /// The specification of a study, as in its form.
        #[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
        pub enum StudySpec {
            $($(#[$doc])* $name($study),)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum StudyKind {
            $($(#[$doc])* $name,)*
        }

        impl StudyKind {
            pub const ALL: [Self; [$(stringify!($name)),*].len()] = [$(Self::$name),*];

            /// Its page in links: `matmult`.
            pub const fn path(self) -> &'static str {
                match self {
                    $(Self::$name => $path,)*
                }
            }

            pub const fn form(self) -> &'static StudyForm {
                match self {
                    $(Self::$name => &$form,)*
                }
            }
        }

        impl StudySpec {
            /// The default of a subject.
            pub fn new(kind: StudyKind) -> Self {
                match kind {
                    $(StudyKind::$name => Self::$name(<$study>::default()),)*
                }
            }

            pub const fn kind(&self) -> StudyKind {
                match self {
                    $(Self::$name(_) => StudyKind::$name,)*
                }
            }

            /// The text of a field; empty if nothing is given, or if the study does not have the field.
            pub fn text(&self, key: &str) -> String {
                match self {
                    $(Self::$name(study) => study.text_of(key),)*
                }
            }

            /// Puts a text into a field. A text that cannot be used leaves it as it was.
            pub fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
                match self {
                    $(Self::$name(study) => study.set_text(key, text),)*
                }
            }
        }
    };
}

studies! {
    Matmult(MatmultStudy): "matmult", matmult::FORM;
    /// Custom operators.
    Customop(CustomopStudy): "customop", customop::FORM;
    /// The values of a model.
    Numerics(NumericsStudy): "numerics", numerics::FORM;
    /// Figures of devices beside what the model predicts.
    Fidelity(FidelityStudy): "fidelity", fidelity::FORM;
    /// Language models on many cores.
    Llm(LlmStudy): "llm", llm::FORM;
    /// NKI kernels.
    Nki(NkiStudy): "nki", nki::FORM;
}

/// The field for the text of a file.
#[derive(Clone, Copy, Debug)]
pub struct FileField {
    /// Its key.
    pub field: &'static str,
    /// The field that takes the name of the file.
    pub name: Option<&'static str>,
    /// Other fields, with their texts once a file is given.
    pub others: &'static [(&'static str, &'static str)],
}

impl StudyKind {
    /// Whether it is about a kernel, whose source is edited beside its results.
    pub const fn is_kernel(self) -> bool {
        matches!(self, Self::Customop | Self::Nki)
    }

    /// The field that takes the text of a dropped file; model files go to the field of the model.
    pub const fn file_field(self) -> Option<FileField> {
        match self {
            Self::Customop => Some(FileField { field: "source", name: Some("kernel"), others: &[("kernel", "own")] }),
            Self::Llm => Some(FileField { field: "config", name: Some("model"), others: &[("tp", "")] }),
            Self::Nki => {
                let others = &[("kernel", "own"), ("shapes", ""), ("function", ""), ("check", "")];
                Some(FileField { field: "source", name: Some("kernel"), others })
            }
            Self::Fidelity => Some(FileField { field: "rows", name: Some("table"), others: &[] }),
            // A text; a model file is opened by its bytes.
            Self::Numerics => Some(FileField { field: "dataset", name: None, others: &[] }),
            _ => None,
        }
    }

    /// The fields that a file sets, with their texts; a name that the study does not take is left out.
    pub fn fields_of_file(self, name: &str, text: String) -> Vec<(&'static str, String)> {
        let Some(file) = self.file_field() else { return Vec::new() };
        let others = file.others.iter().map(|(key, text)| (*key, (*text).to_owned()));
        let name = file.name.filter(|key| self.takes(key, name)).map(|key| (key, name.to_owned()));
        others.chain(name).chain([(file.field, text)]).collect()
    }

    fn takes(self, key: &str, text: &str) -> bool {
        StudySpec::new(self).set(key, text).is_ok()
    }

    /// Fields whose texts the study replaces when this one is edited.
    pub const fn followers(self, key: &str) -> &'static [&'static str] {
        match self {
            Self::Customop => customop::followers(key),
            Self::Nki => nki::followers(key),
            Self::Fidelity => fidelity::followers(key),
            Self::Llm if key.eq_ignore_ascii_case("model") => &["config"],
            _ => &[],
        }
    }
}

impl StudySpec {
    /// Whether its run measures this processor, so that two runs differ.
    pub const fn is_measured(&self) -> bool {
        match self {
            Self::Matmult(study) => study.cpu,
            _ => false,
        }
    }

    /// Whether a link to it runs only when the user says so: what measures this processor, and a program that somebody else wrote.
    pub fn waits_for_run(&self) -> bool {
        self.is_measured() || matches!(self, Self::Nki(study) if study.is_edited())
    }

    /// An example of a subject.
    pub fn of_example(kind: StudyKind, example: &StudyExample) -> Self {
        let mut spec = Self::new(kind);
        for (key, text) in example.fields {
            // A test sets every field of every example.
            let _ = spec.set(key, text);
        }
        spec
    }

    /// The name of a model that stands for one of the list; `None` if none does.
    pub fn own_model(&self) -> Option<String> {
        match self {
            Self::Llm(study) => study.own_model(),
            _ => None,
        }
    }

    /// The text of a field in a link, which may be shorter than the one in the form: a source of the user's own is packed, another is left
    /// out. [`set`](Self::set) reads both.
    pub fn link_text(&self, key: &str) -> String {
        let is_own = match self {
            Self::Customop(study) => study.is_edited(),
            Self::Nki(study) => study.is_edited(),
            Self::Numerics(study) => !study.dataset.is_empty(),
            Self::Fidelity(study) => !study.rows.is_empty(),
            _ => false,
        };
        match key {
            "source" | "dataset" | "rows" if is_own => pack_source(&self.text(key)),
            "source" | "dataset" | "rows" => String::new(),
            _ => self.text(key),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_of_every_form_and_every_example_is_read_back() {
        for kind in StudyKind::ALL {
            let form = kind.form();
            let mut spec = StudySpec::new(kind);
            for field in form.fields() {
                let text = spec.text(field.key);
                assert_eq!(spec.set(field.key, &text), Ok(()), "{}", field.key);
                assert_eq!(spec, StudySpec::new(kind), "{}", field.key);
            }
            assert!(spec.set("no-such-field", "1").is_err());
            for example in form.examples {
                let mut spec = StudySpec::new(kind);
                for (key, text) in example.fields {
                    assert_eq!(spec.set(key, text), Ok(()), "{}: {key}", example.name);
                    assert_eq!(spec.text(key), *text, "{}: {key}", example.name);
                }
                assert_eq!(spec, StudySpec::of_example(kind, example));
            }
        }
    }
}
