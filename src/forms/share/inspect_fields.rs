//! The fields of a link to the page of models: every choice that was made.

use super::Query;
use crate::{InspectField, InspectSpec};

/// Reads a link; one without a model shows the example. An empty choice is none. Choices that cannot be used are reported when the
/// model is shown.
pub(super) fn read(query: &Query) -> InspectSpec {
    let choice = |field: InspectField| query.get(field.key()).filter(|text| !text.is_empty());
    let has_model = choice(InspectField::Model).is_some();
    let mut spec = if has_model { InspectSpec::default() } else { InspectSpec::example() };
    // The model comes first: a different one resets the opened modules.
    for field in InspectField::ALL {
        if let Some(text) = choice(field) {
            spec.set(field, text);
        }
    }
    spec
}

/// Writes a link. Choices that were left open are not written.
pub(super) fn write(spec: &InspectSpec, query: &mut Query) {
    for field in InspectField::ALL {
        let text = spec.get(field);
        if !text.is_empty() {
            query.set(field.key(), text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::share::{Link, PageLink};

    #[test]
    fn a_link_without_a_model_shows_the_example() {
        let of = |hash: &str| match Link::parse(hash) {
            (Link::Inspect(spec), notices) if notices.is_empty() => *spec,
            other => panic!("{other:?}"),
        };
        for hash in ["#/inspect", "#/inspect?model=", "#/inspect?instance=", "#/inspect?view="] {
            assert_eq!(of(hash), InspectSpec::example(), "{hash}");
        }
        assert_eq!(of("#/inspect?view=table"), InspectSpec::example().with(InspectField::View, "table"));
        assert_eq!(of("#/inspect?model=nn"), InspectSpec::default().with(InspectField::Model, "nn"));
        assert_eq!(of(&InspectSpec::example().hash()), InspectSpec::example());
    }
}
