//! One point of a sweep: everything its result depends on.

use serde::{Deserialize, Serialize};

use ns_base::convert::u64_to_f64;
use ns_base::units::{format_bytes, format_plural};
use ns_base::{Digest, Refusal, SimTime, refuse};
use ns_compiler::{AutoCast, CompileOptions, Workflow};
use ns_machine::arch::{Instance, device_of, instance};
use ns_model::ModelSpec;

use super::inputs::InputTuple;
use super::options::{Accounting, DeviceType, RunOptions, SdkGeneration};
use crate::compile::sweep::short_flags;
use crate::index::no_model;
use crate::reports::report::Report;
use ns_device::ModelKind;

/// Who decides how many workers feed a copy.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WorkerChoice {
    /// The user, or NeuronPerf's default.
    #[default]
    Given,
    /// A trial, when the stage times are known.
    ByTrial,
    /// A trial decided; the numbers that it tried, each with its throughput, in words.
    Tried(String),
}

/// One point of a sweep: everything its result depends on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Configuration {
    /// Model specification; for an index entry without one, the artifact's file name.
    pub model: String,
    /// Label in reports.
    pub model_name: String,
    /// EC2 size, by its canonical name if it is known.
    pub instance_type: String,
    /// Samples of one inference.
    pub batch_size: u32,
    /// Model copies.
    pub n_models: u32,
    /// Threads that feed one model copy.
    pub workers_per_model: u32,
    /// Who decides `workers_per_model`.
    #[serde(default)]
    pub worker_choice: WorkerChoice,
    /// NeuronCores of one model copy.
    pub pipeline_size: u32,
    /// 0 to 3.
    pub performance_level: u8,
    /// Measured simulated seconds.
    pub duration_s: f64,
    /// Seed of every random number.
    pub seed: u64,
    /// US dollars per hour, if a price is given or published.
    pub cost_per_hour: Option<f64>,
    /// Inferences of each model before the measured window.
    pub warmup_inferences: u32,
    /// Largest random deviation of a stage's time, as a fraction of that time.
    pub jitter: f64,
    /// Shapes of the inputs; the model's own if absent.
    pub inputs: Option<InputTuple>,
    /// Path of the artifact, when the configuration comes from an index.
    pub model_file: Option<String>,
    /// Number of its inputs in the list of inputs, or in the older index that names it, from 0.
    #[serde(default)]
    pub input_idx: u32,
    /// The cast that an older index names.
    #[serde(default)]
    pub cast_mode: Option<String>,
    pub options: RunOptions,
    /// A host on which nobody waits, for fits of other constants to rows whose hosts did not limit. No request has it.
    #[serde(skip)]
    pub is_host_endless: bool,
}

impl Configuration {
    /// The configuration as its row ran: with the number of workers that a trial decided.
    pub fn as_run(self, report: &Report) -> Self {
        match (&self.worker_choice, &report.workers_tried) {
            (WorkerChoice::ByTrial, Some(tried)) => Self {
                workers_per_model: report.workers_per_model,
                worker_choice: WorkerChoice::Tried(tried.clone()),
                ..self
            },
            _ => self,
        }
    }

    /// NeuronCores that all copies use together: NeuronPerf's `n_devices`.
    pub fn n_devices(&self) -> u64 {
        u64::from(self.n_models) * u64::from(self.pipeline_size)
    }

    /// The Neuron device whose link carries the inputs and outputs of a model copy: the device of the copy's first NeuronCore.
    /// Copies take cores in order. On a size that is not known, all copies are on one device.
    pub fn device_of(&self, model: u32) -> u32 {
        let Some(size) = instance(&self.instance_type) else { return 0 };
        let per_device = (size.logical_cores(self.options.compile.lnc) / size.devices.max(1)).max(1);
        let first_core = u64::from(model) * u64::from(self.pipeline_size);
        u32::try_from(first_core / u64::from(per_device)).unwrap_or(u32::MAX)
    }

    /// Neuron devices that the copies run on, each with its own link to the host.
    pub fn links(&self) -> u32 {
        self.device_of(self.n_models.saturating_sub(1)).saturating_add(1)
    }

