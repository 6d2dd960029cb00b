//! From a benchmark to its configurations, in the order NeuronPerf runs them.

use serde::{Deserialize, Serialize};

use ns_base::{Refusal, refuse};
use ns_machine::arch::{Instance, instance, instances_like};

use super::models::{ModelConfig, distinct, models_of_index, models_of_lists};
use super::notes::{notes, unknown_size};
use crate::config::bench_config::BenchConfig;
use crate::config::configuration::{Configuration, WorkerChoice};
use crate::config::input_fit::fit;
use crate::config::list::AS_MANY_AS_FIT;
use crate::config::options::{DeviceType, RunOptions};
use ns_device::{ModelKind, ModelRef, model_label};

/// Replaces the EC2 size in rows of the measured processor, until the row names the machine.
const THIS_MACHINE: &str = "cpu";

/// The size whose NeuronCore runs a model on a size without one.
pub(super) const CORE_OF_OTHERS: &str = "trn1.2xlarge";

/// The most configurations of one sweep.
pub const MAX_CONFIGURATIONS: u64 = 10_000;

/// An expanded sweep: what will run, in order, and notes for the user.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sweep {
    /// One row of the report each. Those that cannot run are included and become failed rows.
    pub configurations: Vec<Configuration>,
    /// Configurations that were left out and unusual settings, one sentence each.
    pub messages: Vec<String>,
}

/// Spells out a benchmark: on each size, for each compiled model and number of workers, each number of copies. The compiled models
/// are those of the index, or each batch size with each pipeline size, performance level and compiler options. Fails when a
/// parameter is out of its range, the model or the size is not known, or the lists make more than [`MAX_CONFIGURATIONS`].
pub fn expand(config: &BenchConfig) -> Result<Sweep, Refusal> {
    config.validate()?;
    check_names(config)?;
    refuse_if_too_many(config)?;
    let mut messages = Vec::new();
    let is_measured = config.options.device_type == DeviceType::Cpu;
    let mut sizes = config.sizes();
    if is_measured {
        sizes.truncate(1);
    }
    let is_unknown = |size: &&str| !is_measured && instance(size).is_none();
    let may_be_any = ModelKind::of(config.model.trim()) == ModelKind::Fixed;
    let has_others = !may_be_any && !sizes.iter().all(is_unknown);
    messages.extend(sizes.iter().copied().filter(is_unknown).map(|size| unknown_size(config, size, has_others)));
    sizes.retain(|size| !(has_others && is_unknown(size)));
    let models = match &config.index {
        Some(index) => models_of_index(config, index, &mut messages),
        None => models_of_lists(config, &mut messages),
    };
    messages.extend(notes(config, &models));
    let models = if is_measured { without_pipelines(models, &mut messages) } else { models };
    let mut configurations: Vec<Configuration> = Vec::new();
    for (at, given) in sizes.into_iter().enumerate() {
        // An entry of an index runs on the size it was compiled for, which its index states, and only there.
        for model in models.iter().filter(|model| at == 0 || model.instance_type.is_none()) {
            let name = model.instance_type.as_deref().map_or(given, str::trim);
            let is_fixed = ModelKind::of(model.model.trim()) == ModelKind::Fixed;
            // A model needs a NeuronCore, which a size without Neuron devices does not have.
            let on = if is_measured || is_fixed || instance(name).is_some() { name } else { CORE_OF_OTHERS };
            let n_models = n_models_of(config, instance(name), model);
            let (workers, choice) = workers_of(config, model.pipeline_size);
            for workers in workers {
                configurations.extend(n_models.iter().map(|n| Configuration {
                    worker_choice: choice.clone(),
                    ..configuration(config, on, model, workers, *n)
                }));
            }
        }
    }
    // Rows of one model have the same note on its inputs, which is given once.
    for note in configurations.iter_mut().filter_map(fit) {
        if !messages.contains(&note) {
            messages.push(note);
        }
    }
    Ok(Sweep { configurations, messages })
}

