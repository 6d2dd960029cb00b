//! NeuronPerf's `compile`: each input (batch size) with each pipeline size and each performance level, into artifacts and
//! an index of them.

use serde::{Deserialize, Serialize};

use ns_base::Refusal;
use ns_base::stats::round_to;
use ns_compiler::{CompileOptions, Workflow, modelled_compile_s};
use ns_device::{Device, EstimatedOp, ModelLibrary, RemovedProducts, model_label};
use ns_machine::MemoryPlan;
use ns_machine::isa::{DmaQueue, Engine};

use super::sweep::CompileSweep;
use crate::config::bench_config::BenchConfig;
use crate::config::configuration::Configuration;
use crate::config::inputs::InputTuple;
use crate::config::options::RunOptions;
use crate::index::{EntryStatus, MODELLED, ModelEntry, ModelIndex};
use crate::run::times::check_inputs;
use crate::sweep::expand::expand;

/// The models and options to compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CompileConfig {
    /// Model specification.
    pub model: String,
    /// Label in the index and in artifact names; the specification if absent.
    pub model_name: Option<String>,
    /// EC2 size to compile for: NeuronPerf's `compiler_target`.
    pub instance_type: String,
    /// Shapes of the inputs, one entry for each batch size; the model's own when empty.
    pub inputs: Vec<InputTuple>,
    /// Samples of one inference.
    pub batch_sizes: Vec<u32>,
    /// NeuronCores of one copy.
    pub pipeline_sizes: Vec<u32>,
    /// 0 (most accurate) to 3 (fastest).
    pub performance_levels: Vec<u8>,
    /// Compiler options: `compiler_args`.
    pub options: CompileOptions,
    /// Options that are swept; they override `options`.
    pub compile: CompileSweep,
    /// Folder of the artifacts.
    pub models_dir: String,
    /// Also give the program as HLO text, before and after the passes.
    pub hlo: bool,
}

impl Default for CompileConfig {
    fn default() -> Self {
        Self {
            model: "nn".to_owned(),
            model_name: None,
            instance_type: "trn1.2xlarge".to_owned(),
            inputs: Vec::new(),
            batch_sizes: vec![1],
            pipeline_sizes: vec![1],
            performance_levels: vec![3],
            options: CompileOptions::default(),
            compile: CompileSweep::default(),
            models_dir: "models".to_owned(),
            hlo: false,
        }
    }
}

/// The compiles to be done, in order.
#[derive(Clone, Debug, PartialEq)]
pub struct CompilePlan {
    /// The index, still without artifacts.
    pub index: ModelIndex,
    /// The compiles, one for each artifact.
    pub tasks: Vec<CompileTask>,
    /// Notes for the user, one sentence each.
    pub messages: Vec<String>,
}

/// One artifact to make.
#[derive(Clone, Debug, PartialEq)]
pub struct CompileTask {
    configuration: Configuration,
    models_dir: String,
    hlo: bool,
}

/// The outcome of one compile.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CompiledModel {
    /// Its entry in the index; if the compile failed, with the error.
    pub entry: ModelEntry,
    /// The artifact, to be written to the entry's file; absent if the compile failed.
    pub artifact: Option<Artifact>,
    /// Products that the passes removed.
    pub removed: Option<RemovedProducts>,
    /// The program as HLO text, before and after the passes; absent unless it was asked for.
    pub programs: Option<[String; 2]>,
}

/// A compiled model as a file: its configuration, and statistics of the compiled program. Instructions are generated again from the
/// model when it is run, and are the same each time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Artifact {
    /// Version of this format.
    pub neuronscope_artifact: u32,
    /// Model specification.
    pub model: String,
    /// EC2 size it was compiled for.
    pub instance_type: String,
    /// Samples of one inference.
    pub batch_size: u32,
    /// NeuronCores of one copy.
    pub pipeline_size: u32,
    /// 0 to 3.
    pub performance_level: u8,
    /// Flags it was compiled with.
    pub compiler_args: String,
    /// Seconds that the real compiler would take, by the model of [`modelled_compile_s`].
    pub modelled_compile_s: f64,
    /// Instructions of each engine.
    pub instructions: Vec<(String, u64)>,
    /// DMAs of each queue.
    pub dmas: Vec<(String, u64)>,
    /// Bytes that the compiler placed in each memory.
    pub memory: MemoryPlan,
    /// Floating point operations of the matrix products of one call.
    pub model_flops: u64,
    /// Operators of a model file whose times are estimates.
    #[serde(default)]
    pub estimated_ops: Vec<EstimatedOp>,
}

