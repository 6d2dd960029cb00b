//! The compiled models of a sweep: those of its lists, or those of its index.

use ns_compiler::CompileOptions;

use crate::config::bench_config::BenchConfig;
use crate::config::inputs::InputTuple;
use crate::index::ModelIndex;

/// One compiled model of a sweep.
#[derive(PartialEq)]
pub(crate) struct ModelConfig {
    pub model: String,
    pub file: Option<String>,
    /// EC2 size it was compiled for, if its index says.
    pub instance_type: Option<String>,
    pub inputs: Option<InputTuple>,
    pub input_idx: u32,
    /// The cast that an older index names.
    pub cast_mode: Option<String>,
    pub batch_size: u32,
    pub pipeline_size: u32,
    pub performance_level: u8,
    pub compile: CompileOptions,
}

/// The finished entries of an index, each as it was compiled.
pub(crate) fn models_of_index(
    config: &BenchConfig,
    index: &ModelIndex,
    messages: &mut Vec<String>,
) -> Vec<ModelConfig> {
    let left_out = index.model_configs.len() - index.finished().count();
    if left_out > 0 {
        let entries =
            if left_out == 1 { "1 entry of the index".to_owned() } else { format!("{left_out} entries of the index") };
        messages.push(format!("{entries} failed to compile: nothing to run"));
    }
    if index.finished().next().is_none() {
        messages.push("no finished entry of the index is left to run; compile again, or filter less".to_owned());
    }
    let named = config.model.trim();
    let mut models = Vec::new();
    for entry in index.finished() {
        let file = entry.filename.clone();
        let named = (!named.is_empty()).then(|| named.to_owned());
        let own = entry.model.clone().or(named).or_else(|| entry.known_model());
        // An artifact has the options it was compiled with; options that it does not state are as requested here.
        let asked = config.options.compile;
        let compiled = entry.compile_options(asked).map_or_else(|| config.compile.variants(asked), |own| vec![own]);
        models.extend(compiled.into_iter().map(|compile| ModelConfig {
            model: own.clone().or_else(|| file.clone()).unwrap_or_default(),
            file: file.clone(),
            instance_type: entry.instance_type.clone(),
            inputs: None,
            input_idx: entry.input_idx.unwrap_or(0),
            cast_mode: entry.cast_mode.clone(),
            batch_size: entry.batch_size,
            pipeline_size: entry.pipeline_size,
            performance_level: entry.performance_level,
            compile,
        }));
    }
    models
}

/// Each batch size with each pipeline size, performance level and compiler options.
pub(crate) fn models_of_lists(config: &BenchConfig, messages: &mut Vec<String>) -> Vec<ModelConfig> {
    let mut models = Vec::new();
    for (input_idx, (batch_size, inputs)) in (0..).zip(inputs_and_batches(config, messages)) {
        for pipeline_size in distinct(&config.pipeline_sizes) {
            for performance_level in distinct(&config.performance_levels) {
                models.extend(config.compile.variants(config.options.compile).into_iter().map(|compile| ModelConfig {
                    model: config.model.trim().to_owned(),
                    file: None,
                    instance_type: None,
                    input_idx: if inputs.is_some() { input_idx } else { 0 },
                    cast_mode: None,
                    inputs: inputs.clone(),
                    batch_size,
                    pipeline_size,
                    performance_level,
                    compile,
                }));
            }
        }
    }
    models
}

/// Batch sizes with their inputs. When the lists have different lengths, the longer one is cut, as in NeuronPerf, with a message.
fn inputs_and_batches(config: &BenchConfig, messages: &mut Vec<String>) -> Vec<(u32, Option<InputTuple>)> {
    let (inputs, batches) = (&config.inputs, &config.batch_sizes);
    if inputs.is_empty() {
        return distinct(batches).into_iter().map(|b| (b, None)).collect();
    }
    if inputs.len() != batches.len() {
        let (longer, kept) =
            if inputs.len() > batches.len() { ("inputs", batches.len()) } else { ("batch_sizes", inputs.len()) };
        messages.push(format!(
            "inputs has {} entries and batch_sizes {}: {longer} is cut to {kept}; give one entry of inputs for each batch size",
            inputs.len(),
            batches.len()
        ));
    }
    let pairs: Vec<_> = batches.iter().copied().zip(inputs.iter().cloned().map(Some)).collect();
    distinct(&pairs)
}

/// Each entry once: a duplicate configuration would give the same row twice.
pub(crate) fn distinct<T: PartialEq + Clone>(list: &[T]) -> Vec<T> {
    let mut seen: Vec<T> = Vec::with_capacity(list.len());
    for entry in list {
        if !seen.contains(entry) {
            seen.push(entry.clone());
        }
    }
    seen
}
