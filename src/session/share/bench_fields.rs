//! The fields of a benchmark as text: one reader and one writer for links and for the form, so that both accept the same
//! values and give the same messages for wrong ones.

use super::{Notice, Query, run_fields, scenario_fields};
use ns_bench::{BenchConfig, option_text, parse_levels, parse_list};
use ns_compiler::UnknownOption;

/// A field of a [`BenchConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BenchField {
    /// Model in text form.
    Model,
    /// Label in reports.
    Name,
    /// Instance type.
    Instance,
    /// Batch sizes.
    BatchSizes,
    /// Model copies side by side.
    NModels,
    /// Threads for each copy.
    WorkersPerModel,
    /// NeuronCores of one copy.
    PipelineSizes,
    /// Measured seconds.
    Duration,
    /// Seed.
    Seed,
    /// Warm-up inferences.
    Warmup,
    /// Random deviation of a stage.
    Jitter,
    /// Performance levels.
    PerformanceLevel,
    /// Dollars per hour.
    CostPerHour,
    /// Which operations are cast.
    AutoCast,
    /// Type they are cast to.
    AutoCastType,
    /// How hard the compiler tries.
    OptLevel,
    /// Physical cores of a logical one.
    Lnc,
    /// Which generation of the SDK runs it.
    SdkGeneration,
    /// How a model reaches its NeuronCore.
    Workflow,
    /// Shapes of the inputs.
    Inputs,
    /// The device that runs the model.
    DeviceType,
    /// Which workers share an interpreter.
    Processes,
    /// Work before the call.
    Preprocess,
    /// Work after the call.
    Postprocess,
    /// Work of a copy before it loads, milliseconds.
    EnvSetup,
    /// Work of a copy after it has loaded, milliseconds.
    Setup,
    /// A dataset instead of endless inputs.
    Dataset,
    /// When the duration starts.
    Accounting,
    /// An MLPerf scenario.
    Scenario,
    /// Its minimum duration, seconds.
    MinDuration,
    /// Its minimum number of queries.
    MinQueries,
    /// Samples of one of its queries.
    SamplesPerQuery,
    /// Its latency bound, milliseconds.
    LatencyBound,
    /// Its rate.
    TargetQps,
}

/// All fields in the order of links.
pub const BENCH_FIELDS: [BenchField; 34] = [
    BenchField::Model,
    BenchField::Name,
    BenchField::Instance,
    BenchField::BatchSizes,
    BenchField::NModels,
    BenchField::WorkersPerModel,
    BenchField::PipelineSizes,
    BenchField::Duration,
    BenchField::Seed,
    BenchField::Warmup,
    BenchField::Jitter,
    BenchField::PerformanceLevel,
    BenchField::CostPerHour,
    BenchField::AutoCast,
    BenchField::AutoCastType,
    BenchField::OptLevel,
    BenchField::Lnc,
    BenchField::SdkGeneration,
    BenchField::Workflow,
    BenchField::Inputs,
    BenchField::DeviceType,
    BenchField::Processes,
    BenchField::Preprocess,
    BenchField::Postprocess,
    BenchField::EnvSetup,
    BenchField::Setup,
    BenchField::Dataset,
    BenchField::Accounting,
    BenchField::Scenario,
    BenchField::MinDuration,
    BenchField::MinQueries,
    BenchField::SamplesPerQuery,
    BenchField::LatencyBound,
    BenchField::TargetQps,
];

