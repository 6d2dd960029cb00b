//! The index that a benchmark runs: its entries, and what a benchmark takes of them. `neuronscope bench INDEX.json`.

use super::model_index::{IndexAnswer, read};
use ns_base::{Refusal, refuse};
use ns_bench::{BenchConfig, BesideIndex, EntryStatus, IndexFilter, ModelIndex, parse_levels, parse_list};
use ns_device::{ModelFileRef, ModelFileSettings};

/// The entries of an index that pass the options that are named. Fails when the text is not an index, or no entry of it is left.
pub fn index_to_run<'a>(
    file: &str,
    json: &str,
    named: impl Fn(&str) -> Option<&'a str>,
) -> Result<IndexAnswer<ModelIndex>, Refusal> {
    let all = read(file, json)?;
    let mut filter = IndexFilter::default();
    if let Some(list) = named("batch_sizes") {
        filter = filter.with("batch_size", &parse_list("--batch-sizes", list)?)?;
    }
    if let Some(list) = named("pipeline_sizes") {
        filter = filter.with("pipeline_size", &parse_list("--pipeline-sizes", list)?)?;
    }
    if let Some(list) = named("performance_level") {
        filter = filter.with("performance_level", &parse_levels("--performance-levels", list)?)?;
    }
    let kept = all.answer.filter(&filter);
    if kept.model_configs.iter().any(|e| e.status == EntryStatus::Finished) {
        return Ok(IndexAnswer { answer: kept, ..all });
    }
    let of = all.answer.model_configs.len();
    Err(refuse!("{file}: none of its {of} entries is finished and passes the filters; compile again, or filter less"))
}

/// The choices about a model file with which the first entry of an index was compiled.
pub fn settings_of_index(index: &ModelIndex) -> ModelFileSettings {
    let named = index.finished().find_map(|entry| ModelFileRef::of(entry.model.as_deref()?));
    named.map(|model| model.settings).unwrap_or_default()
}

/// Puts an index into a benchmark, of which some options are named. When no instance is, the index's own is taken. Fails when an option
/// contradicts the index.
pub fn put_index<'a>(
    config: &mut BenchConfig,
    file: &str,
    index: ModelIndex,
    named: impl Fn(&str) -> Option<&'a str>,
) -> Result<(), Refusal> {
    beside(config, &named).check(&index).map_err(|e| refuse!("{file}: cannot be run so: {e}"))?;
    if let (None, Some(own)) = (named("instance"), index.finished().find_map(|e| e.instance_type.clone())) {
        config.instance_type = own;
    }
    index.check_models(&config.model).map_err(|e| refuse!("{file}: {e}"))?;
    // The check showed that these shapes are the entries' own.
    config.inputs.clear();
    config.index = Some(index);
    Ok(())
}

/// The options that are named.
fn beside<'a>(config: &BenchConfig, named: &impl Fn(&str) -> Option<&'a str>) -> BesideIndex {
    let (base, sweep) = (&config.options.compile, &config.compile);
    let is_named = |key: &str| named(key).is_some();
    BesideIndex {
        // A model file is known by the name that opening it gave.
        model: is_named("model").then(|| config.model.clone()),
        instance_type: named("instance").map(str::to_owned),
        inputs: config.inputs.clone(),
        auto_casts: values_of(is_named("auto_cast"), &sweep.auto_casts, base.auto_cast),
        auto_cast_types: values_of(is_named("auto_cast_type"), &sweep.auto_cast_types, base.auto_cast_type),
        opt_levels: values_of(is_named("optlevel"), &sweep.opt_levels, base.opt_level),
        lnc: base.lnc,
    }
}

/// The values of an option: empty if it was not named, else the swept values, or the single value.
fn values_of<T: Copy>(is_named: bool, swept: &[T], one: T) -> Vec<T> {
    match (is_named, swept) {
        (false, _) => Vec::new(),
        (true, []) => vec![one],
        (true, swept) => swept.to_vec(),
    }
}
