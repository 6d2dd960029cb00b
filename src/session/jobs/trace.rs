//! Running one configuration of a benchmark and keeping it as a timeline.

use super::{Job, JobState, StageTimes};
use crate::open_profile::OpenProfile;
use crate::protocol::Message;
use ns_base::SimTime;
use ns_base::convert::{f64_to_u64, u64_to_f64};
use ns_base::units::{format_count, format_ns, format_number};
use ns_bench::{BenchConfig, Configuration, ConfigurationRun, Report, ReportDetail, RunDetail, expand};
use ns_capture::{BenchRecorder, BenchTrace, build_bench_profile};
use ns_compiler::Workflow;
use ns_device::{Device, ModelKind, ModelLibrary, model_label};
use ns_forms::{ProfileOrigin, ProfileSpec, TraceSpec};

/// A benchmark run with an observer.
pub(crate) struct TraceJob {
    spec: TraceSpec,
    times: StageTimes,
    models: ModelLibrary,
    stage: Stage,
}

enum Stage {
    Compile,
    /// With the modelled compile time of a compiled model.
    Run {
        run: Box<ConfigurationRun<BenchRecorder>>,
        compile: Option<SimTime>,
    },
    Over,
}

impl TraceJob {
    pub fn new(spec: TraceSpec, times: StageTimes, models: ModelLibrary) -> Self {
        Self { spec, times, models, stage: Stage::Compile }
    }

    fn start(&mut self) -> Result<(), String> {
        let configuration = match &self.spec.configuration {
            Some(configuration) => (**configuration).clone(),
            None => busiest(&self.spec.spec)?,
        };
        let is_compiled = ModelKind::of(&configuration.model) != ModelKind::Fixed;
        let compile = is_compiled.then(|| modelled_compile(&configuration, &self.models)).transpose()?;
        let times = self.times.of(&configuration, &self.models)?;
        let recorder = BenchRecorder::new(SimTime::from_secs_f64(self.spec.timeline_s));
        let run = Box::new(ConfigurationRun::observed(configuration, Ok(&times), recorder));
        self.stage = Stage::Run { run, compile };
        Ok(())
    }
}

/// All NeuronCores of the instance with two workers each, as NeuronPerf measures throughput.
fn busiest(spec: &ProfileSpec) -> Result<Configuration, String> {
    let mut config = BenchConfig {
        model: spec.model.clone(),
        instance_type: spec.instance.clone(),
        batch_sizes: vec![spec.batch_size.unwrap_or(1)],
        workers_per_model: Some(vec![2]),
        seed: spec.seed,
        ..BenchConfig::default()
    };
    (config.options.compile, config.options.workflow) = (spec.options, spec.workflow);
    let sweep = expand(&config).map_err(|e| e.to_string())?;
    sweep.configurations.into_iter().max_by_key(|c| c.n_models).ok_or_else(|| format!("{}: nothing to run", spec.model))
}

fn modelled_compile(configuration: &Configuration, models: &ModelLibrary) -> Result<SimTime, String> {
    configuration.check().map_err(|e| e.to_string())?;
    let device = Device::new(&configuration.instance_type, configuration.compile_options())?.with_models(models);
    let workflow = configuration.options.workflow;
    let compilation = device.compilation(&configuration.model, Some(configuration.batch_size), workflow)?;
    // It does not depend on the execution.
    let step = compilation.step(&device.costs, SimTime::ZERO, workflow);
    Ok(step.first.compile)
}

/// The figures of the whole run; the timeline may show only a part of it.
fn facts(report: &Report, recorder: &BenchRecorder, elapsed: SimTime) -> Vec<(String, String)> {
    let number = |n: Option<f64>, unit: &str| n.map(|n| format!("{}{unit}", format_number(n)));
    let part = (recorder.left_out() > 0).then(|| {
        let (part, all) = (u64_to_f64(recorder.until().to_ns()), u64_to_f64(elapsed.to_ns()));
        format!("the first {} of the {} measured", format_ns(part), format_ns(all))
    });
    [
        ("Throughput", number(report.throughput_avg, " inferences/s")),
        ("Latency p50", number(report.latency_ms_p50, " ms")),
        ("Latency p99", number(report.latency_ms_p99, " ms")),
        ("Inferences", report.total_infs.map(format_count)),
        ("Shown", part),
        ("Estimated operators", report.estimated_ops.clone()),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name.to_owned(), value?)))
    .collect()
}

impl Job for TraceJob {
    fn step(&mut self, budget_events: u32, sink: &mut dyn FnMut(Message)) -> Result<JobState, String> {
        match std::mem::replace(&mut self.stage, Stage::Over) {
            Stage::Compile => {
                let label = format!("Compiling {}", model_label(&self.spec.spec.model));
                sink(Message::Progress { done: 0, total: 0, label });
                self.start()?;
                Ok(JobState::More)
            }
            Stage::Run { mut run, compile } => {
                let progress = run.step(u64::from(budget_events));
                if !progress.done {
                    let label = run.configuration().label();
                    sink(Message::Progress { done: f64_to_u64(progress.percent * 10.0), total: 1_000, label });
                    self.stage = Stage::Run { run, compile };
                    return Ok(JobState::More);
                }
                self.finish(*run, compile)
            }
            Stage::Over => Ok(JobState::Done),
        }
    }
}

impl TraceJob {
    fn finish(&self, run: ConfigurationRun<BenchRecorder>, compile: Option<SimTime>) -> Result<JobState, String> {
        let configuration = run.configuration().clone();
        let detail = RunDetail { report: ReportDetail::Summary, charts: false, timers: true };
        let (row, recorder) = run.finish(detail);
        let (Some(recorder), Some(measurement)) = (recorder, row.measurement) else {
            return Err(row.report.error.unwrap_or_else(|| format!("{}: did not run", configuration.label())));
        };
        let is_lazy = compile.is_some() && configuration.options.workflow == Workflow::MarkStep;
        let trace = BenchTrace { configuration: &configuration, compile, is_lazy, elapsed: measurement.elapsed };
        let profile = build_bench_profile(&trace, &recorder);
        let facts = facts(&row.report, &recorder, measurement.elapsed);
        let name = format!("{} trace", configuration.label());
        let origin = ProfileOrigin::Benchmark(Box::new(self.spec.clone()));
        Ok(JobState::Profile(Box::new(move |key| OpenProfile::new(key, name, origin, profile, None).with_facts(facts))))
    }
}