impl CompileConfig {
    /// Lists the compiles: inputs, then pipeline sizes, then performance levels, then compiler options. Fails when a parameter is
    /// out of its range.
    pub fn plan(&self) -> Result<CompilePlan, Refusal> {
        let sweep = expand(&BenchConfig {
            model: self.model.clone(),
            model_name: self.model_name.clone(),
            instance_type: self.instance_type.clone(),
            inputs: self.inputs.clone(),
            batch_sizes: self.batch_sizes.clone(),
            pipeline_sizes: self.pipeline_sizes.clone(),
            performance_levels: self.performance_levels.clone(),
            n_models: Some(vec![1]),
            workers_per_model: Some(vec![1]),
            options: RunOptions { compile: self.options, ..RunOptions::default() },
            compile: self.compile.clone(),
            ..BenchConfig::default()
        })?;
        let name = match &self.model_name {
            Some(label) => label.trim().to_owned(),
            None => model_label(self.model.trim()).into_owned(),
        };
        let task = |configuration| CompileTask { configuration, models_dir: self.models_dir.clone(), hlo: self.hlo };
        let tasks = sweep.configurations.into_iter().map(task).collect();
        Ok(CompilePlan { index: ModelIndex::new(&name), tasks, messages: sweep.messages })
    }
}

impl CompileTask {
    /// A short description of what is compiled: `nn batch 4, pipeline 1, performance level 3`.
    pub fn label(&self) -> String {
        let c = &self.configuration;
        let (b, p, l) = (c.batch_size, c.pipeline_size, c.performance_level);
        let mut label = format!("{} batch {b}, pipeline {p}, performance level {l}", c.model_name);
        if c.options.compile != CompileOptions::default() {
            label.push_str(&format!(", {}", c.options.compile));
        }
        label
    }

    /// Compiles a model of the zoo or of `models`. One that cannot be compiled gives an entry with its error.
    pub fn run(&self, models: &ModelLibrary) -> CompiledModel {
        let c = &self.configuration;
        let entry = ModelEntry {
            batch_size: c.batch_size,
            pipeline_size: c.pipeline_size,
            performance_level: c.performance_level,
            model: Some(c.model.clone()),
            instance_type: Some(c.instance_type.clone()),
            ..ModelEntry::default()
        }
        .compiled_with(c.compile_options());
        match self.artifact(models) {
            Ok((artifact, removed)) => {
                let filename = Some(self.file_name());
                let compile_s = Some(artifact.modelled_compile_s);
                let compile_s_source = Some(MODELLED.to_owned());
                let entry = ModelEntry { filename, compile_s, compile_s_source, ..entry };
                let programs = self.programs(models);
                CompiledModel { entry, artifact: Some(artifact), removed, programs }
            }
            Err(error) => {
                let entry = ModelEntry { status: EntryStatus::Error, error: Some(error.to_string()), ..entry };
                CompiledModel { entry, artifact: None, removed: None, programs: None }
            }
        }
    }

    /// Path of the artifact: NeuronPerf's pattern with the folder, and the extension `.json`, the real format.
    pub fn file_name(&self) -> String {
        let path = self.configuration.model_filename();
        let name = path.trim_start_matches("models/").trim_end_matches(".pt");
        let dir = self.models_dir.trim_end_matches('/');
        if self.models_dir.is_empty() { format!("{name}.json") } else { format!("{dir}/{name}.json") }
    }

    /// The program before and after the passes, if that was asked for.
    fn programs(&self, models: &ModelLibrary) -> Option<[String; 2]> {
        let c = &self.configuration;
        let device =
            self.hlo.then(|| Device::new(&c.instance_type, c.compile_options()).ok()).flatten()?.with_models(models);
        device.programs(&c.model, Some(c.batch_size), Workflow::Trace).ok()
    }

    fn artifact(&self, models: &ModelLibrary) -> Result<(Artifact, Option<RemovedProducts>), Refusal> {
        let c = &self.configuration;
        c.check()?;
        check_inputs(c, models)?;
        let device = Device::new(&c.instance_type, c.compile_options())?.with_models(models);
        let compilation = device.compilation(&c.model, Some(c.batch_size), Workflow::Trace)?;
        let removed = compilation.removed();
        let executable = compilation.executable;
        let engines = Engine::ALL.iter().zip(&executable.engines);
        let queues = DmaQueue::OF_MODELS.iter().zip(&executable.queues);
        let artifact = Artifact {
            neuronscope_artifact: 1,
            model: c.model.clone(),
            instance_type: c.instance_type.clone(),
            batch_size: c.batch_size,
            pipeline_size: c.pipeline_size,
            performance_level: c.performance_level,
            compiler_args: c.compile_options().to_string(),
            modelled_compile_s: round_to(modelled_compile_s(&executable), 3),
            instructions: engines.map(|(e, list)| (format!("{e:?}"), list.len() as u64)).collect(),
            dmas: queues.map(|(q, list)| (format!("{q:?}"), list.len() as u64)).collect(),
            memory: executable.memory,
            model_flops: executable.model_flops,
            estimated_ops: compilation.estimated_ops,
        };
        Ok((artifact, removed))
    }
}

