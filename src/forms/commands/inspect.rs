//! The command of a model as a picture.

use super::shell::{CommandLine, has_name};
use crate::{InspectField, InspectSpec, InspectView};

/// The command that shows a model of the zoo. `None` for a model file, and if no model is chosen.
pub fn inspect_command(spec: &InspectSpec) -> Option<String> {
    let text = |field: InspectField| Some(spec.get(field)).filter(|text| !text.is_empty());
    let model = text(InspectField::Model).filter(|model| has_name(model))?;
    let line = CommandLine::new("inspect").option("model", model).some("instance", text(InspectField::Instance));
    let line = line.some("batch", text(InspectField::Batch));
    let view = match spec.view() {
        InspectView::Graph => "tree",
        InspectView::Table => "table",
        InspectView::Passes => "passes",
    };
    Some(line.option("view", view).print())
}
