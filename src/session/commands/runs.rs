//! Commands of the pages that run one thing: numerics, and a model as a picture.

use super::shell::{CommandLine, has_name};
use crate::options::command_line;
use crate::studies::StudySpec;
use crate::{InspectField, InspectSpec, InspectView, NumericsSpec};

/// The command that compares the same values. `None` for a model file, and for other studies, whose documents hold their command.
pub fn numerics_command(spec: &StudySpec) -> Option<String> {
    let StudySpec::Numerics(spec) = spec else { return None };
    let line = command_line("numerics", spec, &NumericsSpec::default(), &["model", "instance"], |line, o, text| {
        o.on(line, text)
    });
    has_name(&spec.model).then(|| line.print())
}

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::studies::StudyKind;

    #[test]
    fn a_numerics_command_names_only_changed_options() {
        let mut spec = StudySpec::new(StudyKind::Numerics);
        spec.set("model", "matmult:n=32").unwrap();
        spec.set("seed", "3").unwrap();
        let command = numerics_command(&spec).unwrap();
        assert_eq!(command, "neuronscope numerics --model matmult:n=32 --instance trn1.2xlarge --seed 3");
    }
}