impl Artifact {
    /// The file's text, ended by a newline. Fails when the encoder fails, which does not happen for text in memory.
    pub fn to_json(&self) -> Result<String, serde_json::Error> {
        let mut text = serde_json::to_string_pretty(self)?;
        text.push('\n');
        Ok(text)
    }

    /// Whether a file of these bytes is an artifact.
    pub fn is_in(bytes: &[u8]) -> bool {
        serde_json::from_slice::<Self>(bytes).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ns_compiler::AutoCast;

    #[test]
    fn everything_is_compiled_with_everything_and_failures_are_kept() {
        let config = CompileConfig {
            model: "nn".into(),
            batch_sizes: vec![1, 4],
            pipeline_sizes: vec![1, 9],
            performance_levels: vec![0, 3],
            models_dir: "out/".into(),
            ..CompileConfig::default()
        };
        let plan = config.plan().unwrap();
        assert_eq!(plan.tasks.len(), 8);
        let compiled: Vec<CompiledModel> = plan.tasks.iter().map(|task| task.run(&ModelLibrary::default())).collect();
        let row = |c: &CompiledModel| {
            let e = &c.entry;
            (e.batch_size, e.pipeline_size, e.performance_level, e.status.name(), c.artifact.is_some())
        };
        let rows: Vec<_> = compiled.iter().map(row).collect();
        assert_eq!(rows[0], (1, 1, 0, "finished", true));
        assert_eq!(rows[2], (1, 9, 0, "error", false));
        assert_eq!(rows[7], (4, 9, 3, "error", false));
        assert!(compiled[2].entry.error.as_deref().unwrap().contains("larger than the 2 NeuronCores"));
        let names: Vec<&str> = compiled.iter().filter_map(|c| c.entry.filename.as_deref()).collect();
        assert!(names[0].starts_with("out/nn_b1_p1_") && names[0].ends_with(".json"), "{names:?}");
        assert_ne!(names[0], names[1]);
        // The index states the casts that were compiled.
        let casts = |c: &CompiledModel| (c.entry.auto_cast, c.artifact.as_ref().map(|a| a.compiler_args.clone()));
        assert_eq!(casts(&compiled[0]), (Some(AutoCast::None), Some("--auto-cast none -O2".to_owned())));
        assert_eq!(casts(&compiled[1]).0, Some(AutoCast::Matmult));
        // The compile time comes from the model of compile times, on any machine.
        let seconds = |c: &CompiledModel| (c.entry.compile_s, c.entry.compile_s_source.as_deref().map(str::to_owned));
        assert_eq!(
            seconds(&compiled[1]),
            (compiled[1].artifact.as_ref().map(|a| a.modelled_compile_s), Some(MODELLED.to_owned()))
        );
        assert!(seconds(&compiled[1]).0 > Some(0.118) && seconds(&compiled[2]) == (None, None));
        let artifact = compiled[0].artifact.as_ref().unwrap();
        assert!(artifact.instructions.iter().map(|(_, n)| n).sum::<u64>() > 0 && artifact.model_flops > 0);
    }

    #[test]
    fn an_index_made_here_runs_here() {
        let plan = CompileConfig { batch_sizes: vec![2], ..CompileConfig::default() }.plan().unwrap();
        let mut index = plan.index;
        index.model_configs.extend(plan.tasks.iter().map(|t| t.run(&ModelLibrary::default()).entry));
        let config = BenchConfig { index: Some(index), model: String::new(), ..BenchConfig::default() };
        let configuration = expand(&config).unwrap().configurations.remove(0);
        assert_eq!((configuration.model.as_str(), configuration.batch_size), ("nn", 2));
        assert!(crate::service_times(&configuration, &ModelLibrary::default()).is_ok());
    }

    #[test]
    fn an_index_runs_on_the_instance_it_was_compiled_for() {
        let compile = CompileConfig { instance_type: "inf2.48xlarge".into(), ..CompileConfig::default() };
        let plan = compile.plan().unwrap();
        let mut index = plan.index;
        index.model_configs.extend(plan.tasks.iter().map(|t| t.run(&ModelLibrary::default()).entry));
        let n_models = Some(vec![1, crate::AS_MANY_AS_FIT]);
        let sweep = expand(&BenchConfig { index: Some(index), n_models, ..BenchConfig::default() }).unwrap();
        let rows: Vec<_> = sweep.configurations.iter().map(|c| (c.instance_type.as_str(), c.n_models)).collect();
        assert_eq!(rows, [("inf2.48xlarge", 1), ("inf2.48xlarge", 24)]);
        assert!(sweep.configurations.iter().all(|c| c.cost_per_hour == Some(12.98127)));
        assert!(sweep.messages[0].contains("compiled for inf2.48xlarge and runs on it; trn1.2xlarge is not used"));
    }
}
