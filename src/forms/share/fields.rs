//! The fields of a form in a link.

use super::{Notice, Query};
use crate::options::{Opt, Options};
use crate::studies::StudySpec;

/// What a form holds, as texts by the keys of its fields.
pub(super) trait Fields {
    /// The keys, in the order of links.
    fn keys(&self) -> impl Iterator<Item = &'static str> + use<Self>;

    /// The text of a field in the form.
    fn text(&self, key: &str) -> String;

    /// The text of a field in a link, which may be shorter; [`set`](Self::set) reads both.
    fn link_text(&self, key: &str) -> String {
        self.text(key)
    }

    /// Puts a text into a field. A text that cannot be used leaves it as it was.
    fn set(&mut self, key: &str, text: &str) -> Result<(), String>;
}

impl<C: Options> Fields for C {
    fn keys(&self) -> impl Iterator<Item = &'static str> + use<C> {
        C::options().map(Opt::key)
    }

    fn text(&self, key: &str) -> String {
        self.text_of(key)
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.set_text(key, text)
    }
}

impl Fields for StudySpec {
    fn keys(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.kind().form().fields().map(|field| field.key)
    }

    fn text(&self, key: &str) -> String {
        self.text(key)
    }

    fn link_text(&self, key: &str) -> String {
        self.link_text(key)
    }

    fn set(&mut self, key: &str, text: &str) -> Result<(), String> {
        self.set(key, text)
    }
}

/// The fields of a link over those of `spec`.
pub(super) fn read<S: Fields>(mut spec: S, query: &Query, notices: &mut Vec<Notice>) -> S {
    for key in spec.keys() {
        let Some(text) = query.get(key) else { continue };
        if let Err(problem) = spec.set(key, text) {
            let used = spec.text(key);
            let used = if used.is_empty() { "the default".to_owned() } else { used };
            let problem = problem.trim_end_matches('.');
            notices.push(Notice { field: key.to_owned(), message: format!("{problem}. {used} is used.") });
        }
    }
    spec
}

/// Every field that has a value, so that the link means the same when defaults change.
pub(super) fn write<S: Fields>(spec: &S, query: &mut Query) {
    for key in spec.keys() {
        let text = spec.link_text(key);
        if !text.is_empty() {
            query.set(key, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::Link;
    use crate::studies::StudyKind;

    #[test]
    fn every_example_survives_a_link() {
        for kind in StudyKind::ALL {
            for example in kind.form().examples {
                let link = Link::Study(Box::new(StudySpec::of_example(kind, example)));
                assert_eq!(Link::parse(&link.print()), (link, vec![]), "{}", example.name);
            }
        }
    }

    #[test]
    fn wrong_values_are_reported_with_their_replacement() {
        let (link, notices) = Link::parse("#/matmult?matrix_dim=0&dtype=int4&jitter=0.02&unchained=perhaps");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["matrix_dim", "dtype", "unchained"]);
        assert!(notices[0].message.ends_with("1024 is used."), "{notices:?}");
        let Link::Study(spec) = link else { panic!("is a study") };
        assert_eq!((spec.text("jitter").as_str(), spec.text("dtype").as_str()), ("0.02", "bf16"));
    }
}
