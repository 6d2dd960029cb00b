//! The fields of a link to the page of models: every choice that was made.

use super::Query;
use crate::session::{InspectField, InspectSpec};

/// Reads a link. Choices that cannot be used are named by whoever shows the model.
pub(super) fn read(query: &Query) -> InspectSpec {
    let mut spec = InspectSpec::default();
    // The model comes first: another one closes what was open.
    for field in InspectField::ALL {
        if let Some(text) = query.get(field.key()) {
            spec.set(field, text);
        }
    }
    spec
}

/// Writes a link: what was left open stays out.
pub(super) fn write(spec: &InspectSpec, query: &mut Query) {
    for field in InspectField::ALL {
        let text = spec.get(field);
        if !text.is_empty() {
            query.set(field.key(), text);
        }
    }
}