impl BenchField {
    /// Its name in links.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Model => "model",
            Self::Name => "name",
            Self::Instance => "instance",
            Self::BatchSizes => "batch_sizes",
            Self::NModels => "n_models",
            Self::WorkersPerModel => "workers_per_model",
            Self::PipelineSizes => "pipeline_sizes",
            Self::Duration => "duration",
            Self::Seed => "seed",
            Self::Warmup => "warmup",
            Self::Jitter => "jitter",
            Self::PerformanceLevel => "performance_level",
            Self::CostPerHour => "cost_per_hour",
            Self::AutoCast => "auto_cast",
            Self::AutoCastType => "auto_cast_type",
            Self::OptLevel => "optlevel",
            Self::Lnc => "lnc",
            Self::SdkGeneration => "sdk_generation",
            Self::Workflow => "workflow",
            Self::Inputs => "inputs",
            Self::DeviceType => "device_type",
            Self::Processes => "processes",
            Self::Preprocess => "preprocess",
            Self::Postprocess => "postprocess",
            Self::EnvSetup => "env_setup_ms",
            Self::Setup => "setup_ms",
            Self::Dataset => "dataset",
            Self::Accounting => "accounting",
            Self::Scenario => "scenario",
            Self::MinDuration => "min_duration",
            Self::MinQueries => "min_queries",
            Self::SamplesPerQuery => "samples_per_query",
            Self::LatencyBound => "latency_bound_ms",
            Self::TargetQps => "target_qps",
        }
    }

    /// Its name in [`BenchConfig`].
    #[must_use]
    pub const fn config_name(self) -> &'static str {
        match self {
            Self::Name => "model_name",
            Self::Instance => "instance_type",
            Self::Duration => "duration_s",
            Self::Warmup => "warmup_inferences",
            Self::PerformanceLevel => "performance_levels",
            Self::MinDuration => "min_duration_s",
            other => other.key(),
        }
    }

    /// The text of this field in a configuration; empty for NeuronPerf's default.
    #[must_use]
    pub fn text(self, config: &BenchConfig) -> String {
        let list = |values: &[u32]| values.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        match self {
            Self::Model => config.model.clone(),
            Self::Name => config.model_name.clone().unwrap_or_default(),
            Self::Instance => config.instance_type.clone(),
            Self::BatchSizes => list(&config.batch_sizes),
            Self::NModels => config.n_models.as_deref().map(list).unwrap_or_default(),
            Self::WorkersPerModel => config.workers_per_model.as_deref().map(list).unwrap_or_default(),
            Self::PipelineSizes => list(&config.pipeline_sizes),
            Self::Duration => config.duration_s.to_string(),
            Self::Seed => config.seed.to_string(),
            Self::Warmup => config.warmup_inferences.to_string(),
            Self::Jitter => config.jitter.to_string(),
            Self::PerformanceLevel => config.performance_levels.iter().map(u8::to_string).collect::<Vec<_>>().join(","),
            Self::CostPerHour => config.cost_per_hour.map(|c| c.to_string()).unwrap_or_default(),
            Self::AutoCast => option_text(&config.compile.auto_casts, config.options.compile.auto_cast),
            Self::AutoCastType => option_text(&config.compile.auto_cast_types, config.options.compile.auto_cast_type),
            Self::OptLevel => option_text(&config.compile.opt_levels, config.options.compile.opt_level),
            Self::Lnc => config.options.compile.lnc.map(|n| n.to_string()).unwrap_or_default(),
            Self::Scenario
            | Self::MinDuration
            | Self::MinQueries
            | Self::SamplesPerQuery
            | Self::LatencyBound
            | Self::TargetQps => scenario_fields::text(self, config),
            option => run_fields::text(option, config),
        }
    }

    /// Puts a text into a configuration. A text that cannot be used leaves it as it was. An empty text means the default
    /// if there is one that depends on other fields.
    ///
    /// # Errors
    /// One sentence for the user: what is wrong and what would be right.
    pub fn set(self, config: &mut BenchConfig, text: &str) -> Result<(), String> {
        let text = text.trim();
        let mut next = config.clone();
        let (sweep, compile) = (&mut next.compile, &mut next.options.compile);
        let said = |e: UnknownOption| e.to_string();
        match self {
            Self::Model => next.model = text.to_owned(),
            Self::Name => next.model_name = (!text.is_empty()).then(|| text.to_owned()),
            Self::Instance => next.instance_type = text.to_owned(),
            Self::BatchSizes => next.batch_sizes = self.list(text)?,
            Self::NModels => next.n_models = self.optional_list(text)?,
            Self::WorkersPerModel => next.workers_per_model = self.optional_list(text)?,
            Self::PipelineSizes => next.pipeline_sizes = self.list(text)?,
            Self::Duration => next.duration_s = self.number(text, "a number of seconds, such as 60")?,
            Self::Seed => next.seed = self.number(text, "a whole number from 0 to 18446744073709551615")?,
            Self::Warmup => next.warmup_inferences = self.number(text, "a whole number from 0 to 10000")?,
            Self::Jitter => next.jitter = self.number(text, "a fraction from 0 to 0.5, such as 0.01")?,
            Self::PerformanceLevel => {
                next.performance_levels = parse_levels(self.config_name(), text).map_err(|e| e.to_string())?;
            }
            Self::CostPerHour if text.is_empty() => next.cost_per_hour = None,
            Self::CostPerHour => next.cost_per_hour = Some(self.number(text, "a number of US dollars, such as 1.34")?),
            Self::AutoCast => sweep.set_auto_casts(compile, text).map_err(said)?,
            Self::AutoCastType => sweep.set_auto_cast_types(compile, text).map_err(said)?,
            Self::OptLevel => sweep.set_opt_levels(compile, text).map_err(said)?,
            Self::Lnc if text.is_empty() => compile.lnc = None,
            Self::Lnc => compile.lnc = Some(self.number(text, "a number of cores, 1 or 2")?),
            Self::Scenario
            | Self::MinDuration
            | Self::MinQueries
            | Self::SamplesPerQuery
            | Self::LatencyBound
            | Self::TargetQps => scenario_fields::set(self, &mut next, text)?,
            option => run_fields::set(option, &mut next, text)?,
        }
        let mine = |p: &&ns_bench::ConfigError| p.field() == Some(self.config_name());
        if let Some(problem) = next.problems().iter().find(mine) {
            return Err(problem.to_string());
        }
        *config = next;
        Ok(())
    }

    fn list(self, text: &str) -> Result<Vec<u32>, String> {
        parse_list(self.config_name(), text).map_err(|e| e.to_string())
    }

    fn optional_list(self, text: &str) -> Result<Option<Vec<u32>>, String> {
        if text.is_empty() { Ok(None) } else { self.list(text).map(Some) }
    }

    fn number<T: std::str::FromStr>(self, text: &str, wanted: &str) -> Result<T, String> {
        text.parse().map_err(|_| format!("{}: '{text}' is not {wanted}", self.config_name()))
    }
}

/// The configuration in a link.
pub(super) fn read(query: &Query, notices: &mut Vec<Notice>) -> BenchConfig {
    let mut config = BenchConfig::default();
    for field in BENCH_FIELDS {
        let Some(text) = query.get(field.key()) else { continue };
        if let Err(problem) = field.set(&mut config, text) {
            let used = field.text(&config);
            let used = if used.is_empty() { "the default".to_owned() } else { used };
            let problem = problem.trim_end_matches('.');
            notices.push(Notice { field: field.key().to_owned(), message: format!("{problem}. {used} is used.") });
        }
    }
    config
}

/// Every field that has a value, so that the link means the same when defaults change.
pub(super) fn write(config: &BenchConfig, query: &mut Query) {
    for field in BENCH_FIELDS {
        let text = field.text(config);
        if !text.is_empty() {
            query.set(field.key(), &text);
        }
    }
}
