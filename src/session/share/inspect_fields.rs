//! The fields of a link to the page of models: every choice that was made.

use super::Query;
use crate::{InspectField, InspectSpec};

/// Reads a link. Choices that cannot be used are reported when the model is shown.
pub(super) fn read(query: &Query) -> InspectSpec {
    let mut spec = InspectSpec::default();
    // The model comes first: a different one resets the opened modules.
    for field in InspectField::ALL {
        if let Some(text) = query.get(field.key()) {
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
