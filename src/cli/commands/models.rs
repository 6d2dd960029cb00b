//! `neuronscope models`

use anyhow::{Result, bail};

use crate::args::ModelsArgs;
use crate::driver::Driver;
use crate::shell::Shell;
use ns_bench::InputTuple;
use ns_session::{Message, ModelInfo, ModelSpec, ParameterKind, QuestionRequest, Reply};

pub(super) fn run(shell: &Shell, args: ModelsArgs) -> Result<()> {
    let message = Driver::new(shell).run(QuestionRequest::Catalog, None)?;
    let Some(Message::Answer(Reply::Catalog(catalog))) = message else {
        bail!("the session returned no list of models")
    };
    let name = args.name.unwrap_or_default().to_ascii_lowercase();
    let has_name = |model: &&ModelInfo| model.name.contains(&name);
    let models: Vec<&ModelInfo> = catalog.models.iter().chain([&catalog.fixed]).filter(has_name).collect();
    if models.is_empty() {
        // The refusal of an unknown model says which names are near.
        name.parse::<ModelSpec>()?;
        bail!("{name}: no model of the list has this in its name; give a part of a name, without parameters");
    }
    if args.json {
        return shell.print_json(&models);
    }
    shell.print(describe(&models).as_bytes())
}

fn describe(models: &[&ModelInfo]) -> String {
    let mut out = String::new();
    for model in models {
        out.push_str(&format!("{}: {}\n    {}\n", model.name, model.title, model.summary));
        if let Some(inputs) = inputs(&model.name) {
            out.push_str(&format!("    --inputs \"{inputs}\"\n"));
        }
        for p in &model.parameters {
            let allowed = match &p.kind {
                ParameterKind::Integer { min, max } => format!("{min} to {max}"),
                ParameterKind::Boolean => "true or false".to_owned(),
                ParameterKind::Choice(choices) => choices.join(", "),
                ParameterKind::Text => "text".to_owned(),
            };
            out.push_str(&format!("    {}={} ({allowed}): {}\n", p.name, p.default, p.help));
        }
    }
    out
}

/// The inputs of a model at batch size 1, as `--inputs` takes them; empty for the model that is given by its times.
fn inputs(model: &str) -> Option<InputTuple> {
    let inputs = model.parse::<ModelSpec>().ok()?.inputs(1).ok()?;
    Some(InputTuple(inputs.iter().map(|i| i.shape.dims.to_vec()).collect()))
}
