//! The fields of a study in a link, which are the fields of its form.

use super::{Notice, Query};
use crate::studies::{StudyKind, StudySpec};

/// The study in a link.
pub(super) fn read(kind: StudyKind, query: &Query, notices: &mut Vec<Notice>) -> StudySpec {
    let mut spec = StudySpec::new(kind);
    for field in kind.form().fields() {
        let Some(text) = query.get(field.key) else { continue };
        if let Err(problem) = spec.set(field.key, text) {
            let used = spec.text(field.key);
            let used = if used.is_empty() { "the default".to_owned() } else { used };
            notices.push(Notice { field: field.key.to_owned(), message: format!("{problem}. {used} is used.") });
        }
    }
    spec
}

/// Every field that has a value, so that the link means the same when defaults change.
pub(super) fn write(spec: &StudySpec, query: &mut Query) {
    for field in spec.kind().form().fields() {
        let text = spec.link_text(field.key);
        if !text.is_empty() {
            query.set(field.key, &text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::Link;
    use super::*;

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
    fn wrong_values_are_named_with_what_is_used() {
        let (link, notices) = Link::parse("#/matmult?matrix_dim=0&dtype=int4&jitter=0.02&unchained=perhaps");
        let fields: Vec<_> = notices.iter().map(|n| n.field.as_str()).collect();
        assert_eq!(fields, ["matrix_dim", "dtype", "unchained"]);
        assert!(notices[0].message.ends_with("1024 is used."), "{notices:?}");
        let Link::Study(spec) = link else { panic!("is a study") };
        assert_eq!((spec.text("jitter").as_str(), spec.text("dtype").as_str()), ("0.02", "bf16"));
    }
}