/// Refuses a model and a size that do not exist: every row would fail for the same reason. A system given by its times
/// may be of any size, and an index has the names of its entries.
fn check_names(config: &BenchConfig) -> Result<(), Refusal> {
    let model = config.model.trim();
    if ModelKind::of(model) == ModelKind::Fixed || config.index.is_some() {
        return Ok(());
    }
    // Rows of a model file report whether the file is open.
    model.parse::<ModelRef>()?;
    let unknown = config.sizes().into_iter().find(|size| instance(size).is_none() && !is_of_other_family(size));
    if let Some(size) = unknown.filter(|_| config.options.device_type == DeviceType::Neuron) {
        return Err(refuse!(
            "instance_type: '{size}' is not a known size; {} (neuronscope devices lists all). Name one of them, or give the system by its times with the model fixed",
            instances_like(size)
        ));
    }
    Ok(())
}

/// The models of a measured processor, which has no NeuronCores to divide one over.
fn without_pipelines(models: Vec<ModelConfig>, messages: &mut Vec<String>) -> Vec<ModelConfig> {
    if models.iter().all(|model| model.pipeline_size <= 1) {
        return models;
    }
    messages
        .push("pipeline_sizes: only NeuronCores form a pipeline; on the processor each model runs whole".to_owned());
    let whole = models.into_iter().map(|model| ModelConfig { pipeline_size: 1, ..model });
    whole.fold(Vec::new(), |mut kept, model| {
        if !kept.contains(&model) {
            kept.push(model);
        }
        kept
    })
}

/// Whether a name is that of an EC2 size without Neuron devices: `m5.large`.
fn is_of_other_family(name: &str) -> bool {
    let parts = name.split_once('.').filter(|(family, size)| !family.is_empty() && !size.is_empty());
    parts.is_some_and(|(family, _)| !["inf", "trn"].iter().any(|own| family.to_ascii_lowercase().starts_with(own)))
}

fn refuse_if_too_many(config: &BenchConfig) -> Result<(), Refusal> {
    let length = |list: &Option<Vec<u32>>, default: u64| list.as_ref().map_or(default, |l| l.len() as u64);
    let models = match &config.index {
        Some(index) => index.model_configs.len() as u64,
        None => (config.pipeline_sizes.len() as u64)
            .saturating_mul(config.batch_sizes.len() as u64)
            .saturating_mul(config.performance_levels.len() as u64),
    };
    let models = models.saturating_mul(config.compile.most()).saturating_mul(config.sizes().len() as u64);
    let count = length(&config.n_models, 2).saturating_mul(length(&config.workers_per_model, 2)).saturating_mul(models);
    if count > MAX_CONFIGURATIONS {
        return Err(refuse!(
            "the lists make {count} configurations, at most {MAX_CONFIGURATIONS} are allowed. Shorten n_models, workers_per_model, pipeline_sizes or batch_sizes"
        ));
    }
    Ok(())
}

fn configuration(
    config: &BenchConfig,
    name: &str,
    model: &ModelConfig,
    workers_per_model: u32,
    n_models: u32,
) -> Configuration {
    let is_measured = config.options.device_type == DeviceType::Cpu;
    // This machine's processor does not have an EC2 size or a published price.
    let size = instance(name).filter(|_| !is_measured);
    let named = if is_measured { THIS_MACHINE } else { name };
    let label = config.model_name.as_deref().or_else(|| config.index.as_ref().map(|i| i.model_name.as_str()));
    Configuration {
        model: model.model.clone(),
        model_name: label.map_or_else(|| model_label(model.model.trim()).into_owned(), |l| l.trim().to_owned()),
        instance_type: size.map_or(named, |s| s.name).to_owned(),
        batch_size: model.batch_size,
        n_models,
        workers_per_model,
        worker_choice: WorkerChoice::Given,
        pipeline_size: model.pipeline_size,
        performance_level: model.performance_level,
        duration_s: config.duration_s,
        seed: config.seed,
        cost_per_hour: config.cost_per_hour.or_else(|| size.and_then(|s| s.usd_per_hour)),
        warmup_inferences: config.warmup_inferences,
        jitter: config.jitter,
        inputs: model.inputs.clone(),
        model_file: model.file.clone(),
        input_idx: model.input_idx,
        cast_mode: model.cast_mode.clone(),
        options: RunOptions { compile: model.compile, ..config.options.clone() },
        is_host_endless: false,
    }
}

