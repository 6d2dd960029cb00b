//! Notes for the user about a sweep before it runs, one sentence each.

use ns_compiler::Workflow;
use ns_device::ModelKind;
use ns_machine::arch::instances_like;
use ns_model::ModelSpec;

use super::expand::CORE_OF_OTHERS;
use super::models::ModelConfig;
use crate::config::bench_config::BenchConfig;
use crate::config::options::{Accounting, DeviceType};
use crate::reports::summarise::FEWEST_SECONDS;

/// Shortest duration, in seconds, with a whole second between the first and the last.
const SHORTEST_FULL_S: f64 = 2.0;

/// Notes on the run as a whole and on its models.
pub(crate) fn notes(config: &BenchConfig, models: &[ModelConfig]) -> Vec<String> {
    let of_models = [
        names(config),
        levels(config, models),
        dataset(config, models),
        instances(config, models),
        no_bias(models),
        tutorial_step(config, models),
    ];
    duration(config).into_iter().chain(of_models.into_iter().flatten()).collect()
}

/// A system given by its times may have an unknown size; a model needs a NeuronCore, and beside sizes that have some it has rows on
/// those only.
pub(crate) fn unknown_size(config: &BenchConfig, name: &str, is_left_out: bool) -> String {
    if is_left_out {
        return format!("instance_type: '{name}' is not a known size, so it is left out; {}", instances_like(name));
    }
    let consequence = if config.n_models.is_none() {
        "the configurations with as many models as fit are skipped"
    } else {
        "n_models is not checked against its NeuronCores"
    };
    let is_fixed = ModelKind::of(config.model.trim()) == ModelKind::Fixed;
    let core = if is_fixed { String::new() } else { format!("; the others run on NeuronCores of {CORE_OF_OTHERS}") };
    format!("instance_type: '{name}' is not a known size, so {consequence}{core}; {}", instances_like(name))
}

fn duration(config: &BenchConfig) -> Option<String> {
    let runs_through = config.options.dataset.is_some_and(|d| !d.looped);
    if runs_through || config.duration_s >= SHORTEST_FULL_S {
        return None;
    }
    let mut message = format!(
        "duration_s: {} s has no full second between its first and its last, so throughput_avg is the rate of each worker between its first inference and its last, added up; use {} s or more for NeuronPerf's rule",
        config.duration_s,
        FEWEST_SECONDS + 1
    );
    message.push_str(match config.options.accounting {
        Accounting::Original => ". With the original accounting the models load within it too",
        _ => ". NeuronPerf's clock starts before the models load: the original accounting fails where the duration ends before",
    });
    Some(message)
}

/// An index of NeuronPerf does not say its models.
fn names(config: &BenchConfig) -> Option<String> {
    let index = config.index.as_ref().filter(|_| config.model.trim().is_empty())?;
    let entry = index.finished().find(|entry| entry.model.is_none() && entry.known_model().is_some())?;
    let (file, model) = (entry.filename.as_deref()?, entry.known_model()?);
    Some(format!("model: {file} is taken as {model}, by its name; name another with --model"))
}

/// NeuronPerf's levels are flags of a compiler for Inferentia that later compilers do not have.
fn levels(config: &BenchConfig, models: &[ModelConfig]) -> Option<String> {
    let is_neuron = config.options.device_type == DeviceType::Neuron;
    let is_asked = models.iter().any(|m| matches!(m.performance_level, 1 | 2));
    (is_neuron && is_asked).then(|| {
        "performance_levels: levels 1, 2 and 3 compile the same program here, with the casts of auto_cast; only level 0 differs, which casts nothing. Sweep auto_cast (none, matmult, all) to compare casts".to_owned()
    })
}

/// A chain of products without a bias leaves the range of its format.
fn no_bias(models: &[ModelConfig]) -> Option<String> {
    let is_without = |model: &&ModelConfig| {
        let spec: Option<ModelSpec> = model.model.parse().ok().filter(|spec: &ModelSpec| spec.id() == "matmult");
        spec.is_some_and(|spec| {
            !spec.settings().flag("add_bias")
                && spec.settings().flag("chained")
                && spec.settings().int("loop_count") > 1
        })
    };
    let model = models.iter().find(is_without)?;
    Some(format!(
        "model: {} adds no bias, so values leave the range of their format along the chain and NaN may appear; a device reports numerical errors to the host, which slows a run by a time that is not published and not in these times: add what you measured with --postprocess 0.1ms. Use add_bias=true; neuronscope matmult --no-bias says after which product",
        model.model
    ))
}

