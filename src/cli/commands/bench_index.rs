//! `neuronscope bench INDEX.json`: the entries that are run, and the flags that may be given with an index.

use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::bench_args::BenchArgs;
use crate::host;
use ns_bench::{BenchConfig, BesideIndex, EntryStatus, IndexFilter, ModelIndex, parse_levels, parse_list};
use ns_session::{ModelFileRef, ModelFileSettings};

/// Puts the index of a file into a benchmark. When no instance is named, the index's own is taken. Fails when a flag contradicts
/// what is left of the index.
pub(super) fn put(config: &mut BenchConfig, path: &Path, index: ModelIndex, args: &BenchArgs) -> Result<()> {
    let shown = path.display();
    beside(args, config).check(&index).with_context(|| format!("{shown}: cannot be run so"))?;
    if let (None, Some(own)) = (args.options.text("instance"), index.finished().find_map(|e| e.instance_type.clone())) {
        config.instance_type = own;
    }
    index.check_models(&config.model).with_context(|| shown.to_string())?;
    // The check showed that these shapes are the entries' own.
    config.inputs.clear();
    config.index = Some(index);
    Ok(())
}

/// The choices about a model file with which the first entry of an index was compiled.
pub(super) fn settings(index: &ModelIndex) -> ModelFileSettings {
    let named = index.finished().find_map(|entry| ModelFileRef::of(entry.model.as_deref()?));
    named.map(|model| model.settings).unwrap_or_default()
}

/// The entries of an index that pass the lists on the command line. Fails when the file is not an index, or no entry of it is left.
pub(super) fn read(path: &Path, args: &BenchArgs) -> Result<ModelIndex> {
    let shown = path.display();
    let json = crate::file::read_text(path)?;
    let read =
        ModelIndex::read_file(&json, &shown.to_string()).with_context(|| format!("{shown}: is not a model index"))?;
    for warning in &read.warnings {
        host::say(&format!("note: {shown}: {warning}"));
    }
    let mut filter = IndexFilter::default();
    if let Some(list) = args.options.text("batch_sizes") {
        filter = filter.with("batch_size", &parse_list("--batch-sizes", list)?)?;
    }
    if let Some(list) = args.options.text("pipeline_sizes") {
        filter = filter.with("pipeline_size", &parse_list("--pipeline-sizes", list)?)?;
    }
    if let Some(list) = args.options.text("performance_level") {
        filter = filter.with("performance_level", &parse_levels("--performance-levels", list)?)?;
    }
    let kept = read.index.filter(&filter);
    if !kept.model_configs.iter().any(|e| e.status == EntryStatus::Finished) {
        let of = read.index.model_configs.len();
        bail!("{shown}: none of its {of} entries is finished and passes the filters; compile again, or filter less");
    }
    Ok(kept)
}

/// The flags that were given.
fn beside(args: &BenchArgs, config: &BenchConfig) -> BesideIndex {
    let (base, sweep) = (&config.options.compile, &config.compile);
    let is_named = |key: &str| args.options.text(key).is_some();
    BesideIndex {
        // A model file is known by the name that opening it gave.
        model: is_named("model").then(|| config.model.clone()),
        instance_type: args.options.text("instance").map(str::to_owned),
        inputs: config.inputs.clone(),
        auto_casts: values_of_flag(is_named("auto_cast"), &sweep.auto_casts, base.auto_cast),
        auto_cast_types: values_of_flag(is_named("auto_cast_type"), &sweep.auto_cast_types, base.auto_cast_type),
        opt_levels: values_of_flag(is_named("optlevel"), &sweep.opt_levels, base.opt_level),
        lnc: base.lnc,
    }
}

/// The values of a flag: empty if it was not given, else the swept values, or the single value.
fn values_of_flag<T: Copy>(is_named: bool, swept: &[T], one: T) -> Vec<T> {
    if !is_named {
        Vec::new()
    } else if swept.is_empty() {
        vec![one]
    } else {
        swept.to_vec()
    }
}
