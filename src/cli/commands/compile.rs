//! `neuronscope compile`

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::compile_args::list_or;
use crate::driver::Driver;
use crate::index_args::ModelCompileArgs;
use crate::output::write;
use crate::shell::Shell;
use ns_bench::{CompileTask, CompiledModel, EntryStatus, ModelIndex, comma_list};
use ns_session::{JobRequest, Message, ModelLibrary, ResultPart, model_label};

pub(super) fn run(shell: &Shell, args: ModelCompileArgs) -> Result<()> {
    let mut config = args.config()?;
    let mut driver = Driver::new(shell);
    if let Some(opened) = args.file_flags.open(&mut driver, args.model())? {
        if args.batch_sizes.is_empty() {
            config.batch_sizes = vec![u32::try_from(opened.batch.own()).unwrap_or(u32::MAX)];
        }
        config.model = opened.id;
    }
    let mut index = config.plan()?.index;
    // The name holds a digest of the index's contents, so the contents must be known before the first artifact is written.
    let path = args.filename.as_deref().map_or_else(|| default_path(&args, &config.model), with_json);
    let mut written = Ok(());
    let mut removals: Vec<String> = Vec::new();
    driver.run_with(JobRequest::Compile(Box::new(config)), None, &mut |message| {
        if let Message::Part(ResultPart::Compiled { compiled, .. }) = message
            && written.is_ok()
        {
            if let Some(removed) = compiled.removed {
                removals.push(removed.sentence(&compiled.entry.model.clone().unwrap_or_default()));
            }
            written = keep(shell, &mut index, *compiled, &path);
        }
    })?;
    written?;
    removals.dedup();
    removals.iter().for_each(|removed| driver.say(&format!("note: {removed}")));
    for entry in index.model_configs.iter().filter(|e| e.status == EntryStatus::Error) {
        let (b, p, l) = (entry.batch_size, entry.pipeline_size, entry.performance_level);
        let error = entry.error.as_deref().unwrap_or("no reason given");
        driver.say(&format!("failed: batch {b}, pipeline {p}, performance level {l}: {error}"));
    }
    shell.print(format!("{}\n", path.display()).as_bytes())?;
    match index.finished().next() {
        Some(_) => Ok(()),
        None => bail!("nothing could be compiled; the index says why"),
    }
}

/// Writes an artifact and then the index with it, so that finished artifacts stay when a later one fails.
fn keep(shell: &Shell, index: &mut ModelIndex, compiled: CompiledModel, path: &Path) -> Result<()> {
    let CompiledModel { entry, artifact, removed: _, programs } = compiled;
    if let (Some(artifact), Some(file)) = (artifact, &entry.filename) {
        for (text, when) in programs.iter().flatten().zip(["before", "after"]) {
            write(shell, &Path::new(file).with_extension(format!("{when}.hlo.txt")), text)?;
        }
        write(shell, Path::new(file), &artifact.to_json().map_err(anyhow::Error::msg)?)?;
    }
    index.model_configs.push(entry);
    write(shell, path, &index.to_json().map_err(anyhow::Error::msg)?)
}

/// Writes the artifact of one compile, and returns its file. Fails when the model does not compile, or the file cannot be written.
pub(super) fn write_artifact(shell: &Shell, task: &CompileTask, models: &ModelLibrary) -> Result<String> {
    let compiled = task.run(models);
    match (compiled.artifact, compiled.entry.filename) {
        (Some(artifact), Some(file)) => {
            write(shell, Path::new(&file), &artifact.to_json()?)?;
            Ok(file)
        }
        _ => bail!("{}: {}", task.label(), compiled.entry.error.unwrap_or_default()),
    }
}

fn with_json(path: &Path) -> PathBuf {
    match path.extension() {
        Some(extension) if extension == "json" => path.to_owned(),
        _ => PathBuf::from(format!("{}.json", path.display())),
    }
}

fn default_path(args: &ModelCompileArgs, model: &str) -> PathBuf {
    let asked = format!(
        "{}|{}|{}|{}|{}",
        model,
        args.instance,
        args.batch_sizes(),
        comma_list(&args.pipeline_sizes),
        comma_list(&args.performance_levels)
    );
    let c = &args.compile;
    let (cast, cast_type) = (list_or(&c.auto_cast, "matmult"), list_or(&c.auto_cast_type, "bf16"));
    let level = list_or(&c.optlevel, "2");
    let flags = format!("{cast}|{cast_type}|{level}|{:?}", c.lnc);
    // With the default flags the name is the same as in earlier releases.
    let asked = if flags == "matmult|bf16|2|None" { asked } else { format!("{asked}|{flags}") };
    let label = model_label(model);
    let name = args.model_name.as_deref().unwrap_or(&label);
    PathBuf::from(ModelIndex::new(name).file_name_for(&asked))
}