/// The custom operator tutorial times a loop, of which a step is a part.
fn tutorial_step(config: &BenchConfig, models: &[ModelConfig]) -> Option<String> {
    let is_network = |model: &&ModelConfig| {
        let spec: Option<ModelSpec> = model.model.parse().ok().filter(|spec: &ModelSpec| spec.id() == "mlp");
        spec.is_some_and(|spec| spec.settings().text("kernel").starts_with("relu-"))
    };
    let model = models.iter().find(is_network).filter(|_| config.options.workflow == Workflow::MarkStep)?;
    Some(format!(
        "model: a call of {} is one step of the custom operator tutorial's network; the tutorial's loop also loads a batch of images before each step, and neuronscope customop times that loop",
        model.model
    ))
}

/// The first batch size that does not divide the length of a dataset.
fn dataset(config: &BenchConfig, models: &[ModelConfig]) -> Option<String> {
    let dataset = config.options.dataset.filter(|d| !d.looped)?;
    let batch = models.iter().map(|m| m.batch_size).find(|b| !dataset.length.is_multiple_of(u64::from(*b)))?;
    let (records, calls, rest) = (dataset.length, dataset.calls(batch), dataset.length % u64::from(batch));
    Some(format!(
        "dataset: {records} records at batch size {batch} are {calls} inferences; the last one holds {rest} and is filled up, because a compiled model takes whole batches, and is counted whole"
    ))
}

/// An index runs on the instance it was compiled for, whatever instance the form names.
fn instances(config: &BenchConfig, models: &[ModelConfig]) -> Option<String> {
    if config.options.device_type == DeviceType::Cpu {
        return None;
    }
    let sizes = config.sizes();
    let is_other = |own: &&str| !sizes.iter().any(|size| own.eq_ignore_ascii_case(size));
    let own = models.iter().filter_map(|m| m.instance_type.as_deref()).find(is_other)?;
    Some(format!("instance_type: the index was compiled for {own} and runs on it; {} is not used", sizes.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dataset, expand};

    fn messages(config: BenchConfig) -> Vec<String> {
        expand(&config).unwrap().messages
    }

    #[test]
    fn short_durations_are_announced() {
        let of = |duration_s| messages(BenchConfig { duration_s, ..BenchConfig::default() });
        assert!(of(1.5)[0].starts_with("duration_s: 1.5 s has no full second"));
        assert!(of(2.0).is_empty());
    }

    #[test]
    fn a_chain_without_a_bias_is_announced() {
        let of = |model: &str| messages(BenchConfig { model: model.to_owned(), ..BenchConfig::default() });
        assert!(
            of("matmult:add_bias=false")[0].starts_with("model: matmult:add_bias=false adds no bias, so values leave")
        );
        assert!(
            of("matmult").is_empty() && of("matmult:add_bias=false,loop_count=1").is_empty() && of("nn").is_empty()
        );
    }

    #[test]
    fn levels_that_compile_the_same_say_so() {
        let of = |levels: &[u8]| messages(BenchConfig { performance_levels: levels.to_vec(), ..Default::default() });
        assert!(of(&[0, 3]).is_empty());
        assert!(of(&[1])[0].starts_with("performance_levels: levels 1, 2 and 3 compile the same program"));
        assert_eq!(of(&[0, 1, 2, 3]).len(), 1);
    }

    #[test]
    fn a_dataset_that_does_not_fill_its_last_batch_is_announced() {
        let of = |length| {
            let mut config = BenchConfig { batch_sizes: vec![1, 8], ..BenchConfig::default() };
            config.options.dataset = Some(Dataset { length, looped: false });
            messages(config)
        };
        assert!(of(10_000).is_empty());
        assert!(
            of(10_001)[0]
                .starts_with("dataset: 10001 records at batch size 8 are 1251 inferences; the last one holds 1")
        );
    }
}
