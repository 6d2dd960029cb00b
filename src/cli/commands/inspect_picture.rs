//! `neuronscope inspect`: a model as modules and operators with times, and as a picture.

use std::path::Path;

use anyhow::{Result, bail};
use serde::Serialize;

use crate::driver::Driver;
use crate::inspect_args::InspectArgs;
use crate::shell::Shell;
use ns_session::{
    InspectAsk, InspectField, InspectFile, InspectResult, InspectSpec, JobRequest, JobResult, Message, TreeRow,
};
use ns_view::terminal;
use ns_view::terminal::document;

/// The JSON of a model's tree.
#[derive(Serialize)]
struct PictureJson<'a> {
    model: &'a str,
    tree: &'a [TreeRow],
}

/// Writes the picture when a file is named, and prints the model as a tree or a table. Fails when the model is refused, or a file
/// cannot be written.
pub(super) fn run(shell: &Shell, args: &InspectArgs, model: &str, is_silent: bool) -> Result<()> {
    let mut driver = Driver::new(shell);
    let mut spec = InspectSpec::default();
    spec.set(InspectField::Model, &args.file_flags.model_to_look_at(&mut driver, model)?);
    spec.set(InspectField::Instance, args.instance.as_deref().unwrap_or_default());
    spec.set(InspectField::Batch, &args.batch.map_or_else(String::new, |b| b.to_string()));
    if let Some(view) = args.view {
        spec.set(InspectField::View, view.key());
    }
    if let Some(path) = &args.graph {
        save(&mut driver, &spec, path)?;
    }
    if is_silent {
        return Ok(());
    }
    let view = show(&mut driver, &spec)?;
    let said = if args.json {
        serde_json::to_string_pretty(&PictureJson { model: &view.title, tree: &view.tree })? + "\n"
    } else {
        describe(&view)
    };
    shell.print(said.as_bytes())
}

fn show(driver: &mut Driver<'_>, spec: &InspectSpec) -> Result<InspectResult> {
    let ask = InspectAsk::Show(Box::new(spec.clone()));
    match driver.run(JobRequest::Inspect(ask), None)? {
        Some(Message::Done(JobResult::Inspected(view))) => Ok(*view),
        _ => bail!("the session did not show the model"),
    }
}

fn save(driver: &mut Driver<'_>, spec: &InspectSpec, path: &Path) -> Result<()> {
    let ask = InspectAsk::Save(Box::new(spec.clone()), InspectFile::Svg);
    let message = driver.run(JobRequest::Inspect(ask), None)?;
    let Some(Message::File(svg)) = message else { bail!("the session did not draw the model") };
    crate::output::write(driver.shell, path, svg.bytes)
}

fn describe(view: &InspectResult) -> String {
    let mut out = document(&view.head) + &view.panel.as_ref().map(document).unwrap_or_default();
    if !view.tree.is_empty() {
        let row = |r: &TreeRow| {
            let sign = match r.is_open {
                Some(true) => "- ",
                Some(false) => "+ ",
                None => "  ",
            };
            let name = format!("{}{sign}{}", "  ".repeat(r.depth as usize), r.title);
            vec![name, format!("{:.1}", r.share * 100.0), r.note.clone()]
        };
        let rows: Vec<Vec<String>> = view.tree.iter().map(row).collect();
        out += &format!("\n{}", terminal::table(&["Module or operator", ">% of time", "What"], &rows));
    }
    out
}