/// The counts as given, or one copy and as many as fit; of an entry of an index one copy. An unknown size has no maximum, and neither has a processor whose
/// number of cores only the shell knows: they get one copy only.
fn n_models_of(config: &BenchConfig, size: Option<&Instance>, model: &ModelConfig) -> Vec<u32> {
    let size = size.filter(|_| config.options.device_type == DeviceType::Neuron);
    let most = size.map_or(1, |s| s.logical_cores(model.compile.lnc) / model.pipeline_size.max(1)).max(1);
    let copies = config.n_models.as_deref().unwrap_or(if config.index.is_some() { &[1] } else { &[1, AS_MANY_AS_FIT] });
    distinct(&copies.iter().map(|n| if *n == AS_MANY_AS_FIT { most } else { *n }).collect::<Vec<_>>())
}

/// The counts as given, or 1 and 2; for an entry of an index 1. A pipeline is fed by one count, which is found by trial once its stage times are known.
/// Until then it counts as p + 1 workers: a request in each of p stages and one with the host. (NeuronPerf's guide promises
/// the best count; its source has p - 1, which leaves a stage idle.)
fn workers_of(config: &BenchConfig, pipeline_size: u32) -> (Vec<u32>, WorkerChoice) {
    match &config.workers_per_model {
        Some(list) => (distinct(list), WorkerChoice::Given),
        None if pipeline_size > 1 => (vec![pipeline_size.saturating_add(1)], WorkerChoice::ByTrial),
        None if config.index.is_some() => (vec![1], WorkerChoice::Given),
        None => (vec![1, 2], WorkerChoice::Given),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_machine::arch::INSTANCES;

    fn pairs(config: &BenchConfig) -> Vec<(u32, u32)> {
        expand(config).unwrap().configurations.iter().map(|c| (c.n_models, c.workers_per_model)).collect()
    }

    #[test]
    fn default_is_four_configurations_in_neuronperfs_order() {
        assert_eq!(pairs(&BenchConfig::default()), [(1, 1), (2, 1), (1, 2), (2, 2)]);
        let inf1 = BenchConfig { instance_type: "Inf1.6xlarge".into(), ..BenchConfig::default() };
        assert_eq!(pairs(&inf1), [(1, 1), (16, 1), (1, 2), (16, 2)]);
        assert_eq!(expand(&inf1).unwrap().configurations[0].instance_type, "inf1.6xlarge");
    }

    #[test]
    fn as_many_copies_as_fit_may_be_asked_for_alone() {
        let config = BenchConfig {
            instance_type: "inf2.xlarge,trn1.32xlarge".into(),
            n_models: Some(vec![crate::AS_MANY_AS_FIT]),
            ..BenchConfig::default()
        };
        assert_eq!(config.validate(), Ok(()));
        assert_eq!(pairs(&config), [(2, 1), (2, 2), (32, 1), (32, 2)]);
        let staged = BenchConfig { pipeline_sizes: vec![2], ..config };
        assert_eq!(pairs(&staged), [(1, 3), (16, 3)]);
    }

    #[test]
    fn each_size_of_a_list_has_its_rows_and_its_price() {
        let config =
            BenchConfig { instance_type: "inf2.xlarge, trn1.2xlarge,inf2.xlarge".into(), ..Default::default() };
        let rows = expand(&config).unwrap().configurations;
        let sizes: Vec<&str> = rows.iter().map(|c| c.instance_type.as_str()).collect();
        assert_eq!(sizes, [["inf2.xlarge"; 4], ["trn1.2xlarge"; 4]].concat());
        assert!(rows[0].cost_per_hour < rows[4].cost_per_hour);
        let wrong = BenchConfig { instance_type: "inf2.xlarge,inf9.xlarge".into(), ..config };
        assert!(expand(&wrong).unwrap_err().what().starts_with("instance_type: 'inf9.xlarge' is not a known size"));
        assert!(expand(&BenchConfig { instance_type: ",".into(), ..wrong }).is_err());
    }

    #[test]
    fn pipelines_divide_max_and_run_one_worker_count() {
        let config =
            BenchConfig { pipeline_sizes: vec![2, 3], instance_type: "inf1.xlarge".into(), ..Default::default() };
        let sweep = expand(&config).unwrap();
        let rows: Vec<_> =
            sweep.configurations.iter().map(|c| (c.pipeline_size, c.n_models, c.workers_per_model)).collect();
        assert_eq!(rows, [(2, 1, 3), (2, 2, 3), (3, 1, 4)]);
        let overridden = BenchConfig { workers_per_model: Some(vec![4]), ..config };
        let rows = expand(&overridden).unwrap().configurations;
        assert!(rows.iter().all(|c| c.workers_per_model == 4 && c.worker_choice == WorkerChoice::Given));
        assert!(sweep.configurations.iter().all(|c| c.worker_choice == WorkerChoice::ByTrial));
    }

    #[test]
    fn an_unknown_size_is_refused_once_with_the_nearest_three() {
        let config = BenchConfig { instance_type: "trn1.48xlarge".into(), ..BenchConfig::default() };
        let message = expand(&config).unwrap_err().to_string();
        assert!(
            message.starts_with("instance_type: 'trn1.48xlarge' is not a known size; the sizes of trn1 are trn1.2xlarge and trn1.32xlarge ("),
            "{message}"
        );
        assert_eq!(message.matches("xlarge").count(), 3, "{message}");
        // A system given by its times may run anywhere.
        let fixed = BenchConfig { model: "fixed:device_ms=1".into(), ..config };
        let sweep = expand(&fixed).unwrap();
        assert_eq!(pairs(&fixed), [(1, 1), (1, 2)]);
        assert!(sweep.messages[0].contains("'trn1.48xlarge' is not a known size, so the configurations"));
        assert!(sweep.configurations.iter().all(|c| c.check().is_ok()));
    }

    #[test]
    fn a_size_without_neuron_devices_runs_one_copy_on_a_known_core() {
        let config = BenchConfig { instance_type: "m5.large".into(), ..BenchConfig::default() };
        let sweep = expand(&config).unwrap();
        assert_eq!(pairs(&config), [(1, 1), (1, 2)]);
        assert!(sweep.configurations.iter().all(|c| c.instance_type == CORE_OF_OTHERS && c.check().is_ok()));
        let said = &sweep.messages[0];
        assert!(said.contains("as fit are skipped; the others run on NeuronCores of trn1.2xlarge"), "{said}");
        // Beside a size that has NeuronCores it would be a second row of another size.
        let beside = BenchConfig { instance_type: "inf2.xlarge,m5.large".into(), ..BenchConfig::default() };
        let sweep = expand(&beside).unwrap();
        assert!(sweep.configurations.iter().all(|c| c.instance_type == "inf2.xlarge"));
        assert!(
            sweep.messages[0]
                .starts_with("instance_type: 'm5.large' is not a known size, so it is left out; the nearest")
        );
    }

    #[test]
    fn an_unknown_model_is_refused_once_with_the_nearest_three() {
        let config = BenchConfig { model: "resnet".into(), ..BenchConfig::default() };
        let message = expand(&config).unwrap_err().to_string();
        assert!(message.starts_with("unknown model \"resnet\": the nearest are resnet"), "{message}");
        assert!(message.len() < 150, "{message}");
    }

    #[test]
    fn a_measured_processor_is_no_instance_and_has_no_price() {
        let mut config = BenchConfig { pipeline_sizes: vec![1, 2], ..BenchConfig::default() };
        config.options.device_type = DeviceType::Cpu;
        let rows = expand(&config).unwrap().configurations;
        assert!(rows.iter().all(|c| c.instance_type == "cpu" && c.cost_per_hour.is_none()));
        assert!(rows.len() == 2 && rows.iter().all(|c| c.check().is_ok() && c.pipeline_size == 1), "{rows:?}");
        assert!(expand(&config).unwrap().messages.iter().any(|m| m.contains("on the processor each model runs whole")));
        let priced = BenchConfig { cost_per_hour: Some(0.5), ..config };
        assert!(expand(&priced).unwrap().configurations.iter().all(|c| c.cost_per_hour == Some(0.5)));
    }

    #[test]
    fn what_does_not_fit_is_a_configuration_with_an_error() {
        let config = BenchConfig { n_models: Some(vec![2, 3]), ..BenchConfig::default() };
        let checks: Vec<bool> = expand(&config).unwrap().configurations.iter().map(|c| c.check().is_ok()).collect();
        assert_eq!(checks, [true, false, true, false]);
        let deep = BenchConfig { pipeline_sizes: vec![64], ..BenchConfig::default() };
        let message = expand(&deep).unwrap().configurations[0].check().unwrap_err().to_string();
        assert!(message.contains("larger than the 2 NeuronCores of trn1.2xlarge"), "{message}");
    }

    #[test]
    fn repeated_counts_give_one_row_and_huge_sweeps_are_refused() {
        let config = BenchConfig { n_models: Some(vec![1, 1, 2]), batch_sizes: vec![4, 4], ..BenchConfig::default() };
        assert_eq!(pairs(&config), [(1, 1), (2, 1), (1, 2), (2, 2)]);
        let many: Vec<u32> = (1..=200).collect();
        let huge =
            BenchConfig { n_models: Some(many.clone()), workers_per_model: Some(many), ..BenchConfig::default() };
        let error = expand(&huge).unwrap_err();
        assert!(error.what().starts_with("the lists make 40000 configurations, at most 10000"), "{error}");
    }

    #[test]
    fn digests_tell_configurations_apart_and_artifacts_together() {
        let rows = expand(&BenchConfig::default()).unwrap().configurations;
        let mut digests: Vec<u64> = rows.iter().map(|c| c.digest().finish()).collect();
        digests.sort_unstable();
        digests.dedup();
        assert_eq!(digests.len(), 4);
        assert!(rows.iter().all(|c| c.model_filename() == rows[0].model_filename()));
        let name = expand(&BenchConfig { model: "matmult:n=8,add_bias=true".into(), ..BenchConfig::default() })
            .unwrap()
            .configurations[0]
            .model_filename();
        assert!(name.starts_with("models/matmult_n=8_add_bias=true_b1_p1_") && name.ends_with(".pt"), "{name}");
    }

    #[test]
    fn every_known_size_has_its_max() {
        for size in INSTANCES {
            let config = BenchConfig { instance_type: size.name.into(), ..BenchConfig::default() };
            let max = expand(&config).unwrap().configurations.iter().map(|c| c.n_models).max();
            assert_eq!(max, Some(size.neuroncores), "{}", size.name);
        }
    }

    #[test]
    fn performance_levels_are_swept_inside_pipelines() {
        let config = BenchConfig {
            performance_levels: vec![0, 3],
            pipeline_sizes: vec![1, 2],
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![1]),
            ..BenchConfig::default()
        };
        let rows = expand(&config).unwrap().configurations;
        let order: Vec<_> = rows.iter().map(|c| (c.pipeline_size, c.performance_level)).collect();
        assert_eq!(order, [(1, 0), (1, 3), (2, 0), (2, 3)]);
    }

    #[test]
    fn the_longer_of_inputs_and_batch_sizes_is_cut_with_a_message() {
        let inputs = crate::parse_inputs("1x4;2x4;3x4").unwrap();
        let config = BenchConfig { inputs, batch_sizes: vec![1, 2], n_models: Some(vec![1]), ..BenchConfig::default() };
        let sweep = expand(&config).unwrap();
        assert!(sweep.messages[0].contains("inputs is cut to 2"), "{:?}", sweep.messages);
        let rows: Vec<_> = sweep.configurations.iter().map(|c| c.inputs.clone().unwrap().to_string()).collect();
        assert_eq!(rows, ["1x4", "1x4", "2x4", "2x4"]);
        let short = BenchConfig { batch_sizes: vec![1, 2, 3, 4], ..config };
        assert!(expand(&short).unwrap().messages[0].contains("batch_sizes is cut to 3"));
    }

    #[test]
    fn an_index_brings_its_own_models() {
        let text = r#"{"model_name": "resnet", "version": "1", "model_configs": [
            {"filename": "a.pt", "batch_size": 4, "model": "nn"}, {"filename": "b.pt", "pipeline_size": 2},
            {"filename": null, "status": "error"}]}"#;
        let index = Some(crate::ModelIndex::read(text).unwrap().index);
        let config = BenchConfig { index, model: String::new(), n_models: Some(vec![1]), ..BenchConfig::default() };
        let sweep = expand(&config).unwrap();
        assert!(sweep.messages[0].starts_with("1 entry of the index failed"), "{:?}", sweep.messages);
        let row = |c: &Configuration| (c.model.clone(), c.model_filename(), c.batch_size, c.workers_per_model);
        let rows: Vec<_> = sweep.configurations.iter().map(row).collect();
        let text = str::to_owned;
        assert_eq!(rows[0], (text("nn"), text("a.pt"), 4, 1));
        assert_eq!(rows[1], (text("b.pt"), text("b.pt"), 1, 3));
        assert!(sweep.configurations.iter().all(|c| c.model_name == "resnet"));
        let error = sweep.configurations[1].check().unwrap_err().to_string();
        assert!(error.contains("does not say which model this is"), "{error}");
        let named = BenchConfig { model: "nn".into(), ..config };
        assert!(expand(&named).unwrap().configurations.iter().all(|c| c.model == "nn" && c.check().is_ok()));
    }

    #[test]
    fn an_entry_says_how_it_was_compiled_and_others_are_swept() {
        use ns_compiler::AutoCast;
        let text = r#"{"model_name": "m", "version": "1", "model_configs": [
            {"filename": "a.pt", "model": "nn", "auto_cast": "all", "lnc": 1}, {"filename": "b.pt", "model": "nn"}]}"#;
        let mut config = BenchConfig {
            index: Some(crate::ModelIndex::read(text).unwrap().index),
            model: String::new(),
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![1]),
            ..BenchConfig::default()
        };
        config.compile.auto_casts = vec![AutoCast::None, AutoCast::Matmult];
        let rows = expand(&config).unwrap().configurations;
        let row = |c: &Configuration| (c.model_filename(), c.options.compile.to_string());
        assert_eq!(
            rows.iter().map(row).collect::<Vec<_>>(),
            [
                ("a.pt".to_owned(), "--auto-cast all --auto-cast-type bf16 -O2 --lnc 1".to_owned()),
                ("b.pt".to_owned(), "--auto-cast none -O2".to_owned()),
                ("b.pt".to_owned(), "--auto-cast matmult --auto-cast-type bf16 -O2".to_owned()),
            ]
        );
        assert_eq!(rows[2].label(), "m: batch 1, 1 model x 1 worker");
        assert_eq!(rows[1].label(), "m: batch 1, 1 model x 1 worker, cast none");
        let keys: std::collections::BTreeSet<u64> = rows.iter().map(Configuration::times_key).collect();
        assert_eq!(keys.len(), 3);
    }

    #[test]
    fn keys_tell_every_difference() {
        let one = expand(&BenchConfig::default()).unwrap().configurations.remove(0);
        let mut other = one.clone();
        other.options.setup_ms = 1.0;
        assert_eq!(one.key(), one.clone().key());
        assert_ne!(one.key(), other.key());
        assert_eq!(one.key().len(), 16);
    }
}
