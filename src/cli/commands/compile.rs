//! `neuronscope compile`

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::text;
use crate::bench::{CompiledModel, EntryStatus, ModelIndex};
use crate::cli::driver::Driver;
use crate::cli::index_args::ModelCompileArgs;
use crate::session::{Event, Request};

pub(super) fn run(args: ModelCompileArgs) -> Result<()> {
    let config = args.config()?;
    let mut index = config.plan()?.index;
    // The name is a digest of what will be in the index, so it has to be known before the first compile is written.
    let path = args.filename.as_deref().map_or_else(|| default_path(&args), with_json);
    let mut written = Ok(());
    let mut driver = Driver::new();
    let request = |job| Request::Compile { job, config: Box::new(config) };
    driver.run_with(request, None, &mut |event| {
        if let Event::Compiled { compiled, .. } = event
            && written.is_ok()
        {
            written = keep(&mut index, *compiled, &path);
        }
    })?;
    written?;
    for entry in index.model_configs.iter().filter(|e| e.status == EntryStatus::Error) {
        let (b, p, l) = (entry.batch_size, entry.pipeline_size, entry.performance_level);
        let error = entry.error.as_deref().unwrap_or("no reason given");
        driver.say(&format!("failed: batch {b}, pipeline {p}, performance level {l}: {error}"));
    }
    text::print(format!("{}\n", path.display()).as_bytes())?;
    match index.finished().next() {
        Some(_) => Ok(()),
        None => bail!("nothing could be compiled; the index says why"),
    }
}

/// Writes an artifact and then the index with it, so that what is done is there whatever happens next.
fn keep(index: &mut ModelIndex, compiled: CompiledModel, path: &Path) -> Result<()> {
    let CompiledModel { entry, artifact } = compiled;
    if let (Some(artifact), Some(file)) = (artifact, &entry.filename) {
        write(Path::new(file), &artifact.to_json().map_err(anyhow::Error::msg)?)?;
    }
    index.model_configs.push(entry);
    write(path, &index.to_json().map_err(anyhow::Error::msg)?)
}

/// Writes a file, making its folder.
pub(super) fn write(path: &Path, text: &str) -> Result<()> {
    let shown = path.display();
    if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty()) {
        fs::create_dir_all(folder).with_context(|| format!("{}: can't be made", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("{shown}: can't be written"))
}

fn with_json(path: &Path) -> PathBuf {
    match path.extension() {
        Some(extension) if extension == "json" => path.to_owned(),
        _ => PathBuf::from(format!("{}.json", path.display())),
    }
}

fn default_path(args: &ModelCompileArgs) -> PathBuf {
    let asked = format!(
        "{}|{}|{}|{}|{}",
        args.model, args.instance, args.batch_sizes, args.pipeline_sizes, args.performance_levels
    );
    let c = &args.compile;
    let or = |given: &Option<String>, default: &str| given.clone().unwrap_or_else(|| default.to_owned());
    let (cast, cast_type, level) = (or(&c.auto_cast, "matmult"), or(&c.auto_cast_type, "bf16"), or(&c.optlevel, "2"));
    let flags = format!("{cast}|{cast_type}|{level}|{:?}", c.lnc);
    // With the default flags the name is the one it has always had.
    let asked = if flags == "matmult|bf16|2|None" { asked } else { format!("{asked}|{flags}") };
    let name = args.model_name.as_deref().unwrap_or(&args.model);
    PathBuf::from(ModelIndex::new(name).file_name_for(&asked))
}