    /// Cores of the instance's host; `None` for a host without limit, as that of a size that is not known.
    pub fn host_cores(&self) -> Option<u32> {
        if self.is_host_endless {
            return None;
        }
        instance(&self.instance_type).map(Instance::host_cores)
    }

    pub fn duration(&self) -> SimTime {
        SimTime::from_secs_f64(self.duration_s)
    }

    /// Whether the run may end before its duration: its window alone decides how long it measures.
    pub fn may_be_shortened(&self) -> bool {
        self.options.accounting == Accounting::Window && self.options.dataset.is_none_or(|d| d.looped)
    }

    /// Workers of all copies together.
    pub fn workers(&self) -> u64 {
        u64::from(self.n_models) * u64::from(self.workers_per_model)
    }

    /// The configuration in a few words: `nn: batch 4, 16 models x 1 worker`, and how it is compiled if that is not the
    /// default.
    pub fn label(&self) -> String {
        let (b, n, w) = (self.batch_size, self.n_models, self.workers_per_model);
        let workers = match self.worker_choice {
            WorkerChoice::ByTrial => "workers by trial".to_owned(),
            _ => format_plural(w, "worker"),
        };
        let mut label = format!("{}: batch {b}, {} x {workers}", self.model_name, format_plural(n, "model"));
        if self.pipeline_size > 1 {
            label.push_str(&format!(", pipeline {}", self.pipeline_size));
        }
        if let Some(flags) = short_flags(&self.compile_options().to_string()).filter(|_| self.is_compiled()) {
            label.push_str(&format!(", {flags}"));
        }
        if self.is_compiled() && self.options.sdk_generation != SdkGeneration::default() {
            label.push_str(&format!(", {}", self.options.sdk_generation.name()));
        }
        if let Some(workflow) = self.workflow().filter(|w| *w != RunOptions::default().workflow) {
            label.push_str(&format!(", {workflow}"));
        }
        label
    }

    /// Whether the copies fit on the instance. An unknown instance is not checked. Fails when they need more NeuronCores than there
    /// are.
    pub fn check(&self) -> Result<(), Refusal> {
        if let Some(file) = self.model_file.as_ref().filter(|f| **f == self.model) {
            return Err(no_model(file));
        }
        if self.options.device_type == DeviceType::Cpu {
            let pipeline_size = self.pipeline_size;
            let is_one = pipeline_size == 1;
            return if is_one {
                Ok(())
            } else {
                Err(refuse!(
                    "pipeline_size {pipeline_size}: a pipeline is NeuronCores in a row, and the measured processor has none; use a pipeline_size of 1, or device_type neuron"
                ))
            };
        }
        let Some(size) = instance(&self.instance_type) else { return Ok(()) };
        let cores = size.logical_cores(self.options.compile.lnc);
        if self.pipeline_size > cores {
            return Err(refuse!(
                "pipeline_size {pipeline_size} is larger than the {cores} NeuronCores of {instance}; use a pipeline_size of at most {cores} or a larger instance",
                pipeline_size = self.pipeline_size,
                instance = size.name
            ));
        }
        if self.n_devices() > u64::from(cores) {
            return Err(refuse!(
                "n_models {n_models} x pipeline_size {pipeline_size} needs {needed} NeuronCores, {instance} has {cores}; use at most {room} models or a larger instance",
                n_models = self.n_models,
                pipeline_size = self.pipeline_size,
                needed = self.n_devices(),
                instance = size.name,
                room = cores / self.pipeline_size.max(1)
            ));
        }
        Ok(())
    }

    /// Whether the weights of all copies fit in the memory of the host: each copy reads its own before its device gets them. Fails
    /// when they need more memory than the host has.
    pub fn check_host_memory(&self, weight_bytes: u64) -> Result<(), Refusal> {
        let Some(size) = instance(&self.instance_type) else { return Ok(()) };
        let (needed, has) = (weight_bytes.saturating_mul(u64::from(self.n_models)), size.host_memory_bytes());
        if needed <= has {
            return Ok(());
        }
        Err(refuse!(
            "n_models {n_models}: each copy reads {each} of weights, together {needed}, and the host of {instance} has {has} of memory, room for {room}; use fewer models or a larger instance",
            n_models = self.n_models,
            each = format_bytes(u64_to_f64(weight_bytes)),
            needed = format_bytes(u64_to_f64(needed)),
            instance = size.name,
            has = format_bytes(u64_to_f64(has)),
            room = has / weight_bytes.max(1)
        ))
    }

    /// Whether a model is compiled for it: not on the processor, and not for a system given by its times.
    pub fn is_compiled(&self) -> bool {
        self.options.device_type == DeviceType::Neuron && ModelKind::of(&self.model) != ModelKind::Fixed
    }

    /// How the model reaches its NeuronCore; `None` if no model is compiled.
    pub fn workflow(&self) -> Option<Workflow> {
        self.is_compiled().then_some(self.options.workflow)
    }

    /// How the model is compiled: as requested, except that level 0 of NeuronPerf's performance levels casts nothing.
    pub fn compile_options(&self) -> CompileOptions {
        let asked = self.options.compile;
        if self.performance_level == 0 { CompileOptions { auto_cast: AutoCast::None, ..asked } } else { asked }
    }

    /// Names the compiled artifact: rows that differ in copies, workers or duration run the same one.
    pub fn artifact(&self) -> Digest {
        self.artifact_on(&self.instance_type)
    }

    fn artifact_on(&self, machine: &str) -> Digest {
        let digest = Digest::default()
            .text("neuronscope artifact 1")
            .text(&self.model)
            .text(machine)
            .number(u64::from(self.batch_size))
            .number(u64::from(self.pipeline_size))
            .number(u64::from(self.performance_level));
        // An artifact compiled with the defaults keeps the same name as in earlier releases.
        let compile = self.options.compile;
        let digest = if compile == CompileOptions::default() { digest } else { digest.text(&compile.to_string()) };
        let workflow = self.workflow().filter(|w| *w != RunOptions::default().workflow);
        workflow.map_or(digest, |workflow| digest.text(workflow.name()))
    }

    /// Identifies the configuration and, with a model and a worker, its stream of random numbers. The seed is given to the
    /// generator and is not part of the key; nor is the duration, so a longer run begins like a shorter one.
    pub fn digest(&self) -> Digest {
        self.artifact()
            .text("configuration 1")
            .number(u64::from(self.n_models))
            .number(u64::from(self.workers_per_model))
            .number(u64::from(self.warmup_inferences))
    }

    /// Names everything about the configuration in 16 hexadecimal digits. A finished row is kept under this key, so that a
    /// resumed sweep runs only what has changed.
    pub fn key(&self) -> String {
        let text = serde_json::to_string(self).unwrap_or_default();
        format!("{:016x}", Digest::default().text("neuronscope configuration 1").text(&text).finish())
    }

    /// Identifies everything that stage times depend on: rows with the same key share them. Instances with the same device differ in
    /// the number of their cores and in their hosts, which are no part of a call that finds nothing in its way.
    pub fn times_key(&self) -> u64 {
        let inputs = self.inputs.as_ref().map(ToString::to_string).unwrap_or_default();
        let options = serde_json::to_string(&self.options).unwrap_or_default();
        let device = device_of(&self.instance_type).map_or(self.instance_type.as_str(), |device| device.name);
        let key = self.artifact_on(device).text(&inputs).text(&options);
        // Copies of a training step add up their gradients.
        let trains = self.model.parse::<ModelSpec>().is_ok_and(|spec| spec.training().is_some());
        if trains { key.number(u64::from(self.n_models)).finish() } else { key.finish() }
    }

    /// Path of the artifact: from the index, or in NeuronPerf's pattern, `models/{model_name}_b{batch}_p{pipeline}_{8 characters}.pt`.
    pub fn model_filename(&self) -> String {
        if let Some(file) = &self.model_file {
            return file.clone();
        }
        let name: String = self.model_name.chars().map(|c| if is_file_safe(c) { c } else { '_' }).take(64).collect();
        format!("models/{name}_b{}_p{}_{}.pt", self.batch_size, self.pipeline_size, self.artifact().name8())
    }
}

fn is_file_safe(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '=')
}
